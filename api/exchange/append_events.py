"""Appending a file of events: JSON Lines in, one answer out.

Requests of at most 1,000 events, each validated whole before it is written. A bad line stops there; what was written before
it stays written, and is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from engramlog_server.api.requests.checks import label_objection, speaker
from engramlog_server.events.envelope import Prepared
from engramlog_server.events.errors import EngramlogError, InputError, InvalidEvent
from engramlog_server.events.log import AppendReceipt, EventLog
from engramlog_server.events.validation import judged, read_event
from engramlog_server.events.vocabulary import MAX_REQUEST_EVENTS
from engramlog_server.projections.shapes import ImportConflict, ImportFailure

Line = tuple[int, bytes]
Refused = Callable[[Sequence[Prepared]], Mapping[str, str]]
Note = Callable[[Sequence[Prepared], Sequence[AppendReceipt]], None]


@dataclass(slots=True)
class AppendReport:
    """What became of a file of events."""

    appended: int = 0
    already_appended: int = 0
    conflicts: list[ImportConflict] = field(default_factory=list)
    positions: list[str | None] = field(default_factory=list)
    failed: list[ImportFailure] = field(default_factory=list)
    rejected: list[dict[str, str | int]] = field(default_factory=list)
    """Events that say what a person rejected, as far as is known: they are in the log, and change nothing."""
    error: EngramlogError | None = None
    """What stopped it: a bad line, or a store that refused."""

    def take(self, line: int, receipt: AppendReceipt, rejected: str | None = None) -> None:
        """Count one event's receipt. `rejected`: where a person rejected what it says."""
        if rejected is not None and receipt.written:
            self.rejected.append({"line": line, "event_id": receipt.event_id, "rejected": rejected})
        self.positions.append(receipt.position if receipt.written else None)
        if receipt.status == "appended":
            self.appended += 1
        elif receipt.status == "already_appended":
            self.already_appended += 1
        elif receipt.status == "conflict":
            self.conflicts.append({"line": line, "event_id": receipt.event_id, "position": receipt.position})
        else:
            self.failed.append(
                {"line": line, "event_id": receipt.event_id, "status": receipt.status, "error": receipt.error}
            )

    @property
    def exit_code(self) -> int:
        """0 all written, 2 a bad line, whatever stood before it; else 3 partly written, 1 nothing of it."""
        if self.error is None and not self.conflicts and not self.failed:
            return 0
        if isinstance(self.error, InputError):
            return self.error.exit_code
        if self.appended or self.already_appended:
            return 3
        return 1 if self.error is None else self.error.exit_code

    def as_dict(self) -> dict[str, object]:
        """The fixed shape, with `rejected`, `failed` and `error` only where there are any."""
        answer: dict[str, object] = {
            "appended": self.appended,
            "already_appended": self.already_appended,
            "conflicts": self.conflicts,
            "positions": self.positions,
        }
        if self.rejected:
            answer["rejected"] = self.rejected
        return answer | self.troubles()

    def troubles(self) -> dict[str, object]:
        """`failed` and `error`, where there are any."""
        told: dict[str, object] = {"failed": self.failed} if self.failed else {}
        return told if self.error is None else told | {"error": self.error.as_dict()}

    @property
    def last_position(self) -> str | None:
        """The newest position that was written."""
        return next((one for one in reversed(self.positions) if one), None)


MAX_IGNORED = 50
"""Most names of fields that nobody reads that are told."""


def count_ignored(counts: Counter[str], names: Iterable[str]) -> None:
    """Count fields of one record that nobody reads, misspelt ones say."""
    counts.update(name for name in sorted(names) if name in counts or len(counts) < MAX_IGNORED)


def append_lines(
    log: EventLog,
    lines: Iterable[bytes],
    on_progress: Callable[[int], None] = lambda _lines: None,
    refused: Refused = lambda _events: {},
    note: Note = lambda _events, _receipts: None,
) -> AppendReport:
    """Append JSON Lines; blank lines are passed over. `on_progress` is told the lines done.

    `refused`: where a person rejected what these events say, by their ids. `note` is called after each append, with its receipts.
    """
    numbered = ((number, line.strip()) for number, line in enumerate(lines, 1))
    answer = AppendReport()
    for request in _requests(one for one in numbered if one[1]):
        try:
            prepared = [
                read_event(raw, now=log.now(), by=speaker(log), look=label_objection, line=number)
                for number, raw in request
            ]
        except InvalidEvent as problem:
            found = judged(problem, log.behind())
            answer.error = _stopped(problem, answer) if found is problem else found
            return answer
        if not _append(log, request, prepared, answer, refused, note):
            return answer
        on_progress(request[-1][0])
    return answer


def _append(
    log: EventLog, request: list[Line], prepared: list[Prepared], answer: AppendReport, refused: Refused, note: Note
) -> bool:
    try:
        known = refused(prepared)
        receipts = log.append(prepared)
        note(prepared, receipts)
    except EngramlogError as problem:
        answer.error = problem
        return False
    for (number, _), receipt in zip(request, receipts, strict=True):
        answer.take(number, receipt, known.get(receipt.event_id))
    return True


def _stopped(problem: InvalidEvent, answer: AppendReport) -> InvalidEvent:
    """The same problem, saying what was written before it."""
    written = answer.appended + answer.already_appended
    return InvalidEvent(
        problem.field,
        problem.got,
        problem.allowed,
        **{key: value for key, value in problem.context.items() if key not in ("field", "got", "allowed")},
        written_before=written,
    )


def _requests(lines: Iterator[Line]) -> Iterator[list[Line]]:
    while request := list(islice(lines, MAX_REQUEST_EVENTS)):
        yield request


Take = Callable[[int, Prepared, AppendReceipt], None]


def append_numbered(
    append: Callable[[Sequence[Prepared]], list[AppendReceipt]],
    waiting: Iterator[tuple[int, Prepared]],
    done: AppendReport,
    take: Take,
    on_progress: Callable[[int], None],
    *,
    without_conflicts: bool = False,
) -> None:
    """Append events, each with the number of what it was read from, in requests; the first error stops there and is kept.

    `take` counts what became of each. `without_conflicts`: a request of which ids are taken by other content is sent again without
    those.
    """
    while done.error is None:
        request: list[tuple[int, Prepared]] = []
        try:
            for one in islice(waiting, MAX_REQUEST_EVENTS):
                request.append(one)  # noqa: PERF402 - what was read before a bad line is still appended
        except EngramlogError as problem:
            done.error = problem
        if not request:
            return
        try:
            receipts = append([event for _, event in request])
            if without_conflicts and any(one.status == "conflict" for one in receipts):
                pairs = zip(request, receipts, strict=True)
                again = iter(append([event for (_, event), one in pairs if one.status != "conflict"]))
                receipts = [one if one.status == "conflict" else next(again) for one in receipts]
        except EngramlogError as problem:
            done.error = problem
            return
        for (number, event), receipt in zip(request, receipts, strict=True):
            take(number, event, receipt)
        on_progress(request[-1][0])
