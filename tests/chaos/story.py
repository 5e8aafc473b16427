"""What the producers of the fault test tell: for each owner a life of memories, derived from the seed alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import orjson

from engramlog_server.events.catalogue import (
    Access,
    EventDiscarded,
    FactAsserted,
    FactRetracted,
    Hit,
    MemoriesAccessed,
    MemoriesLinked,
    MemoryCreated,
    MemoryDeleted,
    MemoryKept,
    MemoryMentioned,
    MemoryMerged,
    MemoryNegated,
    MemoryReinforced,
    MemoryRestored,
    MemoryRevised,
    MemoryUnmerged,
    ParametersChanged,
    ProfileChosen,
    ReviewGraded,
)
from engramlog_server.events.envelope import Prepared, canonical, derived_id, micros, prepare
from engramlog_server.events.partitions import position_text
from engramlog_server.events.validation import make_event
from engramlog_server.events.vocabulary import Category

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
CLOCK = micros(datetime(2036, 1, 1, tzinfo=UTC))
"""The store's clock as the door of this test sees it: later than every event told."""
POISON_KIND = "MemoryCreated.9"
"""A version that no release knows: its owner is quarantined until an operator discards it."""
MOST_MEMORIES = 12
MOST_ODD = 4
"""Events of one owner, at most, that somebody cannot read: each stops the owner until an operator has acted."""
PLAIN, POISONED, NEWER = "plain", "poisoned", "newer"
CATEGORIES: tuple[Category, ...] = ("identity", "stable_preference", "fact", "temporary")
WORDS = ("coffee", "tea", "espresso", "mornings", "evenings", "Lisbon", "Kyoto", "咖啡", "rain")


class OwnerStory:
    """One owner's events, one after the other, the same for the same seed.

    `flavour`: `poisoned` owners have events that nobody can read, `newer` ones such that an older release cannot.
    """

    def __init__(self, seed: int, owner: str, flavour: str = PLAIN) -> None:
        self.owner = owner
        self.flavour = flavour
        self._seed = seed
        self._rng = Random(f"{seed}:{owner}")
        self._number = 0
        self._memories: list[str] = []
        self._merged: list[str] = []
        self._odd = 0

    def next(self) -> Prepared:
        """The owner's next event."""
        self._number += 1
        odd = self.flavour != PLAIN and self._number > 3 and self._odd < MOST_ODD and self._rng.random() < 0.02
        self._odd += odd
        if odd and self.flavour == NEWER:
            return self._prepared(MemoryKept(memory_id=self._any(), reason="looked at"))
        ready = self._prepared(self._told())
        return _of_tomorrow(ready) if odd else ready

    def _prepared(self, data: Any) -> Prepared:
        at = BEGIN + timedelta(minutes=11 * self._number - self._rng.choice((0, 0, 0, 600)))
        event_id = derived_id("chaos", str(self._seed), self.owner, str(self._number))
        actor = self._rng.choice(("user", "assistant"))
        return prepare(make_event(data, owner=self.owner, occurred_at=at, actor=actor, now=CLOCK, event_id=event_id))

    def _told(self) -> Any:
        if len(self._memories) < 2 or (len(self._memories) < MOST_MEMORIES and self._rng.random() < 0.15):
            return self._created()
        tellers = (
            self._mentioned, self._mentioned, self._mentioned, self._negated, self._accessed, self._reinforced,
            self._revised, self._deleted_or_restored, self._merged_or_not, self._linked, self._parameters,
            self._graded, self._fact, self._profile,
        )  # fmt: skip
        return self._rng.choice(tellers)()

    def _any(self) -> str:
        return self._rng.choice(self._memories)

    def _text(self) -> str:
        return " ".join(self._rng.choices(WORDS, k=6))

    def _created(self) -> MemoryCreated:
        self._memories.append(f"m{self._number}")
        category = self._rng.choice(CATEGORIES)
        return MemoryCreated(
            memory_id=self._memories[-1],
            content=self._text(),
            category=category,
            kind="preference",
            source="user",
            keywords=tuple(sorted(set(self._rng.choices(WORDS, k=2)))),
            task=self._rng.choice((None, "t1", "t2")),
        )

    def _mentioned(self) -> MemoryMentioned:
        return MemoryMentioned(memory_id=self._any())

    def _negated(self) -> MemoryNegated:
        return MemoryNegated(memory_id=self._any(), reason="no longer", replaced_by=self._any())

    def _accessed(self) -> MemoriesAccessed:
        """Each access by itself, or every second time their sums, as a producer of an older release tells them."""
        then, shown = BEGIN + timedelta(minutes=11 * self._number), tuple(self._rng.sample(self._memories, 2))
        hits = [Hit(memory_id=one, count=rank, best_rank=rank, last_at=then) for rank, one in enumerate(shown, 1)]
        together = (tuple(self._rng.sample(self._memories, 2)),) if self._rng.random() < 0.7 else ()
        via = self._rng.choice(("recall", "association"))
        if self._number % 2:
            return MemoriesAccessed(hits=tuple(hits), via=via, together=together)
        accesses = (Access(at=then, shown=shown), *(Access(at=then, shown=group, first=6) for group in together))
        return MemoriesAccessed(accesses=accesses, via=via)

    def _reinforced(self) -> MemoryReinforced:
        outcome = self._rng.choice(("used", "used", "task_success", "task_failure", "manual_review"))
        return MemoryReinforced(memory_id=self._any(), outcome=outcome, from_memory=self._any())

    def _graded(self) -> ReviewGraded:
        return ReviewGraded(memory_id=self._any(), grade=self._rng.randrange(6))

    def _fact(self) -> FactAsserted | FactRetracted:
        event = self._rng.choice((FactAsserted, FactAsserted, FactRetracted))
        evidence = tuple(self._rng.sample(self._memories, 2))
        return event(subject="owner", predicate="likes", object=self._rng.choice(WORDS), evidence=evidence)

    def _profile(self) -> ProfileChosen:
        return ProfileChosen(profile=self._rng.choice(("weighted", "ebbinghaus", "consolidating", "tiered")))

    def _revised(self) -> MemoryRevised:
        return MemoryRevised(memory_id=self._any(), content=self._text())

    def _deleted_or_restored(self) -> MemoryDeleted | MemoryRestored:
        return self._rng.choice((MemoryDeleted, MemoryRestored))(memory_id=self._any())

    def _merged_or_not(self) -> MemoryMerged | MemoryUnmerged:
        if self._merged and self._rng.random() < 0.7:
            return MemoryUnmerged(into=self._merged.pop())
        self._merged.append(f"all{self._number}")
        sources = tuple(self._rng.sample(self._memories, 2))
        return MemoryMerged(sources=sources, into=self._merged[-1], summary=self._text())

    def _linked(self) -> MemoriesLinked:
        a, b = self._rng.sample(self._memories, 2)
        return MemoriesLinked(a=a, b=b, weight=0.5, link=self._rng.choice(("semantic", "possible_conflict")))

    def _parameters(self) -> ParametersChanged:
        return ParametersChanged(parameters={"alpha_base": round(self._rng.uniform(0.005, 0.02), 4)})


def _of_tomorrow(ready: Prepared) -> Prepared:
    """The event as a version that no release knows: it says so itself, so that only its version is strange."""
    name, _, version = POISON_KIND.partition(".")
    said = orjson.loads(ready.body) | {"type": name, "schema_version": int(version)}
    return ready._replace(kind=POISON_KIND, body=canonical(said))


def discard(owner: str, partition: int, seq: int) -> Prepared:
    """An operator's decision to drop a parked event; the same event however often it is decided."""
    position = position_text(partition, seq)
    event = make_event(
        EventDiscarded(position=position, reason="no release can read it"),
        owner=owner,
        occurred_at=BEGIN,
        actor="operator",
        now=CLOCK,
        event_id=derived_id("chaos discard", owner, position),
    )
    return prepare(event)
