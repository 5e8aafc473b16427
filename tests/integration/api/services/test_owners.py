"""The owners of a store can be listed by name, in pages and by how their names begin, on every face."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engramlog_server.api.services import operating as owner_names
from engramlog_server.api.services.operating import Owners
from engramlog_server.events.redis import wire as wire_module
from engramlog_server.events.redis.wire import ServerWire, Wire, WirePool
from engramlog_server.projections.language.lexicon import part_folded as folded
from engramlog_server.projections.redis.builds import BuildKeys
from tests.examples import examples
from tests.given.http import HttpStore, created, http_store
from tests.rows import each_row

NAMES = ["ada", "bo/博", "conv-1", "conv-10", "conv-2", "conv_1", "conv.1", "团队-a", "团队-b", "zoe", "a.b", "a+b"]


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    folder: Path = tmp_path_factory.mktemp("owners")
    with http_store(folder) as opened:
        for name in NAMES:
            opened.told(name, created("m1", "tea", owner=name), created("m2", "coffee", owner=name))
        yield opened


def pages(http: HttpStore, limit: int, **asked: Any) -> list[dict[str, Any]]:
    """All pages, one after the other."""
    found = [http.client.get("/v1/owners", params={"limit": limit, **asked}).raise_for_status().json()]
    while found[-1]["next"] is not None:
        told = {"limit": limit, "after": found[-1]["next"], **asked}
        found.append(http.client.get("/v1/owners", params=told).raise_for_status().json())
        assert len(found) <= len(NAMES) + 1
    return found


def test_owners_are_listed_in_order_with_how_many_memories_each_has(http: HttpStore) -> None:
    (page,) = pages(http, 1_000)
    assert [one["owner"] for one in page["owners"]] == sorted(NAMES)
    assert {one["memories"] for one in page["owners"]} == {2}
    assert (page["matching"], page["next"]) == (len(NAMES), None)


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(prefix=st.one_of(st.sampled_from(NAMES), st.text("abcov-*?[]\\^团队1", max_size=4)), limit=st.integers(1, 4))
def test_a_prefix_keeps_the_names_that_begin_with_it_and_no_sign_in_it_means_anything_else(
    http: HttpStore, prefix: str, limit: int
) -> None:
    found = pages(http, limit, prefix=prefix)
    wanted = sorted(name for name in NAMES if name.startswith(prefix))
    assert [one["owner"] for page in found for one in page["owners"]] == wanted
    assert {page["matching"] for page in found} == {len(wanted)}


@each_row(
    ("asked", "field"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 1_001}, "limit"),
        ({"prefix": "x" * 257}, "prefix"),
        ({"after": "\x00"}, "after"),
        ({"order": "size"}, "order"),
    ],
)
def test_what_cannot_be_asked_of_owners_is_refused_by_field(http: HttpStore, asked: dict[str, Any], field: str) -> None:
    answer = http.client.get("/v1/owners", params=asked)
    assert (answer.status_code, answer.json()["field"]) == (422, field)


@each_row(
    ("search", "found"),
    [
        ("CONV", ["conv-1", "conv-10", "conv-2", "conv.1", "conv_1"]),
        ("ｃｏｎｖ－1", ["conv-1", "conv-10"]),
        ("團隊", ["团队-a", "团队-b"]),
        ("队-B", ["团队-b"]),
        ("/博", ["bo/博"]),
        ("*", []),
        ("[a-z]", []),
        ("", NAMES),
    ],
)
def test_a_search_finds_a_part_of_a_name_however_it_is_written(http: HttpStore, search: str, found: list[str]) -> None:
    (page,) = pages(http, 1_000, search=search)
    assert [one["owner"] for one in page["owners"]] == sorted(found)
    assert page["matching"] == len(found)


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    search=st.text("ACOV-*?[]\\^团隊1", max_size=3),
    prefix=st.sampled_from(["", "c", "conv-", "团"]),
    limit=st.integers(1, 4),
)
def test_a_search_composes_with_a_prefix_and_pages(http: HttpStore, search: str, prefix: str, limit: int) -> None:
    found = pages(http, limit, search=search, prefix=prefix)
    wanted = sorted(name for name in NAMES if name.startswith(prefix) and folded(search) in folded(name))
    assert [one["owner"] for page in found for one in page["owners"]] == wanted
    assert {page["matching"] for page in found} == {len(wanted)}


@each_row("search", ["a" * 257, "tea\n", "\x1b[31m"])
def test_a_search_that_no_name_can_hold_is_refused_by_its_name(http: HttpStore, search: str) -> None:
    answer = http.client.get("/v1/owners", params={"search": search})
    assert answer.status_code == 422
    assert "search" in answer.text


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The partitions whose names are read, as they are."""
    told, reading = list[str](), owner_names._read

    def noted(wire: Wire, keys: BuildKeys, count: int) -> set[str]:
        told.append(keys.tag)
        return reading(wire, keys, count)

    monkeypatch.setattr(owner_names, "_read", noted)
    return told


class OtherServer(ServerWire):
    """Seems to stand before another process of the server, after a restart on an older copy, say."""

    def receive(self, *, timeout: float | None = None) -> Any:
        answer = super().receive(timeout=timeout)
        return re.sub(rb"run_id:\w+", b"run_id:another", answer) if isinstance(answer, bytes) else answer


def test_names_are_read_anew_after_a_restart_of_the_server(
    http: HttpStore, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many names may be others there."""
    tags = http.store.identity.tags
    wires = WirePool(http.store.client)
    owners = Owners(wires, tags)
    first = owners.owners()
    assert [owners.owners(), read] == [first, [*tags]]
    monkeypatch.setattr(wire_module, "ServerWire", OtherServer)
    wires._idle.get_nowait().close()
    assert [owners.owners(), read] == [first, [*tags, *tags]]


@each_row(("at_once", "most_kept"), [(1, 300_000), (10_000, 0), (10_000, 5)])
def test_the_answer_is_the_same_however_names_are_read_and_kept(
    http: HttpStore, monkeypatch: pytest.MonkeyPatch, at_once: int, most_kept: int
) -> None:
    wanted = pages(http, 1_000, search="o")
    monkeypatch.setattr(owner_names, "AT_ONCE", at_once)
    monkeypatch.setattr(owner_names, "MOST_KEPT", most_kept)
    owners = Owners(WirePool(http.store.client), http.store.identity.tags)
    for _ in range(2):
        assert [owners.owners(limit=1_000, search="o")] == wanted
