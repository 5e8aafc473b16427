"""Nothing that an owner said lies open anywhere in a sealed store: canaries go in by every way, and every place is searched.

The same search of the same story in a store that lies open is the proof that each place is looked at.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.integration.encryption.aviary import OWNER, Aviary, aviary
from tests.integration.encryption.canaries import leaves
from tests.integration.encryption.canary_story import LEAST_CANARIES, PARKED, tell_the_story
from tests.integration.live import wait_until


class Houses(NamedTuple):
    """The same story told to a sealed store and to one that lies open, both by `engramlog up`."""

    sealed: Aviary
    open: Aviary


@pytest.fixture(scope="module")
def houses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Houses]:
    folder = tmp_path_factory.mktemp("canaries")
    with (
        aviary(folder / "sealed", sealed=True, tell=tell_the_story) as sealed,
        aviary(folder / "open", sealed=False, tell=tell_the_story) as lies_open,
    ):
        assert sealed.canaries.ways == lies_open.canaries.ways
        yield Houses(sealed, lies_open)


def in_redis(at: Aviary) -> set[str]:
    with at.client() as client:
        return set[str]().union(*at.search().in_redis(client).values())


def in_files(pattern: str) -> Callable[[Aviary], set[str]]:
    def found(at: Aviary) -> set[str]:
        paths = [one for one in at.files() if re.search(pattern, one.as_posix())]
        assert paths
        return set[str]().union(*at.search().in_files(paths).values())

    return found


# Where words lie in a store that lies open, with ways of canaries that are found there.
PLACES: dict[str, tuple[Callable[[Aviary], set[str]], set[str]]] = {
    "every key of Redis": (in_redis, {"turn", "keyword in Chinese", "synonym", "parked", "secret", "why purged"}),
    "the AOF": (
        in_files(r"/appendonly"),
        {"turn", "turn in Chinese", "question that is recorded", "query of an access"},
    ),
    "an RDB": (lambda at: at.search().in_bytes(at.saved()), {"turn", "summary, han", "content of a large owner"}),
    "a replica's RDB": (lambda at: at.search().in_bytes(at.replicated()), {"turn", "tag", "why kept"}),
    "commands that Redis noted": (lambda at: at.search().in_bytes(at.asked_of_redis()), {"summary of a merge"}),
}


@pytest.mark.parametrize("place", PLACES)
def test_no_canary_lies_open_in_a_sealed_store(houses: Houses, place: str) -> None:
    look, expected = PLACES[place]
    ways = houses.open.canaries.ways
    assert expected - {ways[word] for word in look(houses.open)} == set()  # it is looked at, and they are there
    assert {ways[word] for word in look(houses.sealed)} == set()


def test_nothing_that_lies_in_the_folder_or_was_printed_has_one(houses: Houses) -> None:
    at = houses.sealed
    search = at.search()
    assert search.in_files([*at.files(), at.log]) == {}
    assert search.looked > sum(one.stat().st_size for one in at.files())


def test_as_many_went_in_as_were_asked_for_and_come_out_again(houses: Houses) -> None:
    assert len(houses.sealed.canaries) >= LEAST_CANARIES
    for at in houses:
        told = str(at.get("/export", everything="true", format="jsonl"))
        told += str(at.ask(f"/v1/owners/{OWNER}/events?limit=1000"))
        assert len(at.search().in_bytes(told.encode())) >= LEAST_CANARIES


def test_an_export_without_reveal_has_no_secret_from_either(houses: Houses) -> None:
    for at in houses:
        secret = at.canaries.secret - {word for word, way in at.canaries.ways.items() if way == "why revealed"}
        assert secret
        revealed = at.search().in_bytes(str(at.post("/export", {"reveal": True, "reason": "asked"})).encode())
        assert secret <= revealed
        assert not secret & at.search().in_bytes(str(at.get("/export")).encode())


def test_why_an_owner_stands_still_is_told_to_who_asks_and_to_no_log(houses: Houses) -> None:
    for at in houses:
        assert "UndecodableEvent" in str(at.ask(f"/v1/dead/{PARKED}"))
        with at.client() as client:
            stored = [client.hgetall(key) for key in client.scan_iter("*:q")]
        assert stored
        assert ("UndecodableEvent" in repr(stored)) is not at.sealed
    assert "UndecodableEvent" in houses.open.log.read_text()


def test_no_secret_of_an_owner_lies_open(houses: Houses) -> None:
    for at in houses:
        with at.client() as client:
            held = [leaf for key in client.scan_iter() for leaf in leaves(client, key)]
        held += [one.read_bytes() for one in at.files()]
        secrets = at.secrets()
        open_ones = {secret for secret in secrets if any(secret in one for one in held)}
        assert (len(open_ones) > len(secrets) // 2) if not at.sealed else not open_ones  # rejections.jsonl has digits
    assert [one for one in houses.sealed.files() if one.name == "rejections.jsonl"]


def test_a_process_of_a_sealed_store_leaves_no_core_file(houses: Houses) -> None:
    for pid in houses.sealed.pids():
        limits = Path(f"/proc/{pid}/limits").read_text()
        assert re.search(r"^Max core file size +0 ", limits, re.MULTILINE), limits


@pytest.fixture(scope="module", params=["sealed", "open"])
def faulty(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aviary]:
    """A store whose fold worker ends with an error, whose jobs fail for good, and whose API fails at an append."""

    def tell(at: Aviary) -> None:
        at.post("/memories", {"content": f"I like {at.environment['CANARY_IN_API']}"}, allowed=(500,))

        def failed() -> bool:
            with at.client() as client:
                return any(True for _ in client.scan_iter("rq:results:*"))

        wait_until(failed)
        # The worker that takes the place of the one that ended is struck down, when it is at work: before that Python would
        # end without a word.
        wait_until(lambda: len(at.facts("worker started")) > 1)
        os.kill(at.pids()[-1], signal.SIGABRT)
        wait_until(lambda: "Fatal Python error: Aborted" in at.log.read_text())

    with aviary(
        tmp_path_factory.mktemp("faulty") / "store", sealed=request.param == "sealed", tell=tell, faulty=True
    ) as at:
        yield at


def test_no_crash_tells_what_it_met(faulty: Aviary) -> None:
    ways = {f"fault CANARY_IN_{name}" for name in ("WORKER", "JOB", "API")}
    log = faulty.log.read_bytes()
    assert log.count(b"ValueError") >= len(ways)
    assert b"sitecustomize.py" in log  # where it was is told all the same
    found = {faulty.canaries.ways[word] for word in faulty.search().in_bytes(log)}
    assert found == (set() if faulty.sealed else ways)


def test_no_failed_job_keeps_what_it_met(faulty: Aviary) -> None:
    with faulty.client() as client:
        found = faulty.search().in_redis(client)
    told = {key.split(":")[1] for key in found if key.startswith("rq:")}
    assert told == (set() if faulty.sealed else {"results"})
