"""What several memories have in common by their triples: the same thing said on several days, or things of one word. Pure.

Measured on real talk: where predicate and object are the same, what they have in common is certain. Where objects
share but a word, a person has to look at it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.language.keywords import extracted
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.prompt_text import is_chinese
from engramlog_server.projections.language.statements import normalised
from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.kind import is_drawn, is_statement
from engramlog_server.projections.memory.record import UNCOMPRESSED, Memory, MemoryTriple

LEAST = 3
"""Memories, and days on which they were said, that make a pattern."""
MOST = 100
"""Memories that one pattern names, the newest; as many as an event may."""
MOST_THINGS = 5
"""Different objects that a pattern's text names."""
Rule = Literal["same", "word"]
_ARTICLE = regex(r"^(?:an?|the|some|their) ", 2)
_HEAD = regex(r"\s(?:for|in|with|on|of|to|from|at|during|by|about|as|using|via|into|like|near)\s.*$", 2)
_WISHES = frozenset(
    {
        "is trying to", "wants to", "plans to", "decided to", "aims to", "decided against", "used to", "started",
        "is working on", "added", "completed", "finished", "defined", "is", "is aged", "is named", "is called",
        "计划", "想", "名字", "年龄", "是", "来自", "住在", "工作于", "上班于", "出生", "完成",
    }
)  # fmt: skip
"""Predicates of which things of one word are no habit: wishes, one piece of work after the other, who somebody is."""
_PLAIN = frozenset(
    {
        "thing", "event", "program", "project", "group", "online", "time", "day", "people", "new", "feature",
        "东西", "公司", "工作", "爱好者", "用户", "可爱", "事情", "地方", "活动", "生活", "问题",
    }
)  # fmt: skip
"""Words that say nothing about what is meant."""
_LETS = ("让", "把", "被", "使")


class AlikeKey(NamedTuple):
    """What memories have in common, as it is compared."""

    rule: Rule
    subject: str
    predicate: str
    what: str
    """The object in its normal form, or the word that objects share."""
    negation: bool
    condition: str

    @property
    def reverse(self) -> AlikeKey:
        """The same denied, or affirmed."""
        return self._replace(negation=not self.negation)


class AlikePiece(NamedTuple):
    """A memory that says it, and the triple that it backs."""

    memory: Memory
    fact: MemoryTriple
    day: str
    """On which it was said, as YYYY-MM-DD by the owner's clocks."""


class Alike(NamedTuple):
    """Memories that have something in common, the oldest first."""

    key: AlikeKey
    word: str
    """As the newest of them has it."""
    pieces: tuple[AlikePiece, ...]

    @property
    def days(self) -> list[str]:
        """On which it was said, ascending."""
        return sorted({one.day for one in self.pieces})

    @property
    def ids(self) -> tuple[str, ...]:
        """Of its memories."""
        return tuple(one.memory.id for one in self.pieces)


def may_be_evidence(memory: Memory) -> bool:
    """Whether a memory stands, may be told, and says what a person said: no turn, no account, nothing an assistant concluded."""
    return (
        stands_as_evidence(memory)
        and state_of(memory) == Columns.LIVE
        and memory.category != "identity"
        and memory.tier not in ("core", "system")
        and not memory.conflicts
        and not memory.waiting
        and not memory.grounds_changed
        and is_statement(memory)
        and (memory.source in ("user", "import") or is_drawn(memory))
    )


def stands_as_evidence(memory: Memory) -> bool:
    """Whether what was made of a memory may still say it: one that a job merged stands, for the merge says it too."""
    hidden = state_of(memory) not in (Columns.LIVE, Columns.MERGED)
    return not (hidden or memory.is_negated or memory.sensitivity >= UNCOMPRESSED)


def keys_of(fact: MemoryTriple) -> dict[AlikeKey, str]:
    """What other memories may have in common with one that backs this triple, and how it says that."""
    subject, predicate = fact.subject.casefold(), fact.predicate.casefold()
    condition, thing = (fact.condition or "").casefold(), _ARTICLE.sub("", fact.object)
    same = AlikeKey("same", subject, predicate, normalised(thing), fact.negation, condition)
    found = {same: thing}
    if predicate not in _WISHES and not thing.startswith(_LETS):
        for form, word in _words(_HEAD.sub("", thing), subject):
            found[AlikeKey("word", subject, predicate, form, fact.negation, "")] = word
    return found


def _words(thing: str, subject: str) -> Iterator[tuple[str, str]]:
    """The keywords of an object, as they are compared and as they are written."""
    for one in extracted(thing):
        word = one.word
        form = " ".join(tokens(word)) if word.isascii() else word
        plain = word in _PLAIN or form in _PLAIN or form == subject
        if len(word) > 1 and not plain and not any(sign.isdigit() for sign in word):
            yield form, word


def alike(memories: Iterable[Memory], zone: str, check: Check = unchecked) -> list[Alike]:
    """All that memories have in common on at least three days, most pieces first; none that another one has all pieces of.

    Only what was said after it was last taken back, or the reverse was said, counts. `zone`: the owner's, for days.
    """
    clock = ZoneInfo(zone)
    said: dict[AlikeKey, dict[str, AlikePiece]] = defaultdict(dict)
    words: dict[AlikeKey, tuple[int, str]] = {}
    ended: dict[AlikeKey, int] = {}
    backing = [one for one in memories if one.facts]
    for memory in counted(backing, check, len(backing), every=64):
        counts = may_be_evidence(memory)
        for fact in memory.facts:
            for key, word in keys_of(fact).items():
                if memory.negated_at is not None:
                    ended[key] = max(ended.get(key, 0), memory.negated_at)
                elif counts:
                    said[key].setdefault(memory.id, AlikePiece(memory, fact, _day(memory, clock)))
                    words[key] = max(words.get(key, (0, "")), (memory.created_at, word))
    for key in list(said):
        if key.reverse in said:
            last = max(one.memory.created_at for one in said[key.reverse].values())
            ended[key] = max(ended.get(key, 0), last)
    found = [_counting(key, said[key].values(), ended.get(key, -1), words[key][1]) for key in said]
    return _apart([one for one in found if one is not None])


def _counting(key: AlikeKey, pieces: Iterable[AlikePiece], ended: int, word: str) -> Alike | None:
    left = [one for one in pieces if one.memory.created_at > ended]
    left.sort(key=lambda one: (one.memory.created_at, one.memory.created_seq, one.memory.id))
    one = Alike(key, word, tuple(left[-MOST:]))
    return one if len(one.pieces) >= LEAST and len(one.days) >= LEAST else None


def _apart(found: Sequence[Alike]) -> list[Alike]:
    """Without those whose memories another one has all of: the same thing before things of one word, then the most pieces."""
    kept: list[Alike] = []
    having: dict[str, list[frozenset[str]]] = defaultdict(list)
    for one in sorted(found, key=lambda one: (one.key.rule != "same", -len(one.pieces), one.key)):
        ids = frozenset(one.ids)
        if any(ids <= other for other in having[one.ids[0]]):
            continue
        kept.append(one)
        for memory_id in ids:
            having[memory_id].append(ids)
    return kept


def _day(memory: Memory, clock: ZoneInfo) -> str:
    return datetime.fromtimestamp(memory.created_at // 1_000_000, clock).date().isoformat()


def told(one: Alike) -> str:
    """What they have in common, in the language in which it was said: who does what, on how many days it was said, and when."""
    newest, days = one.pieces[-1].fact, one.days
    span = (len(days), days[0], days[-1])
    things = list({piece.fact.object: None for piece in one.pieces})
    is_same = one.key.rule == "same"
    thing, when = (newest.object, newest.condition or "") if is_same else (one.word, "")
    if is_chinese(f"{newest.subject}{newest.predicate}{newest.object}"):
        denied = "不" if newest.negation else ""
        head = f"{newest.subject}{when}{denied}{newest.predicate}{thing}：{span[0]}天里说到（{span[1]}至{span[2]}）"
        return head if is_same else f"{head}：{'；'.join(things[:MOST_THINGS])}"
    denied = "not " if newest.negation else ""
    gap, when = "" if is_same else "... ", f" {when}" if when else ""
    head = f"{newest.subject} {denied}{newest.predicate} {gap}{thing}{when}: told on {span[0]} days, {span[1]} to {span[2]}"
    return head if is_same else f"{head}: {'; '.join(things[:MOST_THINGS])}"
