"""Recognise settings that name an embedder, without loading it. Pure."""

from __future__ import annotations

from typing import Literal, get_args

from engramlog_server.events.text import is_embedder_name

EmbedderKind = Literal["none", "minilm", "use", "openai", "imported"]

_KINDS: dict[str, EmbedderKind] = {kind: kind for kind in get_args(EmbedderKind) if kind != "imported"}
NAMED = "minilm, use, openai:MODEL or package:object"
"""What names an embedder, shortly."""
ALLOWED = (
    "none, minilm, use, openai:MODEL, "
    "package:object (an Embedder of one's own, or what makes one, by where Python imports it from)"
)


def embedder_kind(setting: str) -> tuple[EmbedderKind, str] | None:
    """What kind of embedder a setting names, and what stands after its colon; None where it names no single one.

    `imported` runs code by its name, which is then the whole setting: it is for whoever starts the process to set, never for
    what a store holds.
    """
    before, colon, name = (part.strip() for part in setting.partition(":"))
    told = f"{before}{colon}{name}"
    if not is_embedder_name(told):
        return None
    if before in _KINDS:
        kind = _KINDS[before]
        return (kind, name) if bool(colon) == (kind == "openai") else None
    return ("imported", told) if colon else None
