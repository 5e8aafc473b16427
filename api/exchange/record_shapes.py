"""The shapes that older records come in, each read into the data of one `MemoryCreated`.

    engramlog       what `export` writes: fields as in `MemoryCreated`, with `engramlog: 1` and `created_at`
    ebbinghaus      a MemoryEntry of seed 004, section 3: camelCase
    consolidating   a row of memory_items of seed 000, sections 1.1 and 2.1: snake_case

What an older record does not tell is left out: the fold knows the defaults (memory.md, section 9) under the parameters in force.

What an owner rejected, as lines of an export: digests, and the secret that keys them. Pure.

A store that takes them in can compare only what is keyed by the same secret. An owner of whom it knows nothing takes it over; of
another what it has of the values by then is told apart by its words, and the rest cannot be carried.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import orjson
from pydantic_core import PydanticCustomError

from engramlog_server.events.catalogue import EventData, FactAsserted, ValueReadmitted, ValueRejected
from engramlog_server.events.cipher import SECRET_BYTES
from engramlog_server.events.envelope import DIGEST_BYTES, derived_id, digest, from_micros, micros, utc_text
from engramlog_server.events.errors import InputError, refused
from engramlog_server.events.text import bytes_told
from engramlog_server.events.vocabulary import MOST_STATEMENTS, TIME_RULE, read_time
from engramlog_server.projections.language.statements import STATEMENT_RULES, statement, statements_in
from engramlog_server.projections.memory.record import MAX_EDGES, Memory
from engramlog_server.projections.memory.rejection import (
    BEFORE_ANY,
    TURN_BYTES,
    Rejection,
    Rejections,
    readmitted,
    rejected,
    said_in,
)
from engramlog_server.projections.views.query import moment

Data = dict[str, Any]


class RecordLine(NamedTuple):
    """What one line tells."""

    shape: str
    data: Data
    """Of the `MemoryCreated`, as JSON; not yet checked by validation."""
    created_at: str
    """RFC 3339 in UTC."""
    session: Any
    """A text, or None; not yet checked either."""
    names: Mapping[str, str]
    """Path in `data` -> the record's own name of it, where they differ: for refusals."""
    ignored: tuple[str, ...] = ()
    """Fields that the shape does not know."""
    edges_left_out: int = 0
    status: str | None = None
    """Why the memory no longer stands (`deleted`, `superseded` ...), where an export told it all the same."""


TIMES = frozenset({"imported.updated_at", "imported.last_accessed_at", "imported.last_reinforced_at"})
"""Paths in `data` that hold a time."""


def text_list(record: Data, name: str) -> tuple[str, list[str] | None]:
    """A list of texts, as a column of JSON (`name_json`) or as the list itself, and the name it stood under."""
    column = f"{name}_json"
    name = column if given(record, column) is not None else name
    value = told = given(record, name)
    if isinstance(told, str):
        try:
            value = orjson.loads(told)
        except orjson.JSONDecodeError:
            value = told
    if value is None:
        return name, None
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise refused(name, short(told), 'a JSON list of texts, such as ["one","two"]')
    return name, without_repeats(value)


def carried(record: Data, table: Mapping[str, str], assume_utc: bool) -> Data:
    """The fields that keep their value, at their place in a `MemoryCreated`; those of no value are left out."""
    data: Data = {"imported": {}}
    for name, path in table.items():
        value = record.get(name) if path in ("memory_id", "content") else given(record, name)
        if value is None:
            continue
        if path in TIMES:
            value = instant(value, name, assume_utc)
        into, _, last = path.rpartition(".")
        (data[into] if into else data)[last] = value
    return data


def given(record: Data, name: str) -> Any:
    """The value of an optional field; null and the empty text, which columns hold for none, are none."""
    value = record.get(name)
    return None if value == "" else value


def unknown(record: Data, known: Collection[str]) -> tuple[str, ...]:
    """Names of the fields that a shape does not know."""
    return tuple(name for name in record if name not in known)


def without_repeats(values: list[Any]) -> list[Any]:
    """Texts without repetitions; what holds anything else is left to validation."""
    return list(dict.fromkeys(values)) if all(isinstance(value, str) for value in values) else values


def beginning(record: Data, name: str, assume_utc: bool) -> str:
    """When the memory was made, RFC 3339 in UTC; a record without it is refused."""
    if record.get(name) is None:
        raise refused(name, None, f"when the memory began: {TIME_RULE}")
    return instant(record[name], name, assume_utc)


def instant(value: object, field: str, assume_utc: bool) -> str:
    """RFC 3339 in UTC of a record's time. One without a zone is refused, or is in UTC where the caller says so."""
    try:
        return utc_text(read_time(value))
    except PydanticCustomError:
        pass
    try:
        moment = utc_text(read_time(f"{value}Z"))
    except PydanticCustomError:
        raise refused(field, short(value), TIME_RULE) from None
    if not assume_utc:
        raise refused(
            field, short(value), f"{TIME_RULE}; this one has no zone: import with --assume-utc if such times are in UTC"
        )
    return moment


def short(value: object) -> str:
    """What was got, of a length that a message can carry."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 80 else text[:80] + "…"


OF_THE_LOG = ("recorded_at", "principal", "late_by")
"""What our own lines tell of the log that they come from; the log that takes them in tells its own."""
CUT = "cut"
"""What ends an export that ended before its end; no record of any shape has this field."""
PART = "part"
"""What kind of line it is, of an export of everything; a memory's has none."""
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


def read_line(line: bytes) -> Data:
    """One line of JSON as an object. Raises InputError for anything else, and for the mark of an export that was cut."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        if (told := bytes_told(line)) is not None:
            raise refused("record", told, "one JSON object a line, in UTF-8") from None
        raise refused("record", line[:80].decode("utf-8", "replace"), f"one JSON object a line ({error})") from None
    if not isinstance(record, dict):
        raise refused("record", short(record), "one JSON object a line")
    if record.keys() == {CUT}:
        raise refused("record", "the mark of an export that ended before its end", "a whole export: export again")
    return record


def at_line(problem: InputError, number: int) -> InputError:
    """The same, telling in which line."""
    return InputError(f"line {number}: {problem.message}", line=number, **problem.context)


def read_record(record: Data, shape: str = "auto", *, assume_utc: bool = False) -> RecordLine:
    """A line's object as a record of a shape, or of the one that its fields show (`auto`).

    Raises InputError for what is of no known shape, or holds what cannot be turned into ours.
    """
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
        "fields " + short(", ".join(record) or "none"),
        "a record with engramlog (our own export), createdAt (ebbinghaus) or created_at (consolidating); or name its shape",
    )


def _engramlog(record: Data, assume_utc: bool) -> RecordLine:
    version, status = record.get("engramlog", FORMAT), record.get("status")
    if type(version) is not int or version != FORMAT:
        raise refused("engramlog", short(version), f"{FORMAT}: the version of an exported line that this release reads")
    if status is not None and not isinstance(status, str):
        raise refused("status", short(status), "a word, or nothing for a memory that stands")
    apart = ("engramlog", "status", "created_at", "session", *OF_THE_LOG)
    data: Data = {name: value for name, value in record.items() if name not in apart and value is not None}
    counters = data.setdefault("imported", {})
    if isinstance(counters, dict):
        counters = {name: value for name, value in counters.items() if value is not None}
        for path in TIMES:
            name = path.removeprefix("imported.")
            if name in counters:
                counters[name] = instant(counters[name], path, assume_utc)
        data["imported"] = counters
    names = {"session_id": "session", "occurred_at": "created_at"}
    return RecordLine(
        "engramlog", data, beginning(record, "created_at", assume_utc), record.get("session"), names, status=status
    )


def _ebbinghaus(record: Data, assume_utc: bool) -> RecordLine:
    data = carried(record, _EBBINGHAUS, assume_utc)
    told = data.setdefault("kind", "note")
    data["category"] = CATEGORY_OF_KIND.get(told, "fact") if isinstance(told, str) else "fact"
    if isinstance(data.get("keywords"), list):
        data["keywords"] = without_repeats(data["keywords"])
    names = {path: name for name, path in _EBBINGHAUS.items()} | {"occurred_at": "createdAt", "source": "source.type"}
    session = _origin(given(record, "source"), data, names)
    left_out = _associate(record, data["imported"], names)
    known = {*_EBBINGHAUS, "createdAt", "source", "associations"}
    return RecordLine(
        "ebbinghaus", data, beginning(record, "createdAt", assume_utc), session, names, unknown(record, known), left_out
    )


def _origin(source: Any, data: Data, names: dict[str, str]) -> Any:
    """Where an entry came from (seed 004, section 3.2), put into `data`; gives its chat, which is our session."""
    data["source"] = "import"
    if source is None:
        return None
    kind = source.get("type") if isinstance(source, dict) else None
    if kind not in SOURCE_TYPES:
        allowed = "an object with a type (" + ", ".join(SOURCE_TYPES) + "), and taskId, chatId, messageId where known"
        raise refused("source", short(source), allowed)
    if kind == "manual":
        data["source"] = "user"
    if (task := given(source, "taskId")) is not None:
        data["task"] = task
    if (message := given(source, "messageId")) is not None:
        data["source_turns"] = [message]
    names |= {"task": "source.taskId", "source_turns[0]": "source.messageId", "session_id": "source.chatId"}
    return given(source, "chatId")


def _associate(record: Data, counters: Data, names: dict[str, str]) -> int:
    """An entry's associations, put into its counters: the strongest of each target (seed 004, section 5.2), none to itself.

    The strongest 32 stay; gives how many do not.
    """
    told = given(record, "associations")
    if told is None:
        return 0
    if not isinstance(told, list):
        raise refused("associations", short(told), "a list of {targetId, weight, type}")
    best: dict[str, tuple[float, int]] = {}
    for number, one in enumerate(told):
        field = f"associations[{number}]"
        if not isinstance(one, dict) or not isinstance(one.get("targetId"), str):
            raise refused(field, short(one), "an object {targetId, weight, type}, targetId being a text")
        weight = one.get("weight")
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            raise refused(f"{field}.weight", short(weight), "a number from 0 to 1")
        known = best.get(one["targetId"])
        if one["targetId"] != record.get("id") and (known is None or weight > known[0]):
            best[one["targetId"]] = (weight, number)
    order = sorted(best.items(), key=lambda item: (-item[1][0], item[1][1]))
    counters["associations"] = []
    for place, (target, (weight, number)) in enumerate(order[:MAX_EDGES]):
        link = given(told[number], "type")
        counters["associations"].append(
            {"memory_id": target, "weight": weight} | ({} if link is None else {"link": link})
        )
        ours, theirs = f"imported.associations[{place}]", f"associations[{number}]"
        names |= {f"{ours}.memory_id": f"{theirs}.targetId", f"{ours}.link": f"{theirs}.type", ours: theirs}
    return max(len(order) - MAX_EDGES, 0)


def _consolidating(record: Data, assume_utc: bool) -> RecordLine:
    data = carried(record, _CONSOLIDATING, assume_utc)
    data |= {"category": "fact", "source": "import"}
    data.setdefault("kind", "note")
    score = "confidence_score" if given(record, "confidence_score") is not None else "confidence"
    tags_name, tags = text_list(record, "context_tags")
    related_name, related = text_list(record, "related_ids")
    emotion, key = given(record, "emotional_weight"), given(record, "key")
    for path, value in (("confidence", given(record, score)), ("tags", tags)):
        if value is not None:
            data[path] = value
    if key is not None:
        data["keywords"] = [key]
    if emotion is not None and (emotion != 0 or tags):  # 0 beside no tags is the column's default: nobody looked
        data["emotion"] = emotion
    names = {path: name for name, path in _CONSOLIDATING.items()} | {
        "occurred_at": "created_at",
        "confidence": score,
        "emotion": "emotional_weight",
        "keywords[0]": "key",
        "tags": tags_name,
    }
    targets = [one for one in related or () if one != data.get("memory_id")]
    for place, target in enumerate(targets[:MAX_EDGES]):
        edges = data["imported"].setdefault("associations", [])
        edges.append({"memory_id": target, "weight": RELATED_WEIGHT, "link": "related"})
        names[f"imported.associations[{place}].memory_id"] = related_name
    known = {*_CONSOLIDATING, "created_at", "key", "confidence", "confidence_score", "emotional_weight"}
    known |= {name + end for name in ("context_tags", "related_ids") for end in ("", "_json")}
    began, left_out = beginning(record, "created_at", assume_utc), max(len(targets) - MAX_EDGES, 0)
    return RecordLine("consolidating", data, began, None, names, unknown(record, known), left_out)


SHAPES: Mapping[str, Callable[[Data, bool], RecordLine]] = {
    "engramlog": _engramlog,
    "ebbinghaus": _ebbinghaus,
    "consolidating": _consolidating,
}


def check_shape(shape: str) -> str:
    """A shape's name, or `auto`; else InputError."""
    if shape != "auto" and shape not in SHAPES:
        raise refused("shape", shape, ", ".join(("auto", *SHAPES)))
    return shape


REJECTION = "rejection"
"""Status of such a line: one that reads it as a memory passes it over, and counts it."""
REASON = "carried over by an import"
KEYED_OTHERWISE = "keyed by another secret"


class CarriedRejection(NamedTuple):
    """What a line tells of one value. Times are microseconds since 1970."""

    secret: bytes
    value: bytes
    rejected_at: int | None
    until: int | None
    readmitted_at: int | None
    turns: tuple[str, ...] = ()

    def is_known(self, rejections: Rejections) -> bool:
        """Whether nothing of it would be new to an owner of whom this is known."""
        try:
            after = rejections
            if self.rejected_at is not None:
                after = rejected(after, (self.value,), self.rejected_at, 0, self.until)
                after = said_in(after, (self.value,), [bytes.fromhex(one) for one in self.turns])
            if self.readmitted_at is not None:
                after = readmitted(after, (self.value,), self.readmitted_at, 0)
        except ValueError:
            return False  # no room: the fold tells it
        return after == rejections

    def events(self, owner: str) -> Iterator[tuple[str, int, EventData]]:
        """Event id, time and data of what says it to an owner; the same for the same line."""
        values = (self.value.hex(),)
        if self.rejected_at is not None:
            until = None if self.until is None else from_micros(self.until)
            data = ValueRejected(values=values, rules=STATEMENT_RULES, until=until, reason=REASON, turns=self.turns)
            name = derived_id("import rejection", owner, *values, str(self.rejected_at), str(self.until))
            yield name, self.rejected_at, data
        if self.readmitted_at is not None:
            name = derived_id("import readmission", owner, *values, str(self.readmitted_at))
            yield name, self.readmitted_at, ValueReadmitted(values=values, rules=STATEMENT_RULES, reason=REASON)


def rejection_lines(rejections: Iterable[Rejection], secret: bytes) -> Iterator[Data]:
    """A JSON-ready line a value. Whoever has one can confirm a guess of what it rejects."""
    for one in rejections:
        rejected_at = one.at if one.at > BEFORE_ANY else None
        told = {
            "engramlog": FORMAT,
            "status": REJECTION,
            "created_at": moment(one.readmitted_at if rejected_at is None else rejected_at),
            "secret": secret.hex(),
            "value": one.digest.hex(),
            "rejected_at": moment(rejected_at),
            "until": moment(one.until),
            "readmitted_at": moment(one.readmitted_at),
            "turns": [turn.hex() for turn in one.turn_hashes[:MOST_STATEMENTS]] or None,
        }
        yield {name: value for name, value in told.items() if value is not None}


def read_rejection(data: Mapping[str, Any]) -> CarriedRejection:
    """What such a line tells. Raises InputError."""
    times = [_instant(data, name) for name in ("rejected_at", "until", "readmitted_at")]
    if times[0] is None and times[2] is None:
        raise refused("rejected_at", None, "when it was rejected, or readmitted_at")
    turns = data.get("turns", [])
    if not isinstance(turns, list) or len(turns) > MOST_STATEMENTS:
        raise refused("turns", short(turns), f"at most {MOST_STATEMENTS} hashes of turns, as an export writes them")
    hashes = tuple(_hex(one, "turns", TURN_BYTES).hex() for one in turns)
    secret, value = _hex(data.get("secret"), "secret", SECRET_BYTES), _hex(data.get("value"), "value", DIGEST_BYTES)
    return CarriedRejection(secret, value, times[0], times[1], times[2], tuple(dict.fromkeys(hashes)))


def _hex(told: object, name: str, size: int) -> bytes:
    if not isinstance(told, str) or len(told) != 2 * size or any(one not in "0123456789abcdef" for one in told):
        raise refused(name, short(told), f"{2 * size} hexadecimal digits, as an export writes them")
    return bytes.fromhex(told)


def _instant(data: Mapping[str, Any], name: str) -> int | None:
    told = data.get(name)
    if told is None:
        return None
    try:
        return micros(read_time(told))
    except ValueError:
        raise refused(name, short(told), "a time as an export writes it, RFC 3339 with a zone") from None


def told_here(
    carried: Collection[CarriedRejection], memories: Iterable[Memory], own: bytes
) -> Iterator[tuple[CarriedRejection, CarriedRejection]]:
    """Those that one of these memories says, each with the same under the owner's own secret. Raises ValueError for no secret."""
    waiting: dict[bytes, dict[bytes, CarriedRejection]] = {}
    for one in carried:
        waiting.setdefault(one.secret, {})[one.value] = one
    for memory in memories:
        for said in _said(memory):
            for secret, values in waiting.items():
                found = values.pop(digest(secret, said), None) if values else None
                if found is not None:
                    yield found, found._replace(secret=own, value=digest(own, said))


def _said(memory: Memory) -> Iterator[bytes]:
    if memory.content:
        yield statement(memory.content)
    for one in memory.facts:
        asserted = FactAsserted(
            subject=one.subject,
            predicate=one.predicate,
            object=one.object,
            negation=one.negation,
            condition=one.condition,
            evidence=(memory.id,),
        )
        yield from statements_in(asserted)
