"""Views kept outside of Redis: found again, brought forward, and passed over where anything about them is wrong."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any

import msgspec
import pytest

import projections
from consumers.verify import levels
from events.catalogue import MemoryCreated, MemoryDeleted, MemoryRevised, SensitivitySet
from events.envelope import from_micros, prepare
from events.errors import StoreUnavailable
from events.marks import Marker, Marks
from events.partitions import LogKeys
from events.redis.log import RedisEventLog
from events.redis.wire import WirePool
from events.validation import make_event
from ops.job_worker import job_log
from ops.kept.value_keeper import KeepingLog
from ops.kept.view_code import view_code
from ops.kept.view_files import GRACE_NS, ViewFolder, view_folder
from ops.processes.up import _environment
from ops.settings import load_settings
from ops.store import open_the_store
from projections.language.sensitivity.event_level import LEVEL_RULES
from projections.lifecycle import rereading
from projections.memory.encoded_rows import EncodedRows
from projections.ranking.recall import search
from projections.redis.kept import MANY_CHANGED, KeptFiles
from projections.redis.view import RedisViews
from projections.views.query import ViewQuery
from projections.views.view import OwnerView
from tests.given.events import at
from tests.integration.live import Live, live_store, wait_until
from tests.integration.served import Served
from tests.patience import PATIENCE
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
            was_kept = isinstance(view.columns.memories, EncodedRows)
        views.settle()
        files.close(PATIENCE)
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
    store.client.delete(stream)
    store.client.xadd(stream, changed, id="4-0")
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
    files.close(PATIENCE)
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
    files.close(PATIENCE)
    views.close()
    assert readers.ask()[1]


def test_an_owner_who_is_looked_at_in_passing_is_not_kept(readers: Readers, store: Live) -> None:
    files = readers.files()
    views = RedisViews(store.client, store.identity.tags, files=files, store_id="test")
    with views.passing(OWNER), views.view(OWNER):
        pass
    views.settle()
    files.close(PATIENCE)
    views.close()
    assert readers.kept == []


# --- what a reviewer found


def test_an_erasure_leaves_its_mark_where_there_is_no_folder_yet(tmp_path: Path) -> None:
    files = ViewFolder(tmp_path / "views", "test", most_bytes=1 << 20, tell=lambda *_, **__: None)
    began = files.began()
    files.erase("ada")
    assert not files.write("ada", [b"block"], began)
    assert list(files.folder.glob("*.view")) == []


def test_a_file_goes_though_its_owner_cannot_be_marked(readers: Readers, monkeypatch: pytest.MonkeyPatch) -> None:
    files = readers.files()
    assert files.write("ada", [b"block"], files.began())
    [path] = readers.kept
    path.with_suffix(".mark").mkdir()
    files.erase("ada")
    assert (readers.kept, len(readers.reasons)) == ([], 1)


def test_a_mark_that_is_a_link_is_not_followed(readers: Readers, tmp_path: Path) -> None:
    files, victim = readers.files(), tmp_path / "victim"
    assert files.write("ada", [b"block"], files.began())
    mark = readers.kept[0].with_suffix(".mark")
    mark.symlink_to(victim)
    files.erase("ada")
    assert (victim.exists(), mark.is_symlink(), mark.is_file()) == (False, False, True)
    assert not files.write("ada", [b"block"], files.began())


def test_nothing_is_marked_in_a_folder_that_others_may_use(readers: Readers, tmp_path: Path) -> None:
    readers.folder.mkdir()
    readers.folder.chmod(0o777)
    readers.files().erase("ada")
    assert (list(readers.folder.iterdir()), len(readers.reasons)) == ([], 1)


def test_what_was_begun_of_an_owner_goes_with_his_file(readers: Readers) -> None:
    files = readers.files()
    assert files.write("ada", [b"block"], files.began())
    [path] = readers.kept
    path.with_suffix(".1-2.begun").write_bytes(b"half")
    files.erase("ada")
    assert [one.suffix for one in readers.folder.iterdir()] == [".mark"]


def test_a_job_that_hides_something_drops_the_file_first(
    readers: Readers, store: Live, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = RedisEventLog(store.client, store.identity.tags, marker=Marker(LEVEL_RULES, 1, lambda _event: Marks(0, ())))
    older.append(
        [store.created(OWNER, "pin", "The novel begins at sea. My password is hunter2-Xq9! So says its hero.")]
    )
    older.close()
    wait_until(store.folded)
    readers.ask()
    [path] = readers.kept
    assert b"hunter2" in path.read_bytes()
    for module in (rereading, levels):
        monkeypatch.setattr(module, "LEVEL_RULES", LEVEL_RULES + 1)
    head, served = store.log.head(0), Served(store, redis_server.url)
    served.serving = served.serving._replace(log=job_log(readers.files()))
    served.run("daily", 0)
    served.queue.connection.close()
    assert (store.log.head(0) > head, path.exists()) == (True, False)


def test_up_names_its_folder_to_its_job_workers(tmp_path: Path) -> None:
    settings = load_settings({"ENGRAMLOG_DATA": str(tmp_path / "data")})
    with open_the_store(settings) as opened:
        told = _environment(opened, settings)
    workers = load_settings({name: told[name] for name in ("ENGRAMLOG_REDIS_URL", "ENGRAMLOG_KEPT_VIEWS")})
    folder = view_folder(workers, opened.identity.store_id, lambda *_, **__: None)
    assert folder is not None
    assert folder.folder == tmp_path / "data" / "views"


def test_a_file_goes_before_an_answer_where_so_much_changed_that_all_is_loaded_anew(
    readers: Readers, store: Live
) -> None:
    readers.options["most_bytes"] = 1 << 26
    for start in (0, 500):
        store.append(*(store.created(OWNER, f"x{number}") for number in range(start, start + 500)))
    wait_until(store.folded)
    readers.ask()
    for start in (0, 500):
        store.append(
            *(store.event(MemoryDeleted(memory_id=f"x{number}"), OWNER) for number in range(start, start + 500))
        )
    wait_until(store.folded)
    assert len(readers.kept) == 1
    views = RedisViews(store.client, store.identity.tags, files=readers.files(), store_id="test")
    with views.passing(OWNER), views.view(OWNER):
        assert readers.kept == []
    views.close()


def test_a_file_of_other_code_goes_before_an_answer(
    readers: Readers, store: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers.ask()
    monkeypatch.setattr("ops.kept.view_files.view_code", lambda: "newer")
    happens(store, HIDING[0])
    views = RedisViews(store.client, store.identity.tags, files=readers.files(), store_id="test")
    with views.passing(OWNER), views.view(OWNER):
        assert readers.kept == []
    views.close()


def test_nothing_is_kept_while_something_of_the_owner_waits_to_be_folded(readers: Readers, store: Live) -> None:
    store.stop_worker("w")
    store.append(store.event(HIDING[0], OWNER))
    readers.ask()
    assert readers.kept == []
    store.start_worker("again")
    wait_until(store.folded)
    readers.ask()
    assert len(readers.kept) == 1


def test_a_process_names_the_code_that_it_began_with(readers: Readers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ops.kept.view_files.view_code", lambda: "older")
    files = readers.files()
    monkeypatch.setattr("ops.kept.view_files.view_code", lambda: "newer")
    assert files.code == "older"


@pytest.mark.parametrize("file", ["language/times/names.py", "language/text.py", "ranking/recall.py"])
def test_another_file_that_reads_texts_is_other_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    root = tmp_path / "projections"
    shutil.copytree(projections.__path__[0], root)
    monkeypatch.setattr(projections, "__path__", [str(root)])
    before = view_code()
    with (root / file).open("a") as other:
        other.write("# another line\n")
    assert view_code() != before


def test_a_store_that_does_not_answer_takes_no_good_file_away(readers: Readers, store: Live) -> None:
    readers.ask()
    files = readers.files()
    views = RedisViews(store.client, store.identity.tags, files=files, store_id="test")

    def level(*_: Any) -> bool:
        raise StoreUnavailable("no connection")

    kept = KeptFiles(files, "test", store.identity.tags, WirePool(store.client), level)
    with views.view(OWNER):
        pass
    held = views._kept.hold(OWNER)
    held.unkept = MANY_CHANGED
    kept.tend(OWNER, held, at_once=True)
    files.close(PATIENCE)
    views.close()
    assert len(readers.kept) == 1
    assert [(one["fact"], one["reason"]) for one in readers.told] == [("a view cannot be kept", "no connection")]


@pytest.mark.parametrize("hides", HIDING, ids=lambda one: type(one).__name__)
def test_what_only_hidden_memories_have_stands_in_no_file(readers: Readers, store: Live, hides: Any) -> None:
    made = MemoryCreated(
        memory_id="m9", content="Zebulon", category="fact", kind="diagnosis", source="user", speaker="Dr Oncologist"
    )
    when, now = from_micros(store.log.now()) - timedelta(days=1), store.log.now()
    told = make_event(made, owner=OWNER, occurred_at=when, actor="user", now=now, session_id="clinic-visit")
    store.append(prepare(told))
    wait_until(store.folded)
    readers.ask()
    words = [b"diagnosis", b"oncologist", b"clinic-visit", b"zebulon"]
    assert [word in readers.kept[0].read_bytes().lower() for word in words] == [True] * 4
    happens(store, msgspec.structs.replace(hides, memory_id="m9"))
    readers.kept[0].unlink()
    readers.ask()
    assert [word in readers.kept[0].read_bytes().lower() for word in words] == [False] * 4
    assert readers.ask() == (readers.from_redis(), True)


def _old(path: Path) -> Path:
    os.utime(path, (0, 0))
    return path


def test_what_is_too_old_goes_though_the_next_file_has_no_room(readers: Readers) -> None:
    files = readers.files()
    assert files.write("ada", [b"block"], files.began())
    old = _old(readers.kept[0])
    assert not files.write("bob", [bytes(2 << 20)], files.began())
    assert not old.exists()


def test_what_is_too_old_goes_when_the_folder_is_opened(tmp_path: Path) -> None:
    settings = load_settings({"ENGRAMLOG_DATA": str(tmp_path)})
    files = view_folder(settings, "test", lambda *_, **__: None)
    assert files is not None
    assert files.write("ada", [b"block"], files.began())
    [old] = map(_old, files.folder.iterdir())
    view_folder(settings, "test", lambda *_, **__: None)
    assert not old.exists()


@pytest.mark.parametrize(("named", "there"), [("off", False), ("elsewhere", False), ("views", True), ("auto", True)])
def test_what_lies_in_the_data_folder_goes_once_it_is_not_wanted_there(tmp_path: Path, named: str, there: bool) -> None:
    data = {"ENGRAMLOG_DATA": str(tmp_path)}
    files = view_folder(load_settings(data), "test", lambda *_, **__: None)
    assert files is not None
    assert files.write("ada", [b"block"], files.began())
    [path] = files.folder.iterdir()
    told = named if named in ("off", "auto") else str(tmp_path / named)
    view_folder(load_settings(data | {"ENGRAMLOG_KEPT_VIEWS": told}), "test", lambda *_, **__: None)
    assert path.exists() is there


def test_a_process_ends_while_a_disk_stands_still_and_tells_what_it_did_not_keep(readers: Readers) -> None:
    files, begun, go_on = readers.files(), Event(), Event()

    def stands() -> None:
        begun.set()
        go_on.wait(PATIENCE)

    files.later(stands)
    assert begun.wait(PATIENCE)
    while files.later(stands):
        pass
    files.close(0.01)
    go_on.set()
    assert readers.told == [{"fact": "views are not kept: the process ends before", "views": 9}]
