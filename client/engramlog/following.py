"""What is told as it stands and as it changes: an export in whole, and the feed of an owner's changes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from engramlog.answers import Change, Result
from engramlog.edge import spelled
from engramlog.errors import UnexpectedAnswer, refused
from engramlog.wire import Plan, Scope, fetch, given, got, path_of, posted

MOST_MESSAGE = 1024 * 1024
"""Bytes of a message of a feed; the service's are far shorter."""
SILENCE = 120.0
"""Seconds after which a feed that tells nothing, not even that it is still there, is taken for lost."""


class Exported(Result):
    """An owner's memories, oldest first, as lines to import again or as a text for people; or everything, as lines."""

    text: str
    position: str
    left_out: dict[str, int]
    """How many are not in it, by reason."""
    revealed: str | None = None
    """Where it is recorded that secrets were shown."""

    @property
    def records(self) -> list[dict[str, Any]]:
        """Each line of an export as JSON Lines."""
        if not self.text.startswith("{") and self.text.strip():
            raise refused("format", "a text", "jsonl, whose lines are records")
        return [json.loads(line) for line in self.text.split("\n") if line.strip()]


class Changed(Result):
    """One event that changed something of an owner. Contents are not told: ask for what you want to read."""

    owner: str
    position: str
    """Give it as `since` to go on after it."""
    changes: list[Change]


def export(
    scope: Scope,
    *,
    owner: str | None = None,
    format: str | None = None,  # noqa: A002 - what the service calls it
    include: Sequence[str] = (),
    everything: bool = False,
    ids: Sequence[str] = (),
    reveal: bool = False,
    actor: str = "user",
    reason: str = "",
    as_of: datetime | str | None = None,
    known: datetime | str | None = None,
    after: str | None = None,
) -> Plan[Exported]:
    """All memories of an owner, as `jsonl` (which an import reads again) or `text`; it is held in whole.

    `include`: what else than what stands: deleted, merged, retired, rejected, superseded, negated, set_aside, proposed;
    `rejections`: what was rejected, for another store to refuse it too. Secrets only with `reveal=True`: that they were shown,
    to which `actor` and for what `reason`, is recorded first. `everything`: all that is held of the owner: memories in any state,
    turns, tool results, contexts, questions asked and the change log, as `jsonl`.
    `ids`: only these memories, at most 1,000; `left_out` counts those that are not there as `unknown`.
    """
    path = path_of(scope.whose(owner), "export")
    asked = {"format": format, "as_of": spelled(as_of), "known": spelled(known), "after": after}
    if reveal:
        told = {
            "include": list(include),
            "everything": everything,
            "ids": list(ids),
            "reveal": True,
            "actor": actor,
            "reason": reason,
        }
        request = posted(path, given(asked | told))
    else:
        request = got(path, include=include, ids=ids, **asked, everything="true" if everything else None)
    answer = yield from fetch(scope, request)
    named = [one.split("=") for one in answer.headers.get("engramlog-left-out", "").split(", ") if one]
    return Exported(
        text=answer.body.decode(),
        position=answer.headers["engramlog-position"],
        left_out={name: int(number) for name, number in named},
        revealed=answer.headers.get("engramlog-revealed"),
    )


class Message(NamedTuple):
    """A message of a stream of server-sent events."""

    event: str
    data: str


class Messages:
    """Puts pieces of a stream together to messages (the HTML standard, 9.2.6). Raises UnexpectedAnswer for one without end."""

    def __init__(self) -> None:
        self._rest, self._held = b"", 0
        self._event, self._data = "message", list[str]()

    def take(self, piece: bytes) -> Iterator[Message]:
        """The messages that this piece ends."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            yield from self._line(line.rstrip(b"\r").decode("utf-8", "replace"))
        if len(self._rest) + self._held > MOST_MESSAGE:
            raise UnexpectedAnswer(f"a feed told a message of more than {MOST_MESSAGE:,} bytes")

    def _line(self, line: str) -> Iterator[Message]:
        name, _, value = line.partition(":")
        if name == "event":
            self._event = value.strip()
        elif name == "data":
            self._data.append(value.removeprefix(" "))
            self._held += len(value)
        elif not line:
            if self._data:
                yield Message(self._event, "\n".join(self._data))
            self._event, self._data, self._held = "message", [], 0


def changes_in(message: Message) -> Iterator[Changed]:
    """What a message tells: a change, or nothing where it says that the feed begins."""
    if message.event == "change":
        try:
            yield Changed.decode(json.loads(message.data))
        except ValueError:
            raise UnexpectedAnswer(f"the feed sent a change that is not JSON: {message.data[:120]!r}") from None
