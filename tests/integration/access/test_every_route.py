"""Every route of the application, tried by everybody who may not ask it, and by the one who may."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, cast

import pytest
from fastapi import FastAPI

from engramlog_server.api.http.callers import is_open
from engramlog_server.events.errors import EngramlogError
from engramlog_server.projections.access.caller import VERBS
from engramlog_server.projections.access.keys import make_token
from tests.given.access import everybody as given
from tests.given.access.everybody import CANARIES, FOREIGN, ROUTES, STREAMS, WHOLE, Asked, asked
from tests.given.http import HttpStore, created, http_store

OF_OWNERS = sorted(set(ROUTES) - set(WHOLE))
NUMBERS = count(1)


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    """A store with the foreign owner."""
    with http_store(tmp_path_factory.mktemp("routes")) as opened:
        opened.told(FOREIGN, *given.history_of(FOREIGN, "I keep a hedgehog named Zuleika"))
        yield opened


@pytest.fixture(scope="module")
def by_verb(http: HttpStore) -> Mapping[str, str]:
    """For each verb a key of that one alone, on all owners."""
    return {verb: _of_one_verb(http, verb) for verb in VERBS}


def _of_one_verb(http: HttpStore, verb: str) -> str:
    return given.issued(http, f"only-{verb}", verb, owners=["*"])


@pytest.fixture(scope="module")
def all_owners(http: HttpStore) -> str:
    return given.whole(http, "all-owners")


@pytest.fixture(scope="module")
def nothing(http: HttpStore) -> str:
    """A key of a principal without a grant."""
    return str(http.application.keys.issue("nothing", grants=[])["key"])


@pytest.fixture
def own(http: HttpStore) -> str:
    """An owner of whom something is known."""
    owner = f"own-{next(NUMBERS)}"
    http.told(owner, *given.history_of(owner))
    return owner


def heads_of(http: HttpStore, owner: str) -> tuple[int, int]:
    """Where the newest event of an owner stands, and of the foreign one."""
    return http.application.log.owner_head(owner), http.application.log.owner_head(FOREIGN)


def leaked(answer: Any) -> list[str]:
    """The foreign owner's words in an answer."""
    return [word for word in CANARIES if word in answer.text or word in str(answer.headers)]


def status(http: HttpStore, request: Asked, shown: str | None) -> int:
    """How an answer is, once it is seen that it tells nothing of the foreign owner."""
    answer = request.sent(http, shown)
    assert leaked(answer) == [], request
    return int(answer.status_code)


def test_every_route_is_in_the_table_is_open_or_is_for_the_folder_alone(http: HttpStore) -> None:
    there = {
        one
        for one in given.routes_of(cast("FastAPI", http.client.app))
        if not is_open(*one.replace("{file:path}", "x").split(" ", 1))
    }
    assert there == set(ROUTES) | set(given.OF_THE_FOLDER)


@pytest.mark.parametrize("route", sorted(set(ROUTES) | set(given.OF_THE_FOLDER)))
def test_what_opens_nothing_opens_no_route(http: HttpStore, strangers: Mapping[str, str | None], route: str) -> None:
    request = asked(route, FOREIGN) if route in ROUTES else Asked("POST", route.split()[1], {}, {})
    before = heads_of(http, FOREIGN)
    found = {who: status(http, request, shown) for who, shown in strangers.items()}
    assert {who: code for who, code in found.items() if code != 401} == {}
    assert heads_of(http, FOREIGN) == before


@pytest.fixture(scope="module")
def strangers(http: HttpStore) -> Mapping[str, str | None]:
    return dict(given.strangers(http))


@pytest.mark.parametrize("route", sorted(given.OF_THE_FOLDER))
def test_what_is_for_the_folder_no_key_opens(http: HttpStore, all_owners: str, route: str) -> None:
    assert status(http, Asked("POST", route.split()[1], {}, {}), all_owners) == given.OF_THE_FOLDER[route]


@pytest.mark.parametrize("route", [one for one in OF_OWNERS if one not in STREAMS])
def test_of_an_owner_whoever_may_is_answered_and_nobody_else(
    http: HttpStore, own: str, by_verb: Mapping[str, str], nothing: str, route: str
) -> None:
    case, request = ROUTES[route], asked(route, own)
    foreign = given.wide(http, f"of-{FOREIGN}-{own}", [FOREIGN + "x", f"{own}/*", own + "x"])
    refused = {"of other owners": foreign, "of nothing": nothing}
    before = heads_of(http, own)
    assert {who: status(http, request, shown) for who, shown in refused.items()} == dict.fromkeys(refused, 403)
    narrow = {verb: key for verb, key in by_verb.items() if case.needs != frozenset({verb})}
    assert {verb: status(http, request, shown) for verb, shown in narrow.items()} == dict.fromkeys(narrow, 403)
    right = given.wide(http, f"right-{own}", [own])
    verbs, end = sorted(case.needs or ()), _minute(http)
    token = make_token(right, [given.grant(*verbs, owners=["*"])], **end)
    other = make_token(right, [given.grant(*verbs, owners=[f"{own}x"])], **end)
    assert status(http, request, other) == 403
    assert status(http, asked(route, FOREIGN), right) == 403
    assert status(http, asked(route, FOREIGN), token) == 403, "a token is no wider than its key"
    assert heads_of(http, own) == before, "who is refused writes nothing"
    if route in POISONED:
        return
    told = case.before(http, own) if case.before else {}
    answer = asked(route, own, given=told).sent(http, token)
    assert answer.status_code in (200, 207), answer.text
    assert leaked(answer) == []


POISONED = {one for one in OF_OWNERS if "/v1/dead/" in one}
"""Of an owner whose fold stands still: see below."""


def _minute(http: HttpStore) -> dict[str, Any]:
    return {"now": http.application.log.now() // 1_000_000, "seconds": 60}


@pytest.mark.parametrize("route", WHOLE)
def test_of_the_store_whoever_may_is_answered_and_nobody_else(
    http: HttpStore, own: str, by_verb: Mapping[str, str], nothing: str, route: str
) -> None:
    case, request = ROUTES[route], asked(route, own)
    if case.needs is None:
        assert status(http, request, nothing) == 200
        return
    narrow = {verb: key for verb, key in by_verb.items() if case.needs != frozenset({verb})}
    if route in ("GET /v1/access", "GET /v1/reads"):
        assert status(http, request, narrow.pop("admin")) == 200
    before = http.application.access_follower.book()
    wide = given.wide(http, f"of-owners-{own}", [own, f"{own}/*", FOREIGN])
    refused = narrow | {"of every owner by name": wide, "of nothing": nothing}
    after = http.application.access_follower.book()
    assert {who: status(http, request, shown) for who, shown in refused.items()} == dict.fromkeys(refused, 403)
    assert http.application.access_follower.book() == after, "nobody who is refused says anything of access"
    assert after.number == before.number + 2
    told = case.before(http, own) if case.before else {}
    right = given.whole(http, f"whole-{own}")
    answer = asked(route, own, given=told).sent(http, right)
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("route", [one for one in OF_OWNERS if "{owner}" in one])
def test_an_owner_named_otherwise_is_nobody_s(http: HttpStore, own: str, route: str) -> None:
    right, before, names = given.wide(http, f"named-{own}", [own]), heads_of(http, own), owners(http)
    found = {}
    for what, named in given.HOSTILE_OWNERS.items():
        request = asked(route, own, raw_owner=named.replace("{own}", own))
        found[what] = status(http, request, right)
    assert {what: code for what, code in found.items() if code not in (403, 404, 405, 422)} == {}
    assert (heads_of(http, own), owners(http)) == (before, names)


def owners(http: HttpStore) -> list[str]:
    """Of whom anything is known."""
    return [one["owner"] for one in http.application.owners.owners(limit=1000)["owners"]]


@pytest.mark.parametrize("route", [one for one in OF_OWNERS if "{memory_id}" in one])
def test_a_foreign_memory_is_nothing_of_one_s_own(http: HttpStore, own: str, route: str) -> None:
    http.told(FOREIGN, created(f"of-{own}", "Zuleika eats worms", owner=FOREIGN))
    before, right = heads_of(http, FOREIGN), given.wide(http, f"memory-{own}", [own])
    found = status(http, asked(route, own, given={"memory_id": f"of-{own}"}), right)
    assert found in (404, 409, 422) or found in (200, 207), found
    path = f"..%2F..%2F{FOREIGN}%2Fmemories%2Fcoffee"
    request = asked(route, own)._replace(
        path=asked(route, own).path.replace("/coffee", f"/{path}").replace("/secret", f"/{path}")
    )
    assert status(http, request, right) in (404, 422)
    assert heads_of(http, FOREIGN) == before


def test_what_stops_an_owner_is_shown_and_let_go_by_who_may(http: HttpStore) -> None:
    """`/v1/dead/{owner}`: the refusals are tried above; this is whoever may."""
    own = f"dead-{next(NUMBERS)}"
    http.told(own, *given.history_of(own))
    right = given.wide(http, f"right-{own}", [own])
    for route in sorted(POISONED):
        answer = asked(route, own).sent(http, right)
        assert answer.status_code in (200, 404, 409, 422), answer.text
        assert "stand" in answer.text or "quarantine" in answer.text or answer.status_code == 200, answer.text


@pytest.mark.parametrize("route", [one for one in OF_OWNERS if ROUTES[one].speaks])
def test_who_may_not_speak_for_a_user_says_nothing_as_one(http: HttpStore, own: str, route: str) -> None:
    verbs = sorted(ROUTES[route].needs or ())
    key = given.issued(http, f"speaks-{own}", *verbs, owners=[own], actors=["assistant"])
    before = heads_of(http, own)
    assert status(http, asked(route, own), key) == 403
    assert heads_of(http, own) == before


def test_a_feed_of_another_is_refused_and_one_s_own_begins(
    http: HttpStore, own: str, by_verb: Mapping[str, str]
) -> None:
    route = next(iter(STREAMS))
    right = given.wide(http, f"feed-{own}", [own])
    refused = {verb: key for verb, key in by_verb.items() if verb != "read"}
    assert {verb: status(http, asked(route, own), key) for verb, key in refused.items()} == dict.fromkeys(refused, 403)
    assert status(http, asked(route, FOREIGN), right) == 403


def test_a_token_that_tells_its_grants_twice_is_no_wider_than_its_key(http: HttpStore, own: str) -> None:
    made = http.application.keys.issue(f"twice-{own}", grants=[{"verbs": ["read"], "owners": [own]}])
    broad = [{"verbs": list(VERBS), "owners": ["*"]}]
    token = given.duplicate_claims(made["key"], made["key_id"], broad, [{"verbs": ["read"], "owners": ["*"]}])
    route = f"GET {given.OWNER}/memories"
    assert status(http, asked(route, own), token) == 200
    assert status(http, asked(route, FOREIGN), token) == 403
    assert status(http, asked("GET /v1/status", own), token) == 403


def test_a_key_opens_nothing_from_the_moment_it_is_revoked_or_over(http: HttpStore, own: str) -> None:
    route = f"GET {given.OWNER}/memories"
    keys = http.application.keys
    made = keys.issue(f"gone-{own}", grants=[{"verbs": ["read"], "owners": [own]}])
    token = make_token(made["key"], [{"verbs": ["read"], "owners": [own]}], **_minute(http))
    assert [status(http, asked(route, own), shown) for shown in (made["key"], token)] == [200, 200]
    keys.grant(f"gone-{own}", grants=[])
    assert [status(http, asked(route, own), shown) for shown in (made["key"], token)] == [403, 403]
    keys.grant(f"gone-{own}", grants=[{"verbs": ["read"], "owners": [own]}])
    keys.revoke(made["key_id"])
    assert [status(http, asked(route, own), shown) for shown in (made["key"], token)] == [401, 401]
    with pytest.raises(EngramlogError):
        keys.issue(f"late-{own}", expires_at="2026-01-01T00:00:00Z")
