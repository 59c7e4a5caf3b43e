/* SPDX-License-Identifier: BSD-3-Clause */
/* A producer for the gates of this program, and a writer of its sequence, as RecordFormat.md has
 * them. */
#ifndef MAILBOX_H
#define MAILBOX_H

#include <fbtweak.h>
#include <string.h>

extern unsigned char __start_fbtweak[] __attribute__((visibility("hidden")));
extern unsigned char __stop_fbtweak[] __attribute__((visibility("hidden")));

/* The first record of a kind; for a value, the one with this name. */
static inline void *record_of(uint8_t kind, const char *name) {
  uint32_t size;
  for (unsigned char *record = __start_fbtweak; record + 8 <= __stop_fbtweak;
       record += size ? size : 8) {
    memcpy(&size, record, sizeof size);
    if (size && record[5] == kind &&
        (!name || strcmp(fbtweak_name((const fbtweak *)(void *)record), name) == 0))
      return record;
  }
  return 0;
}

/* Puts stores into an empty mailbox: their number comes last. */
static inline bool send(struct fbtweak__gate *gate, uint64_t *const cells[],
                        const uint64_t values[], uint32_t count) {
  struct fbtweak__store *stores = (void *)((char *)gate + gate->fbtweak__stores);
  if (count > gate->capacity || __atomic_load_n(&gate->fbtweak__state, __ATOMIC_ACQUIRE) != 0)
    return false;
  for (uint32_t i = 0; i < count; i++)
    stores[i] = (struct fbtweak__store){(uintptr_t)cells[i], values[i], 8, 0};
  __atomic_store_n(&gate->fbtweak__state, (uint64_t)count, __ATOMIC_RELEASE);
  return true;
}

#endif
