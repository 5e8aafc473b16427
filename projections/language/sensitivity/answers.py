"""Level 3: answers to security questions, passphrases of plain words, words agreed with a bank, an alarm company or a school."""

from __future__ import annotations

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN_BLOCK
from engramlog_server.projections.language.sensitivity.rule import Cues, Piece, Words, about, either, listed, one_of

QUESTIONS = Cues(Words("answers_questions"))
ASKED = Cues(Words("answers_asked"))
"""What such questions ask for; each also stands in harmless talk, so an answer must be told just after the question mark."""

ANSWERS = Cues(listed("answer is, answer's"))
_WHO_ASKS = regex(
    r"\b(?:bank|chase|lady|guy|rep|agent|insurance|pharmacy|they|support|teller|help ?desk)\b"
    r"[^.\n]{0,12}\basks?\b[^.\n]{0,48}$"
)
_SAID_TO_THEM = regex(
    r"(?: (?:it is|it's|its|that it's|is))?:? [\"']?(?!I |We |The |No\b|Yes\b|To |That |You |He |She )[A-Z][a-z]{2,}"
)

QUESTIONS_ZH = Cues(listed("密保, 安全问题, 密码提示, 找回问题, 安全提问, 验证问题, 保护问题"))
_ABOUT = regex(lambda: one_of("answers_about"))
_ANSWER = regex(
    lambda: (
        r"(?:->|\u2192|answer(?:s|ed)?"
        r"(?: (?:on file|they have|we set|i set|i gave|i put|there))?(?: (?:is|with|as)|\s?[:=])|\?\s?\"?|=\s)\s?[\"']?(?!"
        + one_of("answers_answer")
        + r")(?P<value>[a-z0-9])"
    )
)
_ABOUT_SAID = regex(
    lambda: (
        one_of("answers_about") + r"[^\n.;]{0,40}?(?:->|\u2192|:|=| is| was| (?:and|but|so) it(?:'s|s| is)|\?)\s?[\"']?"
        r"(?!what|the |not|a |and|to )[a-z0-9]{3,}"
    )
)
_TOLD_AT_ONCE = regex(
    r"(?:\s?(?:is|was|:|=|->|\u2192)|,?\s(?:i |we )(?:put|used|said|gave|chose)|[\"']?,?\s(?:put|answer|enter|type))\s?[\"']?"
    r"(?!what|the |not|a |and|to |wrong|too "
    r"|easy|case|required|hidden|stored|never|in |on |known|broken|null|none|missing|incorrect|invalid)"
    r"[a-z0-9]{3,}"
)
_ON_FILE = regex(r"answer (?:on file|they have|we set|i set|i gave|i put)?\s?(?:is|was|[:=])\s?[a-z]{3,}")
_NAMED = regex(r",?\s[A-Z][a-z]{2,}")
_MAIDEN = regex(
    r"(?:(?:that |which )?(?:they|the bank|we|i) (?:have|hold|gave|use|put|used)(?: on file| down)? (?:is |was )"
    r"|is |was |\u2192 ?|-> ?|: ?|= ?|for [^.,\n]{3,30}(?: is |: ?))[\"']?(?!what|the |not |a |asked|required"
    r"|used|hard|easy|spell|long|short|common|never|so |very|too |from|changed|different|unknown|on |in |also)[a-z]{3,}"
)
_ANSWER_ZH = regex(
    r"(?:→|->|[:=](?=[^:=\n]{2,})|答案?[是为:]?|叫|[填写](?:的?是?)?|是)\s?(?P<value>[^\s。,!?;:]{2,24})"
)
_ANSWERED_ZH = regex(rf"(?:答案|(?<![a-z])a\s?:)\s?[是为填写:]?\s?(?!什么|哪|忘|是|不|错)[{HAN_BLOCK}]{{2,12}}")
_SPACED_ZH = regex(f"(?:问题)?\\s[{HAN_BLOCK}]{{3,14}}\\s(?:答案?\\s?)?[{HAN_BLOCK}]{{2,8}}(?:$|[,\\s])")
_ASKED_ZH = regex("什么|哪|谁|怎么|吗|找回|用来|为了|忘|几|多少|不|设置|修改|验证")


_ANSWERED = regex(
    lambda: (
        r"[^?\n]{0,40}\?\s{0,2}(?:a[:=]\s?|answer[:=]?\s?|ans[:=]?\s?|it's |it is |-+>?\s?|\u2192\s?)?[\"']?"
        rf"(?!{one_of('answers_no_answer')})[a-z0-9]"
    )
)
_OPENS = regex(lambda: one_of("answers_opens"))


def _said_to_them(piece: Piece) -> bool:
    """Whether an answer was given to a bank or somebody else who asked."""
    return _WHO_ASKS.search(piece.before) is not None and _SAID_TO_THEM.match(piece.text, piece.end) is not None


def _answer_in(piece: Piece) -> bool:
    if piece.word == "maiden name":
        answer = _MAIDEN.match(piece.after.lstrip()) or _ON_FILE.search(piece.after)
        return bool(answer or (_OPENS.search(piece.lower) and _NAMED.match(piece.text, piece.end)))
    if (piece.word.endswith("answer") or "answer to" in piece.before) and _TOLD_AT_ONCE.match(piece.after):
        return True
    return any((_ANSWER.search(piece.after), _ABOUT_SAID.search(piece.after), _told_at_once(piece)))


def _answer_to(piece: Piece) -> bool:
    opens = _OPENS.search(piece.lower) is not None
    return opens and any((_ANSWERED.match(piece.after), _TOLD_AT_ONCE.match(piece.after)))


def _answer_in_chinese(piece: Piece) -> bool:
    sentence = piece.after.split("。")[0]
    if _ANSWERED_ZH.search(piece.lower) or ((spaced := _SPACED_ZH.match(sentence)) and not _ASKED_ZH.search(spaced[0])):
        return True
    answers = () if sentence.startswith(("手机", "卡", "邮箱")) else _ANSWER_ZH.finditer(sentence)
    return any(not _ASKED_ZH.search(match["value"]) for match in answers)


def _told_at_once(piece: Piece) -> bool:
    """`first car for the security q: blue Corolla`."""
    return _ABOUT.search(piece.before) is not None and _TOLD_AT_ONCE.match(piece.after) is not None


PHRASES = Cues(listed("passphrase, passphrases"))
AGREED = Cues(Words("answers_agreed"))
AGREED_ZH = Cues(listed("暗语, 暗号, 口令, 密语"))
_IS = r"(?:\s(?:is|was|are)(?:\snow|\sstill)?\s?:?|\s?[:=]|\s?(?:->|\u2192))\s{0,2}"
_PHRASE = regex(
    rf"(?:\s(?:on|for|to|of|at|in)\s[^.,:;=!?\n]{{1,36}}?)?(?P<link>{_IS})(?P<open>\"?)"
    r"(?P<value>[a-z'-]{1,14}(?: [a-z'-]{1,14}){2,9})"
    r"(?=\s{0,2}(?:$|[.!\"\n(,;]))"
)
_SPOKEN_OF = Words("answers_spoken_of")
"""A sentence that begins with one of these is about a passphrase; it is none."""
_ABOUT_A_PHRASE = regex(lambda: one_of("answers_about_a_phrase"))
_WORD = regex(
    rf"(?:\s(?:for|with|at|of|on)\s[^.,:=\n]{{1,28}}?)?{_IS}[\"']?"
    rf"(?P<value>[a-z][a-z'-]{{3,24}}(?: [a-z'-]{{2,16}}){{0,3}})[\"']?\s{{0,2}}(?:$|[.,;!)\n]|and\b)"
)
_QUOTED = regex(r"[^.\n]{0,24}?\"(?P<value>[a-z][a-z' -]{3,32})\"")
_ASKED = regex(either("ask, asks, word, say, tell, give, code, password, question"))
_SAID_ZH = regex("[报说答念]一?[下个句]?$")
_AFTER_ZH = regex(
    rf"(?:就?[报说答念]|就?是|[:=])?\s?(?:\"[{HAN_BLOCK}a-z]{{2,12}}\"|[ :][{HAN_BLOCK}]{{2,8}}(?=$|[\s,。!;\n]))"
)
_REPORTED_ZH = regex(
    rf"(?:就|要)?(?:说|答|报|念)(?:的?是)?(?:\"[{HAN_BLOCK}]{{2,12}}\"|\s[{HAN_BLOCK}]{{2,8}}(?=$|[\s,。!;\n]))"
)


def _phrase_in(piece: Piece) -> bool:
    phrase = _PHRASE.match(piece.after)
    if phrase is None or _ABOUT_A_PHRASE.search(phrase["value"]):
        return False
    words = phrase["value"].split()
    long_or_quoted = len(words) >= 4 or phrase["open"]
    plainly = phrase["open"] or phrase["link"].strip()[-1:] in ":=>" or "\u2192" in phrase["link"]
    return bool(long_or_quoted and plainly and words[0] not in _SPOKEN_OF and words[-1] not in _SPOKEN_OF)


def _agreed_in(piece: Piece) -> bool:
    if piece.word.endswith(("company", "people", "centre", "center", "banking")):
        quoted = _QUOTED.match(piece.after)
        return quoted is not None and _ASKED.search(piece.lower) is not None
    agreed = _WORD.match(piece.after)
    return (
        agreed is not None
        and agreed["value"].split()[0] not in _SPOKEN_OF
        and not agreed["value"].startswith(("a ", "the "))
    )


def _agreed_in_chinese(piece: Piece) -> bool:
    if _SAID_ZH.search(piece.before) and _AFTER_ZH.match(piece.after):
        return True
    return _REPORTED_ZH.match(piece.after) is not None


RULES = (
    about("security-answer", QUESTIONS, _answer_in, before=40, after=110),
    about("security-answer", ANSWERS, _said_to_them),
    about("security-answer", ASKED, _answer_to, before=64),
    about("security-answer", QUESTIONS_ZH, _answer_in_chinese, before=24, after=72),
    about("password", PHRASES, _phrase_in),
    about("password", AGREED, _agreed_in),
    about("password", AGREED_ZH, _agreed_in_chinese, before=16, after=32),
)
