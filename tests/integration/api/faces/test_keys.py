"""A call that is made again under its key is one call: nothing more is written, and it answers as it did."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Barrier
from typing import Any

import pytest

from engramlog_server.api.application import Application
from engramlog_server.api.services.writing import MOST_KEY
from engramlog_server.events.envelope import decode
from engramlog_server.events.errors import InputError, KeyTaken, NotFound
from engramlog_server.events.partitions import partition_of
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.wiring import open_application
from tests.rows import each_row

NUMBERS = count(1)
AT_ONCE = 6
Call = Callable[[Application, str], Any]
URI, OLD, NEW = "https://example.com/page", "sha256:" + "a" * 64, "sha256:" + "b" * 64


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    with open_application(Settings(data=tmp_path_factory.mktemp("keys") / "store", partitions=2)) as opened:
        yield opened


@pytest.fixture
def owner(application: Application) -> str:
    return made(application)


def made(application: Application) -> str:
    """An owner of two memories, of a merge and of a deleted memory."""
    name = f"owner-{next(NUMBERS)}"
    say = application.rememberer.add
    say(name, "I drink coffee every morning", memory_id="coffee", grounds=[{"uri": URI, "digest": OLD}])
    say(name, "I drink tea", memory_id="tea")
    say(name, "I like hills", memory_id="hills")
    say(name, "I like long hills", memory_id="hills-2")
    application.writer.merge(name, ["hills", "hills-2"], into="both")
    say(name, "gone", memory_id="gone")
    application.deleter.delete_many(name, ["gone"])
    return name


CALLS: dict[str, Call] = {
    "add": lambda one, owner: one.rememberer.add(owner, "I live in Porto", key="k"),
    "edit": lambda one, owner: one.rememberer.edit(owner, "coffee", "I drink coffee at eight", key="k"),
    "mention": lambda one, owner: one.writer.mention(owner, "coffee", similarity=0.9, key="k"),
    "confirm": lambda one, owner: one.writer.confirm(owner, "coffee", key="k"),
    "negate": lambda one, owner: one.writer.negate(owner, "coffee", key="k"),
    "correct": lambda one, owner: one.writer.negate(owner, "coffee", correction="I drink tea now", key="k"),
    "never": lambda one, owner: one.writer.negate(owner, "coffee", correction="I drink rum", never=True, key="k"),
    "add confirmed": lambda one, owner: one.rememberer.add(owner, "gone", confirm=True, key="k"),
    "delete never": lambda one, owner: one.deleter.delete_many(owner, ["coffee", "tea"], never=True, key="k").as_dict(),
    "merge": lambda one, owner: one.writer.merge(owner, ["coffee", "tea"], key="k"),
    "unmerge": lambda one, owner: one.writer.unmerge(owner, "both", key="k"),
    "promote": lambda one, owner: one.writer.promote(owner, "coffee", key="k"),
    "sensitivity": lambda one, owner: one.writer.set_sensitivity(owner, "coffee", 1, reason="asked", key="k"),
    "delete": lambda one, owner: one.deleter.delete_many(owner, ["coffee"], key="k").as_effects(),
    "delete many": lambda one, owner: one.deleter.delete_many(owner, ["coffee", "tea", "both"], key="k").as_dict(),
    "restore": lambda one, owner: one.restorer.restore(owner, "gone", key="k"),
    "restore many": lambda one, owner: one.restorer.restore_many(owner, ["gone"], key="k").as_dict(),
    "reinforce": lambda one, owner: one.living.reinforce(owner, "coffee", from_memory="tea", key="k"),
    "grade": lambda one, owner: one.living.grade(owner, "coffee", 4, key="k"),
    "choose": lambda one, owner: one.living.choose(owner, profile="tiered", parameters={"user_factor": 1.2}, key="k"),
    "synonym": lambda one, owner: one.synonyms.define(owner, "coffee", "java", key="k"),
    "ground": lambda one, owner: one.grounds.report(owner, URI, NEW, key="k"),
    "set aside": lambda one, owner: one.sources.set_aside(owner, session="s1", reason="it lies", key="k"),
}
OTHERS: dict[str, Call] = {
    "add": lambda one, owner: one.rememberer.add(owner, "I live in Lisbon", key="k"),
    "edit": lambda one, owner: one.rememberer.edit(owner, "coffee", "I drink none", key="k"),
    "mention": lambda one, owner: one.writer.mention(owner, "tea", similarity=0.9, key="k"),
    "confirm": lambda one, owner: one.writer.confirm(owner, "coffee", actor="assistant", key="k"),
    "negate": lambda one, owner: one.writer.negate(owner, "coffee", reason="another", key="k"),
    "correct": lambda one, owner: one.writer.negate(owner, "coffee", correction="I drink water now", key="k"),
    "never": lambda one, owner: one.writer.negate(owner, "coffee", correction="I drink rum", key="k"),
    "add confirmed": lambda one, owner: one.rememberer.add(owner, "I live in Porto", confirm=True, key="k"),
    "delete never": lambda one, owner: one.deleter.delete_many(owner, ["coffee", "tea"], key="k"),
    "merge": lambda one, owner: one.writer.merge(owner, ["coffee", "tea"], reason="another", key="k"),
    "unmerge": lambda one, owner: one.writer.merge(owner, ["coffee", "tea"], key="k"),
    "promote": lambda one, owner: one.writer.promote(owner, "coffee", to="fact", key="k"),
    "sensitivity": lambda one, owner: one.writer.set_sensitivity(owner, "coffee", 2, reason="asked", key="k"),
    "delete": lambda one, owner: one.deleter.delete_many(owner, ["coffee"], with_sources=True, key="k"),
    "delete many": lambda one, owner: one.deleter.delete_many(owner, ["coffee", "tea"], key="k"),
    "restore": lambda one, owner: one.restorer.restore(owner, "gone", reason="another", key="k"),
    "restore many": lambda one, owner: one.restorer.restore_many(owner, ["gone", "coffee"], key="k"),
    "reinforce": lambda one, owner: one.living.reinforce(owner, "coffee", outcome="used", key="k"),
    "grade": lambda one, owner: one.living.grade(owner, "coffee", 5, key="k"),
    "choose": lambda one, owner: one.living.choose(owner, profile="tiered", key="k"),
    "synonym": lambda one, owner: one.synonyms.define(owner, "coffee", "mocha", key="k"),
    "ground": lambda one, owner: one.grounds.report(owner, URI, OLD, key="k"),
    "set aside": lambda one, owner: one.sources.set_aside(owner, session="s2", reason="it lies", key="k"),
}


def events_of(application: Application, owner: str) -> list[Any]:
    """Everything in the log about an owner."""
    log = application.log
    stored = log.read(partition_of(owner, log.partitions), 0, 10_000)
    return [decode(one.kind, one.body) for one in stored if one.owner == owner]


def lasting(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without what is told anew each time: whether it is new, how far behind it is, why something went along."""
    told = {name: value for name, value in answer.items() if name not in ("created", "behind")}
    return told | {"also": [one["id"] for one in told["also"]]} if "also" in told else told


@each_row("name", CALLS)
def test_a_call_made_again_under_its_key_writes_nothing_more_and_answers_as_it_did_and_its_key_stands_for_nothing_else(
    application: Application, name: str
) -> None:
    owner = made(application)
    first = lasting(CALLS[name](application, owner))
    written = events_of(application, owner)
    assert lasting(CALLS[name](application, owner)) == first
    with pytest.raises(KeyTaken, match=r"key: got 'k'; allowed: a new key: something else was said under this one"):
        OTHERS[name](application, owner)
    assert events_of(application, owner) == written
    if name not in ("delete", "delete many", "merge"):
        application.writer.negate(owner, "coffee", correction="I drink nothing")
        application.deleter.delete_many(owner, ["coffee"])
    else:
        application.writer.mention(owner, "both") if name == "merge" else application.restorer.restore(owner, "coffee")
    written = events_of(application, owner)
    assert lasting(CALLS[name](application, owner)) == first
    assert events_of(application, owner) == written


@each_row("name", CALLS)
def test_equal_calls_at_once_are_one(application: Application, name: str) -> None:
    owner = made(application)
    before, together = len(events_of(application, owner)), Barrier(AT_ONCE)

    def call(_number: int) -> dict[str, Any]:
        together.wait()
        return lasting(CALLS[name](application, owner))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(call, range(AT_ONCE)))
    assert answers == [answers[0]] * AT_ONCE
    added = events_of(application, owner)[before:]
    CALLS[name](application, owner)
    assert events_of(application, owner)[before:] == added
    assert len({one.event_id for one in added}) == len(added) >= 1


@each_row("name", CALLS)
def test_a_call_that_its_equal_overtakes_after_its_look_answers_as_that(
    application: Application, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its equal is carried out, and folded, between the look at the key and the look at the memories."""
    owner = made(application)
    log, first = type(application.log), []
    look = log.seqs_of

    def overtaken(self: Any, *asked: Any) -> dict[str, int]:
        found = look(self, *asked)
        if not first:
            first.append({})
            first[0] = lasting(CALLS[name](application, owner)) | {"events": events_of(application, owner)}
        return found

    monkeypatch.setattr(log, "seqs_of", overtaken)
    answer = lasting(CALLS[name](application, owner)) | {"events": events_of(application, owner)}
    assert (answer, "id" in answer or "owner" in answer) == (first[0], True)


def test_a_key_is_one_for_all_verbs_of_an_owner_and_another_for_each_owner(
    application: Application, owner: str
) -> None:
    application.writer.negate(owner, "coffee", key="k")
    with pytest.raises(KeyTaken):
        application.writer.mention(owner, "coffee", key="k")
    with pytest.raises(KeyTaken):
        application.deleter.delete_many(owner, ["coffee"], key="k")
    other = f"{owner}-other"
    application.rememberer.add(other, "I drink coffee", memory_id="coffee")
    assert application.writer.mention(other, "coffee", key="k")["id"] == "coffee"


def test_a_call_that_was_refused_leaves_its_key_free(application: Application, owner: str) -> None:
    with pytest.raises(NotFound):
        application.writer.negate(owner, "nothing", key="k")
    assert application.writer.negate(owner, "coffee", key="k")["id"] == "coffee"


def test_an_event_id_does_not_tell_its_key_to_whoever_lacks_the_owners_secret(
    application: Application, owner: str
) -> None:
    ids = [application.writer.mention(one, "coffee", key="k")["changes"][0]["event_id"] for one in (owner,)]
    other = f"{owner}-other"
    application.rememberer.add(other, "I drink coffee", memory_id="coffee")
    ids.append(application.writer.mention(other, "coffee", key="k")["changes"][0]["event_id"])
    assert [one[14] for one in ids] == ["8", "8"]
    assert ids[0] != ids[1]


@pytest.mark.parametrize("key", ["", "  \n", "k" * (MOST_KEY + 1), "\ud800"])
def test_a_key_is_some_text_of_bounded_length(application: Application, owner: str, key: str) -> None:
    written = events_of(application, owner)
    calls: list[Callable[[], object]] = [
        lambda: application.writer.negate(owner, "coffee", key=key),
        lambda: application.rememberer.add(owner, "x", key=key),
        lambda: application.deleter.delete_many(owner, ["coffee"], key=key),
        lambda: application.restorer.restore(owner, "gone", key=key),
        lambda: application.grounds.report(owner, URI, NEW, key=key),
    ]
    for call in calls:
        with pytest.raises(InputError, match=f"key: got .*; allowed: some text of at most {MOST_KEY} characters"):
            call()
    assert events_of(application, owner) == written


def test_a_deletion_of_many_that_was_stopped_goes_on_under_its_key(application: Application, owner: str) -> None:
    done = application.deleter.delete_many(owner, ["coffee", "tea"], key="k")
    assert done.done == ["coffee", "tea"]
    application.restorer.restore(owner, "tea")
    again = application.deleter.delete_many(owner, ["coffee", "tea"], key="k")
    assert (again.done, again.exit_code) == (["coffee", "tea"], 0)
    assert application.reader.get(owner, "tea", trace=False)["deleted_at"] is None
