"""`engramlog replay --all`: figures are the sums of replays of each owner, whoever counts them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engramlog_server.api.choices import program_version
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.services.replaying import Refolder, StoreReplayer, WholeAsked
from engramlog_server.events.errors import EngramlogError, StoreError, StoreUnavailable
from engramlog_server.ops import replay_all
from engramlog_server.ops.main import main
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.wiring import open_application
from engramlog_server.projections.redis import view as views_module
from engramlog_server.projections.redis.view import RedisViews
from tests.acceptance.helpers.store import Store, day
from tests.given.events import created, in_session, mentioned, negated
from tests.integration.live import live_store, wait_until
from tests.servers import Servers

AT = ("--at", day(40))
FASTER = ("--set", "user_factor=1.3", *AT)
OWNERS = [f"owner-{number}" for number in range(20)] + ["团队", "ada@example.com"]


@contextmanager
def service(folder: Path) -> Iterator[Store]:
    """A sealed store on its embedded Redis, which commands join as they join that of `engramlog up`."""
    with open_application(Settings(data=folder, redis_url=None), "up") as application:
        yield Store(application)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("many") / "data"


@pytest.fixture(scope="module")
def opened(folder: Path) -> Iterator[Store]:
    with service(folder) as store:
        for number, owner in enumerate(OWNERS):
            told = [in_session(created("I like coffee", "coffee", day=number), "s1")]
            told += [created("我喜欢茶", "tea", day=number / 2)] * (number % 3 > 0)
            told += [mentioned("coffee", 30), negated("coffee", 35, resolution="latest_wins")] * (number % 4 == 1)
            told += [in_session(created("drink water", "water", day=39, actor="assistant"), f"s{number % 5}")]
            store.tell(owner, *told)
        yield store


@pytest.fixture
def store(opened: Store, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("ENGRAMLOG_DATA", str(folder))
    monkeypatch.delenv("ENGRAMLOG_REDIS_URL", raising=False)
    return opened


Capture = pytest.CaptureFixture[str]


def ran(capsys: Capture, *words: str, code: int = 0) -> Any:
    capsys.readouterr()
    assert main([*words, "--json"]) == code, capsys.readouterr()
    out = capsys.readouterr().out
    return json.loads(out) if out else None


def whole(capsys: Capture, *words: str, code: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = ran(capsys, "replay", "--all", *words, code=code)
    return found


def figures(answer: dict[str, Any]) -> dict[str, Any]:
    """What was found, without how."""
    return {name: value for name, value in answer.items() if name not in ("seconds", "processes")}


def one_by_one(capsys: Capture, *words: str) -> dict[str, Any]:
    """What replays of each owner give in sum."""
    found, fields, untouched = Counter[str](), Counter[str](), 0
    orders: dict[str, Counter[str]] = {}
    for owner in OWNERS:
        capsys.readouterr()
        if main(["replay", owner, "--mode", "normal", *words, "--json"]) == 2:
            untouched += 1
            assert "sessions in which something of this owner was said" in capsys.readouterr().err
            continue
        answer = json.loads(capsys.readouterr().out)
        found.update(
            changes=answer["total"],
            changed=answer["total"] > 0,
            events=answer["events"]["today"],
            struck=answer["struck_total"],
            came=sum(shown(one["replayed"]) and not shown(one["today"]) for one in answer["differences"]),
            went=sum(shown(one["today"]) and not shown(one["replayed"]) for one in answer["differences"]),
        )
        fields.update(answer["changed_fields"])
        for one in answer["questions"]:
            if one["before"] or one["after"]:
                orders.setdefault(one["query"], Counter()).update(
                    orders=1, changed=one["before"] != one["after"], came=len({*one["after"]} - {*one["before"]})
                )
    return {**found, "changed_fields": dict(fields), "untouched": untouched, "questions": orders}


def told(store: Store) -> Mapping[str, str]:
    """What a worker has to be told of the store."""
    found: Mapping[str, str] = store.app._store.told  # type: ignore[attr-defined]
    return found


def joins(store: Store, patch: pytest.MonkeyPatch) -> None:
    """Have this process, or what it starts, find the store as a worker does."""
    for name, value in told(store).items():
        patch.setenv(name, value)


def replayer(store: Store) -> StoreReplayer:
    application = store.app
    return StoreReplayer(
        application.reader, application.replayer.refolder, application.log.partitions, application.views.passing
    )


def shown(side: dict[str, Any] | None) -> bool:
    return side is not None and side["shown"]


@pytest.mark.parametrize(
    "words",
    [
        ("--set", "user_factor=1.3"),
        ("--profile", "tiered", "--query", "coffee", "--query", "茶"),
        ("--without-actor", "assistant", "--query", "water"),
        ("--without-session", "s1", "--alone"),
        ("--without-session", "s3", "--set", "alpha_base=0.2", "--as-of", day(39.5)),
    ],
    ids=" ".join,
)
def test_figures_are_the_sums_of_a_replay_of_each_owner(store: Store, capsys: Capture, words: tuple[str, ...]) -> None:
    answer, each = whole(capsys, *words, *AT), one_by_one(capsys, *words, *AT)
    # An owner who has nothing of it is passed over there, and read here: by other parameters all the same.
    passed = each.pop("untouched")
    assert (answer["owners"], answer["untouched"], answer["left_out"]) == (len(OWNERS), passed, {})
    orders = each.pop("questions")
    assert {
        text: {name: told[name] for name in ("orders", "changed", "came")} for text, told in answer["questions"].items()
    } == orders
    if passed and "--set" in words:
        assert answer["changed"] == answer["owners"] > each["changed"] > 0
        assert answer["struck"] == each["struck"] > 0
        return
    if passed:
        each["events"] = answer["events"]
    assert {name: answer[name] for name in each} == each
    assert answer["changed"] > 0


def test_what_is_named_twice_and_found_once_with_each_owner_is_left_out_there(store: Store, capsys: Capture) -> None:
    one, other, both = (
        whole(capsys, *(word for name in names for word in ("--without-session", name)), *AT)
        for names in (["s2"], ["s3"], ["s2", "s3"])
    )
    assert both["struck"] == one["struck"] + other["struck"]
    assert len(OWNERS) - both["untouched"] == 2 * len(OWNERS) - one["untouched"] - other["untouched"]


@pytest.mark.parametrize("count", ["2", "3"])
def test_several_processes_find_what_one_finds(store: Store, capsys: Capture, count: str) -> None:
    words = (*FASTER, "--without-actor", "assistant", "--query", "coffee")
    one, several = whole(capsys, *words, "--processes", "1"), whole(capsys, *words, "--processes", count)
    assert (one["processes"], several["processes"]) == (1, int(count))
    assert figures(several) == figures(one)


def test_a_worker_that_dies_ends_the_command_in_one_sentence(
    store: Store, capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It runs code of this folder when it starts."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\nif '--multiprocessing-fork' in sys.argv: os._exit(9)\n", "utf-8"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    capsys.readouterr()
    assert main(["replay", "--all", *FASTER]) == 1
    assert "died or could not start (BrokenProcessPool); nothing was written" in " ".join(
        capsys.readouterr().err.split()
    )


class Here(Executor):
    """Carries out each part in this process, at once."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = Future[Any]()
        future.set_result(fn(*args, **kwargs))
        return future


@pytest.mark.parametrize(
    ("release", "store_id", "says"), [("9.9", None, "a worker runs engramlog"), (None, "another", "a worker has store")]
)
def test_a_worker_of_another_release_or_store_refuses_and_opens_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch, release: str | None, store_id: str | None, says: str
) -> None:
    joins(store, monkeypatch)
    monkeypatch.setattr("engramlog_server.ops.wiring.open_application", lambda *_: pytest.fail("it was opened"))
    asked = replay_all.PartitionAsked(store_id or "x", release or program_version(), 0, WholeAsked(profile="tiered"))
    told = json.loads(replay_all.replay_partition(msgspec.json.encode(asked)))
    assert says in told["error"]["message"]


def test_an_error_that_nobody_foresaw_crosses_without_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise ValueError("I like zebrafinches")

    monkeypatch.setattr(replay_all, "_tags", fails)
    with pytest.raises(EngramlogError, match=r"a worker failed \(ValueError\)") as failed:
        replay_all.replay_partitions(Here(), "x", 2, WholeAsked(profile="tiered"))
    assert "zebrafinches" not in str(failed.value.as_dict())


def test_the_workers_of_a_dask_cluster_find_what_processes_find(
    store: Store, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    expected = whole(capsys, *FASTER)
    with monkeypatch.context() as patch:
        joins(store, patch)
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", scheduler_port=0, dashboard_address=None
        ) as cluster:
            for name in told(store):
                patch.delenv(name)
            patch.setenv("ENGRAMLOG_DASK", cluster.scheduler_address)
            answer = whole(capsys, *FASTER)
    assert answer["processes"] is None
    assert figures(answer) == figures(expected)
    monkeypatch.setenv("ENGRAMLOG_DASK", "tcp://127.0.0.1:1")
    monkeypatch.setattr(replay_all, "CONNECT_SECONDS", 1.0)
    assert main(["replay", "--all", *FASTER]) == 1
    assert "no Dask scheduler with a worker answers at tcp://127.0.0.1:1" in " ".join(capsys.readouterr().err.split())


# --- owners who cannot be looked at, or not whole


def test_one_who_stands_still_is_looked_at_as_of_before_and_told(tmp_path: Path, capsys: Capture) -> None:
    with service(tmp_path / "data") as one, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
        patch.delenv("ENGRAMLOG_REDIS_URL", raising=False)
        one.tell("ada", created("I like coffee", "coffee"))
        one.tell("bo", created("I like tea", "tea"))
        one.poison("bo")
        answer = whole(capsys, *FASTER, code=3)
        assert (answer["owners"], answer["quarantined"], answer["memories"], answer["left_out"]) == (2, 1, 2, {})
        assert main(["replay", "--all", *FASTER]) == 3
        told = " ".join(capsys.readouterr().out.split())
        assert "owners quarantined 1 " in told
        assert "replayed up to the event that could not be folded: `engramlog dead`" in told


def test_one_who_was_erased_or_is_too_large_is_left_out_by_why(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with service(tmp_path / "data") as one:
        monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
        monkeypatch.delenv("ENGRAMLOG_REDIS_URL", raising=False)
        one.tell("ada", created("I like coffee", "coffee"))
        one.tell("bo", created("I like tea", "tea"))
        one.tell("large", *(created(f"I like tea {number}", f"m{number}") for number in range(5)))
        capsys.readouterr()
        assert main(["erase", "bo", "--ground", "consent_withdrawn", "--reason", "a letter", "--yes"]) == 0, (
            capsys.readouterr()
        )
        asked = WholeAsked(parameters={"user_factor": 1.3}, at=day(40))
        found = replayer(one).part(["ada", "bo"], asked)
        assert (found.owners, found.left_out, found.memories) == (2, {"OwnerErased": 1}, 1)
        answer = whole(capsys, *FASTER)
        assert (answer["owners"], answer["left_out"]) == (2, {})  # his name stands in the log alone
        monkeypatch.setattr(views_module, "_BYTES_A_MEMORY", 300_000)
        monkeypatch.setenv("ENGRAMLOG_VIEW_BYTES", str(1 << 20))
        monkeypatch.setattr(replay_all, "processes", lambda *_: nullcontext(Here()))
        joins(one, monkeypatch)
        answer = whole(capsys, *FASTER, code=3)
        assert (answer["owners"], answer["left_out"], answer["memories"]) == (2, {"OwnerTooLarge": 1}, 1)
        assert main(["replay", "--all", *FASTER]) == 3
        told = " ".join(capsys.readouterr().out.split())
        assert "owners left out OwnerTooLarge 1 " in told
        assert "owners left out count in no other figure" in told


def test_what_is_wrong_with_the_store_ends_it_and_counts_nobody(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: Any) -> None:
        raise StoreUnavailable("Redis does not answer")

    monkeypatch.setattr(StoreReplayer, "_one", gone)
    with pytest.raises(StoreError, match="does not answer"):
        replayer(store).part(OWNERS, WholeAsked(parameters={"user_factor": 1.3}))


def test_owners_are_looked_at_in_passing(store: Store) -> None:
    """What nobody asked for before is not kept in memory after."""
    for owner in OWNERS:
        store.app.views.forget(owner)
    with store.app.views.view(OWNERS[0]):
        pass
    asked = store.app.views.asked
    replayer(store).part(OWNERS, WholeAsked(parameters={"user_factor": 1.3}))
    before = dict(asked)
    for owner in OWNERS[:2]:
        with store.app.views.view(owner):
            pass
    assert (asked["memory"] - before["memory"], asked["loaded"] - before["loaded"]) == (1, 1)


# --- what it leaves


def stored(store: Store) -> dict[bytes, bytes | None]:
    client: Any = store.app._store.client  # type: ignore[attr-defined]
    return {key: client.dump(key) for key in client.scan_iter()}


def test_nothing_is_written_to_the_store(store: Store, folder: Path, capsys: Capture) -> None:
    whole(capsys, *FASTER)  # what opening a store may write is written; before Redis 7 loading a script is
    files = {path.name: path.stat().st_size for path in folder.glob("appendonlydir/*")}
    before, status = stored(store), ran(capsys, "status")
    whole(capsys, *FASTER, "--query", "coffee", "--without-actor", "assistant", "--processes", "2")
    assert stored(store) == before
    assert {path.name: path.stat().st_size for path in folder.glob("appendonlydir/*")} == files
    assert ran(capsys, "status")["events"] == status["events"]


def test_one_of_whom_newer_events_wait_is_told(redis_servers: Servers) -> None:
    with live_store(redis_servers.get("valkey").url, partitions=2) as live:
        live.start_worker("w")
        live.append(live.created("ada", "m1"), live.created("bo", "m1"))
        wait_until(live.folded)
        live.stop_worker("w")
        live.append(live.mentioned("bo", "m1"))
        views = RedisViews(live.client, live.identity.tags)
        try:
            reader = Reader(live.log, views)
            replayer = StoreReplayer(reader, Refolder(reader, 2), 2, views.passing)
            found = replayer.part(["ada", "bo"], WholeAsked(parameters={"user_factor": 1.3}))
        finally:
            views.close()
    assert (found.owners, found.behind, found.quarantined) == (2, 1, 0)
