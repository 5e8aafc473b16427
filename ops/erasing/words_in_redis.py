"""Looking through a Redis for words of single memories whose owner stays: what opens under its key is opened, and searched.

The owner's key, its places and the salts of what stays belong there. What must not be there: a value of the owner's own that has
the words, a salt of an entry that lost them, what is left of such an entry and has any.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import redis

from events.envelope import Stored, decode
from events.errors import UndecodableEvent
from events.redis.wordless import open_left
from events.sealing.cipher import BODY_MARK, NO_SALT, VALUE_MARK, NotOpened
from events.text.unreadable import UNREADABLE
from events.wordless import is_wordless
from ops.erasing.in_redis import Opener, RedisLook
from ops.erasing.needles import Needles
from ops.erasing.probes import Probes
from ops.erasing.report import AuditReport
from projections.redis.sealed import REASON, SEALED_REASON, SYNONYMS, place

_OWN = re.compile(r"\{[^}]*\}:v\d+(?:\.\d+)?:(own|q)")
_NEVER_SEALED = re.compile(r"\{[^}]*\}:v\d+(?:\.\d+)?:(?:chg|idx|park):", re.DOTALL)


class OpenedSearch:
    """Searches what was opened: for pieces, and for short texts as wholes, which would be found by chance anywhere else."""

    def __init__(self, probes: Probes, needles: Needles, report: AuditReport) -> None:
        self._needles, self._report = needles, report
        self._wholes = Needles([("word", form) for one in probes.short for form in forms_of_whole(one)])

    def look(self, where: str, place: str, what: str, opened: bytes) -> None:
        """Tell where words stand. `what`: as what they are told, a name of `WHAT`."""
        hits = self._needles.in_value(opened, 0)["word"] + self._wholes.in_value(opened, 0)["word"]
        self._report.found(where, place, what, hits)


def forms_of_whole(text: str) -> list[bytes]:
    """How a whole text stands in what is sealed: in MessagePack, and in JSON."""
    return [msgspec.msgpack.encode(text), msgspec.json.encode(text)]


class WordsRedisLook(RedisLook):
    """One look through one Redis, for words whose owner stays."""

    def __init__(self, where: str, client: redis.Redis, probes: Probes, needles: Needles, report: AuditReport) -> None:
        super().__init__(where, client, probes, needles, report)
        self._search = OpenedSearch(probes, needles, report)
        self._went = frozenset(probes.entries)
        self._shut = 0
        """Values and entries of the owner's own that do not open under its key."""

    def look(self) -> None:
        """As of an owner; what of the owner does not open is told as not reached."""
        super().look()
        if self._shut:
            self._report.unreached(
                self._where,
                f"{self._shut:,} values and entries of the owner do not open under its key, so what they say is not known: see"
                " `engramlog verify`",
            )

    def _own_place(self, name: str) -> None:
        """Stays, as the owner does."""

    def _own_field(self, name: str, key: str, value: bytes) -> None:
        found = _OWN.fullmatch(key)
        if found is None:
            return
        sealed = _sealed_in(value) if found[1] == "own" else _reason_in(value)
        what = SYNONYMS if found[1] == "own" else REASON
        for one in sealed:
            for opened in self._open(place(what, self._probes.owner), one):
                self._opened(name, opened)

    def _opened(self, name: str, value: bytes) -> None:
        self._search.look(self._where, name, "says", value)

    def _opener(self, text: str) -> Opener | None:
        return None if _NEVER_SEALED.match(text) else super()._opener(text)

    def _open(self, where: bytes, value: bytes) -> Iterator[bytes]:
        shut = value[:1] == VALUE_MARK
        for opened in super()._open(where, value):
            shut = False
            yield opened
        self._shut += shut

    def _line(self, client: redis.Redis) -> None:
        """The line stays, as the owner does."""

    def _entries(self, client: redis.Redis, mine: Sequence[Stored]) -> None:
        left = self._left(client, mine)
        for one, salt in zip(mine, self._salts(client, mine), strict=True):
            is_gone = one.seq in self._went or one.seq in left
            if is_gone and salt != NO_SALT:
                self._report.found(self._where, self._keys.salts, "salt_stands")
            if one.seq in left:
                self._look_at_left(one, left[one.seq])
            if one.body[:1] != BODY_MARK:
                self._report.found(self._where, self._keys.stream, "open_entry", is_gone)
                if not is_gone:
                    self._search.look(self._where, self._keys.stream, "entry_says", one.body)
                continue
            body = self._body(one, salt)
            if body is None:
                self._shut += salt != NO_SALT
            elif is_gone:
                self._report.found(self._where, self._keys.stream, "entry_opens")
            else:
                self._search.look(self._where, self._keys.stream, "entry_says", body)

    def _left(self, client: redis.Redis, mine: Sequence[Stored]) -> Mapping[int, bytes]:
        """What is left of those of these entries whose words were erased, as it is stored."""
        if client.type(self._keys.wordless) != b"hash":
            return {}
        answers: Any = client.hmget(self._keys.wordless, [str(one.seq) for one in mine])
        return {one.seq: left for one, left in zip(mine, answers, strict=True) if left is not None}

    def _look_at_left(self, one: Stored, left: bytes) -> None:
        try:
            body = open_left(self._cipher, one.owner, one.seq, left)
        except NotOpened:
            self._shut += 1
            return
        self._search.look(self._where, self._keys.wordless, "says", body)
        try:
            if not is_wordless(decode(one.kind, body)):
                self._report.found(self._where, self._keys.wordless, "left_says")
        except UndecodableEvent:
            self._shut += 1


def _sealed_in(state: bytes) -> list[bytes]:
    """The sealed values in an owner's state: its synonyms."""
    try:
        told = msgspec.msgpack.decode(state)
    except UNREADABLE:
        return []
    return [one for one in told if isinstance(one, bytes)] if isinstance(told, list) else []


def _reason_in(quarantine: bytes) -> list[bytes]:
    """The sealed reason for which an owner stands still."""
    try:
        told = msgspec.msgpack.decode(quarantine)
        some = told if isinstance(told, list) else []
        return [b64decode(one[1:], validate=True) for one in some if isinstance(one, str) and one[:1] == SEALED_REASON]
    except (*UNREADABLE, NotBase64):
        return []
