"""An event that came late is marked wherever changes are told: over a real log, whose clock is Redis's."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import nullcontext, redirect_stdout
from datetime import datetime
from typing import Any

import pytest

from engramlog_server.api.cli.main import run
from tests.given.client import Service, service
from tests.given.http import created, event
from tests.rows import each_row

OWNER = "late"
NEGATED = "2026-03-02T08:00:00Z"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A memory said now, and one whose negation is dated early in March; both by whoever holds the token."""
    with service(tmp_path_factory.mktemp("late")) as made:
        now = made.http.store.log.now()
        at = datetime.fromtimestamp(now / 1_000_000).astimezone().isoformat()
        made.http.told(OWNER, created("m", owner=OWNER, at="2026-03-01T08:00:00Z"), created("n", owner=OWNER, at=at))
        made.http.told(OWNER, event("MemoryNegated", owner=OWNER, at=NEGATED, memory_id="m"))
        yield made


def is_late(change: dict[str, Any]) -> bool:
    """Whether it is told as late, by exactly what lies between its two times."""
    assert change["principal"]
    recorded, occurred = (datetime.fromisoformat(change[name]) for name in ("recorded_at", "time"))
    if change["late_by"] is None:
        return False
    assert change["late_by"] == pytest.approx((recorded - occurred).total_seconds(), abs=1e-3)
    return True


@each_row("path", ["memories/m/history", "memories/m/why"])
def test_history_and_why_mark_a_negation_that_is_dated_early(running: Service, path: str) -> None:
    changes = running.http.client.get(f"/v1/owners/{OWNER}/{path}").json()["changes"]
    assert [(one["event"], is_late(one)) for one in changes] == [("MemoryCreated", True), ("MemoryNegated", True)]


@each_row("words", [("history", OWNER, "m"), ("why", OWNER, "m")])
def test_people_read_how_much_later(running: Service, words: tuple[str, ...]) -> None:
    assert printed(running, *words).count("later") >= 1


def test_an_export_marks_what_was_recorded_late(running: Service) -> None:
    lines = [
        json.loads(line) for line in printed(running, "export", OWNER, "--include", "negated,superseded").splitlines()
    ]
    assert {line["memory_id"]: "late_by" in line for line in lines} == {"m": True, "n": False}
    assert all(line["recorded_at"] and line["principal"] for line in lines)


def printed(running: Service, *words: str) -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    plain = io.StringIO()
    from engramlog_server.api.cli.app import out as console

    console.file, console.width = plain, 400
    try:
        with redirect_stdout(out):
            assert run(lambda: nullcontext(running.http.application), [*words]) == 0
    finally:
        console.file = None  # type: ignore[assignment]
    return out.buffer.getvalue().decode() + plain.getvalue()  # type: ignore[attr-defined]
