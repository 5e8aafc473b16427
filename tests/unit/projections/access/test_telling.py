"""Up to what a caller is told of an owner: mode and sensitivity of grants that let do both at once."""

from __future__ import annotations

from typing import Any

from engramlog_server.projections.access.caller import AT_THE_FOLDER, Caller, ToldUpTo, telling_of
from engramlog_server.projections.access.keys import as_grant
from tests.rows import each_row

ALL = ["normal", "review", "debug"]


def caller(*layers: list[dict[str, Any]]) -> Caller:
    return Caller("agent", tuple(tuple(as_grant(one) for one in layer) for layer in layers), "abcdefgh")


def reads(*modes: str, most: int = 2, owners: str = "alice") -> dict[str, Any]:
    return {"verbs": ["read"], "owners": [owners], "modes": list(modes), "sensitivity": most}


def test_whoever_is_unlimited_is_told_all() -> None:
    assert telling_of(AT_THE_FOLDER, "read", "alice") is None


def test_whoever_reads_by_every_mode_is_told_all_but_secrets() -> None:
    assert telling_of(caller([reads(*ALL)]), "read", "alice") is None


@each_row("modes", [["normal"], ["review"], ["normal", "review"]])
def test_what_the_widest_of_his_modes_hides_is_hidden(modes: list[str]) -> None:
    assert telling_of(caller([reads(*modes)]), "read", "alice") == ToldUpTo(modes[-1], 2)  # type: ignore[arg-type]


def test_a_wider_mode_of_less_sensitivity_is_had_only_where_it_is_asked_for() -> None:
    who = caller([reads("normal", most=2), reads("debug", most=1)])

    assert telling_of(who, "read", "alice") == ToldUpTo("normal", 2)
    assert telling_of(who, "read", "alice", "normal") == ToldUpTo("normal", 2)
    assert telling_of(who, "read", "alice", "debug") == ToldUpTo("debug", 1)


def test_a_grant_of_another_owner_adds_nothing() -> None:
    who = caller([reads("normal", most=1), reads(*ALL, most=2, owners="bob")])

    assert telling_of(who, "read", "alice") == ToldUpTo("normal", 1)
    assert telling_of(who, "read", "bob") is None


def test_a_token_is_told_no_more_than_the_least_of_it_and_its_key() -> None:
    key = [reads(*ALL, most=2)]

    assert telling_of(caller(key, [reads("normal", most=1)]), "read", "alice") == ToldUpTo("normal", 1)
    assert telling_of(caller([reads("normal", most=1)], [reads(*ALL, most=2)]), "read", "alice") == ToldUpTo(
        "normal", 1
    )


def test_modes_that_key_and_token_do_not_share_count_for_nothing() -> None:
    found = telling_of(caller([reads("normal", most=1)], [reads("debug", most=2)]), "read", "alice")

    assert found is not None
    assert found.most == -1


def test_whoever_may_not_read_is_told_nothing() -> None:
    found = telling_of(caller([reads("normal") | {"verbs": ["produce"]}]), "read", "alice")

    assert found is not None
    assert found.most < 0
