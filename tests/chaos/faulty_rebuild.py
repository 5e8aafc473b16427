"""Rebuilds every partition in turn; dies or falls asleep at a named point. A new one goes on where a killed one stood."""

from __future__ import annotations

import os
import sys

from engramlog_server.consumers.fold.rebuild import rebuild_partition
from engramlog_server.events.errors import EngramlogError
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.ops.logs import start_logging, teller
from engramlog_server.projections.redis.create import read_identity
from tests.chaos.fate import fated, parser


def main() -> int:
    """Entry of the process: 0 when every partition was switched, 1 when Redis or another rebuild stood in the way."""
    arguments = parser(__doc__)
    options = arguments.parse_args()
    start_logging()
    tell = teller(rebuild=os.getpid())
    client = connect(options.url)
    wire = open_wire(client)
    try:
        identity = read_identity(wire)
        assert identity is not None
        for tag in identity.tags:
            rebuild_partition(
                client,
                tag,
                holder=f"rebuild-{os.getpid()}",
                tell=tell,
                probe=fated(options.fate, options.at, options.passes),
                lease_ms=options.lease_ms,
                give_up_after=20.0,
            )
    except EngramlogError as error:
        tell("rebuild given up", reason=error.message)
        return 1
    finally:
        wire.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
