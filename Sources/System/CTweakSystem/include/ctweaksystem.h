/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ctweaksystem.h: system calls of the library and the commands that cannot be written in Swift. Not
 * for programs: it may change with every version.
 */
#ifndef CTWEAKSYSTEM_H
#define CTWEAKSYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Moves a descriptor to a number above the three standard ones; -1 and errno if that fails, or if
 * the descriptor is -1. A program started with these closed would otherwise read and write the
 * file.
 */
int fbtweak__above_standard(int descriptor);

/*
 * openat(2) that never uses such a number, not even for a moment if the file is for writing. The
 * folder is AT_FDCWD for the working directory.
 */
int fbtweak__open(int folder, const char *path, int flags, unsigned mode);

/* The links that may be followed on the way to a folder. */
enum fbtweak__links {
  FBTWEAK__ALL_LINKS,
  /* Those that belong to root. */
  FBTWEAK__LINKS_OF_ROOT,
  FBTWEAK__NO_LINKS,
};

/*
 * Opens a folder, to open, create, rename and flush files relative to it; -1 and errno, which is
 * ELOOP for another link. Without the right to list the folder the descriptor is one of O_PATH,
 * which cannot be flushed.
 */
int fbtweak__open_folder(const char *path, enum fbtweak__links links);

/*
 * Reads the target of a link that belongs to root, which has PATH_MAX bytes: its length; 0 if there
 * is no link; -1 and errno, which is ELOOP for a link of another user.
 */
ssize_t fbtweak__link_of_root(int folder, const char *name, char *target);

/*
 * Gives a file the extended attributes of another file, access lists among them, and no others.
 * False, and errno, if that is impossible; then `failed`, which has 256 bytes of 0, is the name of
 * the attribute, if it was one.
 */
bool fbtweak__copy_attributes(int from, int to, char *failed);

/* Whether the permissions of an open file are an access list: acl(5). */
bool fbtweak__has_access_list(int descriptor);

/* pwrite(2) without a signal. */
ssize_t fbtweak__write(int descriptor, const void *bytes, size_t size, off_t offset);

/*
 * Writes a line of at most PIPE_BUF bytes to standard error, unless that would block. It raises no
 * signal, keeps errno, and takes no lock.
 */
void fbtweak__say(const char *line, size_t size);

/* Whether something is mounted at a path: 1 or 0, or -1 if the kernel does not say (before 5.8). */
int fbtweak__is_mount_root(const char *path);

/* syncfs(2) of a descriptor's file system. False, and errno, if that fails. */
bool fbtweak__flush_file_system(int descriptor);

/*
 * Locks or unlocks a whole file with fcntl(2), without waiting. Unlike its other locks, this one is
 * not released when the process closes another descriptor of the file.
 */
bool fbtweak__lock_description(int descriptor, bool is_locked);

/* A descriptor that is readable from raise to lower, closed by exec; -1 and errno. */
int fbtweak__make_event(void);
void fbtweak__raise_event(int descriptor);
/* False if it stays readable, because the process may not read it. */
bool fbtweak__lower_event(int descriptor);

/*
 * poll(2) for at most this many nanoseconds, or for ever if negative. False, and errno, if the
 * process may not poll, or has more descriptors than its lowered limit.
 */
struct pollfd;
bool fbtweak__poll(struct pollfd *awaited, size_t count, int64_t nanoseconds);

/*
 * A listening socket at a path, and one of its connections with the process that connected, which
 * is 0 if /proc does not show it. Neither blocks, and both are closed by exec; -1 and errno, which
 * is EAGAIN if the process was temporarily another user.
 */
struct fbtweak__peer {
  int32_t process;
  uint32_t user;
};
int fbtweak__listen(const char *path, uint32_t user);
int fbtweak__accept(int listener, struct fbtweak__peer *peer);

/*
 * A connection to the socket at a path, closed by exec and never blocking; -1 and errno: EAGAIN if
 * the program accepts none at the moment, ECONNREFUSED also if the file or the listener does not
 * belong to the user or root, or if another process listens. The owner of the directory can replace
 * its files at any time: the file is held open, so the connection goes to what was checked, and
 * nothing has been sent.
 */
int fbtweak__connect(const char *path, int32_t process, uint32_t user);

/*
 * Sends with the credentials of another user, which requires root. A program in a container that
 * does not know root identifies the client by them: unix(7), SCM_CREDENTIALS.
 */
ssize_t fbtweak__send_as(int program, const void *bytes, size_t size, uint32_t user,
                         uint32_t group);

/* Asks the kernel for a client's credentials, and receives with them; unchanged if unknown. */
bool fbtweak__want_sender(int client);
ssize_t fbtweak__receive_from(int client, void *bytes, size_t size, uint32_t *user);

/*
 * The user of the process if its real, effective and saved ids are the same. A process that is
 * temporarily another user has none.
 */
bool fbtweak__user(uint32_t *user);

/*
 * Returns whether a file is a socket without a process, or not a socket. The check connects with
 * another socket type, which the kernel refuses in another way if there is a process, without
 * notifying it: unix(7).
 */
bool fbtweak__is_abandoned(const char *path);

/* Whether the process has changed its root directory: chroot(2), pivot_root(2). */
bool fbtweak__has_other_root(void);

/* The file executed by the kernel, as a path relative to the first working directory; or NULL. */
const char *fbtweak__executed_file(void);

/*
 * Returns whether a process that executes the file gains privileges, so that the dynamic linker and
 * the library ignore its environment: AT_SECURE of getauxval(3).
 */
bool fbtweak__gains_rights(const char *path);

/* An environment variable; NULL if it is missing, or if this process has gained privileges. */
const char *fbtweak__trusted_environment(const char *name);

/*
 * A fork waits, for 100 ms at most, until no thread holds forks. Threads of the library do while
 * they run Swift code, those of a C program while they run the library's code; they allow forks
 * while they wait or run the program's code. Returns whether the thread started holding forks, and
 * whether it held them.
 */
bool fbtweak__hold_forks(void);
bool fbtweak__allow_forks(void);
void fbtweak__before_fork(void);
void fbtweak__after_fork(void);
void fbtweak__after_fork_in_child(void);

/*
 * Makes forked children close a descriptor, or no longer. Call it while the thread holds forks,
 * from before the file is opened until after it is closed.
 */
void fbtweak__close_in_children(int descriptor);
void fbtweak__keep_in_children(int descriptor);

/*
 * The number of forks between the process that loaded the library and this one. getpid
 * distinguishes processes, too, but is a system call.
 */
unsigned fbtweak__generation(void);

/* Whether this process ignores a signal: C libraries name the members of sigaction differently. */
bool fbtweak__ignores(int signal);

/* A descriptor for a process, which stays valid when its id is reused (a pidfd); -1 and errno. */
int fbtweak__open_process(pid_t process);

/* Holds SIGTERM back; returns a descriptor that is readable once it has come, or -1 and errno. */
int fbtweak__await_termination(void);

/* Whether the process of such a descriptor has ended. */
bool fbtweak__process_has_ended(int descriptor);

/*
 * process_vm_readv and process_vm_writev with any number of pieces, each of the same size on both
 * sides. Returns the number of bytes transferred, up to the first piece that fails; -1 and errno if
 * that is the first.
 */
ssize_t fbtweak__read_process(pid_t process, const struct iovec *here, const struct iovec *there,
                              size_t count);
ssize_t fbtweak__write_process(pid_t process, const struct iovec *here, const struct iovec *there,
                               size_t count);

/*
 * Sets up the terminal of standard output for drawing: the alternate screen without a cursor, and
 * unbuffered keys without echo, if standard input is a terminal. Signals that end or stop the
 * process restore it first, and so does exit; continuing the process sets it up again.
 */
void fbtweak__take_screen(void);
void fbtweak__give_back_screen(void);

/*
 * Sets up the terminal of standard input for reading single keys without echo, among them Ctrl-C.
 * It is given back in the same way, also by signals.
 */
void fbtweak__take_keys(void);

/* Whether the terminal was resized, or set up again, since the last call. */
bool fbtweak__screen_has_changed(void);

/* The size in characters; 80 and 24 if unknown. */
void fbtweak__screen_size(int *columns, int *rows);

#ifdef __cplusplus
}
#endif

#endif /* CTWEAKSYSTEM_H */
