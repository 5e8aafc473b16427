"""Everything about an owner as one page that a person can read: no script, nothing from outside; made as it is taken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from api.exchange.everything.bundle import Everything
from api.exchange.everything.page_words import WORDS
from api.exchange.everything.said import CONTEXT, TURN
from api.exchange.exporting import Chosen, ExportedMemory, visible
from api.exchange.record_fields import Data
from api.exchange.record_shapes import PART
from events.lateness import late_words
from projections.fold.basis import NOTHING
from projections.views.query import moment

AT_ONCE = 64
"""Pieces of the template that are joined, so that one piece of the page is about a memory or two."""
MOST_WEIGHT = 2.0
"""Where the bar of a weight is full."""
_UNITS_ZH = ((86_400, "天"), (3_600, "小时"), (60, "分钟"))
OWN = frozenset({"user", "other"})
"""Roles whose turns stand on the right."""


def page(told: Everything, memories: Iterable[ExportedMemory], chosen: Chosen, language: str) -> Iterator[str]:
    """The page in pieces, in `en` or `zh`, of the memories that were chosen."""
    words = WORDS[language]
    pieces = _template().generate(
        head=told.head,
        words=words,
        language=language,
        number=chosen.number,
        left_out=chosen.left_out,
        ids=chosen.ids,
        memories=map(_memory, memories),
        said=_said(told.said()),
        changes=told.changes(),
        late=lambda one: _late(one, words),
        withheld=lambda one: words["withheld"].get(one.get("withheld"), ""),
        weights=_weights,
    )
    while piece := "".join(_several(pieces)):
        yield piece


def _several(pieces: Iterator[str]) -> Iterator[str]:
    for _, piece in zip(range(AT_ONCE), pieces, strict=False):
        yield piece


@cache
def _template() -> Template:
    made = Environment(
        autoescape=True,
        loader=PackageLoader("api.exchange.everything", "."),
        trim_blocks=True,
        undefined=StrictUndefined,
        finalize=_as_seen,
    )
    return made.get_template("page.html")


def _as_seen(value: object) -> object:
    """Texts with what shows nothing as signs: a page must not be steered by what somebody said."""
    return visible(value, "\n\t") if type(value) is str else value  # what is markup already is another type


def _memory(told: ExportedMemory) -> Data:
    memory = told.memory
    return {
        "id": memory.id,
        "text": memory.content,
        "weight": f"{told.weight:.4f}",
        "share": round(100 * min(max(told.weight, 0), MOST_WEIGHT) / MOST_WEIGHT),
        "level": told.level,
        "created": moment(memory.created_at),
        "away": None if told.status == "live" else told.status,
        "facts": list(_facts(told)),
    }


def _facts(told: ExportedMemory) -> Iterator[tuple[str, Any]]:
    """What is known of a memory beside what it says: names of `WORDS` with their values."""
    memory, basis, made = told.memory, told.memory.basis or NOTHING, told.made
    facts = {
        "summary": memory.summary,
        "created": moment(memory.created_at),
        "recorded": made.recorded_at,
        "by": made.principal,
        "updated": moment(memory.updated_at) if memory.updated_at != memory.created_at else None,
        "mentioned": memory.mention_count,
        "last_active": moment(memory.last_activated_at),
        "shown": memory.access_count,
        "last_shown": moment(memory.last_accessed_at),
        "until": moment(next((one for one in (memory.deleted_at, memory.retired_at, memory.valid_to) if one), None)),
        "successor": memory.superseded_by or memory.merged_into,
        "category": memory.category,
        "kind": memory.kind,
        "tier": memory.tier,
        "confidence": f"{memory.confidence:g}",
        "source": memory.source,
        "speaker": memory.speaker,
        "turns": ", ".join(memory.source_turns),
        "keywords": ", ".join(memory.keywords),
        "tags": ", ".join(memory.tags),
        "project": memory.project,
        "task": memory.task,
        "corrects": memory.corrects,
        "merged_from": ", ".join(memory.merged_from),
        "because": basis.because,
        "rests_on": ", ".join(f"{one.uri} {one.digest}" for one in basis.grounds),
        "metadata": ", ".join(f"{name}: {value}" for name, value in basis.metadata),
    }
    return ((name, value) for name, value in facts.items() if value not in (None, ""))


def _said(lines: Iterable[Data]) -> Iterator[Data]:
    """What the page tells of each line; `session_new` where another conversation begins."""
    session: str | object | None = object()
    turns: set[str] = set()
    for line in lines:
        event = line.get("event") or {"data": {}}
        data, here = event["data"], event.get("session_id")
        shown: Data = {
            "part": line[PART],
            "position": line["position"],
            "unreadable": line.get("unreadable"),
            "withheld": line.get("withheld"),
            "late_by": line.get("late_by"),
            "at": event.get("occurred_at"),
            "session": here,
            "session_new": line[PART] == TURN and here != session,
            "turn_id": data.get("turn_id"),
            "turn_told": data.get("turn_id") in turns,
        }
        if line[PART] == TURN:
            session = here
            turns.add(data["turn_id"])
            shown |= {"own": data.get("role") in OWN, "speaker": data.get("speaker") or data.get("role")}
        accesses = data.get("accesses", ())
        queries = [one.get("query") for one in (data, *accesses)]
        ids = [hit["memory_id"] for hit in data.get("hits", ())]
        yield shown | {
            "text": data.get("text"),
            "tool": data.get("tool"),
            "memories": list(dict.fromkeys(chain(ids, *(one["shown"] for one in accesses)))),
            "queries": [] if line[PART] == CONTEXT else [one for one in dict.fromkeys(queries) if one],
        }


def _late(one: Mapping[str, Any], words: Mapping[str, Any]) -> str:
    late = one.get("late_by")
    if late is None:
        return ""
    if words is WORDS["en"]:
        return f" · {late_words(late)}"
    size, unit = next((one for one in _UNITS_ZH if late >= 2 * one[0]), _UNITS_ZH[-1])
    return f" · {int(late // size):,} {unit}后记录"


def _weights(change: Mapping[str, Any]) -> str:
    old, new = change.get("old_weight"), change.get("new_weight")
    if new is None:
        return ""
    return f"{new:.4f}" if old is None or old == new else f"{old:.4f} → {new:.4f}"
