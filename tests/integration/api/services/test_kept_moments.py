"""Moments of an owner's past that questions keep: the same answers, for less; and nothing of what is purged stays in them."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import pytest

from engramlog_server.api.snapshots import Pasts
from engramlog_server.consumers.verify.partition import verify_partition
from engramlog_server.events.partitions import partition_of
from engramlog_server.projections.past import moments
from engramlog_server.projections.past.moments import with_sum, without_sum
from engramlog_server.projections.redis.builds import FIRST_BUILD, BuildKeys
from engramlog_server.projections.redis.history import MomentLimits, RedisPast
from engramlog_server.projections.redis.store import MOMENTS
from tests.acceptance.helpers.store import Store, day, embedded_store
from tests.given.events import accessed, created, deleted, mentioned, negated, purged, revised

SOON = MomentLimits(least=1, fold=1, every=3)
NEVER = MomentLimits(least=1 << 40)
SECRET_WORDS = "the blue door behind the mill"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with embedded_store(tmp_path_factory.mktemp("kept") / "data", sealed_by="none") as opened:
        opened.app.views.moments.limits = SOON
        opened.app.views.moments.worth = 1
        yield opened


@pytest.fixture
def ada(store: Store) -> str:
    """Forty memories told day after day; some came late, and were changed, and one is in Chinese."""
    owner = store.owner()
    store.tell(owner, created("I live in Paris", "m0", day=40), created("My sister is called Ann", "m1", day=41))
    for number in range(2, 40):
        text = f"User likes tea of kind {number} and {SECRET_WORDS}" if number == 5 else f"我喜欢第{number}种茶 tea"
        store.tell(owner, created(text, f"m{number}", day=number / 2), mentioned(f"m{number // 2}", day=number / 2))
    store.tell(
        owner, negated("m7", day=3), revised("I like coffee better", of="m8", day=30), accessed("m9", "m10", day=9)
    )
    return owner


def keys_of(store: Store, owner: str) -> BuildKeys:
    return BuildKeys(store.app.views.changelogs.keys(owner, FIRST_BUILD).tag, FIRST_BUILD)


def client(store: Store) -> Any:
    return store.app.views._wires._client


def forget(store: Store) -> None:
    """What a new process does not have."""
    store.reader._pasts._kept.clear()
    store.app.views.moments._held.clear()


def asked(store: Store, owner: str, **times: Any) -> list[Any]:
    reader = store.reader
    answers: list[Any] = [reader.list(owner, mode=mode, limit=100, **times) for mode in ("normal", "debug")]
    answers += [reader.search(owner, query, trace=False, **times) for query in ("tea", "喜欢")]
    answers += [reader.history(owner, **times), reader.history(owner, "m3", **times)]
    answers.append(store.app.contexts.context(owner, "which tea?", trace=False, **times))
    held = {one["id"] for one in answers[1]["memories"]}
    answers += [reader.get(owner, one, trace=False, **times) for one in sorted(held)[:9]]
    return answers


def times_of(store: Store, owner: str) -> list[dict[str, Any]]:
    partition = partition_of(owner, store.app.log.partitions)
    seqs = store.app.views.changelogs.seqs(owner)
    places = [f"{partition}:{seqs[at]}" for at in (-1, len(seqs) // 2, 4)]
    return [
        *({"known": place} for place in places),
        *({"as_of": day(number)} for number in (4.2, 40, 11, 60)),
        *({"as_of": day(9), "known": place} for place in places),
        {"as_of": places[1]},
    ]


def test_answers_from_kept_moments_are_those_of_a_whole_fold(store: Store, ada: str) -> None:
    moments_of = store.app.views.moments
    for times in times_of(store, ada) * 2:
        forget(store)
        moments_of.limits = NEVER
        expected = asked(store, ada, **times)
        moments_of.limits = SOON
        forget(store)
        assert asked(store, ada, **times) == expected
    assert client(store).hlen(keys_of(store, ada).moments(ada)) > 5


def test_the_change_log_of_what_was_known_is_the_stored_one_bit_by_bit(store: Store, ada: str) -> None:
    times = times_of(store, ada)[1]
    forget(store)
    with store.reader.snapshot(ada, **times) as snapshot:
        assert snapshot.past is not None
        found = snapshot.past.entries
    store.app.views.moments.limits = NEVER
    forget(store)
    with store.reader.snapshot(ada, **times) as snapshot:
        assert snapshot.past is not None
        assert found == snapshot.past.entries
        assert found
    store.app.views.moments.limits = SOON


def fold_lengths(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    read = list[int]()
    stored = Pasts.stored

    def counted(self: Pasts, owner: str, seqs: Any, on_progress: Any = None) -> Any:
        read.append(len(seqs))
        return stored(self, owner, seqs, on_progress)

    monkeypatch.setattr(Pasts, "stored", counted)
    return read


def test_the_second_question_folds_a_few_events_alone(store: Store, ada: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = times_of(store, ada)[0]
    forget(store)
    store.reader.list(ada, **place)
    read = fold_lengths(store, monkeypatch)
    for times in (place, times_of(store, ada)[1]):
        forget(store)
        store.reader.list(ada, **times)
    assert max(read, default=0) <= 2 * SOON.every


def contents(store: Store, owner: str) -> bytes:
    found = client(store).hgetall(keys_of(store, owner).moments(owner))
    return b"".join(zlib.decompress(without_sum(raw)) for name, raw in found.items() if name != MOMENTS.encode())


def test_a_purge_takes_away_what_is_kept_and_what_is_kept_then_has_nothing_of_it(store: Store, ada: str) -> None:
    everything = times_of(store, ada)[0]
    forget(store)
    store.reader.list(ada, **everything)
    assert SECRET_WORDS.encode() in contents(store, ada)
    store.tell(ada, deleted("m5", day=42))
    assert SECRET_WORDS.encode() in contents(store, ada)
    store.tell(ada, purged("m5", day=80))
    assert contents(store, ada) == b""
    for times in (everything, *times_of(store, ada)):
        forget(store)
        before = asked(store, ada, **times)
        forget(store)
        assert asked(store, ada, **times) == before
    assert contents(store, ada)
    assert SECRET_WORDS.encode() not in contents(store, ada)
    assert differences(store, ada) == []


def test_who_began_before_a_purge_keeps_nothing_after_it(
    store: Store, ada: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.tell(ada, deleted("m5", day=42))
    made = moments.made_part
    story = [purged("m5", day=80)]

    def meanwhile(*given: Any) -> Any:
        if story:
            store.tell(ada, story.pop())
        return made(*given)

    monkeypatch.setattr("engramlog_server.projections.past.folding.made_part", meanwhile)
    forget(store)
    place = times_of(store, ada)[0]
    store.reader.list(ada, **place)
    assert not story
    assert SECRET_WORDS.encode() not in contents(store, ada)
    assert client(store).hlen(keys_of(store, ada).moments(ada)) == 1


def test_who_does_not_know_of_a_purge_keeps_nothing_of_what_it_took_away(
    store: Store, ada: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = times_of(store, ada)[0]
    store.tell(ada, deleted("m5", day=42))
    forget(store)
    store.reader.list(ada, **place)
    begin, story = RedisPast.begin, [purged("m5", day=80)]

    def meanwhile(self: RedisPast, *given: Any) -> Any:
        if story:
            store.tell(ada, story.pop())  # the view that asks is from before it
        return begin(self, *given)

    monkeypatch.setattr(RedisPast, "begin", meanwhile)
    forget(store)
    store.reader.list(ada, **place)
    assert not story
    assert client(store).hkeys(keys_of(store, ada).moments(ada)) == [MOMENTS.encode()]


def differences(store: Store, owner: str) -> list[str]:
    keys = keys_of(store, owner)
    partition = partition_of(owner, store.app.log.partitions)
    return [one["what"] for one in verify_partition(client(store), partition, keys.tag).differences]


def spoiled(part: bytes) -> bytes:
    """Another text in a record, under a sum that fits."""
    told = zlib.decompress(without_sum(part))
    return with_sum(zlib.compress(told.replace(b"tea", b"pea")))


@pytest.mark.parametrize(
    ("what", "found"),
    [
        ("part", "kept moments that cannot be read: its sum is another"),
        ("gone", "kept moments that no head tells of, or that are gone"),
        ("head", "what was made of a past that cannot be read"),
        ("times", "what was made of a past that cannot be read"),
        ("forged", "a kept moment that is not what the log folds into: its records"),
    ],
)
def test_damage_is_told_and_a_question_is_answered_from_the_log(
    store: Store, ada: str, caplog: pytest.LogCaptureFixture, what: str, found: str
) -> None:
    times = times_of(store, ada)[0]
    forget(store)
    expected = asked(store, ada, **times)
    assert differences(store, ada) == []
    keys, redis = keys_of(store, ada), client(store)
    last = max((name for name in redis.hkeys(keys.moments(ada)) if name.isdigit()), key=int)
    key, field = (keys.index(ada), b"events:0") if what == "times" else (keys.moments(ada), last)
    if what == "head":
        field = MOMENTS.encode()
    kept = redis.dump(key)
    raw = redis.hget(key, field)
    try:
        if what == "gone":
            redis.hdel(key, field)
        else:
            redis.hset(key, field, spoiled(raw) if what == "forged" else raw[:-3] + b"abc")
        assert differences(store, ada) == [found]
        if what != "forged":
            forget(store)
            assert asked(store, ada, **times) == expected
            assert "cannot be read" in caplog.text
    finally:
        redis.restore(key, 0, kept, replace=True)
    assert differences(store, ada) == []


def test_nothing_is_kept_where_redis_is_full_and_the_answer_is_the_same(
    store: Store, ada: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramlog_server.projections.redis.history.memory_share", lambda _wire: 0.76)
    forget(store)
    store.reader.list(ada, **times_of(store, ada)[0])
    assert client(store).exists(keys_of(store, ada).moments(ada)) == 0


def test_a_build_that_is_not_live_gets_nothing(store: Store, ada: str) -> None:
    redis, keys = client(store), keys_of(store, ada)
    live = redis.hget(keys.log.meta, "live")
    moments_of: RedisPast = store.app.views.moments
    with store.reader.snapshot(ada) as snapshot:
        state = snapshot.view.state
    source = store.reader._pasts.source(ada)
    redis.hset(keys.log.meta, "live", f"{FIRST_BUILD}.77")
    try:
        times = moments_of.events(ada, FIRST_BUILD, state, source)
        assert times is not None
        assert len(times) == state.applied
    finally:
        redis.hset(keys.log.meta, "live", live)
    assert redis.exists(keys.index(ada), keys.moments(ada)) == 0


def test_what_was_imported_last_answers_as_a_whole_fold_at_every_instant(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = store.owner()
    store.tell(owner, *(created(f"said live {number}", f"n{number}", day=50 + number) for number in range(6)))
    store.tell(owner, mentioned("n2", day=57))
    for number in range(30):
        store.tell(
            owner, created(f"old tea {number}", f"m{number}", day=number), mentioned(f"m{number // 2}", day=number)
        )
    store.tell(owner, mentioned("n3", day=60), created("newest tea", "new", day=61))
    for number in (12.2, 53.1, 56.5, 60.5, 12.2, 53.1):
        store.app.views.moments.limits = NEVER
        forget(store)
        expected = asked(store, owner, as_of=day(number)), store.app.operator.stats(owner, as_of=day(number))
        store.app.views.moments.limits = SOON._replace(behind=3)
        forget(store)
        found = asked(store, owner, as_of=day(number)), store.app.operator.stats(owner, as_of=day(number))
        assert found[0] == expected[0]
        assert found[1] | {"moments": 0} == expected[1] | {"moments": 0}
    assert differences(store, owner) == []
    read = fold_lengths(store, monkeypatch)
    forget(store)
    store.reader.list(owner, as_of=day(54.5))
    store.app.views.moments.limits = SOON
    assert sum(read) <= 6 + 2 * SOON.every
