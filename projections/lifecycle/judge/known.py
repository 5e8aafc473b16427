"""What is known of an owner while statements are judged: memories by their words, their triples and their turns. Pure.

`KnownIndex` is kept level with a view, so that a run over a large owner does not read all its memories again for every piece;
`Candidates` is what one judging knows: the index, and what the judging itself has made, changed and dropped.

Some predicates have one value at a time, such as a home or an age: a new value replaces the known one, may replace it, or is kept
next to it. A home replaces another only where both are places of one grade, told apart for certain, and the new one is said of now
and not for a while; "a flat in Berlin", "the fifth floor" or a district refines a home (memory.md, section 4).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any, Literal, NamedTuple

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
from engramlog_server.projections.language.contradiction.slots import (
    different_places,
    lies_in,
    place_at_start,
    value_of,
)
from engramlog_server.projections.language.extraction.instructions import INSTRUCTION, WISHES
from engramlog_server.projections.language.extraction.shape import NOBODY, ExtractedStatement, StatedTriple, TurnText
from engramlog_server.projections.language.keywords import without_day
from engramlog_server.projections.language.lexicon import either, rows
from engramlog_server.projections.language.patterns import HAN, begins_with_han, regex
from engramlog_server.projections.language.similar import MOST_RELATED, difference, polarity, similarity, wording
from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.language.times.bounds import for_a_time, of_earlier
from engramlog_server.projections.language.times.calendar import MONTH, month_number
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.kind import is_statement
from engramlog_server.projections.memory.record import SECRET, Memory
from engramlog_server.projections.views.view import OwnerView

LEAST_WORDS = 3
"""Words that a memory must have to be refined, and a question, beside those of politeness, to be remembered."""


@cache
def _still(language: str) -> str:
    """Words by which somebody holds to what he said, as alternatives."""
    return either(word for row in rows("taking_back") if "still" in row["role"] for word in row[language])


_ALL_THE_SAME = regex(lambda: rf" (?:{_still('english')})\b|(?:{_still('chinese')})(?=[喜爱想热住在])")
_AGAIN_NOW = regex("(?<=.)了$")


def core(content: str) -> str:
    """What a content says, without the day on which it was said."""
    return without_day(content)


def same_words(a: str, b: str) -> bool:
    """Whether two contents say the same but for words that matter little: no name, number or date apart."""
    apart = difference(core(a), core(b))
    return apart is None or not apart.startswith("different n")


def said_after_all(content: str) -> str:
    """A content without the words by which its speaker says that he holds to it all the same; itself where there are none."""
    whole = core(content)
    plain = _ALL_THE_SAME.sub("", whole)
    return content if plain == whole else _AGAIN_NOW.sub("", plain).strip()


def says_again(statement: ExtractedStatement, content: str) -> bool:
    """Whether a statement says what a content says. Every word of an instruction counts."""
    if statement.kind == INSTRUCTION:
        return difference(core(statement.content), core(content)) is None
    return same_words(statement.content, content)


@dataclass(slots=True)
class KnownMemory:
    """A memory as the judge sees it."""

    id: str
    content: str
    category: str
    kind: str
    polarity: int
    facts: list[tuple[str, str, str, bool]]
    turns: list[str] = field(default_factory=list)
    """Turns that stated, mentioned or negated it."""
    at: int = 0
    """When it was said last, microseconds since 1970; 0 in the run that makes it."""
    negated: bool = False
    """The speaker took it back; he may say it again."""

    @classmethod
    def made(cls, memory_id: str, statement: ExtractedStatement, turns: tuple[str, ...]) -> KnownMemory:
        """A memory that is about to be made."""
        triple = statement.triple
        facts = [(triple.subject, triple.predicate, triple.object, triple.negation)] if triple is not None else []
        return cls(
            memory_id,
            statement.content,
            statement.category,
            statement.kind,
            polarity(core(statement.content)),
            facts,
            list(turns),
        )

    @classmethod
    def of(cls, memory: Memory) -> KnownMemory:
        """A memory of the view."""
        turns = [*memory.source_turns, *(one.turn_id for one in memory.user_mentions if one.turn_id)]
        turns += [one.turn_id for one in memory.negations if one.turn_id]
        facts = [(one.subject, one.predicate, one.object, one.negation) for one in memory.facts]
        sense = polarity(core(memory.content))
        at = memory.last_activated_at
        return cls(memory.id, memory.content, memory.category, memory.kind, sense, facts, turns, at, memory.is_negated)

    def comes_from(self, turn_id: str) -> bool:
        """Whether this turn stated, mentioned or negated it."""
        return turn_id in self.turns

    def negates(self, statement: ExtractedStatement) -> bool:
        """Whether it says the reverse of a statement in nearly the same words."""
        return self.polarity != polarity(core(statement.content))

    def alike_in_kind(self, statement: ExtractedStatement) -> bool:
        """Whether it is of the same class as a statement: what was planned is not what was done."""
        return (self.category, self.kind) == (statement.category, statement.kind)

    def refined_by(self, statement: ExtractedStatement) -> bool:
        """Whether a statement says all that it says, and more."""
        if self.negates(statement) or self.kind != statement.kind:
            return False
        mine, more = set(tokens(core(self.content))), set(tokens(core(statement.content)))
        return len(mine) >= LEAST_WORDS and mine < more


def who(speaker: str | None) -> str | None:
    """Whoever is only called a user is the one that memories without a speaker are about."""
    return None if speaker is None or speaker.casefold() in NOBODY else speaker


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


Outcome = Literal["replaces", "may", "stands"]
HOMES = frozenset({"lives in", "住在"})
AGES = frozenset({"is aged", "年龄"})
ORIGINS = frozenset({"is from", "来自"})
HOLDS_ONCE = HOMES | AGES | WISHES
"""Predicates that have one object at a time, and a new one is the ordinary case."""
BIRTHS = frozenset({"was born", "出生"})
HOLDS_ALWAYS = frozenset({"is called", "名字"}) | BIRTHS | ORIGINS
"""Predicates that have one object: a new one is a correction if said to be one, else a possible conflict."""
_LED = regex(
    r"(?:the (?:city|town|village|state) of |the |downtown |central |greater |upstate |(?:north|south|east|west)(?:ern)? )"
)
_WITHIN = regex(r"\b(?:in|of|near|outside) (?:the )?")
_NEXT = regex(r",? (?:in )?(?:the )?|市?省?")
_ENDS = regex(
    r"(?:[,.]? ?(?:now|again|city|proper|with|for|because|since|to|near|where|after|as|by|just|recently|last|this|on"
    r"|and(?= [a-z])(?! the ))\b|\s*\(|\s*$)"
)
_ENDS_CHINESE = regex(
    "(?:市区?|[区县省]|城里|市里)?(?:$|[了的，,]|已经|很久|多年|[\\d一二两三四五六七八九十几好多]+年|工作|生活|上学|读书|发展)"
)
_DISTRICT = regex(f"[{HAN}]{{2,4}}(?<![小郊市校社景])区")
_TOWN_CHINESE = regex(f"[{HAN}]{{1,5}}[市县]")
_PROVINCE = regex(f"[{HAN}]{{2,3}}省")
_PART_CHINESE = regex(
    "[楼层路街巷弄号室房栋村镇乡区]|公寓|宿舍|花园|附近|旁边|单元|酒店|公司|学校|市中心|城里|乡下|父母|爸|妈|亲戚|朋友|家里?$|[里边]$"
)
_NAME = regex(r"[A-Z][\w'.-]*(?: (?:of |on |upon |de |la )?[A-Z][\w'.-]*)*")
_PART = regex(
    r"\b(?:Street|St|Road|Rd|Avenue|Ave|Lane|Drive|District|Quarter|Heights|Square|Court|Apartments?|House|Building|Tower"
    r"|Park|Hall|Close|Terrace|Place|Dorm\w*|Residences?|Gardens|Hotel|Block|Floor|Campus|University|College)$"
)
_TOWN = regex(r" (?:City|Town)$")


_BIRTH_YEAR = regex(r"(?<!\d)((?:19|20)\d\d)(?!\d)")
_BIRTH_MONTH = regex(rf"(?<![a-z])(?:{MONTH})(?![a-z])|([\d一二三四五六七八九十]{{1,2}})月")
_BIRTH_DAY = regex(
    rf"(?:{MONTH})\.? (?:the )?(\d{{1,2}})|(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?:{MONTH})|月([\d一二三四五六七八九十]{{1,3}})"
)


class _Home(NamedTuple):
    """A home as said: the known place it lies in, or how its name reads."""

    place: str | None
    sure: bool
    """Nothing that follows the place may change what it is: "Paris, Texas", "Boston Road"."""
    grade: str
    """place, town, province, district, name, or part: what lies within a town."""
    words: str


def outcome(predicate: str, said: tuple[str, str], known: tuple[str, str], year: int | None, corrects: bool) -> Outcome:
    """What a statement means for a known one of the same predicate, each as (content, object).

    `year` is that in which the statement was made; `corrects`: its speaker says that something was wrong before.
    """
    (content, value), (known_content, known_value) = said, known
    if predicate in AGES:
        return _age(content, value, known_value, year, corrects)
    if predicate in ORIGINS:
        return _origin(value, known_value, corrects)
    if predicate in WISHES or (predicate in HOLDS_ALWAYS and corrects):
        return "replaces"
    if predicate in HOLDS_ALWAYS:
        return "stands" if predicate in BIRTHS and _agree(value, known_value) else "may"
    if predicate not in HOMES or for_a_time(content) or for_a_time(known_content):
        return "stands"
    found = _homes(_home(value), _home(known_value), corrects)
    return "may" if found == "replaces" and of_earlier(content, year) else found


def _age(content: str, value: str, known: str, year: int | None, corrects: bool) -> Outcome:
    """One grows older: an age below the known one is of another time, or one of the two is wrong."""
    new, old = _years(value), _years(known)
    if for_a_time(content) or of_earlier(content, year) or new == old:
        return "stands"
    return "replaces" if corrects or (new is not None and old is not None and new > old) else "may"


def _years(value: str) -> float | None:
    found = re.match(r"\d{1,3}|[一二三四五六七八九十两]{1,4}", value)
    return None if found is None else value_of(found[0])


def _agree(value: str, known: str) -> bool:
    """Whether two birthdays name a year, a month or a day, and none that differs: "3 May" and "May 3rd, 1990"."""
    new, old = _born(value), _born(known)
    both = new.keys() & old.keys()
    return bool(both) and all(new[part] == old[part] for part in both)


def _born(value: str) -> dict[str, int]:
    """Year, month and day as far as they are named."""
    found: dict[str, int] = {}
    text = value.casefold()
    if (year := _BIRTH_YEAR.search(text)) is not None:
        found["year"] = int(year[1])
    if (month := _BIRTH_MONTH.search(text)) is not None:
        found["month"] = month_number(month[0]) if month[1] is None else int(value_of(month[1]) or 0)
    if "month" in found and (day := _BIRTH_DAY.search(text.replace(str(found.get("year", "-")), ""))) is not None:
        found["day"] = int(value_of(day[1] or day[2] or day[3]) or 0)
    return found


def _origin(value: str, known: str, corrects: bool) -> Outcome:
    """A country and a town in it do not contradict each other."""
    new, old = _home(value.removesuffix("人")), _home(known.removesuffix("人"))
    if new.place is not None and old.place is not None and not different_places(new.place, old.place):
        return "stands"
    return "replaces" if corrects else "may"


def _homes(new: _Home, old: _Home, corrects: bool) -> Outcome:
    if new.place is not None and old.place is not None:
        if not different_places(new.place, old.place):
            return "stands"
        return "replaces" if new.sure and old.sure else "may"
    grades = {new.grade, old.grade}
    if "part" in grades or new.words.startswith(old.words) or old.words.startswith(new.words):
        return "stands"
    if len(grades) == 1 and ("name" not in grades or corrects):
        return "replaces"
    return "stands" if "district" in grades else "may"


def _home(value: str) -> _Home:
    """A home read from what somebody lives in; an object of a triple."""
    said = " ".join(value.replace("’", "'").split())
    led = _LED.match(said)
    for start in (0, led.end() if led is not None else 0):
        found = _known(said, start)
        if found is not None:
            return found
    if begins_with_han(said):
        return _Home(None, True, _grade_chinese(said), said)
    name = _NAME.match(said, led.end() if led is not None else 0)
    if name is None:
        lies = (_known(said, one.end()) for one in _WITHIN.finditer(said))
        return next((one for one in lies if one is not None), _Home(None, True, "part", said.casefold()))
    return _Home(None, True, _grade(said, name), said[name.start() :].casefold())


def _known(said: str, start: int) -> _Home | None:
    """The known place that is named from `start` on, the innermost where several follow each other."""
    lower = said.casefold()
    found = place_at_start(lower[start:]) if len(lower) == len(said) else None
    if found is None:
        return None
    place, end = found[0], start + found[1]
    while (more := _NEXT.match(said, end)) is not None:
        outer = place_at_start(lower[more.end() :])
        if outer is None:
            break
        if different_places(place, outer[0]):
            return _Home(None, False, "name", lower[start:])
        end = more.end() + outer[1]
        place = outer[0] if lies_in(outer[0], place) else place
    ends = _ENDS_CHINESE if begins_with_han(said[start:]) else _ENDS
    return _Home(place, ends.match(said, end) is not None, "place", lower[start:])


def _grade_chinese(said: str) -> str:
    for grade, pattern in (("district", _DISTRICT), ("town", _TOWN_CHINESE), ("province", _PROVINCE)):
        if pattern.fullmatch(said):
            return grade
    return "part" if _PART_CHINESE.search(said) else "name"


def _grade(said: str, name: re.Match[str]) -> str:
    """Of a capitalised name: part of a town, a town ("Springfield, Illinois", "Iowa City"), or any name."""
    if _PART.search(name[0]):
        return "part"
    tail = said[name.end() :].casefold()
    outer = tail.startswith(", ") and place_at_start(tail.removeprefix(", ")) is not None
    return "town" if outer or _TOWN.search(name[0]) or said.startswith(("the city of", "the town of")) else "name"
