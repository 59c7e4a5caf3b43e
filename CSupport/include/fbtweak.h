/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fbtweak.h: constants that you can change while the program runs.
 *
 *     double stiffness = FBTweakValue("Spring", "Physics", "Stiffness", 120.0, 1.0, 500.0);
 *
 * takes the place of `120.0`. Each use leaves a record in the ELF section "fbtweak" of the object
 * file, and reads its current value with one relaxed atomic load. Nothing needs to be linked:
 * without the Tweaks library in the process every tweak keeps its default.
 *
 * Requires GCC 11 (10 for C) or Clang 13, C11 or C++17, or later.
 *
 * Part 1. For programs: switches, macros, options, colours, functions
 * Part 2. The record: what a use leaves in the object file
 * Part 3. The machinery: implementation of the macros, the library, the functions, lists, booleans,
 *         a call, options, checks, records, records in C, records in C++, gates, sets, the note,
 *         late images
 */
#ifndef FBTWEAK_H
#define FBTWEAK_H

/* Makes compilers report a mistake only where a macro is used, and not at every macro inside. */
#pragma GCC system_header

/* In an older language this is the only error: the constants remain, as without DEBUG. */
#if defined(__cplusplus)
#  if __cplusplus < 201703L
#    error "fbtweak.h is for C++17 and later, such as -std=c++17"
#    define FBTWEAK__IS_OLD
#  endif
#elif !defined(__STDC_VERSION__) || __STDC_VERSION__ < 201112L
#  error "fbtweak.h is for C11 and later, such as -std=c11"
#  define FBTWEAK__IS_OLD
#endif
#ifdef FBTWEAK__IS_OLD
#  undef FB_TWEAK_ENABLED
#  define FB_TWEAK_ENABLED 0
#  ifndef __cplusplus
#    define inline __inline__
#  endif
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Other headers may define macros with the names of members and variables below, so these are set
 * aside until the end of this file. Our macros expand only to names with our prefixes.
 * tools/development/foreign-macros writes both lists, and checks them.
 */
/* clang-format off */
/* set aside */
#pragma push_macro("Default")
#undef Default
#pragma push_macro("F")
#undef F
#pragma push_macro("Number")
#undef Number
#pragma push_macro("T")
#undef T
#pragma push_macro("action")
#undef action
#pragma push_macro("address")
#undef address
#pragma push_macro("address_")
#undef address_
#pragma push_macro("address_inside")
#undef address_inside
#pragma push_macro("alignment")
#undef alignment
#pragma push_macro("alpha")
#undef alpha
#pragma push_macro("attribute")
#undef attribute
#pragma push_macro("attributes")
#undef attributes
#pragma push_macro("attributes_size_")
#undef attributes_size_
#pragma push_macro("before")
#undef before
#pragma push_macro("bias")
#undef bias
#pragma push_macro("bind")
#undef bind
#pragma push_macro("bits")
#undef bits
#pragma push_macro("blue")
#undef blue
#pragma push_macro("boolean")
#undef boolean
#pragma push_macro("call_bits")
#undef call_bits
#pragma push_macro("callee")
#undef callee
#pragma push_macro("capacity")
#undef capacity
#pragma push_macro("category")
#undef category
#pragma push_macro("category_size_")
#undef category_size_
#pragma push_macro("cell")
#undef cell
#pragma push_macro("change")
#undef change
#pragma push_macro("character")
#undef character
#pragma push_macro("choice")
#undef choice
#pragma push_macro("choice_count")
#undef choice_count
#pragma push_macro("choices")
#undef choices
#pragma push_macro("choices_")
#undef choices_
#pragma push_macro("code")
#undef code
#pragma push_macro("collection")
#undef collection
#pragma push_macro("collection_size_")
#undef collection_size_
#pragma push_macro("color")
#undef color
#pragma push_macro("context")
#undef context
#pragma push_macro("context_bits")
#undef context_bits
#pragma push_macro("count")
#undef count
#pragma push_macro("current")
#undef current
#pragma push_macro("declaration")
#undef declaration
#pragma push_macro("default_value")
#undef default_value
#pragma push_macro("did_change")
#undef did_change
#pragma push_macro("did_load")
#undef did_load
#pragma push_macro("distance")
#undef distance
#pragma push_macro("end")
#undef end
#pragma push_macro("error")
#undef error
#pragma push_macro("fallback")
#undef fallback
#pragma push_macro("file_size")
#undef file_size
#pragma push_macro("find")
#undef find
#pragma push_macro("first")
#undef first
#pragma push_macro("flag")
#undef flag
#pragma push_macro("flags")
#undef flags
#pragma push_macro("flush")
#undef flush
#pragma push_macro("function")
#undef function
#pragma push_macro("function_")
#undef function_
#pragma push_macro("given")
#undef given
#pragma push_macro("green")
#undef green
#pragma push_macro("handle")
#undef handle
#pragma push_macro("i")
#undef i
#pragma push_macro("image_closed")
#undef image_closed
#pragma push_macro("image_opened")
#undef image_opened
#pragma push_macro("index")
#undef index
#pragma push_macro("initial")
#undef initial
#pragma push_macro("integer")
#undef integer
#pragma push_macro("is_empty_")
#undef is_empty_
#pragma push_macro("is_enumeration_")
#undef is_enumeration_
#pragma push_macro("is_in_file_")
#undef is_in_file_
#pragma push_macro("joined")
#undef joined
#pragma push_macro("key")
#undef key
#pragma push_macro("kind")
#undef kind
#pragma push_macro("label")
#undef label
#pragma push_macro("label_size_")
#undef label_size_
#pragma push_macro("left")
#undef left
#pragma push_macro("length")
#undef length
#pragma push_macro("lengths_and_type")
#undef lengths_and_type
#pragma push_macro("library")
#undef library
#pragma push_macro("literal")
#undef literal
#pragma push_macro("load")
#undef load
#pragma push_macro("loaded")
#undef loaded
#pragma push_macro("make")
#undef make
#pragma push_macro("make_action")
#undef make_action
#pragma push_macro("make_monitor")
#undef make_monitor
#pragma push_macro("maximum")
#undef maximum
#pragma push_macro("minimum")
#undef minimum
#pragma push_macro("monitor")
#undef monitor
#pragma push_macro("name")
#undef name
#pragma push_macro("name_size_")
#undef name_size_
#pragma push_macro("natural")
#undef natural
#pragma push_macro("new_value")
#undef new_value
#pragma push_macro("note")
#undef note
#pragma push_macro("nothing")
#undef nothing
#pragma push_macro("number")
#undef number
#pragma push_macro("observe")
#undef observe
#pragma push_macro("observe_loads")
#undef observe_loads
#pragma push_macro("offset")
#undef offset
#pragma push_macro("old_value")
#undef old_value
#pragma push_macro("other")
#undef other
#pragma push_macro("other_size_")
#undef other_size_
#pragma push_macro("parts")
#undef parts
#pragma push_macro("physical_address")
#undef physical_address
#pragma push_macro("problem")
#undef problem
#pragma push_macro("provider")
#undef provider
#pragma push_macro("queue")
#undef queue
#pragma push_macro("queue_deliver")
#undef queue_deliver
#pragma push_macro("queue_descriptor")
#undef queue_descriptor
#pragma push_macro("queue_destroy")
#undef queue_destroy
#pragma push_macro("queue_make")
#undef queue_make
#pragma push_macro("record")
#undef record
#pragma push_macro("red")
#undef red
#pragma push_macro("remove")
#undef remove
#pragma push_macro("reset")
#undef reset
#pragma push_macro("reset_group")
#undef reset_group
#pragma push_macro("rights")
#undef rights
#pragma push_macro("run")
#undef run
#pragma push_macro("run_in")
#undef run_in
#pragma push_macro("segment")
#undef segment
#pragma push_macro("segment_count")
#undef segment_count
#pragma push_macro("segments")
#undef segments
#pragma push_macro("set")
#undef set
#pragma push_macro("set_text")
#undef set_text
#pragma push_macro("size")
#undef size
#pragma push_macro("size_")
#undef size_
#pragma push_macro("sizes_")
#undef sizes_
#pragma push_macro("slot")
#undef slot
#pragma push_macro("source")
#undef source
#pragma push_macro("start")
#undef start
#pragma push_macro("step")
#undef step
#pragma push_macro("store")
#undef store
#pragma push_macro("stored")
#undef stored
#pragma push_macro("stores_")
#undef stores_
#pragma push_macro("strangers")
#undef strangers
#pragma push_macro("text")
#undef text
#pragma push_macro("text_size_")
#undef text_size_
#pragma push_macro("thread")
#undef thread
#pragma push_macro("token")
#undef token
#pragma push_macro("tweak")
#undef tweak
#pragma push_macro("type")
#undef type
#pragma push_macro("unbind")
#undef unbind
#pragma push_macro("unobserve")
#undef unobserve
#pragma push_macro("unused")
#undef unused
#pragma push_macro("unused_too")
#undef unused_too
#pragma push_macro("value")
#undef value
#pragma push_macro("variable")
#undef variable
#pragma push_macro("version")
#undef version
#pragma push_macro("visit")
#undef visit
#pragma push_macro("waiting")
#undef waiting
#pragma push_macro("walk")
#undef walk
#pragma push_macro("will_change")
#undef will_change
/* set aside: end */
/* clang-format on */

/*
 * Part 1. For programs
 *
 * Switches, to be defined before this file is included.
 *
 * DEBUG, if defined and not 0, compiles tweaks in; FB_TWEAK_ENABLED, predefined as 1 or 0,
 * overrides it. Without tweaks a value is its default, Bind assigns the default, a handle is null,
 * and nothing else remains. All units of a program that share a fbtweak_binding must have the same
 * FB_TWEAK_ENABLED.
 *
 * FB_TWEAK_DISABLED, unless predefined as 0, always disables tweaks, and also the functions, which
 * then behave as without the library.
 *
 * The second comparison in each test is true if the macro is defined as empty.
 */
#ifdef FB_TWEAK_DISABLED
#  if (FB_TWEAK_DISABLED + 0) || (0 - FB_TWEAK_DISABLED - 1) == 1
#    define FBTWEAK__IS_DISABLED
#    undef FB_TWEAK_ENABLED
#    define FB_TWEAK_ENABLED 0
#  endif
#endif
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

/* 1 or 0: whether records contain source locations, with files as the compiler names them. */
#ifndef FB_TWEAK_LOCATIONS
#  define FB_TWEAK_LOCATIONS 1
#endif

/*
 * 1 or 0: whether, in C before C23, a default of `true` or `false` is a bool even if it comes from
 * a macro. The price is a <stdbool.h> whose `true` is not spelled 1.
 */
#ifndef FB_TWEAK_BOOL_CONSTANTS
#  define FB_TWEAK_BOOL_CONSTANTS 1
#endif

/* The maximum number of values that can wait for a gate; see FBTweakGate. */
#ifndef FB_TWEAK_GATE_STORES
#  define FB_TWEAK_GATE_STORES 64
#endif

/*
 * FBTweakValue(category, collection, name, default [, minimum, maximum] [, option]...)
 *
 * An expression: the current value of the tweak, of the default's type. The three levels of its
 * name are string literals. The default is a constant bool, integer of 8 to 64 bits, float or
 * double, a string literal, or a colour. Cast a constant to choose another type: `(uint8_t)200`,
 * `1.5f`. Minimum and maximum, for numbers only, are constants; they are converted to the default's
 * type and must enclose the default. A constant is a constant expression in C++, and may be a
 * `static const` variable in C.
 *
 * A string stays valid until the process exits. Reading is safe on every thread and in signal
 * handlers, even before any other code of the program has run.
 */
#define FBTweakValue(category_, collection_, name_, ...)                                           \
  FBTWEAK__IF_GIVEN(FBTWEAK__VALUE, FBTWEAK__NO_VALUE, __VA_ARGS__)                                \
  (#__VA_ARGS__, category_, collection_, name_, __VA_ARGS__)

/*
 * FBTweakFeature(feature, default [, option]...)            Features/feature/enabled
 * FBTweakFeaturePart(feature, part, default [, option]...)  Features/feature/part
 *
 * Expressions of type bool: whether a feature, or a part of one, is switched on. A part should
 * count only if the feature is on:
 *
 *     if (FBTweakFeature("Sound", true) && FBTweakFeaturePart("Sound", "Bass", false))
 *
 * Write the names of nested parts in one string, separated by slashes.
 */
#define FBTweakFeature(feature_, ...) FBTweakFeaturePart(feature_, "enabled", __VA_ARGS__)
#define FBTweakFeaturePart(feature_, part_, ...)                                                   \
  FBTWEAK__IF_GIVEN(FBTWEAK__FEATURE, FBTWEAK__NO_VALUE, __VA_ARGS__)(feature_, part_, __VA_ARGS__)

/*
 * FBTweakBind(lvalue, category, collection, name, default...)   as FBTweakValue from there on
 * FBTweakUnbind(lvalue)
 *
 * Statements. From Bind to Unbind the lvalue follows the current value, with one atomic store at
 * each change. Unbind it before the end of its lifetime. The tweak has the lvalue's type (const
 * char * for a string); default, limits and choices are converted to it.
 *
 * FBTweakBinding(lvalue, category, collection, name, default...)   in C++
 *
 * An expression of type fbtweak_binding: like FBTweakBind, but the object's destructor unbinds.
 */
#define FBTweakBind(lvalue_, category_, collection_, name_, ...)                                   \
  ((void)FBTWEAK__IF_GIVEN(FBTWEAK__BIND, FBTWEAK__NO_VALUE,                                       \
                           __VA_ARGS__)(lvalue_, category_, collection_, name_, __VA_ARGS__))
#define FBTweakUnbind(lvalue_) FBTWEAK__UNBIND(lvalue_)
#ifdef __cplusplus
#  define FBTweakBinding(lvalue_, category_, collection_, name_, ...)                              \
    FBTWEAK__BINDING(FBTWEAK__IF_GIVEN(FBTWEAK__BIND, FBTWEAK__NO_VALUE, __VA_ARGS__)(             \
        lvalue_, category_, collection_, name_, __VA_ARGS__))
#endif

/*
 * FBTweakInline(category, collection, name, default...)   as FBTweakValue
 *
 * An expression of type `const fbtweak *`: a handle of the tweak for the functions below. It calls
 * the library, so a signal handler must not use it; get the handle before.
 */
#define FBTweakInline(category_, collection_, name_, ...)                                          \
  FBTWEAK__IF_GIVEN(FBTWEAK__INLINE, FBTWEAK__NO_VALUE, __VA_ARGS__)                               \
  (#__VA_ARGS__, category_, collection_, name_, __VA_ARGS__)

/*
 * FBTweakAction(category, collection, name, function [, option]...)
 *
 * A declaration, in a file or a function, that lets people call a `void function(void)`. A block
 * without captures and, in C++, a lambda without captures work, too. The options are description,
 * owner and expiry date. The function runs on a library thread, or where fbtweak_run_in directs it.
 */
#define FBTweakAction(category_, collection_, name_, ...)                                          \
  FBTWEAK__IF_GIVEN(FBTWEAK__ACTION, FBTWEAK__NO_ACTION, __VA_ARGS__)                              \
  (category_, collection_, name_, __VA_ARGS__)

/*
 * FBTweakVariable(object, category, collection, name [, minimum, maximum] [, option]...)
 *
 * A declaration in a file or a C++ class, without a semicolon: makes a tweak of a variable, or a
 * part of one, where it stands.
 *
 *     static struct ball ball = {.mass = 0.2};
 *     FBTweakVariable(ball.mass, "Game", "Ball", "Mass", 0.01, 10)
 *
 * The program reads and may write the variable as before; a new value is stored there, with one
 * atomic store. The default is the variable's initial value, known at compile time. The object has
 * static storage, is not const, and is a bool, an integer, a float, a double, a colour or, in C++,
 * an enumeration, or an array of up to 256 of them: the elements are the tweaks "name[0]",
 * "name[1]" and so on.
 */
#define FBTweakVariable(object_, category_, collection_, ...)                                      \
  FBTWEAK__IF_GIVEN(FBTWEAK__VARIABLE, FBTWEAK__NO_VARIABLE, __VA_ARGS__)                          \
  (object_, category_, collection_, __VA_ARGS__)

/*
 * FBTweakMonitor(category, collection, name, value [, minimum, maximum] [, option]...)
 *
 * An expression of type void: stores a number, with one relaxed atomic store, that people see but
 * cannot set.
 *
 *     FBTweakMonitor("Motor", "State", "Speed", speed, 0, 8000, FBTweakUnit("rpm"));
 *
 * The value is a bool, an integer, a float or a double, and the monitor has its type. Minimum and
 * maximum are the range of displays. The options are description, owner, unit, precision and
 * choices; the latter are numbers with labels, or string literals: the names of the states 0, 1, 2,
 * … Store a monitor at one place of a program; if there are several, people see one. Storing is
 * safe on every thread and in signal handlers. Where tweaks are not compiled in, the value is not
 * evaluated.
 */
#define FBTweakMonitor(category_, collection_, name_, ...)                                         \
  FBTWEAK__IF_GIVEN(FBTWEAK__MONITOR, FBTWEAK__NO_MONITOR, __VA_ARGS__)                            \
  (category_, collection_, name_, __VA_ARGS__)

/*
 * FBTweakGate(category [, collection])
 *
 * An expression of type void, for the top of a control loop, a frame or an audio callback: the only
 * place where new values of the tweaks of this category, or of this collection of it, are stored.
 *
 *     for (;;) {
 *       FBTweakGate("Motor");
 *       double p = FBTweakValue("Motor", "PID", "P", 1.0);
 *
 * Values that are set together are stored in one pass, by the passing thread, so the values that it
 * reads between two passes belong together. If nothing waits, a pass is one load and a branch;
 * otherwise it is at most FB_TWEAK_GATE_STORES stores. It takes no lock, allocates nothing, calls
 * no library and never waits.
 *
 * Let one thread pass a gate, and read its tweaks in this thread. If several threads pass it, each
 * set is still stored by one of them as a whole, but the others may read a part of it; the library
 * reports this once. Write a gate at one place of a program: at several, each has its own mailbox.
 * On a machine without atomic operations of eight bytes a gate does nothing.
 */
#define FBTweakGate(...)                                                                           \
  FBTWEAK__IF_GIVEN(FBTWEAK__GATE, FBTWEAK__NO_GATE, __VA_ARGS__)(__VA_ARGS__, "", , )

/*
 * FBTweakTake(set, copy [, seen])
 *
 * An expression of type bool: copies a set of tweaks that belong together, for any number of
 * threads. The set is an expression that reads the tweaks, such as a call of an inline function;
 * copy points to a variable of its type.
 *
 *     static inline struct gains gains(void) {
 *       return (struct gains){FBTweakValue("Motor", "PID", "P", 1.0), FBTweakValue(…)};
 *     }
 *     ...
 *     if (FBTweakTake(gains(), &copy, &seen)) recompute(&copy);
 *
 * True: the copy now has the values that one change left, and no part of another. False: values
 * were being stored during each of three attempts, and the copy is unchanged. It takes no lock and
 * never waits. The expression may be evaluated up to three times.
 *
 * Keep a uint64_t beside the copy, initially 0, and pass its address as `seen`: a take is then
 * false, and as fast as a read, as long as no tweak of the program has changed.
 *
 * This holds for changes by the Tweaks library, and for changes that `tweak` makes in the memory of
 * a process without it. If `tweak` is killed there while it stores a change, takes are false until
 * the next change, after which the values may be a mix of both: `tweak` then warns, and names the
 * tweaks to set again. It does not hold for values that a gate stores: read those after the gate,
 * without a take.
 */
#define FBTweakTake(set_, ...)                                                                     \
  FBTWEAK__THIRD(__VA_ARGS__, FBTWEAK__TAKE_NEW, FBTWEAK__TAKE, )((set_), __VA_ARGS__)

/*
 * FBTweakApplication("name")
 *
 * A declaration in a file, once in a program: names the program for people and for its overrides
 * and presets, in place of the executable's name. Use it for programs whose executable is named
 * after something else (python3, main) and for extensions that such programs load. Of the images
 * that have a name when the Tweaks library starts, the first one counts.
 */
#define FBTweakApplication(name_) FBTWEAK__APPLICATION(name_)

/*
 * The options, in any order, each at most once. An option is the tuple (bit, + step, "key=value\0",
 * check, (the check's arguments), (choice, ...)); Options in part 3 has the bits.
 *
 * Choices replace minimum and maximum: up to 63 numbers or string literals, including the default.
 * A choice with a label for people is written (48000, "DVD").
 */
#define FBTweakChoices(...) (FBTWEAK_HAS_CHOICES, , "", FBTWEAK__CHECK_CHOICES, (), (__VA_ARGS__, ))
/* For numbers: the increment of a stepper. */
#define FBTweakStep(step_) (FBTWEAK_HAS_STEP, +(step_), "", FBTWEAK__CHECK_STEP, (step_), ())
/* For floats and doubles: the number of decimals to show, a literal from 0 to 17. */
#define FBTweakPrecision(digits_)                                                                  \
  (FBTWEAK__PRECISION, , "precision=" FBTWEAK__STRINGIZE(digits_) "\0", FBTWEAK__CHECK_PRECISION,  \
   (digits_, FBTWEAK__STRINGIZE(digits_)), ())
/*
 * For numbers: the scale of a slider, "linear" for equal steps or "log" for equal factors, which
 * requires a minimum above 0. Without it, limits that span three decades have a logarithmic slider.
 */
#define FBTweakScale(scale_)                                                                       \
  ((FBTWEAK__SCALE + FBTWEAK__LOG * (sizeof(scale_) == sizeof("log"))), , "scale=" scale_ "\0",    \
   FBTWEAK__CHECK_SCALE, (scale_), ())
/*
 * For a number on the horizontal axis of a pad: the name of the number on the vertical axis, in the
 * same category and collection.
 */
#define FBTweakPair(name_) (FBTWEAK__PAIR, , "pair=" name_ "\0", FBTWEAK__CHECK_PAIR, (name_), ())
/* The unit of the number, such as "kg". */
#define FBTweakUnit(unit_)                                                                         \
  (FBTWEAK__UNIT, , "unit=" unit_ "\0", FBTWEAK__CHECK_TEXT, ("a unit", unit_), ())
/* People see the tweak, but cannot set it. */
#define FBTweakReadOnly (FBTWEAK__READ_ONLY, , "read-only\0", FBTWEAK__NONE, (), ())
/* A new value takes effect at the next start. */
#define FBTweakNeedsRestart (FBTWEAK__NEEDS_RESTART, , "needs-restart\0", FBTWEAK__NONE, (), ())
/* A description for people. */
#define FBTweakDescription(text_)                                                                  \
  (FBTWEAK__DESCRIPTION, , "doc=" text_ "\0", FBTWEAK__CHECK_TEXT, ("a description", text_), ())
/* The person or team responsible, such as "physics team". */
#define FBTweakOwner(owner_)                                                                       \
  (FBTWEAK__OWNER, , "owner=" owner_ "\0", FBTWEAK__CHECK_TEXT, ("an owner", owner_), ())
/* The last day on which the tweak should exist, such as "2027-01-31"; later it is reported. */
#define FBTweakExpires(date_)                                                                      \
  (FBTWEAK__EXPIRES, , "expires=" date_ "\0", FBTWEAK__CHECK_DATE, (date_), ())

/* A colour in sRGB with straight alpha, 255 for opaque. */
typedef struct fbtweak_color {
  uint8_t red, green, blue, alpha;
} __attribute__((__aligned__(4))) fbtweak_color;

#define FBTweakRGB(red_, green_, blue_) FBTweakRGBA(red_, green_, blue_, 255)
#ifdef __cplusplus
#  define FBTweakRGBA(red_, green_, blue_, alpha_) (fbtweak_color{red_, green_, blue_, alpha_})
#else
#  define FBTweakRGBA(red_, green_, blue_, alpha_) ((fbtweak_color){red_, green_, blue_, alpha_})
#endif

/*
 * The functions, which use the tweaks of the process by handle.
 *
 *     const fbtweak *mass = fbtweak_find("Spring", "Physics", "Mass");
 *     fbtweak_set_number(mass, 2.5);
 *
 * Nothing needs to be linked: a function that needs the Tweaks library looks it up at run time.
 * Without the library in the process, functions that change something return FBTWEAK_ABSENT, and
 * lookups return NULL. The functions do not depend on FB_TWEAK_ENABLED, only on FB_TWEAK_DISABLED.
 * A library with FB_TWEAK_ENABLED 0 must unbind its variables and end its observations before it is
 * closed.
 *
 * A handle stands for a name. It stays valid until the process exits, even if the library that
 * declares the tweak is closed: the tweak then has the default, and cannot be set until that
 * library is opened again. Without the Tweaks library, a handle of FBTweakInline lives as long as
 * its code.
 *
 * Threads: every function may be called on every thread with 64 KB of stack left. Callbacks run
 * without a lock held and may call every function.
 * Signal handlers: only the functions that read (fbtweak_read…) may be called.
 * After fork: the child has its own tweaks, observers and bound variables, and may call every
 * function if it may allocate memory. It must not use its parent's queues, but can make new ones.
 * Callbacks: an event loop gets them from a queue; see fbtweak_observe_in.
 */
#ifdef __cplusplus
extern "C" {
#endif

typedef struct fbtweak fbtweak;

/* The types of tweaks, in the `type` of a record and of a value. */
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

/* A value of any type; `type` determines the member. */
typedef struct fbtweak_value {
  int type;
  __extension__ union {
    bool boolean;     /* bool */
    int64_t integer;  /* the signed integers */
    uint64_t natural; /* the unsigned integers */
    double number;    /* float and double */
    const char *text; /* string: UTF-8, valid until the process exits */
    fbtweak_color color;
  };
} fbtweak_value;

/*
 * The result of a change. If it is negative, nothing has changed, and fbtweak_error has the reason.
 */
enum {
  FBTWEAK_OK = 0,
  FBTWEAK_CLAMPED = 1,  /* done, with the nearest allowed value */
  FBTWEAK_ABSENT = -1,  /* the Tweaks library is not in the process */
  FBTWEAK_UNKNOWN = -2, /* no image of the process declares the tweak; also for a NULL handle */
  FBTWEAK_REFUSED = -3, /* not allowed: wrong type, not among the choices, read-only */
};

/*
 * Reading is one load, never fails and never blocks. The result is the current value if the handle
 * is not NULL and the tweak has a compatible type, and the fallback otherwise. Integers and
 * floating-point numbers can be read as numbers; integers as any integer type, converted as in C.
 * An optional tweak of Swift without a value reads as the fallback; fbtweak_set_text sets it to
 * none.
 */
static inline bool fbtweak_read(const fbtweak *tweak, fbtweak_value *value);
static inline bool fbtweak_read_bool(const fbtweak *tweak, bool fallback);
static inline int64_t fbtweak_read_integer(const fbtweak *tweak, int64_t fallback);
static inline double fbtweak_read_number(const fbtweak *tweak, double fallback);
static inline const char *fbtweak_read_text(const fbtweak *tweak, const char *fallback);
static inline fbtweak_color fbtweak_read_color(const fbtweak *tweak, fbtweak_color fallback);

/*
 * The declaration. Texts and values are constant; for a NULL handle the results are
 * FBTWEAK_TYPE_NONE, NULL and false. A limit or step returns false if it is not declared. Choices
 * count from 0; the label is NULL if a choice has none. An attribute is "unit", "doc", "precision",
 * "scale", "pair", "owner", "expires", "read-only", "needs-restart", "title", "group", "element",
 * "optional" or "at", and NULL if it is not set.
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
 * Returns the message of the last failed call on this thread: the problem, and what is allowed. It
 * is valid until another call fails on this thread.
 */
static inline const char *fbtweak_error(void);

/* Returns the handle of a tweak, or NULL if the process does not have it. */
static inline const fbtweak *fbtweak_find(const char *category, const char *collection,
                                          const char *name);

/*
 * Calls visit for each tweak of a category and a collection, until visit returns false. NULL stands
 * for all categories, or for all collections. Categories and their collections are sorted by name,
 * tweaks are in the order of declaration. Tweaks made or removed during the walk do not count.
 * Returns the number of calls.
 */
static inline size_t fbtweak_walk(const char *category, const char *collection,
                                  bool (*visit)(const fbtweak *tweak, void *context),
                                  void *context);

/*
 * Returns the provider of the current value: "default", "override", …; NULL for an unknown tweak.
 */
static inline const char *fbtweak_source(const fbtweak *tweak);

/*
 * Set a tweak, and keep the value as an override, in the background. First observers' will_change
 * is called, then the value changes everywhere, then did_change is called. Setting the current
 * value again calls no observer. fbtweak_set_text parses text as people type it, for a tweak of any
 * type.
 */
static inline int fbtweak_set(const fbtweak *tweak, fbtweak_value value);
static inline int fbtweak_set_bool(const fbtweak *tweak, bool value);
static inline int fbtweak_set_integer(const fbtweak *tweak, int64_t value);
static inline int fbtweak_set_number(const fbtweak *tweak, double value);
static inline int fbtweak_set_text(const fbtweak *tweak, const char *text);
static inline int fbtweak_set_color(const fbtweak *tweak, fbtweak_color value);

/* Reset tweaks: remove the overrides of one tweak, a collection, a category, or all tweaks. */
static inline int fbtweak_reset(const fbtweak *tweak);
static inline int fbtweak_reset_collection(const char *category, const char *collection);
static inline int fbtweak_reset_category(const char *category);
static inline int fbtweak_reset_all(void);

/* Runs an action on this thread, and returns after it has ended. */
static inline int fbtweak_run(const fbtweak *tweak);

/*
 * Keeps a variable equal to a tweak until it is unbound: the variable is written with one atomic
 * store of the tweak's type, now and at each change, by the thread that makes the change. A
 * variable follows only the tweak to which it was bound last. After fbtweak_unbind returns, nothing
 * writes it any more. Closing a library unbinds its variables; unbind others before they are freed.
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
 * Observes a tweak, or every tweak for NULL, with callbacks at each change: will_change before the
 * change, did_change after it; either may be NULL. Both run on the thread that makes the change.
 * Calls of did_change come one at a time, in the order of changes. Changes made in a callback are
 * delivered afterwards by the same thread. Changes that other threads make during callbacks are
 * delivered by a library thread, so that no thread waits for others; if many wait, those of one
 * tweak are merged. Returns 0 if observing is not possible.
 *
 * A C++ exception from a callback, an action or a visitor propagates out of the library call that
 * led to it, after the other callbacks; on a library thread it terminates the program, as on every
 * thread that does not catch it. A callback may end its thread with pthread_exit or be cancelled;
 * the library's own code is not a cancellation point. A callback must not leave with longjmp, which
 * would leave observers without a thread that calls them.
 */
static inline fbtweak_token fbtweak_observe(const fbtweak *tweak, fbtweak_callback will_change,
                                            fbtweak_callback did_change, void *context);

/*
 * Ends an observation. After it returns, no callback starts, and none is running on another thread.
 * 0 and observations that have ended are ignored. An observation also ends when the library that
 * contains its callback is closed, or the last one that declares its tweak. An observation of a
 * feature that only a provider has continues: the feature is off while no provider has it.
 */
static inline void fbtweak_unobserve(fbtweak_token token);

/*
 * Observes providers: calls back when one has loaded its values, from a web server for example, or
 * failed to: problem is then the reason, otherwise NULL. Both texts belong to the library, problem
 * only until the callback returns. Loads before the start of the process are not reported. Calls
 * come in order with those of did_change, after the changes of the load, usually on a library
 * thread. fbtweak_unobserve ends the observation. Returns 0 if observing is not possible.
 */
typedef struct fbtweak_load {
  const char *provider; /* as fbtweak_source names it */
  const char *problem;
} fbtweak_load;
typedef void (*fbtweak_load_callback)(const fbtweak_load *load, void *context);
static inline fbtweak_token fbtweak_observe_loads(fbtweak_load_callback did_load, void *context);

/*
 * Flushes pending writes, and returns when they are on disk or have failed. The library does this
 * by itself soon after a change and at exit, but not before exec or _exit.
 */
static inline void fbtweak_flush(void);

/*
 * A queue delivers changes on request. Its descriptor works with poll, select and epoll, and is
 * readable while something waits. Only fbtweak_queue_deliver may read from it: that makes the
 * waiting calls on the calling thread, and returns their number. Changes of a tweak are merged,
 * from the first old value to the last new one, so the queue is bounded. exec closes the
 * descriptor; a forked child shares it, and so must make its own queue. Destroying a queue ends its
 * observations.
 */
typedef struct fbtweak_queue fbtweak_queue;
static inline fbtweak_queue *fbtweak_queue_make(void);
static inline int fbtweak_queue_descriptor(const fbtweak_queue *queue);
static inline size_t fbtweak_queue_deliver(fbtweak_queue *queue);
static inline void fbtweak_queue_destroy(fbtweak_queue *queue);
static inline fbtweak_token fbtweak_observe_in(fbtweak_queue *queue, const fbtweak *tweak,
                                               fbtweak_callback did_change, void *context);

/*
 * Directs an action to a queue. Without this, an action that a person requests runs on a library
 * thread; with it, the action runs in fbtweak_queue_deliver, once for all waiting requests. NULL
 * stands for every action without a queue of its own. fbtweak_run still runs an action at once.
 * fbtweak_unobserve ends the direction. Returns 0 if it is not possible.
 */
static inline fbtweak_token fbtweak_run_in(fbtweak_queue *queue, const fbtweak *action);

/*
 * The declaration of a tweak made at run time. Values that are not set are all zero. Attributes are
 * strings "key=value", or "key" alone, as in fbtweak_attribute, terminated by NULL. Everything is
 * copied.
 */
typedef struct fbtweak_labelled_value {
  fbtweak_value value;
  const char *label;
} fbtweak_labelled_value;
typedef struct fbtweak_declaration {
  const char *category, *collection, *name;
  fbtweak_value default_value; /* all values have its type, which is the tweak's */
  fbtweak_value minimum, maximum, step;
  const fbtweak_labelled_value *choices;
  size_t choice_count;
  const char *const *attributes;
} fbtweak_declaration;

/*
 * Makes a tweak at run time. Its override, if any, applies at once. Returns NULL, with the reason
 * in fbtweak_error, if the declaration is invalid or the program has a tweak of this name.
 */
static inline const fbtweak *fbtweak_make(const fbtweak_declaration *declaration);
static inline const fbtweak *fbtweak_make_action(const char *category, const char *collection,
                                                 const char *name, void (*function)(void *context),
                                                 void *context);

/*
 * Makes a monitor at run time: a number that the program stores, and that people see but cannot
 * set, see FBTweakMonitor. The default only determines the type, a bool or a number, and choices
 * are the names of states. Returns NULL where fbtweak_make does.
 */
static inline const fbtweak *fbtweak_make_monitor(const fbtweak_declaration *declaration);

/*
 * Store a monitor's value, with one relaxed atomic store of its type, to which the value is
 * converted. Nothing happens for NULL and for handles not made by fbtweak_make_monitor. Like
 * reading, storing is safe on every thread and in signal handlers.
 */
static inline void fbtweak_store_bool(const fbtweak *monitor, bool value);
static inline void fbtweak_store_integer(const fbtweak *monitor, int64_t value);
static inline void fbtweak_store_number(const fbtweak *monitor, double value);

/* Removes a tweak made at run time, with its observers and bindings. Its override is kept. */
static inline int fbtweak_remove(const fbtweak *tweak);

/*
 * Part 2. The record
 *
 * The structure behind a handle. In version 1 the first 48 bytes are fixed, the text follows, and
 * the values of choices are the last bytes. A value is stored in its own type at the start of its
 * eight bytes. Unused fields are zero. RecordFormat.md, beside this directory, has all details.
 */
enum {
  FBTWEAK_RECORD_VERSION = 1,

  FBTWEAK_KIND_PADDING = 0,
  FBTWEAK_KIND_VALUE = 1,
  FBTWEAK_KIND_ACTION = 2,
  FBTWEAK_KIND_MONITOR = 3,
  FBTWEAK_KIND_GATE = 4,
  FBTWEAK_KIND_SEQUENCE = 5,
  FBTWEAK_KIND_VARIABLE = 6,
  FBTWEAK_KIND_OPTIONAL = 8,

  FBTWEAK_HAS_MINIMUM = 1,
  FBTWEAK_HAS_MAXIMUM = 2,
  FBTWEAK_HAS_STEP = 4,
  FBTWEAK_HAS_CHOICES = 8,
  FBTWEAK_KNOWS_DEFAULT = 16, /* a variable whose initial value the library has noted */
  FBTWEAK_IS_ARRAY = 32,      /* a variable with several elements */
};

struct fbtweak {
  uint32_t size;
  uint8_t version, kind, type, flags;
  uint64_t cell, initial, minimum, maximum, step;
};

/* Binaries of all versions meet in one process, so a field never moves. */
#if defined(__cplusplus) && __cplusplus < 201103L
#  define FBTWEAK__STATIC_ASSERT(condition_, message_) struct fbtweak
#elif defined(__cplusplus)
#  define FBTWEAK__STATIC_ASSERT static_assert
#else
#  define FBTWEAK__STATIC_ASSERT _Static_assert
#endif
#define FBTWEAK__IS_AT(field_, offset_, size_)                                                     \
  FBTWEAK__STATIC_ASSERT(offsetof(struct fbtweak, field_) == (offset_) &&                          \
                             sizeof(((struct fbtweak *)0)->field_) == (size_),                     \
                         "fbtweak.h: the layout of a record has changed")
FBTWEAK__IS_AT(size, 0, 4);
FBTWEAK__IS_AT(version, 4, 1);
FBTWEAK__IS_AT(kind, 5, 1);
FBTWEAK__IS_AT(type, 6, 1);
FBTWEAK__IS_AT(flags, 7, 1);
FBTWEAK__IS_AT(cell, 8, 8);
FBTWEAK__IS_AT(initial, 16, 8);
FBTWEAK__IS_AT(minimum, 24, 8);
FBTWEAK__IS_AT(maximum, 32, 8);
FBTWEAK__IS_AT(step, 40, 8);
FBTWEAK__STATIC_ASSERT(sizeof(struct fbtweak) == 48, "fbtweak.h: the text begins at byte 48");
FBTWEAK__STATIC_ASSERT(sizeof(fbtweak_color) == 4, "fbtweak.h: a colour is stored as four bytes");
#undef FBTWEAK__IS_AT

/*
 * Part 3. The machinery
 *
 * The implementation of the macros. The macros of values and handles get the text of the default
 * and everything after it; see Booleans.
 */
#if FB_TWEAK_ENABLED
#  define FBTWEAK__VALUE(text_, category_, collection_, name_, ...)                                \
    (__extension__({                                                                               \
      FBTWEAK__TWEAK(FBTWEAK__LIKE(text_, FBTWEAK__FIRST(__VA_ARGS__, )), FBTWEAK__NONE,           \
                     category_, collection_, name_, __VA_ARGS__);                                  \
      FBTWEAK__READ;                                                                               \
    }))
#  define FBTWEAK__FEATURE(feature_, part_, ...)                                                   \
    (__extension__({                                                                               \
      FBTWEAK__TWEAK((bool)0, FBTWEAK__ASSERT_FLAG, "Features", feature_, part_, __VA_ARGS__);     \
      FBTWEAK__READ;                                                                               \
    }))
#  define FBTWEAK__INLINE(text_, category_, collection_, name_, ...)                               \
    (__extension__({                                                                               \
      FBTWEAK__TWEAK(FBTWEAK__LIKE(text_, FBTWEAK__FIRST(__VA_ARGS__, )), FBTWEAK__NONE,           \
                     category_, collection_, name_, __VA_ARGS__);                                  \
      fbtweak__handle(&FBTWEAK__RECORD);                                                           \
    }))
/* Clang 22 warns of __COUNTER__, which is new in C2y. */
#  ifdef __clang__
#    if __has_warning("-Wc2y-extensions")
#      define FBTWEAK__ALLOW_COUNTER                                                               \
        _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wc2y-extensions\"")
#      define FBTWEAK__END_COUNTER _Pragma("clang diagnostic pop")
#    endif
#  endif
#  ifndef FBTWEAK__ALLOW_COUNTER
#    define FBTWEAK__ALLOW_COUNTER
#    define FBTWEAK__END_COUNTER
#  endif
/* The assignment is never executed; it is there for its errors and warnings. */
#  define FBTWEAK__BIND(lvalue_, category_, collection_, name_, ...)                               \
    (__extension__({                                                                               \
      FBTWEAK__AUTO fbtweak__lvalue = &(lvalue_);                                                  \
      FBTWEAK__TWEAK(*fbtweak__lvalue, FBTWEAK__ASSERT_FITS, category_, collection_, name_,        \
                     __VA_ARGS__);                                                                 \
      fbtweak__type *fbtweak__address = (fbtweak__type *)(uintptr_t)fbtweak__lvalue;               \
      fbtweak__type fbtweak__value = FBTWEAK__READ;                                                \
      if (0)                                                                                       \
        *fbtweak__lvalue = fbtweak__value;                                                         \
      __atomic_store(fbtweak__address, &fbtweak__value, __ATOMIC_RELAXED);                         \
      (void)fbtweak_bind(fbtweak__handle(&FBTWEAK__RECORD), fbtweak__address);                     \
      (void *)fbtweak__address;                                                                    \
    }))
#  define FBTWEAK__MONITOR(category_, collection_, name_, ...)                                     \
    ((void)__extension__({                                                                         \
      FBTWEAK__AUTO fbtweak__stored = (FBTWEAK__FIRST(__VA_ARGS__, ));                             \
      FBTWEAK__ASSERT_NAMES(category_, collection_, name_);                                        \
      FBTWEAK__TYPES(fbtweak__stored);                                                             \
      FBTWEAK__ASSERT(                                                                             \
          0 < FBTWEAK__CODE && FBTWEAK__CODE <= FBTWEAK_TYPE_DOUBLE,                               \
          "FBTweakMonitor: the value must be a bool, an integer, a float or a double");            \
      FBTWEAK__PASTE(FBTWEAK__MONITOR_,                                                            \
                     FBTWEAK__IS_TUPLE(FBTWEAK__SECOND(__VA_ARGS__, FBTWEAK__END, )))              \
      ((category_, collection_, name_), __VA_ARGS__, FBTWEAK__END);                                \
      FBTWEAK__STORE(fbtweak__stored);                                                             \
    }))
/*
 * In a function, for a scope of its own. Compilers keep the record only if they keep the function,
 * which does nothing.
 */
#  define FBTWEAK__VARIABLE(object_, category_, collection_, ...)                                  \
    FBTWEAK__ALLOW_COUNTER                                                                         \
    static __attribute__((__used__)) void FBTWEAK__PASTE(fbtweak__variable_, __COUNTER__)(void) {  \
      FBTWEAK__END_COUNTER                                                                         \
      FBTWEAK__VARIABLES_NOTE;                                                                     \
      FBTWEAK__ASSERT_NAMES(category_, collection_, FBTWEAK__FIRST(__VA_ARGS__, ));                \
      FBTWEAK__OBJECT_TYPES(object_);                                                              \
      FBTWEAK__PASTE(FBTWEAK__VARIABLE_,                                                           \
                     FBTWEAK__IS_TUPLE(FBTWEAK__SECOND(__VA_ARGS__, FBTWEAK__END, )))              \
      (object_, (category_, collection_, FBTWEAK__FIRST(__VA_ARGS__, )), __VA_ARGS__,              \
       FBTWEAK__END);                                                                              \
    }
#  define FBTWEAK__UNBIND(lvalue_) fbtweak_unbind((void *)&(lvalue_))
#  define FBTWEAK__BINDING(address_) fbtweak_binding(address_)
#  define FBTWEAK__ACTION(category_, collection_, name_, ...)                                      \
    FBTWEAK__ACTION_OF(category_, collection_, name_, __VA_ARGS__, FBTWEAK__END)
/* A note like that of the image, see there. */
#  define FBTWEAK__APPLICATION(name_)                                                              \
    __asm__(FBTWEAK__SECTION(".note.fbtweak.application", "aR\",%note", "a\",%note",               \
                             ".balign 4\n"                                                         \
                             ".4byte 8, 2f - 1f, 3\n"                                              \
                             ".asciz \"FBTweak\"\n"                                                \
                             "1: .asciz " #name_ "\n"                                              \
                             "2: .balign 4\n"));                                                   \
    FBTWEAK__STATIC_ASSERT(sizeof("" name_) > 1, "FBTweakApplication: the name is empty")
#else
#  define FBTWEAK__APPLICATION(name_)                                                              \
    FBTWEAK__STATIC_ASSERT(sizeof("" name_) > 1, "FBTweakApplication: the name is empty")
#  define FBTWEAK__GATE(...) ((void)0)
/*
 * In a variable, because Clang warns of branches that a constant excludes. Once seen, the set
 * never changes.
 */
#  define FBTWEAK__TAKE(set_, copy_)                                                               \
    (__extension__({                                                                               \
      bool fbtweak__is_taken = (*(copy_) = set_, 1);                                               \
      fbtweak__is_taken;                                                                           \
    }))
#  define FBTWEAK__TAKE_NEW(set_, copy_, seen_)                                                    \
    (__extension__({                                                                               \
      bool fbtweak__is_taken = *(seen_) == 0;                                                      \
      if (fbtweak__is_taken)                                                                       \
        *(copy_) = set_, *(seen_) = 1;                                                             \
      fbtweak__is_taken;                                                                           \
    }))
#  define FBTWEAK__VALUE(text_, category_, collection_, name_, ...) (FBTWEAK__FIRST(__VA_ARGS__, ))
#  define FBTWEAK__FEATURE(feature_, part_, ...) (FBTWEAK__FIRST(__VA_ARGS__, ))
#  define FBTWEAK__INLINE(text_, category_, collection_, name_, ...) ((const fbtweak *)0)
#  define FBTWEAK__BIND(lvalue_, category_, collection_, name_, ...)                               \
    ((lvalue_) = (FBTWEAK__FIRST(__VA_ARGS__, )))
/* Never run: compiled for errors and warnings, and so that variables count as used. */
#  define FBTWEAK__MONITOR(category_, collection_, name_, ...)                                     \
    (0 ? (void)(FBTWEAK__FIRST(__VA_ARGS__, )) : (void)0)
#  define FBTWEAK__VARIABLE(object_, ...) FBTWEAK__STATIC_ASSERT(sizeof(object_) > 0, "");
#  define FBTWEAK__UNBIND(lvalue_) ((void)0)
#  define FBTWEAK__BINDING(assignment_) ((void)(assignment_), fbtweak_binding())
/* Names the function without generating code, so that a static one does not count as unused. */
#  ifdef __cplusplus
#    define FBTWEAK__ACTION(category_, collection_, name_, ...)                                    \
      FBTWEAK__STATIC_ASSERT(((void)(FBTWEAK__FIRST(__VA_ARGS__, )), true), "")
#  else
#    define FBTWEAK__ACTION(category_, collection_, name_, ...)                                    \
      _Static_assert(__builtin_constant_p(FBTWEAK__FIRST(__VA_ARGS__, )) || 1, "")
#  endif
#endif
#define FBTWEAK__FIRST(first_, ...) first_
#define FBTWEAK__THIRD(first_, second_, third_, ...) third_
#define FBTWEAK__SEVENTH(...) FBTWEAK__SEVENTH_(__VA_ARGS__)
#define FBTWEAK__SEVENTH_(_1, _2, _3, _4, _5, _6, seventh_, ...) seventh_
#define FBTWEAK__PASTE(a_, b_) FBTWEAK__PASTE_(a_, b_)
#define FBTWEAK__PASTE_(a_, b_) a_##b_

/*
 * Without a default, or the function of an action, the compiler would report every place where it
 * is used. IF_GIVEN selects one of two macros; the second only reports what is missing. The empty
 * parentheses become those of SIX if nothing comes before them and the first argument is not itself
 * in parentheses.
 */
#define FBTWEAK__IF_GIVEN(given_, missing_, ...)                                                   \
  FBTWEAK__PASTE(FBTWEAK__IF_GIVEN_, FBTWEAK__IS_EMPTY(FBTWEAK__FIRST(__VA_ARGS__, )))             \
  (given_, missing_)
#define FBTWEAK__IF_GIVEN_0(given_, missing_) given_
#define FBTWEAK__IF_GIVEN_1(given_, missing_) missing_
#define FBTWEAK__IS_EMPTY(x_)                                                                      \
  FBTWEAK__PASTE(FBTWEAK__IS_EMPTY_, FBTWEAK__SEVENTH(FBTWEAK__SIX x_, 0, 0, 0, 0, 0, 0, ))(x_)
#define FBTWEAK__IS_EMPTY_0(x_) FBTWEAK__SEVENTH(FBTWEAK__SIX x_(), 0, 0, 0, 0, 0, 0, )
#define FBTWEAK__IS_EMPTY_1(x_) 0
#define FBTWEAK__SIX(...) , , , , , , 1,

#define FBTWEAK__NO_VALUE(...) (FBTWEAK__ERROR("FBTweak: the default is missing") 0)
#define FBTWEAK__NO_VARIABLE(...)                                                                  \
  FBTWEAK__ERROR("FBTweakVariable: the name is missing") struct fbtweak;
#define FBTWEAK__NO_MONITOR(...) FBTWEAK__ERROR("FBTweakMonitor: the value is missing")((void)0)
#define FBTWEAK__NO_GATE(...) FBTWEAK__ERROR("FBTweakGate: the category is missing")((void)0)
#define FBTWEAK__NO_ACTION(...)                                                                    \
  FBTWEAK__ERROR("FBTweakAction: the function is missing") struct fbtweak
#define FBTWEAK__ERROR(message_) FBTWEAK__PRAGMA(GCC error message_)
#define FBTWEAK__PRAGMA(pragma_) _Pragma(#pragma_)

/*
 * The library's interface, as a table of functions. Later versions append to it, so nothing beyond
 * its size may be used. The size is 0 until the library has loaded.
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
  /* The tables of older libraries end here. */
  const fbtweak *(*make_monitor)(const fbtweak_declaration *declaration);
  fbtweak_token (*observe_loads)(fbtweak_load_callback did_load, void *context);
  void (*flush)(void);
  fbtweak_token (*run_in)(fbtweak_queue *queue, const fbtweak *action);
};

#if FB_TWEAK_ENABLED
/*
 * Each image has its own symbols, and exports none. GCC makes the records of inline functions
 * unique in the process if they are not hidden, so that a plug-in cannot be unloaded, and uses the
 * records of another. A hidden type hides its variables, except in a function that is exported
 * explicitly.
 */
#  define FBTWEAK__HIDDEN __attribute__((__visibility__("hidden")))

/*
 * What each unit defines and an image has once. A header unit can have only inline definitions.
 */
#  if defined(__clang__) && defined(__cplusplus)
#    define FBTWEAK__OF_IMAGE FBTWEAK__HIDDEN inline
#  else
#    define FBTWEAK__OF_IMAGE FBTWEAK__HIDDEN __attribute__((__weak__))
#  endif

/*
 * Each image has one. The library writes its address into those of the loaded images when it loads;
 * an image loaded later looks for the library. So no program has to export a symbol.
 */
extern const struct fbtweak__library *fbtweak__library_slot;
FBTWEAK__OF_IMAGE __attribute__((__used__)) const struct fbtweak__library *fbtweak__library_slot =
    0;

static inline const struct fbtweak__library *fbtweak__current_library(void) {
  return __atomic_load_n(&fbtweak__library_slot, __ATOMIC_ACQUIRE);
}
#else
/* Looks the library up at each call, because an image without tweaks has no slot. */
static inline const struct fbtweak__library *fbtweak__current_library(void);
#endif

static inline const fbtweak *fbtweak__handle(const void *record) {
  const struct fbtweak__library *library = fbtweak__current_library();
  return library ? library->handle(record) : (const fbtweak *)record;
}

/*
 * The functions. A value is read once, because others may write it at any time. A null string in a
 * cell stands for the given text: a pointer to the record's own text would need a relocation.
 */
static inline bool fbtweak__has_value(const fbtweak_value *value, uint8_t boolean) {
  uint64_t bits;
  switch (value->type) {
  case FBTWEAK_TYPE_BOOL:
    return boolean != 2;
  case FBTWEAK_TYPE_INT64:
    return value->integer != INT64_MIN;
  case FBTWEAK_TYPE_STRING:
    return __builtin_strcmp(value->text, "none") != 0;
  default: /* A comparison of NaN means nothing with -ffast-math. */
    __builtin_memcpy(&bits, &value->number, sizeof(bits));
    return bits << 1 <= UINT64_C(0xffe0000000000000);
  }
}
static inline bool fbtweak__value_of(const fbtweak *tweak, const uint64_t *slot, const char *text,
                                     fbtweak_value *value) {
#define FBTWEAK__CASE(code_, type_, member_)                                                       \
case code_: {                                                                                      \
  typedef type_ __attribute__((__may_alias__)) fbtweak__any;                                       \
  fbtweak__any loaded;                                                                             \
  __atomic_load((const fbtweak__any *)slot, &loaded, __ATOMIC_RELAXED);                            \
  member_ = loaded;                                                                                \
  break;                                                                                           \
}
  uint32_t color = 0;
  uint8_t boolean = 0;
  value->type = tweak->type;
  switch (tweak->type) {
    FBTWEAK__CASE(FBTWEAK_TYPE_BOOL, uint8_t, boolean)
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
  if (tweak->type == FBTWEAK_TYPE_BOOL)
    value->boolean = boolean != 0;
  if (tweak->type == FBTWEAK_TYPE_STRING && !value->text)
    value->text = text;
  return tweak->kind != FBTWEAK_KIND_OPTIONAL || fbtweak__has_value(value, boolean);
}

/* The texts of a record: category, collection, name, the default of a string, attributes. */
static inline const char *fbtweak__text(const fbtweak *tweak, unsigned index) {
  const char *text = (const char *)(tweak + 1);
  for (; index; index--)
    text += __builtin_strlen(text) + 1;
  return text;
}
static inline const char *fbtweak__next_attribute(const fbtweak *tweak, const char *attribute) {
  const char *end = (const char *)tweak + tweak->size;
  attribute = attribute ? attribute + __builtin_strlen(attribute) + 1 : fbtweak__text(tweak, 4);
  return attribute < end && *attribute ? attribute : 0;
}
/* The text after `key=`; an empty text for `key` alone; NULL for another attribute. */
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
#define FBTWEAK__TELL(call_)                                                                       \
  const struct fbtweak__library *library = fbtweak__current_library();                             \
  if (library)                                                                                     \
  library->call_

static inline const char *fbtweak_error(void) {
#ifdef FBTWEAK__IS_DISABLED
  return "FB_TWEAK_DISABLED disables tweaks in this unit";
#else
  FBTWEAK__ASK("the Tweaks library is not in this process", error());
#endif
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
#define FBTWEAK__SET(type_, member_, new_)                                                         \
  fbtweak_value value;                                                                             \
  value.type = type_;                                                                              \
  value.member_ = new_;                                                                            \
  return fbtweak_set(tweak, value)
static inline int fbtweak_set_bool(const fbtweak *tweak, bool flag) {
  FBTWEAK__SET(FBTWEAK_TYPE_BOOL, boolean, flag);
}
static inline int fbtweak_set_integer(const fbtweak *tweak, int64_t integer) {
  FBTWEAK__SET(FBTWEAK_TYPE_INT64, integer, integer);
}
static inline int fbtweak_set_number(const fbtweak *tweak, double number) {
  FBTWEAK__SET(FBTWEAK_TYPE_DOUBLE, number, number);
}
static inline int fbtweak_set_text(const fbtweak *tweak, const char *text) {
  FBTWEAK__ASK(FBTWEAK_ABSENT, set_text(tweak, text));
}
static inline int fbtweak_set_color(const fbtweak *tweak, fbtweak_color color) {
  FBTWEAK__SET(FBTWEAK_TYPE_COLOR, color, color);
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
  FBTWEAK__TELL(unbind(variable));
}
static inline fbtweak_token fbtweak_observe(const fbtweak *tweak, fbtweak_callback will_change,
                                            fbtweak_callback did_change, void *context) {
  FBTWEAK__ASK(0, observe(0, tweak, will_change, did_change, context));
}
static inline fbtweak_token fbtweak_observe_in(fbtweak_queue *queue, const fbtweak *tweak,
                                               fbtweak_callback did_change, void *context) {
  FBTWEAK__ASK(0, observe(queue, tweak, 0, did_change, context));
}
static inline fbtweak_token fbtweak_observe_loads(fbtweak_load_callback did_load, void *context) {
  const struct fbtweak__library *library = fbtweak__current_library();
  return library && library->size > offsetof(struct fbtweak__library, observe_loads)
             ? library->observe_loads(did_load, context)
             : 0;
}
static inline fbtweak_token fbtweak_run_in(fbtweak_queue *queue, const fbtweak *action) {
  const struct fbtweak__library *library = fbtweak__current_library();
  return library && library->size > offsetof(struct fbtweak__library, run_in)
             ? library->run_in(queue, action)
             : 0;
}
static inline void fbtweak_flush(void) {
  const struct fbtweak__library *library = fbtweak__current_library();
  if (library && library->size > offsetof(struct fbtweak__library, flush))
    library->flush();
}
static inline void fbtweak_unobserve(fbtweak_token token) {
  FBTWEAK__TELL(unobserve(token));
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
  FBTWEAK__TELL(queue_destroy(queue));
}
/*
 * A note for images that make tweaks at run time, which does not depend on FB_TWEAK_ENABLED, so
 * that tweak-dump --forbid knows them.
 */
static inline void fbtweak__note_use(void) {
#if defined(__ELF__) && !defined(FBTWEAK__IS_DISABLED)
  __asm__ volatile(".ifndef .Lfbtweak__use\n"
                   ".set .Lfbtweak__use, 0\n"
                   ".pushsection .note.fbtweak.use,\"a\",%note\n"
                   ".balign 4\n"
                   ".4byte 8, 0, 5\n"
                   ".asciz \"FBTweak\"\n"
                   ".popsection\n"
                   ".endif\n");
#endif
}

static inline const fbtweak *fbtweak_make(const fbtweak_declaration *declaration) {
  fbtweak__note_use();
  FBTWEAK__ASK(0, make(declaration));
}
static inline const fbtweak *fbtweak_make_action(const char *category, const char *collection,
                                                 const char *name, void (*function)(void *context),
                                                 void *context) {
  fbtweak__note_use();
  FBTWEAK__ASK(0, make_action(category, collection, name, function, context));
}
static inline const fbtweak *fbtweak_make_monitor(const fbtweak_declaration *declaration) {
  fbtweak__note_use();
  const struct fbtweak__library *library = fbtweak__current_library();
  return library && library->size > offsetof(struct fbtweak__library, make_monitor)
             ? library->make_monitor(declaration)
             : 0;
}
#define FBTWEAK__CASE(code_, type_)                                                                \
case code_: {                                                                                      \
  typedef type_ __attribute__((__may_alias__)) fbtweak__any;                                       \
  fbtweak__any stored = (fbtweak__any)value;                                                       \
  __atomic_store((fbtweak__any *)cell, &stored, __ATOMIC_RELAXED);                                 \
  break;                                                                                           \
}
#define FBTWEAK__STORER(name_, type_)                                                              \
  static inline void name_(const fbtweak *monitor, type_ value) {                                  \
    if (!monitor || monitor->kind != FBTWEAK_KIND_MONITOR)                                         \
      return;                                                                                      \
    void *cell = (void *)(uintptr_t)&monitor->cell;                                                \
    switch (monitor->type) {                                                                       \
    case FBTWEAK_TYPE_BOOL:                                                                        \
      __atomic_store_n((uint8_t *)cell, (bool)value, __ATOMIC_RELAXED);                            \
      break;                                                                                       \
      FBTWEAK__CASE(FBTWEAK_TYPE_INT8, int8_t)                                                     \
      FBTWEAK__CASE(FBTWEAK_TYPE_INT16, int16_t)                                                   \
      FBTWEAK__CASE(FBTWEAK_TYPE_INT32, int32_t)                                                   \
      FBTWEAK__CASE(FBTWEAK_TYPE_INT64, int64_t)                                                   \
      FBTWEAK__CASE(FBTWEAK_TYPE_UINT8, uint8_t)                                                   \
      FBTWEAK__CASE(FBTWEAK_TYPE_UINT16, uint16_t)                                                 \
      FBTWEAK__CASE(FBTWEAK_TYPE_UINT32, uint32_t)                                                 \
      FBTWEAK__CASE(FBTWEAK_TYPE_UINT64, uint64_t)                                                 \
      FBTWEAK__CASE(FBTWEAK_TYPE_FLOAT, float)                                                     \
      FBTWEAK__CASE(FBTWEAK_TYPE_DOUBLE, double)                                                   \
    }                                                                                              \
  }
FBTWEAK__STORER(fbtweak_store_bool, bool)
FBTWEAK__STORER(fbtweak_store_integer, int64_t)
FBTWEAK__STORER(fbtweak_store_number, double)
#undef FBTWEAK__CASE
#undef FBTWEAK__STORER
static inline int fbtweak_remove(const fbtweak *tweak) {
  FBTWEAK__ASK(FBTWEAK_ABSENT, remove(tweak));
}
#undef FBTWEAK__ASK
#undef FBTWEAK__TELL
#undef FBTWEAK__SET

/* A field of eight bytes, also aligned on 32-bit machines, where uint64_t is not. */
typedef uint64_t fbtweak__word __attribute__((__aligned__(8)));

/*
 * Gates. The record of a gate is a mailbox with one consumer, the loop, and one producer at a time:
 * the library, which has a lock for that, or a process that writes into this one's memory and holds
 * a file lock. A producer writes the stores while the state is 0, and then, with release, their
 * number. It may take them back by exchanging the number for 0. So a producer can be killed at any
 * instruction: all of its stores happen, or none.
 */
#define FBTWEAK__HAS_GATES (__GCC_ATOMIC_LLONG_LOCK_FREE == 2)
#if FBTWEAK__HAS_GATES
struct fbtweak__store {
  fbtweak__word fbtweak__cell; /* its address */
  fbtweak__word fbtweak__bits; /* the value, in the first bytes */
  uint32_t fbtweak__size, unused;
};
struct fbtweak__gate {
  uint32_t fbtweak__size;
  uint8_t fbtweak__version, fbtweak__kind, fbtweak__type, fbtweak__flags;
  fbtweak__word
      fbtweak__state; /* the number of stores that wait; with TAKEN if a thread does them */
  uint32_t capacity, fbtweak__stores; /* the distance from this record to the stores */
  fbtweak__word thread;               /* the last that found something waiting */
  uint32_t strangers;                 /* how often that was not the thread before */
  uint32_t unused;
  fbtweak__word unused_too;
};
#  define FBTWEAK__TAKEN ((uint64_t)1 << 63)

/* A number of each thread. A thread-local variable of a library could allocate. */
static inline uintptr_t fbtweak__thread(void) {
#  if defined(__x86_64__)
  uintptr_t thread;
  __asm__("mov {%%fs:0, %0|%0, fs:0}" : "=r"(thread));
  return thread;
#  elif defined(__i386__)
  uintptr_t thread;
  __asm__("mov {%%gs:0, %0|%0, gs:0}" : "=r"(thread));
  return thread;
#  elif defined(__powerpc64__)
  uintptr_t thread;
  __asm__("mr %0, 13" : "=r"(thread));
  return thread;
#  elif defined(__riscv)
  uintptr_t thread;
  __asm__("mv %0, tp" : "=r"(thread));
  return thread;
#  elif defined(__aarch64__) || defined(__arm__) || defined(__s390__)
  return (uintptr_t)__builtin_thread_pointer();
#  else
  return 1;
#  endif
}

/*
 * The pass of a gate for which something waits; inline only so that unused copies are dropped. The
 * stores release for the characters of a string, which other threads reach through the cell.
 */
#  pragma GCC diagnostic push
#  pragma GCC diagnostic ignored "-Wattributes"
static inline __attribute__((__cold__, __noinline__)) void
fbtweak__pass(struct fbtweak__gate *fbtweak__gate) {
#  pragma GCC diagnostic pop
  uint64_t waiting = __atomic_load_n(&fbtweak__gate->fbtweak__state, __ATOMIC_RELAXED);
  uint64_t thread = fbtweak__thread();
  uint64_t before = __atomic_exchange_n(&fbtweak__gate->thread, thread, __ATOMIC_RELAXED);
  if (before && before != thread)
    __atomic_fetch_add(&fbtweak__gate->strangers, 1, __ATOMIC_RELAXED);
  if (!waiting || (waiting & FBTWEAK__TAKEN) ||
      !__atomic_compare_exchange_n(&fbtweak__gate->fbtweak__state, &waiting,
                                   waiting | FBTWEAK__TAKEN, false, __ATOMIC_ACQUIRE,
                                   __ATOMIC_RELAXED))
    return;
  const struct fbtweak__store *store =
      (const struct fbtweak__store *)(const void *)((const char *)fbtweak__gate +
                                                    fbtweak__gate->fbtweak__stores);
  uint64_t left =
      (uint32_t)waiting < fbtweak__gate->capacity ? (uint32_t)waiting : fbtweak__gate->capacity;
  for (; left; left--, store++) {
    void *fbtweak__cell = (void *)(uintptr_t)store->fbtweak__cell;
    switch (store->fbtweak__size) {
#  define FBTWEAK__CASE(size_, type_)                                                              \
  case size_: {                                                                                    \
    typedef type_ __attribute__((__may_alias__)) fbtweak__any;                                     \
    __atomic_store_n((fbtweak__any *)fbtweak__cell,                                                \
                     *(const fbtweak__any *)(const void *)&store->fbtweak__bits,                   \
                     __ATOMIC_RELEASE);                                                            \
    break;                                                                                         \
  }
      FBTWEAK__CASE(1, uint8_t)
      FBTWEAK__CASE(2, uint16_t)
      FBTWEAK__CASE(4, uint32_t)
      FBTWEAK__CASE(8, uint64_t)
    default:
      break;
#  undef FBTWEAK__CASE
    }
  }
  __atomic_store_n(&fbtweak__gate->fbtweak__state, 0, __ATOMIC_RELEASE);
}
#endif

#ifdef __cplusplus
}
#endif

#ifdef __cplusplus
#  if FB_TWEAK_ENABLED
class [[__nodiscard__]] fbtweak_binding {
  void *address = nullptr;

public:
  FBTWEAK__HIDDEN fbtweak_binding() = default;
  FBTWEAK__HIDDEN explicit fbtweak_binding(void *address_) noexcept : address(address_) {}
  FBTWEAK__HIDDEN fbtweak_binding(fbtweak_binding &&other) noexcept : address(other.address) {
    other.address = nullptr;
  }
  FBTWEAK__HIDDEN fbtweak_binding &operator=(fbtweak_binding &&other) noexcept {
    if (this != &other) {
      reset();
      address = other.address;
      other.address = nullptr;
    }
    return *this;
  }
  FBTWEAK__HIDDEN ~fbtweak_binding() { reset(); }
  /* Unbinds now. */
  FBTWEAK__HIDDEN void reset() noexcept {
    if (address)
      fbtweak_unbind(address);
    address = nullptr;
  }
};
#  elif __cplusplus < 201103L
struct fbtweak_binding {
  void reset() {}
};
#  else
struct [[__nodiscard__, __maybe_unused__]] fbtweak_binding {
  fbtweak_binding() = default;
  fbtweak_binding(fbtweak_binding &&) = default;
  fbtweak_binding &operator=(fbtweak_binding &&) = default;
  void reset() noexcept {}
};
#  endif
#endif

#if FB_TWEAK_ENABLED

/*
 * Lists. A list ends with FBTWEAK__END. A tuple is two to six elements in parentheses; its IS_TUPLE
 * is 1, that of the end is 2, and that of anything else is 0. EACH expands to macro_(context_,
 * index, element) for each element. A macro cannot call itself, so there is a chain of macros, and
 * EACH starts in it by the number of elements, in eights and ones.
 */
#  define FBTWEAK__END (, , , , , , 2)
#  define FBTWEAK__IS_TUPLE(x_) FBTWEAK__SEVENTH(FBTWEAK__SPREAD x_, 1, 1, 1, 1, 1, 0, )
#  define FBTWEAK__SPREAD(...) __VA_ARGS__

#  define FBTWEAK__EACH(macro_, context_, ...)                                                     \
    FBTWEAK__EACH_(FBTWEAK__COUNT(__VA_ARGS__), macro_, context_, __VA_ARGS__)
#  define FBTWEAK__EACH_(count_, ...) FBTWEAK__EACH_COUNTED(FBTWEAK__SPREAD count_, __VA_ARGS__)
#  define FBTWEAK__EACH_COUNTED(...) FBTWEAK__EACH_COUNTED_(__VA_ARGS__)
#  define FBTWEAK__EACH_COUNTED_(eights_, ones_, ...)                                              \
    FBTWEAK__ONES_##ones_(FBTWEAK__EIGHTS_##eights_, __VA_ARGS__)
/* clang-format off */
#  define FBTWEAK__COUNT(...) FBTWEAK__COUNT_(__VA_ARGS__, \
    (7, 7), (7, 6), (7, 5), (7, 4), (7, 3), (7, 2), (7, 1), (7, 0), (6, 7), (6, 6), (6, 5), \
    (6, 4), (6, 3), (6, 2), (6, 1), (6, 0), (5, 7), (5, 6), (5, 5), (5, 4), (5, 3), (5, 2), \
    (5, 1), (5, 0), (4, 7), (4, 6), (4, 5), (4, 4), (4, 3), (4, 2), (4, 1), (4, 0), (3, 7), \
    (3, 6), (3, 5), (3, 4), (3, 3), (3, 2), (3, 1), (3, 0), (2, 7), (2, 6), (2, 5), (2, 4), \
    (2, 3), (2, 2), (2, 1), (2, 0), (1, 7), (1, 6), (1, 5), (1, 4), (1, 3), (1, 2), (1, 1), \
    (1, 0), (0, 7), (0, 6), (0, 5), (0, 4), (0, 3), (0, 2), (0, 1), (0, 0), )
#  define FBTWEAK__COUNT_( \
    _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, \
    _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32, \
    _33, _34, _35, _36, _37, _38, _39, _40, _41, _42, _43, _44, _45, _46, _47, _48, \
    _49, _50, _51, _52, _53, _54, _55, _56, _57, _58, _59, _60, _61, _62, _63, _64, \
    count_, ...) count_
#  define FBTWEAK__ONES_0(r_, m_, x_, ...) r_(m_, x_, __VA_ARGS__)
#  define FBTWEAK__ONES_1(r_, m_, x_, a_, ...) m_(x_, 1, a_) FBTWEAK__ONES_0(r_, m_, x_, __VA_ARGS__)
#  define FBTWEAK__ONES_2(r_, m_, x_, a_, ...) m_(x_, 2, a_) FBTWEAK__ONES_1(r_, m_, x_, __VA_ARGS__)
#  define FBTWEAK__ONES_3(r_, m_, x_, a_, ...) m_(x_, 3, a_) FBTWEAK__ONES_2(r_, m_, x_, __VA_ARGS__)
#  define FBTWEAK__ONES_4(r_, m_, x_, a_, ...) m_(x_, 4, a_) FBTWEAK__ONES_3(r_, m_, x_, __VA_ARGS__)
#  define FBTWEAK__ONES_5(r_, m_, x_, a_, ...) m_(x_, 5, a_) FBTWEAK__ONES_4(r_, m_, x_, __VA_ARGS__)
#  define FBTWEAK__ONES_6(r_, m_, x_, a_, ...) m_(x_, 6, a_) FBTWEAK__ONES_5(r_, m_, x_, __VA_ARGS__)
#  define FBTWEAK__ONES_7(r_, m_, x_, a_, ...) m_(x_, 7, a_) FBTWEAK__ONES_6(r_, m_, x_, __VA_ARGS__)
#  define FBTWEAK__EIGHTS_0(m_, x_, ...)
#  define FBTWEAK__EIGHTS_1(m_, x_, a_, b_, c_, d_, e_, f_, g_, h_, ...) \
    FBTWEAK__EIGHT(1, m_, x_, a_, b_, c_, d_, e_, f_, g_, h_) FBTWEAK__EIGHTS_0(m_, x_, __VA_ARGS__)
#  define FBTWEAK__EIGHTS_2(m_, x_, a_, b_, c_, d_, e_, f_, g_, h_, ...) \
    FBTWEAK__EIGHT(2, m_, x_, a_, b_, c_, d_, e_, f_, g_, h_) FBTWEAK__EIGHTS_1(m_, x_, __VA_ARGS__)
#  define FBTWEAK__EIGHTS_3(m_, x_, a_, b_, c_, d_, e_, f_, g_, h_, ...) \
    FBTWEAK__EIGHT(3, m_, x_, a_, b_, c_, d_, e_, f_, g_, h_) FBTWEAK__EIGHTS_2(m_, x_, __VA_ARGS__)
#  define FBTWEAK__EIGHTS_4(m_, x_, a_, b_, c_, d_, e_, f_, g_, h_, ...) \
    FBTWEAK__EIGHT(4, m_, x_, a_, b_, c_, d_, e_, f_, g_, h_) FBTWEAK__EIGHTS_3(m_, x_, __VA_ARGS__)
#  define FBTWEAK__EIGHTS_5(m_, x_, a_, b_, c_, d_, e_, f_, g_, h_, ...) \
    FBTWEAK__EIGHT(5, m_, x_, a_, b_, c_, d_, e_, f_, g_, h_) FBTWEAK__EIGHTS_4(m_, x_, __VA_ARGS__)
#  define FBTWEAK__EIGHTS_6(m_, x_, a_, b_, c_, d_, e_, f_, g_, h_, ...) \
    FBTWEAK__EIGHT(6, m_, x_, a_, b_, c_, d_, e_, f_, g_, h_) FBTWEAK__EIGHTS_5(m_, x_, __VA_ARGS__)
#  define FBTWEAK__EIGHTS_7(m_, x_, a_, b_, c_, d_, e_, f_, g_, h_, ...) \
    FBTWEAK__EIGHT(7, m_, x_, a_, b_, c_, d_, e_, f_, g_, h_) FBTWEAK__EIGHTS_6(m_, x_, __VA_ARGS__)
#  define FBTWEAK__EIGHT(n_, m_, x_, a_, b_, c_, d_, e_, f_, g_, h_) \
    m_(x_, n_##0, a_) m_(x_, n_##1, b_) m_(x_, n_##2, c_) m_(x_, n_##3, d_) \
    m_(x_, n_##4, e_) m_(x_, n_##5, f_) m_(x_, n_##6, g_) m_(x_, n_##7, h_)
/* clang-format on */

/*
 * Booleans. Where <stdbool.h> defines `true` as 1, only its text distinguishes it from 1.
 * FBTweakValue gets the text of a `true` written in its call. If it comes through or from another
 * macro it is expanded by then, so `true` and `false` are defined here with spellings that nobody
 * uses for 1 and 0. They remain integer constants of type int, as C requires. GCC's `true` and
 * `false` are bools in C23 even before they are keywords, and unsigned in preprocessor arithmetic.
 */
#  if defined(__cplusplus) || !defined(true)
#    define FBTWEAK__BOOLS_ARE_BOOLS 1
#  elif !defined(__clang__) && __STDC_VERSION__ > 201710L
#    define FBTWEAK__BOOLS_ARE_BOOLS (true - 2 > 0)
#  else
#    define FBTWEAK__BOOLS_ARE_BOOLS 0
#  endif
#  if FBTWEAK__BOOLS_ARE_BOOLS
#    define FBTWEAK__LIKE(text_, default_) default_
#  else
#    define FBTWEAK__TRUE 0X0000001
#    define FBTWEAK__FALSE 0X0000000
#    if FB_TWEAK_BOOL_CONSTANTS
#      undef true
#      undef false
#      define true FBTWEAK__TRUE
#      define false FBTWEAK__FALSE
#    endif
#    define FBTWEAK__LIKE(text_, default_)                                                         \
      __builtin_choose_expr(FBTWEAK__BEGINS(text_, "true") || FBTWEAK__BEGINS(text_, "false") ||   \
                                FBTWEAK__IS_TRUTH(FBTWEAK__UNWRAPPED(default_)),                   \
                            (_Bool)0, default_)
#    define FBTWEAK__BEGINS(text_, word_)                                                          \
      (__builtin_strncmp(text_ ",", word_ ",", sizeof(word_)) == 0)
/* Each of the three scans removes one pair of parentheses, and a SPREAD with it. */
#    define FBTWEAK__UNWRAPPED(x_)                                                                 \
      FBTWEAK__UNWRAPPED_(FBTWEAK__SPREAD FBTWEAK__SPREAD FBTWEAK__SPREAD x_)
#    define FBTWEAK__UNWRAPPED_(...) FBTWEAK__UNWRAPPED__(__VA_ARGS__)
#    define FBTWEAK__UNWRAPPED__(...) FBTWEAK__STRINGIZE((__VA_ARGS__))
#    define FBTWEAK__IS_TRUTH(text_)                                                               \
      (FBTWEAK__IS_TRUTH_(text_, "(") || FBTWEAK__IS_TRUTH_(text_, "(FBTWEAK__SPREAD ") ||         \
       FBTWEAK__IS_TRUTH_(text_, "(FBTWEAK__SPREAD FBTWEAK__SPREAD ") ||                           \
       FBTWEAK__IS_TRUTH_(text_, "(FBTWEAK__SPREAD FBTWEAK__SPREAD FBTWEAK__SPREAD "))
#    define FBTWEAK__IS_TRUTH_(text_, before_)                                                     \
      (__builtin_strcmp(text_, before_ FBTWEAK__STRINGIZE(FBTWEAK__TRUE) ")") == 0 ||              \
       __builtin_strcmp(text_, before_ FBTWEAK__STRINGIZE(FBTWEAK__FALSE) ")") == 0)
#  endif

#  define FBTWEAK__STRINGIZE(x_) FBTWEAK__STRINGIZE_(x_)
#  define FBTWEAK__STRINGIZE_(x_) #  x_
#  define FBTWEAK__NONE(...)

/*
 * A call: the tweak has the type of like_. IS_TUPLE of the argument after the default selects how
 * the call continues: 0 with a minimum, 1 with an option, 2 not at all. The path without options is
 * short, because most tweaks have none and compiling takes time.
 */
#  define FBTWEAK__TWEAK(like_, check_, category_, collection_, name_, ...)                        \
    FBTWEAK__ASSERT_NAMES(category_, collection_, name_);                                          \
    FBTWEAK__TYPES(like_);                                                                         \
    FBTWEAK__ASSERT(FBTWEAK__CODE != 0,                                                            \
                    "FBTweak: the default must be a bool, an integer, a float, "                   \
                    "a double, a string literal or a colour");                                     \
    check_(FBTWEAK__FIRST(__VA_ARGS__, ));                                                         \
    FBTWEAK__PASTE(FBTWEAK__DEFAULT_,                                                              \
                   FBTWEAK__IS_TUPLE(FBTWEAK__SECOND(__VA_ARGS__, FBTWEAK__END, )))                \
    ((category_, collection_, name_), __VA_ARGS__, FBTWEAK__END)
#  define FBTWEAK__SECOND(first_, second_, ...) second_
#  define FBTWEAK__DEFAULT_2(names_, default_, ...)                                                \
    FBTWEAK__ASSERT_CONSTANT(default_);                                                            \
    FBTWEAK__OPTIONS(names_, 0, default_, 0, 0, __VA_ARGS__)
#  define FBTWEAK__DEFAULT_1 FBTWEAK__DEFAULT_2
#  define FBTWEAK__DEFAULT_0(names_, default_, minimum_, ...)                                      \
    FBTWEAK__PASTE(FBTWEAK__MINIMUM_, FBTWEAK__IS_TUPLE(FBTWEAK__FIRST(__VA_ARGS__, )))            \
    (names_, default_, minimum_, __VA_ARGS__)
#  define FBTWEAK__MINIMUM_2(names_, default_, minimum_, ...)                                      \
    FBTWEAK__NO_MAXIMUM(minimum_);                                                                 \
    FBTWEAK__DEFAULT_2(names_, default_, FBTWEAK__END)
#  define FBTWEAK__MINIMUM_1 FBTWEAK__MINIMUM_2
#  define FBTWEAK__MINIMUM_0(names_, default_, minimum_, maximum_, ...)                            \
    FBTWEAK__ASSERT_LIMITS(default_, minimum_, maximum_);                                          \
    FBTWEAK__ASSERT(FBTWEAK__AS_NUMBER(minimum_) <= FBTWEAK__AS_NUMBER(default_) &&                \
                        FBTWEAK__AS_NUMBER(default_) <= FBTWEAK__AS_NUMBER(maximum_),              \
                    "FBTweak: the default is not between minimum and maximum");                    \
    FBTWEAK__OPTIONS(names_, FBTWEAK_HAS_MINIMUM | FBTWEAK_HAS_MAXIMUM, default_, minimum_,        \
                     maximum_, __VA_ARGS__)
#  define FBTWEAK__NO_MAXIMUM(minimum_)                                                            \
    FBTWEAK__ASSERT(0, "FBTweak: minimum and maximum come together, "                              \
                       "and " #minimum_ " is no option")
#  define FBTWEAK__ASSERT_LIMITS(default_, minimum_, maximum_)                                     \
    FBTWEAK__ASSERT(FBTWEAK__IS_NUMBER, "FBTweak: only a number has a minimum and a maximum");     \
    FBTWEAK__ASSERT_CONSTANTS(default_, minimum_, maximum_);                                       \
    FBTWEAK__ASSERT(FBTWEAK__IS_REAL ||                                                            \
                        (FBTWEAK__IS_EXACT(minimum_) && FBTWEAK__IS_EXACT(maximum_)),              \
                    "FBTweak: minimum and maximum of an integer are integers of its type")

/* A monitor's call continues like a tweak's, with limits that are only for displays. */
#  define FBTWEAK__MONITOR_2(names_, value_, ...)                                                  \
    FBTWEAK__MONITOR_OPTIONS(names_, 0, 0, 0, __VA_ARGS__)
#  define FBTWEAK__MONITOR_1 FBTWEAK__MONITOR_2
#  define FBTWEAK__MONITOR_0(names_, value_, minimum_, ...)                                        \
    FBTWEAK__PASTE(FBTWEAK__MONITOR_MINIMUM_, FBTWEAK__IS_TUPLE(FBTWEAK__FIRST(__VA_ARGS__, )))    \
    (names_, minimum_, __VA_ARGS__)
#  define FBTWEAK__MONITOR_MINIMUM_2(names_, minimum_, ...)                                        \
    FBTWEAK__NO_MAXIMUM(minimum_);                                                                 \
    FBTWEAK__MONITOR_OPTIONS(names_, 0, 0, 0, FBTWEAK__END)
#  define FBTWEAK__MONITOR_MINIMUM_1 FBTWEAK__MONITOR_MINIMUM_2
#  define FBTWEAK__MONITOR_MINIMUM_0(names_, minimum_, maximum_, ...)                              \
    FBTWEAK__ASSERT_LIMITS(0, minimum_, maximum_);                                                 \
    FBTWEAK__ASSERT(FBTWEAK__AS_NUMBER(minimum_) <= FBTWEAK__AS_NUMBER(maximum_),                  \
                    "FBTweakMonitor: the minimum is above the maximum");                           \
    FBTWEAK__MONITOR_OPTIONS(names_, FBTWEAK_HAS_MINIMUM | FBTWEAK_HAS_MAXIMUM, minimum_,          \
                             maximum_, __VA_ARGS__)
#  define FBTWEAK__MONITOR_OPTIONS(names_, limits_, minimum_, maximum_, ...)                       \
    FBTWEAK__MONITOR_WITH(names_, limits_, minimum_, maximum_,                                     \
                          FBTWEAK__EACH(FBTWEAK__OPTION, , __VA_ARGS__) FBTWEAK__END)
#  define FBTWEAK__MONITOR_WITH(names_, limits_, minimum_, maximum_, ...)                          \
    FBTWEAK__ASSERT(((0 FBTWEAK__EACH(FBTWEAK__OF, FBTWEAK__OR_BIT, __VA_ARGS__)) |                \
                     FBTWEAK__OPTIONS_OF_MONITOR) == FBTWEAK__OPTIONS_OF_MONITOR,                  \
                    "FBTweakMonitor: a monitor has only a description, an owner, a unit, a "       \
                    "precision and choices");                                                      \
    FBTWEAK__ASSERT((0 FBTWEAK__EACH(FBTWEAK__OF, FBTWEAK__OR_BIT, __VA_ARGS__)) ==                \
                        (0 FBTWEAK__EACH(FBTWEAK__OF, FBTWEAK__PLUS_BIT, __VA_ARGS__)),            \
                    "FBTweak: an option is given twice");                                          \
    FBTWEAK__EACH(FBTWEAK__OF, FBTWEAK__CHECK, __VA_ARGS__)                                        \
    FBTWEAK__MONITOR_STATES(                                                                       \
        names_, (limits_ FBTWEAK__EACH(FBTWEAK__OF, FBTWEAK__OR_BIT, __VA_ARGS__)), minimum_,      \
        maximum_, FBTWEAK__LOCATION FBTWEAK__EACH(FBTWEAK__OF, FBTWEAK__ATTRIBUTE, __VA_ARGS__),   \
        FBTWEAK__EACH(FBTWEAK__OF, FBTWEAK__CHOICES, __VA_ARGS__) FBTWEAK__END)
/* States given as names only have no numbers in the record. */
#  define FBTWEAK__MONITOR_STATES(names_, mask_, minimum_, maximum_, attributes_, ...)             \
    FBTWEAK__ASSERT(!(mask_ & FBTWEAK_HAS_MINIMUM) || !(mask_ & FBTWEAK_HAS_CHOICES),              \
                    "FBTweakChoices: choices come instead of minimum and maximum");                \
    FBTWEAK__ASSERT(                                                                               \
        (1 FBTWEAK__EACH(FBTWEAK__AND_IS_TEXT, , __VA_ARGS__)) ||                                  \
            (1 FBTWEAK__EACH(FBTWEAK__AND_FITS, , __VA_ARGS__)),                                   \
        "FBTweakChoices: the states of a monitor are all names, or all numbers of its "            \
        "type");                                                                                   \
    FBTWEAK__EACH(FBTWEAK__CHECK_STATE, , __VA_ARGS__)                                             \
    FBTWEAK__DECLARE(                                                                              \
        FBTWEAK__IS_TUPLE(FBTWEAK__FIRST(__VA_ARGS__, )), names_,                                  \
        ((mask_ | FBTWEAK__IS_MONITOR) ^                                                           \
         ((0 FBTWEAK__EACH(FBTWEAK__OR_IS_TEXT, , __VA_ARGS__)) ? FBTWEAK_HAS_CHOICES : 0)),       \
        (fbtweak__type)0, minimum_, maximum_, 0, attributes_, __VA_ARGS__)
#  define FBTWEAK__OR_IS_TEXT(context_, index_, choice_)                                           \
    || FBTWEAK__IS_TEXT(FBTWEAK__VALUE_OF(choice_))
#  define FBTWEAK__AND_IS_TEXT(context_, index_, choice_)                                          \
    &&FBTWEAK__IS_TEXT(FBTWEAK__VALUE_OF(choice_))
#  define FBTWEAK__AND_FITS(context_, index_, choice_)                                             \
    &&!FBTWEAK__IS_TEXT(FBTWEAK__VALUE_OF(choice_)) && FBTWEAK__FITS(FBTWEAK__VALUE_OF(choice_))
#  define FBTWEAK__CHECK_STATE(context_, index_, choice_)                                          \
    FBTWEAK__ASSERT(FBTWEAK__CHOICE_HAS_NO_NUL(FBTWEAK__VALUE_OF(choice_)),                        \
                    "FBTweakChoices: a choice cannot contain a NUL");                              \
    FBTWEAK__IF_LABELLED(choice_, FBTWEAK__CHECK_LABEL)

/*
 * Options. Each has a bit, after those of the record's flags, to detect duplicates and options that
 * are not allowed. A new option takes the next bit, in any order.
 */
enum {
  FBTWEAK__PRECISION = 1 << 4,
  FBTWEAK__UNIT = 1 << 5,
  FBTWEAK__READ_ONLY = 1 << 6,
  FBTWEAK__NEEDS_RESTART = 1 << 7,
  FBTWEAK__SCALE = 1 << 8,
  FBTWEAK__LOG = 1 << 9, /* together with the scale's bit */
  FBTWEAK__PAIR = 1 << 10,
  FBTWEAK__DESCRIPTION = 1 << 11,
  FBTWEAK__OWNER = 1 << 12,
  FBTWEAK__EXPIRES = 1 << 13,
  FBTWEAK__IS_MONITOR = 1 << 14,

  FBTWEAK__OPTIONS_OF_ACTION = FBTWEAK__DESCRIPTION | FBTWEAK__OWNER | FBTWEAK__EXPIRES,
  FBTWEAK__OPTIONS_OF_MONITOR = FBTWEAK_HAS_CHOICES | FBTWEAK__PRECISION | FBTWEAK__UNIT |
                                FBTWEAK__DESCRIPTION | FBTWEAK__OWNER,
};

/* Turns anything that is not an option into one whose check fails, for a clear message. */
#  define FBTWEAK__OPTION(context_, index_, x_)                                                    \
    FBTWEAK__PASTE(FBTWEAK__OPTION_, FBTWEAK__IS_TUPLE(x_))(x_),
#  define FBTWEAK__OPTION_1(option_) option_
#  define FBTWEAK__OPTION_0(x_) (0, , "", FBTWEAK__NO_OPTION, (#  x_), ())
#  define FBTWEAK__NO_OPTION(text_)                                                                \
    FBTWEAK__ASSERT(                                                                               \
        0, "FBTweak: only options may follow minimum and maximum, or an option, and " text_        \
           " is none of FBTweakChoices, FBTweakDescription, FBTweakExpires, "                      \
           "FBTweakNeedsRestart, FBTweakOwner, FBTweakPair, FBTweakPrecision, "                    \
           "FBTweakReadOnly, FBTweakScale, FBTweakStep, FBTweakUnit");

#  define FBTWEAK__OF(part_, index_, option_) part_ option_
#  define FBTWEAK__OR_BIT(bit_, step_, attribute_, check_, arguments_, choices_) | bit_
#  define FBTWEAK__PLUS_BIT(bit_, step_, attribute_, check_, arguments_, choices_) +bit_
#  define FBTWEAK__PLUS_STEP(bit_, step_, attribute_, check_, arguments_, choices_) step_
#  define FBTWEAK__ATTRIBUTE(bit_, step_, attribute_, check_, arguments_, choices_) attribute_
#  define FBTWEAK__CHECK(bit_, step_, attribute_, check_, arguments_, choices_) check_ arguments_
#  define FBTWEAK__CHOICES(bit_, step_, attribute_, check_, arguments_, choices_)                  \
    FBTWEAK__SPREAD choices_

#  define FBTWEAK__OPTIONS(names_, limits_, default_, minimum_, maximum_, ...)                     \
    FBTWEAK__PASTE(FBTWEAK__OPTIONS_, FBTWEAK__IS_TUPLE(FBTWEAK__FIRST(__VA_ARGS__, )))            \
    (names_, limits_, default_, minimum_, maximum_, __VA_ARGS__)
#  define FBTWEAK__OPTIONS_2(names_, limits_, default_, minimum_, maximum_, end_)                  \
    FBTWEAK__DECLARE(2, names_, limits_, default_, minimum_, maximum_, 0, FBTWEAK__LOCATION, end_)
#  define FBTWEAK__OPTIONS_1 FBTWEAK__OPTIONS_0
#  define FBTWEAK__OPTIONS_0(names_, limits_, default_, minimum_, maximum_, ...)                   \
    FBTWEAK__WITH_OPTIONS(names_, limits_, default_, minimum_, maximum_,                           \
                          FBTWEAK__EACH(FBTWEAK__OPTION, , __VA_ARGS__) FBTWEAK__END)
#  define FBTWEAK__WITH_OPTIONS(names_, limits_, default_, minimum_, maximum_, ...)                \
    FBTWEAK__EACH(FBTWEAK__OF, FBTWEAK__CHECK, __VA_ARGS__)                                        \
    FBTWEAK__WITH_CHOICES(                                                                         \
        names_, (limits_ FBTWEAK__EACH(FBTWEAK__OF, FBTWEAK__OR_BIT, __VA_ARGS__)),                \
        ((limits_)FBTWEAK__EACH(FBTWEAK__OF, FBTWEAK__PLUS_BIT, __VA_ARGS__)), default_, minimum_, \
        maximum_, 0 FBTWEAK__EACH(FBTWEAK__OF, FBTWEAK__PLUS_STEP, __VA_ARGS__),                   \
        FBTWEAK__LOCATION FBTWEAK__EACH(FBTWEAK__OF, FBTWEAK__ATTRIBUTE, __VA_ARGS__),             \
        FBTWEAK__EACH(FBTWEAK__OF, FBTWEAK__CHOICES, __VA_ARGS__) FBTWEAK__END)
#  define FBTWEAK__WITH_CHOICES(names_, mask_, sum_, default_, minimum_, maximum_, step_,          \
                                attributes_, ...)                                                  \
    FBTWEAK__ASSERT_OPTIONS(mask_, sum_, minimum_, __VA_ARGS__)                                    \
    FBTWEAK__ASSERT(!(mask_ & FBTWEAK_HAS_CHOICES)                                                 \
                        FBTWEAK__EACH(FBTWEAK__OR_IS, default_, __VA_ARGS__),                      \
                    "FBTweakChoices: the default is not among the choices");                       \
    FBTWEAK__DECLARE(FBTWEAK__IS_TUPLE(FBTWEAK__FIRST(__VA_ARGS__, )), names_, mask_, default_,    \
                     minimum_, maximum_, step_, attributes_, __VA_ARGS__)

#  define FBTWEAK__ASSERT_OPTIONS(mask_, sum_, minimum_, ...)                                      \
    FBTWEAK__ASSERT(mask_ == sum_, "FBTweak: an option is given twice");                           \
    FBTWEAK__ASSERT(!(mask_ & FBTWEAK_HAS_MINIMUM) || !(mask_ & FBTWEAK_HAS_CHOICES),              \
                    "FBTweakChoices: choices come instead of minimum and maximum");                \
    FBTWEAK__ASSERT(!(mask_ & FBTWEAK__LOG) ||                                                     \
                        ((mask_ & FBTWEAK_HAS_MINIMUM) && FBTWEAK__AS_NUMBER(minimum_) > 0),       \
                    "FBTweakScale: a logarithmic scale needs a minimum above 0");                  \
    FBTWEAK__EACH(FBTWEAK__CHECK_CHOICE, , __VA_ARGS__)

/* A variable's call continues like a tweak's, without a default. */
#  define FBTWEAK__VARIABLE_2(object_, names_, name_, ...)                                         \
    FBTWEAK__VARIABLE_OPTIONS(object_, names_, 0, 0, 0, __VA_ARGS__)
#  define FBTWEAK__VARIABLE_1 FBTWEAK__VARIABLE_2
#  define FBTWEAK__VARIABLE_0(object_, names_, name_, minimum_, ...)                               \
    FBTWEAK__PASTE(FBTWEAK__VARIABLE_MINIMUM_, FBTWEAK__IS_TUPLE(FBTWEAK__FIRST(__VA_ARGS__, )))   \
    (object_, names_, minimum_, __VA_ARGS__)
#  define FBTWEAK__VARIABLE_MINIMUM_2(object_, names_, minimum_, ...)                              \
    FBTWEAK__NO_MAXIMUM(minimum_);                                                                 \
    FBTWEAK__VARIABLE_OPTIONS(object_, names_, 0, 0, 0, FBTWEAK__END)
#  define FBTWEAK__VARIABLE_MINIMUM_1 FBTWEAK__VARIABLE_MINIMUM_2
#  define FBTWEAK__VARIABLE_MINIMUM_0(object_, names_, minimum_, maximum_, ...)                    \
    FBTWEAK__ASSERT_LIMITS(0, minimum_, maximum_);                                                 \
    FBTWEAK__ASSERT(FBTWEAK__AS_NUMBER(minimum_) <= FBTWEAK__AS_NUMBER(maximum_),                  \
                    "FBTweakVariable: the minimum is above the maximum");                          \
    FBTWEAK__VARIABLE_OPTIONS(object_, names_, FBTWEAK_HAS_MINIMUM | FBTWEAK_HAS_MAXIMUM,          \
                              minimum_, maximum_, __VA_ARGS__)
#  define FBTWEAK__VARIABLE_OPTIONS(object_, names_, limits_, minimum_, maximum_, ...)             \
    FBTWEAK__VARIABLE_WITH(object_, names_, limits_, minimum_, maximum_,                           \
                           FBTWEAK__EACH(FBTWEAK__OPTION, , __VA_ARGS__) FBTWEAK__END)
#  define FBTWEAK__VARIABLE_WITH(object_, names_, limits_, minimum_, maximum_, ...)                \
    FBTWEAK__EACH(FBTWEAK__OF, FBTWEAK__CHECK, __VA_ARGS__)                                        \
    FBTWEAK__VARIABLE_CHOICES(                                                                     \
        object_, names_, (limits_ FBTWEAK__EACH(FBTWEAK__OF, FBTWEAK__OR_BIT, __VA_ARGS__)),       \
        ((limits_)FBTWEAK__EACH(FBTWEAK__OF, FBTWEAK__PLUS_BIT, __VA_ARGS__)), minimum_, maximum_, \
        0 FBTWEAK__EACH(FBTWEAK__OF, FBTWEAK__PLUS_STEP, __VA_ARGS__),                             \
        FBTWEAK__LOCATION FBTWEAK__EACH(FBTWEAK__OF, FBTWEAK__ATTRIBUTE, __VA_ARGS__),             \
        FBTWEAK__EACH(FBTWEAK__OF, FBTWEAK__CHOICES, __VA_ARGS__) FBTWEAK__END)
#  define FBTWEAK__VARIABLE_CHOICES(object_, names_, mask_, sum_, minimum_, maximum_, step_,       \
                                    attributes_, ...)                                              \
    FBTWEAK__ASSERT_OPTIONS(mask_, sum_, minimum_, __VA_ARGS__)                                    \
    FBTWEAK__VARIABLE_RECORD(object_, names_, mask_, minimum_, maximum_, step_, attributes_,       \
                             __VA_ARGS__)
#  define FBTWEAK__MOST_ELEMENTS 256
#  define FBTWEAK__OBJECT_MESSAGE                                                                  \
    "FBTweakVariable: the object must be a bool, an integer, a float, a double, a colour, or an "  \
    "array of these, and no text or array of char"
#  define FBTWEAK__ASSERT_OBJECT(is_const_, count_)                                                \
    FBTWEAK__ASSERT(!(is_const_), "FBTweakVariable: the object is const; remove const");           \
    FBTWEAK__ASSERT((count_) <= FBTWEAK__MOST_ELEMENTS,                                            \
                    "FBTweakVariable: an array has at most 256 elements")

#  if FB_TWEAK_LOCATIONS
#    define FBTWEAK__LOCATION "at=" __FILE__ ":" FBTWEAK__STRINGIZE(__LINE__) "\0"
#  else
#    define FBTWEAK__LOCATION ""
#  endif

/* A choice is a value, or a tuple of a value and its label. */
#  define FBTWEAK__VALUE_OF(choice_)                                                               \
    FBTWEAK__PASTE(FBTWEAK__VALUE_OF_, FBTWEAK__IS_TUPLE(choice_))(choice_)
#  define FBTWEAK__VALUE_OF_0(value_) value_
#  define FBTWEAK__VALUE_OF_1(choice_) FBTWEAK__FIRST choice_
#  define FBTWEAK__IF_LABELLED(choice_, macro_)                                                    \
    FBTWEAK__PASTE(FBTWEAK__IF_LABELLED_, FBTWEAK__IS_TUPLE(choice_))(choice_, macro_)
#  define FBTWEAK__IF_LABELLED_0(choice_, macro_)
#  define FBTWEAK__IF_LABELLED_1(choice_, macro_) macro_ choice_

/*
 * Checks. A literal that contains a NUL is refused, because a reader would take the NUL for its
 * end. Only literals can be concatenated, so anything else is refused, too.
 */
#  define FBTWEAK__HAS_NO_NUL(text_) (sizeof(text_) == __builtin_strlen(text_) + 1)
#  define FBTWEAK__ASSERT_NO_NUL(text_, what_)                                                     \
    FBTWEAK__ASSERT(FBTWEAK__HAS_NO_NUL("" text_), what_ " cannot contain a NUL")
/* Names are always used alone, so that this message appears for everything but a literal. */
#  define FBTWEAK__ASSERT_NAMES(category_, collection_, name_)                                     \
    FBTWEAK__ASSERT(FBTWEAK__IS_NAME(category_) && sizeof(category_) > 1 &&                        \
                        FBTWEAK__IS_NAME(collection_) && FBTWEAK__IS_NAME(name_) &&                \
                        sizeof(name_) > 1,                                                         \
                    "FBTweak: a category, collection or name is a string literal without a NUL; "  \
                    "only a collection may be empty")
#  define FBTWEAK__IS_NAME(x_)                                                                     \
    (FBTWEAK__IS_LITERAL(x_) && FBTWEAK__HAS_NO_NUL(FBTWEAK__LITERAL(x_)))
#  define FBTWEAK__NAMES(category_, collection_, name_)                                            \
    {category_}, {collection_}, {                                                                  \
      name_                                                                                        \
    }

/* With a cast, because compilers warn about comparing constants of two enumerations. */
#  define FBTWEAK__CODE ((int)fbtweak__code)
#  define FBTWEAK__IS_NUMBER                                                                       \
    (FBTWEAK__CODE >= FBTWEAK_TYPE_INT8 && FBTWEAK__CODE <= FBTWEAK_TYPE_DOUBLE)
#  define FBTWEAK__IS_REAL                                                                         \
    (FBTWEAK__CODE == FBTWEAK_TYPE_FLOAT || FBTWEAK__CODE == FBTWEAK_TYPE_DOUBLE)
#  define FBTWEAK__IS_STRING (FBTWEAK__CODE == FBTWEAK_TYPE_STRING)
/* As a number of the tweak's type. Text and colours are 0, so that one check suits all types. */
#  define FBTWEAK__AS_NUMBER(x_) ((fbtweak__number)FBTWEAK__NUMBER(x_))
/* Clang warns about == between floating-point numbers. */
#  define FBTWEAK__ARE_EQUAL(x_, y_) (!((x_) < (y_)) && !((y_) < (x_)))
/* Compared with 1, because compilers warn that nothing unsigned is below 0. */
#  define FBTWEAK__FITS(x_)                                                                        \
    (FBTWEAK__IS_REAL ||                                                                           \
     (FBTWEAK__ARE_EQUAL((__typeof__(FBTWEAK__NUMBER(x_)))(FBTWEAK__EXACT)FBTWEAK__NUMBER(x_),     \
                         FBTWEAK__NUMBER(x_)) &&                                                   \
      (FBTWEAK__AS_NUMBER(x_) < 1) == (FBTWEAK__NUMBER(x_) < 1)))
/* For limits and steps: compared as doubles, because that compiles in less time. */
#  define FBTWEAK__IS_EXACT(x_)                                                                    \
    (__builtin_fabs((double)FBTWEAK__AS_NUMBER(x_) - (double)FBTWEAK__NUMBER(x_)) <= 0)

#  define FBTWEAK__CHECK_CHOICE(context_, index_, choice_)                                         \
    FBTWEAK__CHECK_CHOICE_(FBTWEAK__VALUE_OF(choice_))                                             \
    FBTWEAK__IF_LABELLED(choice_, FBTWEAK__CHECK_LABEL)
#  define FBTWEAK__CHECK_CHOICE_(value_)                                                           \
    FBTWEAK__ASSERT(FBTWEAK__HAS_KIND(value_),                                                     \
                    "FBTweakChoices: a choice is of another kind than the default");               \
    FBTWEAK__ASSERT_CONSTANT(value_);                                                              \
    FBTWEAK__ASSERT(FBTWEAK__FITS(value_),                                                         \
                    "FBTweakChoices: a choice does not fit the type of the default");              \
    FBTWEAK__ASSERT(FBTWEAK__CHOICE_HAS_NO_NUL(value_),                                            \
                    "FBTweakChoices: a choice cannot contain a NUL");
#  define FBTWEAK__CHECK_LABEL(value_, label_)                                                     \
    FBTWEAK__ASSERT_NO_NUL(label_, "FBTweakChoices: a label");
#  define FBTWEAK__OR_IS(default_, index_, choice_)                                                \
    FBTWEAK__OR_IS_(FBTWEAK__VALUE_OF(choice_), default_)
#  define FBTWEAK__OR_IS_(value_, default_) || FBTWEAK__IS(value_, default_)

#  define FBTWEAK__CHECK_CHOICES()                                                                 \
    FBTWEAK__ASSERT(FBTWEAK__IS_NUMBER || FBTWEAK__IS_STRING,                                      \
                    "FBTweakChoices: only numbers and strings have choices");
#  define FBTWEAK__CHECK_STEP(step_)                                                               \
    FBTWEAK__ASSERT(FBTWEAK__IS_NUMBER, "FBTweakStep: only a number has a step");                  \
    FBTWEAK__ASSERT_CONSTANT(step_);                                                               \
    FBTWEAK__ASSERT(FBTWEAK__IS_REAL || FBTWEAK__IS_EXACT(step_),                                  \
                    "FBTweakStep: the step of an integer is an integer of its type");              \
    FBTWEAK__ASSERT(FBTWEAK__AS_NUMBER(step_) > 0, "FBTweakStep: a step is more than 0");
#  define FBTWEAK__CHECK_PRECISION(digits_, text_)                                                 \
    FBTWEAK__ASSERT(FBTWEAK__IS_REAL, "FBTweakPrecision: only a float or double has one");         \
    FBTWEAK__ASSERT((digits_) >= 0 && (digits_) <= 17 && sizeof(text_) == 2 + ((digits_) > 9) &&   \
                        FBTWEAK__IN(text_, 0, "0", "9"),                                           \
                    "FBTweakPrecision: it is a literal from 0 to 17");
#  define FBTWEAK__CHECK_SCALE(scale_)                                                             \
    FBTWEAK__ASSERT(FBTWEAK__IS_NUMBER, "FBTweakScale: only a number has a scale");                \
    FBTWEAK__ASSERT(                                                                               \
        (sizeof(scale_) == sizeof("log") && FBTWEAK__IN(scale_, 0, "log", "log")) ||               \
            (sizeof(scale_) == sizeof("linear") && FBTWEAK__IN(scale_, 0, "linear", "linear")),    \
        "FBTweakScale: a scale is log or linear");
#  define FBTWEAK__CHECK_PAIR(name_)                                                               \
    FBTWEAK__ASSERT(FBTWEAK__IS_NUMBER, "FBTweakPair: only a number has a pair");                  \
    FBTWEAK__ASSERT(sizeof(name_) > 1, "FBTweakPair: the name is empty");                          \
    FBTWEAK__ASSERT_NO_NUL(name_, "FBTweakPair: a name");
#  define FBTWEAK__CHECK_TEXT(what_, text_) FBTWEAK__ASSERT_NO_NUL(text_, "FBTweak: " what_);
#  define FBTWEAK__CHECK_DATE(date_)                                                               \
    FBTWEAK__ASSERT(sizeof(date_) == sizeof("2027-01-31") && FBTWEAK__IN(date_, 0, "0", "9") &&    \
                        FBTWEAK__IN(date_, 1, "0", "9") && FBTWEAK__IN(date_, 2, "0", "9") &&      \
                        FBTWEAK__IN(date_, 3, "0", "9") && FBTWEAK__IN(date_, 4, "-", "-") &&      \
                        FBTWEAK__IN(date_, 5, "01", "12") && FBTWEAK__IN(date_, 6, "0", "9") &&    \
                        FBTWEAK__IN(date_, 7, "-", "-") && FBTWEAK__IN(date_, 8, "01", "31") &&    \
                        FBTWEAK__IN(date_, 9, "0", "9"),                                           \
                    "FBTweakExpires: a date is written as 2027-01-31");
/* Whether the characters at this index are between low and high. Zeros pad the text. */
#  define FBTWEAK__IN(text_, at_, low_, high_)                                                     \
    (__builtin_memcmp(&text_ "0000000000"[at_], low_, sizeof(low_) - 1) >= 0 &&                    \
     __builtin_memcmp(&text_ "0000000000"[at_], high_, sizeof(high_) - 1) <= 0)

/*
 * Records. Each language has a DECLARE, which declares the record of one use, a READ, which reads
 * its value, and an ACTION_RECORD.
 *
 * - `retain` keeps a record under --gc-sections, and `used` keeps it in the compiler. `aligned`
 *   stops GCC from aligning large structures to 32 bytes, which would leave gaps. The attributes
 *   follow the declarator because before it they would apply to the type. `no_reorder` makes GCC
 *   write records in source order; Clang does so anyway.
 * - GNU binutils have the flag for `retain` since 2.36. Without it a linker keeps the records that
 *   the image's note refers to. GCC 11 of Red Hat Enterprise Linux 9 is made for 2.35, and warns of
 *   the attribute.
 * - A record is never const: read-only and writable records of one unit cannot share a section.
 */
#  if defined(__clang__)
#    define FBTWEAK__IN_SECTION(section_)                                                          \
      __attribute__((__section__(section_), __used__, __retain__, __aligned__(8)))
#  elif __has_attribute(__retain__) && !(__GNUC__ == 11 && defined(__GNUC_RH_RELEASE__))
#    define FBTWEAK__IN_SECTION(section_)                                                          \
      __attribute__((__section__(section_), __used__, __retain__, __aligned__(8), __no_reorder__))
#  else
#    define FBTWEAK__IN_SECTION(section_)                                                          \
      __attribute__((__section__(section_), __used__, __aligned__(8), __no_reorder__))
#  endif
/* A part of a section in assembly, with the flags that a new and an old assembler know. */
#  ifdef __clang__
#    define FBTWEAK__SECTION(section_, flags_, old_flags_, contents_)                              \
      ".pushsection " section_ ",\"" flags_ "\n" contents_ ".popsection\n"
#  else
#    define FBTWEAK__SECTION(section_, flags_, old_flags_, contents_)                              \
      ".if .gasversion. >= 23600\n"                                                                \
      ".pushsection " section_ ",\"" flags_ "\n"                                                   \
      ".else\n"                                                                                    \
      ".pushsection " section_ ",\"" old_flags_ "\n"                                               \
      ".endif\n" contents_ ".popsection\n"
#  endif

/* clang-format off */
#  define FBTWEAK__INTEGERS(macro_) \
    macro_(char) macro_(signed char) macro_(unsigned char) macro_(short) macro_(unsigned short) \
    macro_(int) macro_(unsigned) macro_(long) macro_(unsigned long) \
    macro_(long long) macro_(unsigned long long)
/* clang-format on */
/* The codes of signed types are in the order of 8, 16, 32 and 64 bits, as are the unsigned ones. */
#  define FBTWEAK__INTEGER_CODE(type_)                                                             \
    (((type_)-1 < (type_)1 ? FBTWEAK_TYPE_INT8 : FBTWEAK_TYPE_UINT8) + (sizeof(type_) > 1) +       \
     (sizeof(type_) > 2) + (sizeof(type_) > 4))

/* The first eight bytes. Strings lack the flag of choices, because their choices are only text. */
#  define FBTWEAK__HEAD_FIELDS                                                                     \
    uint32_t fbtweak__size;                                                                        \
    uint8_t fbtweak__version, fbtweak__kind, fbtweak__type, fbtweak__flags
#  define FBTWEAK__HEAD(record_, kind_, code_, flags_)                                             \
    sizeof(record_), FBTWEAK_RECORD_VERSION, kind_, code_, flags_
#  define FBTWEAK__FLAGS(mask_) ((mask_) & (FBTWEAK__IS_STRING ? 7 : 15))
#  define FBTWEAK__VARIABLE_HEAD(record_, mask_, count_)                                           \
    FBTWEAK__HEAD(record_, FBTWEAK_KIND_VARIABLE, fbtweak__code,                                   \
                  FBTWEAK__FLAGS(mask_) | ((count_) ? FBTWEAK_IS_ARRAY : 0))
/* The offset of the initial values of an array's elements, behind the attributes. */
#  define FBTWEAK__INITIAL_OF(record_, object_, attributes_)                                       \
    (FBTWEAK__ELEMENTS(object_)                                                                    \
         ? (offsetof(record_, fbtweak__attributes) + sizeof(attributes_) + 7) / 8 * 8              \
         : 0)
#  define FBTWEAK__KIND_OF(mask_)                                                                  \
    ((mask_)&FBTWEAK__IS_MONITOR ? FBTWEAK_KIND_MONITOR : FBTWEAK_KIND_VALUE)

#  define FBTWEAK__ASSERT_FLAG(default_)                                                           \
    FBTWEAK__ASSERT(FBTWEAK__HAS_KIND(default_), "FBTweakFeature: the default is true or false")
#  define FBTWEAK__ASSERT_FITS(default_)                                                           \
    FBTWEAK__ASSERT(FBTWEAK__HAS_KIND(default_),                                                   \
                    "FBTweakBind: the default is of another kind than the variable");              \
    FBTWEAK__ASSERT_CONSTANT(default_);                                                            \
    FBTWEAK__ASSERT(FBTWEAK__FITS(default_), "FBTweakBind: the default does not fit the variable")

#  define FBTWEAK__ACTION_OF(category_, collection_, name_, function_, ...)                        \
    FBTWEAK__ACTION_OF_(category_, collection_, name_, function_,                                  \
                        FBTWEAK__EACH(FBTWEAK__OPTION, , __VA_ARGS__) FBTWEAK__END)
#  define FBTWEAK__ACTION_OF_(category_, collection_, name_, function_, ...)                       \
    FBTWEAK__ASSERT_NAMES(category_, collection_, name_);                                          \
    FBTWEAK__ASSERT(                                                                               \
        ((0 FBTWEAK__EACH(FBTWEAK__OF, FBTWEAK__OR_BIT, __VA_ARGS__)) |                            \
         FBTWEAK__OPTIONS_OF_ACTION) == FBTWEAK__OPTIONS_OF_ACTION,                                \
        "FBTweakAction: an action has only a description, an owner and an expiry date");           \
    FBTWEAK__ASSERT((0 FBTWEAK__EACH(FBTWEAK__OF, FBTWEAK__OR_BIT, __VA_ARGS__)) ==                \
                        (0 FBTWEAK__EACH(FBTWEAK__OF, FBTWEAK__PLUS_BIT, __VA_ARGS__)),            \
                    "FBTweak: an option is given twice");                                          \
    FBTWEAK__EACH(FBTWEAK__OF, FBTWEAK__CHECK, __VA_ARGS__)                                        \
    FBTWEAK__ALLOW_COUNTER                                                                         \
    FBTWEAK__ACTION_RECORD(                                                                        \
        FBTWEAK__PASTE(fbtweak__action_, __COUNTER__), (category_, collection_, name_), function_, \
        FBTWEAK__LOCATION FBTWEAK__EACH(FBTWEAK__OF, FBTWEAK__ATTRIBUTE, __VA_ARGS__))             \
    FBTWEAK__END_COUNTER

/*
 * The store of a monitor. In an atomic store GCC moves a floating-point number through an integer
 * register, which takes an extra instruction. A volatile store is a single instruction as well, but
 * not atomic for the thread sanitizer.
 */
#  if defined(__clang__) || defined(__SANITIZE_THREAD__) || UINTPTR_MAX <= 0xffffffffu
#    define FBTWEAK__STORE(value_)                                                                 \
      __atomic_store(&FBTWEAK__RECORD.fbtweak__cell.fbtweak__value, &value_, __ATOMIC_RELAXED)
#  else
#    define FBTWEAK__STORE(value_)                                                                 \
      (*(volatile fbtweak__type *)&FBTWEAK__RECORD.fbtweak__cell.fbtweak__value = value_)
#  endif

static inline __attribute__((__always_inline__)) const char *
fbtweak__load_string(const char *const *fbtweak__cell, const char *fbtweak__initial) {
  const char *current = __atomic_load_n(fbtweak__cell, __ATOMIC_RELAXED);
  return current ? current : fbtweak__initial;
}

/* The function to call for an action. The context is the function or block. */
static inline void fbtweak__call_function(void *fbtweak__context) {
  union {
    void *fbtweak__context;
    void (*fbtweak__function)(void);
  } action = {fbtweak__context};
  action.fbtweak__function();
}
#  ifdef __BLOCKS__
static inline void fbtweak__call_block(void *fbtweak__context) {
  ((void (^)(void))fbtweak__context)();
}
#  endif

#  ifndef __cplusplus

/*
 * Records in C. Clang folds the arguments of builtins, without a warning about folding. A constant
 * may be a `static const` variable. GCC without optimization accepts its value in a record, but not
 * in an assertion, so only there its mistakes go unnoticed.
 */
#    ifdef __clang__
#      define FBTWEAK__ASSERT(condition_, message_)                                                \
        _Static_assert(__builtin_expect(condition_, 1), message_)
#      define FBTWEAK__ASSERT_CONSTANT(x_)                                                         \
        FBTWEAK__ASSERT(FBTWEAK__IS_TEXT(x_) || __builtin_constant_p(FBTWEAK__NUMBER(x_)),         \
                        "FBTweak: defaults, limits, steps and choices are constants")
#    else
/* A constant only where the condition is one and false. In one place, because compiling it takes
 * time. */
int fbtweak__variable(void);
#      define FBTWEAK__ASSERT(condition_, message_)                                                \
        _Static_assert(__builtin_choose_expr(                                                      \
                           __builtin_constant_p((condition_) ? fbtweak__variable() : 0), 0, 1),    \
                       message_)
#      ifdef __OPTIMIZE__
#        define FBTWEAK__ASSERT_CONSTANT(x_)                                                       \
          _Static_assert(                                                                          \
              __builtin_choose_expr(FBTWEAK__IS_TEXT(x_) ||                                        \
                                        __builtin_constant_p((FBTWEAK__EXACT)FBTWEAK__NUMBER(x_)), \
                                    1, 0),                                                         \
              "FBTweak: defaults, limits, steps and choices are constants")
#      else
#        define FBTWEAK__ASSERT_CONSTANT(x_) _Static_assert(1, "")
#      endif
#    endif
#    define FBTWEAK__ASSERT_CONSTANTS(x_, y_, z_)                                                  \
      FBTWEAK__ASSERT_CONSTANT(x_);                                                                \
      FBTWEAK__ASSERT_CONSTANT(y_);                                                                \
      FBTWEAK__ASSERT_CONSTANT(z_)

#    define FBTWEAK__AUTO __auto_type

/* The comma yields a value: arrays decay to pointers, and qualifiers are dropped. */
#    define FBTWEAK__TYPES(like_)                                                                  \
      typedef __typeof__(FBTWEAK__TO_CONST(((void)0, (like_)))) fbtweak__type;                     \
      typedef __typeof__(FBTWEAK__NUMBER((fbtweak__type){0})) fbtweak__number;                     \
      enum { fbtweak__code = FBTWEAK__TYPE_CODE((fbtweak__type){0}) }
#    define FBTWEAK__TO_CONST(x_) _Generic(x_, char * : (const char *)0, default : x_)
/* clang-format off */
#    define FBTWEAK__CODE_CASE(type_) type_: FBTWEAK__INTEGER_CODE(type_),
#    define FBTWEAK__TYPE_CODE(x_) \
      _Generic((x_), \
          FBTWEAK__INTEGERS(FBTWEAK__CODE_CASE) \
          _Bool: FBTWEAK_TYPE_BOOL, \
          float: FBTWEAK_TYPE_FLOAT, \
          double: FBTWEAK_TYPE_DOUBLE, \
          char *: FBTWEAK_TYPE_STRING, \
          const char *: FBTWEAK_TYPE_STRING, \
          fbtweak_color: FBTWEAK_TYPE_COLOR, \
          default: 0)
/* clang-format on */

#    define FBTWEAK__IS_LITERAL(x_) __builtin_types_compatible_p(__typeof__(x_), char[sizeof(x_)])
#    define FBTWEAK__LITERAL(x_) FBTWEAK__TEXT(x_)
#    define FBTWEAK__NAME_FIELDS(category_, collection_, name_)                                    \
      char fbtweak__category[sizeof(category_)], fbtweak__collection[sizeof(collection_)],         \
          fbtweak__name[sizeof(name_)]

/* In a _Generic all branches must compile, so each kind has a substitute for the other branches. */
#    define FBTWEAK__INITIAL(x_) _Generic((x_), char * : 0, const char * : 0, default : (x_))
#    define FBTWEAK__NUMBER(x_)                                                                    \
      _Generic((x_), char * : 0, const char * : 0, fbtweak_color : 0, default : (x_))
/* Bools and numbers are one kind, because C converts them to each other. */
#    define FBTWEAK__KIND(x_)                                                                      \
      _Generic((x_), char * : 1, const char * : 1, fbtweak_color : 2, default : 3)
#    define FBTWEAK__HAS_KIND(x_) (FBTWEAK__KIND(x_) == FBTWEAK__KIND((fbtweak__type){0}))
#    define FBTWEAK__IS_TEXT(x_) (FBTWEAK__KIND(x_) == 1)
#    define FBTWEAK__TEXT(x_) _Generic((x_), char * : (x_), const char * : (x_), default : "")
/* A double for a float, because Clang warns about comparisons that no float satisfies. */
#    define FBTWEAK__EXACT                                                                         \
      __typeof__(_Generic((fbtweak__number)0, float : 0.0, default : (fbtweak__number)0))
#    define FBTWEAK__CHOICE_HAS_NO_NUL(x_) FBTWEAK__HAS_NO_NUL(FBTWEAK__TEXT(x_))
#    define FBTWEAK__IS(x_, y_)                                                                    \
      (FBTWEAK__ARE_EQUAL(FBTWEAK__AS_NUMBER(x_), FBTWEAK__AS_NUMBER(y_)) &&                       \
       __builtin_strcmp(FBTWEAK__TEXT(x_), FBTWEAK__TEXT(y_)) == 0)

/* The choices of a string are text, so nothing follows at the end of its record. */
#    define FBTWEAK__DECLARE(first_, names_, mask_, default_, minimum_, maximum_, step_,           \
                             attributes_, ...)                                                     \
      FBTWEAK__DECLARE_(FBTWEAK__PASTE(FBTWEAK__EACH_, first_), names_, mask_, default_, minimum_, \
                        maximum_, step_, attributes_, __VA_ARGS__)
#    define FBTWEAK__EACH_0 FBTWEAK__EACH
#    define FBTWEAK__EACH_1 FBTWEAK__EACH
#    define FBTWEAK__EACH_2 FBTWEAK__NONE
/* A minimum, a maximum or a step, as a number or as its bits. */
#    define FBTWEAK__DECLARE_LIMIT                                                                 \
      union fbtweak__limit {                                                                       \
        fbtweak__number fbtweak__number;                                                           \
        fbtweak__word fbtweak__bits;                                                               \
      }
#    define FBTWEAK__DECLARE_(each_, names_, mask_, default_, minimum_, maximum_, step_,           \
                              attributes_, ...)                                                    \
      FBTWEAK__ASSERT(FBTWEAK__HAS_NO_NUL(FBTWEAK__TEXT(default_)),                                \
                      "FBTweak: a string default cannot contain a NUL");                           \
      FBTWEAK__DECLARE_LIMIT;                                                                      \
      static struct {                                                                              \
        FBTWEAK__HEAD_FIELDS;                                                                      \
        union {                                                                                    \
          fbtweak__type fbtweak__value;                                                            \
          const char *fbtweak__string;                                                             \
          fbtweak__word fbtweak__bits;                                                             \
        } fbtweak__cell, fbtweak__initial;                                                         \
        union fbtweak__limit fbtweak__minimum, fbtweak__maximum, fbtweak__step;                    \
        FBTWEAK__NAME_FIELDS names_;                                                               \
        char fbtweak__text[sizeof(FBTWEAK__TEXT(default_))];                                       \
        each_(FBTWEAK__CHOICE_TEXT, , __VA_ARGS__) char fbtweak__attributes[sizeof(attributes_)];  \
        each_(FBTWEAK__CHOICE, , __VA_ARGS__)                                                      \
      } fbtweak__record FBTWEAK__IN_SECTION("fbtweak") = {                                         \
          FBTWEAK__HEAD(fbtweak__record, FBTWEAK__KIND_OF(mask_), fbtweak__code,                   \
                        FBTWEAK__FLAGS(mask_)),                                                    \
          {FBTWEAK__INITIAL(default_)},                                                            \
          {FBTWEAK__INITIAL(default_)},                                                            \
          {FBTWEAK__AS_NUMBER(minimum_)},                                                          \
          {FBTWEAK__AS_NUMBER(maximum_)},                                                          \
          {FBTWEAK__AS_NUMBER(step_)},                                                             \
          FBTWEAK__NAMES names_,                                                                   \
          FBTWEAK__TEXT(default_),                                                                 \
          each_(FBTWEAK__CHOICE_TEXT_INITIAL, , __VA_ARGS__) attributes_,                          \
          each_(FBTWEAK__CHOICE_INITIAL, , __VA_ARGS__)}
#    define FBTWEAK__CHOICE_TEXT(context_, index_, choice_)                                        \
      struct {                                                                                     \
        char fbtweak__key[7], fbtweak__text[sizeof(FBTWEAK__TEXT(FBTWEAK__VALUE_OF(choice_)))];    \
        FBTWEAK__IF_LABELLED(choice_, FBTWEAK__LABEL)                                              \
      } fbtweak__text_##index_;
#    define FBTWEAK__LABEL(value_, label_) char fbtweak__label[sizeof("label=" label_)];
#    define FBTWEAK__CHOICE_TEXT_INITIAL(context_, index_, choice_)                                \
      {{'c', 'h', 'o', 'i', 'c', 'e', '='},                                                        \
       FBTWEAK__TEXT(FBTWEAK__VALUE_OF(choice_)),                                                  \
       FBTWEAK__IF_LABELLED(choice_, FBTWEAK__LABEL_INITIAL)},
#    define FBTWEAK__LABEL_INITIAL(value_, label_) "label=" label_
#    define FBTWEAK__CHOICE(context_, index_, choice_)                                             \
      __typeof__(_Generic((fbtweak__type){0},                                                      \
                 const char *: (struct fbtweak__nothing){0},                                       \
                 default: (union fbtweak__limit){0})) fbtweak__number_##index_;
#    define FBTWEAK__CHOICE_INITIAL(context_, index_, choice_)                                     \
      {FBTWEAK__AS_NUMBER(FBTWEAK__VALUE_OF(choice_))},
struct fbtweak__nothing {
  char nothing;
};

/*
 * An array decays to a pointer, and has another type. Behind the attributes of an array there is
 * room for the initial values of its elements, which the library notes there.
 */
#    define FBTWEAK__ARRAY(x_)                                                                     \
      (__builtin_classify_type(x_) == __builtin_classify_type((void *)0) &&                        \
       !__builtin_types_compatible_p(__typeof__(x_), __typeof__(((void)0, (x_)))))
#    define FBTWEAK__ELEMENT(x_) (*__builtin_choose_expr(FBTWEAK__ARRAY(x_), (x_), &(x_)))
#    define FBTWEAK__ELEMENTS(x_)                                                                  \
      (FBTWEAK__ARRAY(x_) ? sizeof(x_) / sizeof(FBTWEAK__ELEMENT(x_)) : 0)
/* Text is not an object, because its cell is an address; neither are its characters. */
#    define FBTWEAK__IS_OBJECT(x_)                                                                 \
      (FBTWEAK__TYPE_CODE(FBTWEAK__ELEMENT(x_)) != 0 && !FBTWEAK__IS_TEXT(FBTWEAK__ELEMENT(x_)) && \
       !(FBTWEAK__ARRAY(x_) && _Generic(FBTWEAK__ELEMENT(x_), char : 1, default : 0)))
#    define FBTWEAK__OBJECT_TYPES(object_)                                                         \
      FBTWEAK__ASSERT(FBTWEAK__IS_OBJECT(object_), FBTWEAK__OBJECT_MESSAGE);                       \
      FBTWEAK__TYPES(__builtin_choose_expr(FBTWEAK__IS_OBJECT(object_),                            \
                                           ((void)0, FBTWEAK__ELEMENT(object_)), 0));              \
      FBTWEAK__ASSERT_OBJECT(_Generic(&FBTWEAK__ELEMENT(object_),                                  \
                                      const __typeof__(FBTWEAK__ELEMENT(object_)) * : 1,           \
                                      default : 0),                                                \
                             FBTWEAK__ELEMENTS(object_))
#    define FBTWEAK__VARIABLE_RECORD(object_, names_, mask_, minimum_, maximum_, step_,            \
                                     attributes_, ...)                                             \
      FBTWEAK__DECLARE_LIMIT;                                                                      \
      static struct {                                                                              \
        FBTWEAK__HEAD_FIELDS;                                                                      \
        union {                                                                                    \
          const volatile void *fbtweak__address;                                                   \
          fbtweak__word fbtweak__bits;                                                             \
        } fbtweak__object;                                                                         \
        uint32_t fbtweak__count, fbtweak__initial;                                                 \
        union fbtweak__limit fbtweak__minimum, fbtweak__maximum, fbtweak__step;                    \
        FBTWEAK__NAME_FIELDS names_;                                                               \
        char fbtweak__text[1];                                                                     \
        FBTWEAK__EACH(FBTWEAK__CHOICE_TEXT, , __VA_ARGS__)                                         \
        char fbtweak__attributes[sizeof(attributes_) + 8 * FBTWEAK__ELEMENTS(object_)];            \
        FBTWEAK__EACH(FBTWEAK__CHOICE, , __VA_ARGS__)                                              \
      } fbtweak__record FBTWEAK__IN_SECTION("fbtweak") = {                                         \
          FBTWEAK__VARIABLE_HEAD(fbtweak__record, mask_, FBTWEAK__ELEMENTS(object_)),              \
          {&(object_)},                                                                            \
          FBTWEAK__ELEMENTS(object_),                                                              \
          FBTWEAK__INITIAL_OF(__typeof__(fbtweak__record), object_, attributes_),                  \
          {FBTWEAK__AS_NUMBER(minimum_)},                                                          \
          {FBTWEAK__AS_NUMBER(maximum_)},                                                          \
          {FBTWEAK__AS_NUMBER(step_)},                                                             \
          FBTWEAK__NAMES names_,                                                                   \
          "",                                                                                      \
          FBTWEAK__EACH(FBTWEAK__CHOICE_TEXT_INITIAL, , __VA_ARGS__) attributes_,                  \
          FBTWEAK__EACH(FBTWEAK__CHOICE_INITIAL, , __VA_ARGS__)}

#    define FBTWEAK__RECORD fbtweak__record
#    define FBTWEAK__READ                                                                          \
      _Generic((fbtweak__type){0},                                                                 \
          const char *: fbtweak__load_string(&fbtweak__record.fbtweak__cell.fbtweak__string, fbtweak__record.fbtweak__text),  \
          default: (__extension__({                                                                \
                 fbtweak__type fbtweak__current;                                                   \
                 __atomic_load(&fbtweak__record.fbtweak__cell.fbtweak__value, &fbtweak__current, __ATOMIC_RELAXED);  \
                 fbtweak__current;                                                                 \
               })))

#    ifdef __BLOCKS__
#      define FBTWEAK__BY_CALLEE(x_, function_, block_, other_)                                    \
        _Generic((x_), void (*)(void) : function_, void (^)(void) : block_, default : other_)
#    else
#      define FBTWEAK__BY_CALLEE(x_, function_, block_, other_)                                    \
        _Generic((x_), void (*)(void) : function_, default : other_)
#    endif
#    define FBTWEAK__ACTION_RECORD(record_, names_, function_, attributes_)                        \
      FBTWEAK__ASSERT(FBTWEAK__BY_CALLEE(function_, 1, 1, 0),                                      \
                      "FBTweakAction: an action is a void (*)(void), or a block of this type");    \
      static struct {                                                                              \
        FBTWEAK__HEAD_FIELDS;                                                                      \
        union {                                                                                    \
          void (*fbtweak__function)(void *);                                                       \
          fbtweak__word fbtweak__bits;                                                             \
        } fbtweak__call;                                                                           \
        union {                                                                                    \
          __typeof__(((void)0, (function_))) fbtweak__context;                                     \
          fbtweak__word fbtweak__bits;                                                             \
        } fbtweak__context;                                                                        \
        fbtweak__word fbtweak__limits[3];                                                          \
        FBTWEAK__NAME_FIELDS names_;                                                               \
        char fbtweak__text[1], fbtweak__attributes[sizeof(attributes_)];                           \
      } record_ FBTWEAK__IN_SECTION("fbtweak") = {                                                 \
          FBTWEAK__HEAD(record_, FBTWEAK_KIND_ACTION, FBTWEAK_TYPE_ACTION, 0),                     \
          {FBTWEAK__BY_CALLEE(function_, fbtweak__call_function, fbtweak__call_block, 0)},         \
          {(function_)},                                                                           \
          {0},                                                                                     \
          FBTWEAK__NAMES names_,                                                                   \
          "",                                                                                      \
          attributes_}
#  else

/*
 * Records in C++. GCC gives the data of inline functions other section flags than the data of
 * ordinary ones, and then refuses to put both into one section (GCC bug 41091). So each use has a
 * section name of its own: a call of an assembler macro, to whose arguments GCC appends the flags
 * and, in an inline function, the symbol of the record, which is hidden there. Data instantiated
 * from a template loses its section (GCC bug 70435), so a tweak in a template is refused.
 *
 * In a template, a local class is a dependent type, and no name is looked up in a dependent base.
 * So fbtweak__is_in_template is the variable in a template and everything inside it, such as
 * lambdas, friends, initializers and default arguments, and the base's member anywhere else.
 */
#    ifdef __clang__
#      define FBTWEAK__CPP_SECTION "fbtweak"
#      define FBTWEAK__CONSTINIT __attribute__((__require_constant_initialization__))
#      define FBTWEAK__REFUSE_TEMPLATE(name_) static_assert(true, "")
#    else
#      define FBTWEAK__CPP_SECTION                                                                 \
        ".text\n"                                                                                  \
        ".ifndef .Lfbtweak__place\n"                                                               \
        ".set .Lfbtweak__place, 0\n"                                                               \
        ".macro fbtweak__place number, flags, type, symbol, linkage\n"                             \
        ".ifb \\symbol\n"                                                                          \
        ".section fbtweak,\"\\flags\"\n"                                                           \
        ".else\n"                                                                                  \
        ".hidden \\symbol\n"                                                                       \
        ".section fbtweak,\"\\flags\",\\type,\\symbol,\\linkage\n"                                 \
        ".endif\n"                                                                                 \
        ".endm\n"                                                                                  \
        ".endif\n"                                                                                 \
        "fbtweak__place " FBTWEAK__STRINGIZE(__COUNTER__)
#      define FBTWEAK__CONSTINIT __constinit
constexpr bool fbtweak__is_in_template = true;
struct fbtweak__outside {
  static constexpr bool fbtweak__is_in_template = false;
};
fbtweak__outside fbtweak__base_of(const void *);
#      define FBTWEAK__REFUSE_TEMPLATE(name_)                                                      \
        struct name_##_here;                                                                       \
        struct name_##_place : decltype(fbtweak__base_of(static_cast<name_##_here *>(nullptr))) {  \
          static constexpr bool fbtweak__value() { return fbtweak__is_in_template; }               \
        };                                                                                         \
        static_assert(!name_##_place::fbtweak__value(),                                            \
                      "FBTweak: GCC loses a tweak in a template; put it into a function that is "  \
                      "none, and call that")
#    endif

/* Also where others include this file in a block of C linkage, which no template can have. */
#    define FBTWEAK__BEGIN_CPP extern "C++" {
#    define FBTWEAK__END_CPP }
FBTWEAK__BEGIN_CPP

template <class T, bool is_enumeration_ = __is_enum(T)> struct fbtweak__type_code {
  static constexpr int fbtweak__value = 0;
};
template <class T> struct fbtweak__type_code<T, true> {
  static constexpr int fbtweak__value = fbtweak__type_code<__underlying_type(T)>::fbtweak__value;
};
#    define FBTWEAK__CODE_OF(type_, code_)                                                         \
      template <> struct fbtweak__type_code<type_, false> {                                        \
        static constexpr int fbtweak__value = code_;                                               \
      };
#    define FBTWEAK__CODE_OF_INTEGER(type_) FBTWEAK__CODE_OF(type_, FBTWEAK__INTEGER_CODE(type_))
FBTWEAK__INTEGERS(FBTWEAK__CODE_OF_INTEGER)
FBTWEAK__CODE_OF(bool, FBTWEAK_TYPE_BOOL)
FBTWEAK__CODE_OF(float, FBTWEAK_TYPE_FLOAT)
FBTWEAK__CODE_OF(double, FBTWEAK_TYPE_DOUBLE)
FBTWEAK__CODE_OF(const char *, FBTWEAK_TYPE_STRING)
FBTWEAK__CODE_OF(fbtweak_color, FBTWEAK_TYPE_COLOR)
#    undef FBTWEAK__CODE_OF_INTEGER
#    undef FBTWEAK__CODE_OF

/* Bools and numbers are one kind, because C++ converts them to each other. */
constexpr bool fbtweak__have_one_kind(int code, int other) {
  return code == other ||
         (0 < code && code <= FBTWEAK_TYPE_DOUBLE && 0 < other && other <= FBTWEAK_TYPE_DOUBLE);
}

/* The number, the number of an enumerator, or 0 for anything else. */
template <class T> constexpr auto fbtweak__number_of(T fbtweak__value) {
  if constexpr (__is_enum(T))
    return static_cast<__underlying_type(T)>(fbtweak__value);
  else if constexpr (0 < fbtweak__type_code<T>::fbtweak__value &&
                     fbtweak__type_code<T>::fbtweak__value <= FBTWEAK_TYPE_DOUBLE)
    return fbtweak__value;
  else
    return 0;
}

/* Has the type of a value: arrays decay to pointers, and const is dropped. Never called. */
template <class T> T fbtweak__by_value(T);

#    define FBTWEAK__ASSERT(condition_, message_) static_assert(condition_, message_)

/*
 * Whether the compiler accepts an expression as a constant expression. A lambda that returns one is
 * empty, because constants are not captured, and can be called at compile time. The result of
 * __builtin_constant_p would depend on the optimization level.
 */
template <class F, bool is_empty_ = __is_empty(F)> struct fbtweak__made {};
template <class F> struct fbtweak__made<F, true> {
  struct nothing {};
  static constexpr F fbtweak__function = __builtin_bit_cast(F, nothing{});
};
template <class F, class = char[(static_cast<void>(fbtweak__made<F>::fbtweak__function()), 1)]>
constexpr bool fbtweak__is_constant(const F &) {
  return true;
}
constexpr bool fbtweak__is_constant(...) {
  return false;
}
template <class... T> constexpr void fbtweak__take(T...) {}
/* In two lines, because Clang repeats the condition, and a name is short. */
#    define FBTWEAK__ASSERT_CONSTANT(...)                                                          \
      {                                                                                            \
        constexpr bool fbtweak__is_made =                                                          \
            fbtweak__is_constant([&] { fbtweak__take(__VA_ARGS__); });                             \
        static_assert(fbtweak__is_made,                                                            \
                      "FBTweak: defaults, limits, steps and choices are constants");               \
      }
#    define FBTWEAK__ASSERT_CONSTANTS(...) FBTWEAK__ASSERT_CONSTANT(__VA_ARGS__)
#    define FBTWEAK__AUTO auto
#    define FBTWEAK__TYPES(like_)                                                                  \
      using fbtweak__type = decltype(fbtweak__by_value(like_));                                    \
      using fbtweak__number = decltype(fbtweak__number_of(fbtweak__type()));                       \
      constexpr int fbtweak__code = fbtweak__type_code<fbtweak__type>::fbtweak__value
#    define FBTWEAK__HAS_KIND(x_)                                                                  \
      fbtweak__have_one_kind(FBTWEAK__CODE,                                                        \
                             fbtweak__type_code<decltype(fbtweak__by_value(x_))>::fbtweak__value)
#    define FBTWEAK__IS_TEXT(x_)                                                                   \
      (fbtweak__type_code<decltype(fbtweak__by_value(x_))>::fbtweak__value == FBTWEAK_TYPE_STRING)
#    define FBTWEAK__NUMBER(x_) fbtweak__number_of(x_)
#    define FBTWEAK__EXACT fbtweak__number
#    define FBTWEAK__CHOICE_HAS_NO_NUL(x_) fbtweak__has_no_nul(fbtweak__text_of(x_))
#    define FBTWEAK__IS(x_, y_)                                                                    \
      (FBTWEAK__ARE_EQUAL(FBTWEAK__AS_NUMBER(x_), FBTWEAK__AS_NUMBER(y_)) &&                       \
       fbtweak__is(fbtweak__text_of(x_), fbtweak__text_of(y_)))

/* A literal is an lvalue, and the name of an array is not a literal. */
template <class T> struct fbtweak__literal { static constexpr bool fbtweak__value = false; };
template <class T, size_t size_> struct fbtweak__literal<const T (&)[size_]> {
  static constexpr bool fbtweak__value = true;
};
#    define FBTWEAK__IS_LITERAL(x_) fbtweak__literal<decltype(x_)>::fbtweak__value

/* The literal, or an empty one. */
template <size_t size_>
constexpr const char (&fbtweak__literal_or_empty(const char (&literal)[size_]))[size_] {
  return literal;
}
template <class T> constexpr const char (&fbtweak__literal_or_empty(const T &))[1] {
  return "";
}
#    define FBTWEAK__LITERAL(x_) fbtweak__literal_or_empty(x_)
#    define FBTWEAK__NAME_SIZES(category_, collection_, name_)                                     \
      sizeof(category_), sizeof(collection_), sizeof(name_)

/* The text of a literal, with its NUL; empty for anything else, as in its record. */
template <size_t size_> struct fbtweak__characters { char fbtweak__characters[size_]; };
template <size_t size_>
constexpr fbtweak__characters<size_> fbtweak__text_of(const char (&literal)[size_]) {
  fbtweak__characters<size_> fbtweak__text{};
  for (size_t i = 0; i < size_; i++)
    fbtweak__text.fbtweak__characters[i] = literal[i];
  return fbtweak__text;
}
template <class T> constexpr fbtweak__characters<1> fbtweak__text_of(const T &) {
  static_assert(fbtweak__type_code<T>::fbtweak__value != FBTWEAK_TYPE_STRING,
                "FBTweak: a text is a string literal");
  return {};
}
/* The same without a reference to a number, which a record cannot have to a local constant. */
template <size_t size_>
constexpr fbtweak__characters<size_> fbtweak__copy_of(const char (&literal)[size_]) {
  return fbtweak__text_of(literal);
}
template <class T> constexpr fbtweak__characters<1> fbtweak__copy_of(T fbtweak__value) {
  return fbtweak__text_of(fbtweak__value);
}
template <size_t size_>
constexpr bool fbtweak__has_no_nul(const fbtweak__characters<size_> &fbtweak__text) {
  for (size_t i = 0; i + 1 < size_; i++)
    if (!fbtweak__text.fbtweak__characters[i])
      return false;
  return true;
}
template <size_t size_, size_t other_size_>
constexpr bool fbtweak__is(const fbtweak__characters<size_> &fbtweak__text,
                           const fbtweak__characters<other_size_> &other) {
  for (size_t i = 0; i < size_ && size_ == other_size_; i++)
    if (fbtweak__text.fbtweak__characters[i] != other.fbtweak__characters[i])
      return false;
  return size_ == other_size_;
}
template <size_t... sizes_>
constexpr auto fbtweak__join(const fbtweak__characters<sizes_> &...parts) {
  fbtweak__characters<(sizes_ + ...)> joined{};
  size_t end = 0;
  (
      [&] {
        for (char character : parts.fbtweak__characters)
          joined.fbtweak__characters[end++] = character;
      }(),
      ...);
  return joined;
}
template <size_t size_>
constexpr auto fbtweak__choice(const fbtweak__characters<size_> &fbtweak__text) {
  return fbtweak__join(fbtweak__characters<7>{{'c', 'h', 'o', 'i', 'c', 'e', '='}}, fbtweak__text);
}
template <size_t size_, size_t label_size_>
constexpr auto fbtweak__choice(const fbtweak__characters<size_> &fbtweak__text,
                               const char (&fbtweak__label)[label_size_]) {
  return fbtweak__join(fbtweak__choice(fbtweak__text),
                       fbtweak__characters<6>{{'l', 'a', 'b', 'e', 'l', '='}},
                       fbtweak__text_of(fbtweak__label));
}

template <class T> union fbtweak__cell_of {
  T fbtweak__value;
  fbtweak__word fbtweak__bits;
};
template <class T, class Number, size_t category_size_, size_t collection_size_, size_t name_size_,
          size_t text_size_, size_t attributes_size_>
struct FBTWEAK__HIDDEN fbtweak__record_of {
  FBTWEAK__HEAD_FIELDS;
  fbtweak__cell_of<T> fbtweak__cell, fbtweak__initial;
  fbtweak__cell_of<Number> fbtweak__minimum, fbtweak__maximum, fbtweak__step;
  char fbtweak__category[category_size_], fbtweak__collection[collection_size_],
      fbtweak__name[name_size_];
  fbtweak__characters<text_size_> fbtweak__text;
  char fbtweak__attributes[attributes_size_];
};

/* The choices follow the text of the default. A string has nothing at the end for them. */
template <class T, class Number> struct fbtweak__choice_of {
  fbtweak__cell_of<Number> fbtweak__slot;
};
template <class Number> struct fbtweak__choice_of<const char *, Number> {
  struct {
    char nothing;
  } fbtweak__slot;
};
template <class T, class Number, size_t category_size_, size_t collection_size_, size_t name_size_,
          size_t text_size_, size_t attributes_size_, size_t choices_>
struct FBTWEAK__HIDDEN fbtweak__record_with_choices {
  FBTWEAK__HEAD_FIELDS;
  fbtweak__cell_of<T> fbtweak__cell, fbtweak__initial;
  fbtweak__cell_of<Number> fbtweak__minimum, fbtweak__maximum, fbtweak__step;
  char fbtweak__category[category_size_], fbtweak__collection[collection_size_],
      fbtweak__name[name_size_];
  fbtweak__characters<text_size_> fbtweak__text;
  char fbtweak__attributes[attributes_size_];
  fbtweak__choice_of<T, Number> fbtweak__choices[choices_];
};

template <class T, class Default> constexpr T fbtweak__initial(Default fbtweak__value) {
  constexpr int code = fbtweak__type_code<T>::fbtweak__value,
                given = fbtweak__type_code<Default>::fbtweak__value;
  if constexpr (code == FBTWEAK_TYPE_STRING || !fbtweak__have_one_kind(code, given))
    return T();
  else
    return static_cast<T>(fbtweak__value);
}

/*
 * A variable of an inline function has the function's visibility: where that is exported, an image
 * would read the record of another. So the record is in a function of its own, which is hidden:
 * with Clang, which regards only the outermost function, in a template for the lambda that makes
 * the record, and with GCC in a class. There no variable refers to it: the frame of a coroutine
 * would have the variable, and is not hidden.
 */
#    ifdef __clang__
template <class F> FBTWEAK__HIDDEN inline __attribute__((__always_inline__)) auto &fbtweak__hold() {
  if constexpr (__is_empty(F)) {
    static FBTWEAK__CONSTINIT auto fbtweak__record FBTWEAK__IN_SECTION(FBTWEAK__CPP_SECTION) =
        fbtweak__made<F>::fbtweak__function();
    return fbtweak__record;
  } else { /* something is no constant */
    return *static_cast<decltype((*static_cast<F *>(nullptr))()) *>(nullptr);
  }
}
#      define FBTWEAK__MAKE_RECORD(...)                                                            \
        auto fbtweak__make = [&] { return fbtweak__layout{__VA_ARGS__}; };                         \
        auto &fbtweak__record = fbtweak__hold<decltype(fbtweak__make)>()
#      define FBTWEAK__RECORD fbtweak__record
#    else
#      define FBTWEAK__MAKE_RECORD(...)                                                            \
        FBTWEAK__REFUSE_TEMPLATE(fbtweak__record);                                                 \
        struct FBTWEAK__HIDDEN fbtweak__holder {                                                   \
          static inline __attribute__((__always_inline__)) auto &fbtweak__hold() {                 \
            static FBTWEAK__CONSTINIT fbtweak__layout fbtweak__record FBTWEAK__IN_SECTION(         \
                FBTWEAK__CPP_SECTION) = {__VA_ARGS__};                                             \
            return fbtweak__record;                                                                \
          }                                                                                        \
        }
#      define FBTWEAK__RECORD fbtweak__holder::fbtweak__hold()
#    endif

#    define FBTWEAK__DECLARE(first_, ...) FBTWEAK__PASTE(FBTWEAK__DECLARE_, first_)(__VA_ARGS__)
#    define FBTWEAK__DECLARE_2(names_, mask_, default_, minimum_, maximum_, step_, attributes_,    \
                               end_)                                                               \
      constexpr auto fbtweak__default_text = fbtweak__text_of(default_);                           \
      FBTWEAK__ASSERT(FBTWEAK__HAS_NO_NUL(fbtweak__default_text.fbtweak__characters),              \
                      "FBTweak: a string default cannot contain a NUL");                           \
      using fbtweak__layout =                                                                      \
          fbtweak__record_of<fbtweak__type, fbtweak__number, FBTWEAK__NAME_SIZES names_,           \
                             sizeof(fbtweak__default_text), sizeof(attributes_)>;                  \
      FBTWEAK__MAKE_RECORD(FBTWEAK__FIXED(mask_, default_, minimum_, maximum_, step_, names_),     \
                           fbtweak__copy_of(default_), attributes_)
#    define FBTWEAK__DECLARE_1 FBTWEAK__DECLARE_0
#    define FBTWEAK__DECLARE_0(names_, mask_, default_, minimum_, maximum_, step_, attributes_,    \
                               ...)                                                                \
      using fbtweak__layout =                                                                      \
          fbtweak__record_with_choices<fbtweak__type, fbtweak__number, FBTWEAK__NAME_SIZES names_, \
                                       sizeof(FBTWEAK__TEXT_AND_CHOICES(default_, __VA_ARGS__)),   \
                                       sizeof(attributes_),                                        \
                                       0 FBTWEAK__EACH(FBTWEAK__AND_ONE, , __VA_ARGS__)>;          \
      FBTWEAK__MAKE_RECORD(FBTWEAK__FIXED(mask_, default_, minimum_, maximum_, step_, names_),     \
                           FBTWEAK__TEXT_AND_CHOICES(default_, __VA_ARGS__), attributes_,          \
                           {FBTWEAK__EACH(FBTWEAK__CHOICE, , __VA_ARGS__)})
#    define FBTWEAK__TEXT_AND_CHOICES(default_, ...)                                               \
      fbtweak__join(fbtweak__copy_of(default_) FBTWEAK__EACH(FBTWEAK__CHOICE_TEXT, , __VA_ARGS__))
#    define FBTWEAK__FIXED(mask_, default_, minimum_, maximum_, step_, names_)                     \
      FBTWEAK__HEAD(fbtweak__layout, FBTWEAK__KIND_OF(mask_), fbtweak__code,                       \
                    FBTWEAK__FLAGS(mask_)),                                                        \
          {fbtweak__initial<fbtweak__type>(default_)},                                             \
          {fbtweak__initial<fbtweak__type>(default_)}, {FBTWEAK__AS_NUMBER(minimum_)},             \
          {FBTWEAK__AS_NUMBER(maximum_)}, {FBTWEAK__AS_NUMBER(step_)}, FBTWEAK__NAMES names_
#    define FBTWEAK__CHOICE_TEXT(context_, index_, choice_)                                        \
      , fbtweak__choice(fbtweak__copy_of(FBTWEAK__VALUE_OF(choice_))                               \
                            FBTWEAK__IF_LABELLED(choice_, FBTWEAK__AND_LABEL))
#    define FBTWEAK__AND_LABEL(value_, label_) , "" label_
#    define FBTWEAK__CHOICE(context_, index_, choice_)                                             \
      {{FBTWEAK__AS_NUMBER(FBTWEAK__VALUE_OF(choice_))}},
#    define FBTWEAK__AND_ONE(context_, index_, choice_) +1

/* The element of an array, or the object itself. Never called. */
template <class T> T &fbtweak__element(T &);
template <class T, size_t size_> T &fbtweak__element(T (&)[size_]);
template <class T> struct fbtweak__object { static constexpr size_t fbtweak__count = 0; };
template <class T, size_t size_> struct fbtweak__object<T (&)[size_]> {
  static constexpr size_t fbtweak__count = size_;
};
template <class T> struct fbtweak__is_const { static constexpr bool fbtweak__value = false; };
template <class T> struct fbtweak__is_const<const T &> {
  static constexpr bool fbtweak__value = true;
};
template <class T, size_t size_> struct fbtweak__is_object {
  static constexpr bool fbtweak__value =
      fbtweak__type_code<T>::fbtweak__value != 0 &&
      fbtweak__type_code<T>::fbtweak__value != FBTWEAK_TYPE_STRING;
};
template <size_t size_> struct fbtweak__is_object<char, size_> {
  static constexpr bool fbtweak__value = size_ == 0;
};
union fbtweak__address {
  const volatile void *fbtweak__object;
  fbtweak__word fbtweak__bits;
};
template <class Number, size_t category_size_, size_t collection_size_, size_t name_size_,
          size_t text_size_, size_t attributes_size_, size_t choices_>
struct FBTWEAK__HIDDEN fbtweak__variable_of {
  FBTWEAK__HEAD_FIELDS;
  fbtweak__address fbtweak__object;
  uint32_t fbtweak__count, fbtweak__initial;
  fbtweak__cell_of<Number> fbtweak__minimum, fbtweak__maximum, fbtweak__step;
  char fbtweak__category[category_size_], fbtweak__collection[collection_size_],
      fbtweak__name[name_size_];
  fbtweak__characters<text_size_> fbtweak__text;
  char fbtweak__attributes[attributes_size_];
  fbtweak__cell_of<Number> fbtweak__choices[choices_];
};
#    define FBTWEAK__ELEMENTS(x_) fbtweak__object<decltype((x_))>::fbtweak__count
#    define FBTWEAK__OBJECT_TYPES(object_)                                                         \
      FBTWEAK__TYPES(fbtweak__element(object_));                                                   \
      static_assert(fbtweak__is_object<fbtweak__type, FBTWEAK__ELEMENTS(object_)>::fbtweak__value, \
                    FBTWEAK__OBJECT_MESSAGE);                                                      \
      FBTWEAK__ASSERT_OBJECT(                                                                      \
          fbtweak__is_const<decltype(fbtweak__element(object_))>::fbtweak__value,                  \
          FBTWEAK__ELEMENTS(object_));                                                             \
      {                                                                                            \
        constexpr bool fbtweak__is_static =                                                        \
            fbtweak__is_constant([&] { fbtweak__take(&(object_)); });                              \
        static_assert(fbtweak__is_static, "FBTweakVariable: the object has no static storage");    \
      }
#    define FBTWEAK__VARIABLE_RECORD(object_, names_, mask_, minimum_, maximum_, step_,            \
                                     attributes_, ...)                                             \
      using fbtweak__layout =                                                                      \
          fbtweak__variable_of<fbtweak__number, FBTWEAK__NAME_SIZES names_,                        \
                               sizeof(FBTWEAK__TEXT_AND_CHOICES(0, __VA_ARGS__)),                  \
                               sizeof(attributes_) + 8 * FBTWEAK__ELEMENTS(object_),               \
                               0 FBTWEAK__EACH(FBTWEAK__AND_ONE, , __VA_ARGS__)>;                  \
      FBTWEAK__MAKE_RECORD(                                                                        \
          FBTWEAK__VARIABLE_HEAD(fbtweak__layout, mask_, FBTWEAK__ELEMENTS(object_)),              \
          {&(object_)}, FBTWEAK__ELEMENTS(object_),                                                \
          FBTWEAK__INITIAL_OF(fbtweak__layout, object_, attributes_),                              \
          {FBTWEAK__AS_NUMBER(minimum_)}, {FBTWEAK__AS_NUMBER(maximum_)},                          \
          {FBTWEAK__AS_NUMBER(step_)}, FBTWEAK__NAMES names_,                                      \
          FBTWEAK__TEXT_AND_CHOICES(0, __VA_ARGS__), attributes_,                                  \
          {FBTWEAK__EACH(FBTWEAK__VARIABLE_CHOICE, , __VA_ARGS__)});                               \
      (void)FBTWEAK__RECORD
#    define FBTWEAK__VARIABLE_CHOICE(context_, index_, choice_)                                    \
      {FBTWEAK__AS_NUMBER(FBTWEAK__VALUE_OF(choice_))},

template <class T>
inline __attribute__((__always_inline__)) T fbtweak__read(const fbtweak__cell_of<T> &fbtweak__cell,
                                                          const char *) {
  T fbtweak__value;
  __atomic_load(&fbtweak__cell.fbtweak__value, &fbtweak__value, __ATOMIC_RELAXED);
  return fbtweak__value;
}
inline __attribute__((__always_inline__)) const char *
fbtweak__read(const fbtweak__cell_of<const char *> &fbtweak__cell, const char *fbtweak__initial) {
  return fbtweak__load_string(&fbtweak__cell.fbtweak__value, fbtweak__initial);
}
#    define FBTWEAK__READ                                                                          \
      fbtweak__read(FBTWEAK__RECORD.fbtweak__cell,                                                 \
                    FBTWEAK__RECORD.fbtweak__text.fbtweak__characters)

struct fbtweak__callee {
  union {
    void (*fbtweak__call)(void *);
    fbtweak__word call_bits;
  };
  union {
    void (*fbtweak__function)();
#    ifdef __BLOCKS__
    void (^block)();
#    endif
    fbtweak__word context_bits;
  };
  constexpr fbtweak__callee(void (*function_)())
      : fbtweak__call(fbtweak__call_function), fbtweak__function(function_) {}
#    ifdef __BLOCKS__
  constexpr fbtweak__callee(void (^block_)()) : fbtweak__call(fbtweak__call_block), block(block_) {}
#    endif
};
constexpr bool fbtweak__is_callee(void (*)()) {
  return true;
}
#    ifdef __BLOCKS__
constexpr bool fbtweak__is_callee(void (^)()) {
  return true;
}
#    endif
constexpr bool fbtweak__is_callee(...) {
  return false;
}
template <size_t category_size_, size_t collection_size_, size_t name_size_,
          size_t attributes_size_>
struct FBTWEAK__HIDDEN fbtweak__action_of {
  FBTWEAK__HEAD_FIELDS;
  fbtweak__callee callee;
  fbtweak__word fbtweak__limits[3];
  char fbtweak__category[category_size_], fbtweak__collection[collection_size_],
      fbtweak__name[name_size_];
  char fbtweak__text[1], fbtweak__attributes[attributes_size_];
};

#    ifdef __clang__
/* A lambda becomes its function. */
constexpr auto fbtweak__pointer(void (*function_)()) {
  return function_;
}
#      ifdef __BLOCKS__
constexpr auto fbtweak__pointer(void (^block_)()) {
  return block_;
}
#      endif
/* In a file nothing calls fbtweak__hold, so the record is a variable. */
template <class F> struct FBTWEAK__HIDDEN fbtweak__holder {
  static inline FBTWEAK__CONSTINIT auto fbtweak__record FBTWEAK__IN_SECTION(FBTWEAK__CPP_SECTION) =
      fbtweak__made<F>::fbtweak__function();
};
template <bool is_in_file_, class F>
FBTWEAK__HIDDEN constexpr __attribute__((__always_inline__)) auto *fbtweak__action(F) {
  if constexpr (is_in_file_)
    return &fbtweak__holder<F>::fbtweak__record;
  else
    return &fbtweak__hold<F>();
}
#    endif
FBTWEAK__END_CPP

#    define FBTWEAK__ASSERT_CALLEE(function_)                                                      \
      static_assert(                                                                               \
          fbtweak__is_callee(function_),                                                           \
          "FBTweakAction: an action is a void (*)(void), a block of this type, or a lambda")
#    define FBTWEAK__ACTION_INITIAL(layout_, names_, function_, attributes_)                       \
      {                                                                                            \
        FBTWEAK__HEAD(layout_, FBTWEAK_KIND_ACTION, FBTWEAK_TYPE_ACTION, 0),                       \
            fbtweak__callee(function_), {}, FBTWEAK__NAMES names_, "", attributes_                 \
      }
#    ifdef __clang__
#      define FBTWEAK__ACTION_RECORD(record_, names_, function_, attributes_)                      \
        FBTWEAK__ASSERT_CALLEE(function_);                                                         \
        FBTWEAK__ACTION_HELD(record_, names_, function_, attributes_)
#      define FBTWEAK__ACTION_HELD(record_, names_, function_, attributes_)                        \
        constexpr auto record_##_function = fbtweak__pointer(function_);                           \
        constexpr auto record_##_make = [] {                                                       \
          using fbtweak__layout =                                                                  \
              fbtweak__action_of<FBTWEAK__NAME_SIZES names_, sizeof(attributes_)>;                 \
          return fbtweak__layout FBTWEAK__ACTION_INITIAL(fbtweak__layout, names_,                  \
                                                         record_##_function, attributes_);         \
        };                                                                                         \
        const auto *const record_ __attribute__((__unused__)) =                                    \
            fbtweak__action<__builtin_FUNCTION()[0] == 0>(record_##_make)
#    else
#      define FBTWEAK__ACTION_RECORD(record_, names_, function_, attributes_)                      \
        FBTWEAK__REFUSE_TEMPLATE(record_);                                                         \
        FBTWEAK__ASSERT_CALLEE(function_);                                                         \
        static FBTWEAK__CONSTINIT                                                                  \
            fbtweak__action_of<FBTWEAK__NAME_SIZES names_, sizeof(attributes_)>                    \
                record_ FBTWEAK__IN_SECTION(FBTWEAK__CPP_SECTION) =                                \
                    FBTWEAK__ACTION_INITIAL(record_, names_, function_, attributes_)
#    endif
#  endif

/*
 * Gates. Each language has a record, and the distance from it to the stores. The load that finds
 * nothing need not acquire: the exchange in the pass does.
 */
#  if FBTWEAK__HAS_GATES
#    define FBTWEAK__GATE(category_, collection_, more_, ...)                                      \
      ((void)__extension__({                                                                       \
        FBTWEAK__ASSERT(FBTWEAK__IS_NAME(category_) && FBTWEAK__IS_NAME(collection_),              \
                        "FBTweakGate: a category or collection is a string literal without a "     \
                        "NUL");                                                                    \
        FBTWEAK__ASSERT(sizeof(category_) > 1, "FBTweakGate: the category is empty");              \
        FBTWEAK__ASSERT(FB_TWEAK_GATE_STORES > 0, "FB_TWEAK_GATE_STORES: it is at least 1");       \
        FBTWEAK__ASSERT(sizeof("" more_) == 1, "FBTweakGate: nothing may follow the collection");  \
        FBTWEAK__GATE_RECORD(category_, collection_, FBTWEAK__LOCATION);                           \
        if (__builtin_expect(__atomic_load_n(&FBTWEAK__RECORD.fbtweak__mailbox.fbtweak__state,     \
                                             __ATOMIC_RELAXED) != 0                                \
                                 ? 1L                                                              \
                                 : 0L,                                                             \
                             0L))                                                                  \
          fbtweak__pass(&FBTWEAK__RECORD.fbtweak__mailbox);                                        \
      }))
#    define FBTWEAK__GATE_FIXED                                                                    \
      {                                                                                            \
        FBTWEAK__HEAD(FBTWEAK__GATE_LAYOUT, FBTWEAK_KIND_GATE, FBTWEAK_TYPE_NONE, 0), 0,           \
            FB_TWEAK_GATE_STORES, offsetof(FBTWEAK__GATE_LAYOUT, fbtweak__stores), 0, 0, 0, 0      \
      }
#    ifndef __cplusplus
#      define FBTWEAK__GATE_RECORD(category_, collection_, attributes_)                            \
        static struct {                                                                            \
          struct fbtweak__gate fbtweak__mailbox;                                                   \
          char fbtweak__category[sizeof(category_)], fbtweak__collection[sizeof(collection_)],     \
              fbtweak__name[1], fbtweak__text[1];                                                  \
          char fbtweak__attributes[sizeof(attributes_)];                                           \
          struct fbtweak__store fbtweak__stores[FB_TWEAK_GATE_STORES];                             \
        } fbtweak__record FBTWEAK__IN_SECTION("fbtweak") = {                                       \
            FBTWEAK__GATE_FIXED, {category_}, {collection_}, "", "", attributes_, {{0}}}
#      define FBTWEAK__GATE_LAYOUT __typeof__(fbtweak__record)
#    else
FBTWEAK__BEGIN_CPP
template <size_t category_size_, size_t collection_size_, size_t attributes_size_, size_t stores_>
struct FBTWEAK__HIDDEN fbtweak__gate_of {
  fbtweak__gate fbtweak__mailbox;
  char fbtweak__category[category_size_], fbtweak__collection[collection_size_], fbtweak__name[1],
      fbtweak__text[1];
  char fbtweak__attributes[attributes_size_];
  fbtweak__store fbtweak__stores[stores_];
};
FBTWEAK__END_CPP
#      define FBTWEAK__GATE_RECORD(category_, collection_, attributes_)                            \
        using fbtweak__layout = fbtweak__gate_of<sizeof(category_), sizeof(collection_),           \
                                                 sizeof(attributes_), FB_TWEAK_GATE_STORES>;       \
        FBTWEAK__MAKE_RECORD(FBTWEAK__GATE_FIXED, {category_}, {collection_}, "", "", attributes_, \
                             {})
#      define FBTWEAK__GATE_LAYOUT fbtweak__layout
#    endif
#  else
#    define FBTWEAK__GATE(...) ((void)0)
#  endif

/*
 * Sets. An image with a take has one record of a sequence, which is odd while values are stored. It
 * is written by the assembler, because only there can a function define it for the whole image,
 * once. The loads of the set must complete before the second load of the sequence. A fence would
 * ensure that, but GCC's thread sanitizer has none, and on x86 only the compiler must be kept from
 * reordering.
 */
#  ifdef __cplusplus
extern "C" {
#  endif
extern fbtweak__word fbtweak__image_sequence __attribute__((__visibility__("hidden")));
#  ifdef __cplusplus
}
#  endif
#  define FBTWEAK__SEQUENCE                                                                        \
    __asm__ volatile(".ifndef fbtweak__image_sequence\n" FBTWEAK__SECTION(                         \
        "fbtweak", "awGR\",%progbits,fbtweak__image_sequence,comdat",                              \
        "awG\",%progbits,fbtweak__image_sequence,comdat",                                          \
        ".balign 8\n"                                                                              \
        ".4byte 56\n"                                                                              \
        ".byte 1, 5, 0, 0\n"                                                                       \
        ".weak fbtweak__image_sequence\n"                                                          \
        ".hidden fbtweak__image_sequence\n"                                                        \
        ".type fbtweak__image_sequence, %object\n"                                                 \
        ".size fbtweak__image_sequence, 8\n"                                                       \
        "fbtweak__image_sequence:\n"                                                               \
        ".8byte 0, 0, 0, 0, 0, 0\n") ".endif\n")
#  if defined(__x86_64__) || defined(__i386__)
#    define FBTWEAK__AFTER_LOADS __asm__ volatile("" ::: "memory")
#  elif defined(__aarch64__)
#    define FBTWEAK__AFTER_LOADS __asm__ volatile("dmb ishld" ::: "memory")
#  else
#    define FBTWEAK__AFTER_LOADS __atomic_thread_fence(__ATOMIC_ACQUIRE)
#  endif
#  define FBTWEAK__TAKE(set_, copy_) FBTWEAK__TAKE_UNLESS(set_, copy_, (void)0, (void)0)
/* What has been seen is odd, and 0 is nothing. */
#  define FBTWEAK__TAKE_NEW(set_, copy_, seen_)                                                    \
    FBTWEAK__TAKE_UNLESS(set_, copy_,                                                              \
                         if (__builtin_expect(*(seen_) == fbtweak__before + 1, 1)) break,          \
                         *(seen_) = fbtweak__before + 1)
#  define FBTWEAK__TAKE_UNLESS(set_, copy_, unless_, taken_)                                       \
    (__extension__({                                                                               \
      FBTWEAK__SEQUENCE;                                                                           \
      FBTWEAK__AUTO fbtweak__copy = (copy_);                                                       \
      bool fbtweak__is_taken = false;                                                              \
      for (int fbtweak__attempts = 3; fbtweak__attempts && !fbtweak__is_taken;                     \
           fbtweak__attempts--) {                                                                  \
        uint64_t fbtweak__before = __atomic_load_n(&fbtweak__image_sequence, __ATOMIC_ACQUIRE);    \
        unless_;                                                                                   \
        FBTWEAK__AUTO fbtweak__taken = set_;                                                       \
        FBTWEAK__AFTER_LOADS;                                                                      \
        if (__builtin_expect(!(fbtweak__before & 1) &&                                             \
                                 fbtweak__before ==                                                \
                                     __atomic_load_n(&fbtweak__image_sequence, __ATOMIC_RELAXED),  \
                             1)) {                                                                 \
          *fbtweak__copy = fbtweak__taken;                                                         \
          taken_;                                                                                  \
          fbtweak__is_taken = true;                                                                \
        }                                                                                          \
      }                                                                                            \
      fbtweak__is_taken;                                                                           \
    }))

/*
 * The note. Each image has one, however many units it consists of (with GCC's LTO several identical
 * ones). It locates the image's records and its slot for the library, so that both are found
 * through the program headers, without section headers and without the file. Distances are relative
 * to their own fields, so that the dynamic linker has nothing to relocate. The eight bytes of
 * padding make sure that the section, and with it its bounds, exists. It is in a function, because
 * Clang drops the assembly outside of functions from the header of a module.
 */
#  define FBTWEAK__NOTE                                                                            \
    __asm__ volatile(                                                                              \
        ".ifndef .Lfbtweak__note\n"                                                                \
        ".set .Lfbtweak__note, 0\n" FBTWEAK__SECTION(                                              \
            "fbtweak", "awGR\",%progbits,.note.fbtweak,comdat", "aw\",%progbits",                  \
            ".balign 8\n"                                                                          \
            ".8byte 0\n")                                                                          \
            FBTWEAK__SECTION(".note.fbtweak", "aGR\",%note,.note.fbtweak,comdat", "a\",%note",     \
                             ".balign 4\n"                                                         \
                             ".4byte 8, 12, 1\n"                                                   \
                             ".asciz \"FBTweak\"\n"                                                \
                             ".hidden __start_fbtweak\n"                                           \
                             ".hidden __stop_fbtweak\n"                                            \
                             ".4byte __start_fbtweak - .\n"                                        \
                             ".4byte __stop_fbtweak - .\n"                                         \
                             ".4byte fbtweak__library_slot - .\n") ".endif\n")

/* A note for images with variables, so that the library searches no others for them. */
#  define FBTWEAK__VARIABLES_NOTE                                                                  \
    __asm__ volatile(                                                                              \
        ".ifndef .Lfbtweak__variables\n"                                                           \
        ".set .Lfbtweak__variables, 0\n" FBTWEAK__SECTION(                                         \
            ".note.fbtweak.variables", "aGR\",%note,.note.fbtweak.variables,comdat", "a\",%note",  \
            ".balign 4\n"                                                                          \
            ".4byte 8, 0, 4\n"                                                                     \
            ".asciz \"FBTweak\"\n") ".endif\n")

#endif /* FB_TWEAK_ENABLED */

/* The types of the notes named "FBTweak", used as numbers in those above: see RecordFormat.md. */
enum {
  FBTWEAK__NOTE_IMAGE = 1,
  FBTWEAK__NOTE_LIBRARY = 2,
  FBTWEAK__NOTE_APPLICATION = 3,
  FBTWEAK__NOTE_VARIABLES = 4,
  FBTWEAK__NOTE_USE = 5,
};

/*
 * Late images. An image that is loaded after the library looks for the library: one of the loaded
 * images has a note with the distance to its struct fbtweak__library. <link.h> declares the
 * functions for this only with _GNU_SOURCE, which would have to precede the first include of a
 * unit, so the few declarations needed are repeated here under other names.
 */
struct fbtweak__segment {
  uint32_t type;
#if UINTPTR_MAX > 0xffffffffu
  uint32_t flags;
#endif
  uintptr_t offset, address, physical_address, file_size, size;
#if UINTPTR_MAX <= 0xffffffffu
  uint32_t flags;
#endif
  uintptr_t alignment;
};
struct fbtweak__loaded {
  uintptr_t bias;
  const char *name;
  const struct fbtweak__segment *segments;
  uint16_t segment_count;
};

/*
 * For code that runs once: optimizing it would take more time in each unit than all of its parsing.
 * With "O0" GCC would also no longer merge the constants of the unit.
 */
#if !FB_TWEAK_ENABLED || !defined(__OPTIMIZE__)
#  define FBTWEAK__HARDLY_OPTIMIZED
#elif defined(__clang__)
#  define FBTWEAK__HARDLY_OPTIMIZED __optnone__
#else
#  define FBTWEAK__HARDLY_OPTIMIZED __optimize__("Og")
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Weak, because a static program may lack this function. Programs that load images have it. */
int fbtweak__each_loaded(int (*visit)(struct fbtweak__loaded *loaded, size_t size, void *context),
                         void *context) __asm__("dl_iterate_phdr") __attribute__((__weak__));

/*
 * Returns whether a segment with these permissions contains the memory. A wrong note must not cause
 * a crash.
 */
static inline __attribute__((FBTWEAK__HARDLY_OPTIMIZED)) bool
fbtweak__is_loaded(const struct fbtweak__loaded *loaded, uint32_t rights, uintptr_t start,
                   size_t size) {
  unsigned i;
  for (i = 0; i < loaded->segment_count; i++) {
    const struct fbtweak__segment *segment = &loaded->segments[i];
    uintptr_t first = loaded->bias + segment->address;
    if (segment->type == 1 /* PT_LOAD */ && (segment->flags & rights) == rights && first <= start &&
        start - first <= segment->size && size <= segment->size - (start - first))
      return true;
  }
  return false;
}

/* The table's size is 0 until the library has loaded, and differs in other versions. */
static inline __attribute__((FBTWEAK__HARDLY_OPTIMIZED)) bool
fbtweak__is_library(const struct fbtweak__loaded *loaded, uintptr_t address) {
  enum {
    FBTWEAK__READ_WRITE = 4 | 2,
    FBTWEAK__LEAST = offsetof(struct fbtweak__library, make_monitor)
  };
  if (address % sizeof(void *) != 0 ||
      !fbtweak__is_loaded(loaded, FBTWEAK__READ_WRITE, address, FBTWEAK__LEAST))
    return false;
  size_t size = __atomic_load_n((const size_t *)address, __ATOMIC_ACQUIRE);
  return size >= FBTWEAK__LEAST && size < 0x10000 &&
         fbtweak__is_loaded(loaded, FBTWEAK__READ_WRITE, address, size);
}

static inline __attribute__((FBTWEAK__HARDLY_OPTIMIZED)) int
fbtweak__look_for_library(struct fbtweak__loaded *loaded, size_t size, void *slot) {
  static const uint32_t lengths_and_type[] = {8, 4, FBTWEAK__NOTE_LIBRARY};
  (void)size;
  unsigned i;
  for (i = 0; i < loaded->segment_count; i++) {
    const struct fbtweak__segment *segment = &loaded->segments[i];
    const char *note = (const char *)(loaded->bias + segment->address);
    if (segment->type != 4 /* PT_NOTE */ ||
        !fbtweak__is_loaded(loaded, 4 /* PF_R */, (uintptr_t)note, segment->size))
      continue;
    const char *end = note + segment->size;
    for (; end - note >= 24; note += 4) {
      if (__builtin_memcmp(note, lengths_and_type, 12) != 0 ||
          __builtin_memcmp(note + 12, "FBTweak", 8) != 0)
        continue;
      int32_t distance;
      __builtin_memcpy(&distance, note + 20, 4);
      uintptr_t library = (uintptr_t)((int64_t)(uintptr_t)note + 20 + distance);
      if (!fbtweak__is_library(loaded, library))
        continue;
      __atomic_store_n((const struct fbtweak__library **)slot,
                       (const struct fbtweak__library *)library, __ATOMIC_RELEASE);
      return 1;
    }
  }
  return 0;
}

#if FB_TWEAK_ENABLED
/*
 * Each unit of an image has these two functions. The first that runs does the work for all. With
 * Clang's modules only variables are in each unit, so they are called through those.
 */
#  if defined(__clang__) && defined(__cplusplus)
#    define FBTWEAK__AT(constructor_, array_, function_)                                           \
      FBTWEAK__OF_IMAGE void function_(void);                                                      \
      FBTWEAK__OF_IMAGE __attribute__((__used__, __section__(array_ ".101"))) void (               \
          *function_##_pointer)(void) = function_;                                                 \
      FBTWEAK__OF_IMAGE __attribute__((FBTWEAK__HARDLY_OPTIMIZED)) void function_(void)
#  else
#    define FBTWEAK__AT(constructor_, array_, function_)                                           \
      __attribute__((constructor_(101), FBTWEAK__HARDLY_OPTIMIZED)) static void function_(void)
#  endif
extern bool fbtweak__is_open;
FBTWEAK__OF_IMAGE bool fbtweak__is_open = false;

FBTWEAK__AT(__constructor__, ".init_array", fbtweak__open_image) {
  FBTWEAK__NOTE;
  if (fbtweak__is_open)
    return;
  fbtweak__is_open = true;
  /* A library that has filled the slot knows the image. */
  if (fbtweak__current_library() || !fbtweak__each_loaded)
    return;
  fbtweak__each_loaded(fbtweak__look_for_library, &fbtweak__library_slot);
  const struct fbtweak__library *library = fbtweak__current_library();
  if (library)
    library->image_opened(&fbtweak__library_slot);
}
FBTWEAK__AT(__destructor__, ".fini_array", fbtweak__close_image) {
  const struct fbtweak__library *library = fbtweak__current_library();
  if (fbtweak__is_open && library)
    library->image_closed(&fbtweak__library_slot);
  fbtweak__is_open = false;
}
#else
static inline const struct fbtweak__library *fbtweak__current_library(void) {
#  ifdef FBTWEAK__IS_DISABLED
  return 0;
#  else
  static const struct fbtweak__library *library;
  if (!__atomic_load_n(&library, __ATOMIC_ACQUIRE) && fbtweak__each_loaded)
    fbtweak__each_loaded(fbtweak__look_for_library, &library);
  return __atomic_load_n(&library, __ATOMIC_ACQUIRE);
#  endif
}
#endif /* FB_TWEAK_ENABLED */

#ifdef __cplusplus
}
#endif

/* clang-format off */
/* put back */
#pragma pop_macro("Default")
#pragma pop_macro("F")
#pragma pop_macro("Number")
#pragma pop_macro("T")
#pragma pop_macro("action")
#pragma pop_macro("address")
#pragma pop_macro("address_")
#pragma pop_macro("address_inside")
#pragma pop_macro("alignment")
#pragma pop_macro("alpha")
#pragma pop_macro("attribute")
#pragma pop_macro("attributes")
#pragma pop_macro("attributes_size_")
#pragma pop_macro("before")
#pragma pop_macro("bias")
#pragma pop_macro("bind")
#pragma pop_macro("bits")
#pragma pop_macro("blue")
#pragma pop_macro("boolean")
#pragma pop_macro("call_bits")
#pragma pop_macro("callee")
#pragma pop_macro("capacity")
#pragma pop_macro("category")
#pragma pop_macro("category_size_")
#pragma pop_macro("cell")
#pragma pop_macro("change")
#pragma pop_macro("character")
#pragma pop_macro("choice")
#pragma pop_macro("choice_count")
#pragma pop_macro("choices")
#pragma pop_macro("choices_")
#pragma pop_macro("code")
#pragma pop_macro("collection")
#pragma pop_macro("collection_size_")
#pragma pop_macro("color")
#pragma pop_macro("context")
#pragma pop_macro("context_bits")
#pragma pop_macro("count")
#pragma pop_macro("current")
#pragma pop_macro("declaration")
#pragma pop_macro("default_value")
#pragma pop_macro("did_change")
#pragma pop_macro("did_load")
#pragma pop_macro("distance")
#pragma pop_macro("end")
#pragma pop_macro("error")
#pragma pop_macro("fallback")
#pragma pop_macro("file_size")
#pragma pop_macro("find")
#pragma pop_macro("first")
#pragma pop_macro("flag")
#pragma pop_macro("flags")
#pragma pop_macro("flush")
#pragma pop_macro("function")
#pragma pop_macro("function_")
#pragma pop_macro("given")
#pragma pop_macro("green")
#pragma pop_macro("handle")
#pragma pop_macro("i")
#pragma pop_macro("image_closed")
#pragma pop_macro("image_opened")
#pragma pop_macro("index")
#pragma pop_macro("initial")
#pragma pop_macro("integer")
#pragma pop_macro("is_empty_")
#pragma pop_macro("is_enumeration_")
#pragma pop_macro("is_in_file_")
#pragma pop_macro("joined")
#pragma pop_macro("key")
#pragma pop_macro("kind")
#pragma pop_macro("label")
#pragma pop_macro("label_size_")
#pragma pop_macro("left")
#pragma pop_macro("length")
#pragma pop_macro("lengths_and_type")
#pragma pop_macro("library")
#pragma pop_macro("literal")
#pragma pop_macro("load")
#pragma pop_macro("loaded")
#pragma pop_macro("make")
#pragma pop_macro("make_action")
#pragma pop_macro("make_monitor")
#pragma pop_macro("maximum")
#pragma pop_macro("minimum")
#pragma pop_macro("monitor")
#pragma pop_macro("name")
#pragma pop_macro("name_size_")
#pragma pop_macro("natural")
#pragma pop_macro("new_value")
#pragma pop_macro("note")
#pragma pop_macro("nothing")
#pragma pop_macro("number")
#pragma pop_macro("observe")
#pragma pop_macro("observe_loads")
#pragma pop_macro("offset")
#pragma pop_macro("old_value")
#pragma pop_macro("other")
#pragma pop_macro("other_size_")
#pragma pop_macro("parts")
#pragma pop_macro("physical_address")
#pragma pop_macro("problem")
#pragma pop_macro("provider")
#pragma pop_macro("queue")
#pragma pop_macro("queue_deliver")
#pragma pop_macro("queue_descriptor")
#pragma pop_macro("queue_destroy")
#pragma pop_macro("queue_make")
#pragma pop_macro("record")
#pragma pop_macro("red")
#pragma pop_macro("remove")
#pragma pop_macro("reset")
#pragma pop_macro("reset_group")
#pragma pop_macro("rights")
#pragma pop_macro("run")
#pragma pop_macro("run_in")
#pragma pop_macro("segment")
#pragma pop_macro("segment_count")
#pragma pop_macro("segments")
#pragma pop_macro("set")
#pragma pop_macro("set_text")
#pragma pop_macro("size")
#pragma pop_macro("size_")
#pragma pop_macro("sizes_")
#pragma pop_macro("slot")
#pragma pop_macro("source")
#pragma pop_macro("start")
#pragma pop_macro("step")
#pragma pop_macro("store")
#pragma pop_macro("stored")
#pragma pop_macro("stores_")
#pragma pop_macro("strangers")
#pragma pop_macro("text")
#pragma pop_macro("text_size_")
#pragma pop_macro("thread")
#pragma pop_macro("token")
#pragma pop_macro("tweak")
#pragma pop_macro("type")
#pragma pop_macro("unbind")
#pragma pop_macro("unobserve")
#pragma pop_macro("unused")
#pragma pop_macro("unused_too")
#pragma pop_macro("value")
#pragma pop_macro("variable")
#pragma pop_macro("version")
#pragma pop_macro("visit")
#pragma pop_macro("waiting")
#pragma pop_macro("walk")
#pragma pop_macro("will_change")
/* put back: end */
/* clang-format on */

#ifdef FBTWEAK__IS_OLD
#  undef inline
#endif
#endif /* FBTWEAK_H */
