"""Whether a statement is said of now: words for a while that ends, and for an earlier or a later time, in English and Chinese.

"I live in Paris for the summer" and "In 2010, I moved to Boston" say little about where somebody lives. A sentence often
says this next to the clause that states something: `set_in` and `limited_to` read it there.
"""

from __future__ import annotations

import re

from engramlog_server.projections.language.patterns import regex

_SEASON = r"(?:summer|winter|spring|autumn|fall|semester|term|holidays?|season|weekend|week|month|year|time being|moment|present)"
_SPAN = r"(?:days?|nights?|weeks?|months?|semesters?|terms?|summers?|winters?|years?)"
_SOME = r"(?:an?|one|two|three|four|five|six|\d{1,3}|a few|a couple of|several|some|a short)"
_FOR_A_TIME = regex(
    rf"\b(?:temporar\w+|for now\b|for (?:the|this|next) (?:next |whole |entire )?{_SEASON}|for {_SOME} {_SPAN}(?! now)"
    rf"|until|till|(?:over|during) the {_SEASON}|this (?:summer|winter|spring|autumn|fall|semester|term|season)"
    rf"|next {_SEASON}|in (?:the )?(?:summers?|winters?|springtime|autumn)\b|(?:on|at) (?:the )?weekends?|on weekdays"
    r"|part[- ]time|(?:half|part) (?:of )?the|sometimes"
    r"|on (?:an? )?(?:exchange|vacation|holiday|assignment|sabbatical|business))\b"
    "|暂时|临时|暂住|借住|短期|过渡|平时|周末|期间|直到|为止|出差|暑假|寒假|假期|夏天|冬天|春天|秋天|学期|明年|下个?月"
    "|这(?:段时间|几[天周]|几个月)"
    "|(?<!延后|推迟|提前|往后)[一二两三四五六七八九十几半\\d](?:天|周|个?星期|个月)"
    "(?![前初底份]|以前|之前|[一二两三四五六七八九十几\\d]+[顿次杯回片粒])",
    re.IGNORECASE,
)
_EARLIER = regex(
    r"\b(?:(?:years?|decades?|long) ago|last (?:year|decade)|years? (?:before|earlier)|when (?:they|I|my|their)\b"
    r"|as an? (?:\w+ )?(?:kid|child|teen\w*|student|boy|girl)|used to|previously|formerly|at (?:the )?age|back then"
    r"|at the time|in (?:my|their|the) (?:childhood|youth|teens|twenties|thirties|college|student|\d\ds)"
    r"|during (?:college|school|university))\b"
    "|去年|前年|年前|小时候|以前|之前|从前|曾|当时|那时|那年|的时候|年轻时|岁时",
    re.IGNORECASE,
)
_YEAR = regex(r"(?<!since )(?<![\d.,-])((?:19|20)\d\d)(?![\d.,]*\d|-\d)(?!年?(?:以来|起|开始|至今))")
_SET_IN = regex(
    r"(?:and |but |so |well |oh )?(?:(?:back )?in (?:[a-z]+ |the (?:early |late |mid )?)?(?:19|20)?\d\ds?"
    r"|(?:back )?when I was [^,.]{1,40}|as an? (?:\w+ )?(?:kid|child|teen\w*|student|boy|girl)|back then"
    rf"|for {_SOME} {_SPAN}|(?:for|over|during) the [a-z]+|last (?:year|summer|winter)|(?:\w+ )?\w+ years? ago"
    rf"|this (?:summer|winter|spring|autumn|fall|semester|term)|next {_SEASON}|until [^,.]{{1,30}}|in my [a-z]+)",
    re.IGNORECASE,
)
_LIMITED_TO = regex(
    r"(?:and |but |though |although )?(?:it's |that's |this is )?(?:only |just )?(?:"
    rf"for (?:{_SOME}|the|now|this|next)\b(?: [\w]+){{0,3}}|temporarily|until [^,.]{{1,30}}|back in (?:19|20)\d\d"
    r"|in (?:19|20)\d\d|when I was [^,.]{1,40}|(?:\w+ )?\w+ years? ago)",
    re.IGNORECASE,
)
_SET_IN_CHINESE = regex(
    "(?:在)?(?:(?:19|20)\\d\\d年(?:\\d{1,2}月)?(?:的时候|时|那年)?|小时候|以前|从前|当时|那时候?|去年|前年|年轻时"
    "|[几一二两三四五六七八九十多\\d]+年前|我?[一二两三四五六七八九十\\d]+岁(?:时|的时候|那年)|明年|暂时|临时"
    "|(?:上?大学|高中|初中|小学|工作)(?:时|期间|的时候)|(?:这个?|今年|去年)?(?:暑假|寒假|夏天|冬天|学期)(?:期间|里)?)"
)
_LIMITED_TO_CHINESE = regex(
    "(?:不过|但是?|而且)?(?:只是|就|只)?(?:暂时|临时|短期|(?:住|待|呆)(?:到|[一二两三四五六七八九十几半\\d])"
    "|(?:这个?|一个)?(?:暑假|寒假|夏天|冬天|学期))[^，。]{0,10}"
)
_MARKS = " ,.!;:，。！；：…"


def for_a_time(text: str) -> bool:
    """Whether a statement is said of a while that ends, or of a part of the time."""
    return _FOR_A_TIME.search(text) is not None


def of_earlier(text: str, year: int | None) -> bool:
    """Whether a statement is said of an earlier time than `year`, the one in which it was said; None: any year may be."""
    if _EARLIER.search(text) is not None:
        return True
    return any(year is None or int(found[1]) < year for found in _YEAR.finditer(text))


def of_another_time(text: str, year: int | None) -> bool:
    """Whether a statement is said of a while that ends, or of an earlier time than `year`."""
    return for_a_time(text) or of_earlier(text, year)


def set_in(before: str) -> str:
    """The time in which the next clause is set, where a clause says nothing else: "In 2010"; else an empty string."""
    said = before.strip(_MARKS)
    whole = _SET_IN.fullmatch(said) or _SET_IN_CHINESE.fullmatch(said)
    return said if whole else ""


def limited_to(after: str) -> str:
    """The time to which the clause before is limited, where a clause says nothing else: "but only for the summer"."""
    said = after.strip(_MARKS)
    whole = _LIMITED_TO.fullmatch(said) or _LIMITED_TO_CHINESE.fullmatch(said)
    return said if whole else ""
