"""A night in which an operator follows a procedure of the runbook: its commands run as they stand on the page, part by part."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from tests.acceptance.docs.pages import Commands, Procedure, Shell, Told, commands_of, procedures_of
from tests.integration.live import wait_until
from tests.places import ROOT

PAGE = ROOT / "docs" / "operating.md"
PROCEDURES = {one.title: one for one in procedures_of(PAGE.read_text("utf-8"))}
SYSTEMCTL = """\
#!/bin/sh -eu
# Stands for systemd: starts and stops the units engramlog and engramlog-worker@N, and waits until they have.
verb=$1; shift
for unit; do
  case $unit in
    engramlog) words=up fact="service started";;
    engramlog-worker@*) words=worker fact="worker started";;
    *) echo "no unit $unit" >&2; exit 5;;
  esac
  log=$UNITS/$unit.log pid=$UNITS/$unit.pid
  case $verb in stop|restart)
    if [ -e "$pid" ]; then
      kill "$(cat "$pid")" 2>/dev/null || true
      kill -CONT "$(cat "$pid")" 2>/dev/null || true
      while kill -0 "$(cat "$pid")" 2>/dev/null && ! grep -q ') Z ' "/proc/$(cat "$pid")/stat" 2>/dev/null; do sleep 0.05; done
      rm "$pid"
    fi
  esac
  case $verb in start|restart)
    : > "$log"
    engramlog $words --json < /dev/null >> "$log" 2>&1 & echo $! > "$pid"
    until grep -q '"event": "'"$fact"'"' "$log"; do
      kill -0 "$(cat "$pid")" 2>/dev/null && ! grep -q ') Z ' "/proc/$(cat "$pid")/stat" || { cat "$log" >&2; exit 1; }
      sleep 0.05
    done
  esac
done
"""
JOURNALCTL = """\
#!/bin/sh -eu
# Stands for the journal: `journalctl -o cat -u UNIT`.
exec cat "$UNITS/$4.log"
"""


class Night:
    """One procedure, the folder in which it is followed, and what runs there."""

    def __init__(self, procedure: Procedure, folder: Path, **environment: str) -> None:
        self.folder = folder
        self.units = folder / "units"
        self.units.mkdir()
        self.data = folder / "data"
        self.shell = Shell(folder, ENGRAMLOG_DATA=str(self.data), UNITS=str(self.units), **environment)
        self.shell.tool("systemctl", SYSTEMCTL)
        self.shell.tool("journalctl", JOURNALCTL)
        self._left = {name: commands_of(text) for name, text in procedure.parts.items()}
        self.broke_off = False

    def setting(self, **values: object) -> None:
        """What the operator's environment has besides."""
        self.shell.export({name: str(value) for name, value in values.items()})

    def given(self, *lines: str, code: int = 0) -> Told:
        """Commands of the test itself, which make the symptom."""
        return self.shell.run(Commands("\n".join(lines) + "\n", code, []))

    def follow(self, part: str, blocks: int | None = None) -> Told:
        """Run all that is left of a part of the procedure, or its next `blocks`; what the last one told."""
        left = self._left[part]
        told = Told("", "")
        for _ in range(len(left) if blocks is None else blocks):
            self.broke_off = True
            try:
                told = self.shell.run(left.pop(0))
            except AssertionError as error:
                raise AssertionError(f"{error}\n{self._logs()}") from None
            self.broke_off = False
        return told

    def when(self, blocks: int | None = None) -> Told:
        """See what the page says that one sees."""
        return self.follow("When", blocks)

    def do(self, blocks: int | None = None) -> Told:
        """Do what it says."""
        return self.follow("Do", blocks)

    def check(self, blocks: int | None = None) -> Told:
        """Hold the facts to those that it names."""
        return self.follow("Check", blocks)

    def undo(self, blocks: int | None = None) -> Told:
        """What it says of a way back."""
        return self.follow("Undo", blocks)

    def _logs(self) -> str:
        """The newest lines of each unit's log."""
        return "\n".join(
            f"{file.name}: {line}" for file in self.units.glob("*.log") for line in file.read_text().splitlines()[-9:]
        )

    def left(self) -> list[str]:
        """Commands of the page that were not run."""
        return [block.text for blocks in self._left.values() for block in blocks]

    def until(self, what: Callable[[], object]) -> None:
        """Wait for a fact."""
        wait_until(what)

    def told(self, unit: str, words: str) -> Callable[[], bool]:
        """Whether a unit's log has these words."""
        return lambda: words in (self.units / f"{unit}.log").read_text("utf-8")

    def pid(self, unit: str) -> int:
        """The process of a unit."""
        return int((self.units / f"{unit}.pid").read_text())

    def kill(self, unit: str, how: signal.Signals = signal.SIGKILL) -> None:
        """Send a unit's process a signal; after one that kills it, no such process is left."""
        os.kill(self.pid(unit), how)
        if how == signal.SIGKILL:
            self.until(lambda: not alive(self.pid(unit)))

    def end(self) -> None:
        """Stop what still runs, by its id."""
        for file in self.units.glob("*.pid"):
            pid = int(file.read_text())
            for how in (signal.SIGCONT, signal.SIGTERM):
                if alive(pid):
                    os.kill(pid, how)
            end = time.monotonic() + 30
            while alive(pid) and time.monotonic() < end:
                time.sleep(0.02)
            if alive(pid):
                os.kill(pid, signal.SIGKILL)


def alive(pid: int) -> bool:
    """Whether a process runs: one that ended and was not looked at by its parent does not."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
