"""What every log keeps beside a body: one suite for the log in memory and for Redis Streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from hashlib import sha256

import pytest
import redis

from engramlog_server.events.envelope import AnyEvent, Marker, Marks, Stored, prepare_body
from engramlog_server.events.errors import BadSetting, LogGap, OtherFormat
from engramlog_server.events.log import EventLog
from engramlog_server.events.memory_log import InMemoryEventLog
from engramlog_server.events.partitions import STORE_KEY, LogKeys, spread_tags
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.events.text import HIDDEN
from engramlog_server.projections.redis.create import open_store
from tests.given.alarms import KeptAlarms
from tests.given.clusters.named import client_named
from tests.given.samples import NOW, mention, owner_in
from tests.rows import each_row

PARTITIONS = 4
HERE, BESIDE = owner_in(1, PARTITIONS), owner_in(1, PARTITIONS, nth=1)
META = LogKeys(spread_tags(PARTITIONS)[1]).meta
Open = Callable[..., EventLog]


def looks(rules: int = 3, level: int = 2, *statements: bytes) -> Marker:
    """A marker that finds the same in every event."""
    return Marker(rules, 7, lambda _event: Marks(level, statements))


@pytest.fixture(params=["memory", "fakeredis", "valkey", "redis-7", "redis-8", "redis-cluster"])
def opened(request: pytest.FixtureRequest) -> Iterator[Open]:
    """Opens a log with options; twice the same store, but for the log in memory, which has none."""
    if request.param == "memory":
        yield lambda **options: InMemoryEventLog(lambda: NOW, PARTITIONS, **options)
        return
    named = request.param
    client = client_named(named, request)
    with ExitStack() as made:
        made.callback(client.close)

        def open_log(**options: object) -> EventLog:
            log = RedisEventLog(client, spread_tags(PARTITIONS), **options)  # type: ignore[arg-type]
            made.callback(log.close)
            return log

        yield open_log


LYING = [
    "", " ", "\t\n", "a\nprincipal: operator", "\x1b[2Jx", "\u202egpt", "\u3164", "\ud800", "x" * 10_000, "千问" * 500,
    "a model:b", "\x00",
]  # fmt: skip


def read(log: EventLog) -> list[Stored]:
    return log.read(1, 0)


def beside(one: Stored) -> tuple[bytes, bytes, bytes]:
    """Principal, level and digests."""
    return one.beside[1:4]  # type: ignore[return-value]


def test_each_entry_tells_who_brought_it_how_sensitive_it_is_and_by_which_rules(opened: Open) -> None:
    log = opened(marker=looks(), principal="door")
    log.append([mention(1, HERE)])
    log.append([mention(2, HERE)], principal="job:merge")
    first, second = read(log)
    assert (first.principal, second.principal) == ("door", "job:merge")
    assert (first.level, first.beside[2]) == (2, b"3:2")


def test_what_a_model_decided_names_it_beside_who_brought_it_and_what_stands_beside_it_does_not(opened: Open) -> None:
    log = opened(marker=looks(), principal="job:extract")
    decided, ruled = mention(1, HERE)._replace(model="qwen3:8b"), mention(2, HERE)
    log.append([decided, ruled])
    log.append([mention(3, HERE)._replace(model="qwen3:8b")], principal="desk")
    told = ["job:extract model:qwen3:8b", "job:extract", "desk model:qwen3:8b"]
    assert [one.principal for one in read(log)] == told
    assert log.append([ruled._replace(model="another"), decided])[0].status == "already_appended"
    assert [one.principal for one in read(log)] == told


def test_a_model_that_lies_about_its_name_is_still_told_in_one_short_line(opened: Open) -> None:
    log = opened(principal="job:extract")
    log.append([mention(number, HERE)._replace(model=model) for number, model in enumerate(LYING)])
    told = [(one.principal or "").encode().decode().partition(" model:") for one in read(log)]
    assert (len(told), {brought for brought, _, _ in told}) == (len(LYING), {"job:extract"})
    assert [
        name for *_, name in told if not (1 <= len(name) <= 100 and name.isprintable()) or HIDDEN.search(name)
    ] == []


@each_row(
    "name",
    ["", "x" * 201, "a\nb", "\x1b[2J", "local model:x"],
    ids=["empty", "long", "two lines", "an escape", "a model that decided nothing"],
)
def test_a_principal_that_no_entry_could_tell_is_refused_and_nothing_is_written(opened: Open, name: str) -> None:
    log = opened()
    with pytest.raises(BadSetting, match="principal: got"):
        log.append([mention(1, HERE)], principal=name)
    with pytest.raises(BadSetting):
        opened(principal=name)
    assert log.head(1) == 0


def test_where_nobody_looks_the_level_is_left_to_the_fold(opened: Open) -> None:
    log = opened()
    log.append([mention(1, HERE)])
    assert (read(log)[0].level, read(log)[0].beside[2]) == (None, b"0:0")


def test_what_cannot_be_read_is_kept_without_a_level(opened: Open) -> None:
    log = opened(marker=looks())
    log.append([prepare_body("00000000-0000-7000-8000-000000000001", "MemoryMentioned", 99, HERE, b"{}")])
    assert read(log)[0].level is None


def test_marks_that_the_door_has_made_are_not_made_again(opened: Open) -> None:
    def refuses(_event: AnyEvent) -> Marks:
        raise AssertionError("looked twice")

    log = opened(marker=Marker(3, 7, refuses))
    log.append([mention(1, HERE)._replace(marks=Marks(1, ()))])
    assert read(log)[0].level == 1


def test_marks_that_the_door_has_made_are_not_told_by_a_log_that_cannot_say_by_which_rules(opened: Open) -> None:
    made = mention(1, HERE)._replace(marks=Marks(2, (b"what it states",)))
    log = opened()
    assert log.append([made])[0].status == "appended"
    (one,) = read(log)
    assert (one.level, one.beside[2], one.beside[3]) == (None, b"0:0", b"")


def test_of_a_log_with_rules_for_levels_alone_an_entry_tells_the_level_alone(opened: Open) -> None:
    log = opened(marker=Marker(3, 0, lambda _event: Marks(0, ())))
    log.append([mention(1, HERE)._replace(marks=Marks(2, (b"what it states",)))])
    assert read(log)[0].beside[2:4] == (b"3:2", b"")


@each_row(
    ("number", "other"),
    [
        (1, {"principal": "somebody else"}),
        (2, {"marker": looks(rules=4, level=3)}),
        (3, {"marker": looks(3, 2, b"another normal form")}),
    ],
)
def test_the_same_event_by_another_principal_or_under_newer_rules_is_already_appended(
    opened: Open, number: int, other: dict[str, object]
) -> None:
    log = opened(marker=looks(), principal="door")
    (first,) = log.append([mention(number, HERE)])
    if isinstance(log, InMemoryEventLog):
        log._marker = other.get("marker", log._marker)  # type: ignore[assignment]
        again = log
    else:
        again = opened(**{"marker": looks()} | other)
    (second,) = again.append([mention(number, HERE)], principal="yet another")
    assert (second.status, second.position) == ("already_appended", first.position)
    (third,) = again.append([mention(number, HERE, "other")])
    assert third.status == "conflict"


def test_a_body_is_bound_by_its_commitment_and_equal_bodies_have_others(opened: Open) -> None:
    log = opened()
    log.append([mention(1, HERE), mention(2, HERE)])
    for one in read(log):
        assert (len(one.salt), one.beside[4]) == (16, sha256(one.salt + one.body).digest())
    assert len({one.salt for one in read(log)}) == 2


def test_statements_are_told_by_digests_that_say_nothing_without_the_owners_secret(opened: Open) -> None:
    log = opened(marker=looks(3, 0, b"lives in lisbon", b"has a dog"))
    log.append([mention(1, HERE), mention(2, HERE), mention(3, BESIDE)])
    same, again, other = (one.beside[3] for one in read(log))
    assert (len(same), same[0], same == again, same == other) == (33, 7, True, False)
    assert same[1:17] != same[17:33]


def test_owners_secrets_are_32_bytes_that_stay(opened: Open) -> None:
    log = opened()
    assert log.secrets_of([HERE]) == {}
    log.append([mention(1, HERE), mention(2, BESIDE)])
    first = log.secrets_of([HERE, BESIDE, "nobody"])
    log.append([mention(3, HERE)])
    assert {len(one) for one in first.values()} == {32}
    assert (log.secrets_of([HERE, BESIDE]), len(set(first.values()))) == (first, 2)


def test_recorded_times_never_go_back(opened: Open) -> None:
    log = opened()
    for number in range(20):
        log.append([mention(number, HERE)])
    times = [one.recorded or 0 for one in read(log)]
    assert times == sorted(times)
    assert all(len(one.beside) == 5 for one in read(log))


def test_in_memory_a_clock_that_goes_back_is_told_beside_the_time_that_holds() -> None:
    clock = [NOW]
    log = InMemoryEventLog(lambda: clock[0], PARTITIONS)
    log.append([mention(1, HERE)])
    clock[0] -= 5
    log.append([mention(2, HERE)])
    clock[0] += 6
    log.append([mention(3, HERE)])
    assert [(one.recorded, one.beside[5:]) for one in read(log)] == [
        (NOW, ()),
        (NOW, (b"%d" % (NOW - 5),)),
        (NOW + 1, ()),
    ]


AHEAD = 4_000_000_000_000_000
"""The year 2096, in microseconds."""


def test_a_clock_behind_the_log_is_told_beside_the_time_that_holds_with_an_alarm(redis_client: redis.Redis) -> None:
    heard = KeptAlarms()
    log = RedisEventLog(redis_client, spread_tags(PARTITIONS), alarms=heard)
    redis_client.hset(META, "rec", AHEAD)
    log.append([mention(1, HERE), mention(2, HERE)])
    log.append([mention(3, HERE)])
    for one in read(log):
        assert one.recorded == AHEAD
        assert int(one.beside[5]) < AHEAD
    assert list(heard.standing) == [("clock_back", "")]
    redis_client.hset(META, "rec", 1)
    log.append([mention(4, HERE)])
    assert heard.standing == {}
    log.close()


def test_an_append_far_from_the_callers_clock_is_an_alarm(redis_client: redis.Redis) -> None:
    heard = KeptAlarms()
    log = RedisEventLog(redis_client, spread_tags(PARTITIONS), alarms=heard, own_clock=lambda: AHEAD)
    log.append([mention(1, HERE)])
    assert list(heard.standing) == [("clock_apart", "")]
    assert (read(log)[0].recorded or 0) < AHEAD
    log.close()


def test_a_request_that_writes_nothing_makes_no_secret_and_moves_no_clock(redis_client: redis.Redis) -> None:
    log = RedisEventLog(redis_client, spread_tags(PARTITIONS))
    log.append([mention(1, HERE)])
    before = redis_client.hgetall(META)
    (receipt,) = log.append([mention(2, BESIDE)], expected_heads={BESIDE: 7})
    assert receipt.status == "head_mismatch"
    log.append([mention(1, HERE)])
    assert (redis_client.hgetall(META), log.secrets_of([BESIDE])) == (before, {})
    log.close()


def test_two_processes_that_make_an_owners_secret_at_once_agree(redis_client: redis.Redis) -> None:
    """The one that comes later has proposed another, keyed everything with it, and must not write that."""
    log = RedisEventLog(redis_client, spread_tags(PARTITIONS))
    quicker = RedisEventLog(redis_client, spread_tags(PARTITIONS))

    def in_between(size: int) -> bytes:
        if size == 32 and not quicker.secrets_of([HERE]):
            quicker.append([mention(1, HERE), mention(2, HERE)])
        return bytes(size)

    log._secrets._chance = in_between
    receipts = log.append([mention(2, HERE), mention(3, HERE)])
    assert [one.status for one in receipts] == ["already_appended", "appended"]
    assert log.secrets_of([HERE]) == quicker.secrets_of([HERE]) != {HERE: bytes(32)}
    (again,) = quicker.append([mention(3, HERE)])
    assert again.status == "already_appended"
    log.close()
    quicker.close()


def test_a_store_whose_secrets_are_replaced_all_the_time_refuses_by_name(redis_client: redis.Redis) -> None:
    log = RedisEventLog(redis_client, spread_tags(PARTITIONS))
    log.append([mention(1, HERE)])
    keys = LogKeys(spread_tags(PARTITIONS)[1]).secrets

    def chance(size: int) -> bytes:  # the salts of a part are made before it is sent
        redis_client.hincrby("n", "n")
        redis_client.hset(keys, HERE, (redis_client.hget("n", "n") or b"").rjust(32))
        return bytes(size)

    log._sending._chance = chance
    (receipt,) = log.append([mention(2, HERE)])
    assert (receipt.status, "secrets" in (receipt.error or "")) == ("failed", True)
    assert log.head(1) == 1
    log.close()


def test_a_store_that_lost_an_owners_secret_has_it_again_from_a_process_that_knows_it(
    redis_client: redis.Redis,
) -> None:
    log = RedisEventLog(redis_client, spread_tags(PARTITIONS))
    log.append([mention(1, HERE)])
    before = log.secrets_of([HERE])
    redis_client.delete(LogKeys(spread_tags(PARTITIONS)[1]).secrets)
    (receipt,) = log.append([mention(2, HERE)])
    assert (receipt.status, log.secrets_of([HERE])) == ("appended", before)
    log.close()


def test_an_entry_of_an_older_format_is_refused_by_its_place_and_never_read_as_another(
    redis_client: redis.Redis,
) -> None:
    keys, old = LogKeys(spread_tags(PARTITIONS)[1]), mention(1, HERE)
    redis_client.xadd(keys.stream, {"t": old.kind, "i": old.raw_id, "o": HERE, "e": old.body}, id="1-0")
    redis_client.hset(keys.meta, mapping={"head": 1})
    log = RedisEventLog(redis_client, spread_tags(PARTITIONS))
    with pytest.raises(LogGap, match="an entry that no append wrote"):
        read(log)
    log.close()


@each_row("told", [None, "1", "1>2"])
def test_a_store_of_an_older_layout_is_refused_in_one_sentence_and_left_as_it_is(
    redis_client: redis.Redis, told: str | None
) -> None:
    redis_client.flushall()
    wire = open_wire(redis_client)
    open_store(wire, store_id="s", partitions=PARTITIONS)
    redis_client.hdel(STORE_KEY, "format")
    if told is not None:
        redis_client.hset(STORE_KEY, "format", told)
    before = redis_client.hgetall(STORE_KEY)
    with pytest.raises(
        OtherFormat, match=r"of format 1.*, which release 0\.2 wrote; this release reads format 2 alone"
    ) as refused:
        open_store(wire, store_id="s", partitions=PARTITIONS)
    assert ". " not in refused.value.message
    assert redis_client.hgetall(STORE_KEY) == before
    wire.close()
