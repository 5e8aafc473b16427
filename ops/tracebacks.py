"""What nobody caught is printed without the secrets in its URLs, and in a process of a sealed store without anybody's words."""

from __future__ import annotations

import resource
import sys
import threading
from traceback import format_exception
from types import TracebackType

from engramlog_server.events.errors import told_by, trace_of
from engramlog_server.events.text import without_secrets


class _Words:
    """Whether what errors quote is told. One a process, which has one store open."""

    told = True


def log_words(told: bool) -> None:
    """From here on errors are told with all that they say, or, of a sealed store, with their kinds and places alone.

    A process of a sealed store leaves no core file either: its memory has words, and keys that open them.
    """
    _Words.told = told
    if not told:
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def words_are_logged() -> bool:
    """Whether errors are told with all that they say."""
    return _Words.told


def reason_of(error: BaseException) -> str:
    """Why, in a line: the kind of an error, with what it says where that is told."""
    return f"{type(error).__name__}: {error}" if _Words.told else told_by(error)


def traced(error: BaseException) -> str:
    """The traceback as it is printed."""
    return without_secrets("".join(format_exception(error)) if _Words.told else trace_of(error))


def clean_tracebacks() -> None:
    """Have what nobody caught printed as Python does, but for the secrets in its URLs and words that are not told."""

    def printed(kind: type[BaseException], error: BaseException | None, _trace: TracebackType | None) -> None:
        sys.stderr.write(f"{kind.__name__}\n" if error is None else traced(error))

    sys.excepthook = printed
    threading.excepthook = lambda told: printed(told.exc_type, told.exc_value, told.exc_traceback)
