"""What the doctor says of a cluster's nodes, one by one and together."""

from __future__ import annotations

from engramlog_server.events.redis.slot_map import KnownNode, others, read_nodes
from engramlog_server.ops.doctor import servers as decide
from engramlog_server.ops.doctor.findings import REDIS, CheckFinding

TOLD = (
    "a1 10.0.0.1:6379@16379,one.example myself,master - 0 0 1 connected 0-5460 [5461->-c3]\n"
    "b2 10.0.0.2:6379@16379 master - 0 0 2 connected 5461-10922 16383\n"
    "c3 10.0.0.3:6379@16379 master,fail - 0 0 3 disconnected 10923-16382\n"
    "d4 10.0.0.4:6379@16379 slave a1 0 0 1 connected\n"
    "e5 10.0.0.5:6379@16379 master - 0 0 5 connected\n"
    "f6 :0@0 handshake - 0 0 0 disconnected\n"
)
NODES = read_nodes(TOLD)


def node(name: str, *, slots: int = 0, follows: str = "", gone: bool = False) -> KnownNode:
    return KnownNode(name, f"id of {name}", f"id of {follows}" if follows else "", slots, gone)


def test_nodes_are_read_as_a_node_tells_them() -> None:
    assert [(one.name, one.slots, one.follows, one.gone) for one in NODES] == [
        ("10.0.0.1:6379", 5_461, "", False),
        ("10.0.0.2:6379", 5_463, "", False),
        ("10.0.0.3:6379", 5_460, "", True),
        ("10.0.0.4:6379", 0, "a1", False),
        ("10.0.0.5:6379", 0, "", False),
    ]


def test_every_node_that_no_command_reaches_is_named_with_what_it_is() -> None:
    assert [(one.name, one.what, one.primary) for one in others(NODES)] == [
        ("10.0.0.3:6379", "a node that is gone", ""),
        ("10.0.0.4:6379", "a replica of 10.0.0.1:6379", "10.0.0.1:6379"),
        ("10.0.0.5:6379", "a node without slots, which may have had some", ""),
    ]


def test_slots_of_a_node_that_is_gone_are_served_by_nobody() -> None:
    told = decide.slots(NODES, 0)
    assert (told.result, told.found[:23]) == ("wrong", "5,460 of 16,384 slots h")
    assert decide.slots([node("a", slots=16_384)], 0).result == "ok"
    assert decide.slots([node("a", slots=16_384)], 1).result == "advice"


def test_each_primary_wants_a_replica_that_is_there() -> None:
    pair = [node("a", slots=1), node("b", follows="a")]
    assert decide.followed(pair).result == "ok"
    assert decide.followed([pair[0], node("b", follows="a", gone=True)]).result == "advice"
    assert decide.nodes_there([pair[0], node("b", follows="a", gone=True)]).result == "wrong"


def test_coverage_is_compared() -> None:
    assert decide.covered({"a": "no", "b": "no"}).result == "ok"
    assert decide.covered({"a": "no", "b": "yes"}).result == "advice"
    assert decide.covered({"a": "no", "b": None}).result == "unknown"


def test_of_each_check_the_worst_counts_and_its_nodes_are_named() -> None:
    fine, less = REDIS.ok("memory", "1 MB"), REDIS.advice("memory", "nearly full", "raise maxmemory")
    assert decide.joined({"a": [fine], "b": [fine]}) == [REDIS.ok("memory", "1 MB, on each of 2 nodes")]
    assert decide.joined({"a": [fine], "b": [less], "c": [fine]}) == [
        REDIS.advice("memory", "b: nearly full", "raise maxmemory")
    ]
    assert decide.joined({"a": [less], "b": [less], "c": [fine]}) == [
        REDIS.advice("memory", "a, b: nearly full", "raise maxmemory")
    ]
    failed = CheckFinding("redis", "memory", "unknown", "not looked at", None, failed=True)
    (told,) = decide.joined({"a": [fine], "b": [failed]})
    assert (told.result, told.failed, told.found) == ("unknown", True, "b: not looked at")
    (told,) = decide.joined({"a": [REDIS.ok("version", "Redis 7")], "b": [REDIS.ok("version", "Redis 8")]})
    assert told.found == "a: Redis 7; b: Redis 8"
