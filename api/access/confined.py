"""The application as one caller may use it: every call of a service is looked up, checked, and made in the caller's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, wraps
from inspect import Parameter, Signature, signature
from operator import attrgetter
from typing import Any, Protocol

from api.access.needs import NEEDS, Need
from api.requests.speaking import asked_by
from events.catalogue.access import Looked
from events.errors import AccessDenied
from projections.access.caller import Caller

_PAST = ("as_of", "known")
"""Names by which a question is about the past."""


class Recorder(Protocol):
    """Told who looked at what, before it is shown."""

    def __call__(self, caller: Caller, what: Looked, call: str, owner: str | None) -> None: ...


class Confined:
    """An application, for one caller. It has the services that stand in `NEEDS`, and nothing else."""

    def __init__(self, application: Any, caller: Caller, record: Recorder) -> None:
        self._application = application
        self._caller = caller
        self._record = record

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
                f"access: {self._caller.name} may not do this; it is for whoever has the store's folder",
                principal=self._caller.name,
            )
        found: Callable[..., Any] = getattr(getattr(self._application, self._name), method)

        @wraps(found)
        def checked(*args: Any, **given: Any) -> Any:
            told = _told(found, args, given)
            owner = checked_call(self._caller, call, need, told, self._record)
            if call == "owners.owners":
                given = {**given, "among": self._caller}
            with asked_by(self._caller):
                if (what := looked_at(self._caller, need, told, owner)) is not None:
                    self._record(self._caller, what, call, owner)
                try:
                    return found(*args, **given)
                except AccessDenied as error:
                    self._record(self._caller, "denied", call, error.context.get("owner"))
                    raise

        return checked


def checked_call(caller: Caller, call: str, need: Need, told: Mapping[str, Any], record: Recorder) -> str | None:
    """The owner that a call is about; None of the store. Raises AccessDenied, which is recorded."""
    owner = _owner(need, told) if need.about == "owner" else None
    whose = told.get("owner") if need.about == "anybody" else owner
    try:
        if need.about == "anybody" and whose is None:
            for verb in need.also(told):
                caller.check(verb, None)
        elif need.about != "events":
            mode = need.mode or told.get("mode")
            if not any(caller.may(verb, whose, mode=mode) for verb in need.instead):
                for actor in _actors(told) if need.speaks else (None,):
                    caller.check(need.verb, whose, mode=mode, actor=actor)
            for verb in need.also(told):
                caller.check(verb, whose)
            if told.get("reveal"):
                caller.check("reveal", whose)
    except AccessDenied:
        record(caller, "denied", call, whose)
        raise
    return whose


def looked_at(caller: Caller, need: Need, told: Mapping[str, Any], owner: str | None) -> Looked | None:
    """As what it is recorded that somebody looks, if at all. A secret that is revealed has an event of its own besides."""
    if need.verb == "reveal" or told.get("reveal") or getattr(told.get("options"), "reveal", False):
        return "reveal"
    if need.recorded is not None:
        return need.recorded
    if told.get("mode") == "debug":
        return "debug"
    if owner is not None and any(told.get(name) is not None for name in _PAST) and not caller.names(owner):
        return "past"
    return None


def _owner(need: Need, told: Mapping[str, Any]) -> str:
    name, _, attribute = need.owner.partition(".")
    found = told[name]
    return str(attrgetter(attribute)(found) if attribute else found)


def _actors(told: Mapping[str, Any]) -> tuple[str, ...]:
    """As whom something is said: as the actor that is told, or who said the turns; without either as the user."""
    if turns := told.get("turns"):
        return tuple(sorted({"user" if one.role == "user" else "assistant" for one in turns}))
    return (str(told.get("actor") or getattr(told.get("by"), "actor", None) or "user"),)


@cache
def _signature(function: Callable[..., Any]) -> Signature:
    return signature(function)


def _told(method: Callable[..., Any], args: tuple[Any, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """What a call is told, by name, with the defaults of what it is not."""
    taken = _signature(getattr(method, "__func__", method))
    bound = taken.bind(None, *args, **given) if hasattr(method, "__func__") else taken.bind(*args, **given)
    bound.apply_defaults()
    told = dict(bound.arguments)
    for one in taken.parameters.values():
        if one.kind is Parameter.VAR_KEYWORD:
            told |= told.pop(one.name)
    return told


_SERVICES = frozenset(call.partition(".")[0] for call in NEEDS)
