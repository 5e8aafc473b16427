"""Commands of a page, run as they stand: blocks of `sh`, and behind them, as `text`, what the page says that they print."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import NamedTuple

from tests.acceptance.docs.forked import engramlog
from tests.acceptance.docs.test_readme import missing
from tests.patience import PATIENCE
from tests.places import ROOT

FENCE = re.compile(r"^```(\w+)(?: exit=(\d+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""A block: its language, the exit code that its commands end with where that is not 0, its text."""
PART = re.compile(r"^\*\*(When|Do|Check|Undo)\*\*", re.MULTILINE)


class Commands(NamedTuple):
    """A block of commands, and what they print."""

    text: str
    code: int
    """The exit code of the last one; what comes before it ends with 0."""
    shown: list[str]
    """Lines that follow one another in the output; `...` stands for anything."""


def commands_of(page: str) -> list[Commands]:
    """The blocks of a text in order; a `text` block tells the output of the `sh` block before it."""
    found = list[Commands]()
    for language, code, text in FENCE.findall(page):
        if language == "sh":
            found.append(Commands(text, int(code or 0), []))
        elif language == "text":
            found[-1].shown.extend(text.splitlines())
    return found


class Procedure(NamedTuple):
    """A heading under which an operator is told what to do."""

    title: str
    text: str

    @property
    def marks(self) -> list[tuple[str, str]]:
        """What its comments say: `runs` and a test, or `not run` and why not."""
        return re.findall(r"^<!-- (runs|not run): (.+?) -->$", self.text, re.MULTILINE)

    @property
    def parts(self) -> dict[str, str]:
        """When, Do, Check and Undo, by these words."""
        _, *found = PART.split(self.text)
        return dict(zip(found[::2], found[1::2], strict=True))


def procedures_of(page: str) -> list[Procedure]:
    """Every heading of the third level between `## Procedures` and the next of the second but groups of them."""
    text = page.partition("\n<!-- procedures -->\n")[2].partition("\n<!-- end of procedures -->\n")[0]
    headings = [part.partition("\n") for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]]
    return [Procedure(title, re.split(r"^## ", body, flags=re.MULTILINE)[0]) for title, _, body in headings]


class Told(NamedTuple):
    """What commands printed."""

    out: str
    err: str


class Shell:
    """Runs blocks one after the other, each by `sh -e` with an `engramlog` on PATH; what one exports the next has."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self.tools = folder / "tools"
        self.tools.mkdir()
        self.tool("engramlog", engramlog())
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ENGRAMLOG_", "GIT_"))}
        self.environment = kept | {
            "PATH": f"{self.tools}:/usr/local/bin:/usr/bin:/bin",
            "PYTHONPATH": str(ROOT),
            "COLUMNS": "300",
            "HOME": str(folder),
            "ENGRAMLOG_EMBEDDER": "none",
            **environment,
        }

    def tool(self, name: str, script: str) -> None:
        """Put a program on PATH."""
        (self.tools / name).write_text(script)
        (self.tools / name).chmod(0o755)

    def export(self, values: dict[str, str]) -> None:
        """Have what is run from now on find these in its environment."""
        self.environment |= values
        exported = self.folder / "exported"
        if exported.exists():
            lines = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in values.items())
            exported.write_text(exported.read_text("utf-8") + lines)

    def run(self, commands: Commands) -> Told:
        """Run a block; it must end as the page says, and print what the page says, in that order."""
        exported = self.folder / "exported"
        begin = f"trap 'export -p > {exported}' EXIT\n" + (f". {exported}\n" if exported.exists() else "")
        done = subprocess.run(
            ["sh", "-euc", begin + commands.text],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        told = f"$ {commands.text}{done.stdout}{done.stderr}"
        assert done.returncode == commands.code, f"exit code {done.returncode}\n{told}"
        assert missing(commands.shown, done.stdout + done.stderr) == [], told
        return Told(done.stdout, done.stderr)
