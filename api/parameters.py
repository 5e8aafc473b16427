"""The parameters that there are, as every face tells them: read off the model that refuses what they may not be. Asks no store."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from inspect import getsource
from typing import Any

from engramlog_server.api.shapes import ParameterShape, ParametersKnown
from engramlog_server.events import parameters as model
from engramlog_server.events.parameters import DEFAULTS, NAMES, Parameters, allowed, schema_of

_KINDS: Mapping[str, Any] = {"integer": "int", "number": "float", "boolean": "bool"}


RECOMMENDED = (
    "time_zone", "user_factor", "alpha_base", "semantic_boost", "momentum", "weighted_normal_threshold", "summary_after_days",
    "archive_weight", "deleted_kept_days", "delete_archived_after_days", "talk_reaffirms", "initial_stability",
    "half_life_days", "half_life_by_kind", "scheduler", "merge_similarity", "related_similarity", "long_ago", "embedder",
    "session_idle_hours", "stable_sensitive",
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
