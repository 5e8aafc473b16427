"""Changes to a client's configuration that leave every other byte as it is: entries of JSON with comments, tables of TOML.

A file is changed as text. Text that cannot be read is refused, and nothing is written.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from engramlog_server.events.errors import InputError

Path = tuple[str | int, ...]
"""Names of members; a number is a place in a list."""
_BLANK = re.compile(r"(?:[\s\ufeff]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r"[-+.\w]+")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
MOST_DEPTH = 200


class Node(NamedTuple):
    """A value in a text of JSON: its place, and what it contains."""

    start: int
    end: int
    value: Any
    members: tuple[tuple[str, int, Node], ...] = ()
    """Name, start of the name, and value of each member of an object."""
    items: tuple[Node, ...] = ()

    def member(self, name: str | int) -> Node | None:
        """The value of a name, the last one, as parsers take it; of a number the element there."""
        if isinstance(name, int):
            return self.items[name] if name < len(self.items) else None
        return next((node for key, _, node in reversed(self.members) if key == name), None)


def read_json(text: str) -> Node:
    """The value of a text of JSON, with comments and commas at the end allowed. Raises InputError."""
    try:
        node = _value(text, _blank(text, 0), 0)
    except (ValueError, IndexError) as error:
        raise InputError(f"configuration: got a text that is not JSON ({error}); nothing was written") from None
    if _blank(text, node.end) != len(text):
        raise InputError(f"configuration: got text behind its JSON, at character {node.end + 1}; nothing was written")
    if not isinstance(node.value, dict):
        raise InputError("configuration: got JSON that is not an object; nothing was written")
    return node


def _blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _string(text: str, at: int) -> tuple[str, int]:
    """A string, and where it ends."""
    found = _STRING.match(text, at)
    if found is None:
        raise ValueError(f"character {at + 1}")
    return json.loads(found[0]), found.end()


def _value(text: str, at: int, depth: int) -> Node:
    if depth > MOST_DEPTH:
        raise ValueError("it is nested too deeply")
    if text[at] == '"':
        value, end = _string(text, at)
        return Node(at, end, value)
    if text[at] in "{[":
        return _container(text, at, depth)
    found = _SCALAR.match(text, at)
    if found is None:
        raise ValueError(f"character {at + 1}")
    return Node(at, found.end(), json.loads(found[0]))


def _container(text: str, at: int, depth: int) -> Node:
    is_object, close = text[at] == "{", "}" if text[at] == "{" else "]"
    members: list[tuple[str, int, Node]] = []
    items: list[Node] = []
    place = _blank(text, at + 1)
    while text[place] != close:
        if is_object:
            start = place
            name, place = _string(text, place)
            place = _blank(text, place)
            if text[place] != ":":
                raise ValueError(f"character {place + 1}")
            node = _value(text, _blank(text, place + 1), depth + 1)
            members.append((name, start, node))
        else:
            node = _value(text, place, depth + 1)
            items.append(node)
        place = _blank(text, node.end)
        if text[place] == ",":
            place = _blank(text, place + 1)
        elif text[place] != close:
            raise ValueError(f"character {place + 1}")
    value: Any = {name: node.value for name, _, node in members} if is_object else [node.value for node in items]
    return Node(at, place + 1, value, tuple(members), tuple(items))


def with_entry(text: str, path: Path, value: Any, *, append: bool = False) -> str:
    """The text with a value at a path, or with one more element of the list there. Raises InputError for another kind there."""
    node, rest = read_json(text), list(path)
    while rest and (below := node.member(rest[0])) is not None:
        node = below
        rest.pop(0)
    done = path[: len(path) - len(rest)]
    if rest and not isinstance(node.value, dict):
        raise InputError(f"{_dotted(done)}: got {_kind(node)}; allowed: an object. Nothing was written")
    if not rest:
        if not append:
            return text[: node.start] + _spelled(text, value, node.start) + text[node.end :]
        if not isinstance(node.value, list):
            raise InputError(f"{_dotted(done)}: got {_kind(node)}; allowed: a list. Nothing was written")
        return _put(text, node, None, value)
    made: Any = [value] if append else value
    for name in reversed(rest[1:]):
        made = {name: made}
    return _put(text, node, str(rest[0]), made)


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))


def _kind(node: Node) -> str:
    return type(node.value).__name__


def _put(text: str, node: Node, name: str | None, value: Any) -> str:
    """The text with one more member or element behind the others."""
    starts = [start for _, start, _ in node.members] or [one.start for one in node.items]
    ends = [one.end for _, _, one in node.members] or [one.end for one in node.items]
    label = "" if name is None else f"{json.dumps(name, ensure_ascii=False)}: "
    line = "\r\n" if "\r\n" in text else "\n"
    outer = _indent(text, node.start)
    if ends:
        between = text[node.start + 1 : starts[0]]
        if "\n" not in between:
            return f"{text[: ends[-1]]}, {label}{json.dumps(value, ensure_ascii=False)}{text[ends[-1] :]}"
        inner = _indent(text, starts[0])
        spelled = _pretty(value, inner, inner[len(outer) :] or "  ", line)
        return f"{text[: ends[-1]]},{line}{inner}{label}{spelled}{text[ends[-1] :]}"
    step = "\t" if "\t" in outer else "  "
    spelled = _pretty(value, outer + step, step, line)
    inside = text[node.start + 1 : node.end - 1].rstrip()  # a comment stays
    return f"{text[: node.start + 1]}{inside}{line}{outer}{step}{label}{spelled}{line}{outer}{text[node.end - 1 :]}"


def _indent(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    found = re.match(r"[ \t]*", text[start:at])
    return found[0] if found else ""


def _spelled(text: str, value: Any, at: int) -> str:
    line = "\r\n" if "\r\n" in text else "\n"
    return _pretty(value, _indent(text, at), "  ", line)


def _pretty(value: Any, indent: str, step: str, line: str) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=step).split("\n")
    return f"{line}{indent}".join(lines)


def without_entries(text: str, path: Path, is_ours: Callable[[Any], bool]) -> str:
    """The text without the value at a path, or without those elements of the list there, that are ours."""
    while (found := _at(text, path)) is not None:
        parent, node = found
        if not isinstance(node.value, list):
            return _cut_member(text, parent, path[-1]) if is_ours(node.value) else text
        ours = next((place for place, one in enumerate(node.items) if is_ours(one.value)), None)
        if ours is None:
            return text
        text = _cut(text, node, [(one.start, one.end) for one in node.items], ours)
    return text


def listed(text: str, path: Path) -> list[Any]:
    """The list at a path; empty if there is none."""
    found = _at(text, path)
    return found[1].value if found is not None and isinstance(found[1].value, list) else []


def without_empty(text: str, path: Path) -> str:
    """The text without the value at a path if it is an empty object or list."""
    found = _at(text, path)
    return text if found is None or found[1].value not in ({}, []) else _cut_member(text, found[0], path[-1])


def _at(text: str, path: Path) -> tuple[Node, Node] | None:
    """The value at a path, behind the object that it is a member of."""
    parent = node = read_json(text)
    for name in path:
        below = node.member(name)
        if below is None:
            return None
        parent, node = node, below
    return parent, node


def _cut_member(text: str, parent: Node, name: str | int) -> str:
    places = [(start, one.end) for _, start, one in parent.members]
    found = [number for number, (key, _, _) in enumerate(parent.members) if key == name]
    return _cut(text, parent, places, found[-1])


def _cut(text: str, node: Node, places: Sequence[tuple[int, int]], number: int) -> str:
    """The text without one of the members or elements of a container, its comma and the space around it; comments stay."""
    start, end = places[number]
    if number:
        return text[: places[number - 1][1]] + text[end:]
    comma = _blank(text, end)
    if text[comma] == ",":
        return text[:start] + text[end:comma].lstrip() + text[comma + 1 :].lstrip()
    before, after = text[node.start + 1 : start], text[end : node.end - 1]
    return text[: node.start + 1] + (before + after if (before + after).strip() else "") + text[node.end - 1 :]


# --- TOML -----------------------------------------------------------------------------------------------------------


def read_toml(text: str) -> dict[str, Any]:
    """The values of a text of TOML. Raises InputError."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"configuration: got a text that is not TOML ({error}); nothing was written") from None


def with_table(text: str, path: tuple[str, ...], value: dict[str, Any]) -> str:
    """The text with a table behind everything else."""
    line = "\r\n" if "\r\n" in text else "\n"
    plain = {name: told for name, told in value.items() if not isinstance(told, dict)}
    tables = {name: told for name, told in value.items() if isinstance(told, dict) and told}
    lines = [f"[{'.'.join(path)}]", *(f"{name} = {_toml(told)}" for name, told in plain.items())]
    for name, told in tables.items():
        lines += ["", f"[{'.'.join((*path, name))}]", *(f"{key} = {_toml(one)}" for key, one in told.items())]
    before = text + ("" if not text or text.endswith("\n") else line) + (line if text else "")
    made = before + line.join(lines) + line
    read_toml(made.replace("\r\n", "\n"))
    return made


def _toml(value: Any) -> str:
    """A text, number, truth or list of texts: JSON's spelling of these is TOML's."""
    return json.dumps(value, ensure_ascii=False)


def without_table(text: str, path: tuple[str, ...]) -> str:
    """The text without a table and the tables in it: their headers, and the lines below each up to a blank line or a comment.

    Raises InputError if that is not all of the table, or more than it.
    """
    name = r"\s*\.\s*".join(rf'(?:{re.escape(one)}|"{re.escape(one)}")' for one in path)
    ours = re.compile(rf"\s*\[\s*{name}\s*[.\]]")
    kept: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        if ours.match(line):
            inside = True
            if kept and not kept[-1].strip():
                kept.pop()
        elif not inside or not line.strip() or line.lstrip().startswith(("#", "[")):
            inside = False
            kept.append(line)
    made = "".join(kept)
    left = _read_lines(made)
    if left is not None and left.get(path[0]) == {}:
        del left[path[0]]
    if left != _without(_read_lines(text), path):
        raise InputError(
            f"configuration: got {'.'.join(path)} in an unusual form; take it out by hand. Nothing was written"
        )
    return made


def _read_lines(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _without(value: Any, path: tuple[str, ...]) -> Any:
    """A value without what is at a path, and without tables that are empty then."""
    if not isinstance(value, dict) or path[0] not in value:
        return value
    below = _without(value[path[0]], path[1:]) if path[1:] else {}
    return {name: one for name, one in value.items() if name != path[0]} | ({path[0]: below} if below else {})
