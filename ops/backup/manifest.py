"""The manifest of a backup: what it is of, up to when, and by which hashes its files are known. Pure."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Annotated, NamedTuple

import msgspec

from engramlog_server.events.partitions import MAX_PARTITIONS
from engramlog_server.events.text import UNREADABLE

BACKUP_FORMAT = 1
MOST_BYTES = 4 << 20
"""Bytes of a manifest: one of 1,024 partitions takes half a megabyte."""
_Hash = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
_Count = Annotated[int, msgspec.Meta(ge=0, le=(1 << 62))]
_Tag = Annotated[str, msgspec.Meta(pattern=r"^e[0-9]{1,7}\Z")]
_Name = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-zA-Z-]{1,64}\Z")]
_Text = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")


class DamagedManifest(Exception):
    """A manifest cannot be read; a sentence without its subject."""


class BackupFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a backup."""

    bytes: _Count
    sha256: _Hash
    raw: _Count
    """Bytes of its rows, unpacked."""


class BackupPart(msgspec.Struct, frozen=True, kw_only=True):
    """A partition's log in a backup."""

    tag: _Tag
    head: _Count
    """Seq of the newest entry."""
    newest: Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{32})?\Z")]
    """Id of its event, in hexadecimal; empty where there is none."""
    chain: _Hash
    """The chain there."""
    folded: _Count
    """Up to where the chain was held against what the store had folded."""
    entries: _Hash
    """SHA-256 over the rows of all entries."""
    file: BackupFile


class BackupManifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a backup tells of itself."""

    format: int
    backup: _Name
    release: _Text
    store_id: _Name
    log_format: _Text
    parameter_set: _Text
    sealed: bool
    moment: _Text
    """Redis's clock when the heads were read."""
    made_at: _Text
    """When it was whole, by the clock of the machine."""
    store: BackupFile
    parts: Annotated[list[BackupPart], msgspec.Meta(min_length=1, max_length=MAX_PARTITIONS)]

    @property
    def events(self) -> int:
        """How many entries it holds."""
        return sum(one.head for one in self.parts)

    @property
    def files(self) -> list[BackupFile]:
        """All of its files but the manifest."""
        return [self.store, *(one.file for one in self.parts)]


class _Bound(msgspec.Struct, frozen=True):
    """A manifest as it lies in its file."""

    sha256: str
    manifest: msgspec.Raw


class _Format(msgspec.Struct, frozen=True):
    """What is looked at first."""

    format: int


class PartName(NamedTuple):
    """How the files of a backup are called: by number alone, so a manifest leads nowhere."""

    manifest: str = "manifest.json"
    store: str = "store.rows.gz"

    @staticmethod
    def part(number: int) -> str:
        """Of a partition."""
        return f"partition-{number:04}.rows.gz"


NAMES = PartName()


def write_manifest(told: BackupManifest) -> bytes:
    """As a file."""
    raw = msgspec.json.encode(told)
    return msgspec.json.encode(_Bound(sha256(raw).hexdigest(), msgspec.Raw(raw))) + b"\n"


def read_manifest(raw: bytes) -> BackupManifest:
    """What a file tells. Raises DamagedManifest."""
    try:
        bound = msgspec.json.decode(raw, type=_Bound)
        inner = bytes(bound.manifest)
        told = msgspec.json.decode(inner, type=_Format)
    except UNREADABLE as error:
        raise DamagedManifest(f"is no manifest of a backup ({error})") from None
    if told.format > BACKUP_FORMAT:
        raise DamagedManifest(
            f"is of format {told.format}, of a newer release; this one knows format {BACKUP_FORMAT}: use the release that made it"
        )
    if sha256(inner).hexdigest() != bound.sha256:
        raise DamagedManifest("is not what was written: its own hash is another")
    try:
        found = msgspec.json.decode(inner, type=BackupManifest)
    except UNREADABLE as error:
        raise DamagedManifest(f"is no manifest of a backup ({error})") from None
    if len({one.tag for one in found.parts}) != len(found.parts):
        raise DamagedManifest("names a partition twice")
    for name, instant in (("moment", found.moment), ("made_at", found.made_at)):
        if not _INSTANT.fullmatch(instant):
            raise DamagedManifest(f"has no instant in {name}")
    return found
