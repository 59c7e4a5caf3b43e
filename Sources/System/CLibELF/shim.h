/* SPDX-License-Identifier: BSD-3-Clause */
#include <ar.h>
#include <elf.h>
#include <gelf.h>
#include <libelf.h>
