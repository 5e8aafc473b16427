"""Level 3: the answer to a security question, which opens an account as a password does; in English and Chinese."""

from __future__ import annotations

import re

from projections.sensitivity_beside import pieces
from projections.sensitivity_rule import Rule, Sign, either, listed

QUESTIONS = listed("""
    security question, security questions, security answer, security answers, security q, secret question
    secret answer, recovery question, challenge question, verification question, maiden name
""")
QUESTIONS_ZH = listed("密保, 安全问题, 密码提示, 找回问题, 安全提问, 验证问题, 保护问题")
_ABOUT = either("""
    pet, dog, cat, car, school, street, teacher, mother, mom, mum, father, city, town, born, nickname, friend
    grandmother, grandfather, book, movie, team, concert, job, boss, kiss, crush, spouse, sibling, childhood
""")
_ANSWER = re.compile(
    r"(?:->|\u2192|answer(?:s|ed)?(?: (?:is|with|as)|\s?[:=])|\?\s?\"?|=\s)\s?[\"']?(?!"
    + either("""
    what, which, who, where, how, a, not, too, so, broken, wrong, required, optional, outdated, insecure, useless
    asked, your, is, it
    """)
    + r")(?P<value>[a-z0-9])"
)
_ABOUT_SAID = re.compile(
    _ABOUT + r"[^\n.;]{0,40}?(?:->|\u2192|:|=| is| was|\?)\s?[\"']?(?!what|the |not|a |and|to )[a-z0-9]{3,}"
)
_MAIDEN = re.compile(
    r"(?:is |was |\u2192 ?|-> ?|: ?|= ?|for [^.,\n]{3,30}(?: is |: ?))[\"']?(?!what|the |not |a |asked|required|used)[a-z]{3,}"
)
_ANSWER_ZH = re.compile(
    r"(?:→|->|[:=](?=[^:=\n]{2,})|答案?[是为:]?|叫|[填写](?:的?是?)?|是)\s?(?P<value>[^\s。,!?;:]{2,24})"
)
_ASKED_ZH = re.compile("什么|哪|谁|怎么|吗|找回|用来|为了|忘|几|多少|不|设置|修改|验证")


def says_an_answer(text: str, lower: str) -> bool:
    """Whether the answer to a security question is told."""
    for piece in pieces(text, lower, QUESTIONS, before=40, after=110):
        if piece.word == "maiden name":
            if _MAIDEN.match(piece.after.lstrip()):
                return True
        elif _ANSWER.search(piece.after) or _ABOUT_SAID.search(piece.after):
            return True
    for piece in pieces(text, lower, QUESTIONS_ZH, before=24, after=72):
        told = piece.after.split("。")[0]
        answers = () if told.startswith(("手机", "卡", "邮箱")) else _ANSWER_ZH.finditer(told)
        if any(not _ASKED_ZH.search(match["value"]) for match in answers):
            return True
    return False


RULES = (Rule("security-answer", 3, Sign.QUESTION | Sign.ZH_SECRET, says_an_answer),)
