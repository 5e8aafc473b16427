"""Extraction right after a write: in which name, by what, and what happens if it fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event, Timer
from typing import Any

import orjson
import pytest

from engramlog_server.api.application import Application
from engramlog_server.api.checks import asked_by
from engramlog_server.api.mcp.connection import confined_to
from engramlog_server.api.services.jobs import Extractor
from engramlog_server.api.services.operating import Operator
from engramlog_server.api.services.remembering import NewTurn
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import ConcurrencyError
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.wiring import open_application
from tests.integration.live import wait_until

BERLIN, HIKING = NewTurn("user", "I live in Berlin."), NewTurn("user", "我喜欢爬山。")
Reports = list[dict[str, Any]]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path / "store", partitions=2, extraction="rules")


@pytest.fixture
def reports() -> Reports:
    return []


@pytest.fixture
def application(settings: Settings, reports: Reports) -> Iterator[Application]:
    with open_application(
        settings, "shared", tell=lambda fact, **facts: reports.append({"fact": fact, **facts})
    ) as one:
        yield one


def kinds(application: Application, owner: str = "ada") -> list[str]:
    return sorted(one["kind"] for one in application.reader.list(owner)["memories"])


def test_turns_become_statements_right_after_the_write(application: Application) -> None:
    application.rememberer.add_turns("ada", [BERLIN])
    wait_until(lambda: kinds(application) == ["episode", "fact"])
    chat = [
        {
            "id": "c",
            "created_at": utc_text(from_micros(application.log.now())),
            "messages": [{"role": "user", "content": "我喜欢爬山。"}],
        }
    ]
    application.chats.take_in_whole("ada", orjson.dumps(chat))
    wait_until(lambda: kinds(application) == ["episode", "episode", "fact", "user_preference"])


def test_a_question_waits_for_turns_of_its_owner_that_rules_are_about_to_read_and_not_for_others(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_read, extract = Event(), Extractor.extract

    def slow(extractor: Extractor, owner: str, by: str) -> dict[str, Any]:
        may_read.wait(10)
        return extract(extractor, owner, by)

    monkeypatch.setattr(Extractor, "extract", slow)
    monkeypatch.setattr("engramlog_server.ops.wiring.MOST_WAITED_SECONDS", 0.05)
    application.rememberer.add_turns("ada", [BERLIN])
    assert application.reader.search("bo", "Berlin")["results"] == []
    assert [one["kind"] for one in application.reader.search("ada", "Where is home?")["results"]] in ([], ["episode"])
    monkeypatch.setattr("engramlog_server.ops.wiring.MOST_WAITED_SECONDS", 30.0)
    Timer(0.2, may_read.set).start()
    assert "User lives in Berlin" in application.contexts.context("ada", "Where do I live?")["block"]


def test_a_turn_is_read_in_the_light_of_what_the_assistant_said_before_it(application: Application) -> None:
    asks = NewTurn("assistant", "Lovely. How many children do you have?")
    application.rememberer.add_turns(
        "ada", [NewTurn("user", "Hello!"), asks, NewTurn("user", "Two, and one on the way.")]
    )
    application.contexts.context("ada", "What about my children?")
    contents = [one["memory"] for one in application.reader.list("ada")["memories"]]
    assert [one for one in contents if one.startswith('User answered "How many children do you have?": Two, and one')]


def test_an_agents_update_is_applied_if_a_turn_of_the_user_says_it_and_waits_for_a_person_otherwise(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramlog_server.ops.wiring.MOST_WAITED_SECONDS", 30.0)
    known = {}
    for owner in ("ada", "bo"):
        known[owner] = application.rememberer.add(owner, "I live in Tokyo.", actor="user")["id"]
    application.rememberer.add_turns("ada", [NewTurn("user", "I have moved to Osaka.")])
    said, unsaid = (application.rememberer.add(one, "User lives in Osaka.", actor="assistant") for one in ("ada", "bo"))
    assert (said["waiting"], [one["id"] for one in unsaid["waiting"]]) == ([], [known["bo"]])
    read, waiting = (application.contexts.context(one, "Where is my home?")["block"] for one in ("ada", "bo"))
    assert ("Osaka" in read, "Tokyo" in read, "unconfirmed" in read) == (True, False, False)
    assert "unconfirmed, from the assistant: User lives in Osaka." in waiting
    assert "I live in Tokyo." in waiting


def test_a_command_extracts_before_it_ends(settings: Settings) -> None:
    with open_application(settings) as command:
        command.rememberer.add_turns("ada", [BERLIN])
    with open_application(settings) as command:
        assert kinds(command) == ["episode", "fact"]


def test_off_leaves_turns_unread(settings: Settings) -> None:
    off = settings.model_copy(update={"extraction": "off"})
    with open_application(off) as command:
        command.rememberer.add_turns("ada", [BERLIN])
    with open_application(off) as command:
        assert kinds(command) == ["episode"]


def test_statements_come_in_the_name_of_the_writer_if_this_key_may_read_and_is_not_revoked(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    def writes(key: dict[str, Any], owner: str) -> None:
        with asked_by(confined_to(key["key"])(application)):
            application.rememberer.add_turns(owner, [BERLIN])

    agent = application.keys.issue("agent", grants=[{"verbs": ["read", "produce"], "owners": ["*"]}])
    feed = application.keys.issue("feed", grants=[{"verbs": ["produce"], "owners": ["*"]}])
    gone = application.keys.issue("gone", grants=[{"verbs": ["read", "produce"], "owners": ["*"]}])
    add_turns = application.rememberer._turns_written

    def revoked_before(owner: str) -> None:
        if owner == "cy":
            application.keys.revoke(gone["key_id"])
        add_turns(owner)

    monkeypatch.setattr(application.rememberer, "_turns_written", revoked_before)
    for key, owner in ((agent, "ada"), (feed, "bo"), (gone, "cy"), (agent, "di")):
        writes(key, owner)
    wait_until(lambda: kinds(application, "di") == ["episode", "fact"])
    assert kinds(application, "ada") == ["episode", "fact"]
    assert {one["principal"] for one in application.events.events("ada")["events"]} == {"agent"}
    assert (kinds(application, "bo"), kinds(application, "cy")) == (["episode"], ["episode"])


def test_a_failure_of_one_owner_is_reported_and_the_next_write_extracts_all(
    application: Application, reports: Reports, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_extractor: Extractor, owner: str, _by: str) -> dict[str, Any]:
        raise ConcurrencyError(f"owner {owner} went on")

    with monkeypatch.context() as broken:
        broken.setattr(Extractor, "extract", fails)
        application.rememberer.add_turns("ada", [BERLIN])
        wait_until(lambda: [one for one in reports if one["fact"] == "turns not extracted"])
    [report] = [one for one in reports if one["fact"] == "turns not extracted"]
    assert (report["owner"], report["reason"], report["alarm"]) == ("ada", "owner ada went on", True)
    application.rememberer.add_turns("ada", [HIKING])
    wait_until(lambda: kinds(application) == ["episode", "episode", "fact", "user_preference"])


def test_a_model_is_left_to_the_job_worker(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(Operator, "status", lambda _: {"lifecycle": {"leader": None if asked else "a job worker"}})

    def extract(_extractor: Extractor, owner: str, by: str) -> dict[str, Any]:
        asked.append(f"{owner} by {by}")
        return {"read": 1}

    monkeypatch.setattr(Extractor, "extract", extract)
    by_model = settings.model_copy(update={"extraction": "model"})
    with open_application(by_model, "shared") as application:
        reading = application._turn_reading  # type: ignore[attr-defined]
        reading._pause_seconds = 0.0
        application.rememberer.add_turns("ada", [BERLIN])
        wait_until(lambda: not reading._owners)
        assert asked == []
        asked.append("no job worker now")
        application.rememberer.add_turns("bo", [BERLIN])
        wait_until(lambda: asked[1:] == ["bo by model"])
