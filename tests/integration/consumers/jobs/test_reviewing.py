"""Reviews by a model on a real store: nothing held while it thinks, nothing decided twice, little lost to one that lies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from threading import Event as Flag
from typing import Any

import pytest

from engramlog_server.consumers.jobs.lifecycle import LifecycleJobs
from engramlog_server.consumers.jobs.opened import JobResources, Lent
from engramlog_server.consumers.jobs.reviewing import MOST_ASKED, REFUSED_IN_A_ROW, ReviewJob, ReviewRun
from engramlog_server.consumers.jobs.run import run, serving
from engramlog_server.events.catalogue import MemoryDeleted
from engramlog_server.events.envelope import AnyEvent, decode
from engramlog_server.events.errors import BadSetting, ModelFailed
from engramlog_server.events.partitions import partition_of
from engramlog_server.projections.lifecycle.review import ModelReviewer
from engramlog_server.projections.models.chat import Chat, ModelChat
from tests.doubles.model_endpoint import ModelEndpoint, completion, model_endpoint
from tests.doubles.scripted import Asked
from tests.doubles.scripted_chat import KEEP, TRIES, Says, ScriptedChat, keeps
from tests.given.events import Told, at, borne_out, created, mentioned, profile
from tests.integration.consumers.jobs.test_lifecycle_jobs import BreaksOff, Jobs
from tests.integration.live import Live, live_store, wait_until
from tests.integration.served import job_worker, scheduled
from tests.patience import PATIENCE
from tests.servers import RedisServer

DELETE = {"action": "DELETE", "reason": "it is over"}
PROMOTE = {"action": "PROMOTE", "ground": "agreement", "reason": "they agreed on it"}
REVIEW = ("review",)
DAY = 26
"""When every memory of these tests is due for a decay review."""


@pytest.fixture
def live(server: RedisServer) -> Iterator[Live]:
    with live_store(server.url, partitions=2) as store:
        store.start_worker("folder")
        yield store


class Reviews(Jobs):
    """A live store reviewed by a scripted model."""

    def __init__(self, live: Live) -> None:
        super().__init__(live)
        self.told: list[tuple[str, dict[str, Any]]] = []

    def by(self, chat: ScriptedChat, lifecycle: LifecycleJobs | None = None, **options: Any) -> ReviewJob:
        """The lifecycle with this model as its reviewer."""
        tell = lambda fact, **facts: self.told.append((fact, facts))  # noqa: E731
        return ReviewJob(lifecycle or self.lifecycle, lambda: ModelReviewer(chat), "model scripted-1", tell, **options)

    def review(self, says: Says, owner: str = "ada", day: float = DAY) -> tuple[ReviewRun, ScriptedChat]:
        """One run on that day, and the model as it was asked."""
        chat = ScriptedChat(says)
        return self.by(chat).carry_out(owner, REVIEW, now=at(day)), chat

    def judged(self, owner: str = "ada") -> list[AnyEvent]:
        """The events of a judge about an owner, in the order of the log."""
        stored = self.live.log.read(partition_of(owner, self.live.log.partitions), 0, 100_000)
        return [one for one in (decode(s.kind, s.body) for s in stored if s.owner == owner) if one.actor == "judge"]


@pytest.fixture
def reviews(live: Live) -> Iterator[Reviews]:
    made = Reviews(live)
    yield made
    made.views.close()


def fading(count: int) -> list[Told]:
    """So many facts, none like another, that nobody needs any more."""
    return [profile("tiered"), *(created(f"entry{n} of the list", f"m{n}", category="fact") for n in range(count))]


def only(action: dict[str, Any], *ids: str) -> Says:
    """A model that says this of these memories, and keeps the others."""
    return lambda asked: action if asked["memory"]["id"] in ids else KEEP


def test_what_a_model_decides_is_appended_once_by_a_judge_and_not_asked_again(reviews: Reviews) -> None:
    story = [*fading(3), created("We meet every Friday", "friday", day=-1, category="fact")]
    reviews.tell("ada", *story, *borne_out("friday", day=1))
    done, chat = reviews.review(
        lambda asked: PROMOTE if asked["review"] == "promotion" else only(DELETE, "m1")(asked), day=DAY
    )
    assert (done.appended, done.left_open, len(chat.asked)) == (4, 0, 4)
    events = {event.data.memory_id: (event.type, event.causation_id is not None) for event in reviews.judged()}
    assert events == {
        "friday": ("MemoryPromoted", True),
        "m0": ("MemoryKept", True),
        "m1": ("MemoryDeleted", True),
        "m2": ("MemoryKept", True),
    }
    again, chat = reviews.review(keeps)
    assert (again.appended, chat.asked) == (0, [])
    told = done.as_dict()
    assert (told["counts"], told["requests"], told["input_tokens"]) == ({"promote": 1, "delete": 1, "keep": 2}, 4, 400)
    assert {one["reason"] for one in told["decisions"] if one["action"] == "delete"} == {"scripted-1: it is over"}
    assert "entry1" not in str(told) + str(reviews.told)


def test_the_jobs_before_and_after_the_review_are_done_in_their_order(reviews: Reviews) -> None:
    reviews.tell("ada", *fading(1), created("A chat", "chat", tier="episode", category="fact"))
    done = reviews.by(ScriptedChat()).carry_out("ada", now=at(DAY))
    assert [(one.job, one.action, one.ids) for one in done.decisions] == [
        ("sweep", "delete", ("chat",)),
        ("review", "keep", ("m0",)),
    ]


@pytest.mark.parametrize(("due", "deleted"), [(1, 1), (4, 1), (12, 2), (60, 10)])
def test_a_model_that_deletes_everything_deletes_little_in_one_run_and_that_is_told(
    reviews: Reviews, due: int, deleted: int
) -> None:
    reviews.tell("ada", *fading(due))
    done, chat = reviews.review(lambda _: DELETE)
    assert [type(event.data) for event in reviews.judged()] == [MemoryDeleted] * deleted
    assert done.left_open == due - deleted
    assert len(chat.asked) == min(due, deleted + 1)  # once one is held back, no other is asked about
    held = [facts["held_back"] for fact, facts in reviews.told if fact == "memories reviewed" and facts["alarm"]]
    assert held == ([1] if due > deleted else [])


def test_of_very_many_questions_the_longest_due_are_asked_first(reviews: Reviews) -> None:
    early = [created(f"early{n}", f"z{n}", day=-1, category="fact") for n in range(3)]
    reviews.tell("ada", *fading(MOST_ASKED), *early)
    done, chat = reviews.review(keeps)
    assert [one["memory"]["id"] for one in chat.asked[:3]] == ["z0", "z1", "z2"]
    assert (len(chat.asked), done.left_open) == (MOST_ASKED, 3)
    assert len(reviews.review(keeps)[1].asked) == 3


def test_where_only_keeping_is_left_and_for_secrets_no_model_is_asked(reviews: Reviews) -> None:
    story = [
        profile("tiered"),
        created("My name is Ada", "name", category="identity"),
        created("My PIN is 4711", "pin", category="fact", sensitivity=3),
        created("I have asthma", "asthma", category="fact", sensitivity=2),
    ]
    reviews.tell("ada", *story)
    done, chat = reviews.review(lambda _: DELETE)
    assert chat.asked == []
    assert [one.action for one in done.decisions] == ["keep"] * 3
    assert reviews.judged() == []


def failing(*, down: bool) -> Says:
    def says(_asked: dict[str, Any]) -> dict[str, Any]:
        raise ModelFailed("it said entry1", down=down, usage=(1, 7, 0))

    return says


@pytest.mark.parametrize(("down", "asked"), [(True, 1), (False, REFUSED_IN_A_ROW)])
def test_a_model_that_fails_decides_nothing_and_is_asked_again_at_the_next_run(
    reviews: Reviews, down: bool, asked: int
) -> None:
    reviews.tell("ada", *fading(8))
    done, chat = reviews.review(failing(down=down))
    assert (done.appended, done.left_open, done.down, len(chat.asked)) == (0, 8, down, asked)
    assert (done.requests, done.input_tokens, done.failure) == (asked, 7 * asked, "it said entry1")
    assert "entry1" not in str(reviews.told)  # a log tells no contents
    assert reviews.judged() == []
    assert reviews.review(keeps)[0].appended == 8


def test_one_answer_that_cannot_be_used_leaves_the_others(reviews: Reviews) -> None:
    reviews.tell("ada", *fading(4))
    done, chat = reviews.review(only(PROMOTE, "m1"))
    assert (sorted(one.ids[0] for one in done.decisions), done.left_open) == (["m0", "m2", "m3"], 1)
    assert len(chat.refusals) == TRIES


def test_only_answers_that_cannot_be_used_one_after_the_other_end_a_run(reviews: Reviews) -> None:
    reviews.tell("ada", *fading(7))
    done, chat = reviews.review(only(PROMOTE, "m0", "m1", "m3", "m4", "m5"))
    assert [one["memory"]["id"] for one in chat.asked] == ["m0", "m1", "m2", "m3", "m4", "m5"]
    assert ([one.ids[0] for one in done.decisions], done.left_open) == (["m2"], 6)


def test_nothing_is_held_while_the_model_thinks_and_what_was_said_meanwhile_is_not_decided_over(
    reviews: Reviews, live: Live
) -> None:
    reviews.tell("ada", *fading(3))

    def says(asked: dict[str, Any]) -> dict[str, Any]:
        if asked["memory"]["id"] == "m1":
            reviews.tell("ada", mentioned("m1", day=25.5))
            head = live.log.owner_head("ada")
            with reviews.views.view("ada", after=head, wait_seconds=PATIENCE) as (view, _):
                assert len(view) == 3
        return DELETE if asked["memory"]["id"] == "m1" else KEEP

    done, _ = reviews.review(says)
    assert (sorted(one.ids[0] for one in done.decisions), done.left_open) == (["m0", "m2"], 1)
    assert [event.type for event in reviews.judged()] == ["MemoryKept"] * 2


def test_a_search_finds_nothing_of_another_owner(reviews: Reviews) -> None:
    reviews.tell("bo", created("entry0 is in the safe", "theirs", day=20))
    reviews.tell("ada", *fading(1), created("entry0 is in the drawer", "mine", day=20))
    search = {"action": "SEARCH", "query": "entry0 safe drawer"}
    _, chat = reviews.review(lambda asked: search if asked["searches_left"] else KEEP)
    assert [[one["id"] for one in found["found"]] for found in chat.asked[-1]["searched"]] == [["mine"]] * 3
    assert "safe" not in "".join(chat.prompts).replace("entry0 safe drawer", "")


@pytest.mark.parametrize("requests", [0, 1, 2])
def test_a_run_killed_after_some_appends_goes_on_and_asks_only_what_is_open(
    reviews: Reviews, live: Live, requests: int
) -> None:
    reviews.tell("ada", *fading(25))
    broken: Any = BreaksOff(live, requests)
    first = ScriptedChat(keeps)
    with pytest.raises(KeyboardInterrupt):
        reviews.by(first, LifecycleJobs(broken, reviews.views)).carry_out("ada", REVIEW, now=at(DAY))
    assert len(reviews.judged()) == 10 * requests
    done, chat = reviews.review(keeps)
    assert (len(chat.asked), done.appended) == (25 - 10 * requests, 25 - 10 * requests)
    ids = [event.event_id for event in reviews.judged()]
    assert len(ids) == len(set(ids)) == 25


def test_what_another_run_decided_meanwhile_is_decided_once(reviews: Reviews) -> None:
    """The rule answers the same question while the model thinks: whoever appends first is followed."""
    reviews.tell("ada", *fading(2))

    def says(asked: dict[str, Any]) -> dict[str, Any]:
        reviews.lifecycle.carry_out("ada", REVIEW, now=at(DAY))
        return DELETE

    done, _ = reviews.review(says)
    assert done.appended == 0
    assert reviews.judged() == []
    assert [type(event.data).__name__ for event in reviews.decided("ada")] == ["MemoryKept"] * 2


def test_a_plan_tells_what_would_be_asked_and_asks_nothing(reviews: Reviews) -> None:
    reviews.tell("ada", *fading(2), created("My name is Ada", "name", category="identity"))
    chat = ScriptedChat()
    planned = reviews.by(chat).plan("ada", ("sweep", "review"), now=at(DAY))
    assert ([one.memory.id for one in planned.asked], chat.asked) == (["m0", "m1"], [])
    assert [(one.action, one.ids) for one in planned.decisions] == [("keep", ("name",))]
    assert planned.as_dict()["asked"][0]["review"] == "decay"


# --- as a job ------------------------------------------------------------------------------------------------------


class Served:
    """A job process's surroundings, with a model as reviewer."""

    def __init__(self, url: str, make: Callable[[], Chat]) -> None:
        self.stop = Flag()
        self.told: list[tuple[str, dict[str, Any]]] = []
        self.chat = Lent(make)
        self._serving = JobResources(url, 10.0, self._tell, self.stop, chat=self.chat, reviewer="model")

    def _tell(self, fact: str, **facts: Any) -> None:
        self.told.append((fact, facts))

    def upkeep(self, partition: int) -> Any:
        with serving(self._serving):
            return run("upkeep", "test", partition, "tick")


def owners_in(partition: int, count: int) -> Sequence[str]:
    return [name for name in (f"owner-{n}" for n in range(100)) if partition_of(name, 2) == partition][:count]


def test_the_hourly_job_asks_the_model_for_every_owner(reviews: Reviews, live: Live, server: RedisServer) -> None:
    for owner in owners_in(0, 2):
        reviews.tell(owner, *fading(6))
    wait_until(live.folded)
    chat = ScriptedChat(only(DELETE, "m1"))
    served = Served(server.url, lambda: chat)
    swept = 2 * 6  # in the present all of them are old enough to be compressed, too
    assert (served.upkeep(0), len(chat.asked)) == ({"owners": 2, "decided": swept + 12, "failed": 0}, 12)
    wait_until(live.folded)
    assert (served.upkeep(0)["decided"], len(chat.asked)) == (0, 12)
    for owner in owners_in(0, 2):
        assert len(reviews.judged(owner)) == 6
        assert [e.data.memory_id for e in reviews.judged(owner) if isinstance(e.data, MemoryDeleted)] == ["m1"]
    brought = [(decode(one.kind, one.body).actor, one.principal) for one in live.log.read(0, 0, 10_000)]
    assert {principal for actor, principal in brought if actor == "judge"} == {f"job:upkeep model:{chat.model}"}
    assert {principal for actor, principal in brought if actor == "system"} == {"job:upkeep"}


def no_such_model() -> Chat:
    raise BadSetting("ENGRAMLOG_MODEL: the extra `model` is not installed", setting="ENGRAMLOG_MODEL")


def unreachable() -> Chat:
    return ScriptedChat(failing(down=True))


@pytest.mark.parametrize("make", [no_such_model, unreachable])
def test_a_model_that_is_not_there_rests_and_the_sweeps_of_all_owners_go_on(
    reviews: Reviews, live: Live, server: RedisServer, make: Callable[[], Chat]
) -> None:
    owners = owners_in(0, 3)
    for owner in owners:
        reviews.tell(owner, *fading(2), created("A chat", "chat", tier="episode", category="fact"))
    wait_until(live.folded)
    served = Served(server.url, make)
    served.upkeep(0)
    assert served.chat.rests
    assert len([fact for fact, _ in served.told if fact == "reviewing stopped"]) == 1
    for owner in owners:
        decided = [(event.type, event.data.memory_id) for event in reviews.decided(owner)]
        assert ("MemoryDeleted", "chat") in decided
        assert not any(memory_id.startswith("m") and kind != "MemoryCompressed" for kind, memory_id in decided)
        assert reviews.judged(owner) == []


def test_a_job_that_is_stopped_keeps_what_was_answered_and_another_goes_on(
    reviews: Reviews, live: Live, server: RedisServer
) -> None:
    (owner,) = owners_in(0, 1)
    reviews.tell(owner, *fading(6))
    wait_until(live.folded)

    def says(_asked: dict[str, Any]) -> dict[str, Any]:
        served.stop.set()
        return KEEP

    chat = ScriptedChat(says)
    served = Served(server.url, lambda: chat)
    served.upkeep(0)
    assert [fact for fact, _ in served.told] == ["job postponed"]
    assert len(reviews.judged(owner)) == len(chat.asked) == 1
    wait_until(live.folded)
    chat.says = keeps
    served.stop.clear()
    served.upkeep(0)
    assert (len(reviews.judged(owner)), len(chat.asked)) == (6, 6)


def test_once_its_time_is_over_the_rest_is_left_to_the_next_run(reviews: Reviews) -> None:
    reviews.tell("ada", *fading(6))
    chat = ScriptedChat()
    enough = reviews.by(chat, enough=lambda: len(chat.asked) == 2)
    done = enough.carry_out("ada", REVIEW, now=at(DAY))
    assert (done.appended, done.left_open, len(chat.asked)) == (2, 4, 2)


# --- over the wire -------------------------------------------------------------------------------------------------


def data_in(asked: Asked) -> dict[str, Any]:
    """What a request asks about."""
    prompt = next(one["content"] for one in asked.body["messages"] if one["role"] == "user")
    found: dict[str, Any] = json.JSONDecoder().raw_decode(prompt, prompt.index("{"))[0]
    return found


@pytest.fixture
def endpoint() -> Iterator[ModelEndpoint]:
    with model_endpoint() as running:
        yield running


@pytest.mark.parametrize("output", ["tool", "native", "prompted"])
def test_a_model_behind_http_is_asked_told_what_is_wrong_and_followed(
    reviews: Reviews, endpoint: ModelEndpoint, output: Any
) -> None:
    reviews.tell("ada", *fading(3))
    endpoint.answers(lambda asked: only(DELETE, "m1")(data_in(asked)))
    endpoint.replies[:0] = [completion({"content": "Sure! I promote it."})]
    chat = ModelChat("m-1", url=endpoint.url, output=output, pause=lambda _seconds: None)
    try:
        done = ReviewJob(reviews.lifecycle, lambda: ModelReviewer(chat), "model m-1").carry_out(
            "ada", REVIEW, now=at(DAY)
        )
    finally:
        chat.close()
    assert {one.ids[0]: one.action for one in done.decisions} == {"m0": "keep", "m1": "delete", "m2": "keep"}
    assert (done.requests, done.left_open, done.failure) == (4, 0, None)


def test_a_job_worker_of_these_settings_asks_the_model(
    reviews: Reviews, live: Live, server: RedisServer, endpoint: ModelEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    reviews.tell("ada", *fading(3))
    wait_until(live.folded)
    endpoint.answers(lambda asked: only(DELETE, "m1")(data_in(asked)))
    for name, value in {"MODEL": "m-1", "MODEL_URL": endpoint.url, "REVIEWER": "model"}.items():
        monkeypatch.setenv(f"ENGRAMLOG_{name}", value)
    with scheduled(server.url, partitions=live.log.partitions), job_worker(server.url):
        wait_until(lambda: len(reviews.judged()) == 3)
    events = {event.data.memory_id: event.type for event in reviews.judged()}
    assert events == {"m0": "MemoryKept", "m1": "MemoryDeleted", "m2": "MemoryKept"}
