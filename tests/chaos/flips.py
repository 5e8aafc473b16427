"""Flips of one bit over every kind of key, each verified alone: `python -P -m tests.chaos.flips --flips 1000 --seed 3`.

The tests do fewer of them on the same stores. Ends with 1 where a verification found one not.
"""

from __future__ import annotations

import argparse
import sys
import time
from random import Random

from tests.integration.live import live_store
from tests.servers import RedisServer, newer_server, wheel_server
from tests.tampering import findings, missed, populate


def main() -> int:
    """Entry of the command."""
    parser = argparse.ArgumentParser(prog="python -P -m tests.chaos.flips", description=__doc__)
    parser.add_argument("--flips", type=int, default=1_000, help="on each server")
    parser.add_argument("--seed", type=int, default=11)
    options = parser.parse_args()
    clean = True
    for binary in filter(None, (wheel_server(), newer_server())):
        server = RedisServer(binary)
        try:
            with live_store(server.url, partitions=2) as store:
                populate(store)
                assert findings(store) == []
                began = time.monotonic()
                unfound, kinds = missed(store, Random(options.seed), options.flips)
        finally:
            server.stop()
        version = ".".join(map(str, server.version))
        print(
            f"Redis {version}, seed {options.seed}: {options.flips - len(unfound)} of {options.flips} flips found, over"
            f" {len(kinds)} kinds of keys ({min(kinds.values())} to {max(kinds.values())} of each), in"
            f" {time.monotonic() - began:.0f} s"
        )
        print(*unfound, sep="\n", end="\n" if unfound else "")
        clean = clean and not unfound
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
