#include <ar.h>
#include <elf.h>
#include <gelf.h>
#include <libelf.h>
