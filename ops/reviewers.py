"""The reviewer that the settings name, where it is a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from consumers.jobs.lifecycle import RULE, LifecycleJobs
from consumers.jobs.reviewing import ReviewJob
from projections.lifecycle.reviewing_by_model import ModelReviewer
from projections.models.chat import Chat


def lifecycle_of(
    chat: Callable[[], Chat] | None, reviewer: str, lifecycle: LifecycleJobs, tell: Callable[..., Any]
) -> LifecycleJobs | ReviewJob:
    """The lifecycle with a model as its reviewer; itself where the rule reviews."""
    if chat is None or reviewer == RULE:
        return lifecycle
    return ReviewJob(lifecycle, lambda: ModelReviewer(chat()), reviewer, tell)
