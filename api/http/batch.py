"""A request of events taken apart into the raw bytes of each, as they were sent: the door reads those and nothing else.

Four forms: a JSON array of envelopes; a JSON object `{"events": [...], "expected_heads": {owner: seq}}`; one envelope by itself;
JSON Lines.
"""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from typing import Annotated, Any, NamedTuple

import msgspec
from pydantic import Field, TypeAdapter, ValidationError

from api.http.problem import input_error
from events.errors import InputError, refused
from events.log import check_request_size
from events.text.names_once import name_seen_twice
from events.text.unreadable import UNREADABLE

FORMS = 'an event, a JSON array of events, {"events": [...], "expected_heads": {owner: seq}}, or JSON Lines as application/x-ndjson'
MOST_LENIENT = 8 * 1024 * 1024
"""Bytes of a body that is read once more to say what is wrong with it: for so long no other thread gets its turn."""
_HEADS = TypeAdapter(dict[str, Annotated[int, Field(ge=0, strict=True)]])


class Batch(NamedTuple):
    """The events of a request, each as its own JSON text, and the heads its producer expects."""

    events: list[bytes]
    expected_heads: dict[str, int]

    @property
    def first_owner(self) -> str:
        """The owner of the first event, where it can be read: in whose line the request waits."""
        return next(iter(_owners(self.events[:1])), "")


class _Whole(msgspec.Struct, forbid_unknown_fields=True):
    events: list[msgspec.Raw]
    expected_heads: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Single(msgspec.Struct):
    """An envelope by itself: it names what happened to whom, and holds no `events`."""

    owner: msgspec.Raw
    data: msgspec.Raw
    events: msgspec.UnsetType = msgspec.UNSET


class _Named(msgspec.Struct):
    owner: str


def read_lines(body: bytes) -> Batch:
    """JSON Lines; blank lines are passed over and not counted."""
    return Batch([line for line in (one.strip() for one in body.removeprefix(BOM_UTF8).split(b"\n")) if line], {})


def read_batch(body: bytes) -> Batch:
    """A JSON array, an object with `events`, or one event. Raises InputError where it is none of them."""
    is_object = body.lstrip()[:1] == b"{"
    try:
        if is_object:
            return _of_object(body, msgspec.json.decode(body, type=_Whole))
        return Batch([bytes(raw) for raw in msgspec.json.decode(body, type=list[msgspec.Raw])], {})
    except msgspec.ValidationError as error:
        return _single(body, error)
    except UNREADABLE as error:
        return _lenient(body, error)


def _single(body: bytes, strict: Exception) -> Batch:
    """One envelope by itself. Raises InputError where it is none."""
    try:
        msgspec.json.decode(body, type=_Single)
    except msgspec.ValidationError:
        raise refused("body", _start(body), f"{FORMS} ({strict})") from None
    except UNREADABLE:
        return _lenient(body, strict)
    return Batch([body.strip()], {})


def _of_object(body: bytes, whole: _Whole) -> Batch:
    """What an object holds. Of `events` twice one would be passed over: its quotation marks are missing in what was read."""
    events = [bytes(raw) for raw in whole.events]
    heads = b"" if isinstance(whole.expected_heads, msgspec.UnsetType) else bytes(whole.expected_heads)
    names = 2 if heads else 1
    if body.count(b'"') != 2 * names + sum(raw.count(b'"') for raw in events) + heads.count(b'"'):
        raise refused("body", "the same name twice in one object", "each name once")
    return _with_heads(events, heads or b"{}")


def _lenient(body: bytes, strict: Exception) -> Batch:
    """Python's reader lets lone surrogates and NaN pass, so that the door can name the event and the field that hold one."""
    try:
        document = json.loads(body.decode()) if len(body) <= MOST_LENIENT else None
        heads = "{}"
        if isinstance(document, dict) and document.keys() <= {"events", "expected_heads"}:
            heads = json.dumps(document.get("expected_heads", {}))
            document = document.get("events")
        elif isinstance(document, dict) and document.keys() >= {"owner", "data"} and "events" not in document:
            document = [document]
        if isinstance(document, list):
            check_request_size(len(document))
        events = [json.dumps(event).encode() for event in document] if isinstance(document, list) else None
    except (ValueError, RecursionError):
        events = None
    if events is None:
        raise refused("body", _start(body), f"{FORMS} ({strict})") from None
    return _with_heads(events, heads.encode())


def _with_heads(events: list[bytes], raw: bytes) -> Batch:
    """Heads must be whole numbers, and of owners that the request is about: a misspelt owner would guard nothing."""
    try:
        if twice := name_seen_twice(raw):
            raise refused("expected_heads", f"{twice[:60]} twice", "each owner once")
        heads = _HEADS.validate_json(raw)
    except ValidationError as error:
        raise _misfit(error) from None
    unheard = sorted(heads.keys() - _owners(events)) if heads else []
    if unheard:
        raise refused("expected_heads", ", ".join(unheard[:10]), "owners of events in the same request")
    return Batch(events, heads)


def _misfit(error: ValidationError) -> InputError:
    told: list[dict[str, Any]] = [
        {**one, "loc": ("body", "expected_heads", *one["loc"])} for one in error.errors(include_url=False)
    ]
    return input_error(told)


def _owners(events: list[bytes]) -> set[str]:
    """The owners named, where they can be read; the door tells of the others."""
    decoder = msgspec.json.Decoder(_Named)
    owners: set[str] = set()
    for raw in events:
        try:
            owners.add(decoder.decode(raw).owner)
        except UNREADABLE:
            continue
    return owners


def _start(body: bytes) -> str:
    return body[:60].decode("utf-8", "replace")
