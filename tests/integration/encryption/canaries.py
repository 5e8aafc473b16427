"""Words that nobody says, put through every way into a store, and found again in whatever form they lie anywhere.

A canary is looked for as UTF-8, UTF-16, in escapes of JSON and Python, in percent signs and in base64 at all three places; and in
what is packed by zlib or written in base64, as often as that is done one in the other.
"""

from __future__ import annotations

import re
import zlib
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

import redis

_CONSONANTS, _VOWELS = "bdfgklmprtvz", "aou"
_RARE = "鼯鼱鼹貘獾狍麂豚鸨鸮鹬鹳鹮鹈鹕鸬鹚鸻鸰鹪鹩鹡"
_LATIN, _HAN = 9, 4
"""Letters of a canary that are looked for: what a stemmer leaves of a word's end may be another."""
DEEP = 4
"""How often packed bytes are unpacked."""
_ZLIB = re.compile(rb"\x78[\x01\x5e\x9c\xda]")
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{24,}={0,2}")


class Canaries:
    """The words of one story, each with the way that it went in by."""

    def __init__(self) -> None:
        self.ways: dict[str, str] = {}
        """Canary -> its way."""
        self.secret = set[str]()
        """Canaries of what is secret: no export without reveal tells them, from whatever store."""

    def word(self, way: str, *, secret: bool = False) -> str:
        """A new word of Latin letters."""
        drawn = sha256(f"canary {len(self.ways)}".encode()).digest()
        letters = [(_VOWELS if at % 2 else _CONSONANTS) for at in range(_LATIN - 1)]
        made = "".join(some[one % len(some)] for some, one in zip(letters, drawn, strict=False))
        return self._put(f"q{made}zk", way, secret)

    def han(self, way: str, *, secret: bool = False) -> str:
        """A new word of Chinese characters."""
        drawn = sha256(f"canary {len(self.ways)}".encode()).digest()
        return self._put("".join(_RARE[one % len(_RARE)] for one in drawn[:_HAN]), way, secret)

    def _put(self, made: str, way: str, secret: bool) -> str:
        assert made not in self.ways
        assert not any(_core(made) == _core(other) for other in self.ways)
        self.ways[made] = way
        if secret:
            self.secret.add(made)
        return made

    def __len__(self) -> int:
        return len(self.ways)

    def search(self) -> Search:
        """What finds them."""
        return Search(self)


class Search:
    """Looks for canaries in bytes, files and a Redis."""

    def __init__(self, canaries: Canaries) -> None:
        self._forms = {form: word for word in canaries.ways for form in _forms(_core(word))}
        self._any = re.compile(
            b"|".join(re.escape(form) for form in sorted(self._forms, key=len, reverse=True)), re.IGNORECASE
        )
        self.looked = 0
        """Bytes that were looked at, unpacked ones too."""

    def in_bytes(self, raw: bytes, deep: int = DEEP) -> set[str]:
        """The canaries in some bytes."""
        self.looked += len(raw)
        found = {self._word(hit) for hit in self._any.findall(raw)}
        if deep:
            for inner in _unpacked(raw):
                found |= self.in_bytes(inner, deep - 1)
        return found

    def _word(self, hit: bytes) -> str:
        word = self._forms.get(hit)
        return word if word is not None else next(self._forms[one] for one in self._forms if one.lower() == hit.lower())

    def in_redis(self, client: redis.Redis, *, but: str = "\0") -> dict[str, set[str]]:
        """The canaries in each key that has any: its name, and every field, member, entry and value of it."""
        found = dict[str, set[str]]()
        for key in client.scan_iter(count=1_000):
            if but.encode() in key:
                continue
            told = set[str]().union(*(self.in_bytes(leaf) for leaf in (key, *leaves(client, key))))
            if told:
                found[key.decode("utf-8", "replace")] = told
        return found

    def in_files(self, paths: Iterable[Path]) -> dict[str, set[str]]:
        """The canaries in each of these files that has any."""
        return {path.name: told for path in paths if (told := self.in_bytes(path.read_bytes()))}


def leaves(client: redis.Redis, key: bytes) -> Iterator[bytes]:
    """All bytes that a key of whatever type holds. Raises KeyError for a type that is not known here."""
    kind = client.type(key).decode()
    held: Any = {
        "none": lambda: b"",
        "string": lambda: client.get(key) or b"",
        "hash": lambda: client.hgetall(key),
        "list": lambda: client.lrange(key, 0, -1),
        "set": lambda: client.smembers(key),
        "zset": lambda: client.zrange(key, 0, -1),
        "stream": lambda: client.xrange(key),
    }[kind]()
    yield from _flat(held)


def _flat(held: Any) -> Iterator[bytes]:
    if isinstance(held, bytes):
        yield held
    elif isinstance(held, dict):
        for name, value in held.items():
            yield name
            yield from _flat(value)
    else:
        for one in held:
            yield from _flat(one)


def _core(word: str) -> str:
    return word[:_LATIN] if word.isascii() else word[:_HAN]


def _forms(word: str) -> set[bytes]:
    """All ways in which a word may lie."""
    told = [word.encode(), word.encode("utf-16-le"), word.encode("utf-16-be")]
    forms = set(told)
    for raw in told[:1]:
        for shift in range(3):  # the letters that are of nothing but the word
            coded = b64encode(b"\0" * shift + raw)
            start = -(-8 * shift // 6)
            forms.add(coded[start : 8 * (shift + len(raw)) // 6])
        forms.add(raw.hex().encode())
    if not word.isascii():
        forms |= {
            word.encode("unicode_escape"),
            "".join(f"\\u{ord(one):04X}" for one in word).encode(),
            quote(word).encode(),
            repr(word.encode())[2:-1].encode(),
        }
    return forms


def _unpacked(raw: bytes) -> Iterator[bytes]:
    for at in _ZLIB.finditer(raw):
        try:
            inner = zlib.decompressobj().decompress(raw[at.start() :], 1 << 22)
        except zlib.error:
            continue
        if inner:
            yield inner
    for run in _BASE64.finditer(raw):
        text = run[0].rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/")
        try:
            yield b64decode(text[: len(text) // 4 * 4], validate=True)
        except NotBase64:
            continue
