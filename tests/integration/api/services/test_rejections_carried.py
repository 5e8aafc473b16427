"""An export of before a rejection does not bring the value back, and one that holds rejections carries them to another store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from engramlog_server.api.application import Application
from engramlog_server.api.exchange.export import ExportOptions
from engramlog_server.api.exchange.records import RecordOptions
from engramlog_server.events.errors import InputError
from tests.given.http import http_store
from tests.integration.ops.test_kept_rejections import CANOE, LISBON, contents, opened, rejected, remembered

PORTO = "I live in Porto"


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[tuple[Application, Application]]:
    """Two stores: of one it is told, into the other it is carried."""
    with opened(tmp_path / "one") as one, opened(tmp_path / "other") as other:
        yield one, other


def lines_of(of: Application, *include: str, owner: str = "ann") -> list[bytes]:
    return list(of.records.export(owner, ExportOptions(include=include)).pieces())


def taken_in(into: Application, lines: list[bytes], owner: str = "ann") -> dict[str, Any]:
    return into.records.take_in_whole(lines, RecordOptions(owner)).as_dict()


def told(of: Application) -> list[bytes]:
    """Lisbon rejected, with an export of before it."""
    lisbon, _ = remembered(of, LISBON, CANOE)
    before = lines_of(of)
    rejected(of, lisbon)
    return before


def test_an_export_of_before_a_rejection_brings_nothing_back_where_it_came_from(
    stores: tuple[Application, Application],
) -> None:
    one, _ = stores
    before = told(one)
    taken_in(one, before)
    assert contents(one) == [CANOE]
    renamed = [line.replace(b'"memory_id":"', b'"memory_id":"again-') for line in before]
    answer = taken_in(one, renamed)
    assert contents(one) == [CANOE, CANOE], "what nobody rejected is taken in"
    assert [name[:6] for name in answer["rejected"]] == ["again-"]
    assert answer["ids_taken"] == []


def test_an_export_with_its_rejections_carries_them_into_a_store_that_knows_nothing_of_the_owner(
    stores: tuple[Application, Application],
) -> None:
    one, other = stores
    before = told(one)
    assert one.records.export("ann", ExportOptions()).left_out == {"deleted": 1, "rejections": 1}
    answer = taken_in(other, lines_of(one, "rejections"))
    assert (answer["rejections"], answer["rejections_left_out"], answer["skipped"]) == (1, {}, {})
    again = taken_in(other, before)
    assert len(again["rejected"]) == 1
    assert contents(other) == [CANOE]
    with pytest.raises(InputError, match="rejected"):
        remembered(other, "i live in LISBON")
    remembered(other, PORTO)
    assert contents(other) == [PORTO, CANOE]


def test_taken_in_twice_it_appends_nothing_the_second_time(stores: tuple[Application, Application]) -> None:
    one, other = stores
    told(one)
    lines = lines_of(one, "rejections")
    taken_in(other, lines)
    again, here = taken_in(other, lines), taken_in(one, lines)
    assert (again["appended"], again["rejections"]) == (0, 1)
    assert here["rejections"] == 1
    assert here["appended"] <= 1, "the memory alone, which is there under its id already"


def test_where_the_owner_s_words_are_keyed_otherwise_what_it_says_is_rejected_and_the_rest_is_told(
    stores: tuple[Application, Application],
) -> None:
    one, other = stores
    told(one)
    rejected(one, remembered(one, "I sing in a choir")[0])
    remembered(other, "I live in LISBON", PORTO)
    answer = taken_in(other, lines_of(one, "rejections"))
    assert answer["rejections"] == 1
    assert answer["rejections_left_out"] == {"keyed by another secret": 1}
    assert contents(other) == [PORTO, CANOE]
    with pytest.raises(InputError, match="rejected"):
        remembered(other, LISBON)


def test_what_was_taken_up_again_and_what_ends_is_carried_as_it_is(stores: tuple[Application, Application]) -> None:
    one, other = stores
    lisbon, _ = remembered(one, LISBON, CANOE)
    rejected(one, lisbon)
    one.restorer.restore("ann", lisbon)
    taken_in(other, lines_of(one, "rejections"))
    assert contents(other) == [LISBON, CANOE]


@pytest.mark.parametrize(
    ("field", "value"),
    [("secret", "5e"), ("secret", None), ("value", "zz" * 16), ("rejected_at", "yesterday"), ("rejected_at", None)],
)
def test_a_line_that_says_what_cannot_be_is_refused_with_its_field_and_nothing_is_written(
    stores: tuple[Application, Application], field: str, value: str | None
) -> None:
    one, other = stores
    told(one)
    line, *rest = lines_of(one, "rejections")
    changed = orjson.dumps(orjson.loads(line) | {field: value})
    with pytest.raises(InputError, match=field) as refused:
        taken_in(other, [*rest, changed])
    assert refused.value.context["line"] == len(rest) + 1
    assert contents(other) == []


def test_a_reader_of_before_passes_such_lines_over(stores: tuple[Application, Application]) -> None:
    """It reads them as memories that do not stand, as release 0.2.0 does."""
    one, _ = stores
    told(one)
    line = orjson.loads(lines_of(one, "rejections")[0])
    assert line["status"] not in (None, "live")
    assert {"engramlog", "created_at"} <= line.keys()
    assert "Lisbon" not in str(line)


def test_over_http_they_are_left_out_counted_asked_for_and_taken_in(tmp_path: Path) -> None:
    with http_store(tmp_path / "one") as one, http_store(tmp_path / "other") as other:
        told(one.application)
        left = one.client.get("/v1/owners/ann/export")
        asked = one.client.get("/v1/owners/ann/export", params={"include": "rejections"})
        assert left.headers["engramlog-left-out"] == "deleted=1, rejections=1"
        assert asked.headers["engramlog-left-out"] == "deleted=1"
        lines = {"content": asked.content, "headers": {"content-type": "application/x-ndjson"}}
        answer = other.client.post("/v1/owners/ann/import/records", **lines).json()
        assert (answer["rejections"], answer["rejections_left_out"], answer["rejected"]) == (1, {}, [])
        refused = other.client.post("/v1/owners/ann/memories", json={"content": LISBON})
        assert refused.status_code == 422
        remembered(other.application, PORTO, owner="bob")
        answer = other.client.post("/v1/owners/bob/import/records", **lines).json()
        assert answer["rejections_left_out"] == {"keyed by another secret": 1}
