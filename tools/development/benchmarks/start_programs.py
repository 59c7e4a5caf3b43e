# SPDX-License-Identifier: BSD-3-Clause
"""Writes the C sources of the programs that the start benchmark starts, and overrides for them."""

import json

COUNTS = [0, 1_000, 100_000]
# The program without the library.
WITHOUT_LIBRARY = "start-without-library"
OVERRIDES = 100

# More would make a unit, and with it the whole build, slow on several cores.
TWEAKS_PER_UNIT = 2_500

CATEGORIES = "Animation Audio Camera Controls Gameplay Interface Network Physics Rendering Weather".split()
COLLECTIONS = [
    f"{place} {what}"
    for place in "Arena Cave City Desert Forest Harbour Menu Station".split()
    for what in ["defaults", "effects", "events", "limits", "timing"]
]
NAMES = [
    f"{subject} {what}"
    for subject in """Bloom Bounce Cloud Cursor Damping Debris Echo Flame Fog Footstep Glow Gravity Grid Lantern
        Particle Rain Reflection Reverb Shadow Smoke Spark Spring Trail Water Wind""".split()
    for what in ["colour", "count", "decay", "delay", "falloff", "height", "radius", "speed", "strength", "width"]
]
LARGEST = len(CATEGORIES) * len(COLLECTIONS) * len(NAMES)

# The C type of a tweak, its default and limits, and the value that overrides give it.
KINDS = [
    ("int", "12, 0, 100", 42),
    ("double", "4.5, 0.0, 10.0", 7.25),
    ("_Bool", "true", False),
    ("const char *", '"linear"', "cubic"),
]
FIRST_DEFAULT, FIRST_OVERRIDE = 12, 42


def program(count):
    return f"start-{count}"


def levels(index, count):
    """The three levels of a unique name. A small program has names from everywhere."""
    place = index * (LARGEST // count)
    place, name = divmod(place, len(NAMES))
    category, collection = divmod(place, len(COLLECTIONS))
    return CATEGORIES[category], COLLECTIONS[collection], NAMES[name]


def tweak(index, levels):
    """A function that reads one tweak. Its record stays in the program even though nobody calls it."""
    kind, value, _ = KINDS[index % len(KINDS)]
    names = ", ".join(f'"{level}"' for level in levels)
    return f"{kind} tweak_{index}(void) {{ return FBTweakValue({names}, {value}); }}\n"


MAIN = """\
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
{declaration}
/* Ends at once. With "first" its status is the first tweak, which shows whether overrides arrive; with "wait" it says
   that it runs, and ends with its input; with "follow" it shows the first tweak, and when, whenever it is another. */
int main(int argc, char **argv) {{
  if (argc > 1 && strcmp(argv[1], "wait") == 0) {{
    puts("");
    fflush(stdout);
    getchar();
    return 0;
  }}
  if (argc > 1 && strcmp(argv[1], "follow") == 0) {{
    for (int value, shown = -1;; usleep(50)) {{
      value = {first};
      if (value == shown)
        continue;
      struct timespec now;
      clock_gettime(CLOCK_MONOTONIC, &now);
      printf("%d %lld\\n", value, now.tv_sec * 1000000000LL + now.tv_nsec);
      fflush(stdout);
      shown = value;
    }}
  }}
  return argc > 1 ? {first} : 0;
}}
"""


def main(count):
    if count == 0:
        return MAIN.format(declaration="", first="0")
    return MAIN.format(declaration="int tweak_0(void);", first="tweak_0()")


def write_if_changed(path, text):
    """Writes a file only if it differs, so that it is not compiled again needlessly."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def write_sources(directory):
    write_if_changed(directory / WITHOUT_LIBRARY / "main.c", main(0))
    for count in COUNTS:
        target = directory / program(count)
        write_if_changed(target / "main.c", main(count))
        for start in range(0, count, TWEAKS_PER_UNIT):
            indexes = range(start, min(start + TWEAKS_PER_UNIT, count))
            text = '#include "fbtweak.h"\n' + "".join(
                tweak(index, levels(index, count)) for index in indexes)
            write_if_changed(target / f"tweaks_{start}.c", text)


def write_overrides(directory):
    """Overrides of tweaks of all kinds and from everywhere, including the first one."""
    for count in COUNTS:
        document = {}
        for number in range(min(OVERRIDES, count)):
            index = number * (count // OVERRIDES) + number % len(KINDS)
            category, collection, name = levels(index, count)
            value = KINDS[index % len(KINDS)][2]
            document.setdefault(category, {}).setdefault(collection, {})[name] = value
        write_if_changed(directory / "tweaks" / program(count) / "overrides.json", json.dumps(document, indent=2))
