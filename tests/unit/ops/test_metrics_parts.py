"""The parts of metrics by themselves: a scrape that is bounded, figures of a fold, and ports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from threading import Event as Flag
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from engramlog_server.api.http.metrics import KEPT, LATE, STATUS, Scrape, StoreCollector, readings
from engramlog_server.api.http.ports import bound
from engramlog_server.api.services.capacity import AppendOnlyFile, Kept, Supervision
from engramlog_server.consumers.fold.figures import MOST_NAMES, AnswerFigures, FoldFigures, Spread
from engramlog_server.events.envelope import decode
from engramlog_server.events.errors import BadSetting, StoreUnavailable
from engramlog_server.events.partitions import PASSING
from engramlog_server.ops.metrics import SETTING, ports_of, refuse_taken_ports, worker_registry
from engramlog_server.projections.fold.partition import Outcome
from tests.given.a_status import STATUS as AN_ANSWER
from tests.given.events import reinforced, shown, stored
from tests.given.said import injected, said
from tests.patience import PATIENCE
from tests.rows import each_row

AOF = AppendOnlyFile(True, 10, 5, True, True, False, None, 0)


def status() -> Any:
    return AN_ANSWER


def refuses() -> Any:
    raise StoreUnavailable("Redis does not answer")


def breaks() -> Any:
    raise ZeroDivisionError


def text_of(scrape: Scrape) -> str:
    registry = CollectorRegistry()
    registry.register(StoreCollector(scrape))
    return generate_latest(registry).decode()


@each_row("broken", [refuses, breaks])
def test_a_part_that_cannot_be_read_is_counted_and_the_others_are_told(broken: Callable[[], Any]) -> None:
    told = text_of(Scrape(readings(status, broken)))
    assert "engramlog_up 1.0" in told
    assert "engramlog_events_total 4000.0" in told
    assert 'engramlog_scrape_errors_total{part="kept"} 1.0' in told
    assert "engramlog_aof_bytes" not in told


def test_a_store_that_does_not_answer_is_down_and_what_else_is_known_is_told() -> None:
    told = text_of(Scrape(readings(refuses, lambda: Kept("7.0.15", AOF, None, None))))
    assert "engramlog_up 0.0" in told
    assert 'engramlog_scrape_errors_total{part="status"} 1.0' in told
    assert "engramlog_aof_bytes 10.0" in told


def test_a_worker_that_only_folds_what_one_process_appended_is_none_that_lives() -> None:
    passing = {"worker": "host-4711-aaaaaa", "host": "host", "pid": 4711, "folded": 3, PASSING: True}
    told = text_of(Scrape(readings(lambda: status() | {"workers": [*status()["workers"], passing]}, refuses)))
    assert "engramlog_workers 1.0" in told


def test_a_job_that_never_ran_waits_since_it_is_scheduled() -> None:
    never = {"every_minutes": 60, "oldest": None, "newest": None, "seconds": None, "partitions": 0}
    done = {"upkeep": never | {"waiting_since": "2026-01-01T00:00:00Z"}}
    told = text_of(Scrape(readings(lambda: status() | {"lifecycle": status()["lifecycle"] | {"done": done}}, refuses)))
    assert 'engramlog_job_waiting_since_timestamp_seconds{kind="upkeep"} 1.7672256e+09' in told
    assert "engramlog_job_last_success_timestamp_seconds{" not in told


def test_a_store_that_hangs_holds_no_scrape_and_what_comes_late_is_for_the_next_one() -> None:
    goes_on, asked = Flag(), list[str]()

    def hangs() -> Any:
        asked.append("")
        assert goes_on.wait(PATIENCE)
        return status()

    scrape = Scrape({STATUS: hangs}, most_seconds=0.05)
    assert [scrape.read().parts, scrape.read().parts] == [{}, {}]
    assert (scrape.errors[LATE], len(asked)) == (2, 1)  # nobody asks a second time beside the first
    goes_on.set()
    patient = 0
    while STATUS not in (found := scrape.read().parts):
        patient += 1
        assert patient < 1_000
    assert found[STATUS]["events"] == 4_000


def test_many_scrapers_cost_what_one_costs() -> None:
    asked = list[str]()
    scrape = Scrape({KEPT: lambda: asked.append("")})
    for _ in range(5):
        scrape.read()
    assert len(asked) == 1


def test_what_is_not_known_has_no_sample() -> None:
    told = text_of(Scrape(readings(status, lambda: Kept("7.0.15", AOF, None, None))))
    assert "\nengramlog_disk_free_bytes" not in told
    assert "\nengramlog_disk_up" not in told
    assert "\nengramlog_aof_rewrite_seconds" not in told


def test_a_disk_that_cannot_be_looked_at_is_told() -> None:
    told = text_of(Scrape(readings(status, lambda: Kept("7.0.15", AOF, None, "no such folder"))))
    assert "engramlog_disk_up 0.0" in told


class _Wire:
    """Answers INFO as a Redis does."""

    def __init__(self, **sections: str) -> None:
        self._sections = sections

    def servers(self) -> list[tuple[str, Any]]:
        return [("", self)]

    def call(self, _command: str, section: str) -> bytes:
        return self._sections.get(section, "").encode()

    def close(self) -> None:
        """Nothing."""


@each_row(
    ("persistence", "expected"),
    [
        ("", AppendOnlyFile(False, None, None, True, True, False, None, 0)),
        (
            (
                "# Persistence\r\naof_enabled:1\r\naof_current_size:9\r\naof_base_size:4\r\naof_last_write_status:err\r\n"
                "aof_last_bgrewrite_status:ok\r\naof_rewrite_in_progress:1\r\naof_last_rewrite_time_sec:-1\r\naof_delayed_fsync:2\r\n"
            ),
            AppendOnlyFile(True, 9, 4, False, True, True, None, 2),
        ),
    ],
)
def test_what_redis_says_of_its_file_is_read_as_far_as_it_says_it(persistence: str, expected: AppendOnlyFile) -> None:
    wire: Any = _Wire(server="redis_version:7.0.15\r\n", persistence=persistence)
    kept = Supervision(lambda: wire).kept()
    assert (kept.server, kept.aof) == ("Redis 7.0.15", expected)


def test_a_disk_that_is_gone_is_a_trouble_and_no_failure() -> None:
    def gone() -> Any:
        raise FileNotFoundError(2, "No such file or directory")

    wire: Any = _Wire()
    kept = Supervision(lambda: wire, gone).kept()
    assert (kept.disk, kept.trouble) == (None, "No such file or directory")


def test_a_spread_counts_each_value_at_its_bound_and_above() -> None:
    spread = Spread((0.1, 1.0))
    for value in (0.05, 0.1, 0.5, 1.0, 7.0):
        spread.add(value)
    assert spread.cumulative() == [("0.1", 2), ("1.0", 4), ("+Inf", 5)]
    assert spread.sum == pytest.approx(8.65)


def test_from_append_to_fold_is_by_redis_s_clock_and_never_below_nothing() -> None:
    figures = FoldFigures()
    figures.tick(2_000_000_000_000, held=3)
    now = 2_000_000_000 * 1_000_000
    figures.committed(Outcome(0, 2, b"", b"", events=2, recorded=[now - 30_000_000, now + 60_000_000]))
    counts = dict(figures.latency.cumulative())
    assert (counts["0.001"], counts["10.0"], counts["60.0"], counts["+Inf"]) == (1, 1, 2, 2)
    assert figures.latency.sum == pytest.approx(30, abs=5)
    assert (figures.events, figures.commits, figures.held) == (2, 1, 3)


TASKS: list[tuple[str, list[Any], tuple[int, int, int]]] = [
    ("no report", [injected("a", turn_id="q1"), said("q1", "?")], (1, 0, 0)),
    (
        "one turn in two prompts, reported for two memories",
        [
            injected("a", "b", turn_id="q1"),
            injected("b", turn_id="q1"),
            reinforced("a", outcome="task_success", turn_id="q1"),
            reinforced("b", outcome="task_success", turn_id="q1"),
        ],
        (1, 1, 0),
    ),
    (
        "by a reply that names its turn, by one that follows, by a turn that nobody named",
        [
            injected("a", turn_id="q1"),
            said("r1", "so", role="assistant", reply_to="q1"),
            injected("a", turn_id="q2", session="s2"),
            said("q2", "?", session="s2"),
            said("r2", "so", role="assistant", session="s2"),
            injected("a", session="s3"),
            said("q3", "?", session="s3"),
            *(reinforced("a", outcome="task_failure", turn_id=name) for name in ("r1", "r2", "q3")),
        ],
        (3, 0, 3),
    ),
    (
        "by a memory of the session's prompt, and not by one that it had not",
        [
            injected("a", turn_id="q1"),
            replace(reinforced("b", outcome="task_success"), extra={"session_id": "s1"}),
            replace(reinforced("a", outcome="task_failure"), extra={"session_id": "s1"}),
        ],
        (1, 0, 1),
    ),
    (
        "another question in the session is another turn, and uses are no outcome",
        [
            injected("a", turn_id="q1"),
            said("q2", "and?"),
            reinforced("a", outcome="task_success", turn_id="q2"),
            reinforced("a", outcome="used", turn_id="q1"),
            shown("a", via="recall"),
        ],
        (1, 0, 0),
    ),
]


@each_row("told, events, counts", TASKS)
def test_answers_count_once_and_their_first_report_is_their_outcome(
    told: str, events: list[Any], counts: tuple[int, int, int]
) -> None:
    figures = FoldFigures()
    read = [("ada", decode(one.kind, one.body)) for one in stored(events)]
    figures.committed(Outcome(0, len(read), b"", b"", events=len(read), read=read))
    registry = worker_registry(figures)
    found = [
        registry.get_sample_value("engramlog_fold_answers_total"),
        *(
            registry.get_sample_value("engramlog_fold_answer_outcomes_total", {"outcome": outcome})
            for outcome in ("task_success", "task_failure")
        ),
    ]
    assert tuple(found) == counts, told


def test_an_old_answer_is_let_go_of() -> None:
    figures = AnswerFigures()
    asked = [
        decode(one.kind, one.body) for one in stored([injected("a", turn_id=f"q{n}", session=None) for n in (1, 2)])
    ]
    (report,) = stored([reinforced("a", outcome="task_success", turn_id="q1")])
    late = decode(report.kind, report.body)
    for event in (asked[0], *[asked[1]] * 3):
        figures.add("ada", event)
    for number in range(MOST_NAMES):
        figures.add(f"owner {number}", asked[1])
    figures.add("ada", late)
    assert (figures.answers, figures.outcomes["task_success"]) == (2 + MOST_NAMES, 0)


def test_workers_have_a_port_each_or_a_free_one() -> None:
    assert ports_of(9_464, 3) == [9_464, 9_465, 9_466]
    assert ports_of(0, 2) == [0, 0]
    with pytest.raises(BadSetting, match="at most 65533"):
        ports_of(65_534, 3)


def test_a_port_that_is_taken_is_refused() -> None:
    with bound("127.0.0.1", 0, SETTING) as listener:
        listener.listen()
        port = listener.getsockname()[1]
        with pytest.raises(BadSetting, match=rf"ENGRAMLOG_METRICS: got {port}; .*in use"):
            refuse_taken_ports("127.0.0.1", [port])
