# SPDX-License-Identifier: BSD-3-Clause
"""The global and static variables that gdb finds, and their types. Runs in gdb."""

import os
import re

import gdb
from image import last


class Variable:
    def __init__(self, symbol, function):
        self.symbol = symbol
        self.plain = symbol.name.split("[abi:")[0]
        self.name = f"{function}::{self.plain}" if function else self.plain
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
        except gdb.error:
            self.value, self.type, self.is_optimized_out = None, symbol.type, False

    @property
    def last(self):
        return last(self.plain)

    def contains(self, address):
        return self.address is not None and self.address <= address < self.address + max(self.size, 1)

    def __repr__(self):
        place = "" if self.address is None else f" at {self.address:#x}"
        return f"{self.name} of {os.path.basename(self.unit)}:{self.symbol.line}{place} ({self.symbol.addr_class})"


def is_reference(kind):
    return kind.strip_typedefs().code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF)


def all_blocks(image):
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
    units = [block for symtab in symtabs for block in (symtab.static_block(), symtab.global_block())]
    for address in image.functions:
        # The names of functions in C++ are not found without their parameters.
        if block := gdb.block_for_pc(address):
            units += [block.static_block, block.global_block]
    for block in filter(None, units):
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


def gdb_variables(image):
    variables, seen = [], set()
    for block, function in all_blocks(image):
        # Without its parameters.
        function = function and re.sub(r"(?<!^)(?<!::)\((?!anonymous namespace\)).*", "", function)
        for symbol in block:
            # Enumerators are constants too; no variable has their names.
            if not (symbol.is_variable or symbol.is_constant) or symbol.is_argument or not symbol.name:
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


def is_named(name, variable):
    """Whether a variable has a name, with some of its scopes."""
    return name == variable.name or name.endswith("::" + variable.name) or variable.name.endswith("::" + name)


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


def is_pointer_to_text(kind):
    kind = bare(kind)
    if kind.code != gdb.TYPE_CODE_PTR:
        return False
    target = bare(kind.target())
    return target.sizeof == 1 and target.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR)


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
        inner = leaves(field.type, path if field.is_base_class or not field.name else f"{path}.{field.name}")
        # An empty base class has no part.
        if not field.is_base_class or inner != [path]:
            found += inner
    return found or [path]
