"""Vectors: computed once by a job, kept by content and model, gone with what was purged, and enough when half there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import pytest

from engramlog_server.consumers.fold.rebuild import rebuild_partition
from engramlog_server.consumers.jobs.embedding import BATCH, EmbeddingJob
from engramlog_server.consumers.jobs.opened import JobResources, Lent
from engramlog_server.consumers.jobs.queue import JobScheduler
from engramlog_server.consumers.jobs.run import KINDS, run, serving, usual
from engramlog_server.consumers.verify import partition as verify_module
from engramlog_server.consumers.verify.keys import scan_partition
from engramlog_server.events.catalogue import (
    MemoryDeleted,
    SensitivityRaised,
    SensitivitySet,
    SourceBroughtBack,
    SourceSetAside,
    ValueReadmitted,
    ValueRejected,
)
from engramlog_server.events.errors import DamagedState, EmbedderFailed, StoreFull
from engramlog_server.events.partitions import LogKeys, partition_of, spread_tags
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import WirePool, open_wire
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.wiring import open_application
from engramlog_server.projections.embedding.choosing import Embedders
from engramlog_server.projections.embedding.meaning import Embedder, content_key
from engramlog_server.projections.embedding.vectors import VectorKeys, pack
from engramlog_server.projections.language.orders import MARKER
from engramlog_server.projections.language.statements import STATEMENT_RULES
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.ranking.question import MeantQuestion
from engramlog_server.projections.redis.vectors import RedisVectors
from tests.acceptance.helpers.store import Store
from tests.doubles.embedding import DIMENSIONS, WordEmbedder
from tests.given.events import Told, accessed, created, deleted, merged, purged, restored, revised
from tests.given.vectors import Vectors
from tests.integration.live import live_store
from tests.servers import RedisServer

WORDS = ("tea", "bus", "rain", "kiln", "clay", "咖啡", "雨", "fair", "oats", "name")


left_to_the_job = pytest.mark.usefixtures("_left_to_the_job")
"""Missing texts are left to the job, as where a question finds more than it embeds itself."""


@pytest.fixture
def _left_to_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engramlog_server.projections.redis.vectors.MOST_AT_A_QUESTION", 0)


@pytest.fixture
def stood(server: RedisServer) -> Iterator[Vectors]:
    with live_store(server.url, partitions=2) as live:
        live.start_worker("folder")
        made = Vectors(live)
        yield made
        made.views.close()
        made.vectors.close()


def said(count: int, word: str = "thing") -> list[Told]:
    return [created(f"{word} {n} about {WORDS[n % len(WORDS)]}", f"{word}{n}", day=n / 10) for n in range(count)]


def test_a_second_run_of_the_job_does_nothing(stood: Vectors) -> None:
    stood.tell("ada", *said(150))
    seen: list[tuple[int, int]] = []
    first = stood.job.carry_out("ada", on_progress=lambda *at: seen.append(at))
    assert (first.embedded, first.already, first.dropped, first.left, first.failed) == (150, 0, 0, 0, [])
    assert seen == [(64, 150), (128, 150), (150, 150)]
    assert max(map(len, stood.embedder.asked)) == BATCH
    second = stood.job.carry_out("ada")
    assert (second.embedded, second.already) == (0, 150)
    assert len(stood.embedder.embedded) == 150
    assert stood.vectors.count("ada", stood.embedder.model) == 150


def test_a_content_is_embedded_once_however_many_memories_hold_it(stood: Vectors) -> None:
    stood.tell("ada", *(created("I like tea", f"m{n}") for n in range(5)))
    assert stood.job.carry_out("ada").embedded == 1
    assert len(stood.known("ada")) == 5


def test_questions_find_what_was_embedded_with_its_pieces(stood: Vectors) -> None:
    stood.tell("ada", created("早上喝咖啡", "coffee"), created("The bus leaves at nine", "bus"))
    stood.job.carry_out("ada")
    assert (stood.nearest("ada", "when does the bus leave"), stood.nearest("ada", "咖啡")) == ("bus", "coffee")
    with stood.views.view("ada") as (view, _):
        sense = stood.meanings.sense(view, "ada", MeantQuestion("bus"))
        assert sense is not None
        rows = np.arange(2)
        wanted = stood.embedder.texts([view.columns.memories[row].content for row in rows])
        found = sense.pieces(rows)
        assert found.counts.tolist() == [len(one.pieces) for one in wanted]
        np.testing.assert_allclose(found.vectors, np.concatenate([one.pieces for one in wanted]), atol=0.01)


@pytest.mark.parametrize("batches", [0, 1, 2])
def test_a_run_killed_after_some_batches_goes_on_with_what_is_missing(stood: Vectors, batches: int) -> None:
    stood.tell("ada", *said(150))

    def killed(_texts: Sequence[str]) -> None:
        if len(stood.embedder.asked) == batches:
            raise KeyboardInterrupt

    stood.embedder.before = killed
    with pytest.raises(KeyboardInterrupt):
        stood.job.carry_out("ada")
    stood.embedder.before = lambda _texts: None
    again = stood.job.carry_out("ada")
    assert (again.already, again.embedded) == (64 * batches, 150 - 64 * batches)
    assert sorted(stood.embedder.embedded) == sorted(set(stood.embedder.embedded))


def test_a_run_that_is_told_to_stop_says_what_is_left(stood: Vectors) -> None:
    stood.tell("ada", *said(150))
    done = stood.job.carry_out("ada", stop=lambda: len(stood.embedder.asked) == 2)
    assert (done.embedded, done.left) == (128, 22)


@left_to_the_job
def test_a_store_half_embedded_answers_with_what_it_has_and_says_how_much_that_is(stood: Vectors) -> None:
    stood.tell("ada", *said(100))
    stood.job.carry_out("ada", stop=lambda: len(stood.embedder.asked) == 1)
    sense, ids = stood.sensed("ada", "rain")
    assert (sense.known.sum(), sense.wanted, len(ids)) == (64, 100, 100)
    assert not sense.wholes[~sense.known].any()
    assert not sense.pieces(np.flatnonzero(~sense.known)).counts.any()
    with stood.views.view("ada") as (view, _):
        told = stood.meanings.coverage(view, "ada")
    assert (told["model"], told["embedded"], told["of"], told["share"]) == ("words/1", 64, 100, 0.64)
    stood.job.carry_out("ada")
    assert len(stood.known("ada")) == 100


def hidden(memory_id: str, day: float) -> list[Told]:
    """Deleted, and purged forty days later."""
    return [deleted(memory_id, day=day), purged(memory_id, day=day + 40)]


def test_what_was_revised_purged_or_made_secret_leaves_no_vector_under_any_key(stood: Vectors) -> None:
    stood.tell("ada", *said(4), created("kept as it is", "kept"))
    old = WordEmbedder("words/0")
    for job in (stood.job_by(old), stood.job):
        job.carry_out("ada")
    assert len(stood.fields("ada")) == 5
    stood.tell("ada", revised("said anew", "thing0", 50), *hidden("thing1", 50), deleted("thing2", day=50))
    stood.tell("ada", revised("my password is Xk9#mQ2v!zz", "thing3", 51))
    done = stood.job.carry_out("ada")
    assert (done.dropped, done.embedded) == (6, 1)
    kept = stood.named("kept as it is", "said anew", "thing 2 about rain")
    assert stood.fields("ada") == kept
    assert stood.known("ada") == {"kept", "thing0", "thing2"}  # what is deleted softly may be restored
    assert [text for text in stood.embedder.embedded if "password" in text] == []


def pattern() -> list[Told]:
    account = created("tea, and a bus", "sum", 1, kind="pattern", source="system", summarises=("thing0", "thing1"))
    return [*said(2), account]


def _level(of: str, to: int, day: float) -> Told:
    return Told(SensitivitySet(memory_id=of, level=to, reason="it is nobody's business"), day, "user")


_FADED = Told(MemoryDeleted(memory_id="thing0", policy="auto_cleanup"), 50, "system")


def _value(stood: Vectors) -> str:
    with stood.views.view("ada") as (view, _):
        said = view.get("thing0")
    assert said is not None
    return said.stated.hex()


def _rejected(stood: Vectors) -> Told:
    return Told(ValueRejected(values=(_value(stood),), rules=STATEMENT_RULES), 50, "user")


def _readmitted(stood: Vectors) -> Told:
    return Told(ValueReadmitted(values=(_value(stood),), rules=STATEMENT_RULES), 51, "user")


Step = Told | Callable[[Vectors], Told]
HIDING: dict[str, tuple[list[Step], list[Step]]] = {
    "made secret by hand": ([_level("thing0", 3, 50)], [_level("thing0", 0, 51)]),
    "made secret by rules": (
        [Told(SensitivityRaised(memory_id="thing0", level=3, rules=99), 50, "system")],
        [_level("thing0", 1, 51)],
    ),
    "deleted": ([deleted("thing0", day=50)], [restored("thing0", 51)]),
    "purged after it faded": ([_FADED, purged("thing0", day=90)], []),
    "rejected": ([_rejected], [_readmitted]),
    "rejected, and the other secret": ([_rejected, _level("thing1", 3, 51)], [_readmitted, _level("thing1", 0, 52)]),
    "its source set aside": (
        [Told(SourceSetAside(actor="user"), 50, "user")],
        [Told(SourceBroughtBack(actor="user"), 51, "user")],
    ),
    "merged into what is secret": (
        [merged("thing0", "thing2", into="both", day=50), _level("both", 3, 51)],
        [_level("both", 0, 52)],
    ),
}


@pytest.mark.parametrize("what", HIDING)
def test_a_walk_leaves_what_a_run_of_the_owner_would_whatever_hid_words_and_showed_them_again(
    stood: Vectors, what: str
) -> None:
    stood.live.log = RedisEventLog(stood.live.client, stood.live.identity.tags, marker=MARKER)
    pieces = [created(text, f"thing{n}") for n, text in enumerate(("I sell honey", "I keep bees", "I sell bees"))]
    stood.tell("ada", *pieces, pattern()[-1])
    partition = partition_of("ada", len(stood.live.identity.tags))
    assert stood.job.walk(partition)["embedded"] == 4
    for number, told in enumerate(filter(None, HIDING[what])):
        stood.tell("ada", *(one if isinstance(one, Told) else one(stood) for one in told))
        stood.job.walk(partition)
        walked = stood.fields("ada")
        with stood.views.view("ada") as (view, _):
            account = view.get("sum")
        assert account is not None
        assert (account.sensitivity >= SECRET) == (number == 0 and what != "its source set aside")
        assert (account.sensitivity < SECRET) == (stood.named("tea, and a bus") <= walked)
        stood.job.carry_out("ada")
        assert stood.fields("ada") == walked


def test_what_this_process_keeps_of_pieces_goes_with_them(stood: Vectors) -> None:
    stood.tell("ada", *said(2))
    stood.job.carry_out("ada")
    sense, _ = stood.sensed("ada", "tea")
    assert sense.pieces(np.arange(2)).counts.all()
    stood.tell("ada", *hidden("thing0", 50))
    stood.job.carry_out("ada")
    assert [key for _, _, key in stood.vectors._kept] == list(stood.named("thing 1 about bus"))


def test_what_is_purged_while_it_is_embedded_is_gone_at_the_end_of_the_run(stood: Vectors) -> None:
    stood.tell("ada", *said(3))

    def meanwhile(_texts: Sequence[str]) -> None:
        stood.embedder.before = lambda _texts: None
        stood.tell("ada", *hidden("thing1", 50))

    stood.embedder.before = meanwhile
    done = stood.job.carry_out("ada")
    assert (done.embedded, done.dropped) == (3, 1)
    assert stood.fields("ada") == stood.named(*(f"thing {n} about {WORDS[n]}" for n in (0, 2)))


def test_vectors_of_two_models_stand_side_by_side(stood: Vectors) -> None:
    stood.tell("ada", *said(5))
    other = WordEmbedder("openai:words/2", dimensions=8)
    stood.job.carry_out("ada", stop=lambda: False)
    stood.job_by(other).carry_out("ada")
    assert stood.vectors.models() == ["openai:words/2", "words/1"]
    assert stood.known("ada") == stood.known("ada", stood.meanings_by(other))
    sense, _ = stood.sensed("ada", "tea", stood.meanings_by(other))
    assert sense.wholes.shape == (5, 8)


@left_to_the_job
def test_an_owner_s_vectors_are_its_own(stood: Vectors) -> None:
    stood.tell("ada", created("I like tea", "a"))
    stood.tell("bo", created("I like tea", "b"), created("and rain", "c"))
    stood.job.carry_out("ada")
    assert (stood.known("ada"), stood.known("bo")) == ({"a"}, set())
    stood.job.carry_out("bo")
    stood.tell("bo", *hidden("b", 50))
    stood.job.carry_out("bo")
    assert (stood.known("ada"), stood.known("bo")) == ({"a"}, {"c"})
    assert stood.fields("ada") == stood.named("I like tea")


def test_a_first_walk_that_begins_while_a_store_is_verified_is_no_difference(
    stood: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    stood.tell("ada", *said(3))
    number = partition_of("ada", 2)

    def scanned_before(*given: Any) -> Any:
        found = scan_partition(*given)
        assert found is not None
        assert not found.models
        assert stood.job.walk(number)["embedded"] == 3
        return found

    monkeypatch.setattr(verify_module, "scan_partition", scanned_before)
    tag = stood.live.identity.tags[number]
    verdict = verify_module.verify_partition(stood.live.client, number, tag)
    assert verdict.differences == []
    monkeypatch.undo()
    stood.live.client.hset(VectorKeys(tag).models, "nobody/7", "0")
    verdict = verify_module.verify_partition(stood.live.client, number, tag)
    assert [one["model"] for one in verdict.differences] == ["nobody/7"]


def test_a_rebuild_leaves_vectors_alone_and_computes_none_again(stood: Vectors) -> None:
    stood.tell("ada", *said(20))
    number = partition_of("ada", 2)
    assert stood.job.walk(number)["embedded"] == 20
    before = stood.live.client.hgetall(VectorKeys(stood.live.identity.tags[number]).wholes("words/1", "ada"))
    rebuild_partition(stood.live.client, stood.live.identity.tags[number], holder="rebuild")
    assert len(stood.known("ada")) == 20
    assert stood.job.walk(number) == {"owners": 0, "embedded": 0, "dropped": 0, "failed": 0}
    assert stood.job.carry_out("ada").embedded == 0
    assert len(stood.embedder.embedded) == 20
    after = stood.live.client.hgetall(VectorKeys(stood.live.identity.tags[number]).wholes("words/1", "ada"))
    assert after == before


def commands_asked(stood: Vectors, ask: Any) -> int:
    """How many commands Redis served meanwhile, those that asked it for the number left out."""
    before = stood.live.client.info("stats")["total_commands_processed"]
    ask()
    return int(stood.live.client.info("stats")["total_commands_processed"]) - before - 1


@left_to_the_job
def test_a_question_costs_one_round_trip_where_nothing_changed(server: RedisServer) -> None:
    with live_store(server.url, partitions=2) as live:
        live.start_worker("folder")
        stood = Vectors(live)
        stood.tell("ada", *said(30))
        stood.job.carry_out("ada", stop=lambda: False)
        stood.tell("ada", created("not embedded yet", "new", 50))
        live.stop_worker("folder")
        with stood.views.view("ada") as (view, _):
            question = MeantQuestion("tea")
            stood.meanings.sense(view, "ada", question)
            assert commands_asked(stood, lambda: stood.meanings.sense(view, "ada", question)) == 1
            assert commands_asked(stood, lambda: stood.meanings.sense(view, "ada", question)) == 1
            sense = stood.meanings.sense(view, "ada", question)
            assert sense is not None
            sense.pieces(np.arange(10))
            assert commands_asked(stood, lambda: sense.pieces(np.arange(10))) == 0
        stood.views.close()
        stood.vectors.close()


def test_a_text_that_the_embedder_refuses_is_left_out_and_told_and_the_rest_goes_on(stood: Vectors) -> None:
    told: list[tuple[str, dict[str, Any]]] = []
    picky = WordEmbedder(refuses="kiln")
    stood.tell("ada", *said(20))
    job = EmbeddingJob(stood.vectors, Embedders.alone(lambda: picky), lambda fact, **facts: told.append((fact, facts)))
    done = job.carry_out("ada")
    assert (done.embedded, done.left) == (18, 2)
    assert {one["id"] for one in done.failed} == {"thing3", "thing13"}
    assert {(fact, facts["memory"]) for fact, facts in told} == {("text skipped", f"thing{n}") for n in (3, 13)}
    assert "kiln" not in str(told)
    assert job.walk(partition_of("ada", 2))["owners"] == 0  # not before something changes


def test_an_embedder_that_is_down_ends_the_run_and_what_was_done_stays(stood: Vectors) -> None:
    stood.tell("ada", *said(150), *hidden("thing0", 60))
    stood.job_by(WordEmbedder("words/0")).carry_out("ada")
    stood.tell("ada", *hidden("thing1", 60))

    def down(_texts: Sequence[str]) -> None:
        stood.embedder.down = len(stood.embedder.asked) >= 1

    stood.embedder.before = down
    with pytest.raises(
        EmbedderFailed, match="does not answer; 64 texts of owner ada embedded before stay, 84 are left"
    ):
        stood.job.carry_out("ada")
    assert stood.vectors.count("ada", "words/1") == 64
    assert stood.named("thing 1 about bus").isdisjoint(stood.fields("ada"))  # what must go does not wait for it
    stood.embedder.before = lambda _texts: None
    stood.embedder.down = False
    assert stood.job.carry_out("ada").embedded == 84


def test_a_redis_that_is_nearly_full_takes_no_vectors(stood: Vectors) -> None:
    stood.tell("ada", *said(3))
    stood.live.client.config_set("maxmemory", 100_000)
    with pytest.raises(StoreFull, match="vectors are stored up to 75%"):
        stood.job.carry_out("ada")
    stood.live.client.config_set("maxmemory", 0)
    assert stood.job.carry_out("ada").embedded == 3


@left_to_the_job
@pytest.mark.parametrize("raw", [b"", b"nonsense", pack(WordEmbedder(dimensions=5).texts(["tea"])[0])[0]])
def test_a_damaged_vector_is_missing_until_it_is_computed_anew(stood: Vectors, raw: bytes) -> None:
    stood.tell("ada", created("tea", "tea"), created("bus", "bus"))
    stood.job.carry_out("ada")
    keys = stood.vectors.keys_of("ada")
    (tea,), (bus,) = stood.named("tea"), stood.named("bus")
    stood.live.client.hset(keys.wholes("words/1", "ada"), tea, raw)
    stood.live.client.hset(keys.pieces("words/1", "ada"), bus, b"\x01")
    assert stood.known("ada") == {"bus"}
    sense, _ = stood.sensed("ada", "bus")
    assert sense.pieces(np.arange(2)).counts.tolist() == [0, 0]
    if len(raw) < 9:
        assert stood.job.carry_out("ada").embedded == 1
        assert stood.known("ada") == {"bus", "tea"}


def test_names_of_vectors_confirm_no_guess_and_no_owner_has_anothers(stood: Vectors) -> None:
    for owner in ("ada", "bob"):
        stood.tell(owner, created("I like tea", "tea"))
        assert stood.job.carry_out(owner).embedded == 1
        assert stood.fields(owner) == stood.named("I like tea", owner=owner)
        assert stood.known(owner) == {"tea"}
    (ada,), (bob,) = stood.fields("ada"), stood.fields("bob")
    assert len({ada, bob, blake2b(b"I like tea", digest_size=16).digest()}) == 3
    assert stood.live.differences() == []


def test_an_owner_whose_secret_was_lost_is_searched_by_words_loses_its_vectors_and_stops_nobody_else(
    stood: Vectors,
) -> None:
    for owner in ("ada", "bob"):
        stood.tell(owner, created("I like tea", "tea"))
        stood.job.carry_out(owner)
    table = LogKeys(stood.live.tag_of("ada")).secrets
    lost = stood.live.client.hget(table, "ada")
    assert lost is not None
    stood.live.client.hdel(table, "ada")
    assert {"an owner without a secret", "vectors of an owner without a secret"} <= {
        one["what"] for one in stood.live.differences()
    }
    with pytest.raises(DamagedState, match="owner ada has 1 memory with text and no secret"):
        stood.job.carry_out("ada")
    assert (stood.fields("ada"), len(stood.fields("bob"))) == (set(), 1)
    assert (stood.known("ada"), stood.known("bob")) == (set(), {"tea"})
    with stood.views.view("ada") as (view, _):
        told = stood.meanings.coverage(view, "ada")
        assert (told["model"], told["embedded"], told["of"], told["share"]) == ("words/1", 0, 1, 0.0)
    stood.live.client.hset(table, "ada", lost)
    assert stood.job.carry_out("ada").embedded == 1
    assert (stood.known("ada"), stood.live.differences()) == ({"tea"}, [])


def test_a_walk_leaves_out_an_owner_without_a_secret_says_so_and_looks_again(stood: Vectors) -> None:
    for owner in ("ada", "bob"):
        stood.tell(owner, created("I like tea", "tea"))
    table = LogKeys(stood.live.tag_of("ada")).secrets
    lost = stood.live.client.hget(table, "ada")
    assert lost is not None
    stood.live.client.hset(table, "ada", b"short")
    walked = [stood.job.walk(partition) for partition in range(len(stood.live.identity.tags))]
    assert {name: sum(one[name] for one in walked) for name in ("embedded", "failed")} == {"embedded": 1, "failed": 1}
    stood.live.client.hset(table, "ada", lost)
    for partition in range(len(stood.live.identity.tags)):
        stood.job.walk(partition)
    assert (stood.known("ada"), stood.known("bob")) == ({"tea"}, {"tea"})


def test_pieces_kept_in_the_process_are_bounded_by_bytes(stood: Vectors) -> None:
    stood.tell("ada", *said(50))
    stood.job.carry_out("ada")
    bounded = RedisVectors(stood.vectors.wires, stood.vectors.tags, most_bytes=1_000)
    keys = list(stood.vectors.stored("ada", "words/1"))
    assert bounded.pieces("ada", "words/1", keys, DIMENSIONS).counts.all()
    assert 0 < bounded._kept_bytes == sum(map(len, bounded._kept.values())) <= 1_000


def test_threads_may_ask_and_embed_at_once(stood: Vectors) -> None:
    stood.tell("ada", *said(120))
    failed: list[BaseException] = []

    def ask() -> None:
        try:
            for _ in range(20):
                with stood.views.view("ada") as (view, _):
                    sense = stood.meanings.sense(view, "ada", MeantQuestion("tea", alone=True))
                    assert sense is not None
                    rows = np.flatnonzero(sense.known)[:20]
                    assert sense.pieces(rows).counts.all()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    stood.job.carry_out("ada")
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(stood.known("ada")) == 120


def calls(stood: Vectors) -> dict[str, int]:
    """How often each command was called since the count began."""
    stats = stood.live.client.info("commandstats")
    return {name.removeprefix("cmdstat_"): one["calls"] for name, one in stats.items()}


def test_no_command_moves_much_more_than_a_megabyte_at_once(stood: Vectors) -> None:
    class Long(WordEmbedder):
        """Texts of 256 pieces of 384 dimensions: the most that is stored."""

        def texts(self, texts: Sequence[str]) -> list[Any]:
            return super().texts([f"{text} {' '.join(f'w{n}' for n in range(300))}" for text in texts])

    stood.tell("ada", *said(100))
    stood.live.stop_worker("folder")  # it looks after its partitions as time goes by, and the server counts that too
    long = Long(dimensions=384)
    stood.live.client.config_resetstat()
    stood.job_by(long).carry_out("ada")
    assert calls(stood)["exec"] == 7 + 4, "64 and 36 texts of 99 KB, ten at a time at most"
    sense, _ = stood.sensed("ada", "tea", stood.meanings_by(long))
    stood.live.client.config_resetstat()
    assert set(sense.pieces(np.arange(100)).counts.tolist()) == {256}
    assert calls(stood)["hmget"] == 10


def test_a_walk_looks_only_at_owners_that_changed(stood: Vectors) -> None:
    owners = [f"owner-{n}" for n in range(12)]
    mine = [owner for owner in owners if partition_of(owner, 2) == 0]
    for owner in owners:
        stood.tell(owner, *said(3))
    assert stood.job.walk(0) == {"owners": len(mine), "embedded": 3 * len(mine), "dropped": 0, "failed": 0}
    stood.live.stop_worker("folder")  # whose own commands would be counted too
    assert commands_asked(stood, lambda: stood.job.walk(0)) < 10
    stood.live.start_worker("another")
    assert stood.job.walk(0)["owners"] == 0
    stood.tell(mine[0], created("new", "new", 9))
    stood.tell(mine[1], accessed("thing0", "thing1", day=9))
    stood.tell(mine[2], revised("another", "thing2", 9))
    stood.tell(mine[3], *hidden("thing0", 9))
    assert stood.job.walk(0) == {"owners": 4, "embedded": 2, "dropped": 2, "failed": 0}
    assert len(stood.embedder.embedded) == 3 * len(mine) + 2


def test_a_walk_that_was_stopped_goes_on_at_the_next_one(stood: Vectors) -> None:
    stood.tell("ada", *said(100))
    number = partition_of("ada", 2)
    assert stood.job.walk(number, stop=lambda: len(stood.embedder.asked) == 1)["embedded"] == 64
    assert stood.job.walk(number)["embedded"] == 36
    assert stood.job.walk(number)["owners"] == 0


class Served:
    """A job process in the test's thread."""

    def __init__(self, stood: Vectors, url: str, embedder: Embedder | None) -> None:
        self.told: list[tuple[str, dict[str, Any]]] = []
        self.store_id = stood.live.identity.store_id
        lent = None if embedder is None else Lent(lambda: Embedders.alone(lambda: embedder))
        self._serving = JobResources(
            url, 10.0, lambda fact, **facts: self.told.append((fact, facts)), threading.Event(), lent
        )

    def run(self, kind: str, partition: int) -> Any:
        with serving(self._serving):
            return run(kind, self.store_id, partition, "20260101T0000")


def test_the_job_embeds_a_partition_and_appends_nothing(stood: Vectors, server: RedisServer) -> None:
    stood.tell("ada", *said(30))
    number = partition_of("ada", 2)
    head = stood.live.log.head(number)
    served = Served(stood, server.url, stood.embedder)
    assert served.run("embed", number) == {"owners": 1, "decided": 30, "failed": 0}
    assert served.run("embed", number) == {"owners": 0, "decided": 0, "failed": 0}
    assert stood.live.log.head(number) == head
    assert len(stood.known("ada")) == 30


def test_a_job_whose_embedder_is_down_says_so_and_leaves_it_alone_for_a_while(
    stood: Vectors, server: RedisServer
) -> None:
    stood.tell("ada", *said(3))
    stood.embedder.down = True
    number = partition_of("ada", 2)
    served = Served(stood, server.url, stood.embedder)
    asked: list[Sequence[str]] = []
    stood.embedder.before = asked.append
    assert served.run("embed", number)["failed"] == 1
    (told,) = served.told[:1]
    assert (told[0], "does not answer" in told[1]["reason"]) == ("embedding stopped", True)
    tried = len(asked)
    assert served.run("embed", number) == {"owners": 0, "decided": 0, "failed": 0}
    assert len(asked) == tried


def test_without_an_embedder_the_sweep_takes_away_the_vectors_of_what_was_purged(
    stood: Vectors, server: RedisServer
) -> None:
    stood.tell("ada", *said(3))
    stood.job.carry_out("ada")
    stood.tell("ada", *hidden("thing1", 50))
    Served(stood, server.url, None).run("upkeep", partition_of("ada", 2))
    assert stood.fields("ada") == stood.named(*(f"thing {n} about {WORDS[n]}" for n in (0, 2)))


def test_embedding_is_scheduled_each_minute_where_there_is_an_embedder(stood: Vectors, server: RedisServer) -> None:
    client, store_id = connect(server.url), stood.live.identity.store_id
    cron = JobScheduler(client, store_id, 2, "scheduler", kinds={**KINDS, **usual("embed")})
    minute = 60_000
    now = cron.now_ms() // minute * minute
    assert cron.tend(now) == 3 * 2
    assert cron.tend(now + 1_000) == 0
    assert cron.enqueue_due(now + minute) >= 2
    told = {field.decode() for field in open_wire(client).call("HGETALL", f"engramlog-jobs:{store_id}")[::2]}
    assert {"tick:upkeep", "beside-tick:embed"} <= told
    assert "tick:embed" not in told
    cron.leave()
    client.close()


def test_a_purge_by_hand_takes_the_vectors_along(server: RedisServer) -> None:
    with open_application(Settings(redis_url=server.url, partitions=2)) as application:
        store = Store(application)
        store.tell("ada", created("oats", "oats", 3), created("tea", "tea", 3), deleted("oats", day=4))
        wires = WirePool(connect(server.url))
        vectors = RedisVectors(wires, spread_tags(2))
        EmbeddingJob(vectors, Embedders.alone(WordEmbedder)).carry_out("ada")
        assert vectors.count("ada", "words/1") == 2
        assert application.cleaner.clean("ada")["counts"]["purge"] == 1
        (secret,) = application.log.secrets_of(["ada"]).values()
        assert set(vectors.stored("ada", "words/1")) == {content_key(secret, "tea")}
        vectors.close()
