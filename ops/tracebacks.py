"""What nobody caught is printed without the secrets in its URLs."""

from __future__ import annotations

import sys
import threading
from traceback import format_exception
from types import TracebackType

from events.text.urls import without_secrets


def clean_tracebacks() -> None:
    """Have what nobody caught printed as Python does, but for the secrets in its URLs."""

    def printed(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
        sys.stderr.write(without_secrets("".join(format_exception(kind, error, trace))))

    sys.excepthook = printed
    threading.excepthook = lambda told: printed(told.exc_type, told.exc_value, told.exc_traceback)
