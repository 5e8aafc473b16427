"""Exported chats of one owner in one piece: checked whole first, then appended and folded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import cast

from engramlog_server.api.choices import LEAVE, MOST_CHAT_BYTES, MOST_CHAT_TURNS
from engramlog_server.api.exchange.chat_file import open_chats
from engramlog_server.api.exchange.importing import ImportOptions, check_way
from engramlog_server.api.exchange.importing_chats import ImportedChats, import_chats
from engramlog_server.api.requests.checks import check_owner, parse_instant
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.services.writing import Writer
from engramlog_server.api.work.pacing import paced
from engramlog_server.api.work.patience import current_check
from engramlog_server.events.errors import InputError, RequestTooLarge, refused
from engramlog_server.events.log import Appendable, AppendReceipt, EventLog, positions_by_partition
from engramlog_server.events.memory_log import InMemoryEventLog
from engramlog_server.projections.checks import Check
from engramlog_server.projections.shapes import ChatsImported, Warned

COMMAND = "send fewer conversations at a time, or use `engramlog import turns --shape auto`"


@dataclass(slots=True)
class ChatsTaken:
    """What an import of chats did to the log."""

    owner: str
    imported: ImportedChats
    warning: Warned = field(default_factory=Warned)
    """`quarantined`, where the owner is: then nothing is folded yet."""

    @property
    def whole(self) -> bool:
        """Whether everything is in the log, and folded."""
        return self.imported.imported.done.exit_code == 0 and not self.warning

    def as_dict(self) -> ChatsImported:
        """JSON-ready: the counts of the import, for the one owner."""
        told = self.imported.as_dict()
        del told["owners"]
        return cast("ChatsImported", {"owner": self.owner, **told, **self.warning})


class _Rehearsal(InMemoryEventLog):
    """A log that is thrown away, and takes no more than one piece may hold."""

    def __init__(self, now: int, most: int) -> None:
        super().__init__(lambda: now)
        self._left = most

    def append(
        self,
        events: Sequence[Appendable],
        *,
        expected_heads: Mapping[str, int] | None = None,
        principal: str | None = None,
    ) -> list[AppendReceipt]:
        """As the log's. Raises RequestTooLarge beyond the piece's size."""
        self._left -= len(events)
        if self._left < 0:
            raise RequestTooLarge(
                f"chats of more than {MOST_CHAT_TURNS:,} turns; at most {MOST_CHAT_TURNS:,} are allowed: {COMMAND}",
                got=f"more than {MOST_CHAT_TURNS}",
                allowed=MOST_CHAT_TURNS,
            )
        return super().append(events, expected_heads=expected_heads, principal=principal)


class Chats:
    """Takes exported chats in. Safe for threads."""

    def __init__(
        self,
        log: EventLog,
        reader: Reader,
        writer: Writer,
        turns_written: Callable[[str], None] = lambda _owner: None,
    ) -> None:
        """`turns_written` is called with the owner after turns were written."""
        self._log = log
        self._reader = reader
        self._writer = writer
        self._turns_written = turns_written

    def take_in_whole(
        self,
        owner: str,
        chats: bytes,
        *,
        shape: str = "auto",
        since: str | None = None,
        memories: bool = True,
        long_turns: str = LEAVE,
        project: str | None = None,
        live: bool = False,
    ) -> ChatsTaken:
        """Append the turns of an export and wait until they are folded.

        Unreadable messages and conversations are left out, counted and named. Of what is no export, a bad line of turns, or more
        than the bounds allow, nothing at all is written.

        `chats` is what a file of exported chats holds. `since` is when conversations without times began. `project` is that of the
        turns' memories. `live`: the turns were just said, so they are trusted as said, not as imported. Raises
        InputError with the place of what is wrong, RequestTooLarge, and what appending raises: then the same can be sent again.
        """
        if len(chats) > MOST_CHAT_BYTES:
            raise RequestTooLarge(
                f"chats of {len(chats):,} bytes; at most {MOST_CHAT_BYTES:,} are allowed: {COMMAND}",
                got=len(chats),
                allowed=MOST_CHAT_BYTES,
            )
        began = None if since is None else parse_instant(since, "since")
        options = ImportOptions(
            owner=check_owner(owner), memories=memories, long_turns=check_way(long_turns), project=project, live=live
        )
        self._rehearse(chats, shape, options, began)
        check = current_check()
        log = paced(self._log, self._writer.settle_positions, check=check)
        answer = ChatsTaken(owner, _imported(log, chats, shape, options, began, check))
        done = answer.imported.imported.done
        if done.error is not None:
            raise done.error
        positions = [position for position in done.positions if position]
        if positions:
            self._writer.settle_positions(positions_by_partition(positions))
            with self._reader.snapshot(owner) as snapshot:
                answer.warning = snapshot.warning
            self._turns_written(owner)
            self._writer.on_texts(owner, answer.imported.imported.turns)
        return answer

    def _rehearse(self, chats: bytes, shape: str, options: ImportOptions, began: int | None) -> None:
        most = MOST_CHAT_TURNS * (2 if options.memories else 1)
        log = _Rehearsal(self._log.now(), most)
        done = _imported(log, chats, shape, options, began, current_check()).imported.done
        if done.error is not None:
            raise done.error
        if done.conflicts:
            first = done.conflicts[0]
            where = ", ".join(f"{name} {first[name]}" for name in ("line", "conversation", "message") if name in first)
            raise refused("turn_id", f"one at {where} that stands for another text before it", "an id for each turn")


def _imported(
    log: EventLog, chats: bytes, shape: str, options: ImportOptions, began: int | None, check: Check
) -> ImportedChats:
    """The import of one piece, whose errors speak of the request's body instead of a file."""
    try:
        answer = import_chats(log, open_chats(BytesIO(chats), shape, MOST_CHAT_BYTES), options, began, check=check)
    except InputError as problem:
        raise _of_a_body(problem) from None
    done = answer.imported.done
    if isinstance(done.error, InputError):
        done.error = _of_a_body(done.error)
    return answer


def _of_a_body(problem: InputError) -> InputError:
    if problem.context.get("field") == "turn_id" and "lines" in problem.context:  # a cure by options is none here
        return refused("turn_id", problem.context["got"], problem.context["allowed"])
    if problem.context.get("field") != "file":
        return problem
    allowed = str(problem.context["allowed"])
    return refused("body", problem.context["got"], allowed)
