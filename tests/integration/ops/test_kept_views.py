"""Views kept outside of Redis: found again, brought forward, and passed over where anything about them is wrong."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from events.catalogue import MemoryDeleted, MemoryRevised, SensitivitySet
from events.partitions import LogKeys
from ops.kept.value_keeper import KeepingLog
from ops.kept.view_files import GRACE_NS, ViewFolder
from projections.memory.kept_records import KeptRecords
from projections.ranking.recall import search
from projections.redis.view import RedisViews
from projections.views.query import ViewQuery
from projections.views.view import OwnerView
from tests.given.events import at
from tests.integration.live import Live, live_store, wait_until
from tests.servers import RedisServer

OWNER = "林/ada"
TEXTS = ("I drink coffee every morning", "早上我喝龙井茶", "The kiln is broken", "I moved to Porto in May")


@pytest.fixture
def store(redis_server: RedisServer) -> Iterator[Live]:
    with live_store(redis_server.url, partitions=1) as live:
        live.start_worker("w")
        live.append(*(live.created(OWNER, f"m{number}", text) for number, text in enumerate(TEXTS)))
        wait_until(live.folded)
        yield live


class Readers:
    """Processes that read one after the other: each has views of its own, and the folder is the same."""

    def __init__(self, store: Live, folder: Path) -> None:
        self.store, self.told = store, list[dict[str, Any]]()
        self.folder = folder
        self.options: dict[str, Any] = {}

    def files(self, **options: Any) -> ViewFolder:
        given = {"most_bytes": 1 << 20, "least": 1, "tell": self._tell} | self.options | options
        return ViewFolder(self.folder, "test", **given)

    def _tell(self, fact: str, **facts: Any) -> None:
        self.told.append({"fact": fact, **facts})

    def ask(self, owner: str = OWNER, look: Callable[[OwnerView], Any] | None = None, **options: Any) -> Any:
        """What a new process answers; it keeps what it loaded. By default: the answers to some questions, and from where."""
        files = self.files(**options)
        views = RedisViews(self.store.client, self.store.identity.tags, files=files, store_id="test")
        with views.view(owner) as (view, _):
            found = (look or answers)(view)
            was_kept = isinstance(view.columns.memories, KeptRecords)
        views.settle()
        files.close()
        views.close()
        return found, was_kept

    def from_redis(self) -> Any:
        views = RedisViews(self.store.client, self.store.identity.tags)
        with views.view(OWNER) as (view, _):
            found = answers(view)
        views.close()
        return found

    @property
    def kept(self) -> list[Path]:
        return sorted(self.folder.glob("*.view"))

    @property
    def reasons(self) -> list[str]:
        return [one["reason"] for one in self.told]


def answers(view: OwnerView) -> list[Any]:
    asked = ("coffee in the morning", "龙井", "where did she move in May?", "kiln")
    return [search(ViewQuery(view, at(0), "debug"), query, 10) for query in asked]


@pytest.fixture
def readers(store: Live, tmp_path: Path) -> Readers:
    return Readers(store, tmp_path / "views")


def happens(store: Live, *data: Any) -> None:
    store.append(*(store.event(one, OWNER) for one in data))
    wait_until(store.folded)


def test_the_next_process_finds_what_the_last_one_kept_and_answers_the_same(readers: Readers) -> None:
    first, was_kept = readers.ask()
    assert (was_kept, len(readers.kept)) == (False, 1)
    assert readers.ask() == (first, True)
    assert readers.told == []


def test_only_this_user_can_read_what_is_kept_and_the_owner_is_not_named(readers: Readers) -> None:
    readers.ask()
    [path] = readers.kept
    assert (path.stat().st_mode & 0o777, readers.folder.stat().st_mode & 0o777) == (0o600, 0o700)
    assert "ada" not in path.name


def test_what_was_folded_since_is_asked_of_redis(readers: Readers, store: Live) -> None:
    readers.ask()
    happens(store, MemoryRevised(memory_id="m2", content="The kiln works again"))
    store.append(store.created(OWNER, "m9", "我买了一个新的窑"))
    wait_until(store.folded)
    found, was_kept = readers.ask()
    assert was_kept
    assert found == readers.from_redis()
    assert "works again" in str(found)


def test_an_owner_without_memories_and_a_small_one_are_not_kept(readers: Readers) -> None:
    readers.ask(owner="nobody", look=len)
    readers.ask(least=5)
    assert readers.kept == []


# --- what is wrong is passed over


def _flip(readers: Readers, path: Path, at: int) -> None:
    raw = bytearray(path.read_bytes())
    raw[at] ^= 1
    path.write_bytes(raw)


def _cut(readers: Readers, path: Path, size: int) -> None:
    os.truncate(path, size)


def _link(readers: Readers, path: Path, _: int) -> None:
    elsewhere = path.with_name("elsewhere")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def _hard_link(readers: Readers, path: Path, _: int) -> None:
    os.link(path, path.with_name("twice"))


def _open_to_others(readers: Readers, path: Path, _: int) -> None:
    path.chmod(0o640)


def _folder(readers: Readers, path: Path, _: int) -> None:
    path.unlink()
    path.mkdir()
    (path / "x").touch()


def _fifo(readers: Readers, path: Path, _: int) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


def _too_big(readers: Readers, path: Path, _: int) -> None:
    readers.options["most_bytes"] = path.stat().st_size - 1


def _of_another(readers: Readers, path: Path, _: int) -> None:
    """A whole block, made by this store for another owner."""
    readers.store.append(readers.store.created("bob", "b", "bob's own word"))
    wait_until(readers.store.folded)
    readers.ask(owner="bob", look=len)
    [other] = [one for one in readers.kept if one != path]
    shutil.copy(other, path)


WRONG = [
    *((_flip, place) for place in (0, 10, 45, 200, -1, -300)),
    *((_cut, size) for size in (0, 7, 40, 100, 2_000)),
    *((wrong, 0) for wrong in (_link, _hard_link, _open_to_others, _folder, _fifo, _too_big, _of_another)),
]


@pytest.mark.parametrize(("spoil", "place"), WRONG, ids=lambda one: getattr(one, "__name__", str(one)))
def test_a_file_about_which_anything_is_wrong_is_passed_over_and_told(readers: Readers, spoil: Any, place: int) -> None:
    right, _ = readers.ask()
    [path] = readers.kept
    spoil(readers, path, place)
    assert readers.ask() == (right, False)
    assert len(readers.reasons) >= 1
    assert readers.told[0]["file"] == str(path)


def test_a_folder_that_others_may_use_keeps_nothing(readers: Readers) -> None:
    readers.folder.mkdir(mode=0o755)
    readers.folder.chmod(0o755)
    _, was_kept = readers.ask()
    assert (was_kept, readers.kept, len(readers.told)) == (False, [], 1)


def test_what_other_code_made_is_made_anew_without_a_word(readers: Readers, monkeypatch: pytest.MonkeyPatch) -> None:
    readers.ask()
    [path] = readers.kept
    before = path.read_bytes()
    monkeypatch.setattr("ops.kept.view_files.view_code", lambda: "newer")
    assert [readers.ask()[1], readers.ask()[1]] == [False, True]
    assert path.read_bytes() != before
    assert readers.told == []


def test_a_log_that_has_another_history_since_is_not_answered_from_what_was_kept(readers: Readers, store: Live) -> None:
    """The same events again at the same places, after the store came back as it was before them."""
    readers.ask()
    stream = LogKeys(store.tag_of(OWNER)).stream
    [(_, fields)] = store.client.xrange(stream, "4-0", "4-0")
    store.stop_worker("w")
    raw = dict(fields) if isinstance(fields, dict) else fields
    changed = {name: value + b"0" if name == list(raw)[-1] else value for name, value in raw.items()}
    store.client.xtrim(stream, maxlen=0)
    store.client.xadd(stream, changed, id="4-1")
    assert readers.ask()[1] is False
    assert "history" in readers.reasons[0]


# --- what may not be kept any longer


HIDING = (
    MemoryDeleted(memory_id="m2", reason="wrong"),
    SensitivitySet(memory_id="m2", level=3, reason="a secret"),
)


@pytest.mark.parametrize("hides", HIDING, ids=lambda one: type(one).__name__)
def test_a_process_that_learns_of_it_drops_the_file_before_it_answers(
    readers: Readers, store: Live, hides: Any
) -> None:
    readers.ask()
    happens(store, hides)
    files = readers.files()
    views = RedisViews(store.client, store.identity.tags, files=files, store_id="test")
    with views.view(OWNER):
        assert readers.kept == []
    files.close()
    views.close()


@pytest.mark.parametrize("hides", HIDING, ids=lambda one: type(one).__name__)
def test_what_is_kept_afterwards_has_nothing_of_it_and_answers_the_same(
    readers: Readers, store: Live, hides: Any
) -> None:
    happens(store, hides)
    readers.ask()
    [path] = readers.kept
    assert b"Porto" in path.read_bytes()
    assert b"kiln" not in path.read_bytes()
    assert readers.ask() == (readers.from_redis(), True)


def test_whoever_appends_a_deletion_drops_the_file_first(readers: Readers, store: Live) -> None:
    readers.ask()
    [path] = readers.kept
    log = KeepingLog(store.client, store.identity.tags)
    seen = list[bool]()
    log.erase_view = lambda owner: (readers.files().erase(owner), seen.append(path.exists()))[0]
    log.append([store.event(MemoryDeleted(memory_id="m0"), OWNER)])
    assert seen == [False]
    log.append([store.created(OWNER, "m8", "one more")])
    assert seen == [False]
    log.close()


def test_a_block_that_was_begun_before_something_was_erased_is_not_kept(tmp_path: Path) -> None:
    files = ViewFolder(tmp_path / "views", "test", most_bytes=1 << 20, tell=lambda *_, **__: None)
    assert files.write("ada", [b"block"], files.began())
    files.erase("ada")
    assert files.read("ada") is None
    assert not files.write("ada", [b"block"], files.began())
    assert files.read("ada") is None
    assert files.write("bob", [b"block"], files.began())
    assert files.write("ada", [b"block"], files.began() + 2 * GRACE_NS)


# --- bounds


def test_all_files_stay_within_the_bound_and_those_read_longest_ago_leave(tmp_path: Path) -> None:
    files = ViewFolder(tmp_path / "views", "test", most_bytes=300, tell=lambda *_, **__: None)
    known = set[Path]()
    for owner, age in (("a", 10), ("b", 900), ("c", 20)):
        assert files.write(owner, [bytes(100)], files.began())
        [path] = set(files.folder.iterdir()) - known
        known.add(path)
        read_at = path.stat().st_mtime - age
        os.utime(path, (read_at, read_at))
    assert not files.write("x", [bytes(301)], files.began())
    assert files.write("d", [bytes(100)], files.began())
    assert files.read("b") is None
    assert [files.read(owner) is not None for owner in "acd"] == [True] * 3


def test_what_a_process_that_died_had_begun_goes(tmp_path: Path) -> None:
    files = ViewFolder(tmp_path / "views", "test", most_bytes=1 << 20, tell=lambda *_, **__: None)
    files.write("a", [b"block"], files.began())
    left = files.folder / "dead.1-2.begun"
    left.write_bytes(b"half")
    os.utime(left, (0, 0))
    other = files.folder / "somebody's.txt"
    other.touch()
    os.utime(other, (0, 0))
    files.write("b", [b"block"], files.began())
    assert (left.exists(), other.exists()) == (False, True)


def test_a_view_that_leaves_for_want_of_room_is_kept(readers: Readers, store: Live) -> None:
    store.append(store.created("bob", "b", "bob's own word"))
    wait_until(store.folded)
    files = readers.files()
    views = RedisViews(store.client, store.identity.tags, files=files, store_id="test", most_bytes=1)
    with views.view(OWNER) as (view, _):
        view.matches("kiln")
    with views.view("bob"):
        pass
    files.close()
    views.close()
    assert readers.ask()[1]


def test_an_owner_who_is_looked_at_in_passing_is_not_kept(readers: Readers, store: Live) -> None:
    files = readers.files()
    views = RedisViews(store.client, store.identity.tags, files=files, store_id="test")
    with views.passing(OWNER), views.view(OWNER):
        pass
    views.settle()
    files.close()
    views.close()
    assert readers.kept == []
