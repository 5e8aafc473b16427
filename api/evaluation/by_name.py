"""An evaluation asked for by names: ranking, mode, law and embedder are checked before anything is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple, get_args

from api.evaluation.blocks import BlockAsked, evaluate_blocks
from api.evaluation.meaning import EvaluationVectors, kept_vectors, vectors_by_letters
from api.evaluation.over_time import MeasuredOverTime, evaluate_over_time
from api.evaluation.search import EvaluationAnswer, EvaluationTerms, Progress, differences, evaluate, read_saved, save
from api.exchange.long_texts import check_way
from api.requests.checks import check_mode, check_ranking, check_search_mode
from api.requests.context_wanted import check_room
from events.errors import refused
from events.parameters import Profile
from events.text.embedder_names import AUTO, MINILM, USE
from projections.embedding.embedder import embedder_named
from projections.embedding.meaning import Embedder
from projections.embedding.names import NAMED
from projections.ranking.search_request import SearchRequest

Watch = Callable[[str], AbstractContextManager[Progress]]
"""Shows how far a named piece of work has come."""


class EvaluationNames(NamedTuple):
    """What is evaluated, as it was told."""

    folder: Path
    ranking: str
    mode: str
    search_mode: str
    embedder: str
    url: str | None
    vectors: Path | None
    profile: str | None
    linked: bool
    later: float
    long_turns: str
    include_faded: bool | None

    def checked(self) -> tuple[SearchRequest, Sequence[Embedder]]:
        """How it is searched, and by which model; `auto` names two. Raises InputError, BadSetting."""
        request = SearchRequest(
            check_ranking(self.ranking), check_search_mode(self.search_mode), include_faded=self.include_faded
        )
        check_mode(self.mode)
        check_way(self.long_turns)
        if self.profile is not None and self.profile not in get_args(Profile):
            raise refused("profile", self.profile, ", ".join(get_args(Profile)))
        if self.search_mode == "keyword":
            return request, ()
        key = os.environ.get("ENGRAMLOG_EMBEDDER_KEY")
        wanted = (MINILM, USE) if self.embedder == AUTO else (self.embedder,)
        models = [made for name in wanted if (made := embedder_named(name, url=self.url, key=key)) is not None]
        if not models and self.search_mode == "semantic":
            raise refused("embedder", self.embedder, f"auto, {NAMED}: semantic compares meanings")
        return request, models

    @contextmanager
    def vectors_of(self, models: Sequence[Embedder]) -> Iterator[EvaluationVectors | None]:
        """Vectors by these models, in the file that was told; None of none."""
        match models:
            case []:
                yield None
            case [one]:
                with kept_vectors(one, self.vectors) as kept:
                    yield kept
            case [latin, other, *_]:
                with vectors_by_letters(latin, other, self.vectors) as by_letters:
                    yield by_letters


Evaluate = Callable[[SearchRequest, Progress, EvaluationTerms], EvaluationAnswer]


def evaluate_named(names: EvaluationNames, watch: Watch, saved: Path | None, against: Path | None) -> EvaluationAnswer:
    """`evaluate`; the answer is saved where that is asked for, and compared with one that was."""

    def searched(request: SearchRequest, on_progress: Progress, terms: EvaluationTerms) -> EvaluationAnswer:
        return evaluate(names.folder, request, check_mode(names.mode), on_progress, **terms)

    return kept_evaluation(names, searched, watch, saved, against)


def evaluate_blocks_named(
    names: EvaluationNames, asked: BlockAsked, watch: Watch, saved: Path | None, against: Path | None
) -> EvaluationAnswer:
    """`evaluate_blocks`, likewise."""
    check_room(asked.budget, asked.threshold)

    def blocks(request: SearchRequest, on_progress: Progress, terms: EvaluationTerms) -> EvaluationAnswer:
        return evaluate_blocks(names.folder, request, asked, on_progress, **terms)

    return kept_evaluation(names, blocks, watch, saved, against)


def kept_evaluation(
    names: EvaluationNames, evaluated: Evaluate, watch: Watch, saved: Path | None, against: Path | None
) -> EvaluationAnswer:
    """What is evaluated of a set by its names, saved where that is asked for, and compared with what was."""
    request, models = names.checked()
    before = None if against is None else read_saved(against)
    with ExitStack() as stack:
        terms: EvaluationTerms = {
            "later_days": names.later,
            "profile": names.profile,
            "linked": names.linked,
            "long_turns": names.long_turns,
            "vectors": stack.enter_context(names.vectors_of(models)),
        }
        on_progress = stack.enter_context(watch("asking"))
        terms["on_embedding"] = stack.enter_context(watch("embedding"))
        answer = evaluated(request, on_progress, terms)
    if saved is not None:
        save(answer, saved)
    if before is not None:
        answer["differences"] = differences(answer, before)
    return answer


def evaluate_named_over_time(names: EvaluationNames, watch: Watch, saved: Path | None) -> MeasuredOverTime:
    """`evaluate_over_time`; refused together with one law or one instant, which it would not keep to."""
    if names.profile is not None or names.later:
        raise refused("over_time", True, "all laws and instants: without profile and later")
    request, models = names.checked()
    with ExitStack() as stack:
        kept = stack.enter_context(names.vectors_of(models))
        answer = evaluate_over_time(
            names.folder,
            request,
            stack.enter_context(watch("asking")),
            linked=names.linked,
            long_turns=names.long_turns,
            vectors=kept,
            on_embedding=stack.enter_context(watch("embedding")),
        )
    if saved is not None:
        save(answer, saved)
    return answer
