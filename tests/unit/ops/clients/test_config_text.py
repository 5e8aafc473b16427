"""Entries are put into a client's configuration and taken out again, and every other byte stays."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.errors import InputError
from engramlog_server.ops.clients.installation import (
    read_json,
    with_entry,
    with_table,
    without_empty,
    without_entries,
    without_table,
)

OURS = {"hooks": [{"type": "command", "command": "engramlog hook stop"}]}
LISTS = [
    '{"hooks": {"Stop": [{"a": 1}]}}',
    '{\n  "hooks": {\n    "Stop": [\n      {"a": 1} // theirs, [}\n    ],\n  },\n}\n',
    '{\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{"a": "}"}\r\n\t\t]\r\n\t}\r\n}',
    '\ufeff{"x": "\\"//", /* { */ "hooks": {"Stop": []}}',
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=6),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=4), below, max_size=3),
    max_leaves=12,
)
INDENTS = st.sampled_from([None, 0, 1, 2, 4, "\t"])


def is_ours(value: Any) -> bool:
    return value == OURS


@pytest.mark.parametrize("text", LISTS)
def test_an_element_that_is_put_in_and_taken_out_leaves_the_text_as_it_was(text: str) -> None:
    made = with_entry(text, ("hooks", "Stop"), OURS, append=True)
    assert read_json(made).value["hooks"]["Stop"] == [*read_json(text).value["hooks"]["Stop"], OURS]
    assert without_entries(made, ("hooks", "Stop"), is_ours) == text


@given(JSON, INDENTS)
def test_what_others_wrote_is_read_as_the_parser_of_python_reads_it(value: Any, indent: Any) -> None:
    text = json.dumps({"x": value}, indent=indent)
    assert read_json(text).value == {"x": value}


@given(st.dictionaries(st.text(max_size=4).filter(lambda name: name != "hooks"), JSON, max_size=4), INDENTS)
def test_a_member_that_is_put_in_and_taken_out_leaves_the_text_as_it_was(others: dict[str, Any], indent: Any) -> None:
    text = json.dumps(others, indent=indent)
    made = with_entry(text, ("hooks", "Stop"), OURS, append=True)
    assert json.loads(made) == others | {"hooks": {"Stop": [OURS]}}
    left = without_entries(made, ("hooks", "Stop"), is_ours)
    for path in (("hooks", "Stop"), ("hooks",)):
        left = without_empty(left, path)
    assert left == text


def test_a_member_added_by_another_meanwhile_stays() -> None:
    made = with_entry('{\n  "a": 1\n}\n', ("mcpServers", "engramlog"), {"command": "x"})
    changed = with_entry(made, ("mcpServers", "theirs"), {"command": "y"})
    left = without_entries(changed, ("mcpServers", "engramlog"), lambda _: True)
    assert json.loads(left) == {"a": 1, "mcpServers": {"theirs": {"command": "y"}}}


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a" 1}', '{"a": 1} x', "{'a': 1}", '{"a": [1,,2]}', "[" * 999])
def test_what_is_no_object_of_json_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="nothing was written"):
        read_json(text)


@pytest.mark.parametrize("text", ['{"hooks": []}', '{"hooks": {"Stop": {}}}', '{"hooks": "x"}'])
def test_another_kind_where_ours_belongs_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="Nothing was written"):
        with_entry(text, ("hooks", "Stop"), OURS, append=True)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("{\n  // mine\n}", "// mine"),
        ('{"hooks": {"Stop": [\n  // mine\n]}}', "// mine"),
        ('{"hooks": {"Stop": []} /* mine */}', "/* mine */"),
    ],
)
def test_comments_stay_where_ours_is_put_in_and_taken_out(text: str, left: str) -> None:
    made = with_entry(text, ("hooks", "Stop"), OURS, append=True)
    assert left in made
    later = (
        with_entry(made, ("hooks", "Stop"), {"a": 1}, append=True)
        .replace('{"a"', '// later\n{"a"')
        .replace("{\n", "// later\n{\n", 1)
    )
    gone = without_entries(later, ("hooks", "Stop"), is_ours)
    assert read_json(gone).value["hooks"]["Stop"] == [{"a": 1}]
    assert left in gone
    assert later.count("// later") == gone.count("// later")
    assert left in without_entries(made, ("hooks", "Stop"), is_ours)


@pytest.mark.parametrize(
    "changed",
    [
        '\n[mcp_servers.engramlog]\nargs = [\n  "mcp",\n\n  "--owner",\n]\n',
        '\n[mcp_servers]\nengramlog = {command = "x"}\n',
        '\nmcp_servers.engramlog.command = "x"\n',
    ],
)
def test_a_table_that_cannot_be_taken_out_whole_is_refused(changed: str) -> None:
    with pytest.raises(InputError, match="by hand"):
        without_table(f'model = "x"\n{changed}', PATH)


def test_a_table_is_taken_out_of_an_empty_one() -> None:
    assert without_table("[mcp_servers]\n\n[mcp_servers.engramlog]\na = 1\n", PATH) == "[mcp_servers]\n"


PATH = ("mcp_servers", "engramlog")
SERVER = {"command": '/a "b"/engramlog', "args": ["mcp", "--owner", "爱丽丝"], "env": {"ENGRAMLOG_DATA": "/d"}}


@pytest.mark.parametrize("text", ["", 'model = "x" # mine\n', 'model = "x"', "[a]\r\nb = 1\r\n"])
def test_a_table_is_put_behind_everything_else(text: str) -> None:
    made = with_table(text, PATH, SERVER)
    assert made.startswith(text)
    assert tomllib.loads(made) == tomllib.loads(text) | {"mcp_servers": {"engramlog": SERVER}}


def test_a_table_is_taken_out_without_what_others_wrote_around_it() -> None:
    made = with_table('model = "x" # mine\n', PATH, SERVER) + '\n# theirs\n[mcp_servers.other]\ncommand = "y"\n'
    left = without_table(made, PATH)
    assert left == 'model = "x" # mine\n\n# theirs\n[mcp_servers.other]\ncommand = "y"\n'


def test_servers_in_one_line_are_refused() -> None:
    with pytest.raises(InputError, match="nothing was written"):
        with_table("mcp_servers = {}\n", PATH, SERVER)
