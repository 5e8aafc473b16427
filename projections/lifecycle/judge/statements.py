"""The judge by rule: what a statement means for what is known, read in a turn or written by itself. Pure (memory.md, section 4).

`against` compares a statement with known memories. Its callers decide what follows: what they may end, what they only flag.
Whether the owner rejected a statement is asked first. The fold passes over what is rejected; but "I live in Lisbon" ends "I live
in Porto", so what is rejected ends nothing either.

`JudgeRun` judges the statements of turns: ADD what is new; BOOST (a mention) what is said again; UPDATE what is said more fully;
NEGATE what the speaker takes back or what can hold only once (home, age); FLAG what may contradict; SKIP questions, suppositions
and secrets. Statements are judged in order, each against what is known by then, including those judged before it. So the outcome
is the same in every run.

`WriteJudge` judges a memory that is written by itself. The same letter by letter, of one kind, category, speaker, project and task,
is a mention of the memory that says it, if nothing is lost by that: all that comes with the text is known of it, its time is the
same, and it is no lower word than the new one. The rest is `against`, whose sure findings end something only if the writer may.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple
from zoneinfo import ZoneInfo

from engramlog_server.events.catalogue import (
    EventData,
    FactAsserted,
    MemoriesLinked,
    MemoryCreated,
    MemoryDeleted,
    MemoryMentioned,
    MemoryNegated,
    MemoryRevised,
)
from engramlog_server.events.cipher import SECRET_BYTES
from engramlog_server.events.envelope import digest
from engramlog_server.events.standing import PERSONS
from engramlog_server.events.trust import ASSERTED, IMPORTED, PROPOSED, TRUSTS, overrides
from engramlog_server.events.vocabulary import Actor, Category, Trust
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.decide.commands import MOST_BESIDE, NOTHING, Consequence, Contested, Does
from engramlog_server.projections.index.names import SaidIndex
from engramlog_server.projections.language.contradiction.change import Alike, no_model
from engramlog_server.projections.language.contradiction.relation import compare
from engramlog_server.projections.language.extraction.rules import read_turn
from engramlog_server.projections.language.extraction.shape import ExtractedStatement, StatedTriple, TurnText
from engramlog_server.projections.language.extraction.taking_back import Taken
from engramlog_server.projections.language.questions import asks_another
from engramlog_server.projections.language.sensitivity.level import detect_sensitivity
from engramlog_server.projections.language.similar import polarity, similarity, speaks_from_its_day
from engramlog_server.projections.language.statements import normalised, statement, statements_in
from engramlog_server.projections.language.times.bounds import for_a_time, of_another_time
from engramlog_server.projections.lifecycle.decision import Decision
from engramlog_server.projections.lifecycle.judge.known import (
    AGES,
    BIRTHS,
    HOLDS_ALWAYS,
    HOLDS_ONCE,
    MOST_SAID,
    Candidates,
    KnownMemory,
    core,
    outcome,
    said_after_all,
    same_words,
    says_again,
    who,
)
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.kind import created, is_statement
from engramlog_server.projections.memory.record import DAY, SECRET, Memory
from engramlog_server.projections.memory.rejection import refusing
from engramlog_server.projections.ranking.search_request import times_in
from engramlog_server.projections.views.view import OwnerView

MOST_REASON = 300
"""Characters of a reason."""
Meaning = Literal["replaces", "may replace", "denies", "changes", "changed since", "contradicts", "refines"]
"""It takes the place of a value, or may; it says the reverse of a triple; it says that something changed, or what was said later
does; it contradicts; it says more of the same."""


class Finding(NamedTuple):
    """What a statement means for something that is known."""

    meaning: Meaning
    known: tuple[KnownMemory, ...]
    reason: str
    sure: bool
    """Whether it may be acted upon; else it is to be flagged."""
    alike: float = 1.0
    by_characters: bool = False
    """See `Relation`."""


def against(
    shelf: Candidates,
    statement: ExtractedStatement,
    near: Iterable[tuple[float, KnownMemory]],
    *,
    speaker: str | None,
    said_at: int,
    year: int | None,
    turns: tuple[str, ...] = (),
    is_beside: Callable[[float, KnownMemory], bool],
    refining: bool = False,
    changes: bool = True,
) -> Iterator[Finding]:
    """What it means for each thing known, the weightiest first; each is looked for when it is asked for.

    `near`: what is on its topic, the most alike first, of which `is_beside` says whether it is to be compared at all. What one of
    `turns`, in which it was said, has told already is passed over but for triples, of which whoever asks must know. `refining`:
    what it says more fully is told too. `changes`: whether changes that its speaker reports count.
    """
    triple = statement.triple
    if triple is not None and triple.predicate in HOLDS_ONCE | HOLDS_ALWAYS:
        values = [one for one in shelf.in_slot(triple, speaker) if not _comes_from(one[0], turns)]
        new = (statement.content, triple.object)
        outcomes = [
            (one, outcome(triple.predicate, new, (one.content, value), year, statement.correction))
            for one, value in values
        ]
        if replaced := tuple(known for known, what in outcomes if what == "replaces"):
            yield Finding("replaces", replaced, "it holds only once", sure=True)
        if doubtful := tuple(known for known, what in outcomes if what == "may"):
            yield Finding("may replace", doubtful, "two values where one holds", sure=False)
    denied = shelf.denied(statement.triple, speaker) if statement.triple is not None else None
    if denied is not None:
        yield Finding("denies", (denied,), "the speaker says the reverse", sure=True)
    since = shelf.changed_since(statement.content, speaker, said_at) if changes else None
    if since is not None and not _comes_from(since[0], turns):
        yield Finding("changed since", (since[0],), since[1].reason, since[1].sure)
    changed = shelf.changed(statement.content, speaker, said_at) if changes else None
    if changed is not None and not _comes_from(changed[0], turns):
        yield Finding("changes", (changed[0],), changed[1].reason, changed[1].sure)
    now = not of_another_time(core(statement.content), year)
    for alike, known in near:
        if _comes_from(known, turns) or not is_beside(alike, known):
            continue
        relation = compare(statement.content, known.content)
        if relation.kind == "contradicts":
            reason = "; ".join(relation.reasons)[:MOST_REASON]
            yield Finding("contradicts", (known,), reason, relation.sure and now, alike, relation.by_characters)
        elif refining and known.refined_by(statement):
            yield Finding("refines", (known,), f"said more fully (similarity {alike:.2f})", sure=True, alike=alike)


def ended(
    statement: ExtractedStatement, near: Callable[[str], Iterable[tuple[float, KnownMemory]]], least: float
) -> KnownMemory | None:
    """The memory of what a statement takes back: "stopped running" ends "likes running", not "likes music"."""
    if statement.ends is None:
        return None
    found = (
        known for alike, known in near(statement.ends) if alike >= least and known.polarity > 0 and not known.negated
    )
    return next(found, None)


def _comes_from(known: KnownMemory, turns: tuple[str, ...]) -> bool:
    return any(map(known.comes_from, turns))


Rejected = Literal["words", "triple"]


def rejected_by(view: OwnerView, content: str, triple: StatedTriple | None, said_at: int) -> Rejected | None:
    """By what nothing follows from a statement of this time (microseconds since 1970); None where something may."""
    rejections, secret = view.state.rejections, view.naming.secret
    if not rejections or len(secret) != SECRET_BYTES:
        return None
    if refusing(rejections, (digest(secret, statement(content)),), said_at) is not None:
        return "words"
    if triple is None:
        return None
    subject, predicate, thing, negation, _, condition = triple
    fact = FactAsserted(
        subject=subject, predicate=predicate, object=thing, negation=negation, condition=condition, evidence=("m",)
    )
    found = refusing(rejections, (digest(secret, one) for one in statements_in(fact)), said_at)
    return None if found is None else "triple"


JOB = "extract"
TOPIC = 0.5
"""Similarity from which a statement may be about what another is about."""
ASKED_OFTEN = 3
"""Turns that ask one question before it becomes a memory."""
BEFORE = "said before it was taken back"
LASTING = frozenset({"identity", "stable_preference", "skill"})
NAME_LETTERS = 200


class ReadTurn(NamedTuple):
    """A turn with what it states."""

    turn: TurnText
    seq: int
    """Position of the event that recorded it."""
    said_at: int
    """Microseconds since 1970."""
    session: str | None
    statements: tuple[ExtractedStatement, ...]
    questions: tuple[str, ...] = ()
    unread: bool = True
    """False where it was judged before: only its questions count."""
    taken: tuple[Taken, ...] = ()
    """What it takes back of what its speaker said before."""
    trust: Trust = ASSERTED
    """How far the turn can be trusted."""


class Claim(NamedTuple):
    """A statement in the turn that makes it."""

    source: ReadTurn
    statement: ExtractedStatement

    @property
    def turn(self) -> TurnText:
        return self.source.turn

    @property
    def content(self) -> str:
        return self.statement.content


class Verdict(NamedTuple):
    """What is made of one statement."""

    operation: str
    """ADD, UPDATE, BOOST, NEGATE, FLAG or SKIP."""
    turn_id: str
    statement: ExtractedStatement
    memory_id: str | None
    """The memory that is made, changed or mentioned."""
    reason: str
    decisions: tuple[Decision, ...] = ()
    other: str | None = None
    """The memory that is negated, or may be contradicted."""


def often_asked(name: str | None, question: str) -> str:
    """What a memory says of a question that is asked again and again, in the question's language; `name`: who asks."""
    if question.isascii():
        return f"{name or 'User'} has asked several times: {question}"
    return f"{name or '用户'}多次问过：{question}"


class JudgeRun:
    """One run over an owner's turns; `projections.lifecycle.judge.proposals` has it carry out what a model proposes."""

    def __init__(self, view: OwnerView, check: Check = unchecked, alike: Alike = no_model) -> None:
        self._owner = view.owner
        self._view = view
        self._least = view.parameters.merge_similarity
        self._shelf = Candidates(view, check, alike)
        self._asked = Candidates()
        self._corrects: dict[str, str] = {}
        """The turn that a content puts right."""
        self.verdicts: list[Verdict] = []

    def judge(self, claim: Claim) -> None:
        """One claim against what is known by now."""
        unfit = _unfit(claim.statement)
        if unfit is not None or self._refuses(claim):
            return None if unfit is None else self._record("SKIP", claim, None, unfit)
        memory_id, known_of_turn = self._id(claim), self._shelf.contents_of(claim.turn.turn_id)
        known = self._view.get(memory_id) is not None or self._shelf.holds(memory_id)
        if known or any(
            says_again(claim.statement, one) and similarity(core(claim.content), core(one)) >= TOPIC
            for one in known_of_turn
        ):
            return self._record("SKIP", claim, memory_id, "known from this turn")
        if self._said_before_taken_back(claim):
            return None
        speaker = claim.turn.speaker
        gone = ended(claim.statement, lambda text: self._shelf.near(text, speaker), self._least)
        if gone is not None and not gone.comes_from(claim.turn.turn_id):
            return self._negate(claim, [gone], "the speaker takes it back")
        near = self._shelf.near(claim.content, speaker)
        again = self._said_already(claim.statement, near)
        if again is not None:
            return self._held(claim, again[1], again[0])
        return self._new(claim, near)

    def _said_already(
        self, statement: ExtractedStatement, near: list[tuple[float, KnownMemory]]
    ) -> tuple[float, KnownMemory] | None:
        """The memory that says the same, or what the speaker had taken back and holds to after all: "I still like it", 还是喜欢."""
        plain = said_after_all(statement.content)
        for alike, known in near:
            if not known.alike_in_kind(statement) or known.negates(statement):
                continue
            if alike >= self._least and says_again(statement, known.content):
                return alike, known
            if known.negated and plain != statement.content and same_words(plain, core(known.content)):
                return 1.0, known
        return None

    def _refuses(self, claim: Claim) -> bool:
        """Whether its owner rejected it: then nothing follows. Where it is in these words, the fold is told, refuses it, and
        notes that the turn says so."""
        rejected = rejected_by(self._view, claim.content, claim.statement.triple, claim.source.said_at)
        if rejected is None:
            return False
        memory_id, decisions = self._id(claim), list[Decision]()
        if rejected == "words" and self._view.get(memory_id) is None:
            data = self._creation(claim)
            decisions.append(self._decision("refuse", (memory_id,), claim, "its owner rejected it", data))
        self._record("SKIP", claim, None, "its owner rejected it", decisions)
        return True

    def _held(self, claim: Claim, known: KnownMemory, alike: float) -> None:
        """Said again; where it had been taken back, what denied it holds no longer."""
        was = known.negated
        self._again(claim, known, alike)
        facts = [StatedTriple(*fact) for fact in known.facts] if was else []
        denials = (self._shelf.denied(fact, claim.turn.speaker) for fact in facts)
        denial = next((one for one in denials if one is not None and one.id != known.id), None)
        if denial is None or denial.comes_from(claim.turn.turn_id) or self._is_later(denial, claim):
            return
        reason, turn_id = "the speaker holds to what he had taken back", claim.turn.turn_id
        data = MemoryNegated(
            memory_id=denial.id, correction=known.content, replaced_by=known.id, reason=reason, turn_id=turn_id
        )
        self._shelf.negate(denial)
        decision = self._decision("negate", (denial.id,), claim, reason, data)
        self._record("NEGATE", claim, known.id, reason, [decision], denial.id)

    def _said_before_taken_back(self, claim: Claim) -> bool:
        """Whether its speaker took the same back later than he said it: then it is a mention of that time and revives nothing."""
        gone = self._shelf.taken_back(claim.statement, claim.turn.speaker)
        if gone is None or (gone.negated_at or 0) < claim.source.said_at:
            return False
        data = MemoryMentioned(memory_id=gone.id, similarity=1.0, turn_id=claim.turn.turn_id)
        decision = self._decision("boost", (gone.id,), claim, BEFORE, data, "user")
        self._record("BOOST", claim, gone.id, BEFORE, [decision])
        return True

    def _new(self, claim: Claim, near: list[tuple[float, KnownMemory]]) -> None:
        """The weightiest thing that it means for what is known decides."""
        turn = claim.turn
        found = against(
            self._shelf,
            claim.statement,
            near,
            speaker=turn.speaker,
            said_at=claim.source.said_at,
            year=turn.year,
            turns=(turn.turn_id,),
            is_beside=lambda alike, known: alike >= TOPIC and known.category == claim.statement.category,
            refining=claim.statement.category in LASTING,
            changes=claim.source.trust != IMPORTED,  # too few of those in imported chats are right (docs/design.md)
        )
        for one in found:
            known = one.known[0]
            if one.meaning == "denies":
                if self._is_later(known, claim):
                    return self._outdated(claim, known, "the speaker said the reverse since")
                if known.comes_from(turn.turn_id):
                    continue
            if one.meaning == "changed since" and one.sure:
                return self._outdated(claim, known, one.reason)
            if one.meaning == "refines":
                return self._update(claim, known, one.alike)
            if one.sure:
                return self._negate(claim, one.known, one.reason)
            return self._flag(claim, known, one.reason)
        return self._add(claim, "new")

    def _flag_contradicted(self, claim: Claim, near: Iterable[tuple[float, KnownMemory]]) -> bool:
        """Flag a claim with the first memory on its topic that it contradicts; whether there is one."""
        for alike, known in near:
            if alike >= TOPIC and not known.comes_from(claim.turn.turn_id) and not known.negated:
                relation = compare(core(claim.content), core(known.content))
                if relation.kind == "contradicts":
                    self._flag(claim, known, "; ".join(relation.reasons)[:MOST_REASON])
                    return True
        return False

    def ask(self, source: ReadTurn, question: str) -> None:
        """A question: asked again and again it becomes a memory, by itself it asserts nothing."""
        asked = self._asked.near(question, source.turn.speaker)
        same = [one for alike, one in asked if alike >= self._least and not asks_another(question, one.content)]
        first = same[0] if same else self._asked.put_question(question, source.turn)
        if first is None or source.turn.turn_id in first.turns:
            return None
        first.turns.append(source.turn.turn_id)
        if len(first.turns) < ASKED_OFTEN or not source.unread:
            return None
        name, words = source.turn.name, first.content
        content = often_asked(name, words)
        claim = Claim(source, ExtractedStatement(content, "fact", "question", 1, True, 0.7, (0, 0)))
        known = next((one for one in self._shelf.of_kind("question") if same_words(one.content, content)), None)
        if known is not None:
            return self._again(claim, known, 1.0)
        return self._add(claim, "asked again and again", tuple(first.turns))

    def _again(self, claim: Claim, known: KnownMemory, alike: float) -> None:
        if known.comes_from(claim.turn.turn_id):
            return self._record("SKIP", claim, known.id, "known from this turn")
        data = MemoryMentioned(memory_id=known.id, similarity=round(alike, 6), turn_id=claim.turn.turn_id)
        known.turns.append(claim.turn.turn_id)
        known.negated = False
        return self._record("BOOST", claim, known.id, f"said again (similarity {alike:.2f})",
                          [self._decision("boost", (known.id,), claim, "said again", data, "user")])  # fmt: skip

    def _may_change(self, claim: Claim, known: KnownMemory, *, trust: Trust | None = None) -> bool:
        """Whether a claim may take a known memory back; `trust`: how far it goes, the turn's own by default."""
        memory = self._view.get(known.id)
        return memory is None or overrides(trust or claim.source.trust, TRUSTS[memory.trust])

    def _is_later(self, known: KnownMemory, claim: Claim) -> bool:
        """Whether what is known was said after this turn: an older turn that comes late takes nothing back."""
        memory = self._view.get(known.id)
        return memory is not None and memory.last_activated_at > claim.source.said_at

    def _update(self, claim: Claim, known: KnownMemory, alike: float) -> None:
        if self._is_later(known, claim):
            self._again(claim, known, alike)
            return
        data = MemoryRevised(memory_id=known.id, content=claim.content)
        reason = f"said more fully (similarity {alike:.2f})"
        mention = MemoryMentioned(memory_id=known.id, similarity=round(alike, 6), turn_id=claim.turn.turn_id)
        decisions = [
            self._decision("update", (known.id,), claim, reason, data),
            self._decision("boost", (known.id,), claim, reason, mention, "user"),
        ]
        known.turns.append(claim.turn.turn_id)
        self._shelf.revise(known, claim.statement)
        self._record("UPDATE", claim, known.id, reason, decisions)

    def _negate(self, claim: Claim, replaced: Sequence[KnownMemory], reason: str) -> None:
        gone = [old for old in replaced if not self._is_later(old, claim)]
        if not gone:
            self._flag(claim, replaced[0], f"{reason}, but what is known was said later")
            return
        memory_id, decisions = self._id(claim), self._created(claim, corrects=gone[0].id)
        if not all(self._may_change(claim, old) for old in gone):  # that waits for a person, and so does what it brings
            decisions = [one._replace(trust=PROPOSED) for one in decisions]
        for old in gone:
            data = MemoryNegated(
                memory_id=old.id,
                correction=claim.content,
                replaced_by=memory_id,
                reason=reason,
                turn_id=claim.turn.turn_id,
            )
            decisions.append(self._decision("negate", (old.id,), claim, reason, data))
            old.turns.append(claim.turn.turn_id)
            self._shelf.negate(old)
        self._record("NEGATE", claim, memory_id, reason, decisions, gone[0].id)

    def _outdated(self, claim: Claim, since: KnownMemory, reason: str) -> None:
        """What comes late, and no longer holds by what was said since: kept as what was so then, and negated from that time on."""
        memory_id, decisions = self._id(claim), self._created(claim)
        data = MemoryNegated(
            memory_id=memory_id, replaced_by=since.id, reason=reason, turn_id=next(iter(since.turns), None)
        )
        later = self._view.get(since.id)
        at = claim.source.said_at if later is None else later.last_activated_at
        decisions.append(self._decision("negate", (memory_id,), claim, reason, data)._replace(due_at=at, said_at=at))
        made = self._shelf.get(memory_id)
        if made is not None:
            self._shelf.negate(made)
        self._record("NEGATE", claim, since.id, reason, decisions, memory_id)

    def _flag(self, claim: Claim, other: KnownMemory, reason: str) -> None:
        memory_id, decisions = self._id(claim), self._created(claim)
        data = MemoriesLinked(a=other.id, b=memory_id, weight=0.5, link="possible_conflict")
        decisions.append(self._decision("flag", (other.id, memory_id), claim, reason, data))
        self._record("FLAG", claim, memory_id, reason, decisions, other.id)

    def _add(self, claim: Claim, reason: str, turns: tuple[str, ...] = ()) -> None:
        memory_id = self._id(claim)
        if self._view.get(memory_id) is not None:
            return self._record("SKIP", claim, memory_id, "known from this turn")
        least = self._view.parameters.related_similarity
        related = self._shelf.related(claim.content, claim.turn.speaker, least)
        decisions = self._created(claim, turns=turns)
        for alike, known in related:
            data = MemoriesLinked(a=known.id, b=memory_id, weight=round(alike, 6), link="related")
            decisions.append(self._decision("link", (known.id, memory_id), claim, f"similarity {alike:.2f}", data))
        return self._record("ADD", claim, memory_id, reason, decisions)

    def _created(self, claim: Claim, corrects: str | None = None, turns: tuple[str, ...] = ()) -> list[Decision]:
        memory_id, statement, triple = self._id(claim), claim.statement, claim.statement.triple
        data = self._creation(claim, corrects, turns)
        self._shelf.put(KnownMemory.made(memory_id, statement, turns or (claim.turn.turn_id,)), claim.turn.speaker)
        decisions = [self._decision("add", (memory_id,), claim, statement.kind, data)]
        if triple is not None and all(0 < len(part) <= NAME_LETTERS for part in triple[:3]):
            fact = FactAsserted(subject=triple.subject, predicate=triple.predicate, object=triple.object,
                                negation=triple.negation, degree=triple.degree, condition=triple.condition,
                                evidence=(memory_id,))  # fmt: skip
            decisions.append(self._decision("assert", (memory_id,), claim, triple.predicate, fact))
        return decisions

    def _creation(self, claim: Claim, corrects: str | None = None, turns: tuple[str, ...] = ()) -> MemoryCreated:
        statement = claim.statement
        return created(
            self._id(claim), claim.content, category=statement.category, kind=statement.kind, tier="fact", source="judge",
            confidence=statement.confidence, speaker=claim.turn.speaker, source_turns=turns or (claim.turn.turn_id,),
            corrects=corrects or self._corrects.get(claim.content),
        )  # fmt: skip

    def _decision(
        self, action: str, ids: tuple[str, ...], claim: Claim, reason: str, data: EventData, actor: Actor = "judge"
    ) -> Decision:
        turn = claim.source
        session = turn.session if isinstance(data, MemoryRevised | MemoryDeleted) else None  # they name no turn
        return Decision(
            JOB, action, ids, turn.said_at, turn.seq, reason, data, turn.said_at, actor, session, trust=turn.trust
        )

    def _id(self, claim: Claim) -> str:
        """The same for the same words of the same turn."""
        turn_id, naming = claim.turn.turn_id, self._view.naming
        return f"m-{naming.made(JOB, turn_id, claim.content)}"

    def _record(
        self, operation: str, claim: Claim, memory_id: str | None, reason: str,
        decisions: Iterable[Decision] = (), other: str | None = None,
    ) -> None:  # fmt: skip
        self.verdicts.append(
            Verdict(operation, claim.turn.turn_id, claim.statement, memory_id, reason, tuple(decisions), other)
        )


def _unfit(statement: ExtractedStatement) -> str | None:
    """Why a statement is not kept, whatever is known; None where it may be."""
    if not statement.asserted:
        return "a question, a supposition or another's words"
    return "a secret" if detect_sensitivity(statement.content) >= SECRET else None


ON_TOPIC = 0.2
"""Similarity from which a new memory is compared with a known one; what rules are not sure of is flagged."""
_COMPARED = 8
"""Memories on its topic with which it is compared, the most alike first."""
YEAR = 365 * DAY
_LATER = "but what is known was said later"
_LISTS = frozenset({"keywords", "tags", "source_turns"})
_PLAIN = frozenset({"summary", "importance", "confidence", "emotion", "corrects"})


_BESIDE_A_TEXT = (
    "summary", "importance", "emotion", "speaker", "keywords", "tags", "project", "task", "sensitivity", "source_turns",
    "corrects", "because", "grounds", "metadata", "imported", "verified", "tier",
)  # fmt: skip


class NewMemory(NamedTuple):
    """A memory as it comes in."""

    content: str
    said_at: int
    """Microseconds since 1970."""
    actor: str
    source: str
    kind: str
    category: Category
    value: bytes = b""
    """The digest of what it says; empty where the owner has no secret yet."""
    memory_id: str | None = None
    """The caller's own; None: it may be found under another."""
    beside: Mapping[str, Any] = {}
    """What comes with the text: fields of `MemoryCreated`."""
    reaches: Trust = ASSERTED
    """How far its writer's word goes."""

    @classmethod
    def of_creation(
        cls,
        data: MemoryCreated,
        said_at: int,
        actor: str,
        reaches: Trust,
        *,
        value: bytes = b"",
        memory_id: str | None = None,
    ) -> NewMemory:
        """The memory that an event creates."""
        beside = {name: getattr(data, name) for name in _BESIDE_A_TEXT}
        beside = {name: new for name, new in beside.items() if new not in (None, "", (), False)}
        return cls(
            data.content, said_at, actor, data.source, data.kind, data.category, value, memory_id, beside, reaches
        )

    @property
    def speaker(self) -> str | None:
        """Who said it, by name."""
        return self.beside.get("speaker")

    @property
    def turns(self) -> tuple[str, ...]:
        """The turns that say it."""
        return tuple(self.beside.get("source_turns", ()))


class WriteJudge:
    """Judges new memories against one state of a view, each also against those that it judged before."""

    def __init__(self, view: OwnerView, check: Check = unchecked, alike: Alike = no_model) -> None:
        self._view = view
        self._zone = view.parameters.time_zone
        self._shelf = Candidates(view, check, alike)
        self._said = view.index(SaidIndex, check)
        self._written: dict[str, list[tuple[NewMemory, str]]] = {}
        """What was new here, by its normal form, with the memory that says it."""

    def judge(self, new: NewMemory) -> Consequence:
        """What follows from what is new, where it is no turn."""
        read = self._read(new)
        again = None if new.memory_id is not None else self._again(new, read)
        if again is not None:
            return Consequence(again.id, next((one for one in new.turns if one not in again.source_turns), None))
        if new.memory_id is None and (just := self._just_written(new, read)) is not None:
            return Consequence(just)
        if not read.asserted or len(new.content) > MOST_SAID or detect_sensitivity(new.content) >= SECRET:
            return NOTHING
        found = tuple(self._beside(new, read))[:MOST_BESIDE]
        if any(one.does == "waits" for one in found):
            return Consequence(beside=found)
        besides = {new.memory_id, *(one.memory_id for one in found)}
        related = self._shelf.related(new.content, new.speaker, self._view.parameters.related_similarity, besides)
        joined = (
            Contested(one.id, "joins", f"similarity {alike:.2f}", alike=round(alike, 6)) for alike, one in related
        )
        return Consequence(beside=(*found, *joined))

    def judge_recorded(self, new: NewMemory, seq: int) -> Consequence:
        """What follows from a memory that was created at this seq, beside what was created before it. Seqs ascend."""
        self._shelf.until = seq - 1
        judged = self.judge(new)
        self._end(judged)
        self._shelf.until = seq
        made = self._shelf.get(new.memory_id or "")
        if made is not None and any(one.does == "ended by" for one in judged.beside):
            self._shelf.negate(made)
        return judged

    def _end(self, judged: Consequence) -> None:
        for one in judged.beside:
            known = self._shelf.get(one.memory_id)
            if known is not None and one.does == "ends":
                self._shelf.negate(known)

    def put(self, new: NewMemory, memory_id: str, judged: Consequence) -> None:
        """It has become a memory, and what it ended holds no longer."""
        self._end(judged)
        made = self._shelf.put(KnownMemory.made(memory_id, self._read(new), new.turns), new.speaker)
        if any(one.does == "ended by" for one in judged.beside):
            self._shelf.negate(made)
        self._written.setdefault(normalised(new.content), []).append((new, memory_id))

    def _read(self, new: NewMemory) -> ExtractedStatement:
        """As the judge sees it: in its own words, with the triple of the one statement that rules read in it."""
        plain = ExtractedStatement(
            new.content, new.category, new.kind, polarity(new.content), True, 1.0, (0, len(new.content))
        )
        if new.source == "assistant" or len(new.content) > MOST_SAID:
            return plain
        turn = TurnText("", new.content, "user", new.speaker, self._day(new.said_at).isoformat())
        read = read_turn(turn).statements
        one = read[0] if len(read) == 1 else None
        if one is None:
            return plain
        return plain._replace(asserted=one.asserted, triple=one.triple, correction=one.correction, ends=one.ends)

    def _day(self, at: int) -> Any:
        return datetime.fromtimestamp(at // 1_000_000, ZoneInfo(self._zone)).date()

    def _again(self, new: NewMemory, read: ExtractedStatement) -> Memory | None:
        rows = self._said.rows(new.value) if new.value else ()
        found = (self._view.columns.memories[row] for row in rows)
        return next((one for one in found if _stands(one) and self._says(one, new, read)), None)

    def _just_written(self, new: NewMemory, read: ExtractedStatement) -> str | None:
        """The memory that was just made of the same text with the same fields."""
        for other, memory_id in self._written.get(normalised(new.content), ()) if self._written else ():
            frame = (other.kind, other.category, other.source, other.actor, dict(other.beside))
            same = frame == (new.kind, new.category, new.source, new.actor, dict(new.beside))
            if same and self._is_of_one_time(new.content, other.said_at, new.said_at, read):
                return memory_id
        return None

    def _says(self, memory: Memory, new: NewMemory, read: ExtractedStatement) -> bool:
        frame = (memory.kind, memory.category, who(memory.speaker), memory.project, memory.task)
        wanted = (new.kind, new.category, who(new.speaker), new.beside.get("project"), new.beside.get("task"))
        return (
            frame == wanted
            and is_no_lower(memory, new)
            and _knows(memory, new.beside)
            and self._is_of_one_time(new.content, memory.updated_at, new.said_at, read)
        )

    def _is_of_one_time(self, text: str, one: int, other: int, read: ExtractedStatement) -> bool:
        """Whether a text says the same on two days: "last week" is another one later, and nobody stays thirty."""
        predicate = "" if read.triple is None else read.triple.predicate
        if predicate in AGES or for_a_time(text):
            return abs(one - other) < YEAR
        folded = text.casefold()
        spans = [[phrase.span for phrase in times_in(folded, at, self._zone)[0].phrases] for at in (one, other)]
        if spans[0] or spans[1]:
            return spans[0] == spans[1] or predicate in BIRTHS
        return not speaks_from_its_day(text) or self._day(one) == self._day(other)

    def _beside(self, new: NewMemory, read: ExtractedStatement) -> Iterator[Contested]:
        """Each memory once, by the weightiest that is found of it."""
        near: Callable[[str], list[tuple[float, KnownMemory]]] = lambda text: self._shelf.near(text, new.speaker)  # noqa: E731
        seen = {new.memory_id}
        gone = ended(read, near, self._view.parameters.merge_similarity)
        if gone is not None and not any(map(gone.comes_from, new.turns)):
            seen.add(gone.id)
            yield self._one(new, gone, "the speaker takes it back", sure=True)
        found = against(
            self._shelf,
            read,
            near(new.content)[:_COMPARED],
            speaker=new.speaker,
            said_at=new.said_at,
            year=self._day(new.said_at).year,
            turns=new.turns,
            is_beside=lambda alike, known: (
                alike >= ON_TOPIC and known.id not in seen and not known.negated and len(known.content) <= MOST_SAID
            ),
        )
        for one in found:
            for known in one.known:
                if known.id not in seen and (one.sure or self._is_worth_a_flag(new, known, one)):
                    seen.add(known.id)
                    yield self._one(new, known, one.reason, sure=one.sure, since=one.meaning == "changed since")

    def _is_worth_a_flag(self, new: NewMemory, known: KnownMemory, one: Finding) -> bool:
        """Not where characters alone tell, nor where what is said of a day is of another."""
        if one.by_characters:
            return False
        memory = self._view.get(known.id)
        if memory is None or self._day(memory.updated_at) == self._day(new.said_at):
            return True
        return not speaks_from_its_day(new.content) and not speaks_from_its_day(core(known.content))

    def _one(self, new: NewMemory, known: KnownMemory, reason: str, *, sure: bool, since: bool = False) -> Contested:
        memory = self._view.get(known.id)
        if not sure or memory is None:
            return Contested(known.id, "flags", reason)
        if since:
            may = is_own(memory) and overrides(TRUSTS[memory.trust], new.reaches)
            return Contested(known.id, "ended by" if may else "flags", reason, memory.last_activated_at)
        does = what_it_does(new, memory)
        if does != "flags" and memory.last_activated_at > new.said_at:
            return Contested(known.id, "flags", f"{reason}, {_LATER}")
        return Contested(known.id, does, reason)


def what_it_does(new: NewMemory, memory: Memory) -> Does:
    """What becomes of a memory that is surely contradicted: the user's own word ends it, but for what an operator put in every
    prompt; what a lower source says against the user's own word waits for a person."""
    if memory.ground is not None and new.actor != "operator":
        return "flags"
    if not overrides(new.reaches, TRUSTS[memory.trust]):
        return "waits"
    return "ends" if new.actor in PERSONS and new.source == "user" else "flags"


def is_no_lower(memory: Memory, new: NewMemory) -> bool:
    """Whether a memory has at least the standing that what is new would have by itself: else a mention would lower that."""
    return is_own(memory) or memory.source == new.source


def is_own(memory: Memory) -> bool:
    """Whether a memory is the user's own word, or drawn from it."""
    return memory.source == "user" or (memory.source == "judge" and bool(memory.source_turns))


def _stands(memory: Memory) -> bool:
    return state_of(memory) == Columns.LIVE and not memory.is_negated and is_statement(memory)


def _knows(memory: Memory, beside: Mapping[str, Any]) -> bool:
    """Whether a memory has everything that comes with a text; one turn more is the mention's own."""
    basis = memory.basis

    def has(name: str, value: Any) -> bool:
        if name in _LISTS:
            missing = {one.casefold() if name == "keywords" else one for one in value} - set(getattr(memory, name))
            return len(missing) <= (name == "source_turns")
        if name in _PLAIN:
            return bool(getattr(memory, name) == value)
        if name == "sensitivity":
            return bool(memory.sensitivity >= value)
        if name == "grounds":
            grounds = () if basis is None else basis.grounds
            return [(one.uri, one.digest) for one in grounds] == [(one.uri, one.digest) for one in value]
        known = None if basis is None else {"because": basis.because, "metadata": dict(basis.metadata)}.get(name)
        return known is not None and known == (dict(value) if name == "metadata" else value)

    return all(has(name, value) for name, value in beside.items() if name not in ("speaker", "project", "task"))
