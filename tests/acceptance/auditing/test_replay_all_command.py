"""`engramlog replay --all` as people give it and as it is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.helpers.cli import Cli, event, lines
from tests.servers import Servers

AT = ("--at", "2026-01-06T00:00:00Z")


@pytest.fixture
def cli(
    redis_servers: Servers, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Cli:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", redis_servers.get("valkey").url)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    return Cli(monkeypatch, capsys)


@pytest.fixture
def told(cli: Cli) -> Cli:
    """Coffee and tea of two users; an assistant's advice to one of them, and a third who was told nothing by anybody else."""
    cli(
        "append",
        "-",
        stdin=lines(
            [
                event(0, memory_id="coffee", content="I drink coffee") | {"session_id": "s1"},
                event(1, memory_id="tea", content="I drink tea") | {"session_id": "s2"},
                event(2, memory_id="advice", content="drink water") | {"actor": "assistant"},
                event(3, "bo", memory_id="coffee", content="I drink coffee") | {"session_id": "s1"},
                event(4, "团队", memory_id="tea", content="我喝茶") | {"session_id": "s3"},
            ]
        ),
    )
    return cli


BAD: list[tuple[tuple[str, ...], str, str]] = [
    # (words, what is named, what is allowed)
    ((), "--set: got nothing", "a parameter, a profile or something to leave out"),
    (("--query", "coffee"), "--set: got nothing", "else nothing would be read otherwise"),
    (("ada", "--set", "alpha_base=0.2"), "owner: got 'ada'", "no owner, because --all is given"),
    (("--set", "no_such=1"), "set no_such: got '1'", "alpha_base"),
    (("--set", "user_factor=99"), "set user_factor: got '99'", "a number from 0.1 to 10"),
    (("--profile", "none"), "profile: got 'none'", "weighted"),
    (("--without", "3:128"), "without: got '3:128'", "an event or a position is one owner's"),
    (("--without-actor", "ghost"), "--without-actor: got 'ghost'", "assistant"),
    (("--without-session", "s1", "--mode", "debug"), "mode: got 'debug'", "it tells of normal mode"),
    (("--without-session", "s1", "--most", "5"), "most: got 5", "no list that has pages"),
    (("--without-session", "s1", "--offset", "5"), "offset: got 5", "no list that has pages"),
    (("--without-session", "s1", "--after", "3:1"), "after: got '3:1'", "a position is one owner's"),
    (("--without-session", "s1", "--as-of", "3:128"), "--as-of: got '3:128'", "a position is one owner's"),
    (("--without-session", "s1", "--known", "3:128"), "known: got '3:128'", "a position is one owner's"),
    (("--without-session", "s1", "--as-of", "yesterday"), "--as-of: got 'yesterday'", "12:00:00Z, or a day"),
    (("--without-session", "s1", "--known", "2026-02-30"), "known: got '2026-02-30'", "a day of the calendar"),
    (("--without-session", "s1", "--at", "soon"), "at: got 'soon'", "RFC 3339"),
    (("--without-session", "s1", "--query", ""), "query: got ''", "10,000 characters"),
    (("--without-session", "s1", "--limit", "0"), "limit: got 0", "1 to 100"),
    (("--without-session", "s1", "--processes", "0"), "processes: got 0", "1 to 64"),
    (("--without-session", "s1", "--processes", "65"), "processes: got 65", "1 to 64"),
    (
        ("--without-session", "s1", "--queries", "no-such-file"),
        "queries: got 'no-such-file'",
        "a file that can be read",
    ),
]


@pytest.mark.parametrize(
    ("words", "named", "allowed"), BAD, ids=lambda one: " ".join(one) if type(one) is tuple else ""
)
def test_bad_input_is_refused_by_its_name(cli: Cli, words: tuple[str, ...], named: str, allowed: str) -> None:
    """Also where there is no owner whose replay would refuse it."""
    err = " ".join(cli("replay", "--all", *words, code=2).err.split())
    assert named in err
    assert allowed in err


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--set", "alpha_base=0.2"), "owner: got nothing; allowed: an owner's name, or --all"),
        (("ada", "--processes", "2"), "processes: got 2; allowed: nothing without --all"),
    ],
)
def test_without_all_an_owner_is_named_and_nothing_of_all_is(cli: Cli, words: tuple[str, ...], named: str) -> None:
    assert named in " ".join(cli("replay", *words, code=2).err.split())


def test_it_is_printed_in_figures(told: Cli) -> None:
    printed = told("replay", "--all", "--without-actor", "assistant", "--query", "water", *AT).out
    said = " ".join(printed.split())
    for words in (
        "normal mode",
        "owners 3 changed 1 untouched 2 events 5 struck 1 memories 5 memories that differ 1",
        "shown today 5 shown then 4",
        "why went not there 1",
        "order of the heaviest ten orders 3, changed 1, first 1, went 1",
        "water 1 1 1 0 1",
        "ada 1 0 1",
        "processes 1",
    ):
        assert words in said, printed


def test_weights_and_fields_are_told(told: Cli) -> None:
    said = " ".join(told("replay", "--all", "--set", "alpha_base=0.2", *AT).out.split())
    assert "memories that differ 5" in said
    assert "changed fields weight 5" in said
    assert "heavier 0 lighter 5 largest change -" in said


def test_json_tells_what_was_asked_and_all_figures(told: Cli) -> None:
    answer = told.json("replay", "--all", "--without-session", "s1", "--without-session", "s3", "--alone", *AT)
    assert (answer["strikes"], answer["alone"], answer["at"]) == ({"without_sessions": ["s1", "s3"]}, True, AT[1])
    assert (answer["owners"], answer["changed"], answer["untouched"]) == (3, 3, 0)
    assert (answer["vanish"], answer["went"], answer["why_went"]) == (3, 3, {"not_there": 3})
    assert [one["owner"] for one in answer["most"]] == ["ada", "bo", "团队"]
    assert (answer["left_out"], answer["quarantined"]) == ({}, 0)
