"""How an answer is made of JSON, shown, and turned into a dict; and the fields of every answer about its position in time."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import MISSING, dataclass, field, fields
from datetime import datetime
from functools import cache, partial
from inspect import get_annotations
from types import NoneType, UnionType
from typing import Any, Self, Union, dataclass_transform, get_args, get_origin, get_type_hints
from unicodedata import east_asian_width

from engramlog.errors import UnexpectedAnswer

_ESSENTIAL = ("memory", "content", "text", "block", "results", "memories", "id", "score", "weight", "created", "status")
"""Fields that the repr shows first."""
_WIDEST, _WIDEST_VALUE = 239, 90
"""Columns of a repr, three lines of a terminal, and of one value in it."""


@dataclass_transform(kw_only_default=True)
class Result:
    """An answer, or a part of one. Each subclass is a dataclass; its fields are keyword arguments.

    A trailing underscore keeps a field off a Python keyword: `from_` is `from` in JSON. A list or dict as a default is copied for
    every instance. Fields that this version does not know are attributes too, and in `extra_fields`.
    """

    def __init_subclass__(cls) -> None:
        """Make the subclass a dataclass."""
        super().__init_subclass__()
        for name in get_annotations(cls):
            default = cls.__dict__.get(name, MISSING)
            if isinstance(default, list | dict):
                setattr(cls, name, field(default_factory=partial(copy, default)))
        dataclass(init=False, kw_only=True, eq=False, repr=False)(cls)

    def __init__(self, **values: Any) -> None:
        """One constructor for all answers: one of its own for each class was most of the time that their import took."""
        template, required, copied = _template(type(self))  # type: ignore[arg-type]  # as in `decode`
        if wrong := required - values.keys() or values.keys() - template.keys():
            raise TypeError(f"{type(self).__name__}: missing or unknown: {', '.join(sorted(wrong))}")
        self.__dict__ = template | values
        for name in copied - values.keys():
            self.__dict__[name] = copy(template[name])

    @classmethod
    def decode(cls, document: Any) -> Self:
        """The answer that a JSON object holds. Raises UnexpectedAnswer if the object lacks a field or a time cannot be read."""
        readers = _readers(cls)  # type: ignore[arg-type]  # mypy takes the class for an instance, which has no hash
        given, extra = dict[str, Any](), dict[str, Any]()
        try:
            for key, value in document.items():
                if key not in readers:
                    extra[key] = value
                    continue
                name, read = readers[key]
                given[name] = value if read is None or value is None else read(value)
            made = cls(**given)
        except (AttributeError, TypeError, ValueError) as error:
            raise UnexpectedAnswer(f"{cls.__name__}: {error}") from None
        vars(made).update(extra)
        return made

    @property
    def extra_fields(self) -> dict[str, Any]:
        """Fields of the JSON object that this version does not know."""
        known = {one.name for one in fields(self)}  # type: ignore[arg-type]
        return {name: value for name, value in vars(self).items() if name not in known}

    def as_dict(self) -> dict[str, Any]:
        """The answer as JSON has it, times as text; unknown fields too."""
        return {name.rstrip("_"): _plain(value) for name, value in vars(self).items()}

    def replace(self, **values: Any) -> Self:
        """A copy with other values in these fields."""
        made = copy(self)
        vars(made).update(values)
        return made

    def __eq__(self, other: object) -> bool:
        """Whether the other is of this class and has the same values."""
        return type(other) is type(self) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """The essential fields first, without empty ones, in at most three lines of 80 columns; `as_dict()` has all."""
        known = [one.name for one in fields(self)]  # type: ignore[arg-type]
        first = [name for name in _ESSENTIAL if name in known]
        shown, room = list[str](), _WIDEST - len(f"{type(self).__name__}(, ...)")
        for name in [*first, *(name for name in known if name not in first)]:
            value = getattr(self, name)
            if value is None or value in ("", [], {}, ()):
                continue
            text = f"{name}={_short(value)}"
            room -= _columns(text) + 2
            if room < 0:
                shown.append("...")
                break
            shown.append(text)
        return f"{type(self).__name__}({', '.join(shown)})"

    __str__ = __repr__


@cache
def _template(kind: type[Result]) -> tuple[dict[str, Any], frozenset[str], frozenset[str]]:
    """Every field in its order with its default, the names of those without one, and of those whose default is copied."""
    listed = fields(kind)  # type: ignore[arg-type]
    template = {one.name: one.default if one.default_factory is MISSING else one.default_factory() for one in listed}
    required = frozenset(name for name, default in template.items() if default is MISSING)
    return template, required, frozenset(one.name for one in listed if one.default_factory is not MISSING)


Reader = Callable[[Any], Any]


@cache
def _readers(kind: type[Result]) -> dict[str, tuple[str, Reader | None]]:
    """By the name in JSON: the field, and what makes its value; None if JSON's value stays as it is."""
    hints = get_type_hints(kind)
    return {one.name.rstrip("_"): (one.name, _reader(hints[one.name])) for one in fields(kind)}  # type: ignore[arg-type]


def _reader(hint: Any) -> Reader | None:
    origin, parts = get_origin(hint), get_args(hint)
    if hint is datetime:
        return datetime.fromisoformat
    if isinstance(hint, type) and issubclass(hint, Result):
        return hint.decode
    if origin in (Union, UnionType):
        inner = {_reader(one) for one in parts if one is not NoneType}
        return inner.pop() if len(inner) == 1 else None
    read = _reader(parts[-1]) if origin in (list, dict) else None
    if read is None:
        return None
    if origin is list:
        return lambda values: [read(one) for one in values]
    return lambda values: {name: read(one) for name, one in values.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Result):
        return value.as_dict()
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return {name: _plain(one) for name, one in value.items()} if isinstance(value, dict) else value


def _short(value: object) -> str:
    """A value in at most `_WIDEST_VALUE` columns; of a list its length and first item."""
    if isinstance(value, datetime):
        value = value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, list) and value:
        text = f"[{len(value)}: {value[0]!r}" + (", ...]" if len(value) > 1 else "]")
    else:
        text = repr(value)
    if _columns(text) <= _WIDEST_VALUE:
        return text
    kept = list[str]()
    room = _WIDEST_VALUE - 3
    for sign in text:
        room -= _columns(sign)
        if room < 0:
            break
        kept.append(sign)
    return f"{''.join(kept)}..."


def _columns(text: str) -> int:
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in text)


class Warned(Result):
    """An answer that says so where the owner is quarantined, or the log has a gap."""

    quarantined: dict[str, str] | None = None
    """If the owner is quarantined, the `position` of the event at which its fold stopped and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""


class Lagging(Warned):
    """And how far it is behind the log."""

    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""


class Placed(Lagging):
    """And the position that it was computed at."""

    position: str


class LinesTold(Result):
    """Fields of an answer about its position in time."""

    as_of: str | None
    known: str | None = None
    """The requested moment of recording (`known`)."""


class TimesTold(LinesTold):
    """And when its weights were computed."""

    at: str | None


class Place(TimesTold, Placed):
    """As of when an answer is, and the position it was computed at."""
