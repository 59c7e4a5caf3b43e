#include "tweak_page.h"

// The compiler that comes with Swift has it since before C23.
#pragma clang diagnostic ignored "-Wc23-extensions"

// Every file of the page is one block here and one line in the list below.

static const unsigned char index_html[] = {
#embed "../Page/index.html"
};

static const struct tweak_page_file files[] = {
#define FILE(name, bytes)                                                                          \
  { name, bytes, sizeof(bytes) }
    FILE("index.html", index_html),
};

struct tweak_page_file tweak_page_file_at(size_t place) {
  static const struct tweak_page_file none;
  return place < sizeof files / sizeof *files ? files[place] : none;
}
