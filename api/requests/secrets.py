"""Secrets beside a memory's content: in a query, in a reason, in a label, in what a refusal would repeat.

What a memory says is withheld by its sensitivity. These texts have none of their own, so they are looked at where they are told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from engramlog_server.events.envelope import AnyEvent
from engramlog_server.events.errors import EngramlogError
from engramlog_server.events.standing import Objection
from engramlog_server.projections.language.sensitivity.text_level import SENSITIVE, detect_sensitivity
from engramlog_server.projections.memory.record import SECRET

Text = TypeVar("Text", str, str | None)
HIDDEN = "[withheld: it looks like a secret]"
"""Stands for a text beside content that may not be told."""
_JOINED = re.compile(r"[_\-]+")
_PLACES = ("data.parameters.", "data.")
"""Where a field stands, which is told also where its name is not."""
QUERY_HIDDEN = (
    "the query looks like a secret: it was looked for by words only, and neither given to an embedder nor recorded"
)
QUERY_RULE = "a query without a secret, an address, a telephone number or the like: leave it out, the rest is recorded"


_level = lru_cache(maxsize=4096)(detect_sensitivity)


def is_secret(text: str) -> bool:
    """Whether a text holds a password, a key or the like, as far as rules can tell."""
    return _level(text) >= SECRET


def is_sensitive(text: str) -> bool:
    """Whether a text holds a secret, or an address, a telephone number or the like: no query with one is recorded."""
    return _level(text) >= SENSITIVE


def masked(text: Text) -> Text:
    """A text as it may be told: itself, or that it is withheld."""
    return HIDDEN if text and is_secret(text) else text


def masked_all(told: Any) -> Any:
    """The same of every text in JSON-ready lists and dicts, names too."""
    if isinstance(told, str):
        return masked(told)
    if isinstance(told, Mapping):
        return {masked_all(name): masked_all(one) for name, one in told.items()}
    return [masked_all(one) for one in told] if isinstance(told, list | tuple) else told


def label_objection(event: AnyEvent) -> Objection | None:
    """Why an event is refused whose labels hold a secret, without repeating it: labels stand in lists, filters and logs.

    What a memory says is taken in, and withheld by its sensitivity.
    """
    for field, label in _labels(event.type, event.data):
        if is_secret(label):
            allowed = (
                "a label without a password, a key or the like: labels are shown in lists; a memory's text is withheld"
            )
            return Objection(f"data.{field}", HIDDEN, allowed)
    if event.type == "MemoriesAccessed":
        for number, access in enumerate(event.data.accesses):
            if access.query and is_sensitive(access.query):
                return Objection(f"data.accesses[{number}].query", HIDDEN, QUERY_RULE)
    return None


def _labels(event_type: str, data: Any) -> Iterator[tuple[str, str]]:
    for field in _LABELS.get(event_type, ()):
        told = getattr(data, field)
        if isinstance(told, str):
            yield field, told
        else:
            yield from ((f"{field}[{number}]", one) for number, one in enumerate(told or ()))


_LABELS: Mapping[str, tuple[str, ...]] = {
    "MemoryCreated": ("project", "task", "tags"),
    "MemoryRevised": ("tags",),
    "SynonymDefined": ("keyword", "synonym"),
    "MemoriesAccessed": ("query",),
    "ToolResultRecorded": ("tool",),
    "KeyIssued": ("principal",),
    "GrantsSet": ("principal",),
}


def refusal_told(error: EngramlogError) -> dict[str, Any]:
    """`EngramlogError.as_dict` of a refusal that does not repeat a secret it was given."""
    told = error.as_dict()
    problems = told.get("problems")
    if isinstance(problems, list) and any(map(_repeats, problems)):
        told["problems"] = [_unrepeated(one) for one in problems]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        told["message"] = f"{told['problems'][0]['message']}{more}"
    return _unrepeated(told)


def _repeats(told: Mapping[str, Any]) -> bool:
    got, field = told.get("got"), told.get("field")
    if isinstance(field, str) and masked_name(field) != field:
        return True
    return isinstance(got, str) and (is_secret(got) or is_secret(f"{field}: {got}"))


def masked_name(field: str) -> str:
    """The name of a field as it may be told: whoever sends it chose it, and may have joined its words."""
    if not is_secret(field) and not is_secret(_JOINED.sub(" ", field)):
        return field
    place = next((one for one in _PLACES if field.startswith(one)), "")
    return f"{place}{HIDDEN}"


def _unrepeated(told: Mapping[str, Any]) -> dict[str, Any]:
    if not _repeats(told):
        return dict(told)
    field = told.get("field")
    if isinstance(field, str):
        told = {**told, "field": masked_name(field)}
    message = f"{told.get('field')}: got {HIDDEN}; allowed: {told.get('allowed')}"
    return {**told, "got": HIDDEN, "message": message}
