"""What has words of what may not be told is withheld at once, whoever asks; nothing is folded or appended for it."""

from __future__ import annotations

import pytest

from engramlog_server.events.catalogue import (
    MemoryDeleted,
    MemoryPurged,
    MemoryUnmerged,
    SensitivityRaised,
    SensitivitySet,
)
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.views.quoting import all_as_told
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import Story, Told, created, deleted, folded, memory, merged, moment, rejected
from tests.given.views import viewed
from tests.rows import each_row

ACCOUNTS = ("pattern", "suggestion", "question", "episode")


def level(name: str, to: int, day: float = 9) -> Told:
    return Told(SensitivitySet(memory_id=name, level=to, reason="it is nobody's business"), day, "user")


def account(kind: str, *of: str) -> Story:
    return memory.given(
        created("I keep bees on the roof", "m0", 0),
        created("I sell honey", "m1", 1),
        created(
            "I keep bees on the roof; I sell honey", "sum", 5, kind=kind, source="system", summarises=of or ("m0", "m1")
        ),
    )


def levels(view: OwnerView, *names: str) -> list[int]:
    return [one.sensitivity for one in map(view.get, names) if one is not None]


@each_row("kind", ACCOUNTS)
def test_words_of_what_became_secret_are_secret_until_it_is_not(kind: str) -> None:
    story = account(kind)
    assert levels(viewed(*story.events), "sum", "m1") == [0, 0]
    story = story.given(level("m0", SECRET))
    assert levels(viewed(*story.events), "sum", "m1") == [SECRET, 0]
    story = story.given(level("m0", 0, 10))
    assert levels(viewed(*story.events), "sum", "m1") == [0, 0]


def test_a_view_that_goes_on_reads_as_one_that_is_made_anew() -> None:
    story = account("pattern")
    for change in (level("m0", 3), level("m0", 2, 10), level("m0", 0, 11), deleted("m1", 12)):
        before, story = viewed(*story.events), story.given(change)
        after = viewed(*story.events)
        before.follow(after.state, [after.as_folded(one) for one in after.columns])
        assert list(before.columns) == list(after.columns)
        assert before.columns.sensitivity.tolist() == after.columns.sensitivity.tolist()
        assert [before.as_folded(one) for one in before.columns] == [after.as_folded(one) for one in after.columns]


def test_what_is_sensitive_makes_the_account_as_sensitive() -> None:
    assert levels(viewed(*account("pattern").given(level("m1", 2)).events), "sum") == [2]


def test_an_account_of_an_account_too_and_two_that_name_each_other_end() -> None:
    story = account("pattern").given(
        created("about bees", "second", 6, kind="pattern", source="system", summarises=("sum", "third")),
        created("about the second", "third", 6, kind="pattern", source="system", summarises=("second",)),
        level("m0", SECRET),
    )
    assert levels(viewed(*story.events), "sum", "second", "third") == [SECRET] * 3
    assert levels(viewed(*story.given(level("m0", 0, 10)).events), "sum", "second", "third") == [0] * 3


def test_a_merge_has_words_of_what_it_joins() -> None:
    story = memory.given(
        created("I keep bees", "m0", 0),
        created("I keep bees on the roof", "m1", 1),
        merged("m0", "m1", into="both", day=2, summary="I keep bees on the roof"),
    )
    raised = Told(SensitivityRaised(memory_id="m1", level=SECRET, rules=99), 3, "system")
    assert levels(viewed(*story.given(raised).events), "both", "m0") == [SECRET, 0]


def test_what_was_merged_into_what_a_person_made_secret_is_so_too_until_he_judges_it_alone() -> None:
    story = memory.given(
        created("I keep bees", "m0", 0),
        created("I keep bees on the roof", "m1", 1),
        merged("m0", "m1", into="both", day=2, summary="I keep bees on the roof"),
        level("both", SECRET, 3),
    )
    assert levels(viewed(*story.events), "m0", "m1") == [SECRET, SECRET]
    apart = story.given(Told(MemoryUnmerged(into="both"), 4, "user"))
    assert levels(viewed(*apart.events), "both", "m0", "m1") == [SECRET] * 3
    assert levels(viewed(*apart.given(level("m0", 0, 5)).events), "both", "m0", "m1") == [SECRET, 0, SECRET]


@each_row(
    "gone",
    [
        pytest.param((MemoryDeleted(memory_id="m0"),), id="deleted by somebody, without its accounts"),
        pytest.param(
            (MemoryDeleted(memory_id="m0", policy="auto_cleanup"), MemoryPurged(memory_id="m0", due_at=moment(80))),
            id="purged",
        ),
    ],
)
def test_words_of_what_is_gone_are_not_told(gone: tuple[MemoryDeleted | MemoryPurged, ...]) -> None:
    story = account("pattern").given(*(Told(one, 50 + 40 * n, "operator") for n, one in enumerate(gone)))
    assert levels(viewed(*story.events), "sum") == [SECRET]


def test_what_is_deleted_along_reads_as_any_deleted_memory_until_what_it_is_made_of_is_purged() -> None:
    story = account("pattern").given(deleted("m0", 12), deleted("sum", 12))
    assert levels(viewed(*story.events), "sum") == [0]
    story = story.given(Told(MemoryPurged(memory_id="m0", due_at=moment(80)), 90, "operator"))
    assert levels(viewed(*story.events), "sum") == [SECRET]


def test_what_faded_by_itself_leaves_its_account_behind() -> None:
    story = account("pattern").given(Told(MemoryDeleted(memory_id="m0", policy="auto_cleanup"), 50, "system"))
    assert levels(viewed(*story.events), "sum") == [0]


def test_a_turn_that_a_person_made_secret_takes_its_episode_along_and_what_rules_found_does_not() -> None:
    story = memory.given(
        created("I keep bees", "t0", 0, source_turns=("t0",), kind="episode"),
        created("my password is hunter2-hunter2", "t1", 0, source_turns=("t1",), kind="episode"),
        created(
            "[08:00] I keep bees", "ep", 1, source_turns=("t0", "t1"), kind="episode", tier="episode", source="system"
        ),
    )
    assert levels(viewed(*story.events), "t1", "ep") == [SECRET, 0]
    assert levels(viewed(*story.given(level("t0", SECRET)).events), "ep", "t0") == [SECRET, SECRET]


def test_who_judges_the_words_of_the_account_later_has_the_last_word() -> None:
    story = account("pattern").given(level("m0", SECRET), level("sum", 0, 10))
    assert levels(viewed(*story.events), "sum") == [0]
    assert levels(viewed(*story.given(level("m1", SECRET, 11)).events), "sum") == [SECRET]


def test_a_judgement_on_the_way_is_weighed_against_each_piece_by_itself() -> None:
    story = memory.given(
        created("I keep bees", "m0", 0),
        created("bees", "mid", 1, kind="pattern", source="system", summarises=("m0",)),
        created("all about bees", "top", 2, kind="pattern", source="system", summarises=("mid",)),
        level("top", 0, 8),
        level("m0", SECRET, 10),
    )
    assert levels(viewed(*story.events), "m0", "mid", "top") == [SECRET] * 3
    story = story.given(level("mid", 0, 11))
    assert levels(viewed(*story.events), "m0", "mid", "top") == [SECRET, 0, 0]


def test_what_a_piece_has_from_its_merge_reaches_the_accounts_of_the_piece() -> None:
    story = account("pattern").given(merged("m0", "m1", into="both", day=6, summary="bees"), level("both", SECRET, 7))
    assert levels(viewed(*story.events), "both", "m0", "m1", "sum") == [SECRET] * 4
    story = story.given(Told(MemoryUnmerged(into="both"), 8, "user"), level("m0", 0, 9))
    assert levels(viewed(*story.events), "m0", "m1", "sum") == [0, SECRET, SECRET]
    assert levels(viewed(*story.given(level("m1", 0, 10)).events), "m0", "m1", "sum") == [0, 0, 0]


def episode(*turns: Told) -> Story:
    ep = created("[08:00] bees", "ep", 1, source_turns=("t0", "t1"), kind="episode", tier="episode", source="system")
    return memory.given(*turns, ep)


def turn(of: str, as_id: str = "") -> Told:
    return created(f"I keep bees, said in {of}", as_id or of, 0, source_turns=(of,), kind="episode")


def test_turns_that_are_secret_for_their_merge_hide_their_episode() -> None:
    story = episode(turn("t0"), turn("t1")).given(merged("t0", "t1", into="both", day=2), level("both", SECRET, 3))
    assert levels(viewed(*story.events), "t0", "t1", "ep") == [SECRET] * 3


def test_a_turn_whose_memory_has_another_id_hides_its_episode() -> None:
    story = episode(turn("t0", "elsewhere"), turn("t1")).given(level("elsewhere", SECRET))
    assert levels(viewed(*story.events), "ep", "t1") == [SECRET, 0]


def test_a_turn_that_somebody_deleted_hides_its_episode_while_that_stands() -> None:
    story = episode(turn("t0"), turn("t1")).given(deleted("t0", 12))
    assert levels(viewed(*story.events), "ep") == [SECRET]
    assert levels(viewed(*story.given(deleted("ep", 12)).events), "ep") == [0]


def test_of_two_judgements_at_one_time_the_stricter_counts() -> None:
    assert levels(viewed(*account("pattern").given(level("m0", SECRET, 9), level("sum", 0, 9)).events), "sum") == [3]


def test_records_that_lie_apart_read_as_in_the_view_also_where_a_piece_was_rejected() -> None:
    now = folded(*account("pattern").given(rejected("I sell honey", day=9)).events)
    told = all_as_told({"sum": now.memories["sum"]}, lambda ids: {one: now.memories[one] for one in ids})
    assert told["sum"].sensitivity == 0
    told = all_as_told(
        {"sum": now.memories["sum"]}, lambda ids: {one: now.memories[one] for one in ids}, lambda: now.owner.rejections
    )
    assert told["sum"].sensitivity == levels(OwnerView.of_history("ada", now), "sum")[0] == SECRET
