/*
 * fbtweak.h: constants that a person can change while the program runs.
 *
 *     double stiffness = FBTweakValue("Spring", "Physics", "Stiffness", 120.0, 1.0, 500.0);
 *
 * stands where `120.0` would. Each use leaves a record in the ELF section "fbtweak" of the object
 * file and reads its current value with one relaxed atomic load. Nothing has to be linked: without
 * the Tweaks library in the process every tweak keeps its default.
 *
 * GCC 11 or Clang 13 and later, C11 and later. RecordFormat.md, beside this folder, is the format
 * of a record.
 */
#ifndef FBTWEAK_H
#define FBTWEAK_H

/*
 * Tweaks are compiled in exactly when DEBUG is defined and is not 0, unless FB_TWEAK_ENABLED is
 * predefined as 1 or 0. The second comparison is true for a DEBUG that is defined as nothing.
 */
#ifndef FB_TWEAK_ENABLED
#  if defined(DEBUG)
#    if (DEBUG + 0) || (0 - DEBUG - 1) == 1
#      define FB_TWEAK_ENABLED 1
#    endif
#  endif
#endif
#ifndef FB_TWEAK_ENABLED
#  define FB_TWEAK_ENABLED 0
#endif

/*
 * FBTweakValue(category, collection, name, default)
 * FBTweakValue(category, collection, name, default, minimum, maximum)
 *
 * An expression: the current value of the tweak, of the default's type. The three levels of its
 * name are string literals. The default is a constant bool, int or double or a string literal;
 * minimum and maximum, for int and double, are constants and are converted to the default's type.
 *
 * A string is valid for as long as the process lives. Reading is safe on every thread and in signal
 * handlers, and is right before anything else of the program has run.
 *
 * With FB_TWEAK_ENABLED 0 the expression is the default, and nothing else is left of it.
 */
#if FB_TWEAK_ENABLED
#  define FBTweakValue(category_, collection_, name_, ...)                                         \
    FBTWEAK__BY_COUNT(__VA_ARGS__, FBTWEAK__RANGE, FBTWEAK__LONE_LIMIT, FBTWEAK__PLAIN, )          \
    (category_, collection_, name_, __VA_ARGS__)
#else
#  define FBTweakValue(category_, collection_, name_, ...) (FBTWEAK__FIRST(__VA_ARGS__, ))
#endif
#define FBTWEAK__FIRST(first_, ...) first_

#if FB_TWEAK_ENABLED

#  ifdef __cplusplus
#    error "fbtweak.h: enabled tweaks are C; include it from a C file, or set FB_TWEAK_ENABLED to 0"
#  endif

#  include <stdbool.h>
#  include <stdint.h>

/*
 * Before C23 `true` is the int 1, and the type of a tweak comes from its default. These have the
 * type bool and still work in #if, where _Bool is an unknown identifier and so 0.
 */
#  if __STDC_VERSION__ <= 201710L
#    undef true
#    undef false
#    define true ((_Bool) + 1u)
#    define false ((_Bool) + 0u)
#  endif

/*
 * The record. Of a version 1 record the first 48 bytes are fixed and the text follows; a value
 * is stored in its own type at the start of its eight bytes. All are zero where nothing is said.
 */
enum {
  FBTWEAK_RECORD_VERSION = 1,

  FBTWEAK_KIND_PADDING = 0,
  FBTWEAK_KIND_VALUE = 1,

  FBTWEAK_TYPE_BOOL = 1,
  FBTWEAK_TYPE_INT8 = 2,
  FBTWEAK_TYPE_INT16 = 3,
  FBTWEAK_TYPE_INT32 = 4,
  FBTWEAK_TYPE_INT64 = 5,
  FBTWEAK_TYPE_UINT8 = 6,
  FBTWEAK_TYPE_UINT16 = 7,
  FBTWEAK_TYPE_UINT32 = 8,
  FBTWEAK_TYPE_UINT64 = 9,
  FBTWEAK_TYPE_FLOAT = 10,
  FBTWEAK_TYPE_DOUBLE = 11,
  FBTWEAK_TYPE_STRING = 12,

  FBTWEAK_HAS_MINIMUM = 1,
  FBTWEAK_HAS_MAXIMUM = 2,
  FBTWEAK_HAS_STEP = 4,
};

/*
 * - `retain` keeps the record under --gc-sections, `used` keeps it in the compiler; `aligned` stops
 *   GCC from aligning large structures to 32 bytes, which would leave gaps. The attributes follow
 *   the declarator because before it they would apply to the type.
 * - A record is never const: read-only and writable records of one unit cannot share a section.
 * - The concatenations refuse a level that is no literal. A NUL inside a literal is refused
 *   because a reader takes it for the end.
 */
#  define FBTWEAK__RECORD(category_, collection_, name_, flags_, default_, minimum_, maximum_)     \
    _Static_assert(sizeof(category_ collection_ name_) ==                                          \
                       __builtin_strlen(category_ collection_ name_) + 1,                          \
                   "FBTweakValue: a category, collection or name cannot contain a NUL");           \
    _Static_assert(FBTWEAK__TYPE_CODE(default_) != 0, "FBTweakValue: the default must be a "       \
                                                      "bool, an int, a double or a string "        \
                                                      "literal");                                  \
    _Static_assert((flags_) == 0 || FBTWEAK__TYPE_CODE(default_) == FBTWEAK_TYPE_INT32 ||          \
                       FBTWEAK__TYPE_CODE(default_) == FBTWEAK_TYPE_DOUBLE,                        \
                   "FBTweakValue: only an int or a double has a minimum and a maximum");           \
    _Static_assert(sizeof(FBTWEAK__TEXT(default_)) ==                                              \
                       __builtin_strlen(FBTWEAK__TEXT(default_)) + 1,                              \
                   "FBTweakValue: a string default cannot contain a NUL");                         \
    static struct {                                                                                \
      uint32_t size;                                                                               \
      uint8_t version, kind, type, flags;                                                          \
      union {                                                                                      \
        FBTWEAK__TYPE(default_) value;                                                             \
        const char *string;                                                                        \
        uint64_t bits;                                                                             \
      } cell, initial, minimum, maximum, step;                                                     \
      char names[sizeof(category_ "\0" collection_ "\0" name_)];                                   \
      char text[sizeof(FBTWEAK__TEXT(default_))];                                                  \
      char location[sizeof(FBTWEAK__LOCATION)];                                                    \
    } fbtweak__record __attribute__((section("fbtweak"), used, retain, aligned(8))) = {            \
        sizeof(fbtweak__record),                                                                   \
        FBTWEAK_RECORD_VERSION,                                                                    \
        FBTWEAK_KIND_VALUE,                                                                        \
        FBTWEAK__TYPE_CODE(default_),                                                              \
        (flags_),                                                                                  \
        {FBTWEAK__NUMBER(default_)},                                                               \
        {FBTWEAK__NUMBER(default_)},                                                               \
        {FBTWEAK__NUMBER(minimum_)},                                                               \
        {FBTWEAK__NUMBER(maximum_)},                                                               \
        {0},                                                                                       \
        category_ "\0" collection_ "\0" name_,                                                     \
        FBTWEAK__TEXT(default_),                                                                   \
        FBTWEAK__LOCATION}

#  define FBTWEAK__PLAIN(category_, collection_, name_, default_)                                  \
    (__extension__({                                                                               \
      FBTWEAK__RECORD(category_, collection_, name_, 0, default_, 0, 0);                           \
      FBTWEAK__READ(fbtweak__record, default_);                                                    \
    }))

#  define FBTWEAK__RANGE(category_, collection_, name_, default_, minimum_, maximum_)              \
    (__extension__({                                                                               \
      FBTWEAK__RECORD(category_, collection_, name_, FBTWEAK_HAS_MINIMUM | FBTWEAK_HAS_MAXIMUM,    \
                      default_, (FBTWEAK__TYPE(default_))(minimum_),                               \
                      (FBTWEAK__TYPE(default_))(maximum_));                                        \
      FBTWEAK__READ(fbtweak__record, default_);                                                    \
    }))

#  define FBTWEAK__LONE_LIMIT(category_, collection_, name_, default_, limit_)                     \
    (__extension__({                                                                               \
      _Static_assert(0, "FBTweakValue: minimum and maximum come together");                        \
      (default_);                                                                                  \
    }))

#  define FBTWEAK__READ(record_, default_)                                                         \
    _Generic((default_),                                                                           \
        char *: fbtweak__load_string(&(record_).cell.string, (record_).text),                      \
        const char *: fbtweak__load_string(&(record_).cell.string, (record_).text),                \
        default: (__extension__({                                                                  \
               FBTWEAK__TYPE(default_) fbtweak__value;                                             \
               __atomic_load(&(record_).cell.value, &fbtweak__value, __ATOMIC_RELAXED);            \
               fbtweak__value;                                                                     \
             })))

static inline __attribute__((always_inline, unused)) const char *
fbtweak__load_string(const char *const *cell, const char *initial) {
  const char *current = __atomic_load_n(cell, __ATOMIC_RELAXED);
  return current ? current : initial;
}

/* A tweak has its default's type after array-to-pointer conversion. */
#  define FBTWEAK__TYPE(x_)                                                                        \
    __typeof__(_Generic((x_),                                                                      \
               char *: (const char *)0,                                                            \
               const char *: (const char *)0,                                                      \
               default: (x_)))

#  define FBTWEAK__TYPE_CODE(x_)                                                                   \
    _Generic((x_),                                                                                 \
        _Bool: FBTWEAK_TYPE_BOOL,                                                                  \
        int: FBTWEAK_TYPE_INT32,                                                                   \
        double: FBTWEAK_TYPE_DOUBLE,                                                               \
        char *: FBTWEAK_TYPE_STRING,                                                               \
        const char *: FBTWEAK_TYPE_STRING,                                                         \
        default: 0)

/* A number as it is and a string as 0, and the other way round as an array that sizeof sees. */
#  define FBTWEAK__NUMBER(x_) _Generic((x_), char * : 0, const char * : 0, default : (x_))
#  define FBTWEAK__TEXT(x_) _Generic((x_), char * : (x_), const char * : (x_), default : "")

#  define FBTWEAK__LOCATION "at=" __FILE__ ":" FBTWEAK__STRINGIZE(__LINE__)
#  define FBTWEAK__STRINGIZE(x_) FBTWEAK__STRINGIZE_(x_)
#  define FBTWEAK__STRINGIZE_(x_) #  x_

#  define FBTWEAK__BY_COUNT(_1, _2, _3, form_, ...) form_

/*
 * One note an image, whatever the number of units, says where its records begin and end, so that a
 * reader finds them through the program headers when the file has no section headers or is not at
 * hand. Distances are from the field itself: no relocation is left for the dynamic linker. The
 * eight bytes of padding make sure that the section, and with it the bounds, exist.
 */
__asm__(".pushsection fbtweak,\"awGR\",%progbits,.note.fbtweak,comdat\n"
        ".balign 8\n"
        ".8byte 0\n"
        ".popsection\n"
        ".pushsection .note.fbtweak,\"aGR\",%note,.note.fbtweak,comdat\n"
        ".balign 4\n"
        ".4byte 8, 8, 1\n"
        ".asciz \"FBTweak\"\n"
        ".hidden __start_fbtweak\n"
        ".hidden __stop_fbtweak\n"
        ".4byte __start_fbtweak - .\n"
        ".4byte __stop_fbtweak - .\n"
        ".popsection\n");

#endif /* FB_TWEAK_ENABLED */
#endif /* FBTWEAK_H */
