"""`engramlog backup make FOLDER --keep N`, for a timer: make a backup, save the keys again, and remove backups beyond the
newest N that the new one holds completely."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, TypedDict

from engramlog_server.consumers.fold.folder import Probe, unprobed
from engramlog_server.events.errors import StoreUnavailable, refused
from engramlog_server.ops.backup.folder import BackupUnusable, drop_backup, open_backup
from engramlog_server.ops.backup.make import BackupMade, OlderBackups, Progress, make_backup
from engramlog_server.ops.clock import now
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import OpenStore

_NAME = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ")
_FORM = "%Y-%m-%dT%H-%M-%SZ"
MOST_KEPT = 1_000
"""Backups that may be kept of one store in one folder."""
AT_ONCE = 100
"""Backups that one rotation removes at most: their manifests are in memory together."""


def name_of(at: datetime) -> str:
    """How a backup of this second is called, such as `2026-11-28T03-00-00Z`. `at` is of UTC."""
    return at.strftime(_FORM)


class LeftBackup(TypedDict):
    """A backup beyond those that are to be kept, and why it stays."""

    name: str
    why: str


class BackupRotated(NamedTuple):
    """The new backup, those that are kept (the newest first) and those that went (the oldest first); names in the folder."""

    made: BackupMade
    kept: list[str]
    removed: list[str]
    left: list[LeftBackup]


def rotate_backups(
    store: OpenStore,
    settings: Settings,
    folder: Path,
    keep: int,
    *,
    keys: Path | None = None,
    probe: Probe = unprobed,
    on_progress: Progress = lambda _done, _all: None,
    name: Callable[[], str] = lambda: name_of(now()),
) -> BackupRotated:
    """Make a backup in a folder, named by its second, and remove the oldest of this store beyond `keep` that a rotation made there,
    `AT_ONCE` at most.

    Nothing goes before the new one is proved and has its name, and its keys are saved in a file (`keys_asked`); nothing that
    holds what it does not; none that somebody checks or restores. Raises what `make_backup` raises: then nothing went.
    """
    if not 1 <= keep <= MOST_KEPT:
        raise refused("keep", keep, f"1 to {MOST_KEPT:,}")
    folder = folder.expanduser().absolute()
    if not folder.is_dir():
        raise refused("folder", str(folder), "a folder that is there, and that this user may write to")
    unusable = dict[str, str]()
    try:
        found = sorted(rotated_in(folder, store.identity.store_id, unusable))
        going = max(len(found) + 1 - keep, 0)
        older = OlderBackups([open_backup(path) for _, path in found[: min(going, AT_ONCE)]])
    except OSError as error:
        raise StoreUnavailable(
            f"{folder} cannot be looked through: {error.strerror or error}", file=str(folder)
        ) from None
    made = make_backup(store, settings, folder / name(), keys=keys, older=older, probe=probe, on_progress=on_progress)
    kept = [Path(made.folder).name, *(path.name for _, path in reversed(found[going:]))]
    removed = list[str]()
    left = [LeftBackup(name=unread, why=why) for unread, why in unusable.items()]
    for one in older.found:
        probe("before one goes")
        if (why := older.beyond(one) or drop_backup(one.path)) is None:
            removed.append(one.path.name)
        else:
            left.append(LeftBackup(name=one.path.name, why=why))
    return BackupRotated(made, kept, removed, left)


def rotated_in(folder: Path, store_id: str, unusable: dict[str, str]) -> Iterator[tuple[str, Path]]:
    """The moments and places of a store's backups in a folder that are called as a rotation calls them; others are none of its.
    `unusable` gets the names of what cannot be read, and why. Raises OSError."""
    for path in sorted(folder.iterdir()):
        if _NAME.fullmatch(path.name) and not path.is_symlink():
            try:
                found = open_backup(path)
            except BackupUnusable as error:
                unusable[path.name] = error.message
                continue
            if found.manifest.store_id == store_id:
                yield found.manifest.moment, path
