"""The laws and the parameters that there are, as every face tells them. Asks no store.

Parameters are read off the model that refuses what they may not be.

Also reading them where they are told as `name=value`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import cache
from inspect import getsource
from typing import Any

from engramlog_server.events import parameters as model
from engramlog_server.events.errors import refused
from engramlog_server.events.parameters import (
    DEFAULTS,
    NAMES,
    Parameters,
    ParameterValue,
    allowed,
    problem_with,
    schema_of,
)
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.laws.law import Law
from engramlog_server.projections.shapes import Laws, LawShape, ParameterShape, ParametersKnown

_KINDS: Mapping[str, Any] = {"integer": "int", "number": "float", "boolean": "bool"}


RECOMMENDED = (
    "time_zone", "user_factor", "alpha_base", "semantic_boost", "momentum", "weighted_normal_threshold", "summary_after_days",
    "archive_weight", "deleted_kept_days", "delete_archived_after_days", "talk_reaffirms", "initial_stability",
    "half_life_days", "half_life_by_kind", "scheduler", "merge_similarity", "related_similarity", "long_ago", "embedder",
    "session_idle_hours", "stable_sensitive", "finance_sensitivity",
)  # fmt: skip
"""The parameters that the command lists without `--all`."""


def parameters() -> ParametersKnown:
    """Every parameter of the laws and modes: its kind, default, bounds and what it is. Asks no store."""
    return {"parameters": [_told(name) for name in NAMES]}


def _told(name: str) -> ParameterShape:
    schema = schema_of(name)
    kind = _KINDS.get(schema.get("type", ""), "str")
    return {
        "name": name,
        "kind": kind,
        "default": getattr(DEFAULTS, name),
        "least": schema.get("minimum", schema.get("exclusiveMinimum")),
        "least_excluded": "exclusiveMinimum" in schema,
        "most": schema.get("maximum"),
        "choices": [False, True] if kind == "bool" else schema.get("enum"),
        "allowed": allowed(name),
        "help": _purposes()[name],
    }


@cache
def _purposes() -> Mapping[str, str]:
    """What stands under each parameter where it is declared."""
    whole = ast.parse(getsource(model))
    (declared,) = (one for one in whole.body if isinstance(one, ast.ClassDef) and one.name == Parameters.__name__)
    found = dict[str, str]()
    for field, below in zip(declared.body, declared.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
            told = ast.literal_eval(below.value)
            found[field.target.id] = told.partition("\n")[0]
    return found


def parse_settings(pairs: Sequence[str]) -> dict[str, ParameterValue]:
    """`name=value` pairs as parameters within their bounds, or InputError."""
    values: dict[str, ParameterValue] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise refused("parameters", pair, "name=value, e.g. user_factor=1.3")
        values[name] = _setting(text)
        check_parameter(name, values[name], text)
    return values


def check_parameter(name: str, value: ParameterValue, told: str | None = None) -> None:
    """Raises InputError for a parameter that is not known, or is out of its bounds; `told`: as it was written."""
    if rule := problem_with(name, value):
        raise refused(f"parameters {name}", str(value) if told is None else told, rule)


def _setting(text: str) -> ParameterValue:
    """A truth value, a number, or else the text itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def laws() -> Laws:
    """Every law there is: its formula, factors, thresholds at the defaults, and where it comes from. Asks no store."""
    return {"laws": [_law(law) for law in LAWS.values()]}


def _law(law: Law) -> LawShape:
    return {
        "name": law.name,
        "formula": law.formula,
        "factors": dict(law.factors),
        "thresholds": {"normal": law.normal_threshold(DEFAULTS), "review": law.review_threshold(DEFAULTS)},
        "source": law.source,
    }
