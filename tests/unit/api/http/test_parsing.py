"""JSON bodies read strictly, and never on the event loop."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, Body, FastAPI
from fastapi.testclient import TestClient
from pydantic import BaseModel, ConfigDict, Field, field_validator
from starlette.types import ASGIApp, Receive, Scope, Send

from engramlog_server.api.http import problem
from engramlog_server.api.http.guard import Bodies
from engramlog_server.api.http.routing import BodyRoute, read_json
from engramlog_server.events.errors import InputError

JSON = {"content-type": "application/json"}
BY: list[threading.Thread] = []


class Told(BaseModel):
    """A body."""

    model_config = ConfigDict(extra="forbid")

    name: str
    number: float = 0.0
    count: int = Field(default=0, strict=True)

    @field_validator("name")
    @classmethod
    def _watched(cls, value: str) -> str:
        BY.append(threading.current_thread())
        return value


async def _read(bodies: Bodies, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """As the guard does."""
    if scope["type"] == "http":
        await bodies.answered(app, scope, receive, send)
    else:
        await app(scope, receive, send)


@pytest.fixture
def client() -> Iterator[TestClient]:
    """A small application whose route tells what it got, and on which thread its event loop runs."""
    router = APIRouter(route_class=BodyRoute)

    @router.post("/told")
    async def told(told: Told) -> dict[str, Any]:
        BY.append(threading.current_thread())
        return told.model_dump()

    @router.post("/maybe")
    async def maybe(told: Annotated[Told | None, Body()] = None) -> dict[str, Any]:
        return {"told": told.model_dump() if told else None}

    app = FastAPI()
    problem.install(app)
    app.include_router(router)
    app.add_middleware(lambda inner: partial(_read, Bodies(), inner))  # type: ignore[arg-type]
    BY.clear()
    with TestClient(app) as opened:
        yield opened


def test_a_body_becomes_its_object_and_may_be_left_out_where_it_is_optional(client: TestClient) -> None:
    told = {"name": "喝茶", "number": 1.5, "count": 3}
    assert client.post("/told", json=told).json() == told
    assert client.post("/maybe", json=told).json() == {"told": told}
    assert client.post("/maybe").json() == client.post("/maybe", content=b"null", headers=JSON).json() == {"told": None}
    assert client.post("/told").json()["problems"][0]["allowed"] == "a value: it is required"


def test_a_body_is_parsed_and_validated_beside_the_event_loop(client: TestClient) -> None:
    assert client.post("/told", json={"name": "x"}).status_code == 200
    validated, answered = BY
    assert validated is not answered


@pytest.mark.parametrize(
    ("body", "field", "said"),
    [
        (b"{", "body", "that is not JSON"),
        (b"", "body", "a value: it is required"),
        (b'{"name": "x", "name": "y"}', "name", "the same name twice"),
        (b'{"name": "x", "number": NaN}', "body", "NaN"),
        (b'{"name": "x", "number": -Infinity}', "body", "-Infinity"),
        (b'{"name": "x", "number": 1e999}', "body", "1e999"),
        (b'{"name": "x", "count": 1' + b"0" * 100_000 + b"}", "body", "100,001 digits"),
        (b'{"name": "x", "count": 1.5}', "count", "1.5"),
        (b'{"name": "\\ud800"}', "name", ""),
        (b'\xef\xbb\xbf{"name": "x"}', "body", "byte order mark"),
        ('{"name": "x"}'.encode("utf-16"), "body", "no UTF-8"),
        (b'{"name": "\xff"}', "body", "no UTF-8, at byte 10"),
        (b'{"name": "x", "further": 1}', "further", "no such field"),
        (b"[1, 2]", "body", "[1, 2]"),
        (b'"' + b"[" * 200 + b'"', "body", ""),
        (b"[" * 200 + b"]" * 200, "body", "more than 100 deep"),
    ],
)
def test_what_is_ambiguous_or_beyond_any_use_is_refused_by_its_name(
    client: TestClient, body: bytes, field: str, said: str
) -> None:
    answer = client.post("/told", content=body, headers=JSON)
    told = answer.json()
    assert (answer.status_code, told["error"], told["field"]) == (422, "InputError", field), answer.text
    assert said in told["detail"]
    assert told["allowed"]


def test_of_many_errors_the_first_hundred_are_told_and_all_are_counted(client: TestClient) -> None:
    told = client.post("/told", json={"name": "x"} | {f"n{number}": 1 for number in range(5_000)}).json()
    assert len(told["problems"]) == 100
    assert "(and 4999 more)" in told["detail"]


def test_whole_numbers_of_64_bits_are_read_and_no_longer_ones() -> None:
    assert read_json(f"[{2**63 - 1}, {-(2**63)}, -1.5e3]".encode()) == [2**63 - 1, -(2**63), -1500.0]
    for number in (2**63, -(2**63) - 1, 10**23):
        with pytest.raises(InputError, match="64 bits"):
            read_json(str(number).encode())
