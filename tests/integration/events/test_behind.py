"""An answer from behind says so in itself, on every face: how far the owner's own head lies beyond what was answered from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.consumers.fold.worker import FoldWorker
from engramlog_server.events.envelope import canonical, from_micros, new_event_id, prepare_body, utc_text
from engramlog_server.events.partitions import parse_position, partition_of, position_text
from tests.acceptance.helpers.cli import Cli
from tests.given.http import HttpStore, created, http_store, mentioned

LATE = 3


def fold(stage: HttpStore, position: str) -> None:
    """Everything up to a position is folded, and then nobody folds any more."""
    worker = FoldWorker(stage.store.client, stage.store.identity.tags, "once")
    partition, seq = parse_position(position)
    assert worker.drain({partition: seq}, 60)
    worker.hand_over()


def newly_behind(stage: HttpStore) -> int:
    """Some more events that nobody folds; how far the owner is behind now."""
    stage.append(*(mentioned("a", key=new_event_id()) for _ in range(LATE)))
    behind = stage.client.get("/v1/owners/alice/memories").json()["behind"]
    assert behind >= LATE
    return int(behind)


BEA = next(name for n in range(1_000) if partition_of(name := f"bea{n}", 4) == partition_of("alice", 4))


@contextmanager
def late(folder: Path) -> Iterator[HttpStore]:
    """Alice has two memories folded and three newer events that nobody folds; bea, of her partition, is level."""
    with http_store(folder / "store", worker=False) as stage:
        stage.append(created("a", "I drink tea"), created("b", "I drink milk"), created("c", owner=BEA))
        fold(stage, stage.append(mentioned("a", key=1))[0])
        stage.append(*(mentioned("a", key=n) for n in range(2, 2 + LATE)))
        yield stage


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    """A store that is only read: what one test asks changes nothing for another."""
    with late(tmp_path_factory.mktemp("behind")) as stage:
        yield stage


@pytest.fixture(scope="module")
def moving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    """A store whose events are told of and folded by the tests themselves, in whichever order these run."""
    with late(tmp_path_factory.mktemp("moving")) as stage:
        yield stage


PATHS = [
    "search?query=tea", "memories", "memories/a", "memories/a/why", "memories/a/history", "memories/a/provenance",
    "memories/a/associations", "memories/a/uses", "memories/a/compare", "compare", "history", "stats",
    "assess?topic=tea", "map?topic=tea", "facts", "synonyms", "health", "fading", "review", "profile",
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_every_question_over_http_tells_how_far_behind_its_answer_is(stage: HttpStore, path: str) -> None:
    answer = stage.client.get(f"/v1/owners/alice/{path}")
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert told["behind"] == LATE
    own_head = stage.application.log.owner_head("alice")
    assert parse_position(told["position"])[1] + told["behind"] == own_head


def test_what_was_known_before_the_waiting_events_were_recorded_is_not_behind_and_what_is_known_now_is(
    stage: HttpStore,
) -> None:
    log, views = stage.application.log, stage.application.views
    with views.view("alice") as (_, standing):
        folded, next_one = log.read_at(standing.partition, [standing.checkpoint, standing.checkpoint + 1])
    before = utc_text(from_micros(folded.recorded or 0))
    assert (folded.recorded or 0) < (next_one.recorded or 0)
    place = position_text(standing.partition, folded.seq)
    for known, behind in ((before, 0), (place, 0), ("2100-01-01", LATE), (before, 0)):
        told = stage.client.get("/v1/owners/alice/memories", params={"known": known, "mode": "debug"}).json()
        assert (told["behind"], told["position"]) == (behind, place)
        assert told["total"] == 2


def test_a_context_and_an_export_and_a_replay_tell_it_too(stage: HttpStore) -> None:
    context = stage.client.post("/v1/owners/alice/context", json={"text": "tea?", "trace": False}).json()
    replay = stage.client.post("/v1/owners/alice/replay", json={}).json()
    export = stage.client.get("/v1/owners/alice/export")
    assert (context["behind"], replay["behind"], export.headers["engramlog-behind"]) == (LATE, LATE, str(LATE))


def test_an_owner_whose_own_events_are_all_folded_is_level_whoever_waits_beside(stage: HttpStore) -> None:
    assert stage.client.get(f"/v1/owners/{BEA}/memories").json()["behind"] == 0
    assert stage.client.get("/v1/owners/nobody/memories").json()["behind"] == 0


def test_a_question_about_a_past_position_is_not_behind(stage: HttpStore) -> None:
    position = stage.client.get("/v1/owners/alice/memories").json()["position"]
    assert stage.client.get("/v1/owners/alice/memories", params={"as_of": position}).json()["behind"] == 0


@pytest.mark.parametrize(
    "words",
    [
        ("search", "alice", "tea"),
        ("list", "alice"),
        ("get", "alice", "a"),
        ("why", "alice", "a"),
        ("history", "alice"),
        ("stats", "alice"),
        ("context", "alice", "tea?", "--no-trace"),
        ("facts", "alice"),
        ("health", "alice"),
    ],
)
def test_a_command_says_it_in_its_output_and_in_its_json(
    moving: HttpStore, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, told in moving.store.told.items():
        monkeypatch.setenv(name, told)
    cli = Cli(monkeypatch, capsys)
    behind = newly_behind(moving)
    assert f"This answer lacks up to {behind} newer events of this owner" in " ".join(cli(*words).out.split())
    behind = newly_behind(moving)  # a command folds, once it has answered, what it told of accesses
    assert cli.json(*words)["behind"] == behind


def test_a_quarantined_owner_is_behind_by_all_that_is_parked_however_far_the_fold_went(tmp_path: Path) -> None:
    with http_store(tmp_path / "store") as stage:
        stage.told("alice", created("a"))
        document = {
            "event_id": (event_id := new_event_id()),
            "type": "MemoryCreated",
            "schema_version": 9,
            "owner": "alice",
        }
        stage.application.log.append([prepare_body(event_id, "MemoryCreated", 9, "alice", canonical(document))])
        parked = stage.append(mentioned("a", key=1), mentioned("a", key=2))
        stage.application.writer.settle_positions(dict(map(parse_position, parked)))
        told = stage.client.get("/v1/owners/alice/memories").json()
    assert (told["behind"], "quarantined" in told) == (3, True)


VERBS: list[tuple[str, dict[str, Any]]] = [
    ("reinforce", {}),
    ("grade", {"grade": 4}),
    ("negate", {}),
    ("confirm", {}),
    ("sensitivity", {"level": 1, "reason": "said so"}),
    ("delete", {}),
    ("restore", {}),
]


@pytest.mark.parametrize(("verb", "body"), VERBS, ids=[one[0] for one in VERBS])
def test_a_verb_finds_what_was_appended_just_before_it(moving: HttpStore, verb: str, body: dict[str, Any]) -> None:
    moving.append(created(f"new-{verb}", f"I drink {verb}"))  # nobody folds it, unless the verb waits for that
    answer = moving.client.post(f"/v1/owners/alice/memories/new-{verb}/{verb}", json=body)
    assert answer.status_code == 200, answer.text


def test_deleting_many_finds_what_was_appended_just_before_it(moving: HttpStore) -> None:
    moving.append(created("newest", "I drink rum"))
    answer = moving.client.post("/v1/owners/alice/memories/delete", json={"ids": ["newest", "nowhere"]})
    assert answer.json()["deleted"] == ["newest"], answer.text


def test_a_verb_on_what_is_nowhere_is_not_found_once_all_is_folded(moving: HttpStore) -> None:
    newly_behind(moving)
    answer = moving.client.post("/v1/owners/alice/memories/nowhere/reinforce", json={})
    assert (answer.status_code, "not folded" in answer.text) == (404, False)


def test_a_question_about_what_is_not_there_names_the_events_that_are_not_folded_yet(stage: HttpStore) -> None:
    head = position_text(partition_of("alice", 4), stage.application.log.owner_head("alice"))
    refusal = stage.client.get("/v1/owners/alice/memories/nowhere")
    assert refusal.status_code == 404
    told = refusal.json()["detail"]
    assert f"up to {LATE} newer events of this owner are not folded yet: ask with after {head}" in told
