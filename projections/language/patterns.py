"""Regular expressions that are compiled at first use: a process that reads no text pays for none.

The rules of both languages are some 600 expressions, and compiling them takes 0.3 s of CPU, which every command paid for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

_WAYS = tuple(name for name in dir(re.Pattern) if not name.startswith("_") and name != "pattern")


def regex(pattern: str | Callable[[], str], flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` gives, compiled when it is first asked for anything but its `pattern`.

    `pattern`: a function where it is made of words that are read at first use. A pattern that is none raises `re.error` only
    when it is compiled: a test compiles all of them.
    """
    return cast("re.Pattern[str]", Later(pattern, flags))


class Expression:
    """Stands for a compiled expression, with the methods of the compiled one."""

    def __init__(self, pattern: str | Callable[[], str], flags: int) -> None:
        self._pattern = pattern
        self._flags = flags

    @property
    def pattern(self) -> str:
        """The expression as written."""
        return self._pattern if isinstance(self._pattern, str) else self._pattern()

    def __repr__(self) -> str:
        return f"regex({self.pattern!r})"


class Later(Expression):
    """An expression that was not used yet. At its first use it becomes an `Expression`: a class with `__getattr__` looks every
    attribute up half as fast."""

    def __getattr__(self, name: str) -> Any:
        if name not in _WAYS:
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        compiled = re.compile(self.pattern, self._flags)
        for way in _WAYS:
            setattr(self, way, getattr(compiled, way))
        self.__class__ = Expression  # type: ignore[assignment]
        return getattr(compiled, name)
