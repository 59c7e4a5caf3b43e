/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host that knows nothing of tweaks, and opens and closes plug-ins as a scanner does. Where a
 * plug-in was it puts memory of its own, and checks that nobody else writes there.
 *
 * usage: host [--namespace] [--idle MICROSECONDS] ROUNDS PLUG-IN…
 */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static _Noreturn void fail(const char *what, const char *why) {
  fprintf(stderr, "host: %s: %s\n", what, why);
  exit(1);
}

/* --- Memory of the host where a plug-in was */

enum { TRAPS = 64, PATTERN = 0xa5 };
static struct trap {
  unsigned char *start;
  size_t size;
} traps[TRAPS];
static unsigned next_trap;

static void check_trap(struct trap *trap) {
  for (size_t i = 0; i < trap->size; i++) {
    if (trap->start[i] != PATTERN)
      fail("memory of the host", "somebody has written into it");
  }
}
static void set_trap(uintptr_t start, uintptr_t stop) {
  struct trap *trap = &traps[next_trap++ % TRAPS];
  if (trap->start) {
    check_trap(trap);
    munmap(trap->start, trap->size);
    trap->start = NULL;
    trap->size = 0;
  }
  /* Another thread may have been faster. */
  void *memory = mmap((void *)start, stop - start, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (memory == MAP_FAILED)
    return;
  if ((uintptr_t)memory != start) {
    munmap(memory, stop - start);
    return;
  }
  memset(memory, PATTERN, stop - start);
  trap->start = memory;
  trap->size = stop - start;
}

/* --- Plug-ins */

struct range {
  uintptr_t address, start, stop;
};
static int find_range(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  struct range *range = context;
  uintptr_t start = UINTPTR_MAX, stop = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD)
      continue;
    uintptr_t first = info->dlpi_addr + segment->p_vaddr, last = first + segment->p_memsz;
    start = first < start ? first : start;
    stop = last > stop ? last : stop;
  }
  if (range->address < start || range->address >= stop)
    return 0;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  range->start = start / page * page;
  range->stop = (stop + page - 1) / page * page;
  return 1;
}

static bool is_mapped(uintptr_t address) {
  unsigned char state;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  return mincore((void *)(address / page * page), page, &state) == 0;
}

struct plugin {
  const char *path;
  void *handle;
  const char *(*use)(long round);
};

static struct plugin open_plugin(const char *path, bool in_namespace) {
  struct plugin plugin = {.path = path};
  plugin.handle = in_namespace ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL)
                               : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!plugin.handle)
    fail(path, dlerror());
  *(void **)&plugin.use = dlsym(plugin.handle, "use");
  if (!plugin.use)
    fail(path, dlerror());
  return plugin;
}

static void close_plugin(struct plugin *plugin) {
  if (!plugin->handle)
    return;
  /* Not of another namespace: dl_iterate_phdr knows only that of its caller. */
  struct range range = {(uintptr_t)plugin->use, 0, 0};
  bool is_here = dl_iterate_phdr(find_range, &range);
  if (dlclose(plugin->handle) != 0)
    fail(plugin->path, dlerror());
  plugin->handle = NULL;
  /* In this namespace another thread may already have mapped memory there. */
  bool is_loaded =
      is_here ? dlopen(plugin->path, RTLD_LAZY | RTLD_NOLOAD) != NULL : is_mapped(range.address);
  if (is_loaded)
    fail(plugin->path, "it is still loaded");
  if (is_here)
    set_trap(range.start, range.stop);
}

/* --- Namespaces */

static pthread_key_t key;
static char value;
static void check_value(void *given) {
  if (given != &value)
    fail("thread-specific value", "somebody has replaced it");
}

struct visit {
  const char *path;
  long round;
  useconds_t idle;
};

/* On a thread of its own, which has a thread-specific value. */
static void *use_in_namespace(void *context) {
  const struct visit *visit = context;
  if (pthread_setspecific(key, &value) != 0)
    fail("thread-specific value", "there is no memory");
  struct plugin plugin = open_plugin(visit->path, true);
  const char *problem = plugin.use(visit->round);
  if (problem)
    fail(plugin.path, problem);
  if (visit->idle)
    usleep(visit->idle);
  close_plugin(&plugin);
  check_value(pthread_getspecific(key));
  return NULL;
}

int main(int count, char **words) {
  bool in_namespace = false;
  useconds_t idle = 0;
  int first = 1;
  for (; first < count && words[first][0] == '-'; first++) {
    if (strcmp(words[first], "--namespace") == 0)
      in_namespace = true;
    else if (strcmp(words[first], "--idle") == 0 && first + 1 < count)
      idle = (useconds_t)atol(words[++first]);
    else
      return 64;
  }
  if (count - first < 2)
    return 64;
  long rounds = atol(words[first++]);
  if (pthread_key_create(&key, check_value) != 0)
    return 71;
  struct plugin last = {0};
  for (long round = 0; round < rounds; round++) {
    const char *path = words[first + round % (count - first)];
    if (in_namespace) {
      struct visit visit = {path, round, idle};
      pthread_t thread;
      if (pthread_create(&thread, NULL, use_in_namespace, &visit) != 0)
        return 71;
      pthread_join(thread, NULL);
      continue;
    }
    struct plugin plugin = open_plugin(path, false);
    const char *problem = plugin.use(round);
    if (problem)
      fail(plugin.path, problem);
    if (idle)
      usleep(idle);
    close_plugin(&last);
    /* Every third one is still open while the next one is opened. */
    if (round % 3 == 0)
      last = plugin;
    else
      close_plugin(&plugin);
  }
  close_plugin(&last);
  for (int i = 0; i < TRAPS; i++)
    check_trap(&traps[i]);
  puts("done");
  return 0;
}
