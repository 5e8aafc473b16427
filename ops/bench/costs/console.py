"""What the console asks, over HTTP as it asks it, each in turn with something that it could not do without, or in place of it.

One owner of 10,000 memories, told over twenty months; each round by an application that holds nothing at its start. And a store
of many owners for the list of their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import orjson
from msgspec.structs import replace

from events.envelope import micros, prepare, utc_text
from ops.bench.costs.loopback import EMPTY, Loopback, of_owner, over_loopback
from ops.bench.costs.meter import Cost, cost_of
from ops.bench.rounds import quiet
from ops.bench.sample import MIX, sample
from ops.bench.search import OWNER
from ops.bench.server import BenchServer
from ops.bench.store import filled
from projections.fold.builds import FIRST_BUILD, BuildKeys

TEXTS = ("talk", "chinese")
SIZES: tuple[int, int, Sequence[str]] = (10_000, 100_000, TEXTS)
SMALL: tuple[int, int, Sequence[str]] = (100, 100, TEXTS[:1])
"""Memories of the owner, owners of the other store, sets of texts."""
BEGAN, LASTED = datetime(2025, 3, 1, tzinfo=UTC), timedelta(days=600)
ROWS, POINTS, SEARCHED = 20, 120, 12
"""Of `instants`; and of how many instants a search is asked, for all of them."""
QUESTIONS = {"talk": "what did we say about dinner?", "chinese": "周末去哪里玩了？"}
CALLS = 5
"""Of a short question in a round."""
OWNERS_PAGE, LIST_PAGE = 50, 100
OPENS_MILLISECONDS = 1_000.0
"""Until a screen of an owner of 10,000 memories stands, on loopback."""
LOADING = "loading the owner"
Ask = Callable[[], object]


class InTurn(NamedTuple):
    """Ours and what it is compared with; `calls` of each in a round, and how often the limit stands for one of ours."""

    what: str
    limit: str
    ask: Ask
    beside: Ask | None
    """None: what loading the owner took in the same round."""
    calls: int = CALLS
    times: float = 1.0


class TakenInTurn:
    """What was found of a pair, round by round."""

    def __init__(self, pair: InTurn) -> None:
        self.what, self.limit = pair.what, pair.limit
        self.ours, self.beside = list[Cost](), list[Cost]()

    def told(self) -> dict[str, Any]:
        """Medians in milliseconds a call; `ratio` is the limit's CPU to ours, of this process and of Redis together."""
        ratios = [limit.cpu / ours.cpu for ours, limit in zip(self.ours, self.beside, strict=True)]
        return {
            "what": self.what,
            "limit": self.limit,
            "ratio": _figure(median(ratios)),
            "ratio_min": _figure(min(ratios)),
            "ratio_max": _figure(max(ratios)),
            "rounds": len(ratios),
            "cpu_milliseconds": _ms([one.client for one in self.ours]),
            "redis_milliseconds": _ms([one.server for one in self.ours]),
            "clock_milliseconds": _ms([one.wall for one in self.ours]),
            "limit_cpu_milliseconds": _ms([one.client for one in self.beside]),
            "limit_redis_milliseconds": _ms([one.server for one in self.beside]),
        }


def measure(server: BenchServer, memories: int, owners: int, sets: Sequence[str], *, rounds: int) -> dict[str, Any]:
    """`rows`, a question each; `goals`: what has a bound by the clock, and whether it holds."""
    rows, goals = list[dict[str, Any]](), list[dict[str, Any]]()
    for texts in sets:
        filled(server, [prepare(event) for event in _told(memories, texts)])
        found, opened, held = _of_an_owner(server, texts, rounds)
        rows += [{"texts": texts, "memories": held} | one.told() for one in found.values()]
        goals.append(_opening(texts, held, opened))
    filled(server, [prepare(event) for event in sample(owners, owners, texts="talk")])
    rows += [{"texts": "talk", "owners": owners} | one.told() for one in _of_a_store(server, rounds).values()]
    return {"rows": rows, "goals": goals}


def _told(memories: int, texts: str) -> list[Any]:
    """What happened to one owner, until there are about so many memories."""
    told = sample(round(memories / MIX[0][0]), 1, texts=texts)
    return [replace(one, occurred_at=BEGAN + LASTED * (number / len(told))) for number, one in enumerate(told)]


def _of_an_owner(server: BenchServer, texts: str, rounds: int) -> tuple[dict[str, TakenInTurn], list[float], int]:
    rows, opened, held = dict[str, TakenInTurn](), list[float](), 0
    for number in range(rounds):
        with over_loopback(server) as asking:
            loading = _cost(server, partial(asking.get, of_owner(OWNER, "memories"), limit=1), 1)
            whole = orjson.loads(asking.get(of_owner(OWNER, "memories"), limit=1, mode="debug", sort="weight"))
            held = whole["total"]
            for pair in _asked(server, asking, texts, number, whole["memories"][0]["id"]):
                _measured(server, rows, pair, loading)
            opened.append(sum(_cost(server, ask, 1).wall for ask in _opens(asking)))
    return rows, opened, held


def _asked(server: BenchServer, asking: Loopback, texts: str, number: int, memory: str) -> Iterator[InTurn]:
    """The questions of a round, in order: what is asked first of a thing comes before it is asked again."""
    yield from _pictures(asking, memory)
    yield from _listed(asking, number)
    yield _instants(asking, QUESTIONS[texts], BEGAN + LASTED - timedelta(minutes=number))
    hashes = partial(_hashes, server, asking)
    for name in ("heads", "status"):
        yield InTurn(name, "two hashes of each partition, an empty GET", partial(asking.get, f"/v1/{name}"), hashes)


def _pictures(asking: Loopback, memory: str) -> Iterator[InTurn]:
    get, of = asking.get, partial(of_owner, OWNER)
    picture, curves = partial(get, of("map.svg")), partial(get, of("memories", memory, "compare.svg"))
    yield InTurn("map.svg, first", LOADING, picture, None, 1)
    yield InTurn("compare.svg, first", LOADING, curves, None, 1)
    yield InTurn("map.svg, again", "the map as JSON", picture, partial(get, of("map")))
    yield InTurn("compare.svg, again", "the curves as JSON", curves, partial(get, of("memories", memory, "compare")))


def _listed(asking: Loopback, number: int) -> Iterator[InTurn]:
    get, of, then = asking.get, partial(of_owner, OWNER), utc_text(BEGAN + LASTED / 2 + timedelta(hours=number))
    parts, weights = "all weights once, an empty GET", partial(_weights, asking)
    now, past = (partial(get, of("memories"), mode="review", limit=LIST_PAGE, **at) for at in ({}, {"as_of": then}))
    yield InTurn("list, a page of 100", parts, now, weights)
    yield InTurn("list in the past, first", LOADING, past, None, 1)
    yield InTurn("list in the past, again", "the same page of now", past, now)
    now, past = (partial(get, of("counts"), mode="review", **at) for at in ({}, {"as_of": then}))
    yield InTurn("counts, first", LOADING, now, None, 1)
    yield InTurn("counts, again", parts, now, weights)
    yield InTurn("counts in the past, first", LOADING, past, None, 1)
    yield InTurn("counts in the past, again", "the same of now", past, now)
    times = partial(get, of("times"))
    yield InTurn("times, first", LOADING, times, None, 1)
    yield InTurn("times, again", "two histograms of as many numbers, an empty GET", times, partial(_histograms, asking))


def _instants(asking: Loopback, question: str, until: datetime) -> InTurn:
    """Until another instant in each round, so that none has been asked before."""
    asked: dict[str, str | int] = {"query": question, "results": ROWS, "points": POINTS, "mode": "review"}
    asked |= {"from": utc_text(BEGAN), "to": utc_text(until)}
    return InTurn(
        f"instants, {ROWS} rows at {POINTS}",
        f"{POINTS} searches at such instants ({SEARCHED} asked)",
        partial(asking.get, of_owner(OWNER, "instants"), **asked),
        partial(_searches, asking, question, until),
        1,
        POINTS / SEARCHED,
    )


def _of_a_store(server: BenchServer, rounds: int) -> dict[str, TakenInTurn]:
    rows = dict[str, TakenInTurn]()
    for _ in range(rounds):
        with over_loopback(server) as asking:
            page = partial(asking.get, "/v1/owners", limit=OWNERS_PAGE)
            names, limit = partial(_names, server, asking), "all names by HKEYS, in order, an empty GET"
            _measured(server, rows, InTurn("owners, first", limit, page, names, 1), Cost())
            _measured(server, rows, InTurn("owners, again", limit, page, names), Cost())
            part = partial(asking.get, "/v1/owners", limit=OWNERS_PAGE, search="99")
            _measured(server, rows, InTurn("owners, by a part of the name", limit, part, names), Cost())
    return rows


def _measured(server: BenchServer, rows: dict[str, TakenInTurn], pair: InTurn, loading: Cost) -> None:
    row = rows.setdefault(pair.what, TakenInTurn(pair))
    row.ours.append(_cost(server, pair.ask, pair.calls))
    beside = loading if pair.beside is None else _cost(server, pair.beside, pair.calls)
    row.beside.append(Cost(*(one * pair.times for one in beside)))


def _cost(server: BenchServer, ask: Ask, calls: int) -> Cost:
    """Of one call."""
    with quiet():
        whole = cost_of(server, lambda: [ask() for _ in range(calls)])
    return Cost(*(one / calls for one in whole))


def _opens(asking: Loopback) -> list[Ask]:
    """What Memories asks as it opens."""
    get, of = asking.get, partial(of_owner, OWNER)
    return [
        partial(get, "/"),
        partial(get, "/v1/alarms"),
        partial(get, of("times")),
        partial(get, of("inbox"), limit=1),
        partial(get, of("memories"), mode="review", limit=LIST_PAGE, sort="activated", order="descending"),
        partial(get, of("counts"), mode="review"),
    ]


def _opening(texts: str, memories: int, seconds: Sequence[float]) -> dict[str, Any]:
    found = round(median(seconds) * 1e3, 1)
    what = f"milliseconds that all questions of Memories take, one after the other ({memories:,} memories, {texts})"
    return {"what": what, "found": found, "at_most": OPENS_MILLISECONDS, "holds": found <= OPENS_MILLISECONDS}


def _weights(asking: Loopback) -> None:
    asking.get(EMPTY)
    with asking.application.views.view(OWNER) as (view, _):
        view.law.weights(view.columns, micros(BEGAN + LASTED), view.parameters)


def _histograms(asking: Loopback) -> None:
    asking.get(EMPTY)
    with asking.application.views.view(OWNER) as (view, _):
        numbers = np.arange(len(view))
    for _ in range(2):
        np.histogram(numbers, POINTS)


def _searches(asking: Loopback, question: str, until: datetime) -> None:
    step = (until - BEGAN) / SEARCHED
    for number in range(1, SEARCHED + 1):
        at = utc_text(BEGAN + step * number)
        asking.get(of_owner(OWNER, "search"), q=question, mode="review", limit=ROWS, trace="false", as_of=at)


def _hashes(server: BenchServer, asking: Loopback) -> None:
    asking.get(EMPTY)
    keys = [BuildKeys(tag, FIRST_BUILD) for tag in server.tags]
    commands = [["HGETALL", name] for one in keys for name in (one.log.meta, one.checkpoint)]
    with asking.wires.wire() as wire:
        wire.answers(commands)


def _names(server: BenchServer, asking: Loopback) -> None:
    asking.get(EMPTY)
    with asking.wires.wire() as wire:
        told = wire.answers([["HKEYS", BuildKeys(tag, FIRST_BUILD).owners] for tag in server.tags])
    sorted(map(bytes.decode, (name for part in told for name in part)))


def _ms(seconds: Sequence[float]) -> float:
    return _figure(median(seconds) * 1e3)


def _figure(number: float) -> float:
    return float(f"{number:.3g}")
