"""AES-256-GCM under keys that are made of an owner's secret: bodies of events one by one, and values that are written anew.

Pure: secrets and salts are arguments. `cryptography` is loaded by the first use, since most commands seal nothing.

Before it is sealed a body is compressed: raw deflate (RFC 1951) with a dictionary. A body of 430 bytes has 70 of words; the rest
are names of fields, which every event repeats. Dictionaries are part of the stored form: a change of one makes what is stored
unreadable. A new one needs a new mark.
"""

from __future__ import annotations

import zlib
from functools import lru_cache
from hashlib import blake2b
from struct import Struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

SECRET_BYTES = 32
"""Bytes of an owner's secret."""
MARK = b"\xc1"
"""What compressed bytes begin with: neither JSON nor MessagePack begins with it."""
_SHORT = 4_096
_SMALL_WINDOW, _WINDOW = -12, -zlib.MAX_WBITS
"""Raw deflate with 4 KiB, which starts five times as fast as the usual 32 KiB, and with 32 KiB for longer texts."""

WORDS = (
    " because before after always never about there their would could should think really going to want to have been working "
    "something everything someone anything people together tomorrow yesterday morning evening weekend birthday friends family "
    "favorite favourite  I don't I didn't I've been I'm going to I'd like to you're it's that's  last week next week this year "
    "every day a lot of kind of looking forward to thank you thanks! how are you? what do you let me know  sounds great  my wife "
    "my husband my son my daughter my mom and I in the of the to the for the on the at the with the from the it was  that was  "
    "when I  have a  is a  was a  and the  but I  so I  with my  in my  to my  for my  this  that  with  have  your  just  like  "
    "from  some  time  been  were  will  what  they  he  she  we  you  the  and  is  to  of  in  for "
    "我们我在你的是一个了，。！？今天明天觉得喜欢什么可以没有这个"
).encode()
"""What talk shares; it stands before the rest of each dictionary."""
BODIES = WORDS + (
    b'"redacted":,"similarity":1.0,"deleted":["reason":"","resolution":"","correction":"","replaced_by":"m-'
    b'"by":"rules","turns":1,"up_to":"t-01"grade":"importance":0."confidence":0."because":""summary":""keywords":[""],"tags":["'
    b'"project":"","task":"","metadata":{"sensitivity":1"grounds":[{"uri":"","digest":"imported":"system":"origin":"'
    b'"hits":[],"accesses":[{"memory_id":"m-","rank":1,"at":"2026-","query":"","via":"search"'
    b'"block":"","tokens":"asked":"","digest":"","text":""emotion":"verified":true'
    b'"evidence":["m-"],"object":"","predicate":"","subject":"User"},"type":"FactAsserted"}'
    b'"type":"MemoryReinforced"}"type":"MemoryRevised"}"type":"MemoryNegated"}"type":"MemoriesAccessed"}"type":"MemoryMentioned"}'
    b'"type":"TurnsExtracted"}"type":"MemoriesLinked"}"type":"MemoryMerged"}"kind":"user_preference","category":"preference'
    b'{"actor":"assistant","data":{"role":"assistant","source":"assistant","speaker":"assistant"'
    b'{"actor":"system","causation_id":"01{"actor":"judge","causation_id":"{"actor":"user","causation_id":"'
    b'"data":{"category":"fact","content":"User ","corrects":"m-","kind":"fact","memory_id":"m-","source":"judge",'
    b'"source_turns":["t-01"],"speaker":"user","tier":"fact"},"event_id":"","occurred_at":"2026-","owner":"",'
    b'"schema_version":1,"trust":"asserted","type":"MemoryCreated"}'
    b'{"actor":"user","data":{"category":"fact","content":"I ","kind":"episode","memory_id":"t-01","source":"user",'
    b'"source_turns":["t-01"],"speaker":"user","tier":"fact"},"event_id":"01","occurred_at":"2026-","owner":"",'
    b'"schema_version":1,"session_id":"","type":"MemoryCreated"}'
    b'{"actor":"user","data":{"role":"user","text":"I ","turn_id":"t-01"},"event_id":"01","occurred_at":"2026-","owner":"",'
    b'"schema_version":1,"session_id":"","type":"TurnRecorded"}'
)
"""Dictionary of bodies: what canonical JSON of frequent events shares, the most frequent last."""
VALUES = WORDS + (
    b"\xb7negated, latest_wins\xd9'the speaker says that it changed: \xafuser_preference\x9e\x02\xc4\x10\xcf\x00\x06a]\xd9(t-01"
    b"\x01\xaca new memory\x90\x01\xc4\x08\xc0\xcb?\xf1\x99\x99\x99\x99\x99\x9a\x96\xcb?\xf0\x00\x00\x00\x00\x00\x00"
    b"\xcb?\xf0\x00\x00\x00\x00\x00\x00\xcb?\xf0\x00\x00\x00\x00\x00\x00\xcb?\xf1\x99\x99\x99\x99\x99\x9a"
    b"\xcb?\xf0\x00\x00\x00\x00\x00\x00\xcb?\xf0\x00\x00\x00\x00\x00\x00\x00\x9e\x04\xc4\x10\xablatest_wins\xc0\xcb?\xe3333333"
    b"\xdc\x00J\xd9&m-\xd97User \xa4fact\xa4fact\xa4fact\xa5judge\xcf\x00\x06a]\xcd\x02\xe1\xc0\xcb?\xe3333333"
    b"\xcb?\xf0\x00\x00\x00\x00\x00\x00\xa4user\x90\x90\xc0\xc0\xc0\x91\xa4text\x00\xc2\x91\xd9)t-01\xc0\x90\x01\x90\x01\x90"
    b"\xcb\x00\x00\x00\x00\x00\x00\x00\x00\x90\x00\xc0\x00\xc0\x90\xc0\xc0\xc0\x90\xc0\xc0\x90\xc0\xc0\xc0\xc0\x90\x00\xc2\xc0"
    b"\xcb@8\x00\x00\x00\x00\x00\x00\xcf\x00\x06a]\xc0\xc0\xcd\x02\xe8\xc0\xc0\x90\xc0\x90\xc0\xc0\xc0\xc4\x10"
    b"\xc0\xc0\xabjudge local\xc0\xc0\xc0\x02\x90"
    b"\xdc\x00J\xd9(t-01\xd9HI \xa4fact\xa7episode\xa4fact\xa4user\xcf\x00\x06a]\xcc\xd4\xc0\xcb?\xe3333333"
    b"\xcb?\xf0\x00\x00\x00\x00\x00\x00\xa4user\x90\x90\xc0\xc0\xc0\x91\xa4text\x00\xc2\x91\xd9(t-01\xc0\x90\x01\x90\x01\x90"
    b"\xcb\x00\x00\x00\x00\x00\x00\x00\x00\x90\x00\xc0\x00\xc0\x90\xc0\xc0\xc0\x90\xc0\xc0\x90\xc0\xc0\xc0\xc0\x90\x00\xc2\xa2"
    b"\xcb@8\x00\x00\x00\x00\x00\x00\xcf\x00\x06a]\xc0\xc0\xcc\xd4\xc0\xc0\x90\xc0\x90\xc0\xc0\xc0\xc4\x10"
    b"\xc0\xc0\xaauser local\xc0\xc0\xc0\x03\x90"
)
"""Dictionary of values: what records and change-log entries share in MessagePack."""


def body_dictionary(raw_id: bytes, owner: str, kind: str) -> bytes:
    """The dictionary of one body: what bodies share, and behind it what its entry says in clear and the body repeats."""
    digits = raw_id.hex()
    event_id = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    fields = '"owner":"%s","schema_version":1,"type":"%s"}"event_id":"%s","occurred_at":"'
    return BODIES + (fields % (owner, kind.partition(".")[0], event_id)).encode()


def record_dictionary(memory_id: bytes) -> bytes:
    """The dictionary of one record: what values share, and the id under which the record is stored."""
    return VALUES + memory_id


class NotExpanded(ValueError):
    """Bytes that no dictionary of this release expands."""


def compressed(plain: bytes, dictionary: bytes) -> bytes:
    """The bytes to store: compressed behind `MARK`, or as they are if that is no longer.

    How they are compressed may differ by zlib's version; `expanded` gives the same.
    """
    window, level = (_SMALL_WINDOW, 5) if len(plain) < _SHORT else (_WINDOW, 8)
    deflate = zlib.compressobj(6, zlib.DEFLATED, window, level, zlib.Z_DEFAULT_STRATEGY, dictionary)
    short = MARK + deflate.compress(plain) + deflate.flush()
    return short if len(short) < len(plain) or plain[:1] == MARK else plain


def expanded(stored: bytes, dictionary: bytes) -> bytes:
    """What `compressed` was given. Raises NotExpanded."""
    if stored[:1] != MARK:
        return stored
    inflate = zlib.decompressobj(_WINDOW, dictionary)
    try:
        plain = inflate.decompress(stored[1:])
    except zlib.error:
        raise NotExpanded("compressed bytes that are damaged, or of another release's dictionary") from None
    if not inflate.eof or inflate.unused_data:
        raise NotExpanded("compressed bytes that are cut, or followed by others")
    return plain


BODY_MARK = b"\x02"
"""What a sealed body begins with; one that lies open is JSON, and begins with `{`."""
VALUE_MARK = b"\xc1"
"""What a sealed value begins with: the one byte that MessagePack never writes."""
NONCE_BYTES = 12
_TAG_BYTES = 16
SALT_BYTES = 16
_HEAD = Struct(">cQH")
"""Of a sealed body: its mark, the id of its salts, how many bytes its skeleton takes."""
_SKELETON, _WORDS = b"\0skeleton", b"\0words"
_PARTED, _WHOLE = b"\0", b"\1"
"""How the skeleton's part begins: words follow in a part of their own, or the event has none."""
_BODY_NONCE = bytes(NONCE_BYTES)
"""A body's key is of its salt alone and seals nothing else, so its nonce need not differ."""
_OF_BODY, _OF_VALUE, _OF_NONCE = b"sealed body", b"sealed value", b"sealed nonce"


class NotOpened(ValueError):
    """Sealed bytes that this key does not open: they were changed, moved, or sealed under another."""


def body_about(
    store: bytes,
    raw_id: bytes,
    owner: str,
    kind: str,
    principal: bytes,
    level: bytes,
    digests: bytes,
    committed: bytes,
) -> bytes:
    """Associated data of a sealed body: all that the door knew of the event. `level`: level and trust as in the entry.

    None of the parts runs into another: those of the same length stand last, the others have theirs before them. Seq and recorded
    time are given when it is appended, after it was sealed; the chain binds them.
    """
    return _often(store, owner, kind, principal, level) + _measured(digests) + raw_id + committed


@lru_cache(maxsize=4_096)
def _often(store: bytes, owner: str, kind: str, principal: bytes, level: bytes) -> bytes:
    return b"".join(map(_measured, (store, owner.encode(), kind.encode(), principal, level)))


def _measured(part: bytes) -> bytes:
    return len(part).to_bytes(4, "big") + part


def seal_body(
    secret: bytes,
    salts: tuple[int, bytes],
    about: bytes,
    salt: bytes,
    parts: tuple[bytes, bytes],
    dictionary: bytes,
) -> bytes:
    """A body as it is stored, in two parts that are sealed under keys of their own: its skeleton and its words.

    `salts`: their id, then 16 random bytes for each part; without them it cannot be opened, and without those of the words only the
    skeleton opens. `parts`: the body, and its skeleton: the body without words. `salt`: of the commitment; it is sealed too,
    because whoever has a copy of the store could confirm a guess of the body by it.
    """
    number, keys = salts
    body, skeleton = parts
    is_whole = skeleton == body
    plain = _WHOLE + salt + compressed(body, dictionary) if is_whole else _PARTED + compressed(skeleton, dictionary)
    head = _HEAD.pack(BODY_MARK, number, len(plain) + _TAG_BYTES)
    first = _sealed(secret, keys[:SALT_BYTES], about + _SKELETON + head, plain)
    if is_whole:
        return head + first
    words = salt + compressed(body, dictionary + skeleton)
    return head + first + _sealed(secret, keys[SALT_BYTES:], about + _WORDS + head, words)


def salts_id(sealed: bytes) -> int:
    """The id of the salts of a sealed body; 0 of one that is cut off."""
    return int(_HEAD.unpack_from(sealed)[1]) if len(sealed) >= _HEAD.size else 0


def open_body(
    secret: bytes, keys: bytes, about: bytes, sealed: bytes, dictionary: bytes, *, has_words: bool = True
) -> tuple[bytes, bytes]:
    """The salt of its commitment, and the body that was sealed; of one whose words were erased nothing, and its skeleton.

    `keys`: the salts, that of the skeleton first. `has_words`: whether that of the words is there. Raises NotOpened.
    """
    if len(sealed) < _HEAD.size:
        raise NotOpened("a body is cut off")
    head, size = sealed[: _HEAD.size], _HEAD.unpack_from(sealed)[2]
    first, words = sealed[_HEAD.size : _HEAD.size + size], sealed[_HEAD.size + size :]
    plain = _unsealed(secret, keys[:SALT_BYTES], about + _SKELETON + head, first)
    try:
        if plain[:1] == _WHOLE and not words:
            return plain[1 : 1 + SALT_BYTES], expanded(plain[1 + SALT_BYTES :], dictionary)
        skeleton = expanded(plain[1:], dictionary)
        if not has_words and plain[:1] == _PARTED:
            return b"", skeleton
        found = _unsealed(secret, keys[SALT_BYTES : 2 * SALT_BYTES], about + _WORDS + head, words)
        return found[:SALT_BYTES], expanded(found[SALT_BYTES:], dictionary + skeleton)
    except NotExpanded as error:
        raise NotOpened(str(error)) from None


def _sealed(secret: bytes, salt: bytes, about: bytes, plain: bytes) -> bytes:
    return new_aes()(_body_key(secret, salt)).encrypt(_BODY_NONCE, plain, about)


def _unsealed(secret: bytes, salt: bytes, about: bytes, sealed: bytes) -> bytes:
    try:
        return new_aes()(_body_key(secret, salt)).decrypt(_BODY_NONCE, sealed, about)
    except (invalid_tag(), ValueError):
        raise NotOpened("a body does not open under its owner's secret and its salts") from None


def _body_key(secret: bytes, key_salt: bytes) -> bytes:
    return blake2b(key_salt, digest_size=32, key=secret, person=_OF_BODY).digest()


class ValueCipher:
    """Seals values of one owner that are derived and written anew: records, states, change logs, vectors, moments."""

    __slots__ = ("_cipher", "_nonce_key", "secret")

    def __init__(self, secret: bytes) -> None:
        """`secret`: of the owner, 32 bytes."""
        self.secret = secret
        self._cipher: AESGCM | None = None
        self._nonce_key = blake2b(b"", digest_size=32, key=secret, person=_OF_NONCE).digest()

    def seal(self, place: bytes, value: bytes) -> bytes:
        """A value as it is stored, 29 bytes longer. `place`: what it is, and where it lies; it opens nowhere else.

        The same value at the same place is the same bytes: what compares stored values goes on to, and nothing else is told by
        it. The nonce is a keyed hash of place and value, so no two values share one.
        """
        nonce = blake2b(
            len(place).to_bytes(4, "big") + place + value, digest_size=NONCE_BYTES, key=self._nonce_key
        ).digest()
        return VALUE_MARK + nonce + self._aes_of_values().encrypt(nonce, value, place)

    def open(self, place: bytes, stored: bytes) -> bytes:
        """The value that was sealed; one that lies open is itself. Raises NotOpened."""
        if stored[:1] != VALUE_MARK:
            return stored
        end = 1 + NONCE_BYTES
        try:
            return self._aes_of_values().decrypt(stored[1:end], stored[end:], place)
        except (invalid_tag(), ValueError):
            raise NotOpened("a value does not open under its owner's secret") from None

    def _aes_of_values(self) -> AESGCM:
        if self._cipher is None:
            self._cipher = new_aes()(blake2b(b"", digest_size=32, key=self.secret, person=_OF_VALUE).digest())
        return self._cipher


@lru_cache(maxsize=1)
def new_aes() -> type[AESGCM]:
    """The class of `cryptography`."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - see the file's first lines

    return AESGCM


@lru_cache(maxsize=1)
def invalid_tag() -> type[Exception]:
    """What it raises where nothing opens."""
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - see the file's first lines

    return InvalidTag
