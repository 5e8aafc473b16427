"""Keys in the client: shown as they are, or narrowed to tokens without asking; the service takes what any library of JWTs makes."""

from __future__ import annotations

import sys
from base64 import urlsafe_b64decode
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from engramlog import AccessDenied, EngramlogError, InputError, TokenRefused
from engramlog.home import token_for
from engramlog.tokens import key_read, narrowed
from engramlog.wire import Edge
from engramlog_server.projections.access import keys as the_service_s
from engramlog_server.projections.access.keys import id_in, make_key, seed_of
from tests.given.client import KINDS, Service, connected, new_owner
from tests.rows import each_row

URL = "http://127.0.0.1:8733"
KEY = make_key(lambda size: bytes(range(size))).text


def key_for(running: Service, *owners: str, verbs: tuple[str, ...] = ("read", "produce")) -> str:
    """A new key of a new principal."""
    with connected("sync", running.url) as memory:
        made = memory.make_key(
            f"p-{uuid4()}", grants=[{"verbs": verbs, "owners": owners, "actors": ["user"], "trust": "asserted"}], days=1
        )
    return str(made.key)


@each_row("kind", KINDS)
def test_a_key_opens_what_it_was_made_for_and_says_so(running: Service, kind: str) -> None:
    owner, other = new_owner(), new_owner()
    with connected(kind, running.url, token=key_for(running, owner)) as memory:
        memory.add("I drink coffee", owner=owner)
        assert [one.memory for one in memory.search("coffee", owner=owner).results] == ["I drink coffee"]
        who = memory.me()
        assert (who.unlimited, [one.owners for one in who.grants]) == (False, [[owner]])
        with pytest.raises(AccessDenied) as refusal:
            memory.search("coffee", owner=other)
    assert (refusal.value.status, refusal.value.context["verb"]) == (403, "read")


@each_row("kind", KINDS)
def test_a_token_does_what_it_asks_for_and_nothing_that_its_key_cannot(running: Service, kind: str) -> None:
    owner, other = new_owner(), new_owner()
    key = key_for(running, f"{owner}", f"{owner}/*")
    token = narrowed(key, verbs=["read", "delete"], owners=[owner, other], subject="爱丽丝", minutes=5)
    with connected(kind, running.url, token=token) as memory:
        assert memory.search("coffee", owner=owner).results == []
        assert memory.me().token == "爱丽丝"
        for refused in (
            lambda: memory.add("I drink tea", owner=owner),
            lambda: memory.search("coffee", owner=other),
            lambda: memory.delete_all(owner=owner),
            lambda: memory.make_key("another"),
        ):
            with pytest.raises(AccessDenied):
                refused()


def test_a_token_ends_with_its_key_and_by_itself(running: Service) -> None:
    owner = new_owner()
    key = key_for(running, owner)
    before = Edge(now=lambda: int((datetime.now(UTC) - timedelta(hours=1)).timestamp() * 1_000_000))
    over = narrowed(key, verbs=["read"], owners=[owner], edge=before)
    token = narrowed(key, verbs=["read"], owners=[owner])
    with connected("sync", running.url, token=over) as memory, pytest.raises(TokenRefused, match="over"):
        memory.me()
    with connected("sync", running.url, token=token) as memory:
        assert memory.me().token is not None
        with connected("sync", running.url) as admin:
            assert admin.revoke_key(key_read(key).key_id, reason="lost").revoked
            assert not admin.revoke_key(key_read(key).key_id).revoked
        with pytest.raises(TokenRefused, match="revoked"):
            memory.me()


def test_grants_and_looks_are_told_to_whoever_administers(running: Service) -> None:
    owner, name = new_owner(), f"p-{uuid4()}"
    with connected("sync", running.url) as memory:
        key = memory.make_key(name, expires_at=datetime.now(UTC) + timedelta(days=2), reason="试用")
        assert key.grants == []
        memory.set_grants(name, [{"verbs": ["read"], "owners": [owner]}])
        assert memory.set_grants(name, [{"verbs": ["read"], "owners": [owner]}]).position is None
        told = memory.access(principal=name)
        assert [(one.event, one.reason) for one in told.events] == [("KeyIssued", "试用"), ("GrantsSet", "")]
        with connected("sync", running.url, token=key.key) as asking, pytest.raises(AccessDenied):
            asking.search("tea", owner="somebody")
        assert (name, "denied", "somebody") in {(one.principal, one.what, one.whose) for one in memory.reads().reads}
        assert memory.set_grants(name, []).grants == []
        with connected("sync", running.url, token=key.key) as asking, pytest.raises(AccessDenied):
            asking.search("tea", owner=owner)


def test_any_library_of_jwts_makes_a_token(running: Service) -> None:
    """As docs/explanation/access.md says what stands in one."""
    owner = new_owner()
    key = key_for(running, owner)
    key_id, seed = key[4:12], key[13:56]
    private = Ed25519PrivateKey.from_private_bytes(urlsafe_b64decode(f"{seed}="))
    now = int(datetime.now(UTC).timestamp())
    claims = {"iat": now, "exp": now + 60, "grants": [{"verbs": ["read"], "owners": [owner]}]}
    token = jwt.encode(claims, private, algorithm="EdDSA", headers={"typ": "egl+jwt", "kid": key_id})
    with connected("sync", running.url, token=token) as memory:
        assert memory.search("coffee", owner=owner).results == []


def test_the_client_makes_the_token_that_the_service_would() -> None:
    edge = Edge(now=lambda: 1_800_000_000_000_000)
    grants = [{"verbs": ["read"], "owners": ["alice"]}]
    own = the_service_s.make_token(KEY, grants, now=1_800_000_000, seconds=900, subject="alice")
    assert narrowed(KEY, verbs=["read"], owners=["alice"], subject="alice", edge=edge) == own
    assert narrowed(KEY, grants=grants, subject="alice", edge=edge) == own
    assert (key_read(KEY).key_id, key_read(KEY).seed) == (id_in(KEY), seed_of(KEY))
    assert KEY[16:40] not in repr(key_read(KEY))


@each_row(
    ("told", "field"),
    [
        ({}, "grants"),
        ({"verbs": ["read"]}, "owners"),
        ({"owners": ["alice"]}, "verbs"),
        ({"verbs": "read", "owners": ["alice"]}, "verbs"),
        ({"verbs": ["read"], "owners": ["alice"], "grants": [{}]}, "grants"),
        ({"verbs": ["read"], "owners": ["alice"], "minutes": 0}, "minutes"),
        ({"verbs": ["read"], "owners": ["alice"], "minutes": 1e9}, "minutes"),
        ({"verbs": ["read"], "owners": ["alice"], "subject": ""}, "subject"),
        ({"verbs": ["read"], "owners": ["alice"], "subject": "a\nb"}, "subject"),
        ({"grants": [{"verbs": ["read"], "owners": ["alice"]}] * 33}, "grants"),
    ],
)
def test_what_makes_no_token_is_refused(told: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as refusal:
        narrowed(KEY, **told)
    assert refusal.value.field == field


def slips() -> list[str]:
    """A key with one character changed, lost, or put beside."""
    other = "B" if KEY[20] != "B" else "C"
    return [KEY[:20] + other + KEY[21:], KEY[:-1], KEY + "0", KEY[:30] + KEY[31:], f"egl_{KEY[13:]}", "egl_"]


@each_row("slip", slips())
def test_a_key_with_a_slip_is_told_before_anything_is_sent_and_not_shown(slip: str) -> None:
    with pytest.raises(InputError) as of_a_token:
        narrowed(slip, verbs=["read"], owners=["alice"])
    with pytest.raises(InputError) as of_a_client:
        token_for(URL, slip)
    for refusal, field in ((of_a_token, "key"), (of_a_client, "token")):
        assert refusal.value.field == field
        assert KEY[24:40] not in str(refusal.value)


def test_the_environment_s_token_may_be_a_key_or_a_token_of_many_grants(monkeypatch: pytest.MonkeyPatch) -> None:
    grants = [{"verbs": ["read"], "owners": [f"customers/of/number-{number}" for number in range(100)]}]
    for shown in (KEY, narrowed(KEY, grants=grants)):
        monkeypatch.setenv("ENGRAMLOG_TOKEN", shown)
        assert token_for(URL, None)() == shown


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jwt", None)
    with pytest.raises(EngramlogError, match=r"engramlog-client\[keys\]"):
        narrowed(KEY, verbs=["read"], owners=["alice"])
