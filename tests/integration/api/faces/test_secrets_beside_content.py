"""A secret told beside a memory's content, and one that is asked for: shown by no face, in no log line, in no embedder's hands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.api.checks import HIDDEN, QUERY_HIDDEN
from engramlog_server.api.services.accesses import AccessRecorder
from engramlog_server.events.catalogue import SynonymDefined, ToolResultRecorded, TurnRecorded
from engramlog_server.events.envelope import new_event_id
from engramlog_server.events.errors import InputError, InvalidEvent
from engramlog_server.events.partitions import partition_of
from engramlog_server.ops.logs import start_logging, teller
from engramlog_server.projections.embedding.choosing import Embedders
from engramlog_server.projections.redis.vectors import Meanings
from tests.acceptance.helpers.store import Store, embedded_store
from tests.doubles.embedding import WordEmbedder
from tests.given.events import Told, created, negated, of_old
from tests.given.faces import CHINESE, World, world
from tests.rows import each_row

VALUE = "hunter2-Xq9!"
SECRET = f"my password is {VALUE}"
SECRETS = {"en": (SECRET, VALUE), "zh": ("我的密码是 Xq9hunter!", "Xq9hunter!")}


class Watched(WordEmbedder):
    """An embedder that remembers what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[str] = []

    def question(self, text: str) -> Any:
        self.given.append(text)
        return super().question(text)


WATCHED = Watched()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with pytest.MonkeyPatch.context() as patch:
        embedders = Embedders.alone(lambda: WATCHED)
        patch.setattr(
            "engramlog_server.ops.wiring.meanings_of", lambda _settings, opened: Meanings(embedders, opened.vectors)
        )
        with embedded_store(tmp_path_factory.mktemp("beside")) as opened:
            yield opened


@pytest.fixture(scope="module")
def faces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(tmp_path_factory.mktemp("faces"), CHINESE) as made:
        yield made


# --- labels are refused at the door, and the refusal does not repeat them -------------------------------------------

LABELS: dict[str, dict[str, Any]] = {
    "project": {"type": "MemoryCreated", "project": SECRET},
    "task": {"type": "MemoryCreated", "task": SECRET},
    "tags": {"type": "MemoryCreated", "tags": ["drinks", SECRET]},
    "other tags": {"type": "MemoryRevised", "tags": [SECRET]},
    "keyword": {"type": "SynonymDefined", "keyword": SECRET, "synonym": "tea"},
    "synonym": {"type": "SynonymDefined", "keyword": "tea", "synonym": SECRET},
    "query": {"type": "MemoriesAccessed", "query": SECRET},
    "tool": {"type": "ToolResultRecorded", "tool": SECRET},
}
DATA: dict[str, dict[str, Any]] = {
    "MemoryCreated": {"memory_id": "m9", "content": "x", "category": "fact", "kind": "note", "source": "user"},
    "MemoryRevised": {"memory_id": "tea", "content": "x"},
    "SynonymDefined": {},
    "MemoriesAccessed": {
        "hits": [{"memory_id": "tea", "count": 1, "best_rank": 1, "last_at": "2026-01-01T00:00:00Z"}],
        "via": "recall",
    },
    "ToolResultRecorded": {"text": "x"},
}


def envelope(event_type: str, data: dict[str, Any]) -> dict[str, Any]:
    told = {"type": event_type, "owner": "alice", "occurred_at": "2026-01-05T08:00:00Z", "actor": "user", "data": data}
    return {"event_id": new_event_id(), **told}


@each_row("language", SECRETS)
@each_row("label", LABELS.values(), ids=LABELS)
def test_a_secret_label_is_refused_at_every_raw_face_and_not_repeated(
    faces: World, tmp_path: Path, label: dict[str, Any], language: str
) -> None:
    secret, value = SECRETS[language]
    told = json.loads(json.dumps(label, ensure_ascii=False).replace(SECRET, secret))
    event_type = told.pop("type")
    harmless = {name: ["x"] if isinstance(one, list) else "word" for name, one in told.items()}
    bad, good = (envelope(event_type, DATA[event_type] | fields) for fields in (told, harmless))
    answer = faces.client.post("/v1/events", json=[bad])
    assert (answer.status_code, HIDDEN in answer.text, value in answer.text) == (422, True, False)
    path = tmp_path / "events.jsonl"
    path.write_text(json.dumps(bad), "utf-8")
    with pytest.raises(AssertionError) as stopped:
        faces.command("append", str(path))
    assert (value in str(stopped.value), "withheld" in str(stopped.value)) == (False, True)
    assert faces.client.post("/v1/events", json=[good]).status_code == 200  # the control


def test_verbs_tools_and_importers_refuse_a_secret_label_too(faces: World, tmp_path: Path) -> None:
    answers = [
        faces.client.post("/v1/owners/alice/synonyms", json={"word": SECRET, "synonym": "tea"}).text,
        faces.tool("add_memory", content="I like tea", project=SECRET),
        faces.client.post(
            "/v1/owners/alice/import/records",
            json=[{"engramlog": 1, "created_at": "2026-01-01T00:00:00Z", **DATA["MemoryCreated"], "task": SECRET}],
        ).text,
    ]
    for one in answers:
        assert (HIDDEN in one, VALUE in one) == (True, False), one


def test_a_refusal_of_anything_else_repeats_no_secret_either(faces: World) -> None:
    data = DATA["MemoryCreated"] | {"category": SECRET}
    answers = [
        faces.client.post("/v1/events", json=[envelope("MemoryCreated", data)]),
        faces.client.post("/v1/owners/alice/memories/tea/negate", json={"resolution": SECRET}),
        faces.client.post("/v1/owners/alice/memories/tea/negate", json={"why": SECRET}),
        faces.client.get("/v1/owners/alice/search", params={"query": "tea", "ranking": SECRET}),
    ]
    for answer in answers:
        assert (answer.status_code, VALUE in answer.text, HIDDEN in answer.text) == (422, False, True), answer.text


@each_row("language", SECRETS)
def test_the_name_of_an_unknown_field_is_not_repeated_where_it_holds_a_secret(
    faces: World, tmp_path: Path, language: str
) -> None:
    secret, value = SECRETS[language]
    bad = envelope("MemoryCreated", DATA["MemoryCreated"] | {secret: 1})
    beside = envelope("MemoryCreated", DATA["MemoryCreated"]) | {secret.replace(" ", "_"): "x"}
    twice = json.dumps(envelope("MemoryCreated", DATA["MemoryCreated"]), ensure_ascii=False)
    twice = twice[:-1] + f', "{secret}": 1, "{secret}": 2}}'
    tea = "/v1/owners/alice/memories/tea"
    lines = {"content-type": "application/x-ndjson"}
    answers = [
        faces.client.post("/v1/events", json=[bad]),
        faces.client.post("/v1/events", json=[beside, bad]),
        faces.client.post("/v1/events", content=twice.encode(), headers=lines),
        faces.client.post(f"{tea}/negate", json={secret: "x"}),
        faces.client.post(
            f"{tea}/negate",
            content=f'{{"{secret}": 1, "{secret}": 2}}'.encode(),
            headers={"content-type": "application/json"},
        ),
        faces.client.post("/v1/owners/alice/profile", json={"parameters": {secret: 1}}),
        faces.client.get("/v1/owners/alice/search", params={"query": "tea", secret: "1"}),
    ]
    for answer in answers:
        assert (answer.status_code, value in answer.text, HIDDEN in answer.text) == (422, False, True), answer.text
    assert '"field":"data.[withheld' in answers[0].text
    told = faces.tool("add_memory", content="I like tea", **{secret: "x"})
    assert (value in told, HIDDEN in told) == (False, True), told
    path = tmp_path / "events.jsonl"
    path.write_text(json.dumps(bad), "utf-8")
    with pytest.raises(AssertionError) as stopped:
        faces.command("append", str(path))
    assert (value in str(stopped.value), "withheld" in str(stopped.value)) == (False, True)


def test_the_name_of_an_unknown_field_that_is_no_secret_is_repeated_and_not_at_any_length(faces: World) -> None:
    data = DATA["MemoryCreated"] | {"colour": 1}
    assert "data.colour: got 1" in faces.client.post("/v1/events", json=[envelope("MemoryCreated", data)]).text
    answer = faces.client.post("/v1/owners/alice/memories/tea/negate", json={"colour": 1, "x" * 100_000: 2})
    assert ("colour: got 1" in answer.text, len(answer.text) < 2_000) == (True, True)


# --- what older logs hold of them, and free text: withheld where it is read -----------------------------------------


def test_a_reason_that_holds_a_secret_is_withheld_by_every_face_and_kept_in_the_log(faces: World) -> None:
    faces.store.tell("alice", created("I like cocoa", "cocoa"), negated("cocoa", 1, reason=f"{SECRET}, so I left"))
    asked = [
        faces.get("/memories/cocoa"), faces.get("/memories/cocoa/why"), faces.get("/memories/cocoa/history"),
        faces.get("/history"), faces.get("/export", include="superseded"), faces.get("/memories", mode="debug"),
        faces.tool("get_memory_detail", memory_id="cocoa"), faces.tool("get_memory_detail", memory_id="cocoa", reasons=True),
        faces.resource("memory://memories/cocoa"),
        faces.command("get", "alice", "cocoa"), faces.command("why", "alice", "cocoa"), faces.command("history", "alice", "cocoa"),
        faces.command("export", "alice", "--include", "superseded"),
    ]  # fmt: skip
    assert [one for one in asked if VALUE in one] == []
    assert "withheld" in asked[0]
    assert VALUE in faces.command("get", "alice", "cocoa", "--reveal")


def test_labels_and_names_in_an_old_log_are_withheld_where_they_are_read(store: Store) -> None:
    owner = store.owner()
    day = store.yesterday
    session = {"session_id": "s"}
    store.tell(
        owner,
        of_old(created("Plain words", "m", day, project=SECRET, task=SECRET, tags=(SECRET,))),
        of_old(Told(SynonymDefined(keyword="tea", synonym=SECRET), day)),
        Told(TurnRecorded(turn_id="t1", role="other", speaker=SECRET, text="Good morning"), day + 0.1, extra=session),
        of_old(
            Told(
                ToolResultRecorded(tool=SECRET, text="It is cold in Berlin", turn_id="t1"),
                day + 0.11,
                "system",
                session,
            )
        ),
    )
    told = [
        store.reader.get(owner, "m", trace=False),
        store.reader.list(owner, mode="debug"),
        store.reader.history(owner),
        store.app.synonyms.synonyms(owner),
        store.app.contexts.context(owner, "How cold is it?", session="s", trace=False),
    ]
    assert [one for one in told if VALUE in str(one)] == []
    assert "(withheld)" in told[-1]["block"]


def test_no_log_line_holds_a_secret_in_an_id_a_reason_or_a_refusal() -> None:
    err = StringIO()
    with redirect_stderr(err):
        start_logging("info", pretty=False)
        tell = teller(owner="password:hunter2-Xq9")
        tell("something was refused", reason=SECRET, ids=[SECRET], fields={SECRET: 1}, query="x", count=2)
        tell("nothing to hide", reason="too long")
    first, second = map(json.loads, err.getvalue().splitlines())
    assert "hunter2" not in str(first)
    assert (first["reason"], first["count"], second["reason"]) == (HIDDEN, 2, "too long")


# --- queries --------------------------------------------------------------------------------------------------------


@each_row(("query", "value"), SECRETS.values(), ids=SECRETS)
def test_a_query_that_looks_secret_is_not_recorded_nor_given_to_an_embedder_and_the_answer_says_so(
    store: Store, query: str, value: str
) -> None:
    owner = store.owner()
    store.tell(
        owner,
        created("I like tea", "tea", store.yesterday),
        created("The password of the shed, 密码", "shed", store.yesterday),
    )
    store.app.embeddings.embed(owner)  # else nothing would be asked anyway
    WATCHED.given.clear()
    answer = store.reader.search(owner, query)
    assert answer["meaning"] == {"failed": QUERY_HIDDEN}
    assert [one["id"] for one in answer["results"]] == ["shed"]  # by words
    with pytest.raises(InputError) as refused:
        store.reader.search(owner, query, search_mode="semantic")
    assert value not in refused.value.message
    store.app.contexts.context(owner, query, trace=True)
    before = store.head(owner)
    store.flushed()
    assert store.head(owner) > before
    assert WATCHED.given == []
    assert not any(value.encode() in stored.body for stored in store.app.log.read(_partition(store, owner), 0, 10_000))
    store.reader.search(owner, "Do I like tea?")  # the control
    store.flushed()
    assert WATCHED.given == ["Do I like tea?"]
    assert any(b"Do I like tea?" in stored.body for stored in store.app.log.read(_partition(store, owner), 0, 10_000))


def _partition(store: Store, owner: str) -> int:
    return partition_of(owner, store.app.log.partitions)


def test_a_recorder_keeps_no_secret_query_of_anybody(store: Store) -> None:
    owner, recorder = store.owner(), AccessRecorder(store.app.log)
    store.tell(owner, created("I like tea", "tea", store.yesterday))
    recorder.record(owner, ["tea"], via="recall", query=SECRET)
    (receipt,) = recorder.flush()
    assert receipt.written
    assert not any(VALUE.encode() in one.body for one in store.app.log.read(_partition(store, owner), 0, 10_000))
    with pytest.raises(InvalidEvent):
        store.app.synonyms.define(owner, "tea", SECRET)
