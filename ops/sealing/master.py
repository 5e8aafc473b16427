"""Which master key the settings name."""

from __future__ import annotations

from pathlib import Path

from events.sealing.seals import MasterKey
from ops.sealing.key_file import NAME, KeyFile
from ops.settings import Settings


def master_of(settings: Settings, folder: Path | None = None) -> MasterKey | None:
    """The master key that is set; else the one that lies in the `folder` of an embedded store; None where there is none."""
    path = key_in(folder, settings)
    return None if path is None else KeyFile(path)


def key_in(folder: Path | None, settings: Settings) -> Path | None:
    """The file of the master key: the one that is set, else the one in the folder of an embedded store, where there is one."""
    if settings.sealed_by is not None:
        return Path(settings.sealed_by).expanduser()
    return folder / NAME if folder is not None and (folder / NAME).exists() else None
