"""Both time lines at every face: what takes them is asked about an owner of whom something came late, and answers as of a twin.

Which routes, commands and verbs of the client take them is asked of the program itself, so that a new one is asked too.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from consumers.fold.rebuild import rebuild_partition
from engramlog import Memory
from engramlog.client import Verb, Verbs
from events.catalogue import SynonymDefined
from events.envelope import from_micros, utc_text
from tests.acceptance.helpers.store import Store
from tests.given.client import Service
from tests.given.events import Told, at, created, graded, in_session, mentioned, negated, profile, set_aside
from tests.given.http import HttpStore, http_store
from tests.given.said import injected, said
from tests.integration.api.auditing.test_lines_by_a_twin import (
    EAGER_MOMENTS,
    HELD,
    JUDGED_TODAY,
    Asking,
    names_of,
    partition_of,
    place_of,
    plain,
    unlike,
)

# --- every face


@pytest.fixture(scope="module")
def faces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    with http_store(tmp_path_factory.mktemp("faces") / "http") as opened:
        yield opened


class Lives(NamedTuple):
    """An owner of whom something came late, and how its twins come to be."""

    store: Store
    batches: list[list[Told]]
    ends: list[str]
    """Where each batch ended."""
    owner: str

    def times(self) -> list[tuple[dict[str, str], list[Told], str]]:
        """Times to ask about, what counts then, and the instant of the weights."""
        recorded = [self.recorded(one) for one in self.ends]
        by_day = utc_text(from_micros(at(12)))
        known = [one for batch in self.batches[:2] for one in batch]
        newest = utc_text(from_micros(max(at(one.day) for one in known)))
        return [
            ({"as_of": by_day}, [one for batch in self.batches for one in batch if one.day <= 12], by_day),
            ({"known": recorded[1]}, known, recorded[1]),
            ({"as_of": by_day, "known": self.ends[1]}, [one for one in known if one.day <= 12], by_day),
            ({"as_of": self.ends[2], "known": recorded[1]}, known, newest),
            ({"as_of": self.ends[1], "known": recorded[2]}, known, newest),
        ]

    def recorded(self, position: str) -> str:
        (found,) = self.store.app.log.read_at(*place_of(position))
        return utc_text(from_micros(found.recorded or 0))

    def twin(self, kept: list[Told]) -> str:
        owner = self.store.owner()
        self.store.tell(owner, *kept)
        return owner


@pytest.fixture(scope="module")
def lives(faces: HttpStore) -> Lives:
    return lives_of(Store(faces.application))


def lives_of(store: Store) -> Lives:
    batches = [
        [
            in_session(created("I like coffee", "coffee", day=1), "s1"),
            said("t1", "What do I like?", day=1.5, session="s1"),
            injected("coffee", turn_id="t1", day=1.6),
            created("I live in Paris", "paris", day=20),
            Told(SynonymDefined(keyword="coffee", synonym="mocha", similarity=0.9), 2),
        ],
        [
            in_session(created("I drink tea, not coffee", "tea", day=3, keywords=("tea",)), "s2"),
            mentioned("paris", day=21),
            mentioned("coffee", day=18),
            graded("tea", day=4),
            set_aside("s3", day=5),
        ],
        [
            negated("coffee", 11, resolution="latest_wins"),
            Told(SynonymDefined(keyword="coffee", synonym="mocha", similarity=0.0), 11),
            said("r1", "Coffee", "assistant", day=1.7, session="s1", reply_to="t1"),
            created("I live in Rome", "rome", day=11),
            injected("tea", turn_id="t1", day=11),
            profile("ebbinghaus", day=11),
        ],
    ]
    owner = store.owner()
    return Lives(store, batches, [store.tell(owner, *batch) for batch in batches], owner)


def same(lives: Lives, past: Any, alone: Any, twin: str, where: str) -> None:
    def of(owner: str, answer: Any) -> Any:
        partition = partition_of(lives.store, owner)
        entries = lives.store.app.log.read_at(partition, lives.store.app.views.changelogs.seqs(owner))
        return plain(answer, dict.fromkeys(names_of(partition, entries), "an event"))

    assert not unlike(of(lives.owner, past), of(twin, alone), where)


def alone(takes: set[str], now: str) -> dict[str, str]:
    """How a twin is asked about the same instant."""
    return {"at": now} if "at" in takes else {"as_of": now} if "text" in takes else {}


@pytest.fixture(scope="module")
def served(running: Service) -> Lives:
    return lives_of(Store(running.http.application))


def verbs() -> dict[str, set[str]]:
    """The verbs that take the lines, with all that they take."""
    named = [name for name, value in vars(Verbs).items() if isinstance(value, Verb)]
    takes = {name: set(inspect.signature(getattr(Memory(), name)).parameters) for name in named}
    return {name: has for name, has in takes.items() if "known" in has}


# --- after a rebuild


def test_a_rebuild_changes_no_answer_about_the_past(running: Service, served: Lives) -> None:
    store, http = served.store, running.http

    def answers() -> list[Any]:
        store.reader.pasts._kept.clear()  # what a new process does not have
        found = []
        for times, _, now in served.times():
            asking_now = Asking(store, served.owner, times, times | {"at": None}, now)
            found += [plain(ask(asking_now), {}) for ask in (HELD | JUDGED_TODAY).values()]
        return found

    http.application.views.moments.limits = EAGER_MOMENTS
    before = answers()
    rebuild_partition(http.store.client, http.store.identity.tags[partition_of(store, served.owner)], holder="rebuild")
    assert not unlike(before, answers())
