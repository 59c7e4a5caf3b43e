/* SPDX-License-Identifier: BSD-3-Clause */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

/* Begins a session for files, whose separate debug information is found in the usual places. */
static inline Dwfl *fbtweak__begin_debug_files(void) {
  static const Dwfl_Callbacks callbacks = {
      .find_elf = dwfl_build_id_find_elf,
      .find_debuginfo = dwfl_standard_find_debuginfo,
      .section_address = dwfl_offline_section_address,
  };
  return dwfl_begin(&callbacks);
}
