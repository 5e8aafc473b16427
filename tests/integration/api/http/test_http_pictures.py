"""Pictures by HTTP and by the client: the figures of JSON, drawn, in an answer that can run and fetch nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.drawn import read
from tests.given.http import HttpStore, http_store
from tests.rows import each_row

OWNER = "团队/α"
PATH = "/v1/owners/%E5%9B%A2%E9%98%9F%2F%CE%B1"
HOSTILE = "<script>alert(1)</script> \u202ecoffee\u202c & tea"
WINDOW = {"since": "2026-01-01T00:00:00Z", "until": "2026-03-01T00:00:00Z"}


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    with http_store(tmp_path_factory.mktemp("pictures")) as store:
        told = [
            ("coffee", HOSTILE),
            ("tea", "早上喝茶，下午喝咖啡 coffee"),
            ("pin", "the coffee machine's PIN is 4821"),
        ]
        for memory_id, text in told:
            answer = store.client.post(
                f"{PATH}/memories",
                json={"content": text, "memory_id": memory_id, "occurred_at": "2026-01-05T08:00:00Z"},
            )
            assert answer.status_code == 200, answer.text
        mentioned = store.client.post(f"{PATH}/memories/coffee/mention", json={"occurred_at": "2026-02-05T08:00:00Z"})
        assert mentioned.status_code == 200
        yield store


PICTURES = [("/memories/coffee/compare.svg", WINDOW), ("/map.svg", {"topic": "coffee", "mode": "review"})]


@each_row(("path", "asked"), PICTURES)
def test_a_picture_is_an_svg_that_may_do_nothing(http: HttpStore, path: str, asked: dict[str, str]) -> None:
    answer = http.client.get(PATH + path, params=asked | {"theme": "dark", "language": "zh", "width": 390})
    assert answer.status_code == 200, answer.text
    headers = answer.headers
    assert headers["content-type"].startswith("image/svg+xml")
    assert headers["content-security-policy"].startswith("default-src 'none'")
    assert "sandbox" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-disposition"] == f'inline; filename="{path.rsplit("/", 1)[1]}"'
    assert headers["cache-control"] == "no-store"
    picture = read(answer.text)
    assert (picture.get("width"), picture.get("data-theme"), picture.get("data-language")) == ("390", "dark", "zh")
    assert (picture.get("data-owner"), picture.get("data-position")) == (OWNER, headers["engramlog-position"])
    assert "<script" not in answer.text
    assert "\u202e" not in answer.text
    assert "4821" not in answer.text


@each_row(
    ("path", "asked", "status", "field"),
    [
        ("/map.svg", {"topic": "coffee", "theme": "sepia"}, 422, "theme"),
        ("/map.svg", {"topic": "coffee", "language": "fr"}, 422, "language"),
        ("/map.svg", {"topic": "coffee", "width": 100_000}, 422, "width"),
        ("/map.svg", {"topic": "coffee", "height": "tall"}, 422, "height"),
        ("/map.svg", {"topic": "coffee", "depth": 9}, 422, "depth"),
        ("/map.svg", {"topic": "coffee", "colour": "red"}, 422, "colour"),
        ("/memories/nobody/compare.svg", {}, 404, None),
        ("/memories/coffee/compare.svg", {"points": 1}, 422, "points"),
    ],
)
def test_what_cannot_be_drawn_is_refused_as_json_is(
    http: HttpStore, path: str, asked: dict[str, Any], status: int, field: str | None
) -> None:
    answer = http.client.get(PATH + path, params=asked)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert answer.json().get("field") == field
