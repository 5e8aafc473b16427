"""Keys, and tokens made of a key offline. Pure but for making a key.

A key is `egl_<8 letters and digits>_<43 characters>_<6 hexadecimal digits>`: its id, 32 random bytes as base64url, and a check sum.
The bytes are the seed of an Ed25519 key. The store keeps the public key, so that what the seed signs is known again, and the
SHA-256 of the text; a random secret needs no slow hash.

A token is a JWT that the key's seed signs (EdDSA), narrower than the key, with an end. Any library of JWTs makes one: `alg` EdDSA,
`typ` `egl+jwt`, `kid` the key's id; `exp` and `iat` in seconds; `grants` as of a key; `sub`, the name of its bearer in the audit.
It ends no later than the key, and can do nothing that the key cannot.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from hmac import compare_digest
from typing import Any, Literal, NamedTuple

import jwt
import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from pydantic import TypeAdapter, ValidationError

from engramlog_server.events.catalogue import MOST_GRANTS, Grant
from engramlog_server.events.errors import InputError, refused
from engramlog_server.events.validation import allowed_words
from engramlog_server.events.vocabulary import checked
from engramlog_server.projections.access.caller import AccessBook, Caller, Key, check_grant
from engramlog_server.projections.shapes import GrantHeld

PREFIX = "egl_"
SEED_BYTES = 32
_ID_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
_KEY = re.compile(r"egl_([a-z0-9]{8})_([A-Za-z0-9_-]{43})_([0-9a-f]{6})", re.ASCII)


class MadeKey(NamedTuple):
    """A key, shown once, and what is stored of it."""

    key_id: str
    text: str
    public: str
    """64 hexadecimal digits."""
    digest: str
    """SHA-256 of the text, 64 hexadecimal digits."""

    def __repr__(self) -> str:
        """Without the key."""
        return f"MadeKey(key_id={self.key_id!r})"


def make_key(chance: Callable[[int], bytes]) -> MadeKey:
    """A new key. `chance`: gives so many random bytes."""
    key_id = "".join(_ID_LETTERS[one % len(_ID_LETTERS)] for one in chance(8))
    seed = chance(SEED_BYTES)
    body = f"{PREFIX}{key_id}_{urlsafe_b64encode(seed).rstrip(b'=').decode()}"
    text = f"{body}_{_check(body)}"
    public = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
    return MadeKey(key_id, text, public.hex(), digest_of(text))


def id_in(shown: str) -> str | None:
    """The id in the text of a key; None for any other text."""
    found = _KEY.fullmatch(shown)
    if found is None or not compare_digest(_check(shown[: -len(found[3]) - 1]), found[3]):
        return None
    return found[1]


def seed_of(text: str) -> bytes:
    """The seed of a key. Raises ValueError where the text is none."""
    found = _KEY.fullmatch(text)
    if found is None or id_in(text) is None:
        raise ValueError("a key of Engramlog, egl_... as `engramlog key new` showed it once")
    return urlsafe_b64decode(found[2] + "=")


def digest_of(text: str) -> str:
    """What the store keeps of a key's text: SHA-256, 64 hexadecimal digits."""
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _check(body: str) -> str:
    return sha256(body.encode()).hexdigest()[:6]


ALGORITHM = "EdDSA"
KIND = "egl+jwt"
LONGEST_SECONDS = 366 * 86_400
LEEWAY_SECONDS = 300
"""How far the clock of a token's maker may be ahead."""
MOST_LETTERS = 8_192
MOST_SUBJECT = 128
OVER = "a token that is over"
_GRANT: TypeAdapter[Any] = TypeAdapter(checked(Grant))


class TokenRefused(ValueError):
    """The text is no token of a key, or an expired one; the message says which, and quotes nothing of it."""


class NotSigned(TokenRefused):
    """Its key did not sign it."""


class TokenSaid(NamedTuple):
    """The claims of a token with a valid signature."""

    grants: tuple[Grant, ...]
    begins: int
    """Seconds since 1970, as its end."""
    ends: int
    subject: str | None


def key_named(shown: str) -> str | None:
    """The id of the key that a token claims to be made of; None if it claims none. Nothing is verified by that."""
    if len(shown) > MOST_LETTERS or shown.count(".") != 2:
        return None
    try:
        header = jwt.get_unverified_header(shown)
    except jwt.PyJWTError:
        return None
    key_id = header.get("kid")
    return key_id if header.get("typ") == KIND and isinstance(key_id, str) else None


def read_token(shown: str, public: bytes) -> TokenSaid:
    """The claims of a token signed by the key with this public half, at any time. Raises TokenRefused."""
    try:
        said = jwt.decode(
            shown,
            Ed25519PublicKey.from_public_bytes(public),
            algorithms=[ALGORITHM],
            options={
                "require": ["exp", "iat"], "verify_exp": False, "verify_iat": False, "verify_nbf": False, "verify_aud": False,
                "verify_sub": False,
            },
        )  # fmt: skip
    except (jwt.PyJWTError, ValueError):
        raise NotSigned("a token that its key did not sign") from None
    ends, begins, subject = _seconds(said, "exp"), _seconds(said, "iat"), said.get("sub")
    if not 0 < ends - begins <= LONGEST_SECONDS:
        raise TokenRefused("a token without an end, or with one more than 366 days after its beginning")
    if subject is not None and not (
        isinstance(subject, str) and 1 <= len(subject) <= MOST_SUBJECT and subject.isprintable()
    ):
        raise TokenRefused(f"a token whose sub is not 1 to {MOST_SUBJECT} printable characters")
    return TokenSaid(_grants(said.get("grants")), begins, ends, subject)


def check_holds(said: TokenSaid, now: int) -> None:
    """Raises TokenRefused for a token that has not begun or has expired. `now`: seconds since 1970."""
    if said.begins > now + LEEWAY_SECONDS:
        raise TokenRefused("a token that has not begun")
    if now >= said.ends:
        raise TokenRefused(OVER)


def make_token(
    key: str, grants: Sequence[Mapping[str, Any] | GrantHeld], *, now: int, seconds: int, subject: str | None = None
) -> str:
    """A token of a key for these grants, for so many seconds. Raises InputError; the service checks the grants of the key."""
    if not 1 <= seconds <= LONGEST_SECONDS:
        raise refused("seconds", seconds, f"1 to {LONGEST_SECONDS:,}")
    try:
        _grants(grants)
        seed = seed_of(key)
    except ValueError as error:
        raise InputError(f"token: {error}", field="token") from None
    said: dict[str, Any] = {"iat": now, "exp": now + seconds, "grants": grants}
    if subject is not None:
        said["sub"] = subject
    private = Ed25519PrivateKey.from_private_bytes(seed)
    return jwt.encode(said, private, algorithm=ALGORITHM, headers={"typ": KIND, "kid": id_in(key)})


def _grants(said: Any) -> tuple[Grant, ...]:
    if not isinstance(said, list) or not 1 <= len(said) <= MOST_GRANTS:
        raise TokenRefused(f"a token whose grants are not a list of 1 to {MOST_GRANTS}")
    try:
        return grants_of(said)
    except InputError as error:
        raise TokenRefused(f"a token whose grants cannot be read ({error})") from None


def as_grant(said: Any) -> Grant:
    """A grant of its JSON. Raises ValidationError, and TypeError for what no JSON is."""
    found = _GRANT.validate_json(orjson.dumps(said))
    return Grant(**{name: getattr(found, name) for name in Grant.__struct_fields__})


def grants_of(said: Sequence[Mapping[str, Any]]) -> tuple[Grant, ...]:
    """Grants of their JSON. Raises InputError with the first that is invalid, and why."""
    if len(said) > MOST_GRANTS:
        raise refused("grants", f"{len(said)} of them", f"at most {MOST_GRANTS}")
    found = []
    for number, one in enumerate(said):
        try:
            found.append(check_grant(as_grant(one), f"grants[{number}]"))
        except TypeError:
            raise refused(f"grants[{number}]", type(one).__name__, "an object of JSON") from None
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise refused(
                f"grants[{number}]{where and '.' + where}", str(first["input"])[:80], allowed_words(first)
            ) from None
    return tuple(found)


def _seconds(said: dict[str, Any], name: str) -> int:
    value = said[name]
    if not isinstance(value, int) or isinstance(value, bool):
        raise TokenRefused(f"a token whose {name} is no whole number of seconds")
    return value


SECOND = 1_000_000
ReadToken = Callable[[str, bytes], TokenSaid]
"""The claims of a token signed by the key with this public half. Raises TokenRefused."""
Why = Literal["unknown", "over", "revoked"]
"""Why no caller is recognised, by name."""


class Recognised(NamedTuple):
    """The caller; or why none is recognised, in words for the holder of the key or token."""

    caller: Caller | None
    got: str = ""
    why: Why = "unknown"
    once: Caller | None = None
    """The caller of a key that is no longer valid."""


UNKNOWN = Recognised(None, "another than this service's token, and no key of this store")


def is_of_a_key(shown: str) -> bool:
    """Whether this is written as a key, or as a token made of one."""
    return id_in(shown) is not None or key_named(shown) is not None


def recognised(book: AccessBook, shown: str, now: int, read: ReadToken = read_token) -> Recognised:
    """Who shows this. `now`: microseconds since 1970. `read` reads a token, or remembers what it read.

    What a key or a token is that opens nothing any more is told to whoever holds it, and to nobody else.
    """
    key_id = id_in(shown)
    if key_id is not None:
        key = book.keys.get(key_id)
        if not compare_digest(digest_of(shown), key.digest if key else "0" * 64) or key is None:
            return UNKNOWN
        return caller_of(book, key, now)
    named = key_named(shown)
    key = None if named is None else book.keys.get(named)
    return UNKNOWN if key is None else _by_token(book, key, shown, now, read)


def _by_token(book: AccessBook, key: Key, shown: str, now: int, read: ReadToken) -> Recognised:
    """The caller of a token that claims to be made of a key."""
    try:
        told = read(shown, key.public)
        check_holds(told, now // SECOND)
    except NotSigned:  # reported as an unknown key: a forged token learns nothing of keys
        return UNKNOWN
    except TokenRefused as error:
        return Recognised(None, str(error), "over" if str(error) == OVER else "unknown")
    found = caller_of(book, key, now)
    if found.caller is None:
        return found._replace(got=f"a token made of {found.got}")
    ends = told.ends * SECOND
    least = ends if key.expires_at is None else min(ends, key.expires_at)
    layers = (book.grants.get(key.principal, ()), told.grants)
    return Recognised(Caller(key.principal, layers, key.key_id, told.subject or "", least))


def as_of_now(book: Callable[[], AccessBook], caller: Caller, now: int) -> Caller | None:
    """A caller recognised earlier, with its grants now; None: it has none. `book` is not asked for unlimited callers."""
    if caller.layers is None:
        return caller
    if caller.ends is not None and now >= caller.ends:
        return None
    if caller.key_id is not None:
        return still(book(), caller, now).caller
    return replace(caller, layers=(book().grants.get(caller.name, ()), *caller.layers[1:]))


def caller_of(book: AccessBook, key: Key, now: int) -> Recognised:
    """The caller of a key in the book, if the key is live."""
    state = key.state(now)
    if state != "live":
        gone = Caller(key.principal, ((),), key.key_id)
        if state == "revoked":
            return Recognised(None, f"the key {key.key_id}, which was revoked", "revoked", gone)
        return Recognised(None, f"the key {key.key_id}, which is over", "over", gone)
    return Recognised(Caller(key.principal, (book.grants.get(key.principal, ()),), key.key_id, None, key.expires_at))


def still(book: AccessBook, caller: Caller, now: int) -> Recognised:
    """Who was recognised before by a key, or by a token made of one, as the book has him now. `now`: microseconds since 1970.

    What he showed is not asked for again: a key's text and a token's signature do not change, what they open does.
    """
    key = None if caller.key_id is None else book.keys.get(caller.key_id)
    if key is None:
        return UNKNOWN
    found = caller_of(book, key, now)
    if found.caller is None or caller.token is None:
        return found
    if caller.ends is not None and now >= caller.ends:
        return Recognised(None, f"a token of the key {key.key_id}, which is over", "over")
    layers = (book.grants.get(key.principal, ()), *(caller.layers or ())[1:])
    return Recognised(replace(caller, layers=layers))
