"""Which master key the settings name."""

from __future__ import annotations

from pathlib import Path

from events.sealing.seals import MasterKey
from ops.sealing.key_file import NAME, KeyFile, make_key_file
from ops.settings import Settings


def master_of(settings: Settings, folder: Path | None = None, *, new: bool = False) -> MasterKey | None:
    """The master key that is set; else the one that lies in the `folder` of an embedded store; None where there is none.

    A `new` store of a folder is sealed: it has a key made for it, where none is set.
    """
    path = key_in(folder, settings)
    if path is None and new and folder is not None:
        path = folder / NAME
        make_key_file(path)
    return None if path is None else KeyFile(path)


def key_in(folder: Path | None, settings: Settings) -> Path | None:
    """The file of the master key: the one that is set, else the one in the folder of an embedded store, where there is one."""
    if settings.sealed_by is not None:
        return Path(settings.sealed_by).expanduser()
    return folder / NAME if folder is not None and (folder / NAME).exists() else None
