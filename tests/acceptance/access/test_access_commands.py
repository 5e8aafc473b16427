"""Keys, grants, and tokens made of keys, as people run the commands; a key is printed once, and never told on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jwt
import pytest

from engramlog_server.projections.access.keys import id_in
from tests.acceptance.helpers.cli import Cli
from tests.servers import Servers

USE = ["produce", "read", "correct", "delete", "review"]


@pytest.fixture
def cli(redis_servers: Servers, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", redis_servers.get("valkey").url)
    return Cli(monkeypatch, capsys)


def made(cli: Cli, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = cli.json("key", "new", *words)
    return found


def test_the_first_key_is_one_command_which_prints_it_with_what_to_do(cli: Cli) -> None:
    assert "keys: none" in cli("access", "--keys").out
    told = cli("key", "new", "support", "--can", "use", "--owners", "team/*", "--days", "90", "--reason", "desk")
    key, said = told.out.removesuffix("\n"), told.err  # so that `> FILE` leaves a file with a key and nothing else
    assert id_in(key) is not None
    assert "shown only once" in said
    assert f"{', '.join(USE)} of team/*" in said
    assert key not in said


def test_a_key_is_told_by_no_other_command(cli: Cli) -> None:
    key = made(cli, "support", "--can", "read", "--owners", "alice")["key"]
    for words in (
        ["access", "--keys"],
        ["access"],
        ["access", "--reads"],
        ["grant", "support", "--none"],
        ["key", "revoke", key[4:12]],
    ):
        told = cli(*words)
        assert key[13:56] not in told.out + told.err


def test_a_key_without_grants_says_that_it_opens_nothing_yet(cli: Cli) -> None:
    assert "客服 has no grants." in cli("key", "new", "客服").err
    told = cli("grant", "客服", "--can", "read", "--owners", "爱丽丝", "--mode", "review").out
    assert "read of 爱丽丝; by normal, review" in told
    assert "So it was already." in cli("grant", "客服", "--can", "read", "--owners", "爱丽丝", "--mode", "review").out


def test_the_list_of_keys_tells_state_and_end_and_grants_in_words(cli: Cli) -> None:
    first = made(cli, "support", "--can", "read,reveal", "--owners", "alice", "--until", "2999-01-01T00:00:00Z")
    cli("key", "revoke", first["key_id"], "--reason", "lost")
    second = made(cli, "support")
    rows = {line.split()[1]: line for line in cli("access", "--keys").out.splitlines() if line.startswith("support")}
    assert "revoked" in rows[first["key_id"]]
    assert "live" in rows[second["key_id"]]
    assert "read, reveal of alice; up to sensitivity 3" in rows[second["key_id"]]
    assert "revoked    no" in cli("key", "revoke", first["key_id"]).out


def test_of_a_principal_two_keys_live_at_most(cli: Cli) -> None:
    keys = [made(cli, "support")["key_id"] for _ in range(2)]
    told = cli("key", "new", "support", code=2).err
    assert all(one in told for one in keys)


def test_access_is_told_for_any_day_with_who_said_so(cli: Cli) -> None:
    before = cli.json("access")["at"]
    made(cli, "support", "--can", "read", "--owners", "alice", "--reason", "desk")
    assert cli.json("access", "--as-of", before)["principals"] == []
    told = cli("access").out
    assert "GrantsSet" in told
    assert "desk" in told
    (one,) = cli.json("access", "--principal", "support")["principals"]
    assert [grant["owners"] for grant in one["grants"]] == [["alice"]]


def test_all_grants_come_out_of_a_file_and_replace_those_before(cli: Cli, tmp_path: Path) -> None:
    made(cli, "support", "--can", "use", "--owners", "*")
    file = tmp_path / "grants.json"
    file.write_text(json.dumps([{"verbs": ["read"], "owners": ["alice"]}, {"verbs": ["produce"], "owners": ["bob"]}]))
    told = cli.json("grant", "support", "--grants", str(file))
    assert [(one["verbs"], one["owners"]) for one in told["grants"]] == [(["read"], ["alice"]), (["produce"], ["bob"])]
    assert cli.json("grant", "support", "--none")["grants"] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("key", "new", "local"), "which is the store's own side"),
        (("key", "new", "a b"), "principal: got 'a b'"),
        (("key", "new", "x", "--can", "reed", "--owners", "y"), "--can: got 'reed'"),
        (("key", "new", "x", "--can", "read", "--owners", ":access"), "none of the store's own"),
        (("key", "new", "x", "--can", "admin", "--owners", "y"), "* alone"),
        (("key", "new", "x", "--days", "0"), "--days: got 0"),
        (("key", "new", "x", "--days", "1", "--until", "2999-01-01T00:00:00Z"), "one end"),
        (("key", "new", "x", "--until", "2001-01-01T00:00:00Z"), "an instant in the future"),
        (("key", "revoke", "zzzzzzzz"), "engramlog access --keys"),
        (("grant", "x"), "--can with --owners, --grants FILE, or --none"),
        (("grant", "x", "--none", "--can", "read"), "one of the two"),
        (("key", "narrow"), "--can with --owners, or --grants FILE"),
        (("key", "narrow", "--can", "read", "--owners", "y", "--minutes", "0"), "minutes"),
        (("key", "narrow", "--can", "read", "--owners", "y"), "key: got nothing"),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(cli: Cli, words: tuple[str, ...], said: str) -> None:
    assert said in cli(*words, code=2).err


def test_a_token_is_made_of_the_key_of_the_environment_a_file_or_standard_input(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    key = made(cli, "support", "--can", "read", "--owners", "alice")["key"]
    file = tmp_path / "key"
    file.write_text(f"{key}\n")
    words = ("key", "narrow", "--can", "read", "--owners", "alice", "--for", "爱丽丝", "--minutes", "5")
    tokens = [cli.json(*words, "--key-file", str(file)), cli.json(*words, "--key-file", "-", stdin=key.encode())]
    monkeypatch.setenv("ENGRAMLOG_KEY", key)
    tokens.append(cli.json(*words))
    assert cli("status").code == 0  # a key in the environment is no slip of a setting
    for one in tokens:
        said = jwt.decode(one["token"], options={"verify_signature": False})
        assert (one["key_id"], one["subject"], said["sub"]) == (key[4:12], "爱丽丝", "爱丽丝")
        assert said["exp"] - said["iat"] == 300
    assert cli(*words).out.count(".") == 2


def test_a_key_with_a_slip_makes_no_token_and_is_not_shown(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    key = made(cli, "support")["key"]
    monkeypatch.setenv("ENGRAMLOG_KEY", key[:-1] + ("0" if key[-1] != "0" else "1"))
    told = cli("key", "narrow", "--can", "read", "--owners", "alice", code=2)
    assert "a mistyped key" in told.err
    assert key[13:56] not in told.err
