"""Cleaning up by hand: what the lifecycle jobs would do right now, and doing exactly that.

The jobs themselves run by `consumers`, which `api` may not import: `ops.wiring` hands them in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol, cast

from engramlog_server.api.choices import BY_HAND
from engramlog_server.api.requests.checks import check_owner
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.shapes import Cleaned
from engramlog_server.api.work.patience import current_check
from engramlog_server.events.errors import EngramlogError, StoreError, refused
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import partition_of
from engramlog_server.projections.checks import Check
from engramlog_server.projections.embedding.compared import ComparedOfAll
from engramlog_server.projections.lifecycle import COMPARING, JOBS, SUGGEST

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
Progress = Callable[[int, int], None]
Passing = Callable[[str], AbstractContextManager[None]]
MOST_DECISIONS = 10_000
"""Decisions that one answer about all owners tells one by one."""


class RunReport(Protocol):
    """What a job's run came to for one owner."""

    def as_dict(self) -> dict[str, Any]:
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


class Cleaner:
    """Runs lifecycle jobs when asked. Safe for threads."""

    def __init__(
        self,
        lifecycle: Lifecycle,
        owners: Callable[[], list[str]],
        log: EventLog,
        reader: Reader,
        settle: Callable[[Mapping[int, int]], None],
        forget: Callable[[str], object] = lambda _owner: None,
        passing: Passing = lambda _owner: nullcontext(),
    ) -> None:
        """`forget` takes away what is kept of an owner's purged contents beside the records; within `passing` an owner is looked
        at in a walk, and need not be kept in memory after it."""
        self._lifecycle = lifecycle
        self._owners = owners
        self._log = log
        self._reader = reader
        self._settle = settle
        self._forget = forget
        self._passing = passing

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
    ) -> dict[str, Any]:
        """Every owner, one after the other; one that fails is told in `failed` and does not stop the others.

        `counts` counts all. Decisions are told one by one for the first owners, until `MOST_DECISIONS` of them; `left_out` says
        how many more there were. Beyond that an owner takes a few lines of memory, whatever it remembers.

        Raises StoreError where the store cannot be used: then the same can be asked again.
        """
        chosen = check_jobs(jobs)
        owners = self._owners()
        decided: list[dict[str, Any]] = []
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
                    decided.append(answer | {"decisions": answer["decisions"][:room]})
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

    def _run(self, owner: str, dry_run: bool, jobs: Sequence[str], on_progress: Progress) -> dict[str, Any]:
        check = current_check()
        unasked = {**UNASKED, "asked": [], "reviewer": self._lifecycle.reviewer}
        if dry_run:
            return unasked | self._lifecycle.plan(owner, jobs, check=check).as_dict()
        answer = unasked | self._lifecycle.carry_out(owner, jobs, on_progress=on_progress, check=check).as_dict()
        if answer["appended"]:
            partition = partition_of(owner, self._log.partitions)
            self._settle({partition: self._log.head(partition)})
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
