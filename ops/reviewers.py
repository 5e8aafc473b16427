"""The reviewer that the settings name, where it is a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from consumers.jobs.lifecycle import RULE, LifecycleJobs
from consumers.jobs.reviewing import ReviewJob
from ops.models import Model
from projections.lifecycle.reviewing_by_model import ModelReviewer


def lifecycle_of(model: Model, lifecycle: LifecycleJobs, tell: Callable[..., Any]) -> LifecycleJobs | ReviewJob:
    """The lifecycle with this model as its reviewer; itself where the rule reviews."""
    chat = model.chat
    if chat is None or model.reviewer == RULE:
        return lifecycle
    return ReviewJob(lifecycle, lambda: ModelReviewer(chat()), model.reviewer, tell)
