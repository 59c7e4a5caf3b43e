/* Sockets that are files. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "ctweaksystem.h"

static bool fill(struct sockaddr_un *address, const char *path) {
  memset(address, 0, sizeof(*address));
  address->sun_family = AF_UNIX;
  if (strlen(path) < sizeof(address->sun_path)) {
    strcpy(address->sun_path, path);
    return true;
  }
  errno = ENAMETOOLONG;
  return false;
}

int fbtweak__listen(const char *path) {
  struct sockaddr_un address;
  if (!fill(&address, path))
    return -1;
  int listener =
      fbtweak__above_standard(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (listener < 0)
    return -1;
  if (bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0 &&
      listen(listener, SOMAXCONN) == 0)
    return listener;
  int error = errno;
  close(listener);
  errno = error;
  return -1;
}

int fbtweak__accept(int listener, uint32_t *user) {
  int client = fbtweak__above_standard(accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (client < 0)
    return -1;
  struct ucred peer;
  socklen_t size = sizeof(peer);
  if (getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) {
    *user = peer.uid;
    return client;
  }
  int error = errno;
  close(client);
  errno = error;
  return -1;
}

int fbtweak__connect(const char *path, int32_t process, long milliseconds) {
  struct sockaddr_un address;
  if (!fill(&address, path))
    return -1;
  int program = fbtweak__above_standard(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (program < 0)
    return -1;
  const struct timeval patience = {milliseconds / 1000, milliseconds % 1000 * 1000};
  struct ucred peer;
  socklen_t size = sizeof(peer);
  if (setsockopt(program, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) == 0 &&
      connect(program, (struct sockaddr *)&address, sizeof(address)) == 0 &&
      getsockopt(program, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) {
    if (peer.pid == process)
      return program;
    errno = ECONNREFUSED;
  }
  int error = errno;
  close(program);
  errno = error;
  return -1;
}

bool fbtweak__is_abandoned(const char *path) {
  struct sockaddr_un address;
  if (!fill(&address, path))
    return false;
  int probe = fbtweak__above_standard(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (probe < 0)
    return false;
  bool is_refused =
      connect(probe, (struct sockaddr *)&address, sizeof(address)) != 0 && errno == ECONNREFUSED;
  close(probe);
  return is_refused;
}
