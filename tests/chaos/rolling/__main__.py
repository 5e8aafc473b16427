"""`python -m tests.chaos.rolling one|cluster BEFORE AFTER`: two versions, folders of packages, rolled forward, back and on again.

On a Cluster both must know of Clusters. Prints what was acknowledged, lost and folded twice, and the longest pauses.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from engramlog_server.projections.language.orders import MARKER
from tests.chaos.cast import Server
from tests.chaos.rolling.fleet import Fleet
from tests.chaos.verdict import judge
from tests.given.clusters.beside import queue_beside
from tests.given.clusters.cluster import GivenCluster
from tests.servers import newer_server

MEMBERS = 2
"""Workers, and services, of each."""


def main(kind: str, before: Path, after: Path) -> int:
    """Play it; 0 where nothing was lost."""
    binary = newer_server()
    assert binary is not None, "no redis-server >= 7 on PATH"
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        url, queue_url = "", ""
        if kind == "cluster":
            cluster = stack.enter_context(GivenCluster(binary))
            queue_url = f"redis://{stack.enter_context(queue_beside(cluster)).address}"
            url = cluster.url
        else:
            server = Server(folder, binary=binary)
            stack.callback(server.close)
            server.start()
            url = server.url
        fleet = Fleet(url, queue_url, folder)
        stack.callback(fleet.close)
        for _ in range(MEMBERS):
            fleet.worker(before)
            fleet.service(before)
        fleet.flows()
        fleet.pauses()
        for name, root, first in (("forward", after, False), ("back", before, False), ("services first", after, True)):
            count = len(fleet.ledger.lines)
            fleet.roll(root, services_first=first)
            request, fold = fleet.pauses()
            sent = len(fleet.ledger.lines) - count
            sys.stdout.write(
                f"{name}: {sent} events, longest request {request:.2f} s, longest fold pause {fold:.2f} s\n"
            )
        fleet.settled()
        verdict = judge(fleet.client, fleet.tags, fleet.ledger, MARKER, over_http=True)
        refused = sum(len(one.refused) for one in fleet.producers)
        broken, again = sum(one.broken for one in fleet.producers), sum(one.again for one in fleet.producers)
        sys.stdout.write(f"{verdict}\nrefused {refused}, not answered {broken}, sent again {again}\n")
        code, told = fleet.command(after, "verify")
        sys.stdout.write(f"verify: {code} {str(told)[:120]}\n")
        return 0 if verdict.clean and not code else 1


if __name__ == "__main__":
    kind, before, after = sys.argv[1:]
    sys.exit(main(kind, Path(before), Path(after)))
