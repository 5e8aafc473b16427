"""Looking through a Redis for words of single memories whose owner stays: what opens under its key is opened, and searched.

The owner's key, its places and the salts of what stays belong there. What must not be there: a value of the owner's own that has
the words, a salt of an entry that lost them, what is left of such an entry and has any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import redis

from events.envelope import Stored, decode
from events.errors import UndecodableEvent
from events.redis.wordless import open_left
from events.sealing.cipher import BODY_MARK, NO_SALT, NotOpened
from events.sealing.wordless import is_wordless
from ops.erasing.in_redis import RedisLook
from ops.erasing.needles import Needles
from ops.erasing.probes import Probes
from ops.erasing.report import AuditReport


class OpenedSearch:
    """Searches what was opened: for pieces, and for short texts as wholes, which would be found by chance anywhere else."""

    def __init__(self, probes: Probes, needles: Needles, report: AuditReport) -> None:
        self._needles, self._report = needles, report
        self._wholes = Needles([("word", form) for one in probes.short for form in forms_of_whole(one)])

    def look(self, where: str, place: str, what: str, opened: bytes) -> None:
        """Tell where words stand. `what`: as what they are told, a name of `WHAT`."""
        hits = self._needles.in_value(opened, 0)["word"] + self._wholes.in_value(opened, 0)["word"]
        self._report.found(where, place, what, hits)


def tell_shut(report: AuditReport, where: str, count: int) -> None:
    """That values of the owner's own were not searched, where there are any."""
    if count:
        why = "of the owner's values and entries do not open under its key, so what they say is not known"
        report.unreached(where, f"{count:,} {why}: see `engramlog verify`")


def forms_of_whole(text: str) -> list[bytes]:
    """How a whole text stands in what is sealed: in MessagePack, and in JSON."""
    return [msgspec.msgpack.encode(text), msgspec.json.encode(text)]


class WordsRedisLook(RedisLook):
    """One look through one Redis, for words whose owner stays."""

    def __init__(self, where: str, client: redis.Redis, probes: Probes, needles: Needles, report: AuditReport) -> None:
        super().__init__(where, client, probes, needles, report)
        self._search = OpenedSearch(probes, needles, report)
        self._went = frozenset(probes.entries)

    def look(self) -> None:
        """As of an owner; what of the owner does not open is told as not reached."""
        super().look()
        tell_shut(self._report, self._where, self._values.shut)

    def _own_place(self, name: str) -> None:
        """Stays, as the owner does."""

    def _own_values(self, name: str, opened: Iterator[bytes]) -> None:
        for one in opened:
            self._search.look(self._where, name, "says", one)

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
                self._values.shut += salt != NO_SALT
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
            body = open_left(self._values.cipher, one.owner, one.seq, left)
        except NotOpened:
            self._values.shut += 1
            return
        try:
            if not is_wordless(decode(one.kind, body)):
                self._report.found(self._where, self._keys.wordless, "left_says")
        except UndecodableEvent:
            self._values.shut += 1
