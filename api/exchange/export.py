"""Exporting an owner: lines that `import records` reads again, and a text for people. Pure; the instant is an argument.

A line holds what a `MemoryCreated` with `imported` can carry, so what grew out of later events stays behind: times of
mentions (an imported memory decays from `created_at`, its mentions are counted), negations and conflicts, replaced versions,
merges, recorded levels and shortened texts, modalities but one, boosts, review schedules, triples, deletions undone, and the
change log. What laws compute (strength, consolidation) is computed anew. Edges that follow from the records are derived
again; of the others those between exported memories go along, base and boost as one weight. S, importance and the
words of a keyword are held within what validation lets in (8,760 h, 10, 100 characters).

Everything that is held of an owner at one moment, line by line: what an import reads again, and what proves it.

A head, the memories as any export has them, what was said and asked in the order of the log, the change log, and an end that counts
the lines and sums them up: so that one sees whether a file is whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any, Final, NamedTuple

import orjson

from engramlog_server.api.checks import LineTerms, check_id_of, lines_answer
from engramlog_server.api.choices import ASKED_FOR, REJECTIONS
from engramlog_server.api.exchange.record_shapes import FORMAT, OF_THE_LOG, PART, Data, at_line, read_line, short
from engramlog_server.api.services.events import turns_set_aside
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.snapshots import Snapshot
from engramlog_server.events.envelope import Stored, decode, derived_id
from engramlog_server.events.errors import InputError, UndecodableEvent, refused
from engramlog_server.events.parameters import Parameters
from engramlog_server.events.partitions import parse_position, position_text
from engramlog_server.events.standing import claimable
from engramlog_server.events.text import late_words, many, shown_json, with_hidden_as
from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.fold.links import NOTHING
from engramlog_server.projections.laws.law import Law
from engramlog_server.projections.laws.modes import visibility
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.deletion import forgotten_turns
from engramlog_server.projections.memory.record import LEVELS, SECRET, Memory
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.views.event_words import UNTOLD, OwnerToday, Telling, telling, words_of
from engramlog_server.projections.views.query import moment, status
from engramlog_server.projections.views.view import OwnerView

MOST_STABILITY = 8_760.0
MOST_IMPORTANCE = 10.0
MOST_LETTERS = 100
MOST_NAMED = 1_000
"""Memories that an export may be asked for by their ids."""


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What to export besides the memories that stand. What is purged is never exported: nothing is left of it."""

    include: Collection[str] = ()
    """Any of `ASKED_FOR`, and `REJECTIONS`."""
    reveal: bool = False
    """Whether memories of sensitivity 3 are told."""
    everything: bool = False
    """Whether also what was said, asked and put into prompts, and the change log; of memories all `ASKED_FOR`."""
    """Of a page."""
    ids: Collection[str] = ()
    """Only these memories; all where none is named."""

    def named(self) -> frozenset[str] | None:
        """The ids that are asked for; None: all. Raises InputError for what cannot be ids, for too many, and with everything."""
        if not self.ids:
            return None
        if self.everything:
            raise refused("ids", f"{len(self.ids):,} with everything", "one of them: everything is of all memories")
        if len(self.ids) > MOST_NAMED:
            raise refused("ids", f"{len(self.ids):,} ids", f"at most {MOST_NAMED:,}")
        return frozenset(check_id_of("ids", one) for one in self.ids)


PAGE = 500
"""Memories that are held at once of what is written out."""
Made = Callable[[Sequence[Memory]], Iterator[tuple[Memory, Telling]]]
"""Reads beside each memory what the log holds of the event that made it."""


def untold(memories: Sequence[Memory]) -> Iterator[tuple[Memory, Telling]]:
    """Of no log."""
    return ((memory, UNTOLD) for memory in memories)


class Selection(NamedTuple):
    """What an export holds and what it leaves out."""

    memories: tuple[Memory, ...]
    """Oldest first."""
    left_out: dict[str, int]
    """How many memories by reason: `purged`, `sensitive`, or one of `ASKED_FOR`; the strongest reason of each.
    `unknown`: ids of none."""

    @property
    def number(self) -> int:
        """How many it holds."""
        return len(self.memories)

    @property
    def ids(self) -> Container[str]:
        """Those of its memories."""
        return {memory.id for memory in self.memories}

    @property
    def secret(self) -> list[str]:
        """Ids of the secrets among them."""
        return [memory.id for memory in self.memories if memory.sensitivity >= SECRET]

    def pages(self) -> Iterator[Sequence[Memory]]:
        """The memories, some at a time."""
        for start in range(0, len(self.memories), PAGE):
            yield self.memories[start : start + PAGE]


def selection(view: OwnerView, options: ExportOptions = ExportOptions(), check: Check = unchecked) -> Selection:
    """The memories to export. Raises InputError where `include` names no reason."""
    allowed, named = allowed_by(options), options.named()
    kept: list[Memory] = []
    left_out: dict[str, int] = {}
    rows = zip(view.columns, view.columns.standing().tolist(), strict=True)
    for memory, state in counted(rows, check, len(view)):
        if (named is not None and memory.id not in named) or view.hides(memory.id):
            continue
        reason = next((one for one in reasons(memory, state) if one not in allowed), None)
        if reason is None:
            kept.append(memory)
        else:
            left_out[reason] = left_out.get(reason, 0) + 1
    tell_unknown(left_out, named, len(kept))
    kept.sort(key=lambda memory: (memory.created_at, memory.created_seq))
    return Selection(tuple(kept), left_out)


def tell_unknown(left_out: dict[str, int], named: frozenset[str] | None, kept: int) -> None:
    """Count what was asked for by ids that no memory has."""
    unknown = 0 if named is None else len(named) - kept - sum(left_out.values())
    if unknown:
        left_out["unknown"] = unknown


def allowed_by(options: ExportOptions) -> set[str]:
    """The reasons that keep nothing out. Raises InputError where `include` names none."""
    for name in options.include:
        if name not in (*ASKED_FOR, REJECTIONS):
            raise refused("include", name, ", ".join((*ASKED_FOR, REJECTIONS)))
    asked_for = ASKED_FOR if options.everything else ()
    return {*options.include, *asked_for, *(("sensitive",) if options.reveal else ())}


_STATES: Mapping[int, str] = {
    Columns.DELETED: "deleted",
    Columns.REJECTED: "rejected",
    Columns.SET_ASIDE: "set_aside",
    Columns.PROPOSED: "proposed",
    Columns.RETIRED: "retired",
    Columns.MERGED: "merged",
}


def reasons(memory: Memory, state: int) -> Iterator[str]:
    """Why a memory might stay out, strongest first."""
    if memory.purged_at is not None:
        yield "purged"
    if memory.sensitivity >= SECRET:
        yield "sensitive"
    if state in _STATES:
        yield _STATES[state]
    if memory.is_negated:
        yield "superseded" if memory.is_superseded else "negated"


def line_of(memory: Memory, exported: Container[str], made: Telling = UNTOLD) -> Data:
    """One memory as a line, with its associations to the memories that are `exported` too.

    `made`: what the log holds of the event that made it; an import passes it over, for its own log tells its own.
    """
    basis = memory.basis or NOTHING
    told = {
        "engramlog": FORMAT,
        "memory_id": memory.id,
        "created_at": moment(memory.created_at),
        **{name: getattr(made, name) for name in OF_THE_LOG},
        "content": memory.content,
        "summary": memory.summary,
        "category": memory.category,
        "kind": memory.kind,
        "tier": memory.tier,
        "importance": min(memory.importance, MOST_IMPORTANCE),
        "confidence": memory.confidence,
        "source": memory.source,
        "speaker": memory.speaker,
        "keywords": list(dict.fromkeys(word[:MOST_LETTERS] for word in memory.keywords)),
        "tags": list(memory.tags),
        "emotion": memory.emotion,
        "project": memory.project,
        "task": memory.task,
        "session": memory.session,
        "modality": "text" if "text" in memory.modalities else memory.modalities[0],
        "sensitivity": memory.sensitivity,
        "verified": memory.verified,
        "source_turns": list(memory.source_turns),
        "corrects": memory.corrects,
        "summarises": list(memory.summarises),
        "because": basis.because,
        "grounds": [{"uri": one.uri, "digest": one.digest} for one in basis.grounds],
        "metadata": dict(basis.metadata) or None,
        "status": status(memory),
        "imported": _counters(memory, exported),
    }
    if told["status"] == "live":
        del told["status"]
    return _filled(told)


def _counters(memory: Memory, exported: Container[str]) -> Data:
    edges = (edge for edge in memory.edges if edge.to in exported)
    return _filled(
        {
            "access_count": memory.access_count,
            "last_accessed_at": moment(memory.last_accessed_at),
            "updated_at": moment(memory.updated_at),
            "stability": min(memory.stability, MOST_STABILITY),
            "last_reinforced_at": moment(memory.last_reinforced_at),
            "reinforce_count": memory.reinforce_count,
            "decay_rate": memory.decay_rate,
            "mention_count": memory.mention_count,
            "associations": [
                {"memory_id": edge.to, "weight": min(1.0, edge.base + edge.boost), "link": edge.link} for edge in edges
            ],
        }
    )


def _filled(fields: Data) -> Data:
    return {name: value for name, value in fields.items() if value is not None and value != []}


def markdown_pieces(
    owner: str, law: Law, parameters: Parameters, now: int, chosen: Selection, made: Made = untold
) -> Iterator[str]:
    """The chosen memories of an owner as Markdown, in pieces: a head, then one block per memory, the oldest first.

    Weights and levels are those of the law at `now`, microseconds since 1970. Control characters are shown as signs, so that a
    memory's text cannot steer a terminal.
    """
    count = f"{chosen.number:,} memor{'y' if chosen.number == 1 else 'ies'}"
    without = ", ".join(f"{number:,} {reason}" for reason, number in sorted(chosen.left_out.items()))
    yield f"# Memories of {owner}\n\n"
    yield f"{count} at {moment(now)}, weights by the {law.name} law{f'; left out: {without}' if without else ''}\n"
    for page in chosen.pages():
        columns = Columns()
        columns.put_all(page)
        levels = visibility(columns, law, now, parameters, "debug").levels.tolist()
        for (memory, told), level in zip(made(page), levels, strict=True):
            weight = f"{round(law.read(memory, now, parameters).weight, 6):.4f}, level {LEVELS[level]}"
            said = "\n".join(f"> {visible(line)}".rstrip() for line in memory.content.splitlines())
            facts = {"summary": memory.summary, "weight": weight, **_facts(memory, told)}
            listed = "\n".join(f"- {name}: {visible(value)}" for name, value in facts.items() if value)
            yield f"\n## {memory.id}\n\n{said}\n\n{listed}\n"


def _facts(memory: Memory, made: Telling) -> dict[str, str | None]:
    """Facts about a memory besides its text, by name; None if the fact is unknown."""
    basis, standing = memory.basis or NOTHING, status(memory)
    late = "" if made.late_by is None else f", {late_words(made.late_by)}"
    last = f", last {moment(memory.last_accessed_at)}" if memory.last_accessed_at is not None else ""
    return {
        "status": None if standing == "live" else f"{standing}{_until(memory)}",
        "created": f"{moment(memory.created_at)}{late}",
        "updated": moment(memory.updated_at) if memory.updated_at != memory.created_at else None,
        "mentioned": f"{_times(memory.mention_count)}, last active {moment(memory.last_activated_at)}",
        "shown": f"{_times(memory.access_count)}{last}" if memory.access_count else "never",
        "is": f"{memory.category}, kind {memory.kind}, tier {memory.tier}, confidence {memory.confidence:g}",
        "from": memory.source + (f", {memory.speaker}" if memory.speaker else ""),
        "turns": ", ".join(memory.source_turns),
        "keywords": ", ".join(memory.keywords),
        "tags": ", ".join(memory.tags),
        "project": memory.project,
        "task": memory.task,
        "corrects": memory.corrects,
        "because": basis.because,
        "rests on": ", ".join(f"{one.uri} {one.digest}" for one in basis.grounds),
        "metadata": ", ".join(f"{name}: {value}" for name, value in basis.metadata),
    }


def _times(count: int) -> str:
    return many(count, "time")


def _until(memory: Memory) -> str:
    ends = (memory.deleted_at, memory.retired_at, memory.valid_to)
    since = next((f" since {moment(end)}" for end in ends if end is not None), "")
    successor = memory.superseded_by or memory.merged_into
    return since + (f", replaced by {successor}" if successor else "")


def visible(text: str, kept: str = "\t") -> str:
    """The text with control characters but those `kept`, and what shows nothing, as signs; in one line unless told."""
    return with_hidden_as(text, lambda one: chr(0x2400 + ord(one)) if ord(one) < 0x20 else "\ufffd", kept=kept)


HEAD, MEMORY, REJECTION, CHANGE, END = "everything", "memory", "rejection", "change", "end"


class Everything(NamedTuple):
    """What an export of everything holds beside the memories; read as it is taken, once."""

    head: Data
    """Of which owner and moment it is."""
    said: Callable[[], Iterator[Data]]
    """What was said, found by tools, asked and put into prompts, in the order of the log: lines of `event_lines`."""
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


def event_lines(stored: Iterable[Stored], partition: int, today: OwnerToday) -> Iterator[Data]:
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
        turns = cache(lambda: turns_set_aside(self._views, owner, asides))
        today = OwnerToday(deciding.get, lambda: forgotten, asides, turns)
        seqs = self._reader.seqs(owner, snapshot)
        last = max(seqs, default=0)
        position, chain = self._views.partition_chain(owner)
        head: Data = {
            "owner": owner,
            "position": snapshot.position,
            "instant": moment(snapshot.now),
            **lines_answer(times),
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
            lambda: event_lines(self._reader.stored(owner, seqs), snapshot.partition, today),
            lambda: self._changes(owner, last, lines),
        )

    def _changes(self, owner: str, last: int, lines: LineTerms) -> Iterator[Data]:
        """The change log up to a seq: what was folded since the moment is not told of it."""
        for page in self._reader.history_pages(owner, **lines):
            for change in page["changes"]:
                if parse_position(change["position"])[1] <= last:
                    yield dict(change)


PARTS_OF_THE_LOG = (HEAD, CONTEXT, QUESTION, SHOWN, CHANGE, END)
"""Parts that tell of the log that they come from; the log that takes the others in tells its own."""
PARTS = (*SAID, *PARTS_OF_THE_LOG)
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
