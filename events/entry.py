"""An entry of format 2: what is derived from an owner's secret and an event's words, and what the chain tells of it.

Pure: secrets, salts and clocks are arguments.

Ids can be made of an owner's words: the same words give the same id, and without the owner's secret nobody confirms a guess.
What a statement's bytes are, and by which rules they were made, is decided outside (`events.envelope`). Whoever lacks the
secret learns from an entry how many statements there are, and nothing else; equal statements of one owner have equal digests.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b, sha256
from typing import Literal, NamedTuple
from uuid import UUID

from engramlog_server.events.cipher import SECRET_BYTES
from engramlog_server.events.envelope import NOTHING, UNMARKED, Marker, Marks, Stored
from engramlog_server.events.errors import BadSetting, StoreMismatch
from engramlog_server.events.text import INVISIBLE
from engramlog_server.events.trust import PROPOSED, with_trust
from engramlog_server.events.vocabulary import MOST_STATEMENTS, Trust

DIGEST_BYTES = 16
LEAST_SECRET = 16
MOST_SECRET = 64
_PERSON = b"statement"


class Stated(NamedTuple):
    """What a field tells: by which version of the rules (1 to 255; 0: it states nothing), and a digest a statement."""

    version: int
    digests: tuple[bytes, ...]


NOTHING_STATED = Stated(0, ())


def digest(secret: bytes, statement: bytes) -> bytes:
    """16 bytes that tell this statement of the secret's owner from others: blake2b, keyed, and for statements alone.

    Raises ValueError where the secret has not 16 to 64 bytes: a digest without one would confirm any guess.
    """
    if not LEAST_SECRET <= len(secret) <= MOST_SECRET:
        raise ValueError(f"a secret of {len(secret)} bytes: {LEAST_SECRET} to {MOST_SECRET} are allowed")
    return blake2b(statement, digest_size=DIGEST_BYTES, key=secret, person=_PERSON).digest()


def written(version: int, digests: Sequence[bytes]) -> bytes:
    """The field's bytes: the version, then each digest in its order; empty for no digests.

    Raises ValueError for a version outside 1 to 255, a digest that has not 16 bytes, or more than `MOST_STATEMENTS`.
    """
    if not digests:
        return b""
    if not 1 <= version <= 255:
        raise ValueError(f"version {version} of the statement rules: 1 to 255 are allowed")
    if len(digests) > MOST_STATEMENTS:
        raise ValueError(f"{len(digests)} statements of one event: at most {MOST_STATEMENTS} are allowed")
    for one in digests:
        if len(one) != DIGEST_BYTES:
            raise ValueError(f"a statement's digest of {len(one)} bytes: {DIGEST_BYTES} are allowed")
    return b"".join((bytes((version,)), *digests))


def read(field: bytes) -> Stated:
    """What a field tells. Raises ValueError for bytes that `written` makes of nothing."""
    if not field:
        return NOTHING_STATED
    count, rest = divmod(len(field) - 1, DIGEST_BYTES)
    if rest or not 1 <= count <= MOST_STATEMENTS:
        raise ValueError(
            f"statement digests of {len(field)} bytes: 1 and {DIGEST_BYTES} for each of 1 to {MOST_STATEMENTS} are allowed"
        )
    if not field[0]:
        raise ValueError("statement digests by version 0 of the rules: 1 to 255 are allowed")
    return Stated(field[0], tuple(field[at : at + DIGEST_BYTES] for at in range(1, len(field), DIGEST_BYTES)))


FINGERPRINT_BYTES = 8
MOST_PRINCIPAL = 200
MOST_MODEL = 100
"""Characters of a language model's name in a principal."""
LOCAL = "local"
"""The principal of whoever uses the store's own socket, or shows the folder's token."""
JOB = "job:"
"""What the principal of a job of this store begins with; no name in the settings can."""
_DECIDED_BY = " model:"
Bringer = Literal["side", "job", "model"]
"""What a principal is: a side that people and programs stand on (`local`, or a name), a job, a model that decided for either."""


def checked_principal(name: str) -> str:
    """The name of who brings an event, as it may stand in an entry. Raises BadSetting where it is empty, long, not printable, or
    says what stands in a principal for a model that decided."""
    if not 1 <= len(name) <= MOST_PRINCIPAL or not name.isprintable() or _DECIDED_BY in name:
        allowed = f"1 to {MOST_PRINCIPAL} printable characters, without {_DECIDED_BY!r}"
        raise BadSetting(f"principal: got {name[:MOST_PRINCIPAL]!r}; allowed: {allowed}", setting="principal")
    return name


@lru_cache(maxsize=64)
def principal_of(name: str, model: str | None) -> str:
    """The principal of what `name` brings and a language model decided: `job:extract model:qwen3:8b`; of others the name.

    A model is called what its endpoint calls it, which may be anything: characters that show nothing are told as U+FFFD, a long
    name is cut. The first ` model:` parts the two, for no name holds one.
    """
    if model is None:
        return name
    shown = "".join(
        one if one.isprintable() and not INVISIBLE.match(one) else "\ufffd" for one in model[: MOST_MODEL + 1]
    )
    if len(shown) > MOST_MODEL:
        shown = shown[: MOST_MODEL - 1] + "\u2026"
    return f"{name}{_DECIDED_BY}{shown.strip() or 'unnamed'}"


def model_of(principal: str) -> str | None:
    """The language model that a principal names, as its endpoint calls it; None where none decided."""
    return principal.partition(_DECIDED_BY)[2] or None


def bringer(principal: str) -> Bringer:
    """What a principal is."""
    if _DECIDED_BY in principal:
        return "model"
    return "job" if principal.startswith(JOB) else "side"


def dedupe_field(owner: str, raw_id: bytes) -> bytes:
    """16 bytes by which an owner's event is known again; the same id of another owner is another event."""
    told = _begun(owner).copy()
    told.update(raw_id)
    return told.digest()


@lru_cache(maxsize=4_096)
def _begun(owner: str) -> blake2b:
    """The hash of an owner's name, to be gone on with: an owner's events come together."""
    return blake2b(owner.encode() + b"\0", digest_size=16)


def fingerprint(secret: bytes, body: bytes) -> bytes:
    """8 bytes that tell a redelivery from a reused id, and nothing to whoever lacks the owner's secret."""
    return blake2b(body, digest_size=FINGERPRINT_BYTES, key=secret).digest()


def keyed(secret: bytes, purpose: bytes, words: bytes, size: int) -> bytes:
    """So many bytes (1 to 64) that tell an owner's words from others, and nothing to whoever lacks its secret.

    `purpose`: what they are for, 1 to 16 bytes; the same words give other bytes for another purpose. Raises ValueError for a secret
    that has not 32 bytes: what is derived without one would confirm any guess.
    """
    if len(secret) != SECRET_BYTES:
        raise ValueError(f"a secret of {len(secret)} bytes: {SECRET_BYTES} are allowed")
    return blake2b(words, digest_size=size, key=secret, person=purpose).digest()


def commitment(salt: bytes, body: bytes) -> bytes:
    """What the chain holds of a body; nobody can confirm a guess of it without the salt."""
    return sha256(salt + body).digest()


@lru_cache(maxsize=256)
def level_text(rules: int, level: int, trust: Trust | None = None) -> bytes:
    """`rules:level`, as an entry tells it, and its trust where that is less than `asserted`."""
    return with_trust(b"%d:%d" % (rules, level), trust)


def link_told(one: Stored) -> bytes:
    """What the chain covers of an entry of format 2: each clear field with its length; begins with three zero bytes.

    A body whose salt is there must be the one that was committed to: another is told as another commitment.
    """
    _, kind, raw_id, owner, body, beside, salt = one
    recorded, principal, level, keyed, committed = beside[:_BESIDE]
    if salt:
        committed = sha256(salt + body).digest()
    lengths = _LENGTHS
    told = (
        _told_text(kind), lengths[len(raw_id)], raw_id, _told_text(owner), lengths[len(recorded)], recorded,
        _told(principal), _told(level), lengths[len(keyed)], keyed, lengths[len(committed)], committed,
    )  # fmt: skip
    return b"".join(told if len(beside) == _BESIDE else (*told, *map(_told, beside[_BESIDE:])))


_BESIDE = 5
"""Clear fields beside a body that every entry of format 2 has; behind them stands where a clock was behind."""


class _Lengths(dict[int, bytes]):
    """Lengths as a chain tells them."""

    def __missing__(self, length: int) -> bytes:
        return length.to_bytes(4, "big")


_LENGTHS = _Lengths({length: length.to_bytes(4, "big") for length in range(256)})


@lru_cache(maxsize=4_096)
def _told(field: bytes) -> bytes:
    """With its length; of what is the same in many entries."""
    return _LENGTHS[len(field)] + field


@lru_cache(maxsize=4_096)
def _told_text(field: str) -> bytes:
    return _told(field.encode())


def told_beside(secret: bytes, marker: Marker, marks: Marks | None, trust: Trust | None) -> tuple[bytes, bytes]:
    """The level and the digests of an event of an owner with this secret; `marks` is None where nobody could look."""
    rules = marker if marks is not None else UNMARKED
    level, statements, values, doubtful = marks or NOTHING
    told = b""
    if statements or values:
        told = written(rules.statement_rules, [*(digest(secret, one) for one in statements), *values])
    return level_text(rules.level_rules, level, PROPOSED if doubtful else trust), told


_PURPOSE = b"id of words"
_VERSION_8 = 0x8000 << 64 | 0x8 << 60
_PLACES_8 = ~(0xF000 << 64 | 0xC << 60)


class Naming(NamedTuple):
    """By what ids are made of one owner's words."""

    owner: str
    secret: bytes
    """Empty where the owner has none: an owner without events."""

    def __repr__(self) -> str:
        """Without the secret: what is told of an error or a test goes further than the store."""
        return f"Naming(owner={self.owner!r})"

    def made(self, use: str, *parts: str) -> str:
        """A version 8 UUID of these words for one use; other owners, uses and words have others.

        Raises StoreMismatch where the owner has no secret, or one that nothing made.
        """
        if len(self.secret) != SECRET_BYTES:
            raise StoreMismatch(
                f"the secret of owner {self.owner!r} has {len(self.secret)} bytes, {SECRET_BYTES} are allowed: no id is made of its"
                " words; bring back the backup that has the right one, and see `engramlog verify`"
            )
        words = b"".join(len(one).to_bytes(8, "big") + one for one in map(str.encode, (use, *parts)))
        number = int.from_bytes(keyed(self.secret, _PURPOSE, words, 16), "big")
        return str(UUID(int=number & _PLACES_8 | _VERSION_8))
