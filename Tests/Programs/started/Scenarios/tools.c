/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE = 30 /* s */, STEP = 2 /* ms */, ANSWER = 1 << 18 };

double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}
void pause_for(int milliseconds) {
  usleep((useconds_t)milliseconds * 1000);
}

bool wait_for(const struct values *right, const char *moment) {
  double deadline = now() + PATIENCE;
  while (!are(right) && now() < deadline)
    pause_for(STEP);
  return verify(right, moment);
}

const char *overrides_path(void) {
  static char path[1024];
  const char *directory = getenv("XDG_CONFIG_HOME");
  snprintf(path, sizeof(path), "%s/tweaks/started/overrides.json", directory ? directory : "");
  return path;
}

static void read_file(const char *path, char *text, size_t size) {
  FILE *file = fopen(path, "r");
  size_t count = 0;
  int byte;
  while (file && (byte = fgetc(file)) != EOF && count + 1 < size)
    if (!isspace(byte))
      text[count++] = (char)byte;
  text[count] = 0;
  if (file)
    fclose(file);
}
bool wait_for_file(const char *text, bool has, const char *moment) {
  char content[1 << 14];
  double deadline = now() + PATIENCE;
  do {
    read_file(overrides_path(), content, sizeof(content));
    if (!!strstr(content, text) == has)
      return true;
    pause_for(STEP);
  } while (now() < deadline);
  complain("%s: the file has %s%s: %s", moment, has ? "no " : "", text, content);
  return false;
}
bool replace(const char *path, const char *text) {
  char temporary[1100];
  char directory[1024];
  snprintf(temporary, sizeof(temporary), "%s.new", path);
  snprintf(directory, sizeof(directory), "%s", path);
  /* The folder of the program, and its parent for all programs. */
  char *folder = dirname(directory);
  char *above = strdup(folder);
  mkdir(dirname(above), 0700);
  mkdir(folder, 0700);
  free(above);
  FILE *file = fopen(temporary, "w");
  bool done = file && fputs(text, file) >= 0;
  done = file && fclose(file) == 0 && done && rename(temporary, path) == 0;
  if (!done)
    complain("cannot replace %s: %s", path, strerror(errno));
  return done;
}
const char *beside(const char *name) {
  static char path[1200];
  ssize_t count = readlink("/proc/self/exe", path, 1000);
  path[count < 0 ? 0 : count] = 0;
  char *slash = strrchr(path, '/');
  snprintf(slash ? slash + 1 : path, 100, "%s", name);
  return path;
}

static int run(char *const *arguments, char *said, size_t size) {
  int output[2];
  if (pipe2(output, O_CLOEXEC) != 0)
    return -1;
  pid_t process = fork();
  if (process == 0) {
    dup2(output[1], 1);
    dup2(output[1], 2);
    unsetenv("LD_PRELOAD");
    execv(arguments[0], arguments);
    _exit(127);
  }
  close(output[1]);
  /* Reads everything, so that the command is not killed by SIGPIPE, and keeps the beginning. */
  char piece[4096];
  size_t count = 0;
  ssize_t read_now;
  while ((read_now = read(output[0], piece, sizeof(piece))) > 0 || (read_now < 0 && errno == EINTR))
    for (ssize_t i = 0; i < read_now && count + 1 < size; i++)
      said[count++] = piece[i];
  said[count] = 0;
  close(output[0]);
  int status = -1;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR)
    continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
int connect_to_self(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const char *directory = getenv("XDG_RUNTIME_DIR");
  snprintf(address.sun_path, sizeof(address.sun_path), "%s/tweaks/%d.sock",
           directory ? directory : "", (int)getpid());
  struct timeval patience = {.tv_sec = PATIENCE};
  for (double deadline = now() + PATIENCE; now() < deadline; pause_for(STEP)) {
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (connect(connection, (struct sockaddr *)&address, sizeof(address)) == 0)
      return connection;
    close(connection);
  }
  complain("nobody listens at %s", address.sun_path);
  return -1;
}
bool tweak(const char *command, const char *verb, ...) {
  char process[16], verbs[32], said[1000];
  const char *arguments[16] = {command};
  int count = 1;
  snprintf(process, sizeof(process), "%d", (int)getpid());
  snprintf(verbs, sizeof(verbs), "%s", verb);
  for (char *word = strtok(verbs, " "); word; word = strtok(NULL, " "))
    arguments[count++] = word;
  arguments[count++] = process;
  va_list more;
  va_start(more, verb);
  while (count < 15 && (arguments[count] = va_arg(more, const char *)))
    count++;
  va_end(more);
  /* Until then the command would find only the tweaks in the executable file. */
  int connection = connect_to_self();
  if (connection < 0)
    return false;
  close(connection);
  /* The command times out sooner with busy programs, of which there are many here. */
  double deadline = now() + PATIENCE;
  int status;
  while ((status = run((char *const *)arguments, said, sizeof(said))) == EX_TEMPFAIL &&
         now() < deadline)
    continue;
  if (status != 0)
    complain("tweak %s ended with %d: %s", verb, status, said);
  return status == 0;
}

/* Received bytes not examined yet. */
static char received[ANSWER];
static size_t length;
static bool take_line(const char *answer) {
  char *end = memchr(received, '\n', length);
  if (!end)
    return false;
  *end = 0;
  bool found = strstr(received, answer) != NULL;
  length -= (size_t)(end + 1 - received);
  memmove(received, end + 1, length);
  return found;
}
bool expect(int connection, const char *answer) {
  while (!take_line(answer)) {
    if (memchr(received, '\n', length))
      continue;
    ssize_t count = recv(connection, received + length, sizeof(received) - length, 0);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0) {
      complain("the program does not answer with %s", answer);
      return false;
    }
    length += (size_t)count;
  }
  return true;
}
bool ask(int connection, const char *line, const char *answer) {
  char text[512];
  int count = snprintf(text, sizeof(text), "%s\n", line);
  return send(connection, text, (size_t)count, MSG_NOSIGNAL) == count && expect(connection, answer);
}
