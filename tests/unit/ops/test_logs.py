"""Log lines: one fact each, as JSON where nobody looks on, and never what somebody said."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest
import structlog

from engramlog_server.api.choices import program_version
from engramlog_server.ops.logs import SILENT_FIELDS, start_logging, teller


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    structlog.reset_defaults()


def test_a_fact_is_one_line_of_json_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(pretty=False)
    teller(worker="w1")("partition taken", partition=3, epoch=7)
    told = capsys.readouterr()
    assert told.out == ""
    line = json.loads(told.err)
    assert (line["event"], line["worker"], line["partition"], line["level"]) == ("partition taken", "w1", 3, "info")


def test_an_alarm_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging("warning", pretty=False)
    tell = teller()
    tell("nothing to see")
    tell("log rolled back", alarm=True)
    assert [json.loads(line)["event"] for line in capsys.readouterr().err.splitlines()] == ["log rolled back"]


@pytest.mark.parametrize("name", sorted(SILENT_FIELDS))
def test_contents_never_reach_a_line(capsys: pytest.CaptureFixture[str], name: str) -> None:
    start_logging(pretty=False)
    teller()("fact", **{name: "my PIN is 4821"})
    assert "4821" not in capsys.readouterr().err


@pytest.mark.parametrize("folder", ["engramlog-tests-pw0c4a84", "test_a_password_is_in_no_comma0"])
def test_an_address_is_told_whatever_its_folder_is_called_and_its_password_is_not(
    capsys: pytest.CaptureFixture[str], folder: str
) -> None:
    """The folder's letters are made by chance: one in three thousand looks like a password beside its word."""
    start_logging(pretty=False)
    teller()("redis started", url=f"unix://:s3cret-MARK@/tmp/{folder}/redis.sock")
    line = capsys.readouterr().err
    assert (f"/tmp/{folder}/redis.sock" in line, "s3cret-MARK" in line) == (True, False)


def test_a_line_is_written_in_one_piece_since_several_processes_write_to_one_log() -> None:
    code = (
        "from engramlog_server.ops.logs import start_logging, teller\n"
        "start_logging(pretty=False)\n"
        "teller()('folded', words='x' * 3_000)"
    )
    received, sent = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)  # keeps each write apart
    with received, sent:
        subprocess.run([sys.executable, "-P", "-c", code], stderr=sent.fileno(), check=True)
        received.setblocking(False)
        assert json.loads(received.recv(100_000))["event"] == "folded"
        with pytest.raises(BlockingIOError):
            received.recv(1)


def test_every_line_of_json_says_which_component_of_which_version_tells_it(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(component="lifecycle", pretty=False)
    teller()("job done")
    structlog.get_logger().warning("by the way")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(line["component"], line["version"]) for line in lines] == [("lifecycle", program_version())] * 2


def test_a_part_of_a_process_says_which_it_is_by_itself(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(component="supervisor", pretty=False)
    teller()("api stopped", component="api")
    assert json.loads(capsys.readouterr().err)["component"] == "api"
