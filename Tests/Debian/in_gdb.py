# SPDX-License-Identifier: BSD-3-Clause
"""Compares the variables of `tweak adopt --list` with those of gdb, in which this runs.

gdb finds the variables of a build by the blocks of its code, those of functions too, and says where they are, how large
they are, and what they contain: before the program runs, in `main`, and at its end, where drgn is asked as well. In
`main` every number, truth value and enumeration is set by `tweak set`, and all writable memory of the program is compared
with what should be there.
"""

import functools
import json
import os
import re
import struct
import subprocess

import gdb

TASK = json.loads(os.environ["TWEAKS_TASK"])
TWEAK = TASK["tweak"]
PATH = TASK["path"]
MOST_ADOPTED = 5000

difference_list = []
counts = dict.fromkeys(
    ["variables", "parts", "offered", "compared", "refused", "values_live", "drgn", "drgn_memory", "writes", "bytes"], 0)
reasons = {}
notes = []


def differ(what):
    difference_list.append(what)


def command(*arguments):
    done = subprocess.run(
        list(map(str, arguments)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done


def checked(*arguments):
    done = command(*arguments)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, arguments))[:500]}: {done.returncode} {done.stderr[:2000]}")
    return done.stdout


# The file, by readelf.

class Image:
    def __init__(self, path):
        self.path, self.loads, self.relro = path, [], None
        for line in checked("readelf", "-lW", path).splitlines():
            fields = line.split()
            if len(fields) < 7 or fields[0] not in ("LOAD", "GNU_RELRO"):
                continue
            start, size = int(fields[2], 16), int(fields[5], 16)
            flags = "".join(fields[6:-1])
            if fields[0] == "LOAD":
                self.loads.append((start, start + size, "W" in flags))
            else:
                self.relro = (start, start + size)
        self.objects, self.thread_local = [], set()
        for line in checked("readelf", "-sW", path).splitlines():
            fields = line.split()
            if len(fields) < 8 or fields[3] not in ("OBJECT", "TLS") or fields[6] == "UND":
                continue
            if fields[3] == "TLS":
                self.thread_local.add(fields[7].split(".")[0])
            elif int(fields[2], 0):
                self.objects.append((int(fields[1], 16), int(fields[2], 0), fields[7]))

    @functools.cached_property
    def locations(self):
        """By names, what readelf says of the places of variables: those of two declarations may differ."""
        entries, entry = {}, {}
        for line in checked("readelf", "-W", "--debug-dump=info", self.path).splitlines():
            if match := re.match(r" *<[0-9a-f]+><([0-9a-f]+)>: .*\((DW_TAG_\w+)\)", line):
                entry = entries[match[1]] = {"tag": match[2]}
            elif match := re.match(r" *<[0-9a-f]+> +DW_AT_(name|location|const_value|abstract_origin|specification) *: (.*)", line):
                # `(strp) (offset: 0x3a5): gravity`, `(string) gravity`, `(exprloc) 9 byte block: … (DW_OP_addr: 8280)`
                entry[match[1]] = re.sub(r"^\(\w+\) *", "", match[2].strip())
        locations = {}
        for entry in entries.values():
            if entry["tag"] != "DW_TAG_variable":
                continue
            named = entry
            while "name" not in named:
                origin = named.get("abstract_origin") or named.get("specification")
                if not origin or origin.strip("<>").removeprefix("0x") not in entries:
                    break
                named = entries[origin.strip("<>").removeprefix("0x")]
            name = named.get("name", "").split("): ")[-1]
            locations.setdefault(name, []).append(entry.get("location") or entry.get("const_value", "") and "constant")
        return locations

    def is_loaded(self, address, size):
        return any(start <= address and address + size <= end for start, end, _ in self.loads)

    def is_written(self, address, size):
        """Whether the program could write there, once its relocations are done."""
        if not any(start <= address and address + size <= end and writable for start, end, writable in self.loads):
            return False
        if not self.relro:
            return True
        # Whole pages are made read-only.
        start, end = (place // 4096 * 4096 for place in self.relro)
        return address + size <= start or address >= end


# gdb's variables.

class Variable:
    def __init__(self, symbol, function):
        self.symbol = symbol
        self.plain = symbol.name
        self.name = f"{function}::{symbol.name}" if function else symbol.name
        self.is_local = bool(function)
        self.unit = symbol.symtab.filename if symbol.symtab else ""
        self.address = self.size = None
        self.found = False
        try:
            self.value = symbol.value()
            self.type = self.value.type
            self.is_optimized_out = self.value.is_optimized_out
            if not self.is_optimized_out and self.value.address is not None and not is_reference(self.type):
                self.address, self.size = int(self.value.address), self.type.sizeof
        except gdb.error as error:
            self.value, self.type, self.is_optimized_out = None, symbol.type, False
            self.error = str(error)

    @property
    def last(self):
        return last(self.plain)

    def __repr__(self):
        place = "" if self.address is None else f" at {self.address:#x}"
        return f"{self.name} of {os.path.basename(self.unit)}:{self.symbol.line}{place} ({self.symbol.addr_class})"


def is_reference(kind):
    return kind.strip_typedefs().code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF)


def last(name):
    return re.sub(r"<.*>", "", name).split("::")[-1]


def all_blocks():
    """The blocks of all units."""
    names = set()
    for kind in ("variables", "functions"):
        for line in gdb.execute(f"info {kind} -n", to_string=True).splitlines():
            names.update(re.findall(r"[A-Za-z_~][\w:~]*", line))
    symtabs = []
    for name in sorted(names):
        symbols = list(gdb.lookup_static_symbols(name))
        symbols.append(gdb.lookup_global_symbol(name))
        for symbol in filter(None, symbols):
            if symbol.symtab and symbol.symtab.is_valid() and symbol.symtab not in symtabs:
                symtabs.append(symbol.symtab)
    seen, blocks, functions = set(), [], []
    for symtab in symtabs:
        for block in (symtab.static_block(), symtab.global_block()):
            if hash_of(block) in seen:
                continue
            seen.add(hash_of(block))
            blocks.append((block, None))
            functions += [symbol for symbol in block if symbol.addr_class == gdb.SYMBOL_LOC_BLOCK]
    for function in functions:
        try:
            pc = int(function.value().address)
        except gdb.error:
            continue
        block = gdb.block_for_pc(pc)
        while block and not (block.function and block.function.name == function.name) and block.superblock:
            block = block.superblock
        if not block or block.is_static or block.is_global:
            continue
        for at in range(block.start, block.end):
            inner = gdb.block_for_pc(at)
            while inner and not inner.is_static and not inner.is_global:
                if hash_of(inner) in seen:
                    break
                seen.add(hash_of(inner))
                outer = inner
                while not outer.function:
                    outer = outer.superblock
                blocks.append((inner, outer.function.name))
                inner = inner.superblock
    return blocks


def hash_of(block):
    first = next(iter(block), None)
    return (block.start, block.end, block.is_static, block.is_global, first and first.name,
            first and first.symtab and first.symtab.filename, str(block.function), first and first.line)


def gdb_variables():
    variables, seen = [], set()
    for block, function in all_blocks():
        function = function and re.sub(r"\(.*", "", function)
        for symbol in block:
            if not symbol.is_variable or symbol.is_argument or not symbol.name:
                continue
            if symbol.addr_class not in (gdb.SYMBOL_LOC_STATIC, gdb.SYMBOL_LOC_COMPUTED,
                                         gdb.SYMBOL_LOC_OPTIMIZED_OUT, gdb.SYMBOL_LOC_CONST,
                                         gdb.SYMBOL_LOC_CONST_BYTES):
                continue
            if function and (symbol.needs_frame or symbol.addr_class not in (
                    gdb.SYMBOL_LOC_STATIC, gdb.SYMBOL_LOC_COMPUTED)):
                continue  # a variable on the stack, or one that cannot be told from these
            variable = Variable(symbol, function)
            key = (variable.name, variable.address, variable.unit if variable.address is None else "")
            if key not in seen:
                seen.add(key)
                variables.append(variable)
    return variables


# tweak's parts.

class Part:
    def __init__(self, form):
        self.form = form
        self.name = form["name"]
        match = re.match(r"(?:(?P<file>[^:\[]+):(?!:)(?:\d+:(?!:))?)?(?P<root>(?:[^.\[(]|\([^)]*\))+)(?P<rest>.*)$", self.name)
        self.file, self.root, self.rest = match["file"], match["root"], match["rest"]
        self.address, self.size = form.get("address"), form.get("size")
        self.reason = form.get("reason")
        self.path = [int(index) if index else member for index, member in
                     re.findall(r"\[(\d+)(?:\.\.\d+)?\]|\.([^.\[]+)", self.rest)]
        self.key = None

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

def bare(kind):
    return kind.strip_typedefs().unqualified()


def walk(value, path):
    """The value of a part, and whether it, or something that it is in, is const; and whether it is a bit field."""
    is_const, bits = has_const(value.type), False
    for step in path:
        if isinstance(step, int):
            value = value[step]
            bits = False
        else:
            field = find_field(value.type, step)
            bits = bool(field and field.bitsize)
            value = value[field] if field is not None else value[step]
        is_const = is_const or has_const(value.type)
    return value, is_const, bits


def find_field(kind, name):
    """The field with a name, in base classes and members without a name too."""
    for field in kind.strip_typedefs().fields():
        if field.name == name:
            return field
    return None


def has_const(kind):
    for _ in range(32):
        if str(kind) != str(kind.unqualified()) and "const" in str(kind).replace(str(kind.unqualified()), ""):
            return True
        if kind.code == gdb.TYPE_CODE_TYPEDEF:
            kind = kind.target()
        elif kind.code == gdb.TYPE_CODE_ARRAY:
            kind = kind.target()
        else:
            return False
    return False


WORDS = {"long int": "long", "short int": "short", "long unsigned int": "unsigned long",
         "short unsigned int": "unsigned short", "unsigned": "unsigned int", "long long int": "long long",
         "long long unsigned int": "unsigned long long"}


def plain_type(text):
    words = [word for word in text.split() if word not in ("const", "volatile", "enum", "struct", "union", "_Atomic")]
    text = " ".join(words)
    text = WORDS.get(text, text)
    return text.split("::")[-1]


def kind_of(kind):
    """The type of a tweak by gdb's type."""
    kind = bare(kind)
    if kind.code == gdb.TYPE_CODE_BOOL and kind.sizeof == 1:
        return "bool"
    if kind.code == gdb.TYPE_CODE_FLT:
        return {4: "float", 8: "double"}.get(kind.sizeof)
    if kind.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_ENUM) and kind.sizeof in (1, 2, 4, 8):
        is_signed = kind.is_signed
        if kind.code == gdb.TYPE_CODE_ENUM:
            is_signed = None
        return (is_signed, 8 * kind.sizeof)
    return None


def is_same_kind(tweak, kind):
    expected = kind_of(kind)
    if isinstance(expected, tuple):
        match = re.fullmatch(r"(u?)int(\d+)", tweak or "")
        return bool(match) and int(match[2]) == expected[1] and expected[0] in (None, match[1] == "")
    return tweak == expected


def is_pointer_to_text(kind):
    kind = bare(kind)
    if kind.code != gdb.TYPE_CODE_PTR:
        return False
    target = bare(kind.target())
    return target.sizeof == 1 and target.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR)


FORMATS = {"bool": "B", "float": "f", "double": "d", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H",
           "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q"}


def packed(value, tweak):
    if value is None:
        return None
    return struct.pack("=" + FORMATS[tweak], value)


def content(value):
    """The bytes of a value, as gdb reads them."""
    return bytes(gdb.selected_inferior().read_memory(int(value.address), value.type.sizeof))


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
    same = [variable for variable in by_last.get(last(part.root), [])]
    if part.address is not None:
        here = [variable for variable in same
                if variable.address is not None and variable.address <= part.address < variable.address + max(variable.size, 1)]
        return here
    named = [variable for variable in same if is_named(part, variable)]
    return named


def is_named(part, variable):
    root = part.root
    return root == variable.name or root.endswith("::" + variable.name) or variable.name.endswith("::" + root)


def compare(parts, variables, image):
    by_last = {}
    for variable in variables:
        by_last.setdefault(variable.last, []).append(variable)
    whole = {}
    for part in parts:
        found = candidates(part, by_last)
        for variable in found:
            variable.found = True
        whole.setdefault((part.file, part.root), found)
        if part.is_offered:
            counts["offered"] += 1
        else:
            counts["refused"] += 1
            reason = part.reason.split(":")[0].split(";")[0]
            reasons[reason] = reasons.get(reason, 0) + 1
        check(part, found, image)
    rests = {}
    for part in parts:
        rests.setdefault((part.file, part.root), set()).add(re.sub(r"\[0\.\.\d+\]", "[0]", part.rest))
    for key, found in whole.items():
        if found:
            compare_parts(f"{key[0]}:{key[1]}" if key[0] else key[1], rests[key], found)
    counts["variables"] += len(whole)
    counts["parts"] += len(parts)


def compare_parts(name, rests, found):
    """Compares the parts of a variable with the members that it has in gdb, of which none may be missing."""
    differences = None
    for variable in found:
        expected = set(leaves(variable.type, ""))
        if expected == rests:
            return
        differences = differences or (expected - rests, rests - expected)
    differ(f"{name}: missing parts: {sorted(differences[0])[:9]}; parts that gdb does not have: {sorted(differences[1])[:9]}")


def leaves(kind, path):
    """The parts of a type that are no structures; of arrays those of the first element."""
    kind = kind.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_ARRAY:
        if kind.sizeof and kind.target().sizeof:
            return leaves(kind.target(), path + "[0]")
        return [path]
    if kind.code not in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        return [path]
    found = []
    members = [field for field in kind.fields() if hasattr(field, "bitpos")]
    for field in members:
        found += leaves(field.type, path if field.is_base_class or not field.name else f"{path}.{field.name}")
    # Empty base classes have no part, but an empty structure is one.
    return found if members else [path]


def check(part, found, image):
    """Compares a part with the variable of gdb that it belongs to."""
    if part.address is not None:
        match = next((variable for variable in found if variable.address is not None), None)
        if match is None:
            return unknown_to_gdb(part, found, image)
        part.variable = match
        if not is_named(part, match):
            differ(f"{part.name}: the name in gdb is {match}")
        if part.file and not is_in_file(part, match):
            differ(f"{part.name}: its file in gdb is {match.unit}")
        try:
            value, is_const, bits = walk(match.value, part.path)
        except (gdb.error, TypeError, RuntimeError) as error:
            return differ(f"{part.name}: gdb has no such part: {error}")
        compare_value(part, value)
        if part.is_offered:
            counts["compared"] += 1
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
            counts["by_symbol"] = counts.get("by_symbol", 0) + 1
            return None
        return differ(f"{part.name}: gdb and readelf know nothing at {part.address:#x}")
    if is_true_place(part.reason, last(part.root), image):
        counts["by_readelf"] = counts.get("by_readelf", 0) + 1
        return None
    return differ(f"{part.name}: gdb does not know it, {part.reason}; {found}")


PLACES = {
    "optimized out": lambda location: not location,
    "the compiler has put its value": lambda location: location == "constant",
    "the compiler has taken it apart": lambda location: "piece" in location,
    "the compiler keeps it in another form": lambda location: "stack_value" in location or "implicit_value" in location,
    "its place depends": lambda location: "location list" in location,
}


def is_true_place(reason, name, image):
    """Whether readelf has a variable with this name in such a place."""
    return any(fits(location) for beginning, fits in PLACES.items() if reason.startswith(beginning)
               for location in image.locations.get(name, []))


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
    if match.address is not None:
        place = (part.address if part.address is not None
                 else int(value.address) if value is not None and not bits and value.address is not None else match.address)
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
        return not image.is_loaded(place, 1)
    if reason.startswith(("it has no elements", "the debug information does not tell the number")):
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
        is_listed = variable.found or variable.is_local and variable.address is None
        if not is_listed and not is_declaration:
            differ(f"missing: {variable}")
    ranges = [(part.address, part.size or 1) for part in parts if part.address is not None]
    known = [(variable.address, variable.size) for variable in variables if variable.address is not None]
    for start, size, name in image.objects:
        plain = name.split(".")[0]
        if any(start <= at < start + size for at, _ in ranges) or any(at <= start < at + max(length, 1) for at, length in known):
            continue
        symbol = gdb.lookup_global_symbol(plain) or gdb.lookup_static_symbol(plain)
        if symbol and symbol.is_variable and plain not in names:
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
        done = command(TWEAK, "adopt", PATH, *names)
        lines = done.stdout.splitlines()
        if done.returncode and "choose another --name" in done.stderr:
            lines = []
            for name in names:
                done = command(TWEAK, "adopt", PATH, name)
                if done.returncode and "choose another --name" in done.stderr:
                    counts["renamed"] = counts.get("renamed", 0) + 1
                    done = command(TWEAK, "adopt", PATH, name, "--name", f"Variables/Renamed/{counts['renamed']}")
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
            counts["bytes"] += len(content)
            wrong = [start + i for i in range(len(content)) if content[i] != now[start][i]] if content != now[start] else []
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
            done = command(TWEAK, "set", inferior.pid, *words)
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
            counts["writes"] += 1
    done = command(TWEAK, "reset", inferior.pid, "--all")
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
            counts["values_live"] += 1
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
        counts["drgn_memory"] += 1
        if not answer["found"]:
            continue
        counts["drgn"] += 1
        for what in ("address", "size"):
            if answer[what] != question[what]:
                differ(f"{part.name}: its {what} in drgn is {answer[what]} instead of {question[what]}")
        if answer["tweak"] not in (question["tweak"], None):
            differ(f"{part.name}: its type in drgn is {answer['type']} instead of {question['tweak']}")


def main():
    gdb.execute("maint expand-symtabs", to_string=True)
    image = Image(PATH)
    variables = gdb_variables()
    listing = listed()
    for part in listing:
        part.variable = None
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
        part.variable = None
        check(part, candidates(part, by_last), image)
    counts["elements"] = len(elements)
    chosen = adopt((singles + elements)[:MOST_ADOPTED])
    if chosen:
        live(chosen, image)


try:
    main()
except Exception as error:  # gdb would only print it
    import traceback
    differ(f"failed: {traceback.format_exc()}")
with open(TASK["result"], "w") as file:
    json.dump({"differences": difference_list, "counts": counts, "reasons": reasons}, file)
