/* SPDX-License-Identifier: BSD-3-Clause */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>

/* Decides which files are read: the user data of a module. */
struct fbtweak__debug_file_check {
  bool (*admits)(void *limits, const char *file, const char *link);
  void *limits;
};

/*
 * Finds the separate debug information of a module, if those files can be read. libdwfl keeps a
 * file that it has found, so they are checked before.
 */
static inline int fbtweak__find_debug_file(Dwfl_Module *module, void **user_data, const char *name,
                                           Dwarf_Addr base, const char *file, const char *link,
                                           GElf_Word checksum, char **found) {
  const struct fbtweak__debug_file_check *check = *user_data;
  if (check != NULL && !check->admits(check->limits, file, link))
    return -1;
  return dwfl_standard_find_debuginfo(module, user_data, name, base, file, link, checksum, found);
}

/* Begins a session for files, whose separate debug information is found in the usual places. */
static inline Dwfl *fbtweak__begin_debug_files(void) {
  static const Dwfl_Callbacks callbacks = {
      .find_elf = dwfl_build_id_find_elf,
      .find_debuginfo = fbtweak__find_debug_file,
      .section_address = dwfl_offline_section_address,
  };
  return dwfl_begin(&callbacks);
}
