"""The short fault run: producers append while workers, rebuilds and Redis are killed and stopped. `make chaos` runs longer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.chaos.director import Plan
from tests.chaos.run import Report, run
from tests.chaos.stage import staged

SEED = 20_260_711
SECONDS = 20.0


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """One run, which the tests below read."""
    report = run(Plan(SEED, SECONDS), tmp_path_factory.mktemp("chaos"))
    print(json.dumps(report.as_dict(), indent=1))
    return report


pytestmark = pytest.mark.xdist_group("chaos")


def test_every_acknowledged_event_is_applied_once_and_in_order(report: Report) -> None:
    verdict = report.verdict
    assert (verdict.lost, verdict.duplicated, verdict.out_of_order) == (0, 0, 0), verdict
    written = verdict.acknowledged + verdict.unknown_written
    assert verdict.applied + verdict.parked + verdict.discarded == written > 1_000


def test_every_record_weight_log_and_checkpoint_equals_the_pure_fold_of_the_ledger(report: Report) -> None:
    assert report.verdict.differences == []
    assert report.verdict.memories > 100


def test_the_run_met_each_kind_of_fault_and_recovered_from_each(report: Report) -> None:
    kinds = {kind.partition(": ")[0] for kind in report.struck}
    named = {kind for kind in report.struck if not kind.endswith(": at random")}
    assert {"worker killed", "worker stopped past its lease", "server killed"} <= kinds
    assert named
    assert report.told["builds switched"] > 0
    assert report.verdict.builds > report.plan.partitions, (
        "no build that lived through faults was replaced and compared"
    )
    assert report.recovery["never"] == 0


def test_events_were_sent_again_and_some_never_acknowledged(report: Report) -> None:
    assert report.sendings > report.verdict.acknowledged
    assert report.verdict.unknown_written + report.verdict.unknown_absent > 0


def test_no_worker_raised_an_alarm_or_a_traceback_over_a_mere_crash(report: Report) -> None:
    assert report.told["alarms"] == report.told["tracebacks"] == 0


def test_a_process_connects_anew_as_often_as_redis_goes_away(tmp_path: Path) -> None:
    with staged(tmp_path) as stage:
        for _ in range(150):
            stage.wire.close()
            assert stage.wire.call("PING") == b"PONG"
        assert stage.wire.generation > 150
