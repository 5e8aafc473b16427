"""Reports and services build plain dicts; mypy checks them against `projections/shapes.pyi`.

`make client` makes that of `engramlog.answers`.

Nobody imports a stub, so no command pays for it, and nothing below `api` depends on the client.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import MISSING, Field, fields
from datetime import datetime
from keyword import iskeyword
from typing import Any, get_type_hints

from engramlog import answers
from engramlog.answers import Added, Place, Result
from engramlog_server.api.http.answer_schemas import OF_THE_CLIENT
from tests.made.client_source import formatted, type_source
from tests.places import ROOT

FILE = ROOT / "projections" / "shapes.pyi"
HEAD = """# Made by `make client` of `engramlog.answers`: change that, and make it again.

from typing import Any, Literal, NotRequired, TypedDict

"""
UNPLACED = "Unplaced"
"""Begins the name of an answer without its place and times, which the service adds to what a report returns."""
Kind = type[Result]


def shapes() -> str:
    """The source: a TypedDict for every answer, its bases first."""
    made: dict[Kind, str] = {}
    for kind in sorted(_below(Result) - {Added}, key=lambda one: (one.__module__, one.__name__)):
        if kind.__module__.startswith(answers.__name__):
            _add(kind, made)
    return formatted(HEAD + "\n".join(made.values()), FILE)


def _below(kind: Kind) -> set[Kind]:
    return {found for one in kind.__subclasses__() for found in (one, *_below(one))}


def _add(kind: Kind, made: dict[Kind, str]) -> None:
    if kind in made:
        return
    if any(kind.__name__ == other.__name__ for other in made):
        raise ValueError(f"two answers are called {kind.__name__}")
    bases = [base for base in kind.__bases__ if base is not Result]
    for base in bases:
        _add(base, made)
    if Place in bases:
        others = [base for base in bases if base is not Place]
        made[kind] = (
            _class(kind, others, UNPLACED, set(_keys(Place)))
            + f"\nclass {kind.__name__}({UNPLACED}{kind.__name__}, Place): ...\n"
        )
    else:
        made[kind] = _class(kind, bases)


def _class(kind: Kind, bases: list[Kind], before: str = "", without: Collection[str] = ()) -> str:
    """A class, or a call if a key is a keyword of Python. `before`: what its name begins with; `without`: keys to leave out."""
    keys = {name: of for name, of in _keys(kind).items() if name not in without}
    if any(map(iskeyword, keys)):
        lines = ", ".join(f'"{name}": {of}' for name, of in keys.items())
        return f'{kind.__name__} = TypedDict("{kind.__name__}", {{{lines}}})\n'
    inherited = {name: of for base in bases for name, of in _keys(base).items()}
    if any(inherited[name] != keys[name] for name in inherited):  # a key cannot be declared again
        bases, inherited = [], {}
    own = [f"    {name}: {of}" for name, of in keys.items() if name not in inherited]
    above = ", ".join(base.__name__ for base in bases) or "TypedDict"
    return f"class {before}{kind.__name__}({above}):\n" + "\n".join(own or ["    ..."]) + "\n"


def _keys(kind: Kind) -> dict[str, str]:
    hints = get_type_hints(kind)
    listed = [one for one in fields(kind) if one.name not in OF_THE_CLIENT]  # type: ignore[arg-type]
    return {one.name.rstrip("_"): _type(one, hints[one.name]) for one in listed}


def _type(one: Field[Any], hint: Any) -> str:
    """A field with a default may be left out."""
    kind = type_source(hint).replace(datetime.__name__, "str")
    required = one.default is MISSING and one.default_factory is MISSING
    return kind if required else f"NotRequired[{kind}]"


def main() -> None:
    """Write them."""
    FILE.write_text(shapes(), "utf-8")


if __name__ == "__main__":
    main()
