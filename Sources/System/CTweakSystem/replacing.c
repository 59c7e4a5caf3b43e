/* SPDX-License-Identifier: BSD-3-Clause */
/* Folders that are opened once, and the attributes that a new file takes over from the old one. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>
#ifdef __has_include
#  if __has_include(<linux/openat2.h>)
#    include <linux/openat2.h>
#  endif
#endif

#include "ctweaksystem.h"

/* As many as the kernel follows in a path: path_resolution(7). */
enum { most_links = 40 };

/* Closes a descriptor and keeps errno. Returns -1. */
static int closed(int descriptor) {
  int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

/*
 * The link that is looked at is the one that is read, though the owner of the folder may replace it
 * at any time.
 */
ssize_t fbtweak__link_of_root(int folder, const char *name, char *target) {
  struct stat status;
  int link = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (link < 0)
    return errno == ENOENT ? 0 : -1;
  ssize_t size = -1;
  if (fstat(link, &status) != 0)
    return closed(link);
  if (!S_ISLNK(status.st_mode))
    size = 0;
  else if (status.st_uid != 0)
    errno = ELOOP;
  else
    size = readlinkat(link, "", target, PATH_MAX - 1);
  closed(link);
  if (size >= 0)
    target[size] = 0;
  return size;
}

/* Replaces the rest of a path by the target of a link, followed by the part behind the link. */
static bool insert_target(const char *target, char *rest) {
  size_t size = strlen(target);
  size_t behind = strlen(rest);
  if (size + 1 + behind >= PATH_MAX) {
    errno = ENAMETOOLONG;
    return false;
  }
  memmove(rest + size + 1, rest, behind + 1);
  memcpy(rest, target, size);
  rest[size] = '/';
  return true;
}

/*
 * Opens a folder component by component, so that no link is followed that was not looked at: at
 * most those of root.
 */
static int walk(const char *path, bool follows_root) {
  const int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  char rest[PATH_MAX];
  char name[NAME_MAX + 1];
  if (strlen(path) >= sizeof(rest)) {
    errno = ENAMETOOLONG;
    return -1;
  }
  strcpy(rest, path);
  int folder = open(*rest == '/' ? "/" : ".", flags);
  for (int links = 0; folder >= 0;) {
    const char *start = rest + strspn(rest, "/");
    size_t length = strcspn(start, "/");
    if (length == 0)
      return folder;
    if (length >= sizeof(name)) {
      errno = ENAMETOOLONG;
      return closed(folder);
    }
    memcpy(name, start, length);
    name[length] = 0;
    memmove(rest, start + length, strlen(start + length) + 1);
    int next = openat(folder, name, flags | O_NOFOLLOW);
    if (next < 0) {
      int error = errno;
      char target[PATH_MAX];
      ssize_t size =
          error == ENOTDIR || error == ELOOP ? fbtweak__link_of_root(folder, name, target) : 0;
      if (size == 0)
        errno = error;
      if (size > 0 && (!follows_root || ++links > most_links)) {
        errno = ELOOP;
        size = -1;
      }
      if (size <= 0 || !insert_target(target, rest))
        return closed(folder);
      if (*rest != '/')
        continue;
      next = open("/", flags);
    }
    close(folder);
    folder = next;
  }
  return folder;
}

/* openat2 is younger than the kernels that are supported, and filters of system calls refuse it. */
static int open_without_links(const char *path) {
#if defined(SYS_openat2) && defined(RESOLVE_NO_SYMLINKS)
  struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
  int folder = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
  if (folder >= 0 || (errno != ENOSYS && errno != EPERM))
    return folder;
#endif
  return walk(path, false);
}

int fbtweak__open_folder(const char *path, enum fbtweak__links links) {
  const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  if (links == FBTWEAK__ALL_LINKS) {
    int folder = open(path, flags);
    if (folder < 0 && errno == EACCES)
      folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fbtweak__above_standard(folder);
  }
  int found = links == FBTWEAK__NO_LINKS ? open_without_links(path) : walk(path, true);
  if (found < 0)
    return -1;
  int folder = openat(found, ".", flags);
  /* Files in a folder that cannot be listed can be opened and replaced. */
  if (folder < 0 && errno == EACCES)
    return fbtweak__above_standard(found);
  closed(found);
  return fbtweak__above_standard(folder);
}

/* A list of names, each ended by NUL. */
struct names {
  char *bytes;
  size_t size;
};

/* Reads the names of a file's attributes: false, and errno, if that fails. */
static bool read_names(int descriptor, struct names *names) {
  *names = (struct names){NULL, 0};
  for (;;) {
    ssize_t size = flistxattr(descriptor, NULL, 0);
    /* File systems without attributes, and filters of system calls. */
    if (size <= 0)
      return size == 0 || errno == ENOTSUP || errno == ENOSYS || errno == EPERM;
    char *bytes = malloc((size_t)size);
    if (bytes == NULL)
      return false;
    ssize_t read = flistxattr(descriptor, bytes, (size_t)size);
    if (read >= 0) {
      *names = (struct names){bytes, (size_t)read};
      return true;
    }
    free(bytes);
    /* There are more than a moment ago. */
    if (errno != ERANGE)
      return false;
  }
}

static bool contains(struct names names, const char *name) {
  for (size_t i = 0; i < names.size; i += strlen(names.bytes + i) + 1)
    if (strcmp(names.bytes + i, name) == 0)
      return true;
  return false;
}

/* The value of an attribute, to be freed; NULL, and errno, if it cannot be read. */
static char *read_value(int descriptor, const char *name, size_t *size) {
  /* No value is larger: xattr(7). */
  enum { largest = 1 << 16 };
  char *value = malloc(largest);
  ssize_t read = value == NULL ? -1 : fgetxattr(descriptor, name, value, largest);
  if (read < 0) {
    int error = errno;
    free(value);
    errno = error;
    return NULL;
  }
  *size = (size_t)read;
  return value;
}

/* The kernel writes these itself for new content. */
static bool is_of_content(const char *name) {
  return strcmp(name, "security.ima") == 0 || strcmp(name, "security.evm") == 0;
}

static bool copy(int from, int to, const char *name) {
  size_t size = 0;
  size_t own_size = 0;
  char *value = read_value(from, name, &size);
  if (value == NULL)
    return false;
  /* A label that the new file has already may be one that nobody can set. */
  char *own = read_value(to, name, &own_size);
  bool is_same = own != NULL && own_size == size && memcmp(own, value, size) == 0;
  bool is_copied = is_same || fsetxattr(to, name, value, size, 0) == 0;
  int error = errno;
  free(value);
  free(own);
  errno = error;
  return is_copied;
}

bool fbtweak__copy_attributes(int from, int to, char *failed) {
  struct names wanted;
  struct names present = {NULL, 0};
  bool is_done = read_names(from, &wanted) && read_names(to, &present);
  /* Such as an access list that the folder gives to all new files. */
  for (size_t i = 0; is_done && i < present.size; i += strlen(present.bytes + i) + 1) {
    const char *name = present.bytes + i;
    if (is_of_content(name) || contains(wanted, name) || fremovexattr(to, name) == 0)
      continue;
    is_done = false;
    strncpy(failed, name, XATTR_NAME_MAX);
  }
  for (size_t i = 0; is_done && i < wanted.size; i += strlen(wanted.bytes + i) + 1) {
    const char *name = wanted.bytes + i;
    if (is_of_content(name) || copy(from, to, name))
      continue;
    is_done = false;
    strncpy(failed, name, XATTR_NAME_MAX);
  }
  int error = errno;
  free(wanted.bytes);
  free(present.bytes);
  errno = error;
  return is_done;
}

bool fbtweak__has_access_list(int descriptor) {
  return fgetxattr(descriptor, "system.posix_acl_access", NULL, 0) > 0;
}
