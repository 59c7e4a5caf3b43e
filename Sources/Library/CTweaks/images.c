/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The images of this process, read from their program headers in memory. The dynamic linker has
 * mapped the segments described there. Everything else in an image may be wrong, and is read only
 * where memory is mapped.
 */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include "ctweaks.h"

#include <elf.h>
#include <fbtweak.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#ifndef NT_GNU_PROPERTY_TYPE_0
#  define NT_GNU_PROPERTY_TYPE_0 5
#endif
#ifndef NT_GNU_BUILD_ID
#  define NT_GNU_BUILD_ID 3
#endif

static uintptr_t relative_address(const uint8_t *field) {
  int32_t distance;
  memcpy(&distance, field, sizeof(distance));
  return (uintptr_t)field + (uintptr_t)(intptr_t)distance;
}

/* Whether a range lies in one loaded segment with these permissions. */
static bool is_loaded(const struct fbtweak__image *image, uint32_t rights, uintptr_t start,
                      size_t size) {
  const ElfW(Phdr) *segments = image->segments;
  for (size_t i = 0; i < image->segment_count; i++) {
    uintptr_t offset = start - (image->bias + segments[i].p_vaddr);
    if (segments[i].p_type == PT_LOAD && (segments[i].p_flags & rights) == rights &&
        offset <= segments[i].p_memsz && size <= segments[i].p_memsz - offset)
      return true;
  }
  return false;
}

/* Whether a range has pages that the dynamic linker makes read-only after relocation. */
static bool is_protected(const struct fbtweak__image *image, uintptr_t start, size_t size) {
  uintptr_t page = getauxval(AT_PAGESZ);
  const ElfW(Phdr) *segments = image->segments;
  for (size_t i = 0; i < image->segment_count; i++) {
    if (segments[i].p_type != PT_GNU_RELRO)
      continue;
    /* Both ends are rounded down to a page, as the dynamic linker does. */
    uintptr_t first = image->bias + segments[i].p_vaddr;
    uintptr_t last = first + segments[i].p_memsz;
    if (page != 0) {
      first -= first % page;
      last -= last % page;
    }
    if (first < last && (start - first < last - first || first - start < size))
      return true;
  }
  return false;
}

bool fbtweak__image_can_write(const struct fbtweak__image *image, uintptr_t start, size_t size) {
  return is_loaded(image, PF_R | PF_W, start, size) && !is_protected(image, start, size);
}

bool fbtweak__image_can_hold_records(const struct fbtweak__image *image, uintptr_t start,
                                     size_t size) {
  return start % 8 == 0 && size <= PTRDIFF_MAX && fbtweak__image_can_write(image, start, size);
}

/*
 * The library sets the size of its table at run time, so the table is writable, and the size is 0
 * before. In every version the table has at least the first three members, and at most a thousand
 * functions.
 */
static bool is_library(const struct fbtweak__image *image, uintptr_t address) {
  enum { LEAST = 3 * sizeof(void *), MOST = 1000 * sizeof(void *) };
  if (address % sizeof(void *) != 0 || !fbtweak__image_can_write(image, address, LEAST))
    return false;
  size_t size = __atomic_load_n((const size_t *)address, __ATOMIC_RELAXED);
  return size == 0 ||
         (size >= LEAST && size <= MOST && fbtweak__image_can_write(image, address, size));
}

static void read_note(struct fbtweak__image *image, const ElfW(Nhdr) * note, const uint8_t *name,
                      const uint8_t *content) {
  if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof("GNU") &&
      memcmp(name, "GNU", sizeof("GNU")) == 0) {
    image->build_id = content;
    image->build_id_size = note->n_descsz;
    return;
  }
  if (note->n_namesz != sizeof("FBTweak") || memcmp(name, "FBTweak", sizeof("FBTweak")) != 0)
    return;
  if (note->n_type == FBTWEAK__NOTE_LIBRARY && note->n_descsz >= 4) {
    uintptr_t library = relative_address(content);
    if (is_library(image, library))
      image->library = (const struct fbtweak__library *)library;
  } else if (note->n_type == FBTWEAK__NOTE_VARIABLES) {
    image->has_variables = true;
  } else if (note->n_type == FBTWEAK__NOTE_APPLICATION) {
    if (memchr(content, '\0', note->n_descsz) != NULL)
      image->application = (const char *)content;
  } else if (note->n_type == FBTWEAK__NOTE_IMAGE && note->n_descsz >= 8) {
    uintptr_t start = relative_address(content);
    uintptr_t stop = relative_address(content + 4);
    if (start < stop && fbtweak__image_can_hold_records(image, start, stop - start)) {
      image->records_start = start;
      image->records_stop = stop;
    }
    uintptr_t slot = note->n_descsz >= 12 ? relative_address(content + 8) : 0;
    if (slot % sizeof(void *) == 0 && fbtweak__image_can_write(image, slot, sizeof(void *)))
      image->library_slot = (const struct fbtweak__library **)slot;
  }
}

/*
 * Notes are padded to 4 bytes, property notes in a segment aligned to 8 bytes to 8: gABI and the
 * x86 psABI. mold adds other notes to the same segment, which keep their 4.
 */
static void read_notes(struct fbtweak__image *image, const ElfW(Phdr) * segment) {
  uintptr_t start = image->bias + segment->p_vaddr;
  const uint8_t *bytes = (const uint8_t *)start;
  size_t size = segment->p_memsz;
  if (!is_loaded(image, PF_R, start, size))
    return;
  size_t offset = 0;

  while (size - offset >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    memcpy(&note, bytes + offset, sizeof(note));
    const size_t alignment =
        segment->p_align == 8 && note.n_type == NT_GNU_PROPERTY_TYPE_0 && note.n_namesz == 4 ? 8
                                                                                             : 4;
    size_t name = offset + sizeof(note);
    if (note.n_namesz > size - name)
      return;
    size_t content = (name + note.n_namesz + alignment - 1) & ~(alignment - 1);
    if (content > size || note.n_descsz > size - content)
      return;
    read_note(image, &note, bytes + name, bytes + content);
    offset = (content + note.n_descsz + alignment - 1) & ~(alignment - 1);
    if (offset > size)
      return;
  }
}

struct visit {
  bool (*visit)(const struct fbtweak__image *image, void *context);
  void *context;
};

static int describe_image(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size;
  struct visit *caller = data;
  struct fbtweak__image image = {
      .path = info->dlpi_name ? info->dlpi_name : "",
      .bias = info->dlpi_addr,
      .segments = info->dlpi_phdr,
      .segment_count = info->dlpi_phnum,
  };
  for (size_t i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type == PT_NOTE) {
      read_notes(&image, segment);
    } else if (segment->p_type == PT_LOAD) {
      uintptr_t start = image.bias + segment->p_vaddr;
      if (image.memory_stop == 0)
        image.memory_start = start;
      image.memory_stop = start + segment->p_memsz;
      if (segment->p_offset == 0 && !image.header && (segment->p_flags & PF_R)) {
        image.header = (const void *)start;
        image.header_size =
            segment->p_filesz < segment->p_memsz ? segment->p_filesz : segment->p_memsz;
        /* No more is compared, and a sanitizer may guard what follows. */
        uintptr_t end = (uintptr_t)(info->dlpi_phdr + info->dlpi_phnum);
        if (end > start && end - start < image.header_size)
          image.header_size = end - start;
      }
    }
  }
  return caller->visit(&image, caller->context) ? 0 : 1;
}

void fbtweak__each_image(bool (*visit)(const struct fbtweak__image *image, void *context),
                         void *context) {
  struct visit caller = {visit, context};
  dl_iterate_phdr(describe_image, &caller);
}

/*
 * What an image says about itself and others in its dynamic section. The dynamic linker has read
 * it, so it is right.
 */
struct links {
  const char *file; /* the last component of its path; "" for the executable */
  const char *name; /* DT_SONAME, or NULL */
  const char *strings;
  const ElfW(Dyn) * entries;
};
struct all_links {
  struct links *images;
  size_t count, room;
};

static const char *last_component(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static int read_links(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size;
  struct all_links *all = data;
  if (all->count == all->room) {
    size_t room = all->room + 64;
    struct links *images = realloc(all->images, room * sizeof(*images));
    if (!images)
      return 1;
    all->images = images;
    all->room = room;
  }
  struct links links = {.file = last_component(info->dlpi_name ? info->dlpi_name : "")};
  for (size_t i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
      links.entries = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
  }
  uintptr_t strings = 0, name = 0;
  for (const ElfW(Dyn) *entry = links.entries; entry && entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_STRTAB)
      strings = entry->d_un.d_ptr;
    else if (entry->d_tag == DT_SONAME)
      name = entry->d_un.d_val;
  }
  /* The dynamic linker relocates the address, except in sections that it cannot write. */
  if (strings != 0)
    links.strings = (const char *)(strings < info->dlpi_addr ? info->dlpi_addr + strings : strings);
  if (links.strings && name != 0)
    links.name = links.strings + name;
  all->images[all->count++] = links;
  return 0;
}

/*
 * The index of the first image with this name, or 0. The dynamic linker searches in this order,
 * too, and takes a library that is loaded already if that has the name.
 */
static size_t index_of(const char *needed, const struct all_links *all) {
  const char *file = last_component(needed);
  for (size_t i = 1; i < all->count; i++) {
    const struct links *image = &all->images[i];
    if (strcmp(image->file, file) == 0 || (image->name && strcmp(image->name, file) == 0))
      return i;
  }
  return 0;
}

/* Called for the first image, with the dynamic linker's lock held, so that none is unloaded. */
static int count_lasting_images(struct dl_phdr_info *info, size_t size, void *data) {
  (void)info, (void)size;
  size_t *count = data;
  struct all_links all = {0};
  dl_iterate_phdr(read_links, &all);
  size_t last = 0;
  for (size_t i = 0; i <= last && i < all.count; i++) {
    const struct links *image = &all.images[i];
    for (const ElfW(Dyn) *entry = image->strings ? image->entries : NULL;
         entry && entry->d_tag != DT_NULL; entry++) {
      if (entry->d_tag != DT_NEEDED)
        continue;
      size_t needed = index_of(image->strings + entry->d_un.d_val, &all);
      if (needed > last)
        last = needed;
    }
  }
  free(all.images);
  *count = last + 1;
  return 1;
}

size_t fbtweak__count_lasting_images(void) {
  static size_t known;
  size_t count = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (count == 0 && !fbtweak__is_in_namespace()) {
    dl_iterate_phdr(count_lasting_images, &count);
    __atomic_store_n(&known, count, __ATOMIC_RELAXED);
  }
  return count;
}

bool fbtweak__is_privileged(void) {
  return getauxval(AT_SECURE) != 0;
}

/* Defined in Sources/Library/TweaksTesting. */
void fbtweak__fail_test(const char *problem) __attribute__((weak));

bool fbtweak__has_tests(void) {
  return fbtweak__fail_test != NULL;
}

bool fbtweak__fails_test(const char *problem) {
  if (fbtweak__fail_test == NULL)
    return false;
  fbtweak__fail_test(problem);
  return true;
}
