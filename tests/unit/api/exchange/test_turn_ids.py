"""Turn ids that stand twice in a file: told once, with both places, before anything that could be known is written."""

from __future__ import annotations

import orjson
import pytest

from engramlog_server.api.exchange.turns import ImportOptions, import_turns, look_through
from engramlog_server.events.errors import InputError
from tests.acceptance.helpers.cli import lines, turn
from tests.given.records import new_log
from tests.rows import each_row

ONE_OWNER = ImportOptions(owner="ada")


def numbered_anew(conversations: int = 2, turns: int = 3) -> list[bytes]:
    """Conversations that number their turns from 0 each."""
    said = [turn(n, f"{c} said {n}", f"talk-{c}") for c in range(conversations) for n in range(turns)]
    return lines(said).splitlines()


def test_an_id_of_two_conversations_under_one_owner_is_told_with_both_places_and_the_cure() -> None:
    with pytest.raises(InputError) as told:
        look_through(numbered_anew(), ONE_OWNER)
    assert told.value.message == (
        "turn_id 't0' stands in lines 1 and 4, of conversations talk-0 and talk-1: import each with its own --owner, or leave"
        " --owner out"
    )
    assert (told.value.exit_code, told.value.context["lines"]) == (2, [1, 4])


def test_an_import_that_can_read_its_lines_only_once_stops_at_the_first_such_id() -> None:
    answer = import_turns(new_log(), numbered_anew(), ONE_OWNER)
    assert (answer.turns, answer.done.conflicts, answer.done.exit_code) == (3, [], 2)
    assert answer.done.error is not None
    assert "stands in lines 1 and 4" in answer.done.error.message


def test_an_id_of_one_conversation_for_two_turns_is_told_without_talk_of_owners() -> None:
    with pytest.raises(InputError, match="lines 1 and 2, with different contents: give every turn"):
        look_through(lines([turn(1, "tea"), turn(1, "milk")]).splitlines(), ImportOptions())


def test_a_field_that_names_few_owners_is_told_of_too() -> None:
    said = lines([turn(1, "tea", "talk-0", user="ada"), turn(1, "milk", "talk-1", user="ada")]).splitlines()
    with pytest.raises(InputError, match="or with --owner-from conversation"):
        look_through(said, ImportOptions(owner_from="user"))


@each_row(
    ("said", "options"),
    [
        (numbered_anew(), ImportOptions()),
        ([*numbered_anew(1), *numbered_anew(1)], ONE_OWNER),
        (lines([turn(1, "tea"), turn(1, " "), turn(1, "x" * 70_000), turn(2, "tea")]).splitlines(), ONE_OWNER),
        (
            lines(
                [turn(1, "tea"), turn(1, "tea", occurred_at="2026-01-05T16:00:01+08:00", sesion="x", session="s1")]
            ).splitlines(),
            ONE_OWNER,
        ),
    ],
    ids=["an owner each", "said twice", "blank and too long ones", "the same instant in another zone"],
)
def test_what_is_no_clash_is_imported(said: list[bytes], options: ImportOptions) -> None:
    look_through(said, options)
    answer = import_turns(new_log(), said, options)
    assert (answer.done.error, answer.done.conflicts) == (None, [])


def test_a_look_ends_at_a_line_that_is_no_turn_and_leaves_it_to_the_import() -> None:
    said = [*numbered_anew(1), b"\xff", *numbered_anew(2)]
    look_through(said, ONE_OWNER)
    answer = import_turns(new_log(), said, ONE_OWNER)
    assert (answer.turns, answer.done.exit_code) == (3, 2)


def test_ids_are_remembered_up_to_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engramlog_server.api.exchange.turns.MOST_KEPT", 2)
    look_through(lines([turn(n % 3, f"{n}") for n in (0, 1, 2, 5)]).splitlines(), ONE_OWNER)
    with pytest.raises(InputError, match="lines 1 and 4"):
        look_through(lines([turn(n, f"{n}") for n in range(3)] + [turn(0, "tea")]).splitlines(), ONE_OWNER)


def test_fields_that_nobody_reads_are_counted() -> None:
    said = lines([turn(1, "tea", sesion="s2"), turn(2, "milk", sesion="s2", mood=1), turn(3, "x")]).splitlines()
    assert import_turns(new_log(), said, ImportOptions()).as_dict()["ignored_fields"] == {"sesion": 2, "mood": 1}
    named = [orjson.dumps(orjson.loads(said[2]) | {"user": "ada"})]
    assert import_turns(new_log(), named, ImportOptions(owner_from="user")).ignored_fields == {}


def test_a_conflict_with_what_is_in_the_log_names_its_turn() -> None:
    log = new_log()
    import_turns(log, lines([turn(1, "tea")]).splitlines(), ONE_OWNER)
    answer = import_turns(log, lines([turn(1, "milk")]).splitlines(), ONE_OWNER).as_dict()
    assert [(one["line"], one["turn_id"]) for one in answer["conflicts"]] == [(1, "t1"), (1, "t1")]
