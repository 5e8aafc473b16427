"""The judge by rule: what a statement means for what is known (seed 003, "operations"; memory.md, section 4).

ADD what is new; BOOST (a mention) what is said again; UPDATE what is said more fully; NEGATE what the speaker takes back or
what can hold only once (home, age); FLAG what may contradict; SKIP questions, suppositions and secrets. Statements are judged
in order, each against what is known by then, those judged before it included: so the outcome is one, however often it is run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

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
from engramlog_server.events.trust import ASSERTED, IMPORTED, PROPOSED, TRUSTS, overrides
from engramlog_server.events.vocabulary import Actor, Trust
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.language.contradiction.change import Alike, no_model
from engramlog_server.projections.language.contradiction.relation import compare
from engramlog_server.projections.language.extraction.shape import ExtractedStatement, StatedTriple, TurnText
from engramlog_server.projections.language.extraction.taking_back import Taken
from engramlog_server.projections.language.questions import asks_another
from engramlog_server.projections.language.sensitivity.level import detect_sensitivity
from engramlog_server.projections.language.similar import similarity
from engramlog_server.projections.lifecycle.decision import Decision
from engramlog_server.projections.lifecycle.judge.against import MOST_REASON, against, ended, rejected_by
from engramlog_server.projections.lifecycle.judge.candidates import Candidates
from engramlog_server.projections.lifecycle.judge.known import KnownMemory, core, said_after_all, same_words, says_again
from engramlog_server.projections.memory.kind import created
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.views.view import OwnerView

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
    """One run over an owner's turns; `projections.lifecycle.judge.proposing` has it carry out what a model proposes."""

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
        )
        for one in found:
            known = one.known[0]
            if one.meaning == "denies":
                if self._is_later(known, claim):
                    return self._outdated(claim, known, "the speaker said the reverse since")
                if known.comes_from(turn.turn_id):
                    continue
            # Too few of the changes that imported chats report are right (docs/design.md).
            sure = one.sure and (claim.source.trust != IMPORTED or one.meaning not in ("changes", "changed since"))
            if one.meaning == "changed since" and sure:
                return self._outdated(claim, known, one.reason)
            if one.meaning == "refines":
                return self._update(claim, known, one.alike)
            if sure:
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
