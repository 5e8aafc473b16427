"""What a running service gives to a command: the answer or refusal of a question.

The service answers questions that take only a moment, also about the state of the store. Long work and files are the command's own.
A command never sends a change twice: if no answer comes to a change, or to a search that counts as recall, the command reports it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from engramlog_server.api.operations.definition import Given, Operation
from engramlog_server.events import errors
from engramlog_server.events.errors import EngramlogError, StoreUnavailable


class Reply(NamedTuple):
    """What came back: an answer, or a refusal as `EngramlogError.as_dict` tells it."""

    answer: Any
    refused: Mapping[str, Any] | None = None
    exit_code: int = 1


class Lost(Exception):
    """It was asked, and no answer came: whether it was carried out is not known."""


class Ask(Protocol):
    """Puts a question to the service of the settings' data folder."""

    def __call__(self, route: tuple[str, str], given: Given, /) -> Reply | None:
        """None where nobody was asked, or whoever was left it to the command. Raises Lost."""


def nobody(_route: tuple[str, str], _given: Given) -> Reply | None:
    """There is no service."""
    return None


def asked(ask: Ask, operation: Operation, given: Given) -> Reply | None:
    """The service's reply to an operation; None where the command carries it out by itself. Raises the error of a refusal.

    StoreUnavailable where no answer came to what is not to be done twice.
    """
    if not operation.served or any(given.get(one) is None for one in operation.subject if one == "owner"):
        return None
    try:
        reply = ask(operation.route, given)
    except Lost as lost:
        if (unknown := _unknown(operation, given)) is not None:
            raise StoreUnavailable(f"the service was asked, and gave no answer ({lost}): {unknown}") from None
        return None
    if reply is not None and reply.refused is not None:
        raise error_of(reply.refused, reply.exit_code)
    return reply


def _unknown(operation: Operation, given: Given) -> str | None:
    """What may have come of a call without an answer; None where it can be made again: a look, or a call under its key."""
    if operation.tells_by(given) and not given.get("key"):
        return "whether it was written is not known. Look, then say it again; under a --key it can be said again without looking"
    if given.get("trace") and not given.get("inspect"):
        return "whether it counted what it found as recalled is not known. Ask again; without --trace nothing counts"
    return None


def error_of(told: Mapping[str, Any], exit_code: int) -> EngramlogError:
    """The error that was told, of its own kind: with the same sentence, context and exit code."""
    kind = getattr(errors, str(told["error"]), EngramlogError)
    if not (isinstance(kind, type) and issubclass(kind, EngramlogError)):
        kind = EngramlogError
    error = kind.__new__(kind)
    context = {name: value for name, value in told.items() if name not in ("error", "message")}
    EngramlogError.__init__(error, str(told["message"]), **context)
    error.exit_code, error.told = exit_code, dict(told)
    return error
