"""Exported chats over HTTP: all shapes, whole or nothing, bounded, the same turns as the command's; and extraction."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any
from urllib.parse import quote

import orjson
import pytest

import engramlog_server.api.exchange.chats
import engramlog_server.api.services.jobs
from engramlog.answers import ChatsImported, Extracted
from engramlog_server.api.http.routes import operations
from engramlog_server.api.services.jobs import Extractor
from engramlog_server.events.partitions import partition_of
from engramlog_server.projections.checks import Check
from tests.given.chats import AT, OPENAI, SHAPES, file_of
from tests.given.http import HttpStore
from tests.given.shaped import checked
from tests.patience import PATIENCE
from tests.rows import each_row

LINES = {"content-type": "application/x-ndjson"}
JSON = {"content-type": "application/json"}


def sent(http: HttpStore, owner: str, body: object, status: int = 200, asked: dict[str, Any] | None = None) -> Any:
    """What sending chats is answered: bytes go as lines, anything else as JSON."""
    content, headers = (body, LINES) if isinstance(body, bytes) else (orjson.dumps(body), JSON)
    path = f"/v1/owners/{quote(owner, safe='')}/chats"
    answer = http.client.post(path, content=content, headers=headers, params=asked or {})
    assert answer.status_code == status, answer.text
    return answer.json()


def turn(number: int, text: object = "I drink coffee") -> dict[str, Any]:
    return {"turn_id": f"t{number}", "occurred_at": "2024-01-01T08:00:00Z", "speaker": "user", "text": text}


def head(http: HttpStore, owner: str) -> int:
    return http.application.log.head(partition_of(owner, http.application.log.partitions))


def listed(http: HttpStore, owner: str) -> list[str]:
    return [one["memory"] for one in http.application.reader.list(owner, mode="debug")["memories"]]


@each_row("form", ["a list", "one conversation", "lines"])
@each_row("shape", SHAPES)
def test_an_export_of_any_shape_goes_in_and_a_second_time_nothing(http: HttpStore, shape: str, form: str) -> None:
    owner = f"林/{shape}-{form.replace(' ', '-')}"
    conversation = SHAPES[shape]
    body = {"a list": [conversation], "one conversation": conversation, "lines": b"".join(file_of(conversation))}[form]
    first = sent(http, owner, body)
    checked(ChatsImported, first)
    assert (first["owner"], first["shape"], first["turns"], first["appended"]) == (owner, shape, 2, 4)
    assert len(listed(http, owner)) == 2
    second = sent(http, owner, body)
    assert (second["appended"], second["already_appended"]) == (0, 4)


BAD: list[tuple[str, object, dict[str, Any], dict[str, Any]]] = [
    ("a line", orjson.dumps(turn(1)) + b"\n\nnonsense", {}, {"field": "turn", "line": 3}),
    ("a field", orjson.dumps(turn(1)) + b"\n" + orjson.dumps(turn(2, 7)), {}, {"field": "text", "line": 2}),
    ("an id", orjson.dumps(turn(1)) + b"\n" + orjson.dumps(turn(1, "tea")), {}, {"field": "turn_id"}),
    ("no shape", {"hello": "world"}, {}, {"field": "body"}),
    ("no JSON", b"{", {}, {"field": "body"}),
    ("nothing", b"", {}, {"field": "body"}),
    ("a number", 7, {}, {"field": "body"}),
    ("another shape", [OPENAI], {"shape": "claude"}, {"field": "body"}),
    ("an unknown shape", [OPENAI], {"shape": "round"}, {"field": "shape"}),
    ("an unknown parameter", [OPENAI], {"shap": "openai"}, {"field": "shap"}),
    ("a time", [OPENAI], {"since": "yesterday"}, {"field": "since"}),
]


@each_row(("body", "asked", "told"), [one[1:] for one in BAD], ids=[one[0] for one in BAD])
def test_of_chats_with_something_bad_nothing_is_written(
    http: HttpStore, body: object, asked: dict[str, Any], told: dict[str, Any]
) -> None:
    before = head(http, "bad")
    refusal = sent(http, "bad", body, 422, asked)
    said = refusal if "field" in refusal else refusal["problems"][0]
    assert {name: said[name] for name in told} == told
    assert {"got", "allowed"} <= said.keys()
    assert head(http, "bad") == before


def test_what_cannot_be_read_is_left_out_counted_and_named(http: HttpStore) -> None:
    bad = OPENAI | {"id": "c2", "messages": [OPENAI["messages"][1], {"role": "boss", "content": "x"}]}
    answer = sent(http, "odd", [OPENAI, bad, 7])
    checked(ChatsImported, answer)
    assert (answer["turns"], answer["conversations"]) == (3, 2)
    assert (answer["left_out"]["unknown_role"], answer["left_out"]["unknown_shape"]) == (1, 1)
    places = [(one["conversation"], one.get("id"), one.get("message"), one["reason"]) for one in answer["unreadable"]]
    assert places == [(2, "c2", 2, "unknown_role"), (3, None, None, "unknown_shape")]


def test_more_turns_or_bytes_than_a_piece_may_hold_are_too_many(
    http: HttpStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engramlog_server.api.exchange.chats, "MOST_CHAT_TURNS", 3)
    before = head(http, "large")
    body = b"\n".join(orjson.dumps(turn(n)) for n in range(4))
    refusal = sent(http, "large", body, 413)
    assert (refusal["error"], refusal["allowed"], head(http, "large")) == ("RequestTooLarge", 3, before)
    assert sent(http, "large", body.rpartition(b"\n")[0])["turns"] == 3
    monkeypatch.setattr(engramlog_server.api.exchange.chats, "MOST_CHAT_BYTES", len(body) - 1)
    assert sent(http, "large", body, 413)["got"] == len(body)


# --- extraction -----------------------------------------------------------------------------------------------------


def extracted(http: HttpStore, owner: str, body: object = None, status: int = 200) -> Any:
    content = None if body is None else orjson.dumps(body)
    answer = http.client.post(f"/v1/owners/{owner}/extract", content=content, headers=JSON if content else {})
    assert answer.status_code == status, answer.text
    return answer.json()


def test_turns_become_typed_memories_once_and_are_shown_before(http: HttpStore) -> None:
    talk = {"id": "c1", "created_at": AT, "messages": [{"role": "user", "content": "I live in Berlin. 我喜欢爬山。"}]}
    sent(http, "ada", talk)
    before = head(http, "ada")
    shown = extracted(http, "ada", {"dry_run": True})
    checked(Extracted, shown)
    assert (shown["dry_run"], shown["counts"], head(http, "ada")) == (True, {"add": 2}, before)
    done = extracted(http, "ada")
    checked(Extracted, done)
    assert (done["dry_run"], done["counts"]["add"], len(listed(http, "ada"))) == (False, 2, 3)
    again = extracted(http, "ada", {})
    assert (again["appended"], again["counts"]) == (0, {})


def test_an_owner_without_turns_has_nothing_to_extract(http: HttpStore) -> None:
    assert extracted(http, "nobody")["appended"] == 0


@each_row("body", [{"dry": True}, {"dry_run": "perhaps"}, [], 7])
def test_a_body_that_says_something_else_is_refused(http: HttpStore, body: object) -> None:
    refusal = extracted(http, "ada", body, 422)
    assert {"field", "got", "allowed"} <= refusal.keys() | refusal["problems"][0].keys()


@each_row(("by", "why"), [("magic", {"field": "by", "got": "magic"}), ("model", {"setting": "model"})])
def test_by_what_cannot_be_is_refused(http: HttpStore, by: str, why: dict[str, str]) -> None:
    told = extracted(http, "ada", {"by": by}, 422)
    assert told | why == told
    assert extracted(http, "ada", {"by": by, "dry_run": True}, 422)["detail"] == told["detail"]


class Reading:
    """A way of reading turns that takes as long as a test wants, and how many of its runs were under way at once."""

    def __init__(self, trouble: str | None = None) -> None:
        self.trouble = trouble
        self.at_once: list[int] = []
        self.began, self.go_on = Event(), Event()
        self.go_on.set()
        self.stopped: list[bool] = []

    def extract(self, owner: str, *, stop: Callable[[], bool], on_progress: Any, check: Check) -> Reading:
        check(0, 0)
        self.at_once.append(self.at_once[-1] + 1 if self.at_once else 1)
        self.stopped.append(stop())
        self.began.set()
        assert self.go_on.wait(PATIENCE)
        self.at_once.append(self.at_once[-1] - 1)
        return self

    def as_dict(self) -> dict[str, Any]:
        told = {"counts": {}, "decisions": [], "appended": 0, "position": None, "by": "a model", "read": 1, "left": 1}
        return (
            told
            | {"by_rules": [], "refused": {}, "usage": dict.fromkeys(("requests", "input_tokens", "output_tokens"), 0)}
            | {"trouble": self.trouble}
        )


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> Reading:
    way = Reading()
    monkeypatch.setattr(Extractor, "_way", lambda _extractor, _by: way)
    return way


def test_a_model_that_failed_is_told_and_is_no_error(http: HttpStore, reading: Reading) -> None:
    reading.trouble = "the endpoint is down"
    assert extracted(http, "ada", {"by": "model"}, 207)["trouble"] == "the endpoint is down"


@pytest.mark.parametrize(("seconds", "stopped"), [(60.0, False), (-1.0, True)])
def test_a_request_ends_when_its_time_is_over(
    http: HttpStore, reading: Reading, monkeypatch: pytest.MonkeyPatch, seconds: float, stopped: bool
) -> None:
    monkeypatch.setattr(operations, "RUN_SECONDS", seconds)
    assert (extracted(http, "ada", {"by": "model"})["left"], reading.stopped) == (1, [stopped])


def test_of_one_owner_one_request_reads_turns_at_a_time(http: HttpStore, reading: Reading) -> None:
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: http.application.extractor.extract("ada", "model"), range(4)))
    assert (len(answers), reading.at_once) == (4, [1, 0] * 4)


def test_who_waits_too_long_for_another_is_told_to_come_again(
    http: HttpStore, reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engramlog_server.api.services.jobs, "WAIT_SECONDS", 0.01)
    reading.go_on.clear()
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(http.application.extractor.extract, "ada", "model")
        assert reading.began.wait(PATIENCE)
        assert extracted(http, "ada", {"by": "model"}, 409)["error"] == "ConcurrencyError"
        reading.go_on.set()
        assert first.result()["read"] == 1
