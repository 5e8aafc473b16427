"""Tokens of a key, made without asking the service: they do less than the key, and end by themselves.

from engramlog.tokens import narrowed

token = narrowed(key, verbs=["read"], owners=["alice"], subject="alice@example.org")

A token is a JWT (RFC 7519) that the key signs (EdDSA, RFC 8037), so any library of JWTs makes one:
`docs/explanation/access.md` lists its parts. Needs `pyjwt[crypto]`: `pip install 'engramlog-client[keys]'`.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from engramlog.errors import EngramlogError, InputError, refused
from engramlog.wire import Edge

PREFIX = "egl_"
"""How every key begins."""
MINUTES = 15.0
"""How long a token lives unless told."""
MOST_MINUTES = 527_040
"""366 days."""
MOST_GRANTS = 32
MOST_SUBJECT = 128
_KEY = re.compile(r"(egl_([a-z0-9]{8})_([A-Za-z0-9_-]{43}))_([0-9a-f]{6})", re.ASCII)
_HOW = "a key as `engramlog key new` printed it once"


class KeyRead(NamedTuple):
    """What stands in the text of a key."""

    key_id: str
    seed: bytes
    """Of an Ed25519 key."""

    def __repr__(self) -> str:
        """Without the seed."""
        return f"KeyRead(key_id={self.key_id!r})"


def key_read(text: str) -> KeyRead:
    """A key taken apart. Raises InputError for a text that is none, which is not shown."""
    found = _KEY.fullmatch(text)
    if found is None:
        raise InputError(f"key: got a text that is no key; allowed: {_HOW}", field="key", allowed=_HOW)
    if sha256(found[1].encode()).hexdigest()[:6] != found[4]:
        raise InputError(
            f"key: got {PREFIX}{found[2]}_... with a slip in it; allowed: {_HOW}", field="key", allowed=_HOW
        )
    return KeyRead(found[2], urlsafe_b64decode(found[3] + "="))


def narrowed(
    key: str,
    *,
    verbs: Sequence[str] = (),
    owners: Sequence[str] = (),
    minutes: float = MINUTES,
    subject: str | None = None,
    grants: Sequence[Mapping[str, object]] = (),
    edge: Edge = Edge(),  # noqa: B008 - immutable
    **others: object,
) -> str:
    """A token that does these verbs with the memories of these owners, for so many minutes, and nothing that its key cannot do.

    `subject` is what the audit calls its bearer. `others` of a grant: `modes`, `sensitivity`, `actors`, `trust`; unless told they
    are as a grant has them. Several grants go as `grants` instead, as `Memory.access` tells them. The service takes it as long as
    the key lives. Raises InputError.
    """
    if bool(grants) == bool(verbs or owners or others):
        raise refused("grants", "both" if grants else "nothing", "either verbs and owners, or grants")
    for name, value in (("verbs", verbs), ("owners", owners)):
        if isinstance(value, str):
            raise refused(name, value, "several things in a list, also a single one")
        if not grants and not value:
            raise refused(name, None, "what the token may do, and to whose memories")
    if not 0 < minutes <= MOST_MINUTES:
        raise refused("minutes", minutes, f"more than 0, at most {MOST_MINUTES:,}")
    if subject is not None and not (1 <= len(subject) <= MOST_SUBJECT and subject.isprintable()):
        raise refused("subject", subject, f"1 to {MOST_SUBJECT} printable characters")
    asked = [dict(one) for one in grants] or [{"verbs": [*verbs], "owners": [*owners], **others}]
    if len(asked) > MOST_GRANTS:
        raise refused("grants", f"{len(asked)} of them", f"at most {MOST_GRANTS}")
    now = edge.now() // 1_000_000
    said = {"iat": now, "exp": now + max(round(60 * minutes), 1), "grants": asked}
    return _signed(key_read(key), said if subject is None else {**said, "sub": subject})


def _signed(key: KeyRead, said: dict[str, object]) -> str:
    try:
        import jwt  # noqa: PLC0415 - who makes no tokens needs no library for them
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415
    except ImportError as error:
        raise EngramlogError(
            f"tokens are made with pyjwt and cryptography, and {error.name} is not here: pip install 'engramlog-client[keys]'"
        ) from None
    private = Ed25519PrivateKey.from_private_bytes(key.seed)
    return jwt.encode(said, private, algorithm="EdDSA", headers={"typ": "egl+jwt", "kid": key.key_id})
