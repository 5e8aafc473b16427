"""The client of the tests refuses every answer that is not what its route documents."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.responses import PlainTextResponse

import engramlog
from engramlog import answers
from engramlog.answers import Result
from engramlog_server.api.access import ALL
from engramlog_server.api.http.routing import Json, documented
from tests.given.shaped import OutOfShape, shape_checks
from tests.rows import each_row


class Leaf(Result):
    """A part of an answer."""

    weight: float
    note: str | None = None


class Tree(Result):
    """An answer."""

    name: str
    leaves: list[Leaf]
    by_name: dict[str, Leaf] = {}  # noqa: RUF012


GOOD: dict[str, Any] = {"name": "oak", "leaves": [{"weight": 1}, {"weight": 0.5, "note": "dry"}]}


def asked(answer: Any, *, status: int = 200, path: str = "/trees/oak") -> int:
    """Ask a service that answers so; the status."""
    app = FastAPI()
    told = documented("Tree", "A tree.", 404)

    @app.get("/trees/{name}", responses=told)
    def tree(name: str) -> Any:
        assert name
        return PlainTextResponse(answer) if isinstance(answer, str) else Json(answer, status)

    with pytest.MonkeyPatch.context() as patch, TestClient(app) as client:
        patch.setattr(answers, "Tree", Tree, raising=False)
        client.event_hooks = {"response": [shape_checks(app)]}
        return client.get(path).status_code


def test_an_answer_of_its_shape_passes() -> None:
    assert asked(GOOD | {"by_name": {"a": {"weight": 2.5}}}) == 200


@each_row(
    ("answer", "where"),
    [
        (GOOD | {"age": 3}, "age: unexpected_keyword_argument"),
        (GOOD | {"leaves": [{"weight": 1.0, "colour": "red"}]}, r"leaves\.0\.colour: unexpected_keyword_argument"),
        (
            GOOD | {"by_name": {"a": {"weight": 1.0, "colour": "red"}}},
            r"by_name\.a\.colour: unexpected_keyword_argument",
        ),
        (GOOD | {"name": 3}, "name: string_type"),
        (GOOD | {"leaves": [{"weight": "1.0"}]}, r"leaves\.0\.weight: float_type"),
        (GOOD | {"leaves": [{"weight": None}]}, r"leaves\.0\.weight: float_type"),
        ({"name": "oak"}, "leaves: missing"),
        ([GOOD], "dataclass_type"),
    ],
    ids=str,
)
def test_an_answer_out_of_its_shape_is_refused_with_the_place(answer: Any, where: str) -> None:
    with pytest.raises(OutOfShape, match=rf"GET /trees/oak answers otherwise than Tree says: .*{where}"):
        asked(answer)


def test_a_status_that_the_route_does_not_document_is_refused() -> None:
    with pytest.raises(OutOfShape, match=r"GET /trees/\{name\}: 207 is not among its answers"):
        asked(GOOD, status=207)


def test_problems_and_what_is_no_json_are_left_alone() -> None:
    assert asked({"detail": "no"}, status=404) == 404
    assert asked("a text") == 200
    assert asked(GOOD, path="/nothing") == 404


def test_every_answer_that_tells_how_far_behind_it_is_tells_a_quarantine_too() -> None:
    names = {one.answer for one in ALL if one.answer} | set(engramlog.__all__)
    kinds = [one for name, one in vars(answers).items() if name in names]
    telling = [one for one in kinds if "behind" in one.__dataclass_fields__]
    assert len(telling) > 25
    assert [one.__name__ for one in telling if "quarantined" not in one.__dataclass_fields__] == []
