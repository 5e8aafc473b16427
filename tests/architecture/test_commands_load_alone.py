"""A command pays for itself alone: listings come from the table, and a command's module is loaded when it is called."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

from engramlog_server.api.cli.main import loaded, root, whole
from engramlog_server.api.cli.parser import app
from engramlog_server.api.operations.table import GROUPS, entries
from tests.made.commands import FILE, index
from tests.rows import each_row

HEAVY = {
    *("numpy", "redis", "fastapi", "starlette", "uvicorn", "mcp", "rq", "structlog", "networkx"),
    *("Stemmer", "rjieba", "fsrs", "uuid_utils", "prometheus_client", "platformdirs", "asyncio", "httpx2"),
    *(
        "engramlog_server.api.application",
        "engramlog_server.api.checks",
        "engramlog_server.api.checks",
        "engramlog_server.events.catalogue",
        "engramlog_server.events.envelope",
        "engramlog_server.consumers",
        "engramlog_server.ops.wiring",
    ),
}
"""Libraries and modules of ours that no listing needs: models, services, stores, servers, arrays."""
PARSERS = {"pydantic", "markdown_it", "pygments"}
"""What typer loads to take an argument, and to draw its help."""
RUN = """
import json, sys
from engramlog_server.ops.main import main
code = main(sys.argv[1:])
sys.stdout.flush()
print(json.dumps([code, *sys.modules]), file=sys.stderr)
"""
COMPLETE = {"_ENGRAMLOG_COMPLETE": "complete_bash"}


def process(*words: str, **environment: str) -> tuple[str, set[str]]:
    """What a command printed in a process of its own, and the modules that it loaded."""
    ran = subprocess.run(
        [sys.executable, "-P", "-c", RUN, *words],
        env={**os.environ, "COLUMNS": "140", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    code, *modules = json.loads(ran.stderr)
    assert code == 0
    return ran.stdout, set(modules)


def completed(typed: str) -> tuple[list[str], set[str]]:
    """What a press of TAB proposes after these words."""
    words = str(len(typed.split(" ")) - 1)
    told, modules = process(**COMPLETE, COMP_WORDS=typed, COMP_CWORD=words)
    return told.split(), modules


def test_the_help_lists_every_command_and_loads_none() -> None:
    told, modules = process("--help")
    rows = [line.split()[0] for line in told.splitlines() if re.match(r"  [a-z][a-z-]+  ", line)]
    assert rows == [*entries()]
    assert modules & HEAVY == set()
    assert modules.isdisjoint(entry.module for entry in entries().values())
    assert modules.isdisjoint(PARSERS)


def test_the_help_of_a_command_is_parsed_and_printed_without_other_parsers() -> None:
    told, modules = process("list", "--help")
    assert "--max-weight" in told
    assert modules & HEAVY == set()
    assert modules.isdisjoint(PARSERS)


@each_row("option", ["--version", "-V"])
def test_the_version_is_told_without_loading_a_command(option: str) -> None:
    told, modules = process(option)
    assert told.startswith("engramlog ")
    assert modules & HEAVY == set()


def test_a_word_is_completed_without_loading_a_command() -> None:
    told, modules = completed("engramlog se")
    assert told == ["search", "set-aside", "seal"]
    assert modules & HEAVY == set()
    assert modules.isdisjoint(entry.module for entry in entries().values())


def test_an_option_is_completed_by_its_own_command_alone() -> None:
    told, modules = completed("engramlog search --spea")
    assert told == ["--speaker"]
    assert modules & HEAVY == set()
    assert {entry.module for entry in entries().values()} & modules <= {
        "engramlog_server.api.cli.commands.memories",
    }


def test_a_group_s_commands_are_completed() -> None:
    assert completed("engramlog key ")[0] == ["new", "revoke", "narrow"]
    assert completed("engramlog import ")[0] == ["turns", "records"]


def test_the_laws_are_told_without_any_service() -> None:
    told, modules = process("parameters", "--laws", "--json")
    assert [law["name"] for law in json.loads(told)["laws"]] == ["weighted", "ebbinghaus", "consolidating", "tiered"]
    assert modules & HEAVY == set()


def test_no_command_loads_what_it_needs_before_it_runs() -> None:
    script = (
        "import json, sys; from engramlog_server.api.cli.main import whole; whole(); print(json.dumps([*sys.modules]))"
    )
    ran = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
    modules = set(json.loads(ran.stdout))
    assert {entry.module for entry in entries().values()} <= modules
    assert modules & HEAVY == set()


def test_the_index_of_commands_is_made_of_the_commands() -> None:
    assert FILE.read_text("utf-8") == index(), "run make client"


@each_row("name", entries())
def test_the_table_says_what_the_command_says(name: str) -> None:
    entry = entries()[name]
    command = loaded(entry)
    assert (command.name, command.help.partition("\n\n")[0].replace("\n", " ")) == (name, entry.help)


def test_every_command_that_a_module_registers_stands_in_the_table() -> None:
    whole()
    commands = {one.name or one.callback.__name__.replace("_", "-") for one in app.registered_commands if one.callback}
    assert commands | {one.name for one in app.registered_groups} == entries().keys()


def test_no_command_stands_in_two_groups() -> None:
    assert sum(map(len, GROUPS.values())) == len(entries())


def test_commands_are_listed_until_they_are_called() -> None:
    assert {type(command).__name__ for command in root().commands.values()} == {"ListedCommand"}
