"""A Redis with replicas and Sentinels on loopback for tests: the primary is killed, and another takes its place."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import redis

from tests.chaos.cast import wait_until
from tests.given.clusters.node import answered
from tests.given.clusters.ports import HOST, free_ports
from tests.given.clusters.server import PortServer, PortTaken
from tests.servers import BASELINE, version_of

NAME = "engramlog"
"""By which the Sentinels know the primary."""
DOWN_AFTER_MS = 1_000
FAILOVER_TIMEOUT_MS = 3_000
TRIES = 5


class GivenSentinels:
    """One primary with `replicas`, and `sentinels` of which a majority decides. `binary`: a redis-server of 6.2 or newer."""

    def __init__(
        self,
        binary: Path,
        *,
        replicas: int = 2,
        sentinels: int = 3,
        appendfsync: str = "always",
        password: str = "",
        sentinel_password: str = "",
    ) -> None:
        """`password`: of the primary and its replicas. `sentinel_password`: of the Sentinels."""
        self.binary = binary
        self.password, self.sentinel_password = password, sentinel_password
        self.folder = Path(tempfile.mkdtemp(prefix="engramlog-sentinel-"))
        self._appendfsync = appendfsync
        self.servers: list[PortServer] = []
        """The primary, wherever it is now, and its replicas."""
        self.sentinels: list[PortServer] = []
        try:
            self._form(replicas, sentinels)
        except BaseException:
            self.close()
            raise

    def _form(self, replicas: int, sentinels: int) -> None:
        for last in reversed(range(TRIES)):
            first, *others = free_ports(1 + replicas + sentinels)
            self.servers = [self._server(port, first) for port in (first, *others[:replicas])]
            self.sentinels = [self._sentinel(port, first, len(others) - replicas) for port in others[replicas:]]
            try:
                for one in (*self.servers, *self.sentinels):
                    one.start()
                break
            except PortTaken:
                for one in (*self.servers, *self.sentinels):
                    one.close()
                    shutil.rmtree(one.folder)
                if not last:
                    raise
        self.await_whole()

    def _server(self, port: int, primary: int) -> PortServer:
        settings = BASELINE | {
            "bind": HOST, "port": str(port), "protected-mode": "no", "dir": str(self.folder / str(port)), "save": "",
            "appendonly": "yes", "appendfsync": self._appendfsync,
            "repl-diskless-sync": "yes", "repl-diskless-sync-delay": "0",
        }  # fmt: skip
        if self.password:
            settings |= {"requirepass": self.password, "masterauth": self.password}
        if version_of(self.binary) >= (7, 0):
            settings["enable-debug-command"] = "local"
        if port != primary:
            settings["replicaof"] = f"{HOST} {primary}"
        return self._made(port, settings, mode="")

    def _sentinel(self, port: int, primary: int, sentinels: int) -> PortServer:
        settings = {
            "bind": HOST, "port": str(port), "protected-mode": "no", "dir": str(self.folder / str(port)),
            f"sentinel monitor {NAME}": f"{HOST} {primary} {sentinels // 2 + 1}",
            f"sentinel down-after-milliseconds {NAME}": str(DOWN_AFTER_MS),
            f"sentinel failover-timeout {NAME}": str(FAILOVER_TIMEOUT_MS),
        }  # fmt: skip
        if self.password:
            settings[f"sentinel auth-pass {NAME}"] = self.password
        if self.sentinel_password:
            settings["requirepass"] = self.sentinel_password
        return self._made(port, settings, mode="--sentinel")

    def _made(self, port: int, settings: Mapping[str, str], mode: str) -> PortServer:
        password = self.sentinel_password if mode else self.password
        return PortServer(self.binary, self.folder / str(port), port, settings, password=password, mode=mode)

    @property
    def url(self) -> str:
        """What the product takes: every Sentinel, one after the other, and the name of the primary."""
        let_in = f":{self.password}@" if self.password else ""
        asked = f"?sentinel_password={self.sentinel_password}" if self.sentinel_password else ""
        return f"redis+sentinel://{let_in}{','.join(one.address for one in self.sentinels)}/{NAME}{asked}"

    def primary(self) -> PortServer:
        """Who is the primary now, as the first Sentinel has it that answers."""
        sentinel = next(one for one in self.sentinels if one.answers)
        return self._told_by(sentinel)

    def replicas(self) -> list[PortServer]:
        """All servers but the primary; also those that are gone."""
        primary = self.primary()
        return [one for one in self.servers if one is not primary]

    def _told_by(self, sentinel: PortServer) -> PortServer:
        _, port = sentinel.ask("SENTINEL", "get-master-addr-by-name", NAME)
        return next(one for one in self.servers if one.port == int(port))

    def kill(self, *servers: PortServer) -> None:
        """SIGKILL, one right after the other; Sentinels too."""
        for one in servers:
            one.kill()

    def start_again(self, server: PortServer) -> None:
        """Start a killed one on its folder, a server as a replica of whoever is the primary now. Then: `await_whole`.

        (One that comes back as a primary is made a replica by the Sentinels too, ten seconds later.)
        """
        if server in self.servers:
            primary = self.primary()
            server.settings.pop("replicaof", None)
            if server is not primary:
                server.settings["replicaof"] = f"{primary.host} {primary.port}"
        server.start()

    def pause(self, server: PortServer) -> None:
        """SIGSTOP."""
        server.pause()

    def resume(self, server: PortServer) -> None:
        """SIGCONT."""
        server.resume()

    def await_failover(self, of: PortServer) -> PortServer:
        """Wait until every Sentinel that answers names one new primary, and that is one; it. `of` must be gone, or stopped."""
        found: list[PortServer] = []

        def taken_over() -> bool:
            named = {self._told_by(one) for one in self.sentinels if one.answers}
            found[:] = named - {of}
            return len(named) == len(found) == 1 and found[0].info("replication")["role"] == "master"

        wait_until(answered(taken_over), lambda: f"another server takes over from {of}; {self.told()}")
        return found[0]

    def await_whole(self) -> None:
        """Wait until every Sentinel that answers knows all others, and every server that answers is linked to one primary."""
        wait_until(answered(self.is_whole), lambda: f"the servers are whole; {self.told()}")

    def is_whole(self) -> bool:
        """Whether it is so now. Raises redis.RedisError."""
        asked = [one for one in self.sentinels if one.answers]
        named = {self._told_by(one) for one in asked}
        facts = [_pairs(one.ask("SENTINEL", "master", NAME)) for one in asked]
        if len(named) != 1 or any(fact["flags"] != "master" for fact in facts):
            return False
        if any(int(fact["num-other-sentinels"]) != len(self.sentinels) - 1 for fact in facts):
            return False
        if any(int(fact["num-slaves"]) != len(self.servers) - 1 for fact in facts):
            return False
        primary = named.pop()
        replicas = [one.info("replication") for one in self.servers if one is not primary and one.answers]
        linked = all(one.get("master_port") == primary.port and one["master_link_status"] == "up" for one in replicas)
        return linked and primary.info("replication")["role"] == "master"

    def told(self) -> str:
        """How each sees it: for a test that waited in vain."""
        lines = []
        for one in (*self.sentinels, *self.servers):
            with suppress(redis.RedisError):
                told = one.info("sentinel" if one in self.sentinels else "replication") if one.answers else "is gone"
                lines.append(f"{one}: {told}")
        return "\n".join(lines)

    def close(self) -> None:
        """End every process by its id, and remove their folder. Idempotent."""
        for one in (*self.sentinels, *self.servers):
            one.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _pairs(flat: Any) -> dict[str, str]:
    """Name -> value, of an answer that tells them one after the other (of redis-py, that may have paired them)."""
    if isinstance(flat, Mapping):
        return {str(name): str(value) for name, value in flat.items()}
    words = [one.decode() if isinstance(one, bytes) else str(one) for one in flat]
    return dict(zip(words[::2], words[1::2], strict=True))
