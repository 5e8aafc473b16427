"""Lifecycle jobs by hand: cleaning up, episodes, extraction and vectors; what a run would do right now, and doing exactly that.

The jobs themselves run by `consumers`, which `api` may not import: `ops.wiring` hands them in. See docs/explanation/extraction.md
and docs/explanation/context.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from threading import Lock
from typing import Any, Protocol, cast
from zlib import crc32

from engramlog_server.api.checks import Progress, check_one_of, check_owner
from engramlog_server.api.choices import BY_HAND, MODEL, RULES
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.work import current_check
from engramlog_server.events.catalogue import MemoryCreated
from engramlog_server.events.errors import (
    BadSetting,
    ConcurrencyError,
    EmbedderFailed,
    EngramlogError,
    StoreError,
    refused,
)
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import partition_of
from engramlog_server.events.text import NONE, RULE
from engramlog_server.projections.checks import Check
from engramlog_server.projections.embedding.choosing import SETTING, ComparedOfAll
from engramlog_server.projections.language.sensitivity.level import detect_sensitivity
from engramlog_server.projections.lifecycle import COMPARING, JOBS, SUGGEST, Decision
from engramlog_server.projections.lifecycle.extraction import read_again, verdicts
from engramlog_server.projections.lifecycle.judge.statements import Verdict
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.redis.vectors import Meanings
from engramlog_server.projections.shapes import Cleaned, Episode, Extracted, Left, StatedTriple, Statement, Used
from engramlog_server.projections.views.query import moment
from engramlog_server.projections.views.view import WITHHELD

UNASKED: Mapping[str, Any] = {
    "left_open": 0,
    "held_back": 0,
    "requests": 0,
    "input_tokens": 0,
    "output_tokens": 0,
    "failure": None,
    "abstraction": None,
    "compared": None,
}
"""What is told of models that were not asked, beside who reviews, and of vectors that were not compared."""
Passing = Callable[[str], AbstractContextManager[None]]
Settle = Callable[[Mapping[int, int]], None]
"""Waits until positions (partition -> seq) are folded."""
MOST_DECISIONS = 10_000
"""Decisions that one answer about all owners tells one by one."""


class RunReport(Protocol):
    """What a job's run came to for one owner."""

    def as_dict(self) -> Mapping[str, Any]:
        """JSON-ready, with `owner`; the other fields depend on the job."""


class Lifecycle(Protocol):
    """Plans an owner's lifecycle jobs and carries them out."""

    @property
    def reviewer(self) -> str:
        """Who answers in a review: rule, or model and which."""

    def plan(self, owner: str, jobs: Sequence[str], *, check: Check) -> RunReport:
        """What the jobs would do, and nothing else. `check` is asked between the steps, and may end it."""

    def carry_out(self, owner: str, jobs: Sequence[str], *, on_progress: Progress, check: Check) -> RunReport:
        """Plan and append; what is appended when `check` ends it stays. Raises ConcurrencyError, OwnerQuarantined or StoreError."""


class ByHand:
    """A job that is run when asked; what it appended is folded before it answers."""

    def __init__(self, log: EventLog, settle: Settle) -> None:
        self._log, self._settle = log, settle

    def _level(self, owner: str) -> None:
        """Have everything of the owner's partition folded."""
        partition = partition_of(owner, self._log.partitions)
        if head := self._log.head(partition):
            self._settle({partition: head})


class Cleaner(ByHand):
    """Runs lifecycle jobs when asked. Safe for threads."""

    def __init__(
        self,
        lifecycle: Lifecycle,
        owners: Callable[[], list[str]],
        log: EventLog,
        reader: Reader,
        settle: Settle,
        forget: Callable[[str], object] = lambda _owner: None,
        passing: Passing = lambda _owner: nullcontext(),
    ) -> None:
        """`forget` takes away what is kept of an owner's purged contents beside the records; within `passing` an owner is looked
        at in a walk, and need not be kept in memory after it."""
        super().__init__(log, settle)
        self._lifecycle, self._owners, self._reader = lifecycle, owners, reader
        self._forget, self._passing = forget, passing

    def clean(
        self,
        owner: str,
        *,
        dry_run: bool = False,
        jobs: Sequence[str] = BY_HAND,
        on_progress: Progress = lambda _done, _total: None,
    ) -> Cleaned:
        """One owner: what was decided, or with `dry_run` what would be, which changes nothing and leaves no trace.

        Raises OwnerQuarantined where the owner's state stands still, ConcurrencyError where it never does.
        """
        chosen = check_jobs(jobs)
        answer = self._run(check_owner(owner), dry_run, chosen, on_progress)
        with self._reader.snapshot(owner) as snapshot:
            kept_days = snapshot.view.parameters.deleted_kept_days
        return cast("Cleaned", {**answer, "dry_run": dry_run, "jobs": chosen, "kept_days": kept_days})

    def clean_all(
        self,
        *,
        dry_run: bool = False,
        jobs: Sequence[str] = BY_HAND,
        on_progress: Progress = lambda _done, _total: None,
    ) -> Mapping[str, Any]:
        """Every owner, one after the other; one that fails is told in `failed` and does not stop the others.

        `counts` counts all. Decisions are told one by one for the first owners, until `MOST_DECISIONS` of them; `left_out` says
        how many more there were. Beyond that an owner takes a few lines of memory, whatever it remembers.

        Raises StoreError where the store cannot be used: then the same can be asked again.
        """
        chosen = check_jobs(jobs)
        owners = self._owners()
        decided: list[Mapping[str, Any]] = []
        failed: list[dict[str, str]] = []
        counts: Counter[str] = Counter()
        compared = ComparedOfAll()
        told = left_out = 0
        for done, owner in enumerate(owners, 1):
            try:
                with self._passing(owner):
                    answer = self._run(owner, dry_run, chosen, lambda _done, _total: None)
            except StoreError:
                raise
            except EngramlogError as error:
                failed.append({"owner": owner, "error": type(error).__name__, "message": error.message})
            else:
                counts.update(answer["counts"])
                compared.add(answer["compared"])
                if answer["decisions"] or answer["asked"] or answer["abstraction"]:
                    room = max(MOST_DECISIONS - told, 0)
                    left_out += max(len(answer["decisions"]) - room, 0)
                    told += min(len(answer["decisions"]), room)
                    decided.append({**answer, "decisions": answer["decisions"][:room]})
            on_progress(done, len(owners))
        return {
            "dry_run": dry_run,
            "jobs": chosen,
            "reviewer": self._lifecycle.reviewer,
            "owners": len(owners),
            "counts": dict(counts),
            "decided": decided,
            "left_out": left_out,
            "failed": failed,
            "compared": compared.told() if SUGGEST in chosen else None,
        }

    def _run(self, owner: str, dry_run: bool, jobs: Sequence[str], on_progress: Progress) -> Mapping[str, Any]:
        check = current_check()
        unasked = {**UNASKED, "asked": [], "reviewer": self._lifecycle.reviewer}
        if dry_run:
            return {**unasked, **self._lifecycle.plan(owner, jobs, check=check).as_dict()}
        told = self._lifecycle.carry_out(owner, jobs, on_progress=on_progress, check=check).as_dict()
        answer = {**unasked, **told}
        if answer["appended"]:
            self._level(owner)
            if answer["counts"].get("purge"):
                self._forget(owner)
        return answer


def check_jobs(jobs: Sequence[str]) -> list[str]:
    """The names of lifecycle jobs, in the order in which they run, or InputError."""
    known = (*JOBS, *COMPARING)
    for name in jobs:
        if name not in known:
            raise refused("job", name, ", ".join(known))
    if not jobs:
        raise refused("jobs", [], "at least one of " + ", ".join(known))
    return [name for name in known if name in jobs]


class EpisodeReport(RunReport, Protocol):
    """What a run did for one owner."""

    @property
    def decisions(self) -> Sequence[Decision]:
        """What was decided, in the order in which it was said."""


class EpisodePlanner(Protocol):
    """Plans what an owner's sessions leave behind and carries it out."""

    def plan(self, owner: str, *, check: Check) -> EpisodeReport:
        """What a run would do, without asking a model. `check` is asked between the steps, and may end it."""

    def carry_out(self, owner: str, *, on_progress: Progress, check: Check) -> EpisodeReport:
        """Plan and append; what is appended when `check` ends it stays.

        Raises ConcurrencyError, OwnerQuarantined, BadSetting or StoreError.
        """


class Episodes(ByHand):
    """Has an owner's sessions leave their episodes. Safe for threads."""

    def __init__(self, planner: EpisodePlanner, log: EventLog, settle: Settle) -> None:
        super().__init__(log, settle)
        self._planner = planner

    def make(self, owner: str, *, dry_run: bool = False, on_progress: Progress = lambda _done, _total: None) -> Left:
        """Episodes that fall due and uses that are not noted yet; with `dry_run` what would be, which changes nothing.

        Running it again, or after it was killed, does nothing twice. Raises OwnerQuarantined where the owner's state stands
        still, ConcurrencyError where it never does.
        """
        check_owner(owner)
        check = current_check()
        if dry_run:
            left = self._planner.plan(owner, check=check)
        else:
            left = self._planner.carry_out(owner, on_progress=on_progress, check=check)
        answer = {name: value for name, value in left.as_dict().items() if name != "decisions"}
        if answer["appended"]:
            self._level(owner)
        made = {one.action: [each for each in left.decisions if each.action == one.action] for one in left.decisions}
        counts = dict(Counter(one.action for one in left.decisions))
        episodes = [_episode(one) for one in made.get("summarise", ())]
        uses = [_used(one) for one in made.get("use", ())]
        return cast("Left", answer | {"dry_run": dry_run, "counts": counts, "episodes": episodes, "uses": uses})


def _used(made: Decision) -> Used:
    assert made.said_at is not None, "it follows from what was said"
    return {
        "memory_id": made.ids[0],
        "session": made.session,
        "at": moment(made.said_at),
        "reason": made.reason,
    }


def _episode(made: Decision) -> Episode:
    data = made.data
    assert isinstance(data, MemoryCreated), "episodes are memories"
    assert made.said_at is not None, "of what was said"
    return {
        "memory_id": data.memory_id,
        "session": made.session,
        "content": WITHHELD if detect_sensitivity(data.content) >= SECRET else data.content,
        "turns": list(data.source_turns),
        "at": moment(made.said_at),
        "reason": made.reason,
    }


WAYS = (RULES, MODEL)
LOCKS = 64
"""Owners that share a lock wait for one another, which harms nobody."""
WAIT_SECONDS = 20.0


class Extraction(Protocol):
    """Reads the turns of an owner, by rules or by a model."""

    def extract(self, owner: str, *, stop: Callable[[], bool], on_progress: Progress, check: Check) -> RunReport:
        """Append what follows from the unread turns. A model is asked no more once `stop` says so; `check` may end it anywhere,
        and what was appended until then stays."""

    def rehearse(self, owner: str, *, check: Check) -> tuple[list[Verdict], RunReport]:
        """By a model: what the next turns would become."""


class Extractor(ByHand):
    """Has the turns of an owner become typed memories. Safe for threads."""

    def __init__(
        self,
        ways: Mapping[str, Extraction],
        log: EventLog,
        reader: Reader,
        settle: Settle,
    ) -> None:
        """`ways`: rules, and model where one is configured."""
        super().__init__(log, settle)
        self._ways, self._reader = ways, reader
        self._one_at_a_time = tuple(Lock() for _ in range(LOCKS))

    def rehearse(self, owner: str, by: str = RULES) -> Extracted:
        """What the unread turns would become, and why; appends nothing and leaves no trace. A model is asked about the next ten.

        Raises BadSetting where a model is meant and none is configured, ModelFailed.
        """
        way = self._way(by)
        self._level(check_owner(owner))
        told: Mapping[str, object] = {"by": RULES}
        if by == MODEL:
            found, ran = way.rehearse(owner, check=current_check())
            answer = ran.as_dict()
            told = {name: answer[name] for name in ("by", "read", "left", "usage")}
        with self._reader.snapshot(owner) as snapshot:
            if by == RULES:
                snapshot.view.naming = self._log.naming(owner)
                found = verdicts(snapshot.view, self._log.now(), check=current_check(), alike=self._reader.alike)
            answer = {
                "owner": owner,
                "dry_run": True,
                "counts": dict(Counter(one.operation.lower() for one in found)),
                "statements": [_told(one) for one in found],
                "position": snapshot.position,
            }
        return cast("Extracted", {**answer, **told, **snapshot.told})

    def extract(
        self,
        owner: str,
        by: str = RULES,
        *,
        stop: Callable[[], bool] = lambda: False,
        on_progress: Progress = lambda _done, _total: None,
    ) -> Extracted:
        """Append what follows from the unread turns. Running it again, or after it was killed, does nothing twice.

        A model that fails ends the run with `trouble`, and `left` turns for the next one; so does `stop`, asked before each piece
        of turns that a model reads. Raises BadSetting where a model is meant and none is configured, OwnerQuarantined where the
        owner's state stands still, ConcurrencyError where it never does, or where another run here does not end.
        """
        way = self._way(by)
        self._level(check_owner(owner))
        with self._alone(owner):
            answer = way.extract(owner, stop=stop, on_progress=on_progress, check=current_check()).as_dict()
        if answer["appended"]:
            self._level(owner)
        return cast("Extracted", {"owner": owner, "dry_run": False, **answer})

    def read_again(self, owner: str) -> Mapping[str, Any]:
        """What all turns would become by the rules of today, whoever read them first; appends nothing and leaves no trace.

        `counts` has what would change, `skip` what is known or not kept, and `gone`: memories that were drawn from these turns, and
        would not be. Raises StoreError.
        """
        self._level(check_owner(owner))
        with self._reader.snapshot(owner) as snapshot:
            snapshot.view.naming = self._log.naming(owner)
            found = read_again(snapshot.view, self._log.now(), current_check())
            counts = Counter(one.operation.lower() for one in found.verdicts)
            if found.gone:
                counts["gone"] = len(found.gone)
            return {
                "owner": owner,
                "dry_run": True,
                "again": True,
                "by": RULES,
                "read": found.turns,
                "counts": dict(counts),
                "statements": [_told(one) for one in found.verdicts],
                "gone": found.gone,
                "position": snapshot.position,
                **snapshot.told,
            }

    @contextmanager
    def _alone(self, owner: str) -> Iterator[None]:
        """One run of an owner after the other: two at once would ask a model twice about the same turns."""
        lock = self._one_at_a_time[crc32(owner.encode()) % LOCKS]
        if not lock.acquire(timeout=WAIT_SECONDS):
            raise ConcurrencyError(f"turns of owner {owner} are being read already; ask again later", owner=owner)
        try:
            yield
        finally:
            lock.release()

    def _way(self, by: str) -> Extraction:
        check_one_of("by", by, WAYS)
        if by not in self._ways:
            raise BadSetting(
                "no language model is configured: set ENGRAMLOG_MODEL, and ENGRAMLOG_MODEL_URL or _KEY", setting="model"
            )
        return self._ways[by]


def _told(verdict: Verdict) -> Statement:
    """A verdict, JSON-ready; nothing of a secret."""
    said = verdict.statement
    secret = detect_sensitivity(said.content) >= SECRET
    triple = None if said.triple is None or secret else cast("StatedTriple", said.triple._asdict())
    return {
        "operation": verdict.operation,
        "reason": verdict.reason,
        "turn_id": verdict.turn_id,
        "memory_id": verdict.memory_id,
        "other": verdict.other,
        "content": WITHHELD if secret else said.content,
        "category": said.category,
        "kind": said.kind,
        "polarity": said.polarity,
        "asserted": said.asserted,
        "confidence": said.confidence,
        "keywords": [] if secret else list(said.keywords),
        "triple": triple,
        "span": list(said.span),
    }


def nothing_to_embed_with() -> BadSetting:
    """What is raised where words alone count."""
    return BadSetting(
        f"{SETTING}: got none, so there is nothing to embed with; allowed: {RULE}; or give the owner's parameter embedder",
        setting=SETTING,
    )


def _within(on_progress: Progress, before: int, owners_left: int, done: int, total: int) -> None:
    """How far all owners are, by one of them."""
    on_progress(before + done, before + total + owners_left)


class VectorJob(Protocol):
    """Computes an owner's missing vectors, and drops those that no memory needs."""

    def carry_out(self, owner: str, *, on_progress: Progress) -> RunReport:
        """Raises EmbedderFailed where the embedder is down, or StoreError; what was done stays."""


class Embeddings(ByHand):
    """Vectors by hand. Safe for threads. `job` and `meanings` are None where no embedder is configured."""

    def __init__(
        self,
        job: VectorJob | None,
        meanings: Meanings | None,
        owners: Callable[[], list[str]],
        log: EventLog,
        settle: Settle,
    ) -> None:
        super().__init__(log, settle)
        self._job, self._meanings, self._owners = job, meanings, owners

    def embed(self, owner: str, *, on_progress: Progress = lambda _done, _total: None) -> Mapping[str, Any]:
        """Compute what is missing for one owner, after everything of it is folded.

        Raises BadSetting without an embedder, EmbedderFailed where it is down; what was embedded by then stays.
        """
        job = self._configured()
        self._level(check_owner(owner))
        answer = job.carry_out(owner, on_progress=on_progress).as_dict()
        if answer["chosen"] == NONE:
            raise nothing_to_embed_with()
        return answer

    def embed_all(self, *, on_progress: Progress = lambda _done, _total: None) -> Mapping[str, Any]:
        """The same for every owner. An owner that fails is in `failed` and does not stop the others. `on_progress` gets how
        many texts are done and how many are known so far, with one for each owner still to come.
        """
        job = self._configured()
        heads = {number: self._log.head(number) for number in range(self._log.partitions)}
        self._settle({number: head for number, head in heads.items() if head})
        owners = self._owners()
        counts = dict.fromkeys(("embedded", "dropped", "already", "left"), 0)
        models = Counter[str]()
        failed: list[dict[str, str]] = []
        done = 0
        for left, owner in zip(range(len(owners), 0, -1), owners, strict=True):
            on_progress(done, done + left)
            try:
                within = partial(_within, on_progress, done, left - 1)
                answer = job.carry_out(owner, on_progress=within).as_dict()
            except (StoreError, EmbedderFailed):
                raise
            except EngramlogError as error:
                failed.append({"owner": owner, "message": error.message})
            else:
                models.update([answer["model"]] if answer["model"] else [])
                counts = {name: count + answer[name] for name, count in counts.items()}
                failed += [{"owner": owner, **one} for one in answer["failed"]]
                done += answer["embedded"]
        if not (models or failed or self._meanings is None or self._meanings.embedders.plan.embeds):
            raise nothing_to_embed_with()
        model = next(iter(models)) if len(models) == 1 else None
        return {"model": model, "models": dict(models), "owners": len(owners), **counts, "failed": failed}

    def _configured(self) -> VectorJob:
        if self._job is None:
            raise nothing_to_embed_with()
        return self._job
