"""Every route with what it takes to answer, what its caller needs, and everybody who may not ask: for tests that enumerate access.

The table of needs is written here by hand, beside that of the product: where the two differ somebody has to say which is right.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from time import time
from typing import Any, NamedTuple
from urllib.parse import quote

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from fastapi import FastAPI
from starlette.routing import Route

from engramlog_server.events.catalogue import GrantsSet, KeyIssued, Verb
from engramlog_server.events.envelope import from_micros
from engramlog_server.events.partitions import ACCESS, access_id
from engramlog_server.projections.access.caller import VERBS
from engramlog_server.projections.access.keys import grants_of, make_key, make_token, seed_of
from tests.given.http import TOKEN, HttpStore, created, event

Json = dict[str, Any]
FOREIGN = "zoe"
CANARIES = ("Zuleika", "hunter2")
"""Words of the foreign owner alone."""
SECRET = "the password is hunter2-Xq9!"


class Case(NamedTuple):
    """A route as its caller asks it, and what he needs."""

    needs: frozenset[Verb] | None
    """All of these, of the owner or of the store; None: any key will do."""
    query: Mapping[str, Any] = {}
    body: Any = None
    before: Callable[[HttpStore, str], Mapping[str, Any]] | None = None
    """What is done first for an owner; gives what of query, body and path it decides."""
    speaks: bool = False
    """Whether it says something as an actor."""
    lines: bool = False
    """Whether its body is what makes it long."""


def _needs(*verbs: Verb) -> frozenset[Verb]:
    return frozenset(verbs)


READ, SAYS, CORRECTS, DELETES, REVIEWS = map(_needs, ("read", "produce", "correct", "delete", "review"))  # type: ignore[arg-type]
REPLAYS, AUDITS, OPERATES, ADMIN = map(_needs, ("replay", "audit", "operate", "admin"))  # type: ignore[arg-type]
AUDITS_OR_ADMIN = AUDITS
"""`admin` will do too: asserted beside the table."""


def _waits(http: HttpStore, owner: str) -> Json:
    """Something waits for a person."""
    http.told(owner, created("kiln", "The kiln fires at 1240 degrees"))
    path, told = f"/v1/owners/{owner}", {"correction": "The kiln fires at 1180 degrees", "reason": "I think so"}
    assert http.client.post(f"{path}/memories/kiln/negate", json=told | {"actor": "assistant"}).status_code == 200
    items = http.client.get(f"{path}/inbox").json()["items"]
    return {"body": {"item": next(one["item"] for one in items if one["kind"] == "negation")}}


def _edits(http: HttpStore, owner: str) -> Json:
    waits = _waits(http, owner)["body"]
    return {"body": waits | {"content": "The kiln fires at 1200 degrees"}}


def _deleted(http: HttpStore, owner: str) -> Json:
    assert http.client.post(f"/v1/owners/{owner}/memories/coffee/delete", json={}).status_code == 200
    return {}


def _merged(http: HttpStore, owner: str) -> Json:
    answer = http.client.post(f"/v1/owners/{owner}/merge", json={"sources": ["coffee", "tea"], "summary": "Drinks"})
    assert answer.status_code == 200, answer.text
    return {"memory_id": answer.json()["into"]}


def _answered(http: HttpStore, owner: str) -> Json:
    told = {"text": "What do I drink?", "session": "s1", "turn_id": "t1", "trace": True}
    assert http.client.post(f"/v1/owners/{owner}/context", json=told).status_code == 200
    return {}


def _aside(http: HttpStore, owner: str) -> Json:
    told = {"session": "s1", "reason": "it was not Ann"}
    assert http.client.post(f"/v1/owners/{owner}/set-aside", json=told).status_code == 200
    return {}


def _heads(http: HttpStore, _owner: str) -> Json:
    return {"body": {"text": http.client.get("/v1/heads").text}}


def _key(http: HttpStore, _owner: str) -> Json:
    return {"body": {"key_id": http.application.keys.issue("leaver")["key_id"]}}


def _sent(http: HttpStore, owner: str) -> Json:
    return {"body": [created("sent", "I was sent", owner=owner)]}


GRANTS = [{"verbs": ["read"], "owners": ["alice"]}]
OWNER, MEMORY = "/v1/owners/{owner}", "/v1/owners/{owner}/memories/{memory_id}"
ITEM = {"item": "018f3c1e-7b2a-7000-8000-000000000003"}
ROUTES: Mapping[str, Case] = {
    f"GET {OWNER}/search": Case(READ, {"query": "coffee"}),
    f"GET {OWNER}/memories": Case(READ),
    f"GET {OWNER}/counts": Case(READ),
    f"GET {MEMORY}": Case(READ),
    f"GET {MEMORY}/why": Case(READ),
    f"GET {MEMORY}/history": Case(READ),
    f"GET {MEMORY}/provenance": Case(READ),
    f"GET {OWNER}/history": Case(READ),
    f"GET {OWNER}/stats": Case(READ),
    f"GET {OWNER}/assess": Case(READ, {"topic": "coffee"}),
    f"GET {OWNER}/map": Case(READ),
    f"GET {OWNER}/map.svg": Case(READ),
    f"GET {MEMORY}/associations": Case(READ),
    f"GET {OWNER}/facts": Case(READ),
    f"GET {OWNER}/synonyms": Case(READ),
    f"GET {OWNER}/health": Case(READ),
    f"GET {OWNER}/fading": Case(READ),
    f"GET {OWNER}/review": Case(READ),
    f"GET {OWNER}/profile": Case(READ),
    f"GET {OWNER}/heads": Case(READ),
    f"GET {OWNER}/times": Case(READ),
    f"GET {OWNER}/export": Case(READ),
    f"GET {OWNER}/feed": Case(READ),
    f"POST {OWNER}/context": Case(READ, body={"text": "What do I drink?"}),
    f"POST {OWNER}/export": Case(READ | {"reveal"}, body={"reveal": True, "reason": "asked for"}, speaks=True),
    f"POST {MEMORY}/reveal": Case(_needs("reveal"), body={"reason": "asked at the desk"}, speaks=True),
    f"POST {OWNER}/memories": Case(SAYS, body={"content": "I drink water"}, speaks=True),
    f"POST {MEMORY}/mention": Case(SAYS, body={}, speaks=True),
    f"POST {MEMORY}/reinforce": Case(SAYS, body={"outcome": "used"}, speaks=True),
    f"POST {OWNER}/grounds": Case(
        SAYS, body={"uri": "https://w.example.org/x", "digest": "sha256:9f86d081"}, speaks=True
    ),
    f"POST {OWNER}/import/records": Case(
        SAYS, body=[{"id": "row", "content": "I row", "created_at": "2026-01-05T08:00:00Z"}]
    ),
    f"POST {OWNER}/chats": Case(
        SAYS,
        body=[{"id": "c1", "created_at": "2026-01-05T08:00:00Z", "messages": [{"role": "user", "content": "I ski"}]}],
    ),
    f"POST {OWNER}/extract": Case(SAYS | READ, body={"dry_run": True}),
    f"POST {OWNER}/episodes": Case(SAYS | READ, body={"dry_run": True}),
    f"POST {MEMORY}/edit": Case(CORRECTS, body={"content": "I drink mocha"}, speaks=True),
    f"POST {MEMORY}/negate": Case(CORRECTS, body={"reason": "no more"}, speaks=True),
    f"POST {MEMORY}/confirm": Case(CORRECTS, body={}, speaks=True),
    f"POST {MEMORY}/sensitivity": Case(CORRECTS, body={"level": 1, "reason": "an example"}, speaks=True),
    f"POST {OWNER}/merge": Case(CORRECTS, body={"sources": ["coffee", "tea"], "summary": "Drinks"}, speaks=True),
    f"POST {MEMORY}/unmerge": Case(CORRECTS, body={}, before=_merged, speaks=True),
    f"POST {OWNER}/profile": Case(CORRECTS, body={"profile": "ebbinghaus"}, speaks=True),
    f"POST {OWNER}/synonyms": Case(CORRECTS, body={"word": "coffee", "synonym": "brew"}, speaks=True),
    f"POST {OWNER}/set-aside": Case(CORRECTS, body={"session": "s1", "reason": "not Ann"}, speaks=True),
    f"POST {OWNER}/bring-back": Case(CORRECTS, body={"session": "s1", "reason": "Ann"}, before=_aside, speaks=True),
    f"POST {OWNER}/retract": Case(
        CORRECTS | {"audit"}, body={"without_actors": ["assistant"], "dry_run": True}, speaks=True
    ),
    f"POST {MEMORY}/delete": Case(DELETES, body={}, speaks=True),
    f"POST {MEMORY}/restore": Case(DELETES, body={}, before=_deleted, speaks=True),
    f"POST {OWNER}/memories/delete": Case(DELETES, body={"ids": ["coffee"]}, speaks=True),
    f"POST {OWNER}/memories/restore": Case(DELETES, body={"ids": ["coffee"]}, before=_deleted, speaks=True),
    f"POST {OWNER}/cleanup": Case(DELETES | READ, body={"dry_run": True}),
    f"GET {OWNER}/inbox": Case(REVIEWS),
    f"POST {OWNER}/inbox/accept": Case(REVIEWS, body=ITEM, before=_waits, speaks=True),
    f"POST {OWNER}/inbox/edit": Case(REVIEWS, body=ITEM | {"content": "x"}, before=_edits, speaks=True),
    f"POST {OWNER}/inbox/reject": Case(REVIEWS, body=ITEM, before=_waits, speaks=True),
    f"POST {MEMORY}/grade": Case(REVIEWS, body={"grade": 4}, speaks=True),
    f"POST {OWNER}/replay": Case(REPLAYS, body={"parameters": {"user_factor": 1.3}}),
    f"GET {OWNER}/compare": Case(REPLAYS),
    f"GET {MEMORY}/compare": Case(REPLAYS),
    f"GET {MEMORY}/compare.svg": Case(REPLAYS),
    f"GET {OWNER}/diff": Case(REPLAYS, {"since": "2026-01-06"}),
    f"POST {OWNER}/diff": Case(REPLAYS, body={"since": "2026-01-06"}),
    f"GET {OWNER}/events": Case(AUDITS),
    f"GET {OWNER}/answers": Case(AUDITS),
    f"GET {OWNER}/answers/{{turn_id}}": Case(AUDITS, before=_answered),
    f"GET {MEMORY}/uses": Case(AUDITS),
    f"GET {OWNER}/sources": Case(AUDITS),
    f"GET {OWNER}/set-aside": Case(AUDITS),
    "GET /v1/dead/{owner}": Case(_needs("debug")),
    "POST /v1/dead/{owner}/retry": Case(OPERATES, body={}),
    "POST /v1/dead/{owner}/discard": Case(OPERATES, body={"position": "0:1", "reason": "broken"}, speaks=True),
    "POST /v1/events": Case(SAYS, before=_sent),
    "GET /v1/partitions/{partition}/events": Case(AUDITS),
    "GET /v1/heads": Case(AUDITS),
    "POST /v1/heads/check": Case(AUDITS, body={"text": "x"}, before=_heads),
    "GET /v1/status": Case(OPERATES),
    "GET /v1/stats": Case(OPERATES),
    "GET /v1/alarms": Case(OPERATES),
    "POST /v1/alarms/clear": Case(OPERATES, body={"name": "state_damaged"}),
    "GET /v1/dead": Case(OPERATES),
    "GET /v1/jobs": Case(OPERATES),
    "GET /v1/capacity": Case(OPERATES),
    "GET /v1/models": Case(OPERATES),
    "GET /metrics": Case(OPERATES),
    "GET /v1/access": Case(AUDITS_OR_ADMIN),
    "GET /v1/reads": Case(AUDITS_OR_ADMIN),
    "POST /v1/keys": Case(ADMIN, body={"principal": "someone", "grants": GRANTS}),
    "POST /v1/keys/revoke": Case(ADMIN, body={"key_id": "k7m2p9qa"}, before=_key),
    "POST /v1/grants": Case(ADMIN, body={"principal": "someone", "grants": GRANTS}),
    "GET /v1/me": Case(None),
    "GET /v1/owners": Case(None),
    "GET /v1/schema": Case(None),
    "GET /v1/laws": Case(None),
    "GET /v1/parameters": Case(None),
    "POST /v1/console/codes/state": Case(None, body={"code": "0" * 20}),
    "POST /v1/console/session/end": Case(None, body={}),
}
"""By method and path."""
OF_THE_FOLDER = {"POST /v1/console/codes": 403, "POST /v1/command": 404}
"""What no key opens, whatever it may; and how it is refused."""
STREAMS = {f"GET {OWNER}/feed"}
"""Answers for as long as somebody listens."""
WHOLE = sorted(route for route in ROUTES if "{owner}" not in route and route != "POST /v1/events")
"""Those that name no owner."""


def routes_of(app: FastAPI) -> set[str]:
    """Every method and path of an application, whether its document names it or not."""
    return {f"{method} {one.path}" for one in app.routes if isinstance(one, Route) for method in one.methods or ()}


def history_of(owner: str, says: str = "I drink coffee") -> list[Json]:
    """What is known of an owner before anything is asked."""
    return [
        created("coffee", says, owner=owner),
        created("tea", f"{says} and tea", owner=owner),
        event("TurnRecorded", owner=owner, turn_id="t1", role="user", text=says) | {"session_id": "s1"},
        created("secret", SECRET if owner == FOREIGN else "the password is swordfish-7Kq!", owner=owner, sensitivity=3),
    ]


class Asked(NamedTuple):
    """A request, ready to be sent as anybody."""

    method: str
    path: str
    query: Mapping[str, Any]
    body: Any

    def sent(self, http: HttpStore, shown: str | None) -> Any:
        """The answer to whoever shows this; None: who shows nothing."""
        headers = {"engramlog-request": "1", "authorization": "" if shown is None else f"Bearer {shown}"}
        content = None if self.body is None else json.dumps(self.body)
        headers |= {} if content is None else {"content-type": "application/json"}
        return http.client.request(self.method, self.path, params=dict(self.query), headers=headers, content=content)


def asked(route: str, owner: str, *, given: Mapping[str, Any] | None = None, raw_owner: str | None = None) -> Asked:
    """A route about an owner. `given`: what `before` decided; `raw_owner`: what stands in the path, as it is."""
    method, path = route.split(" ", 1)
    case, told = ROUTES[route], dict(given or {})
    named = quote(owner, safe="") if raw_owner is None else raw_owner
    memory = quote(str(told.get("memory_id", "secret" if route.endswith("/reveal") else "coffee")), safe="")
    filled = path.format(owner=named, memory_id=memory, turn_id="t1", partition=0)
    body = told.get("body", case.body)
    if route == "POST /v1/events" and body is None:
        body = _sent_of(owner)
    return Asked(method, filled, case.query, body)


def _sent_of(owner: str) -> list[Json]:
    return [created("sent", "I was sent", owner=owner)]


ALL_BUT_ADMIN = tuple(one for one in VERBS if one != "admin")


def grant(*verbs: str, owners: list[str], **told: Any) -> Json:
    """A grant of these verbs, as wide as one may be but for what is told."""
    wide = {"modes": ["normal", "review", "debug"], "actors": ["user", "assistant", "judge"]}
    return {"verbs": list(verbs), "owners": owners, **wide, "sensitivity": 3 if "reveal" in verbs else 2} | told


def issued(http: HttpStore, principal: str, *verbs: str, owners: list[str], **told: Any) -> str:
    """A key of a principal with one grant."""
    return str(http.application.keys.issue(principal, grants=[grant(*verbs, owners=owners, **told)])["key"])


def wide(http: HttpStore, principal: str, owners: list[str]) -> str:
    """A key that may do everything to these owners but make keys."""
    return issued(http, principal, *ALL_BUT_ADMIN, owners=owners)


def whole(http: HttpStore, principal: str) -> str:
    """A key that may do everything."""
    return issued(http, principal, *VERBS, owners=["*"])


def expired(http: HttpStore, grants: list[Json]) -> str:
    """A key of these grants that ended a second ago; it was said of it when it was made. `keys.issue` makes none such."""
    application = http.application
    made, now = make_key(os.urandom), application.log.now()
    number = application.access_follower.book().number + 1
    principal = f"over-{number}"
    said: list[Any] = [
        KeyIssued(
            number=number, key_id=made.key_id, principal=principal, public=made.public, digest=made.digest,
            expires_at=from_micros(now - 1_000_000), reason="",
        ),
        GrantsSet(number=number + 1, principal=principal, grants=grants_of(grants), reason=""),
    ]  # fmt: skip
    writer = application.writer
    events = [writer.event(one, ACCESS, now, "user", event_id=access_id(one.number)) for one in said]
    assert all(one.written for one in application.log.append(writer.ready(events)))
    return made.text


def strangers(http: HttpStore) -> Iterator[tuple[str, str | None]]:
    """Everybody who shows what opens nothing, by name: 401 on every route that is not open."""
    keys, now = http.application.keys, int(time())
    everything = [grant(*VERBS, owners=["*"])]
    live = keys.issue("a-live-one", grants=everything)
    other = keys.issue("another-live-one", grants=everything)
    revoked = keys.issue("revoked", grants=everything)
    of_revoked = make_token(revoked["key"], everything, now=now, seconds=60)
    keys.revoke(revoked["key_id"])
    text, key_id = live["key"], live["key_id"]
    public = Ed25519PrivateKey.from_private_bytes(seed_of(text)).public_key().public_bytes_raw()
    yield "nobody", None
    yield "garbage", "x" * 40
    yield "the token and more", TOKEN + "x"
    over = expired(http, everything)
    yield "a key that is over", over
    yield "a token of a key that is over", make_token(over, everything, now=now, seconds=60)
    yield "a key of another store", make_key(lambda many: bytes(range(many))).text
    yield "a slip in the digits that tell one", text[:-1] + ("0" if text[-1] != "0" else "1")
    yield "the id of a live key with another seed", _with_id(make_key(bytes).text, key_id)
    yield "a digest in place of the key", http.application.access_follower.book().keys[key_id].digest
    yield "a revoked key", revoked["key"]
    yield "a token of a revoked key", of_revoked
    said = {"iat": now, "exp": now + 60, "grants": everything}

    def token(claims: Any = None, key: Any = None, algorithm: str = "EdDSA", **header: Any) -> str:
        by = Ed25519PrivateKey.from_private_bytes(seed_of(text)) if key is None else key
        return jwt.encode(claims or said, by, algorithm=algorithm, headers={"typ": "egl+jwt", "kid": key_id} | header)

    signed = token()
    head, payload, signature = signed.split(".")
    yield "a token by another seed", token(key=Ed25519PrivateKey.from_private_bytes(seed_of(other["key"])))
    yield "a token under another's id", token(kid=other["key_id"])
    yield "a token of no key", token(kid="zzzzzzzz")
    yield "a token by HS256 with the public key", token(key=public.hex(), algorithm="HS256")
    yield (
        "a token by HS256 with the key's digest",
        token(key=http.application.access_follower.book().keys[key_id].digest, algorithm="HS256"),
    )
    yield "a token unsigned", token(key="", algorithm="none")
    yield "a token without its signature", f"{head}.{payload}."
    yield "a token of another kind", token(typ="JWT")
    yield (
        "a token with other claims under its signature",
        f"{head}.{token(said | {'exp': now + 900}).split('.')[1]}.{signature}",
    )
    yield "a token that is over", token(said | {"iat": now - 60, "exp": now - 1})
    yield "a token without an end", token({"iat": now, "grants": everything})
    yield "a token without a beginning", token({"exp": now + 60, "grants": everything})
    yield "a token of more than a year", token(said | {"exp": now + 400 * 86_400})
    yield "a token that begins in a thousand years", token(said | {"iat": now + 10**11, "exp": now + 10**11 + 60})
    yield "a token that ends at no instant", token(said | {"exp": 10**30})
    yield "a token whose end is a word", token(said | {"exp": str(now + 60)})
    yield "a token without grants", token({"iat": now, "exp": now + 60})
    yield "a token with no grant", token(said | {"grants": []})
    yield "a token with a verb that there is not", token(said | {"grants": [{"verbs": ["all"], "owners": ["*"]}]})
    yield "a token within a token", token(said | {"grants": signed})
    yield "a token whose subject is long", token(said | {"sub": "x" * 500})
    yield "a token nested too deep", f"{head}.{_nested(5_000)}.{signature}"
    yield "a header nested too deep", f"{_nested(5_000)}.{payload}.{signature}"
    yield "two keys", f"{text} {other['key']}"


def _with_id(text: str, key_id: str) -> str:
    """The text of a key under another id, with digits that fit."""
    from engramlog_server.projections.access.keys import _check

    body = f"egl_{key_id}_{text.split('_', 2)[2][:43]}"
    return f"{body}_{_check(body)}"


def _nested(depth: int) -> str:
    from base64 import urlsafe_b64encode

    return urlsafe_b64encode(b"[" * depth).rstrip(b"=").decode()


def duplicate_claims(key: str, key_id: str, narrow: list[Json], broad: list[Json]) -> str:
    """A token, rightly signed, that tells its grants twice: the narrow ones first."""
    from base64 import urlsafe_b64encode

    def part(raw: bytes) -> str:
        return urlsafe_b64encode(raw).rstrip(b"=").decode()

    now = int(time())
    header = json.dumps({"alg": "EdDSA", "typ": "egl+jwt", "kid": key_id}).encode()
    told = f'{{"iat":{now},"exp":{now + 60},"grants":{json.dumps(narrow)},"grants":{json.dumps(broad)}}}'.encode()
    signed = f"{part(header)}.{part(told)}"
    return f"{signed}.{part(Ed25519PrivateKey.from_private_bytes(seed_of(key)).sign(signed.encode()))}"


HOSTILE_OWNERS = {
    "every": "*",
    "every, encoded": "%2A",
    "none": "",
    "a space": "%20",
    "a path": "..%2F",
    "a path to the other": f"..%2F{FOREIGN}",
    "a path through one's own": f"{{own}}%2F..%2F{FOREIGN}",
    "a path as it is": f"../{FOREIGN}",
    "twice encoded": f"%25{FOREIGN.encode()[0]:02x}{FOREIGN[1:]}",
    "a NUL": f"{{own}}%00{FOREIGN}",
    "a line": f"{{own}}%0A{FOREIGN}",
    "two": f"{{own}},{FOREIGN}",
    "what is kept of access": ":access",
    "what is kept of reads": "%3Areads",
    "another of the store's own": ":x",
    "one's own and more": "{own}x",
    "below one's own": "{own}%2Fx",
    "in capitals": "OWN",
    "full width": "%EF%BD%8F%EF%BD%97%EF%BD%8E",
    "decomposed": "own%CC%81",
    "no UTF-8": "%ff%fe",
}
"""What stands where an owner is named, percent-encoded as it is sent; `{own}` is the caller's."""
