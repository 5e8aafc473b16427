"""Words by which a question says where to look or how to answer, not what about: `mentioned`, `across our conversations`. Pure.

They are searched for as all words are, and count less: a summary is asked for in words that no turn to be summarised holds.
"""

from __future__ import annotations

from functools import cache

from engramlog_server.projections.language.text import tokens

_ENGLISH = """
mention mentioned tell told conversation conversations chat chats discuss discussed discussion discussions talk talked
remember recall brought up walk through throughout across during earlier previous previously ever order sessions
summary summarize summarise overview comprehensive detailed brief list item items aspects different only give
"""
_CHINESE = "提到 提过 聊过 聊到 说过 讨论 告诉 记得 对话 总结 概括 列出 列举"


@cache
def framing_terms() -> frozenset[str]:
    """Their terms, as a text is searched by them; of a Chinese word its pair of characters."""
    return frozenset(tokens(_ENGLISH)) | frozenset(_CHINESE.split())
