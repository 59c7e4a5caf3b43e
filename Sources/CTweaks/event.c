/* What a queue of changes wakes an event loop with. */
#include <sys/eventfd.h>

#include "ctweaks.h"

int fbtweak__make_event(void) {
  return fbtweak__above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}
void fbtweak__raise_event(int descriptor) {
  /* It fails only if the count is at its maximum, and then the descriptor is readable. */
  eventfd_write(descriptor, 1);
}
void fbtweak__lower_event(int descriptor) {
  eventfd_t count;
  eventfd_read(descriptor, &count);
}
