"""Exporting an owner: which memories, what a line holds, and the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from engramlog_server.api.choices import ASKED_FOR
from engramlog_server.api.exchange.export import ExportOptions, line_of, selection
from engramlog_server.api.exchange.record_shapes import OF_THE_LOG
from engramlog_server.events.catalogue import Imported
from engramlog_server.events.errors import InputError
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.views.event_words import UNTOLD, Telling
from tests.given.events import (
    Story,
    accessed,
    at,
    created,
    deleted,
    folded,
    linked,
    memory,
    mentioned,
    merged,
    negated,
    parameters,
    purged,
    reinforced,
    unmerged,
)
from tests.given.exports import LIVED, SECRET, export_lines, export_text, exported, imported, text_of, view_of
from tests.rows import each_row

EVERYTHING = ExportOptions(include=ASKED_FOR, reveal=True)
FALLEN: dict[str, Story] = {
    "deleted": memory.given(created(), deleted(day=1)),
    "superseded": memory.given(created(), negated(day=1, resolution="latest_wins")),
    "negated": memory.given(created(), negated(day=1, resolution="version_keep")),
    "sensitive": memory.given(created(SECRET)),
    "purged": memory.given(created(), deleted(day=1), purged(day=40)),
}


# --- which memories -------------------------------------------------------------------------------------------------


@each_row("reason", FALLEN)
def test_what_does_not_stand_is_left_out_and_counted_by_its_reason(reason: str) -> None:
    found = selection(view_of(FALLEN[reason].events))
    assert (found.memories, found.left_out) == ((), {reason: 1})


@each_row("reason", ["deleted", "superseded", "negated"])
def test_what_no_longer_stands_is_told_where_asked_for_with_its_status(reason: str) -> None:
    [line] = exported(FALLEN[reason], include=[reason])
    status = {"negated": "kept_version"}.get(reason, reason)
    assert (line["content"], line["status"]) == ("I like coffee", status)


def test_what_faded_by_a_doubtful_negation_is_left_out_as_negated() -> None:
    story = memory.given(created(), negated(day=1, resolution="weight_balance"))
    assert selection(view_of(story.events)).left_out == {"negated": 1}


def test_a_secret_is_told_only_where_it_is_to_be_revealed() -> None:
    assert exported(FALLEN["sensitive"], include=ASKED_FOR) == []
    assert [line["content"] for line in exported(FALLEN["sensitive"], reveal=True)] == [SECRET]


def test_what_is_purged_is_never_told() -> None:
    assert list(export_lines(view_of(FALLEN["purged"].events), EVERYTHING)) == []


def test_a_deleted_secret_stays_out_until_both_are_asked_for() -> None:
    story = memory.given(created(SECRET), deleted(day=1))
    asked: list[dict[str, Any]] = [{"include": ["deleted"]}, {"reveal": True}]
    assert [exported(story, **options) for options in asked] == [[], []]
    assert len(exported(story, include=["deleted"], reveal=True)) == 1


def test_of_a_merge_the_merged_one_goes_along_and_its_sources_stay() -> None:
    story = memory.given(created(), created("I like tea", of="tea"), merged("m", "tea", day=1))
    found = selection(view_of(story.events))
    assert ([one.id for one in found.memories], found.left_out) == (["all"], {"merged": 2})
    undone = selection(view_of(story.given(unmerged(day=2)).events))
    assert ([one.id for one in undone.memories], undone.left_out) == (["m", "tea"], {"retired": 1})


def test_the_sources_of_a_deleted_merge_are_deleted_with_it() -> None:
    story = memory.given(created(), created(of="tea"), merged("m", "tea", day=1), deleted("all", day=2))
    assert selection(view_of(story.events)).left_out == {"deleted": 3}


def test_memories_come_oldest_first() -> None:
    story = memory.given(created(of="b", day=2), created(of="c", day=1), created(of="a", day=2))
    assert [line["memory_id"] for line in exported(story)] == ["c", "b", "a"]


def test_only_what_is_named_is_exported_and_names_of_nothing_are_counted() -> None:
    story = memory.given(created(of="a"), created(of="b", day=1), created(of="c", day=2), deleted("c", day=3))
    found = selection(view_of(story.events), ExportOptions(ids=["b", "c", "b", "gone"]))
    assert ([one.id for one in found.memories], found.left_out) == (["b"], {"deleted": 1, "unknown": 1})


@each_row(
    "asked", [{"ids": ["a"], "everything": True}, {"ids": [str(one) for one in range(1_001)]}, {"ids": ["no space"]}]
)
def test_names_that_cannot_be_asked_for_are_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        selection(view_of(LIVED.events), ExportOptions(**asked))
    assert caught.value.context["field"] == "ids"


def test_a_reason_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        selection(view_of(LIVED.events), ExportOptions(include=["forgotten"]))
    told = "deleted, merged, retired, set_aside, rejected, proposed, superseded, negated, rejections"
    assert caught.value.context["allowed"] == told


# --- what a line holds ----------------------------------------------------------------------------------------------


def test_a_line_holds_what_a_creation_can_carry() -> None:
    _, line = exported(LIVED)
    history = folded(*LIVED.events).memories["m"]
    counters = line.pop("imported")
    assert line == {
        "engramlog": 1,
        "memory_id": "m",
        "created_at": "2024-01-02T08:00:00Z",
        "content": "I like espresso",
        "summary": "espresso",
        "category": "stable_preference",
        "kind": "preference",
        "tier": "core",
        "importance": history.importance,
        "confidence": 0.9,
        "source": "user",
        "speaker": "Ada 艾达",
        "keywords": ["espresso"],
        "tags": ["drinks"],
        "emotion": -0.25,
        "project": "kitchen",
        "task": "T-7",
        "session": "morning",
        "modality": "audio",
        "sensitivity": 1,
        "verified": True,
        "source_turns": ["t1", "t2"],
        "corrects": "tea",
        "summarises": ["a", "b"],
    }
    assert counters == {
        "access_count": 3,
        "last_accessed_at": "2024-01-05T20:00:00Z",
        "updated_at": "2024-01-09T08:00:00Z",
        "stability": history.stability,
        "last_reinforced_at": "2024-01-07T08:00:00Z",
        "reinforce_count": history.reinforce_count,
        "mention_count": 2,
        "associations": [{"memory_id": "tea", "weight": 0.5, "link": "semantic"}],
    }


def test_what_has_no_value_is_not_in_the_line() -> None:
    [line] = exported(memory.given(created()))
    assert not {"summary", "speaker", "keywords", "emotion", "status", "corrects"} & set(line)


def test_an_association_to_a_memory_that_is_left_out_is_left_out_too() -> None:
    story = memory.given(created(), created(SECRET, of="key"), linked("m", "key", day=1))
    assert "associations" not in exported(story)[0]["imported"]
    assert [edge["memory_id"] for edge in exported(story, reveal=True)[0]["imported"]["associations"]] == ["key"]


@each_row(("told", "modality"), [(("audio", "text"), "text"), (("audio", "image"), "audio")])
def test_of_several_modalities_text_is_told_or_else_the_first(told: tuple[str, str], modality: str) -> None:
    story = memory.given(created(modality=told[0]), mentioned(day=1, modality=told[1]))
    assert exported(story)[0]["modality"] == modality


def test_numbers_beyond_what_the_door_lets_in_are_held_at_its_bounds() -> None:
    story = memory.given(
        parameters(manual_stability=8_760.0, use_boost=9.5, boost_daily_limit=10.0),
        created(of="stable", day=1),
        created(of="boosted", day=1),
        reinforced("boosted", day=2),
    )
    stable, boosted = exported(story)
    assert (stable["imported"]["stability"], boosted["importance"]) == (8_760.0, 10.0)
    assert imported([stable, boosted])[0].exit_code == 0


def test_a_keyword_that_grew_in_lower_case_is_cut_to_what_the_door_lets_in() -> None:
    [line] = exported(memory.given(created(keywords=("ß" * 60,))))
    assert line["keywords"] == ["s" * 100]
    assert imported([line])[0].exit_code == 0


# --- the text -------------------------------------------------------------------------------------------------------


def test_the_text_tells_each_memory_with_its_dates_weight_and_level() -> None:
    story = memory.given(
        created("I like coffee\nand cake", of="m", speaker="Ada", keywords=("coffee",)),
        created("I like tea", of="tea", day=1, category="fact"),
        mentioned("tea", day=2),
        deleted("m", day=9),
        created(SECRET, of="key"),
    )
    assert "".join(export_text(view_of(story.events), at(12), ExportOptions(include=["deleted"]))) == (
        "# Memories of ada\n"
        "\n"
        "2 memories at 2024-01-13T08:00:00Z, weights by the weighted law; left out: 1 sensitive\n"
        "\n"
        "## m\n"
        "\n"
        "> I like coffee\n"
        "> and cake\n"
        "\n"
        "- weight: 1.1901, level full\n"
        "- status: deleted since 2024-01-10T08:00:00Z\n"
        "- created: 2024-01-01T08:00:00Z\n"
        "- mentioned: 1 time, last active 2024-01-01T08:00:00Z\n"
        "- shown: never\n"
        "- is: stable_preference, kind preference, tier fact, confidence 0.6\n"
        "- from: user, Ada\n"
        "- keywords: coffee\n"
        "\n"
        "## tea\n"
        "\n"
        "> I like tea\n"
        "\n"
        "- weight: 1.3141, level full\n"
        "- created: 2024-01-02T08:00:00Z\n"
        "- mentioned: 2 times, last active 2024-01-03T08:00:00Z\n"
        "- shown: never\n"
        "- is: fact, kind preference, tier fact, confidence 0.6\n"
        "- from: user\n"
    )


def test_a_text_cannot_steer_a_terminal_or_begin_a_block_of_its_own() -> None:
    story = memory.given(created("\thello\x1b[2J\n# Memories of bo\n\n## x\u202e\ufe01 ❤\ufe0f", tags=["A\nB"]))
    text = "".join(export_text(view_of(story.events), at(1)))
    assert "\n> \thello␛[2J\n> # Memories of bo\n>\n> ## x\ufffd\ufffd ❤\ufe0f\n" in text
    assert "A␊B" in text


def test_accesses_are_told_also_where_nobody_knows_the_last_of_them() -> None:
    story = memory.given(
        created(of="a", imported=Imported(access_count=5)), created(of="b"), accessed("b", day=1, count=2)
    )
    text = "".join(export_text(view_of(story.events), at(9)))
    assert [line for line in text.splitlines() if "shown" in line] == [
        "- shown: 5 times",
        "- shown: 2 times, last 2024-01-02T08:00:00Z",
    ]


def test_a_replaced_memory_is_told_with_its_end_and_its_successor() -> None:
    story = memory.given(
        created(), created("I hate coffee", of="n", day=5), negated(day=5, resolution="latest_wins", replaced_by="n")
    )
    text = "".join(export_text(view_of(story.events), at(9), ExportOptions(include=["superseded"])))
    assert "- status: superseded since 2024-01-06T08:00:00Z, replaced by n\n" in text


def test_an_owner_of_nothing_has_a_text_too() -> None:
    assert "".join(export_text(view_of([]), at(0))).endswith(
        "0 memories at 2024-01-01T08:00:00Z, weights by the weighted law\n"
    )


# --- what the log holds of them -------------------------------------------------------------------------------------

LATE = Telling("user", None, "2024-09-20T08:00:00Z", "local", 263 * 86_400.0)


def test_a_line_tells_when_its_memory_was_recorded_by_whom_and_how_late() -> None:
    (one,) = view_of([created()]).columns.memories
    line = line_of(one, (), LATE)
    assert {name: line[name] for name in OF_THE_LOG} == {
        "recorded_at": "2024-09-20T08:00:00Z",
        "principal": "local",
        "late_by": 263 * 86_400.0,
    }
    assert not set(OF_THE_LOG) & line_of(one, ()).keys()


def test_a_line_of_a_log_that_tells_more_is_imported_as_the_same_record() -> None:
    lines = list(export_lines(view_of([created()])))
    answer, _ = imported([*lines, *(line | {"recorded_at": "2024-09-20T08:00:00Z", "late_by": 9.5} for line in lines)])
    assert (answer.records, answer.repeated, answer.duplicates, answer.ignored_fields) == (1, 1, [], {})


def test_the_text_marks_what_was_recorded_late() -> None:
    view = view_of([created(of="a"), created(of="b", day=1)])

    def made(memories: Sequence[Memory]) -> Iterator[tuple[Memory, Telling]]:
        return ((one, LATE if one.id == "b" else UNTOLD) for one in memories)

    text = "".join(text_of(view, at(300), selection(view), made))
    assert text.count("later") == 1
    assert "- created: 2024-01-02T08:00:00Z, recorded 263 days later" in text
