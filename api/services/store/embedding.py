"""Vectors of an owner's memories when asked: how many there are, and computing what is missing.

The job itself runs by `consumers`, which `api` may not import: `ops.wiring` hands it in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol

from engramlog_server.api.requests.checks import check_owner
from engramlog_server.api.services.cleaning import Progress, RunReport
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.shapes import Embedding
from engramlog_server.events.errors import BadSetting, EmbedderFailed, EngramlogError, StoreError
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import partition_of
from engramlog_server.events.text.embedder_names import NONE, RULE
from engramlog_server.projections.embedding.choosing import SETTING
from engramlog_server.projections.redis.meanings import Meanings, nothing_compared


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


class Embeddings:
    """Vectors by hand. Safe for threads. `job` and `meanings` are None where no embedder is configured."""

    def __init__(
        self,
        job: VectorJob | None,
        meanings: Meanings | None,
        owners: Callable[[], list[str]],
        log: EventLog,
        reader: Reader,
        settle: Callable[[Mapping[int, int]], None],
    ) -> None:
        self._job = job
        self._meanings = meanings
        self._owners = owners
        self._log = log
        self._reader = reader
        self._settle = settle

    def coverage(self, owner: str) -> Embedding:
        """How many of an owner's memories have a vector, of how many that hold text; `model` is null without an embedder."""
        with self._reader.snapshot(check_owner(owner)) as snapshot:
            meanings = self._meanings
            told = nothing_compared(snapshot.view) if meanings is None else meanings.coverage(snapshot.view, owner)
            return {"owner": owner, **told, "position": snapshot.position, **snapshot.told}

    def embed(self, owner: str, *, on_progress: Progress = lambda _done, _total: None) -> dict[str, object]:
        """Compute what is missing for one owner, after everything of it is folded.

        Raises BadSetting without an embedder, EmbedderFailed where it is down; what was embedded by then stays.
        """
        job, partition = self._configured(), partition_of(check_owner(owner), self._log.partitions)
        self._fold([partition])
        answer = job.carry_out(owner, on_progress=on_progress).as_dict()
        if answer["chosen"] == NONE:
            raise nothing_to_embed_with()
        return answer

    def embed_all(self, *, on_progress: Progress = lambda _done, _total: None) -> dict[str, object]:
        """The same for every owner. An owner that fails is in `failed` and does not stop the others. `on_progress` gets how
        many texts are done and how many are known so far, with one for each owner still to come.
        """
        job = self._configured()
        self._fold(range(self._log.partitions))
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

    def _fold(self, partitions: range | list[int]) -> None:
        heads = {number: self._log.head(number) for number in partitions}
        self._settle({number: head for number, head in heads.items() if head})
