"""The shapes of answers: mypy reads them in `shapes.pyi`, which `make client` makes. At run time an answer is a plain dict."""

from __future__ import annotations


def __getattr__(name: str) -> type[dict[str, object]]:
    """Any shape: to import one costs nothing, and nothing is checked."""
    if name.startswith("_"):
        raise AttributeError(name)
    return dict
