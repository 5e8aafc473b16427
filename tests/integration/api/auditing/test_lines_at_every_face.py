"""Both time lines at every face: what takes them is asked about an owner of whom something came late, and answers as of a twin.

Which routes, commands and verbs of the client take them is asked of the program itself, so that a new one is asked too.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson
import pytest

from consumers.fold.rebuild import rebuild_partition
from engramlog import Memory
from engramlog.client import Verb, Verbs
from events.catalogue import SynonymDefined
from events.envelope import from_micros, utc_text
from tests.acceptance.helpers.store import Store
from tests.given.client import Service, connected
from tests.given.events import (
    Told,
    at,
    created,
    graded,
    in_session,
    mentioned,
    negated,
    profile,
    set_aside,
)
from tests.given.http import TOKEN, HttpStore, http_store
from tests.given.said import injected, said
from tests.integration.api.auditing.test_lines_by_a_twin import (
    EAGER_MOMENTS,
    HELD,
    JUDGED_TODAY,
    LATER,
    Asking,
    names_of,
    partition_of,
    place_of,
    plain,
    unlike,
)
from tests.integration.api.faces.test_known import asked_by_command, asking, with_option

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


SAID = {"q": "coffee", "topic": "coffee", "text": "coffee", "query": "coffee", "other": "tea", "min_importance": 0}
APART_FACES = {
    "/v1/partitions/{partition}/events": "is everybody's",
    "/v1/owners/{owner}/diff": "has two moments",
    "/v1/owners/{owner}/instants": "each of its instants is a question: `services/looking/test_instants_by_a_store.py`",
}
"""Asked in `test_every_face_of_a_diff_and_of_a_partition_takes_both_lines`, but for what says where."""


def same(lives: Lives, past: Any, alone: Any, twin: str, where: str) -> None:
    def of(owner: str, answer: Any) -> Any:
        partition = partition_of(lives.store, owner)
        entries = lives.store.app.log.read_at(partition, lives.store.app.views.changelogs.seqs(owner))
        return plain(answer, dict.fromkeys(names_of(partition, entries), "an event"))

    assert not unlike(of(lives.owner, past), of(twin, alone), where)


@pytest.mark.parametrize("number", range(5))
def test_every_route_takes_both_lines(faces: HttpStore, lives: Lives, number: int) -> None:
    times, kept, now = lives.times()[number]
    twin, asked = lives.twin(kept), 0
    operations = asking(faces.client.get("/v1/openapi.json").json())
    for (method, path), (takes, _) in sorted(operations.items(), key=lambda one: one[0][1].endswith("/reveal")):
        if "known" not in takes or path in APART_FACES or path.endswith(".svg"):
            continue  # a picture is drawn of the answer beside it: `test_http_pictures` holds it to that
        said_too = {name: value for name, value in SAID.items() if name in takes} | (
            {"to": LATER} if "to" in takes else {}
        )
        answers = []
        for owner, about in ((lives.owner, times), (twin, alone(takes, now))):
            where = path.replace("{owner}", owner).replace("{memory_id}", "coffee").replace("{turn_id}", "t1")
            if method == "post":
                answer = faces.client.post(where, json=said_too | about)
            else:
                answer = faces.client.get(where, params=said_too | about)
            assert answer.status_code == 200, (where, answer.text)
            answers.append(read(path, answer.text))
        same(lives, *answers, twin, f"{method} {path}")
        asked += 1
    assert asked > 20


def read(path: str, told: str) -> Any:
    """An answer as it is compared: an export by its lines."""
    return [*map(orjson.loads, told.splitlines())] if path.endswith("/export") else orjson.loads(told)


def alone(takes: set[str], now: str) -> dict[str, str]:
    """How a twin is asked about the same instant."""
    return {"at": now} if "at" in takes else {"as_of": now} if "text" in takes else {}


WORDS = dict.fromkeys(
    ("search", "assess", "map", "context", "get", "why", "history", "provenance", "associations", "uses"), ("coffee",)
)


@pytest.mark.parametrize("number", range(5))
def test_every_command_takes_both_lines(faces: HttpStore, lives: Lives, number: int) -> None:
    times, kept, now = lives.times()[number]
    twin = lives.twin(kept)
    with_at = with_option("--at")
    for name in sorted(with_option("--known") - {"diff", "instants"}):
        answers = []
        takes = {"at"} if name in with_at else {"text"} if name == "context" else set()
        for owner, about in ((lives.owner, times), (twin, alone(takes, now))):
            options = [word for option, value in about.items() for word in (f"--{option.replace('_', '-')}", value)]
            code, told = asked_by_command(faces, name, owner, *WORDS.get(name, ()), *options, "--json")
            assert code == 0, (name, told)
            answers.append(orjson.loads(told))
        same(lives, *answers, twin, name)


VERB_WORDS = WORDS | dict.fromkeys(("curves",), ("coffee",)) | {"answer": ("t1",)}


@pytest.fixture(scope="module")
def served(running: Service) -> Lives:
    return lives_of(Store(running.http.application))


@pytest.mark.parametrize("number", range(5))
def test_every_verb_of_the_client_takes_both_lines(
    running: Service, served: Lives, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setenv("ENGRAMLOG_TOKEN", TOKEN)
    lives = served
    times, kept, now = lives.times()[number]
    twin = lives.twin(kept)
    with connected("sync", running.url, owner=lives.owner) as past, connected("sync", running.url, owner=twin) as its:
        for verb, takes in verbs().items():
            if verb in ("diff", "partition_events", "instants", "curves_picture", "map_picture"):
                continue
            more = {"other": "tea", "query": "coffee"} if verb == "above" else {}
            more |= {"until": LATER} if verb == "curves" else {}
            words = ("coffee",) if verb == "above" else VERB_WORDS.get(verb, ())
            answers = [
                getattr(memory, verb)(*words, **more, **about)
                for memory, about in ((past, times), (its, alone(takes, now)))
            ]
            same(lives, *map(told_by, answers), twin, verb)


def test_every_face_of_a_diff_and_of_a_partition_takes_both_lines(
    running: Service, served: Lives, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAMLOG_TOKEN", TOKEN)
    app, http, first, owner = (
        running.http.application,
        running.http.client,
        served.recorded(served.ends[0]),
        served.owner,
    )
    for line, held in (("known", "as_of"), ("happened", "known")):
        sides = (
            (first, served.ends[2])
            if line == "known"
            else (utc_text(from_micros(at(2))), utc_text(from_micros(at(30))))
        )
        for bound in (utc_text(from_micros(at(12))) if held == "as_of" else served.ends[1], None):
            asked = {"line": line, held: bound} if bound else {"line": line}
            expected = app.differ.diff(owner, since=sides[0], until=sides[1], **asked)  # type: ignore[arg-type]
            words = [word for name, value in asked.items() for word in (f"--{name.replace('_', '-')}", value)]
            code, told = asked_by_command(
                running.http, "diff", owner, "--from", sides[0], "--to", sides[1], *words, "--json"
            )
            assert code == 0, told
            query = {"from": sides[0], "to": sides[1], **asked}
            by_get = http.get(f"/v1/owners/{owner}/diff", params=query).json()
            by_post = http.post(f"/v1/owners/{owner}/diff", json=query).json()
            with connected("sync", running.url, owner=owner) as memory:
                by_verb = told_by(memory.diff(since=sides[0], until=sides[1], **asked))
            for name, answer in (
                ("GET", by_get),
                ("POST", by_post),
                ("command", orjson.loads(told)),
                ("verb", by_verb),
            ):
                seen = [answer[side] for side in ("before", "after")], [one["id"] for one in answer["memories"]]
                assert seen == ([expected["before"], expected["after"]], [one["id"] for one in expected["memories"]]), (
                    name
                )

    partition = partition_of(served.store, owner)
    times = {"as_of": utc_text(from_micros(at(12))), "known": served.recorded(served.ends[1])}
    events_there = app.events.partition_events(partition, limit=1000, **times)["events"]
    assert {utc_text(from_micros(at(1))), utc_text(from_micros(at(3)))} <= {one["occurred_at"] for one in events_there}
    wanted = [one["position"] for one in events_there]
    assert wanted != [one["position"] for one in app.events.partition_events(partition, limit=1000)["events"]]
    code, told = asked_by_command(
        running.http,
        "events",
        "--partition",
        str(partition),
        "-k",
        "1000",
        "--as-of",
        times["as_of"],
        "--known",
        times["known"],
        "--json",
    )
    by_get = http.get(f"/v1/partitions/{partition}/events", params={"limit": 1000, **times}).json()
    with connected("sync", running.url) as memory:
        by_verb = told_by(memory.partition_events(partition, limit=1000, **times))
    for answer in (by_get, orjson.loads(told), by_verb):
        assert [one["position"] for one in answer["events"]] == wanted


def told_by(answer: Any) -> Any:
    told = answer.model_dump(mode="json") if hasattr(answer, "model_dump") else [told_by(one) for one in answer]
    if isinstance(told, dict) and "text" in told and "left_out" in told:  # an export
        told["text"] = [orjson.loads(line) for line in told["text"].splitlines()]
    return told


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
