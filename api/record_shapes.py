"""The shapes that older records come in, each read into the data of one `MemoryCreated`.

    engramlog       what `export` writes: fields as in `MemoryCreated`, with `engramlog: 1` and `created_at`
    ebbinghaus      a MemoryEntry of seed 004, section 3: camelCase
    consolidating   a row of memory_items of seed 000, sections 1.1 and 2.1: snake_case

What an older record does not tell is left out: the fold knows the defaults (memory.md, section 9) under the parameters in force.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import orjson
from pydantic_core import PydanticCustomError

from api.asked import refused
from events.envelope import utc_text
from events.vocabulary import TIME_RULE, read_time
from projections.memory import MAX_EDGES

FORMAT = 1
"""Value of the field `engramlog` in our own lines: the version of their shape."""
RELATED_WEIGHT = 0.5
"""Weight of an association to a related record, which seed 000 keeps without one: the least similarity it links at."""
CATEGORY_OF_KIND: Mapping[str, str] = {
    "preference": "stable_preference",
    "pattern": "skill",
    "lesson": "skill",
    "pitfall": "fact",
    "tool": "fact",
}
"""Seed 004's categories, which we keep as `kind`, as ours: how one works is a skill, both versions of which stay when it
changes; how a thing is (a trap, a tool) is a fact, which the newer one replaces. Any other category is a fact."""
SOURCE_TYPES = ("task", "manual", "chat")

Data = dict[str, Any]


class Record(NamedTuple):
    """What one line tells."""

    shape: str
    data: Data
    """Of the `MemoryCreated`, as JSON; not yet checked by the door."""
    created_at: str
    """RFC 3339 in UTC."""
    session: str | None
    names: Mapping[str, str]
    """Path in `data` -> the record's own name of it, where they differ: for refusals."""
    ignored: tuple[str, ...] = ()
    """Fields that the shape does not know."""
    edges_left_out: int = 0
    status: str | None = None
    """Why the memory no longer stands (`deleted`, `superseded` ...), where an export told it all the same."""


_TIMES = frozenset({"imported.updated_at", "imported.last_accessed_at", "imported.last_reinforced_at"})
_EBBINGHAUS: Mapping[str, str] = {
    "id": "memory_id",
    "content": "content",
    "category": "kind",
    "keywords": "keywords",
    "confidence": "confidence",
    "projectPath": "project",
    "updatedAt": "imported.updated_at",
    "lastAccessedAt": "imported.last_accessed_at",
    "accessCount": "imported.access_count",
    "strength": "imported.strength",
    "stability": "imported.stability",
    "lastReinforcedAt": "imported.last_reinforced_at",
    "reinforceCount": "imported.reinforce_count",
    "decayRate": "imported.decay_rate",
}
_CONSOLIDATING: Mapping[str, str] = {
    "id": "memory_id",
    "content": "content",
    "type": "kind",
    "task_id": "task",
    "updated_at": "imported.updated_at",
    "last_accessed_at": "imported.last_accessed_at",
    "access_count": "imported.access_count",
    "consolidation_score": "imported.consolidation_score",
}


def read_record(line: bytes, shape: str = "auto", *, assume_utc: bool = False) -> Record:
    """One line of JSON as a record of a shape, or of the one that its fields show (`auto`).

    Raises InputError for what is no JSON object, of no known shape, or holds what cannot be turned into ours.
    """
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise refused("record", line[:80].decode("utf-8", "replace"), f"one JSON object a line ({error})") from None
    if not isinstance(record, dict):
        raise refused("record", _short(record), "one JSON object a line")
    read = SHAPES[shape_of(record) if shape == "auto" else shape]
    return read(record, assume_utc)


def shape_of(record: Mapping[str, Any]) -> str:
    """The shape that a record's fields show, or InputError."""
    if "engramlog" in record:
        return "engramlog"
    if ("createdAt" in record) != ("created_at" in record):
        return "ebbinghaus" if "createdAt" in record else "consolidating"
    raise refused(
        "record",
        "fields " + _short(", ".join(record) or "none"),
        "a record with engramlog (our own export), createdAt (ebbinghaus) or created_at (consolidating); or name its shape",
    )


def _engramlog(record: Data, assume_utc: bool) -> Record:
    version, status = record.get("engramlog", FORMAT), record.get("status")
    if type(version) is not int or version != FORMAT:
        raise refused(
            "engramlog", _short(version), f"{FORMAT}: the version of an exported line that this release reads"
        )
    if status is not None and not isinstance(status, str):
        raise refused("status", _short(status), "a word, or nothing for a memory that stands")
    apart = ("engramlog", "status", "created_at", "session")
    data: Data = {name: value for name, value in record.items() if name not in apart and value is not None}
    counters = data.setdefault("imported", {})
    if isinstance(counters, dict):
        counters = {name: value for name, value in counters.items() if value is not None}
        for path in _TIMES:
            name = path.removeprefix("imported.")
            if name in counters:
                counters[name] = _instant(counters[name], path, assume_utc)
        data["imported"] = counters
    names = {"session_id": "session", "occurred_at": "created_at"}
    return Record(
        "engramlog", data, _created(record, "created_at", assume_utc), record.get("session"), names, status=status
    )


def _ebbinghaus(record: Data, assume_utc: bool) -> Record:
    data = _carried(record, _EBBINGHAUS, assume_utc)
    told = data.setdefault("kind", "note")
    data["category"] = CATEGORY_OF_KIND.get(told, "fact") if isinstance(told, str) else "fact"
    if isinstance(data.get("keywords"), list):
        data["keywords"] = _unique(data["keywords"])
    names = {path: name for name, path in _EBBINGHAUS.items()} | {"occurred_at": "createdAt", "source": "source.type"}
    session = _origin(_given(record, "source"), data, names)
    edges, left_out = _strongest(record, data["imported"], names)
    data["imported"] |= edges
    known = {*_EBBINGHAUS, "createdAt", "source", "associations"}
    return Record(
        "ebbinghaus", data, _created(record, "createdAt", assume_utc), session, names, _others(record, known), left_out
    )


def _origin(source: Any, data: Data, names: dict[str, str]) -> str | None:
    """Where an entry came from (seed 004, section 3.2), put into `data`; gives its chat, which is our session."""
    data["source"] = "import"
    if source is None:
        return None
    kind = source.get("type") if isinstance(source, dict) else None
    if kind not in SOURCE_TYPES:
        allowed = "an object with a type (" + ", ".join(SOURCE_TYPES) + "), and taskId, chatId, messageId where known"
        raise refused("source", _short(source), allowed)
    if kind == "manual":
        data["source"] = "user"
    if (task := _given(source, "taskId")) is not None:
        data["task"] = task
    if (message := _given(source, "messageId")) is not None:
        data["source_turns"] = [message]
    names |= {"task": "source.taskId", "source_turns[0]": "source.messageId", "session_id": "source.chatId"}
    return _given(source, "chatId")


def _strongest(record: Data, counters: Data, names: dict[str, str]) -> tuple[Data, int]:
    """An entry's associations as ours: the strongest of each target (seed 004, section 5.2), the strongest 32 of all.

    Gives them and how many were left out for being more than 32. One to itself is none.
    """
    told = _given(record, "associations")
    if told is None:
        return {}, 0
    if not isinstance(told, list):
        raise refused("associations", _short(told), "a list of {targetId, weight, type}")
    best: dict[str, tuple[float, int]] = {}
    for number, one in enumerate(told):
        field = f"associations[{number}]"
        if not isinstance(one, dict) or not isinstance(one.get("targetId"), str):
            raise refused(field, _short(one), "an object {targetId, weight, type}, targetId being a text")
        weight = one.get("weight")
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            raise refused(f"{field}.weight", _short(weight), "a number from 0 to 1")
        known = best.get(one["targetId"])
        if one["targetId"] != record.get("id") and (known is None or weight > known[0]):
            best[one["targetId"]] = (weight, number)
    order = sorted(best.items(), key=lambda item: (-item[1][0], item[1][1]))
    edges = []
    for place, (target, (weight, number)) in enumerate(order[:MAX_EDGES]):
        link = _given(told[number], "type")
        edges.append({"memory_id": target, "weight": weight} | ({} if link is None else {"link": link}))
        ours, theirs = f"imported.associations[{place}]", f"associations[{number}]"
        names |= {f"{ours}.memory_id": f"{theirs}.targetId", f"{ours}.link": f"{theirs}.type", ours: theirs}
    return {"associations": edges}, max(len(order) - MAX_EDGES, 0)


def _consolidating(record: Data, assume_utc: bool) -> Record:
    data = _carried(record, _CONSOLIDATING, assume_utc)
    data |= {"category": "fact", "source": "import"}
    data.setdefault("kind", "note")
    score = "confidence_score" if _given(record, "confidence_score") is not None else "confidence"
    tags_name, tags = _listed(record, "context_tags")
    related_name, related = _listed(record, "related_ids")
    emotion, key = _given(record, "emotional_weight"), _given(record, "key")
    for path, value in (("confidence", _given(record, score)), ("tags", tags)):
        if value is not None:
            data[path] = value
    if key is not None:
        data["keywords"] = [key]
    if emotion is not None and (emotion != 0 or tags):  # 0 beside no tags is the column's default: nobody looked
        data["emotion"] = emotion
    others = [one for one in related or () if one != data.get("memory_id")]
    if others:
        edges = [{"memory_id": one, "weight": RELATED_WEIGHT, "link": "related"} for one in others[:MAX_EDGES]]
        data["imported"]["associations"] = edges
    names = {path: name for name, path in _CONSOLIDATING.items()} | {
        "occurred_at": "created_at",
        "confidence": score,
        "emotion": "emotional_weight",
        "keywords[0]": "key",
        "tags": tags_name,
        "imported.associations": related_name,
    }
    known = {*_CONSOLIDATING, "created_at", "key", "confidence", "confidence_score", "emotional_weight"}
    known |= {name + end for name in ("context_tags", "related_ids") for end in ("", "_json")}
    created = _created(record, "created_at", assume_utc)
    return Record("consolidating", data, created, None, names, _others(record, known), max(len(others) - MAX_EDGES, 0))


def _listed(record: Data, name: str) -> tuple[str, list[str] | None]:
    """A list of texts, as a column of JSON (`name_json`) or as the list itself, and the name it stood under."""
    column = f"{name}_json"
    name = column if _given(record, column) is not None else name
    value = told = _given(record, name)
    if isinstance(told, str):
        try:
            value = orjson.loads(told)
        except orjson.JSONDecodeError:
            value = told
    if value is None:
        return name, None
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise refused(name, _short(told), 'a JSON list of texts, such as ["one","two"]')
    return name, _unique(value)


def _carried(record: Data, table: Mapping[str, str], assume_utc: bool) -> Data:
    """The fields that keep their value, at their place in a `MemoryCreated`; those of no value are left out."""
    data: Data = {"imported": {}}
    for name, path in table.items():
        value = record.get(name) if path in ("memory_id", "content") else _given(record, name)
        if value is None:
            continue
        if path in _TIMES:
            value = _instant(value, name, assume_utc)
        into, _, last = path.rpartition(".")
        (data[into] if into else data)[last] = value
    return data


def _given(record: Data, name: str) -> Any:
    """The value of an optional field; null and the empty text, which columns hold for none, are none."""
    value = record.get(name)
    return None if value == "" else value


def _others(record: Data, known: set[str]) -> tuple[str, ...]:
    return tuple(name for name in record if name not in known)


def _unique(values: list[Any]) -> list[Any]:
    """Texts without repetitions; what holds anything else is left to the door."""
    return list(dict.fromkeys(values)) if all(isinstance(value, str) for value in values) else values


def _created(record: Data, name: str, assume_utc: bool) -> str:
    if record.get(name) is None:
        raise refused(name, "nothing", f"when the memory began: {TIME_RULE}")
    return _instant(record[name], name, assume_utc)


def _instant(value: object, field: str, assume_utc: bool) -> str:
    """RFC 3339 in UTC of a record's time. One without a zone is refused, or is in UTC where the caller says so."""
    try:
        return utc_text(read_time(value))
    except PydanticCustomError:
        pass
    try:
        moment = utc_text(read_time(f"{value}Z"))
    except PydanticCustomError:
        raise refused(field, _short(value), TIME_RULE) from None
    if not assume_utc:
        raise refused(
            field, value, f"{TIME_RULE}; this one has no zone: import with --assume-utc if such times are in UTC"
        )
    return moment


def _short(value: object) -> object:
    """What was got, of a length that a message can carry."""
    text = value if isinstance(value, str) else repr(value)
    return value if len(text) <= 80 else text[:80] + "…"


SHAPES: Mapping[str, Callable[[Data, bool], Record]] = {
    "engramlog": _engramlog,
    "ebbinghaus": _ebbinghaus,
    "consolidating": _consolidating,
}


def check_shape(shape: str) -> str:
    """A shape's name, or `auto`; else InputError."""
    if shape != "auto" and shape not in SHAPES:
        raise refused("shape", shape, ", ".join(("auto", *SHAPES)))
    return shape
