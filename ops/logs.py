"""Structured logs: one line per fact, JSON where nobody looks on, colours where somebody does."""

from __future__ import annotations

import logging
import re
import sys
from typing import Any, Literal

from engramlog_server.api.checks import masked_all
from engramlog_server.api.choices import program_version
from engramlog_server.events.text import HIDDEN, without_secrets
from engramlog_server.ops.tracebacks import clean_tracebacks, traced, words_are_logged

NO_RICH = "rich" not in sys.modules
"""Whether this process prints no tables: then structlog, which would import Rich for tracebacks, does without (4 MB)."""
if NO_RICH:
    # An import of it fails then, as where it is not installed.
    sys.modules["rich"] = None  # type: ignore[assignment]
try:
    import structlog
finally:
    if NO_RICH:
        del sys.modules["rich"]

Component = Literal["supervisor", "api", "worker", "lifecycle", "mcp", "command"]
"""Who tells a line: an `up` (its API, and its schedule of jobs, by their own names), a fold worker, a job worker, an MCP server, or
a command."""
SILENT_FIELDS = frozenset({"content", "summary", "text", "query", "correction", "body"})
"""Fields that never reach a log line: they may hold what somebody said."""
OWN_FIELDS = frozenset({"url", "exc_info"})
"""Fields that hold nobody's words: addresses of this process, whose passwords `_without_secrets` takes, and exceptions."""


def _without_contents(_logger: Any, _method: str, fields: structlog.typing.EventDict) -> structlog.typing.EventDict:
    for name in SILENT_FIELDS & fields.keys():
        fields[name] = "[not logged]"
    return fields


def _without_told_secrets(_logger: Any, _method: str, fields: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Ids, reasons and refusals are producers' texts too."""
    return {name: one if name in OWN_FIELDS else masked_all(one) for name, one in fields.items()}


def _without_quotes(_logger: Any, _method: str, fields: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Of a sealed store an error's traceback tells kinds and places: what it quotes may be somebody's words."""
    error = fields.get("exc_info")
    if not error or words_are_logged():
        return fields
    del fields["exc_info"]
    error = sys.exc_info()[1] if error is True else error[1] if isinstance(error, tuple) else error
    return fields if error is None else {**fields, "exception": traced(error)}


def _without_secrets(_logger: Any, _method: str, fields: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """No URL of a line shows its password: neither a fact's nor one in an error's text or a traceback."""
    for name, value in fields.items():
        if isinstance(value, str):
            fields[name] = without_secrets(value)
        elif "://" in (told := str(value)):
            fields[name] = without_secrets(told)
    return fields


def _visible(_logger: Any, _method: str, fields: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Controls in what is told are spelled out: a terminal must not obey what an id or an error quotes."""
    return {name: _spelled(value) for name, value in fields.items()}


def _spelled(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() and value.isprintable() else HIDDEN.sub(_spelled_out, value)
    return value if isinstance(value, int | float | bool) or value is None else HIDDEN.sub(_spelled_out, str(value))


def _spelled_out(found: re.Match[str]) -> str:
    return found[0] if found[0] in "\n\t" else found[0].encode("unicode_escape").decode()


def _by(component: str, version: str | None) -> Any:
    """Which part of which release tells a line; what a part says of itself stays (`api` of an `up`)."""
    named = {"component": component} | ({} if version is None else {"version": version})

    def named_too(_logger: Any, _method: str, fields: structlog.typing.EventDict) -> structlog.typing.EventDict:
        return {**named, **fields} if version is None else {**named, **fields, "version": version}

    return named_too


def start_logging(level: str = "info", *, component: Component = "command", pretty: bool | None = None) -> None:
    """Configure structlog for this process. Log lines go to standard error, answers to standard output.

    Every line has its `component`; every one of JSON the `version` too, which a terminal is too narrow for.
    """
    clean_tracebacks()
    pretty = sys.stderr.isatty() if pretty is None else pretty
    renderer: Any = structlog.processors.JSONRenderer(sort_keys=False)
    if pretty:  # narrow, so that most lines fit into 80 columns
        renderer = structlog.dev.ConsoleRenderer(pad_event_to=18, pad_level=False)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            _by(component, None if pretty else program_version()),
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%H:%M:%S" if pretty else "iso", utc=not pretty),
            _without_contents,
            _without_secrets,
            _without_told_secrets,
            _without_quotes,
            structlog.processors.format_exc_info,
            _without_secrets,
            *([_visible] if pretty else []),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.WriteLoggerFactory(
            file=sys.stderr
        ),  # a line in one piece: several processes write here
        cache_logger_on_first_use=False,
    )


def teller(**context: Any) -> Any:
    """`tell(fact, **context)` for the parts that report facts: a warning where `alarm` is set.

    A part of a process that has a name of its own says so in `component`.
    """
    log = structlog.get_logger().bind(**context)

    def tell(fact: str, *, alarm: bool = False, **facts: Any) -> None:
        (log.warning if alarm else log.info)(fact, **facts)

    return tell
