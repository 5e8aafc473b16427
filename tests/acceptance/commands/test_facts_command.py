"""`facts`: triples with their evidence, on the command line and over HTTP."""

from __future__ import annotations

from typing import Any

from tests.acceptance.helpers.cli import Cli, event, lines
from tests.rows import each_row

RAMEN: dict[str, Any] = {"subject": "主人", "predicate": "喜欢", "object": "拉面"}


def asserted(number: int, *evidence: str, **data: Any) -> dict[str, Any]:
    told = event(number, type_="FactAsserted", evidence=list(evidence), **data)
    del told["data"]["memory_id"]
    return told


def known(cli: Cli) -> None:
    """Two memories behind one triple, one behind another, and a secret one behind a third."""
    cli(
        "append",
        "-",
        stdin=lines(
            [
                event(1, content="主人喜欢拉面"),
                event(2, content="[b]又去吃拉面了[/b]", source_turns=["t2"]) | {"occurred_at": "2026-01-06T08:00:00Z"},
                event(3, content="my password is hunter2-Secret!9"),
                asserted(4, "m1", "m2", **RAMEN, degree=0.9, condition="冬天"),
                asserted(5, "m1", subject="Ada", predicate="eats", object="[i]meat[/i]", negation=True),
                asserted(6, "m3", subject="Ada", predicate="uses", object="hunter2"),
            ]
        ),
    )


def test_a_triple_is_told_with_the_memories_that_back_it_the_newest_first(cli: Cli) -> None:
    known(cli)
    answer = cli.json("facts", "ada", "--about", "拉面")
    (found,) = answer["facts"]
    assert {name: found[name] for name in RAMEN} == RAMEN
    assert (found["negation"], found["degree"], found["condition"]) == (False, 0.9, "冬天")
    assert (found["asserted_at"], found["backing"]) == ("2026-01-05T08:00:00Z", ["m1", "m2"])
    assert [(one["id"], one["memory"], one["status"]) for one in found["evidence"]] == [
        ("m2", "[b]又去吃拉面了[/b]", "live"),
        ("m1", "主人喜欢拉面", "live"),
    ]
    assert (answer["about"], answer["total"], answer["known"]) == ("拉面", 1, 2)


def test_what_a_secret_memory_backs_is_not_told(cli: Cli) -> None:
    known(cli)
    assert [one["subject"] for one in cli.json("facts", "ada")["facts"]] == ["Ada", "主人"]
    assert "hunter2" not in cli("facts", "ada").out + cli("facts", "ada", "--json").out


def test_deleting_and_restoring_memories_takes_a_triple_and_gives_it_back(cli: Cli) -> None:
    known(cli)
    cli("delete", "ada", "m1")
    (left,) = cli.json("facts", "ada")["facts"]
    assert (left["backing"], [one["id"] for one in left["evidence"]]) == (["m2"], ["m2"])
    before = cli.json("delete", "ada", "m2")["changes"][0]["position"]
    assert cli.json("facts", "ada")["facts"] == []
    cli("delete", "--undo", "ada", "m1")
    assert cli.json("facts", "ada")["total"] == 2
    assert cli.json("facts", "ada", "--as-of", before)["total"] == 0
    assert cli.json("facts", "ada", "--as-of", "2026-01-07T00:00:00Z")["total"] == 2


def test_the_table_shows_triples_evidence_and_nobodys_markup(cli: Cli) -> None:
    known(cli)
    told = cli("facts", "ada").out
    assert told.startswith("2 facts, ada, position ")
    assert "[i]meat[/i]" in told
    assert "m2: [b]又去吃拉面了[/b]" in told
    assert cli("facts", "ada", "-k", "1").out.startswith("1 of 2 facts, ada, position ")
    assert cli("facts", "ada", "--about", "寿司").out.startswith("0 facts, ada, position ")


@each_row(
    ("words", "named"),
    [
        (["a b"], "owner: got 'a b'"),
        (["ada", "--about", " "], "about: got ' '"),
        (["ada", "--about", "x" * 201], "at most 200 characters"),
        (["ada", "--about", "broken \udcff"], "UTF-8"),
        (["ada", "-k", "0"], "limit: got 0"),
        (["ada", "--as-of", "soon"], "--as-of: got 'soon'"),
    ],
)
def test_a_question_that_cannot_be_right_is_refused(cli: Cli, words: list[str], named: str) -> None:
    assert named in cli("facts", *words, code=2).err
