"""What options of a command say that somebody may do, as the grants they make."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.api.cli.commands.access import NAMES, SHORT, VERBS, grants_asked, written_out
from engramlog_server.events.errors import InputError
from engramlog_server.projections.access.caller import VERBS as OF_THE_CATALOGUE
from engramlog_server.projections.access.keys import grants_of
from engramlog_server.projections.choices import VERBS_OF_ACCESS
from tests.rows import each_row


def asked(**told: Any) -> Any:
    """The grants of these options, others as they are where they are not told."""
    lists = {"can", "owners", "speak_as"}
    return grants_asked({name: told.get(name, [] if name in lists else None) for name in NAMES})


def test_the_verbs_are_those_of_the_catalogue_each_with_what_it_lets_do() -> None:
    assert tuple(VERBS_OF_ACCESS) == VERBS == OF_THE_CATALOGUE
    assert min(map(len, VERBS_OF_ACCESS.values())) > 15
    assert {verb for stands in SHORT.values() for verb in stands} == set(VERBS)


def test_without_any_option_nothing_is_said() -> None:
    assert asked() is None


def test_verbs_and_owners_are_told_with_commas_or_again_and_each_once() -> None:
    made = {"verbs": ["produce", "read"], "owners": ["team/*", "alice"]}
    assert asked(can=["read,produce", "read"], owners=["team/*, alice", "alice"]) == [made]


def test_a_short_form_stands_for_its_verbs_in_the_order_of_the_table() -> None:
    (made,) = asked(can=["use"], owners=["alice"])
    assert made["verbs"] == ["produce", "read", "correct", "delete", "review"]
    assert asked(can=["everything"], owners=["*"])[0]["verbs"] == list(VERBS)


@each_row(
    ("mode", "modes"),
    [("normal", ["normal"]), ("review", ["normal", "review"]), ("debug", ["normal", "review", "debug"])],
)
def test_the_widest_mode_is_named_and_has_the_narrower_ones(mode: str, modes: list[str]) -> None:
    assert asked(can=["read"], owners=["alice"], mode=mode)[0]["modes"] == modes


def test_who_may_reveal_is_told_secrets_unless_it_is_said_otherwise() -> None:
    assert asked(can=["read,reveal"], owners=["alice"])[0]["sensitivity"] == 3
    assert asked(can=["read,reveal"], owners=["alice"], sensitivity=2)[0]["sensitivity"] == 2
    assert "sensitivity" not in asked(can=["read"], owners=["alice"])[0]


def test_what_is_asked_is_a_grant_of_the_services() -> None:
    told = asked(can=["read"], owners=["客服/*"], speak_as=["user"], trust="inferred", sensitivity=1)
    (grant,) = grants_of(told)
    assert (grant.owners, grant.actors, grant.trust, grant.sensitivity) == (("客服/*",), ("user",), "inferred", 1)


def test_a_key_s_holder_is_an_assistant_whose_word_is_inferred_unless_it_is_said_otherwise() -> None:
    (made,) = written_out(asked(can=["use"], owners=["alice"])) or []
    assert (made["actors"], made["trust"]) == (["assistant"], "inferred")
    (made,) = written_out(asked(can=["use"], owners=["alice"], speak_as=["user,assistant"], trust="asserted")) or []
    assert (made["actors"], made["trust"]) == (["user", "assistant"], "asserted")
    assert written_out(asked()) is None


def test_a_stored_grant_that_leaves_both_out_keeps_its_meaning() -> None:
    (grant,) = grants_of([{"verbs": ["produce"], "owners": ["alice"]}])
    assert (grant.actors, grant.trust) == (("user", "assistant"), "asserted")


def test_all_grants_come_out_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "grants.json"
    grants = [{"verbs": ["read"], "owners": ["alice"]}, {"verbs": ["produce"], "owners": ["bob"]}]
    file.write_text(json.dumps(grants))
    assert asked(grants=file) == grants


@each_row(
    ("told", "field"),
    [
        ({"can": ["reed"], "owners": ["alice"]}, "can"),
        ({"owners": ["alice"]}, "can"),
        ({"can": ["read"]}, "owners"),
        ({"can": [","], "owners": ["alice"]}, "can"),
        ({"can": ["read"], "owners": ["alice"], "mode": "all"}, "mode"),
        ({"mode": "review"}, "can"),
    ],
)
def test_what_makes_no_grant_is_refused_by_its_option(told: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as refusal:
        asked(**told)
    assert refusal.value.context["field"] == field


@each_row("holds", ["", "{}", "[", '{"verbs": ["read"]}', "[" * 100_000])
def test_a_file_that_holds_no_list_of_grants_is_refused(tmp_path: Path, holds: str) -> None:
    file = tmp_path / "grants.json"
    file.write_text(holds)
    with pytest.raises(InputError) as refusal:
        asked(grants=file)
    assert refusal.value.context["field"] == "grants"


def test_a_file_that_is_not_there_or_is_told_beside_other_options_is_refused(tmp_path: Path) -> None:
    for told in ({"grants": tmp_path / "none.json"}, {"grants": tmp_path, "can": ["read"]}):
        with pytest.raises(InputError) as refusal:
            asked(**told)
        assert refusal.value.context["field"] == "grants"
