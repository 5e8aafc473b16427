"""A hundred thousand requests by everybody, about everybody, with what nobody should send: no 5xx, and no word of another's.

The requests go straight into the application as a server would hand them on, so that the time goes to the product.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest
from fastapi import FastAPI

from engramlog_server.projections.access.keys import make_token
from tests.given.access import everybody as given
from tests.given.access.everybody import CANARIES, FOREIGN, HOSTILE_OWNERS, ROUTES, STREAMS
from tests.given.http import QUICK, HttpStore, app_of, created, http_store

PARTS, REQUESTS = 16, 6_250
"""So many times so many requests."""
AT_ONCE = 12
"""Requests that are under way together."""
SEED = 20_261_127
DECLARED = {503, 504, 507}
"""What may be answered where there is no room or no time."""
OWN = "own"
TEXTS = [
    "", " ", ".", "..", "*", "%", "\x00", "\u202etxt", "团队", "a\nb", "x" * 300, "null", "true", "0:0", "-1:5",
    "1e999", "½", "3:99999999999999999999", "9999-12-31T23:59:59Z", "2026-13-01", "[]", "{}", FOREIGN,
    f"{OWN}/../{FOREIGN}", ":access", "coffee", "secret", "debug", "review", "normal", "1", "0", "-1",
    "99999999999999999999999", "egl_", "' OR 1=1 --",
]  # fmt: skip
VALUES: list[Any] = [None, True, -1, 0, 2**63, 1.5, [], {}, [[]], [None], {"a": 1}, *TEXTS]
NAMES = (
    "query", "mode", "limit", "cursor", "as_of", "known", "after", "at", "owner", "among", "trace", "inspect", "reveal",
    "key", "query", "ids", "include", "everything", "format", "law", "order", "prefix", "search", "principal", "wait",
    "actor", "caller", "dry_run", "memory_id", "session", "turn_id", "reason", "content", "expected_heads",
)  # fmt: skip
SLOW = {f"GET {given.OWNER}/compare", f"POST {given.OWNER}/replay"}
"""Asked more seldom: each folds a history anew."""


class Answer(NamedTuple):
    """What came back."""

    status: int
    body: bytes


class Caller(NamedTuple):
    """Who asks, and whether he may do anything to the foreign owner: none of them may."""

    name: str
    shown: str | None


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    with http_store(tmp_path_factory.mktemp("fuzzed")) as opened:
        opened.told(FOREIGN, *given.history_of(FOREIGN, "I keep a hedgehog named Zuleika"))
        opened.told(OWN, *given.history_of(OWN))
        yield opened


async def sent(
    app: FastAPI, method: str, path: str, query: str, headers: list[tuple[bytes, bytes]], body: bytes
) -> Answer:
    """A request as a server hands it on; its whole answer."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]
    found: dict[str, Any] = {"status": 0, "body": bytearray()}
    ended = asyncio.Event()

    async def receive() -> dict[str, Any]:
        if messages:
            return messages.pop()
        await ended.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            found["status"] = message["status"]
            found["body"] += b"".join(name + b": " + value + b"\n" for name, value in message["headers"])
        else:
            found["body"] += message.get("body", b"")
            if not message.get("more_body", False):
                ended.set()

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
        "headers": [(b"host", b"127.0.0.1:8733"), *headers], "client": ("127.0.0.1", 5), "server": ("127.0.0.1", 8733),
    }  # fmt: skip
    await app(scope, receive, send)
    return Answer(found["status"], bytes(found["body"]))


@pytest.fixture(scope="module")
def everybody(http: HttpStore) -> list[Caller]:
    """Everybody who tries: strangers, and keys that may much, little and nothing, of the own owner and of none."""
    wide = given.wide(http, "wide", [OWN, f"{OWN}/*"])
    narrow = given.issued(http, "reads", "read", owners=[OWN])
    now = http.application.log.now() // 1_000_000
    every = [given.grant(*given.ALL_BUT_ADMIN, owners=["*"])]
    found = [Caller("wide", wide), Caller("reads", narrow)] * 6
    found += [Caller("produces", given.issued(http, "produces", "produce", owners=[OWN]))] * 2
    found += [Caller("token of wide", make_token(wide, every, now=now, seconds=86_400))] * 4
    found += [Caller("token of reads", make_token(narrow, every, now=now, seconds=86_400))] * 2
    found += [Caller("of nothing", str(http.application.keys.issue("of nothing".replace(" ", "-"), grants=[])["key"]))]
    return found + [Caller(f"stranger: {name}", shown) for name, shown in given.strangers(http) if shown != FOREIGN]


def request_of(chance: Random, caller: Caller) -> tuple[str, str, str, list[tuple[bytes, bytes]], bytes]:
    """A request: a route, about somebody, with what it takes or with what it does not."""
    route = chance.choice(list(ROUTES))
    if route in STREAMS or (route in SLOW and chance.random() < 0.9):
        route = f"GET {given.OWNER}/search"
    method, path = route.split(" ", 1)
    case = ROUTES[route]
    owner = chance.choice([OWN, FOREIGN, OWN, FOREIGN, FOREIGN + "x", *HOSTILE_OWNERS.values()]).replace("{own}", OWN)
    memory = quote(chance.choice(["coffee", "secret", "tea", chance.choice(TEXTS)]), safe="")
    filled = path.format(owner=owner, memory_id=memory, turn_id="t1", partition=chance.choice([0, 1, 3, 99]))
    query, body = dict(case.query), case.body
    if route == "POST /v1/events":
        body = [
            created(f"m-{chance.randrange(10**6)}", chance.choice(TEXTS), owner=chance.choice([OWN, FOREIGN, ":access", "*"])),
        ]  # fmt: skip
        if chance.random() < 0.3:
            body = {"events": body, "expected_heads": {FOREIGN: chance.randrange(9)}}
    while chance.random() < 0.5:
        query[chance.choice(NAMES)] = chance.choice(TEXTS)
    while isinstance(body, dict) and chance.random() < 0.5:
        body = body | {chance.choice([*body, *NAMES]): chance.choice(VALUES)}
    if chance.random() < 0.05:
        body = chance.choice(VALUES)
    asked = "&".join(f"{quote(name)}={quote(str(value), safe='')}" for name, value in query.items())
    headers = [(b"engramlog-request", b"1"), (b"content-type", b"application/json")]
    if caller.shown is not None:
        headers.append((b"authorization", f"Bearer {caller.shown}".encode("latin-1", "replace")))
    told = b"" if method == "GET" else json.dumps(body).encode()
    headers.append((b"content-length", str(len(told)).encode()))
    return method, filled, asked, headers, told


async def fuzzed(app: FastAPI, everybody: list[Caller], part: int) -> tuple[Counter[int], list[str]]:
    """How often each status came, and whatever must not."""
    chance, wrong, counts = Random(SEED + part), list[str](), Counter[int]()
    own_key = next(one for one in everybody if one.name == "reads")
    words = [word.encode() for word in CANARIES]

    async def one(number: int, caller: Caller, request: Any) -> None:
        answer = await sent(app, *request)
        counts[answer.status] += 1
        if answer.status >= 500 and answer.status not in DECLARED:
            wrong.append(f"{number}: {caller.name}: {request} -> {answer.status} {answer.body[-200:]!r}")
        if any(word in answer.body for word in words):
            wrong.append(f"{number}: {caller.name}: {request} told {answer.body[-200:]!r}")
        if caller.name.startswith("stranger") and answer.status < 400:
            wrong.append(f"{number}: {caller.name}: {request} -> {answer.status}")

    for start in range(0, REQUESTS, AT_ONCE):
        made = []
        for number in range(start, min(start + AT_ONCE, REQUESTS)):
            caller = chance.choice(everybody)
            made.append(one(number, caller, request_of(chance, caller)))
        await asyncio.gather(*made)
        assert len(wrong) < 20, wrong
    headers = [(b"authorization", f"Bearer {own_key.shown}".encode())]
    last = await sent(app, "GET", f"/v1/owners/{OWN}/memories", "", headers, b"")
    if last.status != 200:
        wrong.append(f"at the end the own call: {last}")
    return counts, wrong


@pytest.mark.parametrize("part", range(PARTS))
def test_a_hundred_thousand_requests_leak_nothing_break_nothing_and_write_nothing_of_another(
    http: HttpStore, everybody: list[Caller], part: int
) -> None:
    head, access = http.application.log.owner_head(FOREIGN), http.application.access_follower.book()
    app = app_of(http.application, limits=QUICK)

    async def run() -> tuple[Counter[int], list[str]]:
        async with app.router.lifespan_context(app):
            return await fuzzed(app, everybody, part)

    counts, wrong = asyncio.run(run())
    assert wrong == []
    assert http.application.log.owner_head(FOREIGN) == head, "nothing was written of the other"
    assert http.application.access_follower.book() == access, "nobody said anything of access"
    assert min(counts[200], counts[401], counts[403], counts[422]) > REQUESTS // 100, counts
