"""What is known of an owner while statements are judged: memories by their words, by their triples, by their turns. Pure.

`KnownIndex` is kept level with a view, so that a run over a large owner does not read all its memories again for every piece;
a `Candidates` is what one judging knows: the index as it stands, and what it has made, changed and dropped itself.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.decide.commands import MOST_JOINED
from engramlog_server.projections.language.contradiction.change import (
    Alike,
    Change,
    attributes,
    changed,
    may_change,
    no_model,
)
from engramlog_server.projections.language.extraction.shape import ExtractedStatement, StatedTriple, TurnText
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.polarity import wording
from engramlog_server.projections.language.similar import MOST_RELATED, similarity
from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.lifecycle.judge.known import LEAST_WORDS, KnownMemory, core, who
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.kind import is_statement
from engramlog_server.projections.memory.record import SECRET, Memory
from engramlog_server.projections.views.view import OwnerView

MOST_SAID = 500
"""Characters of a statement; what is longer says more than one thing, and changes nothing."""
LOOKED_AT = 12
"""Memories that share most words with a statement, compared with it in full."""
NEWEST = 40
"""The newest memories of a speaker, compared with a statement that says that something changed."""
OF_ATTRIBUTE = 60
"""The newest memories of a speaker that speak of an attribute of such a statement, compared with it too."""
MOST_LATER = 8
"""Memories that say that something changed, asked whether they changed what is said only now."""
COMMON = 300
"""A word that more memories hold says nothing about which."""
SUPERSEDED = frozenset({"identity", "fact", "temporary"})
"""Categories of which a negated memory leaves at once."""
_POLITE_TEXT = """
you your me i my can could would please help tell give any some what how do does have think know like suggest suggestion
recommend advice tip idea more about make sure best way good hey hi hello there go going happen new up today been life
everything thing feel day week lately s anything something ever still 你 您 我 有 什么 建议 推荐 好 可以 吗 怎么 怎么样 办法
方法 觉得 帮助 帮 什 么 议 推 荐 方 法 办 今天 最近 你好 朋友 天 天气 还 其他 别 们 呢 想 知 道 心情 情
"""
_POLITE = frozenset(_POLITE_TEXT.split())
_POINTS = regex(r"\b(?:this|that|these|those|it|its|them|they|he|she|him)\b|[这那它他她]", re.IGNORECASE)
_GREETING = regex(r"^(?:hey|hi|hello|so|and|oh|wow|well|thanks)?,? ?[A-Z]\w+[,!] ?")
_BYTES_A_MEMORY, _BYTES_A_WORD = 500, 120

Word = tuple[str | None, str]
Slot = tuple[str | None, ...]
"""Speaker, subject and predicate of a triple, alone and with its object."""


class _Place(NamedTuple):
    """Where a memory is found."""

    memory: Memory
    row: int
    known: bool
    """Whether it is known, or only tells what was made of a turn."""
    words: tuple[Word, ...]
    slots: tuple[Slot, ...]
    turns: tuple[str, ...]
    gone: tuple[Slot, ...] = ()
    """Of a negated one: its words, and its triples, by which it is known when it is told again."""


class KnownIndex:
    """The known memories of a view; what is deleted, superseded, secret or a turn is not among them."""

    def __init__(self) -> None:
        self._places: dict[str, _Place] = {}
        self._by_word: dict[Word, dict[str, None]] = defaultdict(dict)
        self._by_slot: dict[Slot, dict[str, None]] = defaultdict(dict)
        self._by_kind: dict[str, dict[str, None]] = defaultdict(dict)
        self._by_turn: dict[str, dict[str, None]] = defaultdict(dict)
        self._by_gone: dict[Slot, dict[str, None]] = defaultdict(dict)
        self._words = 0

    def put(self, row: int, memory: Memory) -> None:
        """Take in a row that is new or has changed."""
        old, new = self._places.get(memory.id), _place(row, memory, self._places.get(memory.id))
        if new is None and old is None:
            return
        if old is not None and new is not None and old[2:] == new[2:]:
            self._places[memory.id] = new
            return
        if old is not None:
            self._take_out(memory.id, old)
        if new is not None:
            self._take_in(memory.id, new)

    def _take_out(self, memory_id: str, place: _Place) -> None:
        del self._places[memory_id]
        self._words -= len(place.words)
        for index, keys in self._keys(place):
            for key in keys:
                held = index[key]
                held.pop(memory_id, None)
                if not held:
                    del index[key]

    def _take_in(self, memory_id: str, place: _Place) -> None:
        self._places[memory_id] = place
        self._words += len(place.words)
        for index, keys in self._keys(place):
            for key in keys:
                index[key][memory_id] = None

    def _keys(self, place: _Place) -> Iterable[tuple[dict[Any, dict[str, None]], tuple[Any, ...]]]:
        """Each index, and the keys under which the memory stands there."""
        kinds = (place.memory.kind,) if place.known else ()
        return (
            (self._by_word, place.words),
            (self._by_slot, place.slots),
            (self._by_kind, kinds),
            (self._by_turn, place.turns),
            (self._by_gone, place.gone),
        )

    def memory(self, memory_id: str) -> Memory | None:
        """A known memory."""
        place = self._places.get(memory_id)
        return place.memory if place is not None and place.known else None

    def with_word(self, word: Word) -> dict[str, None]:
        """Ids of the known memories of a speaker with a word."""
        return self._by_word.get(word, {})

    def newest(self, speaker: str | None) -> Iterator[str]:
        """Ids of the known memories of a speaker, the newest first."""
        for one in reversed(self._places):
            place = self._places[one]
            if place.known and who(place.memory.speaker) == speaker:
                yield one

    def in_slot(self, slot: Slot) -> list[str]:
        """Ids of the known memories with a triple of that kind, the oldest first."""
        return sorted(self._by_slot.get(slot, {}), key=lambda one: self._places[one].row)

    def of_kind(self, kind: str) -> list[str]:
        """Ids of the known memories of a kind, the oldest first."""
        return sorted(self._by_kind.get(kind, {}), key=lambda one: self._places[one].row)

    def contents_of(self, turn_id: str) -> list[str]:
        """What was made of a turn, whatever has become of it: what its owner deleted does not come back by itself."""
        return [self._places[one].memory.content for one in self._by_turn.get(turn_id, {})]

    def of_turn(self, turn_id: str) -> list[str]:
        """Ids of the known memories that were made of a turn, the oldest first."""
        held = (one for one in self._by_turn.get(turn_id, {}) if self._places[one].known)
        return sorted(held, key=lambda one: self._places[one].row)

    def taken_back(self, keys: Iterable[Slot]) -> Memory | None:
        """Of what has one of these keys that which was taken back last; None where nothing was, or was said again."""
        gone = [self._places[one].memory for key in keys for one in self._by_gone.get(key, {})]
        return max(gone, key=lambda one: (one.negated_at or 0, one.id), default=None)

    def bytes_used(self) -> int:
        """About how much it takes."""
        return _BYTES_A_MEMORY * len(self._places) + _BYTES_A_WORD * self._words


def _place(row: int, memory: Memory, old: _Place | None) -> _Place | None:
    """Where a memory is to be found; None where nowhere."""
    said = not is_statement(memory)
    live = state_of(memory) == Columns.LIVE and not memory.is_superseded
    known = live and not said and memory.sensitivity < SECRET
    judged = memory.source == "judge"
    gone = _gone(memory) if state_of(memory) == Columns.LIVE and memory.is_negated and not said else ()
    if not known and not judged and not gone:
        return None
    words: tuple[Word, ...] = ()
    slots: tuple[Slot, ...] = ()
    if known:
        speaker = who(memory.speaker)
        same = old is not None and old.known and old.memory.content == memory.content
        found = () if same else (*_words_of(memory.content), *_attributes_of(memory.content))
        words = old.words if same and old is not None else tuple((speaker, word) for word in found)
        facts = ((one.subject, one.predicate, one.object) for one in memory.facts)
        slots = tuple(dict.fromkeys(slot for fact in facts for slot in _slots(speaker, *fact)))
    mentions = (one.turn_id for one in memory.user_mentions if one.turn_id is not None)
    turns = tuple(dict.fromkeys((*memory.source_turns, *mentions))) if judged else ()
    return _Place(memory, row, known, words, slots, turns, gone)


def _gone(memory: Memory) -> tuple[Slot, ...]:
    """By what a memory that was taken back is known: its words, whatever their order, and what its triples say."""
    speaker = who(memory.speaker)
    facts = ((one.subject, one.predicate, one.object) for one in memory.facts if not one.negation)
    return tuple(dict.fromkeys((_told_as(speaker, memory.content), *(_slots(speaker, *fact)[1] for fact in facts))))


def _told_as(speaker: str | None, content: str) -> Slot:
    return (speaker, " ".join(wording(core(content))))


def _slots(speaker: str | None, subject: str, predicate: str, thing: str) -> tuple[Slot, Slot]:
    return (speaker, subject, predicate), (speaker, subject, predicate, thing.casefold())


def _attributes_of(content: str) -> list[str]:
    """Under what the attributes stand among the words: no word begins so."""
    return [f"@{one}" for one in sorted(attributes(core(content)))]


def _words_of(content: str) -> dict[str, None]:
    return dict.fromkeys(tokens(core(content)))


def asks_something(question: str, least: int = LEAST_WORDS) -> bool:
    """Whether a question is about something: no greeting, no *what do you think?*, nothing that only points.

    `least`: words that it must have; if it is fewer than usual, words that point need one more.
    """
    points = _POINTS.search(question) is not None
    if points and least >= LEAST_WORDS:
        return False
    said = tokens(_GREETING.sub("", question))
    words = [word for word in said if word not in _POLITE and not (len(word) == 2 and set(word) & _POLITE)]
    return len(words) >= least + points


class Candidates:
    """Known memories by speaker, found by shared words. Dropped ones are found no more. For one look at a view."""

    def __init__(self, view: OwnerView | None = None, check: Check = unchecked, alike: Alike = no_model) -> None:
        self._alike = alike
        self._index = KnownIndex() if view is None else view.index(KnownIndex, check)
        self._held: dict[str, KnownMemory] = {}
        """What was made here, and what was looked at."""
        self._gone: set[str] = set()
        self.until: int | None = None
        """The last seq at which a known memory may have been created; None: any."""
        self._by_word: dict[Word, dict[str, None]] = defaultdict(dict)
        self._by_slot: dict[Slot, list[str]] = defaultdict(list)
        self._own: dict[str, None] = {}

    def holds(self, memory_id: str) -> bool:
        """Whether it is known by id."""
        return self.get(memory_id) is not None

    def get(self, memory_id: str) -> KnownMemory | None:
        """The known memory of that id."""
        if memory_id in self._gone:
            return None
        known = self._held.get(memory_id)
        if known is None:
            memory = self._index.memory(memory_id)
            if memory is None or (self.until is not None and memory.created_seq > self.until):
                return None
            known = self._held[memory_id] = KnownMemory.of(memory)
        return known

    def contents_of(self, turn_id: str) -> list[str]:
        """See `KnownIndex.told`."""
        return self._index.contents_of(turn_id)

    def of_turn(self, turn_id: str) -> list[KnownMemory]:
        """The known memories that were made of a turn, also in this run, the oldest first."""
        ids = dict.fromkeys(
            [*self._index.of_turn(turn_id), *(one for one in self._own if turn_id in self._held[one].turns)]
        )
        return [known for one in ids if (known := self.get(one)) is not None]

    def taken_back(self, statement: ExtractedStatement, speaker: str | None) -> Memory | None:
        """What says the same as a statement and was taken back by its speaker, last of all; None where nothing is."""
        keys = [_told_as(who(speaker), statement.content)]
        if statement.triple is not None and not statement.triple.negation:
            keys.append(_slots(who(speaker), *statement.triple[:3])[1])
        return self._index.taken_back(keys)

    def put(self, known: KnownMemory, speaker: str | None) -> KnownMemory:
        """Take in a memory of a speaker."""
        self._held[known.id] = known
        self._own[known.id] = None
        for word in ("", *_words_of(known.content), *_attributes_of(known.content)):
            self._by_word[who(speaker), word][known.id] = None
        for subject, predicate, thing, _ in known.facts:
            for slot in _slots(who(speaker), subject, predicate, thing):
                self._by_slot[slot].append(known.id)
        return known

    def put_question(self, question: str, turn: TurnText) -> KnownMemory | None:
        """Take in a question, if it asks about something."""
        if not asks_something(question):
            return None
        return self.put(KnownMemory(f"{turn.turn_id} {question}", question, "fact", "question", 1, []), turn.speaker)

    def revise(self, known: KnownMemory, statement: ExtractedStatement) -> None:
        """The memory says from now on what the statement says."""
        known.content = statement.content

    def negate(self, known: KnownMemory) -> None:
        """It holds no longer: what lasts may be said again, what is superseded is gone (memory.md, section 4)."""
        known.negated = True
        if known.category in SUPERSEDED:
            self.drop(known)

    def drop(self, known: KnownMemory) -> None:
        """It is gone: nothing is said again of it."""
        self._gone.add(known.id)

    def near(self, content: str, speaker: str | None) -> list[tuple[float, KnownMemory]]:
        """The memories of a speaker most alike to a text, with their similarity, the most alike first."""
        said, shared = core(content), Counter[str]()
        for word in set(tokens(said)):
            key = (who(speaker), word)
            holders, own = self._index.with_word(key), self._by_word.get(key, {})
            if len(holders) + len(own) <= COMMON:
                shared.update(one for one in dict.fromkeys([*holders, *own]) if one not in self._gone)
        best = sorted(shared.items(), key=lambda one: (-one[1], one[0]))[:LOOKED_AT]
        near = [known for one, _ in best if (known := self.get(one)) is not None]
        found = [(similarity(said, core(known.content)), known) for known in near]
        return sorted(found, key=lambda one: (-one[0], one[1].id))

    def related(
        self, content: str, speaker: str | None, least: float, besides: Collection[str | None] = ()
    ) -> list[tuple[float, KnownMemory]]:
        """Memories of a speaker of similarity `least` to 0.8 to a text, with it, the most alike first; at most five."""
        near = (one for one in self.near(content, speaker) if least <= one[0] <= MOST_RELATED)
        return [one for one in near if not one[1].negated and one[1].id not in besides][:MOST_JOINED]

    def changed(self, content: str, speaker: str | None, at: int) -> tuple[KnownMemory, Change] | None:
        """The memory of a speaker, not said later than `at`, that a statement changes."""
        if not may_change(core(content), self._alike):
            return None
        known = [one for one in self._beside(content, speaker) if one.at <= at and one.content != content]
        found = changed(core(content), [core(one.content) for one in known], self._alike)
        return None if found is None else (known[found.at], found)

    def changed_since(self, content: str, speaker: str | None, at: int) -> tuple[KnownMemory, Change] | None:
        """A memory of a speaker that was said later than `at`, and changes what a statement says that comes only now."""
        later = (
            one for one in self._beside(content, speaker) if one.at > at and may_change(core(one.content), self._alike)
        )
        for one in islice(later, MOST_LATER):
            known = [other for other in self._beside(one.content, speaker) if other.at < one.at and other.id != one.id]
            found = changed(core(one.content), [core(content), *(core(other.content) for other in known)], self._alike)
            if found is not None and found.at == 0:
                return one, found
        return None

    def by_meaning(self, text: str, speaker: str | None, most: int) -> list[KnownMemory]:
        """The memories of a speaker that a text may be about, the nearest in meaning first; without a model by shared words."""
        known = [memory for _, memory in self.near(text, speaker)] + self._beside(text, speaker)
        known = list({memory.id: memory for memory in known}.values())
        rating = self._alike(text[:MOST_SAID], [core(memory.content) for memory in known])
        if rating is not None:
            order = sorted(range(len(known)), key=lambda at: -rating.near[at])
            known = [known[at] for at in order]
        return known[:most]

    def _beside(self, content: str, speaker: str | None) -> list[KnownMemory]:
        """What a statement may change: what shares its words, its attributes, and what was said last."""
        name = who(speaker)
        ids = [known.id for _, known in self.near(content, speaker)]
        for one in _attributes_of(content):
            ids += islice(reversed(self._index.with_word((name, one))), OF_ATTRIBUTE)
        ids += islice(self._index.newest(name), NEWEST)
        ids += reversed(self._by_word.get((name, ""), {}))
        held = [known for one in dict.fromkeys(ids) if (known := self.get(one)) is not None]
        return [known for known in held if not known.negated and len(known.content) <= MOST_SAID]

    def in_slot(self, triple: StatedTriple, speaker: str | None) -> list[tuple[KnownMemory, str]]:
        """Memories with the same subject and predicate and another object, the newest first, each with that object."""
        said = triple.object.casefold()
        held = self._facts(triple, (who(speaker), triple.subject, triple.predicate))
        return [
            (known, one[2]) for known, one in held if one[2].casefold() != said and not one[3] and not known.negated
        ]

    def denied(self, triple: StatedTriple, speaker: str | None) -> KnownMemory | None:
        """A memory of which the triple is the reverse; of none where it holds only under a condition."""
        if triple.condition is not None:
            return None
        slot = (who(speaker), triple.subject, triple.predicate, triple.object.casefold())
        for known, fact in self._facts(triple, slot):
            if fact[2].casefold() == triple.object.casefold() and fact[3] != triple.negation and not known.negated:
                return known
        return None

    def _facts(self, triple: StatedTriple, slot: Slot) -> list[tuple[KnownMemory, tuple[str, str, str, bool]]]:
        ids = dict.fromkeys([*reversed(self._by_slot.get(slot, [])), *reversed(self._index.in_slot(slot))])
        held = [known for one in ids if (known := self.get(one)) is not None]
        return [(known, fact) for known in held for fact in known.facts if fact[:2] == triple[:2]]

    def of_kind(self, kind: str) -> list[KnownMemory]:
        """Known memories of a kind."""
        ids = dict.fromkeys([*self._index.of_kind(kind), *self._own])
        return [known for one in ids if (known := self.get(one)) is not None and known.kind == kind]
