"""Deleting many memories at once, as people do it on the command line (seed 003, "批量删除")."""

from __future__ import annotations

import pytest

from tests.acceptance.helpers.cli import Cli, event, flat, lines


def events_of(cli: Cli) -> int:
    return int(cli.json("status")["events"])


def many(cli: Cli) -> None:
    """m1 to m5 stand, name is core, rules is of the system, gone is deleted, a and b were merged into both."""
    ids = ["m1", "m2", "m3", "m4", "m5", "gone", "a", "b"]
    told = [event(number, memory_id=one) for number, one in enumerate(ids)]
    told += [event(20, memory_id="name", tier="core"), event(21, memory_id="rules", tier="system")]
    told += [event(22, type_="MemoryDeleted", memory_id="gone")]
    cli("append", "-", stdin=lines(told))
    cli("merge", "ada", "a", "b", "--into", "both")


@pytest.mark.parametrize(
    ("words", "stdin"),
    [
        (["m1", "m2", "m3"], ""),
        (["m1,m2,m3"], ""),
        (["m1, m2\nm3"], ""),
        (["m1，m2、m3"], ""),
        (["m1\u3000m2；m3,"], ""),
        (["m1", "m2,m1", "m3 m3"], ""),
        (["-"], "m1\nm2, m3\n\n"),
        (["m1", "-"], "\ufeffm2\r\nm3"),
    ],
)
def test_ids_may_be_separated_in_any_way_and_a_repeated_one_is_deleted_once(
    cli: Cli, words: list[str], stdin: str
) -> None:
    many(cli)
    before = events_of(cli)
    answer = cli.json("delete", "ada", *words, stdin=stdin.encode())
    along = {"also": [], "left_alone": [], "still_said_in": [], "hidden_with": [], "rejected": [], "dry_run": False}
    assert answer == {"owner": "ada", "deleted": ["m1", "m2", "m3"], "skipped": [], "behind": 0} | along | {
        name: answer[name] for name in ("position", "restorable_until")
    }
    assert events_of(cli) == before + 3
    assert [cli.json("get", "ada", one)["status"] for one in ("m3", "m4")] == ["deleted", "live"]


def test_what_cannot_be_deleted_is_named_with_the_reason_and_the_others_are_deleted(cli: Cli) -> None:
    many(cli)
    before = events_of(cli)
    answer = cli.json("delete", "ada", "m1 name rules nothing gone a m2", code=3)
    assert (answer["deleted"], events_of(cli)) == (["m1", "m2"], before + 2)
    reasons = {one["id"]: one["reason"] for one in answer["skipped"]}
    assert list(reasons) == ["name", "rules", "nothing", "gone", "a"]
    for memory_id, words in [
        ("name", "is of tier core: core and system memories are left alone"),
        ("rules", "is of tier system"),
        ("nothing", "owner ada has no memory nothing"),
        ("gone", "was deleted already, 2026-01-05T08:00:00Z"),
        ("a", "was merged into both, which stands for it"),
    ]:
        assert words in reasons[memory_id]


EXIT_CODES = [
    ("m1", 0), ("m1 m2", 0), ("m1 name", 3), ("m1 nothing", 3), ("m1 gone", 3), ("name", 3), ("name rules", 3),
    ("name nothing", 3), ("gone", 1), ("gone nothing", 1), ("gone a", 1), ("nothing", 2), ("nothing nobody", 2),
    ("a", 2), ("a b nothing", 2),
]  # fmt: skip


@pytest.mark.parametrize(("ids", "code"), EXIT_CODES)
def test_the_exit_code_says_whether_all_some_or_none_was_deleted(cli: Cli, ids: str, code: int) -> None:
    many(cli)
    before = events_of(cli)
    cli("delete", "ada", ids, code=code)
    deleted = sum(one.startswith("m") for one in ids.split())
    rejected = len(ids.split()) == deleted == 1  # what a single one says, named alone
    assert events_of(cli) == before + deleted + rejected


def test_of_a_single_id_the_answer_keeps_its_fields(cli: Cli) -> None:
    many(cli)
    answer = cli.json("delete", "ada", "m1")
    assert (answer["id"], answer["owner"], answer["deleted"], answer["skipped"]) == ("m1", "ada", ["m1"], [])
    assert [(one["memory"], one["decision"]) for one in answer["changes"]] == [("m1", "delete"), ("m1", "reject")]
    assert (answer["changes"][-1]["position"], answer["rejected"]) == (answer["position"], ["m1"])
    core = cli.json("delete", "ada", "name", code=3)
    assert (core["id"], core["changes"], core["deleted"], len(core["skipped"])) == ("name", [], [], 1)
    assert cli.json("delete", "ada", "nothing", code=2)["error"] == "NotFound"


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["ada", "m1 {x}"], "memory_id: got '{x}'"),
        (["ada", " , "], "ids: got nothing"),
        (["a b", "m1"], "owner: got 'a b'"),
        (["ada", "m1,m2", "--actor", "ghost"], 'actor: got "ghost"'),
        (["ada", "m1,m2", "--occurred-at", "soon"], "--occurred-at: got 'soon'"),
        (["ada", "-"], "ids: got '-'; allowed: ids in UTF-8"),
    ],
)
def test_a_word_that_cannot_be_right_deletes_nothing_at_all(cli: Cli, words: list[str], named: str) -> None:
    many(cli)
    before = events_of(cli)
    assert named in cli("delete", *words, code=2, stdin=b"m1 \xff").err
    assert events_of(cli) == before


def test_deleting_many_says_to_people_what_was_deleted_and_what_stays(cli: Cli) -> None:
    many(cli)
    told = cli("delete", "ada", "m1,m2,name,nothing", code=3).out
    assert "deleted m1, m2" in flat(told)
    assert "skipped\n" in told
    assert "name     memory name is of tier core" in told
    assert "Restorable until " in told
    assert "Nothing changed: memory name is of tier core" in cli("delete", "ada", "name", code=3).out
    assert "Restorable" not in cli("delete", "ada", "name,nothing", code=3).out


def talk(cli: Cli) -> None:
    """t1 and t2 are turns; `typed` was made of t1, `both` of both, `name` of t1 and is core."""
    turn = {"kind": "episode", "source": "user", "category": "fact"}
    made = {"kind": "fact", "source": "judge", "category": "fact"}
    told = [
        event(1, memory_id="t1", content="I have a hedgehog", source_turns=["t1"], **turn),
        event(2, memory_id="t2", content="I have a hedgehog, I said", source_turns=["t2"], **turn),
        event(3, memory_id="typed", content="User has a hedgehog", source_turns=["t1"], **made),
        event(4, memory_id="both", content="a hedgehog", source_turns=["t1", "t2"], **made),
        event(5, memory_id="name", content="User: hedgehog", source_turns=["t1"], tier="core", **made),
    ]
    cli("append", "-", stdin=lines(told))


def test_a_dry_run_tells_what_goes_with_it_and_writes_nothing(cli: Cli) -> None:
    talk(cli)
    before = events_of(cli)
    answer = cli.json("delete", "ada", "t1", "--dry-run")
    assert (answer["dry_run"], answer["deleted"], events_of(cli)) == (True, ["t1"], before)
    assert [one["id"] for one in answer["also"]] == ["typed", "name"]
    told = cli("delete", "ada", "t1", "--dry-run").out
    assert ("A dry run" in told, "deleted t1" in flat(told), "typed" in told) == (True, True, True)


def test_what_was_made_only_of_a_turn_goes_with_it_and_is_restored_with_it(cli: Cli) -> None:
    talk(cli)
    assert "also" in cli("delete", "ada", "t1").out
    ids = ("t1", "typed", "both", "name")
    assert [cli.json("get", "ada", one)["status"] for one in ids] == ["deleted", "deleted", "live", "deleted"]
    assert "also" in cli("delete", "--undo", "ada", "t1").out
    assert [cli.json("get", "ada", one)["status"] for one in ids] == ["live"] * 4


def test_what_cannot_be_restored_is_named_with_the_reason_and_the_others_are_restored(cli: Cli) -> None:
    many(cli)
    cli("delete", "ada", "m1", "m2")
    told = cli("delete", "--undo", "ada", "m1", "m3", "m2", "nowhere", code=3).out
    assert "restored m1, m2" in flat(told)
    assert "memory m3 is not deleted" in told
    assert "no memory nowhere" in told
    cli("delete", "--undo", "ada", "m1", "m2", code=1)
    cli("delete", "--undo", "ada", "x", "y", code=2)
