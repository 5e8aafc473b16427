"""Level 3: a password or passphrase itself, said in prose or assigned, in English and Chinese.

The word alone never counts; what follows it (or stands before "is my password") must look like a value. What looks like
one depends on the words around: after "my password is" a plain word that ends the clause is enough, in code a literal
must not be a placeholder.
"""

from __future__ import annotations

import re

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN_BLOCK
from engramlog_server.projections.language.sensitivity.reading import Cues, TextReading
from engramlog_server.projections.language.sensitivity.rule import Begun, Rule, found_in_lower, listed
from engramlog_server.projections.language.sensitivity.secrets.said import PASSWORDS

WORDS = Cues(
    listed("password, passwords, passwd, passwds, passphrase, passphrases, passcode, passcodes, pwd, pwds, phrase"),
    PASSWORDS,
)
WORDS_ZH = Cues(["密码", "口令", "通行码"])
_WORD = regex(r"pass(?:word|wd|phrase|code)s?|pwd(?<![a-z0-9]pwd)")
_OWNERS = frozenset(["my", "our", "his", "her", "their", "your"])
_CHANGING = frozenset(["change", "changed", "changing", "set", "reset", "update", "updated", "switched", "made"])
_INVITING = frozenset(["my", "our", "use", "using", "with", "try", "enter", "wifi", "wi-fi"])
_VALUE = (
    r"""(?:["'“‘`](?P<quoted>[^"'”’`\n]{3,64})["'”’`]|(?P<bare>[^\s"'“”‘’`，。；、！？（）]{3,64}))(?P<after>.{0,12})"""
)
_ABOUT = r"(?:\s{1,4}(?:for|to|on|of|at|in)\b[^\n.:=!?;,\"]{0,40}?)?"

# What follows the word, in lower case.
_PROSE = regex(
    rf"{_ABOUT}(?:\s{{1,4}}(?P<link>is|was|are|to|as)|['’]s)\s{{1,4}}"
    rf"(?:(?:now|still|just|simply|currently|actually)\s)?{_VALUE}"
)
_ASSIGNED = regex(rf"(?:[\"'\])]{{0,2}}|{_ABOUT})\s?(?:=>|:=|[:：=])\s{{0,4}}{_VALUE}")
_BESIDE = regex(rf"\s{{1,4}}{_VALUE}")

_ZH_WORD = "(?:密码|口令|通行码)"
_ZH_IS = "(?:就?是|为|[:：=]|叫做?|用的?是?|[改换设](?:成了?|为|置为|置成))"
_ZH_VALUE = r"[\"'“「‘]?(?P<value>[!-~]{4,64})(?P<after>.{0,3})"
_ZH_SAID = regex(rf"{_ZH_WORD}(?!管理)[^,，。;；：:!！?？\n]{{0,12}}?{_ZH_IS}\s?{_ZH_VALUE}")
_ZH_DATE = regex(rf"{_ZH_WORD}{_ZH_IS}[{HAN_BLOCK}]{{1,8}}(?P<value>[0-9]{{6,20}})(?P<after>.{{0,3}})")
_ZH_BESIDE = regex(rf"{_ZH_WORD}\s?[\"“「]?(?P<value>[!-~]{{4,64}})(?P<after>.{{0,3}})")
_ZH_BEFORE = regex(
    r"(?<![!-~])(?P<value>[!-~]{4,64})[”」]?(?P<after>)\s?(?:就?是|为)[我你他她咱]?们?[的家]?[^,，。;；!！?？\n]{0,8}密码"
)
_ZH_UNIT = regex("[位个次年月天秒元块字%]|分钟|加密|算法|字符")

_SEED_PHRASE = Begun(
    "phrase",
    "助记词",
    then=r"[^a-z\n]{0,6}(?:(?:is|was|are|是|为)[^a-z\n]{0,4})?(?:[a-z]{3,8}[ ,，、]{1,2}){11}[a-z]{3,8}\b",
)

# Names of methods and formats, counts, ordinals: they hold digits and are said of passwords.
_TECHNICAL = regex(
    r"(?:sha|md|aes|rsa|des|3des|utf|base|wpa|wep|argon|pbkdf|blake|rfc|iso|oauth|http|v|ed|totp|fido"
    r"|web)[-_]?\d[\w./-]*"
    r"|\d+(?:st|nd|rd|th|x|s|k|am|pm|%|fa|\+)?|\d+-?(?:chars?|characters?|digits?|letters?|bits?|bytes?|days?|months?"
    r"|times?)",
    re.IGNORECASE,
)
_CODE = regex(
    r"(?:pbkdf2|scrypt|argon2|bcrypt|sha)\w*[:$]|[A-Za-z_][\w.]*[(\[]|.*(?:\(\)|=>|->|==|::)|[$<{%*•#&\\/(\[]"
    r"|[*•x._-]+$"
)
_PLACEHOLDER = regex(
    r"your|pass|pwd|secret|example|test|user|admin|change|here|xxx|\*\*|hash|field|input|type|string|require|enter"
    r"|valid"
    r"|confirm|new|old|demo|sample|dummy|root|key|token|login|null|none|true|false|undefined|self|request|hidden|redact"
    r"|encrypt|env|abc",
    re.IGNORECASE,
)
_NO_VALUE_TEXT = """
safe secure strong weak long short good bad great wrong right correct incorrect invalid valid old new gone lost dead
same different unique simple easy hard tough complex random secret private public personal common default unknown
known mine yours fine okay ok ready required optional empty blank missing here there nothing something anything
everything stupid silly obvious terrible awful horrible perfect funny weird case-sensitive sensitive important useless
temporary permanent insecure unsafe working broken garbage rubbish outdated changed expired false true null none
string plaintext somewhere enough today tomorrow yesterday forever again anymore either too perhaps maybe not now
never always also in on at up out off of the a an to by for from with my your his her this that what which it one two
three four five six seven eight nine ten kind type sort like and or stuck stolen weaker stronger longer shorter safer
better worse nonsense history english
"""
_NO_VALUE = frozenset(_NO_VALUE_TEXT.split())
_FUNCTION_WORDS = frozenset(
    ["a", "an", "and", "at", "by", "for", "in", "is", "not", "of", "on", "or", "the", "to", "up", "your"]
)
_ADJECTIVE = regex(r"[a-z]*(?:ed|ing|able|ible|ly|ful|less|ive|ous|ary)", re.IGNORECASE)
_CLAUSE_END = regex(r"\s*(?:$|[.,;!?)\n，。]|and\b|but\b|so\b)")


def says_password(read: TextReading) -> bool:
    """Whether the text holds a password itself, after or before an English word for it."""
    for word in _WORD.finditer(read.lower):
        said_before = read.lower[max(0, word.start() - 80) : word.start()].split()
        near = said_before[-4:]
        changing = not _CHANGING.isdisjoint(near)
        own = any(before in _OWNERS or before.endswith(("'s", "’s")) for before in near)
        prose, assigned = _PROSE.match(read.lower, word.end()), _ASSIGNED.match(read.lower, word.end())
        if prose and _value_in_prose(prose, own, changing):
            return True
        if assigned and (_value_in_prose(assigned, own, changing) if own else _value_in_code(assigned)):
            return True
        beside = _BESIDE.match(read.lower, word.end()) if _INVITING.intersection(near[-3:]) else None
        if (beside and _mixed(_cleaned(beside))) or _told_before(said_before):
            return True
    return False


def _told_before(words: list[str]) -> bool:
    """Whether the words before the word for a password end in "<value> is my ..."."""
    for at in range(max(1, len(words) - 5), len(words) - 1):
        if words[at] in ("is", "was") and words[at + 1] in ("my", "our", "the"):
            return _mixed(words[at - 1].strip("\"'“”‘’`,"))
    return False


def says_password_in_chinese(read: TextReading) -> bool:
    """Whether the text holds a password itself after or before a Chinese word for it."""
    if any(_zh_value(match, letters=True) for match in _ZH_SAID.finditer(read.text)):
        return True
    beside = (*_ZH_BESIDE.finditer(read.text), *_ZH_DATE.finditer(read.text), *_ZH_BEFORE.finditer(read.text))
    return any(_zh_value(match, letters=False) for match in beside)


def _cleaned(match: re.Match[str]) -> str:
    return match["quoted"] or match["bare"].rstrip(".,;:!?)")


def _mixed(value: str) -> bool:
    """Letters with digits, at least five characters, and neither code nor the name of a method."""
    return (
        len(value) >= 5
        and any(c.isdigit() for c in value)
        and any(c.isalpha() for c in value)
        and not _CODE.match(value)
        and not _TECHNICAL.fullmatch(value)
    )


def _value_in_prose(match: re.Match[str], own: bool, changing: bool) -> bool:
    value = _cleaned(match)
    if _CODE.match(value) or len(value) < 4 or "your" in value:
        return False
    # "Password to Windows10" names what it opens; "changed it to ..." says what it is.
    leads_on = match.groupdict().get("link") in ("to", "as")
    if any(c.isdigit() for c in value):
        return (changing or not leads_on) and _digits_or_mixed(value)
    return not leads_on and _plain_words(match, value, own)


def _digits_or_mixed(value: str) -> bool:
    if any(c.isalpha() for c in value):
        return not _TECHNICAL.fullmatch(value)
    return sum(c.isdigit() for c in value) >= 4


def _plain_words(match: re.Match[str], value: str, own: bool) -> bool:
    """Whether a value without digits is one: a passphrase, a sign amid letters, or a last word that is no adjective."""
    words = re.split(r"[\s-]+", value)
    if len(words) >= 4:
        return _FUNCTION_WORDS.isdisjoint(words)
    if any(word in _NO_VALUE or _ADJECTIVE.fullmatch(word) for word in words):
        return False
    if match["quoted"]:
        return own
    if re.search(r"\w[@!#$%^&*+=?~]+\w", value):
        return True
    return own and len(value) >= 5 and len(words) == 1 and _CLAUSE_END.match(_rest(match)) is not None


def _rest(match: re.Match[str]) -> str:
    """What follows the value, with the punctuation that was stripped from it."""
    bare = match["bare"]
    return bare[len(bare.rstrip(".,;:!?)")) :] + match["after"]


def _value_in_code(match: re.Match[str]) -> bool:
    value = _cleaned(match)
    if _CODE.match(value) or _TECHNICAL.fullmatch(value) or _PLACEHOLDER.search(value) or " " in value:
        return sum(c.isdigit() for c in value) >= 4 and value.isdigit()
    if match["quoted"]:
        return len(value) >= 6
    return len(value) >= 5 and _mixed(value)


def _zh_value(match: re.Match[str], letters: bool) -> bool:
    value, after = match["value"].rstrip("\"'.,;:!?)"), match["after"]
    if _ZH_UNIT.match(after) or _CODE.match(value) or len(value) < 4 or "your" in value.lower():
        return False
    if not value.isascii() or sum(c.isdigit() for c in value) >= 4:
        return True
    if any(c.isdigit() for c in value):
        return _mixed(value)
    return letters and len(value) >= 6 and value.lower() not in _NO_VALUE and not _PLACEHOLDER.search(value)


RULES = (
    Rule("password", 3, says_password, WORDS),
    Rule("password-zh", 3, says_password_in_chinese, WORDS_ZH),
    Rule("recovery-phrase", 3, found_in_lower(_SEED_PHRASE), Cues(WORDS, ["助记词"])),
)
