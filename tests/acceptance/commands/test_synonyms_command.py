"""`synonym` and `synonyms`, on the command line and over HTTP; extracted keywords in `get`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.operations.answers import Detail, SynonymSaid, SynonymsKnown
from tests.acceptance.helpers.cli import Cli, event, lines
from tests.given.http import HttpStore, created, http_store
from tests.servers import Servers


@pytest.fixture
def cli(redis_servers: Servers, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", redis_servers.get("redis-6.2").url)
    return Cli(monkeypatch, capsys)


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


def test_synonyms_are_those_of_a_place_in_time_and_of_one_owner(cli: Cli) -> None:
    first = cli.json("synonyms", "ada", "a", "b")["position"]
    cli("synonyms", "ada", "c", "d", "--occurred-at", "2026-01-05T08:00:00Z")
    assert [one["word"] for one in cli.json("synonyms", "ada", "--as-of", first)["synonyms"]] == ["a"]
    assert [one["word"] for one in cli.json("synonyms", "ada", "--as-of", "2026-01-06T08:00:00Z")["synonyms"]] == ["c"]
    assert cli.json("synonyms", "bo")["synonyms"] == []


def test_what_changes_nothing_says_why(cli: Cli) -> None:
    cli("synonyms", "ada", "a", "b")
    assert "the two words are as alike as that already" in cli("synonyms", "ada", "b", "A").out
    assert [one["decision"] for one in cli.json("history", "ada")["changes"]] == ["synonym", "ignored"]


def test_a_rebuild_and_a_verification_give_the_same_synonyms(cli: Cli) -> None:
    cli("append", "-", stdin=lines([event(1, content="We met Marta")]))
    cli("synonyms", "ada", "coffee", "java", "--similarity", "0.7")
    before = cli.json("synonyms", "ada")
    assert cli.json("verify")["ok"] is True
    cli("rebuild")
    assert cli.json("synonyms", "ada") == before
    assert cli.json("verify")["ok"] is True


def test_the_tables_show_pairs_and_nobodys_markup(cli: Cli) -> None:
    assert cli("synonyms", "ada").out.startswith("0 pairs of at most 256, position ")
    assert "alike in the owner's searches" in cli("synonyms", "ada", "[b]a[/b]", "car").out
    cli("synonyms", "ada", "car", "auto", "--similarity", "0")
    told = cli("synonyms", "ada", "--of", "car").out
    assert told.startswith("1 pair of at most 256, position ")
    assert "[b]a[/b]" in told
    assert "no synonym" in told
    assert "synonyms of car: " in told


def test_looking_at_synonyms_leaves_no_trace(cli: Cli) -> None:
    cli("synonyms", "ada", "a", "b")
    before = cli.json("status")["events"]
    cli("synonyms", "ada", "--of", "a")
    assert cli.json("status")["events"] == before


@pytest.mark.parametrize(
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


def test_http_answers_in_the_documented_shapes(http: HttpStore) -> None:
    answer = http.client.post("/v1/owners/alice/synonyms", json={"word": "coffee", "synonym": "brew", "similarity": 1})
    assert answer.status_code == 200, answer.text
    said = SynonymSaid.model_validate(answer.json())
    assert (said.model_extra or {}, said.changes[0].decision) == ({}, "synonym")
    answer = http.client.get("/v1/owners/alice/synonyms", params={"of": "coffee"})
    known = SynonymsKnown.model_validate(answer.json())
    assert (known.model_extra or {}, known.synonyms[0].word, known.synonyms[0].synonym) == ({}, "brew", "coffee")
    assert known.expansion is not None
    assert known.expansion.synonyms["brew"] == 1.0


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"word": " ", "synonym": "b"}, "word"),
        ({"word": "a", "synonym": "A"}, "synonym"),
        ({"word": "a", "synonym": "b", "similarity": 1.5}, "similarity"),
        ({"word": "a"}, "synonym"),
        ({"word": "a", "synonym": "b", "similar": 1}, "similar"),
    ],
)
def test_http_refuses_what_cannot_be(http: HttpStore, body: dict[str, Any], field: str) -> None:
    answer = http.client.post("/v1/owners/alice/synonyms", json=body)
    assert (answer.status_code, answer.json()["field"]) == (422, field)


def test_a_memory_tells_its_keywords_and_a_secret_none_even_revealed(http: HttpStore) -> None:
    told = Detail.model_validate(http.client.get("/v1/owners/alice/memories/m1").json())
    assert told.keywords == ["trip"]
    assert [(one.word, one.source) for one in told.extracted_keywords] == [
        ("trip", "user_tag"),
        ("marta", "system"),
        ("oslo", "system"),
    ]
    secret = http.client.post("/v1/owners/alice/memories/m2/reveal").json()
    assert secret["extracted_keywords"] == []
