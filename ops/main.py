"""The `engramlog` command: settings from the environment, parts joined, one command run."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from engramlog_server.ops.clients import hook
from engramlog_server.ops.processes.life import look_seldom, overwrite_freed_memory

if TYPE_CHECKING:
    from engramlog_server.api.application import Application


@contextmanager
def _open() -> Iterator[Application]:
    from rich.markup import escape

    from engramlog_server.api.cli.app import err
    from engramlog_server.ops.commands.opening import patient
    from engramlog_server.ops.settings import load_settings
    from engramlog_server.ops.wiring import open_application

    with open_application(load_settings(), on_wait=patient(err)) as application:
        for told in filter(None, (application.recovery, application.mended, application.restored)):
            err.print(f"[bold yellow]{escape(told)}[/]")
        yield application


def _replay_all(given: Mapping[str, Any], **how: Any) -> Mapping[str, Any]:
    from engramlog_server.ops.commands.proof import replay_all

    return replay_all(given, **how)


def _heed_the_end() -> None:
    """As a container's first process, end when told to while this one starts or waits: the kernel keeps a signal from a process 1
    that handles it by no function of its own. What stays handles it in its own way later (`ops.processes.life`)."""
    if os.getpid() == 1:
        signal.signal(signal.SIGTERM, lambda number, _: os._exit(128 + number))


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry of the `engramlog` command; gives its exit code. A hook runs at every prompt, and loads nothing of other commands."""
    if arguments is None and hook.is_call(sys.argv[1:]):
        return hook.main(sys.argv[2:])
    _heed_the_end()
    if (
        arguments is None
        and sys.argv[1:2] in (["up"], ["mcp"])
        and not {"--check", "--config", "--help"} & set(sys.argv)
    ):
        overwrite_freed_memory()  # before anything is imported: it would be imported twice
    from engramlog_server.api.cli.main import run
    from engramlog_server.api.cli.output import take_over
    from engramlog_server.ops.commands.completion import StoreNames
    from engramlog_server.ops.running_service import ask_service
    from engramlog_server.ops.tracebacks import clean_tracebacks

    take_over()
    clean_tracebacks()
    look_seldom()
    return run(_open, arguments, StoreNames(), ask_service, _replay_all)


if __name__ == "__main__":
    sys.exit(main())
