"""The parameters of the laws and modes: names, defaults, bounds. The vocabulary of `ParametersChanged`.

They are an immutable named set: a change of a default is a new set, recorded in the store, so that an old log
keeps its meaning. Figures from seed 002 ("core parameters") and memory.md sections 3, 4, 6 and 7.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, get_type_hints
from zoneinfo import available_timezones

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

Profile = Literal["weighted", "ebbinghaus", "consolidating", "tiered"]
ParameterValue = float | int | str | bool
PARAMETER_SET = "2026-11"
"""Name of the set of defaults below."""

_Rate = Annotated[float, Field(ge=0, le=10)]
_Factor = Annotated[float, Field(gt=0, le=10)]
_Share = Annotated[float, Field(ge=0, le=1)]
_Days = Annotated[float, Field(gt=0, le=36_500)]


def _known_zone(name: str) -> str:
    if name not in available_timezones():
        raise PydanticCustomError("unknown_zone", "an IANA time zone such as UTC or Asia/Shanghai")
    return name


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """Parameters in force for one owner at one moment. Rates are per day unless named otherwise."""

    alpha_base: _Rate = 0.01
    """Base decay of w_time, per day."""
    importance_identity: _Factor = 1.5
    importance_stable_preference: _Factor = 1.3
    importance_skill: _Factor = 1.2
    importance_fact: _Factor = 1.1
    importance_short_term_preference: _Factor = 0.9
    importance_temporary: _Factor = 0.8
    semantic_boost: _Rate = 0.5
    """s of a mention."""
    frequent_boost: _Rate = 0.3
    """s of a mention that is at least the `frequent_threshold`-th within `frequent_window_hours`."""
    frequent_threshold: Annotated[int, Field(ge=2, le=64)] = 3
    frequent_window_hours: Annotated[float, Field(gt=0, le=8_760)] = 24.0
    lambda_s: _Rate = 0.05
    c_min: _Share = 0.3
    lambda_c: _Rate = 0.01
    user_factor: Annotated[float, Field(ge=0.1, le=10)] = 1.0
    """U: 0.8 forgets slowly, 1.3 forgets fast."""
    user_factor_scope: Literal["decay", "both"] = "decay"
    """`decay`: U acts in w_time only; `both`: also in the product, as seed 002 has it."""
    momentum: _Rate = 0.3
    lambda_m: _Rate = 0.5
    momentum_window_days: _Days = 3.0
    weight_min: _Share = 0.01
    weight_max: Annotated[float, Field(gt=0, le=100)] = 2.0
    summary_after_days: _Days = 30.0
    tag_after_days: _Days = 90.0
    trace_after_days: _Days = 180.0
    archive_after_days: _Days = 365.0
    archive_weight: _Share = 0.01
    archive_idle_days: _Days = 180.0
    deleted_kept_days: _Days = 30.0
    weighted_normal_threshold: Annotated[float, Field(ge=0, le=100)] = 0.3
    weighted_review_threshold: Annotated[float, Field(ge=0, le=100)] = 0.01
    time_zone: Annotated[str, AfterValidator(_known_zone)] = "UTC"


DEFAULTS = Parameters()
NAMES = tuple(field.name for field in dataclasses.fields(Parameters))


@cache
def _adapter(name: str) -> TypeAdapter[Any]:
    annotation = get_type_hints(Parameters, include_extras=True)[name]
    return TypeAdapter(annotation, config=ConfigDict(strict=True, allow_inf_nan=False))


def schema_of(name: str) -> dict[str, Any]:
    """JSON Schema of one parameter."""
    return _adapter(name).json_schema()


def allowed(name: str) -> str:
    """What the parameter may be, in words, e.g. "a number from 0 to 1"."""
    schema = schema_of(name)
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    if schema.get("type") == "string":
        return "an IANA time zone such as UTC or Asia/Shanghai"
    kind = "a whole number" if schema.get("type") == "integer" else "a number"
    low = f"above {schema['exclusiveMinimum']}" if "exclusiveMinimum" in schema else f"from {schema.get('minimum')}"
    return f"{kind} {low} to {schema.get('maximum')}"


def problem_with(name: str, value: object) -> str | None:
    """What is allowed where `name = value` is not, else None."""
    if name not in NAMES:
        return "a parameter's name: " + ", ".join(NAMES)
    try:
        _adapter(name).validate_python(value)
    except ValidationError:
        return allowed(name)
    return None


def changed(base: Parameters, values: dict[str, ParameterValue]) -> Parameters:
    """`base` with some values replaced; ints become floats where the parameter is a float."""
    known = {name: _adapter(name).validate_python(value) for name, value in values.items() if name in NAMES}
    return dataclasses.replace(base, **known)
