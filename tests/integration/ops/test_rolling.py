"""Two versions side by side on one store, replaced one after the other while events are appended over HTTP."""

from __future__ import annotations

from pathlib import Path

from engramlog_server.events.catalogue import MemoryCreated, MemoryKept, MemoryMentioned
from engramlog_server.projections.language.orders import MARKER
from tests.chaos.attendants import quarantined
from tests.chaos.cast import ROOT, Server, wait_until
from tests.chaos.rolling.fleet import Fleet, earlier
from tests.chaos.stage import staged
from tests.chaos.verdict import judge


def test_a_fleet_is_rolled_to_the_next_version_and_back_without_an_event_lost_or_folded_twice(tmp_path: Path) -> None:
    before, now = earlier(tmp_path / "before"), ROOT
    server = Server(tmp_path)
    server.start()
    fleet = Fleet(server.url, "", tmp_path)
    try:
        fleet.worker(before)
        fleet.service(before)
        fleet.flows()
        fleet.roll(now)
        fleet.roll(before)
        fleet.settled()
        verdict = judge(fleet.client, fleet.tags, fleet.ledger, MARKER, over_http=True)
        assert verdict.clean, verdict
        assert verdict.acknowledged == verdict.applied == len(fleet.ledger.lines), verdict
        assert [one.refused for one in fleet.producers] == [[], []]
        for version in (before, now):
            code, told = fleet.command(version, "verify")
            assert (code, told["events"], told["differences"]) == (0, verdict.applied, []), told
    finally:
        fleet.close()
        server.close()


def test_what_an_older_worker_could_not_read_is_folded_by_the_newer_one_that_takes_its_place(tmp_path: Path) -> None:
    with staged(tmp_path) as stage:
        older = stage.worker(older=True)
        created = MemoryCreated(memory_id="m", content="I like tea", category="fact", kind="fact", source="user")
        stage.tell("ada", created, MemoryKept(memory_id="m"), MemoryMentioned(memory_id="m"))
        stage.tell("bob", created)
        stage.folded_to(4)
        assert list(quarantined(stage.wire, stage.tags[0])) == ["ada"]
        older.end()
        newer = stage.worker()
        wait_until(lambda: '"event decoded"' in newer.told(), newer.told)
        assert not quarantined(stage.wire, stage.tags[0])
        verdict = stage.settled()
        assert verdict.clean, verdict
        assert (verdict.applied, verdict.parked) == (4, 0)


def test_what_no_release_reads_stays_parked_whoever_takes_the_partition(tmp_path: Path) -> None:
    with staged(tmp_path) as stage:
        stage.worker(older=True)
        created = MemoryCreated(memory_id="m", content="I like tea", category="fact", kind="fact", source="user")
        stage.tell("ada", created, MemoryKept(memory_id="m"))
        stage.folded_to(2)
        stage.end_workers()
        other = stage.worker(older=True)
        stage.tell("ada", MemoryMentioned(memory_id="m"))
        stage.folded_to(3)
        assert list(quarantined(stage.wire, stage.tags[0])) == ["ada"]
        assert '"event decoded"' not in other.told()
