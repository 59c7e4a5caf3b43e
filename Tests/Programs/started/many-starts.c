/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts a program many times, many at once, each with files of its own, and tells how they ended:
 *
 *     many-starts [OPTION…] STATE HOME SCENARIO[,SCENARIO…] PROGRAM TWEAK
 *
 * STATE is a folder of `states`. Each start gets a folder in the folder HOME: a copy of `config` of
 * the state as XDG_CONFIG_HOME, an XDG_RUNTIME_DIR, and the program as `started` with copies of
 * what the state has in `program` beside it. The environment has the lines of the file
 * `environment`. The arguments are those of `started`, with one scenario after the other. A start
 * is right if it ends with status 0, leaves no process behind, and writes nothing or, where the
 * state has a file `says`, at least one line, each with that text. One that says that the kernel
 * lets it watch no more files, of which all processes of a user have a number together, is made
 * again.
 *
 *     -n COUNT        how many starts; 200 if not given
 *     -m COUNT        how many of them at once; 50
 *     -t SECONDS      what runs longer is killed; 120
 *     -e NAME=VALUE   for the environment of the program, as often as needed
 *     -f              with addresses that are not random, which some sanitizers need
 *     -k              leave the folders of starts that went wrong
 *
 * The last line of the output is the sum, the lines before it say what went wrong. The status is 0
 * if all were right, 1 if some were not, 2 if they could not be made.
 */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <libgen.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATH = 4096, MOST_SCENARIOS = 64, MOST_SETTINGS = 32, MOST_SHOWN = 3, OUTPUT = 1500 };

static char state[PATH], home[PATH], program[PATH], tweak[PATH];
static const char *state_name;
static const char *scenarios[MOST_SCENARIOS];
static int scenario_count;
/* In which they are begun, by their numbers; those that cost little can come more often. */
static int order[MOST_SCENARIOS], order_count;
/* Of the environment. */
static char *settings[MOST_SETTINGS];
static int setting_count;
static char said[256];
static int count = 200, at_once = 50, seconds = 120;
static bool has_fixed_addresses, keeps_folders;

struct start {
  int number;
  pid_t process;
  double deadline;
  bool is_late;
};
enum { RIGHT, WRONG, DIED, HUNG, LEFT, ENDINGS };
static int endings[ENDINGS][MOST_SCENARIOS];
static const char *const names[ENDINGS] = {"right", "wrong", "died", "hung",
                                           "left a process behind"};
static int shown, made_again;

static void fail(const char *what, const char *which) {
  fprintf(stderr, "many-starts: cannot %s %s: %s\n", what, which, strerror(errno));
  exit(2);
}
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}
static void join(char *path, const char *folder, const char *name) {
  if (snprintf(path, PATH, "%s/%s", folder, name) >= PATH) {
    errno = ENAMETOOLONG;
    fail("use", folder);
  }
}
static void absolute(char *path, const char *given) {
  if (!realpath(given, path))
    fail("find", given);
}
/* Returns how much there is, which is 0 if there is no file. */
static size_t read_file(const char *path, char *text, size_t size) {
  FILE *file = fopen(path, "r");
  size_t length = file ? fread(text, 1, size - 1, file) : 0;
  text[length] = 0;
  if (file)
    fclose(file);
  return length;
}
static void make_folder(const char *path) {
  if (mkdir(path, 0700) != 0)
    fail("make", path);
}
static void folder_of(char *path, const char *base, int number, const char *name) {
  char folder[PATH];
  snprintf(folder, sizeof(folder), "%d%s%s", number, *name ? "/" : "", name);
  join(path, base, folder);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where) {
  (void)status, (void)kind, (void)where;
  return remove(path);
}
/* Where files are copied to, and how much of their paths is replaced. */
static char copied_to[PATH];
static size_t copied_prefix;
static int copy_one(const char *path, const struct stat *status, int kind, struct FTW *where) {
  char target[PATH], buffer[1 << 16];
  (void)kind, (void)where;
  if (snprintf(target, sizeof(target), "%s%s", copied_to, path + copied_prefix) >= PATH)
    return -1;
  if (S_ISDIR(status->st_mode))
    return mkdir(target, 0700) == 0 || errno == EEXIST ? 0 : -1;
  int from = open(path, O_RDONLY | O_CLOEXEC);
  int to = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  ssize_t length = 0;
  while (from >= 0 && to >= 0 && (length = read(from, buffer, sizeof(buffer))) > 0)
    if (write(to, buffer, (size_t)length) != length)
      length = -1;
  close(from);
  close(to);
  return from >= 0 && to >= 0 && length == 0 ? 0 : -1;
}
/* Copies what is in a folder of the state, if it has it. */
static void copy_folder(const char *name, const char *target) {
  char from[PATH], resolved[PATH];
  join(from, state, name);
  if (!realpath(from, resolved))
    return;
  copied_prefix = strlen(resolved);
  snprintf(copied_to, sizeof(copied_to), "%s", target);
  if (nftw(resolved, copy_one, 8, FTW_PHYS) != 0)
    fail("copy", resolved);
}

/* Links lead to it: in another file system there can be none to the program itself. */
static void take_program(const char *given) {
  join(program, home, "program");
  unlink(program);
  if (link(given, program) == 0)
    return;
  snprintf(copied_to, sizeof(copied_to), "%s", program);
  copied_prefix = strlen(given);
  if (nftw(given, copy_one, 1, 0) != 0 || chmod(program, 0700) != 0)
    fail("copy", given);
}

static void prepare(int number) {
  char path[PATH], target[PATH];
  folder_of(path, home, number, "");
  make_folder(path);
  folder_of(path, home, number, "config");
  make_folder(path);
  copy_folder("config", path);
  folder_of(path, home, number, "run");
  make_folder(path);
  folder_of(path, home, number, "program");
  make_folder(path);
  copy_folder("program", path);
  join(target, path, "started");
  if (link(program, target) != 0)
    fail("link", target);
}

static void become(int number) {
  char path[PATH], output[PATH];
  setpgid(0, 0);
  folder_of(output, home, number, "output");
  int file = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  int null = open("/dev/null", O_RDONLY);
  dup2(null, 0);
  dup2(file, 1);
  dup2(file, 2);
  close(null);
  close(file);
  folder_of(path, home, number, "");
  setenv("HOME", path, 1);
  folder_of(path, home, number, "config");
  setenv("XDG_CONFIG_HOME", path, 1);
  folder_of(path, home, number, "run");
  setenv("XDG_RUNTIME_DIR", path, 1);
  setenv("SWIFT_BACKTRACE", "enable=no", 1);
  for (int i = 0; i < setting_count; i++)
    putenv(settings[i]);
  if (has_fixed_addresses)
    personality(ADDR_NO_RANDOMIZE);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  folder_of(path, home, number, "program/started");
  execl(path, path, state_name, scenarios[order[number % order_count]], tweak, (char *)NULL);
  perror(path);
  _exit(127);
}

static bool is_right(const char *output, size_t length) {
  if (!*said)
    return length == 0;
  const char *line = output;
  for (const char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
    const char *found = strstr(line, said);
    if (!found || found > end)
      return false;
  }
  return length > 0 && line == output + length;
}

static bool is_to_be_made_again(int ending, const char *output) {
  return ending == WRONG && strstr(output, "Too many open files (inotify") && made_again < count;
}

/* Returns whether it counts. */
static bool finish(const struct start *start, int status) {
  char path[PATH], output[OUTPUT];
  folder_of(path, home, start->number, "output");
  size_t length = read_file(path, output, sizeof(output));
  bool has_left = kill(-start->process, SIGKILL) == 0;
  int ending = start->is_late                             ? HUNG
               : WIFSIGNALED(status)                      ? DIED
               : status != 0 || !is_right(output, length) ? WRONG
               : has_left                                 ? LEFT
                                                          : RIGHT;
  if (is_to_be_made_again(ending, output)) {
    made_again++;
    folder_of(path, home, start->number, "");
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return false;
  }
  int scenario = order[start->number % order_count];
  endings[ending][scenario]++;
  if (ending != RIGHT && shown++ < MOST_SHOWN) {
    printf("%s %s: ", state_name, scenarios[scenario]);
    if (ending == DIED)
      printf("died of SIG%s", sigabbrev_np(WTERMSIG(status)));
    else if (ending == WRONG)
      printf("ended with %d", WEXITSTATUS(status));
    else
      printf("%s", names[ending]);
    printf("\n%s", output);
  }
  if (ending == RIGHT || !keeps_folders) {
    folder_of(path, home, start->number, "");
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
  }
  return true;
}

static struct start begin(int number) {
  struct start start = {.number = number, .deadline = now() + seconds};
  prepare(number);
  fflush(NULL);
  start.process = fork();
  if (start.process == 0)
    become(number);
  if (start.process < 0)
    fail("start", program);
  setpgid(start.process, start.process);
  return start;
}

static void run(void) {
  struct start *starts = calloc((size_t)at_once, sizeof(*starts));
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGCHLD);
  sigaddset(&awaited, SIGINT);
  sigaddset(&awaited, SIGTERM);
  sigprocmask(SIG_BLOCK, &awaited, NULL);
  int next = 0, running = 0;
  while (starts && (next < count || running > 0)) {
    for (int i = 0; i < at_once && next < count; i++) {
      if (starts[i].process)
        continue;
      starts[i] = begin(next++);
      running++;
    }
    int received = sigtimedwait(&awaited, NULL, &(struct timespec){.tv_sec = 1});
    if (received == SIGINT || received == SIGTERM) {
      for (int i = 0; i < at_once; i++)
        if (starts[i].process)
          kill(-starts[i].process, SIGKILL);
      exit(2);
    }
    int status;
    for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;)
      for (int i = 0; i < at_once; i++)
        if (starts[i].process == ended && !finish(&starts[i], status)) {
          starts[i] = begin(starts[i].number);
        } else if (starts[i].process == ended) {
          starts[i].process = 0;
          running--;
        }
    for (int i = 0; i < at_once; i++)
      if (starts[i].process && !starts[i].is_late && now() > starts[i].deadline) {
        starts[i].is_late = true;
        kill(-starts[i].process, SIGKILL);
      }
  }
  free(starts);
}

static int sum(int ending) {
  int sum = 0;
  for (int i = 0; i < scenario_count; i++)
    sum += endings[ending][i];
  return sum;
}
static void print_sums(double duration) {
  for (int ending = RIGHT + 1; ending < ENDINGS; ending++)
    for (int i = 0; i < scenario_count; i++)
      if (endings[ending][i])
        printf("%s: %d %s\n", scenarios[i], endings[ending][i], names[ending]);
  struct rusage used;
  getrusage(RUSAGE_CHILDREN, &used);
  double worked = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                  (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
  printf("%s: %d starts in %.1f s, %.1f s of work", state_name, count, duration, worked);
  for (int ending = RIGHT; ending < ENDINGS; ending++)
    printf(", %d %s", sum(ending), names[ending]);
  if (made_again)
    printf(", %d made again", made_again);
  printf("\n");
}

static void read_state(void) {
  static char environment[1 << 14];
  char path[PATH];
  join(path, state, "environment");
  read_file(path, environment, sizeof(environment));
  for (char *line = strtok(environment, "\n"); line && setting_count < MOST_SETTINGS;
       line = strtok(NULL, "\n"))
    settings[setting_count++] = line;
  join(path, state, "says");
  if (read_file(path, said, sizeof(said)))
    said[strcspn(said, "\n")] = 0;
}

int main(int argument_count, char **arguments) {
  int option;
  while ((option = getopt(argument_count, arguments, "n:m:t:e:fk")) != -1) {
    if (option == 'n')
      count = atoi(optarg);
    else if (option == 'm')
      at_once = atoi(optarg);
    else if (option == 't')
      seconds = atoi(optarg);
    else if (option == 'e' && setting_count < MOST_SETTINGS)
      settings[setting_count++] = optarg;
    else if (option == 'f')
      has_fixed_addresses = true;
    else if (option == 'k')
      keeps_folders = true;
    else
      return 2;
  }
  arguments += optind;
  if (argument_count - optind != 5 || count < 1 || at_once < 1) {
    fprintf(stderr, "usage: many-starts [OPTION…] STATE HOME SCENARIO[,SCENARIO…] PROGRAM TWEAK\n");
    return 2;
  }
  absolute(state, arguments[0]);
  absolute(home, arguments[1]);
  char given[PATH];
  absolute(given, arguments[3]);
  take_program(given);
  absolute(tweak, arguments[4]);
  state_name = basename(strdup(state));
  for (char *name = strtok(arguments[2], ","); name && order_count < MOST_SCENARIOS;
       name = strtok(NULL, ",")) {
    int scenario = 0;
    while (scenario < scenario_count && strcmp(scenarios[scenario], name) != 0)
      scenario++;
    if (scenario == scenario_count)
      scenarios[scenario_count++] = name;
    order[order_count++] = scenario;
  }
  if (!order_count)
    return 2;
  read_state();
  double start = now();
  run();
  print_sums(now() - start);
  return sum(RIGHT) == count ? 0 : 1;
}
