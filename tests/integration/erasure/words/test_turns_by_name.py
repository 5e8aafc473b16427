"""Turns are erased by their ids, of a real store: with a memory or without one, of one session among several."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.events.errors import InputError, NotFound
from engramlog_server.ops.erasure.machine import ErasureCertificate, carry_out
from engramlog_server.ops.erasure.plan import ErasurePlan, words_plan
from engramlog_server.ops.settings import load_settings
from engramlog_server.ops.store import open_the_store
from engramlog_server.ops.wiring import application_on
from tests.acceptance.helpers.cli import Cli, lines

TURNS = {
    ("s1", "t1"): "I like the quagga of the old museum",
    ("s2", "t1"): "that old quagga again, of the museum",
    ("s1", "t2"): "I live in Leipzig, beside an ocelot",
}


def line(number: int, type_: str, session: str, actor: str = "user", **data: Any) -> dict[str, Any]:
    return {
        "event_id": f"019cec00-0000-7000-8000-{number:012x}",
        "type": type_,
        "owner": "ada",
        "occurred_at": f"2026-01-0{number}T09:00:00Z",
        "actor": actor,
        "session_id": session,
        "data": data,
    }


def told() -> list[dict[str, Any]]:
    """Three turns, one of which is a memory, and of which another was read."""
    said = [
        line(number, "TurnRecorded", session, turn_id=turn, role="user", text=text)
        for number, ((session, turn), text) in enumerate(TURNS.items(), 1)
    ]
    home = {"category": "identity", "kind": "episode", "source": "user", "source_turns": ["t2"]}
    read = {"category": "identity", "kind": "fact", "source": "judge", "source_turns": ["t2"]}
    return [
        *said,
        line(4, "MemoryCreated", "s1", memory_id="turn", content=TURNS["s1", "t2"], **home),
        line(5, "MemoryCreated", "s1", "judge", memory_id="city", content="lives near an ocelot", **read),
    ]


@pytest.fixture
def folder(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("ENGRAMLOG_REDIS_URL", raising=False)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    assert cli.json("append", "-", stdin=lines(told()))["appended"] == 5
    return tmp_path / "data"


def erase(*ids: str) -> tuple[dict[str, Any], ErasureCertificate]:
    """What was told beforehand, and the certificate."""
    settings, plan = load_settings(), ErasurePlan("ada", ids, "other")
    with open_the_store(settings) as store, application_on(store, settings, stays=False) as application:
        return words_plan(application, store, plan), carry_out(store, settings, plan, application)


def test_a_turn_of_one_session_goes_and_the_one_of_another_stays(cli: Cli, folder: Path) -> None:
    with pytest.raises(InputError, match="a turn of one session alone: s1/t1, s2/t1"):
        erase("t1")
    with pytest.raises(NotFound, match="ids of memories or turns of owner"):
        erase("s3/t1")
    assert not (folder / "erasures.jsonl").exists()
    plan, done = erase("s2/t1")
    assert plan["goes"]["turns"] == [{"id": "t1", "session": "s2", "why": "it is named"}]
    assert [(one["of"], one["how"]) for one in plan["elsewhere"]["says_it_too"]] == [("s1/t1", "words")]
    assert (done.memories, done.turns, done.events, done.verified, done.not_proven) == (0, 1, 1, True, [])
    events = json.dumps(cli.json("events", "ada"))
    assert TURNS["s2", "t1"] not in events
    assert TURNS["s1", "t1"] in events
    assert (cli.json("verify")["ok"], cli.json("verify")["wordless"]) == (True, 1)
    again = [line(8, "TurnRecorded", "s2", turn_id="t1", role="user", text="quagga")]
    refused = cli.json("append", "-", stdin=lines(again), code=2)
    assert "the words under this one were erased for good" in json.dumps(refused)
    assert cli.json("append", "-", stdin=lines(told()))["already_appended"] == 5


def test_with_a_turn_goes_the_memory_that_is_it_and_what_a_deletion_of_that_takes_along(cli: Cli, folder: Path) -> None:
    plan, done = erase("t2")
    gone = {one["id"]: one["why"] for one in plan["goes"]["memories"]}
    assert gone == {"turn": "it is turn t2", "city": "made of turn t2"}
    assert (done.memories, done.turns, done.events, done.verified) == (2, 1, 3, True)
    assert "ocelot" not in json.dumps([cli.json("events", "ada"), cli.json("list", "ada", "--mode", "debug")])
    assert cli.json("verify")["ok"]
