/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A soak test: tweaks are set up to a hundred times a second from inside and by the command, the
 * file is edited, a library with tweaks is loaded and unloaded, and the program forks. Its memory,
 * threads and descriptors must not grow.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "scenarios.h"

enum { SECONDS = 4, RATE = 100 /* Hz */, MOST_GROWTH = 1024 /* KB */ };

static bool is_over;
static int last_set;

static void *set_inside(void *third) {
  int i = 0;
  while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
    fbtweak_set_integer(third, ++i);
    pause_for(1000 / RATE);
  }
  last_set = i;
  return NULL;
}

static int count_files(const char *path) {
  DIR *directory = opendir(path);
  int count = 0;
  while (directory && readdir(directory))
    count++;
  if (directory)
    closedir(directory);
  return count;
}
struct used {
  int memory, threads, descriptors;
};
static struct used used(void) {
  struct used used = {0, count_files("/proc/self/task"), count_files("/proc/self/fd")};
  char line[256];
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof(line), file))
    sscanf(line, "VmRSS: %d", &used.memory);
  if (file)
    fclose(file);
  return used;
}

/* Loads the library STARTED_LIBRARY, checks its override, and unloads it. */
static bool opens_library(struct process *self) {
  const char *path = getenv("STARTED_LIBRARY");
  if (!path)
    return true;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  CHECK(library);
  int (*read)(int) = NULL;
  *(void **)&read = dlsym(library, "started_other_value");
  int value = read ? read(0) : 0;
  dlclose(library);
  CHECK(value == (has_overrides(self->state) && self->state != FEW ? 41 : 40));
  return true;
}

static bool forks_once(void) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    fbtweak_set_integer(slot_handle(7), 707);
    _exit(slot(7) == 707 ? 0 : 1);
  }
  int status = -1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  return true;
}

static bool live(struct process *self, double seconds) {
  char value[16];
  double end = now() + seconds;
  for (int i = 0; i < 20 || now() < end; i++) {
    snprintf(value, sizeof(value), "%d", i);
    CHECK(tweak(self->tweak, "set", "Start/Slots/Slot 5", value, NULL));
    CHECK(slot(5) == i);
    if (i % 10 == 3)
      CHECK(opens_library(self));
    if (i % 10 == 6)
      CHECK(forks_once());
    if (i % 20 == 9)
      CHECK(tweak(self->tweak, "edit", NULL));
    pause_for(1000 / RATE / 2);
  }
  return true;
}

bool soaks(struct process *self) {
  const char *seconds = getenv("STARTED_SECONDS");
  /* Edits the overrides file, as a person would. */
  setenv("EDITOR", "sed -i -e s/1022/1023/ -e t -e s/1023/1022/", 1);
  unsetenv("VISUAL");
  pause_for(A_WHILE);
  double duration = seconds ? atof(seconds) : SECONDS;
  pthread_t setter;
  CHECK(pthread_create(&setter, NULL, set_inside, (void *)slot_handle(3)) == 0);
  CHECK(live(self, duration / 3));
  struct used before = used();
  CHECK(live(self, duration * 2 / 3));
  struct used after = used();
  /* The last connection may be closing, and a file may be being written. */
  for (int i = 0; i < 200 && after.descriptors > before.descriptors + 1; i++) {
    pause_for(50);
    after = used();
  }
  __atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
  pthread_join(setter, NULL);
  if (after.memory > before.memory + MOST_GROWTH || after.threads > before.threads + 1 ||
      after.descriptors > before.descriptors + 1) {
    complain("soaks: from %d to %d KB, %d to %d threads, %d to %d descriptors", before.memory,
             after.memory, before.threads, after.threads, before.descriptors, after.descriptors);
    return false;
  }
  CHECK(slot(3) == last_set);
  char text[32];
  snprintf(text, sizeof(text), "\"Slot3\":%d", last_set);
  return wait_for_file(text, true, "soaks");
}
