"""`engramlog replay --all`: figures are the sums of replays of each owner, whoever counts them and however often it is killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from api.cli.show.whole.moved import everybody_moved
from api.requests.whole import WholeAsked
from api.services.auditing.folding import Refolder
from api.services.auditing.replaying_all import StoreReplayer
from api.services.reading import Reader
from events.errors import StoreError, StoreUnavailable
from events.partitions import LogKeys, partition_of
from ops.main import main
from ops.many import running
from ops.many.journal import Journal
from ops.many.works import WORKS
from ops.processes import shares
from ops.settings import Settings
from ops.store import OpenStore
from ops.wiring import open_application
from projections.fold.builds import BuildKeys
from projections.redis import view as views_module
from projections.redis.view import RedisViews
from tests.acceptance.helpers.store import Store, day
from tests.given.events import created, in_session, mentioned, negated
from tests.integration.live import live_store, wait_until
from tests.patience import PATIENCE
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


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Processes that were started."""
    found: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def recorded(*given: Any, **more: Any) -> subprocess.Popen[bytes]:
        found.append(start(*given, **more))
        return found[-1]

    monkeypatch.setattr(shares.subprocess, "Popen", recorded)
    return found


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
    return {
        name: value for name, value in answer.items() if name not in ("seconds", "processes", "dask", "done_before")
    }


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


def journals(folder: Path) -> list[Path]:
    return sorted((folder / "many").iterdir()) if (folder / "many").exists() else []


KILLED_AFTER_THREE = """
import os, sys
from ops.many.journal import Journal
from ops.main import main
add = Journal.add
def killed(self, one):
    add(self, one)
    if len(self.done) == 3:
        os.kill(os.getpid(), 9)
Journal.add = killed
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("count", ["1", "2"])
def test_a_command_that_was_killed_is_gone_on_with_where_it_stood(
    store: Store, folder: Path, capsys: Capture, count: str
) -> None:
    expected = whole(capsys, *FASTER)
    command = [sys.executable, "-P", "-c", KILLED_AFTER_THREE, "replay", "--all", *FASTER, "--processes", count]
    done = subprocess.run(command, env=dict(os.environ), capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == -9, done.stderr
    (path,) = journals(folder)
    kept = [json.loads(line)["figures"]["owners"] for line in path.read_bytes().splitlines()[1:]]
    assert len(kept) == 3
    again = whole(capsys, *FASTER)
    assert again["done_before"] == sum(kept)
    assert figures(again) == figures(expected)
    assert journals(folder) == []


def test_a_process_that_was_killed_ends_the_command_and_what_was_done_is_kept(
    store: Store,
    folder: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    started: list[subprocess.Popen[bytes]],
) -> None:
    tasks = running._tasks

    def deadly(*given: Any) -> Iterator[shares.PartitionTask]:
        for number, one in enumerate(tasks(*given)):
            if number == 3:
                for process in started:
                    process.kill()
                    process.wait()
            yield one

    monkeypatch.setattr(running, "_tasks", deadly)
    capsys.readouterr()
    assert main(["replay", "--all", *FASTER, "--processes", "2"]) == 1
    assert "ended with signal 9; the others were ended: the same command goes on where it stood" in (
        capsys.readouterr().err.replace("\n", " ")
    )
    assert None not in {process.returncode for process in started}
    monkeypatch.setattr(running, "_tasks", tasks)
    again, expected = whole(capsys, *FASTER), whole(capsys, *FASTER)
    assert 0 <= again["done_before"] < len(OWNERS)
    assert figures(again) == figures(expected)


def test_what_cannot_be_read_of_what_is_to_be_done_ends_the_command(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def broken(*_: Any) -> Iterator[shares.PartitionTask]:
        yield from ()
        raise StoreUnavailable("no names can be read")

    monkeypatch.setattr(running, "_tasks", broken)
    for count in ("1", "2"):
        assert main(["replay", "--all", *FASTER, "--processes", count]) == 1
        assert "no names can be read" in capsys.readouterr().err


def stopped(capsys: Capture, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """A run that ended after so many parts."""
    add = Journal.add

    def ends(journal: Journal, one: Any) -> None:
        add(journal, one)
        if len(journal.done) == after:
            raise StoreUnavailable("the disk is gone")

    monkeypatch.setattr(Journal, "add", ends)
    assert main(["replay", "--all", *FASTER]) == 1
    monkeypatch.setattr(Journal, "add", add)


def test_a_run_that_went_on_says_so_and_anew_none_counts(
    store: Store, folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(capsys, monkeypatch, 2)
    assert len(journals(folder)) == 1
    assert whole(capsys, *FASTER, "--query", "coffee")["done_before"] == 0  # another question
    anew = whole(capsys, *FASTER, "--anew")
    assert (anew["done_before"], anew["owners"]) == (0, len(OWNERS))
    assert journals(folder) == []
    stopped(capsys, monkeypatch, 2)
    capsys.readouterr()
    assert main(["replay", "--all", *FASTER]) == 0
    told = capsys.readouterr()
    assert "going on with a run that was killed" in told.err
    assert "done by a run before" in told.out


def test_what_was_counted_is_kept_until_it_is_told(
    store: Store, folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: Any) -> None:
        raise StoreUnavailable("nobody hears it")

    with monkeypatch.context() as patch:
        patch.setattr("api.cli.made.show", gone)
        assert main(["replay", "--all", *FASTER]) == 1
    assert len(journals(folder)) == 1
    assert whole(capsys, *FASTER)["done_before"] == len(OWNERS)


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
        assert "1 owner looked at as of before an event that could not be folded" in capsys.readouterr().out


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
        found: Any = WORKS["replay"](one.app)(["ada", "bo"], asked)
        assert (found.owners, found.left_out, found.memories) == (2, {"OwnerErased": 1}, 1)
        answer = whole(capsys, *FASTER)
        assert (answer["owners"], answer["left_out"]) == (2, {})  # his name stands in the log alone
        monkeypatch.setattr(views_module, "_BYTES_A_MEMORY", 300_000)
        monkeypatch.setenv("ENGRAMLOG_VIEW_BYTES", str(1 << 20))
        answer = whole(capsys, *FASTER, code=3)
        assert (answer["owners"], answer["left_out"], answer["memories"]) == (2, {"OwnerTooLarge": 1}, 1)
        assert main(["replay", "--all", *FASTER]) == 3
        assert "1 owner could not be looked at, and in no other figure: OwnerTooLarge" in capsys.readouterr().out


def test_what_is_wrong_with_the_store_ends_it_and_counts_nobody(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: Any) -> None:
        raise StoreUnavailable("Redis does not answer")

    monkeypatch.setattr(StoreReplayer, "_one", gone)
    with pytest.raises(StoreError, match="does not answer"):
        WORKS["replay"](store.app)(OWNERS, WholeAsked(parameters={"user_factor": 1.3}))


def test_owners_are_looked_at_in_passing(store: Store) -> None:
    """What nobody asked for before is not kept in memory after."""
    for owner in OWNERS:
        store.app.views.forget(owner)
    with store.app.views.view(OWNERS[0]):
        pass
    asked = store.app.views.asked
    WORKS["replay"](store.app)(OWNERS, WholeAsked(parameters={"user_factor": 1.3}))
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
    whole(capsys, *FASTER)  # what opening a store may write is written
    files = {path.name: path.stat().st_size for path in (folder / "appendonlydir").iterdir()}
    before, status = stored(store), ran(capsys, "status")
    whole(capsys, *FASTER, "--query", "coffee", "--without-actor", "assistant", "--processes", "2")
    assert stored(store) == before
    assert {path.name: path.stat().st_size for path in (folder / "appendonlydir").iterdir()} == files
    assert ran(capsys, "status")["events"] == status["events"]


def test_each_partition_is_asked_for_the_build_that_is_read_when_it_is_its_turn(
    store: Store, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rebuild that switched meanwhile, and whose old build went, takes no owner out of the figures."""
    expected, names, old = whole(capsys, *FASTER), running._names, list[BuildKeys]()
    last = max(partition_of(owner, store.app.log.partitions) for owner in OWNERS)

    def rebuilt(of: OpenStore, tag: str) -> list[str]:
        if not old:
            its = of.identity.tags[last]
            live: Any = of.client.hget(LogKeys(its).meta, "live")
            old.append(BuildKeys(its, live.decode()))
            assert main(["rebuild", "--partition", str(last)]) == 0
            assert of.client.delete(old[0].owners) == 1
            capsys.readouterr()
        return names(of, tag)

    monkeypatch.setattr(running, "_names", rebuilt)
    assert figures(whole(capsys, *FASTER)) == figures(expected)


def test_one_of_whom_newer_events_wait_is_told(redis_servers: Servers, capsys: Capture) -> None:
    with live_store(redis_servers.get("redis-6.2").url, partitions=2) as live:
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
    everybody_moved(found.told() | {"mode": "normal", "processes": 1, "seconds": 0.1, "done_before": 0})
    assert "1 owner looked at as far as they are folded: newer events wait" in capsys.readouterr().out
