"""Every error of the client, as one tree; what the service refused keeps the service's words.

EngramlogError
|- InputError           something in the request cannot be right (HTTP 4xx): `field`, `got`, `allowed`
|  |- TokenRefused      no token was shown, or one that opens nothing (401)
|  |- AccessDenied      the key or token may not do this (403): `context` has the `verb` that is needed
|  |- OwnerMissing      nobody said whose memories; nothing was sent
|  `- NotFound          no such owner, memory or route (404)
|- Conflict             the position does not exist or is parked, or something else came first (409)
|  `- OwnerQuarantined  an event of the owner cannot be folded; what was written waits behind it
|- OwnerTooLarge        the owner has more memories than the service loads (507)
|- NotYetFolded         it is written, but was not folded in time (504)
|- DeadlineExceeded     the question took longer than the service lets one take, and would again (504)
|- Unavailable          the service cannot do it now; the same call can be made again (429, 503, 507), under its `key` if it tells
|  |- StoreFull         too close to the store's memory limit (507)
|  |- UnderReplicated   it is written, and fewer replicas are known to have it than the service asks for (503)
|  `- Unreachable       no answer came at all
`- UnexpectedAnswer     an answer that is none of the service's (500, or no JSON)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class EngramlogError(Exception):
    """What went wrong, in a sentence; `status` is the HTTP status (None where nothing was asked or answered)."""

    def __init__(self, message: str, *, status: int | None = None, error: str = "", **context: Any) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.error = error or type(self).__name__
        """The service's name of the error: `InputError`, `NotFound`, `BeyondHead` ..."""
        self.context: Mapping[str, Any] = context
        """Further fields of the answer: owner, position, problems ..."""

    @property
    def field(self) -> str | None:
        """Which value was refused, the first where there are several (`context["problems"]`)."""
        return self._told("field")

    @property
    def got(self) -> str | None:
        """What it was."""
        return self._told("got")

    @property
    def allowed(self) -> str | None:
        """What it may be."""
        return self._told("allowed")

    def _told(self, name: str) -> str | None:
        first = next(iter(self.context.get("problems") or [{}]))
        value = self.context.get(name, first.get(name))
        return None if value is None else str(value)


class InputError(EngramlogError):
    """Something in the request cannot be right; nothing was done."""


class TokenRefused(InputError):
    """No token was shown, or one that opens nothing (any more); `Memory(token=...)` or `ENGRAMLOG_TOKEN` tells it."""


class AccessDenied(InputError):
    """The key, or the token made of it, may not do this; `Memory.me` tells what it may."""


class OwnerMissing(InputError):
    """Nobody said whose memories are meant."""


class NotFound(InputError):
    """There is no such owner, memory or route."""


class Conflict(EngramlogError):
    """The position does not exist or is parked, or something else came first."""


class OwnerQuarantined(Conflict):
    """An event of the owner cannot be folded; later ones wait behind it."""


class DeadlineExceeded(EngramlogError):
    """The question took longer than the service lets one take, and was stopped: ask about less. Nothing was written."""


class OwnerTooLarge(EngramlogError):
    """The owner has more memories than the service loads: `ENGRAMLOG_VIEW_BYTES` there says how much. Asking again is of no use."""


class NotYetFolded(EngramlogError):
    """What was written is in the log, but was not folded in time."""


class Unavailable(EngramlogError):
    """The service cannot do it now; `retry_after` is in seconds, where it says so."""

    @property
    def retry_after(self) -> float | None:
        """When to come again, in seconds."""
        value = self.context.get("retry_after")
        return None if value is None else float(value)


class StoreFull(Unavailable):
    """The store is too close to its memory limit."""


class UnderReplicated(Unavailable):
    """It is written, and fewer replicas are known to have it than the service asks for: it is not proved.

    The client made the same call again until its tries were over, where that does nothing twice. Made once more, under the same
    `key` or of the same events, it proves what is there, and writes nothing anew.
    """

    @property
    def receipts(self) -> list[Mapping[str, Any]]:
        """What is known of each event: `event_id`, `status`, `position`, `fsynced`, `replicas`."""
        return list(self.context.get("receipts") or ())


class Unreachable(Unavailable):
    """No answer came."""


class UnexpectedAnswer(EngramlogError):
    """An answer that cannot be read as the service's."""


BY_NAME: Mapping[str, type[EngramlogError]] = {
    "AccessDenied": AccessDenied,
    "OwnerQuarantined": OwnerQuarantined,
    "DeadlineExceeded": DeadlineExceeded,
    "KeyTaken": InputError,
    "OwnerTooLarge": OwnerTooLarge,
    "OutputCut": Unavailable,
    "UnderReplicated": UnderReplicated,
}
BY_STATUS: Mapping[int, type[EngramlogError]] = {
    401: TokenRefused,
    404: NotFound,
    409: Conflict,
    429: Unavailable,
    503: Unavailable,
    504: NotYetFolded,
    507: StoreFull,
}


def error_of(status: int, document: Mapping[str, Any]) -> EngramlogError:
    """The error that a problem+json answer (RFC 9457) stands for."""
    context = {name: value for name, value in document.items() if name not in ("type", "title", "status", "detail")}
    name = str(context.pop("error", ""))
    kind = BY_NAME.get(name) or BY_STATUS.get(status) or (InputError if 400 <= status < 500 else UnexpectedAnswer)
    safe = {key: value for key, value in context.items() if key not in ("message", "self")}
    return kind(str(document.get("detail", f"HTTP {status}")), status=status, error=name, **safe)


def refused(field: str, got: object, allowed: str) -> InputError:
    """A refusal before anything is sent, in the words of the service; a long value is cut at 80 characters, None is `nothing`."""
    if got is None:
        return InputError(f"{field}: got nothing; allowed: {allowed}", field=field, got="nothing", allowed=allowed)
    got = got if len(str(got)) <= 80 else f"{str(got)[:80]}…"
    return InputError(f"{field}: got {got!r}; allowed: {allowed}", field=field, got=str(got), allowed=allowed)
