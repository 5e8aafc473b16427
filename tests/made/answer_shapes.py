"""What services answer, as types: `make client` writes `projections/shapes.pyi` of the models of `api.operations.answers`.

A service builds plain dicts, so that no answer is validated on its way out; mypy holds them to these TypedDicts instead. Nobody
imports a stub, so no command pays for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from keyword import iskeyword
from pkgutil import walk_packages

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from api.operations import answers
from api.operations.answers.log import Lagging, LinesTold, Placed, TimesTold, Warned
from api.operations.answers.memories import Place
from tests.made.client_source import formatted, type_source
from tests.places import ROOT

FILE = ROOT / "projections" / "shapes.pyi"
PLACES = (Warned, Lagging, Placed, LinesTold, TimesTold, Place)
"""Told beside an answer of when it is: each of these answers has a shape without them too, `...Alone`."""
HEAD = """# Made by `make client` of the models in `api.operations.answers`: change those, and make it again.

from typing import Any, Literal, NotRequired, TypedDict

"""


def shapes() -> str:
    """The source: a TypedDict for every model, what it inherits from before it."""
    made: dict[type[BaseModel], str] = {}
    for model in _models():
        _add(model, made)
    return formatted(HEAD + "\n".join(made.values()), FILE.name)


def _models() -> Iterator[type[BaseModel]]:
    """Every model that a file of answers defines, in the order of files and lines; those in folders of it too."""
    for file in sorted(one.name for one in walk_packages(answers.__path__, f"{answers.__name__}.")):
        module = import_module(file)
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, BaseModel) and value.__module__ == module.__name__:
                yield value


def _add(model: type[BaseModel], made: dict[type[BaseModel], str]) -> None:
    if model in made:
        return
    if any(model.__name__ == other.__name__ for other in made):
        raise ValueError(f"two answers are called {model.__name__}: their shapes have one name")
    bases = [base for base in model.__bases__ if base is not BaseModel]
    for base in bases:
        _add(base, made)
    made[model] = _class(model, bases)


def _class(model: type[BaseModel], bases: list[type[BaseModel]]) -> str:
    """A class, or a call where a key is no name of Python."""
    keys = _keys(model)
    if any(map(iskeyword, keys)):
        lines = ", ".join(f'"{name}": {kind}' for name, kind in keys.items())
        return f'{model.__name__} = TypedDict("{model.__name__}", {{{lines}}})\n'
    inherited = {name: kind for base in bases for name, kind in _keys(base).items()}
    if any(inherited[name] != keys[name] for name in inherited):  # a key cannot be declared anew
        bases, inherited = [], {}
    own = [f"    {name}: {kind}" for name, kind in keys.items() if name not in inherited]
    above = [base.__name__ for base in bases if base not in PLACES]
    places = [base.__name__ for base in bases if base in PLACES]
    if not places or not own:
        return _lines(model.__name__, above + places, own)
    return _lines(f"{model.__name__}Alone", above, own) + _lines(
        model.__name__, [f"{model.__name__}Alone", *places], []
    )


def _lines(name: str, above: list[str], own: list[str]) -> str:
    return f"class {name}({', '.join(above) or 'TypedDict'}):\n" + "\n".join(own or ["    ..."]) + "\n"


def _keys(model: type[BaseModel]) -> dict[str, str]:
    return {field.alias or name: _type(field) for name, field in model.model_fields.items()}


def _type(field: FieldInfo) -> str:
    """A field with a default may be left out."""
    kind = type_source(field.annotation)
    return kind if field.is_required() else f"NotRequired[{kind}]"


def main() -> None:
    """Write them."""
    FILE.write_text(shapes(), "utf-8")


if __name__ == "__main__":
    main()
