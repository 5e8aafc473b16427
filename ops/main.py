"""The `engramlog` command: settings from the environment, parts joined, one command run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.markup import escape

from api.application import Application
from api.cli import (
    alarms,
    chats,
    cleaning,
    comparing,
    context,
    dead,
    embedding,
    episodes,
    evaluating,
    evaluating_pairs,
    extracting,
    facts,
    grounds,
    knowing,
    living,
    reading,
    records,
    searching,
    standing,
    synonyms,
    writing,
)
from api.cli.app import err, run
from ops import commands, commands_upgrade
from ops.bench import command as bench
from ops.logs import clean_tracebacks
from ops.models import chat_of
from ops.notices import patient
from ops.settings import load_settings
from ops.wiring import open_application
from projections.models.chat import Chat

FACES = (
    reading,
    searching,
    standing,
    writing,
    records,
    comparing,
    knowing,
    facts,
    synonyms,
    grounds,
    context,
    living,
    chats,
    cleaning,
    embedding,
    dead,
    alarms,
    evaluating,
    evaluating_pairs,
    extracting,
    episodes,
    commands,
    commands_upgrade,
    bench,
)
"""Modules whose commands register themselves on the application when they are imported."""


@contextmanager
def _open() -> Iterator[Application]:
    with open_application(load_settings(), on_wait=patient(err)) as application:
        for told in filter(None, (application.recovery, application.mended)):
            err.print(f"[bold yellow]{escape(told)}[/]")
        yield application


def _model() -> Callable[[], Chat] | None:
    return chat_of(load_settings())


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry of the `engramlog` command; gives its exit code."""
    clean_tracebacks()
    return run(_open, arguments, _model)


if __name__ == "__main__":
    sys.exit(main())
