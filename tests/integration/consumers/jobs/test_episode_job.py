"""Episodes and uses as a job: what was said is read back from the log, and decided once, wherever it is killed."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event as Flag
from typing import Any
from uuid import UUID

import pytest

from engramlog_server.consumers.jobs import episodes as redis_sessions
from engramlog_server.consumers.jobs import lifecycle as redis_lifecycle
from engramlog_server.consumers.jobs.episodes import EpisodeJob, Seen
from engramlog_server.consumers.jobs.opened import JobResources
from engramlog_server.consumers.jobs.queue import JobScheduler
from engramlog_server.consumers.jobs.raw_memories import JUDGE
from engramlog_server.consumers.jobs.run import kinds_of, run, serving
from engramlog_server.events.envelope import AnyEvent, decode, from_micros, prepare
from engramlog_server.events.errors import ModelFailed
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.events.validation import make_event
from engramlog_server.projections.lifecycle.extraction import verdicts
from engramlog_server.projections.memory.record import HOUR
from engramlog_server.projections.models.chat import Chat, ModelUsage, Unfit
from engramlog_server.projections.redis import said as redis_said
from engramlog_server.projections.redis.view import RedisViews
from tests.given.events import Told, created, deleted
from tests.given.said import injected, said
from tests.integration.live import Live, live_store, wait_until
from tests.patience import PATIENCE
from tests.servers import RedisServer

REPLY = "You are allergic to peanuts, so ask first."


@pytest.fixture
def live(server: RedisServer) -> Iterator[Live]:
    with live_store(server.url, partitions=1) as store:
        store.start_worker("folder")
        yield store


@pytest.fixture
def views(live: Live) -> Iterator[RedisViews]:
    made = RedisViews(live.client, live.identity.tags)
    yield made
    made.close()


def tell(live: Live, owner: str, *events: Told, hours_ago: float = 0) -> None:
    """Append what happened one after the other, the last so many hours ago, and have it folded."""
    now = live.log.now()
    for number, one in enumerate(events):
        at = from_micros(now - int(hours_ago * HOUR) - (len(events) - 1 - number) * 1_000_000)
        live.append(prepare(make_event(one.data, owner=owner, occurred_at=at, actor=one.actor, now=now, **one.extra)))
    wait_until(live.folded)


def talk(count: int, session: str = "s1", first: int = 0) -> list[Told]:
    return [
        said(f"{session}:{n}", f"I fired kiln number {n} on Friday.", session=session)
        for n in range(first, first + count)
    ]


def used(session: str = "s9") -> list[Told]:
    """A memory, a turn for which it is injected, and a reply that rests on it."""
    return [
        created("I am allergic to peanuts", "peanuts"),
        said(f"{session}:ask", "What can I eat?", session=session),
        injected("peanuts", turn_id=f"{session}:ask", session=session),
        said(f"{session}:reply", REPLY, "assistant", session=session, reply_to=f"{session}:ask"),
    ]


def decided(live: Live, owner: str) -> list[AnyEvent]:
    """Episodes and uses in the log, in its order."""
    events = [decode(one.kind, one.body) for one in live.log.read(0, 0, 10_000) if one.owner == owner]
    return [one for one in events if one.causation_id is not None and one.actor in ("system", "judge")]


def told(events: list[AnyEvent]) -> list[tuple[Any, ...]]:
    """What they say, without what differs between owners."""
    return [
        (
            one.type,
            one.actor,
            one.session_id,
            getattr(one.data, "content", None),
            getattr(one.data, "source_turns", None),
        )
        for one in events
    ]


def test_sessions_that_ended_leave_episodes_and_replies_uses_and_a_second_run_nothing(
    live: Live, views: RedisViews
) -> None:
    tell(live, "ada", *talk(12), hours_ago=13)
    tell(live, "ada", *used())
    sessions = EpisodeJob(live.log, views)
    assert sessions.plan("ada").as_dict()["counts"] == {"summarise": 2, "use": 1}
    assert decided(live, "ada") == []
    first = sessions.carry_out("ada").as_dict()
    assert (first["counts"], first["appended"]) == ({"summarise": 2, "use": 1}, 3)
    wait_until(live.folded)
    for again in (sessions, EpisodeJob(live.log, views)):
        assert again.carry_out("ada").as_dict()["counts"] == {}
    made = decided(live, "ada")
    assert [one.type for one in made] == ["MemoryCreated", "MemoryCreated", "MemoryReinforced"]
    turns = {one.data.turn_id: one for one in map(_decoded, live.log.read(0, 0, 1_000)) if one.type == "TurnRecorded"}
    causes = [turns["s1:9"], turns["s1:11"], turns["s9:reply"]]
    assert [one.causation_id for one in made] == [one.event_id for one in causes]
    assert [one.occurred_at for one in made] == [one.occurred_at for one in causes]
    assert [one.session_id for one in made] == ["s1", "s1", "s9"]


def _decoded(stored: Any) -> AnyEvent:
    return decode(stored.kind, stored.body)


def test_an_open_session_leaves_what_is_out_of_working_memory(live: Live, views: RedisViews) -> None:
    tell(live, "ada", *talk(31))
    sessions = EpisodeJob(live.log, views)
    assert sessions.carry_out("ada").as_dict()["counts"] == {"summarise": 1}
    tell(live, "ada", *talk(9, first=31))
    assert sessions.carry_out("ada").as_dict()["counts"] == {}
    tell(live, "ada", *talk(1, first=40))
    assert sessions.carry_out("ada").as_dict()["counts"] == {"summarise": 1}
    later = live.log.now() + 13 * HOUR
    assert sessions.carry_out("ada", now=later).as_dict()["counts"] == {"summarise": 3}


@pytest.mark.parametrize("steps", [(45,), (7, 24, 14), (1,) * 45], ids=["at once", "in three", "one by one"])
def test_runs_in_between_change_nothing_about_the_episodes(
    live: Live, views: RedisViews, steps: tuple[int, ...]
) -> None:
    sessions, first = EpisodeJob(live.log, views), 0
    start = live.log.now()
    for count in steps:
        tell(live, "ada", *talk(count, first=first))
        sessions.carry_out("ada", now=start)
        first += count
    wait_until(live.folded)
    sessions.carry_out("ada", now=live.log.now() + 13 * HOUR)
    tens = [tuple(f"s1:{n}" for n in range(ten, min(ten + 10, 45))) for ten in range(0, 45, 10)]
    assert [turns for *_, turns in told(decided(live, "ada"))] == tens


def test_turns_that_come_late_are_told_by_a_later_episode(live: Live, views: RedisViews) -> None:
    sessions = EpisodeJob(live.log, views)
    tell(live, "ada", *talk(3), hours_ago=20)
    sessions.carry_out("ada")
    tell(live, "ada", *talk(2, first=3), hours_ago=21)
    sessions.carry_out("ada")
    assert [turns for *_, turns in told(decided(live, "ada"))] == [("s1:0", "s1:1", "s1:2"), ("s1:3", "s1:4")]


def test_a_run_that_is_killed_between_two_requests_is_made_whole_by_the_next(
    live: Live, views: RedisViews, monkeypatch: pytest.MonkeyPatch
) -> None:
    for owner in ("ada", "bo"):
        tell(live, owner, *talk(45), hours_ago=13)
        tell(live, owner, *used())
    EpisodeJob(live.log, views).carry_out("ada")

    class Killed(Exception):
        pass

    def die(_done: int, _total: int) -> None:
        raise Killed

    monkeypatch.setattr(redis_lifecycle, "REQUEST", 2)
    runs = 0
    while True:
        runs += 1
        try:
            EpisodeJob(live.log, views).carry_out("bo", on_progress=die)
        except Killed:
            wait_until(live.folded)
            continue
        break
    assert runs == 4
    assert told(decided(live, "bo")) == told(decided(live, "ada"))
    assert len(decided(live, "bo")) == 6


def test_the_job_looks_only_at_owners_to_whom_something_was_said(live: Live, server: RedisServer) -> None:
    tell(live, "ada", *talk(12), hours_ago=13)
    tell(live, "bo", *talk(3))
    seen: dict[str, Seen] = {}
    with serving(JobResources(server.url, 10.0, lambda _fact, **_facts: None, Flag(), looked_at=seen)):
        counts = [run("sessions", "test", 0, "tick")]
        wait_until(live.folded)
        counts.append(run("sessions", "test", 0, "tock"))
        counts.append(run("sessions", "test", 0, "tack"))
        tell(live, "bo", *talk(1, first=3))
        counts.append(run("sessions", "test", 0, "tuck"))
    assert [(one["owners"], one["decided"]) for one in counts if isinstance(one, dict)] == [
        (2, 2),
        (1, 0),
        (0, 0),
        (1, 0),
    ]
    assert seen["bo"].next_at is not None


@pytest.mark.parametrize(("summaries", "scheduled"), [("extractive", True), ("model", True), ("off", False)])
def test_it_is_scheduled_every_ten_minutes_unless_it_is_off(live: Live, summaries: str, scheduled: bool) -> None:
    all_kinds = kinds_of("off", summaries, embed_minutes=None)
    kinds = {name: kind for name, kind in all_kinds.items() if name != JUDGE}
    cron = JobScheduler(live.client, "test", 1, "scheduler", kinds=kinds)
    ten = 600_000
    now = cron.now_ms() // ten * ten
    cron.tend(now)
    assert cron.tend(now + ten - 1) == 0
    told = {field.decode() for field in open_wire(live.client).call("HGETALL", "engramlog-jobs:test")[::2]}
    assert ("beside-tick:sessions" in told) is scheduled
    assert "tick:sessions" not in told
    cron.leave()


def test_it_looks_again_at_who_said_nothing_when_a_session_ends(live: Live, views: RedisViews) -> None:
    tell(live, "ada", *talk(3))
    sessions = EpisodeJob(live.log, views)
    sessions.carry_out("ada")
    now = live.log.now()
    assert sessions.changed(0, ["ada", "bo"], now=now) == ["bo"]
    assert sessions.changed(0, ["ada"], now=now + 12 * HOUR) == ["ada"]
    assert sessions.carry_out("ada", now=now + 12 * HOUR).as_dict()["counts"] == {"summarise": 1}


def test_what_was_read_once_is_not_read_again(live: Live, views: RedisViews, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_said, "BACK", 4)
    tell(live, "ada", *talk(60), hours_ago=13)
    sessions = EpisodeJob(live.log, views)
    sessions.carry_out("ada")
    tell(live, "ada", *talk(35, "s2"), *used("s2"))
    read: list[int] = []
    stored = views.stored
    monkeypatch.setattr(views, "stored", lambda owner, seqs: read.extend(seqs) or stored(owner, seqs))
    assert sessions.carry_out("ada").as_dict()["counts"] == {"summarise": 1, "use": 1}
    assert min(read) > 55
    assert [turns for *_, turns in told(decided(live, "ada"))][-2] == tuple(f"s2:{n}" for n in range(10))


def test_what_was_deleted_is_in_no_episode(live: Live, views: RedisViews) -> None:
    turns = talk(3)
    secret = created("I fired kiln number 1 on Friday.", "s1:1", kind="episode", source_turns=("s1:1",))
    tell(live, "ada", *turns, secret, deleted("s1:1"), hours_ago=13)
    EpisodeJob(live.log, views).carry_out("ada")
    (episode,) = decided(live, "ada")
    assert "number 1" not in episode.data.content
    assert episode.data.source_turns == ("s1:0", "s1:2")


def test_episodes_are_not_read_as_turns(live: Live, views: RedisViews) -> None:
    tell(live, "ada", said("t1", "I live in Berlin. I love coffee."), hours_ago=13)
    EpisodeJob(live.log, views).carry_out("ada")
    head = live.log.head(0)
    with views.view("ada", after=head, wait_seconds=PATIENCE) as (view, _):
        (episode,) = view.columns.memories
        assert (episode.kind, episode.source_turns) == ("episode", ("t1",))
        assert verdicts(view, live.log.now()) == []


# --- with a model


class Scripted:
    """A model that says something about each conversation, or fails."""

    model = "scripted"

    def __init__(self, *words: str | ModelFailed) -> None:
        self._words = list(words)
        self.asked: list[str] = []

    def ask(self, _system: str, prompt: str, answer: Any, check: Any) -> Any:
        self.asked.append(prompt)
        word = self._words[(len(self.asked) - 1) % len(self._words)]
        if isinstance(word, ModelFailed):
            raise word
        made = answer(summary=word)
        try:
            check(made)
        except Unfit as refusal:
            raise ModelFailed(str(refusal), down=False, usage=(2, 20, 10)) from None
        return made, ModelUsage(1, 10, 5)


WRITTEN = "The user fired kilns on Friday."
REFUSED = "Kiln 4711 exploded."
DOWN = ModelFailed("no answer within 60 s", down=True, usage=(1, 0, 0))


def by(model: Chat, live: Live, views: RedisViews) -> EpisodeJob:
    return EpisodeJob(live.log, views, chat=lambda: model)


def test_a_model_writes_what_is_checked_and_what_is_refused_is_made_without_it(live: Live, views: RedisViews) -> None:
    tell(live, "ada", *talk(15), hours_ago=13)
    tell(live, "ada", *used())
    model = Scripted(WRITTEN, REFUSED)
    answer = by(model, live, views).carry_out("ada").as_dict()
    assert (answer["by_model"], answer["refused"], answer["down"]) == (1, 1, False)
    assert (answer["requests"], answer["input_tokens"], answer["output_tokens"]) == (3, 30, 15)
    written, made, use = decided(live, "ada")
    assert (written.actor, written.data.content[18:]) == ("judge", f" {WRITTEN}")
    assert (written.correlation_id or "").startswith("sessions:")
    assert (made.actor, made.data.content[18:25]) == ("system", " user: ")
    assert use.type == "MemoryReinforced"
    principals = {str(UUID(bytes=one.raw_id)): one.principal for one in live.log.read(0, 0, 10_000)}
    assert principals[written.event_id] == "local model:scripted"
    assert principals[made.event_id] == principals[use.event_id] == "local"
    wait_until(live.folded)
    assert by(model, live, views).carry_out("ada").as_dict()["counts"] == {}
    assert len(model.asked) == 2


def test_a_model_that_is_down_stops_the_run_and_loses_nothing(
    live: Live, views: RedisViews, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_sessions, "ASKED_AT_ONCE", 2)
    tell(live, "ada", *talk(45), hours_ago=13)
    tell(live, "ada", *used())
    failing = by(Scripted(WRITTEN, WRITTEN, WRITTEN, DOWN), live, views)
    answer = failing.carry_out("ada").as_dict()
    assert (answer["counts"], answer["down"]) == ({"summarise": 3, "use": 1}, True)
    assert answer["failure"] == "no answer within 60 s"
    wait_until(live.folded)
    assert failing.changed(0, ["ada"]) == ["ada"]
    assert by(Scripted(WRITTEN), live, views).carry_out("ada").as_dict()["counts"] == {"summarise": 2}
    assert len(decided(live, "ada")) == 6


def test_killed_while_a_model_writes_the_next_run_asks_only_for_what_is_left(
    live: Live, views: RedisViews, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_sessions, "ASKED_AT_ONCE", 2)
    tell(live, "ada", *talk(45), hours_ago=13)

    class Killed(Exception):
        pass

    asked: list[int] = []

    def die(done: int, total: int) -> None:
        asked.append(total)
        if len(asked) == 5:
            raise Killed

    model = Scripted(WRITTEN)
    with pytest.raises(Killed):
        by(model, live, views).carry_out("ada", on_progress=die)
    wait_until(live.folded)
    assert len(decided(live, "ada")) == 2
    by(model, live, views).carry_out("ada")
    assert [turns[0] for *_, turns in told(decided(live, "ada"))] == [f"s1:{n}" for n in (0, 10, 20, 30, 40)]


def test_the_model_is_asked_while_no_view_is_held(live: Live, views: RedisViews) -> None:
    tell(live, "ada", *talk(12), hours_ago=13)

    class Curious(Scripted):
        def ask(self, *asked: Any) -> Any:
            with views.view("ada"):  # would wait for itself for ever
                return super().ask(*asked)

    assert by(Curious(WRITTEN), live, views).carry_out("ada").by_model == 2
