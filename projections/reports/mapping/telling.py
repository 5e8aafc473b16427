"""Which words tell what memories are about: no times, numbers, addresses, captions or roles, nobody only spoken to. Pure."""

from __future__ import annotations

import re
from functools import cache

from engramlog_server.projections.language.lexicon import words
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN
from engramlog_server.projections.language.times.names import MONTH, WEEKDAYS

_MONTH_OR_DAY = rf"(?:{MONTH}|{'|'.join(WEEKDAYS)})"
_NO_LETTERS = regex(r"[\d\W_]+")
_TIME = regex(
    rf"(?:\d[\d\s.:,/-]*(?:am|pm|st|nd|rd|th|h|min|s|years?|days?|hours?|weeks?|months?)?|{_MONTH_OR_DAY})"
    rf"(?:[\s,]+(?:\d[\d.:,/-]*(?:am|pm|st|nd|rd|th)?|{_MONTH_OR_DAY}))*"
)
_UNITS_CHINESE = "年|月|日|号|天|周|星期|礼拜|点|时|分|秒|小时|分钟"
_TIME_CHINESE = regex(
    rf"[第上下本今明昨前后]?[\d一二三四五六七八九十百零两几]*(?:{_UNITS_CHINESE})[\d一二三四五六七日天末]*[份间钟候]?"
)
_DATE_FIRST = regex(r"\d{1,4}[-/.年]\d{1,2}")
_ADDRESS = regex(r"@|://|\bwww\.|\.(?:com|org|net|cn|io|edu|gov|html?|jpe?g|png|gif|webp|pdf)\b")
_CAPTION_TEXT = """
    photo photos photograph photographs photography picture pictures pic pics image images snapshot screenshot
    照片 图片 图像 截图 相片
"""
_CAPTION = frozenset(_CAPTION_TEXT.split())
"""What captions of pictures begin with. Who takes photographs talks of them in other places of a sentence."""
_BRACKETED = r"\[[^\]\n]{0,40}?(?:image|photo|picture|图片|照片)[^\]\n]{0,400}\]"
_IN_CAPTIONS = regex(rf"{_BRACKETED}|(?:{'|'.join(sorted(_CAPTION))})\s+(?:of|showing|with)\b")
_ROLES = frozenset({"user", "users", "assistant", "ai", "chatbot", "bot", "用户", "助手", "助理", "机器人"})
_GREETING = r"(?:hey|hi|hello|thanks|thank you|bye|wow|yeah|yes|no|oh|sorry|congrats|great|cool|你好|您好|谢谢|亲爱的|好的|再见)"
_VAGUE_TEXT = """
    background foreground front side middle bit kind sort lot way stuff thing moment time today tomorrow yesterday week weekend
    month year day night morning evening lately recently chance point part place idea mmm hmm haha wow yum
    不能 不用 不会 想想 看看 试试 有着 带上 截然不同 很感兴趣 感兴趣 了不起 好好 继续下去 及时处理 今天天气 时刻 时候 小时 时间 方面
    知道 后感 在读 美的 好吃 好看 成为 变得 不同 重要 有趣 有意思 更好 一起 大家
    事情 东西 样子 地方 身边 陪伴着 面对 新开 打发 会花
    想法 感觉 问题 情况 内容 方式 建议 今天 明天 昨天 最近 时期
"""
_VAGUE = frozenset(_VAGUE_TEXT.split())
"""Words that say something beside others and nothing by themselves."""


def is_timeless(word: str) -> bool:
    """Whether a keyword is more than a time, a number, or the address of a page, file or person."""
    told = word.lower()
    return not (
        _NO_LETTERS.fullmatch(told)
        or _TIME.fullmatch(told)
        or _TIME_CHINESE.fullmatch(told)
        or _ADDRESS.search(told)
        or _DATE_FIRST.match(told)
    )


def is_of_captions(word: str, text: str) -> bool:
    """Whether a keyword is what captions begin with, and stands in this text in nothing else."""
    told = word.lower()
    if next(iter(told.split()), "") not in _CAPTION:
        return False
    left = _IN_CAPTIONS.sub(" ", text.lower())
    return told not in left


def names_nothing(word: str) -> bool:
    """Whether a word is no name of anything by itself: a role of who speaks, or a word that says nothing alone."""
    parts = word.lower().split()
    return all(part in _ROLES or part in _VAGUE for part in parts) or (len(word) == 1 and not word.isascii())


@cache
def _surnames() -> frozenset[str]:
    return frozenset(words("surnames", "chinese"))


def is_called(word: str, text: str) -> bool:
    """Whether somebody of this name is only spoken to in a text, or says who he is: no name of what is talked about."""
    told = word.lower()
    if told.isascii():
        return " " not in told and _called_english(told).search(text.lower()) is not None
    if not 2 <= len(told) <= 4 or not (told[0] in _surnames() or len(told) == 2):
        return False
    return _name(told).search(text.lower()) is not None


def _name(word: str) -> re.Pattern[str]:
    told = re.escape(word)
    before = "" if word[0] in _surnames() else f"[{HAN}]?"
    called = rf"(?:^|[。！？!?\n\]]\s*|{_GREETING}[，,！! ]?\s*){before}{told}(?=[，,！!。~：:]|$)"
    return re.compile(rf"{called}|(?:我叫|我是|名字是|名叫|叫做){before}{told}")


def _called_english(word: str) -> re.Pattern[str]:
    told = re.escape(word)
    return re.compile(rf"\b{_GREETING},? {told}\b|, {told}[!.?]|\b(?:my name is|i'm|i am|call me) {told}\b")
