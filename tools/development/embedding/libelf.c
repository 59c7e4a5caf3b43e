/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of libelf that the library of Embedded Swift calls. They open libelf at the first
 * call, because loading it costs every program a dozen page faults, and most never need it. Without
 * libelf each fails, and elf_errmsg says why.
 */
#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>

#include "ctweaksystem.h"

/*
 * Returns libelf's function; NULL if it cannot be loaded, see reason(). In another root directory
 * it could be anybody's library, so it is not loaded there. Do not call this with the store's lock:
 * a thread that loads a library with tweaks waits for that with the dynamic linker's lock. Threads
 * that call this at once find the same; libelf is never closed.
 */
static void *find(void **found, const char *name) {
  static void *shared;
  void *function = __atomic_load_n(found, __ATOMIC_ACQUIRE);
  if (function)
    return function;
  bool held_forks = fbtweak__allow_forks();
  void *libelf = __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
  if (!libelf && !fbtweak__has_other_root())
    libelf = dlopen("libelf.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (libelf) {
    function = dlsym(libelf, name);
    __atomic_store_n(&shared, libelf, __ATOMIC_RELEASE);
    __atomic_store_n(found, function, __ATOMIC_RELEASE);
  }
  if (held_forks)
    fbtweak__hold_forks();
  return function;
}

static const char *reason(void) {
  return fbtweak__has_other_root() ? "libelf is not loaded after chroot" : dlerror();
}

#define FORWARD(result_, failure_, name_, parameters_, arguments_)                                 \
  result_ name_ parameters_ {                                                                      \
    static void *found;                                                                            \
    result_(*function) parameters_ = (result_(*) parameters_)find(&found, #name_);                 \
    return function ? function arguments_ : failure_;                                              \
  }
FORWARD(unsigned, EV_NONE, elf_version, (unsigned version), (version))
FORWARD(const char *, reason(), elf_errmsg, (int error), (error))
FORWARD(Elf *, NULL, elf_begin, (int file, Elf_Cmd command, Elf *archive), (file, command, archive))
FORWARD(Elf *, NULL, elf_memory, (char *bytes, size_t size), (bytes, size))
FORWARD(int, 0, elf_end, (Elf * elf), (elf))
FORWARD(Elf_Kind, ELF_K_NONE, elf_kind, (Elf * elf), (elf))
FORWARD(Elf_Arhdr *, NULL, elf_getarhdr, (Elf * elf), (elf))
FORWARD(size_t, 0, elf_rand, (Elf * archive, size_t offset), (archive, offset))
FORWARD(int, -1, elf_getphdrnum, (Elf * elf, size_t *number), (elf, number))
FORWARD(int, -1, elf_getshdrnum, (Elf * elf, size_t *number), (elf, number))
FORWARD(int, -1, elf_getshdrstrndx, (Elf * elf, size_t *index), (elf, index))
FORWARD(Elf_Scn *, NULL, elf_getscn, (Elf * elf, size_t index), (elf, index))
FORWARD(Elf_Scn *, NULL, elf_nextscn, (Elf * elf, Elf_Scn *section), (elf, section))
FORWARD(size_t, SHN_UNDEF, elf_ndxscn, (Elf_Scn * section), (section))
FORWARD(char *, NULL, elf_strptr, (Elf * elf, size_t section, size_t offset),
        (elf, section, offset))
FORWARD(GElf_Ehdr *, NULL, gelf_getehdr, (Elf * elf, GElf_Ehdr *header), (elf, header))
FORWARD(GElf_Phdr *, NULL, gelf_getphdr, (Elf * elf, int index, GElf_Phdr *header),
        (elf, index, header))
FORWARD(GElf_Shdr *, NULL, gelf_getshdr, (Elf_Scn * section, GElf_Shdr *header), (section, header))
FORWARD(long, -1, gelf_checksum, (Elf * elf), (elf))
