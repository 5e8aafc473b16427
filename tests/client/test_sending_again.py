"""A flaky line: what was asked is done, once, and an error says what happened."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from engramlog import InputError, NotYetFolded, Retry, Unavailable, UnexpectedAnswer, Unreachable
from engramlog.wire import Answer, Lost
from engramlog_server.events.partitions import partition_of
from tests.doubles.embeddings_endpoint import Reply, endpoint
from tests.given.client import KINDS, Proxy, Service, connected, new_owner, owner_of, service
from tests.rows import each_row


@pytest.fixture(params=KINDS)
def memory(request: pytest.FixtureRequest, between: Proxy) -> Iterator[Any]:
    """A client of an owner of its own, through the proxy, who has two memories."""
    with connected(request.param, between.url) as client:
        scoped = client.of(new_owner())
        scoped.add("I drink coffee", memory_id="coffee")
        scoped.add("I drink tea", memory_id="tea")
        between.asked.clear()
        yield scoped


WRITES: dict[str, Callable[[Any], Any]] = {
    "add": lambda memory: memory.add("I drink milk"),
    "turns": lambda memory: memory.add([{"role": "user", "content": "I drink milk"}]),
    "update": lambda memory: memory.update("coffee", "I drink a lot of coffee"),
    "negate": lambda memory: memory.negate("coffee", correction="I drink cocoa"),
    "confirm": lambda memory: memory.confirm("coffee"),
    "reinforce": lambda memory: memory.reinforce("coffee"),
    "merge": lambda memory: memory.merge(["coffee", "tea"]),
    "delete": lambda memory: memory.delete("coffee"),
}


@pytest.mark.parametrize(
    ("verb", "fates"),
    [*((verb, ["lose"]) for verb in WRITES), ("add", ["cut"]), ("merge", ["refuse"]), ("turns", [503, "lose", 429])],
    ids=str,
)
def test_a_write_whose_answer_is_lost_is_done_once(
    memory: Any, between: Proxy, running: Service, verb: str, fates: list[str | int]
) -> None:
    owner = owner_of(memory)
    before = len(running.log(owner))
    between.fates = [*fates]
    done = WRITES[verb](memory)
    bodies = between.posted()
    told = json.loads(bodies[0])
    history = running.http.application.reader.history(owner)["changes"][before:]
    assert (len(bodies), len(set(bodies))) == (len(fates) + 1, 1)
    assert {one["event_id"] for one in history} <= set(done.event_ids)
    if isinstance(told, dict):  # a verb, of which more may follow than the one event that it names
        assert "key" in told or told["event_id"] in done.event_ids
    else:
        assert {one["event_id"] for one in told} == set(done.event_ids)
    assert all(one["decision"] != "ignored" for one in history)
    assert len({(one["event_id"], one["memory"]) for one in history}) == len(history) > 0


KEYED: dict[str, Callable[[Any], Any]] = {
    "add": lambda memory: memory.add("I drink milk", key="k"),
    "turns": lambda memory: memory.add([{"role": "user", "content": "I drink milk"}] * 3, key="k"),
    "turns alone": lambda memory: memory.add([{"role": "user", "content": "I drink milk"}], remember=(), key="k"),
    "update": lambda memory: memory.update("coffee", "I drink a lot of coffee", key="k"),
    "negate": lambda memory: memory.negate("coffee", correction="I drink cocoa", key="k"),
    "confirm": lambda memory: memory.confirm("coffee", key="k"),
    "reinforce": lambda memory: memory.reinforce("coffee", key="k"),
    "merge": lambda memory: memory.merge(["coffee", "tea"], key="k"),
    "unmerge": lambda memory: memory.unmerge("drinks", key="k"),
    "delete": lambda memory: memory.delete("coffee", key="k"),
    "restore": lambda memory: memory.restore("coffee", key="k"),
}
BEFORE: dict[str, Callable[[Any], Any]] = {
    "unmerge": lambda memory: memory.merge(["coffee", "tea"], into="drinks"),
    "restore": lambda memory: memory.delete("coffee"),
}


def events_of(running: Service, owner: str) -> int:
    """How many events of an owner the log has."""
    log = running.http.application.log
    partition = partition_of(owner, log.partitions)
    return sum(one.owner == owner for one in log.read(partition, 0, log.head(partition)))


@pytest.mark.parametrize("memory", ["sync"], indirect=True)
@pytest.mark.parametrize(
    ("verb", "fate"), [*((verb, "lose") for verb in KEYED), ("turns", "refuse"), ("merge", "refuse")]
)
def test_a_call_made_again_under_its_key_after_the_line_went_dead_is_done_once(
    memory: Any, between: Proxy, running: Service, verb: str, fate: str
) -> None:
    BEFORE.get(verb, lambda _: None)(memory)
    before = events_of(running, owner_of(memory))
    between.fates = [fate] * 4
    with pytest.raises(Unreachable, match="with the same `key`"):
        KEYED[verb](memory)
    carried_out = events_of(running, owner_of(memory)) - before
    assert bool(carried_out) == (fate == "lose")
    first, second = KEYED[verb](memory), KEYED[verb](memory)
    written = events_of(running, owner_of(memory)) - before
    assert (first, written) == (second, carried_out or written)
    assert written == len(first.event_ids)


def test_a_key_is_one_calls(memory: Any, running: Service) -> None:
    memory.add("I drink milk", key="k")
    before = events_of(running, owner_of(memory))
    for call in (
        lambda: memory.add("I drink cocoa", key="k"),
        lambda: memory.add("I drink milk", key="k", actor="assistant"),
        lambda: memory.delete("coffee", key="k"),
    ):
        with pytest.raises(InputError) as refusal:
            call()
        assert (refusal.value.field, refusal.value.got) == ("key", "k")
    assert events_of(running, owner_of(memory)) == before
    with connected("sync", running.url, owner=new_owner()) as other:
        assert other.add("I drink cocoa", key="k").id != memory.add("I drink milk", key="k").id


@each_row("key", ["", " ", "x" * 201, 7])
def test_a_key_that_is_none_is_refused_before_anything_is_sent(memory: Any, between: Proxy, key: Any) -> None:
    with pytest.raises(InputError, match="at most 200 characters"):
        memory.delete("coffee", key=key)
    assert between.asked == []


@each_row("fates", [["refuse"], ["lose"], ["cut"], [503], [429, 504]], ids=str)
def test_a_question_is_asked_again(memory: Any, between: Proxy, fates: list[str | int]) -> None:
    between.fates = fates
    assert [one.id for one in memory.search("coffee", trace=False).results] == ["coffee"]


def test_after_the_last_try_the_error_says_how_often_and_what_to_do(memory: Any, between: Proxy) -> None:
    between.fates = ["refuse"] * 9
    with pytest.raises(Unreachable, match="no answer in 4 tries"):
        memory.get_all()
    assert len(between.asked) == 4


def test_what_is_refused_is_not_sent_again(memory: Any, between: Proxy) -> None:
    between.fates = [500]
    with pytest.raises(UnexpectedAnswer, match="not now"):
        memory.get_all()
    assert len(between.asked) == 1


def test_an_unavailable_service_is_told_as_such(memory: Any, between: Proxy) -> None:
    between.fates = [503] * 9
    with pytest.raises(Unavailable) as problem:
        memory.get_all()
    assert (problem.value.status, problem.value.error) == (503, "StoreUnavailable")


@each_row("kind", KINDS)
def test_where_nothing_listens_the_address_is_not_reached(kind: str) -> None:
    with (
        connected(kind, "http://127.0.0.1:1", owner="alice") as memory,
        pytest.raises(Unreachable, match="engramlog up"),
    ):
        memory.search("coffee")


@each_row("kind", KINDS)
def test_an_answer_that_is_no_json_is_named(kind: str) -> None:
    with endpoint() as other, connected(kind, other.url.removesuffix("/v1"), owner="alice") as memory:
        other.replies = [Reply(body=b"<html>hello</html>")]
        with pytest.raises(UnexpectedAnswer, match="no JSON"):
            memory.add("I drink coffee")


def test_what_nobody_folds_is_written_and_the_error_says_so(tmp_path_factory: pytest.TempPathFactory) -> None:
    with (
        service(tmp_path_factory.mktemp("unfolded"), worker=False) as alone,
        connected("sync", alone.url, owner="alice", retry=Retry(tries=1)) as memory,
        pytest.raises(NotYetFolded) as problem,
    ):
        memory.add([{"role": "user", "content": "I drink coffee"}])
    assert (problem.value.status, "is a worker running" in str(problem.value)) == (504, True)


@each_row(
    ("tried", "outcome", "chance", "seconds"),
    [
        (1, Lost("reset"), 0.0, 0.1),
        (2, Lost("reset"), 0.0, 0.2),
        (3, Lost("reset"), 0.5, 0.3),
        (4, Lost("reset"), 0.0, None),
        (1, Answer(503, b"", {}), 0.0, 0.1),
        (1, Answer(503, b"", {"retry-after": "3"}), 0.0, 3.0),
        (1, Answer(503, b"", {"retry-after": "0"}), 0.0, 0.1),
        (1, Answer(429, b"", {"retry-after": "21"}), 0.0, None),
        (1, Answer(504, b"", {"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}), 0.0, 0.1),
        (1, Answer(504, b'{"error":"DeadlineExceeded"}', {}), 0.0, None),
        (1, Answer(200, b"", {}), 0.0, None),
        (1, Answer(422, b"", {}), 0.0, None),
        (1, Answer(507, b"", {"retry-after": "1"}), 0.0, None),
    ],
)
def test_waits_double_and_keep_to_what_the_service_asks(
    tried: int, outcome: Any, chance: float, seconds: float | None
) -> None:
    assert Retry().wait(tried, outcome, chance) == (None if seconds is None else pytest.approx(seconds))
