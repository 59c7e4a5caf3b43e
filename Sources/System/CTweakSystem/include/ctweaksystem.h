/*
 * ctweaksystem.h: what the library and the commands ask the system for and Swift cannot say. Not
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
 * The same open file by a number that is not one of the three standard ones; -1 and errno if that,
 * or opening the file, failed. A program that was started with these closed would read and write
 * the file instead.
 */
int fbtweak__above_standard(int descriptor);

/* open(2), with such a number from the beginning if the file is written. */
int fbtweak__open(const char *path, int flags, unsigned mode);

/* pwrite, of which the program gets no signal. */
ssize_t fbtweak__write(int descriptor, const void *bytes, size_t size, off_t offset);

/*
 * Writes a line of at most PIPE_BUF bytes to standard error, if there is one that takes it at this
 * moment. The program gets no signal, nobody waits, errno stays as it is, and no lock is taken.
 */
void fbtweak__say(const char *line, size_t size);

/* A descriptor that poll shows as readable from raise to lower, closed by exec; -1 and errno. */
int fbtweak__make_event(void);
void fbtweak__raise_event(int descriptor);
/* False if it stays readable: the process may not read. */
bool fbtweak__lower_event(int descriptor);

/*
 * poll(2) for at most so many nanoseconds, or for ever if they are negative. False, and errno, if
 * the process may not, or has more descriptors than its limit has become.
 */
struct pollfd;
bool fbtweak__poll(struct pollfd *awaited, size_t count, int64_t nanoseconds);

/*
 * A socket that takes connections at a path, and one of its connections with the user who made it.
 * Neither blocks, both are closed by exec; -1 and errno, which is EAGAIN if the process was not the
 * user all the time.
 */
int fbtweak__listen(const char *path, uint32_t user);
int fbtweak__accept(int listener, uint32_t *user);

/*
 * A connection to the socket at a path, closed by exec and never blocking; -1 and errno, which is
 * EAGAIN if the program takes none at the moment, and ECONNREFUSED too if the file or the listener
 * is not the user's or root's, or if another process listens. Whoever owns the folder may put
 * anything there at any time: the file is held, so what was looked at is what is connected to, and
 * nothing was said yet.
 */
int fbtweak__connect(const char *path, int32_t process, uint32_t user);

/*
 * Sends as another user, which only root can. A program in a container that does not know root
 * learns so who asks: unix(7), SCM_CREDENTIALS.
 */
ssize_t fbtweak__send_as(int program, const void *bytes, size_t size, uint32_t user,
                         uint32_t group);

/* Has the kernel tell who sends to a client's socket, and reads with that; unchanged if unknown. */
bool fbtweak__want_sender(int client);
ssize_t fbtweak__receive_from(int client, void *bytes, size_t size, uint32_t *user);

/*
 * Who the process is: the user of it if its real, effective and saved ids are the same. One that
 * becomes another user for a moment is neither.
 */
bool fbtweak__user(uint32_t *user);

/*
 * Whether a file is a socket that belongs to no process any more, or no socket. Who asks is of
 * another type than the socket, which the kernel refuses in another way if there is a process, and
 * without the process noticing: unix(7).
 */
bool fbtweak__is_abandoned(const char *path);

/* Whether the process has had another root directory before: chroot(2), pivot_root(2). */
bool fbtweak__has_other_root(void);

/* What the kernel was asked to execute, as a path from the first working directory; or NULL. */
const char *fbtweak__executed_file(void);

/*
 * Whether a process that executes the file has more rights than its user, so that neither the
 * dynamic linker nor the library does what its environment says: AT_SECURE of getauxval(3).
 */
bool fbtweak__gains_rights(const char *path);

/*
 * A fork waits, for 100 ms at most, until no thread holds forks. Threads of the library do while
 * they run Swift code, those of a C program while they run that of the library; they allow them
 * while they wait or run the program's code. Whether the thread began to hold them, and whether it
 * did.
 */
bool fbtweak__hold_forks(void);
bool fbtweak__allow_forks(void);
void fbtweak__before_fork(void);
void fbtweak__after_fork(void);
void fbtweak__after_fork_in_child(void);

/*
 * Has children that are forked close a descriptor, or no longer. Called while the thread holds
 * forks, from before the file is open until after it is closed.
 */
void fbtweak__close_in_children(int descriptor);
void fbtweak__keep_in_children(int descriptor);

/* How many forks lie between the process that loaded the library and this one. getpid tells
   processes apart too, but asks the kernel. */
unsigned fbtweak__generation(void);

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

/*
 * Takes the terminal of standard output for pictures: another screen without a cursor, and keys
 * that come at once and are not shown, if standard input is a terminal. Whatever signal ends or
 * stops the process gives it back before, and so does exit; what continues it takes it again.
 */
void fbtweak__take_screen(void);
void fbtweak__give_back_screen(void);

/* Whether the terminal has another size, or was taken again, since the last call. */
bool fbtweak__screen_has_changed(void);

/* How many characters it has; 80 and 24 if it does not say. */
void fbtweak__screen_size(int *columns, int *rows);

#ifdef __cplusplus
}
#endif

#endif /* CTWEAKSYSTEM_H */
