"""Connections to nodes: made once, counted, shared by nobody, never dialled by each who asks; and no error quotes a password."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engramlog_server.events.errors import StoreError, StoreUnavailable, UnderReplicated
from engramlog_server.events.redis import cluster as cluster_module
from engramlog_server.events.redis.wire import WirePool
from tests.doubles.cluster_nodes import CUT, HALF, OK, SILENCE, Clock, FakeCluster, at, refusal, resp, wire_to


def test_a_link_that_broke_while_a_server_was_asked_is_not_made_anew_behind_the_wire_s_back(
    cluster: FakeCluster,
) -> None:
    wire, key = wire_to(cluster), at(cluster, 0)[0]
    asked = dict(wire.servers())[cluster.nodes[0].name]
    before, stood = wire.generation, wire.standing(key)
    cluster.nodes[0].answers.append(CUT)
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            asked.call("INFO")
    assert wire.call("GET", key) == b"OK"
    assert wire.generation > before
    assert wire.standing(key) is not stood


def test_a_connection_that_was_cut_while_it_was_idle_counts_as_lost(cluster: FakeCluster) -> None:
    wire, key = wire_to(cluster), at(cluster, 0)[0]
    wire.call("GET", key)
    before, mine = wire.generation, dict(wire.servers())[cluster.nodes[0].name]
    cluster.nodes[0].cut()
    assert mine.answers_within(5.0)  # that is: it was cut
    wire.refresh()
    assert wire.generation > before
    assert wire.call("GET", key) == b"OK"


def test_nothing_is_told_of_what_was_written_where_the_connection_was_lost(cluster: FakeCluster) -> None:
    wire, (here, there) = wire_to(cluster), (at(cluster, 0)[0], at(cluster, 1)[0])
    wire.pipeline([["SET", here, "v"], ["SET", there, "v"]])
    cluster.nodes[0].answers.append(CUT)
    cluster.nodes[1].answers.append(resp(2))
    assert wire.about([here, there, "never used"], [["WAIT", 1, 100]]) == [[], [2], []]
    assert cluster.nodes[1].heard("WAIT") == [["WAIT", "1", "100"]]


def test_servers_that_cannot_be_reached_say_so_once_they_are_asked_and_are_not_dialled_again(
    cluster: FakeCluster, clock: Clock
) -> None:
    wire = wire_to(cluster)
    assert wire.call("GET", at(cluster, 0)[0]) == b"OK"
    cluster.nodes[1].kill()
    servers = dict(wire.servers())
    assert servers[cluster.nodes[0].name].call("PING") == b"PONG"
    with pytest.raises(StoreUnavailable, match=cluster.nodes[1].name):
        servers[cluster.nodes[1].name].call("PING")


def test_a_node_that_hangs_is_waited_for_once_and_not_by_each_who_asks(clock: Clock) -> None:
    with FakeCluster(timeout=0.2) as cluster:
        key = at(cluster, 0)[0]
        wires = [wire_to(cluster) for _ in range(20)]
        cluster.client.slots.know()
        cluster.nodes[0].is_silent = True
        dialled = cluster.nodes[0].connections
        for wire in wires:
            with pytest.raises(StoreUnavailable) as silent:
                wire.call("GET", key)
            assert silent.value.not_done
        assert cluster.nodes[0].connections - dialled <= 2
        assert wires[0].call("GET", at(cluster, 1)[0]) == b"OK"


def test_a_node_that_hangs_is_let_go_of_once_another_took_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "HANGS_SECONDS", 0.05)
    with FakeCluster(timeout=60.0) as cluster:
        wire, key = wire_to(cluster), at(cluster, 0)[0]
        cluster.nodes[0].answers.extend([OK, SILENCE])
        wire.call("GET", key)
        wire.send("SET", key, "v")
        cluster.give(cluster.nodes[1])
        with pytest.raises(StoreUnavailable, match="another took its place") as lost:
            wire.receive()
        assert not lost.value.not_done
        assert wire.call("GET", key) == b"OK"


def test_the_password_stands_in_no_error() -> None:
    with FakeCluster(password="hidden-pw", timeout=0.2) as cluster:
        key = at(cluster, 0)[0]
        wire = wire_to(cluster)
        told = []
        cluster.nodes[0].answers.extend([CUT, HALF, refusal("TRYAGAIN"), refusal("MOVED 1 x"), refusal("NOAUTH x")])
        for _ in range(5):
            with pytest.raises(StoreError) as refused:
                wire.call("HSET", key, "f", "v")
            told.append(refused.value)
        for node in cluster.nodes:
            node.kill()
        for ask in (lambda: wire.call("GET", key), lambda: wire_to(cluster).servers(), wire.connect):
            try:
                ask()
            except StoreError as error:
                told.append(error)
        for error in told:
            for cause in causes(error):
                assert "hidden-pw" not in f"{cause!r} {vars(cause)}"


def causes(error: BaseException) -> Iterator[BaseException]:
    """An error and what it came of."""
    found: BaseException | None = error
    while found is not None:
        yield found
        found = found.__cause__


def test_what_is_not_proved_or_about_one_slot_closes_no_connection_of_others(cluster: FakeCluster) -> None:
    pool, key = WirePool(cluster.client), at(cluster, 0)[0]
    with pool.wire() as one, pool.wire() as other:
        assert one.call("GET", key) == other.call("GET", key) == b"OK"
    made = cluster.nodes[0].connections
    with pytest.raises(UnderReplicated):
        not_proved(pool)
    cluster.nodes[0].answers.append(refusal("TRYAGAIN"))
    with pytest.raises(StoreUnavailable):
        asked(pool, key)
    with pool.wire() as one, pool.wire() as other:
        assert one.call("GET", key) == other.call("GET", key) == b"OK"
    assert cluster.nodes[0].connections == made + 1  # of the wire alone that met the error
    pool.close()


def not_proved(pool: WirePool) -> None:
    """Have a request end as written and not proved."""
    with pool.wire():
        raise UnderReplicated("not proved", receipts=[])


def asked(pool: WirePool, key: str) -> None:
    """Ask for a key."""
    with pool.wire() as mine:
        mine.call("GET", key)
