"""Whether the nodes of a Redis Cluster hold a store together: slots, replicas, versions, clocks, where partitions lie. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from events.redis.cluster.nodes import KnownNode
from ops.doctor.deciding.beside import FAR_MICROS
from ops.doctor.finding import CLUSTER, WORST_FIRST, CheckFinding, many, named

SLOTS = 16_384


def joined(by_node: Mapping[str, Sequence[CheckFinding]]) -> list[CheckFinding]:
    """What each node's checks found, as one finding a check: the worst result, and each node named by what was found there."""
    checks: dict[tuple[str, str], dict[str, CheckFinding]] = {}
    for name, findings in by_node.items():
        for one in findings:
            checks.setdefault((one.group, one.check), {})[name] = one
    return [_one(found, many_nodes=len(by_node)) for found in checks.values()]


def _one(found: Mapping[str, CheckFinding], *, many_nodes: int) -> CheckFinding:
    worst = min((one.result for one in found.values()), key=WORST_FIRST.index)
    bad = {name: one for name, one in found.items() if one.result == worst}
    texts: dict[str, list[str]] = {}
    for name, one in bad.items():
        texts.setdefault(one.found, []).append(name)
    first = next(iter(bad.values()))
    if len(texts) == 1 and len(bad) == many_nodes:
        return first._replace(found=f"{first.found}, on each of {many(many_nodes, 'node')}")
    told = [f"{named(names)}: {text}" for text, names in texts.items()]
    return first._replace(found="; ".join(told), failed=any(one.failed for one in bad.values()))


def slots(nodes: Iterable[KnownNode], moving: int) -> CheckFinding:
    """Whether every slot has a node that serves it. `moving`: how many are on their way."""
    check = "slots"
    held = sum(one.slots for one in nodes if not one.gone)
    if held < SLOTS:
        return CLUSTER.wrong(
            check,
            f"{SLOTS - held:,} of {SLOTS:,} slots have no node that serves them: partitions there wait",
            "bring their node back, or `redis-cli --cluster fix`",
        )
    if moving:
        return CLUSTER.advice(
            check,
            f"{many(moving, 'slot')} {'is' if moving == 1 else 'are'} on {'its' if moving == 1 else 'their'} way to another node",
            "let the move end; where nobody moves anything, `redis-cli --cluster fix`",
        )
    return CLUSTER.ok(check, f"all {SLOTS:,} slots have a node")


def nodes_there(nodes: Sequence[KnownNode]) -> CheckFinding:
    """Whether a node is taken for gone."""
    check = "nodes"
    gone = [one.name for one in nodes if one.gone]
    if gone:
        return CLUSTER.wrong(
            check, f"the others take {named(gone)} for gone", "start it again, or `redis-cli --cluster del-node`"
        )
    serving = sum(1 for one in nodes if one.slots)
    return CLUSTER.ok(check, f"{many(serving, 'primary', 'primaries')} and {many(len(nodes) - serving, 'other node')}")


def followed(nodes: Sequence[KnownNode]) -> CheckFinding:
    """Whether each primary has a replica that can take its place."""
    check = "failover"
    followed_ids = {one.follows for one in nodes if one.follows and not one.gone}
    alone = [one.name for one in nodes if one.slots and one.node_id not in followed_ids]
    if alone:
        return CLUSTER.advice(
            check,
            f"no replica follows {named(alone)}: its partitions wait until it is back",
            "`redis-cli --cluster add-node ... --cluster-slave`",
        )
    return CLUSTER.ok(check, "each primary has a replica")


def covered(by_node: Mapping[str, str | None]) -> CheckFinding:
    """`cluster-require-full-coverage` by node; None where it is not told."""
    check = "coverage"
    strict = [name for name, value in by_node.items() if value == "yes"]
    if strict:
        return CLUSTER.advice(
            check,
            f"cluster-require-full-coverage is yes on {named(strict)}: where one node's slots are lost, all the others stop too",
            "`CONFIG SET cluster-require-full-coverage no` on every node, and in its file",
        )
    if any(value is None for value in by_node.values()):
        return CLUSTER.unseen(
            check,
            "nodes do not tell cluster-require-full-coverage (CONFIG GET is not allowed)",
            "let it be `no` on every node",
        )
    return CLUSTER.ok(check, "where one node's slots are lost, the others go on")


def versions(by_node: Mapping[str, str]) -> CheckFinding:
    """Whether all run the same release."""
    check = "versions"
    if len(set(by_node.values())) > 1:
        told = ", ".join(f"{name} {version}" for name, version in by_node.items())
        return CLUSTER.advice(check, f"nodes are of different releases: {told}", "bring all to the newest")
    return CLUSTER.ok(check, f"all nodes are of {next(iter(by_node.values()), 'one release')}")


def clocks(apart: Mapping[str, int]) -> CheckFinding:
    """How far apart the nodes' clocks are. `apart`: microseconds that each is ahead of this machine's."""
    check = "clocks"
    spread = max(apart.values()) - min(apart.values()) if apart else 0
    if spread <= FAR_MICROS:
        return CLUSTER.ok(check, f"clocks of the nodes are {spread / 1e6:.1f} s apart at most")
    first, last = min(apart, key=lambda one: apart[one]), max(apart, key=lambda one: apart[one])
    return CLUSTER.advice(
        check,
        f"the clock of {last} is {spread / 1e6:,.0f} s ahead of that of {first}: events of one conversation may stand in the wrong"
        " order between owners",
        "NTP on every machine of the cluster",
    )


def places(by_node: Mapping[str, int]) -> CheckFinding:
    """Where the partitions lie, and whether a node has none. `by_node`: how many, of every node that holds slots."""
    check = "partitions"
    told = ", ".join(f"{count} on {name}" for name, count in by_node.items())
    empty = [name for name, count in by_node.items() if not count]
    if empty:
        return CLUSTER.advice(
            check,
            f"{told}: {many(len(empty), 'node')} {'holds' if len(empty) == 1 else 'hold'} none, and nothing of this store",
            "move slots there (`redis-cli --cluster reshard`), or make the next store with more partitions"
            " (ENGRAMLOG_PARTITIONS)",
        )
    return CLUSTER.ok(check, told)
