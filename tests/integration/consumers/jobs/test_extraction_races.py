"""Extraction by a model while others act on the owner: producers, deletions, other runs, a rebuild, marks from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pytest

from engramlog_server.consumers.fold.rebuild import rebuild_partition
from engramlog_server.consumers.jobs.extraction import ExtractionJob, ExtractionRun
from engramlog_server.consumers.jobs.lifecycle import LifecycleJobs
from engramlog_server.events.catalogue import MemoryDeleted, MemoryMerged, TurnsExtracted
from engramlog_server.events.envelope import from_micros, prepare
from engramlog_server.events.errors import OwnerQuarantined
from engramlog_server.events.validation import make_event
from engramlog_server.projections.lifecycle.judge.proposals import Checked
from engramlog_server.projections.models.chat import ModelUsage, fits
from engramlog_server.projections.redis.view import RedisViews
from tests.integration.consumers.jobs.test_lifecycle_jobs import poison
from tests.integration.consumers.jobs.test_model_extraction import marks, state, tell, typed
from tests.integration.live import Live, live_store, wait_until
from tests.servers import Servers

T = TypeVar("T")
SAID = ["I love opera very much", "I play chess on Sundays", "I keep bees in the garden"]
MOST_ASKED = 30


class Fake:
    """A model that keeps every new message in its own words; `meanwhile` happens while it thinks."""

    model = "fake"

    def __init__(self, meanwhile: Callable[[int], None] = lambda _asked: None) -> None:
        self.asked = 0
        self._meanwhile = meanwhile

    def ask(self, system: str, prompt: str, answer: type[T], check: Callable[[T], None] = fits) -> tuple[T, ModelUsage]:
        self.asked += 1
        assert self.asked < MOST_ASKED, "asked for ever"
        self._meanwhile(self.asked)
        assert isinstance(check, Checked)
        talk = check._talk
        told = [
            {"operation": "ADD", "turn": one.key, "quote": one.text, "category": "fact",
             "content": one.text.replace("I ", "User ")}
            for one in talk.shown if one.new
        ]  # fmt: skip
        return answer.model_validate({"operations": told}), ModelUsage(1, 10, 5)  # type: ignore[attr-defined]


@pytest.fixture
def live(redis_servers: Servers) -> Iterator[Live]:
    with live_store(redis_servers.get("valkey").url, partitions=1) as store:
        store.start_worker("folder")
        yield store


def read(live: Live, chat: Fake | None = None) -> ExtractionRun:
    lifecycle = LifecycleJobs(live.log, RedisViews(live.client, live.identity.tags))
    return ExtractionJob(
        RedisViews(live.client, live.identity.tags), lifecycle, None if chat is None else lambda: chat
    ).extract("ada")


def append(live: Live, data: Any) -> None:
    event = make_event(data, owner="ada", occurred_at=from_micros(live.log.now()), actor="system", now=live.log.now())
    live.append(prepare(event))
    wait_until(live.folded)


KEPT = ["User keep bees in the garden", "User love opera very much", "User play chess on Sundays"]


@pytest.mark.parametrize("up_to", ["nobody-knows", "t0"])
def test_a_mark_from_elsewhere_costs_one_more_reading_and_no_run_goes_on_for_ever(live: Live, up_to: str) -> None:
    tell(live, "ada", SAID)
    read(live, Fake())
    append(live, TurnsExtracted(up_to=up_to, turns=1, by="elsewhere"))
    chat = Fake()
    found = read(live, chat)
    assert (found.left, found.trouble, chat.asked) == (0, None, 1)
    assert typed(live) == KEPT
    assert read(live, chat).read == 0
    assert chat.asked == 1


def test_turns_that_were_merged_before_anybody_read_them_are_read(live: Live) -> None:
    tell(live, "ada", SAID)
    append(live, MemoryMerged(sources=("t0", "t1"), into="both", summary="I love opera very much"))
    assert read(live, Fake()).read == len(SAID)
    assert set(KEPT) <= set(typed(live))


def test_nothing_is_kept_of_a_turn_that_is_deleted_while_the_model_thinks(live: Live) -> None:
    tell(live, "ada", SAID)

    def meanwhile(asked: int) -> None:
        if asked == 1:
            append(live, MemoryDeleted(memory_id="t1"))

    found = read(live, Fake(meanwhile))
    assert (found.read, found.left) == (2, 0)
    assert typed(live) == [KEPT[0], KEPT[1]]
    assert [one.turns for one in marks(live)] == [2]


def test_a_run_by_rules_while_the_model_thinks_has_each_turn_read_once(live: Live) -> None:
    tell(live, "ada", SAID)
    chat = Fake(lambda _asked: print(read(live).read))
    found = read(live, chat)
    assert (found.read, found.left, chat.asked) == (0, 0, 1)
    assert [(one.by, one.turns) for one in marks(live)] == [("rules", 3)]


def test_a_rebuild_between_two_runs_changes_nothing_and_nothing_is_asked_again(live: Live) -> None:
    tell(live, "ada", SAID)
    read(live, Fake())
    before = state(live, "ada").read
    rebuild_partition(live.client, live.identity.tags[0], holder="test")
    wait_until(live.folded)
    chat = Fake()
    assert read(live, chat).read == chat.asked == 0
    assert state(live, "ada").read == before


def test_an_owner_that_is_quarantined_while_the_model_thinks_is_left_alone(live: Live) -> None:
    tell(live, "ada", SAID)
    with pytest.raises(OwnerQuarantined):
        read(live, Fake(lambda _asked: poison(live, "ada")))
    assert all(one.kind != "TurnsExtracted.1" for one in live.log.read(0, 0, 100))


def test_rules_lose_no_statement_if_turns_arrive_while_they_read(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(live, "ada", SAID[:2])
    late, append_planned = [SAID[2]], LifecycleJobs._append

    def interrupted(lifecycle: LifecycleJobs, *planned: Any) -> bool:
        if late:
            tell(live, "ada", [late.pop()], first=2)
        return append_planned(lifecycle, *planned)

    monkeypatch.setattr(LifecycleJobs, "_append", interrupted)
    read(live)
    wait_until(live.folded)
    assert [one.split(" (")[0] for one in typed(live)] == [
        "User keeps bees in the garden", "User loves opera very much", "User plays chess on Sundays",
    ]  # fmt: skip
