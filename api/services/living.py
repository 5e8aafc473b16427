"""How an owner's memories live on: their health, what is fading, reinforcing, reviews, and the law that they live by.

Reading leaves no trace. What is written is appended by the `Writer`, and what it did is read once it is folded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Unpack, cast

from engramlog_server.api.requests.checks import (
    LineTerms,
    TimesAsked,
    check_id_of,
    check_limit,
    check_owner,
    told_lines,
    told_times,
)
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.services.writing import Given, Writer
from engramlog_server.events.catalogue import MemoryReinforced, ParametersChanged, ProfileChosen, ReviewGraded
from engramlog_server.events.errors import InputError, refused
from engramlog_server.events.parameters import DEFAULTS, NAMES, ParameterValue
from engramlog_server.events.partitions import parse_position, position_text
from engramlog_server.projections.decide.commands import Tell
from engramlog_server.projections.fold.use import ALIKE
from engramlog_server.projections.reports.health import due_list, fading, health, held_now, next_reviews
from engramlog_server.projections.shapes import (
    Effects,
    Fading,
    Graded,
    Held,
    MemoryHealth,
    OwnerProfile,
    Reinforced,
    ReviewsDue,
)
from engramlog_server.projections.views.query import moment
from engramlog_server.projections.views.view import OwnerView

MOST_LISTED = 1_000


class Happened(NamedTuple):
    """One event about a memory, and what it changed."""

    effects: Effects
    at: str
    """The instant of both readings."""
    before: Held
    after: Held | None
    """None if the event is parked."""
    again: bool
    """Whether that was done before, under the same key: the answer is as of then."""

    @property
    def told(self) -> dict[str, object]:
        """As answers have it."""
        return {**self.effects, "at": self.at, "before": self.before, "after": self.after}


class DatedReading(NamedTuple):
    """How a memory is held at an instant."""

    at: int
    """Microseconds since 1970."""
    reading: Held
    """By law."""


class Living:
    """Answers and verbs about how memories fade and are kept, on one store. Safe for threads."""

    def __init__(self, reader: Reader, writer: Writer) -> None:
        self._reader = reader
        self._writer = writer

    def health(self, owner: str, *, limit: int = 50, offset: int = 0, **times: Unpack[TimesAsked]) -> MemoryHealth:
        """Live memories by Ebbinghaus strength, strongest first, with counts by colour and the mean."""
        wanted = check_limit(limit, MOST_LISTED)
        with self._reader.snapshot(owner, **times) as snapshot:
            answer = health(snapshot.view, snapshot.now, wanted, max(offset, 0))
        return {**answer, **told_times(times), **snapshot.place}

    def fading(self, owner: str, *, limit: int = 50, offset: int = 0, **times: Unpack[TimesAsked]) -> Fading:
        """Live memories of a strength under 30, weakest first."""
        wanted = check_limit(limit, MOST_LISTED)
        with self._reader.snapshot(owner, **times) as snapshot:
            answer = fading(snapshot.view, snapshot.now, wanted, max(offset, 0))
        return {**answer, **told_times(times), **snapshot.place}

    def review(
        self,
        owner: str,
        *,
        min_importance: float = 0.5,
        limit: int = 10,
        kind: str | None = None,
        **times: Unpack[TimesAsked],
    ) -> ReviewsDue:
        """What is due for review, most pressing first; how much is due in all, and how much the least importance left out."""
        wanted = check_limit(limit)
        if not 0 <= min_importance <= 1:
            raise refused("min_importance", min_importance, "a number from 0 to 1")
        with self._reader.snapshot(owner, **times) as snapshot:
            answer = due_list(snapshot.view, snapshot.now, least=min_importance, limit=wanted, kind=kind)
        return {**answer, **told_times(times), **snapshot.place}

    def reinforce(
        self,
        owner: str,
        memory_id: str,
        *,
        outcome: str = "manual_review",
        from_memory: str | None = None,
        turn_id: str | None = None,
        **given: Unpack[Given],
    ) -> Reinforced:
        """It was put to use: what each law reads of it before and after, at the instant at which it happened.

        `turn_id`: the turn, or the reply, in which it was; `answers` tells the outcome beside it.
        Raises NotFound or InputError where no event can change the memory, or `from_memory`, any more.
        """
        check_owner(owner)
        remarks = []
        if from_memory is not None:
            if from_memory == memory_id:
                raise refused("from_memory", from_memory, "another memory than the one that is reinforced")
            if outcome not in ALIKE:
                remarks.append(f"an outcome of {outcome} strengthens no association")
        if turn_id is not None:
            check_id_of("turn_id", turn_id)
        data = MemoryReinforced(memory_id=memory_id, outcome=outcome, from_memory=from_memory, turn_id=turn_id)  # type: ignore[arg-type]
        happened = self._happened(owner, memory_id, data, given, beside=from_memory)
        for change in happened.effects["changes"]:
            if change["memory"] == memory_id:
                # After a semicolon the fold says why a use adds nothing to the importance.
                reason = change["reason"]
                remarks.append(reason if change["decision"] == "ignored" else reason.partition("; ")[2])
        told = {"outcome": outcome, "from_memory": from_memory, "turn_id": turn_id}
        return cast("Reinforced", {**told, **happened.told, "remarks": [*filter(None, remarks)]})

    def grade(self, owner: str, memory_id: str, grade: int, **given: Unpack[Given]) -> Graded:
        """It was reviewed and graded, 0 (forgotten) to 5 (at once): the next review by each scheduler, and which decides.

        Raises as `reinforce` does.
        """
        check_owner(owner)
        happened = self._happened(owner, memory_id, ReviewGraded(memory_id=memory_id, grade=grade), given)
        as_of = happened.effects["position"] if happened.again else None
        with self._reader.snapshot(owner, as_of=as_of) as snapshot:
            schedule = self._reader.memory(snapshot, owner, memory_id).schedule
            decides = snapshot.view.parameters.scheduler
        folded = schedule is not None and happened.after is not None
        reviews = next_reviews(schedule) if folded and schedule is not None else None
        return cast("Graded", {"grade": grade, **happened.told, "decides": decides, "schedulers": reviews})

    def _happened(self, owner: str, memory_id: str, data: Any, given: Given, *, beside: str | None = None) -> Happened:
        """Append one event about a memory; what that changes of it, before and after at one instant.

        The instant is the event's own, or the newest of the memory's if it comes late, as in the change log.
        """
        about = (memory_id,) if beside is None else (memory_id, beside)
        command = Tell((data,), about, {"id": memory_id})
        held: list[DatedReading] = []

        def look(when: int) -> None:
            held.append(self._held(owner, memory_id, when))

        done = self._writer.carry_out(owner, command, live=(memory_id,), look=look, **given)
        position = done.answer["position"]
        if done.again:
            partition, seq = parse_position(position)
            held = [self._held(owner, memory_id, done.at or 0, as_of=position_text(partition, seq - 1))]
        at = held[0].at
        parked = "quarantined" in done.answer
        after = None if parked else self._held(owner, memory_id, at, as_of=position if done.again else None).reading
        return Happened(done.answer, moment(at), held[0].reading, after, done.again)

    def _held(self, owner: str, memory_id: str, when: int, *, as_of: str | None = None) -> DatedReading:
        with self._reader.snapshot(owner, as_of=as_of) as snapshot:
            memory = self._reader.memory(snapshot, owner, memory_id)
            at = max(when, memory.stamp)
            return DatedReading(at, held_now(snapshot.view, memory, at))

    def profile(self, owner: str, **times: Unpack[LineTerms]) -> OwnerProfile:
        """The law that gates the owner's recall and lifecycle, its thresholds, and the parameters that are not the defaults."""
        with self._reader.snapshot(owner, **times) as snapshot:
            answer = self._profile(snapshot.view)
        return cast("OwnerProfile", {**answer, **told_lines(times), **snapshot.place})

    def choose(
        self,
        owner: str,
        *,
        profile: str | None = None,
        parameters: Mapping[str, ParameterValue] | None = None,
        **given: Unpack[Given],
    ) -> OwnerProfile:
        """From here on the owner's law, its parameters, or both, in one batch. Names and bounds are checked in validation."""
        check_owner(owner)
        told: list[Any] = []
        if profile is not None:
            told.append(ProfileChosen(profile=profile))  # type: ignore[arg-type]
        if parameters:
            told.append(ParametersChanged(parameters=dict(parameters)))
        if not told:
            raise InputError("profile: got nothing; allowed: a profile, parameters, or both", field="profile")
        given.setdefault("actor", "operator")
        done = self._writer.carry_out(owner, Tell(tuple(told)), **given)
        as_of = done.answer["position"] if done.again else None
        with self._reader.snapshot(owner, as_of=as_of) as snapshot:
            return cast("OwnerProfile", {**self._profile(snapshot.view), **told_lines({}), **done.answer})

    def _profile(self, view: OwnerView) -> Mapping[str, object]:
        """The owner's law with its thresholds, and the parameters that differ from the defaults."""
        answer = _profile(view)
        if warning := self._reader.unused_embedder(view.parameters.embedder):
            answer["warning"] = warning
        return answer


def _profile(view: OwnerView) -> dict[str, object]:
    law, parameters = view.law, view.parameters
    return {
        "owner": view.owner,
        "profile": law.name,
        "formula": law.formula,
        "source": law.source,
        "thresholds": {"normal": law.normal_threshold(parameters), "review": law.review_threshold(parameters)},
        "parameters": {
            name: {"value": getattr(parameters, name), "default": getattr(DEFAULTS, name)}
            for name in NAMES
            if getattr(parameters, name) != getattr(DEFAULTS, name)
        },
    }
