"""Every heavy question ends where its time does: in the middle of its work, not only in what is answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from fastapi.testclient import TestClient

from engramlog_server.api.access import ALL, OF_FILES
from engramlog_server.api.admission import AdmissionLimits
from engramlog_server.api.exchange.export import ExportOptions
from engramlog_server.api.exchange.records import RecordOptions
from engramlog_server.api.work import NeedsHeavyLane, Patience, Work, with_patience
from engramlog_server.events.errors import DeadlineExceeded
from engramlog_server.projections.checks import Bounds
from engramlog_server.projections.fold.changelog import Entry
from engramlog_server.projections.memory.working_memory import Turn
from engramlog_server.projections.redis import history as redis_changelog
from engramlog_server.projections.redis.view import RedisViews
from engramlog_server.projections.views.answered import uses_of
from tests.given.http import HttpStore, app_of, client_of, created, event, http_store, mentioned
from tests.rows import each_row

MEMORIES = 600
"""More than lie between two checks."""
HEAVY = sorted(
    ("POST" if one.name.startswith("import") else one.route[0], one.path)
    for one in (*ALL, *OF_FILES)
    if one.work in (Work.HEAVY, Work.STREAM)
)


def lines(of: str) -> bytes:
    """As many turns as there are memories, one a line."""
    told = {"occurred_at": "2026-01-05T08:00:00Z", "speaker": "user"}
    return b"\n".join(
        orjson.dumps(told | {"turn_id": f"{of}-{number}", "text": f"I like tea {number}."})
        for number in range(MEMORIES)
    )


KEPT = {"category": "fact", "kind": "fact", "tier": "fact", "source": "user"}
RECORDS = [
    orjson.dumps(
        {"engramlog": 1, "memory_id": f"r{number}", "created_at": "2026-01-05T08:00:00Z", "content": "I row", **KEPT}
    )
    for number in range(MEMORIES)
]


@contextmanager
def much_told(directory: Path) -> Iterator[HttpStore]:
    """A store where alice remembers much of one template, and was told more."""
    with http_store(directory) as opened:
        texts = (f"I drink coffee in house {number} of the street" for number in range(MEMORIES))
        opened.told(
            "alice", *(created(f"m{number}", text, category="stable_preference") for number, text in enumerate(texts))
        )
        opened.application.chats.take_in_whole("alice", lines("said"))
        opened.told("alice", *(mentioned("m0", key=number) for number in range(MEMORIES)))
        yield opened


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    """Much is told; what a test writes here leaves what the others look at as it was."""
    with much_told(tmp_path_factory.mktemp("deadlines")) as opened:
        yield opened


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    """Much is told; the tests write, and what one swept the next finds swept."""
    with much_told(tmp_path_factory.mktemp("written")) as opened:
        yield opened


class Counting(Patience):
    """Counts the checks, and ends at one of them."""

    def __init__(self, end: int | None = None) -> None:
        super().__init__()
        self.count = 0
        self._end_at = end

    def check(self, done: int, total: int) -> None:
        self.count += 1
        if self._end_at is not None and self.count > self._end_at:
            raise DeadlineExceeded("stopped by the test", done=done, total=total)


Question = Callable[[HttpStore], Any]
ALL_JOBS = ("sweep", "review", "merge", "link", "replay", "abstract")
QUESTIONS: dict[str, Question] = {
    "compare": lambda store: store.application.comparer.compare("alice"),
    "map": lambda store: store.application.knower.map("alice", "coffee", mode="debug", least=0, depth=4),
    "store stats": lambda store: store.application.operator.stats(),
    "export": lambda store: store.application.records.export("alice", ExportOptions()),
    "export as text": lambda store: store.application.records.export("alice", ExportOptions(), "text"),
    "cleanup, rehearsed": lambda store: store.application.cleaner.clean("alice", dry_run=True, jobs=ALL_JOBS),
    "extract, rehearsed": lambda store: store.application.extractor.rehearse("alice"),
    "sources": lambda store: store.application.named_sources.sources("alice"),
    "uses": lambda store: store.application.answers.uses("alice", "m0"),
    "episodes, rehearsed": lambda store: store.application.episodes.make("alice", dry_run=True),
}
WRITING: dict[str, Question] = {
    "cleanup": lambda store: store.application.cleaner.clean("alice", jobs=("sweep", "link")),
    "extract": lambda store: store.application.extractor.extract("alice"),
    "episodes": lambda store: store.application.episodes.make("alice"),
    "chats": lambda store: store.application.chats.take_in_whole("alice", lines("chat")),
    "records": lambda store: store.application.records.take_in_whole(RECORDS, RecordOptions(owner="alice")),
}


def counted_checks(store: HttpStore, question: Question) -> int:
    """How often a question asks whether to go on."""
    patience = Counting()
    with with_patience(patience):
        question(store)
    return patience.count


@each_row("name", QUESTIONS)
def test_a_question_that_only_reads_ends_at_whichever_check_its_time_is_over(store: HttpStore, name: str) -> None:
    counted_checks(store, QUESTIONS[name])  # makes indexes that stay
    whole = counted_checks(store, QUESTIONS[name])
    assert whole > 2
    for end in sorted({0, 1, whole // 2}):
        patience = Counting(end)
        with with_patience(patience), pytest.raises(DeadlineExceeded):
            QUESTIONS[name](store)
        assert patience.count == end + 1
    assert counted_checks(store, QUESTIONS[name]) > whole // 2, "the next one is answered"


@each_row("name", WRITING)
def test_what_writes_ends_at_a_check_too_and_goes_on_when_it_is_sent_again(written: HttpStore, name: str) -> None:
    partition = written.application.log
    head = sum(partition.head(number) for number in range(partition.partitions))
    for end in (0, 1, 2):
        with with_patience(Counting(end)), pytest.raises(DeadlineExceeded):
            WRITING[name](written)
    assert sum(partition.head(number) for number in range(partition.partitions)) == head, "nothing was half written"
    WRITING[name](written)
    after = sum(partition.head(number) for number in range(partition.partitions))
    assert after > head
    WRITING[name](written)
    if name != "extract":  # a mark that nothing was left to read is no half
        assert sum(partition.head(number) for number in range(partition.partitions)) == after


@each_row("ways", [("merge",), ("link",), ("sweep",)])
def test_a_job_that_compares_all_with_all_is_asked_many_times_whether_to_go_on(
    store: HttpStore, ways: tuple[str, ...]
) -> None:
    one_job: Question = lambda store: store.application.cleaner.clean("alice", dry_run=True, jobs=ways)  # noqa: E731
    nothing: Question = lambda store: store.application.cleaner.clean("alice", dry_run=True, jobs=("replay",))  # noqa: E731
    assert counted_checks(store, one_job) > counted_checks(store, nothing) + 2


def test_an_owner_who_is_loaded_is_loaded_no_further_once_the_time_is_over(store: HttpStore) -> None:
    cold = RedisViews(store.store.client, store.store.identity.tags)
    with pytest.raises(DeadlineExceeded):
        with_bounds(cold, Counting(1))
    again = Counting()
    assert len(with_bounds(cold, again)) >= MEMORIES
    assert again.count > 2, "what was stopped left nothing half made behind"


def with_bounds(views: RedisViews, patience: Patience) -> Any:
    """The view of alice, loaded as far as a patience goes."""
    with views.view("alice", bounds=Bounds(patience.check)) as (view, _):
        return view


@pytest.fixture(scope="module")
def hurried(store: HttpStore) -> Iterator[TestClient]:
    """A client of a service whose heavy questions have no time at all."""
    with client_of(app_of(store.application, admission=AdmissionLimits(heavy_seconds=1e-9))) as client:
        yield client


BODIES: dict[str, dict[str, Any]] = {
    "/v1/owners/{owner}/chats": {"content": lines("chat"), "headers": {"content-type": "application/x-ndjson"}},
    "/v1/owners/{owner}/import/records": {
        "content": b"\n".join(RECORDS),
        "headers": {"content-type": "application/x-ndjson"},
    },
    "/v1/owners/{owner}/set-aside": {"json": {"session": "s1"}},
    "/v1/owners/{owner}/retract": {"json": {"without_actors": ["user"], "dry_run": True}},
    "/v1/owners/{owner}/bring-back": {"json": {"session": "s1"}},
    "/v1/owners/{owner}/diff": {"json": {"since": "2000-01-01"}},
}
"""What is told beside; of `heads/check` it depends on the store."""
QUERIES = {
    "/v1/owners/{owner}/map": {"topic": "coffee"},
    "/v1/owners/{owner}/map.svg": {"topic": "coffee"},
    "/v1/owners/{owner}/diff": {"since": "2000-01-01"},
}


@each_row(("method", "path"), HEAVY)
def test_no_heavy_route_works_on_when_its_time_is_over(
    store: HttpStore, hurried: TestClient, method: str, path: str
) -> None:
    asked = {"params": QUERIES.get(path, {})}
    if path == "/v1/heads/check":
        asked = {"json": {"text": store.application.heads.heads()["line"]}}
    elif method == "POST":
        asked = BODIES.get(path, {"json": {}})
    answer = hurried.request(method, path.format(owner="alice", memory_id="m0", turn_id="t0"), **asked)
    assert (answer.status_code, answer.json().get("error")) == (504, "DeadlineExceeded"), answer.text[:300]
    lanes = hurried.app.state.admission.lanes  # type: ignore[attr-defined]
    assert not any(lanes[work].running or lanes[work].waiting for work in (Work.HEAVY, Work.STREAM))


def test_whoever_waits_for_an_owner_s_view_waits_no_longer_than_its_time(store: HttpStore) -> None:
    views = store.application.views
    with views.view("alice"), ThreadPoolExecutor(1) as other:
        waiting = other.submit(with_bounds, views, Counting(0))
        with pytest.raises(DeadlineExceeded):
            waiting.result()


def test_restoring_ends_while_it_reads_the_change_log_and_writes_nothing_then(
    store: HttpStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramlog_server.projections.redis.history.PACKS", 1)
    store.application.deleter.delete_many("alice", ["m7"])
    log = store.application.log
    head = [log.head(number) for number in range(log.partitions)]
    for end in (0, 2, 4):
        with with_patience(Counting(end)), pytest.raises(DeadlineExceeded):
            store.application.restorer.restore("alice", "m7")
    assert [log.head(number) for number in range(log.partitions)] == head
    assert store.application.restorer.restore("alice", "m7")["changes"][0]["decision"] == "restore"


def test_restoring_from_a_long_change_log_is_no_light_question(
    store: HttpStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.application.deleter.delete_many("alice", ["m8"])
    monkeypatch.setattr("engramlog_server.api.work.LIGHT_STEPS", 50)
    with with_patience(Patience(light=True)), pytest.raises(NeedsHeavyLane):
        store.application.restorer.restore("alice", "m8")
    answer = store.client.post("/v1/owners/alice/memories/m8/restore", json={})
    assert (answer.status_code, answer.json()["changes"][0]["decision"]) == (200, "restore")


def test_what_a_memory_was_used_for_is_found_without_holding_what_was_said(
    store: HttpStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[int] = []
    real = uses_of

    def looked(memory_id: str, told: Sequence[Any]) -> Any:
        held.extend(len(one.text) for one in told if isinstance(one, Turn))
        return real(memory_id, told)

    monkeypatch.setattr("engramlog_server.api.services.answers.uses_of", looked)
    hit = {"memory_id": "m0", "count": 1, "best_rank": 1, "last_at": "2026-01-05T08:00:00Z"}
    store.told(
        "alice",
        event("TurnRecorded", turn_id="asked", role="user", text="Which house?"),
        event("MemoriesAccessed", hits=[hit], via="injection", turn_id="asked"),
        event("TurnRecorded", turn_id="said", role="assistant", text="House 0.", reply_to="asked"),
    )
    (use,) = store.application.answers.uses("alice", "m0")["uses"]
    assert (use["turn"]["text"], [one["text"] for one in use["replies"]]) == ("Which house?", ["House 0."])
    assert (len(held) > MEMORIES, max(held)) == (True, 0)


def test_ids_that_were_taken_are_found_without_reading_the_whole_change_log(
    store: HttpStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = sum(1 for _ in store.application.views.changelogs.entries("alice"))
    read: list[int] = []
    real = redis_changelog.unpack

    def noted(raw: bytes) -> tuple[list[int], list[Entry]]:
        found = real(raw)
        read.append(len(found[1]))
        return found

    monkeypatch.setattr("engramlog_server.projections.redis.history.PACKS", 1)
    monkeypatch.setattr("engramlog_server.projections.redis.history.unpack", noted)
    record = {"engramlog": 1, "memory_id": "m1", "created_at": "2026-01-05T08:00:00Z", "content": "Another", **KEPT}
    answer = store.application.records.take_in_whole([orjson.dumps(record)], RecordOptions(owner="alice"))
    assert (answer.ids_taken, sum(read) < whole / 2) == (["m1"], True)


def test_the_first_question_about_a_large_owner_is_a_heavy_one_and_the_next_is_light(
    store: HttpStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramlog_server.api.work.LIGHT_STEPS", MEMORIES // 4)
    reader, path = store.application.reader, "/v1/owners/alice/memories/m1"
    store.application.views._kept.let_go("alice")
    with with_patience(Patience(light=True)):
        with pytest.raises(NeedsHeavyLane):
            reader.get("alice", "m1")
        assert store.client.get(path).status_code == 200
        assert reader.get("alice", "m1")["id"] == "m1"
