"""An owner's log as an erasure of words knows it: each entry is read once, and it tells what reading all anew would tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engramlog_server.consumers.erasure import LogSoFar, count_entries, opened_of, read_log, wipe_entries
from engramlog_server.events.errors import LogGap
from engramlog_server.events.keys import Wiped
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.wire import Argument, ServerWire, open_wire
from engramlog_server.projections.reports.erasure import Reach
from tests.integration.erasure.erased import ADA, NEIGHBOURS, Erasing
from tests.servers import RedisServer

ERASURE = "00000000-0000-4000-8000-000000000000"


class Told(ServerWire):
    """A connection that knows from where on the log was read."""

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self.read_from = list[int]()

    def call(self, *arguments: Argument) -> Any:
        if arguments[0] == "XRANGE":
            self.read_from.append(int(str(arguments[2]).removesuffix("-0")))
        return super().call(*arguments)


def reach(log: LogSoFar) -> Reach:
    return log.look().reach(["m0"], {})


@pytest.fixture
def erasing(redis_server: RedisServer, tmp_path: Path) -> Erasing:
    return Erasing(redis_server, tmp_path)


def test_what_came_since_is_read_and_nothing_of_before(erasing: Erasing) -> None:
    client, tag = erasing.client(), erasing.tag()
    wire = Told(client)
    log = LogSoFar(wire, tag, ADA)
    assert len(reach(log).entries) == 1
    head = int(wire.call("HGET", LogKeys(tag).meta, "head"))
    assert min(wire.read_from) == 1
    wire.read_from.clear()
    with erasing.live() as live:
        live.append(live.created(ADA, "m0", "said once more"), live.created("eve", "e", "of somebody else"))
    found = reach(log)
    assert len(found.entries) == 2
    assert min(wire.read_from) == head + 1
    assert found == reach(LogSoFar(wire, tag, ADA))
    wire.close()
    client.close()


def test_entries_that_lost_their_words_are_looked_at_again_and_no_others(erasing: Erasing) -> None:
    client, tag = erasing.client(), erasing.tag()
    wire = open_wire(client)
    log = LogSoFar(wire, tag, ADA)
    (first,) = reach(log).entries
    log.look_again([first.seq])
    assert reach(log).entries == (first,), "it still has its words"
    assert wipe_entries(wire, tag, ADA, [first.seq], Wiped(ERASURE, erasing.number(), 0)) == 1
    assert reach(log).entries == (first,), "nobody looked again"
    log.look_again([first.seq])
    assert reach(log).entries == ()
    assert reach(log) == reach(LogSoFar(wire, tag, ADA))
    wire.close()
    client.close()


def test_only_the_owners_entries_are_read_and_all_of_them(erasing: Erasing) -> None:
    client = erasing.client()
    wire = open_wire(client)
    for owner in (ADA, *NEIGHBOURS):
        tag, seqs = erasing.tag(owner), [one.seq for one in erasing.events(owner)]
        assert [one.seq for one in opened_of(wire, tag, owner)] == seqs
        assert [one.seq for one in opened_of(wire, tag, owner, after=seqs[3])] == seqs[4:]
        assert {one.owner for one, _ in read_log(wire, tag, owner)} == {owner}
        assert count_entries(wire, tag, owner).total == len(seqs) == 2 * erasing.memories
    wire.close()
    client.close()


def test_an_entry_that_no_append_wrote_is_refused_whosever_it_is(erasing: Erasing) -> None:
    client, tag = erasing.client(), erasing.tag()
    wire = open_wire(client)
    head = int(wire.call("HGET", LogKeys(tag).meta, "head"))
    wire.call("XADD", LogKeys(tag).stream, f"{head + 1}-0", "t", "x")
    wire.call("XADD", LogKeys(tag).stream, f"{head + 2}-0", "t", "x.1", "i", "0" * 16, "o", "eve", "e", "{}")
    with pytest.raises(LogGap):
        list(opened_of(wire, tag, ADA))
    wire.close()
    client.close()
