# SPDX-License-Identifier: BSD-3-Clause
"""What readelf says of a program: its segments, its symbols and its debug information."""

import functools
import os
import re
import subprocess


def run(*arguments):
    return subprocess.run(
        list(map(str, arguments)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def checked(*arguments):
    done = run(*arguments)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, arguments))[:500]}: {done.returncode} {done.stderr[:2000]}")
    return done.stdout


def last(name):
    """A name without its scopes."""
    return re.sub(r"<.*>", "", name).split("::")[-1]


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
        self.objects, self.functions, self.thread_local = [], [], set()
        for line in checked("readelf", "-sW", path).splitlines():
            fields = line.split()
            if len(fields) < 8 or fields[3] not in ("FUNC", "OBJECT", "TLS") or fields[6] == "UND":
                continue
            if fields[3] == "FUNC":
                self.functions.append(int(fields[1], 16))
                continue
            if fields[3] == "TLS":
                self.thread_local.add(fields[7].split(".")[0])
            elif int(fields[2], 0):
                self.objects.append((int(fields[1], 16), int(fields[2], 0), fields[7]))

    @functools.cached_property
    def entries(self):
        """The entries of the debug information, by their offsets."""
        entries, scopes, unit, entry = {}, [], None, None
        for line in checked("readelf", "-W", "--debug-dump=info", self.path).splitlines():
            if match := re.match(r" *<(\d+)><([0-9a-f]+)>: .*\((DW_TAG_\w+)\)", line):
                depth = int(match[1])
                entry = entries[int(match[2], 16)] = {"tag": match[3], "children": []}
                unit = unit if depth else entry
                entry["unit"] = unit
                scopes[depth:] = [entry]
                if depth:
                    scopes[depth - 1]["children"].append(entry)
            elif entry is not None and (match := re.match(r" *<[0-9a-f]+> +DW_AT_(\w+) *: (.*)", line)):
                # `(strp) (offset: 0x3a5): gravity`, `(exprloc) 9 byte block: 3 80 82 … (DW_OP_addr: 8280)`
                entry[match[1]] = re.sub(r"^\(\w+\) *", "", match[2].strip())
                if match[1] == "name":
                    entry["name"] = entry["name"].split("): ")[-1]
        return entries

    def reference(self, entry, attribute):
        match = re.match(r"<0x([0-9a-f]+)>", entry.get(attribute, ""))
        return self.entries.get(int(match[1], 16)) if match else None

    def declared(self, entry):
        """The entry that has the name of another one."""
        for _ in range(8):
            entry = self.reference(entry, "abstract_origin") or self.reference(entry, "specification") or entry
        return entry

    @functools.cached_property
    def by_name(self):
        by_name = {}
        for entry in self.entries.values():
            if entry["tag"] == "DW_TAG_variable" or entry["tag"] == "DW_TAG_member" and "const_value" in entry:
                by_name.setdefault(self.declared(entry).get("name"), []).append(entry)
        return by_name

    def locations(self, name):
        """What readelf says of the places of the variables with a name: those of two declarations may differ."""
        return [entry.get("location") or ("constant" if "const_value" in entry else "")
                for entry in self.by_name.get(name, [])]

    @functools.cached_property
    def files(self):
        """The names of files by their numbers, by the offsets of the tables."""
        files, table, is_inside = {}, {}, False
        for line in checked("readelf", "-W", "--debug-dump=rawline", self.path).splitlines():
            if match := re.match(r" *Offset: +(\w+)", line):
                table = files[int(match[1], 0)] = {}
            elif "Table (" in line:
                is_inside = "File Name Table (" in line
            # As in `3\t(udata)\t1\t(line_strp)\t(offset: 0x33): hello.c`.
            elif is_inside and (match := re.match(r" +(\d+)\t.*[\t ]([^\t]+)$", line)):
                table[int(match[1])] = os.path.basename(match[2])
        return files

    def places(self, name):
        """Where the variables with a name are declared, such as `physics.c:12`."""
        places = set()
        for entry in self.by_name.get(name, []):
            chain = [entry]
            while len(chain) < 8 and (next_one := self.reference(chain[-1], "abstract_origin")
                                      or self.reference(chain[-1], "specification")):
                chain.append(next_one)
            holder = next((entry for entry in chain if "decl_file" in entry), None)
            line = next((entry["decl_line"] for entry in chain if "decl_line" in entry), "0")
            unit = (holder or chain[-1])["unit"]
            file = os.path.basename(unit.get("name", ""))
            if holder:
                file = self.files.get(int(unit.get("stmt_list", "-1"), 0), {}).get(int(holder["decl_file"]), "?")
            places.add(f"{file}:{line}")
        return places

    def units(self, name):
        """The source files of the units that declare a variable with a name."""
        return {os.path.basename(self.declared(entry)["unit"].get("name", "")) for entry in self.by_name.get(name, [])}

    def types(self, name, path):
        """The types of a part, in all variables with a name: the tag, the size and the encoding."""
        for entry in self.by_name.get(name, []):
            kind = self.base(self.declared(entry))
            for step in path:
                if kind and not isinstance(step, int):
                    kind = self.member(kind, step)
                elif kind and kind["tag"] == "DW_TAG_array_type":
                    ranges = sum(child["tag"] == "DW_TAG_subrange_type" for child in kind["children"])
                    kind = {**kind, "children": kind["children"][1:]} if ranges > 1 else self.base(kind)
            if kind:
                yield kind["tag"], int(kind.get("byte_size", "0"), 0), kind.get("encoding", "").split("\t")[-1]

    def base(self, entry):
        """The type of an entry, without typedefs and qualifiers."""
        for _ in range(32):
            entry = self.reference(entry, "type")
            if not entry or not entry["tag"].endswith(("typedef", "const_type", "volatile_type", "atomic_type")):
                return entry
        return None

    def member(self, kind, name):
        for child in kind["children"]:
            if child["tag"] == "DW_TAG_member" and child.get("name") == name:
                return self.base(child)
            if child["tag"] in ("DW_TAG_member", "DW_TAG_inheritance") and "name" not in child:
                if inner := self.base(child):
                    if found := self.member(inner, name):
                        return found
        return None

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
