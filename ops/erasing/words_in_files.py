"""Looking through files for words of single memories whose owner stays."""

from __future__ import annotations

from collections.abc import Iterator

import redis

from ops.embedded.binary import RedisBinary
from ops.erasing.in_commands import OwnCommands
from ops.erasing.in_files import FileLook
from ops.erasing.needles import Needles
from ops.erasing.own_values import OwnValues
from ops.erasing.probes import Probes
from ops.erasing.report import AuditReport
from ops.erasing.words_in_redis import OpenedSearch, WordsRedisLook, tell_shut


class WordsFileLook(FileLook):
    """Looks through files for words whose owner stays."""

    def __init__(self, probes: Probes, needles: Needles, report: AuditReport, binary: RedisBinary | None) -> None:
        super().__init__(probes, needles, report, binary)
        self._search = OpenedSearch(probes, needles, report)

    def redis_look(self, where: str, client: redis.Redis) -> WordsRedisLook:
        """What looks through a Redis for the same."""
        return WordsRedisLook(where, client, self._probes, self._needles, self._report)

    def _passing(self, where: str, name: str, chunks: Iterator[bytes]) -> Iterator[bytes]:  # noqa: ARG002 - looks have one shape
        """What an append-only file tells is opened on the way. Kept rejections are digests, and stay."""
        values = OwnValues(self._probes)
        commands = OwnCommands(self._probes, values, lambda opened: self._search.look(where, "", "says", opened))
        yield from commands.passed(chunks)
        tell_shut(self._report, where, values.shut)
        if commands.unread:
            self._report.unreached(where, "a command in it breaks off, or is too long to be looked into")
