"""What events are made of: structs that msgspec reads and writes in C, and that pydantic checks in validation.

One definition serves both: the dataclass that pydantic checks with is made from the struct's own annotations. (Frozen
dataclasses behind validation cost three times the decoding, and are walked by the garbage collector.)
"""

from __future__ import annotations

from dataclasses import field, make_dataclass
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
from pydantic import ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema

STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Shape(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, forbid_unknown_fields=True):
    """Base of events and of what they hold. Immutable and without cycles, so the garbage collector may pass it by.

    A field that it does not have is refused, stored or new: of an event that a newer release wrote nothing is passed over.
    """

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(checked(source))


def default_of(one: msgspec.structs.FieldInfo) -> Any:
    """What a field that need not be given holds where it is not."""
    return one.default if one.default_factory is msgspec.NODEFAULT else one.default_factory()


@cache
def checked(source: Any) -> type:
    """The dataclass, of the same name, fields and defaults, by which pydantic checks a shape or `Shape[argument]`."""
    shape = get_origin(source) or source
    hints = get_type_hints(shape, include_extras=True)
    bound = dict(zip(getattr(shape, "__parameters__", ()), get_args(source), strict=True))
    fields: list[Any] = []
    for one in msgspec.structs.fields(shape):
        kind = hints[one.name]
        kind = bound.get(kind, kind) if bound else kind
        fields.append((one.name, kind) if one.required else (one.name, kind, field(default=default_of(one))))
    namespace = {"__pydantic_config__": STRICT, "__doc__": shape.__doc__, "__module__": shape.__module__}
    return make_dataclass(shape.__name__, fields, namespace=namespace, frozen=True, slots=True, kw_only=True)
