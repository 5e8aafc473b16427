"""A memory that is written by itself: whether a known one says it already, what it ends, and what it may contradict. Pure.

The same letter by letter, of one kind, category, speaker, project and task, is a mention of the memory that says it, if nothing
is lost by that: all that comes with the text is known of it, its time is the same, and it is no lower word than the new one. The
rest is the judge's (`against`), whose sure findings end something only if the writer may end it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from engramlog_server.events.catalogue import MemoryCreated
from engramlog_server.events.standing import PERSONS
from engramlog_server.events.trust import ASSERTED, TRUSTS, overrides
from engramlog_server.events.vocabulary import Category, Trust
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.decide.commands import MOST_BESIDE
from engramlog_server.projections.decide.remembering import NOTHING, Consequence, Contested, Does
from engramlog_server.projections.index.said_index import SaidIndex
from engramlog_server.projections.language.contradiction.change import Alike, no_model
from engramlog_server.projections.language.extraction.fleeting import for_a_time
from engramlog_server.projections.language.extraction.rules import read_turn
from engramlog_server.projections.language.extraction.shape import ExtractedStatement, TurnText
from engramlog_server.projections.language.polarity import polarity, speaks_from_its_day
from engramlog_server.projections.language.sensitivity.level import detect_sensitivity
from engramlog_server.projections.language.statements import normalised
from engramlog_server.projections.lifecycle.judge.against import Finding, against, ended
from engramlog_server.projections.lifecycle.judge.candidates import MOST_SAID, Candidates
from engramlog_server.projections.lifecycle.judge.holding import AGES, BIRTHS
from engramlog_server.projections.lifecycle.judge.known import KnownMemory, core, who
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.kind import is_statement
from engramlog_server.projections.memory.record import DAY, SECRET, Memory
from engramlog_server.projections.ranking.conversation_terms import times_in
from engramlog_server.projections.views.view import OwnerView

ON_TOPIC = 0.2
"""Similarity from which a new memory is compared with a known one; what rules are not sure of is flagged."""
LOOKED_AT = 8
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
            near(new.content)[:LOOKED_AT],
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
