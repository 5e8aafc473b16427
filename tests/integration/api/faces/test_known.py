"""`known`: what was recorded by then, as it was answered then; with `as_of` or without, through every face that has `as_of`."""

from __future__ import annotations

import io
import re
from contextlib import nullcontext, redirect_stdout
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
import pytest

from engramlog_server.api.cli.main import run, whole
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import BeyondHead, InputError, NotFound
from engramlog_server.events.partitions import parse_position, partition_of
from tests.acceptance.commands.test_cli_shapes import commands
from tests.acceptance.helpers.store import Store, day
from tests.given.client import connected, service
from tests.given.events import created, mentioned, negated
from tests.given.http import TOKEN, HttpStore
from tests.given.http import created as http_created
from tests.given.http import event as http_event
from tests.rows import each_row

LATER = "2100-01-01T00:00:00Z"


def recorded(store: Store, position: str) -> int:
    partition, seq = parse_position(position)
    (found,) = store.app.log.read_at(partition, [seq])
    assert found.recorded is not None
    return found.recorded


def text(instant: int) -> str:
    return utc_text(from_micros(instant))


def plain(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without what tells which question it is of."""
    return {name: value for name, value in answer.items() if name not in ("as_of", "known", "at", "position")}


# --- what it means


def test_a_negation_recorded_later_and_dated_earlier_changes_what_happened_and_not_what_was_known(store: Store) -> None:
    owner = store.owner()
    before = store.tell(owner, created("I like coffee", "coffee", day=0))
    then, known = day(2), text(recorded(store, before))
    asked = store.reader.search(owner, "coffee", as_of=then, trace=False)
    late = store.tell(owner, negated("coffee", 1, resolution="latest_wins"), created("I like tea", "tea", day=1))
    for place in (known, before):
        assert plain(store.reader.search(owner, "coffee", as_of=then, known=place, trace=False)) == plain(asked)
    for of_now in ({}, {"known": late}, {"known": LATER}, {"known": "2100-01-01"}):
        (found,) = store.reader.list(owner, as_of=then, mode="review", **of_now)["memories"][1:]
        assert (found["id"], found["is_negated"]) == ("coffee", True)


def test_known_alone_weighs_at_the_instant_at_which_it_was_recorded_whether_it_is_told_by_time_or_by_place(
    store: Store,
) -> None:
    owner = store.owner()
    position = store.tell(owner, created("coffee", "a", day=0), created("coffee too", "b", day=30))
    at = text(recorded(store, position))
    store.tell(owner, mentioned("a", day=3))
    by_place, by_time = (store.reader.list(owner, known=one, mode="debug") for one in (position, at))
    assert plain(by_place) == plain(by_time)
    assert by_place["memories"] == store.reader.list(owner, as_of=position, at=at, mode="debug")["memories"]
    assert (by_place["known"], by_time["known"], by_place["as_of"]) == (position, at, None)
    assert by_place["position"] == by_time["position"] == position


def test_before_anything_was_recorded_nothing_was_known(store: Store) -> None:
    owner = store.owner()
    position = store.tell(owner, created("coffee", "a", day=0))
    partition = position.partition(":")[0]
    for known in (text(recorded(store, position) - 1), "2024-06-01", f"{partition}:0"):
        answer = store.reader.list(owner, known=known, mode="debug")
        assert (answer["memories"], answer["position"], answer["behind"]) == ([], f"{partition}:0", 0)
        assert store.reader.history(owner, known=known)["changes"] == []
        with pytest.raises(NotFound):
            store.reader.get(owner, "a", known=known)


def test_a_day_ends_by_the_clocks_of_the_owner_on_either_line(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("coffee", "a", day=0.6), created("tea", "b", day=0.7))  # 22:24 and 00:48 UTC
    assert store.listed(owner, "debug", as_of="2024-01-01") == {"a"}
    assert store.listed(owner, "debug", as_of="2024-01-02") == {"a", "b"}
    today = text(store.app.log.now())[:10]
    assert store.listed(owner, "debug", known=today) == {"a", "b"}


@each_row(
    ("known", "allowed"),
    [
        ("yesterday", "RFC 3339.* a day, .*or a position"),
        ("2023-10-22T12:00:00", "time zone.* a day, .*or a position"),
        ("2023-02-30", "a day of the calendar"),
        ("1899-12-31", "not before 1900"),
        ("99:1", "whose partition is"),
    ],
)
def test_what_is_no_time_and_no_place_is_refused_by_the_name_of_the_field(
    store: Store, known: str, allowed: str
) -> None:
    for field in ("known", "as_of"):
        with pytest.raises(InputError, match=rf"^{field}: got .*{allowed}"):
            store.reader.list("somebody", **{field: known})  # type: ignore[arg-type]


def test_a_position_that_is_not_there_yet_was_known_to_nobody(store: Store) -> None:
    partition = partition_of("somebody", store.app.log.partitions)
    with pytest.raises(BeyondHead):
        store.reader.list("somebody", known=f"{partition}:999999")


# --- pages, traces


@each_row("as_of", [None, LATER])
def test_pages_are_of_what_was_known_at_the_first_whatever_is_recorded_between_them(
    store: Store, as_of: str | None
) -> None:
    owner = store.owner()
    store.tell(owner, *(created(f"coffee number {n}", f"m{n}", day=store.yesterday) for n in range(6)))
    asked: dict[str, Any] = {"known": LATER, "as_of": as_of, "trace": False, "limit": 2, "mode": "debug"}
    whole = store.reader.search(owner, "coffee", **asked | {"limit": 6})["results"]
    first = store.reader.search(owner, "coffee", **asked)
    store.tell(owner, *(created(f"coffee coffee {n}", f"n{n}", day=store.yesterday) for n in range(3)))
    second = store.reader.search(owner, "coffee", cursor=first["next"], **asked)
    third = store.reader.search(owner, "coffee", cursor=second["next"], **asked)
    found = [one["id"] for page in (first, second, third) for one in page["results"]]
    assert found == [one["id"] for one in whole]
    assert (third["next"], second["known"], second["position"]) == (None, LATER, first["position"])
    with pytest.raises(InputError, match="cursor"):
        store.reader.search(owner, "coffee", cursor=first["next"], **asked | {"known": "2099-01-01"})


def test_pages_of_a_history_are_of_one_known(store: Store) -> None:
    owner = store.owner()
    known = store.tell(owner, created("coffee", "a"), *(mentioned("a", day=n) for n in range(1, 5)))
    whole = store.reader.history(owner, known=known)
    first = store.reader.history(owner, limit=2, known=known)
    store.tell(owner, mentioned("a", day=2.5))
    rest = store.reader.history(owner, limit=1_000, cursor=first["next"], known=known)
    assert first["changes"] + rest["changes"] == whole["changes"]
    with pytest.raises(InputError, match="cursor"):
        store.reader.history(owner, limit=2, cursor=first["next"])


def test_questions_about_what_was_known_leave_no_trace_unless_somebody_only_looks(store: Store) -> None:
    owner = store.owner()
    known = store.tell(owner, created("coffee", "a", day=store.yesterday))
    store.flushed()
    head = store.head(owner)
    for place in (known, LATER):
        store.reader.search(owner, "coffee", known=place)
        store.reader.get(owner, "a", known=place)
    store.flushed()
    assert store.head(owner) == head
    store.reader.get(owner, "a", known=known, inspect=True)
    store.flushed()
    assert store.head(owner) == head + 1


# --- every face


def fields_of(document: dict[str, Any], schema: dict[str, Any]) -> set[str]:
    """Names of a schema's fields, references and alternatives followed."""
    if "$ref" in schema:
        return fields_of(document, document["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    more = [fields_of(document, one) for kind in ("anyOf", "allOf") for one in schema.get(kind, ())]
    return set(schema.get("properties", ())).union(*more)


def asking(document: dict[str, Any]) -> dict[tuple[str, str], tuple[set[str], set[str]]]:
    """Of every operation what it takes, in query or body, and what its answer has."""
    found = {}
    for path, operations in document["paths"].items():
        for method, told in operations.items():
            takes = {one["name"] for one in told.get("parameters", ())}
            for content in told.get("requestBody", {}).get("content", {}).values():
                takes |= fields_of(document, content["schema"])
            answer = told["responses"].get("200", {}).get("content", {}).get("application/json", {})
            found[method, path] = (takes, fields_of(document, answer.get("schema", {})))
    return found


def test_every_route_that_takes_as_of_takes_known_and_says_so_in_its_answer(http: HttpStore) -> None:
    operations = asking(http.client.get("/v1/openapi.json").json())
    with_as_of = {name for name, (takes, _) in operations.items() if "as_of" in takes} - {("get", "/v1/access")}
    assert len(with_as_of) > 15
    assert with_as_of == {name for name, (takes, _) in operations.items() if "known" in takes}
    echoing = {name for name, (_, has) in operations.items() if "as_of" in has}
    streamed = {(method, "/v1/owners/{owner}/export") for method in ("get", "post")}  # these tell it in headers
    streamed |= {("get", f"/v1/owners/{{owner}}/{one}.svg") for one in ("map", "memories/{memory_id}/compare")}
    assert echoing >= with_as_of - streamed
    assert {name for name in echoing if not operations[name][1] & {"known", "known_by"}} == set()


def with_option(option: str) -> set[str]:
    """The commands that have it."""
    return {name for name, one in commands(whole()) if any(option in each.opts for each in one.params)}


def corrected_later(http: HttpStore, owner: str) -> str:
    """Somebody drinks coffee, and later it is tea, from the next day on; the position at which only the coffee was known."""
    known = http.told(owner, http_created("coffee", "I drink coffee", owner=owner, at="2026-01-05T08:00:00Z"))
    http.told(owner, http_event("MemoryNegated", owner=owner, at="2026-01-06T08:00:00Z", memory_id="coffee"))
    http.told(owner, http_created("tea", "I drink tea", owner=owner, at="2026-01-06T08:00:00Z"))
    return known


APART = frozenset({"diff", "events", "answers"})
"""What compares moments, or tells of events and turns, which have answers of other shapes: it is crossed in
`tests/integration/api/auditing` and in `test_lines_crossed`."""


@each_row("line", ["known", "as_of"])
def test_every_route_answers_on_both_lines(http: HttpStore, line: str) -> None:
    owner = f"bo-{line}"
    known = corrected_later(http, owner)
    operations = asking(http.client.get("/v1/openapi.json").json())
    asked = 0
    for (method, path), (takes, _) in operations.items():
        if "known" not in takes or path.rpartition("/")[2] in APART or "{turn_id}" in path or "{partition}" in path:
            continue
        where = path.replace("{owner}", quote(owner)).replace("{memory_id}", "coffee")
        assert not re.search("[{}]", where)
        asks = [name for name in ("query", "topic", "text") if name in takes and "above" not in takes]
        said = {line: known} | dict.fromkeys(asks, "coffee")
        answer = http.client.post(where, json=said) if method == "post" else http.client.get(where, params=said)
        assert answer.status_code == 200, (where, answer.text)
        if path.endswith("/export"):
            header = f"engramlog-{line.replace('_', '-')}"
            assert (answer.headers[header], answer.headers["engramlog-position"]) == (known, known)
            assert [orjson.loads(line)["memory_id"] for line in answer.text.splitlines()] == ["coffee"]
            continue
        if path.endswith(".svg"):
            header = f"engramlog-{line.replace('_', '-')}"
            assert (answer.headers[header], answer.headers["engramlog-position"]) == (known, known)
            assert "tea" not in answer.text, where
            continue
        told = answer.json()
        assert told.get(f"{line}_by", told.get(line)) == known, where
        assert told["position"] == known, where
        assert "tea" not in answer.text, where
        assert told.get("is_negated", False) is False
        later = http.client.get(f"/v1/owners/{owner}/memories/tea", params={line: known})
        assert later.status_code == 404
        asked += 1
    assert asked > 15


WORDS = {
    "search": ("coffee",),
    "assess": ("coffee",),
    "map": ("coffee",),
    "context": ("What do I drink?",),
    **dict.fromkeys(("get", "why", "provenance", "associations", "uses"), ("coffee",)),
}


def asked_by_command(http: HttpStore, *words: str) -> tuple[int, str]:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with redirect_stdout(out):
        code = run(lambda: nullcontext(http.application), list(words))
    out.flush()
    return code, out.buffer.getvalue().decode()  # type: ignore[attr-defined]


def test_every_command_answers_on_both_lines(http: HttpStore) -> None:
    known = corrected_later(http, "by-command")
    for name, line in product(sorted(with_option("--known") - APART), ("known", "as_of")):
        option = f"--{line.replace('_', '-')}"
        code, told = asked_by_command(http, name, "by-command", *WORDS.get(name, ()), option, known, "--json")
        assert code == 0, name
        answer = orjson.loads(told)
        assert answer.get(f"{line}_by", answer.get(line)) == known, name
        assert answer["position"] == known, name
        assert "tea" not in told, name
        assert answer.get("is_negated", False) is False
    _, table = asked_by_command(http, "search", "by-command", "coffee", "--known", known)
    assert f"known {known}" in table
    _, told = asked_by_command(http, "get", "by-command", "coffee", "--reveal", "--known", known, "--json")
    assert orjson.loads(told)["known"] == known


def test_what_chooses_for_the_future_takes_no_known(http: HttpStore, capsys: pytest.CaptureFixture[str]) -> None:
    known = corrected_later(http, "chooser")
    for words in (
        ("profile", "chooser", "ebbinghaus"),
        ("review", "chooser", "coffee", "--grade", "4"),
        ("stats",),
    ):
        code, _ = asked_by_command(http, *words, "--known", known)
        assert code != 0
        assert f"known: got '{known}'" in capsys.readouterr().err


def test_every_verb_of_the_client_answers_on_both_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMLOG_TOKEN", TOKEN)
    with service(tmp_path) as running, connected("sync", running.url, owner="by-client") as memory:
        known = corrected_later(running.http, "by-client")
        for verb in ("search", "context", "get", "get_all", "history", "why", "uses", "provenance", "fading"):
            words = () if verb in ("get_all", "history", "fading") else ("coffee",)
            for line in ("known", "as_of"):
                answer = getattr(memory, verb)(*words, **{line: known})
                assert (getattr(answer, line), answer.position) == (known, known), (verb, line)
                assert "tea" not in str(answer.as_dict()), verb
        assert memory.get("coffee", known=known, reveal=True).known == known
        assert memory.get("coffee", known=known).is_negated is False
        assert memory.get("coffee", known="2100-01-01").is_negated is True
