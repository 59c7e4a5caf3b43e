# SPDX-License-Identifier: BSD-3-Clause
"""Compares what `tweak adopt` says of a program with gdb, readelf and drgn. Runs in gdb.

The task is a form of JSON in the environment, and so is the result in a file. gdb says where variables are, how large
they are and what they contain: before the program runs, in `main`, and at its end, where drgn is asked as well. In
`main` each number, truth value and enumeration is set by `tweak set`, and all writable memory of the program is
compared with what should be there.
"""

import json
import os
import re
import struct
import subprocess
import sys
import traceback
from collections import Counter

import gdb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gdb_variables import (  # noqa: E402
    bare, gdb_variables, is_named, is_pointer_to_text, is_reference, kind_of, leaves, plain_type, walk)
from image import Image, checked, last, run  # noqa: E402

TASK = json.loads(os.environ["TWEAKS_TASK"])
TWEAK = TASK["tweak"]
PATH = TASK["path"]

differences, counts, reasons = [], Counter(), Counter()


def differ(what):
    differences.append(what)


# The parts that tweak lists.

class Part:
    def __init__(self, form):
        self.form = form
        self.name = form["name"]
        # As in `physics.c:12:(anonymous namespace)::table[0..3].weight`.
        match = re.match(
            r"(?:(?P<file>[^:\[]+):(?!:)(?:\d+:(?!:))?)?(?P<root>(?:[^.\[(]|\([^)]*\))+)(?P<rest>.*)$", self.name)
        self.file, self.root, self.rest = match["file"], match["root"], match["rest"]
        self.whole = self.name.removesuffix(self.rest)
        self.address, self.size = form.get("address"), form.get("size")
        self.reason = form.get("reason")
        self.path = [int(index) if index else member for index, member in
                     re.findall(r"\[(\d+)(?:\.\.\d+)?\]|\.([^.\[]+)", self.rest)]
        self.key = self.variable = None

    @property
    def is_offered(self):
        return self.form["canBeSet"]


def listed(*patterns):
    parts = []
    for start in range(0, max(len(patterns), 1), 400):
        form = json.loads(checked(TWEAK, "adopt", "--list", "--format", "json", PATH, *patterns[start:start + 400]))
        if form["problems"]:
            differ(f"problems: {form['problems']}")
        parts += map(Part, form["variables"])
    return parts


def element_names(part):
    """The names of the first, a middle and the last element of all arrays in a part."""
    ends = [int(end) for end in re.findall(r"\[0\.\.(\d+)\]", part.name)]
    if not ends:
        return [part.name]
    names = []
    for choose in (lambda end: 0, lambda end: (end + 1) // 2, lambda end: end):
        name = re.sub(r"\[0\.\.(\d+)\]", lambda match: f"[{choose(int(match[1]))}]", part.name)
        if name not in names:
            names.append(name)
    return names


# Comparing them.

def is_same_kind(tweak, kind):
    expected = kind_of(kind)
    if isinstance(expected, tuple):
        match = re.fullmatch(r"(u?)int(\d+)", tweak or "")
        return bool(match) and int(match[2]) == expected[1] and expected[0] in (None, match[1] == "")
    return tweak == expected


FORMATS = {"bool": "B", "float": "f", "double": "d", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H",
           "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q"}


def packed(value, tweak):
    if value is None:
        return None
    return struct.pack("=" + FORMATS[tweak], value)


def scalar(value, tweak):
    """gdb's value in the form of Python."""
    if tweak in ("float", "double"):
        return float(value)
    if tweak == "bool":
        return bool(value)
    number = int(value)
    size = 8 * value.type.sizeof
    # gdb has signs of its own for enumerations.
    if tweak.startswith("u"):
        return number % (1 << size)
    return (number + (1 << (size - 1))) % (1 << size) - (1 << (size - 1))


def is_same_value(given, value, tweak):
    try:
        return packed(given, tweak) == packed(scalar(value, tweak), tweak)
    except (struct.error, OverflowError, TypeError):
        return False


def candidates(part, by_last):
    """gdb's variables to which a part may belong."""
    same = by_last.get(last(part.root), [])
    if part.address is None:
        return [variable for variable in same if is_named(part.root, variable)]
    return [variable for variable in same if variable.contains(part.address)]


def compare(parts, variables, image):
    by_last = {}
    for variable in variables:
        by_last.setdefault(variable.last, []).append(variable)
    whole = {}
    for part in parts:
        found = candidates(part, by_last)
        for variable in found:
            variable.found = True
        whole.setdefault(part.whole, found)
        if part.is_offered:
            counts["offered"] += 1
        else:
            counts["refused"] += 1
            reason = part.reason.split(":")[0].split(";")[0]
            reasons[reason] += 1
        check(part, found, image)
    rests = {}
    for part in parts:
        rests.setdefault(part.whole, set()).add(re.sub(r"\[0\.\.\d+\]", "[0]", part.rest))
    for key, found in whole.items():
        if found:
            compare_parts(key, rests[key], found)
    counts["variables"] += len(whole)
    counts["parts"] += len(parts)


def compare_parts(name, rests, found):
    """Compares the parts of a variable with the members that it has in gdb, of which none may be missing."""
    possible = [set(leaves(variable.type, "")) for variable in found]
    if rests not in possible:
        differ(f"{name}: missing parts: {sorted(possible[0] - rests)[:9]}; "
               f"parts that gdb does not have: {sorted(rests - possible[0])[:9]}")


def check(part, found, image):
    """Compares a part with the variable of gdb that it belongs to."""
    if part.address is not None:
        match = next((variable for variable in found if variable.address is not None), None)
        if match is None:
            return unknown_to_gdb(part, found, image)
        part.variable = match
        if not is_named(part.root, match):
            differ(f"{part.name}: the name in gdb is {match}")
        if part.file and not is_in_file(part, match) and part.file not in image.units(match.last):
            differ(f"{part.name}: its file in gdb is {match.unit}")
        try:
            value, is_const, bits = walk(match.value, part.path)
        except (gdb.error, TypeError, RuntimeError) as error:
            return differ(f"{part.name}: gdb has no such part: {error}")
        compare_value(part, value)
        compare_declaration(part, match, image)
        if part.is_offered:
            counts["compared with gdb"] += 1
            if is_const or bits or not image.is_written(part.address, part.size):
                differ(f"{part.name}: it is offered, and const, a bit field or in read-only memory")
        elif not is_true_reason(part, match, value, is_const, bits, image):
            differ(f"{part.name}: untrue: {part.reason}; in gdb {match}, {value.type}")
        return None
    # None of those with this name may have another fate.
    matches = [variable for variable in found]
    if not matches:
        return unknown_to_gdb(part, found, image)
    for match in matches:
        value, is_const, bits = match.value, False, False
        if match.value is not None and not match.is_optimized_out and match.address is not None:
            try:
                value, is_const, bits = walk(match.value, part.path)
            except (gdb.error, TypeError, RuntimeError) as error:
                continue
        if is_true_reason(part, match, value, is_const, bits, image):
            return None
    return differ(f"{part.name}: untrue: {part.reason}; in gdb {matches}")


def compare_declaration(part, match, image):
    """Compares the place in the sources. gdb does not know files without code, and looks up others in a wrong unit."""
    file, line = re.fullmatch(r"(.*?)(?::(\d+))?", part.form.get("location") or "").groups(default="0")
    if line != str(match.symbol.line):
        differ(f"{part.name}: it is declared in line {line}, in gdb {match.symbol.line}")
    if f"{os.path.basename(file)}:{line}" not in image.places(match.last):
        differ(f"{part.name}: it is declared at {file}:{line}, by readelf at {image.places(match.last)}")


def is_in_file(part, variable):
    """Whether a variable is in the source file that its name has, or in a header, for which gdb has no unit."""
    declared = re.sub(r":\d+$", "", part.form.get("location") or "")
    return os.path.basename(variable.unit) in (os.path.basename(part.file), os.path.basename(declared))


def unknown_to_gdb(part, found, image):
    """gdb does not find a variable; then readelf may know a symbol there."""
    if part.address is not None:
        known = [name for start, size, name in image.objects
                 if start <= part.address and part.address + part.size <= start + size
                 and last(part.root) in name]
        if known:
            if not any(is_same_encoding(part, *kind) for kind in image.types(last(part.root), part.path)):
                differ(f"{part.name}: its types by readelf are {list(image.types(last(part.root), part.path))}")
            counts["judged by symbols"] += 1
            return None
        return differ(f"{part.name}: gdb and readelf know nothing at {part.address:#x}")
    kinds = {tag for tag, _, _ in image.types(last(part.root), part.path)}
    is_pointer = part.reason.startswith("it is a pointer") and "DW_TAG_pointer_type" in kinds
    if is_pointer or is_true_place(part.reason, last(part.root), image):
        counts["judged by readelf"] += 1
        return None
    return differ(f"{part.name}: gdb does not know it, {part.reason}; {found}")


def is_same_encoding(part, tag, size, encoding):
    """Whether the type of a part is one that readelf has."""
    tweak = part.form.get("tweakType")
    if tweak == "string":
        return tag == "DW_TAG_pointer_type"
    if size != part.size or tag == "DW_TAG_enumeration_type":
        return size == part.size
    if tweak in ("float", "double", "bool"):
        return encoding == {"bool": "(boolean)"}.get(tweak, "(float)")
    return encoding in (("(unsigned)", "(unsigned char)") if tweak[0] == "u" else ("(signed)", "(signed char)"))


PLACES = {
    "optimized out": lambda location: not location,
    "the compiler has put its value": lambda location: location == "constant",
    "the compiler has split it": lambda location: "piece" in location,
    "the compiler keeps it in another form": lambda location: "stack_value" in location or "implicit_value" in location,
    "its place depends": lambda location: "location list" in location,
}


def is_true_place(reason, name, image):
    """Whether readelf has a variable with this name in such a place."""
    return any(fits(location) for beginning, fits in PLACES.items() if reason.startswith(beginning)
               for location in image.locations(name))


def compare_value(part, value):
    if int(value.address) != part.address:
        differ(f"{part.name}: its address in gdb is {int(value.address):#x} instead of {part.address:#x}")
    if value.type.sizeof != part.size:
        differ(f"{part.name}: its size in gdb is {value.type.sizeof} instead of {part.size}")
    tweak = part.form.get("tweakType")
    if tweak == "string":
        if not is_pointer_to_text(value.type):
            differ(f"{part.name}: its type in gdb is {value.type}")
        return
    if not is_same_kind(tweak, value.type):
        differ(f"{part.name}: its type in gdb is {value.type} instead of {tweak}")
        return
    if plain_type(str(value.type)) != plain_type(part.form["type"]) and "{...}" not in str(value.type):
        differ(f"{part.name}: its type in gdb is {value.type} instead of {part.form['type']}")
    if not is_same_value(part.form.get("initial"), value, tweak):
        differ(f"{part.name}: its initial value in gdb is {value} instead of {part.form.get('initial')}")
    compare_choices(part, value, tweak)


def compare_choices(part, value, tweak):
    kind = bare(value.type)
    given = {(choice["label"], choice["value"]) for choice in part.form.get("choices") or []}
    if kind.code != gdb.TYPE_CODE_ENUM:
        if given:
            differ(f"{part.name}: it has choices, and is no enumeration in gdb")
        return
    size = 8 * kind.sizeof
    expected = {(last(field.name), field.enumval % (1 << size)) for field in kind.fields()}
    given = {(label, number % (1 << size)) for label, number in given}
    has_twice = len({number for _, number in expected}) < len(expected)
    if given != (set() if has_twice else expected):
        differ(f"{part.name}: its choices in gdb are {expected} instead of {given}")


def is_true_reason(part, match, value, is_const, bits, image):
    reason = part.reason
    kind = bare(value.type) if value is not None else None
    if reason.startswith("it is const"):
        return is_const
    if reason.startswith("a text can only be watched"):
        return is_pointer_to_text(value.type)
    if reason.startswith("it is in read-only memory"):
        return not image.is_written(part.address, part.size)
    if reason.startswith("it is thread-local"):
        return match.last in image.thread_local
    if reason.startswith("it is a bit field"):
        return bits
    if reason.startswith("it is a pointer"):
        return kind is not None and kind.code == gdb.TYPE_CODE_PTR
    if reason.startswith("it is a function"):
        return kind is not None and kind.code == gdb.TYPE_CODE_FUNC
    if reason.startswith("it refers to another"):
        return is_reference(match.type)
    if reason.startswith("no tweak can have"):
        return kind is not None and kind_of(value.type) is None and kind.code not in (
            gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)
    if reason.startswith(("its members are not", "the debug information only declares")):
        return kind is not None and kind.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION) and not [
            field for field in kind.fields() if hasattr(field, "bitpos") and not field.is_base_class]
    if reason.startswith("it is not in the program"):
        return not image.is_loaded(match.address, 1)
    if reason.startswith(("it has no elements", "the debug information lacks the number")):
        return value.type.strip_typedefs().code == gdb.TYPE_CODE_ARRAY and (
            value.type.sizeof == 0 or "[]" in str(value.type) or "[0]" in str(value.type))
    if reason.startswith(("optimized out", "the compiler has put its value")):
        is_nowhere = match.is_optimized_out or match.symbol.addr_class in (
            gdb.SYMBOL_LOC_OPTIMIZED_OUT, gdb.SYMBOL_LOC_CONST, gdb.SYMBOL_LOC_CONST_BYTES)
        return is_nowhere and is_true_place(reason, match.last, image)
    if reason.startswith(tuple(PLACES)):
        return (match.symbol.addr_class == gdb.SYMBOL_LOC_COMPUTED and match.address is None
                and is_true_place(reason, match.last, image))
    return False


def compare_missing(parts, variables, image):
    """Whatever gdb can print must be listed, and each symbol that has a type too."""
    names = {last(part.root) for part in parts}
    found = {(variable.last, variable.symbol.line) for variable in variables if variable.found}
    for variable in variables:
        # In code optimized as a whole, the declaration of a variable is another symbol than the place.
        is_declaration = variable.is_optimized_out and (variable.last, variable.symbol.line) in found
        # Functions have values that are computed from other ones.
        is_listed = variable.found or variable.address is None and (variable.is_local or variable.symbol.is_constant)
        if not is_listed and not is_declaration:
            differ(f"missing: {variable}")
    places = [part.address for part in parts if part.address is not None]
    for start, size, name in image.objects:
        plain = name.split(".")[0]
        if any(start <= place < start + size for place in places) or any(
                variable.contains(start) for variable in variables):
            continue
        symbol = gdb.lookup_global_symbol(plain) or gdb.lookup_static_symbol(plain)
        if symbol and symbol.is_variable and last(symbol.name) not in names:
            differ(f"missing: the symbol {name} at {start:#x}, of the type {symbol.type}")


# The running program.

def live(parts, image):
    """Sets all parts in `main`, and compares the values at the end."""
    gdb.execute("set disable-randomization off")
    gdb.execute("set startup-with-shell on")
    gdb.execute("set confirm off")
    gdb.execute("set pagination off")
    offline = int(gdb.lookup_global_symbol("main").value().address)
    gdb.execute("tbreak main", to_string=True)
    gdb.execute(f"run {TASK['arguments']} > /dev/null 2>&1" +
                (" < /dev/null" if "<" not in TASK["arguments"] else ""), to_string=True)
    inferior = gdb.selected_inferior()
    if not inferior.pid:
        raise RuntimeError("it does not run")
    slide = int(gdb.lookup_global_symbol("main").value().address) - offline
    writable = [(start, end) for start, end, is_writable in image.loads if is_writable]

    def memory():
        return {start: bytearray(bytes(inferior.read_memory(start + slide, end - start))) for start, end in writable}

    try:
        write(parts, inferior, slide, memory)
        for function in ("exit", "_exit"):
            gdb.execute(f"break {function}", to_string=True)
        gdb.execute("handle all nostop noprint pass", to_string=True)
        gdb.execute("handle SIGTRAP stop nopass", to_string=True)
        gdb.execute("continue", to_string=True)
        if not inferior.pid:
            raise RuntimeError("it ended before its end")
        values_live(parts, inferior, slide)
    finally:
        if gdb.selected_inferior().pid:
            gdb.execute("kill", to_string=True)


def adopt(parts):
    """Makes tweaks of all parts."""
    keys = {}
    for start in range(0, len(parts), 300):
        names = [part.name for part in parts[start:start + 300]]
        done = run(TWEAK, "adopt", PATH, *names)
        lines = done.stdout.splitlines()
        if done.returncode and "choose another --name" in done.stderr:
            lines = []
            for name in names:
                done = run(TWEAK, "adopt", PATH, name)
                if done.returncode and "choose another --name" in done.stderr:
                    counts["renamed"] += 1
                    done = run(TWEAK, "adopt", PATH, name, "--name", f"Variables/Renamed/{counts['renamed']}")
                lines.append(done.stdout.strip() or done.stderr)
        elif done.returncode:
            differ(f"adopting: {done.stderr[-500:]}")
        for line, part in zip(lines, parts[start:start + 300]):
            separator = f": {part.name}, "
            if separator not in line:
                differ(f"adopting {part.name}: {line}")
                continue
            part.key = line.split(separator)[0]
            if part.key in keys:
                differ(f"{part.name}: the tweak {part.key} is that of {keys[part.key]} too")
            keys[part.key] = part.name
    return [part for part in parts if part.key]


def new_value(part):
    """Another value than the one that there is: the text for the command, and the bytes that there should be then."""
    tweak, old = part.form["tweakType"], part.form.get("initial")
    choices = part.form.get("choices")
    if choices and any(choice["value"] == old for choice in choices):
        other = next((choice for choice in choices if choice["value"] != old), choices[0])
        return other["label"] or str(other["value"]), other["value"]
    if tweak == "bool":
        return ("off", False) if old else ("on", True)
    if tweak in ("float", "double"):
        number = struct.unpack("=f", struct.pack("=f", 0.1))[0] if tweak == "float" else 0.1
        return "0.1", number
    bits, is_signed = int(re.sub(r"\D", "", tweak)), tweak[0] == "i"
    least, greatest = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)
    number = next(number for number in (least, greatest, 85) if number != old)
    if not is_signed:
        number = greatest if old != greatest else greatest - 1
    return str(number), number


def write(parts, inferior, slide, memory):
    before = memory()
    expected = {start: bytearray(content) for start, content in before.items()}

    def patch(part, value):
        start = next(start for start, content in expected.items() if start <= part.address < start + len(content))
        offset = part.address - start
        expected[start][offset:offset + part.size] = packed(value, part.form["tweakType"])

    def compare_memory(when):
        now = memory()
        for start, content in expected.items():
            counts["bytes compared"] += len(content)
            wrong = [start + i for i, byte in enumerate(content) if byte != now[start][i]]
            if wrong:
                differ(f"{when}: {len(wrong)} bytes are not as they should be, the first at {wrong[0]:#x}")

    # What overlaps or touches another part is set in another round, so that a write beside it is seen.
    rounds, ends = [], []
    for part in sorted(parts, key=lambda part: part.address):
        index = next((index for index, end in enumerate(ends) if end < part.address), None)
        if index is None:
            rounds.append([])
            ends.append(0)
            index = len(rounds) - 1
        rounds[index].append(part)
        ends[index] = part.address + part.size
    for number, chosen in enumerate(rounds):
        for start in range(0, len(chosen), 200):
            words = []
            for part in chosen[start:start + 200]:
                text, value = new_value(part)
                part.new = value
                words += [part.key, text]
                patch(part, value)
            done = run(TWEAK, "set", inferior.pid, *words)
            if done.returncode:
                return differ(f"setting: {done.stderr[-500:]}")
        compare_memory(f"round {number}")
        for part in chosen:
            value, _, _ = walk(part.variable.symbol.value(), part.path) if part.variable else (None, 0, 0)
            if value is not None:
                if int(value.address) != part.address + slide:
                    differ(f"{part.name}: it is at {int(value.address):#x} in the running program")
                if not is_same_value(part.new, value, part.form["tweakType"]):
                    differ(f"{part.name}: {value} was read after {part.new} was set")
            counts["set"] += 1
    done = run(TWEAK, "reset", inferior.pid, "--all")
    if done.returncode:
        differ(f"reset: {done.stderr[-500:]}")
    for part in parts:
        patch(part, part.form["initial"])
    compare_memory("reset")
    for start, content in before.items():
        # The end of the last page need not be writable for the program.
        now = bytes(inferior.read_memory(start + slide, len(content)))
        for offset in range(0, len(content), 4096):
            piece = bytes(content[offset:offset + 4096])
            if now[offset:offset + 4096] != piece:
                inferior.write_memory(start + slide + offset, piece)
    return None


def values_live(parts, inferior, slide):
    form = json.loads(checked(TWEAK, "list", inferior.pid, "--format", "json"))
    values = {tweak["tweak"]: tweak.get("value") for tweak in form["tweaks"]}
    asked = []
    for part in parts:
        if part.key not in values:
            differ(f"{part.name}: {part.key} is not listed")
            continue
        tweak = part.form["tweakType"]
        if part.variable:
            value, _, _ = walk(part.variable.symbol.value(), part.path)
            counts["values at the end compared with gdb"] += 1
            if not is_same_value(values[part.key], value, tweak):
                differ(f"{part.name}: {value} in gdb at the end instead of {values[part.key]}")
        asked.append({"name": part.name, "root": part.root, "path": part.path, "address": part.address + slide,
                      "unit": part.variable.unit if part.variable else "", "size": part.size, "tweak": tweak})
    if not TASK["drgn"]:
        return
    done = subprocess.run(
        [TASK["drgn"], TASK["in_drgn"], str(inferior.pid), PATH], input=json.dumps(asked), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env={**os.environ, "DEBUGINFOD_URLS": ""})
    if done.returncode:
        return differ(f"drgn: {done.stderr[-1000:]}")
    for question, answer in zip(asked, json.loads(done.stdout)):
        part = next(part for part in parts if part.name == question["name"])
        given = values[part.key]
        if answer["bytes"] != packed(given, question["tweak"]).hex():
            differ(f"{part.name}: drgn reads {answer['bytes']} instead of {given}")
        counts["values at the end compared with drgn"] += 1
        if not answer["found"]:
            continue
        counts["variables compared with drgn"] += 1
        for what in ("address", "size"):
            if answer[what] != question[what]:
                differ(f"{part.name}: its {what} in drgn is {answer[what]} instead of {question[what]}")
        if answer["tweak"] not in (question["tweak"], None):
            differ(f"{part.name}: its type in drgn is {answer['type']} instead of {question['tweak']}")


def main():
    gdb.execute("maint expand-symtabs", to_string=True)
    image = Image(PATH)
    variables = gdb_variables(image)
    listing = listed()
    compare(listing, variables, image)
    compare_missing(listing, variables, image)
    # The elements of arrays, too.
    offered = [part for part in listing if part.is_offered]
    singles = [part for part in offered if "[0.." not in part.name]
    names = [name for part in offered if "[0.." in part.name for name in element_names(part)]
    elements = listed(*names) if names else []
    if [part.name for part in elements] != names:
        differ(f"asked for {len(names)} elements, {len(elements)} came")
    by_last = {}
    for variable in variables:
        by_last.setdefault(variable.last, []).append(variable)
    for part in elements:
        check(part, candidates(part, by_last), image)
    counts["elements"] += len(elements)
    chosen = adopt(singles + elements)
    if chosen:
        live(chosen, image)


try:
    main()
except Exception as error:  # gdb would only print it
    differ(f"failed: {traceback.format_exc()}")
with open(TASK["result"], "w") as file:
    json.dump({"differences": differences, "counts": counts, "reasons": reasons}, file)
