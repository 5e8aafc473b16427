"""Asking a view: search, list, one memory, and why its weight is what it is. Pure: the instant is an argument.

A memory of which something no longer holds leaves normal mode if the question asks for nothing else that it says: what it shares
with the question stands in the part that was corrected. Where nothing is asked, it leaves if it says nothing else at all.

A caller's grants may be narrower than the owner's memories. What the mode hides at the instant of the question cannot be had by its
id then, and leaves no words beside other memories. What is above the ceiling of sensitivity is not there at all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import compress
from typing import Any, NamedTuple, cast, overload
from uuid import UUID

import msgspec
import numpy as np

from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.fold.links import told as basis_told
from engramlog_server.projections.fold.links import tree
from engramlog_server.projections.index.correction_index import CorrectionIndex, Strengths
from engramlog_server.projections.language.keywords import Drawn
from engramlog_server.projections.language.sensitivity.level import detect_sensitivity
from engramlog_server.projections.language.times.bounds import bounded
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.laws.law import Law
from engramlog_server.projections.laws.modes import Mode, Visibility, effective_levels, visibility, withheld_by_age
from engramlog_server.projections.memory.columns import (
    BELOW,
    GONE,
    STATUSES,
    Columns,
    Correction,
    Flags,
    Rows,
    conflict_of,
    state_of,
)
from engramlog_server.projections.memory.deletion import forgotten_turns
from engramlog_server.projections.memory.kind import is_pattern
from engramlog_server.projections.memory.record import (
    LEVELS,
    SECRET,
    SUMMARY,
    CorrectionEntry,
    Memory,
    trust_told,
    with_changes,
)
from engramlog_server.projections.memory.tags import context_of
from engramlog_server.projections.shapes import (
    Card,
    ContextTold,
    CorrectedBy,
    CorrectionTold,
    ExtractedKeyword,
    InPattern,
    OriginTree,
    PatternTold,
    PossibleConflict,
    ToldBeside,
    UnplacedDetail,
    UnplacedWhy,
)
from engramlog_server.projections.views.view import WITHHELD, OwnerView

NOTHING_ASKED = frozenset[str]()


def corrections_in(view: OwnerView, memory_id: str) -> Sequence[Correction]:
    """What a memory, or a turn, says that no longer holds, the last negated first."""
    return view.index(CorrectionIndex).said_in(view.columns, memory_id)


def strengths(view: OwnerView) -> Strengths:
    """How strongly each row may be corrected, shape (rows,)."""
    return view.index(CorrectionIndex).strengths(view.columns)


def corrections_of(view: OwnerView, row: int) -> Sequence[Correction]:
    """What a row says that no longer holds, as far as it stands below what holds now."""
    found = view.index(CorrectionIndex).of(view.columns, row)
    return [one for one in found if one.strength >= BELOW]


def asked_for(
    view: OwnerView, row: int, corrections: Sequence[Correction], asked: frozenset[str]
) -> Sequence[Correction]:
    """Those of a row's corrections that a question asks for: all where the row says nothing else and none is named."""
    if any(one.old.id == view.columns.memories[row].id for one in corrections):
        return corrections
    index, columns = view.index(CorrectionIndex), view.columns
    named = [one for one in corrections if not index.drawn(columns, row, [one]).inside.isdisjoint(asked)]
    return named if named or index.drawn(columns, row, corrections).rest else corrections


def leaving(view: OwnerView, rows: Iterable[int], asked: frozenset[str] = NOTHING_ASKED) -> Rows:
    """Those of these rows that normal mode withholds as corrected where these words are asked for."""
    index, strong = view.index(CorrectionIndex), strengths(view)
    found = [row for row in rows if strong[row] == GONE and _leaves(index.leaving(view.columns, row), asked)]
    return np.array(found, dtype=np.int64)


def _leaves(part: Drawn | None, asked: frozenset[str]) -> bool:
    if part is None or not part.rest.isdisjoint(asked):
        return False
    return not part.rest or not part.inside.isdisjoint(asked)


def seen_at(view: OwnerView, now: int, mode: Mode, law: Law | None = None, *, secret: bool = True) -> Visibility:
    """What a mode shows at `now` (microseconds since 1970) where nothing is asked, and why not the rest; by the owner's law unless
    another is told. `secret`: as `visibility` has it."""
    found = visibility(view.columns, law or view.law, now, view.parameters, mode, secret=secret)
    if mode != "normal":
        return found
    return found.without(leaving(view, np.flatnonzero(found.shown & (strengths(view) == GONE)).tolist()), "corrected")


MOST_CORRECTED = 5
"""Corrections told of one memory, the newest."""
NO_PATTERN: PatternTold = {}
LONGEST_CORRECTED = 400
"""Characters told of each text of a correction."""


class ViewQuery(NamedTuple):
    """A question to a view at an instant, microseconds since 1970."""

    view: OwnerView
    now: int
    mode: Mode


def card(memory: Memory, level: str, *, reveal: bool = False) -> Card:
    """What every answer tells of a memory."""
    secret = memory.sensitivity >= SECRET and memory.purged_at is None and not reveal
    fields: Card = {
        "id": memory.id,
        "memory": WITHHELD if secret else shown_text(memory, level),
        "level": level,
        "category": memory.category,
        "kind": memory.kind,
        "speaker": None if secret else memory.speaker,
        "source_turns": list(memory.source_turns),
        "created_at": moment(memory.created_at),
        "last_activated_at": moment(memory.last_activated_at),
        "mention_count": memory.mention_count,
        "is_negated": memory.is_negated,
        "status": status(memory),
        "trust": trust_told(memory),
    }
    if memory.valid_to is not None:
        fields |= {
            "valid_from": moment(memory.created_at),
            "valid_to": moment(memory.valid_to),
            "successor": memory.superseded_by or memory.merged_into,
        }
    if memory.grounds_changed:
        fields["ground_changed"] = True
    return fields


def told_beside(view: OwnerView, memory: Memory) -> ToldBeside:
    """What may contradict a memory (`possible_conflicts`, ids, and `conflicting`, the same with texts), what of it no longer
    holds (`corrected`), and until when it says that it holds (`until`); nothing where none is known.

    What stands no longer contradicts nothing, and what is secret or deleted is not told here either.
    """
    others = (view.get(other_id) for other_id in memory.conflicts)
    standing = [other for other in others if other is not None and state_of(other) == Columns.LIVE]
    lines: list[PossibleConflict] = [{"id": other.id, "memory": card(other, "full")["memory"]} for other in standing]
    corrected = [_corrected(one) for one in corrections_in(view, memory.id)[:MOST_CORRECTED]]
    told: ToldBeside = {"possible_conflicts": [line["id"] for line in lines], "conflicting": lines} if lines else {}
    text = "" if memory.sensitivity >= SECRET else memory.content
    bound = bounded(text, memory.worded_at, view.parameters.time_zone)
    if bound is not None:
        told["until"] = moment(bound.until)
    return {**told, "corrected": corrected} if corrected else told


def _corrected(one: Correction) -> CorrectedBy:
    old, now = one.old, one.now
    hidden = state_of(old) >= Columns.PROPOSED
    return {
        "of": old.id,
        "was": None if hidden else clipped(card(old, "full")["memory"]),
        "by": None if now is None else now.id,
        "now": None if now is None else clipped(card(now, "full")["memory"]),
        "at": moment(one.at),
    }


def without_lost(told: Iterable[CorrectedBy], lost: Callable[[str], bool]) -> list[CorrectedBy]:
    """Corrections as far as they may be told where some memories were deleted since."""
    found: list[CorrectedBy] = []
    for one in told:
        gone = one["by"] is not None and lost(one["by"])
        was, by, now = (
            None if lost(one["of"]) else one["was"],
            None if gone else one["by"],
            None if gone else one["now"],
        )
        found.append({"of": one["of"], "was": was, "by": by, "now": now, "at": one["at"]})
    return found


def clipped(text: str) -> str:
    """A text in so many characters as another memory's answer tells of it."""
    return text if len(text) <= LONGEST_CORRECTED else text[: LONGEST_CORRECTED - 1].rstrip() + "…"


def shown_text(memory: Memory, level: str) -> str:
    """The text of a memory at a level: what a sweep shortened it to, or its summary, once it is no longer full."""
    return memory.content if level == "full" else memory.compressed or memory.summary or memory.content


def status(memory: Memory) -> str:
    """One word for where the memory stands."""
    state = state_of(memory)
    return STATUSES[conflict_of(memory) if state == Columns.LIVE else state + Columns.SUPERSEDED]


@overload
def moment(micros: int) -> str: ...
@overload
def moment(micros: int | None) -> str | None: ...
@lru_cache(maxsize=4096)
def moment(micros: int | None) -> str | None:
    """Microseconds since 1970 as RFC 3339 in UTC."""
    return None if micros is None else utc_text(from_micros(micros))


def level_at(view: OwnerView, memory: Memory, now: int) -> str:
    """The effective level of one memory at an instant."""
    alone = Columns()
    alone.put(memory)
    weights = view.law.weights(alone, now, view.parameters)
    return LEVELS[int(effective_levels(alone, view.law, weights, now, view.parameters)[0])]


def detail(
    view: OwnerView, memory: Memory, now: int, in_pattern: PatternTold = NO_PATTERN, *, reveal: bool = False
) -> UnplacedDetail:
    """Everything about one memory; a secret's texts only where `reveal` asks for them. `in_pattern`: as `pattern_told` has it."""
    hidden = memory.sensitivity >= SECRET and not reveal
    reading = view.law.read(memory, now, view.parameters)
    gone = _gone(view, memory.negations)
    negations: list[CorrectionTold] = [
        {
            "time": moment(n.at),
            "reason": None if hidden or n in gone else _told_reason(n.reason, reveal=reveal),
            "new_preference": None if hidden or n in gone else _correction(view, n, reveal=reveal),
            "resolution": n.resolution,
            "replaced_by": n.replaced_by,
            "turn_id": n.turn_id,
        }
        for n in memory.negations
    ]
    return {
        **card(memory, level_at(view, memory, now), reveal=reveal),
        **told_beside(view, memory),
        **in_pattern,
        **basis_told(memory, hidden=hidden),  # type: ignore[typeddict-item]  # only `reveal` adds `revealed`
        "content": WITHHELD if hidden else memory.content,
        "summary": WITHHELD if hidden and memory.summary else memory.summary,
        "recorded_level": LEVELS[memory.level],
        "weight": round(reading.weight, 6),
        "tier": memory.tier,
        "ground": memory.ground,
        "source": memory.source,
        "waiting": waiting_told(memory),
        "confidence": memory.confidence,
        "importance": memory.importance,
        "keywords": [] if hidden else list(memory.keywords),
        "extracted_keywords": _keywords(view, memory),
        "tags": [] if hidden else list(memory.tags),
        "emotion": memory.emotion,
        "context": context_told(view, memory, hidden=hidden),
        "project": None if hidden else memory.project,
        "task": None if hidden else memory.task,
        "modalities": list(memory.modalities),
        "sensitivity": memory.sensitivity,
        "verified": memory.verified,
        "version": memory.version,
        "versions": [
            {"version": v.number, "content": WITHHELD if hidden else v.content, "until": moment(v.until)}
            for v in memory.versions
        ],
        "updated_at": moment(memory.updated_at),
        "last_mentioned_at": moment(memory.last_mentioned_at),
        "last_accessed_at": moment(memory.last_accessed_at),
        "access_count": memory.access_count,
        "correction_history": negations,
        "corrects": memory.corrects,
        "merged_from": list(memory.merged_from),
        "merged_into": memory.merged_into,
        "deleted_at": moment(memory.deleted_at),
        "purged_at": moment(memory.purged_at),
        "edges": [{"to": e.to, "weight": round(min(1.0, e.base + e.boost), 6), "link": e.link} for e in memory.edges],
    }


def context_told(view: OwnerView, memory: Memory, *, hidden: bool) -> ContextTold:
    """What was going on when it was made, the producer's word or derived; of what is hidden only what its time tells."""
    found = context_of(memory, view.parameters)
    if hidden:
        return {"tags": [one for one in found.tags if one not in memory.tags], "emotion": memory.emotion}
    return {"tags": list(found.tags), "emotion": round(found.emotion, 6)}


def waiting_told(memory: Memory) -> list[str]:
    """Ids of the events that would change it, and wait for a person."""
    return [str(UUID(bytes=one)) for one in memory.waiting]


def _told_reason(reason: str, *, reveal: bool) -> str:
    """Why somebody said so, unless his words hold a secret themselves."""
    return reason if reveal or detect_sensitivity(reason) < SECRET else WITHHELD


def _keywords(view: OwnerView, memory: Memory) -> list[ExtractedKeyword]:
    """What the memory is found by as keywords, the given ones among them; none of a secret, revealed or not."""
    row = view.columns.row(memory.id)
    return (
        []
        if row is None
        else [{"word": one.word, "weight": one.weight, "source": one.source} for one in view.keywords(row)]
    )


def _correction(view: OwnerView, negation: CorrectionEntry, *, reveal: bool) -> str | None:
    """What holds instead, as far as it may be told: a secret only where asked for."""
    text = negation.new_preference
    if text is None:
        return None
    successor = view.get(negation.replaced_by) if negation.replaced_by else None
    secret = detect_sensitivity(text) >= SECRET or (successor is not None and successor.sensitivity >= SECRET)
    return WITHHELD if secret and not reveal else text


def _gone(view: OwnerView, negations: Sequence[CorrectionEntry]) -> frozenset[CorrectionEntry]:
    """Negations whose words may not be told: their correction is deleted, or the turn that stated them retracted."""
    told = [one for one in negations if one.turn_id is not None]
    forgotten = forgotten_turns(view.columns) if told else frozenset[str]()
    return frozenset(one for one in negations if one.turn_id in forgotten or _is_deleted(view, one.replaced_by))


def _is_deleted(view: OwnerView, memory_id: str | None) -> bool:
    memory = view.get(memory_id) if memory_id else None
    if memory is None:
        return memory_id in view.purged_since
    return memory.deleted_at is not None or memory.purged_at is not None


def _with_texts(view: OwnerView, told: OriginTree) -> OriginTree:
    """The same tree with what each origin says, clipped, as far as it stands, or was merged into what stands, and is told."""
    for node in told["nodes"]:
        memory = None if node["parent"] is None else view.get(node["id"])
        if memory is not None and state_of(memory) in (Columns.LIVE, Columns.MERGED):
            node["memory"] = clipped(card(memory, "full")["memory"])
    return told


def why(view: OwnerView, memory: Memory, now: int, most: int | None = None) -> UnplacedWhy:
    """The weight at an instant, its factors, and where the memory comes from. `most`: of origins.

    `changes`, `aside`, `above` and the events of the origins are empty, for whoever reads the log to fill in.
    """
    reading = view.law.read(memory, now, view.parameters)
    return {
        "id": memory.id,
        "memory": card(memory, "full")["memory"],
        **basis_told(memory, hidden=memory.sensitivity >= SECRET),
        "law": view.law.name,
        "weight": round(reading.weight, 6),
        "unclipped_weight": round(reading.unclipped, 6),
        "factors": {name: round(value, 6) for name, value in reading.factors.items()},
        "laws": {name: round(law.read(memory, now, view.parameters).weight, 6) for name, law in LAWS.items()},
        "changes": [],
        "provenance": _with_texts(view, tree(memory.id, view.get, most)),
        "mention_count": memory.mention_count,
        "is_negated": memory.is_negated,
        "level": level_at(view, memory, now),
        "status": status(memory),
        "trust": trust_told(memory),
        "created_at": moment(memory.created_at),
        "last_activated_at": moment(memory.last_activated_at),
        **told_beside(view, memory),
        "next": None,
        "order": "oldest",
        "aside": None,
        "above": None,
        "limited": False,
    }


MOST_PATTERNS = 20
"""Patterns told of one memory, the first made."""


def pattern_told(view: OwnerView, memory: Memory) -> PatternTold:
    """What a pattern rests on, the oldest first (`evidence`), and which patterns rest on a memory (`patterns`); else nothing.

    Of what does not stand by itself no word is told, only that it does not.
    """
    found: PatternTold = {}
    if is_pattern(memory):
        pieces = [one for one in map(view.get, memory.summarises) if one is not None]
        found["evidence"] = [_told(one) for one in pieces]
    rows = view.index(CorrectionIndex).patterns_of(memory.id)
    known = map(view.columns.memories.__getitem__, rows)
    resting = [one for one in known if state_of(one) < Columns.REJECTED and not view.hides(one.id)]
    if resting:
        found["patterns"] = [_told(one) for one in resting[:MOST_PATTERNS]]
    return found


def _told(memory: Memory) -> InPattern:
    stands = state_of(memory) in (Columns.LIVE, Columns.MERGED)
    text = clipped(card(memory, "full")["memory"]) if stands else None
    return {"id": memory.id, "memory": text, "status": status(memory), "created_at": moment(memory.created_at)}


class _Hidden(Collection[str]):
    """Ids of which no word may be told: those that the view knows, and those that it hides."""

    def __init__(self, known: Collection[str], hides: Callable[[str], bool]) -> None:
        self._known, self._hides = known, hides

    def __contains__(self, name: object) -> bool:
        return name in self._known or (isinstance(name, str) and self._hides(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


class ShownView:
    """An owner's view in which what a mode hides at an instant is as if unknown. It shares all that the view has."""

    def __init__(self, view: OwnerView, now: int, mode: Mode) -> None:
        """`now`: microseconds since 1970."""
        self._view, self._now, self._mode = view, now, mode

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)

    def __len__(self) -> int:
        return len(self._view)

    @cached_property
    def _shown(self) -> Flags:
        """By row; worked out when somebody asks. What is only long ago is no secret of a mode: any search may bring it up."""
        seen = seen_at(self._view, self._now, self._mode, secret=False)
        found: Flags = seen.shown | withheld_by_age(self._view.columns, seen)
        return found

    def get(self, memory_id: str) -> Memory | None:
        """A memory by id, where the mode shows it."""
        return None if self.hides(memory_id) else self._view.get(memory_id)

    def hides(self, memory_id: str) -> bool:
        """Whether there is such a memory, and the mode hides it."""
        row = self._view.columns.row(memory_id)
        if row is None or ("_shown" not in vars(self) and self._stands(row)):
            return False
        return not bool(self._shown[row])

    def _stands(self, row: int) -> bool:
        """Whether nothing but its age could withhold a row, as of most: that is seen without weighing all."""
        columns = self._view.columns
        held = columns.state[row] == Columns.LIVE and columns.conflict[row] == Columns.HELD
        told = columns.told_level[row] <= SUMMARY and not columns.ground_changed[row]
        return bool(held and told and strengths(self._view)[row] < GONE)

    def hidden(self) -> frozenset[str]:
        """Ids of all that the mode hides: for whoever asks on when the view is let go."""
        return frozenset(compress(self._view.columns.ids, ~self._shown))

    def told(self, rows: Flags) -> Flags:
        """Those of these rows that the mode shows."""
        found: Flags = rows & self._shown
        return found

    @property
    def is_narrowed(self) -> bool:
        """That something may be hidden."""
        return True

    @property
    def purged_since(self) -> Collection[str]:
        """What is hidden takes the words with it that were said of it beside others."""
        return _Hidden(self._view.purged_since, self.hides)


def shown_by(view: OwnerView, now: int, mode: Mode) -> OwnerView:
    """The view as a mode shows it at an instant, microseconds since 1970."""
    return cast("OwnerView", ShownView(view, now, mode))


def up_to(view: OwnerView, most: int, today: OwnerView | None = None, check: Check = unchecked) -> OwnerView:
    """A view of its own without what is more sensitive than `most`, nor any words that look so beside what is not.

    `today`: of a past, the owner's view now: what is more sensitive today is not told of then either. It is made of the records as
    they read in the view, for what is left out may decide how others read.
    """
    above = np.flatnonzero(view.columns.sensitivity > most)
    gone = {view.columns.memories[row].id for row in above.tolist()}
    if today is not None and today is not view:
        rows = np.flatnonzero(today.columns.sensitivity > most)
        gone |= {today.columns.memories[row].id for row in rows.tolist()}
    kept = [
        _worded(one, most)
        for one in counted(view.columns.memories, check, len(view))
        if one.id not in gone and _speaks_of_none(one, gone)
    ]
    return view.holding(kept, gone)


def _speaks_of_none(memory: Memory, gone: set[str]) -> bool:
    """Whether it is made of nothing that is left out: a merge, an account or a pattern says what its sources say."""
    return gone.isdisjoint(memory.merged_from) and gone.isdisjoint(memory.summarises)


def _worded(memory: Memory, most: int) -> Memory:
    """The memory without words beside its text that are too sensitive: reasons, older versions, what it rests on, triples."""

    def fits(*texts: object) -> bool:
        return detect_sensitivity(" ".join(str(one) for one in texts if one)) <= most

    negations = tuple(
        msgspec.structs.replace(
            one,
            reason=one.reason if fits(one.reason) else "",
            new_preference=one.new_preference if fits(one.new_preference) else None,
        )
        for one in memory.negations
    )
    basis = memory.basis
    if basis is not None and not fits(basis.because, *basis.grounds, *basis.metadata):
        basis = None
    return with_changes(
        memory,
        negations=negations,
        versions=tuple(one for one in memory.versions if fits(one.content, one.summary)),
        facts=tuple(one for one in memory.facts if fits(one.subject, one.predicate, one.object, one.condition)),
        basis=basis,
    )
