"""Sources of the client that `make client` writes: verbs that ask once, and the list of answers.

The client imports nothing of the application, so its verbs are written out. A test compares both files with what is made here.
Verbs that do more than ask once (pages, conversations, waiting) are written by hand next to them.
"""

from __future__ import annotations

import ast
import builtins
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from textwrap import wrap
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from engramlog_server.api.access import ALL
from engramlog_server.api.operations.access import ISSUE, ME
from engramlog_server.api.operations.definition import REQUIRED, SPEAKER, Operation, Parameter, Record
from engramlog_server.api.operations.knowledge import LAWS, PARAMETERS
from tests.places import ROOT

VERBS: Mapping[str, Operation] = {one.verb: one for one in ALL if one.verb}
"""Of the client, by name."""
MADE = "Made by `make client` of the application's operations: change those, and make it again."
FILE = ROOT / "client" / "engramlog" / "questions.py"
ANSWERS = ROOT / "client" / "engramlog" / "answers" / "__init__.py"
TIMES = frozenset(
    {"as_of", "known", "at", "occurred_at", "expires_at"}
    | {f"{prefix}{end}" for prefix in ("", "recorded_", "updated_") for end in ("since", "until")}
)
"""What may be told as a date-time too."""
ONCE = frozenset({ISSUE})
"""Never sent again: who got no answer would have made two."""
TELLING: Mapping[str, Mapping[str, str]] = {
    **{verb: {} for verb in ("edit", "negate", "mention", "set_sensitivity")},
    "reinforce": {"outcome": "used", "actor": "assistant"},
}
"""Verbs that tell something of one memory, under a key and at a time of the client's; with defaults that are the client's own."""
WHO_SAYS = ("actor", "occurred_at", "session", "key")
PAIRS = frozenset({"metadata"})
"""Sent as `name=value`, told as a mapping."""
WIDTH = 120


def answers() -> str:
    """The source of `engramlog.answers`: every class of its modules. Nothing is imported, so a new class is found too."""
    modules: dict[str, list[str]] = {}
    for file in sorted(ANSWERS.parent.glob("[!_]*.py")):
        statements = ast.parse(file.read_text("utf-8")).body
        names = [one.name for one in statements if isinstance(one, ast.ClassDef) and not one.name.startswith("_")]
        modules[file.stem] = names
    imports = "\n".join(f"from engramlog.answers.{name} import {', '.join(names)}" for name, names in modules.items())
    return f'''"""Every answer of the service, defined once: the client reads them, the service documents them in OpenAPI.

Answers may gain fields, each with a default, and never lose any. The list below is made by `make client` of the modules here.
"""

from __future__ import annotations

{imports}
'''


def questions() -> str:
    """The source of the verbs."""
    answered = sorted({one.answer for one in VERBS.values()})
    functions = "\n\n".join(_verb(name, operation) for name, operation in VERBS.items())
    names = ((name, f'{name}_, "{name}"' if name in dir(builtins) else name) for name in VERBS)
    verbs = "\n".join(f"    {name} = Verb({plan})" for name, plan in names)
    return f'''"""Verbs that ask once. Each is a plan (see `engramlog.wire`). What is not given is as the service has it.

{MADE}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from engramlog.answers import {", ".join(answered)}
from engramlog.wire import spelled
from engramlog.events import done_to, said
from engramlog.reading import memory_path
from engramlog.wire import Verb
from engramlog.wire import Plan, Scope, ask, checked, given, got, of_all, pairs, path_of, posted, quoted


{functions}

class Questions:
    """The verbs that ask once, as methods of a client."""

{verbs}
'''


def _verb(name: str, operation: Operation) -> str:
    needed = [one for one in operation.question if one.default is REQUIRED]
    asks = operation.body is None
    placed = [one for one in operation.question if asks and one.default is None and one.option and one.option.argument]
    """What may be left out, and stands at its place all the same, as on the command line."""
    others = [one for one in operation.question if one.default is not REQUIRED and one not in placed]
    whose = "owner" in operation.subject
    kinds = {"partition": "int"}
    arguments = ["scope: Scope", *(f"{one}: {kinds.get(one, 'str')}" for one in operation.subject if one != "owner")]
    arguments += [f"{one.name}: {_asked(one)}" for one in needed]
    arguments += [f"{one.name}: {_unless_told(one)}" for one in placed]
    named = ["owner: str | None = None"] if whose else []
    own = TELLING.get(name, {})
    named += [
        f'{one.name}: str = "{own.get(one.name, one.default)}"'
        if one.name in own or (name in TELLING and one.kind == SPEAKER)
        else f"{one.name}: {_unless_told(one)}"
        for one in others
    ]
    told = ", ".join([*arguments, *(["*", *named] if named else [])])
    sent = [one for one in (*needed, *placed, *others) if name not in TELLING or one.name not in WHO_SAYS]
    given = ", ".join(f'"{one.name}": {_sent(one)}' for one in sent)
    path = _path(operation)
    if name in TELLING:
        session = "session" if any(one.name == "session" for one in others) else "None"
        return (
            f"def {name}({told}) -> Plan[{operation.answer}]:\n"
            f"    {_quoted(operation.help, _explained([*needed, *placed, *others], own))}\n"
            f"    told = said(scope, owner, actor, occurred_at, {session}, key)\n"
            f'    done = yield from done_to(scope, told, memory_id, "{operation.name}", given({{{given}}}))\n'
            f"    return {operation.answer}.decode(done)\n"
        )
    if operation.body is None:
        request = f"got({path}{', **{' + given + '}' if given else ''})"
    else:
        request = f"posted({path}, given({{{given}}}))"
    return (
        f"def {name + '_' * (name in dir(builtins))}({told}) -> Plan[{operation.answer}]:\n"
        f"    {_quoted(operation.help, _explained([*needed, *placed, *others]))}\n"
        f"    told = yield from ask(scope{'.once()' if operation in ONCE else ''}, {request})\n"
        f"    return {operation.answer}.decode(told)\n"
    )


def _path(operation: Operation) -> str:
    if "memory_id" in operation.subject:
        rest = operation.path.partition("{memory_id}")[2]
        return f'memory_path(scope.whose(owner), memory_id) + "{rest}"'
    if "turn_id" in operation.subject:
        return 'path_of(scope.whose(owner), "answers", quoted(checked("turn_id", turn_id)))'
    if "owner" in operation.subject:
        rest = operation.path.partition("{owner}/")[2]
        return f'path_of(scope.whose(owner), "{rest}")'
    if "partition" in operation.subject:
        return f'of_all(scope, f"{operation.path}")'
    return f'"{operation.path}"' if operation in (LAWS, PARAMETERS, ME) else f'of_all(scope, "{operation.path}")'


def _asked(parameter: Parameter) -> str:
    if parameter.kind == SPEAKER:
        return "str"
    if parameter.name in TIMES:
        return "datetime | str | None"
    if parameter.name in PAIRS:
        return "Mapping[str, str | int | float | bool] | None"
    if _of_records(parameter):
        return "Sequence[Mapping[str, object]]" + (" | None" if None in parameter.kind else "")
    return type_source(parameter.kind, asked=True)


def _unless_told(parameter: Parameter) -> str:
    """Its type and default: a list is empty, a limit as the service has it, anything else is left to the service."""
    kind = _asked(parameter)
    if kind.startswith("Sequence") and not kind.endswith("| None"):
        return f"{kind} = ()"
    if parameter.name == "limit":
        return f"{kind} = {parameter.default}"
    return f"{kind} = None" if kind.endswith("| None") else f"{kind} | None = None"


def _sent(parameter: Parameter) -> str:
    if parameter.name in TIMES:
        return f"spelled({parameter.name})"
    if parameter.name in PAIRS and get_origin(parameter.kind) is list:
        return f"pairs({parameter.name})"
    if parameter.kind == list[str] | None:  # an empty list says that none is left
        return f"None if {parameter.name} is None else list({parameter.name})"
    if _of_records(parameter):  # an empty list says something: that there is none of it
        listed = f"[*{parameter.name}]"
        return f"None if {parameter.name} is None else {listed}" if None in parameter.kind else listed
    # a key of its own, so that a second try after a lost answer changes nothing
    return "scope.edge.new_id() if key is None else key" if parameter.name == "key" else parameter.name


def _of_records(parameter: Parameter) -> bool:
    """Whether it is a list of objects."""
    return isinstance(parameter.kind, list) and any(isinstance(one, Record) for one in parameter.kind)


def _explained(parameters: Iterable[Parameter], own: Mapping[str, str] = MappingProxyType({})) -> Iterator[str]:
    for one in parameters:
        default, usual = "", own.get(one.name, one.default)
        if usual not in (REQUIRED, None, "", False) and not isinstance(usual, list | type):
            default = f" Default: {usual}."
        yield f"`{one.name}`: {_described(one).rstrip('.')}.{default}"


def _described(parameter: Parameter) -> str:
    """In the command's words where HTTP's name a status."""
    if parameter.option and re.search(r"\b[45]\d\d\b", parameter.description):
        return parameter.option.help
    return parameter.description


def _quoted(summary: str, lines: Iterable[str]) -> str:
    told = [wrapped for line in lines for wrapped in wrap(line, WIDTH - 4, break_long_words=False)]
    if not told:
        return f'"""{summary}"""'
    body = "\n    ".join(told)
    return f'"""{summary}\n\n    {body}\n    """'


def type_source(kind: Any, *, asked: bool = False) -> str:
    """A type as it is written; `asked`: of an argument, which takes any sequence or mapping."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any or kind is object:
        return "Any"
    if origin in (Union, UnionType):
        return " | ".join(type_source(one, asked=asked) for one in sorted(parts, key=lambda one: one is NoneType))
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, parts))}]"
    if origin is not None:
        name = {list: "Sequence", dict: "Mapping"}.get(origin, origin.__name__) if asked else origin.__name__
        return f"{name}[{', '.join(type_source(one, asked=asked) for one in parts)}]"
    return "None" if kind is NoneType else str(kind.__name__)


def formatted(source: str, file: Path = FILE) -> str:
    """The source as the project's formatter has it."""
    named = ["--stdin-filename", str(file), "-"]
    for command in (["check", "--fix", "--quiet", "--exit-zero"], ["format", "--quiet"]):
        told = [sys.executable, "-m", "ruff", *command, *named]
        source = subprocess.run(told, input=source, capture_output=True, text=True, check=True).stdout
    return source


def main() -> None:
    """Write them."""
    ANSWERS.write_text(formatted(answers(), ANSWERS), "utf-8")
    FILE.write_text(formatted(questions()), "utf-8")


if __name__ == "__main__":
    main()
