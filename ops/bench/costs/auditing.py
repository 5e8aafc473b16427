"""What an auditor's questions cost, by CPU of the client, beside reading the owner's log and folding it once in the same round.

One owner who is loaded, asked by one reader: of a past each question is put twice, for the first makes what the second begins at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from time import process_time
from typing import Any

from api.exchange.exporting import ExportOptions
from api.exchange.records import Records
from api.services.auditing.answered import Answers
from api.services.auditing.differing import Differ
from api.services.auditing.events import Events
from api.services.auditing.outranking import Outranking
from api.services.auditing.replaying import Replayer
from api.services.auditing.retracting import Retracter
from api.services.reading import Reader
from api.services.writing import Writer
from events.envelope import prepare
from events.partitions import partition_of, position_text
from events.redis.log import RedisEventLog
from ops.bench.sample import sample
from ops.bench.search import OWNER
from ops.bench.server import BenchServer
from ops.bench.store import filled
from projections.fold.owner import fold_owner
from projections.redis.view import RedisViews

TEXTS = "talk"
QUESTION = "what did we say about dinner?"
QUESTIONS = [f"{QUESTION} {number}" for number in range(1, 21)]
Ask = Callable[[], Any]


def measure(server: BenchServer, events: int, rounds: int) -> list[dict[str, Any]]:
    """A row a question: median CPU in milliseconds of so many rounds, and its share of one fold of the same log in that round."""
    tags = filled(server, [prepare(event) for event in sample(events, 1, texts=TEXTS)])
    taken: dict[str, list[float]] = {}
    shares: dict[str, list[float]] = {}
    for _ in range(rounds):
        views, log = RedisViews(server.client, tags), RedisEventLog(server.client, tags)
        reader = Reader(log, views)
        reader.list(OWNER, limit=1)
        whole = _cpu(partial(_folded, reader))
        for name, ask in _questions(log, views, reader, events):
            spent = _cpu(ask)
            taken.setdefault(name, []).append(spent)
            shares.setdefault(name, []).append(spent / whole)
        taken.setdefault("one fold of the log", []).append(whole)
        views.close()
        log.close()
    return [
        {
            "what": name,
            "texts": TEXTS,
            "events": events,
            "cpu_milliseconds": round(median(spent), 1),
            "of_one_fold": round(median(shares[name]), 2) if name in shares else 1.0,
        }
        for name, spent in taken.items()
    ]


def _questions(log: RedisEventLog, views: RedisViews, reader: Reader, events: int) -> Iterator[tuple[str, Ask]]:
    partition = partition_of(OWNER, log.partitions)
    half = position_text(partition, events // 2)
    differ, replayer = Differ(log, reader, views), Replayer(log, reader)
    told, answers = Events(log, views, reader), Answers(log, views, reader)
    writer = Writer(log, views, reader, lambda _until: None)  # type: ignore[arg-type]
    records, retracter = Records(log, views, reader, writer), Retracter(log, views, reader, writer)
    found = reader.search(OWNER, QUESTION, mode="review", limit=2, trace=False)["results"]
    best = [one["id"] for one in found]
    yield "events, a page of 100", partial(told.events, OWNER, limit=100)
    yield "events of a session that is not there, a page", partial(told.events, OWNER, session="nobody", limit=100)
    yield "history, a page of 100, newest", partial(reader.history, OWNER, limit=100, order="newest")
    law = partial(reader.history, OWNER, limit=100, order="newest", law="ebbinghaus")
    yield "the same under another law, first", law
    yield "the same under another law, again", law
    yield "answers, a page", partial(answers.answers, OWNER)
    if len(best) == 2:
        yield (
            "why A above B",
            partial(Outranking(reader).above, OWNER, best[0], other=best[1], query=QUESTION, mode="review"),
        )
    changed = partial(differ.diff, OWNER, since=half, mode="review")
    yield "diff, half to now, first", changed
    yield "diff, half to now, again", changed
    yield "diff with a question", partial(differ.diff, OWNER, since=half, mode="review", queries=[QUESTION])
    yield "replay without a strike", partial(replayer.replay, OWNER)
    yield "replay without a session", partial(replayer.replay, OWNER, without_sessions=["s-1"])
    yield (
        "the same with 20 questions, normal mode",
        partial(replayer.replay, OWNER, without_sessions=["s-1"], queries=QUESTIONS, mode="normal"),
    )
    reach = partial(retracter.retract, OWNER, dry_run=True, reason="measured")
    yield "reach of retracting a session", partial(reach, without_sessions=["s-1"])
    yield "reach of retracting a late session", partial(reach, without_sessions=[f"s-{events // 40 - 1}"])
    yield "export of everything, as lines", partial(_written, records, "jsonl")


def _folded(reader: Reader) -> None:
    with reader.snapshot(OWNER) as snapshot:
        seqs = reader.seqs(OWNER, snapshot)
    fold_owner(reader.stored(OWNER, seqs))


def _written(records: Records, form: str) -> None:
    for _ in records.export(OWNER, ExportOptions(everything=True), form).pieces():
        pass


def _cpu(ask: Ask) -> float:
    """Milliseconds of CPU that a question takes of this process."""
    start = process_time()
    ask()
    return (process_time() - start) * 1e3
