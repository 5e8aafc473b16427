"""Replaying: an owner's events folded anew, under other parameters or another law, or without some of them. Writes nothing.

Which events are left out is read in the words of every face. One owner is told beside what is answered; of a whole store one part
is a list of owners, and its figures can be added to those of other parts in any order.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, Unpack, cast

import msgspec

from engramlog_server.api.checks import (
    Progress,
    TimesAsked,
    check_actor,
    check_limit,
    check_mode,
    check_one_of,
    check_owner,
    check_query,
    parse_instant,
    parse_line,
    times_answer,
)
from engramlog_server.api.choices import MOST_QUESTIONS
from engramlog_server.api.parameters import check_parameter
from engramlog_server.api.services.reading import Reader, request_of
from engramlog_server.api.snapshots import Snapshot
from engramlog_server.api.work import current_check, weigh
from engramlog_server.events.envelope import decode
from engramlog_server.events.errors import (
    EngramlogError,
    FoldError,
    InputError,
    NotFound,
    OwnerErased,
    OwnerTooLarge,
    ReadError,
    refused,
)
from engramlog_server.events.log import EventLog
from engramlog_server.events.parameters import ParameterValue
from engramlog_server.events.partitions import parse_position, partition_of, position_text
from engramlog_server.projections.checks import Bounds, counted
from engramlog_server.projections.fold.owner import OwnerHistory
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.laws.modes import Mode
from engramlog_server.projections.memory.record import NamedSource
from engramlog_server.projections.past.folding import RecordsFold
from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.reports.comparison import (
    MODE,
    Difference,
    OrderMoved,
    Side,
    StoreMoved,
    differing,
    moved,
    text_of,
)
from engramlog_server.projections.reports.retraction import Beginning, StruckLog, Undoing, packed, stays_told
from engramlog_server.projections.reports.strikes import Closure, LogGraph, Strikes
from engramlog_server.projections.shapes import QuestionMoved, Replayed, ReplayedDiffer
from engramlog_server.projections.views.query import ViewQuery
from engramlog_server.projections.views.view import OwnerView

MOST_NAMED = 1_000
"""Of one kind, in one call."""
_LIKEST = 5
"""Names that a refusal tells of those that are there."""
_COMPARED = 500
"""Those of them that are compared, the nearest by their beginnings: an owner may have 100,000 sessions."""
_POSITION = re.compile(r"[0-9]{1,4}:[0-9]{1,16}\Z")
_KNOWN_AS = {
    "without": "event ids of this owner or positions, applied by then; `engramlog history OWNER` shows them",
    "turns": "ids of turns of this owner; `engramlog why OWNER ID --provenance` shows them",
    "sessions": "sessions in which something of this owner was said",
    "sources": "user, assistant, judge, system or import where a memory of this owner has that source, or the URI of a ground",
    "principals": "who brought events of this owner, whole; `engramlog export OWNER` shows it (recorded since log format 2)",
    "correlations": "a correlation_id of this owner's events",
    "models": "language models that decided events of this owner, as a principal names them behind ` model:`",
}


class StrikesAsked(TypedDict, total=False):
    """What is to be struck, by its kind."""

    without: Sequence[str]
    without_turns: Sequence[str]
    without_sessions: Sequence[str]
    without_sources: Sequence[str]
    without_actors: Sequence[str]
    without_principals: Sequence[str]
    without_correlations: Sequence[str]
    without_models: Sequence[str]


KINDS = tuple(StrikesAsked.__annotations__)


def named_in(asked: Mapping[str, object]) -> dict[str, list[str]]:
    """What is named, by all of its kinds."""
    told = ((name, asked.get(name)) for name in KINDS)
    return {name: list(cast("Sequence[str]", values)) if values else [] for name, values in told}


def strikes_of(told: Mapping[str, Sequence[str]], partition: int) -> Strikes:
    """What is named, checked. Raises InputError naming the field: for an actor that cannot be, a position of another owner."""
    for name, values in told.items():
        if len(values) > MOST_NAMED:
            raise refused(name, f"{len(values):,} values", f"at most {MOST_NAMED:,}")
    for actor in told["without_actors"]:
        check_actor(actor, "without_actors")
    ids, seqs = set[str](), set[int]()
    for text in told["without"]:
        if _POSITION.match(text):
            seqs.add(_seq(text, partition))
        else:
            ids.add(text.lower())
    others = (frozenset(told[name]) for name in KINDS[1:])
    return Strikes(frozenset(ids), frozenset(seqs), *others)


def _seq(text: str, partition: int) -> int:
    of, seq = parse_position(text)
    if of != partition:
        raise refused("without", text, f"a position of this owner, whose partition is {partition}: {partition}:seq")
    return seq


def refusal_of(unmet: dict[str, list[str]], partition: int, there: Callable[[str], list[str]]) -> InputError | None:
    """The refusal of what was named and is nowhere, with what is there and most like it; None where all was found."""
    for field, values in unmet.items():
        texts = (position_text(partition, int(one[1:])) if _is_seq(field, one) else one for one in values)
        name = field if field == "without" else f"without_{field}"
        return refused(name, ", ".join(sorted(texts))[:500], _KNOWN_AS[field] + _likest(values[0], there(field)))
    return None


def _likest(value: str, there: Sequence[str]) -> str:
    """The names there are, in order, that are most like one that is not, in words; nothing where there are none."""
    if not there:
        return ""
    first = max(0, min(bisect(there, value) - _COMPARED // 2, len(there) - _COMPARED))
    near = there[first : first + _COMPARED]
    found = get_close_matches(value, near, n=_LIKEST, cutoff=0) if len(there) > _LIKEST else there
    more = f" and {len(there) - len(found):,} more" if len(there) > len(found) else ""
    return f": {', '.join(found)}{more}"[:300]


def _is_seq(field: str, value: str) -> bool:
    return field == "without" and value[:1] == ":" and value[1:].isdigit()


class FoldAsked(NamedTuple):
    """What is struck, and by what is folded."""

    strikes: Strikes
    alone: bool = False
    """Whether nothing is struck but what is named."""
    forced: Mapping[str, ParameterValue] = {}
    law: str | None = None
    offset: int = 0
    most: int = 1_000
    """Which of the struck events are told."""
    ranks: bool = False
    """Whether questions are ranked on both sides."""
    passes_over: bool = False
    """Whether what is named in vain is passed over: of many owners, each has but some of it."""
    asides: tuple[NamedSource, ...] | None = None
    """Sources to be set aside, where it is asked what undoes it all."""


class Replay(NamedTuple):
    """Events folded without those that are struck."""

    seqs: array[int]
    """Of all that were looked at."""
    closure: Closure
    log: StruckLog
    history: OwnerHistory
    undoing: Undoing | None


class Sides(NamedTuple):
    """What is answered, and beside it what would be."""

    snapshot: Snapshot
    """Held while these are."""
    before: Side
    after: Side
    replay: Replay


NOTHING_STRUCK = Closure({}, frozenset(), frozenset(), ())


class Refolder:
    """Folds owners of one store anew. Safe for threads."""

    def __init__(self, reader: Reader, partitions: int) -> None:
        self._reader = reader
        self._partitions = partitions

    @contextmanager
    def sides(self, owner: str, wanted: FoldAsked, times: TimesAsked) -> Iterator[Sides]:
        """What is answered now, or of the past that is asked about, and what would be.

        Raises InputError for what was named in vain. The log is folded while nobody waits for the owner's view; where the owner
        went on meanwhile, once more while it is held.
        """
        with self._reader.snapshot(owner, **times) as snapshot:
            seqs = self._seqs(owner, snapshot)
        replay = self._folded(owner, seqs, wanted, times.get("on_progress"))
        with self._reader.snapshot(owner, **times) as snapshot:
            seqs = self._seqs(owner, snapshot)
            if seqs != replay.seqs:
                replay = self._folded(owner, seqs, wanted, times.get("on_progress"))
            if wanted.ranks:
                snapshot.present.conversation  # noqa: B018 - of which that of what would be is made, and of neither anew
            after = Side(view_beside(snapshot, replay.history), snapshot.now)
            yield Sides(snapshot, Side(snapshot.view, snapshot.now), after, replay)

    def _seqs(self, owner: str, snapshot: Snapshot) -> array[int]:
        return array("q", self._reader.seqs(owner, snapshot))

    def _folded(self, owner: str, seqs: array[int], wanted: FoldAsked, on_progress: Progress | None) -> Replay:
        check, total, partition = current_check(), len(seqs), partition_of(owner, self._partitions)
        weigh(total)
        secret = self._reader.secret(owner)
        begun = Beginning(lambda: RecordsFold(forced=wanted.forced, law=wanted.law, secret=secret))
        closure = NOTHING_STRUCK
        if wanted.strikes.any:
            graph = LogGraph(wanted.strikes)
            for one in counted(self._reader.stored(owner, seqs, _part(on_progress, 0, 2 * total)), check, total):
                event = decode(one.kind, one.body)
                graph.take(one, event)
                begun.take(one, event, graph)
            refusal = None if wanted.passes_over else refusal_of(graph.unmet, partition, graph.there)
            if refusal is not None:
                raise refusal
            closure = graph.close(alone=wanted.alone, check=check)
            del graph
            begun = begun.before(closure, seqs)
        undoing = None
        if wanted.asides is not None:
            models = (NamedSource(principal=one) for one in sorted(closure.principals))
            undoing = Undoing(closure, (*wanted.asides, *models))
        log = StruckLog(closure, partition, wanted.offset, wanted.most, undoing)
        for one, event in begun.to_tell:
            log.keeps(one, event)
        fold, done = begun.fold, begun.events
        passes = 2 if wanted.strikes.any else 1
        told = _part(on_progress, (passes - 1) * total + done, passes * total)
        for one in counted(self._reader.stored(owner, seqs[done:], told), check, total - done):
            event = decode(one.kind, one.body)
            if log.keeps(one, event):
                fold.take(one, event)
        return Replay(seqs, closure, log, packed(fold.history), undoing)


def view_beside(snapshot: Snapshot, history: OwnerHistory) -> OwnerView:
    """What was folded, as a view of the past is made: what is purged or secret today stays so. Asked while the snapshot is held."""
    bounds = Bounds(current_check(), weigh)
    return OwnerView.of_history(snapshot.view.owner, history, present=snapshot.present, bounds=bounds)


def _part(on_progress: Progress | None, first: int, total: int) -> Progress | None:
    """The progress of one pass over the log, or a part of one, where so many steps of all were taken before."""
    if on_progress is None:
        return None
    told: Callable[[int, int], None] = on_progress
    return lambda done, _total: told(first + done, total)


_MOST_BYTES = 1 << 20


def checked_questions(queries: Iterable[str]) -> list[str]:
    """The questions, each once, in their order. Raises InputError for one that is none, or too many."""
    found = list(dict.fromkeys(queries))
    if len(found) > MOST_QUESTIONS:
        raise refused("queries", f"{len(found):,} questions", f"at most {MOST_QUESTIONS}")
    return [check_query(one) for one in found]


def questions_in(path: Path) -> list[str]:
    """The questions in a file, one a line. Raises InputError where it cannot be read, or holds none; empty lines are none."""
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise refused("queries", str(path), f"a file that can be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise refused("queries", str(path), "a file in UTF-8, a question a line") from None
    found = [line.strip() for line in text.splitlines() if line.strip()]
    if len(raw) > _MOST_BYTES or len(found) > MOST_QUESTIONS:
        raise refused("queries", str(path), f"a file of at most {MOST_QUESTIONS} questions, one a line")
    if not found:
        raise refused("queries", str(path), "a file of questions, one a line: this one holds none")
    return found


class Questions:
    """Questions of one call; their vectors are asked for before any view is held."""

    def __init__(self, reader: Reader, owner: str, texts: Sequence[str]) -> None:
        self.texts = texts
        self._reader = reader
        self._asked = {text: reader.question_of(owner, text, {}) for text in texts}

    def rank(self, side: Side, query: str, mode: Mode, limit: int) -> list[str]:
        """Ids of a question's results, the best first: those of `search` with nothing else told."""
        view, question = side.view, self._asked.get(query)
        with_meaning = self._reader.compares_meaning
        request = request_of({}, side.now, view.parameters.time_zone, with_meaning=with_meaning, reasons=False)
        sense = None if question is None else self._reader.sense_of(view, view.owner, question)
        found = search(ViewQuery(view, side.now, mode), query, limit, request, sense)
        return [one["id"] for one in found["results"]]


MOST_DIFFERENCES = 1_000


class ReplayAsked(StrikesAsked, TimesAsked, total=False):
    """What is struck, and which past is asked about."""


class Replayer:
    """Folds an owner's own events anew, as they come from the log, beside the records as they are; writes nothing."""

    def __init__(self, log: EventLog, reader: Reader) -> None:
        self._partitions = log.partitions
        self._reader = reader
        self.refolder = Refolder(reader, log.partitions)

    def replay(
        self,
        owner: str,
        *,
        parameters: Mapping[str, ParameterValue] | None = None,
        profile: str | None = None,
        alone: bool = False,
        queries: Sequence[str] = (),
        mode: str = "review",
        limit: int = 10,
        offset: int = 0,
        most: int = MOST_DIFFERENCES,
        **asked: Unpack[ReplayAsked],
    ) -> Replayed:
        """What differs from what is answered today, or of the past that is asked about.

        Memories that appear or vanish, or stand otherwise; what is struck with what is named, and what stays; the order of the
        results of each question. `limit`: results of a question. `offset`, `most`: which of each list of differences, struck
        events and what stays; totals are told. Raises InputError naming the field, also for what was named in vain.
        """
        check_owner(owner)
        limit, checked = check_limit(limit), check_mode(mode)
        most, offset = check_limit(most, MOST_DIFFERENCES, "most"), max(offset, 0)
        forced = dict(parameters or {})
        for name, value in forced.items():
            check_parameter(name, value)
        if profile is not None:
            check_one_of("profile", profile, LAWS)
        texts = checked_questions(queries)
        told = named_in(asked)
        strikes = strikes_of(told, partition_of(owner, self._partitions))
        times = times_in(asked)
        questions = Questions(self._reader, owner, texts)
        wanted = FoldAsked(strikes, alone, forced, profile, offset, most, bool(texts))
        with self.refolder.sides(owner, wanted, times) as sides:
            answer: dict[str, object] = {
                "owner": owner,
                "set": forced,
                "profile": profile,
                **told,
                "alone": alone,
                "mode": checked,
                **times_answer(times),
                "position": sides.snapshot.position,
                "events": {
                    "today": sides.snapshot.view.state.applied,
                    "replayed": sides.after.view.state.applied,
                },
                **self._differences(sides, checked, offset, most),
                **struck_answer(sides, offset, most),
                **sides.snapshot.told,
            }
            answer["questions"] = _asked(sides, questions, checked, limit)
        return cast("Replayed", answer)

    def _differences(self, sides: Sides, mode: Mode, offset: int, most: int) -> dict[str, object]:
        found, total, names = list[ReplayedDiffer](), 0, Counter[str]()
        for total, one in enumerate(differing(sides.before, sides.after, mode, current_check()), 1):
            names.update(one.names)
            if offset < total <= offset + most:
                found.append(_differ(one, sides, mode))
        return {"differences": found, "changed_fields": dict(names.most_common()), "total": total, "offset": offset}


def times_in(asked: ReplayAsked) -> TimesAsked:
    """The times among what was asked."""
    return cast("TimesAsked", {name: value for name, value in asked.items() if name not in KINDS})


def _differ(one: Difference, sides: Sides, mode: Mode) -> ReplayedDiffer:
    """As answers tell it; the words of what is deleted in debug mode alone, though they would stand without what is struck."""
    memory = sides.before.view.get(one.id) or sides.after.view.get(one.id)
    told = memory is not None and (memory.deleted_at is None or mode == "debug")
    text = text_of(memory) if told else None
    return {"id": one.id, "memory": text, "today": one.before, "replayed": one.after, "fields": list(one.fields)}


def struck_answer(sides: Sides, offset: int, most: int) -> dict[str, object]:
    """What is struck, and what follows from that."""
    log, stays = sides.replay.log, sides.replay.closure.stays
    return {
        "struck": log.struck,
        "struck_total": sum(log.because.values()),
        "struck_because": dict(log.because),
        "stays": stays_told(stays[offset : offset + most], sides.snapshot.partition),
        "stays_total": len(stays),
        "without_effect": log.without_effect,
        "in_its_light": log.in_its_light,
    }


def _asked(sides: Sides, questions: Questions, mode: Mode, limit: int) -> list[QuestionMoved]:
    return list(moved(sides.before, sides.after, questions.texts, mode, limit, current_check(), rank=questions.rank))


Passing = Callable[[str], AbstractContextManager[None]]
"""Within it an owner is looked at in passing (`RedisViews.passing`)."""
LEFT_OUT: tuple[type[EngramlogError], ...] = (NotFound, OwnerErased, OwnerTooLarge, ReadError, FoldError)
"""What keeps one owner from being looked at. Anything else is wrong with the question, the store or this machine."""


class WholeAsked(msgspec.Struct, forbid_unknown_fields=True):
    """What is asked of a whole store; JSON-ready, so that another process can be asked the same."""

    parameters: dict[str, ParameterValue] = {}
    profile: str | None = None
    strikes: dict[str, list[str]] = {}
    alone: bool = False
    queries: list[str] = []
    limit: int = 10
    as_of: str | None = None
    known: str | None = None
    at: str | None = None

    def times(self) -> TimesAsked:
        """The past that is asked about."""
        told = {"as_of": self.as_of, "known": self.known, "at": self.at}
        return {name: value for name, value in told.items() if value is not None}  # type: ignore[return-value]


def whole_asked(
    *,
    parameters: Mapping[str, ParameterValue] | None = None,
    profile: str | None = None,
    alone: bool = False,
    queries: Sequence[str] = (),
    limit: int = 10,
    as_of: str | None = None,
    known: str | None = None,
    at: str | None = None,
    **strikes: Sequence[str],
) -> WholeAsked:
    """The same, checked once for all owners. Raises InputError naming the field."""
    forced = dict(parameters or {})
    for name, value in forced.items():
        check_parameter(name, value)
    if profile is not None:
        check_one_of("profile", profile, LAWS)
    told = {name: sorted(set(values)) for name, values in named_in(strikes).items() if values}
    for text in told.get("without", ()):
        raise refused("without", text, "nothing with --all: an event or a position is one owner's")
    strikes_of(_named(told), 0)
    if not (forced or profile or told):
        raise refused(
            "parameters",
            None,
            "a parameter, a profile or something to leave out: else nothing would be read otherwise",
        )
    texts = checked_questions(queries)
    for field, moment in (("as_of", as_of), ("known", known)):
        parse_line(moment, field)
    if at is not None:
        parse_instant(at)
    return WholeAsked(
        parameters=forced,
        profile=profile,
        strikes=told,
        alone=alone,
        queries=texts,
        limit=check_limit(limit),
        as_of=as_of,
        known=known,
        at=at,
    )


class StoreReplayer:
    """Replays owners one after the other. Safe for threads."""

    def __init__(self, reader: Reader, refolder: Refolder, partitions: int, passing: Passing) -> None:
        self._reader, self._refolder, self._partitions, self._passing = reader, refolder, partitions, passing

    def part(self, owners: Sequence[str], asked: WholeAsked) -> StoreMoved:
        """The figures of these owners. One that cannot be read is counted by why (`LEFT_OUT`), and keeps no other from it.

        Raises what is wrong with more than one owner, and what the question in hand ends for.
        """
        found, check = nothing_of(asked), current_check()
        for number, owner in enumerate(owners):
            check(number, len(owners))
            try:
                with self._passing(owner):
                    found.add(self._one(owner, asked))
            except LEFT_OUT as error:
                found.leaves_out(type(error).__name__)
        return found

    def _one(self, owner: str, asked: WholeAsked) -> StoreMoved:
        strikes = strikes_of(_named(asked.strikes), partition_of(owner, self._partitions))
        ranks, found = bool(asked.queries), nothing_of(asked)
        wanted = FoldAsked(strikes, asked.alone, asked.parameters, asked.profile, 0, 0, ranks, passes_over=True)
        questions = Questions(self._reader, owner, asked.queries)
        with self._refolder.sides(owner, wanted, asked.times()) as sides:
            found.take(owner, sides.before, sides.after, current_check())
            for text, order in found.questions.items():
                one, other = (questions.rank(side, text, MODE, asked.limit) for side in (sides.before, sides.after))
                order.take(one, other)
            found.events = sides.snapshot.view.state.applied
            found.struck = len(sides.replay.closure.struck)
            found.untouched = int(strikes.any and not found.struck)
            found.quarantined = int(sides.snapshot.quarantine is not None)
            found.behind = int(sides.snapshot.quarantine is None and sides.snapshot.behind > 0)
        return found


def nothing_of(asked: WholeAsked) -> StoreMoved:
    """The figures of nobody."""
    return StoreMoved(questions={text: OrderMoved() for text in asked.queries})


def told_of(asked: WholeAsked) -> Mapping[str, Any]:
    """What was asked, as the answer tells it again; JSON-ready."""
    told = msgspec.structs.asdict(asked)
    del told["queries"]
    return {"set": told.pop("parameters"), **told, "mode": MODE}


def _named(strikes: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    told: StrikesAsked = {name: strikes.get(name, ()) for name in KINDS}  # type: ignore[assignment]
    return named_in(told)
