/* SPDX-License-Identifier: BSD-3-Clause */
/* Unusual programs that the library must not disturb. A scenario exits with 0 if it was not
 * disturbed.
 */
#include <errno.h>
#include <fbtweak.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition_)                                                                          \
  do {                                                                                             \
    if (!(condition_)) {                                                                           \
      fprintf(stderr, "host.c:%d: not so: %s (%s, %s)\n", __LINE__, #condition_, strerror(errno),  \
              fbtweak_error());                                                                    \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

static int level(void) {
  return FBTweakValue("Host", "Mixer", "Level", 5, 0, 1000000);
}
static const fbtweak *level_handle(void) {
  return fbtweak_find("Host", "Mixer", "Level");
}
static void pause_for(long milliseconds) {
  struct timespec rest = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {
  }
}

/* Waits until the overrides file, at HOST_OVERRIDES, contains a text, ignoring spaces. Returns
 * whether it does. */
static bool is_kept(const char *text) {
  for (int i = 0; i < 500; i++, pause_for(10)) {
    char content[4096] = "";
    FILE *file = fopen(getenv("HOST_OVERRIDES"), "r");
    if (!file)
      continue;
    for (int character, length = 0; (character = getc(file)) != EOF && length < 4095;)
      if (character != ' ')
        content[length++] = (char)character;
    fclose(file);
    if (strstr(content, text))
      return true;
  }
  return false;
}

static double processor_time(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}
/* More CPU time than a waiting thread uses in a second, and a fraction of what a spinning one uses.
 */
static void expect_idle(void) {
  double before = processor_time();
  pause_for(1000);
  double taken = processor_time() - before;
  if (taken > 0.3)
    fprintf(stderr, "a second of rest took %.3f s of processor\n", taken);
  CHECK(taken <= 0.3);
}

/* Waits until the library's thread polls files and requests. */
static void wait_for_library(void) {
  pause_for(600);
}

/* main ends its thread. An exit handler reports it, because the status is always 0. */
static void say_goodbye(void) {
  /* Not puts, which allocates: the signal may have interrupted an allocation. */
  CHECK(write(STDOUT_FILENO, "goodbye\n", 8) == 8);
}
static void main_thread_exits(void) {
  atexit(say_goodbye);
  CHECK(fbtweak_set_integer(level_handle(), 7) == FBTWEAK_OK);
  pthread_exit(NULL);
}
static void main_thread_exits_late(void) {
  wait_for_library();
  main_thread_exits();
}
static void *work_for_a_while(void *context) {
  pause_for(700);
  CHECK(fbtweak_set_integer(level_handle(), 8) == FBTWEAK_OK);
  return context;
}
static void main_thread_exits_first(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, work_for_a_while, NULL) == 0);
  main_thread_exits();
}

/* Like libdispatch's dispatch_main, from which asynchronous Swift programs never return. */
static void park(void *value) {
  (void)value;
  pause_for(2000);
  FILE *file = fopen(getenv("HOST_OVERRIDES"), "w");
  CHECK(file && fputs("{\"Host\": {\"Mixer\": {\"Level\": 21}}}\n", file) > 0 && fclose(file) == 0);
  for (int i = 0; i < 500 && level() != 21; i++)
    pause_for(10);
  exit(level() == 21 ? 0 : 1);
}
static void main_thread_parks(void) {
  pthread_key_t key;
  CHECK(pthread_key_create(&key, park) == 0 && pthread_setspecific(key, &key) == 0);
  wait_for_library();
  pthread_exit(NULL);
}

static int locked_descriptors(void) {
  int count = 0;
  for (int i = 0; i < 256; i++) {
    char path[64], target[512] = "";
    snprintf(path, sizeof(path), "/proc/self/fd/%d", i);
    if (readlink(path, target, sizeof(target) - 1) > 0 && strstr(target, "overrides.json.lock"))
      count++;
  }
  return count;
}

/* Continues in a child; the parent exits after some milliseconds, without exit handlers. */
static void continue_in_child(long milliseconds) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child > 0) {
    pause_for(milliseconds);
    _exit(0);
  }
}

/* The parent exits while the first change is being written, or just before. */
static void becomes_daemon(void) {
  for (int i = 0; i < 20; i++) {
    CHECK(fbtweak_set_integer(level_handle(), 100 + i) == FBTWEAK_OK);
    pause_for(i % 4);
    continue_in_child(0);
    CHECK(locked_descriptors() == 0);
    char text[32];
    snprintf(text, sizeof(text), "\"Level\":%d", 100 + i);
    CHECK(is_kept(text));
  }
  puts("still there");
}

/* As daemon programs are advised to do, so that they never get a terminal. */
static void becomes_daemon_twice(void) {
  for (int i = 0; i < 10; i++) {
    CHECK(fbtweak_set_integer(level_handle(), 150 + i) == FBTWEAK_OK);
    continue_in_child(0);
    pause_for(i % 4);
    continue_in_child(0);
    char text[32];
    snprintf(text, sizeof(text), "\"Level\":%d", 150 + i);
    CHECK(is_kept(text));
  }
  puts("still there");
}

/* The parent cannot write its change, because another process writes, and exits later than the
 * child looks for it first.
 */
static void becomes_daemon_late(void) {
  char path[4096];
  snprintf(path, sizeof(path), "%s.lock", getenv("HOST_OVERRIDES"));
  int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  CHECK(lock >= 0 && flock(lock, LOCK_EX) == 0);
  CHECK(fbtweak_set_integer(level_handle(), 130) == FBTWEAK_OK);
  continue_in_child(800);
  pause_for(1000);
  CHECK(flock(lock, LOCK_UN) == 0);
  CHECK(is_kept("\"Level\":130"));
  puts("still there");
}

/* The parent writes its change, and exits later than somebody else changes the file. */
static void leaves_a_child(void) {
  CHECK(fbtweak_set_integer(level_handle(), 140) == FBTWEAK_OK);
  continue_in_child(1000);
  CHECK(is_kept("\"Level\":140"));
  FILE *file = fopen(getenv("HOST_OVERRIDES"), "w");
  CHECK(file && fputs("{\"Host\": {\"Mixer\": {\"Level\": 141}}}\n", file) > 0 &&
        fclose(file) == 0);
  pause_for(2500);
  CHECK(is_kept("\"Level\":141"));
  puts("still there");
}

/* A child leaves the parent's changes to the parent while that runs. */
static void forks_while_it_sets(void) {
  for (int i = 0; i < 50; i++) {
    CHECK(fbtweak_set_integer(level_handle(), 200 + i) == FBTWEAK_OK);
    pause_for(i % 4);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
      _exit(locked_descriptors());
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

/* Makes some system calls fail with EPERM, for all threads. */
static void refuse(const int *calls, size_t count) {
  struct sock_filter filter[16] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
  };
  size_t length = 1;
  for (size_t i = 0; i < count; i++)
    filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i],
                                                    (unsigned char)(count - i), 0);
  filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  struct sock_fprog program = {(unsigned short)length, filter};
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0);
}
static void may_not_poll(void) {
  wait_for_library();
  refuse((int[]){SYS_ppoll}, 1);
  /* The thread is asleep in the call, and gets the error at the next one. */
  CHECK(fbtweak_set_integer(level_handle(), 9) == FBTWEAK_OK && is_kept("\"Level\":9"));
  expect_idle();
  CHECK(fbtweak_set_integer(level_handle(), 10) == FBTWEAK_OK && is_kept("\"Level\":10"));
}
static void may_not_read(void) {
  wait_for_library();
  FILE *file = fopen(getenv("HOST_OVERRIDES"), "w");
  CHECK(file);
  refuse((int[]){SYS_read}, 1);
  fputs("{\"Host\": {\"Mixer\": {\"Level\": 11}}}\n", file);
  fclose(file);
  expect_idle();
  CHECK(fbtweak_set_integer(level_handle(), 12) == FBTWEAK_OK && level() == 12);
}
static void may_not_start_threads(void) {
  refuse((int[]){SYS_clone, SYS_clone3}, 2);
  CHECK(fbtweak_set_integer(level_handle(), 13) == FBTWEAK_OK && is_kept("\"Level\":13"));
}
static void may_open_no_files(void) {
  wait_for_library();
  CHECK(setrlimit(RLIMIT_NOFILE, &(struct rlimit){1, 1}) == 0);
  CHECK(fbtweak_set_integer(level_handle(), 14) == FBTWEAK_OK && level() == 14);
  expect_idle();
}

/* The address space is exhausted except for some bytes, and then for fewer. */
static void has_no_memory(void) {
  wait_for_library();
  const fbtweak *handle = level_handle();
  CHECK(fbtweak_set_integer(handle, 15) == FBTWEAK_OK);
  for (size_t room = 4 << 20; room > 0; room /= 2) {
    char line[64];
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fgets(line, sizeof(line), file));
    fclose(file);
    size_t size = strtoul(line, NULL, 10) * (size_t)getpagesize() + room;
    CHECK(setrlimit(RLIMIT_AS, &(struct rlimit){size, RLIM_INFINITY}) == 0);
    void **blocks = NULL;
    for (size_t block_size = room; block_size >= 32; block_size /= 2)
      for (void **block; (block = malloc(block_size));) {
        *block = blocks;
        blocks = block;
      }
    for (int i = 0; i < 50; i++) {
      int result = fbtweak_set_integer(handle, 100 + i);
      CHECK(result != FBTWEAK_OK || level() == 100 + i);
      (void)fbtweak_find("Host", "Mixer", "Level");
      (void)fbtweak_find("Host", "Mixer", "Lever");
    }
    pause_for(100);
    while (blocks) {
      void **next = *blocks;
      free(blocks);
      blocks = next;
    }
  }
  CHECK(setrlimit(RLIMIT_AS, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}) == 0);
  CHECK(fbtweak_set_integer(handle, 16) == FBTWEAK_OK && is_kept("\"Level\":16"));
}

static bool has_entries(const char *root) {
  char command[512];
  snprintf(command, sizeof(command), "test -n \"$(ls -A '%s')\"", root);
  return system(command) == 0;
}
/* Changes the root to the empty directory HOST_ROOT, in a child because it cannot be undone. */
static void changes_root(void) {
  wait_for_library();
  const char *root = getenv("HOST_ROOT");
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    CHECK(chroot(root) == 0 && chdir("/") == 0);
    CHECK(fbtweak_set_integer(level_handle(), 17) == FBTWEAK_OK && level() == 17);
    pause_for(500);
    exit(level() == 17 ? 0 : 1);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(!has_entries(root));
}

/* A signal handler reads tweaks, also through a handle, at any time. */
static volatile sig_atomic_t handled, wrong;
static const fbtweak *handler_handle;
static void read_in_handler(int number) {
  (void)number;
  int64_t value = fbtweak_read_integer(handler_handle, -1);
  if (value < 0 || value > 1000000 || level() < 0)
    wrong++;
  handled++;
}
static void reads_in_handler(void) {
  handler_handle = FBTweakInline("Host", "Mixer", "Level", 5, 0, 1000000);
  struct sigaction action = {.sa_handler = read_in_handler, .sa_flags = SA_RESTART};
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  struct itimerval interval = {{0, 200}, {0, 200}};
  CHECK(setitimer(ITIMER_REAL, &interval, NULL) == 0);
  for (int i = 0; handled < 2000; i++) {
    free(malloc((size_t)(i % 5000)));
    if (i % 100 == 0)
      CHECK(fbtweak_set_integer(fbtweak_find("Host", "Mixer", "Level"), i % 1000) == FBTWEAK_OK);
  }
  CHECK(wrong == 0);
}

static void exit_in_handler(int number) {
  (void)number;
  exit(0);
}
static void ignore_change(const fbtweak_change *change, void *context) {
  (void)change, (void)context;
}
/* As a destructor of the program does. */
static int bound_to_the_end;
static void unbind_at_exit(void) {
  fbtweak_unbind(&bound_to_the_end);
}
/* Exits after HOST_EXITS microseconds, which is nearly always inside the library. */
static void exits_in_handler(void) {
  atexit(say_goodbye);
  CHECK(fbtweak_bind(level_handle(), &bound_to_the_end) == FBTWEAK_OK);
  struct sigaction action = {.sa_handler = exit_in_handler};
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  long delay = atol(getenv("HOST_EXITS"));
  struct itimerval once = {{0, 0}, {delay / 1000000, delay % 1000000}};
  CHECK(fbtweak_set_integer(level_handle(), 7) == FBTWEAK_OK);
  /* After all handlers of the library, so that it runs before them. */
  atexit(unbind_at_exit);
  CHECK(setitimer(ITIMER_REAL, &once, NULL) == 0);
  for (int i = 0;; i++) {
    int variable;
    CHECK(fbtweak_set_integer(level_handle(), 1000 + i % 1000) == FBTWEAK_OK);
    CHECK(fbtweak_bind(level_handle(), &variable) == FBTWEAK_OK);
    fbtweak_token token = fbtweak_observe(NULL, NULL, ignore_change, NULL);
    CHECK(token && fbtweak_reset(level_handle()) == FBTWEAK_OK);
    fbtweak_unobserve(token);
    fbtweak_unbind(&variable);
  }
}

static void *set_once(void *context) {
  *(int *)context = fbtweak_set_integer(level_handle(), 18);
  return NULL;
}
/* The minimum stack size in the documentation. */
static void has_small_stack(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  int result = -1;
  CHECK(pthread_attr_init(&attributes) == 0 &&
        pthread_attr_setstacksize(&attributes, strtoul(getenv("HOST_STACK"), NULL, 10)) == 0);
  CHECK(pthread_create(&thread, &attributes, set_once, &result) == 0 &&
        pthread_join(thread, NULL) == 0 && result == FBTWEAK_OK);
}

/* Changes are on disk before exec. */
static void calls_exec(void) {
  CHECK(fbtweak_set_integer(level_handle(), 20) == FBTWEAK_OK);
  fbtweak_flush();
  execl("/bin/true", "true", (char *)NULL);
  exit(1);
}

static void sets_and_returns(void) {
  CHECK(fbtweak_set_integer(level_handle(), 19) == FBTWEAK_OK);
}

void throws(void); /* throwing.cpp */

static const struct {
  const char *name;
  void (*run)(void);
} scenarios[] = {
    {"main-thread-exits", main_thread_exits},
    {"main-thread-exits-late", main_thread_exits_late},
    {"main-thread-exits-first", main_thread_exits_first},
    {"main-thread-parks", main_thread_parks},
    {"becomes-daemon", becomes_daemon},
    {"becomes-daemon-twice", becomes_daemon_twice},
    {"becomes-daemon-late", becomes_daemon_late},
    {"leaves-a-child", leaves_a_child},
    {"forks-while-it-sets", forks_while_it_sets},
    {"may-not-poll", may_not_poll},
    {"may-not-read", may_not_read},
    {"may-not-start-threads", may_not_start_threads},
    {"may-open-no-files", may_open_no_files},
    {"has-no-memory", has_no_memory},
    {"changes-root", changes_root},
    {"reads-in-handler", reads_in_handler},
    {"exits-in-handler", exits_in_handler},
    {"has-small-stack", has_small_stack},
    {"sets-and-returns", sets_and_returns},
    {"calls-exec", calls_exec},
    {"throws", throws},
};

int main(int count, char **arguments) {
  for (size_t i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++) {
    if (count != 2 || strcmp(arguments[1], scenarios[i].name) != 0)
      continue;
    scenarios[i].run();
    return 0;
  }
  fprintf(stderr, "usage: host SCENARIO\n");
  return 64;
}
