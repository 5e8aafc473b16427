"""Merging what says the same in the same frame, by rule or by a model, and linking what is related (memory.md, sections 5 and 10).

    merge: similarity >= 0.75, of words or of vectors, and the same said: by the same words, or by `similar.content`
    link:  similarity of words 0.5 to 0.8

Vectors alone merge nothing: what differs in one word is as near as a paraphrase. What no rule knows to be the same is shown to a
language model where the vectors are near enough. It merges nothing that differs in a number, a day, a name or a relative, that a
denial turns round, that was and is no more, that is tied or of another frame: so an answer that is wrong, or that a text ordered,
goes no further than that. Its word is a model's: what the user said himself waits for him in the inbox.

A summary that adds a number, says little of their words or the reverse of one of them is refused, and asked for again with the
reason. What the model does not name stays apart.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import permutations
from typing import Annotated, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from engramlog_server.events.catalogue import MemoriesLinked, MemoryMerged
from engramlog_server.events.envelope import derived_id
from engramlog_server.events.parameters import Parameters
from engramlog_server.events.vocabulary import MAX_SOURCES
from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.decide.merge import merged_text
from engramlog_server.projections.embedding.choosing import looked_at
from engramlog_server.projections.embedding.meaning import Vectors
from engramlog_server.projections.language.contradiction.relation import read
from engramlog_server.projections.language.kin import roles
from engramlog_server.projections.language.prompt_text import is_chinese, one_line
from engramlog_server.projections.language.similar import (
    MOST_RELATED,
    SimilarPair,
    alike,
    bag_of,
    content,
    difference,
    names_apart,
    numbers_and_days,
    opposite,
    similar_pairs,
    similarity,
    speaks_from_its_day,
    wording,
)
from engramlog_server.projections.lifecycle.decision import Decision
from engramlog_server.projections.memory.columns import Columns, Flags
from engramlog_server.projections.memory.kind import is_statement
from engramlog_server.projections.memory.record import MAX_EDGES, SECRET, UNCOMPRESSED, Memory
from engramlog_server.projections.models.chat import Chat, ModelUsage, Unfit, prompt
from engramlog_server.projections.models.texts import LONGEST, Claim, ShownMemory, fault_of_words
from engramlog_server.projections.views.view import OwnerView

_WORDINGS = 16
"""Texts of which the wording is read between two checks: some milliseconds."""


class Group(NamedTuple):
    """Memories that may become one, by their places in the sequence: 2 to 100 sources, the base, the newest, first."""

    base_index: int
    source_indexes: tuple[int, ...]
    similarity: float
    """The least similarity, 0 to 1, between the base and another source."""


def may_merge(a: Memory, b: Memory, parameters: Parameters) -> str | None:
    """None if a job may merge the two, else why not, in words (memory.md, section 5).

    Besides what the section names, they must say the same (`projections.language.similar.difference`), be of one kind, tier,
    project and speaker, and "tomorrow" must mean one day: a merge keeps the base's words alone. Only the order of the
    reasons and the words in them depend on which comes first.
    """
    return (
        unfit(a)
        or unfit(b)
        or framed_apart(a, b, parameters)
        or tied(a, b)
        or _worded_apart(a.content, b.content)
        or _unlike(a.content, b.content, parameters.merge_similarity)
    )


def unfit(memory: Memory) -> str | None:
    """Why no job merges this memory with any, or None."""
    states = (
        ("purged", memory.purged_at is not None),
        ("deleted", memory.deleted_at is not None),
        ("merged already", memory.merged_into is not None),
        ("retired", memory.retired_at is not None),
        ("negated", memory.is_negated),
        ("what a change waits for", bool(memory.waiting)),
        ("sensitive", memory.sensitivity >= UNCOMPRESSED),
        ("what always holds, as it was said", memory.ground is not None),
    )
    return next((f"{memory.id} is {state}" for state, holds in states if holds), None)


_FRAME = ("category", "kind", "tier", "project", "speaker", "source", "day to speak of time from")


def frame_alone(memory: Memory, parameters: Parameters) -> tuple[str | int | None, ...]:
    """What all memories of a group have in common besides their words."""
    source = "assistant" if memory.source == "assistant" else None
    day = None
    if speaks_from_its_day(memory.content):
        day = datetime.fromtimestamp(memory.created_at // 1_000_000, ZoneInfo(parameters.time_zone)).toordinal()
    return memory.category, memory.kind, memory.tier, memory.project, memory.speaker, source, day


def framed_apart(a: Memory, b: Memory, parameters: Parameters) -> str | None:
    """What besides their words keeps two memories from being merged, or None."""
    pairs = zip(_FRAME, frame_alone(a, parameters), frame_alone(b, parameters), strict=True)
    return next((f"different {name}" for name, of_a, of_b in pairs if of_a != of_b), None)


def tied(a: Memory, b: Memory) -> str | None:
    """What ties two memories so that one cannot stand for the other, or None."""
    if not set(a.unmerged_from).isdisjoint(b.unmerged_from):
        return "somebody took their merge apart"
    if a.id == b.id:
        return "the same memory"
    for one, other in ((a, b), (b, a)):
        names = {other.id, *other.merged_from}
        if names.intersection((one.corrects, one.superseded_by, *(entry.replaced_by for entry in one.negations))):
            return f"{one.id} and {other.id} are linked by a correction"
        if names.intersection(one.summarises):
            return f"{one.id} summarises {other.id}"
        if names.intersection(one.conflicts):
            return f"{one.id} and {other.id} may contradict each other"
    return None


def _standing(memory: Memory) -> tuple[int, set[str]]:
    """How far a memory is trusted and what it rests on: other words of less trust, or on a ground, never stand for it."""
    return memory.trust, set() if memory.basis is None else {ground.uri for ground in memory.basis.grounds}


def _worded_apart(a: str, b: str) -> str | None:
    if a == b:
        return None
    return "opposite polarity" if opposite(a, b) else difference(a, b)


def _unlike(a: str, b: str, least: float) -> str | None:
    similar = similarity(a, b)
    return f"similarity {similar:.2f} is under {least:g}" if similar < least else None


def merge_groups(
    memories: Sequence[Memory],
    parameters: Parameters,
    check: Check = unchecked,
    wholes: Sequence[Vectors | None] | None = None,
) -> list[Group]:
    """Groups in which any two may be merged, no memory in two; newest base first, whatever the order of the memories.

    From the newest memory (`last_activated_at`, then `created_seq`) down, each that is free takes what is most like it.
    `wholes`: the vector of each memory, of length 1, or None; without them only the same words are merged.
    """
    same: dict[tuple[object, ...], list[int]] = defaultdict(list)
    newest = sorted(range(len(memories)), key=lambda place: _newest_first(memories[place]))
    for place in counted(newest, check, len(newest), every=_WORDINGS):
        if unfit(memories[place]) is None:
            same[frame_of(memories[place], parameters)].append(place)
    if wholes is not None:
        same = _of_one_content(memories, parameters, same, check)
    groups = [
        group
        for places in same.values()
        if len(places) > 1
        for group in _grouped(memories, places, parameters, check, wholes)
    ]
    return sorted(groups, key=lambda group: _newest_first(memories[group.base_index]))


def _of_one_content(
    memories: Sequence[Memory], parameters: Parameters, same: Mapping[tuple[object, ...], list[int]], check: Check
) -> dict[tuple[object, ...], list[int]]:
    """The places of the same words, those together that say the same in other words; each list newest first."""
    found: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for words_of, places in counted(same.items(), check, len(same), every=_WORDINGS):
        first = memories[places[0]]
        said = content(first.content) if is_statement(first) else None
        found[words_of if said is None else (frame_alone(first, parameters), said)] += places
    return {key: sorted(places, key=lambda place: _newest_first(memories[place])) for key, places in found.items()}


def _newest_first(memory: Memory) -> tuple[int, int, str]:
    return -memory.last_activated_at, -memory.created_seq, memory.id


def frame_of(memory: Memory, parameters: Parameters) -> tuple[object, ...]:
    """What two memories that may be merged have in common: their frame, and the same words in any order."""
    return frame_alone(memory, parameters), *sorted(wording(memory.content))


def _grouped(
    memories: Sequence[Memory],
    places: list[int],
    parameters: Parameters,
    check: Check,
    wholes: Sequence[Vectors | None] | None,
) -> Iterator[Group]:
    """The groups among memories of one frame that say the same, each like its base; places newest first."""
    bags = {place: bag_of(memories[place].content) for place in places}

    def likeness(one: int, other: int) -> float:
        of_words = alike(bags[one], bags[other])
        a, b = (None, None) if wholes is None else (wholes[one], wholes[other])
        return of_words if a is None or b is None else max(of_words, min(1.0, float(a @ b)))

    least = parameters.merge_similarity

    def fit(one: int, other: int) -> bool:
        a, b = memories[one], memories[other]
        if tied(a, b):
            return False
        same_words = sorted(wording(a.content)) == sorted(wording(b.content))
        if not same_words and _standing(a) != _standing(b):
            return False
        said = content(a.content) if is_statement(a) and is_statement(b) else None
        if said is not None and said == content(b.content):
            return True
        return likeness(one, other) >= least and not _worded_apart(a.content, b.content)

    free = places
    while len(free) > 1:
        base, *offered = free
        similar = {place: likeness(base, place) for place in offered}
        members = [base]
        nearest = sorted(offered, key=lambda place: -similar[place])
        for place in counted(nearest, check, len(nearest), every=_WORDINGS):
            if len(members) == MAX_SOURCES or similar[place] < least:
                break
            if all(fit(place, member) for member in members):
                members.append(place)
        if len(members) > 1:
            yield Group(base, tuple(members), similar[members[-1]])
        taken = set(members)
        free = [place for place in free if place not in taken]


RELATED = "related"
ENOUGH = 500_000
"""Candidate pairs that one run looks at; only texts made from one template have more."""


def merges(view: OwnerView, now: int, check: Check = unchecked) -> list[Decision]:
    """Groups of near-duplicates, each into one new memory that says what they say together."""
    decisions = []
    memories = _comparable(view)
    for group in merge_groups(memories, view.parameters, check, _wholes(view)):
        sources = [memories[index] for index in group.source_indexes]
        ids = tuple(sorted(source.id for source in sources))
        seq = max(source.changed_seq for source in sources)
        due = max(source.updated_at for source in sources)
        reason = f"{len(ids)} say the same (similarity {group.similarity:.2f})"
        data = MemoryMerged(sources=ids, into=merge_id(view, ids, seq), summary=merged_text(sources), reason=reason)
        decisions.append(Decision("merge", "merge", ids, min(due, now), seq, reason, data))
    return decisions


def merge_id(view: OwnerView, ids: tuple[str, ...], seq: int) -> str:
    """The id of what these memories become, of which the newest event is at `seq`."""
    return f"m-{derived_id('lifecycle merge into', view.owner, *ids, str(seq))}"


def same_in_other_words(view: OwnerView, check: Check = unchecked) -> bool:
    """Whether an owner has memories that only their vectors keep from being merged: else none need be read."""
    memories = [one for one in _comparable(view) if is_statement(one) and unfit(one) is None]
    said: dict[tuple[object, ...], str] = {}
    for memory in counted(memories, check, len(memories), every=_WORDINGS):
        if (what := content(memory.content)) is not None:
            first = said.setdefault((frame_alone(memory, view.parameters), what), memory.content)
            if wording(first) != wording(memory.content):
                return True
    return False


def _wholes(view: OwnerView) -> list[Vectors | None] | None:
    """The vectors of what may be compared, in the order of `_comparable`; None where a memory has none, or none are known."""
    vectors = view.vectors_today
    if vectors is None:
        return None
    known = vectors.known if vectors.unread is None else vectors.known & ~vectors.unread
    return [vectors.wholes[row] if known[row] else None for row in np.flatnonzero(may_be_compared(view)).tolist()]


def links(view: OwnerView, now: int, check: Check = unchecked) -> list[Decision]:
    """Links between what is related but not the same; each memory's best few, and only where both agree."""
    memories, parameters = _comparable(view), view.parameters
    contents = [memory.content for memory in memories]
    pairs = similar_pairs(contents, parameters.related_similarity, MOST_RELATED, enough=ENOUGH, check=check)
    framing = _Framing(memories, parameters)
    found: dict[int, list[SimilarPair]] = defaultdict(list)
    for pair in counted(pairs, check, len(pairs), every=16):
        if not framing.may_become_one(pair):
            found[pair.a].append(pair)
            found[pair.b].append(pair)
    best = {
        index: framing.best(beside, parameters.edges_of_a_kind)
        for index, beside in counted(found.items(), check, len(found))
    }
    chosen = [
        pair
        for index, told in counted(best.items(), check, len(best))
        for pair in sorted(told)
        if index == pair.a and pair in best[pair.b]
    ]
    return _decided(memories, chosen, now)


class _Framing:
    """What of two alike texts is left to merging, and which of a memory's pairs are its best."""

    def __init__(self, memories: Sequence[Memory], parameters: Parameters) -> None:
        self._memories = memories
        self._parameters = parameters
        self._framed = cache(lambda place: frame_of(memories[place], parameters))

    def may_become_one(self, pair: SimilarPair) -> bool:
        """Left to merging. What is framed apart is told by a look at each of the two, not at each pair."""
        if pair.similarity < self._parameters.merge_similarity or self._framed(pair.a) != self._framed(pair.b):
            return False
        return may_merge(self._memories[pair.a], self._memories[pair.b], self._parameters) is None

    def best(self, pairs: Iterable[SimilarPair], most: int) -> set[SimilarPair]:
        """The most alike; of equals, those of the smaller ids."""
        ids = self._memories
        return set(sorted(pairs, key=lambda p: (-p.similarity, ids[p.a].id, ids[p.b].id))[:most])


def _decided(memories: Sequence[Memory], pairs: Iterable[SimilarPair], now: int) -> list[Decision]:
    decisions = []
    for pair in pairs:
        a, b = memories[pair.a], memories[pair.b]
        if _linked(a, b, pair.similarity):
            continue
        ids, seq = (a.id, b.id), max(a.changed_seq, b.changed_seq)
        data = MemoriesLinked(a=a.id, b=b.id, weight=round(pair.similarity, 6), link=RELATED)
        due = min(max(a.updated_at, b.updated_at), now)
        decisions.append(Decision("link", "link", ids, due, seq, f"similarity {pair.similarity:.2f}", data))
    return decisions


def _linked(a: Memory, b: Memory, weight: float) -> bool:
    """Whether they are joined that strongly already, or one of them has no room for so weak an edge."""
    for one, other in ((a, b), (b, a)):
        known = next((edge for edge in one.edges if edge.to == other.id), None)
        if known is not None and known.base >= round(weight, 6):
            return True
        if known is None and len(one.edges) >= MAX_EDGES and min(e.base + e.boost for e in one.edges) >= weight:
            return True
    return False


def _comparable(view: OwnerView) -> list[Memory]:
    """Live memories whose text may be compared: none that is secret."""
    return [view.columns.memories[row] for row in np.flatnonzero(may_be_compared(view)).tolist()]


def may_be_compared(view: OwnerView) -> Flags:
    """Rows of live memories whose text may be compared: none that is secret."""
    columns = view.columns
    found: Flags = (columns.state == Columns.LIVE) & (columns.sensitivity < SECRET)
    return found


MOST_COMPARED = 10_000
"""Statements that are compared, the newest."""
MOST_SHOWN = 20
"""Of one question."""
MOST_QUESTIONS = 10
"""Of one run about one owner, those with the newest statement first."""
_BLOCK = 256


def alike_statements(view: OwnerView, now: int, since: int = 0) -> list[tuple[ShownMemory, ...]]:  # noqa: ARG001 - as a plan
    """What a model would be asked: statements of one frame that are near, each in one question; none without vectors.

    `since`: a position of the log; groups without a statement that was written behind it are left out.
    """
    vectors = view.vectors_today
    if vectors is None:
        return []
    memories, fit = view.columns.memories, may_be_compared(view)
    for row in np.flatnonzero(fit).tolist():
        fit[row] = _is_fit(memories[row])
    framed: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for row in looked_at(fit, vectors, MOST_COMPARED).rows.tolist():
        framed[frame_alone(memories[row], view.parameters)].append(row)
    clock = ZoneInfo(view.parameters.time_zone)
    groups = [
        group
        for rows in framed.values()
        for group in _near(np.array(rows), vectors.wholes[rows], view.parameters.merge_similarity)
    ]
    asked = [shown for group in groups if len(shown := [memories[row] for row in group]) > 1]
    asked = [group for group in asked if max(one.created_seq for one in group) > since]
    asked.sort(key=lambda group: (-max(one.created_seq for one in group), group[0].id))
    return [
        tuple(
            ShownMemory(
                one.id, datetime.fromtimestamp(one.created_at // 1_000_000, clock).date().isoformat(), one.content
            )
            for one in group
        )
        for group in asked[:MOST_QUESTIONS]
    ]


def _is_fit(memory: Memory) -> bool:
    return is_statement(memory) and not memory.waiting and unfit(memory) is None


def _near(rows: np.ndarray, wholes: np.ndarray, least: float) -> Iterator[list[int]]:
    """Rows that are joined by cosines from the least on, at most `MOST_SHOWN` together: of each the nearest first."""
    near: dict[int, list[int]] = {}
    for start in range(0, len(rows), _BLOCK):
        cosines = wholes[start : start + _BLOCK] @ wholes.T
        for at, row in enumerate(cosines, start):
            enough = np.flatnonzero(row >= least)
            near[at] = enough[np.argsort(-row[enough], kind="stable")][: 4 * MOST_SHOWN].tolist()
    taken: set[int] = set()
    for first in reversed(range(len(rows))):
        group, waiting = list[int](), [first]
        while waiting and len(group) < MOST_SHOWN:
            at = waiting.pop(0)
            if at not in taken:
                taken.add(at)
                group.append(int(rows[at]))
                waiting += near[at]
        if len(group) > 1:
            yield sorted(group)


def merges_by_model(view: OwnerView, claims: Sequence[Claim], texts: Mapping[str, str], model: str) -> list[Decision]:
    """The merges that a model confirmed. `texts`: what the memories said when it was asked, by id.

    Of a claim goes what says something else by now and what may not be merged with the rest.
    """
    decisions = []
    for claim in claims:
        found = (view.get(one) for one in claim.evidence)
        memories = [one for one in found if one is not None and one.content == texts.get(one.id) and _is_fit(one)]
        sources = _together(memories, view.parameters)
        if len(sources) < 2:
            continue
        ids, seq = tuple(sorted(one.id for one in sources)), max(one.changed_seq for one in sources)
        reason = f"{len(ids)} say the same, a model says"
        data = MemoryMerged(sources=ids, into=merge_id(view, ids, seq), summary=claim.statement, reason=reason)
        due = max(one.updated_at for one in sources)
        decisions.append(Decision("merge", "merge", ids, due, seq, reason, data, actor="judge", model=model))
    return decisions


def _together(memories: Sequence[Memory], parameters: Parameters) -> list[Memory]:
    """The most of these that may be merged with one another, beginning with the one that has most to be merged with."""
    fits = {(a.id, b.id) for a, b in permutations(memories, 2) if _may(a, b, parameters)}
    counted = Counter(one for one, _ in fits)
    kept: list[Memory] = []
    for one in sorted(memories, key=lambda one: (-counted[one.id], one.id)):
        if all((one.id, other.id) in fits for other in kept):
            kept.append(one)
    return kept


def _may(a: Memory, b: Memory, parameters: Parameters) -> bool:
    """Whether a model's word may make them one."""
    told = a.content, b.content
    return not (
        framed_apart(a, b, parameters)
        or tied(a, b)
        or opposite(*told)
        or numbers_and_days(told[0]) != numbers_and_days(told[1])
        or names_apart(*told)
        or roles(told[0]) != roles(told[1])
        or read(told[0]).past != read(told[1]).past
    )


class SaidAlike(BaseModel):
    """Memories that say the same, and what they say."""

    model_config = ConfigDict(extra="forbid")

    same: Annotated[list[str], Field(description="Keys of two memories or more that say exactly the same.")]
    summary: str = Field(description="One sentence that says what each of them says.")


class SaidAlikes(BaseModel):
    """Groups of memories that say the same; empty where all differ."""

    model_config = ConfigDict(extra="forbid")

    groups: list[SaidAlike]


def said_alike(chat: Chat, shown: Sequence[ShownMemory]) -> tuple[list[Claim], ModelUsage]:
    """Which of these memories say the same, and in which words, as a model says. Raises ModelFailed."""
    keyed = {f"M{number}": one for number, one in enumerate(shown, 1)}
    told = [{"key": key, "text": one_line(one.text)[:LONGEST]} for key, one in keyed.items()]
    language = "zh" if is_chinese(" ".join(one.text for one in shown)) else "en"

    def check(answer: SaidAlikes) -> None:
        taken = set[str]()
        for number, one in enumerate(answer.groups, 1):
            if (wrong := _fault(one, keyed, taken)) is not None:
                raise Unfit(f"group {number}: {wrong}")
            taken.update(one.same)

    question = json.dumps({"memories": told}, ensure_ascii=False)
    answer, usage = chat.ask(prompt("merge", language), question, SaidAlikes, check)
    return [Claim(one_line(one.summary), tuple(keyed[key].id for key in one.same)) for one in answer.groups], usage


def _fault(group: SaidAlike, keyed: dict[str, ShownMemory], taken: set[str]) -> str | None:
    """Why a group may not be followed, in words for the model; None where it may."""
    for key in group.same:
        if key not in keyed:
            return f"no memory is called {key[:20]!r}"
        if key in taken or group.same.count(key) > 1:
            return f"{key} is named twice"
    if len(group.same) < 2:
        return f"it names {len(group.same)} memories; at least 2 are needed"
    return fault_of_words(one_line(group.summary), [keyed[key].text for key in group.same])
