"""The `engramlog` command: settings from the environment, parts joined, one command run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from api.cli.app import err, run
from ops.commands.completing import StoreNames
from ops.tracebacks import clean_tracebacks

if TYPE_CHECKING:
    from api.application import Application
    from projections.models.chat import Chat


@contextmanager
def _open() -> Iterator[Application]:
    from rich.markup import escape

    from ops.commands.notices import patient
    from ops.settings import load_settings
    from ops.wiring import open_application

    with open_application(load_settings(), on_wait=patient(err)) as application:
        for told in filter(None, (application.recovery, application.mended)):
            err.print(f"[bold yellow]{escape(told)}[/]")
        yield application


def _model() -> Callable[[], Chat] | None:
    from ops.models import chat_of
    from ops.settings import load_settings

    return chat_of(load_settings())


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry of the `engramlog` command; gives its exit code."""
    clean_tracebacks()
    return run(_open, arguments, _model, StoreNames())


if __name__ == "__main__":
    sys.exit(main())
