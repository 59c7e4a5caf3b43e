/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <limits.h>

#include "scenarios.h"

struct plugin {
  void *library;
  int (*depth)(void);
  void (*observe)(void);
  int (*observed)(void);
  int (*made_runs)(void);
  int (*wet)(void);
};
static struct plugin open_plugin(const char *path) {
  struct plugin plugin = {.library = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
  if (!plugin.library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  *(void **)&plugin.depth = dlsym(plugin.library, "plugin_depth");
  *(void **)&plugin.observe = dlsym(plugin.library, "plugin_observe");
  *(void **)&plugin.observed = dlsym(plugin.library, "plugin_observed");
  *(void **)&plugin.made_runs = dlsym(plugin.library, "plugin_made_runs");
  *(void **)&plugin.wet = dlsym(plugin.library, "plugin_wet");
  return plugin;
}

static const fbtweak *depth(void) {
  return fbtweak_find("Plug-in", "Reverb", "Depth");
}
static void count(const fbtweak_change *change, void *context) {
  (void)change;
  ++*(int *)context;
}

void open_and_close(const char *path, const char *copy) {
  EXPECT(!depth());
  struct plugin plugin = open_plugin(path);
  const fbtweak *tweak = depth();
  EXPECT(tweak && plugin.depth() == 30 && plugin.wet() == 30);

  /* The tweaks of the plug-in, in the plug-in and in the program. */
  int bound = 0, changes = 0;
  EXPECT(fbtweak_bind(tweak, &bound) == FBTWEAK_OK);
  EXPECT(fbtweak_observe(tweak, NULL, count, &changes));
  plugin.observe();
  EXPECT(fbtweak_set_integer(tweak, 60) == FBTWEAK_OK);
  EXPECT(plugin.depth() == 60 && plugin.wet() == 60 && bound == 60 && changes == 1 &&
         plugin.observed() == 1);
  EXPECT(fbtweak_set_integer(fbtweak_find("Sound", "Mixer", "Level"), 1) == FBTWEAK_OK);
  EXPECT(plugin.observed() == 2);

  EXPECT(dlclose(plugin.library) == 0);
  EXPECT(!depth() && fbtweak_read_integer(tweak, -1) == 30);
  EXPECT(fbtweak_set_integer(tweak, 70) == FBTWEAK_UNKNOWN && bound == 60);
  EXPECT(fbtweak_set_integer(fbtweak_find("Sound", "Mixer", "Level"), 2) == FBTWEAK_OK);

  /* Opened again it has its value, and earlier observers do not follow it. */
  plugin = open_plugin(path);
  EXPECT(depth() == tweak && plugin.depth() == 60 && plugin.wet() == 60 &&
         fbtweak_read_integer(tweak, -1) == 60);
  EXPECT(fbtweak_set_integer(tweak, 61) == FBTWEAK_OK);
  EXPECT(plugin.depth() == 61 && bound == 60 && changes == 1 && plugin.observed() == 0);

  /* A copy declares the same tweak. Closing one does not affect the other. */
  struct plugin second = open_plugin(copy);
  EXPECT(second.library != plugin.library && second.depth() == 61);
  EXPECT(fbtweak_set_integer(tweak, 62) == FBTWEAK_OK);
  EXPECT(plugin.depth() == 62 && second.depth() == 62);
  EXPECT(fbtweak_run(fbtweak_find("Plug-in", "Reverb", "Reset")) == FBTWEAK_OK);
  EXPECT(plugin.depth() == 30 && second.depth() == 30);
  EXPECT(fbtweak_run(fbtweak_find("Plug-in", "Reverb", "Made")) == FBTWEAK_OK);
  EXPECT(plugin.made_runs() == 1 && second.made_runs() == 0);
  EXPECT(dlclose(plugin.library) == 0);
  EXPECT(!fbtweak_find("Plug-in", "Reverb", "Made"));
  EXPECT(depth() == tweak && second.depth() == 30);
  EXPECT(fbtweak_set_integer(tweak, 63) == FBTWEAK_OK && second.depth() == 63);
  EXPECT(second.wet() == 63);
  EXPECT(fbtweak_run(fbtweak_find("Plug-in", "Reverb", "Reset")) == FBTWEAK_OK);
  EXPECT(second.depth() == 30 && second.wet() == 30);
  EXPECT(dlclose(second.library) == 0 && !depth());
}

/* The overrides existed before the start of the program. */
void open_with_override(const char *path) {
  struct plugin plugin = open_plugin(path);
  EXPECT(plugin.depth() == 44 && plugin.wet() == 44);
  EXPECT_TEXT(fbtweak_source(depth()), "override");
  EXPECT(dlclose(plugin.library) == 0);
}

/* A plug-in that the dynamic linker never unloads, such as C++ ones with unique symbols. */
void open_and_keep(const char *path) {
  struct plugin plugin = open_plugin(path);
  const fbtweak *tweak = depth();
  EXPECT(fbtweak_set_integer(tweak, 60) == FBTWEAK_OK);
  EXPECT(dlclose(plugin.library) == 0);
  EXPECT(depth() == tweak && fbtweak_set_integer(tweak, 61) == FBTWEAK_OK);
  EXPECT(plugin.depth() == 61 && plugin.wet() == 61);
  EXPECT(open_plugin(path).depth() == 61);
}

#if !defined(__has_feature)
#  define __has_feature(name_) 0
#endif

/* 0 with a sanitizer, whose own memory grows and which reports leaks itself. */
static long resident_pages(void) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return 0;
#else
  long total = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  EXPECT(file && fscanf(file, "%ld %ld", &total, &resident) == 2);
  fclose(file);
  return resident;
#endif
}

void open_often(const char *path, const char *count_of_rounds) {
  /* Memory that is lost is lost in each fifth of the rounds. Elsewhere threads that write and read
   * the file start, on a busy machine several at once, and the allocator grows. 10,000 rounds were
   * seen to take 105 bytes each. */
  long rounds = atol(count_of_rounds), pages = resident_pages(), least = LONG_MAX;
  for (long round = rounds; round > 0; round--) {
    struct plugin plugin = open_plugin(path);
    const fbtweak *tweak = depth();
    int bound = 0, changes = 0;
    EXPECT(fbtweak_bind(tweak, &bound) == FBTWEAK_OK);
    EXPECT(fbtweak_observe(tweak, NULL, count, &changes));
    plugin.observe();
    int value = (int)(round % 100);
    int before = plugin.depth();
    EXPECT(fbtweak_set_integer(tweak, value) == FBTWEAK_OK && plugin.depth() == value);
    EXPECT(bound == value && changes == (before != value) && plugin.observed() == changes);
    EXPECT(dlclose(plugin.library) == 0 && !depth());
    if (round % (rounds / 5) == 1) {
      long before = pages;
      pages = resident_pages();
      if (pages - before < least)
        least = pages - before;
    }
  }
  EXPECT(least <= 64);
}
