"""`engramlog episodes`: what sessions leave behind, once; found by search, told in a prompt."""

from __future__ import annotations

import pytest

from engramlog_server.events.errors import ModelFailed
from engramlog_server.ops.models import Model
from tests.acceptance.helpers.cli import Cli, lines

TURNS = [
    ("t1", "user", "The kiln broke on Friday and the fair is on Sunday."),
    ("t2", "assistant", "Oh no! That sounds stressful."),
    ("t3", "user", "A new kiln costs 900 euro. My password is hunter2-kiln."),
    ("t4", "user", "我周日要去集市卖陶器。"),
]
SAID = "The kiln broke on Friday and the fair is on Sunday. A new kiln costs 900 euro. 我周日要去集市卖陶器。"
TOLD = f"[2024-05-01 09:00] user: {SAID}"


@pytest.fixture
def cli(cli: Cli) -> Cli:
    turns = [
        {"turn_id": one, "occurred_at": f"2024-05-01T09:0{n}:00Z", "speaker": who, "text": text, "session": "s1"}
        for n, (one, who, text) in enumerate(TURNS)
    ]
    cli("import", "turns", "-", "--owner", "ada", stdin=lines(turns))
    return cli


def test_a_dry_run_tells_what_would_be_made_and_changes_nothing(cli: Cli) -> None:
    before = cli.json("stats", "ada")
    answer = cli.json("episodes", "ada", "--dry-run")
    assert [(one["content"], one["turns"]) for one in answer["episodes"]] == [(TOLD, ["t1", "t2", "t3", "t4"])]
    assert (answer["counts"], answer["appended"], answer["dry_run"]) == ({"summarise": 1}, 0, True)
    assert cli.json("stats", "ada") == before
    assert "A dry run" in cli("episodes", "ada", "--dry-run").out


def test_an_episode_is_made_once_and_is_an_ordinary_memory(cli: Cli) -> None:
    (made,) = cli.json("episodes", "ada")["episodes"]
    assert cli.json("episodes", "ada")["episodes"] == []
    assert "position" in cli("episodes", "ada").out
    listed = {one["id"]: one for one in cli.json("list", "ada", "--mode", "review")["memories"]}
    episode = listed[made["memory_id"]]
    assert (episode["memory"], episode["kind"]) == (TOLD, "episode")
    found = cli.json("search", "ada", "kiln fair Sunday", "--mode", "review", "-k", "20")["results"]
    assert made["memory_id"] in [one["id"] for one in found]
    why = cli.json("why", "ada", made["memory_id"])
    assert why["provenance"]["nodes"][0]["source_turns"] == ["t1", "t2", "t3", "t4"]
    assert "hunter2" not in str(why)


def test_a_model_that_the_settings_do_not_name_is_refused(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMLOG_SUMMARIES", "model")
    told = cli("episodes", "ada", code=2).err
    assert "ENGRAMLOG_SUMMARIES: got 'model'" in told
    assert "ENGRAMLOG_MODEL" in told


def test_a_model_that_cannot_be_reached_stops_it_in_a_clear_state(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    class Down:
        model = "down"

        def ask(self, *_asked: object) -> object:
            raise ModelFailed("nobody answers", down=True, usage=(1, 0, 0))

        @staticmethod
        def close() -> None:
            """Nothing is open."""

    monkeypatch.setattr(
        "engramlog_server.ops.wiring.model_of", lambda _settings, **_joined: Model(Down, summariser=Down)
    )
    answer = cli.json("episodes", "ada", code=3)
    assert (answer["episodes"], answer["down"], answer["failure"]) == ([], True, "nobody answers")
    assert "nobody answers" in cli("episodes", "ada", code=3).out
