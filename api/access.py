"""What callers may do: all operations with their needs, the application as one caller may use it, and revealing secrets.

Every face goes through here. Each call of a service is checked, and made in the caller's name. No other answer holds the text
of a secret: before it is shown, the log has who asked for which memories, through which face and why, never a word of them.
Whoever reads the log, a backup of it or Redis itself leaves no such trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache, wraps
from inspect import Parameter, Signature, signature
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Unpack

from engramlog_server.api.checks import LineTerms, TimesAsked, asked_by
from engramlog_server.api.operations import access, events, inbox, knowledge, reading, records, reports, store, writing
from engramlog_server.api.operations.definition import Operation
from engramlog_server.api.operations.needs import BESIDES, Need, Told
from engramlog_server.events.catalogue import Looked, MemoriesRevealed
from engramlog_server.events.errors import AccessDenied, NotYetFolded
from engramlog_server.events.log import positions_by_partition
from engramlog_server.events.vocabulary import MAX_SOURCES, Face, Revealing
from engramlog_server.projections.access.caller import Caller, ToldUpTo, telling_of
from engramlog_server.projections.memory.record import SECRET

if TYPE_CHECKING:
    from engramlog_server.api.exchange.export import ExportOptions
    from engramlog_server.api.exchange.records import Export, Records
    from engramlog_server.api.services.accesses import AccessRecorder
    from engramlog_server.api.services.reading import Reader
    from engramlog_server.api.services.writing import Writer
    from engramlog_server.projections.shapes import Detail

MODULES = (reading, writing, knowledge, inbox, reports, events, store, access, records)
"""Those that define operations."""
_ROUTED = tuple(
    dict.fromkeys(
        one for module in MODULES for one in vars(module).values() if isinstance(one, Operation) and one.is_routed
    )
)
ALL: tuple[Operation, ...] = tuple(one for one in _ROUTED if one.answer and one not in vars(records).values())
"""Those that are asked and answered in JSON."""
MADE_WHOLE: tuple[Operation, ...] = tuple(one for one in ALL if not one.apart)
"""Those that one call of a service answers."""
OF_FILES: tuple[Operation, ...] = tuple(one for one in _ROUTED if one not in ALL)
"""Those that stream lines, or answer pictures; the client has its own verbs of them."""
NEEDS: Mapping[str, Need] = {**{one.call: one.needs for one in _ROUTED if one.needs is not None}, **BESIDES}
"""The right that a caller with a key needs for each call of a service. Other calls are refused to keys."""
_SERVICES = frozenset(call.partition(".")[0] for call in NEEDS)
_PAST = ("as_of", "known")
"""Names by which a question is about the past."""


class Recorder(Protocol):
    """Told who looked at what, before it is shown."""

    def __call__(self, caller: Caller, what: Looked, call: str, owner: str | None) -> None: ...


class Confined:
    """An application, for one caller. It has the calls in `NEEDS`, and nothing else."""

    def __init__(self, application: Any, caller: Caller, record: Recorder) -> None:
        self._application = application
        self._caller = caller
        self._record = record

    def named(self, owner: str, name: str) -> str:
        """The id of the memory that a name means, if the caller may read it. Raises InputError for a handle that several have."""
        if not self._caller.may("read", owner):
            return name
        with asked_by(self._caller, telling_to(self._caller, NEEDS["reader.get"], {"owner": owner}, owner)):
            found: str = self._application.named(owner, name)
        return found

    def allow(self, call: str, given: Mapping[str, Any], owners: Sequence[str]) -> None:
        """Check a call for each owner. Raises AccessDenied for the first that the caller may not ask about."""
        for owner in (given["owner"], *owners):
            checked_call(self._caller, call, NEEDS[call], {**given, "owner": owner}, self._record)

    def __getattr__(self, name: str) -> _Service:
        if name not in _SERVICES:
            raise AttributeError(f"{name}: nothing that a caller with a key reaches")
        return _Service(self._application, name, self._caller, self._record)


class _Service:
    """One service, for one caller."""

    def __init__(self, application: Any, name: str, caller: Caller, record: Recorder) -> None:
        self._application = application
        self._name = name
        self._caller = caller
        self._record = record

    def __getattr__(self, method: str) -> Callable[..., Any]:
        call = f"{self._name}.{method}"
        need = NEEDS.get(call)
        if need is None:
            raise AccessDenied(
                f"access: {self._caller.name} may not do this; it needs access to the store's folder",
                principal=self._caller.name,
            )
        found: Callable[..., Any] = getattr(getattr(self._application, self._name), method)

        @wraps(found)
        def checked(*args: Any, **given: Any) -> Any:
            told = _told(found, args, given)
            owner = checked_call(self._caller, call, need, told, self._record)
            if call == "owners.owners":
                given = {**given, "among": self._caller}
            telling = telling_to(self._caller, need, told, owner)
            with asked_by(self._caller, telling):
                if (what := looked_at(self._caller, need, told, owner)) is not None:
                    self._record(self._caller, what, call, owner)
                try:
                    answer = found(*args, **given)
                except AccessDenied as error:
                    self._record(self._caller, "denied", call, error.context.get("owner"))
                    raise
            return _held(answer, self._caller, telling) if isinstance(answer, AbstractContextManager) else answer

        return checked


@contextmanager
def _held(answer: AbstractContextManager[Any], caller: Caller, telling: ToldUpTo | None) -> Iterator[Any]:
    """What is held open is entered in the caller's name too."""
    with asked_by(caller, telling), answer as found:
        yield found


def checked_call(caller: Caller, call: str, need: Need, told: Mapping[str, Any], record: Recorder) -> str | None:
    """The owner that a call is about; None of the store. Raises AccessDenied, which is recorded."""
    owner = _owner(need, told) if need.about == "owner" else None
    whose = told.get("owner") if need.about == "anybody" else owner
    try:
        if need.about == "anybody" and whose is None:
            for verb in need.also(told):
                caller.check(verb, None)
        elif need.about != "events":
            mode = _mode(need, told)
            if not any(caller.may(verb, whose, mode=mode) for verb in need.instead):
                for actor in need.speaks(told) or (None,):
                    caller.check(need.verb, whose, mode=mode, actor=actor)
            for verb in need.also(told):
                caller.check(verb, whose, sensitivity=SECRET if verb == "reveal" else 0)
            if need.verb == "reveal" or told.get("reveal"):
                caller.check("reveal", whose, sensitivity=SECRET)
            if need.least and whose is not None and not need.narrows(told):
                caller.check("read", whose, mode=mode, sensitivity=need.least)
    except AccessDenied:
        record(caller, "denied", call, whose)
        raise
    return whose


def telling_to(caller: Caller, need: Need, told: Mapping[str, Any], owner: str | None) -> ToldUpTo | None:
    """Limits of what the answer of a call shows a caller of its owner; None: no limit."""
    if need.told is None or owner is None:
        return None
    return telling_of(caller, need.told, owner, _mode(need, told))


def looked_at(caller: Caller, need: Need, told: Mapping[str, Any], owner: str | None) -> Looked | None:
    """As what it is recorded that somebody looks, if at all. A secret that is revealed has an event of its own besides."""
    if need.verb == "reveal" or told.get("reveal") or getattr(told.get("options"), "reveal", False):
        return "reveal"
    if need.recorded is not None:
        return need.recorded
    if told.get("mode") == "debug":
        return "debug"
    of_past = need.of_past or any(told.get(name) is not None for name in _PAST)
    if owner is not None and of_past and not caller.names(owner):
        return "past"
    return None


def _mode(need: Need, told: Mapping[str, Any]) -> str | None:
    """The mode that a call reads by, if it names one."""
    return need.mode or need.by(told) or (told.get("mode") if need.is_by_mode(told) else None)


def _owner(need: Need, told: Mapping[str, Any]) -> str:
    name, _, attribute = need.owner.partition(".")
    found = told[name]
    return str(attrgetter(attribute)(found) if attribute else found)


@cache
def _signature(function: Callable[..., Any]) -> Signature:
    return signature(function)


def _told(method: Callable[..., Any], args: tuple[Any, ...], given: Mapping[str, Any]) -> Told:
    """The arguments of a call by name, with defaults."""
    taken = _signature(getattr(method, "__func__", method))
    bound = taken.bind(None, *args, **given) if hasattr(method, "__func__") else taken.bind(*args, **given)
    bound.apply_defaults()
    told: dict[str, object] = dict(bound.arguments)
    for one in taken.parameters.values():
        if one.kind is Parameter.VAR_KEYWORD:
            told |= bound.arguments[one.name]
            del told[one.name]
    return told


class By(NamedTuple):
    """Who asks to see secrets, through which face, and why."""

    face: Face
    actor: str = "user"
    reason: str = ""


class Revealer:
    """Shows secrets of one store's owners, and records that first. Safe for threads."""

    def __init__(self, reader: Reader, records: Records, writer: Writer, accesses: AccessRecorder) -> None:
        self._accesses = accesses
        self._reader = reader
        self._records = records
        self._writer = writer

    def get(
        self,
        owner: str,
        memory_id: str,
        by: By,
        *,
        trace: bool = True,
        **times: Unpack[TimesAsked],
    ) -> Detail:
        """Everything about one memory with its text, and the position (`revealed`) at which that is recorded.

        `trace`: record also that it was shown (`MemoriesAccessed` via `reveal`), which no law hears of.

        Recorded is also what replaced it, where that is a secret: a correction tells its text. Raises as `Reader.get` does,
        InvalidEvent for an actor or a reason that cannot be, and StoreError where nothing could be recorded.
        """
        answer, read = self._reader.looked_at(owner, memory_id, reveal=True, **times)
        successors = (one["replaced_by"] for one in answer["correction_history"] if one["new_preference"] is not None)
        with self._reader.snapshot(owner) as snapshot:
            found = [snapshot.view.get(one) for one in successors if one is not None]
        secret = [one.id for one in found if one is not None and one.sensitivity >= SECRET]
        position = self._record(owner, list(dict.fromkeys([memory_id, *secret])), "get", by)
        if trace:
            self._accesses.record(owner, [memory_id], via="reveal", query=None, read=read)
        return {**answer, "revealed": position}

    def export(
        self,
        owner: str,
        options: ExportOptions,
        by: By,
        format: str = "jsonl",  # noqa: A002 - its name on every face
        **times: Unpack[LineTerms],
    ) -> tuple[Export, str | None]:
        """An owner's memories, secrets too where `options.reveal` asks for them, and the position at which that is recorded.

        None where no secret is among them. Raises as `Records.export` and `get` do.
        """
        found = self._records.export(owner, options, format, **times)
        secret = found.chosen.secret
        return found, self._record(owner, secret, "export", by) if secret else None

    def _record(self, owner: str, memory_ids: Sequence[str], what: Revealing, by: By) -> str:
        """Append what is about to be shown; its position. Where the fold is late it stands in the log all the same."""
        now = self._writer.when(None)
        prepared = []
        for start in range(0, len(memory_ids), MAX_SOURCES):
            part = tuple(memory_ids[start : start + MAX_SOURCES])
            data = MemoriesRevealed(memory_ids=part, by=what, face=by.face, reason=by.reason)
            prepared += self._writer.ready([self._writer.event(data, owner, now, by.actor)])
        positions = []
        for start in range(0, len(prepared), MAX_SOURCES):
            receipts = self._writer.append_all(prepared[start : start + MAX_SOURCES])
            positions += [receipt.position for receipt in receipts if receipt.position]
        with suppress(NotYetFolded):  # the reveal is in the log, whether or not it is folded yet
            self._writer.settle_positions(positions_by_partition(positions))
        return positions[-1]
