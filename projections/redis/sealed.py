"""What is stored of an owner's words besides the log, sealed and opened: one place tells what each is bound to.

Where a store lies open there is no cipher, and nothing here changes a byte. Opening raises DamagedState where bytes do not open.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable
from functools import partial

from engramlog_server.events.encryption.cipher import (
    VALUES,
    NotExpanded,
    NotOpened,
    ValueCipher,
    compressed,
    expanded,
    record_dictionary,
)
from engramlog_server.events.errors import DamagedState, KeyUnavailable
from engramlog_server.events.redis.secrets import read_cipher
from engramlog_server.events.redis.wire import Wire
from engramlog_server.projections.fold.changelog import chunks_of, laid
from engramlog_server.projections.redis.builds import BuildKeys

RECORD, CHANGES, REASON, SYNONYMS = b"record", b"changes", b"reason", b"synonyms"
MOMENT, VECTOR, PIECES = b"moment", b"vector", b"pieces"
"""What a sealed value is, which it is bound to."""
SEALED_REASON = "\0"
"""What a sealed reason begins with."""
UNTOLD = "it is sealed, and its owner's key cannot be had"


def place(what: bytes, owner: str, name: bytes = b"") -> bytes:
    """What a value is bound to: what it is, whose, and which. An owner's name holds no zero byte."""
    return b"%b\0%b\0%b" % (what, owner.encode(), name)


def vector_place(what: bytes, owner: str, model: str, key: bytes) -> bytes:
    """What a vector, or its pieces, is bound to. Content keys are of one length, so none runs into a model's name."""
    return place(what, owner, model.encode() + b"\0" + key)


def cipher_of(wire: Wire, keys: BuildKeys, owner: str) -> ValueCipher | None:
    """What seals and opens an owner's values; None where the store lies open. Raises StoreError, KeyUnavailable too."""
    return read_cipher(wire, keys.log, owner)


def opens(found: ValueCipher | KeyUnavailable | None) -> ValueCipher | None:
    """What opens, where it is at hand."""
    return None if isinstance(found, KeyUnavailable) else found


def seal_record(cipher: ValueCipher | None, owner: str, memory_id: str, raw: bytes) -> bytes:
    """A record as it is stored; compressed if it is sealed."""
    if cipher is None:
        return raw
    name = memory_id.encode()
    return cipher.seal(place(RECORD, owner, name), compressed(raw, record_dictionary(name)))


def open_record(cipher: ValueCipher | None, owner: str, memory_id: str | bytes, raw: bytes) -> bytes:
    """A stored record. Raises DamagedState."""
    if cipher is None:
        return raw
    name = memory_id if isinstance(memory_id, bytes) else memory_id.encode()
    return _expanded(
        cipher,
        place(RECORD, owner, name),
        raw,
        lambda: f"the record of memory {name.decode()} of owner {owner}",
        record_dictionary(name),
    )


def seal_chunk(cipher: ValueCipher | None, owner: str, chunk: bytes) -> bytes:
    """What `pack` made, as it is stored."""
    if cipher is None:
        return chunk
    where = place(CHANGES, owner)
    return b"".join(laid(cipher.seal(where, compressed(one, VALUES))) for one in chunks_of(chunk))


def open_pack(cipher: ValueCipher | None, owner: str, raw: bytes) -> bytes:
    """Chunks laid end to end, as `pack` made them. Raises DamagedState."""
    if cipher is None or not raw:
        return raw
    where = place(CHANGES, owner)
    return b"".join(
        laid(_expanded(cipher, where, one, lambda: f"the change log of owner {owner}")) for one in chunks_of(raw)
    )


def seal_moment(cipher: ValueCipher | None, owner: str, number: int, part: bytes) -> bytes:
    """What a moment tells, as it is stored."""
    return part if cipher is None else cipher.seal(place(MOMENT, owner, b"%d" % number), part)


def open_moment(cipher: ValueCipher | None, owner: str, number: int, raw: bytes) -> bytes:
    """What a stored moment tells. Raises DamagedState."""
    if cipher is None:
        return raw
    return opened(cipher, place(MOMENT, owner, b"%d" % number), raw, lambda: f"a kept moment of owner {owner}")


def open_vector(cipher: ValueCipher | None, what: bytes, owner: str, model: str, key: bytes, raw: bytes) -> bytes:
    """A stored vector (`what` is VECTOR) or its pieces (PIECES), packed. Raises DamagedState."""
    if cipher is None:
        return raw
    return opened(cipher, vector_place(what, owner, model, key), raw, lambda: f"a vector of owner {owner}")


def seal_reason(cipher: ValueCipher | None, owner: str, reason: str) -> str:
    """Why an owner stands still, as it is stored: an error may tell what it met."""
    if cipher is None:
        return reason
    return SEALED_REASON + b64encode(cipher.seal(place(REASON, owner), reason.encode())).decode()


def open_reason(cipher: ValueCipher | None, owner: str, stored: str) -> str:
    """A sealed reason; that it is sealed where nothing opens it."""
    try:
        return UNTOLD if cipher is None else cipher.open(place(REASON, owner), b64decode(stored[1:])).decode()
    except ValueError:  # NotOpened too
        return UNTOLD


def seal_synonyms(cipher: ValueCipher | None, owner: str) -> Callable[[bytes], bytes] | None:
    """What seals an owner's synonyms."""
    return None if cipher is None else partial(cipher.seal, place(SYNONYMS, owner))


def open_synonyms(cipher: ValueCipher | None, owner: str) -> Callable[[bytes], bytes] | None:
    """What opens them."""
    return None if cipher is None else partial(cipher.open, place(SYNONYMS, owner))


def _expanded(
    cipher: ValueCipher, where: bytes, raw: bytes, what: Callable[[], str], dictionary: bytes = VALUES
) -> bytes:
    """A stored value that was compressed before it was sealed. Raises DamagedState with what it is."""
    return opened(cipher, where, raw, what, lambda plain: expanded(plain, dictionary))


def opened(
    cipher: ValueCipher,
    where: bytes,
    raw: bytes,
    what: Callable[[], str],
    then: Callable[[bytes], bytes] = lambda plain: plain,
) -> bytes:
    """A stored value, and what `then` makes of it. Raises DamagedState with what it is."""
    try:
        return then(cipher.open(where, raw))
    except (NotOpened, NotExpanded) as error:
        raise DamagedState(
            f"{what()} cannot be read ({error}); the log is the truth: `engramlog verify` shows more, `engramlog rebuild` fixes it"
        ) from error
