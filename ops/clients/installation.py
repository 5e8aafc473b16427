"""Installing the memory into a client: what changes in its configuration, the copies to go back to, and going back.

`plan_install` and `plan_uninstall` look and write nothing. Earlier contents are kept in the data folder. A configuration is changed
as text, so every other byte stays: entries of JSON with comments, tables of TOML. Text that cannot be read is refused, and nothing
is written.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import unified_diff
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from stat import S_ISREG
from typing import Any, NamedTuple, TypedDict

from engramlog_server.events.errors import InputError
from engramlog_server.ops.clients.hook import FOLDER
from engramlog_server.ops.clients.table import Adapter, Event, File
from engramlog_server.ops.durable import replace_file

KEPT = "installed.json"
HOOK_FILE = "hook.json"
"""Owner and key of the hooks: never in a client's configuration."""
MOST_BYTES = 64 * 1024 * 1024
"""Of a configuration file."""
PLUGIN_COMMAND = "const COMMAND = [] // program and arguments"
KEY_SHOWN = "egl_…"
_OTHERS_KEY = re.compile(
    r'((?:key|token|secret|password|authorization|credential)[^"\s:=,]*"?\s*[:=,]\s*)"(?!egl_|to be made")(?:[^"\\]|\\.)+"',
    re.IGNORECASE,
)
"""A value that stands behind such a name in somebody's configuration."""


class KeptFile(TypedDict):
    """A file that was changed: what it was before, and the digest of what was written."""

    path: str
    before: str | None
    """None if there was none."""
    written: str


class Installed(TypedDict):
    """Facts about an installation."""

    owner: str
    server_key: str
    key_ids: list[str]
    files: list[KeptFile]


@dataclass(slots=True)
class Change:
    """What becomes of one file. `after` is None if it is removed."""

    path: Path
    before: str | None
    now: str | None
    """The file without the memory, to which `uninstall` goes back."""
    after: str | None
    remark: str = ""
    has_key: bool = False
    """Whether a key is written into it: then only its user may read it."""

    @property
    def changes(self) -> bool:
        """Whether anything is to be written."""
        return self.after != self.before

    def shown(self, secrets: Sequence[str]) -> str:
        """The change as a unified diff, without keys, those of other programs in the same file included."""
        lines = unified_diff(
            (self.before or "").splitlines(),
            (self.after or "").splitlines(),
            str(self.path),
            str(self.path),
            lineterm="",
        )
        text = _OTHERS_KEY.sub(r'\1"…"', "\n".join(lines))
        for secret in filter(None, secrets):
            text = text.replace(secret, KEY_SHOWN)
        return text


def _program() -> tuple[str, ...]:
    """This program by its full path, for clients that know no PATH."""
    own = Path(sys.argv[0]).absolute()
    named = Path(sys.executable).with_name("engramlog")
    for one in (own, named):
        if one.name == "engramlog" and os.access(one, os.X_OK):
            return (str(one),)
    raise InputError(
        "engramlog: got no program of this name to name in a configuration; install it, then call it by name"
    )


@dataclass(slots=True)
class Place:
    """The folders of a client's configuration and of ours about it."""

    adapter: Adapter
    data: Path
    environment: Mapping[str, str]
    home: Path
    program: tuple[str, ...] = field(default_factory=_program)

    @property
    def own(self) -> Path:
        """Our folder for this client."""
        return self.data / FOLDER / self.adapter.name

    def path(self, file: File) -> Path:
        """A file of the client."""
        named = self.environment.get(file.variable) if file.variable else None
        return (Path(named).expanduser() if named else self.home / file.folder) / file.path

    def found(self) -> bool:
        """Whether the client seems to be used here: its configuration or its folder is there."""
        named = (self.adapter.hooks, self.adapter.servers, self.adapter.plugin)
        return any(self.path(one).exists() for one in named if one is not None)

    def installed(self) -> Installed | None:
        """What was installed."""
        with suppress(FileNotFoundError):
            told: Installed = json.loads((self.own / KEPT).read_bytes())
            return told
        return None

    def serves(self, known: Installed | None, owner: str) -> bool:
        """Whether it is installed for an owner, with the key of its hooks."""
        return known is not None and known["owner"] == owner and (self.own / HOOK_FILE).exists()

    def command(self, event: Event | None = None) -> list[str]:
        """Program and arguments of a hook; without an event as the plugin takes them: the program first, `hook EVENT` left out."""
        rest = ["--client", self.adapter.name, "--data", str(self.data)]
        return [*self.program, *(["hook", event] if event else []), *rest]


def plan_install(place: Place, owner: str, server_key: str) -> list[Change]:
    """The changes that install the memory. Raises InputError for a file that cannot be read, or an entry of somebody else's."""
    kept = {Path(one["path"]): one for one in (place.installed() or _NOTHING)["files"]}
    texts: dict[Path, Change] = {}
    adapter = place.adapter
    for file in (adapter.hooks, adapter.servers, adapter.plugin):
        if file is not None and place.path(file) not in texts:
            path = place.path(file)
            before = _read(path)
            texts[path] = Change(path, before, _without_ours(place, path, before, kept.get(path)), None)
            texts[path].after = texts[path].now
    if adapter.hooks is not None:
        change = texts[place.path(adapter.hooks)]
        change.after = _with_hooks(place, change.after)
    change = texts[place.path(adapter.servers)]
    environment = {"ENGRAMLOG_DATA": str(place.data), "ENGRAMLOG_KEY": server_key}
    entry = adapter.server([*place.program, "mcp", "--owner", owner], environment)
    change.after, change.has_key = _with_server(place, change, entry), True
    if adapter.plugin is not None:
        change = texts[place.path(adapter.plugin)]
        if change.now is not None:
            raise InputError(f"{change.path}: got a file that engramlog did not write; move it away first")
        text = files(__package__).joinpath("opencode_plugin.js").read_text("utf-8")
        change.after = text.replace(PLUGIN_COMMAND, f"const COMMAND = {json.dumps(place.command())}")
    return list(texts.values())


def plan_uninstall(place: Place, installed: Installed) -> list[Change]:
    """The changes that go back: a file that nobody changed since is as it was, of another our entries are removed."""
    changes: list[Change] = []
    for kept in installed["files"]:
        path = Path(kept["path"])
        before = _read(path)
        now = _without_ours(place, path, before, kept)
        same = before is not None and _digest(before) == kept["written"]
        remark = "" if same else "changed since: only the entries of engramlog are removed"
        changes.append(Change(path, before, now, now, remark if before is not None else "is gone"))
    return changes


def install_files(place: Place, installed: Installed, changes: Sequence[Change], hook_key: str | None) -> None:
    """Keep what there was and, with a new key, what the hooks need, for this user alone; then write every change."""
    elsewhere = [
        one
        for one in (place.installed() or _NOTHING)["files"]
        if Path(one["path"]) not in {each.path for each in changes}
    ]
    installed["files"] = elsewhere + [
        {"path": str(one.path), "before": one.now, "written": _digest(one.after)}
        for one in changes
        if one.after is not None
    ]
    for folder in (place.own.parent, place.own):
        folder.mkdir(mode=0o700, exist_ok=True)
    replace_file(place.own / KEPT, json.dumps(installed).encode())
    if hook_key is not None:
        replace_file(place.own / HOOK_FILE, json.dumps({"owner": installed["owner"], "key": hook_key}).encode())
    write(changes)


def write(changes: Sequence[Change]) -> None:
    """Write every change."""
    for change in changes:
        if change.changes:
            _write(change)


def forget(place: Place) -> None:
    """Remove everything of ours about the client."""
    for path in sorted(place.own.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    with suppress(FileNotFoundError):
        place.own.rmdir()


_NOTHING: Installed = {"owner": "", "server_key": "", "key_ids": [], "files": []}


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _read(path: Path) -> str | None:
    try:
        found = path.stat()
        if not S_ISREG(found.st_mode):
            raise InputError(f"{path}: got something that is not a file; nothing was written")
        if found.st_uid != os.geteuid():
            raise InputError(f"{path}: got a file of user {found.st_uid}; install as that user. Nothing was written")
        if found.st_size > MOST_BYTES:
            raise InputError(f"{path}: got {found.st_size:,} bytes; allowed: {MOST_BYTES:,}. Nothing was written")
        raw = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path}: got a file that cannot be read ({error.strerror}); nothing was written") from None
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise InputError(f"{path}: got a file that is not UTF-8; nothing was written") from None


def _write(change: Change) -> None:
    path = change.path.resolve()  # a link to a file elsewhere stays a link
    try:
        if change.after is None:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = path.stat().st_mode & 0o777 if path.exists() else None
        replace_file(path, change.after.encode())
        if mode is not None:
            path.chmod(mode & 0o700 if change.has_key else mode)
    except OSError as error:
        told = f"{path}: got a file that cannot be written ({error.strerror})"
        raise InputError(f"{told}; make it writable, then run the command again") from None


def _without_ours(place: Place, path: Path, text: str | None, kept: KeptFile | None) -> str | None:
    """The file without the memory: as it was, if nobody changed it since."""
    if text is None:
        return None
    if kept is not None and _digest(text) == kept["written"]:
        return kept["before"]
    adapter = place.adapter
    if _is(path, adapter.plugin):
        return None if kept is not None else text
    try:
        return _emptied(place, path, text, kept)
    except InputError as error:
        raise InputError(f"{path}: {error.message}") from None


def _is(path: Path, file: File | None) -> bool:
    """Whether a path is that of a client's file, by its name: the folder was named by a variable that may have changed since."""
    return file is not None and path.name == Path(file.path).name


def _emptied(place: Place, path: Path, text: str, kept: KeptFile | None) -> str:
    adapter, before = place.adapter, None if kept is None else kept["before"]
    if path.suffix == ".toml":
        _read_toml(text)
        return without_table(text, adapter.server_path) if kept is not None else text
    if not text.strip():
        return text
    names = [adapter.events[event].split() for event in adapter.events]
    emptied: list[tuple[str, ...]] = (
        [("hooks", name) for group in names for name in group] if _is(path, adapter.hooks) else []
    )
    for place_of in emptied:
        text = without_entries(text, place_of, lambda entry: _is_hook_of(adapter, entry))
        for number in range(len(listed(text, place_of))):  # a user may have put an own hook beside ours
            among: Names = (*place_of, number, "hooks")
            text = without_entries(text, among, lambda entry: _is_hook_of(adapter, entry))
    if kept is not None and _is(path, adapter.servers):
        text = without_entries(text, adapter.server_path, lambda _: True)
    known = {} if not before or not before.strip() else read_json(before).value
    for place_of in (*emptied, ("hooks",), adapter.server_path[:-1]):
        if kept is not None and not _has(known, place_of):
            text = without_empty(text, place_of)
    return text


def _has(known: Any, path: Sequence[str]) -> bool:
    for name in path:
        if not isinstance(known, dict) or name not in known:
            return False
        known = known[name]
    return True


def _is_hook_of(adapter: Adapter, entry: Any) -> bool:
    """Whether an element of a list of hooks is ours alone: all its commands call `hook EVENT --client NAME`."""
    if not isinstance(entry, dict):
        return False
    listed = entry.get("hooks")
    rows = listed if isinstance(listed, list) else [entry]
    commands = [one.get("command") if isinstance(one, dict) else None for one in rows]
    calls = [isinstance(one, str) and f"--client {adapter.name} " in one and " hook " in one for one in commands]
    return bool(calls) and all(calls)


def _with_hooks(place: Place, text: str | None) -> str:
    start = {"version": 1} if place.adapter.name == "cursor" else {}
    made = text if text is not None and text.strip() else json.dumps(start, indent=2) + "\n"
    for event, names in place.adapter.events.items():
        entry = place.adapter.entry(shlex.join(place.command(event)))
        for name in names.split():
            made = with_entry(made, ("hooks", name), entry, append=True)
    return made


def _with_server(place: Place, change: Change, entry: Mapping[str, Any]) -> str:
    path, text = place.adapter.server_path, change.after or ""
    toml = change.path.suffix == ".toml"
    made = text if text.strip() or toml else "{}\n"
    known = _read_toml(made) if toml else read_json(made).value
    if _has(known, path):
        raise InputError(f"{change.path}: got an entry {'.'.join(path)} of somebody else's; rename it first")
    if toml:
        return with_table(made, path, dict(entry))
    return with_entry(made, path, entry)


Names = tuple[str | int, ...]
"""Names of members; a number is a place in a list."""
_BLANK = re.compile(r"(?:[\s\ufeff]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r"[-+.\w]+")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
MOST_DEPTH = 200


_SCANNER = json.JSONDecoder()


class Node(NamedTuple):
    """A value in a text of JSON: its place, and what it contains. Only nodes on the path that was asked for have members."""

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


def read_json(text: str, path: Names = ()) -> Node:
    """The value of a text of JSON, with comments and commas at the end allowed. Raises InputError.

    `path`: the nodes that are needed. Everything else is read by Python's parser, as long as it has no comment.
    """
    try:
        node = _value(text, _blank(text, 0), 0, path)
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


def _value(text: str, at: int, depth: int, path: Names | None, *, plain: bool = True) -> Node:
    """`path`: None for a value whose nodes nobody needs. `plain`: whether Python's parser is tried for such a value."""
    if depth > MOST_DEPTH:
        raise ValueError("it is nested too deeply")
    if path is None and plain:
        try:
            value, end = _SCANNER.raw_decode(text, at)
        except (ValueError, RecursionError):
            plain = False  # nor is it tried for the parts of this value
        else:
            return Node(at, end, value)
    if text[at] == '"':
        value, end = _string(text, at)
        return Node(at, end, value)
    if text[at] in "{[":
        return _container(text, at, depth, path, plain=plain)
    found = _SCALAR.match(text, at)
    if found is None:
        raise ValueError(f"character {at + 1}")
    return Node(at, found.end(), json.loads(found[0]))


def _container(text: str, at: int, depth: int, path: Names | None, *, plain: bool) -> Node:
    is_object, close = text[at] == "{", "}" if text[at] == "{" else "]"
    members: list[tuple[str, int, Node]] = []
    items: list[Node] = []
    place = _blank(text, at + 1)

    def below(name: str | int) -> Names | None:
        return path[1:] if path and path[0] == name else None

    while text[place] != close:
        if is_object:
            start = place
            name, place = _string(text, place)
            place = _blank(text, place)
            if text[place] != ":":
                raise ValueError(f"character {place + 1}")
            node = _value(text, _blank(text, place + 1), depth + 1, below(name), plain=plain)
            members.append((name, start, node))
        else:
            node = _value(text, place, depth + 1, below(len(items)), plain=plain)
            items.append(node)
        place = _blank(text, node.end)
        if text[place] == ",":
            place = _blank(text, place + 1)
        elif text[place] != close:
            raise ValueError(f"character {place + 1}")
    value: Any = {name: node.value for name, _, node in members} if is_object else [node.value for node in items]
    return Node(at, place + 1, value, tuple(members), tuple(items))


def with_entry(text: str, path: Names, value: Any, *, append: bool = False) -> str:
    """The text with a value at a path, or with one more element of the list there. Raises InputError for another kind there."""
    node, rest = read_json(text, path), list(path)
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


def _dotted(path: Names) -> str:
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


def without_entries(text: str, path: Names, is_ours: Callable[[Any], bool]) -> str:
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


def listed(text: str, path: Names) -> list[Any]:
    """The list at a path; empty if there is none."""
    found = _at(text, path)
    return found[1].value if found is not None and isinstance(found[1].value, list) else []


def without_empty(text: str, path: Names) -> str:
    """The text without the value at a path if it is an empty object or list."""
    found = _at(text, path)
    return text if found is None or found[1].value not in ({}, []) else _cut_member(text, found[0], path[-1])


def _at(text: str, path: Names) -> tuple[Node, Node] | None:
    """The value at a path, behind the object that it is a member of."""
    parent = node = read_json(text, path)
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


def _read_toml(text: str) -> dict[str, Any]:
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
    _read_toml(made.replace("\r\n", "\n"))
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
