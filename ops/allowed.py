"""What a setting of a number may be, in the words of a refusal: whole or not, its unit, from where to where."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, get_args

from annotated_types import Ge, Gt, Le, Lt
from pydantic.fields import FieldInfo

UNITS: Final = {
    "redis_maxmemory": "bytes",
    "view_bytes": "bytes",
    "redis_timeout": "seconds",
}
"""What numbers count, where their names alone do not say it to everybody."""
MIB: Final = 1 << 20
MOST_KEY: Final = 8_192
"""Characters of a key, or of a token made of one."""
_KEY_OR_TOKEN: Final = re.compile(r"egl_[a-z0-9]{8}_[\w-]{43}_[0-9a-f]{6}|[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)


def looks_like_a_key(told: str) -> bool:
    """Whether this is written as a key of a store, or as a token made of one; whether it opens anything, the store says."""
    return len(told) <= MOST_KEY and _KEY_OR_TOKEN.fullmatch(told) is not None


def number_allowed(name: str, setting: FieldInfo) -> str | None:
    """The words for a setting of a number; None where it is none."""
    parts = [setting.annotation, *_inner(setting.annotation)]
    if int not in parts and float not in parts:
        return None
    kind = "a whole number" if int in parts else "a number"
    if name in UNITS:
        kind += f" of {UNITS[name]}"
    least, most = "", ""
    for bound in [*setting.metadata, *(rule for part in parts for rule in _rules(part))]:
        match bound:
            case Ge(ge=value):
                least = _told(value, UNITS.get(name))
            case Gt(gt=value):
                least = f"more than {_told(value, None)}"
            case Le(le=value) | Lt(lt=value):
                most = _told(value, None)
    if least.startswith("more"):
        return f"{kind}, {least}" + (f" up to {most}" if most else "")
    if least and most:
        return f"{kind} from {least} to {most}"
    return f"{kind}, at least {least}" if least else kind


def _inner(annotation: Any) -> Iterator[Any]:
    """What an annotation is made of: `Annotated[int, ...] | None` is made of an int."""
    for part in get_args(annotation):
        yield part
        yield from _inner(part)


def _rules(part: Any) -> list[Any]:
    """The bounds that stand beside a type of a union."""
    return list(part.metadata) if isinstance(part, FieldInfo) else []


def _told(value: Any, unit: str | None) -> str:
    if unit == "bytes" and value % MIB == 0:
        return f"{value} ({value // MIB} MiB)"
    return f"{value:g}" if isinstance(value, float) else str(value)
