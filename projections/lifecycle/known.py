"""What is known of an owner while statements are judged: memories by their words, by their triples, by their turns."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from projections.columns import Columns
from projections.extraction import Fact, Statement, Turn
from projections.extraction_shape import NOBODY
from projections.memory import SECRET, Memory
from projections.polarity import difference, polarity
from projections.retraction import TURN_KIND
from projections.similar import similarity
from projections.text import tokens
from projections.view import OwnerView

LOOKED_AT = 12
"""Memories that share most words with a statement, compared with it in full."""
COMMON = 300
"""A word that more memories hold says nothing about which."""
LEAST_WORDS = 3
"""Words that a question must have, beside those of politeness, to be remembered."""
SUPERSEDED = frozenset({"identity", "fact", "temporary"})
"""Categories of which a negated memory leaves at once."""
_DATED = re.compile(r" ?[(（](?:said on )?\d{4}-\d{2}-\d{2}说?[)）]")
_POLITE_TEXT = """
you your me i my can could would please help tell give any some what how do does have think know like suggest suggestion
recommend advice tip idea more about make sure best way good hey hi hello there go going happen new up today been life
everything thing feel day week lately s anything something ever still 你 您 我 有 什么 建议 推荐 好 可以 吗 怎么 怎么样 办法
方法 觉得 帮助 帮 什 么 议 推 荐 方 法 办 今天 最近 你好 朋友 天 天气 还 其他 别 们 呢 想 知 道 心情 情
"""
_POLITE = frozenset(_POLITE_TEXT.split())
_POINTS = re.compile(r"\b(?:this|that|these|those|it|its|them|they|he|she|him)\b|[这那它他她]", re.IGNORECASE)
_GREETING = re.compile(r"^(?:hey|hi|hello|so|and|oh|wow|well|thanks)?,? ?[A-Z]\w+[,!] ?")


def core(content: str) -> str:
    """What a content says, without the day on which it was said."""
    return _DATED.sub("", content)


def same_words(a: str, b: str) -> bool:
    """Whether two contents say the same but for words that matter little: no name, number or date apart."""
    apart = difference(core(a), core(b))
    return apart is None or not apart.startswith("different n")


@dataclass(slots=True)
class Known:
    """A memory as the judge sees it."""

    id: str
    content: str
    category: str
    kind: str
    polarity: int
    facts: list[tuple[str, str, str, bool]]
    turns: list[str] = field(default_factory=list)
    """Turns that stated, mentioned or negated it."""
    negated: bool = False
    """The speaker took it back; he may say it again."""

    @classmethod
    def made(cls, memory_id: str, said: Statement, turns: tuple[str, ...]) -> Known:
        """A memory that is about to be made."""
        told = said.triple
        facts = [(told.subject, told.predicate, told.object, told.negation)] if told is not None else []
        return cls(memory_id, said.content, said.category, said.kind, polarity(core(said.content)), facts, list(turns))

    @classmethod
    def of(cls, memory: Memory) -> Known:
        """A memory of the view."""
        turns = [*memory.source_turns, *(one.turn_id for one in memory.user_mentions if one.turn_id)]
        turns += [one.turn_id for one in memory.negations if one.turn_id]
        facts = [(one.subject, one.predicate, one.object, one.negation) for one in memory.facts]
        sense = polarity(core(memory.content))
        return cls(memory.id, memory.content, memory.category, memory.kind, sense, facts, turns, memory.is_negated)

    def told_by(self, turn_id: str) -> bool:
        """Whether this turn stated, mentioned or negated it."""
        return turn_id in self.turns

    def negates(self, said: Statement) -> bool:
        """Whether it says the reverse of a statement in nearly the same words."""
        return self.polarity != polarity(core(said.content))

    def alike_in_kind(self, said: Statement) -> bool:
        """Whether it is of the same class as a statement: what was planned is not what was done."""
        return (self.category, self.kind) == (said.category, said.kind)

    def refined_by(self, said: Statement) -> bool:
        """Whether a statement says all that it says, and more."""
        if self.negates(said) or self.kind != said.kind:
            return False
        mine, more = set(tokens(core(self.content))), set(tokens(core(said.content)))
        return len(mine) >= LEAST_WORDS and mine < more


def _who(speaker: str | None) -> str | None:
    """Whoever is only called a user is the one that memories without a speaker are about."""
    return None if speaker is None or speaker.casefold() in NOBODY else speaker


class Shelf:
    """Known memories by speaker, found by shared words. Dropped ones are found no more."""

    def __init__(self, view: OwnerView | None = None) -> None:
        self._by_id: dict[str, Known] = {}
        self._by_word: dict[tuple[str | None, str], dict[str, None]] = defaultdict(dict)
        self._by_slot: dict[tuple[str | None, str, str], list[str]] = defaultdict(list)
        if view is not None:
            for memory, state in zip(view.columns.memories, view.columns.state.tolist(), strict=True):
                said = memory.kind == TURN_KIND and memory.source_turns  # a turn, or a summary of turns
                if state == Columns.LIVE and not said and memory.sensitivity < SECRET and not memory.is_superseded:
                    self.put(Known.of(memory), memory.speaker)

    def holds(self, memory_id: str) -> bool:
        """Whether it is known by id."""
        return memory_id in self._by_id

    def get(self, memory_id: str) -> Known | None:
        """The known memory of that id."""
        return self._by_id.get(memory_id)

    def put(self, known: Known, speaker: str | None) -> Known:
        """Take in a memory of a speaker."""
        self._by_id[known.id] = known
        for word in set(tokens(core(known.content))):
            self._by_word[_who(speaker), word][known.id] = None
        for subject, predicate, _, _ in known.facts:
            self._by_slot[_who(speaker), subject, predicate].append(known.id)
        return known

    def put_question(self, question: str, turn: Turn) -> Known | None:
        """Take in a question, if it asks about something."""
        if _POINTS.search(question):
            return None
        said = tokens(_GREETING.sub("", question))
        words = [word for word in said if word not in _POLITE and not (len(word) == 2 and set(word) & _POLITE)]
        if len(words) < LEAST_WORDS:
            return None
        return self.put(Known(f"{turn.turn_id} {question}", question, "fact", "question", 1, []), turn.speaker)

    def revise(self, known: Known, said: Statement) -> None:
        """The memory says from now on what the statement says."""
        known.content = said.content

    def negate(self, known: Known) -> None:
        """It holds no longer: what lasts may be said again, what is superseded is gone (memory.md, section 4)."""
        known.negated = True
        if known.category in SUPERSEDED:
            self._by_id.pop(known.id, None)

    def drop(self, known: Known) -> None:
        """It is gone: nothing is said again of it."""
        self._by_id.pop(known.id, None)

    def near(self, content: str, speaker: str | None) -> list[tuple[float, Known]]:
        """The memories of a speaker most alike to a text, with their similarity, the most alike first."""
        said, shared = core(content), Counter[str]()
        for word in set(tokens(said)):
            holders = self._by_word.get((_who(speaker), word), {})
            if len(holders) <= COMMON:
                shared.update(dict.fromkeys((one for one in holders if one in self._by_id), 1))
        best = sorted(shared.items(), key=lambda one: (-one[1], one[0]))[:LOOKED_AT]
        found = [(similarity(said, core(self._by_id[one].content)), self._by_id[one]) for one, _ in best]
        return sorted(found, key=lambda one: (-one[0], one[1].id))

    def in_slot(self, triple: Fact, speaker: str | None) -> list[tuple[Known, str]]:
        """Memories with the same subject and predicate and another object, the newest first, each with that object."""
        said = triple.object.casefold()
        held = self._facts(triple, speaker)
        return [
            (known, one[2]) for known, one in held if one[2].casefold() != said and not one[3] and not known.negated
        ]

    def denied(self, triple: Fact, speaker: str | None) -> Known | None:
        """A memory of which the triple is the reverse; of none where it holds only under a condition."""
        if triple.condition is not None:
            return None
        for known, fact in self._facts(triple, speaker):
            if fact[2].casefold() == triple.object.casefold() and fact[3] != triple.negation and not known.negated:
                return known
        return None

    def _facts(self, triple: Fact, speaker: str | None) -> list[tuple[Known, tuple[str, str, str, bool]]]:
        ids = self._by_slot.get((_who(speaker), triple.subject, triple.predicate), [])
        held = [self._by_id[one] for one in reversed(ids) if one in self._by_id]
        return [(known, fact) for known in held for fact in known.facts if fact[:2] == triple[:2]]

    def of_kind(self, kind: str) -> list[Known]:
        """Known memories of a kind."""
        return [known for known in self._by_id.values() if known.kind == kind]


def told_by_turn(view: OwnerView) -> dict[str, list[str]]:
    """What was made of each turn, whatever has become of it: what its owner deleted does not come back by itself."""
    told: dict[str, list[str]] = defaultdict(list)
    for memory in view.columns.memories:
        if memory.source == "judge":
            mentions = (one.turn_id for one in memory.user_mentions if one.turn_id is not None)
            for turn in (*memory.source_turns, *mentions):
                told[turn].append(memory.content)
    return told
