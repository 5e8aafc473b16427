"""The job `abstract` with a language model: rules first, then proposals, once, and what that took."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engramlog_server.consumers.jobs.reviewing import AbstractionJob, AbstractionRun
from engramlog_server.events.catalogue import FactAsserted
from engramlog_server.events.errors import ModelFailed
from engramlog_server.projections.models.chat import ModelUsage
from tests.doubles.scripted_chat import Says, ScriptedChat
from tests.given.events import Told, at, created, negated
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
