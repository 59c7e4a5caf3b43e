/*
 * ctweakmemory.h: how the commands reach the memory of another process, which Swift cannot say. Not
 * for programs: it may change with every version.
 */
#ifndef CTWEAKMEMORY_H
#define CTWEAKMEMORY_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A descriptor that means one process, also when its id is another one's by now; -1 and errno. */
int fbtweak__open_process(pid_t process);

/* Whether the process of such a descriptor has ended. */
bool fbtweak__process_has_ended(int descriptor);

/*
 * process_vm_readv and process_vm_writev with any number of pieces, each as large here as there.
 * How many bytes were moved, up to the first piece that cannot be; -1 and errno if that is none.
 */
ssize_t fbtweak__read_process(pid_t process, const struct iovec *here, const struct iovec *there,
                              size_t count);
ssize_t fbtweak__write_process(pid_t process, const struct iovec *here, const struct iovec *there,
                               size_t count);

#ifdef __cplusplus
}
#endif

#endif /* CTWEAKMEMORY_H */
