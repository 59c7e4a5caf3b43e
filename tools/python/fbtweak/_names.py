# SPDX-License-Identifier: BSD-3-Clause
"""Names of tweaks as people type them, found by the rules of the command ``tweak``."""

from __future__ import annotations

import re
from typing import Callable, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from ._errors import TweaksError, UnknownTweak


class Key(NamedTuple):
    """The three levels of a name, which may contain any characters."""

    category: str
    collection: str
    name: str

    def __str__(self) -> str:
        return "/".join(level.replace("%", "%25").replace("/", "%2F") for level in self)


_ESCAPE = re.compile("%(2[fF]|25)")


def parse(text: str) -> Tuple[str, ...]:
    """The one to three levels of a name or of its end.

    :raises TweaksError: It has more levels, or a percent sign that starts no escape.
    """
    levels = text.split("/")
    if len(levels) > 3 or "%" in _ESCAPE.sub("", text):
        raise TweaksError(
            f"{text}: a tweak is named Category/Collection/Name, with %2F for a slash and %25 for a percent sign "
            "inside a level; the first levels may be left out"
        )
    return tuple(_ESCAPE.sub(lambda match: "%" if match[1] == "25" else "/", level) for level in levels)


def resolve(text: str, keys: Sequence[Key]) -> Key:
    """The tweak with this name.

    The name is whole, or the end of one. Its levels are whole, or the beginnings or ends of levels. An exact match
    is preferred to one without regard to case, and whole levels to parts.

    :raises UnknownTweak: No tweak, or more than one, is meant.
    """
    levels = parse(text)
    if len(levels) == 3 and Key(*levels) in keys:
        return Key(*levels)
    meant = _meant(levels, keys)
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise _ambiguous(text, sorted(map(str, meant)), "tweaks")
    raise _unknown(text, levels, keys)


def select(text: str, keys: Sequence[Key]) -> List[Key]:
    """The tweaks that a name, a group such as ``Control/``, or a pattern such as ``Control/*`` stands for.

    In a pattern ``*`` stands for any characters, ``?`` for one, ``[…]`` for one of some, and a backslash makes the
    next character an ordinary one. Its first levels may be left out like those of a name.

    :raises UnknownTweak: There is none, or a name or group could be several.
    """
    if text.endswith("/"):
        return _group(text, keys)
    if not any(each in text for each in "*?["):
        return [resolve(text, keys)]
    for ignores_case in (False, True):
        fits = _pattern(text, ignores_case)
        for count in (3, 2, 1):
            found = [key for key in keys if fits(_end(key, count))]
            if found:
                return found
    raise UnknownTweak(f"{text}: no such tweaks")


def _end(key: Key, count: int) -> str:
    return str(key) if count == 3 else str(key).split("/", 3 - count)[-1]


def _folded(text: str) -> str:
    return text.lower().replace("colour", "color")


def _is_whole(given: str, level: str) -> bool:
    return given == level


def _is_part(given: str, level: str) -> bool:
    return given != "" and (level.startswith(given) or level.endswith(given))


def _meant(levels: Tuple[str, ...], keys: Sequence[Key]) -> List[Key]:
    count = len(levels)
    for fits in (_is_whole, _is_part):
        for fold in (str, _folded):
            given = [fold(level) for level in levels]
            meant = [key for key in keys if all(map(fits, given, map(fold, key[3 - count :])))]
            if meant:
                return meant
    feature = _feature(levels)
    if count == 3 or feature is None:
        return []
    return _meant(feature, [key for key in keys if key.category == "Features" and key.name == "enabled"])


def _feature(levels: Tuple[str, ...]) -> Optional[Tuple[str, ...]]:
    """The switch of the feature with this name, with or without its ``enabled``."""
    if len(levels) == 1 or levels[0] == "Features":
        return ("Features", levels[-1], "enabled")
    return ("Features", levels[0], "enabled") if levels[1] == "enabled" else None


def _group(text: str, keys: Sequence[Key]) -> List[Key]:
    levels = parse(text[:-1])
    if len(levels) == 3:
        raise TweaksError(f"{text}: several tweaks are named Category/, Category/Collection/ or Collection/")
    categories = {key.category for key in keys}
    if len(levels) == 1 and levels[0] in categories:
        return [key for key in keys if key.category == levels[0]]
    groups = {Key("", "", each) for each in categories} | {Key("", key.category, key.collection) for key in keys}
    meant = _meant(levels, sorted(groups))
    if not meant:
        names = sorted(categories | {key.collection for key in keys})
        raise UnknownTweak(f"{text}: no such tweaks" + did_you_mean(nearest(levels[-1], names), "/"))
    if len(meant) > 1:
        raise _ambiguous(text, [str(each).lstrip("/") + "/" for each in meant], "groups")
    _, category, name = meant[0]
    if category == "" and name in categories:
        return [key for key in keys if key.category == name]
    return [key for key in keys if (key.category, key.collection) == (category, name)]


def _beginning(names: List[str]) -> List[str]:
    return names[:10] + ([f"and {len(names) - 10} more"] if len(names) > 10 else [])


def _ambiguous(text: str, meant: List[str], what: str) -> UnknownTweak:
    return UnknownTweak(f"{text}: {len(meant)} {what} match; give more of the name", _beginning(meant))


def _unknown(text: str, levels: Tuple[str, ...], keys: Sequence[Key]) -> UnknownTweak:
    try:
        names = [str(key) for key in _group(text.rstrip("/") + "/", keys)]
    except TweaksError:
        names = []
    if names:
        counted = "1 tweak" if len(names) == 1 else f"{len(names)} tweaks"
        return UnknownTweak(f"{text}: it is {counted}; name one", _beginning(names))
    slashed = text.replace(".", "/").split("/")
    if len(levels) < len(slashed) <= 3 and "%" not in text:
        meant = _meant(tuple(slashed), keys)
        if meant:
            return UnknownTweak(f"{text}: the levels of a name have slashes between them; write {meant[0]}")
    count = len(levels)
    ends = {_end(key, count): str(key) for key in sorted(keys, reverse=True)}
    hint = did_you_mean([ends[each] for each in nearest(text, list(ends))]) or "; tweak list shows all"
    return UnknownTweak(f"{text}: no such tweak{hint}")


def did_you_mean(names: Iterable[str], suffix: str = "") -> str:
    text = " or ".join(name + suffix for name in names)
    return f"; did you mean {text}?" if text else ""


def nearest(text: str, candidates: Sequence[str]) -> List[str]:
    """The most similar texts, at most three. Only the last level must be similar, or contain the one that was typed."""
    wanted = text.lower()
    name = wanted.rsplit("/", 1)[-1]
    limit = 1 if len(name) <= 3 else max(2, len(name) // 3)
    found = []
    for candidate in candidates:
        other = candidate.lower()
        if not name or max(len(wanted), len(other)) > 300:
            continue
        if other.rsplit("/", 1)[-1] == name:
            distance = 0
        else:
            distance = _edit_distance(wanted, other) if abs(len(wanted) - len(other)) <= limit else limit + 1
            if distance > limit:
                if len(name) < 3 or name not in other.rsplit("/", 1)[-1]:
                    continue
                distance = limit + 1
        found.append((distance, candidate))
    return [candidate for _, candidate in sorted(found)[:3]]


def _edit_distance(left: str, right: str) -> int:
    """The insertions, deletions, replacements and swaps of neighbours between two texts (Damerau, Levenshtein)."""
    before: List[int] = []
    last = list(range(len(right) + 1))
    for i, a in enumerate(left):
        row = [i + 1]
        for j, b in enumerate(right):
            distance = min(last[j] + (a != b), row[j] + 1, last[j + 1] + 1)
            if i > 0 and j > 0 and a == right[j - 1] and left[i - 1] == b:
                distance = min(distance, before[j - 1] + 1)
            row.append(distance)
        before, last = last, row
    return last[-1]


def _pattern(text: str, ignores_case: bool) -> Callable[[str], bool]:
    """Returns whether a text fits a pattern as in glob(7), in which ``*`` also matches slashes."""
    expression, index = "", 0
    while index < len(text):
        character = text[index]
        index += 1
        if character == "*":
            expression += ".*"
        elif character == "?":
            expression += "."
        elif character == "\\" and index < len(text):
            expression += re.escape(text[index])
            index += 1
        elif character == "[":
            members, index = _members(text, index)
            expression += members
        else:
            expression += re.escape(character)
    compiled = re.compile(expression, re.DOTALL | (re.IGNORECASE if ignores_case else 0))
    return lambda candidate: compiled.fullmatch(candidate) is not None


def _members(text: str, start: int) -> Tuple[str, int]:
    """The expression for the characters in brackets, and the index behind them; a lone bracket is a character."""
    index = start
    negation = ""
    if text[index : index + 1] in ("!", "^"):
        negation, index = "^", index + 1
    ranges = ""
    # A closing bracket in the first place is a member.
    while index < len(text) and (text[index] != "]" or not ranges):
        first = last = text[index]
        if text[index + 1 : index + 2] == "-" and text[index + 2 : index + 3] not in ("", "]"):
            last = text[index + 2]
            index += 2
        first, last = min(first, last), max(first, last)
        ranges += f"{re.escape(first)}-{re.escape(last)}"
        index += 1
    if index >= len(text):
        return re.escape("["), start
    return f"[{negation}{ranges}]", index + 1
