"""Metrics as Prometheus scrapes them, of a running `up` and of its workers; and log lines that say who tells them."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from engramlog_server.api.choices import program_version
from tests.contract.test_board import OF_TARGET, PROMETHEUS_S_OWN, Parsed, exported, expressions
from tests.integration.live import wait_until
from tests.integration.ops.test_up import EVENT, Up, running
from tests.patience import PATIENCE
from tests.places import ROOT

WORKERS = 2
BEES = "Alice keeps bees on the roof of her house"


def mention(number: int) -> dict[str, Any]:
    return EVENT | {
        "event_id": f"01890000-0000-7000-8000-0000000001{number:02}",
        "type": "MemoryMentioned",
        "occurred_at": f"2024-01-01T0{number}:00:00Z",
        "data": {"memory_id": "m1"},
    }


def fresh() -> dict[str, Any]:
    return EVENT | {
        "event_id": "01890000-0000-7000-8000-000000000200",
        "actor": "assistant",  # what the user says is in the profile, and not retrieved
        "occurred_at": datetime.now(UTC).isoformat(),
        "data": EVENT["data"] | {"memory_id": "bees", "content": BEES, "source": "assistant"},  # type: ignore[operator]
    }


class Scraped:
    """What a scrape told."""

    def __init__(self, url: str, **headers: str) -> None:
        with urlopen(Request(url, headers=headers), timeout=PATIENCE) as answer:
            self.text = answer.read().decode()
        self.families = {one.name: one for one in text_string_to_metric_families(self.text)}
        self.samples: list[Sample] = [sample for one in self.families.values() for sample in one.samples]

    def of(self, name: str, **labels: str) -> float:
        """The sum of the samples of a name with these labels; there must be one."""
        found = [one.value for one in self.samples if one.name == name and labels.items() <= one.labels.items()]
        assert found, (name, labels)
        return sum(found)


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """An `up` with two workers that tell their metrics, after some requests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENGRAMLOG_METRICS", "0")
        with running(tmp_path_factory.mktemp("metrics") / "data", "--workers", str(WORKERS)) as up:
            url, shown = up.ready(), up.shown()
            body = json.dumps([EVENT, *(mention(number) for number in range(1, 4)), fresh()]).encode()
            headers = shown | {"content-type": "application/json"}
            urlopen(Request(f"{url}/v1/events", data=body, headers=headers), timeout=PATIENCE).close()
            for path in ("search?query=coffee", "memories/m1", "memories/%2Fnobody", "memories/m1"):
                ask(f"{url}/v1/owners/alice/{path}", **shown)
            ask(f"{url}/not/there/alice", **shown)
            ask(f"{url}/v1/owners/alice/stats")
            context = json.dumps({"text": "Do you remember the bees on the roof of her house?", "trace": True}).encode()
            urlopen(Request(f"{url}/v1/owners/alice/context", data=context, headers=headers), timeout=PATIENCE).close()
            yield up


def ask(url: str, **headers: str) -> int:
    try:
        with urlopen(Request(url, headers=headers), timeout=PATIENCE) as answer:
            return int(answer.status)
    except HTTPError as refused:
        return refused.code


@pytest.fixture
def scraped(up: Up) -> Scraped:
    return Scraped(f"{up.ready()}/metrics", **up.shown())


def workers(up: Up) -> list[Scraped]:
    urls = [fact["url"] for fact in up.facts("metrics served")]
    assert len(urls) == WORKERS
    return [Scraped(url) for url in urls]


def test_requests_are_counted_by_route_and_status_and_no_label_has_a_path(scraped: Scraped) -> None:
    get, name = "/v1/owners/{owner}/memories/{memory_id}", "engramlog_http_requests_total"
    assert scraped.of(name, method="GET", route=get, status="200") == 2
    assert scraped.of(name, method="GET", route=get, status="404") == 1
    assert scraped.of(name, method="POST", route="/v1/events", status="200") == 1
    assert scraped.of(name, method="GET", route="none", status="404") == 1
    assert scraped.of(name, method="GET", route="none", status="401") == 1
    assert scraped.of("engramlog_http_request_seconds_count", method="GET", route=get) == 3
    for word in ("alice", "m1", "coffee", "not/there"):
        assert not any(word in value for one in scraped.samples for value in one.labels.values()), word


def test_appends_are_timed_whatever_face_they_come_by(scraped: Scraped) -> None:
    assert scraped.of("engramlog_append_seconds_count") >= 1
    assert scraped.of("engramlog_append_events_total", status="appended") == 5


def test_what_was_injected_tells_how_close_it_was(scraped: Scraped) -> None:
    count = scraped.of("engramlog_injected_closeness_count")
    assert count == 1
    assert 0 < scraped.of("engramlog_injected_closeness_sum") <= 1


def test_a_view_that_is_in_memory_is_a_hit(scraped: Scraped) -> None:
    name = "engramlog_cache_questions_total"
    assert scraped.of(name, cache="view", found="loaded") >= 1
    assert scraped.of(name, cache="view", found="memory") >= 1


def test_the_store_says_what_it_is_and_how_it_is_kept(up: Up, scraped: Scraped) -> None:
    told = up.run("status")
    (info,) = (one for one in scraped.samples if one.name == "engramlog_store_info")
    assert info.labels["store"] == told["store_id"]
    assert re.fullmatch(r"Valkey \d+\.\d+\.\d+", info.labels["redis"])
    assert scraped.of("engramlog_aof_bytes") > 0
    assert scraped.of("engramlog_aof_write_ok") == 1
    assert scraped.of("engramlog_disk_free_bytes") > 0
    assert {one.labels["partition"] for one in scraped.samples if one.name == "engramlog_checkpoint_age_seconds"} == {
        str(number) for number in range(16)
    }


def test_each_process_says_what_it_is_of(up: Up, scraped: Scraped) -> None:
    for told, component in ((scraped, "api"), *((one, "worker") for one in workers(up))):
        (build,) = (one for one in told.samples if one.name == "engramlog_build_info")
        assert build.labels["component"] == component
        assert build.labels["version"] == program_version()
        assert told.of("process_resident_memory_bytes") > 0


def test_what_workers_folded_is_the_sum_of_what_each_tells(up: Up) -> None:
    def total(told: list[Scraped], name: str, **labels: str) -> float:
        return sum(one.of(f"engramlog_fold_{name}", **labels) for one in told)

    def at_rest() -> list[Scraped] | None:
        told = workers(up)  # each once: jobs append meanwhile, and workers take partitions
        folded, timed = total(told, "events_total"), total(told, "seconds_count")
        return told if 5 <= folded == timed and total(told, "partitions") == 16 else None

    told = wait_until(at_rest)
    figures = {
        name: total(told, "figures_total", figure=name) for name in ("activations", "frequent_mentions", "negations")
    }
    assert figures == {"activations": 3, "frequent_mentions": 1, "negations": 0}
    assert total(told, "weight_count") >= 5


def test_a_figure_of_the_store_is_told_by_no_worker(up: Up, scraped: Scraped) -> None:
    of_store = {name for name, one in scraped.families.items() if one.documentation.startswith("Store: ")}
    assert "engramlog_lag_events" in of_store
    for told in workers(up):
        assert not of_store & told.families.keys()
        assert all(not one.documentation.startswith("Store: ") for one in told.families.values())


def test_every_line_of_every_process_names_its_component_and_its_version(up: Up) -> None:
    lines = [json.loads(line) for line in up.log.read_text().splitlines()]
    assert {line["version"] for line in lines} == {program_version()}
    assert {"supervisor", "api", "worker", "lifecycle"} >= {line["component"] for line in lines}
    by_fact = {line["event"]: line["component"] for line in lines}
    assert by_fact["worker started"] == "worker"
    assert by_fact["redis started"] == "supervisor"
    wait_until(lambda: up.facts("scheduler elected"))
    assert up.facts("scheduler elected")[0]["component"] == "lifecycle"


def test_the_board_and_the_rules_ask_for_what_running_processes_tell(up: Up, scraped: Scraped) -> None:
    told = [scraped, *workers(up)]
    families = {name for one in told for name in one.families} | {"engramlog_tool_calls"}  # an MCP server's, below
    labels = {sample.name: frozenset(sample.labels) for one in told for sample in one.samples}
    for text in expressions():
        for one in Parsed(text.replace("$__rate_interval", "5m")).selected:
            if one.name in PROMETHEUS_S_OWN:
                continue
            family = exported()[one.name].family.name
            assert family in families, text
            if one.name in labels:
                assert one.labels - OF_TARGET <= labels[one.name] | {"le"}, text


def test_a_job_that_ran_through_says_when_and_how_long_it_took(up: Up) -> None:
    def done() -> Scraped | None:
        told = Scraped(f"{up.ready()}/metrics", **up.shown())
        samples = [one for one in told.samples if one.name == "engramlog_job_last_success_timestamp_seconds"]
        return told if any(one.labels["kind"] == "upkeep" for one in samples) else None

    told = wait_until(done)
    assert abs(time.time() - told.of("engramlog_job_last_success_timestamp_seconds", kind="upkeep")) < 3_600
    assert told.of("engramlog_job_seconds", kind="upkeep") >= 0
    assert told.of("engramlog_job_every_seconds", kind="upkeep") == 3_600
    shown = up.run("status")["lifecycle"]["done"]["upkeep"]
    assert shown["every_minutes"] == 60


def test_an_mcp_server_counts_the_tools_that_its_client_calls(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-P",
        "-m",
        "engramlog_server.ops.main",
        "mcp",
        "--owner",
        "alice",
        "--metrics-port",
        "0",
        "--json",
    ]
    environment = {**os.environ, "ENGRAMLOG_DATA": str(tmp_path / "data")}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            url = next(line["url"] for line in map(json.loads, process.stderr) if line["event"] == "metrics served")
            began = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
            said: list[dict[str, Any]] = [
                {"id": 1, "method": "initialize", "params": began},
                {"method": "notifications/initialized"},
                {"id": 2, "method": "tools/call", "params": {"name": "search_memories", "arguments": {"query": "tea"}}},
                {"id": 3, "method": "tools/call", "params": {"name": "my-secret-word", "arguments": {}}},
            ]
            for one in said:
                process.stdin.write(json.dumps({"jsonrpc": "2.0"} | one) + "\n")
                process.stdin.flush()
                if "id" in one:
                    process.stdout.readline()
            told = Scraped(url)
            assert told.of("engramlog_tool_calls_total", tool="search_memories", outcome="answered") == 1
            assert told.of("engramlog_tool_calls_total", tool="none", outcome="refused") == 1
            assert "my-secret-word" not in told.text
            assert {one.labels["component"] for one in told.samples if one.name == "engramlog_build_info"} == {"mcp"}
        finally:
            process.kill()


def test_a_workers_port_answers_only_who_asks_this_machine_by_name_and_only_for_metrics(up: Up) -> None:
    url = up.facts("metrics served")[0]["url"]
    assert ask(url, host="evil.example") == 403
    assert ask(url.replace("/metrics", "/")) == 404
    with pytest.raises(HTTPError, match="501"):
        urlopen(Request(url, data=b"x"), timeout=PATIENCE)


def test_a_client_that_says_nothing_holds_no_scrape(up: Up) -> None:
    url = up.facts("metrics served")[0]["url"]
    host, port = re.fullmatch(r"http://(.*):(\d+)/metrics", url).groups()  # type: ignore[union-attr]
    silent = [socket.create_connection((host, int(port)), PATIENCE) for _ in range(20)]
    try:
        wait_until(lambda: ask_or_none(url) == 200)
    finally:
        for one in silent:
            one.close()


def ask_or_none(url: str) -> int | None:
    try:
        return ask(url)
    except OSError:
        return None


def taken_port() -> socket.socket:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    return listener


def test_a_port_that_is_taken_is_refused_in_clear_words_before_anything_starts(tmp_path: Path) -> None:
    with closing(taken_port()) as listener:
        port = listener.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-P", "-m", "engramlog_server.ops.main", "up", "--port", "0"],
            env={**os.environ, "ENGRAMLOG_DATA": str(tmp_path / "data"), "ENGRAMLOG_METRICS": str(port)},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert done.returncode == 2
    assert f"ENGRAMLOG_METRICS: got {port}" in done.stderr
    assert not (tmp_path / "data" / "redis.sock").exists()


def test_a_worker_of_ones_own_redis_tells_its_metrics_and_ends_in_order(redis_server: Any) -> None:
    environment = {**os.environ, "ENGRAMLOG_REDIS_URL": redis_server.url}
    command = [sys.executable, "-P", "-m", "engramlog_server.ops.main", "worker", "--metrics-port"]
    with closing(taken_port()) as listener:
        refused = subprocess.run(
            [*command, str(listener.getsockname()[1])], env=environment, capture_output=True, text=True, check=False,
            timeout=PATIENCE,
        )  # fmt: skip
    assert (refused.returncode, "ENGRAMLOG_METRICS" in refused.stderr) == (2, True)
    with subprocess.Popen([*command, "0"], env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            lines = (json.loads(line) for line in process.stderr)
            url = next(line["url"] for line in lines if line["event"] == "metrics served")
            next(line for line in lines if line["event"] == "worker started")
            wait_until(lambda: Scraped(url).of("engramlog_fold_partitions") == 16)
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()


LOADED = """
import sys
import {module}
print([name for name in {names} if name in sys.modules])
"""


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("engramlog_server.ops.worker", ("prometheus_client", "numpy", "fastapi", "uvicorn")),
        (
            "engramlog_server.ops.metrics, engramlog_server.ops.metrics",
            ("numpy", "fastapi", "starlette", "uvicorn", "rich"),
        ),
    ],
)
def test_a_worker_loads_no_more_than_it_tells(module: str, names: tuple[str, ...]) -> None:
    code = LOADED.format(module=module, names=names)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
