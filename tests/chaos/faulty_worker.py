"""A fold worker that dies or falls asleep at a named point, commits without one of the checks, or is of an older release."""

from __future__ import annotations

from engramlog_server.events.catalogue import EventData
from engramlog_server.events.envelope import Event, decode
from engramlog_server.events.errors import UndecodableEvent
from engramlog_server.events.redis.wire import Script
from engramlog_server.ops.logs import start_logging
from engramlog_server.ops.worker import run_worker
from engramlog_server.projections.fold import partition
from engramlog_server.projections.redis.store import COMMIT, ENTRY_CHECK, EPOCH_CHECK, START_CHECK, commit_script
from tests.chaos.fate import fated, parser

NEWER_KIND = "MemoryKept.1"
"""The kind of event that an older release of this test cannot read."""
SCRIPTS: dict[str, Script] = {
    "": COMMIT,
    "no epoch check": commit_script(START_CHECK, ENTRY_CHECK),
    "no start check": commit_script(EPOCH_CHECK, ENTRY_CHECK),
    "no entry check": commit_script(EPOCH_CHECK, START_CHECK),
}
"""The commit as it is, and its mutants."""


def decode_as_an_older_release(kind: str, body: bytes) -> Event[EventData]:
    """`decode`, but of a release that does not know `NEWER_KIND` yet."""
    if kind == NEWER_KIND:
        raise UndecodableEvent(f"stored event of kind {kind!r} is newer than this release", kind=kind)
    return decode(kind, body)


def main() -> None:
    """Entry of the process."""
    arguments = parser(__doc__)
    arguments.add_argument("--mutant", choices=list(SCRIPTS), default="")
    arguments.add_argument("--older", action="store_true", help="be of a release that cannot read the newest events")
    options = arguments.parse_args()
    start_logging()
    if options.older:
        partition.decode = decode_as_an_older_release  # type: ignore[attr-defined]
    probe = fated(options.fate, options.at, options.passes)
    run_worker(options.url, lease_ms=options.lease_ms, script=SCRIPTS[options.mutant], probe=probe)


if __name__ == "__main__":
    main()
