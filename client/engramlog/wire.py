"""What goes to and fro, without any input or output: requests, answers, and plans that say what comes next.

A *plan* is a generator: it yields a `Request` or a `Pause`, is sent the `Answer` (or `Lost`), and returns a result. Each verb
is one plan; `Memory` and `AsyncMemory` only carry plans out, so both do the same by construction.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Self, TypeVar
from urllib.parse import quote, urlencode

from engramlog.edge import Edge
from engramlog.errors import EngramlogError, OwnerMissing, UnexpectedAnswer, Unreachable, error_of, refused

R = TypeVar("R")
JSON = "application/json"
LINES = "application/x-ndjson"
RETRIED = frozenset({429, 503, 504})
"""Statuses after which the same request may be sent again."""
TOO_LONG = 504
"""Not folded in time, which passes; or a question that was stopped, which does not."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `body` is made once, so that every try sends the same bytes and the same event ids."""

    method: str
    path: str
    """Percent-encoded, with its query."""
    body: bytes | None = None
    media_type: str = JSON
    """Of the body."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; header names in lower case."""

    status: int
    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Lost:
    """No answer came: the request may have been carried out or not."""

    reason: str


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait so many seconds."""

    seconds: float


Outcome = Answer | Lost | None
Plan = Generator[Request | Pause, Outcome, R]


@dataclass(frozen=True, slots=True)
class Retry:
    """How often and when a request is sent again: after a lost answer, 429, 503 and 504.

    The wait doubles from `first` up to `longest` seconds, and chance takes up to half of it away; a `Retry-After` of at most
    `patience` seconds is kept to, a longer one ends the trying.
    """

    tries: int = 4
    first: float = 0.1
    longest: float = 5.0
    patience: float = 20.0

    def wait(self, tried: int, outcome: Outcome, chance: float) -> float | None:
        """Seconds to wait after the `tried`-th try, or None where the outcome is final. `chance` is in [0, 1)."""
        if tried >= self.tries or (isinstance(outcome, Answer) and outcome.status not in RETRIED):
            return None
        if isinstance(outcome, Answer) and outcome.status == TOO_LONG and b'"DeadlineExceeded"' in outcome.body:
            return None  # it would take as long again
        backoff = min(self.first * 2.0 ** (tried - 1), self.longest) * (1 - chance / 2)
        asked = outcome.headers.get("retry-after", "") if isinstance(outcome, Answer) else ""
        if not asked.isdecimal():
            return backoff
        return max(float(asked), backoff) if float(asked) <= self.patience else None


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memories are meant, and by which clock, chance and patience they are asked for."""

    owner: str | None = None
    edge: Edge = field(default_factory=Edge)
    retry: Retry = field(default_factory=Retry)

    def of(self, owner: str) -> Self:
        """The same of an owner. Raises InputError for another one than the scope is of: none can reach another."""
        if self.owner not in (None, owner):
            raise refused(
                "owner", owner, f"{self.owner!r}, whose memories these are; a client of none, Memory(), has others"
            )
        return replace(self, owner=checked("owner", owner))

    def once(self) -> Self:
        """The same, sending no request again: for what would be done twice."""
        return replace(self, retry=replace(self.retry, tries=1))

    def whose(self, owner: str | None) -> str:
        """The owner that a call is about. Raises OwnerMissing for none, InputError for another than the scope's."""
        if owner is None and self.owner is None:
            raise OwnerMissing(
                "owner: got nothing; allowed: whose memories, as owner=... or once for all with .of(...)",
                field="owner",
                got="nothing",
                allowed="whose memories",
            )
        if owner is not None and self.owner not in (None, owner):
            raise refused(
                "owner", owner, f"{self.owner!r}, whose memories these are; a client of none, Memory(), has others"
            )
        return checked("owner", owner if owner is not None else self.owner or "")


def checked(name: str, value: str) -> str:
    """An id that can stand in a path; what else an id may be, the service knows."""
    if not isinstance(value, str) or value in ("", ".", ".."):
        raise refused(name, value, "an id: letters, digits and - _ . : @ / +, but not only dots")
    return value


def path_of(owner: str, *parts: str) -> str:
    """The path of something of an owner; parts that are ids are quoted by `quoted`."""
    return "/".join(["/v1/owners", quoted(owner), *parts])


def of_all(scope: Scope, path: str) -> str:
    """The path of something of the whole store. Raises InputError for a client of one owner, which reaches no other."""
    if scope.owner is not None:
        raise refused("owner", scope.owner, "a client of no owner, as Memory() is: this is about all of them")
    return path


def quoted(value: str) -> str:
    """An id as one segment of a path, a `/` inside as `%2F`."""
    return quote(value, safe="")


def got(path: str, **query: Any) -> Request:
    """A GET; what is None or empty is left out, lists are repeated."""
    told = {name: _plain(value) for name, value in query.items() if value not in (None, (), [])}
    return Request("GET", f"{path}?{urlencode(told, doseq=True)}" if told else path)


def _plain(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str | bytes) else value


def posted(path: str, document: Any) -> Request:
    """A POST of JSON."""
    return Request("POST", path, encoded(document))


def pairs(told: Mapping[str, str | int | float | bool] | None) -> list[str]:
    """Names and values as `name=value`, as the service writes them: truth values `true` and `false`, 4.0 as 4."""
    for name, value in (told or {}).items():
        if not isinstance(value, str | int | float):
            raise refused(f"metadata.{name}", value, "a text, a number or a truth value")
    return [
        f"{name}={f'{value:.15g}' if isinstance(value, float) else _plain(value)}"
        for name, value in (told or {}).items()
    ]


def given(told: Mapping[str, Any]) -> dict[str, Any]:
    """What is told of it: what is None, or nothing of several, is left to the service."""
    return {name: value for name, value in told.items() if value is not None and value != ()}


def encoded(document: Any) -> bytes:
    """A document as JSON. Raises InputError for what JSON cannot hold."""
    try:
        return utf8(json.dumps(document, ensure_ascii=False, separators=(",", ":")))
    except (TypeError, ValueError, RecursionError) as error:
        raise refused("body", type(document).__name__, f"what JSON can hold ({error})") from None


def utf8(text: str) -> bytes:
    """A text in UTF-8. Raises InputError for half a surrogate pair, as a text cut in two may hold."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise refused("text", text[error.start : error.end], "characters: it is half of one, cut in two") from None


def ask(scope: Scope, request: Request) -> Plan[Any]:
    """Send a request until its outcome is final; the answer's JSON. Raises the error that the answer stands for."""
    outcome, tried = yield from _final(scope, request)
    return _read(request, outcome, tried)


def fetch(scope: Scope, request: Request) -> Plan[Answer]:
    """The same where the answer is no JSON: the answer itself."""
    outcome, tried = yield from _final(scope, request)
    if isinstance(outcome, Answer) and outcome.status < 300:
        return outcome
    _read(request, outcome, tried)
    raise AssertionError("what is no answer raises")


def _final(scope: Scope, request: Request) -> Plan[tuple[Outcome, int]]:
    for tried in count(1):
        outcome = yield request
        seconds = scope.retry.wait(tried, outcome, scope.edge.chance())
        if seconds is None:
            return outcome, tried
        yield Pause(seconds)
    raise AssertionError("count() never ends")


def _what_to_do(reason: str) -> str:
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        return "`authority=FILE` names who signed its certificate, where that is none of the usual."
    if "disconnected without sending" in reason:
        return "does it run, and is it asked by https?"
    return "is `engramlog up` running?"


def _read(request: Request, outcome: Outcome, tried: int) -> Any:
    where = f"{request.method} {request.path.partition('?')[0]}"
    if not isinstance(outcome, Answer):
        reason = outcome.reason if outcome else "nothing was sent"
        raise Unreachable(
            f"{where}: no answer in {tried} tries ({reason}); {_what_to_do(reason)} Reads can be retried; writes are"
            " safe to retry with the same `key`",
            tries=tried,
        )
    try:
        document = json.loads(outcome.body)
    except ValueError:
        document = None
    if outcome.status < 300 and document is not None:
        return document
    problem = refusal_of(request, outcome)
    raise problem if outcome.status >= 300 else UnexpectedAnswer(problem.message, status=outcome.status)


def refusal_of(request: Request, answer: Answer) -> EngramlogError:
    """The error that an answer stands for."""
    try:
        document = json.loads(answer.body)
    except ValueError:
        document = None
    if isinstance(document, dict) and "detail" in document:
        return error_of(answer.status, document)
    shown = answer.body[:120].decode("utf-8", "replace")
    where = f"{request.method} {request.path.partition('?')[0]}"
    return error_of(answer.status, {"detail": f"{where}: HTTP {answer.status} that is no JSON: {shown!r}"})
