"""What memories rest on, as producers report it through every face: told once, withheld, and back again."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import nullcontext, redirect_stdout
from typing import Any

from engramlog_server.api.cli.main import run
from tests.given.client import KINDS, Service, connected, new_owner
from tests.given.http import created
from tests.rows import each_row

PAGE = "https://wiki.example.org/flats"
OLD, NEW = "sha256:0123456789", "sha256:9876543210"
BASIS: dict[str, Any] = {
    "because": "they decided it",
    "grounds": [{"uri": PAGE, "digest": OLD}],
    "metadata": {"rooms": 3},
}
Report = Callable[..., dict[str, Any]]


def given(running: Service, owner: str, *ids: str) -> None:
    """Memories that rest on the page, and one that rests on nothing."""
    running.http.told(owner, *(created(one, owner=owner, **BASIS) for one in ids), created("other", owner=owner))


def by_http(running: Service, owner: str) -> Report:
    def reported(digest: str, status: int = 200, uri: str = PAGE, **more: Any) -> dict[str, Any]:
        answer = running.http.client.post(f"/v1/owners/{owner}/grounds", json={"uri": uri, "digest": digest} | more)
        assert answer.status_code == status, answer.text
        told: dict[str, Any] = answer.json()
        return told

    return reported


def by_command(running: Service, owner: str) -> Report:
    def reported(digest: str) -> dict[str, Any]:
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        with redirect_stdout(out):
            code = run(
                lambda: nullcontext(running.http.application),
                ["set-aside", owner, "--ground", PAGE, "--digest", digest, "--json"],
            )
        assert code == 0
        told: dict[str, Any] = json.loads(out.buffer.getvalue())  # type: ignore[attr-defined]
        return told

    return reported


def by_client(running: Service, owner: str) -> Report:
    def reported(digest: str) -> dict[str, Any]:
        with connected("sync", running.url, owner=owner) as memory:
            told: dict[str, Any] = memory.report_ground(PAGE, digest).as_dict()
            return told

    return reported


def listed(running: Service, owner: str, mode: str = "normal") -> set[str]:
    answer = running.http.client.get(f"/v1/owners/{owner}/memories", params={"mode": mode}).json()
    return {one["id"] for one in answer["memories"]}


@each_row("face", [by_http, by_command, by_client])
def test_a_report_withholds_what_rests_on_another_digest_and_brings_it_back(
    running: Service, face: Callable[[Service, str], Report]
) -> None:
    owner = f"by-{face.__name__}"
    given(running, owner, "a", "b")
    report = face(running, owner)
    told = report(NEW)
    assert (told["withheld"], told["back"], told["left"], len(told["changes"])) == (["a", "b"], [], 0, 2)
    assert (listed(running, owner), listed(running, owner, "review")) == ({"other"}, {"a", "b", "other"})
    told = report(OLD)
    assert (told["withheld"], told["back"]) == ([], ["a", "b"])
    assert listed(running, owner) == {"a", "b", "other"}


def test_many_are_told_page_by_page_until_none_is_left(running: Service) -> None:
    given(running, "many", *(f"m{number}" for number in range(5)))
    report = by_http(running, "many")
    pages = [report(NEW, limit=2) for _ in range(3)]
    assert [(len(page["withheld"]), page["left"]) for page in pages] == [(2, 3), (2, 1), (1, 0)]
    assert listed(running, "many") == {"other"}


@each_row(
    ("told", "field"),
    [
        ({"digest": "short"}, "digest"),
        ({"digest": NEW, "uri": "a\u202eb"}, "uri"),
        ({"digest": NEW, "uri": "x" * 2_001}, "uri"),
        ({"digest": NEW, "actor": "judge"}, "actor"),
        ({"digest": NEW, "actor": "operator"}, "actor"),
        ({"digest": NEW, "limit": 0}, "limit"),
        ({"digest": NEW, "occurred_at": "yesterday"}, "occurred_at"),
    ],
)
def test_what_cannot_be_reported_is_refused_by_its_field(running: Service, told: dict[str, Any], field: str) -> None:
    given(running, "refused", "a")
    answer = by_http(running, "refused")(status=422, **told)
    assert field in answer["detail"]
    assert listed(running, "refused") == {"a", "other"}


def test_another_owner_hears_nothing_of_a_report(running: Service) -> None:
    for owner in ("one", "another"):
        given(running, owner, "a")
    by_http(running, "one")(NEW)
    assert listed(running, "another") == {"a", "other"}


@each_row("kind", KINDS)
def test_the_client_tells_it_and_is_told_it(running: Service, kind: str) -> None:
    with connected(kind, running.url, owner=new_owner()) as memory:
        added = memory.add("They rent the flat", **BASIS).id
        assert (memory.get(added).because, memory.get(added).metadata) == ("they decided it", {"rooms": 3})
        assert memory.report_ground(PAGE, NEW).withheld == [added]
        assert memory.get(added).ground_changed
        memory.update(added, "They rent the flat", grounds=[{"uri": PAGE, "digest": NEW}], metadata={})
        found = memory.get(added)
        assert (found.because, found.metadata, found.ground_changed) == ("they decided it", {}, False)
        assert memory.why(added).grounds[0].digest == NEW


def test_an_export_carries_it_and_an_import_takes_it_in(running: Service) -> None:
    given(running, "from", "a")
    by_http(running, "from")(NEW)
    lines = running.http.client.get("/v1/owners/from/export").text
    answer = running.http.client.post(
        "/v1/owners/into/import/records", content=lines.encode(), headers={"content-type": "application/x-ndjson"}
    )
    assert (answer.status_code, answer.json()["records"], answer.json()["ignored_fields"]) == (200, 2, {})
    found = running.http.client.get("/v1/owners/into/memories/a").json()
    assert (found["because"], found["metadata"]) == ("they decided it", {"rooms": 3})
    assert found["grounds"] == [{"uri": PAGE, "digest": OLD, "reported": None, "changed": False}]


def test_a_search_says_that_it_withheld_it_and_review_shows_it_marked(running: Service) -> None:
    given(running, "searched", "a")
    by_http(running, "searched")(NEW)
    path = "/v1/owners/searched/search"
    answer = running.http.client.get(path, params={"query": "coffee"}).json()
    assert {"reason": "ground_changed", "count": 1, "shown_by": "review"} in [
        {name: one[name] for name in ("reason", "count", "shown_by")} for one in answer["withheld"]
    ]
    marked = running.http.client.get(path, params={"query": "coffee", "mode": "review"}).json()["results"]
    assert [one["ground_changed"] for one in marked if one["id"] == "a"] == [True]
