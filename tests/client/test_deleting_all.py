"""`delete_all` wants the owner named, reaches that owner alone, and says what it left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from engramlog import InputError, Unreachable
from engramlog_server.events.validation import read_event
from tests.given.client import KINDS, Service, connected, new_owner, proxy, service
from tests.given.http import event
from tests.rows import each_row


@pytest.fixture
def memory(running: Service) -> Iterator[Any]:
    with connected("sync", running.url) as client:
        yield client


@pytest.fixture
def owner() -> str:
    return new_owner()


def promoted(owner: str, memory_id: str) -> dict[str, Any]:
    return event("MemoryPromoted", owner=owner, key=memory_id, memory_id=memory_id, **{"from": "fact", "to": "core"})


def test_all_of_one_owner_go_and_nobody_elses(memory: Any, owner: str) -> None:
    mine = [memory.add(f"Cup {number}", owner=owner).id for number in range(3)]
    other = memory.add("A cup of another", owner=f"{owner}-other")
    memory.negate(mine[0], owner=owner)
    done = memory.delete_all(owner=owner)
    assert (sorted(done.deleted), done.skipped) == (sorted(mine), [])
    assert (memory.get_all(owner=owner, mode="review").total, memory.search("cup", owner=owner).total) == (0, 0)
    assert memory.get(other.id, owner=f"{owner}-other").status == "live"


def test_core_memories_stay_and_are_named_with_the_reason(memory: Any, owner: str, running: Service) -> None:
    kept, gone = memory.add("My name is Lin", owner=owner).id, memory.add("A cup", owner=owner).id
    application = running.http.application
    told = orjson.dumps(promoted(owner, kept) | {"actor": "operator"})
    application.writer.append_all([read_event(told, now=application.log.now())])
    memory.add("Another cup", owner=owner)
    done = memory.delete_all(owner=owner)
    assert (gone in done.deleted, len(done.deleted), [one.id for one in done.skipped]) == (True, 2, [kept])
    assert "core" in done.skipped[0].reason


def test_it_goes_in_pages(memory: Any, owner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engramlog.writing.PAGE", 2)
    mine = [memory.add(f"Cup {number}", owner=owner).id for number in range(5)]
    assert sorted(memory.delete_all(owner=owner).deleted) == sorted(mine)


def test_without_an_owner_it_cannot_even_be_called(memory: Any, owner: str) -> None:
    scoped = memory.of(owner)
    with pytest.raises(TypeError, match="owner"):
        scoped.delete_all()


@each_row("named", ["", "somebody-else"])
def test_another_owner_than_the_scopes_is_refused(memory: Any, owner: str, named: str) -> None:
    memory.add("A cup", owner=owner)
    with pytest.raises(InputError) as refusal:
        memory.of(owner).delete_all(owner=named)
    assert (refusal.value.field, memory.get_all(owner=owner).total) == ("owner", 1)


@each_row("kind", KINDS)
def test_when_the_answer_is_lost_everything_is_deleted_once_and_told(kind: str, tmp_path: Path) -> None:
    with service(tmp_path) as running, proxy(running.url) as between, connected(kind, between.url) as memory:
        mine = [memory.add(f"Cup {number}", owner="alice").id for number in range(3)]
        between.fates = ["pass", "lose"]
        done = memory.delete_all(owner="alice")
        deletions = [one for one in running.log("alice") if one[0] == "MemoryDeleted"]
    assert (sorted(done.deleted), done.skipped) == (sorted(mine), [])
    assert deletions == [("MemoryDeleted", "delete")] * 3


def test_under_one_key_it_is_done_once_and_what_was_told_since_stays(
    memory: Any, owner: str, running: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramlog.writing.PAGE", 2)
    first_id = memory.add("My name is Lin", owner=owner, memory_id="a-core").id
    mine = [memory.add(f"Cup {number}", owner=owner).id for number in range(3)]
    application = running.http.application
    told = orjson.dumps(promoted(owner, first_id) | {"actor": "operator"})
    application.writer.append_all([read_event(told, now=application.log.now())])
    first = memory.delete_all(owner=owner, key="k", reason="she asked for it")
    later = memory.add("A cup told later", owner=owner).id
    second = memory.delete_all(owner=owner, key="k", reason="she asked for it")
    assert (sorted(first.deleted), [one.id for one in first.skipped]) == (sorted(mine), ["a-core"])
    assert (second.deleted, [one.id for one in second.skipped]) == (first.deleted, ["a-core"])
    assert memory.get(later, owner=owner).status == "live"
    assert [one[0] for one in running.log(owner)].count("MemoryDeleted") == 3
    with pytest.raises(InputError) as refusal:
        memory.delete_all(owner=owner, key="k", reason="for another reason")
    assert (refusal.value.error, memory.get(later, owner=owner).status) == ("KeyTaken", "live")


def test_under_a_key_what_can_be_deleted_is_looked_for_in_one_page_at_most(
    owner: str, running: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramlog.writing.PAGE", 2)
    with proxy(running.url) as between, connected("sync", between.url) as memory:
        for name in ("a-core", "b-core", "c-cup"):
            memory.add(f"It is {name}", owner=owner, memory_id=name)
        application = running.http.application
        told = [orjson.dumps(promoted(owner, name) | {"actor": "operator"}) for name in ("a-core", "b-core")]
        application.writer.append_all([read_event(one, now=application.log.now()) for one in told])
        memory.get("a-core", owner=owner)
        with pytest.raises(InputError, match="first 2 memories") as refusal:
            memory.delete_all(owner=owner, key="k")
        assert refusal.value.field == "key"
        assert memory.delete_all(owner=owner).deleted == ["c-cup"]


def test_a_call_that_was_cut_off_goes_on_under_its_key(
    owner: str, running: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramlog.writing.PAGE", 2)
    with proxy(running.url) as between, connected("sync", between.url) as memory:
        mine = [memory.add(f"Cup {number}", owner=owner).id for number in range(5)]
        posts = iter([*["pass"] * 2, *["refuse"] * 9])
        between.fates_of_posts = posts
        with pytest.raises(Unreachable):
            memory.delete_all(owner=owner, key="k")
        between.fates_of_posts = None
        gone = [one[0] for one in running.log(owner)].count("MemoryDeleted")
        done = memory.delete_all(owner=owner, key="k")
    assert (gone, sorted(done.deleted)) == (2, sorted(mine))
    assert [one[0] for one in running.log(owner)].count("MemoryDeleted") == 5
