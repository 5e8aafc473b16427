"""A Redis Cluster to play with, and a Redis beside it for jobs: `make cluster`. Both are gone after Ctrl-C, with all they hold."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select

from engramlog_server.ops.embedded.process import find_redis_server
from tests.given.clusters.beside import queue_beside
from tests.given.clusters.cluster import APPENDFSYNC, GivenCluster
from tests.given.clusters.ports import HOST
from tests.given.clusters.server import PortServer

LOOK_SECONDS = 0.5
"""How often it looks whether the process that started it is still there."""
SWEEP = """
import pathlib, shutil, sys, time
folder = pathlib.Path(sys.argv[1])
sys.stdin.read()
for _ in range(100):
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        break
    time.sleep(0.05)  # servers that die just now may write still
"""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> int:
    """Entry of the command."""
    parser = argparse.ArgumentParser(prog="make cluster", description=__doc__)
    parser.add_argument("--redis-server", help="the binary; else the bundled one")
    parser.add_argument("--appendfsync", choices=APPENDFSYNC, default="always")
    parser.add_argument("--replicas", type=int, default=1, help="of each of the three primaries")
    options = parser.parse_args()
    parent, told = os.getppid(), signals()
    found = find_redis_server(options.redis_server)
    with GivenCluster(found.path, replicas=options.replicas, appendfsync=options.appendfsync) as cluster:
        with swept(cluster.folder), queue_beside(cluster) as queue:
            sys.stdout.write(said(cluster, queue, str(found.release)))
            sys.stdout.flush()
            while not select([told], [], [], LOOK_SECONDS)[0] and os.getppid() == parent:
                """Somebody plays with it."""
    sys.stdout.write("The cluster is gone.\n")
    return 0


def signals() -> int:
    """Hear every signal to end from here on, and end by none of them: a file that can be read once there was one."""
    heard, tell = os.pipe()
    os.set_blocking(tell, False)
    for number in SIGNALS:
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    return heard


@contextmanager
def swept(folder: Path) -> Iterator[None]:
    """A process of its own that removes a folder once we are gone, also where nobody gave us time for it."""
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", SWEEP, folder], stdin=subprocess.PIPE, start_new_session=True
    ):
        yield


def said(cluster: GivenCluster, queue: PortServer, version: str) -> str:
    """What to try, with a line end."""
    cli = "redis-cli" if shutil.which("redis-cli") else "a client"
    primaries = ", ".join(f"{node.port} (pid {node.pid})" for node in cluster.primaries())
    replicas = ", ".join(f"{node.port} (pid {node.pid})" for node in cluster.replicas())
    return "\n".join(
        [
            "",
            f"  A Redis Cluster of {version} on {HOST}, appendfsync {cluster.appendfsync}",
            f"  primaries  {primaries}",
            f"  replicas   {replicas or 'none'}",
            f"  queue      {queue.port} (pid {queue.pid})",
            "",
            "  try   in another terminal:",
            f"        export ENGRAMLOG_REDIS_URL={cluster.url}",
            f"        export ENGRAMLOG_QUEUE_URL=redis://{queue.address}",
            "        engramlog up",
            f"        kill -9 {cluster.primaries()[0].pid}    # a replica takes over",
            f"        {cli} -p {cluster.nodes[-1].port} cluster nodes",
            "  stop  Ctrl-C: it is gone then, with all it holds",
            "",
            "",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
