"""Reading what an export of everything holds beside memories: what was said is said again, all else its own log tells. Pure.

And whether it is as it was written: its end counts its lines and sums them up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from api.exchange.everything.bundle import CHANGE, END, HEAD, part_of
from api.exchange.everything.said import CONTEXT, QUESTION, SAID, SHOWN, TOOL, TURN
from api.exchange.record_fields import short
from api.exchange.record_shapes import FORMAT, PART, at_line, read_line
from events.envelope import derived_id
from events.errors import InputError, refused
from events.standing import claimable

OF_THE_LOG = (HEAD, CONTEXT, QUESTION, SHOWN, CHANGE, END)
"""Parts that tell of the log that they come from; the log that takes the others in tells its own."""
PARTS = (*SAID, *OF_THE_LOG)
OWN_SHAPES = ("auto", "engramlog")
"""Shapes of which a file may have parts."""
_PART = b'"%s"' % PART.encode()
_TYPES = {TURN: "TurnRecorded", TOOL: "ToolResultRecorded"}


class PartLine(NamedTuple):
    """One such line."""

    part: str
    event: Mapping[str, Any] | None = None
    """What it says again, as an envelope for whoever takes it in; None where it says nothing again."""
    withheld: bool = False
    """Whether its words were left out when it was exported, so that there is nothing to say."""


def read_part(record: Mapping[str, Any], owner: str) -> PartLine:
    """What a line with a `part` tells an owner who takes it in. Raises InputError naming the field.

    Of the same owner an event keeps its id, so that what is there already is not said twice; another's is derived from it.
    """
    part, version = record[PART], record.get("engramlog")
    if part not in PARTS:
        raise refused(PART, short(part), ", ".join(PARTS))
    if version != FORMAT or isinstance(version, bool):
        raise refused("engramlog", short(version), f"{FORMAT}: the version of an exported line that this release reads")
    if part not in SAID:
        return PartLine(part)
    if record.get("withheld") or record.get("unreadable"):
        return PartLine(part, withheld=True)
    event = record.get("event")
    if not isinstance(event, dict) or not isinstance(event.get("data"), dict):
        raise refused("event", short(event), f"the {_TYPES[part]} that was exported")
    if event.get("type") != _TYPES[part]:
        raise refused("event.type", short(event.get("type")), _TYPES[part])
    if event.get("owner") == owner:
        return PartLine(part, event)
    kept = {name: value for name, value in event.items() if name not in ("causation_id", "trust")}
    actor = event.get("actor") if event.get("actor") in claimable("import") else "system"
    made = derived_id("import said", owner, str(event.get("event_id")))
    return PartLine(part, {**kept, "owner": owner, "actor": actor, "event_id": made})


class Wholeness:
    """Holds the lines between the head and the end of an export of everything to what the end tells of them."""

    def __init__(self, *, summed: bool = True) -> None:
        """`summed`: whether the lines are those that were exported, byte for byte but for how they end."""
        self._summed, self._sum = summed, sha256()
        self._counts: Counter[str] | None = None

    @property
    def is_open(self) -> bool:
        """Whether a head was read and no end yet."""
        return self._counts is not None

    def take(self, line: bytes, told: Mapping[str, Any]) -> None:
        """A line, and what it says. Raises InputError where an end tells of other lines than those before it.

        An end without counts, or without a sum, is held to what it has.
        """
        part = told.get(PART)
        if part == HEAD:
            if self._counts is not None:
                raise refused(
                    PART, HEAD, f"{END} before it, which ends an export of everything: the one before was cut"
                )
            self._counts, self._sum = Counter(), sha256()
        if self._counts is None:
            if part == END:
                raise refused(PART, END, f"lines from {HEAD} on: the beginning of an export of everything was cut off")
            return
        if part == END:
            self._check(told, self._counts)
            self._counts = None
            return
        self._counts[part_of(told)] += 1
        if self._summed:
            self._sum.update(line.rstrip(b"\r\n") + b"\n")

    def close(self, number: int) -> None:
        """Nothing comes after this line. Raises InputError, telling the line, where an end is still to come."""
        if self._counts is not None:
            cut = refused(PART, "the end of the file", f"{END}, which ends an export of everything: it is cut")
            raise at_line(cut, number)

    def _check(self, end: Mapping[str, Any], found: Counter[str]) -> None:
        counts, told = end.get("counts"), end.get("sha256")
        if counts is not None:
            if not isinstance(counts, dict):
                raise refused("counts", short(counts), "how many lines of each part there are")
            for part in dict.fromkeys([*counts, *found]):
                if counts.get(part, 0) != found[part]:
                    allowed = (
                        f"{short(counts.get(part, 0))}, as its end tells: lines were lost or added since it was written"
                    )
                    raise refused(f"counts.{part}", found[part], allowed)
        if told is not None and self._summed and told != (summed := self._sum.hexdigest()):
            allowed = f"{short(told)}, as its end tells: a line was altered since it was written"
            raise refused("sha256", summed, allowed)


def look_through(lines: Iterable[bytes], shape: str = "auto", *, complete: bool = True) -> None:
    """Hold a file to the ends of what was exported with everything, before anything of it is written.

    `complete`: whether these are all its lines. Raises InputError with the line: also where one between a head and an end is none,
    and where not all of that is here to look at.
    """
    if shape not in OWN_SHAPES:
        return
    whole, number = Wholeness(), 0
    for number, line in enumerate(lines, 1):
        if not line.strip() or not (whole.is_open or _PART in line):
            continue
        try:
            told = read_line(line)
        except InputError as problem:
            if not whole.is_open:
                return  # the import tells it, with what stands before it
            raise at_line(problem, number) from None
        try:
            whole.take(line, told)
        except InputError as problem:
            raise at_line(problem, number) from None
    if whole.is_open and not complete:
        allowed = "a file on a disk: so much of an export of everything cannot be looked at before it is taken in"
        raise refused("file", f"more than {number:,} lines of a pipe", allowed)
    whole.close(number)
