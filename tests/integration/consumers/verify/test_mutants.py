"""Each check of the commit, shown to be needed: without it one schedule loses events; with it the same one loses none.

Folding is deterministic, so two workers that commit from the same checkpoint write the same, and most races hide a missing
check. Each schedule below is one where exactly that check stands between the store and a wrong state.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from engramlog_server.events.catalogue import MemoryCreated, MemoryKept, MemoryMentioned
from engramlog_server.events.partitions import LogKeys
from tests.chaos.attendants import quarantined
from tests.chaos.stage import asleep, staged, with_replica
from tests.chaos.verdict import Verdict


class Played(NamedTuple):
    """What the sleeper told after it woke, and the verdict at the end."""

    told: str
    verdict: Verdict


def _created(memory_id: str) -> MemoryCreated:
    return MemoryCreated(memory_id=memory_id, content="I like tea", category="fact", kind="fact", source="user")


def _stale_after_a_retry(folder: Path, mutant: str) -> Played:
    """An older release parks what it cannot read and falls asleep with one more park in hand; a newer one frees the owner.

    A retry moves no checkpoint, so the sleeper's start still fits: only the epoch tells that its hour is over.
    """
    with staged(folder) as stage:
        stage.tell("ada", _created("m"), MemoryKept(memory_id="m"), MemoryMentioned(memory_id="m"))
        sleeper = stage.worker(older=True, mutant=mutant, asleep_at="before a commit", passes=2)
        stage.folded_to(3)
        stage.tell("ada", MemoryMentioned(memory_id="m"))
        asleep(sleeper)
        stage.wire.call("HSET", LogKeys(stage.tags[0]).control, "retry:ada", "ada")
        heir = stage.worker(asleep_at="after a commit")
        asleep(heir)
        assert stage.checkpoint() == 3
        assert not quarantined(stage.wire, stage.tags[0])
        return Played(stage.parted(sleeper), stage.settled())


def _ahead_of_its_store(folder: Path, mutant: str) -> Played:
    """The worker sleeps while its primary fails over to a lagging replica and back; producers have sent all again.

    Its connection and its epoch are still good, and the entry that it folded is there again: only the start does not fit.
    """
    with with_replica(folder) as (stage, flip):
        stage.tell("ada", _created("m1"), _created("m2"), _created("m3"))
        sleeper = stage.worker(mutant=mutant, asleep_at="before a commit", passes=3)
        stage.folded_to(3)
        flip.cut()
        stage.tell("bob", _created("m4"))
        stage.folded_to(4)
        stage.tell("ada", _created("m5"))
        asleep(sleeper)
        flip.there_and_back()
        assert stage.checkpoint() == 3
        stage.another_producer()
        for line in stage.ledger.lines:
            assert stage.ledger.deliver(stage.log, [line])
        return Played(stage.parted(sleeper), stage.settled())


def _folded_from_another_history(folder: Path, mutant: str) -> Played:
    """As before, but what it folded and did not commit was lost, and another event came first when it was sent again.

    Connection, epoch and start fit: only the entry at the end of its batch is another one.
    """
    with with_replica(folder) as (stage, flip):
        stage.tell("ada", _created("m1"), _created("m2"), _created("m3"))
        sleeper = stage.worker(mutant=mutant, asleep_at="before a commit", passes=2)
        stage.folded_to(3)
        flip.cut()
        stage.tell("ada", _created("m4"), _created("m5"))
        asleep(sleeper)
        flip.there_and_back()
        stage.another_producer()
        sent_before = list(stage.ledger.lines)
        stage.tell("bob", _created("m6"))
        for line in sent_before:
            assert stage.ledger.deliver(stage.log, [line])
        return Played(stage.parted(sleeper), stage.settled())


SCHEDULES: dict[str, Callable[[Path, str], Played]] = {
    "no epoch check": _stale_after_a_retry,
    "no start check": _ahead_of_its_store,
    "no entry check": _folded_from_another_history,
}

REFUSALS = {
    "no epoch check": "this batch was under 1",
    "no start check": "the checkpoint is 3, this batch starts at 4",
    "no entry check": "the log no longer holds the event folded at 5",
}
"""How the check in question words its refusal: no other one may do its work in these schedules."""


@pytest.mark.parametrize("mutant", SCHEDULES)
def test_without_the_check_its_schedule_loses_an_acknowledged_event(mutant: str, tmp_path: Path) -> None:
    played = SCHEDULES[mutant](tmp_path, mutant)
    assert REFUSALS[mutant] not in played.told
    assert not played.verdict.clean
    assert played.verdict.lost == 1, played.verdict


@pytest.mark.parametrize("mutant", SCHEDULES)
def test_with_every_check_the_same_schedule_loses_nothing(mutant: str, tmp_path: Path) -> None:
    played = SCHEDULES[mutant](tmp_path, "")
    assert REFUSALS[mutant] in played.told
    assert played.verdict.clean, played.verdict
    assert played.verdict.acknowledged == played.verdict.applied >= 4
