"""What a verb is given: several things come in a list, names in a mapping; and what it refuses is called as the verb calls it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from inspect import Parameter
from typing import Any

from engramlog.errors import EngramlogError, refused

CALLED = {"from": "since", "to": "until", "set": "parameters", "q": "query"}
"""What the service calls otherwise than the client's verbs do."""
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
    first, rest = re.fullmatch(r"(?:data\.)?([^ .\[]*)(.*)", field, re.DOTALL).groups()  # type: ignore[union-attr]
    name = first if first in names else CALLED.get(first)
    return f"{name}{rest}" if name in names else field
