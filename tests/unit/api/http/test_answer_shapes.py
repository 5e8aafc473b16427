"""The client of the tests refuses every answer that is not what its route documents."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import BaseModel, ConfigDict
from starlette.responses import PlainTextResponse

from api.http.answer import Json, documented
from api.operations import answers
from tests.given.shaped import OutOfShape, shape_checks
from tests.rows import each_row


class Leaf(BaseModel):
    """A model within another one."""

    weight: float
    note: str | None = None


class Tree(BaseModel):
    """A model that may gain fields, as all published ones may."""

    model_config = ConfigDict(extra="allow")

    name: str
    leaves: list[Leaf]
    by_name: dict[str, Leaf] = {}


GOOD: dict[str, Any] = {"name": "oak", "leaves": [{"weight": 1}, {"weight": 0.5, "note": "dry"}]}


def asked(answer: Any, *, status: int = 200, path: str = "/trees/oak") -> int:
    """Ask a service that answers so; the status."""
    app = FastAPI()
    told = documented(Tree, "A tree.", 404, example=GOOD)

    @app.get("/trees/{name}", responses=told)
    def tree(name: str) -> Any:
        assert name
        return PlainTextResponse(answer) if isinstance(answer, str) else Json(answer, status)

    with TestClient(app) as client:
        client.event_hooks = {"response": [shape_checks(app)]}
        return client.get(path).status_code


def test_an_answer_of_its_shape_passes() -> None:
    assert asked(GOOD | {"by_name": {"a": {"weight": 2.5}}}) == 200


@each_row(
    ("answer", "where"),
    [
        (GOOD | {"age": 3}, "age: extra_forbidden"),
        (GOOD | {"leaves": [{"weight": 1.0, "colour": "red"}]}, r"leaves\.0\.colour: extra_forbidden"),
        (GOOD | {"by_name": {"a": {"weight": 1.0, "colour": "red"}}}, r"by_name\.a\.colour: extra_forbidden"),
        (GOOD | {"name": 3}, "name: string_type"),
        (GOOD | {"leaves": [{"weight": "1.0"}]}, r"leaves\.0\.weight: float_type"),
        (GOOD | {"leaves": [{"weight": None}]}, r"leaves\.0\.weight: float_type"),
        ({"name": "oak"}, "leaves: missing"),
        ([GOOD], "model_type"),
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
    shapes = list(vars(answers).values())
    models = [one for one in shapes if isinstance(one, type) and issubclass(one, BaseModel)]
    telling = [one for one in models if "behind" in one.model_fields]
    assert len(telling) > 25
    assert [one.__name__ for one in telling if "quarantined" not in one.model_fields] == []
