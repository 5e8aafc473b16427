"""Caches that hold words of texts, so that a process can empty all of them once something was erased."""

from __future__ import annotations

import sys
from functools import _lru_cache_wrapper
from typing import Protocol
from weakref import WeakSet

_PACKAGE = __name__.partition(".")[0] + "."


class HoldsTexts(Protocol):
    """An object that keeps texts, or words of them."""

    def forget(self) -> None:
        """Keep none of them any more. From any thread."""
        ...


_HOLDERS = WeakSet[HoldsTexts]()


def holds_texts(holder: HoldsTexts) -> None:
    """Have `empty_caches` empty it too, as long as it lives."""
    _HOLDERS.add(holder)


def empty_caches() -> None:
    """Empty every bounded cache of our modules, and what was told to `holds_texts`."""
    for name, module in list(sys.modules.items()):
        if name.startswith(_PACKAGE):
            for value in list(vars(module).values()):
                if isinstance(value, _lru_cache_wrapper) and value.cache_parameters()["maxsize"] is not None:
                    value.cache_clear()
    for holder in list(_HOLDERS):
        holder.forget()
