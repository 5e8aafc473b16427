"""A build: one folding of a partition's log under one name, with a checkpoint of its own.

The name holds the projection's version (`v1`, `v1.2` for its second rebuild), so that readers know which code it is of.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engramlog_server.events.partitions import Key, KeyOf, LogKeys, declared
from engramlog_server.projections.fold.owner import PROJECTION_VERSION
from engramlog_server.projections.language.patterns import regex

FIRST_BUILD = f"v{PROJECTION_VERSION}"


_NAME = regex(r"v(0|[1-9][0-9]{0,8})(\.[1-9][0-9]{0,8})?\Z")


def is_build(name: str) -> bool:
    """Whether this is a build's name."""
    return _NAME.match(name) is not None


def version_of(build: str) -> int:
    """The projection version in a build's name."""
    return int(build[1:].partition(".")[0])


def next_build(build: str) -> str:
    """A fresh name for a rebuild by this release, after `build`."""
    number = int(build.partition(".")[2] or 0) if version_of(build) == PROJECTION_VERSION else -1
    return f"v{PROJECTION_VERSION}.{number + 1}" if number >= 0 else FIRST_BUILD


@dataclass(frozen=True, slots=True)
class BuildKeys:
    """Keys of one build of one partition."""

    tag: str
    build: str
    prefix: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "prefix", f"{{{self.tag}}}:{self.build}:")

    @property
    def log(self) -> LogKeys:
        """The keys of the partition's log."""
        return LogKeys(self.tag)

    checkpoint = Key("ck")
    """Hash: seq, head, digest, memories, and the lease: epoch, holder, until."""
    owners = Key("own")
    """Hash: owner -> owner state, the token of views."""
    quarantine = Key("q")
    """Hash: owner -> why its fold stands still."""
    records = KeyOf[str]("st")
    """Hash: memory id -> record."""
    changelog = KeyOf[str]("log")
    """Hash: number of a pack's first event among the owner's, from 1 -> packed change log and seqs of the owner's events."""
    tail = KeyOf[str]("tail", "string")
    """String: the newest of the change log, until it is a pack."""
    changes = KeyOf[str]("chg", "zset")
    """Sorted set: memory id by the owner's version at its last change, accesses too."""
    index = KeyOf[str]("idx")
    """Hash of what readers and jobs made of the change log, to find things in it; holds no contents."""
    moments = KeyOf[str]("past")
    """Hash of what readers made of the owner's past, to begin a fold at; holds contents, and goes when one is purged."""
    parked = KeyOf[str]("park", "list")
    """List: seqs of the owner's parked events, in order."""

    def of_owner(self, owner: str) -> tuple[str, ...]:
        """Every key of one owner."""
        return tuple(f"{self.prefix}{name.decode()}:{owner}" for name in declared(BuildKeys, KeyOf))
