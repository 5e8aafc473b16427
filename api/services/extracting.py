"""Extraction by hand: what the turns of an owner would become, and doing exactly that. See docs/explanation/extraction.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Any, Protocol, cast
from zlib import crc32

from engramlog_server.api.choices import MODEL, RULES
from engramlog_server.api.requests.checks import check_owner
from engramlog_server.api.services.cleaning import Progress, RunReport
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.shapes import Extracted, StatedTriple, Statement
from engramlog_server.api.work.patience import current_check
from engramlog_server.events.errors import BadSetting, ConcurrencyError, refused
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import partition_of
from engramlog_server.projections.checks import Check
from engramlog_server.projections.language.sensitivity.text_level import detect_sensitivity
from engramlog_server.projections.lifecycle.extracting import verdicts
from engramlog_server.projections.lifecycle.judge.judging import Verdict
from engramlog_server.projections.lifecycle.reading_again import read_again
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.views.view import WITHHELD

WAYS = (RULES, MODEL)
LOCKS = 64
"""Owners that share a lock wait for one another, which harms nobody."""
WAIT_SECONDS = 20.0


class Extraction(Protocol):
    """Reads the turns of an owner, by rules or by a model."""

    def extract(self, owner: str, *, stop: Callable[[], bool], on_progress: Progress, check: Check) -> RunReport:
        """Append what follows from the unread turns. A model is asked no more once `stop` says so; `check` may end it anywhere,
        and what was appended until then stays."""

    def rehearse(self, owner: str, *, check: Check) -> tuple[list[Verdict], RunReport]:
        """By a model: what the next turns would become."""


class Extractor:
    """Has the turns of an owner become typed memories. Safe for threads."""

    def __init__(
        self,
        ways: Mapping[str, Extraction],
        log: EventLog,
        reader: Reader,
        settle: Callable[[Mapping[int, int]], None],
    ) -> None:
        """`ways`: rules, and model where one is configured."""
        self._ways = ways
        self._log = log
        self._reader = reader
        self._settle = settle
        self._one_at_a_time = tuple(Lock() for _ in range(LOCKS))

    def rehearse(self, owner: str, by: str = RULES) -> Extracted:
        """What the unread turns would become, and why; appends nothing and leaves no trace. A model is asked about the next ten.

        Raises BadSetting where a model is meant and none is configured, ModelFailed.
        """
        way = self._way(by)
        self._level(check_owner(owner))
        told: Mapping[str, object] = {"by": RULES}
        if by == MODEL:
            found, ran = way.rehearse(owner, check=current_check())
            answer = ran.as_dict()
            told = {name: answer[name] for name in ("by", "read", "left", "usage")}
        with self._reader.snapshot(owner) as snapshot:
            if by == RULES:
                snapshot.view.naming = self._log.naming(owner)
                found = verdicts(snapshot.view, self._log.now(), check=current_check(), alike=self._reader.alike)
            answer = {
                "owner": owner,
                "dry_run": True,
                "counts": dict(Counter(one.operation.lower() for one in found)),
                "statements": [_told(one) for one in found],
                "position": snapshot.position,
            }
        return cast("Extracted", {**answer, **told, **snapshot.told})

    def extract(
        self,
        owner: str,
        by: str = RULES,
        *,
        stop: Callable[[], bool] = lambda: False,
        on_progress: Progress = lambda _done, _total: None,
    ) -> Extracted:
        """Append what follows from the unread turns. Running it again, or after it was killed, does nothing twice.

        A model that fails ends the run with `trouble`, and `left` turns for the next one; so does `stop`, asked before each piece
        of turns that a model reads. Raises BadSetting where a model is meant and none is configured, OwnerQuarantined where the
        owner's state stands still, ConcurrencyError where it never does, or where another run here does not end.
        """
        way = self._way(by)
        self._level(check_owner(owner))
        with self._alone(owner):
            answer = way.extract(owner, stop=stop, on_progress=on_progress, check=current_check()).as_dict()
        if answer["appended"]:
            self._level(owner)
        return cast("Extracted", {"owner": owner, "dry_run": False} | answer)

    def read_again(self, owner: str) -> Mapping[str, Any]:
        """What all turns would become by the rules of today, whoever read them first; appends nothing and leaves no trace.

        `counts` has what would change, `skip` what is known or not kept, and `gone`: memories that were drawn from these turns, and
        would not be. Raises StoreError.
        """
        self._level(check_owner(owner))
        with self._reader.snapshot(owner) as snapshot:
            snapshot.view.naming = self._log.naming(owner)
            found = read_again(snapshot.view, self._log.now(), current_check())
            counts = Counter(one.operation.lower() for one in found.verdicts)
            if found.gone:
                counts["gone"] = len(found.gone)
            return {
                "owner": owner,
                "dry_run": True,
                "again": True,
                "by": RULES,
                "read": found.turns,
                "counts": dict(counts),
                "statements": [_told(one) for one in found.verdicts],
                "gone": found.gone,
                "position": snapshot.position,
                **snapshot.told,
            }

    @contextmanager
    def _alone(self, owner: str) -> Iterator[None]:
        """One run of an owner after the other: two at once would ask a model twice about the same turns."""
        lock = self._one_at_a_time[crc32(owner.encode()) % LOCKS]
        if not lock.acquire(timeout=WAIT_SECONDS):
            raise ConcurrencyError(f"turns of owner {owner} are being read already; ask again later", owner=owner)
        try:
            yield
        finally:
            lock.release()

    def _way(self, by: str) -> Extraction:
        if by not in WAYS:
            raise refused("by", by, " or ".join(WAYS))
        if by not in self._ways:
            raise BadSetting(
                "no language model is configured: set ENGRAMLOG_MODEL, and ENGRAMLOG_MODEL_URL or _KEY", setting="model"
            )
        return self._ways[by]

    def _level(self, owner: str) -> None:
        """Have everything of the owner's partition folded."""
        partition = partition_of(owner, self._log.partitions)
        head = self._log.head(partition)
        if head:
            self._settle({partition: head})


def _told(verdict: Verdict) -> Statement:
    """A verdict, JSON-ready; nothing of a secret."""
    said = verdict.statement
    secret = detect_sensitivity(said.content) >= SECRET
    triple = None if said.triple is None or secret else cast("StatedTriple", said.triple._asdict())
    return {
        "operation": verdict.operation,
        "reason": verdict.reason,
        "turn_id": verdict.turn_id,
        "memory_id": verdict.memory_id,
        "other": verdict.other,
        "content": WITHHELD if secret else said.content,
        "category": said.category,
        "kind": said.kind,
        "polarity": said.polarity,
        "asserted": said.asserted,
        "confidence": said.confidence,
        "keywords": [] if secret else list(said.keywords),
        "triple": triple,
        "span": list(said.span),
    }
