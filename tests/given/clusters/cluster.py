"""A Redis Cluster on loopback for tests: three primaries with a replica each, formed, broken and mended by plain commands.

Everything is waited for as a fact that the nodes tell themselves, never for a time.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.chaos.cast import wait_until
from tests.given.clusters.moves import MovableCluster
from tests.given.clusters.node import ClusterNode, answered
from tests.given.clusters.ports import HOST, free_ports
from tests.given.clusters.server import PortTaken
from tests.servers import BASELINE, version_of

SLOTS = 16_384
NODE_TIMEOUT_MS = 1_000
APPENDFSYNC = ("always", "everysec", "none")
TRIES = 5
"""To form it, where another process takes a port meanwhile."""
CUT_OFF = "no such password"


class GivenCluster(MovableCluster):
    """A cluster of `primaries` x (1 + `replicas`) nodes. `binary`: a redis-server of 7.0 or newer.

    `appendfsync`: `always`, `everysec`, or `none`, without any file. With a `password` every node asks for it; with `tls` each
    speaks TLS alone, where the binary can. A replica is never too old to be made a primary, so that a test sees the worst.
    """

    def __init__(
        self,
        binary: Path,
        *,
        primaries: int = 3,
        replicas: int = 1,
        appendfsync: str = "always",
        node_timeout_ms: int = NODE_TIMEOUT_MS,
        password: str = "",
        tls: bool = False,
    ) -> None:
        assert appendfsync in APPENDFSYNC, f"appendfsync: got {appendfsync}; allowed: {', '.join(APPENDFSYNC)}"
        self.binary = binary
        self.version = version_of(binary)
        self.appendfsync = appendfsync
        self.node_timeout_ms = node_timeout_ms
        super().__init__(password, pair=None)
        self.folder = Path(tempfile.mkdtemp(prefix="engramlog-cluster-"))
        try:
            if tls:
                from tests.given.access.certificates import certificate

                self.pair = certificate(self.folder / "tls", HOST)
            self._form(primaries, replicas)
        except BaseException:
            self.close()
            raise

    def _form(self, primaries: int, replicas: int) -> None:
        for last in reversed(range(TRIES)):
            try:
                self.nodes = [self._made(port) for port in free_ports(primaries * (1 + replicas))]
                for node in self.nodes:
                    node.start()
                break
            except PortTaken:
                for node in self.nodes:
                    node.close()
                    shutil.rmtree(node.folder)
                if not last:
                    raise
        heads = self.nodes[:primaries]
        for number, node in enumerate(self.nodes):
            node.node_id = node.ask("CLUSTER MYID").decode()
            node.ask("CLUSTER SET-CONFIG-EPOCH", number + 1)
        for number, node in enumerate(heads):
            node.ask("CLUSTER ADDSLOTS", *range(SLOTS * number // primaries, SLOTS * (number + 1) // primaries))
        for node in self.nodes[1:]:
            self._introduce(node)
        for number, node in enumerate(self.nodes[primaries:]):
            self._follow(node, heads[number % primaries])
        self.await_whole()

    def _made(self, port: int) -> ClusterNode:
        """A node that is not started yet."""
        settings = {
            "bind": HOST, "protected-mode": "no", "dir": str(self.folder / str(port)), "save": "",
            "cluster-enabled": "yes", "cluster-config-file": "nodes.conf",
            "cluster-node-timeout": str(self.node_timeout_ms), "cluster-require-full-coverage": "no",
            "cluster-replica-validity-factor": "0", "cluster-migration-barrier": "99",
            "repl-diskless-sync": "yes", "repl-diskless-sync-delay": "0",
        }  # fmt: skip
        settings = BASELINE | settings | self._file_settings() | self._way_settings(port)
        if self.password:
            settings |= {"requirepass": self.password, "masterauth": self.password}
        settings["enable-debug-command"] = "local"
        folder = self.folder / str(port)
        return ClusterNode(self.binary, folder, port, settings, password=self.password, pair=self.pair)

    def _file_settings(self) -> dict[str, str]:
        if self.appendfsync == "none":
            return {"appendonly": "no"}
        return {"appendonly": "yes", "appendfsync": self.appendfsync, "aof-load-truncated": "yes"}

    def _way_settings(self, port: int) -> dict[str, str]:
        if self.pair is None:
            return {"port": str(port)}
        return {
            "port": "0", "tls-port": str(port), "tls-cluster": "yes", "tls-replication": "yes", "tls-auth-clients": "no",
            "tls-cert-file": str(self.pair.chain), "tls-key-file": str(self.pair.key),
            "tls-ca-cert-file": str(self.pair.chain),
        }  # fmt: skip

    def kill(self, *nodes: ClusterNode) -> None:
        """SIGKILL, one right after the other."""
        for node in nodes:
            node.kill()

    def start_again(self, node: ClusterNode) -> None:
        """Start a killed node on its folder. Waits until it has loaded, not until it is in the cluster again: `await_whole`."""
        node.start()
        node.cut_off = False

    def pause(self, node: ClusterNode) -> None:
        """SIGSTOP: it looks gone to the others, but its connections stay open."""
        node.pause()

    def resume(self, node: ClusterNode) -> None:
        """SIGCONT."""
        node.resume()

    def cut_off(self, replica: ClusterNode) -> None:
        """Let a replica get no more writes, though it lives, answers, and can be made a primary with what it has.

        Its link is closed and it is given a password that no primary knows, so that it cannot link again. (A stopped one would
        find in its socket, once it goes on, what it missed.) Returns once its primary has lost it.
        """
        replica.ask("CONFIG SET", "masterauth", CUT_OFF)
        replica.ask("CLIENT KILL", "TYPE", "master")
        replica.cut_off = True
        wait_until(lambda: replica.info("replication")["master_link_status"] == "down", f"{replica} is cut off")
        primary = self.primary_of(replica)
        if primary.answers:
            wait_until(lambda: replica.port not in primary.linked(), f"{primary} has lost {replica}")

    def mend(self, replica: ClusterNode) -> None:
        """Let a replica link again. Waits for nothing: `await_whole`."""
        replica.ask("CONFIG SET", "masterauth", self.password)
        replica.cut_off = False

    def await_failover(self, of: ClusterNode) -> ClusterNode:
        """Wait until another node owns what `of` owned and every node that answers agrees; that node, which was a replica of it.

        `of` must be gone, or stopped, and have owned slots.
        """
        ranges = of.kept_view()[of.node_id].ranges
        found: list[ClusterNode] = []

        def taken_over() -> bool:
            views = [node.view().values() for node in self.answering()]
            owners = {known.node_id for view in views for known in view if known.has(ranges[0][0])}
            found[:] = [node for node in self.nodes if {node.node_id} == owners and node is not of]
            return bool(found) and all(node.is_fine() for node in self.answering())

        wait_until(answered(taken_over), lambda: f"another node takes over from {of}; {self.told()}")
        return found[0]

    def reset(self) -> None:
        """Empty, with the baseline's settings, no script and no pause of an earlier test: as good as new, if it was not broken."""
        self.await_whole()
        changed = BASELINE | self._file_settings()
        for node in self.nodes:
            node.ask("CLIENT UNPAUSE")
            for name, value in changed.items():
                node.ask("CONFIG SET", name, value)
            node.ask("SCRIPT FLUSH")
            node.ask("SLOWLOG RESET")
        for node in self.primaries():
            node.ask("FLUSHALL")

    def add_node(self, replica_of: ClusterNode | None = None) -> ClusterNode:
        """One more node, known to all: a primary without slots, or a replica that is linked."""
        for last in reversed(range(TRIES)):
            (port,) = free_ports(1)
            node = self._made(port)
            try:
                node.start()
                break
            except PortTaken:
                node.close()
                shutil.rmtree(node.folder)
                if not last:
                    raise
        node.node_id = node.ask("CLUSTER MYID").decode()
        self.nodes.append(node)
        self._introduce(node)
        if replica_of is not None:
            self._follow(node, replica_of)
        self.await_whole()
        return node

    def _introduce(self, node: ClusterNode) -> None:
        """Let a node meet one that is there, and wait until all that answer have its name."""
        other = next(one for one in self.answering() if one is not node)
        other.ask("CLUSTER MEET", node.host, node.port)
        wait_until(
            answered(lambda: node.node_id in other.view() and other.node_id in node.view()),
            lambda: f"{node} and {other} have met; {self.told()}",
        )

    def _follow(self, node: ClusterNode, primary: ClusterNode) -> None:
        wait_until(answered(lambda: primary.node_id in node.view()), f"{node} knows {primary}")
        node.ask("CLUSTER REPLICATE", primary.node_id)

    def close(self) -> None:
        """End every process by its id, and remove their folder. Idempotent."""
        for node in self.nodes:
            node.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
