"""The node that a command goes to, for every command that the product sends: as servers tell which of its words are keys."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from hypothesis import given, settings
from hypothesis import strategies as st
from redis._parsers import CommandsParser

from engramlog_server.events.partitions import LogKeys, spread_tags
from engramlog_server.events.redis.cluster import (
    OF_NO_KEY,
    SUMMED,
    NoNode,
    key_of,
    key_of_packed,
    read_many,
    slot_of,
    spread,
)
from engramlog_server.events.redis.wire import packed
from tests.examples import examples
from tests.given.clusters.cluster import GivenCluster
from tests.rows import each_row

ROOT = Path(__file__).resolve().parents[2]
SHAPED: dict[str, list[Any]] = {
    "EVALSHA": ["EVALSHA", "0" * 40, 2, "{a}1", "{a}2", "argument"],
    "XREAD": ["XREAD", "COUNT", 5, "STREAMS", "{a}1", "0-0"], "MEMORY": ["MEMORY", "USAGE", "{a}1", "SAMPLES", 5],
    "OBJECT": ["OBJECT", "ENCODING", "{a}1"], "XINFO": ["XINFO", "STREAM", "{a}1"],
}  # fmt: skip
"""Commands whose keys stand where their first words say."""


def first_words() -> Iterator[str]:
    """Every word that the product writes where a command begins: first in a list or tuple, or in a call of a wire."""
    for room in ("events", "projections", "consumers", "ops", "api"):
        for file in (ROOT / room).rglob("*.py"):
            source = file.read_text("utf-8")
            for node in ast.walk(ast.parse(source)) if re.search('"[A-Z]+"', source) else ():
                told: list[ast.expr] = []
                if isinstance(node, ast.List | ast.Tuple):
                    told = node.elts[:1]
                elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    told = node.args[:1] if node.func.attr in ("call", "send") else []
                for one in told:
                    if isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value.isupper():
                        yield one.value


@pytest.fixture
def server(bundled_redis: redis.Redis) -> redis.Redis:
    """One that tells of each command where its keys stand."""
    return bundled_redis


def test_every_command_that_the_product_sends_goes_to_the_node_of_its_key(server: redis.Redis) -> None:
    told, parser = server.command(), CommandsParser(server)  # type: ignore[no-untyped-call]
    looked_at = set[str]()
    for name in sorted(set(first_words()) - {"POST"}):  # a method of HTTP too
        facts = told.get(name.lower())
        if facts is None:  # no command of Redis, or one of a later one
            continue
        looked_at.add(name)
        first, least = facts["first_key_pos"], abs(facts["arity"])
        if name not in SHAPED and not first:
            assert name in OF_NO_KEY or name in ("MULTI", "EXEC"), name
            assert key_of([name, "x"]) is None
            continue
        command = SHAPED.get(name) or [name, *(f"{{a}}{number}" for number in range(1, max(least, 2)))]
        keys = parser.get_keys(server, *command)
        assert keys, name
        assert key_of(command) == _bytes(keys[0]), name
    assert {"EVALSHA", "XREAD", "XRANGE", "HGET", "HSET", "UNLINK", "TIME", "INFO", "MULTI", "EXEC"} <= looked_at


def _bytes(key: str | bytes) -> bytes:
    return key if isinstance(key, bytes) else key.encode()


@each_row("name", sorted(SUMMED))
def test_a_command_of_many_keys_is_taken_apart_by_slot_and_loses_none(name: str) -> None:
    keys = [f"k{number}" for number in range(50)] + ["{a}1", "{a}2"]
    parts = spread([name, *keys])
    assert sorted(str(key) for part in parts for key in part[1:]) == sorted(keys)
    assert all(part[0] == name for part in parts)
    assert all(len({slot_of(str(key).encode()) for key in part[1:]}) == 1 for part in parts)
    assert ["{a}1", "{a}2"] in [part[1:] for part in parts]


@given(key=st.binary(max_size=40) | st.text("{}ab", max_size=12).map(str.encode))
@settings(max_examples=examples(200))
def test_a_slot_is_that_of_what_stands_in_the_first_braces(key: bytes) -> None:
    begin = key.find(b"{")
    end = key.find(b"}", begin + 1)
    tag = key[begin + 1 : end] if begin >= 0 and end > begin + 1 else key
    assert slot_of(key) == slot_of(b"{" + tag + b"}") if b"}" not in tag and tag else True
    assert 0 <= slot_of(key) < 16_384


def test_a_node_tells_the_same_slot_of_every_key(redis_cluster: GivenCluster) -> None:
    node = redis_cluster.nodes[0]
    odd = [
        "{}",
        "{}a",
        "a{}b",
        "{a}{b}",
        "{{a}}",
        "}{",
        "a{b",
        "",
        "é",
        *(LogKeys(tag).stream for tag in spread_tags(8)),
    ]
    assert {key: node.ask("CLUSTER", "KEYSLOT", key) for key in odd} == {key: slot_of(key.encode()) for key in odd}


def test_a_packed_script_goes_where_its_first_key_lies() -> None:
    for key in ("k", "{tag}:meta", "x" * 300):
        assert key_of_packed(packed(("EVALSHA", "0" * 40, 1, key, b"\r\n" * 300))) == key.encode()
    for other in (("HGET", "a", "b"), ("EVALSHA", "0" * 40, 1, "x" * 600)):
        with pytest.raises(NoNode):
            key_of_packed(packed(other))


def test_an_xread_of_several_streams_is_taken_apart_with_their_places() -> None:
    many = read_many(["XREAD", "COUNT", 7, "BLOCK", 200, "STREAMS", "a", "b", "1-0", "2-0"])
    assert many is not None
    assert (many.options, many.block_ms, many.streams) == (("COUNT", 7), 200, (("a", "1-0"), ("b", "2-0")))
    assert read_many(["XRANGE", "a", "-", "+"]) is None


@each_row("command", [["EVALSHA", "0" * 40, 0, "x"], ["WHATEVER"]])
def test_what_names_no_key_belongs_to_no_node(command: list[Any]) -> None:
    with pytest.raises(NoNode):
        key_of(command)
