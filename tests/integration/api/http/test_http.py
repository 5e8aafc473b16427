"""The HTTP face over a real store: answers of documented shapes, the command line's errors, and a guarded door."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from threading import Event as Flag
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.routing import APIRoute

import engramlog_server.api.cli.commands.memories
import engramlog_server.api.cli.commands.store
import engramlog_server.api.cli.commands.write  # noqa: F401 - registers its commands
from engramlog_server.api.cli.main import run
from engramlog_server.api.http import routing as parsing
from engramlog_server.api.http.guard import OTHERS, SMALL, limit_of
from engramlog_server.api.http.routing import read_json
from engramlog_server.api.http.serve import check_host
from engramlog_server.events.errors import BadSetting
from tests.given.http import HttpStore, app_of, client_of, created, http_store, mentioned
from tests.patience import PATIENCE
from tests.rows import each_row

COFFEE = "/v1/owners/alice/memories/coffee"
SECRET_TEXT = "my password is hunter2-Xq9!"
PROBLEM_FIELDS = {"type", "title", "status", "detail", "error"}


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    """One store: alice drinks coffee and tea, bob has a secret."""
    folder: Path = tmp_path_factory.mktemp("http")
    with http_store(folder) as opened:
        opened.told("alice", created("coffee"), created("tea", "I drink tea"), mentioned("coffee"))
        opened.told("bob", created("secret", SECRET_TEXT, owner="bob", sensitivity=3))
        yield opened


@each_row("owner", ["团队/α@x+1", "a/b/c", "100:3.x@y+z-_", "a/memories/b", "ünï"])
@each_row("memory_id", ["D1:3", "a/b", "why", "记忆@1+2"])
def test_ids_of_any_script_and_with_slashes_are_reached_percent_encoded(
    http: HttpStore, owner: str, memory_id: str
) -> None:
    event = created(memory_id, owner=owner)
    position = http.append(event)[0]
    there = f"/v1/owners/{quote(owner, safe='')}/memories/{quote(memory_id, safe='')}"
    assert http.client.get(there, params={"after": position}).json()["id"] == memory_id
    why = http.client.get(f"{there}/why").json()
    assert (why["id"], why["changes"][0]["event_id"]) == (memory_id, event["event_id"])


def test_a_slash_that_is_not_encoded_names_no_owner_and_the_answer_says_how_to_write_it(http: HttpStore) -> None:
    answer = http.client.get("/v1/owners/a/b/search?query=x")
    assert (answer.status_code, "%2F" in answer.json()["detail"]) == (404, True)


def test_a_search_of_the_present_is_recorded_after_its_answer_unless_asked_not_to(http: HttpStore) -> None:
    http.told("shown", created("coffee", owner="shown"))
    http.application.accesses.flush()
    for asked in ({"trace": "false"}, {"mode": "review"}, {"at": "2026-03-01T00:00:00Z"}, {}):
        assert (
            len(http.client.get("/v1/owners/shown/search", params={"query": "coffee", **asked}).json()["results"]) == 1
        )
    (receipt,) = [r for r in http.application.accesses.flush() if r.position]
    there = "/v1/owners/shown/memories/coffee"
    told = http.client.get(there, params={"after": receipt.position, "trace": "false"}).json()
    assert told["access_count"] == 1


CLI_CASES: list[tuple[list[str], str, dict[str, Any] | None]] = [
    (["search", "alice", "coffee", "--mode", "all"], "/v1/owners/alice/search?query=coffee&mode=all", None),
    (["search", "alice", "coffee", "--limit", "0"], "/v1/owners/alice/search?query=coffee&limit=0", None),
    (["search", "alice", " "], "/v1/owners/alice/search?query=%20", None),
    (["search", "a b", "coffee"], "/v1/owners/a%20b/search?query=coffee", None),
    (["list", "alice", "--as-of", "yesterday"], "/v1/owners/alice/memories?as_of=yesterday", None),
    (["list", "alice", "--as-of", "77:1"], "/v1/owners/alice/memories?as_of=77:1", None),
    (["list", "alice", "--after", "x"], "/v1/owners/alice/memories?after=x", None),
    (["get", "alice", "nothing"], "/v1/owners/alice/memories/nothing", None),
    (["get", "alice", "a b"], "/v1/owners/alice/memories/a%20b", None),
    (["why", "alice", "nothing"], "/v1/owners/alice/memories/nothing/why", None),
    (["history", "alice", "nothing"], "/v1/owners/alice/memories/nothing/history", None),
    (["stats", "a b"], "/v1/owners/a%20b/stats", None),
    (["dead", "alice"], "/v1/dead/alice", None),
    (["dead", "--retry", "alice"], "/v1/dead/alice/retry", {}),
    (["dead", "alice", "--discard", "3:1"], "/v1/dead/alice/discard", {"position": "3:1"}),
    (["negate", "alice", "nothing"], "/v1/owners/alice/memories/nothing/negate", {}),
    (
        ["negate", "alice", "coffee", "--correction", "a", "--replaced-by", "b"],
        f"{COFFEE}/negate",
        {"correction": "a", "replaced_by": "b"},
    ),
    (["delete", "alice", "coffee", "--occurred-at", "now"], f"{COFFEE}/delete", {"occurred_at": "now"}),
    (["delete", "--undo", "alice", "nothing"], "/v1/owners/alice/memories/nothing/restore", {}),
    (["merge", "alice", "coffee"], "/v1/owners/alice/merge", {"sources": ["coffee"]}),
    (["unmerge", "alice", "nothing"], "/v1/owners/alice/memories/nothing/unmerge", {}),
    (["replay", "alice", "--set", "alpha=1"], "/v1/owners/alice/replay", {"parameters": {"alpha": 1}}),
    (["replay", "alice", "--without", "none"], "/v1/owners/alice/replay", {"without": ["none"]}),
    (["replay", "alice", "--query", "x", "--limit", "0"], "/v1/owners/alice/replay", {"queries": ["x"], "limit": 0}),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "path", "body"), CLI_CASES)
def test_an_error_is_the_same_as_on_the_command_line(
    http: HttpStore, capsys: pytest.CaptureFixture[str], arguments: list[str], path: str, body: dict[str, Any] | None
) -> None:
    code = run(lambda: nullcontext(http.application), [*arguments, "--json"])
    told = json.loads(capsys.readouterr().out)
    answer = http.client.get(path) if body is None else http.client.post(path, json=body)
    problem = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert (code, 400 <= answer.status_code < 500, problem["status"]) == (2, True, answer.status_code)
    assert {"error": problem["error"], "message": problem["detail"]} | {
        name: value for name, value in problem.items() if name not in PROBLEM_FIELDS
    } == told


@each_row(
    ("method", "path", "body", "expected"),
    [
        ("GET", "/v1/owners/alice/search", None, (422, "query", "nothing")),
        ("GET", "/v1/owners/alice/search?query=x&limit=many", None, (422, "limit", "many")),
        ("GET", "/v1/owners/alice/search?query=x&asof=3", None, (422, "asof", "3")),
        ("GET", "/v1/owners/%FF/search?query=x", None, (422, "owner", "%FF")),
        ("GET", "/v1/schema?event=Nothing", None, (422, "event", "Nothing")),
        ("GET", f"{COFFEE}?reveal=true", None, (422, "reveal", "true")),
        ("GET", "/v1/owners/alice/export?reveal=true", None, (422, "reveal", "true")),
        ("POST", f"{COFFEE}/reveal", b'{"actor": "god"}', (422, "actor", "god")),
        ("POST", "/v1/owners/alice/merge", b"{}", (422, "sources", "nothing")),
        ("POST", "/v1/owners/alice/merge", b'{"sources": [1, "a"]}', (422, "sources[0]", "1")),
        ("POST", f"{COFFEE}/delete", b'{"why": "x"}', (422, "why", "x")),
        ("POST", f"{COFFEE}/delete", b"{", (422, "body", "a text that is not JSON")),
        ("POST", f"{COFFEE}/negate", b'{"actor": "god"}', (422, "actor", "god")),
        ("GET", "/v1/nothing", None, (404, None, None)),
        ("DELETE", "/v1/status", None, (405, None, None)),
    ],
)
def test_what_fastapi_refuses_is_told_in_the_same_shape(
    http: HttpStore, method: str, path: str, body: bytes | None, expected: tuple[int, str | None, str | None]
) -> None:
    headers = {"content-type": "application/json"} if body is not None else {}
    answer = http.client.request(method, path, content=body, headers=headers)
    told = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert told.keys() >= PROBLEM_FIELDS
    assert (answer.status_code, told.get("field"), told.get("got")) == expected


def test_every_question_refuses_a_parameter_that_it_does_not_know(http: HttpStore) -> None:
    """Also one that takes none: a misspelt `as_of` would be answered about the present."""
    owner = "asker"
    http.told(owner, created("coffee", owner=owner))
    paths = http.client.get("/v1/openapi.json").json()["paths"]
    asked = [path for path, methods in paths.items() if "get" in methods and path.startswith("/v1/")]
    assert len(asked) > 25
    for path in asked:
        where = path.replace("{owner}", owner).replace("{memory_id}", "coffee")
        given = {one["name"]: "coffee" for one in paths[path]["get"].get("parameters", ()) if one["required"]}
        answer = http.client.get(where, params=given | {"as_ofs": "2023-10-22"})
        assert (answer.status_code, "as_ofs" in answer.text) == (422, True), (path, answer.text)


@each_row(
    ("method", "path", "field", "allowed"),
    [
        ("get", "memories?limit=1&limit=2", "limit", "one of them"),
        ("get", "search?query=tea&mode=review&mode=debug", "mode", "one of them"),
        ("post", "memories/coffee/negate?key=k", "key", "in the body"),
        ("post", "chats?shape=lines&shape=claude", "shape", "one of them"),
    ],
)
def test_what_would_not_be_heard_is_refused(http: HttpStore, method: str, path: str, field: str, allowed: str) -> None:
    http.told("twice", created("coffee", owner="twice"))
    answer = http.client.request(method, f"/v1/owners/twice/{path}")
    assert (answer.status_code, answer.json()["field"], allowed in answer.text) == (422, field, True)
    assert http.client.get("/v1/owners/twice/memories/coffee").json()["is_negated"] is False


def test_what_may_be_told_several_times_is_heard_each_time(http: HttpStore) -> None:
    http.told("twice", created("coffee", owner="twice"), created("tea", "I drink tea", owner="twice", kind="note"))
    found = http.client.get("/v1/owners/twice/search?query=drink&kinds=note&kinds=fact&mode=debug").json()
    assert {one["kind"] for one in found["results"]} == {"note", "fact"}


def test_a_method_that_is_not_allowed_is_answered_with_those_that_are(http: HttpStore) -> None:
    assert http.client.delete("/v1/status").headers["allow"] == "GET"


@each_row(
    ("headers", "status"),
    [
        ({"host": "127.0.0.1:8733"}, 200),
        ({"host": "LOCALHOST:8733"}, 200),
        ({"host": "localhost"}, 421),
        ({"host": "localhost:8734"}, 421),
        ({"host": "localhost:many"}, 421),
        ({"host": "me@127.0.0.1:8733"}, 421),
        ({"host": "[::1]:8733"}, 200),
        ({"host": "attacker.example"}, 421),
        ({"host": "127.0.0.1.attacker.example"}, 421),
        ({"host": "0.0.0.0:8733"}, 421),
        ({"host": ""}, 421),
        ({"host": "127.1.2.3:8733"}, 200),
        ({"host": "127.0.0.1:8733?"}, 421),
        ({"host": "127.0.0.1:8733#"}, 421),
        ({"host": "127.0.0.1:8733/"}, 421),
        ({"host": "127.0.0.1:08733"}, 421),
        ({"host": "127.0.0.1:+8733"}, 421),
        ({"host": "localhost.:8733"}, 421),
        ({"host": "127.1:8733"}, 421),
        ({"host": "2130706433:8733"}, 421),
        ({"host": "[::1%25lo]:8733"}, 421),
        ({"host": "[0:0:0:0:0:0:0:1]:8733"}, 421),
        ({"host": "[127.0.0.1]:8733"}, 421),
        ({"host": "::1:8733"}, 421),
        ({"origin": "http://127.0.0.1:8733?"}, 403),
        ({"origin": "http://127.0.0.1:08733"}, 403),
        ({"host": "[::1"}, 421),
        ({"origin": "http://127.0.0.1:8733"}, 200),
        ({"origin": "http://localhost:8733", "host": "localhost:8733"}, 200),
        ({"origin": "http://localhost:8733"}, 403),
        ({"origin": "http://127.0.0.1:3000"}, 403),
        ({"origin": "https://127.0.0.1:8733"}, 403),
        ({"origin": "http://127.0.0.1"}, 403),
        ({"origin": "http://127.0.0.1:8733/page"}, 403),
        ({"origin": "https://attacker.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": ""}, 403),
        ({"origin": "http://[::1"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-user": "?1"}, 403),
        ({"sec-fetch-site": "none"}, 200),
        ({"sec-fetch-site": "same-origin"}, 200),
    ],
)
def test_only_this_machine_and_its_own_pages_are_served(http: HttpStore, headers: dict[str, str], status: int) -> None:
    answer = http.client.get("/v1/status", headers=headers)
    assert (answer.status_code, "access-control-allow-origin" in answer.headers) == (status, False)
    assert answer.headers["content-type"] == ("application/json" if status == 200 else "application/problem+json")
    assert (answer.headers["x-content-type-options"], answer.headers["cache-control"]) == ("nosniff", "no-store")


@each_row("path", ["/health", "/ready"])
def test_a_supervisor_may_ask_for_the_head_alone(http: HttpStore, path: str) -> None:
    answer = http.client.head(path, headers={"authorization": ""})
    assert (answer.status_code, answer.headers["content-type"]) == (
        http.client.get(path).status_code,
        "application/json",
    )
    assert int(answer.headers["content-length"]) > 0


@each_row("host", ["0.0.0.0", "192.168.1.4", "example.com", "", "::"])
def test_an_address_that_others_could_reach_is_refused(host: str) -> None:
    with pytest.raises(BadSetting, match="beyond this machine only with a certificate"):
        check_host(host)


@each_row("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_a_loopback_address_is_taken(host: str) -> None:
    check_host(host)


def test_a_body_too_large_is_refused_whether_announced_or_not(http: HttpStore) -> None:
    much = b" " * (SMALL.size + 1)
    for content in (much, iter([much])):
        answer = http.client.post(f"{COFFEE}/delete", content=content, headers={"content-type": "application/json"})
        assert (answer.status_code, answer.json()["error"]) == (413, "RequestEntityTooLarge")
        assert answer.json()["allowed"] == SMALL.size


def test_others_are_answered_while_a_body_is_parsed(http: HttpStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A parser that goes on until somebody else was answered."""
    begun, answered = Flag(), Flag()

    def parse(body: bytes) -> object:
        begun.set()
        assert answered.wait(PATIENCE), "the event loop parsed it"
        return read_json(body)

    monkeypatch.setattr(parsing, "read_json", parse)
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(http.client.post, f"{COFFEE}/confirm", json={"actor": "user"})
        assert begun.wait(PATIENCE)
        assert http.client.get("/health").status_code == 200
        answered.set()
        assert slow.result().status_code in (200, 404)


def test_every_route_reads_its_body_by_a_thread(http: HttpStore) -> None:
    app = app_of(http.application)
    routes = [one.route if isinstance(one, parsing.LazyRoute) else one for one in app.routes]
    every = [one for one in routes if isinstance(one, APIRoute)]
    assert len(every) > 90
    assert [one.path for one in every if not isinstance(one, parsing.BodyRoute)] == []
    told = app.openapi()["paths"]
    assert set(OTHERS) <= {path for path, methods in told.items() if "post" in methods}
    for path, methods in told.items():
        if "requestBody" in methods.get("post", {}):
            assert f"At most {limit_of(path).size:,} bytes" in methods["post"]["requestBody"]["description"]


def test_an_error_nobody_foresaw_is_a_problem_too_and_tells_no_content(http: HttpStore) -> None:
    app = app_of(http.application)
    nothing: dict[str, str] = {}
    app.add_api_route("/v1/broken", lambda: nothing["what somebody said"])
    with client_of(app, raise_server_exceptions=False) as client:
        answer = client.get("/v1/broken")
    assert (answer.status_code, answer.json()["error"]) == (500, "InternalError")
    assert "what somebody said" not in answer.text


def test_metrics_tell_of_the_store_and_of_this_process(http: HttpStore) -> None:
    with client_of(app_of(http.application)) as client:
        client.get("/v1/owners/alice/search?query=coffee&trace=false")
        client.post("/v1/events", json=[created("coffee")])
        text = client.get("/metrics").text
    figures = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    status = http.client.get("/v1/status").json()
    expected = {
        "engramlog_up": 1,
        "engramlog_events_total": status["events"],
        "engramlog_memories": status["memories"],
        'engramlog_lag_events{partition="3"}': 0,
        "engramlog_quarantined_owners": 0,
        "engramlog_inbox_waiting": status["inboxes"]["waiting"],
        "engramlog_inbox_full_owners": 0,
        "engramlog_refused_events_total": status["refused"],
        "engramlog_lifecycle_leader": 0,
        'engramlog_lifecycle_jobs{state="failed"}': 0,
        "engramlog_search_seconds_count": 1,
        'engramlog_append_events_total{status="already_appended"}': 1,
        "engramlog_feed_clients": 0,
    }
    assert {name: float(figures[name]) for name in expected} == expected
    assert float(figures["engramlog_redis_used_bytes"]) > 0


def test_a_store_that_does_not_answer_is_not_ready_and_comes_back(tmp_path: Path) -> None:
    with http_store(tmp_path, worker=False) as http:
        http.store.wire().call("CLIENT", "KILL", "TYPE", "normal")
        pool, kwargs = http.store.client.connection_pool, dict(http.store.client.connection_pool.connection_kwargs)
        pool.connection_kwargs["path"] = str(tmp_path / "nobody listens here")
        down = [http.client.get(path) for path in ("/ready", "/v1/owners/x/search?query=x", "/health", "/metrics")]
        pool.connection_kwargs.update(kwargs)
        assert [answer.status_code for answer in down] == [503, 503, 200, 200]
        assert (down[0].json()["error"], down[0].headers["retry-after"]) == ("StoreUnavailable", "1")
        assert "engramlog_up 0.0" in down[3].text
        assert http.client.get("/ready").status_code == 200
