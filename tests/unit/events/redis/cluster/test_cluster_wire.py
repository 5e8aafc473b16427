"""What a wire to a cluster sends again and what not, over nodes that refuse, lie, hang and are lost; answers keep their order."""

from __future__ import annotations

import pytest
import redis

from engramlog_server.events.errors import StoreError, StoreUnavailable
from engramlog_server.events.redis import cluster as cluster_module
from engramlog_server.events.redis.cluster import NoNode, slot_of
from engramlog_server.events.redis.wire import Argument, Script, as_store_error, packed
from tests.doubles.cluster_nodes import CUT, HALF, OK, SILENCE, Clock, FakeCluster, at, moved, refusal, resp, wire_to
from tests.rows import each_row

NOTHING = Script("nothing", "return 1")


# Order


def test_each_command_goes_to_the_node_of_its_key_and_answers_come_in_the_order_in_which_they_were_asked_for(
    cluster: FakeCluster,
) -> None:
    wire, (here, there) = wire_to(cluster), (at(cluster, 0), at(cluster, 1))
    for node, name in zip(cluster.nodes, "ab", strict=True):
        node.answers.extend(resp(f"{name}{number}") for number in range(3))
    asked = [here[0], there[0], there[1], here[1], there[2], here[2]]
    for key in asked:
        wire.send("GET", key)
    assert [wire.receive() for _ in asked] == [b"a0", b"b0", b"b1", b"a1", b"b2", b"a2"]
    assert [one[1] for one in cluster.nodes[0].seen] == here
    assert [one[1] for one in cluster.nodes[1].seen] == there


def test_what_one_node_owes_is_lost_with_it_and_the_other_s_answers_stay_whose_they_are(cluster: FakeCluster) -> None:
    wire, (here, there) = wire_to(cluster), (at(cluster, 0), at(cluster, 1))
    cluster.nodes[0].answers.extend([resp("first"), CUT])
    cluster.nodes[1].answers.extend([resp("b0"), resp("b1")])
    for key in (here[0], there[0], here[1], there[1], here[2]):
        wire.send("GET", key)
    before = wire.generation
    assert wire.receive() == b"first"
    assert wire.receive() == b"b0"
    with pytest.raises(StoreUnavailable, match=f"node {cluster.nodes[0].name} of the cluster") as lost:
        wire.receive()
    assert not lost.value.not_done
    assert lost.value.context["node"] == cluster.nodes[0].name
    assert wire.receive() == b"b1"
    with pytest.raises(StoreUnavailable):
        wire.receive()
    assert wire.generation > before
    assert wire.call("GET", there[0]) == b"OK"  # nothing of before is taken for its answer


def test_scripts_that_are_sent_together_go_in_one_write_a_node_and_keep_their_order(cluster: FakeCluster) -> None:
    wire, (here, there) = wire_to(cluster), (at(cluster, 0), at(cluster, 1))
    cluster.nodes[0].answers.extend(map(resp, ["a0", "a1"]))
    cluster.nodes[1].answers.extend([CUT])
    wire.send_together([packed(("EVALSHA", NOTHING.sha, 1, key)) for key in (here[0], there[0], here[1], there[1])])
    assert wire.receive() == b"a0"
    with pytest.raises(StoreUnavailable):
        wire.receive()
    assert wire.receive() == b"a1"
    with pytest.raises(StoreUnavailable):
        wire.receive()
    with pytest.raises(StoreUnavailable, match="before it answered"):
        wire.receive()


# What is sent again


@pytest.mark.parametrize("patience", [0.0, 5.0])
def test_a_slot_that_lies_elsewhere_is_followed_at_once(cluster: FakeCluster, clock: Clock, patience: float) -> None:
    wire, key = wire_to(cluster, patience), at(cluster, 0)[0]
    cluster.nodes[0].answers.append(moved(key, cluster.nodes[1]))
    cluster.nodes[1].answers.append(resp("there"))
    before = wire.generation
    assert wire.call("GET", key) == b"there"
    assert clock.pauses == []
    assert wire.generation > before  # what is remembered of the slot may be of another history


def test_each_slot_that_lies_elsewhere_by_now_is_told_before_a_commit_goes_there(cluster: FakeCluster) -> None:
    wire, other, keys = wire_to(cluster), wire_to(cluster), at(cluster, 0)[:2]
    cluster.nodes[0].answers.extend([resp("one"), resp("two"), *(moved(key, cluster.nodes[1]) for key in keys)])
    assert [wire.call("GET", key) for key in keys] == [b"one", b"two"]
    for key in keys:  # one map for all wires of a process
        other.call("GET", key)
    commits = [packed(("EVALSHA", NOTHING.sha, 1, key)) for key in keys]
    seen = len(cluster.nodes[1].seen)
    wire.send_together(commits)
    for _ in commits:
        with pytest.raises(StoreUnavailable, match="and no more on") as left:
            wire.receive()
        assert left.value.not_done
    assert len(cluster.nodes[1].seen) == seen
    cluster.nodes[1].answers.extend([resp("there"), resp("too")])
    wire.send_together(commits)
    assert [wire.receive() for _ in commits] == [b"there", b"too"]


@pytest.mark.parametrize("told", ["ASK {slot} {to}", "TRYAGAIN Multiple keys", "CLUSTERDOWN The cluster is down"])
def test_what_was_surely_not_carried_out_is_sent_again_for_as_long_as_it_is_patient(
    cluster: FakeCluster, clock: Clock, told: str
) -> None:
    wire, key = wire_to(cluster, 5.0), at(cluster, 0)[0]
    text = told.format(slot=slot_of(key.encode()), to=cluster.nodes[1].name)
    cluster.nodes[0].answers.extend([refusal(text)] * 4 + [resp("now")])
    assert wire.call("SET", key, "v") == b"now"
    assert len(cluster.nodes[0].heard("SET")) == 5
    cluster.nodes[0].answers.extend([refusal(text)] * 10_000)
    began = clock.now
    with pytest.raises(StoreUnavailable) as waited:
        wire.run(NOTHING, [key], [])
    assert waited.value.not_done
    assert 5.0 <= clock.now - began < 5.5
    assert len(cluster.nodes[0].heard("EVALSHA")) < 50
    about = {"node": cluster.nodes[0].name} if "CLUSTERDOWN" in told else {"slot": slot_of(key.encode())}
    assert about.items() <= waited.value.context.items()


def ask(key: str, cluster: FakeCluster) -> bytes:
    """The refusal of a key that is on its way to the other node."""
    return refusal(f"ASK {slot_of(key.encode())} {cluster.nodes[1].name}")


def test_a_read_follows_its_key_to_the_node_that_the_slot_is_moved_to(cluster: FakeCluster, clock: Clock) -> None:
    wire, key = wire_to(cluster, 5.0), at(cluster, 0)[0]
    before = wire.generation
    cluster.nodes[0].answers.append(ask(key, cluster))
    cluster.nodes[1].answers.extend([OK, resp("there")])
    assert wire.call("GET", key) == b"there"
    assert cluster.nodes[1].seen == [["ASKING"], ["GET", key]]
    assert (clock.pauses, wire.generation) == ([], before)


def test_of_a_pipeline_reads_follow_and_what_was_answered_stays(cluster: FakeCluster, clock: Clock) -> None:
    wire, (gone, stays, *_) = wire_to(cluster, 5.0), at(cluster, 0)
    cluster.nodes[0].answers.extend([resp("a"), ask(gone, cluster), resp("c")])
    cluster.nodes[1].answers.extend([OK, resp("b")])
    assert wire.pipeline([["GET", stays], ["HGET", gone, "f"], ["GET", stays]]) == [b"a", b"b", b"c"]
    assert not clock.pauses


def test_a_read_that_stands_with_a_write_of_its_slot_waits_with_it(cluster: FakeCluster, clock: Clock) -> None:
    wire, key = wire_to(cluster, 5.0), at(cluster, 0)[0]
    cluster.nodes[0].answers.extend([ask(key, cluster), ask(key, cluster), OK, resp("new")])
    assert wire.pipeline([["SET", key, "new"], ["GET", key]]) == [b"OK", b"new"]
    assert not cluster.nodes[1].heard("GET", "ASKING")


def test_writes_scripts_and_what_asks_several_slots_at_once_are_not_taken_along(
    cluster: FakeCluster, clock: Clock
) -> None:
    wire, (key, other, *_) = wire_to(cluster, 5.0), at(cluster, 0)
    commands: list[list[Argument]] = [["SET", key, "v"], ["EVALSHA", NOTHING.sha, 1, key]]
    for command in commands:
        cluster.nodes[0].answers.extend([ask(key, cluster), resp(1)])
        assert wire.call(*command) == 1
    cluster.nodes[0].answers.extend([ask(key, cluster), resp(0), resp(1), resp(1)])
    assert wire.pipeline([["EXISTS", key, other]]) == [2]
    assert not cluster.nodes[1].seen


@pytest.mark.parametrize("there", [CUT, refusal("TRYAGAIN Multiple keys"), refusal("CLUSTERDOWN")])
def test_where_the_node_that_it_goes_to_does_not_answer_a_read_waits(
    cluster: FakeCluster, clock: Clock, there: bytes
) -> None:
    wire, key = wire_to(cluster, 5.0), at(cluster, 0)[0]
    cluster.nodes[0].answers.extend([ask(key, cluster), resp("back")])
    cluster.nodes[1].answers.extend([OK, there])
    assert wire.call("GET", key) == b"back"
    assert clock.pauses


def test_what_the_other_node_refuses_is_told_as_it_is(cluster: FakeCluster, clock: Clock) -> None:
    wire, key = wire_to(cluster, 5.0), at(cluster, 0)[0]
    cluster.nodes[0].answers.append(ask(key, cluster))
    cluster.nodes[1].answers.extend([OK, refusal("WRONGTYPE not that kind")])
    with pytest.raises(StoreError, match="WRONGTYPE"):
        wire.call("GET", key)


def test_ten_thousand_nodes_that_each_name_another_are_followed_for_as_long_as_it_is_patient(
    cluster: FakeCluster, clock: Clock
) -> None:
    wire, key = wire_to(cluster, 5.0), at(cluster, 0)[0]
    for node, other in (cluster.nodes, cluster.nodes[::-1]):
        node.answers.extend([moved(key, other)] * 10_000)
    began = clock.now
    with pytest.raises(StoreUnavailable):
        wire.call("GET", key)
    assert clock.now - began < 6.0
    assert sum(len(node.seen) for node in cluster.nodes) < 60


@pytest.mark.parametrize(
    "told",
    ["MOVED 99999 127.0.0.1:1", "MOVED 5 :0", "MOVED -1 h:1", "MOVED 5 a b:1", "MOVED 5 nowhere", "MOVED", "ASK x y:z"],
)
def test_a_place_that_cannot_be_is_not_followed(cluster: FakeCluster, clock: Clock, told: str) -> None:
    wire, key = wire_to(cluster), at(cluster, 0)[0]
    cluster.nodes[0].answers.extend([refusal(told)] * 100)
    with pytest.raises(StoreUnavailable):
        wire.call("GET", key)
    assert len(cluster.nodes[0].seen) < 10
    cluster.nodes[0].answers.clear()
    assert wire.call("GET", key) == b"OK"


@each_row("ends", [CUT, HALF, SILENCE])
def test_what_was_sent_and_not_answered_is_told_and_never_sent_again(
    ends: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "HANGS_SECONDS", 0.05)
    with FakeCluster(timeout=0.2, patience=5.0) as cluster:
        wire, keys = wire_to(cluster, 5.0), at(cluster, 0)
        for ask in (
            lambda: wire.call("HSET", keys[0], "f", "v"),
            lambda: wire.pipeline([["HSET", keys[1], "f", "v"], ["GET", keys[2]]]),
            lambda: wire.run(NOTHING, [keys[2]], []),
        ):
            before, seen = wire.generation, len(cluster.nodes[0].seen)
            cluster.nodes[0].answers.append(ends)
            with pytest.raises(StoreUnavailable) as lost:
                ask()
            assert not lost.value.not_done
            assert "not known" in lost.value.message
            assert lost.value.context["node"] == cluster.nodes[0].name
            assert wire.generation > before
            wrote = [one for one in cluster.nodes[0].seen[seen:] if one[0] in ("HSET", "EVALSHA")]
            assert len(wrote) == 1
            cluster.nodes[0].answers.clear()


def test_a_node_that_nobody_reaches_is_waited_for_and_nothing_is_written_twice(
    cluster: FakeCluster, clock: Clock
) -> None:
    wire, key = wire_to(cluster, 5.0), at(cluster, 0)[0]
    cluster.nodes[0].kill()
    with pytest.raises(StoreUnavailable) as waited:
        wire.call("SET", key, "v")
    assert waited.value.not_done
    assert waited.value.context["node"] == cluster.nodes[0].name
    ranges = cluster.ranges
    cluster.give(cluster.nodes[1])
    clock.now += 1.0
    assert wire.call("SET", key, "v") == b"OK"
    assert len(cluster.nodes[1].heard("SET")) == 1
    cluster.ranges = ranges


def test_a_pipeline_sends_again_what_was_refused_and_in_its_order_alone(cluster: FakeCluster, clock: Clock) -> None:
    wire, (one, two, three) = wire_to(cluster, 5.0), at(cluster, 0)
    try_again = refusal("TRYAGAIN")
    cluster.nodes[0].answers.extend([try_again, try_again, resp("2"), try_again, resp("1a"), resp("1b"), resp("3")])
    commands = [["SET", one, "a"], ["SET", one, "b"], ["SET", two, "c"], ["SET", three, "d"]]
    assert wire.pipeline(commands) == [b"1a", b"1b", b"2", b"3"]
    assert cluster.nodes[0].heard("SET")[4:] == [commands[0], commands[1], commands[3]]


def test_a_pipeline_sends_nothing_again_where_something_later_of_its_slot_was_carried_out(
    cluster: FakeCluster, clock: Clock
) -> None:
    wire, key = wire_to(cluster, 5.0), at(cluster, 0)[0]
    cluster.nodes[0].answers.extend([refusal("TRYAGAIN"), resp("later")])
    answers = wire.pipeline([["SET", key, "a"], ["SET", key, "b"]])
    assert isinstance(answers[0], redis.exceptions.TryAgainError)
    assert answers[1] == b"later"
    assert len(cluster.nodes[0].seen) == 2
    told = as_store_error(answers[0])
    assert isinstance(told, StoreUnavailable)
    assert told.context["slot"] == slot_of(key.encode())


def test_of_a_command_of_many_keys_the_part_is_sent_again_that_was_refused(cluster: FakeCluster, clock: Clock) -> None:
    wire, here, there = wire_to(cluster, 5.0), at(cluster, 0)[0], at(cluster, 1)[0]
    cluster.nodes[0].answers.extend([refusal("TRYAGAIN"), resp(1)])
    cluster.nodes[1].answers.append(resp(1))
    assert wire.call("UNLINK", here, there) == 2
    assert len(cluster.nodes[1].seen) == 1


def test_between_multi_and_exec_all_goes_down_one_link_and_all_again_where_one_was_refused(
    cluster: FakeCluster, clock: Clock
) -> None:
    wire, key = wire_to(cluster, 5.0), at(cluster, 0)[0]
    aborted = refusal("EXECABORT Transaction discarded because of previous errors.")
    cluster.nodes[0].answers.extend([OK, moved(key, cluster.nodes[1]), moved(key, cluster.nodes[1]), aborted])
    queued = b"+QUEUED\r\n"
    cluster.nodes[1].answers.extend([OK, queued, queued, resp([1, 2]), resp("after")])
    commands = [["MULTI"], ["HSET", key, "a", "1"], ["HSET", key, "b", "2"], ["EXEC"]]
    assert wire.pipeline(commands)[-1] == [1, 2]
    assert cluster.nodes[0].seen == cluster.nodes[1].seen == commands
    assert wire.call("GET", key) == b"after"


@pytest.mark.parametrize(
    "commands",
    [
        [["MULTI"], ["GET", "a"]],
        [["MULTI"], ["EXEC"]],
        [["EXEC"]],
        [["MULTI"], ["GET", "a"], ["GET", "b"], ["EXEC"]],
        [["MULTI"], ["MULTI"], ["GET", "a"], ["EXEC"]],
        [["MULTI"], ["TIME"], ["EXEC"]],
        [["INFO"]],
    ],
)
def test_what_belongs_to_no_node_is_refused_before_anything_is_sent(
    cluster: FakeCluster, commands: list[list[str]]
) -> None:
    wire = wire_to(cluster)
    with pytest.raises(NoNode):
        wire.pipeline(commands)
    assert [node.seen for node in cluster.nodes] == [[], []]


def test_a_script_that_a_node_forgot_is_loaded_again_once(cluster: FakeCluster) -> None:
    wire, key = wire_to(cluster), at(cluster, 0)[0]
    forgot = refusal("NOSCRIPT No matching script.")
    cluster.nodes[0].answers.extend([forgot, resp("ran")])
    assert wire.run(NOTHING, [key], []) == b"ran"
    cluster.nodes[0].answers.extend([forgot] * 10)
    with pytest.raises(StoreUnavailable, match="forgets its scripts"):
        wire.run(NOTHING, [key], [])
    assert len(cluster.nodes[0].heard("EVALSHA")) == 4


def test_any_other_refusal_is_told_as_it_is(cluster: FakeCluster) -> None:
    wire, key = wire_to(cluster, 5.0), at(cluster, 0)[0]
    for text, words in (("CROSSSLOT Keys in request", "refused"), ("OOM command not allowed", "maxmemory")):
        cluster.nodes[0].answers.append(refusal(text))
        with pytest.raises(StoreError, match=words):
            wire.call("SET", key, "v")
    assert len(cluster.nodes[0].seen) == 2


# Streams


def test_streams_of_several_slots_are_looked_at_until_there_is_something(cluster: FakeCluster, clock: Clock) -> None:
    wire, (here, there) = wire_to(cluster), (at(cluster, 0)[0], at(cluster, 1)[0])
    nothing = resp(None)
    entry = [b"1-0", [b"f", b"v"]]
    cluster.nodes[0].answers.extend([nothing] * 3)
    cluster.nodes[1].answers.extend([nothing, nothing, resp([[there, [entry]]])])
    wire.send("XREAD", "COUNT", 5, "BLOCK", 1_000, "STREAMS", here, there, "0-0", "7-0")
    assert wire.receive() == [[there.encode(), [entry]]]
    assert len(clock.pauses) == 2
    assert cluster.nodes[1].seen[0] == ["XREAD", "COUNT", "5", "STREAMS", there, "7-0"]
    cluster.nodes[0].answers.extend([nothing] * 100)
    cluster.nodes[1].answers.extend([nothing] * 100)
    began = clock.now
    wire.send("XREAD", "BLOCK", 1_000, "STREAMS", here, there, "0-0", "7-0")
    assert wire.receive() is None
    assert 1.0 <= clock.now - began < 1.1


def test_a_stream_that_cannot_be_read_keeps_no_other_from_being_told(cluster: FakeCluster, clock: Clock) -> None:
    wire, (here, there) = wire_to(cluster), (at(cluster, 0)[0], at(cluster, 1)[0])
    entries = [[there.encode(), [[b"1-0", [b"f", b"v"]]]]]
    for wrong in (CUT, refusal("TRYAGAIN"), refusal(f"ASK {slot_of(here.encode())} {cluster.nodes[1].name}")):
        cluster.nodes[0].answers.append(wrong)
        cluster.nodes[1].answers.append(resp(entries))
        wire.send("XREAD", "BLOCK", 100, "STREAMS", here, there, "0-0", "0-0")
        assert wire.receive() == entries
    cluster.nodes[0].answers.append(refusal("TRYAGAIN"))
    cluster.nodes[1].answers.append(resp(None))
    wire.send("XREAD", "BLOCK", 100, "STREAMS", here, there, "0-0", "0-0")
    with pytest.raises(redis.exceptions.TryAgainError) as refused:
        wire.receive()
    told = as_store_error(refused.value)
    assert isinstance(told, StoreUnavailable)
    assert told.context["slot"] == slot_of(here.encode())


def test_who_is_patient_reads_on_once_a_stream_can_be_read_again(cluster: FakeCluster, clock: Clock) -> None:
    wire, (here, there) = wire_to(cluster, 5.0), (at(cluster, 0)[0], at(cluster, 1)[0])
    entries = [[here.encode(), [[b"1-0", [b"f", b"v"]]]]]
    cluster.nodes[0].answers.extend([refusal("TRYAGAIN"), CUT, resp(entries)])
    cluster.nodes[1].answers.extend([resp(None)] * 3)
    wire.send("XREAD", "BLOCK", 100, "STREAMS", here, there, "0-0", "0-0")
    assert wire.receive() == entries
