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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* A colour in sRGB, its alpha not multiplied in. */
typedef struct fbtweak_color {
  uint8_t red, green, blue, alpha;
} __attribute__((aligned(4))) fbtweak_color;

/*
 * The interface: the tweaks of the process, by handle.
 *
 *     const fbtweak *mass = fbtweak_find("Spring", "Physics", "Mass");
 *     fbtweak_set_number(mass, 2.5);
 *
 * Nothing has to be linked for it. What needs the Tweaks library finds out while the program runs
 * whether that is in the process; if not, functions that change something return FBTWEAK_ABSENT and
 * those that look for something NULL. With FB_TWEAK_ENABLED 0 it is never there.
 *
 * A handle stands for a name. It is valid for as long as the process lives, also when the library
 * that declares the tweak is closed: it then has the default, and cannot be set until the library
 * is opened again. Without the Tweaks library a handle of FBTweakInline lives as long as its code.
 *
 * Threads: every function may be called on every thread. Callbacks run without a lock held and may
 * call every function.
 * Signal handlers: only the functions that read (fbtweak_read and those of its name) may be called.
 * After fork: the child has tweaks, observers and bound variables of its own and may call every
 * function, as far as it may allocate memory. It makes queues of its own.
 * Callbacks: an event loop gets them from a queue, see fbtweak_observe_in.
 */
#ifdef __cplusplus
extern "C" {
#endif

typedef struct fbtweak fbtweak;

/* What a tweak has, as the `type` of a record and of a value. */
enum {
  FBTWEAK_TYPE_NONE = 0,
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
  FBTWEAK_TYPE_COLOR = 13,
  FBTWEAK_TYPE_ACTION = 14,
};

/* A value of any type. The type says which member holds it. */
typedef struct fbtweak_value {
  int type;
  __extension__ union {
    bool boolean;     /* bool */
    int64_t integer;  /* the signed integers */
    uint64_t natural; /* the unsigned integers */
    double number;    /* float and double */
    const char *text; /* string: UTF-8, valid for as long as the process lives */
    fbtweak_color color;
  };
} fbtweak_value;

/* How a change ended. What is negative changed nothing, and fbtweak_error says why. */
enum {
  FBTWEAK_OK = 0,
  FBTWEAK_CLAMPED = 1,  /* done, with the nearest value inside the limits */
  FBTWEAK_ABSENT = -1,  /* the Tweaks library is not in the process */
  FBTWEAK_UNKNOWN = -2, /* no image of the process declares the tweak; also for a NULL handle */
  FBTWEAK_REFUSED = -3, /* the tweak cannot do that: wrong type, not among the choices, read-only */
};

/*
 * Reading takes one load, never fails and never waits. The current value is given if the handle is
 * not NULL and the tweak is of a fitting type, and the fallback otherwise. Numbers fit integers and
 * floating point; integers fit all integer types, and are converted as C does.
 */
static inline bool fbtweak_read(const fbtweak *tweak, fbtweak_value *value);
static inline bool fbtweak_read_bool(const fbtweak *tweak, bool fallback);
static inline int64_t fbtweak_read_integer(const fbtweak *tweak, int64_t fallback);
static inline double fbtweak_read_number(const fbtweak *tweak, double fallback);
static inline const char *fbtweak_read_text(const fbtweak *tweak, const char *fallback);
static inline fbtweak_color fbtweak_read_color(const fbtweak *tweak, fbtweak_color fallback);

/*
 * What the program declares. Texts and values are constant; for NULL they are FBTWEAK_TYPE_NONE,
 * NULL and false. A limit or step is false where there is none. Choices count from 0; one without a
 * label has NULL. An attribute is "unit", "doc", "precision", "owner", "expires", "read-only",
 * "needs-restart" or "at", and NULL if it is not given.
 */
static inline int fbtweak_type(const fbtweak *tweak);
static inline const char *fbtweak_category(const fbtweak *tweak);
static inline const char *fbtweak_collection(const fbtweak *tweak);
static inline const char *fbtweak_name(const fbtweak *tweak);
static inline bool fbtweak_default(const fbtweak *tweak, fbtweak_value *value);
static inline bool fbtweak_minimum(const fbtweak *tweak, fbtweak_value *value);
static inline bool fbtweak_maximum(const fbtweak *tweak, fbtweak_value *value);
static inline bool fbtweak_step(const fbtweak *tweak, fbtweak_value *value);
static inline bool fbtweak_choice(const fbtweak *tweak, size_t index, fbtweak_value *value,
                                  const char **label);
static inline const char *fbtweak_attribute(const fbtweak *tweak, const char *key);

/*
 * Why the last call on this thread that failed did, for a person: what was wrong and what is
 * allowed. Valid until the next call that fails on this thread.
 */
static inline const char *fbtweak_error(void);

/* The handle of a tweak that the process has; otherwise NULL. */
static inline const fbtweak *fbtweak_find(const char *category, const char *collection,
                                          const char *name);

/*
 * Calls visit for the tweaks of a category, or all if it is NULL, and of a collection in it, or all
 * if that is NULL, until visit returns false. Categories come sorted by name, their collections
 * too, tweaks in the order of declaration as far as the binary keeps it. What is made or removed
 * meanwhile does not count. Returns how many were visited.
 */
static inline size_t fbtweak_walk(const char *category, const char *collection,
                                  bool (*visit)(const fbtweak *tweak, void *context),
                                  void *context);

/* Who gave the current value: "default", "override", …; NULL if the process has no such tweak. */
static inline const char *fbtweak_source(const fbtweak *tweak);

/*
 * Setting keeps the value as an override, in the background. First observers' will_change is
 * called, then the value changes everywhere, then did_change is called. Setting the value that the
 * tweak has already tells nobody. fbtweak_set_text takes what a person typed, for a tweak of any
 * type.
 */
static inline int fbtweak_set(const fbtweak *tweak, fbtweak_value value);
static inline int fbtweak_set_bool(const fbtweak *tweak, bool value);
static inline int fbtweak_set_integer(const fbtweak *tweak, int64_t value);
static inline int fbtweak_set_number(const fbtweak *tweak, double value);
static inline int fbtweak_set_text(const fbtweak *tweak, const char *text);
static inline int fbtweak_set_color(const fbtweak *tweak, fbtweak_color value);

/* Takes overrides away, of one tweak, a collection, a category, or all. */
static inline int fbtweak_reset(const fbtweak *tweak);
static inline int fbtweak_reset_collection(const char *category, const char *collection);
static inline int fbtweak_reset_category(const char *category);
static inline int fbtweak_reset_all(void);

/* Runs an action on this thread, and returns when it has ended. */
static inline int fbtweak_run(const fbtweak *tweak);

/*
 * Keeps a variable equal to a tweak until it is unbound: it is written with one atomic store of the
 * tweak's type, now and at each change, by the thread that makes the change. A variable follows one
 * tweak, the one it was bound to last. Nothing writes it any more when fbtweak_unbind has returned.
 * Variables of a library that is closed are unbound by that, others have to be before they go.
 */
static inline int fbtweak_bind(const fbtweak *tweak, void *variable);
static inline void fbtweak_unbind(void *variable);

typedef struct fbtweak_change {
  const fbtweak *tweak;
  fbtweak_value old_value, new_value;
  const char *source; /* as fbtweak_source names it */
} fbtweak_change;
typedef void (*fbtweak_callback)(const fbtweak_change *change, void *context);
typedef uint64_t fbtweak_token;

/*
 * Calls back at each change of a tweak, or of all for NULL: will_change while the old value is
 * still there, did_change when the new one is; either may be NULL. Both run on the thread that
 * makes the change. did_change comes once at a time and in the order of changes; what is changed
 * inside a callback is delivered after it. Returns 0 if that is not possible.
 */
static inline fbtweak_token fbtweak_observe(const fbtweak *tweak, fbtweak_callback will_change,
                                            fbtweak_callback did_change, void *context);

/*
 * Ends it. No callback begins after this has returned, and none is running on another thread.
 * 0, and what has ended already, is ignored. An observer ends by itself when the library is closed
 * that its callback is in, or the last one that declares its tweak.
 */
static inline void fbtweak_unobserve(fbtweak_token token);

/*
 * A queue delivers changes when the program asks. Its descriptor can be given to poll, select or
 * epoll and is readable while something waits; reading from it is fbtweak_queue_deliver's business,
 * which calls what waits on its own thread and returns how many calls that were. Several changes of
 * a tweak become one, from the first old value to the last new one, so what waits is bounded. The
 * descriptor is closed by exec and shared with a child that was forked: that makes its own queue.
 * Destroying a queue ends what observes in it.
 */
typedef struct fbtweak_queue fbtweak_queue;
static inline fbtweak_queue *fbtweak_queue_make(void);
static inline int fbtweak_queue_descriptor(const fbtweak_queue *queue);
static inline size_t fbtweak_queue_deliver(fbtweak_queue *queue);
static inline void fbtweak_queue_destroy(fbtweak_queue *queue);
static inline fbtweak_token fbtweak_observe_in(fbtweak_queue *queue, const fbtweak *tweak,
                                               fbtweak_callback did_change, void *context);

/*
 * A tweak that is made while the program runs. Values that are not given are all zero. Attributes
 * are texts "key=value", or "key" alone, as fbtweak_attribute names them, and end with NULL. All is
 * copied.
 */
typedef struct fbtweak_labelled_value {
  fbtweak_value value;
  const char *label;
} fbtweak_labelled_value;
typedef struct fbtweak_declaration {
  const char *category, *collection, *name;
  fbtweak_value default_value; /* its type is the tweak's, as are the types of the other values */
  fbtweak_value minimum, maximum, step;
  const fbtweak_labelled_value *choices;
  size_t choice_count;
  const char *const *attributes;
} fbtweak_declaration;

/*
 * The tweak has its override from the start. NULL, and a reason in fbtweak_error, if the
 * declaration is no tweak or there is one of this name.
 */
static inline const fbtweak *fbtweak_make(const fbtweak_declaration *declaration);
static inline const fbtweak *fbtweak_make_action(const char *category, const char *collection,
                                                 const char *name, void (*function)(void *context),
                                                 void *context);

/* Removes what was made so, with its observers and bindings. Its override is kept. */
static inline int fbtweak_remove(const fbtweak *tweak);

/*
 * The record. Of a version 1 record the first 48 bytes are fixed and the text follows; a value
 * is stored in its own type at the start of its eight bytes. All are zero where nothing is said.
 */
enum {
  FBTWEAK_RECORD_VERSION = 1,

  FBTWEAK_KIND_PADDING = 0,
  FBTWEAK_KIND_VALUE = 1,
  FBTWEAK_KIND_ACTION = 2,

  FBTWEAK_HAS_MINIMUM = 1,
  FBTWEAK_HAS_MAXIMUM = 2,
  FBTWEAK_HAS_STEP = 4,
  FBTWEAK_HAS_CHOICES = 8,
};

/* What a handle leads to: a record. Its text follows. */
struct fbtweak {
  uint32_t size;
  uint8_t version, kind, type, flags;
  uint64_t cell, initial, minimum, maximum, step;
};

/*
 * What the Tweaks library does, as the interface above says. Later versions add at the end, so a
 * library is asked for nothing beyond its size. It is 0 until the library has loaded.
 */
struct fbtweak__library {
  size_t size;
  void (*image_opened)(const void *address_inside);
  void (*image_closed)(const void *address_inside);
  const fbtweak *(*handle)(const void *record);
  const fbtweak *(*find)(const char *category, const char *collection, const char *name);
  size_t (*walk)(const char *category, const char *collection,
                 bool (*visit)(const fbtweak *tweak, void *context), void *context);
  const char *(*source)(const fbtweak *tweak);
  const char *(*error)(void);
  int (*set)(const fbtweak *tweak, const fbtweak_value *value);
  int (*set_text)(const fbtweak *tweak, const char *text);
  int (*reset)(const fbtweak *tweak);
  int (*reset_group)(const char *category, const char *collection);
  int (*run)(const fbtweak *tweak);
  int (*bind)(const fbtweak *tweak, void *variable);
  void (*unbind)(void *variable);
  fbtweak_token (*observe)(fbtweak_queue *queue, const fbtweak *tweak, fbtweak_callback will_change,
                           fbtweak_callback did_change, void *context);
  void (*unobserve)(fbtweak_token token);
  fbtweak_queue *(*queue_make)(void);
  int (*queue_descriptor)(const fbtweak_queue *queue);
  size_t (*queue_deliver)(fbtweak_queue *queue);
  void (*queue_destroy)(fbtweak_queue *queue);
  const fbtweak *(*make)(const fbtweak_declaration *declaration);
  const fbtweak *(*make_action)(const char *category, const char *collection, const char *name,
                                void (*function)(void *context), void *context);
  int (*remove)(const fbtweak *tweak);
};

#if FB_TWEAK_ENABLED
/*
 * One in each image. The library writes itself into those that are loaded when it loads; one that
 * is loaded later looks for the library. Neither needs the program to export a symbol.
 */
extern const struct fbtweak__library *fbtweak__library_slot;
__attribute__((weak, visibility("hidden"), used))
const struct fbtweak__library *fbtweak__library_slot = 0;

static inline const struct fbtweak__library *fbtweak__current_library(void) {
  return __atomic_load_n(&fbtweak__library_slot, __ATOMIC_ACQUIRE);
}
#else
static inline const struct fbtweak__library *fbtweak__current_library(void) {
  return 0;
}
#endif

static inline const fbtweak *fbtweak__handle(const void *record) {
  const struct fbtweak__library *library = fbtweak__current_library();
  return library ? library->handle(record) : (const fbtweak *)record;
}

/* A value in its own representation, read once; a string that is null there is the given text. */
static inline bool fbtweak__value_of(const fbtweak *tweak, const uint64_t *slot, const char *text,
                                     fbtweak_value *value) {
#define FBTWEAK__CASE(code_, type_, member_)                                                       \
case code_: {                                                                                      \
  typedef type_ __attribute__((may_alias)) fbtweak__any;                                           \
  fbtweak__any loaded;                                                                             \
  __atomic_load((const fbtweak__any *)slot, &loaded, __ATOMIC_RELAXED);                            \
  member_ = loaded;                                                                                \
  break;                                                                                           \
}
  uint32_t color;
  value->type = tweak->type;
  switch (tweak->type) {
    FBTWEAK__CASE(FBTWEAK_TYPE_BOOL, uint8_t, value->boolean)
    FBTWEAK__CASE(FBTWEAK_TYPE_INT8, int8_t, value->integer)
    FBTWEAK__CASE(FBTWEAK_TYPE_INT16, int16_t, value->integer)
    FBTWEAK__CASE(FBTWEAK_TYPE_INT32, int32_t, value->integer)
    FBTWEAK__CASE(FBTWEAK_TYPE_INT64, int64_t, value->integer)
    FBTWEAK__CASE(FBTWEAK_TYPE_UINT8, uint8_t, value->natural)
    FBTWEAK__CASE(FBTWEAK_TYPE_UINT16, uint16_t, value->natural)
    FBTWEAK__CASE(FBTWEAK_TYPE_UINT32, uint32_t, value->natural)
    FBTWEAK__CASE(FBTWEAK_TYPE_UINT64, uint64_t, value->natural)
    FBTWEAK__CASE(FBTWEAK_TYPE_FLOAT, float, value->number)
    FBTWEAK__CASE(FBTWEAK_TYPE_DOUBLE, double, value->number)
    FBTWEAK__CASE(FBTWEAK_TYPE_STRING, const char *, value->text)
    FBTWEAK__CASE(FBTWEAK_TYPE_COLOR, uint32_t, color)
  default:
    return false;
  }
#undef FBTWEAK__CASE
  if (tweak->type == FBTWEAK_TYPE_COLOR)
    __builtin_memcpy(&value->color, &color, sizeof(color));
  if (tweak->type == FBTWEAK_TYPE_STRING && !value->text)
    value->text = text;
  return true;
}

/* The texts of a record: category, collection, name, the default of a string, attributes. */
static inline const char *fbtweak__text(const fbtweak *tweak, unsigned index) {
  const char *text = (const char *)(tweak + 1);
  while (index--)
    text += __builtin_strlen(text) + 1;
  return text;
}
static inline const char *fbtweak__next_attribute(const fbtweak *tweak, const char *attribute) {
  const char *end = (const char *)tweak + tweak->size;
  attribute = attribute ? attribute + __builtin_strlen(attribute) + 1 : fbtweak__text(tweak, 4);
  return attribute < end && *attribute ? attribute : 0;
}
/* What follows `key=`; an empty text for `key` alone; NULL if it is another attribute. */
static inline const char *fbtweak__attribute_value(const char *attribute, const char *key) {
  size_t length = __builtin_strlen(key);
  if (!attribute || __builtin_strncmp(attribute, key, length) != 0)
    return 0;
  if (!attribute[length])
    return attribute + length;
  return attribute[length] == '=' ? attribute + length + 1 : 0;
}

static inline bool fbtweak_read(const fbtweak *tweak, fbtweak_value *value) {
  return tweak && fbtweak__value_of(tweak, &tweak->cell, fbtweak__text(tweak, 3), value);
}
static inline bool fbtweak_read_bool(const fbtweak *tweak, bool fallback) {
  fbtweak_value value;
  return fbtweak_read(tweak, &value) && value.type == FBTWEAK_TYPE_BOOL ? value.boolean : fallback;
}
static inline int64_t fbtweak_read_integer(const fbtweak *tweak, int64_t fallback) {
  fbtweak_value value;
  if (!fbtweak_read(tweak, &value) || value.type < FBTWEAK_TYPE_INT8 ||
      value.type > FBTWEAK_TYPE_UINT64)
    return fallback;
  return value.type <= FBTWEAK_TYPE_INT64 ? value.integer : (int64_t)value.natural;
}
static inline double fbtweak_read_number(const fbtweak *tweak, double fallback) {
  fbtweak_value value;
  if (!fbtweak_read(tweak, &value) || value.type < FBTWEAK_TYPE_INT8 ||
      value.type > FBTWEAK_TYPE_DOUBLE)
    return fallback;
  if (value.type >= FBTWEAK_TYPE_FLOAT)
    return value.number;
  return value.type <= FBTWEAK_TYPE_INT64 ? (double)value.integer : (double)value.natural;
}
static inline const char *fbtweak_read_text(const fbtweak *tweak, const char *fallback) {
  fbtweak_value value;
  return fbtweak_read(tweak, &value) && value.type == FBTWEAK_TYPE_STRING ? value.text : fallback;
}
static inline fbtweak_color fbtweak_read_color(const fbtweak *tweak, fbtweak_color fallback) {
  fbtweak_value value;
  return fbtweak_read(tweak, &value) && value.type == FBTWEAK_TYPE_COLOR ? value.color : fallback;
}

static inline int fbtweak_type(const fbtweak *tweak) {
  return tweak ? (int)tweak->type : (int)FBTWEAK_TYPE_NONE;
}
static inline const char *fbtweak_category(const fbtweak *tweak) {
  return tweak ? fbtweak__text(tweak, 0) : 0;
}
static inline const char *fbtweak_collection(const fbtweak *tweak) {
  return tweak ? fbtweak__text(tweak, 1) : 0;
}
static inline const char *fbtweak_name(const fbtweak *tweak) {
  return tweak ? fbtweak__text(tweak, 2) : 0;
}
static inline bool fbtweak_default(const fbtweak *tweak, fbtweak_value *value) {
  return tweak && fbtweak__value_of(tweak, &tweak->initial, fbtweak__text(tweak, 3), value);
}
static inline bool fbtweak_minimum(const fbtweak *tweak, fbtweak_value *value) {
  return tweak && (tweak->flags & FBTWEAK_HAS_MINIMUM) &&
         fbtweak__value_of(tweak, &tweak->minimum, 0, value);
}
static inline bool fbtweak_maximum(const fbtweak *tweak, fbtweak_value *value) {
  return tweak && (tweak->flags & FBTWEAK_HAS_MAXIMUM) &&
         fbtweak__value_of(tweak, &tweak->maximum, 0, value);
}
static inline bool fbtweak_step(const fbtweak *tweak, fbtweak_value *value) {
  return tweak && (tweak->flags & FBTWEAK_HAS_STEP) &&
         fbtweak__value_of(tweak, &tweak->step, 0, value);
}
static inline const char *fbtweak_attribute(const fbtweak *tweak, const char *key) {
  const char *attribute = tweak ? fbtweak__next_attribute(tweak, 0) : 0;
  while (attribute && !fbtweak__attribute_value(attribute, key))
    attribute = fbtweak__next_attribute(tweak, attribute);
  return attribute ? fbtweak__attribute_value(attribute, key) : 0;
}
static inline bool fbtweak_choice(const fbtweak *tweak, size_t index, fbtweak_value *value,
                                  const char **label) {
  const char *attribute = 0, *choice = 0;
  size_t count = 0;
  while (tweak && (attribute = fbtweak__next_attribute(tweak, attribute)))
    if (fbtweak__attribute_value(attribute, "choice") && count++ == index)
      choice = attribute;
  if (!choice)
    return false;
  if (label)
    *label = fbtweak__attribute_value(fbtweak__next_attribute(tweak, choice), "label");
  if (tweak->type == FBTWEAK_TYPE_STRING) {
    value->type = FBTWEAK_TYPE_STRING;
    value->text = fbtweak__attribute_value(choice, "choice");
    return true;
  }
  const uint64_t *end = (const uint64_t *)((const char *)tweak + tweak->size);
  return (tweak->flags & FBTWEAK_HAS_CHOICES) &&
         fbtweak__value_of(tweak, end - (count - index), 0, value);
}

#define FBTWEAK__ASK(otherwise_, call_)                                                            \
  const struct fbtweak__library *library = fbtweak__current_library();                             \
  return library ? library->call_ : (otherwise_)

static inline const char *fbtweak_error(void) {
  FBTWEAK__ASK("the Tweaks library is not in this process", error());
}
static inline const fbtweak *fbtweak_find(const char *category, const char *collection,
                                          const char *name) {
  FBTWEAK__ASK(0, find(category, collection, name));
}
static inline size_t fbtweak_walk(const char *category, const char *collection,
                                  bool (*visit)(const fbtweak *tweak, void *context),
                                  void *context) {
  FBTWEAK__ASK(0, walk(category, collection, visit, context));
}
static inline const char *fbtweak_source(const fbtweak *tweak) {
  FBTWEAK__ASK(0, source(tweak));
}
static inline int fbtweak_set(const fbtweak *tweak, fbtweak_value value) {
  FBTWEAK__ASK(FBTWEAK_ABSENT, set(tweak, &value));
}
static inline int fbtweak_set_bool(const fbtweak *tweak, bool flag) {
  fbtweak_value value;
  value.type = FBTWEAK_TYPE_BOOL;
  value.boolean = flag;
  return fbtweak_set(tweak, value);
}
static inline int fbtweak_set_integer(const fbtweak *tweak, int64_t integer) {
  fbtweak_value value;
  value.type = FBTWEAK_TYPE_INT64;
  value.integer = integer;
  return fbtweak_set(tweak, value);
}
static inline int fbtweak_set_number(const fbtweak *tweak, double number) {
  fbtweak_value value;
  value.type = FBTWEAK_TYPE_DOUBLE;
  value.number = number;
  return fbtweak_set(tweak, value);
}
static inline int fbtweak_set_text(const fbtweak *tweak, const char *text) {
  FBTWEAK__ASK(FBTWEAK_ABSENT, set_text(tweak, text));
}
static inline int fbtweak_set_color(const fbtweak *tweak, fbtweak_color color) {
  fbtweak_value value;
  value.type = FBTWEAK_TYPE_COLOR;
  value.color = color;
  return fbtweak_set(tweak, value);
}
static inline int fbtweak_reset(const fbtweak *tweak) {
  FBTWEAK__ASK(FBTWEAK_ABSENT, reset(tweak));
}
static inline int fbtweak_reset_collection(const char *category, const char *collection) {
  FBTWEAK__ASK(FBTWEAK_ABSENT, reset_group(category, collection));
}
static inline int fbtweak_reset_category(const char *category) {
  FBTWEAK__ASK(FBTWEAK_ABSENT, reset_group(category, 0));
}
static inline int fbtweak_reset_all(void) {
  FBTWEAK__ASK(FBTWEAK_ABSENT, reset_group(0, 0));
}
static inline int fbtweak_run(const fbtweak *tweak) {
  FBTWEAK__ASK(FBTWEAK_ABSENT, run(tweak));
}
static inline int fbtweak_bind(const fbtweak *tweak, void *variable) {
  FBTWEAK__ASK(FBTWEAK_ABSENT, bind(tweak, variable));
}
static inline void fbtweak_unbind(void *variable) {
  const struct fbtweak__library *library = fbtweak__current_library();
  if (library)
    library->unbind(variable);
}
static inline fbtweak_token fbtweak_observe(const fbtweak *tweak, fbtweak_callback will_change,
                                            fbtweak_callback did_change, void *context) {
  FBTWEAK__ASK(0, observe(0, tweak, will_change, did_change, context));
}
static inline fbtweak_token fbtweak_observe_in(fbtweak_queue *queue, const fbtweak *tweak,
                                               fbtweak_callback did_change, void *context) {
  FBTWEAK__ASK(0, observe(queue, tweak, 0, did_change, context));
}
static inline void fbtweak_unobserve(fbtweak_token token) {
  const struct fbtweak__library *library = fbtweak__current_library();
  if (library)
    library->unobserve(token);
}
static inline fbtweak_queue *fbtweak_queue_make(void) {
  FBTWEAK__ASK(0, queue_make());
}
static inline int fbtweak_queue_descriptor(const fbtweak_queue *queue) {
  FBTWEAK__ASK(-1, queue_descriptor(queue));
}
static inline size_t fbtweak_queue_deliver(fbtweak_queue *queue) {
  FBTWEAK__ASK(0, queue_deliver(queue));
}
static inline void fbtweak_queue_destroy(fbtweak_queue *queue) {
  const struct fbtweak__library *library = fbtweak__current_library();
  if (library)
    library->queue_destroy(queue);
}
static inline const fbtweak *fbtweak_make(const fbtweak_declaration *declaration) {
  FBTWEAK__ASK(0, make(declaration));
}
static inline const fbtweak *fbtweak_make_action(const char *category, const char *collection,
                                                 const char *name, void (*function)(void *context),
                                                 void *context) {
  FBTWEAK__ASK(0, make_action(category, collection, name, function, context));
}
static inline int fbtweak_remove(const fbtweak *tweak) {
  FBTWEAK__ASK(FBTWEAK_ABSENT, remove(tweak));
}
#undef FBTWEAK__ASK

#ifdef __cplusplus
}
#endif

#if FB_TWEAK_ENABLED

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
 * tells where its records begin and end and where its slot for the library is. So both are found
 * through the program headers, when the file has no section headers or is not at hand. Distances
 * are from the field itself: no relocation is left for the dynamic linker. The eight bytes of
 * padding make sure that the section, and with it the bounds, exist.
 */
__asm__(".pushsection fbtweak,\"awGR\",%progbits,.note.fbtweak,comdat\n"
        ".balign 8\n"
        ".8byte 0\n"
        ".popsection\n"
        ".pushsection .note.fbtweak,\"aGR\",%note,.note.fbtweak,comdat\n"
        ".balign 4\n"
        ".4byte 8, 12, 1\n"
        ".asciz \"FBTweak\"\n"
        ".hidden __start_fbtweak\n"
        ".hidden __stop_fbtweak\n"
        ".4byte __start_fbtweak - .\n"
        ".4byte __stop_fbtweak - .\n"
        ".4byte fbtweak__library_slot - .\n"
        ".popsection\n");

/*
 * An image that is loaded after the library looks for it: some image has a note with the distance
 * to its struct fbtweak__library. What <link.h> declares for this needs _GNU_SOURCE before the
 * first include of a unit, so the little that is needed of it is here under other names.
 */
struct fbtweak__segment {
  uint32_t type;
#  if UINTPTR_MAX > 0xffffffffu
  uint32_t flags;
#  endif
  uintptr_t offset, address, physical_address, file_size, size;
#  if UINTPTR_MAX <= 0xffffffffu
  uint32_t flags;
#  endif
  uintptr_t alignment;
};
struct fbtweak__loaded {
  uintptr_t bias;
  const char *name;
  const struct fbtweak__segment *segments;
  uint16_t segment_count;
};

#  ifdef __cplusplus
extern "C" {
#  endif

/* Weak: an image that is loaded has it, a static program without the library need not. */
int fbtweak__each_loaded(int (*visit)(struct fbtweak__loaded *loaded, size_t size, void *context),
                         void *context) __asm__("dl_iterate_phdr") __attribute__((weak));

static inline int fbtweak__look_for_library(struct fbtweak__loaded *loaded, size_t size,
                                            void *context) {
  static const uint32_t lengths_and_type[] = {8, 4, 2};
  (void)size, (void)context;
  for (unsigned i = 0; i < loaded->segment_count; i++) {
    const struct fbtweak__segment *segment = &loaded->segments[i];
    if (segment->type != 4 /* PT_NOTE */)
      continue;
    const char *note = (const char *)(loaded->bias + segment->address);
    for (const char *end = note + segment->size; end - note >= 24; note += 4) {
      if (__builtin_memcmp(note, lengths_and_type, 12) != 0 ||
          __builtin_memcmp(note + 12, "FBTweak", 8) != 0)
        continue;
      int32_t distance;
      __builtin_memcpy(&distance, note + 20, 4);
      const struct fbtweak__library *library =
          (const struct fbtweak__library *)(note + 20 + distance);
      if (!library->size)
        continue;
      __atomic_store_n(&fbtweak__library_slot, library, __ATOMIC_RELEASE);
      return 1;
    }
  }
  return 0;
}

/* Each unit of an image has these two, the first that runs does it for all. */
extern bool fbtweak__is_open __attribute__((weak, visibility("hidden")));
bool fbtweak__is_open = false;

__attribute__((constructor(101))) static void fbtweak__open_image(void) {
  if (fbtweak__is_open)
    return;
  fbtweak__is_open = true;
  /* A library that has filled the slot knows the image. */
  if (fbtweak__current_library() || !fbtweak__each_loaded)
    return;
  fbtweak__each_loaded(fbtweak__look_for_library, 0);
  const struct fbtweak__library *library = fbtweak__current_library();
  if (library)
    library->image_opened(&fbtweak__library_slot);
}
__attribute__((destructor(101))) static void fbtweak__close_image(void) {
  const struct fbtweak__library *library = fbtweak__current_library();
  if (fbtweak__is_open && library)
    library->image_closed(&fbtweak__library_slot);
  fbtweak__is_open = false;
}

#  ifdef __cplusplus
}
#  endif

#endif /* FB_TWEAK_ENABLED */
#endif /* FBTWEAK_H */
