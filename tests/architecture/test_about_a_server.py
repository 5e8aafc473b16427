"""A command about a server names no key, so a cluster cannot tell which node is meant: each place that sends one is listed, with
how it comes by the server. A place that is not listed is a failure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from engramlog_server.events.redis.cluster import OF_NO_KEY

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("events", "projections", "consumers", "api", "ops")
OWN_SERVERS = ("ops/embedded/",)
"""What starts a Redis of its own, or talks to the one of a data folder."""
METHODS = {
    "acl_list", "bgrewriteaof", "bgsave", "client_id", "client_kill", "client_list", "config_get", "config_set", "dbsize",
    "flushall", "flushdb", "info", "keys", "lastsave", "memory_stats", "ping", "randomkey", "scan", "scan_iter", "script_flush",
    "script_load", "shutdown", "slowlog_get", "slowlog_reset", "wait",
}  # fmt: skip
"""Of redis-py's clients; some of these names are other things' too, so they count where a client is asked."""
NAMED = re.compile("|".join([*(f'"{one}"' for one in OF_NO_KEY), *(rf"\.{one}\b" for one in METHODS)]))
"""A file that sends such a command matches; most files do not, and are not parsed."""
CLIENTS = {"client", "_client", "redis", "connection"}
EACH = "each server that `Wire.servers` gives"
AT = "the server of a key, by `Wire.at`"
GIVEN = "one server's own wire, which the caller gives"
ONE = "one server's own client, which the caller gives"
ONE_SERVER = "asked of a store on one server alone"
QUEUE = "the Redis of the queue, which is one server"
ABOUT = "all servers of some keys, by `Wire.about`"
PLACES = {
    "info: INFO": GIVEN,
    "run_id: INFO": GIVEN,
    "refuse_own_server: INFO": EACH,
    "_refuse_unsynced: CONFIG": "a key store, which is one server",
    "at: INFO": GIVEN,
    "at: TIME": GIVEN,
    "_refuse_without_room_beside: INFO": AT,
    "lifecycle_status: TIME": QUEUE,
    "_aof_rewritten: BGREWRITEAOF": GIVEN,
    "_dumped: BGSAVE": GIVEN,
    "_info: INFO": GIVEN,
    "_rewritten: SLOWLOG": GIVEN,
    "_served: CONFIG": GIVEN,
    "company: CLIENT": EACH,
    "keys_like: SCAN": EACH,
    "_memory: INFO": GIVEN,
    "redis_micros: TIME": AT,
    "known_nodes: CLUSTER": EACH,
    "moving_slots: CLUSTER": GIVEN,
    "_ask: CLUSTER": ONE,
    "_followed: ASKING": "the node that a key is on its way to",
    "read_settings: CONFIG": GIVEN,
    "_loading: INFO": GIVEN,
    "_mode: HELLO": ONE_SERVER,
    "_mode: INFO": ONE_SERVER,
    "_asked: WAIT": ABOUT,
    "_asked: WAITAOF": ABOUT,
    "refuse_eviction: INFO": EACH,
    "refuse_replica: INFO": ONE_SERVER,
    "load_again: SCRIPT": "a wire to one server; that of a cluster has each node load it",
    "server_run: INFO": GIVEN,
    "_append_only_files: CONFIG": GIVEN,
    "_look_at_server: TIME": GIVEN,
    "look_at_cluster: CONFIG": EACH,
    "_needs_no_password: .ping": ONE,
    "_files_of: .config_get": ONE,
    "server: .info": ONE,
    "server: .scan_iter": ONE,
    "server: .slowlog_get": ONE,
    "server: SLOWLOG": "a word of the report",
    "_proved: WAIT": ABOUT,
    "_room_beside: INFO": AT,
}


def places() -> Iterator[str]:
    """Each place and command, once."""
    for path in sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        source = path.read_text()
        if not name.startswith(OWN_SERVERS) and NAMED.search(source):
            yield from sorted(set(_of_file(ast.parse(source))))


def _of_file(tree: ast.AST) -> Iterator[str]:
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for node in _own_nodes(function):
                for command in _commands(node):
                    yield f"{function.name}: {command}"


def _own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """What stands in a function, without functions in it."""
    waiting: list[ast.AST] = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.FunctionDef):
            yield node
            waiting.extend(ast.iter_child_nodes(node))


def _commands(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant) and node.value in OF_NO_KEY:
        yield str(node.value)
    elif isinstance(node, ast.Attribute) and node.attr in METHODS and _is_client(node.value):
        yield f".{node.attr}"


def _is_client(asked: ast.expr) -> bool:
    name = asked.attr if isinstance(asked, ast.Attribute) else asked.id if isinstance(asked, ast.Name) else ""
    return name in CLIENTS


def test_each_place_that_sends_a_command_about_a_server_is_known() -> None:
    found = set(places())
    assert found - PLACES.keys() == set(), (
        "say which server is meant: by `Wire.servers`, `Wire.at` or `Wire.about`; then list it"
    )
