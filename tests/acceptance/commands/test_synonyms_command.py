"""`synonym` and `synonyms`, on the command line and over HTTP; extracted keywords in `get`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engramlog.answers import Detail
from tests.acceptance.helpers.cli import Cli
from tests.given.http import HttpStore, created, http_store
from tests.given.shaped import checked
from tests.rows import each_row


def test_a_pair_is_defined_changed_taken_out_and_told(cli: Cli) -> None:
    answer = cli.json("synonyms", "ada", "Kaffee", "咖啡", "--similarity", "0.9")
    assert (answer["word"], answer["synonym"], answer["similarity"]) == ("Kaffee", "咖啡", 0.9)
    assert [(one["decision"], one["memory"]) for one in answer["changes"]] == [("synonym", None)]
    assert cli.json("synonyms", "ada")["synonyms"] == [{"word": "kaffee", "synonym": "咖啡", "similarity": 0.9}]
    cli("synonyms", "ada", "咖啡", "kaffee", "--similarity", "0.5")
    assert cli.json("synonyms", "ada")["synonyms"] == [{"word": "kaffee", "synonym": "咖啡", "similarity": 0.5}]
    cli("synonyms", "ada", "咖啡", "kaffee", "--similarity", "0")
    told = cli.json("synonyms", "ada")
    assert (told["synonyms"], told["total"], told["most"]) == ([], 0, 256)
    assert told["silenced"] == [{"word": "kaffee", "synonym": "咖啡", "similarity": 0.0}]


def test_synonyms_of_a_word_are_the_owners_before_the_known_ones(cli: Cli) -> None:
    cli("synonyms", "ada", "car", "flivver", "--similarity", "0.95")
    cli("synonyms", "ada", "car", "汽车", "--similarity", "0")
    told = cli.json("synonyms", "ada", "--of", "Cars")
    assert next(iter(told["expansion"]["synonyms"])) == "flivver"
    assert "汽车" in told["known"]
    assert "汽车" not in told["expansion"]["synonyms"]
    assert {one["synonym"] for one in [*told["synonyms"], *told["silenced"]]} == {"flivver", "汽车"}
    assert cli.json("synonyms", "bo", "--of", "Cars")["expansion"]["synonyms"] == told["known"]


def test_what_changes_nothing_says_why(cli: Cli) -> None:
    cli("synonyms", "ada", "a", "b")
    assert "the two words are as alike as that already" in cli("synonyms", "ada", "b", "A").out
    assert [one["decision"] for one in cli.json("history", "ada")["changes"]] == ["synonym", "ignored"]


def test_the_tables_show_pairs_and_nobodys_markup(cli: Cli) -> None:
    assert cli("synonyms", "ada").out.startswith("0 synonyms, ada, position ")
    assert "alike in the owner's searches" in cli("synonyms", "ada", "[b]a[/b]", "car").out
    cli("synonyms", "ada", "car", "auto", "--similarity", "0")
    told = cli("synonyms", "ada", "--of", "car").out
    assert told.startswith("1 synonym, ada, position ")
    assert "[b]a[/b]" in told
    assert "silenced" in told
    assert "expansion" in told


@each_row(
    ("words", "named"),
    [
        (["synonyms", "a b", "x", "y"], "owner: got 'a b'"),
        (["synonyms", "ada", " ", "y"], "word: got ' '"),
        (["synonyms", "ada", "x", "y" * 101], "at most 100 characters"),
        (["synonyms", "ada", "car", "Cars"], "synonym: got 'Cars'"),
        (["synonyms", "ada", "x", "broken \udcff"], "UTF-8"),
        (["synonyms", "ada", "x", "y", "--actor", "nobody"], "actor"),
        (["synonyms", "ada", "x", "y", "--occurred-at", "soon"], "--occurred-at: got 'soon'"),
        (["synonyms", "a b"], "owner: got 'a b'"),
        (["synonyms", "ada", "--of", " "], "of: got ' '"),
        (["synonyms", "ada", "--as-of", "soon"], "--as-of: got 'soon'"),
    ],
)
def test_a_wish_that_cannot_be_right_is_refused(cli: Cli, words: list[str], named: str) -> None:
    assert named in cli(*words, code=2).err


# --- over HTTP


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    folder: Path = tmp_path_factory.mktemp("synonyms")
    with http_store(folder) as opened:
        opened.told(
            "alice",
            created("m1", "We met Marta in Oslo", keywords=["Trip"]),
            created("m2", "my password is hunter2-Secret!9"),
        )
        yield opened


def test_a_memory_tells_its_keywords_and_a_secret_none_even_revealed(http: HttpStore) -> None:
    told = checked(Detail, http.client.get("/v1/owners/alice/memories/m1").json())
    assert told.keywords == ["trip"]
    assert [(one.word, one.source) for one in told.extracted_keywords] == [
        ("trip", "user_tag"),
        ("marta", "system"),
        ("oslo", "system"),
    ]
    secret = http.client.post("/v1/owners/alice/memories/m2/reveal").json()
    assert secret["extracted_keywords"] == []
