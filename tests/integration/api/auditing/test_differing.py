"""What changed between two moments: by whom and why, whatever happened between, and nothing of what may not be told."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from engramlog_server.api.work import Patience, with_patience
from engramlog_server.events.catalogue import SensitivitySet
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import BeyondHead, DeadlineExceeded, InputError
from tests.acceptance.helpers.store import Store, day
from tests.given.events import (
    Told,
    accessed,
    created,
    deleted,
    mentioned,
    merged,
    negated,
    parameters,
    profile,
    purged,
    revised,
)
from tests.rows import each_row

Answer = dict[str, Any]


def diff(store: Store, owner: str, since: str, until: str | None = None, **asked: Any) -> Answer:
    return dict(store.app.differ.diff(owner, since=since, until=until, **asked))


def between(
    store: Store, *events: Told, first: tuple[Told, ...] = (), **asked: Any
) -> tuple[Answer, dict[str, Answer]]:
    """What these events changed, and each memory of it by id; `first`: what was told before them."""
    owner = store.owner()
    begin = store.tell(owner, *(first or (created("I like coffee", "coffee"), created("我喜欢茶", "tea"))))
    end = store.tell(owner, *events)
    answer = diff(store, owner, begin, end, **asked)
    return answer, {one["id"]: one for one in answer["memories"]}


def kinds(told: dict[str, Answer]) -> dict[str, tuple[str, str]]:
    return {name: (one["kind"], one["cause"]) for name, one in told.items()}


# --- what happened between


def test_a_late_negation_is_told_with_who_said_it_when_and_why(store: Store) -> None:
    answer, told = between(
        store, negated("coffee", 20, resolution="latest_wins", reason="the doctor said so"), queries=["coffee", "茶"]
    )
    assert kinds(told) == {"coffee": ("changed", "events")}
    one = told["coffee"]
    assert (one["before"]["is_negated"], one["after"]["is_negated"]) == (False, True)
    (cause,) = one["causes"]
    assert (cause["decision"], cause["actor"], cause["principal"]) == ("negate", "user", "local")
    assert (cause["said_reason"], cause["time"], cause["side"]) == ("the doctor said so", day(20), "after")
    assert cause["late_by"] > 86_400
    assert cause["recorded_at"] > cause["time"]
    assert answer["by_principal"] == [{"principal": "local", "actor": "user", "events": 1}]
    assert one["ranks"] == [{"question": 0, "before": 1, "after": None}]
    assert [question["moved"] for question in answer["questions"]] == [
        [{"id": "coffee", "before": 1, "after": None, "passed": None}],
        [],
    ]


def test_a_revision_tells_the_text_before_and_after(store: Store) -> None:
    _, told = between(store, revised("我喜欢龙井茶", of="tea", day=3))
    assert (told["tea"]["was"], told["tea"]["memory"], told["tea"]["fields"]) == (
        "我喜欢茶",
        "我喜欢龙井茶",
        ["content"],
    )


def test_what_was_purged_between_is_gone_though_every_past_reads_it_as_purged(store: Store) -> None:
    first = (created("the key is under the mat", "gone"), created("tea", "tea"))
    answer, told = between(store, deleted("gone", 2, reason="it is under the mat"), purged("gone", 60), first=first)
    assert kinds(told) == {"gone": ("gone", "events")}
    assert (told["gone"]["before"]["status"], told["gone"]["memory"]) == ("purged", None)
    assert answer["counts"]["gone"] == 1
    assert "under the mat" not in str(answer)


def test_what_was_deleted_is_gone_and_what_was_deleted_since_is_marked(store: Store) -> None:
    owner = store.owner()
    begin = store.tell(owner, created("I like coffee", "coffee"))
    middle = store.tell(owner, created("I like tea", "tea", day=1), deleted("coffee", 2))
    store.tell(owner, deleted("tea", 3))
    told = {one["id"]: one for one in diff(store, owner, begin, middle)["memories"]}
    assert {name: (one["kind"], one["deleted_since"]) for name, one in told.items()} == {
        "coffee": ("gone", False),
        "tea": ("made", True),
    }
    assert told["tea"]["memory"] == "I like tea"


def test_a_merge_tells_its_sources_as_changed_by_it(store: Store) -> None:
    _, told = between(store, merged("coffee", "tea", into="both", day=2))
    assert kinds(told) == {"both": ("made", "events"), "coffee": ("changed", "events"), "tea": ("changed", "events")}
    assert told["coffee"]["after"]["status"] == "merged"


def test_another_law_is_a_change_of_the_owner_and_moves_weights_by_it(store: Store) -> None:
    answer, told = between(store, parameters(1, long_ago=False), profile("ebbinghaus", 2), everything=True)
    changed = answer["owner_changes"]
    assert changed["profile"] == {"before": "weighted", "after": "ebbinghaus"}
    assert changed["parameters"] == {"long_ago": {"before": True, "after": False}}
    assert [cause["decision"] for cause in changed["causes"]] == ["profile", "parameters"]
    assert {one["cause"] for one in told.values()} == {"owner"}
    assert answer["by_principal"] == [{"principal": "local", "actor": "operator", "events": 2}]


def test_a_rejected_value_is_told_without_its_words_elsewhere(store: Store) -> None:
    owner = store.owner()
    begin = store.tell(owner, created("I have a dog", "dog"), created("I have a cat", "cat"))
    store.writer.negate(owner, "dog", never=True)
    answer = diff(store, owner, begin)
    told = {one["id"]: one for one in answer["memories"]}
    assert (told["dog"]["after"]["status"], told["dog"]["after"]["shown"]) == ("rejected", False)
    assert told["dog"]["cause"] in ("events", "owner")
    assert "cat" not in told


def test_being_shown_moves_weights_and_is_told_as_that(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, profile("ebbinghaus"), created("I like coffee", "coffee"), created("I like tea", "tea"))
    store.tell(owner, accessed("coffee", day=1), accessed("coffee", day=2))
    answer = diff(store, owner, day(0.5), day(2.5), line="happened", everything=True)
    told = {one["id"]: one for one in answer["memories"]}
    assert told["coffee"]["cause"] == "access"
    assert [(cause["event"], cause["decision"]) for cause in told["coffee"]["causes"]] == [
        ("MemoriesAccessed", "access")
    ] * 2
    assert told["tea"]["cause"] == "time"
    assert (answer["counts"]["by_access"], answer["counts"]["by_time"]) == (1, 1)


def test_many_events_about_one_memory_are_told_five_at_a_time_with_how_many_more(store: Store) -> None:
    _, told = between(store, *(mentioned("tea", day=number) for number in range(1, 9)))
    assert (len(told["tea"]["causes"]), told["tea"]["more_causes"]) == (5, 3)
    assert [cause["time"] for cause in told["tea"]["causes"]] == [day(number) for number in (8, 7, 6, 5, 4)]


# --- the two lines


def test_the_line_of_what_happened_puts_a_late_event_where_it_happened(store: Store) -> None:
    owner = store.owner()
    known = store.tell(owner, created("I like coffee", "coffee", day=0))
    store.tell(owner, negated("coffee", 10, resolution="latest_wins"))
    happened = diff(store, owner, day(5), day(15), line="happened")
    assert [(one["id"], one["kind"]) for one in happened["memories"]] == [("coffee", "changed")]
    assert diff(store, owner, day(11), day(15), line="happened")["counts"]["changed"] == 0
    # as known before the negation was recorded, nothing happened to it
    assert diff(store, owner, day(5), day(15), line="happened", known=known)["counts"]["changed"] == 0
    # on the line of what was known, of what had happened by day 5 nothing was ever corrected
    assert diff(store, owner, known, as_of=day(5))["counts"]["changed"] == 0
    assert diff(store, owner, known, as_of=day(15))["counts"]["changed"] == 1


def test_an_import_of_one_day_tells_where_else_to_look(store: Store) -> None:
    owner = store.owner()
    position = store.tell(owner, *(created(f"tea {n}", f"m{n}", day=n) for n in range(4)))
    asked = diff(store, owner, day(1.5))
    told = "memories that were made, gone or changed: 2 on the line happened (--line happened, line=happened), 4 on this one"
    assert (asked["total"], asked["on_other_line"], asked["hint"]) == (4, 2, told)
    other = diff(store, owner, day(1.5), line="happened")
    assert (other["counts"]["made"], other["on_other_line"]) == (2, 4)
    assert "4 on the line known" in other["hint"]
    for held in ({"since": position}, {"since": day(1.5), "as_of": day(9)}):
        alone = diff(store, owner, **held)
        assert (alone["on_other_line"], alone["hint"]) == (None, None)
    fresh = store.owner()
    today = store.tell(fresh, created("tea", "tea", day=store.yesterday + 1))
    assert diff(store, fresh, today)["hint"] is None


def test_two_moments_before_the_import_tell_where_else_to_look(store: Store) -> None:
    """An import of one day, and a word of another: of the years before both, the log knew nothing then, and much now."""
    owner = store.owner()
    store.tell(owner, *(created(f"tea {n}", f"m{n}", day=n) for n in range(4)))
    answer = diff(store, owner, day(1), day(3))
    assert (answer["total"], answer["after"]["events"]) == (0, 0)
    assert answer["on_other_line"] == 2
    assert "--line happened" in answer["hint"]
    assert diff(store, owner, day(-9), day(-5))["hint"] is None  # nothing had happened either


# --- pages, secrets, and who cannot be asked


def test_pages_are_the_whole_list_in_its_order(store: Store) -> None:
    owner = store.owner()
    begin = store.tell(owner, *(created(f"tea {n}", f"m{n}") for n in range(4)))
    store.tell(owner, created("new", "new", day=1), deleted("m0", 1), mentioned("m1", 2), mentioned("m2", 2))
    whole = diff(store, owner, begin)
    assert [one["kind"] for one in whole["memories"]] == ["made", "gone", "changed", "changed"]
    pages = [diff(store, owner, begin, limit=1, offset=n)["memories"] for n in range(5)]
    assert [one["id"] for page in pages for one in page] == [one["id"] for one in whole["memories"]]
    assert whole["total"] == 4


def test_a_secret_is_told_to_differ_and_never_what_it_says(store: Store) -> None:
    first = (created("my PIN is 4711", "pin"), created("my street is called Elm", "told"))
    owner = store.owner()
    begin = store.tell(owner, *first)
    store.tell(
        owner,
        revised("my PIN is 4712", of="pin", day=1),
        revised("my street is called Oak", of="told", day=1),
        negated("pin", 2, reason="the new PIN is 4712"),
        Told(SensitivitySet(memory_id="told", level=3, reason="private"), 3),
    )
    answer = diff(store, owner, begin, queries=["my PIN is 4711"])
    for word in ("4711", "4712", "Elm", "Oak"):
        assert word not in str(answer)
    assert {one["id"] for one in answer["memories"]} == {"pin", "told"}


@each_row("line", ["known", "happened"])
def test_an_unknown_owner_has_nothing_that_differs_and_is_told_to_be_unknown(store: Store, line: str) -> None:
    answer = diff(store, "nobody", "2024-01-01", "2024-02-01", line=line)
    assert (answer["memories"], answer["before"]["events"]) == ([], 0)
    assert (
        answer["hint"]
        == "owner nobody has no events; `engramlog status --owners --search PART` finds owners by a part of the name"
    )


def test_a_quarantined_owner_is_answered_as_of_before_and_marked(store: Store) -> None:
    owner = store.owner()
    begin = store.tell(owner, created("I like coffee", "coffee"))
    store.tell(owner, mentioned("coffee", 1))
    stuck = store.poison(owner)
    answer = diff(store, owner, begin)
    assert answer["quarantined"]["position"] == stuck
    assert [one["id"] for one in answer["memories"]] == ["coffee"]


@each_row(
    ("asked", "field"),
    [
        ({"since": "2024-03-01", "until": "2024-02-01"}, "since"),
        ({"since": "2024-03-01", "until": "2024-02-01", "line": "happened"}, "since"),
        ({"since": "2999-01-01"}, "since"),
        ({"since": "yesterday"}, "since"),
        ({"since": "2024-01-01", "until": "soon"}, "until"),
        ({"since": "2024-01-01", "line": "both"}, "line"),
        ({"since": "2024-01-01", "line": "happened", "as_of": "2024-01-01"}, "as_of"),
        ({"since": "2024-01-01", "known": "2024-01-01"}, "known"),
        ({"since": "2024-01-01", "as_of": "never"}, "as_of"),
        ({"since": "2024-01-01", "mode": "all"}, "mode"),
        ({"since": "2024-01-01", "limit": 0}, "limit"),
        ({"since": "2024-01-01", "results": 0}, "results"),
        ({"since": "2024-01-01", "queries": ["tea"] * 21}, "queries"),
        ({"since": "2024-01-01", "queries": [""]}, "queries"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_the_name_of_the_field(store: Store, asked: Answer, field: str) -> None:
    owner = store.owner()
    store.tell(owner, created("tea", "tea"))
    with pytest.raises(InputError, match=rf"^{field}: "):
        store.app.differ.diff(owner, **asked)


def test_positions_are_refused_the_wrong_way_round_and_where_they_do_not_exist(store: Store) -> None:
    owner = store.owner()
    first = store.tell(owner, created("tea", "tea"))
    second = store.tell(owner, mentioned("tea", 1))
    with pytest.raises(InputError, match=r"^since: "):
        diff(store, owner, second, first)
    partition, seq = map(int, first.split(":"))
    (entry,) = store.app.log.read_at(partition, [seq])
    then = utc_text(from_micros(entry.recorded or 0))
    with pytest.raises(InputError, match=r"^since: "):
        diff(store, owner, second, then)
    assert diff(store, owner, then, second)["counts"]["changed"] == 1
    with pytest.raises(BeyondHead):
        diff(store, owner, f"{partition}:{seq + 1_000_000}")


def test_asking_writes_nothing_and_moves_no_weight(store: Store) -> None:
    owner = store.owner()
    begin = store.tell(owner, profile("ebbinghaus"), created("I like coffee", "coffee"))
    head, before = store.head(owner), store.reader.get(owner, "coffee", trace=False, at=day(50))
    diff(store, owner, begin, queries=["coffee"])
    store.flushed()
    assert store.head(owner) == head
    assert store.reader.get(owner, "coffee", trace=False, at=day(50))["weight"] == before["weight"]


def test_a_question_whose_time_is_over_is_stopped_and_leaves_the_owner_to_others(store: Store) -> None:
    owner = store.owner()
    begin = store.tell(owner, *(created(f"tea {n}", f"m{n}") for n in range(9)))
    store.tell(owner, *(mentioned(f"m{n}", 1) for n in range(9)))
    patience = Patience()
    patience.begin(-1)
    with with_patience(patience), pytest.raises(DeadlineExceeded):
        diff(store, owner, begin)
    assert diff(store, owner, begin)["counts"]["changed"] == 9


def test_two_moments_are_asked_by_many_at_once_and_answered_alike(store: Store) -> None:
    owner = store.owner()
    begin = store.tell(owner, *(created(f"tea {n}", f"m{n}") for n in range(9)))
    end = store.tell(owner, *(mentioned(f"m{n}", 1) for n in range(9)))
    with ThreadPoolExecutor(8) as threads:
        several = [threads.submit(diff, store, owner, begin, end, queries=["tea"]) for _ in range(16)]
        later = [threads.submit(store.tell, owner, mentioned("m1", 2 + n)) for n in range(4)]
        told = [one.result() for one in several]
        assert len([one.result() for one in later]) == 4
    assert all(one["memories"] == told[0]["memories"] for one in told)
    assert all(one["questions"] == told[0]["questions"] for one in told)


@each_row(("mode", "words"), [("normal", None), ("debug", "the key is under the mat")])
def test_the_words_of_what_was_deleted_before_either_moment_are_told_in_debug_mode_alone(
    store: Store, mode: str, words: str | None
) -> None:
    owner = store.owner()
    store.tell(owner, created("the key is under the mat", "gone", day=1), deleted("gone", 2))
    (told,) = diff(store, owner, day(3), day(40), line="happened", mode=mode, everything=True)["memories"]
    assert (told["id"], told["memory"], told["was"]) == ("gone", words, None)
