"""A process that was told to end does so, in order where it can, and at once where it cannot."""

from __future__ import annotations

import signal
import subprocess
import sys

from engramlog_server.ops.job_worker import GRACE_SECONDS
from engramlog_server.ops.processes.life import CUT_OFF_SECONDS, END_SECONDS, PATIENT_SECONDS, SIGNALS, EndBounds
from tests.patience import PATIENCE
from tests.rows import each_row

IN_ORDER = """
from threading import Event
from engramlog_server.ops.processes.life import end_by_signal
told = Event()
end_by_signal(lambda number: (print(number, flush=True), told.set()))
print("up", flush=True)
while not told.wait(0.01):
    pass
print("in order", flush=True)
"""
HUNG = """
import sys
from threading import Event
from engramlog_server.ops.processes.life import end_by_signal
code = None if sys.argv[1] == "none" else int(sys.argv[1])
end_by_signal(lambda number: Event().wait(), cut_off=lambda: print("cut off", flush=True), exit_code=code, patient_seconds=0.05)
print("up", flush=True)
while True:
    pass
"""
HANGS_AT_THE_END_TOO = """
from threading import Event
from engramlog_server.ops.processes.life import end_by_signal
end_by_signal(lambda number: None, cut_off=lambda: Event().wait(), patient_seconds=0.05)
print("up", flush=True)
Event().wait()
"""


def ended(script: str, number: int, *arguments: str) -> tuple[int, list[str]]:
    """The exit code after a signal, and what it printed."""
    process = subprocess.Popen([sys.executable, "-P", "-c", script, *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "up\n"
        process.send_signal(number)
        rest, _ = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    return process.returncode, rest.splitlines()


@each_row("number", SIGNALS)
def test_a_process_that_ends_in_order_is_not_cut_off(number: int) -> None:
    assert ended(IN_ORDER, number) == (0, [str(int(number)), "in order"])


@each_row(("code", "seen"), [("0", 0), ("1", 1), ("none", 128 + signal.SIGTERM)])
def test_a_process_that_computes_on_is_cut_off_with_the_code_that_it_asked_for(code: str, seen: int) -> None:
    assert ended(HUNG, signal.SIGTERM, code) == (seen, ["cut off"])


def test_a_process_that_hangs_where_it_says_good_bye_ends_all_the_same() -> None:
    assert ended(HANGS_AT_THE_END_TOO, signal.SIGTERM) == (0, [])


def test_what_a_process_may_take_for_its_end_adds_up_to_less_than_five_seconds() -> None:
    assert list(EndBounds()) == sorted(EndBounds())
    assert EndBounds().workers < PATIENT_SECONDS
    assert PATIENT_SECONDS + CUT_OFF_SECONDS < END_SECONDS
    assert GRACE_SECONDS + CUT_OFF_SECONDS < END_SECONDS
