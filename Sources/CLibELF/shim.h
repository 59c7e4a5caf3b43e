#include <elf.h>
#include <gelf.h>
#include <libelf.h>
