"""A connection to one node, and what it owes to whoever asked down the wire to all of them."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import Any

import redis

from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.redis.cluster.routing import ReadMany
from engramlog_server.events.redis.wire import AGAIN, ServerWire

UNKNOWN = f"whether it was written is not known, {AGAIN}"


class NodeLink(ServerWire):
    """One connection, made once: what was lost is not made anew behind the back of the wire that counts connections."""

    failed: StoreUnavailable | None = None
    """Why there is none, where it could not be made."""

    def connect(self) -> None:
        """See `Wire.connect`."""
        if self.failed is not None:
            raise self.failed
        super().connect()

    def _open(self) -> Any:
        if self._connection is None and self.generation:
            raise redis.ConnectionError("the connection was lost")
        return super()._open()

    def receive(self, *, timeout: float | None = None) -> Any:
        """See `Wire.receive`; what no Redis answers (a MOVED that says not where) is a connection that is lost."""
        try:
            return super().receive(timeout=timeout)
        except (ValueError, TypeError, IndexError) as error:
            self.close()
            raise StoreUnavailable(f"it answers what no Redis does ({error}); {UNKNOWN}", retry_after=1) from error


class LostAnswer:
    """An answer that never comes."""

    def __init__(self, error: StoreUnavailable) -> None:
        self.error = error


class Part:
    """An answer that a node owes."""

    def __init__(self, node: str, link: NodeLink, slot: int | None = None) -> None:
        self.node = node
        self.link = link
        self.slot = slot


class Fan:
    """What several nodes owe to one XREAD."""

    def __init__(self, many: ReadMany, parts: list[Part | LostAnswer]) -> None:
        self.many = many
        self.parts = parts
        self.began = monotonic()
        self.until = self.began if many.block_ms is None else self.began + many.block_ms / 1_000


Owed = Part | LostAnswer | Fan


def lost_of(owed: Owed, link: NodeLink, lost: StoreUnavailable) -> Owed:
    """What is owed once a link is lost."""
    if isinstance(owed, Part):
        return LostAnswer(lost) if owed.link is link else owed
    if isinstance(owed, Fan):
        owed.parts = [LostAnswer(lost) if isinstance(one, Part) and one.link is link else one for one in owed.parts]
    return owed


def cut() -> StoreUnavailable:
    """Of a connection that was lost while it owed an answer."""
    return StoreUnavailable(f"the connection to Redis was lost before it answered; {AGAIN}", retry_after=1)


def is_lost(answers: Sequence[Any]) -> bool:
    """Whether one of these is of a connection that was lost."""
    return any(isinstance(one, StoreUnavailable) for one in answers)


def told_of(name: str, error: StoreUnavailable, *, not_done: bool = False) -> StoreUnavailable:
    """The same error with the node that it is about."""
    told: dict[str, Any] = {"retry_after": 1, **error.context, "node": name}
    begins = f"node {name} of the cluster: "
    message = error.message if error.message.startswith(begins) else begins + error.message
    found = StoreUnavailable(message, not_done=not_done or error.not_done, **told)
    found.__cause__ = error
    return found
