"""Every error Engramlog raises on purpose, as one tree.

    EngramlogError
    |- InputError                  the caller sent something that cannot be right (exit 2, HTTP 4xx)
    |  |- InvalidEvent             an event that does not fit its model: field, value, what is allowed
    |  |- InvalidBatch             several of them, each named by its index
    |  |- RequestTooLarge          more than 1,000 events in one request (HTTP 413)
    |  |- NotFound                 no such owner, memory or event (HTTP 404)
    |  |- AccessDenied             the key that is shown may not do this (HTTP 403)
    |  |- KeyTaken                 something else was said under this key (HTTP 409)
    |  |- EventIdTaken             another event has this id (HTTP 409)
    |  `- BadSetting               an environment variable or option that cannot be used
    |- NotConfirmed                a command had nobody to ask (exit 2)
    |- ConcurrencyError            the owner's head is not the expected one (HTTP 409)
    |- ReadError                   a question that cannot be answered as of that position
    |  |- NotYetFolded             the position was not folded in time (HTTP 504)
    |  |- BeyondHead               the position does not exist yet (exit 2, HTTP 409)
    |  `- OwnerQuarantined         the position is parked (HTTP 409)
    |- StoreError                  the store cannot do it now (exit 1, HTTP 503)
    |  |- StoreFull                too close to maxmemory; try again later
    |  |- StoreUnavailable         Redis does not answer, refuses or is read-only
    |  |  `- UnderReplicated       written, and too few replicas are known to have it
    |  |- KeyUnavailable           an owner's key cannot be had now: nothing of it can be read or written
    |  |  `- OwnerErased           its key was destroyed: never again (HTTP 410)
    |  |- ClockBehind              the store's clock is behind; honest events look as if they came from the future
    |  |- ReceiptLost              the log no longer holds what was acknowledged (HTTP 500)
    |  |- StoreMismatch            this is not the store it should be
    |  |  `- OtherFormat           its log is of a format that this release does not write
    |  `- EmbeddedRedisError       the private Redis did not start or died
    |- TooManyRequests             this caller has as much in hand as it may have (exit 1, HTTP 429)
    |- ServerBusy                  the service has as much in hand as it can carry (exit 1, HTTP 503)
    |- OwnerTooLarge              an owner has more memories than this process loads (exit 1, HTTP 507)
    |- DeadlineExceeded            a question took longer than it may, and was stopped (exit 1, HTTP 504)
    |- EmbedderFailed              the embedder does not answer, or refuses a text (exit 1, HTTP 503)
    |- IdentityUnavailable         the identity provider does not tell its keys (exit 1, HTTP 503)
    |- DamagedLexicon              a word list of this installation is missing or changed (exit 1, HTTP 500)
    |- OutputCut                   what is written out ends before its end: a full disk, a file that breaks (exit 1)
    |- ModelFailed                 the language model does not answer, or gives what cannot be used (exit 1, HTTP 503)
    `- FoldError                   what stops a partition's fold
       |- UndecodableEvent         stored bytes of an event that this version cannot read
       |- DamagedState             stored records that cannot be read; the log is the truth
       |- LostLease                another worker holds the partition now
       |- LogGap                   entries of the log are missing, or no append wrote them
       `- LogRolledBack            the log is shorter or other than what was folded

Each says what happened, to which owner, memory or position, and what to do about it.

`untold` removes the words that an error may quote: nothing that a person said in a sealed store reaches a log, a terminal or a
queue through an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from traceback import format_tb
from types import TracebackType
from typing import Any

from engramlog_server.events.text import without_secrets

MOST_RULE = 200
"""Characters of what is allowed that are told again with each event of a request."""


class EngramlogError(Exception):
    """Something that Engramlog refuses or cannot do, with what to do about it."""

    status = 500
    """HTTP status of the problem+json answer."""
    exit_code = 1
    """Exit code of a command that ends with it: 1 failed, 2 bad input."""
    told: dict[str, Any] | None = None
    """How whoever refused it told it, where that was another process: nothing in it repeats a secret."""
    option: str | None = None
    """The command line's name of the field that is refused, where it was told there."""

    def __init__(self, message: str, **context: Any) -> None:
        message = without_secrets(message)
        super().__init__(message)
        self.message = message
        self.context = _cleaned(context) if without_secrets(told := str(context)) != told else context

    def as_dict(self) -> dict[str, Any]:
        """The error as JSON-ready fields: `error` (its kind), `message`, and its context."""
        return {"error": type(self).__name__, "message": self.message, **self.context}


def _cleaned(value: Any) -> Any:
    """The same with no secrets in any URL: an error is shown on every face, and in logs."""
    if isinstance(value, str):
        return without_secrets(value)
    if isinstance(value, dict):
        return {name: _cleaned(item) for name, item in value.items()}
    return [_cleaned(item) for item in value] if isinstance(value, list | tuple) else value


class InputError(EngramlogError):
    """The caller sent something that cannot be right."""

    status = 422
    exit_code = 2


def refused(field: str, got: object, allowed: str) -> InputError:
    """An InputError in the words of validation. `got`: None for a value that is missing."""
    shown = "nothing" if got is None else repr(got)
    return InputError(
        f"{field}: got {shown}; allowed: {allowed}",
        field=field,
        got="nothing" if got is None else str(got),
        allowed=allowed,
    )


class InvalidEvent(InputError):
    """An event does not fit its model: `field`, `got`, `allowed`, and `index` or `line` where known."""

    ahead = 0
    """Of one that is dated later than the store's clock allows: by how many microseconds it is after that clock."""

    def __init__(self, field: str, got: str, allowed: str, **context: Any) -> None:
        where = "".join(f"{name} {context[name]}: " for name in ("line", "index") if context.get(name) is not None)
        super().__init__(
            f"{where}{field}: got {got}; allowed: {allowed}", field=field, got=got, allowed=allowed, **context
        )
        self.field, self.got, self.allowed = field, got, allowed

    def of_verb(self) -> InvalidEvent:
        """The same as who called a verb knows it: a field of the event's data is the verb's argument."""
        return self.of(self.field.removeprefix("data."))

    def of(self, field: str) -> InvalidEvent:
        """The same of a field that its caller calls so."""
        context = {name: value for name, value in self.context.items() if name not in ("field", "got", "allowed")}
        told = InvalidEvent(field, self.got, self.allowed, **context)
        told.ahead = self.ahead
        return told


class InvalidBatch(InputError):
    """Some events of a request do not fit their models; nothing of the request was written."""

    def __init__(self, problems: list[InvalidEvent]) -> None:
        self.problems = problems
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(
            f"{problems[0].message}{more}; nothing of the request was written",
            problems=_each_rule_once(problems),
        )


def _each_rule_once(problems: list[InvalidEvent]) -> list[dict[str, Any]]:
    """What is told of each; a long list of what is allowed stands with the first that it is told of."""
    first: dict[tuple[str, str], int] = {}
    told = list[dict[str, Any]]()
    for number, one in enumerate(problems):
        before = first.setdefault((one.field, one.allowed), number)
        if before == number or len(one.allowed) <= MOST_RULE:
            told.append(one.context | {"message": one.message})
        else:
            same = f"the same as of index {problems[before].context.get('index', before)}"
            short = one.message.removesuffix(one.allowed) + same
            told.append(one.context | {"allowed": same, "message": short})
    return told


class RequestTooLarge(InputError):
    """A request holds more than 1,000 events; split it."""

    status = 413


class AccessDenied(InputError):
    """The key or token that is shown may not do this; what it may, `GET /v1/me` tells."""

    status = 403


class NotConfirmed(EngramlogError):
    """A command that asks before it acts had nobody to ask; `plan` is what it would do. Nothing was done."""

    exit_code = 2

    def __init__(self, plan: Mapping[str, Any] | None = None) -> None:
        super().__init__(
            "nothing was done: the command asks first, and nobody can answer here; read what it would do, then add --yes",
            **({} if plan is None else {"plan": dict(plan)}),
        )


class NotFound(InputError):
    """There is no such owner, memory or event in this store."""

    status = 404


class KeyTaken(InputError):
    """A key stands for another call of the same owner: `position` is where what was said under it begins."""

    status = 409


class EventIdTaken(InputError):
    """Another event has this id: `position` tells where it is, where that is known. An id names one event for ever."""

    status = 409

    def __init__(self, event_id: str, position: str | None, **context: Any) -> None:
        where = f"at {position}" if position else "in this request"
        super().__init__(
            f"event {event_id}: the id names an event of other content {where}; give this one an id of its own",
            event_id=event_id,
            **context,
        )


class BadSetting(InputError):
    """A setting cannot be used: its name, what was got, what is allowed."""


class ConcurrencyError(EngramlogError):
    """The owner's head is not the expected one: read it again, decide again, append again."""

    status = 409


class ReadError(EngramlogError):
    """The question cannot be answered at that position."""

    status = 409


class NotYetFolded(ReadError):
    """The position is in the log but was not folded within the time allowed; the context tells the lag."""

    status = 504


class BeyondHead(ReadError):
    """The position lies beyond the head of its partition: nothing like it was ever appended."""

    exit_code = 2


class OwnerQuarantined(ReadError):
    """The position is parked behind an event of the owner that cannot be folded; see `engramlog dead`."""


class StoreError(EngramlogError):
    """The store cannot do this now."""

    status = 503


class StoreFull(StoreError):
    """Redis is too close to its maxmemory to append; free memory or raise the limit, then send the same batch again."""

    status = 507


class StoreUnavailable(StoreError):
    """Redis does not answer, refuses connections or is read-only; the same request can be sent again safely.

    `not_done`: what was asked was surely not carried out, and may be later: a node that nobody reaches, a slot that is moved.
    """

    def __init__(self, message: str, *, not_done: bool = False, **context: Any) -> None:
        super().__init__(message, **context)
        self.not_done = not_done


class UnderReplicated(StoreUnavailable):
    """Events are written, and fewer replicas are known to have them than the operator asks for: they are not proved.

    `code`: `under_replicated`, by which every face tells it. `receipts`: what is known of each event. The same request sent again
    proves them, or raises this again.
    """

    def __init__(self, message: str, receipts: list[dict[str, Any]]) -> None:
        super().__init__(message, code="under_replicated", receipts=receipts, retry_after=1)


class KeyUnavailable(StoreError):
    """An owner's key cannot be had now, so neither its words nor what is derived from them; nothing was written, nothing is lost.

    `passes`: whether it may be had later as things stand. Where it does not, the master key that is set is not the one, or who
    keeps it does not let us in. `retry_after`: when to come again, in whole seconds.
    """

    def __init__(self, message: str, *, passes: bool = True, retry_after: int | None = 10, **context: Any) -> None:
        super().__init__(message, **context, **({} if retry_after is None else {"retry_after": retry_after}))
        self.passes = passes


class OwnerErased(KeyUnavailable):
    """An owner's key was destroyed for good: nothing of it can be opened again, by anybody, and nothing is said under its name."""

    status = 410

    def __init__(self, message: str, **context: Any) -> None:
        super().__init__(message, passes=False, retry_after=None, **context)


class ClockBehind(StoreError):
    """The store's clock is more than five minutes behind this machine's, so that events of now cannot be told from wrong ones;
    nothing was written, and the same request can be sent again once the clock is set."""


class ReceiptLost(StoreError):
    """What this process had a receipt for is not in the log any more; nothing is appended there until an operator has looked."""

    status = 500


class StoreMismatch(StoreError):
    """The store is not the one that the settings or the folder say it is."""


class OtherFormat(StoreMismatch):
    """The store's log is of a format that this release does not write: an older one, which it brings over, or a newer one."""


class EmbeddedRedisError(StoreError):
    """The private Redis of a data folder did not start, or died."""


class TooManyRequests(EngramlogError):
    """One caller, owner or class of work has as much in hand as it may have; nothing was done: come again.

    `retry_after` is in whole seconds, `limit` what is allowed.
    """

    status = 429

    def __init__(self, message: str, *, retry_after: int, **context: Any) -> None:
        super().__init__(message, retry_after=retry_after, **context)


class ServerBusy(EngramlogError):
    """The service as a whole has as much in hand as it can carry; nothing was done: come again. Context as above."""

    status = 503

    def __init__(self, message: str, *, retry_after: int, **context: Any) -> None:
        super().__init__(message, retry_after=retry_after, **context)


class DeadlineExceeded(EngramlogError):
    """A question took longer than it may and was stopped; nothing was written. Asked again it would take as long.

    `done` of `total` steps were taken in `seconds`.
    """

    status = 504


class OwnerTooLarge(EngramlogError):
    """An owner's memories would take more of this process's memory than `ENGRAMLOG_VIEW_BYTES` allows; none was loaded.

    `memories`, and about how many bytes they would take (`view_bytes`) of how many (`allowed_bytes`).
    """

    status = 507

    def __init__(self, owner: str, memories: int, view_bytes: int, allowed: int) -> None:
        super().__init__(
            f"owner {owner} has {memories:,} memories, which would take about {view_bytes / 1e6:,.0f} MB here; allowed are"
            f" {allowed / 1e6:,.0f} MB: raise ENGRAMLOG_VIEW_BYTES if the machine has room."
            " The log has every event; a memory's history, events and appends work as before",
            owner=owner,
            memories=memories,
            view_bytes=view_bytes,
            allowed_bytes=allowed,
            setting="ENGRAMLOG_VIEW_BYTES",
        )


class EmbedderFailed(EngramlogError):
    """The embedder does not answer, refuses a text, or gives what are no vectors. No store is harmed; words still find."""

    status = 503


class IdentityUnavailable(EngramlogError):
    """The identity provider does not tell its keys: nobody is recognised by its tokens. Keys of the store open as ever."""

    status = 503


class DamagedLexicon(EngramlogError):
    """A word list that came with this release is missing or not as it was written."""

    def __init__(self, name: str, line: int, got: str, allowed: str) -> None:
        at = f", line {line}" if line else ""
        super().__init__(
            f"the word list {name}.tsv{at} cannot be read: got {got}, allowed is {allowed}; install engramlog again",
            list=name,
            line=line,
        )


class ModelFailed(EngramlogError):
    """A language model gave no answer that can be used; nothing follows from it.

    `down` tells whether the endpoint failed (unreachable, too slow, no quota, a wrong key or model), so that asking about
    something else would fare no better; otherwise it answered, and this one answer was refused, cut off or malformed.
    `usage` is what asking took until then: requests, input tokens, output tokens.
    """

    status = 503

    def __init__(self, message: str, *, down: bool, usage: tuple[int, int, int] = (0, 0, 0), **context: Any) -> None:
        super().__init__(message, down=down, **context)
        self.down = down
        self.usage = usage


class OutputCut(EngramlogError):
    """What is written out ends before its end; nothing of it may be taken for whole."""

    status = 507


class FoldError(EngramlogError):
    """The fold of a partition cannot go on."""


class UndecodableEvent(FoldError):
    """Stored bytes cannot be read as an event by this version: unknown type, unknown version or damaged bytes."""


class DamagedState(FoldError):
    """A stored record or owner state cannot be read; the log is the truth: `engramlog verify`, then `engramlog rebuild`."""

    status = 500


class LostLease(FoldError):
    """Another worker holds the partition now; drop everything unanswered and lease anew."""


class LogGap(FoldError):
    """Entries of a partition's log are missing, or there is one that no append wrote: it takes and folds nothing."""

    status = 503


class LogRolledBack(FoldError):
    """The log is shorter or other than what was folded; nothing is written until an operator has looked."""


OF_THE_STORE = (409, 500, 504, 507)
"""Status of errors whose words are our own, about the store, and hold nothing that anybody said."""
ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]


def words_of(error: BaseException) -> str:
    """What an error says where its words are our own about the store; else nothing."""
    ours = isinstance(error, EngramlogError) and (isinstance(error, StoreError) or error.status in OF_THE_STORE)
    return str(error) if ours else ""


def told_by(error: BaseException) -> str:
    """Its kind, with its words where they are our own: one line."""
    words = words_of(error)
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def trace_of(error: BaseException) -> str:
    """The traceback as Python prints it, with those that led to it, but without words that are not ours."""
    told, one, seen = list[str](), error, set[int]()
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        kind, words = type(one), words_of(one)
        name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        frames = "".join(format_tb(one.__traceback__))
        head = f"Traceback (most recent call last):\n{frames}" if frames else ""
        told.append(f"{head}{name}{f': {words}' if words else ''}\n")
        before = one.__cause__ if one.__cause__ or one.__suppress_context__ else one.__context__
        if before is None:
            break
        one = before
    return "\nwhich led to:\n\n".join(reversed(told))


def untold(error: BaseException) -> ExcInfo:
    """The same for what formats errors by itself: another of the same name, at the same place, that says no more."""
    kind = type(error)
    named = type(kind.__name__, (Exception,), {"__module__": kind.__module__, "__qualname__": kind.__qualname__})
    words = words_of(error)
    bare = named(words) if words else named()
    bare.__suppress_context__ = True
    return named, bare, error.__traceback__
