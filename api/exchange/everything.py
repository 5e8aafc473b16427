"""Everything that is held of an owner at one moment, line by line: what an import reads again, and what proves it.

A head, the memories as any export has them, what was said and asked in the order of the log, the change log, and an end that counts
the lines and sums them up: so that one sees whether a file is whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from typing import Any, Final, NamedTuple

import orjson

from engramlog_server.api.exchange.record_shapes import FORMAT, PART, Data, at_line, read_line, short
from engramlog_server.api.requests.checks import LineTerms, told_lines
from engramlog_server.api.requests.snapshots import Snapshot
from engramlog_server.api.services.events import turns_aside
from engramlog_server.api.services.reading import Reader
from engramlog_server.events.envelope import Stored, decode, derived_id
from engramlog_server.events.errors import InputError, UndecodableEvent, refused
from engramlog_server.events.partitions import parse_position, position_text
from engramlog_server.events.standing import claimable
from engramlog_server.events.text import shown_json
from engramlog_server.projections.memory.deletion import forgotten_turns
from engramlog_server.projections.memory.record import SECRET, Memory
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.views.event_words import OwnerToday, telling, words_of
from engramlog_server.projections.views.query import moment

HEAD, MEMORY, REJECTION, CHANGE, END = "everything", "memory", "rejection", "change", "end"


class Everything(NamedTuple):
    """What an export of everything holds beside the memories; read as it is taken, once."""

    head: Data
    """Of which owner and moment it is."""
    said: Callable[[], Iterator[Data]]
    """What was said, found by tools, asked and put into prompts, in the order of the log: lines of `said_lines`."""
    changes: Callable[[], Iterator[Data]]
    """The change log, the oldest first, as `history` tells it."""


def part_of(line: Mapping[str, Any]) -> str:
    """As what the end counts a line."""
    return str(line.get(PART) or (MEMORY if "memory_id" in line else REJECTION))


def bundle_lines(told: Everything, memories: Iterable[Data]) -> Iterator[bytes]:
    """Every line with its end, in UTF-8; nothing in it is obeyed by a terminal."""
    counts, summed = Counter[str](), sha256()

    def written(line: Data) -> bytes:
        counts[part_of(line)] += 1
        raw = shown_json(orjson.dumps(line).decode() + "\n").encode()
        summed.update(raw)
        return raw

    yield written({"engramlog": FORMAT, PART: HEAD, **told.head})
    for memory in memories:
        yield written(memory)
    for line in told.said():
        yield written(line)
    for change in told.changes():
        yield written({"engramlog": FORMAT, PART: CHANGE, **change})
    end = {"engramlog": FORMAT, PART: END, "counts": dict(counts), "sha256": summed.hexdigest()}
    yield orjson.dumps(end) + b"\n"


TURN, TOOL, CONTEXT, QUESTION, SHOWN = "turn", "tool_result", "context", "question", "shown"
SAID: Final = (TURN, TOOL)
"""Parts that an import says again."""
_OF_KIND: Final = {"TurnRecorded.": TURN, "ToolResultRecorded.": TOOL, "MemoriesAccessed.": SHOWN}


def said_lines(stored: Iterable[Stored], partition: int, today: OwnerToday) -> Iterator[Data]:
    """A line for each of these events, in their order, that is no change of a memory.

    `withheld` says why words of it are not told: one of `event_words.WHY`.
    """
    for one in stored:
        kind = next((part for name, part in _OF_KIND.items() if one.kind.startswith(name)), None)
        if kind is None:
            continue
        line: Data = {"engramlog": FORMAT, PART: kind, "position": position_text(partition, one.seq)}
        try:
            words = words_of(one, decode(one.kind, one.body), today)
        except UndecodableEvent:
            yield line | {"unreadable": True}
            continue
        told = telling(one)
        beside = {"recorded_at": told.recorded_at, "principal": told.principal, "late_by": told.late_by}
        line |= {PART: _shown(words.data) if kind == SHOWN else kind, "withheld": words.withheld} | beside
        event = orjson.loads(one.body) | {"data": words.data}
        yield {name: value for name, value in line.items() if value is not None} | {"event": event}


def _shown(data: Data) -> str:
    """Which part what was shown is."""
    if data["via"] == "injection":
        return CONTEXT
    return QUESTION if any(one.get("query") for one in (data, *data.get("accesses", ()))) else SHOWN


def _decides(memory: Memory) -> bool:
    """Whether words that name it may not be told as they are."""
    gone = memory.purged_at is not None or memory.deleted_at is not None or memory.merged_into is not None
    return gone or memory.sensitivity >= SECRET


class Gatherer:
    """Reads on one store what an export of everything holds beside the memories."""

    def __init__(self, views: RedisViews, reader: Reader) -> None:
        self._views, self._reader = views, reader

    def gathered(self, owner: str, snapshot: Snapshot, times: LineTerms) -> Everything:
        """Everything of the moment of a snapshot, which is asked while it is held. Words are told as far as they may be today."""
        view, present = snapshot.view, snapshot.present
        forgotten = forgotten_turns(present.columns)
        if snapshot.past is not None:
            forgotten |= forgotten_turns(view.columns)
        deciding = {one.id: one for one in present.columns.memories if _decides(one)}
        asides = present.state.asides
        turns = cache(lambda: turns_aside(self._views, owner, asides))
        today = OwnerToday(deciding.get, lambda: forgotten, asides, turns)
        seqs = self._reader.seqs(owner, snapshot)
        last = max(seqs, default=0)
        position, chain = self._views.partition_chain(owner)
        head: Data = {
            "owner": owner,
            "position": snapshot.position,
            "instant": moment(snapshot.now),
            **told_lines(times),
            "profile": view.state.profile,
            "parameters": dict(view.state.parameters),
            "events": len(seqs),
            "chain": snapshot.chain.hex(),
            "partition_chain": {"position": position, "chain": chain},
            **snapshot.told,
        }
        lines = LineTerms(as_of=times.get("as_of"), known=times.get("known"))
        return Everything(
            head,
            lambda: said_lines(self._reader.stored(owner, seqs), snapshot.partition, today),
            lambda: self._changes(owner, last, lines),
        )

    def _changes(self, owner: str, last: int, lines: LineTerms) -> Iterator[Data]:
        """The change log up to a seq: what was folded since the moment is not told of it."""
        for page in self._reader.history_pages(owner, **lines):
            for change in page["changes"]:
                if parse_position(change["position"])[1] <= last:
                    yield dict(change)


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
