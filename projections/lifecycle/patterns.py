"""Patterns: what several memories have in common becomes a memory that names them (seed 000, phase 3). Pure.

**By rules**: the same triple said on several days is a pattern at once. What shares but a word is proposed, and waits for a
person: triples of one predicate, and turns in which somebody does or likes something, whichever way (`about_user.doings`). Measured
on real talk: where predicate and object are the same, what they have in common is certain; where objects share but a word, a
person has to look at it; and 700 turns have 40 triples, hardly three of one predicate and word, so turns count too. A pattern of
which a piece no longer stands goes, and is made anew of what is left where that is enough. What a person would not have, he is
not asked about again.

**By a language model**: what it is shown of an owner, and the events that its claims lead to. What was a model's becomes
nobody's word by that: each is `proposed`, and waits for a person (docs/explanation/trust.md).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

from engramlog_server.events.catalogue import MemoryCreated, MemoryDeleted
from engramlog_server.events.trust import INFERRED, PROPOSED, TRUSTS, lowest
from engramlog_server.events.vocabulary import Category
from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.language.about_user import doings, verbs
from engramlog_server.projections.language.keywords import extracted
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.prompt_text import is_chinese
from engramlog_server.projections.language.sensitivity.level import detect_sensitivity
from engramlog_server.projections.language.similar import speaks_from_its_day
from engramlog_server.projections.language.statements import normalised
from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.lifecycle.decision import Decision
from engramlog_server.projections.lifecycle.judge.statements import rejected_by
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.kind import (
    PATTERN_PREFIX,
    is_drawn,
    is_of_pattern,
    is_pattern,
    is_statement,
    is_turn,
    pattern,
)
from engramlog_server.projections.memory.record import UNCOMPRESSED, Memory, MemoryTriple
from engramlog_server.projections.models.texts import LEAST as LEAST_DAYS
from engramlog_server.projections.models.texts import Claim, ShownMemory
from engramlog_server.projections.views.view import OwnerView

LEAST = 3
"""Memories that make a pattern."""
MOST = 100
"""Memories that one pattern names, the newest; as many as an event may."""
MOST_THINGS = 5
"""Different objects that a pattern's text names."""
Rule = Literal["same", "word", "doing"]
LEAST_DAYS_OF: Mapping[Rule, int] = {"same": 3, "word": 3, "doing": 2}
"""Days on which they were said."""
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
        "thing", "event", "program", "project", "group", "online", "time", "day", "people", "new", "feature", "week", "month",
        "year", "way", "difference", "decision", "step", "friend", "kid", "family", "fam", "lot", "bit", "local", "fun", "part",
        "class",        "advice", "suggestion",
        "东西", "公司", "工作", "爱好者", "用户", "可爱", "事情", "地方", "活动", "生活", "问题", "方法", "建议", "时间", "朋友",
        "尝试", "专业",
    }
)  # fmt: skip
"""Words that say nothing about what is meant."""
_USER_CHINESE = ("用户", "用戶")
"""The user as triples of Chinese statements name them; turns that name nobody are the `user`'s."""
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
    """A memory that says it, and the triple that it backs; of a turn, one of what its speaker does, without a predicate."""

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
    return not memory.conflicts and is_statement(memory) and _may_be_told(memory)


def _may_be_told(memory: Memory) -> bool:
    """The same of turns too, and of what may contradict another: for what a person looks at before it counts."""
    return (
        stands_as_evidence(memory)
        and state_of(memory) == Columns.LIVE
        and memory.category != "identity"
        and memory.tier not in ("core", "system")
        and not memory.waiting
        and not memory.grounds_changed
        and (is_statement(memory) or is_turn(memory))
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


def _said(memory: Memory) -> Iterator[tuple[AlikeKey, MemoryTriple, str]]:
    """What other memories may have in common with one, what of it says so, and in which word."""
    for fact in memory.facts:
        for key, word in keys_of(fact).items():
            yield key, fact, word
    if is_turn(memory):
        who = memory.speaker or "user"
        for doing in doings(memory.content):
            fact = MemoryTriple(who, "", doing.told, False, None, None, memory.created_at)
            for form, word in _words(doing.what, who.casefold()):
                if word not in verbs():
                    yield AlikeKey("doing", who.casefold(), "", form, False, ""), fact, word


def _words(thing: str, subject: str) -> Iterator[tuple[str, str]]:
    """The keywords of an object, as they are compared and as they are written."""
    for one in extracted(thing):
        word = one.word
        form = " ".join(tokens(word)) if word.isascii() else word
        plain = word in _PLAIN or form in _PLAIN or form == subject
        if len(word) > 1 and not plain and not any(sign.isdigit() for sign in word):
            yield form, word


def alike(memories: Iterable[Memory], zone: str, check: Check = unchecked) -> list[Alike]:
    """All that memories have in common on enough days, most pieces first; none that another one has all pieces of.

    Only what was said after it was last taken back, or the reverse was said, counts. `zone`: the owner's, for days.
    """
    clock = ZoneInfo(zone)
    said: dict[AlikeKey, dict[str, AlikePiece]] = defaultdict(dict)
    words: dict[AlikeKey, tuple[int, str]] = {}
    ended: dict[AlikeKey, int] = {}
    backing = [one for one in memories if one.facts or is_turn(one)]
    people = {term for one in backing for term in tokens(one.speaker or "")}
    for memory in counted(backing, check, len(backing), every=64):
        certain, told = may_be_evidence(memory), _may_be_told(memory)
        if not told and memory.negated_at is None:
            continue
        for key, fact, word in _said(memory):
            if memory.negated_at is not None:
                ended[key] = max(ended.get(key, 0), memory.negated_at)
            elif (certain or (told and key.rule != "same")) and key.what not in people:
                said[key].setdefault(memory.id, AlikePiece(memory, fact, _day_of(memory, clock)))
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
    return one if len(one.pieces) >= LEAST and len(one.days) >= LEAST_DAYS_OF[key.rule] else None


def _apart(found: Sequence[Alike]) -> list[Alike]:
    """Without those whose memories another one has all of: the same thing before things of one word, then the most pieces.

    Where triples and turns share one word of one person, those with the most pieces stay.
    """
    kept: list[Alike] = []
    shared: dict[tuple[str, str, bool], Rule] = {}
    having: dict[str, list[frozenset[str]]] = defaultdict(list)
    for one in sorted(found, key=lambda one: (one.key.rule != "same", -len(one.pieces), one.key)):
        ids = {memory_id: _of_turn(one.memory) for memory_id, one in zip(one.ids, one.pieces, strict=True)}
        turns = frozenset(ids.values())
        who = "user" if one.key.subject in _USER_CHINESE else one.key.subject
        word = (who, one.key.what, one.key.negation)
        if any(turns <= other for other in having[min(turns)]):
            continue
        if one.key.rule != "same" and shared.setdefault(word, one.key.rule) != one.key.rule:
            continue
        kept.append(one)
        for turn in turns:
            having[turn].append(turns)
    return kept


def _of_turn(memory: Memory) -> str:
    """The turn that a memory was read in, or its own id: what says it once counts once."""
    return memory.source_turns[0] if memory.source_turns else memory.id


def _day_of(memory: Memory, clock: ZoneInfo) -> str:
    return datetime.fromtimestamp(memory.created_at // 1_000_000, clock).date().isoformat()


def told(one: Alike) -> str:
    """What they have in common, in the language in which it was said: who does what, on how many days it was said, and when."""
    newest, days = one.pieces[-1].fact, one.days
    span = (len(days), days[0], days[-1])
    all_things = dict.fromkeys(piece.fact.object for piece in one.pieces)
    things = [one for one in all_things if not speaks_from_its_day(one)][:MOST_THINGS]  # its day is another
    is_same, is_doing = one.key.rule == "same", one.key.rule == "doing"
    thing, when = (newest.object, newest.condition or "") if is_same else (one.word, "")
    if is_chinese(f"{newest.predicate}{newest.object}"):
        who = "用户" if newest.subject == "user" else newest.subject
        denied = "不" if newest.negation else ""
        head = f"{who}与{thing}" if is_doing else f"{who}{when}{denied}{newest.predicate}{thing}"
        head = f"{head}：{span[0]}天里说到（{span[1]}至{span[2]}）"
        return head if is_same or not things else f"{head}：{'；'.join(things)}"
    who = "User" if newest.subject == "user" else newest.subject
    denied = "not " if newest.negation else ""
    gap, when = "" if is_same else "... ", f" {when}" if when else ""
    head = f"{who} and {thing}" if is_doing else f"{who} {denied}{newest.predicate} {gap}{thing}{when}"
    head = f"{head}: told on {span[0]} days, {span[1]} to {span[2]}"
    return head if is_same or not things else f"{head}: {'; '.join(things)}"


JOB = "abstract"
MOST_PROPOSED = 20
"""Proposals of patterns that wait for one owner at a time: no rule that is not certain fills an inbox."""


def abstractions(view: OwnerView, now: int, check: Check = unchecked) -> list[Decision]:
    """The patterns that there are to make or to propose, and before them those that go."""
    memories = [one for one in view.columns if one.facts or is_turn(one) or is_of_pattern(one.id)]
    known = [one for one in memories if is_of_pattern(one.id)]
    going = [one for one in (_going(view, one) for one in known) if one is not None]
    gone = {one.ids[0] for one in going}
    by_key: dict[str, list[Memory]] = {}
    for one in known:
        by_key.setdefault(_key_part(one.id), []).append(one)
    room = MOST_PROPOSED - sum(state_of(one) == Columns.PROPOSED and one.id not in gone for one in known)
    made: list[Decision] = []
    for found in alike(memories, view.parameters.time_zone, check):
        decided = _made(view, found, by_key, gone)
        if decided is None or (decided.trust == PROPOSED and room <= 0):
            continue
        room -= decided.trust == PROPOSED
        made.append(decided._replace(due_at=min(decided.due_at, now)))
    return [*going, *made]


def _made(view: OwnerView, found: Alike, by_key: Mapping[str, Sequence[Memory]], gone: set[str]) -> Decision | None:
    """The event that makes a pattern; None where it is known, or was not wanted."""
    key = key_name(view, found.key)
    pattern_id = f"{PATTERN_PREFIX}{key}.{_evidence_name(view, found.ids)}"
    if view.get(pattern_id) is not None or any(_keeps_out(view, one, gone) for one in by_key.get(key, ())):
        return None
    text, newest = told(found), found.pieces[-1].memory
    if detect_sensitivity(text) >= UNCOMPRESSED or rejected_by(view, text, None, newest.created_at) is not None:
        return None
    memories = [one.memory for one in found.pieces]
    trust = lowest(INFERRED, *(TRUSTS[one.trust] for one in memories))
    if found.key.rule != "same":
        trust = PROPOSED
    why = f"{len(memories)} memories of {len(found.days)} days " + (
        "say the same" if found.key.rule == "same" else f"share a word: {found.word}"
    )
    return made_of(pattern_id, text, why, memories)._replace(trust=trust)


def made_of(pattern_id: str, text: str, why: str, memories: Sequence[Memory], source: str = "system") -> Decision:
    """The event that makes a pattern of these memories, dated with the newest, as sensitive as the most of them."""
    newest = max(one.created_at for one in memories)
    ids = tuple(one.id for one in memories)
    speakers, categories = {one.speaker for one in memories}, {one.category for one in memories}
    category: Category = memories[0].category if len(categories) == 1 else "fact"  # type: ignore[assignment]
    data: MemoryCreated = pattern(
        pattern_id,
        text,
        why,
        ids,
        category=category,
        speaker=memories[0].speaker if len(speakers) == 1 else None,
        source=source,
        sensitivity=max(one.sensitivity for one in memories) or None,
    )
    return Decision(
        JOB,
        "abstract",
        (pattern_id, *ids),
        newest,
        max(one.changed_seq for one in memories),
        why,
        data,
        said_at=newest,
        once=("pattern", pattern_id),
    )


def key_name(view: OwnerView, key: AlikeKey) -> str:
    """What patterns of one key have in their ids: nobody tells the words by it."""
    return view.naming.made("pattern", *map(str, key))


def _evidence_name(view: OwnerView, ids: Iterable[str]) -> str:
    return view.naming.made("evidence of a pattern", *sorted(ids))[:8]


def _key_part(pattern_id: str) -> str:
    return pattern_id.removeprefix(PATTERN_PREFIX).partition(".")[0]


def _keeps_out(view: OwnerView, known: Memory, gone: set[str]) -> bool:
    """Whether a pattern of the same key means that none is made: it is there, or a person would not have it."""
    if known.id in gone:
        return False
    if state_of(known) <= Columns.REJECTED:
        return True
    return known.deletion == "user_delete" and all(_is_told(view, one) for one in known.summarises)


def _is_told(view: OwnerView, memory_id: str) -> bool:
    """Whether a memory is there and not deleted: a pattern that went with none of its pieces, somebody deleted by itself."""
    memory = view.get(memory_id)
    return memory is not None and state_of(memory) < Columns.DELETED


def _going(view: OwnerView, known: Memory) -> Decision | None:
    """That a pattern goes of which a piece stands no longer; None where all stand, or a person answers for it."""
    if not is_pattern(known) or state_of(known) not in (Columns.LIVE, Columns.PROPOSED) or known.is_negated:
        return None
    if TRUSTS[known.trust] == "asserted" or known.verified or known.tier in ("core", "system"):
        return None
    lost = [one for one in known.summarises if not _still_says(view, known, view.get(one))]
    if not lost:
        return None
    pieces = [one for one in map(view.get, known.summarises) if one is not None]
    since = max([known.created_at, *(one.stamp for one in pieces if one.id in lost)])
    reason = f"{len(lost)} of {len(known.summarises)} pieces of evidence no longer stand"
    data = MemoryDeleted(memory_id=known.id, policy="auto_cleanup", reason=reason)
    seq = max([known.changed_seq, *(one.changed_seq for one in pieces)])
    return Decision(JOB, "delete", (known.id,), since, seq, reason, data)


def _still_says(view: OwnerView, known: Memory, piece: Memory | None) -> bool:
    """Whether a piece of evidence stands; of a pattern by rule, whether it still backs what they have in common."""
    if piece is None or not stands_as_evidence(piece):
        return False
    if known.source != "system":
        return True
    key = _key_part(known.id)
    return any(key_name(view, one) == key for one, _, _ in _said(piece))


MOST_SHOWN = 40
"""Memories of one question, the newest."""
MOST_QUESTIONS = 3
"""Questions of one run about one owner, one for each who speaks, those with most memories first."""
ALIKE = 0.5
"""Share of evidence in common, of all that either has, from which a claim is another pattern's."""
Question = tuple[ShownMemory, ...]


def questions(view: OwnerView, now: int) -> list[Question]:  # noqa: ARG001 - looked at as every plan is
    """What a model would be asked: the newest memories of each speaker, where they are of enough days."""
    clock = ZoneInfo(view.parameters.time_zone)
    by_speaker: dict[str, list[Memory]] = defaultdict(list)
    for memory in view.columns:
        if may_be_evidence(memory) and not is_of_pattern(memory.id):
            by_speaker[memory.speaker or ""].append(memory)
    found = []
    for _, said in sorted(by_speaker.items(), key=lambda one: (-len(one[1]), one[0]))[:MOST_QUESTIONS]:
        said.sort(key=lambda one: (one.created_at, one.created_seq))
        shown = tuple(ShownMemory(one.id, _day_of(one, clock), one.content) for one in said[-MOST_SHOWN:])
        if len({one.day for one in shown}) >= LEAST_DAYS:
            found.append(shown)
    return found


def proposals(view: OwnerView, claims: Sequence[Claim], texts: Mapping[str, str], model: str) -> list[Decision]:
    """The events by which claims are proposed. `texts`: what the evidence said when the model was asked, by id.

    A claim is dropped where a piece says something else by now or stands no longer, where a pattern rests on much the same,
    whatever became of that, and where its words were rejected.
    """
    known = [one for one in view.columns if is_of_pattern(one.id)]
    taken = [frozenset(one.summarises) for one in known]
    room = MOST_PROPOSED - sum(state_of(one) == Columns.PROPOSED for one in known)
    found: list[Decision] = []
    for claim in claims:
        pieces = [view.get(one) for one in claim.evidence]
        memories = [
            one for one in pieces if one is not None and may_be_evidence(one) and one.content == texts.get(one.id)
        ]
        ids = frozenset(claim.evidence)
        if len(found) >= room or len(memories) < len(pieces) or any(_much_the_same(ids, one) for one in taken):
            continue
        newest = max(one.created_at for one in memories)
        if rejected_by(view, claim.statement, None, newest) is not None:
            continue
        taken.append(ids)
        pattern_id = f"{PATTERN_PREFIX}{view.naming.made('pattern of a model', *sorted(ids))}"
        why = f"{len(memories)} memories have it in common, a model says"
        made = made_of(pattern_id, claim.statement, why, memories, "judge")
        found.append(made._replace(trust=PROPOSED, actor="judge", model=model))
    return found


def _much_the_same(ids: frozenset[str], other: frozenset[str]) -> bool:
    return len(ids & other) >= ALIKE * len(ids | other)
