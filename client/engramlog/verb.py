"""A verb of a client: a plan as a method, with its arguments checked and its refusals named as it names them.

What a verb is given: several things come in a list, names in a mapping; and what it refuses is called as the verb calls it."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from engramlog.errors import EngramlogError, refused
from engramlog.wire import Plan, Scope

if TYPE_CHECKING:
    from engramlog.client import AsyncMemory, Memory, Verbs

P = ParamSpec("P")
R = TypeVar("R")

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
    def __get__(self, client: Memory, kind: type) -> Callable[P, R]: ...
    @overload
    def __get__(self, client: AsyncMemory, kind: type) -> Callable[P, Coroutine[Any, Any, R]]: ...
    def __get__(self, client: Memory | AsyncMemory | None, kind: type) -> Any:
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

    def __call__(self, client: Verbs, *args: P.args, **named: P.kwargs) -> Any:
        """The verb of a client: `Memory.search(memory, ...)` is `memory.search(...)`."""
        return getattr(client, self.__name__)(*args, **named)
