"""Filters of a list of memories and of its counts: those that a search has by the same names, and those of a list alone."""

from __future__ import annotations

from typing import Any

from api.operations.definition import Option, Parameter
from api.operations.searching import FILTERS, TERMS

_NOT_OF_ROWS = frozenset({"keywords", "feeling", "min_relevance", "metadata"})
"""Filters of a search that read every record, or its relevance."""


def _filter(name: str, kind: Any, description: str, default: Any, example: Any, *names: str) -> Parameter:
    return Parameter(name, kind, description, default, (example,), option=Option(names, panel=FILTERS))


def _any(name: str, description: str, example: list[Any], option: str, kind: Any = list[str]) -> Parameter:
    return _filter(name, kind, f"{description}; repeatable.", [], example, option)


OF_ROWS = (
    *(one for one in TERMS if one.option and one.option.panel == FILTERS and one.name not in _NOT_OF_ROWS),
    _filter("max_weight", float | None, "Only of at most this weight.", None, 0.3),
    _any(
        "statuses",
        "Only of this status: live, fading, kept_version, superseded, merged, retired, proposed, set_aside, rejected, deleted or"
        " purged, as far as the mode shows it",
        ["live", "fading"],
        "--status",
    ),
    _any("levels", "Only at this level now: full, summary, tag, trace or archive", ["full"], "--level"),
    _any(
        "trusts",
        "Only of just this trust: asserted, inferred, imported, proposed, disputed or rejected",
        ["disputed"],
        "--trusted",
    ),
    _any("tiers", "Only of this tier: system, core, fact or episode", ["core"], "--tier"),
    _any("sensitivities", "Only of this sensitivity, 0 to 3", [2], "--sensitivity", list[int]),
    _any("sources", "Only from this source: user, assistant, judge, system or import", ["user"], "--source"),
    _any(
        "flags",
        "Only what is conflicting (it may contradict one that stands), waiting (the inbox has something about it) or"
        " ground_changed",
        ["conflicting"],
        "--flag",
    ),
    _filter(
        "words",
        str | None,
        "Only what has this in its text or its id, in any case, width, and traditional or simplified; a secret by its id alone.",
        None,
        "咖啡",
    ),
    _filter("updated_since", str | None, "Made or revised then or later; the forms of `since`.", None, "2026-05-01"),
    _filter("updated_until", str | None, "Made or revised up to the end of that.", None, "2026-06-01"),
)
"""What may be asked of every row; of several values of one filter any will do, and all filters must hold."""
SORTED = (
    Parameter(
        "sort",
        str,
        "By `activated`, `created`, `updated`, `weight` or `id`; of equals what was made later stands first.",
        "activated",
        ("activated", "weight"),
    ),
    Parameter(
        "order",
        str | None,
        "`descending` (newest, heaviest first) or `ascending`. [default: ascending for ids, else descending]",
        None,
        ("descending", "ascending"),
    ),
)
