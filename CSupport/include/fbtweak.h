/*
 * fbtweak.h: constants that a person can change while the program runs.
 *
 *     double stiffness = FBTweakValue("Spring", "Physics", "Stiffness", 120.0, 1.0, 500.0);
 *
 * stands where `120.0` would. Each use leaves a record in the ELF section "fbtweak" of the object
 * file and reads its current value with one relaxed atomic load. Nothing has to be linked: without
 * the Tweaks library in the process every tweak keeps its default.
 *
 * GCC 11 or Clang 13 and later, C11 and later, C++17 and later. RecordFormat.md, beside this
 * folder, is the format of a record.
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

/* Whether records say where they are declared, as the compiler names the file: 1 or 0. */
#ifndef FB_TWEAK_LOCATIONS
#  define FB_TWEAK_LOCATIONS 1
#endif

/*
 * FBTweakValue(category, collection, name, default)
 * FBTweakValue(category, collection, name, default, minimum, maximum)
 *
 * An expression: the current value of the tweak, of the default's type. The three levels of its
 * name are string literals. The default is a constant bool, integer of 8 to 64 bits, float or
 * double, or a string literal; minimum and maximum, for numbers, are constants, are converted to
 * the default's type, and have the default between them. A constant that is written in another type
 * than it should have is cast:
 * `(uint8_t)200`, `1.5f`.
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

#  include <stdbool.h>
#  include <stddef.h>
#  include <stdint.h>

/*
 * As a macro `true` is the int 1, and the type of a tweak comes from its default. These have the
 * type bool and still work in #if, where _Bool is an unknown identifier and so 0. The version of C
 * does not tell: compilers had -std=c2x before they had the keywords.
 */
#  if !defined(__cplusplus) && defined(true)
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
 * The macros below are written for both languages: RECORD declares the record of one use and READ
 * gives its value. A NUL inside a literal is refused because a reader takes it for the end; the
 * concatenations refuse a level that is no literal.
 *
 * - `retain` keeps a record under --gc-sections, `used` keeps it in the compiler; `aligned` stops
 *   GCC from aligning large structures to 32 bytes, which would leave gaps. The attributes follow
 *   the declarator because before it they would apply to the type.
 * - A record is never const: read-only and writable records of one unit cannot share a section.
 */
#  define FBTWEAK__PLAIN(category_, collection_, name_, default_)                                  \
    (__extension__({                                                                               \
      FBTWEAK__NAMES_ARE_TEXT(category_ collection_ name_);                                        \
      FBTWEAK__RECORD(category_ "\0" collection_ "\0" name_, 0, default_, 0, 0);                   \
      FBTWEAK__READ(fbtweak__record, default_);                                                    \
    }))

#  define FBTWEAK__RANGE(category_, collection_, name_, default_, minimum_, maximum_)              \
    (__extension__({                                                                               \
      FBTWEAK__NAMES_ARE_TEXT(category_ collection_ name_);                                        \
      FBTWEAK__ASSERT(FBTWEAK__IN_ORDER(minimum_, default_, maximum_),                             \
                      "FBTweakValue: the default is not between minimum and maximum");             \
      FBTWEAK__RECORD(category_ "\0" collection_ "\0" name_,                                       \
                      FBTWEAK_HAS_MINIMUM | FBTWEAK_HAS_MAXIMUM, default_,                         \
                      (FBTWEAK__TYPE(default_))(minimum_), (FBTWEAK__TYPE(default_))(maximum_));   \
      FBTWEAK__READ(fbtweak__record, default_);                                                    \
    }))

#  define FBTWEAK__LONE_LIMIT(category_, collection_, name_, default_, limit_)                     \
    (__extension__({                                                                               \
      FBTWEAK__ASSERT(0, "FBTweakValue: minimum and maximum come together");                       \
      (default_);                                                                                  \
    }))

#  define FBTWEAK__NAMES_ARE_TEXT(names_)                                                          \
    FBTWEAK__ASSERT(sizeof(names_) == __builtin_strlen(names_) + 1,                                \
                    "FBTweakValue: a category, collection or name cannot contain a NUL")

#  define FBTWEAK__CHECK(type_, flags_, text_)                                                     \
    FBTWEAK__ASSERT(type_ != 0, "FBTweakValue: the default must be a bool, an integer, a float, "  \
                                "a double or a string literal");                                   \
    FBTWEAK__ASSERT((flags_) == 0 ||                                                               \
                        ((int)type_ != FBTWEAK_TYPE_BOOL && (int)type_ != FBTWEAK_TYPE_STRING),    \
                    "FBTweakValue: only a number has a minimum and a maximum");                    \
    FBTWEAK__ASSERT(sizeof(text_) == __builtin_strlen(text_) + 1,                                  \
                    "FBTweakValue: a string default cannot contain a NUL")

/* The codes of each signedness follow each other in the order of 8, 16, 32 and 64 bits. */
#  define FBTWEAK__INTEGER_CODE(type_)                                                             \
    (((type_)-1 < (type_)1 ? FBTWEAK_TYPE_INT8 : FBTWEAK_TYPE_UINT8) + (sizeof(type_) > 1) +       \
     (sizeof(type_) > 2) + (sizeof(type_) > 4))

#  define FBTWEAK__ATTRIBUTES(section_) __attribute__((section(section_), used, retain, aligned(8)))

static inline __attribute__((always_inline, unused)) const char *
fbtweak__load_string(const char *const *cell, const char *initial) {
  const char *current = __atomic_load_n(cell, __ATOMIC_RELAXED);
  return current ? current : initial;
}

#  ifndef __cplusplus

#    define FBTWEAK__ASSERT(condition_, message_) _Static_assert(condition_, message_)

/* Clang 14 does not compare floating-point constants while it compiles C; Clang 21 does. */
#    if defined(__clang__) && __clang_major__ < 21
#      define FBTWEAK__IN_ORDER(minimum_, default_, maximum_)                                      \
        __builtin_choose_expr(                                                                     \
            _Generic((default_), float : 1, double : 1, default : 0), 1,                           \
            FBTWEAK__ARE_IN_ORDER(FBTWEAK__TYPE(default_), minimum_, default_, maximum_))
#    else
#      define FBTWEAK__IN_ORDER(minimum_, default_, maximum_)                                      \
        FBTWEAK__ARE_IN_ORDER(FBTWEAK__TYPE(default_), minimum_, default_, maximum_)
#    endif
#    define FBTWEAK__ARE_IN_ORDER(type_, minimum_, default_, maximum_)                             \
      ((type_)(minimum_) <= (default_) && (default_) <= (type_)(maximum_))

#    define FBTWEAK__RECORD(names_, flags_, default_, minimum_, maximum_)                          \
      enum { fbtweak__type = FBTWEAK__TYPE_CODE(default_) };                                       \
      FBTWEAK__CHECK(fbtweak__type, flags_, FBTWEAK__TEXT(default_));                              \
      static struct {                                                                              \
        uint32_t size;                                                                             \
        uint8_t version, kind, type, flags;                                                        \
        union {                                                                                    \
          FBTWEAK__TYPE(default_) value;                                                           \
          const char *string;                                                                      \
          uint64_t bits;                                                                           \
        } cell, initial, minimum, maximum, step;                                                   \
        char names[sizeof(names_)];                                                                \
        char text[sizeof(FBTWEAK__TEXT(default_))];                                                \
        char location[sizeof(FBTWEAK__LOCATION)];                                                  \
      } fbtweak__record FBTWEAK__ATTRIBUTES("fbtweak") = {sizeof(fbtweak__record),                 \
                                                          FBTWEAK_RECORD_VERSION,                  \
                                                          FBTWEAK_KIND_VALUE,                      \
                                                          fbtweak__type,                           \
                                                          (flags_),                                \
                                                          {FBTWEAK__NUMBER(default_)},             \
                                                          {FBTWEAK__NUMBER(default_)},             \
                                                          {FBTWEAK__NUMBER(minimum_)},             \
                                                          {FBTWEAK__NUMBER(maximum_)},             \
                                                          {0},                                     \
                                                          names_,                                  \
                                                          FBTWEAK__TEXT(default_),                 \
                                                          FBTWEAK__LOCATION}

#    define FBTWEAK__READ(record_, default_)                                                       \
      _Generic((default_),                                                                         \
          char *: fbtweak__load_string(&(record_).cell.string, (record_).text),                    \
          const char *: fbtweak__load_string(&(record_).cell.string, (record_).text),              \
          default: (__extension__({                                                                \
                 FBTWEAK__TYPE(default_) fbtweak__value;                                           \
                 __atomic_load(&(record_).cell.value, &fbtweak__value, __ATOMIC_RELAXED);          \
                 fbtweak__value;                                                                   \
               })))

/* A tweak has its default's type after array-to-pointer conversion. */
#    define FBTWEAK__TYPE(x_)                                                                      \
      __typeof__(_Generic((x_),                                                                    \
                 char *: (const char *)0,                                                          \
                 const char *: (const char *)0,                                                    \
                 default: (x_)))

#    define FBTWEAK__TYPE_CODE(x_)                                                                 \
      _Generic((x_),                                                                               \
          _Bool: FBTWEAK_TYPE_BOOL,                                                                \
          char: FBTWEAK__INTEGER_CODE(char),                                                       \
          signed char: FBTWEAK__INTEGER_CODE(signed char),                                         \
          unsigned char: FBTWEAK__INTEGER_CODE(unsigned char),                                     \
          short: FBTWEAK__INTEGER_CODE(short),                                                     \
          unsigned short: FBTWEAK__INTEGER_CODE(unsigned short),                                   \
          int: FBTWEAK__INTEGER_CODE(int),                                                         \
          unsigned: FBTWEAK__INTEGER_CODE(unsigned),                                               \
          long: FBTWEAK__INTEGER_CODE(long),                                                       \
          unsigned long: FBTWEAK__INTEGER_CODE(unsigned long),                                     \
          long long: FBTWEAK__INTEGER_CODE(long long),                                             \
          unsigned long long: FBTWEAK__INTEGER_CODE(unsigned long long),                           \
          float: FBTWEAK_TYPE_FLOAT,                                                               \
          double: FBTWEAK_TYPE_DOUBLE,                                                             \
          char *: FBTWEAK_TYPE_STRING,                                                             \
          const char *: FBTWEAK_TYPE_STRING,                                                       \
          default: 0)

/* A number as it is and a string as 0, and the other way round as an array that sizeof sees. */
#    define FBTWEAK__NUMBER(x_) _Generic((x_), char * : 0, const char * : 0, default : (x_))
#    define FBTWEAK__TEXT(x_) _Generic((x_), char * : (x_), const char * : (x_), default : "")
#  else

/*
 * GCC gives the data of inline functions other section flags than that of plain ones, and then
 * refuses to put both into one section (GCC bug 41091). So each use names a section of its own, in
 * which the assembler sees a comment. What a template is instantiated to goes elsewhere whatever
 * the attribute says, so that is refused.
 */
#    ifdef __clang__
#      define FBTWEAK__CPP_SECTION "fbtweak"
#      define FBTWEAK__NOT_IN_TEMPLATE true
#    else
#      define FBTWEAK__CPP_SECTION "fbtweak/*" FBTWEAK__STRINGIZE(__COUNTER__) "*/"
#      define FBTWEAK__NOT_IN_TEMPLATE !fbtweak__names_arguments(__PRETTY_FUNCTION__)
#    endif

/* GCC ends the name of what a template is instantiated to with its arguments: "[with T = int]". */
constexpr bool fbtweak__names_arguments(const char *function) {
  for (; *function; function++)
    if (function[0] == '[' && function[1] == 'w' && function[2] == 'i' && function[3] == 't' &&
        function[4] == 'h' && function[5] == ' ')
      return true;
  return false;
}

/* By value, so that an array becomes a pointer and a constant loses its const. Never defined. */
template <class T> T fbtweak__by_value(T);

template <size_t size_> struct fbtweak__characters { char characters[size_]; };
template <size_t size_>
constexpr fbtweak__characters<size_> fbtweak__text(const char (&literal)[size_]) {
  fbtweak__characters<size_> text{};
  for (size_t i = 0; i < size_; i++)
    text.characters[i] = literal[i];
  return text;
}
template <class T> constexpr fbtweak__characters<1> fbtweak__text(const T &) {
  return {};
}

template <class T, bool is_enumeration_ = __is_enum(T)> struct fbtweak__type_code {
  static constexpr int value = 0;
};
template <class T> struct fbtweak__type_code<T, true> {
  static constexpr int value = fbtweak__type_code<__underlying_type(T)>::value;
};
#    define FBTWEAK__CODE_OF(type_, code_)                                                         \
      template <> struct fbtweak__type_code<type_, false> { static constexpr int value = code_; };
FBTWEAK__CODE_OF(bool, FBTWEAK_TYPE_BOOL)
FBTWEAK__CODE_OF(char, FBTWEAK__INTEGER_CODE(char))
FBTWEAK__CODE_OF(signed char, FBTWEAK__INTEGER_CODE(signed char))
FBTWEAK__CODE_OF(unsigned char, FBTWEAK__INTEGER_CODE(unsigned char))
FBTWEAK__CODE_OF(short, FBTWEAK__INTEGER_CODE(short))
FBTWEAK__CODE_OF(unsigned short, FBTWEAK__INTEGER_CODE(unsigned short))
FBTWEAK__CODE_OF(int, FBTWEAK__INTEGER_CODE(int))
FBTWEAK__CODE_OF(unsigned, FBTWEAK__INTEGER_CODE(unsigned))
FBTWEAK__CODE_OF(long, FBTWEAK__INTEGER_CODE(long))
FBTWEAK__CODE_OF(unsigned long, FBTWEAK__INTEGER_CODE(unsigned long))
FBTWEAK__CODE_OF(long long, FBTWEAK__INTEGER_CODE(long long))
FBTWEAK__CODE_OF(unsigned long long, FBTWEAK__INTEGER_CODE(unsigned long long))
FBTWEAK__CODE_OF(float, FBTWEAK_TYPE_FLOAT)
FBTWEAK__CODE_OF(double, FBTWEAK_TYPE_DOUBLE)
FBTWEAK__CODE_OF(const char *, FBTWEAK_TYPE_STRING)
#    undef FBTWEAK__CODE_OF

/* A number as it is and a string as a null pointer. */
template <class T> constexpr T fbtweak__number(T value) {
  return value;
}
constexpr const char *fbtweak__number(const char *) {
  return nullptr;
}

template <class T> union fbtweak__slot {
  T value;
  uint64_t bits;
};

template <class T, size_t names_size_, size_t text_size_, size_t location_size_>
struct fbtweak__record_of {
  uint32_t size;
  uint8_t version, kind, type, flags;
  fbtweak__slot<T> cell, initial, minimum, maximum, step;
  char names[names_size_];
  fbtweak__characters<text_size_> text;
  char location[location_size_];
};

template <class T>
inline __attribute__((always_inline)) T fbtweak__load(const fbtweak__slot<T> &cell, const char *) {
  T value;
  __atomic_load(&cell.value, &value, __ATOMIC_RELAXED);
  return value;
}
inline __attribute__((always_inline)) const char *
fbtweak__load(const fbtweak__slot<const char *> &cell, const char *initial) {
  return fbtweak__load_string(&cell.value, initial);
}

#    define FBTWEAK__ASSERT(condition_, message_) static_assert(condition_, message_)
#    define FBTWEAK__IN_ORDER(minimum_, default_, maximum_)                                        \
      ((FBTWEAK__TYPE(default_))(minimum_) <= (default_) &&                                        \
       (default_) <= (FBTWEAK__TYPE(default_))(maximum_))
#    define FBTWEAK__TYPE(x_) decltype(fbtweak__by_value(x_))

#    ifdef __clang__
#      define FBTWEAK__CONSTINIT __attribute__((require_constant_initialization))
#    else
#      define FBTWEAK__CONSTINIT __constinit
#    endif

#    define FBTWEAK__RECORD(names_, flags_, default_, minimum_, maximum_)                          \
      constexpr auto fbtweak__type = fbtweak__type_code<FBTWEAK__TYPE(default_)>::value;           \
      constexpr auto fbtweak__default_text = fbtweak__text(default_);                              \
      FBTWEAK__CHECK(fbtweak__type, flags_, fbtweak__default_text.characters);                     \
      FBTWEAK__ASSERT(FBTWEAK__NOT_IN_TEMPLATE,                                                    \
                      "FBTweakValue: GCC loses a tweak in a template; put it into a function "     \
                      "that is none, and call that");                                              \
      static FBTWEAK__CONSTINIT                                                                    \
          fbtweak__record_of<FBTWEAK__TYPE(default_), sizeof(names_),                              \
                             sizeof(fbtweak__default_text), sizeof(FBTWEAK__LOCATION)>             \
              fbtweak__record FBTWEAK__ATTRIBUTES(FBTWEAK__CPP_SECTION) = {                        \
                  sizeof(fbtweak__record),                                                         \
                  FBTWEAK_RECORD_VERSION,                                                          \
                  FBTWEAK_KIND_VALUE,                                                              \
                  fbtweak__type,                                                                   \
                  (flags_),                                                                        \
                  {fbtweak__number(default_)},                                                     \
                  {fbtweak__number(default_)},                                                     \
                  {fbtweak__number((FBTWEAK__TYPE(default_))(minimum_))},                          \
                  {fbtweak__number((FBTWEAK__TYPE(default_))(maximum_))},                          \
                  {},                                                                              \
                  names_,                                                                          \
                  fbtweak__default_text,                                                           \
                  FBTWEAK__LOCATION}

#    define FBTWEAK__READ(record_, default_)                                                       \
      fbtweak__load((record_).cell, (record_).text.characters)
#  endif

#  if FB_TWEAK_LOCATIONS
#    define FBTWEAK__LOCATION "at=" __FILE__ ":" FBTWEAK__STRINGIZE(__LINE__)
#  else
#    define FBTWEAK__LOCATION ""
#  endif
#  define FBTWEAK__STRINGIZE(x_) FBTWEAK__STRINGIZE_(x_)
#  define FBTWEAK__STRINGIZE_(x_) #  x_

#  define FBTWEAK__BY_COUNT(_1, _2, _3, form_, ...) form_

/*
 * A note in each image, whatever the number of units (several that say the same with GCC's LTO),
 * tells where its records begin and end, so that a reader finds them through the program headers
 * when the file has no section headers or is not at hand. Distances are from the field itself: no
 * relocation is left for the dynamic linker. The eight bytes of padding make sure that the section,
 * and with it the bounds, exist.
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
