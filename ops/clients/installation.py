"""Installing the memory into a client: what changes in its configuration, the copies to go back to, and going back.

`plan_install` and `plan_uninstall` look and write nothing. Earlier contents are kept in the data folder.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import unified_diff
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from stat import S_ISREG
from typing import Any, TypedDict

from engramlog_server.events.errors import InputError
from engramlog_server.ops.clients import config_text
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
        config_text.read_toml(text)
        return config_text.without_table(text, adapter.server_path) if kept is not None else text
    if not text.strip():
        return text
    names = [adapter.events[event].split() for event in adapter.events]
    emptied: list[tuple[str, ...]] = [("hooks", name) for group in names for name in group] if adapter.hooks else []
    for place_of in emptied:
        text = config_text.without_entries(text, place_of, lambda entry: _is_hook_of(adapter, entry))
        for number in range(len(config_text.listed(text, place_of))):  # a user may have put an own hook beside ours
            among: config_text.Path = (*place_of, number, "hooks")
            text = config_text.without_entries(text, among, lambda entry: _is_hook_of(adapter, entry))
    if kept is not None and _is(path, adapter.servers):
        text = config_text.without_entries(text, adapter.server_path, lambda _: True)
    known = {} if not before or not before.strip() else config_text.read_json(before).value
    for place_of in (*emptied, ("hooks",), adapter.server_path[:-1]):
        if kept is not None and not _has(known, place_of):
            text = config_text.without_empty(text, place_of)
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
            made = config_text.with_entry(made, ("hooks", name), entry, append=True)
    return made


def _with_server(place: Place, change: Change, entry: Mapping[str, Any]) -> str:
    path, text = place.adapter.server_path, change.after or ""
    toml = change.path.suffix == ".toml"
    made = text if text.strip() or toml else "{}\n"
    known = config_text.read_toml(made) if toml else config_text.read_json(made).value
    if _has(known, path):
        raise InputError(f"{change.path}: got an entry {'.'.join(path)} of somebody else's; rename it first")
    if toml:
        return config_text.with_table(made, path, dict(entry))
    return config_text.with_entry(made, path, entry)
