"""Whether contents are sealed, and whether what opens them can be had. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ops.doctor.finding import SEALING, CheckFinding, named
from ops.sealing.watch import OPEN_STORE

if TYPE_CHECKING:
    from events.sealing.seals import SealingStanding

COPY = "keep a copy of it apart from the store and its backups: without it nobody can read the store"


class SealingFacts(NamedTuple):
    """How a store is sealed."""

    sealed: bool
    standing: SealingStanding | None
    """None where it could not be opened."""
    trouble: str | None = None
    """Why it could not."""
    is_set: bool = False
    """Whether a master key is at hand, or set."""
    open_chosen: bool = False
    """Whether the settings say that a new store lies open."""
    file: Path | None = None
    """Where the master key lies; None where a key service has it."""
    inside: bool = False
    """Whether it lies in the data folder."""


def contents(facts: SealingFacts) -> CheckFinding:
    """Whether words lie open."""
    check = "contents"
    if facts.sealed:
        return SEALING.ok(check, "contents are sealed: a copy of the Redis alone holds nobody's words")
    if facts.is_set:
        found, _, cure = OPEN_STORE.partition(": ")
        return SEALING.advice(check, found, cure)
    if facts.open_chosen:
        return SEALING.ok(check, "contents lie open, as ENGRAMLOG_SEALED_BY=none has it: who has a copy can read it")
    return SEALING.advice(
        check,
        "contents lie open: who has a copy of the Redis or its disk can read them",
        "`engramlog seal`; docs/sealing.md",
    )


def erased(many: int) -> CheckFinding:
    """Whether owners who were erased have a key again. `many`: how many do."""
    check = "erased owners"
    if not many:
        return SEALING.ok(check, "no owner of the list of erasures has a key")
    return SEALING.wrong(
        check,
        f"the keys of {many:,} erased owner{'' if many == 1 else 's'} are back in Redis",
        "`engramlog erase --again` destroys them again; find out which copy was restored, or who can write to Redis",
    )


def master_key(facts: SealingFacts) -> list[CheckFinding]:
    """Whether it answers, and where it lies; nothing of a store that lies open."""
    if not facts.sealed:
        return []
    if facts.standing is None or not facts.standing.reachable:
        why = facts.trouble or (facts.standing.reason if facts.standing else "") or "it does not answer"
        return [SEALING.wrong("master key", f"it cannot be had: {why}", "docs/sealing.md says what to do in each case")]
    return [SEALING.ok("master key", f"it opens the store: {facts.standing.key}"), _copy(facts)]


def _copy(facts: SealingFacts) -> CheckFinding:
    check = "copy of the key"
    if facts.file is None:
        return SEALING.ok(check, "a key service has the key; its own backups are its operator's")
    if facts.inside:
        return SEALING.advice(
            check,
            f"the key lies in the data folder ({facts.file.name}); whether there is a copy elsewhere cannot be seen",
            f"{COPY}; ENGRAMLOG_SEALED_BY can name a file elsewhere",
        )
    return SEALING.ok(check, f"the key lies apart from the data folder, in {facts.file}; keep a copy of it too")


def old_keys(names: Sequence[str], wraps_now: str, needed: Sequence[str]) -> CheckFinding:
    """Keys in the file beside the one that wraps now; `needed`: those by which something is wrapped still."""
    check = "old keys"
    if len(names) <= 1:
        return SEALING.ok(check, "the file holds the one key that wraps")
    old = [one for one in names if one != wraps_now]
    if idle := [one for one in old if one not in needed]:
        return SEALING.advice(
            check,
            f"nothing here needs {named(idle)} any more, and {'it lies' if len(idle) == 1 else 'they lie'} in the file still",
            f"`engramlog master-key --drop {idle[0]}`, once no backup needs it",
        )
    return SEALING.advice(
        check, f"by an older key is still wrapped what is here: {named(old)}", "`engramlog master-key --rewrap`"
    )
