/* SPDX-License-Identifier: BSD-3-Clause */
/* Unix sockets with paths. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

int fbtweak__listen(const char *path, uint32_t user) {
  struct sockaddr_un address;
  if (!fill(&address, path))
    return -1;
  int listener =
      fbtweak__above_standard(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (listener < 0)
    return -1;
  struct stat file;
  struct ucred self;
  socklen_t size = sizeof(self);
  if (bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0 &&
      listen(listener, SOMAXCONN) == 0 && lstat(path, &file) == 0 &&
      getsockopt(listener, SOL_SOCKET, SO_PEERCRED, &self, &size) == 0) {
    if (file.st_uid == user && self.uid == user)
      return listener;
    unlink(path);
    errno = EAGAIN;
  }
  int error = errno;
  close(listener);
  errno = error;
  return -1;
}

int fbtweak__accept(int listener, struct fbtweak__peer *peer) {
  int client = fbtweak__above_standard(accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (client < 0)
    return -1;
  struct ucred credentials;
  socklen_t size = sizeof(credentials);
  if (getsockopt(client, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0) {
    peer->process = credentials.pid;
    peer->user = credentials.uid;
    return client;
  }
  int error = errno;
  close(client);
  errno = error;
  return -1;
}

/* Connects to a path, and returns the listener's credentials. */
static int connect_at_once(const char *path, struct ucred *peer) {
  struct sockaddr_un address;
  if (!fill(&address, path))
    return -1;
  int program =
      fbtweak__above_standard(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (program < 0)
    return -1;
  socklen_t size = sizeof(*peer);
  if (connect(program, (struct sockaddr *)&address, sizeof(address)) == 0 &&
      getsockopt(program, SOL_SOCKET, SO_PEERCRED, peer, &size) == 0)
    return program;
  int error = errno;
  close(program);
  errno = error;
  return -1;
}

int fbtweak__connect(const char *path, int32_t process, uint32_t user) {
  int file = fbtweak__above_standard(open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (file < 0)
    return -1;
  struct stat status;
  struct ucred peer;
  int program = -1;
  if (fstat(file, &status) == 0 && S_ISSOCK(status.st_mode) &&
      (status.st_uid == user || status.st_uid == 0)) {
    char held[32];
    snprintf(held, sizeof(held), "/proc/self/fd/%d", file);
    program = connect_at_once(held, &peer);
    if (program < 0 && errno == ENOENT && access("/proc/self/fd", F_OK) != 0)
      program = connect_at_once(path, &peer);
  } else {
    errno = ECONNREFUSED;
  }
  if (program >= 0 && (peer.pid != process || (peer.uid != user && peer.uid != 0))) {
    close(program);
    program = -1;
    errno = ECONNREFUSED;
  }
  int error = errno;
  close(file);
  errno = error;
  return program;
}

/* Space for a sender's credentials, aligned as cmsg(3) requires. */
union credentials {
  char bytes[CMSG_SPACE(sizeof(struct ucred))];
  struct cmsghdr header;
};

ssize_t fbtweak__send_as(int program, const void *bytes, size_t size, uint32_t user,
                         uint32_t group) {
  union credentials room;
  memset(&room, 0, sizeof(room));
  struct iovec part = {(void *)(uintptr_t)bytes, size};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = room.bytes,
                           .msg_controllen = sizeof(room.bytes)};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_CREDENTIALS;
  header->cmsg_len = CMSG_LEN(sizeof(struct ucred));
  const struct ucred sender = {.pid = getpid(), .uid = user, .gid = group};
  memcpy(CMSG_DATA(header), &sender, sizeof(sender));
  return sendmsg(program, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool fbtweak__want_sender(int client) {
  const int on = 1;
  return setsockopt(client, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) == 0;
}

ssize_t fbtweak__receive_from(int client, void *bytes, size_t size, uint32_t *user) {
  union credentials room;
  struct iovec part = {bytes, size};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = room.bytes,
                           .msg_controllen = sizeof(room.bytes)};
  ssize_t count = recvmsg(client, &message, MSG_CMSG_CLOEXEC);
  if (count <= 0)
    return count;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_CREDENTIALS)
      continue;
    struct ucred sender;
    memcpy(&sender, CMSG_DATA(header), sizeof(sender));
    *user = sender.uid;
  }
  return count;
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
