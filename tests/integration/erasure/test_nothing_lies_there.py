"""Owners of whom everything is kept that can be are erased while `engramlog up` runs: their keys, wrapped or not, lie nowhere, nor
does anything that was made of their words; nor do the words themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from engramlog_server.ops.keys.store import FileKeyStore
from tests.integration.encryption.aviary import OWNER, Aviary, aviary
from tests.integration.encryption.canaries import leaves
from tests.integration.encryption.canary_story import LARGE, PARKED, PURGED, created, tell_the_story
from tests.integration.live import wait_until

ERASED = (PARKED, OWNER, LARGE)
"""With what is parked, whose entry the story forged and which `verify` tells of until it is erased; with kept rejections, synonyms
and reasons; with a kept view."""
LEAST = 24
"""Bytes of a value that can lie nowhere else by chance."""


class Gone(NamedTuple):
    """A store in which some owners were erased, and what was theirs before."""

    at: Aviary
    secrets: list[bytes]
    lines: list[bytes]
    """Their secrets as they lay wrapped in Redis."""
    made: set[bytes]
    """What had been made of their words, as it lay there sealed."""
    held_before: set[str]
    """Where a wrapped secret lay."""
    certificates: list[dict[str, object]]


def place(at: Aviary, needles: list[bytes] | set[bytes]) -> set[str]:
    """Keys of Redis and files in which any of these lies."""
    wanted = list(needles)
    with at.client() as client:
        found = {
            key.decode("utf-8", "replace")
            for key in client.scan_iter(count=1_000)
            if any(one in leaf for leaf in leaves(client, key) for one in wanted)
        }
    raws = {one.relative_to(at.data).as_posix(): one.read_bytes() for one in at.files()}
    raws |= {"an RDB": at.saved(), "a replica's RDB": at.replicated(), "log": at.log.read_bytes()}
    return found | {name for name, raw in raws.items() if any(one in raw for one in wanted)}


def theirs(at: Aviary) -> set[bytes]:
    """Values beside the log that are of these owners alone."""
    found = set[bytes]()
    with at.client() as client:
        for key in client.scan_iter(count=1_000):
            name = key.decode("utf-8", "replace")
            if name.endswith(tuple(f":{one}" for one in ERASED)):
                found.update(leaf for leaf in leaves(client, key) if len(leaf) >= LEAST)
            elif client.type(key) == b"hash" and not name.endswith(":keys"):
                held = client.hmget(key, list(ERASED))
                found.update(one for one in held if one is not None and len(one) >= LEAST)
    return found


@pytest.fixture(scope="module")
def gone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gone]:
    def tell(at: Aviary) -> None:
        tell_the_story(at)
        at.ask(f"/v1/owners/{OWNER}/memories?as_of={quoted_position(at)}")  # a moment of the past

    with aviary(tmp_path_factory.mktemp("gone") / "store", sealed=True, tell=tell) as at:
        with at.client() as client:
            held = [client.hmget(key, list(ERASED)) for key in client.scan_iter("*:keys")]
        names = [one for some in held for one in some if one is not None]
        lines = list(FileKeyStore(at.data / "keys.db", make=False).read(names).values())
        assert len(lines) == len(ERASED)
        secrets, made = at.secrets(), theirs(at)
        before = place(at, lines)
        certificates = [json_of(at.command("erase", one, "--yes", "--json")) for one in ERASED]
        yield Gone(at, secrets, lines, made, before, certificates)


def quoted_position(at: Aviary) -> str:
    told = at.ask(f"/v1/owners/{OWNER}/memories?limit=1")
    return str(told["position"])


def json_of(printed: str) -> dict[str, object]:
    """The one document that a command printed, whatever stands beside it on standard error."""
    found: dict[str, object] = json.loads(printed[printed.index("{") : printed.rindex("}") + 1])
    return found


def test_each_is_certified_with_nothing_unproven(gone: Gone) -> None:
    assert [(one["verified"], one["not_proven"], one["aof"]) for one in gone.certificates] == [
        (True, [], "rewritten")
    ] * 3


def test_a_wrapped_key_lay_in_the_key_store_alone_and_lies_nowhere_now(gone: Gone) -> None:
    assert gone.held_before
    assert {one.partition("-")[0] for one in gone.held_before} == {"keys.db"}
    assert place(gone.at, gone.lines) == set()
    hexed = [one.hex().encode() for one in gone.lines]
    assert place(gone.at, hexed) == set()


def test_no_secret_of_theirs_lies_anywhere_as_it_is(gone: Gone) -> None:
    assert place(gone.at, gone.secrets) == set()


def test_nothing_that_was_made_of_their_words_lies_there_sealed_either(gone: Gone) -> None:
    assert len(gone.made) > 100
    left = place(gone.at, gone.made)
    assert left == set()


def test_no_key_of_redis_is_named_after_them_but_those_of_the_log_tell_that_they_were_there(gone: Gone) -> None:
    with gone.at.client() as client:
        named = {
            key.decode()
            for key in client.scan_iter(count=1_000)
            if key.decode().endswith(tuple(f":{one}" for one in ERASED))
        }
        fields = {
            key.decode().partition("}:")[2]
            for key in client.scan_iter(count=1_000)
            if client.type(key) == b"hash" and any(one is not None for one in client.hmget(key, list(ERASED)))
        }
    assert named == set()
    assert fields <= {"keys", "heads"}


def test_no_canary_lies_anywhere(gone: Gone) -> None:
    at, search = gone.at, gone.at.search()
    with at.client() as client:
        assert search.in_redis(client) == {}
    assert search.in_files([*at.files(), at.log]) == {}
    assert search.in_bytes(at.saved()) == set()
    assert search.in_bytes(at.replicated()) == set()
    assert search.in_bytes(at.asked_of_redis()) == set()


def test_whoever_is_asked_for_is_told_that_it_was_erased_and_another_is_still_there(gone: Gone) -> None:
    for owner in ERASED:
        told = gone.at.ask(f"/v1/owners/{owner}/memories", allowed=(410,))
        assert told["error"] == "OwnerErased"
    assert "memories" in gone.at.ask(f"/v1/owners/{PURGED}/memories")


def test_it_is_verified_and_what_is_said_afterwards_is_folded(gone: Gone) -> None:
    at = gone.at
    at.append(created(at.canaries, "later"), owner=PURGED)
    wait_until(lambda: "later" in str(at.ask(f"/v1/owners/{PURGED}/memories")))
    assert json_of(at.command("verify", "--json"))["ok"]
