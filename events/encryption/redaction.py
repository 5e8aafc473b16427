"""Errors without the words that they may quote: kinds and places of all, and words only of our own about the store. Pure.

In a sealed store nothing that a person said comes to a log, a terminal or a queue by way of an error that met it.
"""

from __future__ import annotations

from traceback import format_tb
from types import TracebackType

from engramlog_server.events.errors import EngramlogError, StoreError

OF_THE_STORE = (409, 500, 504, 507)
"""Status of errors whose words are our own, about the store, and hold nothing that anybody said."""
ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]


def words_of(error: BaseException) -> str:
    """What an error says where its words are our own about the store; else nothing."""
    ours = isinstance(error, EngramlogError) and (isinstance(error, StoreError) or error.status in OF_THE_STORE)
    return str(error) if ours else ""


def told_by(error: BaseException) -> str:
    """Its kind, with its words where they are our own: one line."""
    words = words_of(error)
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def trace_of(error: BaseException) -> str:
    """The traceback as Python prints it, with those that led to it, but without words that are not ours."""
    told, one, seen = list[str](), error, set[int]()
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        kind, words = type(one), words_of(one)
        name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        frames = "".join(format_tb(one.__traceback__))
        head = f"Traceback (most recent call last):\n{frames}" if frames else ""
        told.append(f"{head}{name}{f': {words}' if words else ''}\n")
        before = one.__cause__ if one.__cause__ or one.__suppress_context__ else one.__context__
        if before is None:
            break
        one = before
    return "\nwhich led to:\n\n".join(reversed(told))


def untold(error: BaseException) -> ExcInfo:
    """The same for what formats errors by itself: another of the same name, at the same place, that says no more."""
    kind = type(error)
    named = type(kind.__name__, (Exception,), {"__module__": kind.__module__, "__qualname__": kind.__qualname__})
    words = words_of(error)
    bare = named(words) if words else named()
    bare.__suppress_context__ = True
    return named, bare, error.__traceback__
