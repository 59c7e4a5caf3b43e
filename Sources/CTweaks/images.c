/* The images of this process, read from their program headers in memory. */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include "ctweaks.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#ifndef NT_GNU_BUILD_ID
#  define NT_GNU_BUILD_ID 3
#endif

/* The types of a note named "FBTweak": see RecordFormat.md. */
enum { NT_FBTWEAK_IMAGE = 1, NT_FBTWEAK_LIBRARY = 2 };

static uintptr_t relative_address(const uint8_t *field) {
  int32_t distance;
  memcpy(&distance, field, sizeof(distance));
  return (uintptr_t)field + (uintptr_t)(intptr_t)distance;
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
  if (note->n_type == NT_FBTWEAK_LIBRARY && note->n_descsz >= 4) {
    image->library = (const struct fbtweak__library *)relative_address(content);
  } else if (note->n_type == NT_FBTWEAK_IMAGE && note->n_descsz >= 8) {
    image->records_start = relative_address(content);
    image->records_stop = relative_address(content + 4);
    if (note->n_descsz >= 12)
      image->library_slot = (const struct fbtweak__library **)relative_address(content + 8);
  }
}

/* Notes are padded to 4 bytes, in a segment aligned to 8 to 8: gABI and the x86 psABI. */
static void read_notes(struct fbtweak__image *image, const ElfW(Phdr) * segment) {
  const uint8_t *bytes = (const uint8_t *)(image->bias + segment->p_vaddr);
  size_t size = segment->p_memsz;
  size_t alignment = segment->p_align == 8 ? 8 : 4;
  size_t offset = 0;

  while (size - offset >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    memcpy(&note, bytes + offset, sizeof(note));
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
      if (segment->p_offset == 0 && !image.header) {
        image.header = (const void *)start;
        image.header_size = segment->p_filesz;
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

bool fbtweak__image_can_write(const struct fbtweak__image *image, uintptr_t start, size_t size) {
  const ElfW(Phdr) *segments = image->segments;
  for (size_t i = 0; i < image->segment_count; i++) {
    const ElfW(Phdr) *segment = &segments[i];
    uintptr_t first = image->bias + segment->p_vaddr;
    if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) && start >= first &&
        start - first <= segment->p_memsz && size <= segment->p_memsz - (start - first))
      return true;
  }
  return false;
}

bool fbtweak__is_privileged(void) {
  return getauxval(AT_SECURE) != 0;
}
