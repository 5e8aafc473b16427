"""Exporting an owner: lines that `import records` reads again, and a text for people. Pure; the instant is an argument.

A line holds what a `MemoryCreated` with `imported` can carry, so what grew out of later events stays behind: times of
mentions (an imported memory decays from `created_at`, its mentions are counted), negations and conflicts, replaced versions,
merges, recorded levels and shortened texts, modalities but one, boosts, review schedules, triples, deletions undone, and the
change log. What laws compute (strength, consolidation) is computed anew. Edges that follow from the records are derived
again; of the others those between exported memories go along, base and boost as one weight. S, importance and the
words of a keyword are held within what validation lets in (8,760 h, 10, 100 characters).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from engramlog_server.api.choices import ASKED_FOR, REJECTIONS
from engramlog_server.api.exchange.record_shapes import FORMAT, OF_THE_LOG, Data
from engramlog_server.api.requests.checks import check_id_of
from engramlog_server.events.errors import refused
from engramlog_server.events.parameters import Parameters
from engramlog_server.events.text import late_words, many, with_hidden_as
from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.fold.links import NOTHING
from engramlog_server.projections.laws.law import Law
from engramlog_server.projections.laws.modes import visibility
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.record import LEVELS, SECRET, Memory
from engramlog_server.projections.views.event_words import UNTOLD, Telling
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


def told_text(
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
