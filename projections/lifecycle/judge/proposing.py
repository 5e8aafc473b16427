"""Judging what a model proposes: every operation by itself, against what is known by now, with rules that no model can talk away.

A model proposes, the code decides (`guarding`: what speaks against an operation). What nobody said is not kept; what asks,
supposes or is a secret neither; only a sentence that takes something back takes it back, and only one that asks to forget
deletes, one memory at a time. What is known already is a mention, what may contradict a known memory is flagged with it. So a
lying model can leave something out, or reword what was said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import structs

from engramlog_server.events.catalogue import EventData, MemoryCreated, MemoryDeleted, MemoryNegated, MemoryReinforced
from engramlog_server.events.trust import INFERRED, lowest
from engramlog_server.events.vocabulary import Actor, Trust
from engramlog_server.projections.language.contradiction.relation import compare
from engramlog_server.projections.language.extraction.rules import questions, read_turn
from engramlog_server.projections.language.prompt_text import one_line
from engramlog_server.projections.language.sensitivity.level import detect_sensitivity
from engramlog_server.projections.language.similar import similarity
from engramlog_server.projections.lifecycle.decision import Decision, use_of
from engramlog_server.projections.lifecycle.extracting import mark
from engramlog_server.projections.lifecycle.judge.against import MOST_REASON
from engramlog_server.projections.lifecycle.judge.correcting import judge
from engramlog_server.projections.lifecycle.judge.grounds import (
    NOTHING,
    said_of,
    says_reverse,
    shares_words,
    takes_back,
    unasserted,
)
from engramlog_server.projections.lifecycle.judge.judging import JOB, Claim, JudgeRun, ReadTurn, Verdict
from engramlog_server.projections.lifecycle.judge.known import KnownMemory, same_words
from engramlog_server.projections.lifecycle.judge.proposals import (
    NAMES_A_MEMORY,
    Answer,
    Operation,
    fault,
    grounded,
    stated,
)
from engramlog_server.projections.lifecycle.judge.talk import Shown, Talk
from engramlog_server.projections.views.view import OwnerView

MOST_DELETED = 1
"""Memories that one turn may have deleted."""
MOST_NEGATED = 3
"""Memories that one turn may take back."""
LOOKED_BACK = 300
"""Turns whose questions are looked at for one that is asked again."""
SAID_AGAIN = 0.5
"""Of a memory's words that a turn must have to say it again."""
SENSITIVE = 2
FIRM = frozenset({"core", "system"})
"""Tiers that no model deletes."""


def judge_proposed(talk: Talk, answer: Answer, turns: Sequence[ReadTurn], view: OwnerView, by: str) -> list[Verdict]:
    """A verdict on every operation, in their order, then on questions that were asked again and again. Pure.

    `turns`: all turns of the owner, of which those that the talk is about are judged. `by`: the model's name.
    """
    judging = Proposing(view, talk, by)
    about = {one.turn.turn_id for one in talk.unread}
    asking = [one for one in turns if one.turn.turn_id in about or one.seq < talk.unread[0].seq][-LOOKED_BACK:]
    for one in asking:
        for question in questions(one.turn):
            judging.ask(one._replace(unread=one.turn.turn_id in about), question)
    for operation in answer.operations:
        judging.propose(operation)
    return judging.verdicts


def by_rules(talk: Talk, view: OwnerView) -> list[Verdict]:
    """What rules make of the turns, where a model has no usable answer for them."""
    told = ((one, read_turn(one.turn)) for one in talk.unread)
    read = [one._replace(statements=reading.statements, taken=reading.taken) for one, reading in told]
    return judge(read, view, 0)


def read_by_model(
    talk: Talk,
    verdicts: Sequence[Verdict],
    by: str,
    now: int,
    took: Sequence[int],
    *,
    prompt: str,
    after: int,
    ruled: bool = False,
) -> list[Decision]:
    """The verdicts' events, and the mark that the talk's turns are read. `took`: requests, input and output tokens.

    `after`: see `mark`. `ruled`: the model had no usable answer, and the verdicts are by rules.
    """
    requests, sent, received = took
    told = {"requests": requests, "input_tokens": sent, "output_tokens": received, "prompt": prompt}
    ids = tuple(one.turn.turn_id for one in talk.unread) if ruled else ()
    decided = [decision for verdict in verdicts for decision in verdict.decisions]
    return [*decided, mark(talk.unread, by, now, after=after, by_rules=ids, **told)]


_SAYING = frozenset({"ADD", "UPDATE", "NEGATE", "BOOST"})
"""Operations that say something, or say it again."""


class Proposing(JudgeRun):
    """One answer of a model, carried out on what is known."""

    def __init__(self, view: OwnerView, talk: Talk, by: str) -> None:
        super().__init__(view)
        self._talk = talk
        self._by = by
        self._undone = Counter[tuple[str, str]]()
        """How much was taken back or deleted, by turn and operation."""
        self._ground = NOTHING
        """What the operation under way quotes."""
        self._sensitivity = 0

    def propose(self, one: Operation) -> None:
        """One operation; a verdict SKIP tells why nothing follows from it."""
        shown = self._talk.turn(one.turn)
        wrong = fault(one, self._talk)
        source = self._source(shown, one)
        if source is None or shown is None:
            return
        claim, self._sensitivity = Claim(source, stated(one, source)), one.sensitivity
        known = self._known(one)
        if wrong is None and one.operation != "SKIP":
            self._ground, wrong = grounded(one, claim, shown, self._talk, known)
        if wrong is None and one.operation in _SAYING and self._refuses(claim):
            return
        if one.operation == "SKIP" or wrong is not None:
            self._record("SKIP", claim, None, wrong or self._reason(one) or "no memory")
            return
        if one.operation == "ADD":
            self._propose_new(claim)
        elif known is None:
            self._record("SKIP", claim, None, "the memory is there no more")
        elif one.operation == "UPDATE":
            self._propose_update(one, claim, known)
        elif one.operation == "NEGATE":
            self._propose_negation(one, claim, known)
        elif one.operation == "DELETE":
            self._delete(one, claim, known)
        elif shown.new:
            self._boost(claim, known, one.turn)
        else:
            self._use(shown, claim, known)

    def _source(self, shown: Shown | None, one: Operation) -> ReadTurn | None:
        """The turn that an operation is about; of a reply the one that it answers; the last one if it names none."""
        source = None if shown is None else self._talk.read_turn(shown.turn_id)
        if source is None and shown is not None and one.operation == "BOOST":
            asked = [turn for turn in self._talk.shown[: self._talk.shown.index(shown)] if turn.new]
            source = self._talk.read_turn(asked[-1].turn_id) if asked else None
        return source

    def _known(self, one: Operation) -> KnownMemory | None:
        """The memory that is meant, as it is known by now."""
        shown = self._talk.known.get(one.memory or "") if one.operation in NAMES_A_MEMORY else None
        return None if shown is None else self._shelf.get(shown.id)

    def _reason(self, one: Operation) -> str:
        told = one_line(one.reason)[:200]
        return f"{self._by}: {told}" if told else ""

    def _propose_new(self, claim: Claim) -> None:
        """A new memory, unless it is known: then it is said again, and what may contradict it is flagged."""
        memory_id, known_of_turn = self._id(claim), self._shelf.contents_of(claim.turn.turn_id)
        if self._view.get(memory_id) is not None or any(same_words(claim.content, one) for one in known_of_turn):
            self._record("SKIP", claim, memory_id, "known from this turn")
            return
        if self._said_before_taken_back(claim):
            return
        near = self._shelf.near(claim.content, claim.turn.speaker)
        for alike, known in near:
            if alike >= self._least and not known.negates(claim.statement) and same_words(claim.content, known.content):
                self._again(claim, known, alike)
                return
        if not self._flag_contradicted(claim, near):
            self._add(claim, f"new, by {self._by}")

    def _propose_update(self, one: Operation, claim: Claim, known: KnownMemory) -> None:
        """A fuller version, where it says all of the old one and more; else it stands beside the memory."""
        relation = compare(claim.content, known.content).kind
        if relation == "refines" and not known.negates(claim.statement):
            self._update(claim, known, similarity(claim.content, known.content))
        elif relation == "same" and not known.negates(claim.statement):
            self._boost(claim, known, one.turn)
        else:
            self._propose_new(claim)

    def _propose_negation(self, one: Operation, claim: Claim, known: KnownMemory) -> None:
        if known.negated or known.comes_from(claim.turn.turn_id):
            self._record("SKIP", claim, known.id, "taken back already" if known.negated else "known from this turn")
            return
        if one.content and compare(claim.content, known.content).kind == "same":
            self._boost(claim, known, one.turn)
            return
        reason = self._reason(one) or "taken back"
        taken = takes_back(self._ground, known.content) or (
            one.content is not None and compare(claim.content, known.content).sure
        )
        if taken and self._undone[one.turn, "NEGATE"] >= MOST_NEGATED:
            self._record("SKIP", claim, known.id, "too much would be taken back at once")
        elif one.content and taken:
            self._undone[one.turn, "NEGATE"] += 1
            self._negate(claim, [known], reason)
        elif one.content and shares_words(known.content, claim.content, claim.turn.name):
            self._flag(claim, known, f"{one.turn} takes nothing back for certain")
        elif one.content:
            self._propose_new(claim)
        elif not taken:
            self._record("SKIP", claim, known.id, f"{one.turn} takes nothing back of it")
        elif self._is_later(known, claim):
            self._record("SKIP", claim, known.id, "it was said later")
        else:
            self._undone[one.turn, "NEGATE"] += 1
            data = MemoryNegated(memory_id=known.id, reason=reason[:MOST_REASON], turn_id=claim.turn.turn_id)
            self._shelf.negate(known)
            decisions = [self._decision("negate", (known.id,), claim, reason, data)]
            self._record("NEGATE", claim, None, reason, decisions, known.id)

    def _boost(self, claim: Claim, known: KnownMemory, key: str) -> None:
        """Said again: most of its words are, and nothing of it is taken back."""
        ground = self._ground
        if said_of(known.content, ground.around, claim.turn.name) < SAID_AGAIN:
            self._record("SKIP", claim, known.id, f"{key} does not say it again")
        elif unasserted(ground, known.content, any_question=True) is not None or says_reverse(ground, known.content):
            self._record("SKIP", claim, known.id, f"{key} does not assert it")
        else:
            self._again(claim, known, min(1.0, similarity(ground.sentence, known.content)))

    def _delete(self, one: Operation, claim: Claim, known: KnownMemory) -> None:
        memory, reason = self._view.get(known.id), self._reason(one) or "asked to forget it"
        if memory is None or memory.verified or memory.tier in FIRM or memory.sensitivity >= SENSITIVE:
            self._record("SKIP", claim, known.id, "only its owner deletes it")
        elif not shares_words(known.content, self._ground.sentence, claim.turn.name):
            self._record("SKIP", claim, known.id, "the turn is about something else")
        elif self._is_later(known, claim):
            self._record("SKIP", claim, known.id, "it was said later")
        elif self._undone[one.turn, "DELETE"] >= MOST_DELETED:
            self._record("SKIP", claim, known.id, "too much would be taken back at once")
        else:
            self._undone[one.turn, "DELETE"] += 1
            data = MemoryDeleted(memory_id=known.id, reason=reason[:MOST_REASON])
            decision = self._decision("delete", (known.id,), claim, reason, data)
            self._shelf.drop(known)
            self._record("DELETE", claim, known.id, reason, [decision])

    def _created(self, claim: Claim, corrects: str | None = None, turns: tuple[str, ...] = ()) -> list[Decision]:
        """As rules do; the model may hold a memory for more sensitive than rules see, never for less."""
        decisions = super()._created(claim, corrects, turns)
        made = decisions[0].data
        if isinstance(made, MemoryCreated) and self._sensitivity > detect_sensitivity(claim.content):
            decisions[0] = decisions[0]._replace(data=structs.replace(made, sensitivity=self._sensitivity))
        return decisions

    def _may_change(self, claim: Claim, known: KnownMemory, *, trust: Trust | None = None) -> bool:
        """What a model makes of a turn is never the user's own word."""
        return super()._may_change(claim, known, trust=lowest(INFERRED, trust or claim.source.trust))

    def _decision(
        self, action: str, ids: tuple[str, ...], claim: Claim, reason: str, data: EventData, actor: Actor = "judge"
    ) -> Decision:
        """As rules do, and which model proposed it."""
        return super()._decision(action, ids, claim, reason, data, actor)._replace(model=self._by)

    def _use(self, shown: Shown, claim: Claim, known: KnownMemory) -> None:
        """A reply was shaped by a memory that was put before it."""
        if known.id not in shown.injected:
            self._record("SKIP", claim, known.id, "it was not put into the prompt of that reply")
            return
        if not shares_words(known.content, claim.content, claim.turn.name, besides=claim.turn.text):
            self._record("SKIP", claim, known.id, "the reply says nothing of it that was not asked")
            return
        data = MemoryReinforced(memory_id=known.id, outcome="used")
        decision = Decision(
            JOB,
            "use",
            (known.id, shown.turn_id),
            claim.source.said_at,
            claim.source.seq,
            "it shaped a reply",
            data,
            claim.source.said_at,
            "judge",
            once=use_of(known.id, shown.turn_id),
            model=self._by,
        )
        self._record("BOOST", claim, known.id, "it shaped a reply", [decision])
