"""The reviewer and the finder of patterns that the settings name, where they are models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from consumers.jobs.abstracting import AbstractionJob
from consumers.jobs.lifecycle import RULE, LifecycleJobs
from consumers.jobs.reviewing import ReviewJob
from ops.models import Model
from projections.lifecycle.reviewing_by_model import ModelReviewer


def lifecycle_of(
    model: Model, lifecycle: LifecycleJobs, tell: Callable[..., Any]
) -> LifecycleJobs | ReviewJob | AbstractionJob:
    """The lifecycle with this model as its reviewer, or looking for patterns too; itself where rules do both."""
    chat = model.chat
    reviewed: LifecycleJobs | ReviewJob = lifecycle
    if chat is not None and model.reviewer != RULE:
        reviewed = ReviewJob(lifecycle, lambda: ModelReviewer(chat()), model.reviewer, tell)
    return reviewed if model.finder is None else AbstractionJob(reviewed, lifecycle, model.finder)
