"""The reviewer and the finder of patterns that the settings name, where they are models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engramlog_server.consumers.jobs.abstracting import AbstractionJob
from engramlog_server.consumers.jobs.lifecycle import RULE, LifecycleJobs
from engramlog_server.consumers.jobs.reviewing import ReviewJob
from engramlog_server.projections.lifecycle.reviewing_by_model import ModelReviewer
from engramlog_server.projections.models.chat import Chat

ChatOf = Callable[[], Chat]


def lifecycle_of(
    chat: ChatOf | None, reviewer: str, lifecycle: LifecycleJobs, tell: Callable[..., Any], finder: ChatOf | None = None
) -> LifecycleJobs | ReviewJob | AbstractionJob:
    """The lifecycle with a model as its reviewer, or with one that looks for patterns too; itself where rules do both."""
    reviewed: LifecycleJobs | ReviewJob = lifecycle
    if chat is not None and reviewer != RULE:
        reviewed = ReviewJob(lifecycle, lambda: ModelReviewer(chat()), reviewer, tell)
    return reviewed if finder is None else AbstractionJob(reviewed, lifecycle, finder)
