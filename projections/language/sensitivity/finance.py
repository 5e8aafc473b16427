"""Finance words: whether a text states what somebody earns, has, owes, invests or loses, as a figure or as a state. Pure.

The weighted source keeps finance at level 3. Here such words have no level of their own (pay with a figure has 2), because a
secret is neither searched nor shown: an owner's parameter `finance_sensitivity` gives them one.
"""

from __future__ import annotations

import re

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import holds_han

MOST_READ = 4_000
"""Characters of a text that are read."""
_THINGS = (
    r"(?:salary|salaries|wages?|paychecks?|income|earn(?:s|ed|ing|ings)?|bonus|pension|savings?|saved|debts?|owe[sd]?|owing"
    r"|loans?|lent|borrow(?:ed)?|mortgage|overdraft|net worth|invest(?:ed|ment|ments)?|shares|stocks?|bonds?|funds?|portfolio"
    r"|crypto|bitcoin|rent|taxe?s|bank(?: account)?|balance|deposit|inherit(?:ed|ance)?|alimony|credit|assets|insurance|dividends?)"
)
_AMOUNT = (
    r"(?:[$£€¥]\s?\d[\d,.]*\s?(?:k|m|million|thousand)?\b|\d[\d,.]*\s?(?:k\b|grand|dollars|euros?|pounds|bucks|francs|yuan|usd|eur"
    r"|gbp|chf|million|thousand)|\d{1,3}(?:,\d{3})+|(?!(?:19|20)\d\d\b)\d{4,9}(?!\s?(?:people|shares|points|steps|km|miles)))"
)
_ENGLISH = regex(
    rf"\b{_THINGS}\b[^\n.!?]{{0,40}}?(?<![\w-]){_AMOUNT}|(?<![\w-]){_AMOUNT}[^\n.!?]{{0,40}}?\b{_THINGS}\b"
    r"|\b(?:in debt|bankrupt|insolvent|went broke|in arrears)\b",
    re.IGNORECASE,
)
_THINGS_HAN = (
    "(?:工资|月薪|年薪|薪水|薪资|底薪|收入|年终奖|奖金|存款|存了|积蓄|储蓄|定期|贷款|房贷|车贷|欠|债|借|炒股|股票|基金|理财|定投|国债"
    "|租金|房租|公积金|养老金|退休金|生活费|保险|赔|亏|税|余额|身家|资产|遗产|投资|分红|月供|还款)"
)
_AMOUNT_HAN = (
    r"(?:\d[\d,.]*\s?(?:[元块万千亿]|k|美元|美金|欧元|台币|港币)|[一二两三四五六七八九十百千万几]{1,7}(?:[元块万亿]|千(?!克|米|瓦)|台币)"
    r"|[$£€¥]\s?\d[\d,.]*|[一二两三四五六七八九十]{1,3}[万亿])"
)
_CHINESE = regex(
    rf"{_THINGS_HAN}[^。！？\n]{{0,14}}?{_AMOUNT_HAN}|{_AMOUNT_HAN}[^。！？\n]{{0,14}}?{_THINGS_HAN}|破产|负债|欠债|资不抵债"
)


def tells_of_money(text: str) -> bool:
    """Whether a text is about somebody's money, in English or Chinese. It reads the first `MOST_READ` characters."""
    read = text[:MOST_READ]
    return _ENGLISH.search(read) is not None or (holds_han(read) and _CHINESE.search(read) is not None)
