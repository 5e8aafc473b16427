"""Backups, the clock and the disk. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from events.envelope import from_micros, utc_text
from events.redis.clock import APART_MICROS, BACK_MICROS
from ops.doctor.finding import BACKUPS, CLOCK, DISK, CheckFinding, many
from ops.embedded.disk import Disk

FAR_MICROS = 5_000_000
"""Clocks further apart than this are advised about."""
OLD_BACKUP = timedelta(days=7)
BACKUP = "`engramlog backup make DEST`, on another disk, and prove it there: `engramlog backup check DEST`"


class HeadFacts(NamedTuple):
    """Kept heads."""

    kept: int
    path: Path
    sinks: int
    trouble: str | None
    """What is wrong with the file, or where the log does not meet it."""


def heads(facts: HeadFacts, public: bool) -> CheckFinding:
    """Whether what proves that the log was not changed lies where whoever changes it cannot write. `public`: whether others are let
    in."""
    check = "kept heads"
    if facts.trouble is not None:
        return BACKUPS.wrong(check, facts.trouble, "docs/integrity.md, `Kept heads`: a rebuild would only hide it")
    if facts.sinks:
        return BACKUPS.ok(check, f"heads go to {many(facts.sinks, 'place')} beside the data folder")
    told = f"{many(facts.kept, 'head')} kept on this machine alone" if facts.kept else "no head is kept yet"
    if public:
        return BACKUPS.advice(
            check, f"{told}: who changes the log can change them too", "let ENGRAMLOG_HEAD_SINKS name a place elsewhere"
        )
    return BACKUPS.ok(check, f"{told}; ENGRAMLOG_HEAD_SINKS gives them to others too")


class ValueFacts(NamedTuple):
    """Kept rejections."""

    kept: int
    path: Path
    trouble: str | None
    apart: bool
    """Whether they lie outside of the data folder."""


def rejections(facts: ValueFacts) -> CheckFinding:
    """Whether a restored copy will know what was rejected since."""
    check = "kept rejections"
    if facts.trouble is not None:
        return BACKUPS.wrong(check, facts.trouble, "docs/integrity.md, `Kept rejections`")
    told = f"{many(facts.kept, 'rejection')} kept in {facts.path}" if facts.kept else "none was needed yet"
    if facts.kept and not facts.apart:
        told += "; a copy that is put back leaves this file as it is"
    return BACKUPS.ok(check, told)


class SealsFacts(NamedTuple):
    """The seals' own backup."""

    path: Path | None
    """The file that is set; None where none is."""
    trouble: str | None = None
    """Why it cannot be used."""
    is_there: bool = False
    saved_at: datetime | None = None
    erased_at: datetime | None = None
    """Of the newest step of an erasure that this machine's list tells; None where there is none."""


def seals(facts: SealsFacts, now: datetime) -> CheckFinding:
    """Whether the seals are kept apart, and whether what is kept opens what was erased since."""
    check = "seals"
    if facts.path is None:
        return BACKUPS.ok(
            check, "no backup of the seals is kept apart (ENGRAMLOG_SEALS_BACKUP): each copy holds its own"
        )
    if facts.trouble is not None:
        return BACKUPS.wrong(check, facts.trouble, "docs/sealing.md, `The seals' own backup`")
    if not facts.is_there or facts.saved_at is None:
        return BACKUPS.wrong(
            check, f"{facts.path} is not there: the seals were never saved", "`engramlog backup seals`"
        )
    when = f"{facts.path} was saved {utc_text(facts.saved_at)}, {_age(now - facts.saved_at)} ago"
    if facts.erased_at is not None and facts.erased_at > facts.saved_at:
        return BACKUPS.wrong(
            check,
            f"{when}, before the newest erasure ({utc_text(facts.erased_at)}): with it a backup opens what was erased",
            "replace it: `engramlog backup seals`",
        )
    return BACKUPS.ok(check, f"{when}: what was said since opens from a backup by a later save alone")


def _age(age: timedelta) -> str:
    minutes = max(int(age.total_seconds() / 60), 0)
    if minutes < 120:
        return many(minutes, "minute")
    return many(minutes // 60, "hour") if minutes < 48 * 60 else many(minutes // 1_440, "day")


def copies(folder: Path | None, made: datetime | None, now: datetime, *, complete: bool = True) -> CheckFinding:
    """When the store was backed up last, as it tells itself; where that backup is now nobody sees from here. `folder`: its data
    folder, None of a Redis of one's own. `complete`: whether its seals were saved then or since, where it is sealed."""
    check = "copies"
    if made is not None:
        told = f"the last backup was made {utc_text(made)}, {_age(now - made)} ago"
        if not complete:
            return BACKUPS.wrong(
                check,
                f"{told}, and is incomplete: its seals were not saved, and without them nobody opens it",
                "name a file for them (ENGRAMLOG_SEALS_BACKUP), and `engramlog backup seals`",
            )
        if now - made > OLD_BACKUP:
            return BACKUPS.advice(check, told, f"make one: {BACKUP}")
        return BACKUPS.ok(check, f"{told}; whether it is still there cannot be seen from here")
    if folder is None:
        return BACKUPS.unseen(check, "no backup was made, and copies of your Redis cannot be seen from here", BACKUP)
    return BACKUPS.unseen(
        check, f"no backup was made, and whether there is a copy of {folder} cannot be seen from here", BACKUP
    )


def redis_clock(redis: int, own: int) -> CheckFinding:
    """Redis's clock against this machine's, microseconds since 1970."""
    check, apart = "redis clock", redis - own
    told = f"Redis's clock is {abs(apart) / 1e6:,.1f} s {'ahead of' if apart > 0 else 'behind'} this machine's"
    if abs(apart) > APART_MICROS:
        return CLOCK.wrong(
            check, told, "set the one that is wrong by NTP: events are refused as of the future, or hidden"
        )
    if abs(apart) > FAR_MICROS:
        return CLOCK.advice(check, told, "is NTP running on both?")
    return CLOCK.ok(check, "Redis's clock and this machine's agree")


def newest_event(recorded: int | None, redis: int) -> CheckFinding:
    """The newest event's recorded time against Redis's clock. None: there is no event, or it tells none."""
    check = "newest event"
    if recorded is None:
        return CLOCK.ok(check, "no event tells when it was recorded yet")
    when = utc_text(from_micros(recorded))
    if recorded - redis > BACK_MICROS:
        return CLOCK.wrong(
            check,
            f"the newest event was recorded {when}, which is in the future: Redis's clock went back",
            "set it by NTP: what is appended until then is recorded at that time",
        )
    return CLOCK.ok(check, f"recorded {when}")


def disk(folder: Path, found: Disk) -> CheckFinding:
    """The disk under a data folder."""
    check = "disk"
    if found.is_full:
        return DISK.wrong(
            check, found.told(folder, found.reserve), "make room: no writes are taken until then, reads go on"
        )
    if found.is_low:
        return DISK.advice(check, found.told(folder, found.wanted), "make room for the next rewrite of the log")
    return DISK.ok(check, found.told(folder, found.wanted))


def disk_elsewhere() -> CheckFinding:
    """Of a Redis of one's own."""
    return DISK.unseen(
        "disk",
        "the disk of your Redis cannot be seen from here",
        "watch it: a rewrite of the log takes as much again as the log",
    )
