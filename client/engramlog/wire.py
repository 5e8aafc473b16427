"""Requests, answers, plans and verbs, without any input or output.

A *plan* is a generator: it yields a `Request` or a `Pause`, is sent the `Answer` (or `Lost`), and returns a result. A `Verb` makes
a plan a method of `Memory` and `AsyncMemory`. Both only carry plans out, so both do the same by construction. Plans read the time
and random bytes from an `Edge`.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Coroutine, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import wraps
from inspect import Parameter, signature
from itertools import count
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, overload
from urllib.parse import quote, urlencode
from uuid import UUID, uuid5

from engramlog.errors import EngramlogError, OwnerMissing, UnexpectedAnswer, Unreachable, error_of, refused

R = TypeVar("R")


P = ParamSpec("P")


_DERIVED = UUID("5f0f2b52-6d0a-5c8e-9b61-3f1f6c1f5d0a")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _micros() -> int:
    return time.time_ns() // 1_000


@dataclass(frozen=True, slots=True)
class Edge:
    """A clock (microseconds since 1970 UTC) and a source of random bytes; tests give their own."""

    now: Callable[[], int] = _micros
    random_bytes: Callable[[int], bytes] = os.urandom

    def new_id(self) -> str:
        """A fresh time-ordered UUID, version 7 (RFC 9562)."""
        return uuid7(self.now(), self.random_bytes(10))

    def chance(self) -> float:
        """A number in [0, 1)."""
        return int.from_bytes(self.random_bytes(4)) / 2**32


def uuid7(micros: int, entropy: bytes) -> str:
    """The version 7 UUID of an instant and ten random bytes."""
    value = (micros // 1_000) << 80 | int.from_bytes(entropy[:10])
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(UUID(int=value))


def derived_id(*parts: str) -> str:
    """The same version 5 UUID for the same parts, always."""
    return str(uuid5(_DERIVED, "\x1f".join(parts)))


def instant(micros: int) -> str:
    """RFC 3339 in UTC of microseconds since 1970."""
    return (_EPOCH + timedelta(microseconds=micros)).isoformat().replace("+00:00", "Z")


def spelled(moment: datetime | str | None) -> str | None:
    """An instant as the service reads it: an aware date-time is spelled out, a text goes as it is."""
    return moment.isoformat() if isinstance(moment, datetime) else moment


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


SEVERAL = "several things in a list, also a single one"


def check(parameters: Mapping[str, Parameter], given: Mapping[str, Any]) -> None:
    """Raise InputError for a text, or anything else, where several are asked for or names with their values."""
    for name, value in given.items():
        kind = str(parameters[name].annotation)
        if value is None or kind.startswith("str | bytes") or (isinstance(value, str) and kind.startswith("str")):
            continue
        if kind.startswith("Mapping[") and not isinstance(value, Mapping):
            raise refused(name, value, "names with their values, as in {'page': 4}")
        if "Sequence[" in kind or "Collection[" in kind:
            if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
                raise refused(name, value, f"a text, or {SEVERAL}" if kind.startswith("str") else SEVERAL)
            items = value if kind.startswith("Sequence[Mapping[") and isinstance(value, Sequence) else ()
            for number, one in enumerate(items):
                if not isinstance(one, Mapping):
                    raise refused(f"{name}[{number}]", one, "names with their values, as in {'uri': '...'}")


def as_called(names: Iterable[str], error: EngramlogError) -> EngramlogError:
    """The error with fields called as the arguments are, of which `names` are those."""
    problems = error.context.get("problems")
    for told in (error.context, *(problems if isinstance(problems, list) else ())):
        field = told.get("field") if isinstance(told, dict) else None
        if isinstance(field, str) and (name := _called(field, set(names))) != field:
            told["field"] = name
            error.message = error.message.replace(f"{field}: ", f"{name}: ", 1)
            if isinstance(told.get("message"), str):
                told["message"] = told["message"].replace(f"{field}: ", f"{name}: ", 1)
    error.args = (error.message,)
    return error


def _called(field: str, names: set[str]) -> str:
    argument = field.removeprefix("data.")
    return argument if re.split(r"[ .\[]", argument, maxsplit=1)[0] in names else field


class Client(Protocol):
    """Carries plans out, as `Memory` does."""

    scope: Scope

    def carry_out(self, plan: Plan[R]) -> R: ...


class AsyncClient(Protocol):
    """Carries plans out when it is awaited, as `AsyncMemory` does."""

    scope: Scope

    async def carry_out(self, plan: Plan[R]) -> R: ...


class Verb(Generic[P, R]):
    """A plan as a method: of a `Memory` it returns the result, of an `AsyncMemory` something to await that does."""

    def __init__(self, plan: Callable[Concatenate[Scope, P], Plan[R]], name: str | None = None) -> None:
        asked = signature(plan)
        scopeless = [one for one in asked.parameters.values() if one.name != "scope"]
        self._plan = plan
        self.__doc__ = plan.__doc__
        self.__name__ = name or plan.__name__
        result = str(asked.return_annotation).removeprefix("Plan[").removesuffix("]")
        self._signature = asked.replace(parameters=scopeless, return_annotation=result)
        self.__signature__ = asked.replace(
            parameters=[Parameter("self", Parameter.POSITIONAL_OR_KEYWORD), *scopeless], return_annotation=result
        )

    @overload
    def __get__(self, client: None, kind: type) -> Self: ...
    @overload
    def __get__(self, client: Client, kind: type) -> Callable[P, R]: ...
    @overload
    def __get__(self, client: AsyncClient, kind: type) -> Callable[P, Coroutine[Any, Any, R]]: ...
    def __get__(self, client: Client | AsyncClient | None, kind: type) -> Any:
        """The method of a client, or the verb itself where a class is asked."""
        if client is None:
            return self

        @wraps(self._plan)
        def verb(*args: P.args, **named: P.kwargs) -> Any:
            given = dict(zip(self._signature.parameters, args, strict=False)) | named
            return client.carry_out(self._checked(self._plan(client.scope, *args, **named), given))

        verb.__name__ = self.__name__
        verb.__signature__ = self._signature  # type: ignore[attr-defined]
        return verb

    def _checked(self, plan: Plan[R], given: dict[str, Any]) -> Plan[R]:
        asked = self._signature.parameters
        try:
            check(asked, given)
            return (yield from plan)
        except EngramlogError as error:
            as_called(asked, error)
            raise

    def __call__(self, client: Client | AsyncClient, *args: P.args, **named: P.kwargs) -> Any:
        """The verb of a client: `Memory.search(memory, ...)` is `memory.search(...)`."""
        return getattr(client, self.__name__)(*args, **named)
