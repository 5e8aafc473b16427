"""Words are erased while a job reads them: nothing of them is kept, nothing else is lost, and no job goes on for ever."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from engramlog_server.consumers.jobs.extraction import ExtractionJob, ExtractionRun
from engramlog_server.consumers.jobs.lifecycle import LifecycleJobs
from engramlog_server.events.catalogue import MemoryRevised
from engramlog_server.events.envelope import Stored, decode
from engramlog_server.events.partitions import partition_of
from engramlog_server.ops.erasure.machine import carry_out
from engramlog_server.ops.erasure.plan import ErasurePlan
from engramlog_server.ops.settings import Settings
from engramlog_server.projections.lifecycle.decision import Decision
from engramlog_server.projections.views.view import OwnerView
from tests.acceptance.trust.doors import Doors, doors
from tests.integration.consumers.jobs.test_extraction_races import Fake

OPERA, BEES, CHESS = "I love opera very much", "I keep bees in the garden", "I play chess on Sundays"
KEPT = ["User keep bees in the garden", "User play chess on Sundays"]


class Reading:
    """A store with three turns that nobody has read, and a model that reads them."""

    def __init__(self, of: Doors, folder: Path) -> None:
        self.of, self.folder, self.owner = of, folder, of.owner()
        of.say("http", self.owner, OPERA, BEES, CHESS)
        [self.opera] = [one for one, text in of.memories(self.owner).items() if text == OPERA]

    def erase(self, *ids: str) -> None:
        plan = ErasurePlan(self.owner, ids, "objection")
        done = carry_out(self.of.running.http.store, Settings(data=self.folder), plan, self.of.app)
        assert (done.verified, done.not_proven) == (True, [])

    def read(self, model: Any) -> ExtractionRun:
        app = self.of.app
        found = ExtractionJob(app.views, LifecycleJobs(app.log, app.views), lambda: model).extract(self.owner)
        app.reader.list(self.owner, after=str(app.reader.list(self.owner)["position"]))
        return found

    def typed(self) -> list[str]:
        return sorted(text for one, text in self.of.memories(self.owner).items() if one.startswith("m-"))

    def stored(self) -> list[Stored]:
        app = self.of.app
        return [
            one for one in app.log.read(partition_of(self.owner, app.log.partitions), 0, 500) if one.owner == self.owner
        ]

    def says(self, word: str) -> list[str]:
        """Types of events of the log that have these words."""
        return [decode(one.kind, one.body).type for one in self.stored() if word in one.body.decode().casefold()]


@pytest.fixture
def reading(tmp_path: Path) -> Iterator[Reading]:
    with doors(tmp_path / "store") as of:
        yield Reading(of, tmp_path / "store")


def test_a_turn_that_is_erased_while_the_model_thinks_is_not_kept_and_the_others_are(reading: Reading) -> None:
    model = Fake(lambda asked: reading.erase(reading.opera) if asked == 1 else None)
    found = reading.read(model)
    assert (found.left, found.trouble) == (0, None)
    assert reading.typed() == KEPT
    assert reading.says("opera very") == []
    again = Fake()
    assert (reading.read(again).read, again.asked) == (0, 0), "and it is not read again"


def test_what_is_erased_between_a_decision_and_its_append_is_decided_anew(reading: Reading) -> None:
    log, left = reading.of.app.log, [1]
    append: Callable[..., Any] = log.append

    def late(events: Any, **given: Any) -> Any:
        if left and any(one.kind.startswith("MemoryCreated") for one in events):
            left.pop()
            reading.erase(reading.opera)
        return append(events, **given)

    with mock.patch.object(log, "append", late):
        found = reading.read(Fake())
    assert (found.left, found.trouble) == (0, None)
    assert reading.typed() == KEPT
    assert reading.says("opera very") == []


def test_words_about_what_is_erased_between_a_decision_and_its_append_are_decided_anew(reading: Reading) -> None:
    """The door refuses words under an erased id: the job looks again, and finds that there is nothing to say it about."""
    app, planned = reading.of.app, list[bool]()
    append: Callable[..., Any] = app.log.append

    def plan(view: OwnerView, now: int) -> list[Decision]:
        memory = view.get(reading.opera)
        assert memory is not None
        planned.append(memory.purged_at is None)
        data = MemoryRevised(memory_id=reading.opera, content="I love opera very, very much")
        return [Decision("abstract", "revise", (reading.opera,), now, memory.created_seq, "told", data)] * planned[-1]

    def late(events: Any, **given: Any) -> Any:
        if planned == [True] and any(one.kind.startswith("MemoryRevised") for one in events):
            planned.append(True)
            reading.erase(reading.opera)
        return append(events, **given)

    with mock.patch.object(app.log, "append", late):
        run = LifecycleJobs(app.log, app.views).carry_out_plan(reading.owner, plan)
    assert (planned, run.appended) == ([True, True, False], 0)
    assert reading.says("opera very") == []
