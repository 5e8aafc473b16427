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
from engramlog_server.projections.language.extraction.shape import ExtractedStatement, StatedTriple, TurnText
from engramlog_server.projections.language.extraction.taking_back import Taken
from engramlog_server.projections.language.sensitivity.text_level import detect_sensitivity
from engramlog_server.projections.language.similar import similarity
from engramlog_server.projections.lifecycle.decision import Decision
from engramlog_server.projections.lifecycle.judge.against import against, ended
from engramlog_server.projections.lifecycle.judge.candidates import Candidates
from engramlog_server.projections.lifecycle.judge.known import KnownMemory, core, said_after_all, same_words, says_again
from engramlog_server.projections.lifecycle.judge.rejecting import rejected_by
from engramlog_server.projections.memory.creating import created
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
        self.verdicts: list[Verdict] = []

    def judge(self, heard: ReadTurn, said: ExtractedStatement) -> None:
        """One statement against what is known by now."""
        unfit = _unfit(said)
        if unfit is not None or self._refuses(heard, said):
            return None if unfit is None else self._record("SKIP", heard, said, None, unfit)
        memory_id, told = self._id(heard, said), self._shelf.contents_of(heard.turn.turn_id)
        known = self._view.get(memory_id) is not None or self._shelf.holds(memory_id)
        if known or any(says_again(said, one) and similarity(core(said.content), core(one)) >= TOPIC for one in told):
            return self._record("SKIP", heard, said, memory_id, "known from this turn")
        if self._said_before_taken_back(heard, said):
            return None
        speaker = heard.turn.speaker
        gone = ended(said, lambda text: self._shelf.near(text, speaker), self._least)
        if gone is not None and not gone.told_by(heard.turn.turn_id):
            return self._negate(heard, said, memory_id, [gone], "the speaker takes it back")
        near = self._shelf.near(said.content, speaker)
        again = self._said_already(said, near)
        if again is not None:
            return self._held(heard, said, again[1], again[0])
        return self._new(heard, said, memory_id, near)

    def _said_already(
        self, said: ExtractedStatement, near: list[tuple[float, KnownMemory]]
    ) -> tuple[float, KnownMemory] | None:
        """The memory that says the same, or what the speaker had taken back and holds to after all: "I still like it", 还是喜欢."""
        plain = said_after_all(said.content)
        for alike, known in near:
            if not known.alike_in_kind(said) or known.negates(said):
                continue
            if alike >= self._least and says_again(said, known.content):
                return alike, known
            if known.negated and plain != said.content and same_words(plain, core(known.content)):
                return 1.0, known
        return None

    def _refuses(self, heard: ReadTurn, said: ExtractedStatement) -> bool:
        """Whether its owner rejected it: then nothing follows. Where it is in these words, the fold is told, refuses it, and
        notes that the turn says so."""
        rejected = rejected_by(self._view, said.content, said.triple, heard.said_at)
        if rejected is None:
            return False
        memory_id, decisions = self._id(heard, said), list[Decision]()
        if rejected == "words" and self._view.get(memory_id) is None:
            data = self._creation(heard, said, memory_id)
            decisions.append(self._decision("refuse", (memory_id,), heard, "its owner rejected it", data))
        self._record("SKIP", heard, said, None, "its owner rejected it", decisions)
        return True

    def _held(self, heard: ReadTurn, said: ExtractedStatement, known: KnownMemory, alike: float) -> None:
        """Said again; where it had been taken back, what denied it holds no longer."""
        was = known.negated
        self._again(heard, said, known, alike)
        facts = [StatedTriple(*fact) for fact in known.facts] if was else []
        denials = (self._shelf.denied(fact, heard.turn.speaker) for fact in facts)
        denial = next((one for one in denials if one is not None and one.id != known.id), None)
        if denial is None or denial.told_by(heard.turn.turn_id) or self._is_later(denial, heard):
            return
        reason, turn_id = "the speaker holds to what he had taken back", heard.turn.turn_id
        data = MemoryNegated(
            memory_id=denial.id, correction=known.content, replaced_by=known.id, reason=reason, turn_id=turn_id
        )
        self._shelf.negate(denial)
        decision = self._decision("negate", (denial.id,), heard, reason, data)
        self._record("NEGATE", heard, said, known.id, reason, [decision], denial.id)

    def _said_before_taken_back(self, heard: ReadTurn, said: ExtractedStatement) -> bool:
        """Whether its speaker took the same back later than he said it: then it is a mention of that time and revives nothing."""
        gone = self._shelf.taken_back(said, heard.turn.speaker)
        if gone is None or (gone.negated_at or 0) < heard.said_at:
            return False
        data = MemoryMentioned(memory_id=gone.id, similarity=1.0, turn_id=heard.turn.turn_id)
        decision = self._decision("boost", (gone.id,), heard, BEFORE, data, "user")
        self._record("BOOST", heard, said, gone.id, BEFORE, [decision])
        return True

    def _new(
        self, heard: ReadTurn, said: ExtractedStatement, memory_id: str, near: list[tuple[float, KnownMemory]]
    ) -> None:
        """The weightiest thing that it means for what is known decides."""
        turn = heard.turn
        found = against(
            self._shelf,
            said,
            near,
            speaker=turn.speaker,
            said_at=heard.said_at,
            year=turn.year,
            turns=(turn.turn_id,),
            is_beside=lambda alike, known: alike >= TOPIC and known.category == said.category,
            refining=said.category in LASTING,
        )
        for one in found:
            known = one.known[0]
            if one.meaning == "denies":
                if self._is_later(known, heard):
                    return self._outdated(heard, said, memory_id, known, "the speaker said the reverse since")
                if known.told_by(turn.turn_id):
                    continue
            # Too few of the changes that imported chats report are right (docs/design.md).
            sure = one.sure and (heard.trust != IMPORTED or one.meaning not in ("changes", "changed since"))
            if one.meaning == "changed since" and sure:
                return self._outdated(heard, said, memory_id, known, one.reason)
            if one.meaning == "refines":
                return self._update(heard, said, known, one.alike)
            if sure:
                return self._negate(heard, said, memory_id, one.known, one.reason)
            return self._flag(heard, said, memory_id, known, one.reason)
        return self._add(heard, said, memory_id, "new")

    def ask(self, heard: ReadTurn, question: str) -> None:
        """A question: asked again and again it becomes a memory, by itself it asserts nothing."""
        asked = self._asked.near(question, heard.turn.speaker)
        same = [known for alike, known in asked if alike >= self._least]
        first = same[0] if same else self._asked.put_question(question, heard.turn)
        if first is None or heard.turn.turn_id in first.turns:
            return None
        first.turns.append(heard.turn.turn_id)
        if len(first.turns) < ASKED_OFTEN or not heard.unread:
            return None
        name, words = heard.turn.name, first.content
        content = often_asked(name, words)
        said = ExtractedStatement(content, "fact", "question", 1, True, 0.7, (0, 0))
        known = next((one for one in self._shelf.of_kind("question") if same_words(one.content, content)), None)
        if known is not None:
            return self._again(heard, said, known, 1.0)
        return self._add(heard, said, self._id(heard, said), "asked again and again", tuple(first.turns))

    def _again(self, heard: ReadTurn, said: ExtractedStatement, known: KnownMemory, alike: float) -> None:
        if known.told_by(heard.turn.turn_id):
            return self._record("SKIP", heard, said, known.id, "known from this turn")
        data = MemoryMentioned(memory_id=known.id, similarity=round(alike, 6), turn_id=heard.turn.turn_id)
        known.turns.append(heard.turn.turn_id)
        known.negated = False
        return self._record("BOOST", heard, said, known.id, f"said again (similarity {alike:.2f})",
                          [self._decision("boost", (known.id,), heard, "said again", data, "user")])  # fmt: skip

    def _may_change(self, heard: ReadTurn, known: KnownMemory) -> bool:
        """Whether what follows from a turn may take a known memory back."""
        memory = self._view.get(known.id)
        return memory is None or overrides(self._reach(heard), TRUSTS[memory.trust])

    def _reach(self, heard: ReadTurn) -> Trust:
        """How far what follows from a turn goes."""
        return heard.trust

    def _is_later(self, known: KnownMemory, heard: ReadTurn) -> bool:
        """Whether what is known was said after this turn: an older turn that comes late takes nothing back."""
        memory = self._view.get(known.id)
        return memory is not None and memory.last_activated_at > heard.said_at

    def _update(self, heard: ReadTurn, said: ExtractedStatement, known: KnownMemory, alike: float) -> None:
        if self._is_later(known, heard):
            self._again(heard, said, known, alike)
            return
        data = MemoryRevised(memory_id=known.id, content=said.content)
        reason = f"said more fully (similarity {alike:.2f})"
        mention = MemoryMentioned(memory_id=known.id, similarity=round(alike, 6), turn_id=heard.turn.turn_id)
        decisions = [
            self._decision("update", (known.id,), heard, reason, data),
            self._decision("boost", (known.id,), heard, reason, mention, "user"),
        ]
        known.turns.append(heard.turn.turn_id)
        self._shelf.revise(known, said)
        self._record("UPDATE", heard, said, known.id, reason, decisions)

    def _negate(
        self, heard: ReadTurn, said: ExtractedStatement, memory_id: str, replaced: Sequence[KnownMemory], reason: str
    ) -> None:
        gone = [old for old in replaced if not self._is_later(old, heard)]
        if not gone:
            self._flag(heard, said, memory_id, replaced[0], f"{reason}, but what is known was said later")
            return
        decisions = self._created(heard, said, memory_id, corrects=gone[0].id)
        if not all(self._may_change(heard, old) for old in gone):  # that waits for a person, and so does what it brings
            decisions = [one._replace(trust=PROPOSED) for one in decisions]
        for old in gone:
            data = MemoryNegated(
                memory_id=old.id,
                correction=said.content,
                replaced_by=memory_id,
                reason=reason,
                turn_id=heard.turn.turn_id,
            )
            decisions.append(self._decision("negate", (old.id,), heard, reason, data))
            old.turns.append(heard.turn.turn_id)
            self._shelf.negate(old)
        self._record("NEGATE", heard, said, memory_id, reason, decisions, gone[0].id)

    def _outdated(
        self, heard: ReadTurn, said: ExtractedStatement, memory_id: str, since: KnownMemory, reason: str
    ) -> None:
        """What comes late, and no longer holds by what was said since: kept as what was so then, and negated from that time on."""
        decisions = self._created(heard, said, memory_id)
        data = MemoryNegated(
            memory_id=memory_id, replaced_by=since.id, reason=reason, turn_id=next(iter(since.turns), None)
        )
        later = self._view.get(since.id)
        at = heard.said_at if later is None else later.last_activated_at
        decisions.append(self._decision("negate", (memory_id,), heard, reason, data)._replace(due_at=at, said_at=at))
        made = self._shelf.get(memory_id)
        if made is not None:
            self._shelf.negate(made)
        self._record("NEGATE", heard, said, since.id, reason, decisions, memory_id)

    def _flag(self, heard: ReadTurn, said: ExtractedStatement, memory_id: str, other: KnownMemory, reason: str) -> None:
        decisions = self._created(heard, said, memory_id)
        data = MemoriesLinked(a=other.id, b=memory_id, weight=0.5, link="possible_conflict")
        decisions.append(self._decision("flag", (other.id, memory_id), heard, reason, data))
        self._record("FLAG", heard, said, memory_id, reason, decisions, other.id)

    def _add(
        self, heard: ReadTurn, said: ExtractedStatement, memory_id: str, reason: str, turns: tuple[str, ...] = ()
    ) -> None:
        if self._view.get(memory_id) is not None:
            return self._record("SKIP", heard, said, memory_id, "known from this turn")
        return self._record("ADD", heard, said, memory_id, reason, self._created(heard, said, memory_id, turns=turns))

    def _created(
        self,
        heard: ReadTurn,
        said: ExtractedStatement,
        memory_id: str,
        corrects: str | None = None,
        turns: tuple[str, ...] = (),
    ) -> list[Decision]:
        data = self._creation(heard, said, memory_id, corrects, turns)
        self._shelf.put(KnownMemory.made(memory_id, said, turns or (heard.turn.turn_id,)), heard.turn.speaker)
        decisions = [self._decision("add", (memory_id,), heard, said.kind, data)]
        triple = said.triple
        if triple is not None and all(0 < len(part) <= NAME_LETTERS for part in triple[:3]):
            fact = FactAsserted(subject=triple.subject, predicate=triple.predicate, object=triple.object,
                                negation=triple.negation, degree=triple.degree, condition=triple.condition,
                                evidence=(memory_id,))  # fmt: skip
            decisions.append(self._decision("assert", (memory_id,), heard, triple.predicate, fact))
        return decisions

    def _creation(
        self,
        heard: ReadTurn,
        said: ExtractedStatement,
        memory_id: str,
        corrects: str | None = None,
        turns: tuple[str, ...] = (),
    ) -> MemoryCreated:
        return created(
            memory_id,
            said.content,
            category=said.category,
            kind=said.kind,
            tier="fact",
            source="judge",
            confidence=said.confidence,
            speaker=heard.turn.speaker,
            source_turns=turns or (heard.turn.turn_id,),
            corrects=corrects,
        )

    def _decision(
        self, action: str, ids: tuple[str, ...], heard: ReadTurn, reason: str, data: EventData, actor: Actor = "judge"
    ) -> Decision:
        session = heard.session if isinstance(data, MemoryRevised | MemoryDeleted) else None  # they name no turn
        return Decision(
            JOB, action, ids, heard.said_at, heard.seq, reason, data, heard.said_at, actor, session, trust=heard.trust
        )

    def _id(self, heard: ReadTurn, said: ExtractedStatement) -> str:
        """The same for the same words of the same turn."""
        turn_id, naming = heard.turn.turn_id, self._view.naming
        return f"m-{naming.made(JOB, turn_id, said.content)}"

    def _record(
        self, operation: str, heard: ReadTurn, said: ExtractedStatement, memory_id: str | None, reason: str,
        decisions: Iterable[Decision] = (), other: str | None = None,
    ) -> None:  # fmt: skip
        self.verdicts.append(Verdict(operation, heard.turn.turn_id, said, memory_id, reason, tuple(decisions), other))


def _unfit(said: ExtractedStatement) -> str | None:
    """Why a statement is not kept, whatever is known; None where it may be."""
    if not said.asserted:
        return "a question, a supposition or another's words"
    return "a secret" if detect_sensitivity(said.content) >= SECRET else None
