"""Keys, tokens made of keys, and who is recognised by them."""

from __future__ import annotations

import os
from base64 import urlsafe_b64encode
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from engramlog_server.events.catalogue import Grant, GrantsSet, KeyIssued, KeyRevoked
from engramlog_server.events.envelope import from_micros
from engramlog_server.events.errors import InputError
from engramlog_server.projections.access.caller import AccessBook, Caller, told
from engramlog_server.projections.access.keys import (
    LONGEST_SECONDS,
    MadeKey,
    as_of_now,
    id_in,
    make_key,
    make_token,
    recognised,
    seed_of,
)
from tests.rows import each_row

NOW = 1_800_000_000
READS = Grant(verbs=("read",), owners=("alice", "team/*"))
ASKED = [told(Grant(verbs=("read",), owners=("*",)))]


def folded(said: list[tuple[Any, int]], until: int | None = None) -> AccessBook:
    """The book of events with their instants; `until`: of those said by then."""
    return AccessBook().after_all((data, at) for data, at in said if until is None or at <= until)


def micro(seconds: int) -> int:
    return seconds * 1_000_000


def issued(key: MadeKey, number: int = 1, ends: int | None = None, principal: str = "support") -> KeyIssued:
    return KeyIssued(
        number=number,
        key_id=key.key_id,
        principal=principal,
        public=key.public,
        digest=key.digest,
        expires_at=None if ends is None else from_micros(micro(ends)),
    )


@pytest.fixture
def key() -> MadeKey:
    return make_key(os.urandom)


@pytest.fixture
def book(key: MadeKey) -> AccessBook:
    said = [
        (issued(key), micro(NOW - 10)),
        (GrantsSet(number=2, principal="support", grants=(READS,)), micro(NOW - 10)),
    ]
    return folded(said)


def known(book: AccessBook, shown: str, now: int = NOW) -> Caller | None:
    return recognised(book, shown, micro(now)).caller


def test_a_key_is_recognised_and_does_what_its_principal_may(key: MadeKey, book: AccessBook) -> None:
    caller = known(book, key.text)
    assert caller is not None
    assert caller.name == "support"
    assert caller.may("read", "team/ann")
    assert not caller.may("read", "bob")
    assert not caller.may("produce", "alice")
    assert not caller.is_unlimited


def test_every_other_text_opens_nothing(key: MadeKey, book: AccessBook) -> None:
    other = make_key(os.urandom)
    of_its_id = other.text.replace(other.key_id, key.key_id)
    body = of_its_id.rpartition("_")[0]
    forged = f"{body}_{sha256(body.encode()).hexdigest()[:6]}"  # well written, of a key that there is
    assert id_in(forged) == key.key_id
    wrong = key.text[:-1] + ("1" if key.text.endswith("0") else "0")
    others = (of_its_id, forged, wrong, other.text, key.text.upper(), key.text + " ", key.key_id, key.digest)
    for shown in ("", "egl_", *others):
        assert known(book, shown) is None, shown
    assert id_in(wrong) is None


def test_a_key_ends_and_is_revoked(key: MadeKey) -> None:
    book = folded([(issued(key, ends=NOW), micro(NOW - 10))])
    assert known(book, key.text, NOW - 1) is not None
    over = recognised(book, key.text, micro(NOW))
    assert (over.caller, over.got) == (None, f"the key {key.key_id}, which is over")
    assert over.once is not None
    assert (over.once.name, over.once.may("read", "alice")) == ("support", False)
    gone = book.after(KeyRevoked(number=2, key_id=key.key_id), micro(NOW - 5))
    assert recognised(gone, key.text, micro(NOW - 1)).got == f"the key {key.key_id}, which was revoked"
    token = make_token(key.text, ASKED, now=NOW - 8, seconds=60)
    assert known(gone, token, NOW - 1) is None


def test_a_token_does_what_both_it_and_its_key_may(key: MadeKey, book: AccessBook) -> None:
    caller = known(book, make_token(key.text, ASKED, now=NOW, seconds=60, subject="ann@example.org"))
    assert caller is not None
    assert caller.token == "ann@example.org"
    assert caller.may("read", "alice")
    assert not caller.may("read", "bob"), "the key may not, whatever the token says"
    narrow = known(
        book, make_token(key.text, [told(Grant(verbs=("read",), owners=("team/ann",)))], now=NOW, seconds=60)
    )
    assert narrow is not None
    assert narrow.may("read", "team/ann")
    assert not narrow.may("read", "alice")
    wide = [told(Grant(verbs=("admin", "reveal"), owners=("*",), sensitivity=3))]
    widened = known(book, make_token(key.text, wide, now=NOW, seconds=60))
    assert widened is not None
    assert not any(widened.may(verb, "alice") for verb in ("read", "reveal", "produce"))
    assert not widened.may("admin", None)


def test_a_token_ends(key: MadeKey, book: AccessBook) -> None:
    token = make_token(key.text, ASKED, now=NOW, seconds=60)
    assert known(book, token, NOW + 59) is not None
    assert recognised(book, token, micro(NOW + 60)).got == "a token that is over"


def signed(key: MadeKey, said: dict[str, Any], **head: Any) -> str:
    private = Ed25519PrivateKey.from_private_bytes(seed_of(key.text))
    return jwt.encode(said, private, algorithm="EdDSA", headers={"typ": "egl+jwt", "kid": key.key_id, **head})


CLAIMS = {"iat": NOW, "exp": NOW + 60, "grants": ASKED}
FORGED: dict[str, Callable[[MadeKey], str]] = {
    "by another seed": lambda key: signed(key._replace(text=make_key(os.urandom).text), CLAIMS),
    "unsigned": lambda key: jwt.encode(CLAIMS, None, algorithm="none", headers={"typ": "egl+jwt", "kid": key.key_id}),
    "by its public half": lambda key: jwt.encode(
        CLAIMS, key.public, algorithm="HS256", headers={"typ": "egl+jwt", "kid": key.key_id}
    ),
    "of no kind": lambda key: signed(key, CLAIMS, typ="JWT"),
    "of no key": lambda key: signed(key, CLAIMS, kid="aaaaaaaa"),
    "of a key that is a list": lambda key: signed(key, CLAIMS).replace(".", "..", 1),
    "without an end": lambda key: signed(key, {"iat": NOW, "grants": ASKED}),
    "without a beginning": lambda key: signed(key, {"exp": NOW + 60, "grants": ASKED}),
    "with an end far away": lambda key: signed(key, CLAIMS | {"exp": NOW + LONGEST_SECONDS + 1}),
    "that ends before it begins": lambda key: signed(key, CLAIMS | {"iat": NOW + 100}),
    "that has not begun": lambda key: signed(key, CLAIMS | {"iat": NOW + 301, "exp": NOW + 400}),
    "with an end of words": lambda key: signed(key, CLAIMS | {"exp": "soon"}),
    "with an end that is true": lambda key: signed(key, CLAIMS | {"iat": False, "exp": True}),
    "without grants": lambda key: signed(key, {"iat": NOW, "exp": NOW + 60}),
    "with no grants": lambda key: signed(key, CLAIMS | {"grants": []}),
    "with too many grants": lambda key: signed(key, CLAIMS | {"grants": ASKED * 33}),
    "with a grant that is none": lambda key: signed(key, CLAIMS | {"grants": [{"verbs": ["fly"], "owners": ["*"]}]}),
    "with a grant of more than there is": lambda key: signed(key, CLAIMS | {"grants": [ASKED[0] | {"super": True}]}),
    "with grants of words": lambda key: signed(key, CLAIMS | {"grants": "all"}),
    "with a subject of lines": lambda key: signed(key, CLAIMS | {"sub": "a\nb"}),
    "with a long subject": lambda key: signed(key, CLAIMS | {"sub": "a" * 129}),
    "that is long": lambda key: signed(key, CLAIMS | {"more": "a" * 9_000}),
    "changed afterwards": lambda key: _with_body(signed(key, CLAIMS), b'{"iat":1,"exp":9999999999,"grants":[]}'),
}


def _with_body(token: str, body: bytes) -> str:
    head, _, signature = token.split(".")
    return ".".join([head, urlsafe_b64encode(body).rstrip(b"=").decode(), signature])


@each_row("how", FORGED)
def test_a_forged_token_opens_nothing(how: str, key: MadeKey, book: AccessBook) -> None:
    assert known(book, signed(key, CLAIMS)) is not None, "what it is made from is a token"
    assert known(book, FORGED[how](key)) is None


@each_row(
    ("key_text", "grants", "seconds"),
    [("egl_aaaaaaaa_no", ASKED, 60), (None, [], 60), (None, ASKED, 0), (None, ASKED, LONGEST_SECONDS + 1)],
)
def test_what_no_token_can_be_made_of_is_refused(
    key: MadeKey, key_text: str | None, grants: list[dict[str, Any]], seconds: int
) -> None:
    with pytest.raises(InputError):
        make_token(key_text or key.text, grants, now=NOW, seconds=seconds)


def test_a_key_is_not_told_where_it_is_shown_by_mistake(key: MadeKey) -> None:
    assert key.text not in repr(key)


def test_who_could_do_what_on_a_day_can_be_asked(key: MadeKey) -> None:
    said = [
        (issued(key), 100),
        (GrantsSet(number=2, principal="support", grants=(READS,)), 200),
        (KeyRevoked(number=3, key_id=key.key_id), 300),
        (GrantsSet(number=4, principal="support"), 400),
    ]
    assert folded(said, 150).grants == {}
    assert folded(said, 250).grants == {"support": (READS,)}
    assert folded(said, 299).keys[key.key_id].state(299) == "live"
    assert folded(said, 300).keys[key.key_id].state(300) == "revoked"
    assert folded(said).grants == {"support": ()}
    assert folded(said).number == 4


def test_who_was_recognised_may_later_what_he_may_then(key: MadeKey, book: AccessBook) -> None:
    said = known(book, key.text)
    assert said is not None
    assert as_of_now(lambda: book, said, micro(NOW)) == said
    narrower = book.after(GrantsSet(number=book.number + 1, principal="support"), micro(NOW))
    found = as_of_now(lambda: narrower, said, micro(NOW))
    assert found is not None
    assert found.layers == ((),)
    assert not found.may("read", "alice")
    revoked = narrower.after(KeyRevoked(number=narrower.number + 1, key_id=key.key_id), micro(NOW))
    assert as_of_now(lambda: revoked, said, micro(NOW)) is None


def test_who_has_a_token_of_a_provider_may_later_what_both_it_and_his_grants_may(book: AccessBook) -> None:
    name, reads = "oidc/ann", Grant(verbs=("read", "produce"), owners=("alice",))
    granted = book.after(GrantsSet(number=book.number + 1, principal=name, grants=(reads,)), micro(NOW))
    said = Caller(name, ((reads,), (Grant(verbs=("read",), owners=("alice",)),)), None, "", micro(NOW + 1))
    found = as_of_now(lambda: granted, said, micro(NOW))
    assert found is not None
    assert (found.may("read", "alice"), found.may("produce", "alice")) == (True, False)
    taken = as_of_now(lambda: book, said, micro(NOW))
    assert taken is not None
    assert not taken.may("read", "alice")
    assert as_of_now(lambda: granted, said, micro(NOW + 1)) is None
