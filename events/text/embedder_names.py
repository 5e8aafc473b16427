"""Names of embedders, as a setting, an owner's parameter and a store tell them. Only names: what they stand for is elsewhere."""

from __future__ import annotations

import re

NONE = "none"
"""Words alone."""
AUTO = "auto"
"""By the letters of an owner's memories: `use` where enough hold others than Latin, else `minilm`."""
STORE = "store"
"""What the process is set to use, else what the store was made with."""
MINILM, USE = "minilm", "use"
BUILT_IN = (MINILM, USE)
"""Run within the process, ask no network, and compute in numpy: an owner may choose them."""
MOST_NAMED = 200
"""Characters of a name."""
RULE = "none, auto, minilm, use, openai:MODEL or package:object"
OWNERS_RULE = "store, none, auto, minilm, use; openai:MODEL, package:object where the process is set to it"
_WORDS = "|".join((NONE, AUTO, *BUILT_IN))
_NAMED = r"[^\x00-\x20\x7f](?:[^\x00-\x1f\x7f]{0,180}[^\x00-\x20\x7f])?"
_DOTTED = r"[A-Za-z_][A-Za-z0-9_]{0,60}(?:\.[A-Za-z_][A-Za-z0-9_]{0,60}){0,7}"
NAMES = rf"^(?:{_WORDS}|openai:{_NAMED}|{_DOTTED}:{_DOTTED})$"
"""As RULE says."""
OWNERS_NAMES = NAMES.replace("(?:none", f"(?:{STORE}|none", 1)
_NAME = re.compile(NAMES[1:-1], re.ASCII)


def is_embedder_name(text: str) -> bool:
    """Whether `text` names an embedder, `none` or `auto`, as RULE says."""
    return len(text) <= MOST_NAMED and _NAME.fullmatch(text) is not None
