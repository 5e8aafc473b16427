"""The jobs `abstract` and `merge` with a language model: rules first, then what it says, once, and what that took."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from engramlog_server.consumers.jobs.opened import JobResources, Lent, OpenedStore
from engramlog_server.consumers.jobs.reviewing import AbstractionJob, AbstractionRun
from engramlog_server.consumers.jobs.run import daily
from engramlog_server.events.catalogue import FactAsserted
from engramlog_server.events.errors import ModelFailed
from engramlog_server.events.partitions import partition_of
from engramlog_server.events.redis.server import connect
from engramlog_server.projections.embedding.choosing import Embedders
from engramlog_server.projections.models.chat import ModelUsage
from tests.doubles.scripted_chat import Says, ScriptedChat
from tests.given.events import Told, at, created, negated
from tests.integration.consumers.jobs.test_embedding import Vectors
from tests.integration.consumers.jobs.test_lifecycle_jobs import Jobs
from tests.integration.live import live_store
from tests.patience import PATIENCE
from tests.servers import RedisServer

JOB = ("abstract",)
RUNS = [
    created("Ada ran along the river", "a", 0, category="fact"),
    created("Ada ran in the park", "b", 3, category="fact"),
    created("Ada ran ten kilometres", "c", 9, category="fact"),
]
CLAIM = {"patterns": [{"statement": "Ada ran along the river and in the park", "evidence": ["M1", "M2", "M3"]}]}


class Abstractions(Jobs):
    """A live store in which a scripted model looks for patterns."""

    def run(self, says: Says, owner: str = "ada", jobs: tuple[str, ...] = JOB) -> tuple[AbstractionRun, ScriptedChat]:
        chat = ScriptedChat(says)
        return AbstractionJob(self.lifecycle, self.lifecycle, lambda: chat).carry_out(owner, jobs, now=at(20)), chat


@pytest.fixture
def jobs(server: RedisServer) -> Iterator[Abstractions]:
    with live_store(server.url, partitions=2) as store:
        store.start_worker("folder")
        made = Abstractions(store)
        yield made
        made.views.close()


def claims(_asked: dict[str, Any]) -> dict[str, Any]:
    return CLAIM


def test_what_a_model_finds_is_proposed_once_and_what_that_took_is_told(jobs: Abstractions) -> None:
    jobs.tell("ada", *RUNS)
    done, chat = jobs.run(claims)
    told = done.as_dict()
    assert (told["counts"], told["appended"]) == ({"abstract": 1}, 1)
    assert told["abstraction"] == {
        "model": "scripted-1",
        "questions": 1,
        "requests": 1,
        "input_tokens": 100,
        "output_tokens": 10,
        "failure": None,
    }
    pattern_id = told["decisions"][0]["ids"][0]
    with jobs.views.view("ada", after=jobs.live.log.owner_head("ada"), wait_seconds=PATIENCE) as (view, _):
        made = view.get(pattern_id)
        assert made is not None
        assert (made.trust, made.source, made.summarises) == (0, "judge", ("a", "b", "c"))
    assert len(chat.asked) == 1
    again, _ = jobs.run(claims)
    assert again.as_dict()["appended"] == 0


def test_a_dry_run_asks_nothing_and_another_job_no_model(jobs: Abstractions) -> None:
    jobs.tell("ada", *RUNS)
    chat = ScriptedChat(claims)
    job = AbstractionJob(jobs.lifecycle, jobs.lifecycle, lambda: chat)
    planned = job.plan("ada", JOB, now=at(20)).as_dict()
    assert (planned["decisions"], planned["abstraction"]["questions"], chat.asked) == ([], 1, [])
    assert "abstraction" not in jobs.run(claims, jobs=("link",))[0].as_dict()


def test_an_answer_that_cannot_be_used_proposes_nothing_and_is_told(jobs: Abstractions) -> None:
    jobs.tell("ada", *RUNS)
    lie = {"patterns": [{"statement": "Ada won 42 medals", "evidence": ["M1", "M2", "M3"]}]}
    done, chat = jobs.run(lambda _asked: lie)
    told = done.as_dict()
    assert (told["appended"], told["abstraction"]["requests"], len(chat.refusals)) == (0, 3, 3)
    assert told["abstraction"]["failure"] == "no answer that can be used"


def test_where_the_endpoint_is_down_no_further_question_is_asked(jobs: Abstractions) -> None:
    jobs.tell("ada", *RUNS, *(created(f"Bob swam, {n}", f"x{n}", n, speaker="Bob") for n in range(4)))

    class Down(ScriptedChat):
        def ask(self, *_args: Any, **_given: Any) -> tuple[Any, ModelUsage]:
            raise ModelFailed("no answer", down=True, usage=(4, 0, 0))

    job = AbstractionJob(jobs.lifecycle, jobs.lifecycle, Down)
    told = job.carry_out("ada", JOB, now=at(20)).as_dict()["abstraction"]
    assert (told["questions"], told["requests"], told["failure"]) == (1, 4, "no answer")


def test_what_was_said_while_the_model_thought_is_not_decided_over(jobs: Abstractions) -> None:
    jobs.tell("ada", *RUNS)

    def says(_asked: dict[str, Any]) -> dict[str, Any]:
        jobs.tell("ada", negated("b", day=15))
        return CLAIM

    assert jobs.run(says)[0].as_dict()["appended"] == 0


def test_rules_and_model_make_no_two_patterns_of_the_same_evidence(jobs: Abstractions) -> None:
    facts = [
        Told(FactAsserted(subject="Ada", predicate="likes", object="running", evidence=(one,)), 9, "judge")
        for one in "abc"
    ]
    jobs.tell("ada", *RUNS, *facts)
    told = jobs.run(claims)[0].as_dict()
    assert told["counts"] == {"abstract": 1}
    assert told["decisions"][0]["reason"] == "3 memories of 3 days say the same"


# --- the daily job

COFFEE = ("I drink coffee every morning at home", "Every single morning at home I drink coffee first")
TEA = ("I drink tea every evening in bed", "In bed I drink tea first, every single evening")


class Daily(Vectors):
    """A live store with vectors, whose daily job has a model."""

    def run(self, url: str, chat: ScriptedChat, reviewer: str = "model") -> int:
        """How many questions it was asked."""
        before = len(chat.asked)
        embedders = Lent(lambda: Embedders.alone(lambda: self.embedder))
        served = JobResources(
            url, 10.0, lambda *_told, **_facts: None, threading.Event(), embedders, Lent(lambda: chat), reviewer
        )
        queue = connect(url)
        with closing(queue), closing(OpenedStore(served, self.live.identity.store_id, "job:daily", queue)) as opened:
            daily(opened, partition_of("ada", 2))
        return len(chat.asked) - before

    def write(self, day: int, *texts: str) -> None:
        """New statements and their vectors."""
        self.tell("ada", *(created(text, f"m{day + n}", day + n, category="fact") for n, text in enumerate(texts)))
        self.job.carry_out("ada")


@pytest.fixture
def stood(server: RedisServer) -> Iterator[Daily]:
    with live_store(server.url, partitions=2) as live:
        live.start_worker("folder")
        made = Daily(live)
        yield made
        made.views.close()
        made.vectors.close()


def apart(_asked: dict[str, Any]) -> dict[str, Any]:
    return {"groups": []}


def alike(_asked: dict[str, Any]) -> dict[str, Any]:
    return {"groups": [{"same": ["M1", "M2"], "summary": COFFEE[0]}]}


def test_the_daily_job_asks_a_configured_model_about_each_group_once(stood: Daily, server: RedisServer) -> None:
    stood.write(0, *COFFEE)
    chat = ScriptedChat(apart)
    assert stood.run(server.url, chat, reviewer="rule") == 0
    assert [stood.run(server.url, chat), stood.run(server.url, chat)] == [1, 0]
    stood.write(5, *TEA)
    assert stood.run(server.url, chat) == 1
    assert sorted(one["text"] for one in chat.asked[-1]["memories"]) == sorted(TEA)


def test_a_merge_that_the_model_confirms_to_the_daily_job_waits_for_the_user(stood: Daily, server: RedisServer) -> None:
    stood.write(0, *COFFEE)
    assert stood.run(server.url, ScriptedChat(alike)) == 1
    with stood.views.view("ada", after=stood.live.log.owner_head("ada"), wait_seconds=PATIENCE) as (view, _):
        assert [bool(one.waiting) for one in view.columns.memories] == [True, True]


def test_a_model_that_says_yes_to_everything_merges_nothing_that_differs_in_a_number(
    stood: Daily, server: RedisServer
) -> None:
    stood.write(0, "I drink 2 coffees every morning at home", "I drink 3 coffees every morning at home")
    lie = {"groups": [{"same": ["M1", "M2"], "summary": "I drink coffees every morning at home"}]}
    assert stood.run(server.url, ScriptedChat(lambda _asked: lie)) == 1
    with stood.views.view("ada", after=stood.live.log.owner_head("ada"), wait_seconds=PATIENCE) as (view, _):
        states = [(bool(one.waiting), one.merged_into) for one in view.columns.memories]
    assert states == [(False, None), (False, None)]


def test_where_the_model_was_down_the_daily_job_asks_again(stood: Daily, server: RedisServer) -> None:
    stood.write(0, *COFFEE)

    def down(_asked: dict[str, Any]) -> dict[str, Any]:
        raise ModelFailed("no answer", down=True)

    assert stood.run(server.url, ScriptedChat(down)) == 1
    assert stood.run(server.url, ScriptedChat(apart)) == 1
