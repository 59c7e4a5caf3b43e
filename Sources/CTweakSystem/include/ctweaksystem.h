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
void fbtweak__lower_event(int descriptor);

/* poll(2) for at most so many nanoseconds, or for ever if they are negative. */
struct pollfd;
int fbtweak__poll(struct pollfd *awaited, size_t count, int64_t nanoseconds);

/*
 * A socket that takes connections at a path, and one of its connections with the user who made it.
 * Neither blocks, both are closed by exec; -1 and errno.
 */
int fbtweak__listen(const char *path);
int fbtweak__accept(int listener, uint32_t *user);

/*
 * A connection to the socket at a path, closed by exec, which waits for so long where a program
 * takes none at the moment; -1 and errno, which is ECONNREFUSED too if another process listens.
 */
int fbtweak__connect(const char *path, int32_t process, long milliseconds);

/*
 * Whether a file is a socket that belongs to no process any more, or no socket. Who asks is of
 * another type than the socket, which the kernel refuses in another way if there is a process, and
 * without the process noticing: unix(7).
 */
bool fbtweak__is_abandoned(const char *path);

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

/* How many forks lie between the process that loaded the library and this one. getpid tells
   processes apart too, but asks the kernel. */
unsigned fbtweak__generation(void);

#ifdef __cplusplus
}
#endif

#endif /* CTWEAKSYSTEM_H */
