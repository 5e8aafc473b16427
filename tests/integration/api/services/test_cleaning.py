"""Cleaning up by hand: a dry run tells exactly what a run does; what is purged is nowhere but in the log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.api.exchange.export import ExportOptions
from engramlog_server.events.errors import ConcurrencyError, InputError, InvalidEvent, OwnerQuarantined
from engramlog_server.events.partitions import partition_of
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.wiring import open_application
from engramlog_server.projections.memory.record import DAY
from tests.acceptance.helpers.store import Store, embedded_store
from tests.given.events import Told, at, created, deleted, mentioned, profile, purged, restored
from tests.given.exports import export_lines
from tests.given.http import created as http_created
from tests.given.http import http_store
from tests.servers import RedisServer

SECRET_WORDS = "oatmeal with 蓝莓 at seven"


@pytest.fixture
def store(server: RedisServer) -> Iterator[Store]:
    """A store that no worker folds: commands do it themselves."""
    with open_application(Settings(redis_url=server.url, partitions=4)) as application:
        yield Store(application)


def story() -> list[Told]:
    """Under the Ebbinghaus law, years ago: some to compress, some to delete, one to purge, one that lasts."""
    return [
        profile("ebbinghaus"),
        created("I like tea", "tea", 0, category="fact"),
        created("The bus leaves at nine", "bus", 1, category="temporary"),
        created("My name is Ada", "name", 2, category="identity"),
        created(SECRET_WORDS, "oats", 3, category="temporary"),
        deleted("oats", day=4),
    ]


def decisions(answer: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(one["action"], one["ids"][0], one["due_at"]) for one in answer["decisions"]]


def heads(store: Store) -> list[int]:
    return [store.app.log.head(partition) for partition in range(store.app.log.partitions)]


def test_a_dry_run_tells_exactly_what_a_run_then_does_and_changes_nothing(store: Store) -> None:
    store.tell("ada", *story())
    store.flushed()
    before, listed = heads(store), store.listed("ada", "debug")
    foreseen = store.app.cleaner.clean("ada", dry_run=True)
    store.flushed()
    assert heads(store) == before
    assert store.listed("ada", "debug") == listed
    done = store.app.cleaner.clean("ada")
    assert done["decisions"] == foreseen["decisions"]
    assert done["counts"] == foreseen["counts"] == {"purge": 1, "delete": 2}
    assert (foreseen["appended"], done["appended"]) == (0, 3)
    assert (foreseen["dry_run"], done["dry_run"], done["kept_days"]) == (True, False, 30.0)
    # Folded by the command itself: nobody else does.
    assert store.operator.status()["lag"] == 0
    assert store.listed("ada", "review") == {"name"}
    assert store.app.cleaner.clean("ada")["decisions"] == []


def test_only_the_jobs_named_are_run_and_by_hand_these_are_sweep_and_review(store: Store) -> None:
    same = [created("I drink green tea every morning", f"m{n}", day=store.yesterday) for n in range(2)]
    store.tell("ada", *same, created("An old story", "old", 0, category="fact"))
    assert store.app.cleaner.clean("ada", dry_run=True)["jobs"] == ["sweep", "review"]
    assert {one["action"] for one in store.app.cleaner.clean("ada", dry_run=True)["decisions"]} == {"compress"}
    merge = store.app.cleaner.clean("ada", jobs=["merge"])
    assert [(one["action"], one["ids"]) for one in merge["decisions"]] == [("merge", ["m0", "m1"])]
    with pytest.raises(InputError, match="job: got 'dance'; allowed: sweep, review, merge, link, replay"):
        store.app.cleaner.clean("ada", jobs=["sweep", "dance"])
    with pytest.raises(InputError, match="jobs: got"):
        store.app.cleaner.clean("ada", jobs=[])


def test_a_quarantined_owner_is_refused_and_among_all_told_without_stopping_the_others(store: Store) -> None:
    owners = [store.owner() for _ in range(5)]
    for owner in owners:
        store.tell(owner, *story())
    store.poison(owners[2])
    with pytest.raises(OwnerQuarantined):
        store.app.cleaner.clean(owners[2], dry_run=True)
    seen: list[tuple[int, int]] = []
    foreseen = store.app.cleaner.clean_all(dry_run=True)
    done = store.app.cleaner.clean_all(on_progress=lambda *at: seen.append(at))
    assert seen == [(number, 5) for number in range(1, 6)]
    assert done["counts"] == foreseen["counts"] == {"purge": 4, "delete": 8}
    assert [decisions(one) for one in done["decided"]] == [decisions(one) for one in foreseen["decided"]]
    assert [(one["owner"], one["error"]) for one in done["failed"]] == [(owners[2], "OwnerQuarantined")]
    assert done["owners"] == 5


def test_a_walk_over_all_owners_keeps_none_of_them_in_memory_but_those_that_somebody_asked_about(store: Store) -> None:
    owners = [store.owner() for _ in range(8)]
    for owner in owners:
        store.tell(owner, *story())
    views = store.app.views
    for owner in owners:
        views._kept.let_go(owner)
    assert views.bytes_used == 0
    store.app.cleaner.clean_all(dry_run=True)
    assert (views.bytes_used, len(views._kept)) == (0, 0)
    with views.view(owners[3]):
        pass
    kept = views.bytes_used
    assert kept > 0
    assert store.app.cleaner.clean_all(dry_run=True)["counts"]
    assert (views.bytes_used, owners[3] in views._kept) == (kept, True)


def test_an_answer_about_all_owners_tells_so_many_decisions_and_counts_all(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(4):
        store.tell(store.owner(), *story())
    whole = store.app.cleaner.clean_all(dry_run=True)
    total = sum(whole["counts"].values())
    assert (whole["left_out"], sum(len(one["decisions"]) for one in whole["decided"])) == (0, total)
    monkeypatch.setattr("engramlog_server.api.services.jobs.MOST_DECISIONS", 4)
    bounded = store.app.cleaner.clean_all(dry_run=True)
    assert sum(len(one["decisions"]) for one in bounded["decided"]) == 4
    assert (bounded["counts"], bounded["left_out"]) == (whole["counts"], total - 4)
    assert len(bounded["decided"]) == len(whole["decided"])


def test_a_failure_of_one_owner_does_not_lose_what_was_done_for_others(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for owner in ("ada", "bo"):
        store.tell(owner, *story())
    lifecycle: Any = store.app.cleaner._lifecycle
    carry_out = lifecycle.carry_out

    def busy(owner: str, *arguments: Any, **options: Any) -> Any:
        if owner == "ada":
            raise ConcurrencyError("owner ada went on 5 times")
        return carry_out(owner, *arguments, **options)

    monkeypatch.setattr(lifecycle, "carry_out", busy)
    done = store.app.cleaner.clean_all()
    assert ([one["owner"] for one in done["decided"]], done["failed"][0]["owner"]) == (["bo"], "ada")


def everything_held(store: Store) -> str:
    """Every byte of the store but the log itself."""
    client = store.app.views._wires._client
    wire, texts = open_wire(client), []
    for key in client.scan_iter(count=1_000):
        kind = wire.call("TYPE", key)
        if kind == b"stream":
            continue
        read = {
            b"hash": ["HGETALL"], b"zset": ["ZRANGE"], b"list": ["LRANGE"], b"string": ["GET"], b"set": ["SMEMBERS"],
        }  # fmt: skip
        answer = wire.call(*read[kind], key, *((0, -1) if kind in (b"zset", b"list") else ()))
        texts.append(b" ".join(answer) if isinstance(answer, list) else answer)
    wire.close()
    return b" ".join(texts).decode("utf-8", "replace")


def test_what_is_purged_is_in_no_record_view_search_export_or_history_and_still_in_the_log(store: Store) -> None:
    store.tell("ada", *story(), restored("oats", day=5), mentioned("oats", day=6), deleted("oats", day=7))
    position = store.reader.list("ada")["position"]
    reader = store.reader
    assert "oatmeal" in everything_held(store)

    def told() -> str:
        answers: list[Any] = [
            reader.list("ada", mode="debug"),
            reader.search("ada", "oatmeal 蓝莓", mode="debug", trace=False),
            reader.get("ada", "oats", reveal=True, trace=False),
            reader.why("ada", "oats"),
            reader.history("ada"),
            reader.history("ada", "oats"),
            reader.list("ada", mode="debug", as_of=position),
            reader.get("ada", "oats", as_of="2024-01-05T00:00:00Z", reveal=True, trace=False),
            reader.search("ada", "oatmeal 蓝莓", mode="debug", as_of=position, trace=False),
            exported(store),
        ]
        for answer in answers:
            if isinstance(answer, dict):
                answer.pop("expanded", None)  # the question's own words
        return json.dumps(answers, ensure_ascii=False, default=str)

    assert "oatmeal" in told()
    assert store.app.cleaner.clean("ada")["counts"]["purge"] == 1
    for word in ("oatmeal", "蓝莓"):
        assert word not in told()
        assert word not in everything_held(store)
    stored = store.app.log.read(partition_of("ada", 4), 0, 100)
    assert any(SECRET_WORDS in one.body.decode() for one in stored)


def exported(store: Store) -> list[Any]:
    with store.reader.snapshot("ada") as snapshot:
        return list(export_lines(snapshot.view, ExportOptions()))


def test_the_embedded_store_is_cleaned_without_any_worker(tmp_path: Path) -> None:
    with embedded_store(tmp_path / "store", partitions=2) as store:
        store.tell("ada", *story())
        assert store.app.cleaner.clean("ada")["counts"] == {"purge": 1, "delete": 2}
        assert store.operator.status()["lag"] == 0
        assert store.operator.status()["lifecycle"]["leader"] is None
        assert store.listed("ada", "review") == {"name"}


def test_over_http_it_tells_what_would_be_done_and_then_does_it(tmp_path: Path) -> None:
    with http_store(tmp_path / "store") as store:
        old = http_created("tea", at="2024-01-05T08:00:00Z", category="fact")
        store.told("alice", old)
        path = "/v1/owners/alice/cleanup"
        foreseen = store.client.post(path, json={"dry_run": True, "jobs": ["sweep"]}).json()
        assert (foreseen["counts"], foreseen["appended"], foreseen["jobs"]) == ({"compress": 1}, 0, ["sweep"])
        assert store.client.post(path, json={"dry_run": True}).json()["decisions"] == foreseen["decisions"]
        done = store.client.post(path).json()
        assert (done["decisions"], done["appended"], done["dry_run"]) == (foreseen["decisions"], 1, False)
        (change,) = store.client.get("/v1/owners/alice/memories/tea/history").json()["changes"][1:]
        assert (change["decision"], change["event"], change["fields"]) == (
            "compress",
            "MemoryCompressed",
            ["level", "level_due_at"],
        )
        refused = store.client.post(path, json={"jobs": ["dance"]})
        assert (refused.status_code, refused.json()["allowed"]) == (
            422,
            "sweep, review, merge, link, replay, levels, abstract, suggest",
        )
        assert store.client.post(path, json={"dryrun": True}).status_code == 422
        schedule = store.client.get("/v1/status").json()["lifecycle"]
        assert (schedule["leader"], schedule["queued"]) == (None, 0)


def test_a_deletion_dated_back_by_its_producer_is_kept_for_thirty_days_all_the_same(store: Store) -> None:
    owner, deletions = store.owner(), store.app.views.deletions
    store.tell(owner, created("I drink green tea", "tea", 0, category="fact"))
    receipts = store.writer.append_all([store.prepared(owner, deleted("tea", day=4))])
    store.writer.settle(receipts)
    foreseen = store.app.cleaner.clean(owner, dry_run=True)["counts"]
    first = store.app.cleaner.clean(owner)["counts"]
    again = store.app.cleaner.clean(owner)["counts"]
    back = store.restore(owner, "tea")["changes"]
    deletions.note(owner, {"tea": at(4)}, store.app.log.now() - 31 * DAY)
    store.tell(owner, deleted("tea", day=4))
    assert (foreseen, first, again, bool(back)) == ({}, {}, {}, True)
    assert store.app.cleaner.clean(owner)["counts"].get("purge") == 1


def test_a_memory_deleted_anew_is_kept_for_thirty_days_from_then(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("I drink green tea", "tea", 0, category="fact"))
    store.app.views.deletions.note(owner, {"tea": at(4)}, at(4))
    receipts = store.writer.append_all([store.prepared(owner, deleted("tea", day=9))])
    store.writer.settle(receipts)
    assert store.app.cleaner.clean(owner)["counts"] == {}


def test_a_deletion_by_hand_is_known_from_the_moment_of_its_verb(store: Store) -> None:
    owner, now = store.owner(), store.app.log.now()
    store.tell(owner, created("I drink green tea", "tea", 0, category="fact"))
    store.delete(owner, "tea")
    with store.app.views.view(owner) as (view, _):
        deleted_at = {"tea": int(view.columns.deleted_at[0])}
    (known,) = store.app.views.deletions.seen(owner, deleted_at, now + DAY).values()
    assert now <= known <= store.app.log.now()


def test_a_clock_that_went_back_makes_no_deletion_known_in_the_future(store: Store) -> None:
    deletions, now = store.app.views.deletions, store.app.log.now()
    deletions.note("ada", {"tea": at(4)}, now + 40 * DAY)
    assert deletions.note("ada", {"tea": at(4)}, now) == {"tea": now}


@pytest.mark.parametrize("actor", ["user", "assistant", "judge"])
def test_nobody_but_the_lifecycle_and_operators_may_say_that_a_memory_is_purged(store: Store, actor: str) -> None:
    owner = store.owner()
    with pytest.raises(InvalidEvent, match=f"actor: got {actor}; allowed: system or operator"):
        store.prepared(owner, replace(purged("tea", day=40), actor=actor))
