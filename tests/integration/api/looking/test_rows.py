"""A memory manager's list and its counts over HTTP: filters, pages, refusals, both time lines, and what no filter may tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engramlog.answers import Counts, Listing
from tests.given.http import HttpStore, created, http_store
from tests.given.shaped import checked
from tests.rows import each_row

SECRET = "my password is hunter2-Kiln-2024"
OWNER = "rows"
PATH = f"/v1/owners/{OWNER}"


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    """Five memories: an ordinary one, one that was negated, one deleted, a secret, and one that somebody else told."""
    with http_store(tmp_path_factory.mktemp("rows")) as opened:
        told = [
            created("coffee", owner=OWNER, content="I drink coffee every morning", kind="preference", tags=["home"]),
            created("tea", owner=OWNER, content="我喜歡綠茶", speaker="Ana"),
            created("gone", owner=OWNER, content="I collect zeppelins"),
            created("pin", owner=OWNER, content=SECRET, tags=["vault"], speaker="Mallory", project="Heist"),
        ]
        opened.told(OWNER, *told)
        opened.client.post(f"{PATH}/memories/coffee/negate", json={"correction": "I drink cocoa"}).raise_for_status()
        opened.client.post(f"{PATH}/memories/gone/delete", json={}).raise_for_status()
        yield opened


def listed(http: HttpStore, **asked: Any) -> list[str]:
    answer = http.client.get(f"{PATH}/memories", params=asked)
    assert answer.status_code == 200, answer.text
    checked(Listing, answer.json())
    assert answer.json()["total"] == len(answer.json()["memories"])
    return sorted(one["id"] for one in answer.json()["memories"])


def counted(http: HttpStore, **asked: Any) -> Any:
    answer = http.client.get(f"{PATH}/counts", params=asked)
    assert answer.status_code == 200, answer.text
    checked(Counts, answer.json())
    return answer.json()


def facet(told: Any, name: str) -> dict[str, int]:
    return {one["value"]: one["count"] for one in told[f"by_{name}"]["counts"] if one["count"]}


def test_filters_are_repeated_in_the_query_and_all_must_hold(http: HttpStore) -> None:
    assert listed(http, mode="debug", statuses=["deleted", "superseded", "kept_version"]) == ["coffee", "gone"]
    assert listed(http, mode="debug", statuses="deleted", kinds="nothing") == []
    assert listed(http, mode="review", words="绿茶") == ["tea"]
    assert listed(http, mode="review", words="ＣＯＦＦＥＥ", tags=["HOME"]) == ["coffee"]
    assert listed(http, mode="debug", sensitivities=[3]) == ["pin"]
    assert listed(http, speaker="ana") == ["tea"]


@each_row("part", ["hunter2", "password", "kiln-2024", "hunter"])
def test_no_filter_and_no_count_tells_what_a_secret_says(http: HttpStore, part: str) -> None:
    for mode in ("normal", "review", "debug"):
        nothing, asked = counted(http, mode=mode, words="qqqqq"), counted(http, mode=mode, words=part)
        assert asked == nothing
        plain = http.client.get(f"{PATH}/memories", params={"mode": mode, "words": "qqqqq"}).json()
        assert http.client.get(f"{PATH}/memories", params={"mode": mode, "words": part}).json() == plain


@each_row(
    "asked", [{"tags": "vault"}, {"speaker": "Mallory"}, {"project": "Heist"}, {"words": "Mallory"}, {"words": "vault"}]
)
def test_nor_by_whom_about_what_or_under_which_tag(http: HttpStore, asked: dict[str, str]) -> None:
    assert listed(http, mode="debug", **asked) == []
    assert "vault" not in facet(counted(http, mode="debug"), "tag")
    [row] = http.client.get(f"{PATH}/memories", params={"mode": "debug", "words": "pin"}).json()["memories"]
    assert SECRET not in str(row)
    assert (row["tags"], row["speaker"], row["sensitivity"]) == ([], None, 3)


def test_times_in_words_are_told_back_as_they_were_understood(http: HttpStore) -> None:
    answer = http.client.get(f"{PATH}/memories", params={"since": "2026-05-01", "updated_until": "2027-01-01"}).json()
    assert (answer["since"], answer["updated_until"]) == ("2026-05-01T00:00:00+00:00", "2027-01-02T00:00:00+00:00")
    assert "until" not in answer


@each_row(
    ("asked", "field"),
    [
        ({"statuses": "alive"}, "statuses"),
        ({"levels": "whole"}, "levels"),
        ({"trusts": "much"}, "trusts"),
        ({"tiers": "gold"}, "tiers"),
        ({"sensitivities": 4}, "sensitivities"),
        ({"sensitivities": "high"}, "sensitivities[0]"),
        ({"sources": "rumour"}, "sources"),
        ({"flags": "red"}, "flags"),
        ({"categories": "misc"}, "categories"),
        ({"words": "x" * 401}, "words"),
        ({"words": " "}, "words"),
        ({"max_weight": -1}, "max_weight"),
        ({"max_weight": 0.1, "min_weight": 0.2}, "max_weight"),
        ({"updated_since": "soon"}, "updated_since"),
        ({"updated_since": "2026-05-02", "updated_until": "2026-05-01"}, "updated_until"),
        ({"kinds": ["x"] * 51}, "kinds"),
        ({"unheard": "of"}, "unheard"),
    ],
)
@each_row("path", ["memories", "counts"])
def test_a_filter_that_cannot_be_is_refused_by_its_name(
    http: HttpStore, path: str, asked: dict[str, Any], field: str
) -> None:
    answer = http.client.get(f"{PATH}/{path}", params=asked)
    assert (answer.status_code, answer.json()["field"]) == (422, field)


@each_row(("asked", "field"), [({"sort": "size"}, "sort"), ({"order": "oldest"}, "order")])
def test_so_is_an_order_that_there_is_not(http: HttpStore, asked: dict[str, str], field: str) -> None:
    answer = http.client.get(f"{PATH}/memories", params=asked)
    assert (answer.status_code, answer.json()["field"]) == (422, field)
