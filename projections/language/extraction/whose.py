"""Of whom a statement tells: of its speaker, or of one of his people or animals. Word lists, no model."""

from __future__ import annotations

import re

from projections.language.extraction.chinese_shapes import one_of_ours
from projections.language.extraction.english_shapes import one_of_mine


def told_of_others(content: str, name: str | None) -> bool:
    """Whether a statement's subject is one of its speaker's people or animals: "Ann's dad collects stamps", 用户的女儿五岁."""
    return any(
        re.match(rf"(?:[^,，]{{1,40}}[,，] ?)?{re.escape(who)}(?:'s {one_of_mine()}|的?{one_of_ours()})", content)
        for who in ((name,) if name else ("User", "用户"))
    )
