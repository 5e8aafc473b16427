"""What producers know, kept outside Redis: every event sent, how often, and whether it was acknowledged and where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock

from engramlog_server.events.envelope import Prepared
from engramlog_server.events.errors import EngramlogError
from engramlog_server.events.log import AppendReceipt, EventLog
from engramlog_server.events.partitions import parse_position


@dataclass(slots=True)
class Line:
    """One event of the ledger: acknowledged once it has a position, unknown until then."""

    sender: str
    number: int
    """Its place among what this sender sent for this owner; a sender waits for its answer before it sends the next."""
    event: Prepared
    sent: int = 0
    position: tuple[int, int] | None = None

    @property
    def acknowledged(self) -> bool:
        """Whether a receipt told where it is."""
        return self.position is not None


class Ledger:
    """Every event that anybody sent. Safe for threads."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.complaints: list[str] = []
        """Receipts that cannot be true."""
        self.may_start = False
        """Whether a server of `up` may be met while it starts: it has leave to cut its file then, and says `fsynced: false`."""
        self._numbers: dict[tuple[str, str], int] = {}
        self._highest: dict[int, int] = {}
        self._lock = Lock()

    def enter(self, sender: str, event: Prepared) -> Line:
        """Write an event down before it is sent."""
        with self._lock:
            number = self._numbers[sender, event.owner] = self._numbers.get((sender, event.owner), 0) + 1
            line = Line(sender, number, event)
            self.lines.append(line)
            return line

    def answered(self, lines: Sequence[Line], receipts: Sequence[AppendReceipt]) -> None:
        """Note what the receipts say; one that contradicts an earlier one, or promises less than a disk, is a complaint."""
        with self._lock:
            for line, receipt in zip(lines, receipts, strict=True):
                if not receipt.written or receipt.position is None:
                    if receipt.status != "failed":
                        self.complaints.append(
                            f"{line.event.event_id}: {receipt.as_dict()} for an event sent unchanged"
                        )
                    continue
                position = parse_position(receipt.position)
                if line.position not in {None, position}:
                    self.complaints.append(f"{line.event.event_id}: first at {line.position}, then at {position}")
                if receipt.fsynced is not True and not self.may_start:
                    self.complaints.append(f"{line.event.event_id}: acknowledged with fsynced {receipt.fsynced}")
                line.position = line.position or position
                self._highest[position[0]] = max(position[1], self._highest.get(position[0], 0))

    def deliver(self, log: EventLog, lines: Sequence[Line]) -> bool:
        """Send a request once; whether every event of it is acknowledged now."""
        for line in lines:
            line.sent += 1
        try:
            receipts = log.append([line.event for line in lines])
        except EngramlogError:
            return False
        self.answered(lines, receipts)
        return all(line.acknowledged for line in lines)

    def highest(self) -> dict[int, int]:
        """Partition -> newest acknowledged seq."""
        with self._lock:
            return dict(self._highest)

    def forget_answers(self) -> None:
        """After a loss that broke the promise (a log that came back shorter): nothing counts as acknowledged."""
        with self._lock:
            for line in self.lines:
                line.position = None
            self._highest.clear()


def by_id(lines: Iterable[Line]) -> dict[bytes, Line]:
    """The lines by the 16 bytes of their event's id."""
    return {line.event.raw_id: line for line in lines}
