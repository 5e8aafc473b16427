"""The map of a cluster: taken from nodes that may lie, be behind, hang or be gone, and never waited for by two threads."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event, Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from redis.exceptions import MovedError

from engramlog_server.events.errors import StoreMismatch, StoreUnavailable
from engramlog_server.events.redis import slot_map
from engramlog_server.events.redis.slot_map import MOST_NODES, SLOTS, NotACluster, SlotMap, place_of, read_slots
from tests.doubles.cluster_nodes import HOST, OK, FakeCluster, refusal, resp
from tests.examples import examples
from tests.patience import PATIENCE
from tests.rows import each_row

ALL = (0, SLOTS - 1)


@pytest.fixture
def cluster() -> Iterator[FakeCluster]:
    """Three nodes."""
    with FakeCluster(3) as given_cluster:
        yield given_cluster


def map_of(cluster: FakeCluster, timeout: float = 5.0) -> SlotMap:
    """A map that knows nothing yet."""
    return SlotMap(cluster.address().places, cluster.options(timeout))


@each_row("host", [None, b"", b"?"])
def test_a_node_that_does_not_know_its_own_host_is_where_it_was_asked(host: bytes | None) -> None:
    told = read_slots([[*ALL, [host, 7, b"id"], [b"10.0.0.9", 8, b"id"]]], "10.0.0.1")
    assert set(told.slots) == {"10.0.0.1:7"}
    assert told.replicas == {"10.0.0.1:7": {"10.0.0.9:8"}}


@each_row(
    "answer",
    [
        None,
        7,
        b"text",
        [None],
        [[]],
        [[0, SLOTS, [b"h", 1]]],
        [[-1, 5, [b"h", 1]]],
        [[5, 4, [b"h", 1]]],
        [[0, 5]],
        [[0, 5, [b"h"]]],
        [[0, 5, [b"h", b"one"]]],
        [[0, 5, [b"h", 0]]],
        [[0, 5, [b"h", 65_536]]],
        [[0, 5, [b"h" * 256, 1]]],
        [[0, 5, [b"a b", 1]]],
        [[0, 5, [b"user:pw@h", 1]]],
        [[0, 5, [b"\xff\xfe", 1]]],
        [[0, 5, [b"h\r\n", 1]]],
        [[number, number, [f"h{number}".encode(), 1]] for number in range(MOST_NODES + 1)],
        [[0, 5, [b"h", 1], *([f"h{number}".encode(), 1] for number in range(100_000))]],
    ],
)
def test_an_answer_that_no_cluster_gives_is_refused(answer: object) -> None:
    with pytest.raises(NotACluster):
        read_slots(answer, "h")


_ODD = st.recursive(
    st.none() | st.integers(-2, SLOTS + 2) | st.binary(max_size=9) | st.sampled_from([b"h", b"::1", b""]),
    lambda inner: st.lists(inner, max_size=5),
    max_leaves=20,
)


@given(answer=_ODD)
@settings(max_examples=examples(300))
def test_whatever_a_node_says_is_a_map_or_refused(answer: object) -> None:
    try:
        told = read_slots(answer, "h")
    except NotACluster:
        return
    assert len(told.slots) == SLOTS
    assert set(told.slots) - {""} <= told.places.keys()
    assert all(place_of(place.host, place.port) == place for place in told.places.values())


def test_a_node_that_lies_is_passed_over(cluster: FakeCluster) -> None:
    for number, wrong in enumerate([resp([[0, SLOTS * 2, [HOST, 1]]]), refusal("ERR unknown command"), OK] * 3):
        liar, *others = cluster.nodes[number % 3 :] + cluster.nodes[: number % 3]
        liar.slots_answer = wrong
        assert [node.name for node in map_of(cluster).primaries()] == sorted(node.name for node in cluster.nodes)
        liar.slots_answer = None
        assert others
    for node in cluster.nodes:
        node.slots_answer = resp([[0, 5, [None, 0]]])
    with pytest.raises(StoreUnavailable, match="no node of the cluster answers"):
        map_of(cluster).know()


def test_of_maps_that_lack_slots_the_one_with_most_is_taken(cluster: FakeCluster) -> None:
    part, more = resp([[0, 99, [HOST, 1]]]), resp([[0, 5_000, [HOST, 1]]])
    for node, told in zip(cluster.nodes, (part, more, part), strict=True):
        node.slots_answer = told
    mine = map_of(cluster)
    assert mine.slots_of() == {f"{HOST}:1": 5_001}
    with pytest.raises(StoreUnavailable, match="no node of the cluster holds slot 6000") as nobody:
        mine.node_of(6_000)
    assert nobody.value.not_done
    assert nobody.value.context["slot"] == 6_000


def test_a_server_that_is_no_node_is_refused_with_the_right_url(cluster: FakeCluster) -> None:
    for node in cluster.nodes:
        node.slots_answer = refusal("ERR This instance has cluster support disabled")
    with pytest.raises(StoreMismatch, match="redis://"):
        map_of(cluster).know()


def test_a_wrong_password_is_told_as_that_and_not_waited_for(cluster: FakeCluster) -> None:
    for node in cluster.nodes:
        node.slots_answer = refusal("NOAUTH Authentication required.")
    with pytest.raises(StoreUnavailable, match="check the user and password") as refused:
        map_of(cluster).know()
    assert not refused.value.not_done


def test_once_all_nodes_that_were_known_are_gone_those_of_the_url_are_asked(
    cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slot_map, "REFRESH_SECONDS", 0.0)
    gone = cluster.nodes[2]
    mine = SlotMap(cluster.address().places[:1], cluster.options(5.0))
    cluster.give(gone)
    cluster.nodes[0].slots_answer = resp([[*ALL, [HOST, gone.port]]])
    assert mine.node_of(5).name == gone.name
    gone.kill()
    cluster.nodes[0].slots_answer = resp([[*ALL, [HOST, cluster.nodes[1].port]]])
    mine.refresh()
    assert mine.node_of(5).name == cluster.nodes[1].name


def test_what_a_node_says_of_a_slot_that_nobody_has_is_asked_of_all(
    cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slot_map, "REFRESH_SECONDS", 0.0)
    cluster.ranges = [(0, 10, cluster.nodes[0])]
    mine = map_of(cluster)
    with pytest.raises(StoreUnavailable):
        mine.node_of(11)
    mine.moved(MovedError(f"11 {cluster.nodes[1].name}"))
    assert mine.node_of(11).name == cluster.nodes[1].name
    cluster.give(cluster.nodes[2])
    assert mine.node_of(12).name == cluster.nodes[2].name  # asked anew, for it is nobody's as far as is known
    for told in ("12 :7", "99999 h:1", "12 ?:1", "12 h:99999"):
        mine.moved(MovedError(told))
        assert mine.node_of(12).name == cluster.nodes[2].name


def test_a_node_that_names_ever_other_places_does_not_make_the_map_grow_without_end(
    cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slot_map, "REFRESH_SECONDS", 0.0)
    mine = map_of(cluster)
    mine.know()
    for number in range(2 * MOST_NODES):
        mine.moved(MovedError(f"{number} h{number}:1"))
        mine.node_of(number)
    assert len(mine.slots_of()) <= MOST_NODES
    mine.refresh()
    assert len(mine.primaries()) == 3
    assert len(mine._clients) <= 6


def test_while_one_thread_asks_a_node_that_hangs_the_others_go_on_with_what_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(slot_map, "REFRESH_SECONDS", 0.0)
    monkeypatch.setattr(slot_map, "ANSWER_SECONDS", 60.0)
    with FakeCluster(2) as cluster:
        mine = map_of(cluster, timeout=60.0)
        mine.know()
        for node in cluster.nodes:
            node.is_silent = True
        began, ended = Event(), Event()

        def ask() -> None:
            began.set()
            mine.refresh()
            ended.set()

        asking = Thread(target=ask, daemon=True)
        asking.start()
        assert began.wait(10)
        for slot in range(0, SLOTS, 1_000):
            assert mine.node_of(slot).name
        mine.refresh()  # comes back at once: somebody asks
        assert len(mine.primaries()) == 2
        assert not ended.is_set()
        for node in cluster.nodes:
            node.kill()
        asking.join(PATIENCE)
        assert ended.is_set()
        assert len(mine.primaries()) == 2  # kept, since nobody told another


def test_who_waited_for_the_first_map_is_told_what_the_one_before_was_told(
    cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slot_map, "UNREACHED_SECONDS", 60.0)
    for node in cluster.nodes:
        node.slots_answer = refusal("ERR no")
    mine = map_of(cluster)
    for _ in range(20):
        with pytest.raises(StoreUnavailable):
            mine.know()
    assert sum(node.connections for node in cluster.nodes) == 3
