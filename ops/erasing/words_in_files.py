"""Looking through files for words of single memories whose owner stays: a kept view of the owner is opened, and searched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import redis

from ops.embedded.binary import RedisBinary
from ops.erasing.in_commands import OwnCommands
from ops.erasing.in_files import FileLook, Readable
from ops.erasing.needles import Needles
from ops.erasing.own_values import OwnValues
from ops.erasing.probes import Probes
from ops.erasing.report import AuditReport
from ops.erasing.words_in_redis import OpenedSearch, WordsRedisLook, tell_shut
from ops.kept.view_files import BEGUN
from projections.redis.kept import open_kept

MOST_VIEW = 2 << 30
"""Bytes of a kept view that is opened."""


class WordsFileLook(FileLook):
    """Looks through files for words whose owner stays."""

    def __init__(
        self, probes: Probes, needles: Needles, report: AuditReport, binary: RedisBinary | None, view_name: str
    ) -> None:
        super().__init__(probes, needles, report, binary, view_name)
        self._search = OpenedSearch(probes, needles, report)

    def redis_look(self, where: str, client: redis.Redis) -> WordsRedisLook:
        """What looks through a Redis for the same."""
        return WordsRedisLook(where, client, self._probes, self._needles, self._report)

    def _own_name(self, where: str, name: str) -> None:
        """A view of the owner may be kept: what it says counts."""

    def _plain(self, where: str, name: str, file: Readable) -> None:
        if not self._is_view(name):
            super()._plain(where, name, file)
            return
        block = bytearray()
        for chunk in self._chunks(where, file):
            block += chunk
            if len(block) > MOST_VIEW:
                self._report.unreached(where, f"a kept view of the owner has more than {MOST_VIEW:,} bytes: remove it")
                return
        self._report.hits(where, "", self._needles.in_value(bytes(block), 0))
        opened = open_kept(self._probes.secret, self._probes.store_id, self._probes.owner, block)
        if opened is None:
            self._report.unreached(
                where, "a kept view of the owner does not open under its key: remove it, it is made anew"
            )
        else:
            self._search.look(where, "", "view_says", bytes(opened))

    def _passing(self, where: str, name: str, chunks: Iterator[bytes]) -> Iterator[bytes]:  # noqa: ARG002 - looks have one shape
        """What an append-only file tells is opened on the way. Kept rejections are digests, and stay."""
        values = OwnValues(self._probes)
        commands = OwnCommands(self._probes, values, lambda opened: self._search.look(where, "", "says", opened))
        yield from commands.passed(chunks)
        tell_shut(self._report, where, values.shut)
        if commands.unread:
            self._report.unreached(where, "a command in it breaks off, or is too long to be looked into")

    def _is_view(self, name: str) -> bool:
        stem = Path(self._view).stem
        return name == self._view or (name.startswith(f"{stem}.") and name.endswith(BEGUN))
