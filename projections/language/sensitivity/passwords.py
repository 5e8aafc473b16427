"""Level 3: words that let somebody in: passwords, passphrases, answers to security questions, words agreed with a bank or a school.

How alike a value must be to a password depends on how plainly the words announce one: after "my password is" a plain word that ends
the clause is enough, in code a literal must not be a placeholder.
"""

from __future__ import annotations

import re

from engramlog_server.projections.language.patterns import HAN_BLOCK, regex
from engramlog_server.projections.language.sensitivity.rule import (
    DICTATED,
    DICTATED_ZH,
    SPOKEN,
    STAND_IN,
    TOKEN,
    Begun,
    Cues,
    Piece,
    Rule,
    Sign,
    TextReading,
    Words,
    about,
    either,
    found_in_lower,
    listed,
    may_be_strong,
    one_of,
    random_letters,
    strength,
    strength_told,
    word_with_digits,
)

PASSWORDS = Cues(Words("passwords_passwords"))
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
_NEVER_IN_A_PHRASE = frozenset(
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
        return _NEVER_IN_A_PHRASE.isdisjoint(words)
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


WORDS_KEPT = Cues(Words("passwords_words_kept"))
"""Words whose value may be any word: a bank's, a nursery's, a network's."""
_WIRELESS = regex(either("wi-?fi, network, ssid, hotspot, router, wpa2?, modem"))
# Between the word and its value: "for the router is now", " ->", "'s".
_LINK = regex(
    r"(?:[ '\"]{0,2}(?:for|on|to|of|at|in)\s[^.,:;=!?\n]{1,32}?)?\s?(?:\((?!s\))[^()\n]{1,24}\))?\s{0,2}"
    r"(?P<link>is|was|are|be|=|:|->|\u2192|-|'s|now|set to|changed to|to)?\s{0,2}"
    r"(?:is|now|still|just|again|back to|:|->)?\s{0,2}[\"'(`]?$"
)
_RULES_SAID = regex(lambda: one_of("passwords_rules_said"))
_DIGITS_SAID = regex(
    r"\s{0,2}(?:for [^.,:;\d]{1,24}? )?(?:is|was|:|=|->|\u2192|-)?\s{0,2}(?:now |still |just )?[\"']?\d{4,12}[#*]?"
    r"(?![\w%]|[-.,:/]\d| ?(?:characters|chars|digits|times|bits|words|users|people|days|years|months|of|or|and)\b)"
)
_PHRASE = regex(
    r"[^.:=\u2192\n]{0,40}?(?:\bis|\bwas|:|=|->"
    r"|\u2192)\s{0,2}[\"']?(?P<value>[a-z]{2,12}(?:[ -][a-z]{2,12}){3,7})[\"']?"
    r"(?=\s*(?:$|[.,;!)\n(]|\band\b))"
)
_QUOTED_PHRASE = regex(r"\s?[=:]?\s?\"[a-z]{3,12}(?: [a-z]{3,12}){2,7}\"")
_GROUPS = regex(r"\b[a-z]{4}(?:[ -][a-z]{4}){3}\b")
_FUNCTION_WORDS = Words("passwords_function_words")
_SAID_BEFORE = regex(
    r"\s{0,2}[\"')`]{0,2},?\s{0,2}(?:is|as|was|for|=|\(|being)?\s{0,2}"
    r"(?:(?:my|the|our|his|her|their|your|that)\s)?(?:[\w'-]{1,16}\s){0,2}$"
)
_LOOSE = frozenset(["pass", "creds", "credentials"])
"""Words for a password that are said of much else."""


_KEY = Cues(["key"])
NETWORKS = Cues(listed("wifi, wi-fi, ssid, hotspot, 热点, 无线"))
_BESIDE_NAME = regex(r"\s?(?:is|:|=|叫|名)?\s?[^\n/|:]{1,24}?\s?[/|]\s?(?P<value>[!-~]{5,64})")
NAMED = Cues(listed("password, passcode, passphrase, pw, pwd"))
_KEPT = regex(
    r"(?:\s(?:for|with|at|of|on)\s[^.,:=\n]{1,28}?)?\s?(?:is|was|:|=|->|\u2192|changed to|now)\s?(?:now\s"
    r"|still\s)?[\"']?"
    r"(?!(?:a|an|the|not|no|any|what|your|my|required|optional|secret|too|very|easy|hard|long|short|weak|strong|just"
    r"|something|wrong|never|always|in|to|one)\b)"
    r"(?P<value>[a-z][a-z'-]{3,24}(?: [a-z'-]{2,16}){0,3})[\"']?\s{0,2}(?:$|[.,;!)\n]|and\b|but\b|key_mgmt|so\b|if\b)"
)
_NAMED_FOR = regex(
    r"\s(?:on|for|to|of)\s(?:the |my |our )?[^.,:=\n]{2,28}?\s(?:is|was"
    r"|=)\s[\"']?(?P<value>[a-z]{5,20})[\"']?\s{0,2}(?:$|[.,;!\n])"
)
_SAYS_NOTHING = regex(
    r".*(?:ed|ing|able|ible|ly|ful|less|ive|ous|ary|al|ent|ant|ic|er|est)$|(?:wrong|right|simple|short|strong|secure"
    r"|unsafe|correct|needed|unknown|there|ready"
    r"|broken|empty|blank|public|private|default|random|unique|missing|weird|funny|online|below|above|inside|written)$"
)


_PLAYED = frozenset(["safe word", "safeword", "code word"])
"""Words that are also told of films and games."""
_PLAYED_AT = regex(
    either("was, game, games, film, movie, book, novel, escape room, sketch, show, party, play, silly, funny")
)


def says_a_kept_word(read: TextReading) -> bool:
    """Whether a word or a phrase without digits is told as a bank's memorable word, a network's or a master password."""
    for piece in read.pieces(WORDS_KEPT):
        if (
            (kept := _KEPT.match(piece.after))
            and not (piece.word in _PLAYED and _PLAYED_AT.search(piece.lower))
            and not _RULES_SAID.search(piece.after)
            and not STAND_IN.search(kept["value"])
        ):
            return True
    return any(
        (named := _NAMED_FOR.match(piece.after)) and not _SAYS_NOTHING.match(named["value"])
        for piece in read.pieces(NAMED)
    )


def says_a_wireless_key(read: TextReading) -> bool:
    """Whether what looks like a password is called the key of a network."""
    return any(_WIRELESS.search(piece.lower) and _mixed_after(piece, plain=True) for piece in read.pieces(_KEY)) or any(
        (beside := _BESIDE_NAME.match(piece.text, piece.end)) and word_with_digits(beside["value"])
        for piece in read.pieces(NETWORKS)
    )


def _password_in(piece: Piece) -> bool:
    plain = piece.word not in _LOOSE
    if _mixed_after(piece, plain=plain) or (plain and _said_before(piece)):
        return True
    digits, groups = _DIGITS_SAID.match(piece.after), _GROUPS.search(piece.after)
    if digits and (plain or not digits[0][:1].isspace()):
        return True
    if groups and random_letters(re.sub("[ -]", "", groups[0])):
        return True
    return plain and not _RULES_SAID.search(piece.after) and _in_words(piece.after)


def _mixed_after(piece: Piece, *, plain: bool) -> bool:
    """Whether a token after the word is strong enough for its distance and for what links it to the word."""
    after = piece.text[piece.end :]
    for token in TOKEN.finditer(after) if may_be_strong(after) else ():
        grade = strength_told(token[0])
        if not grade:
            continue
        gap = after[: token.start()].lower()
        if grade == 3 or (grade == 2 and len(gap) <= 40 and not _RULES_SAID.search(gap)):
            return True
        linked = _LINK.match(gap) if grade == 1 else None
        if linked and linked["link"] != "to" and (plain or linked["link"]):
            return True
    return False


def _in_words(after: str) -> bool:
    """Whether a password without digits or signs is told: a phrase, what is spelled out, a number word by word."""
    phrase = _PHRASE.match(after)
    if phrase and _FUNCTION_WORDS.isdisjoint(re.split("[ -]", phrase["value"])):
        return True
    return any((_QUOTED_PHRASE.match(after), DICTATED.search(after), SPOKEN.match(after.lstrip(" :is=-"))))


def _said_before(piece: Piece) -> bool:
    """Whether a mixed token stands just before the word: `use tr0ub4dor as the password`."""
    if not may_be_strong(piece.before):
        return False
    tokens = TOKEN.finditer(piece.text, 0, piece.at)
    return any(strength(token[0]) >= 2 and _SAID_BEFORE.match(piece.before, token.end()) for token in tokens)


_SIGN_WITHIN = regex(r"[!#$%^&*~?@+](?<=[A-Za-z0-9].)[!#$%^&*~?@+_-]{0,3}[A-Za-z0-9]")
_BEFORE_SIGN = regex(r"[!-~]{0,64}$")


def holds_a_password(read: TextReading) -> bool:
    """Whether the text holds what is typed as a password and as nothing else: letters, signs and digits mixed."""
    for sign in _SIGN_WITHIN.finditer(read.text):
        before = _BEFORE_SIGN.search(read.text, max(0, sign.start() - 64), sign.start())
        token = TOKEN.match(read.text, before.start() if before else sign.start())
        if token and strength_told(token[0]) == 3:
            return True
    return False


LATIN = Cues(Words("passwords_latin"))
OTHER = Cues(listed("ароль, парол, パスワード, 暗证番号, 비밀번호, 비번, رمز, كلمة المرور, सिम, רוסיסמ, κωδικ"))
FOREIGN = Cues(LATIN, OTHER)
_FOREIGN_IS = r"(?:es|is|ist|est|é|e'|shi|jiu shi|is now|jest|är|är|to|:|=|->|→|-|是|は|는|은|это)"
_FOREIGN_DIGITS = regex(
    rf"[^\d\n.!?]{{0,32}}?(?:^|\s|(?<=[^a-z])){_FOREIGN_IS}\s{{0,2}}[\"']?\d(?:[ -]?\d){{3,11}}(?![\w%]|[-.,:/]\d)"
)
_FOREIGN_LINK = regex(rf"(?:^|[^\n]{{0,40}}?\s|\s?)(?:{_FOREIGN_IS})\s{{0,2}}[\"'(]?$")


def _foreign_password_in(piece: Piece) -> bool:
    after = piece.text[piece.end :]
    for token in TOKEN.finditer(after) if may_be_strong(after) else ():
        grade = strength_told(token[0])
        if not grade:
            continue
        gap = after[: token.start()].lower()
        if not any(map(str.isdigit, token[0])):
            grade = max(0, grade - 1)
        if len(gap) <= 40 and (grade >= 2 or (grade == 1 and (not gap.strip() or _FOREIGN_LINK.match(gap)))):
            return True
    return _FOREIGN_DIGITS.match(piece.after) is not None


SECRECY = Cues(listed("密码, 密钥, 秘钥, 锁屏, 解锁, 口令, 通行码, 暗号, 暗语, 密语"))
CODES_ZH = Cues(Words("passwords_codes_zh"))

_KEYS = frozenset(["密钥", "秘钥"])
_LINK_ZH = r"(?:就?是|系|为|[:=→]|->|[改换设填输用叫记写按念报定配](?:成了?|为|的就?是?|了)?|成了?|给你|还是|依旧|照旧)"
_NO_UNIT = (
    r"(?!\d|[.:/]\d|\s?(?:[位个分秒次年月天日号楼元块层栋室路米点章页寸级版颗条人度%万亿件斤把种折岁期名张回部场平升字集代季届]"
    r"|小时|公里|分钟|以内|以上))"
)
_DIGITS_ZH = regex(rf"(?<![\d.a-z])\d(?:[ -]?\d){{3,15}}[#*]?{_NO_UNIT}")
_OF_ELSE = regex("客服|电话|热线|拨打|致电|编号|订单|版本|短信|发送|第|工号|学号|邮编|qq|群|年|元")
_COUNTED = regex("(?:1(?:2(?:34?5?)?)?){2,}|12345?")
_LINKED_ZH = regex(rf"{_LINK_ZH}[{HAN_BLOCK}]{{0,6}}\s?[\"'(]?$")
_LETTERS = regex(rf"[^。\n,!?]{{0,12}}?(?:{_LINK_ZH}|\s)\s?[\"'(]?(?P<value>[a-z]{{6,20}})(?![a-z0-9])")
_QUOTED = regex(rf"[^。\n,?]{{0,10}}?{_LINK_ZH}\s?\"(?P<value>[^\"\n]{{2,24}})\"")
_SHORT = regex(rf"[^。\n,a-z\d]{{0,8}}?(?:{_LINK_ZH}|\s)\s?(?=[a-z]{{0,3}}\d)(?=\d{{0,3}}[a-z])[a-z0-9]{{4}}(?![\w.])")
_OPENED = regex(rf"[^。\n,\w]{{0,8}}?(?:{_LINK_ZH})?\s?[a-z0-9][\w.@-]{{3,40}}")
_REPEATED = regex(r"[^。\n]{0,12}?(?<![\d两])[\d一二三四五六七八九十]个[\d零一二三四五六七八九](?![\d个位月天人次])")
_COMMON = Words("passwords_common")
_RULES_SAID_ZH = regex(
    "忘|至少|不能|不要|必须|位数|长度|要求|强度|错误|例如|比如|不少于|组成|是什么|多少|怎么|加密|算法|过期|规则|找回"
)


def _password_in_chinese(piece: Piece) -> bool:
    after, text = piece.after, piece.text[piece.end :]
    if piece.before.endswith("淘") or after.startswith(("红包", "学", "锁", "子", "管理")):
        return False
    for token in TOKEN.finditer(text):
        grade = strength_told(token[0])
        gap = text[: token.start()]
        if grade == 3 or (grade == 2 and len(gap) <= 30):
            return True
        if grade and len(gap) <= 12 and not _RULES_SAID_ZH.search(gap):
            return True
    if _RULES_SAID_ZH.search(after[:16]):
        return False
    if piece.word in _KEYS:
        return False
    return _digits_in(after) or _words_in(piece.lower[: piece.end], after)


def _digits_in(after: str) -> bool:
    for digits in _DIGITS_ZH.finditer(after[:64]):
        near = 24 if len(digits[0]) == 6 else 10
        if _OF_ELSE.search(after, 0, digits.start()) or _COUNTED.fullmatch(digits[0]):
            continue
        if digits.start() <= near or _LINKED_ZH.search(after, 0, digits.start()):
            return True
    return _REPEATED.match(after) is not None


def _words_in(before: str, after: str) -> bool:
    """Whether a password without enough digits or signs is told: letters, a short mixture, what is quoted or spelled."""
    letters = _LETTERS.match(after)
    if (letters and letters["value"] not in _COMMON) or len(DICTATED_ZH.findall(after)) >= 2:
        return True
    unpacks = before.endswith(("解压密码", "压缩包密码", "提取密码", "网盘密码")) and _OPENED.match(after)
    quoted = not before.endswith("口令") and _QUOTED.match(after)
    return any((quoted, _SHORT.match(after), unpacks))


# 码 of anything but what is no secret: numbers, barcodes, sizes, codes of sources, of discounts, of parcels.
_CODE_ZH = regex(
    r"(?:(?<![号代条维尺鞋编源惠扣券荐请页筹扫数砝件餐货牌区邮均大小中加序推团兑乘登暗量错误态状返a-z\d])(?<!二维)码"
    r"|(?:pin|puk|cvv2?|cvc2?)\s?码?)"
    rf"[\"')]?[^。\n\d$]{{0,10}}?\s?[\"'(]?[a-z]?\d(?:[ -]?\d){{2,7}}[a-z#*]?{_NO_UNIT}(?![a-z0-9])"
)
_LOCKED = regex(
    r"(?:柜|支付宝?|付款|收款|转账|微信|取款|提款|开机|手机(?!尾)|平板|锁|门(?!牌)|[保安][险全][柜箱]|行李箱|旅行箱|箱子?|车库|信箱|屏)[^。\n]{0,24}?"
    r"(?:(?<!尾号)(?<!后)[三四五六八]位数?字?|数字|密码?|按|输入?|拨到?|转到?|对到?|滑)"
    rf"(?:的?是|就是|系|为|[:=])?[^\d。\n]{{0,5}}\d(?:[ -]?\d){{2,7}}[#*]?{_NO_UNIT}"
)
_LOCKED_SIGN = regex(r"(?:锁|门|柜|库|箱)[^。\n]{0,20}?(?<![\d.])(?:[#*]\d{3,8}|\d{3,8}[#*])(?!\d)")
_CARD_BACK = regex(rf"(?:后三位|背面|卡背|三位)[^。\n\d]{{0,10}}\d{{3,4}}{_NO_UNIT}")
_SHAPE = f"[画划][个了]?(?:[a-z\\d]字?|[{HAN_BLOCK}]字)"
_DRAWN = regex(
    r"(?:手势|图案|九宫格|滑动)[^。\n]{0,20}?(?:\d(?:[-,、→> ]{0,2}\d){3,8}(?!\d)|画?个?[a-z]字|[a-z]形)"
    rf"|(?:解锁|锁屏|开机)[^。\n]{{0,12}}?{_SHAPE}|{_SHAPE}[^。\n]{{0,6}}(?:解锁|开机)"
)
_SENT = regex(r"(?:令牌|动态口令|验证器)码?\s?(?:是|:)?\s?(?=[a-z]{0,7}\d)[a-z0-9]{5,8}(?![a-z0-9])")
_CALLED = regex(
    r"(?:接送|接娃|接孩子|接宝宝|进门|入户|回家|防骗|认人|入群|电话银行|口头|家庭|家里)[^。\n]{0,8}?(?:暗号|暗语|口令|密语|密码)"
    rf"\s?(?:就?是|:|为|改成|\s)\s?\"?(?!是|叫|什么|怎|哪|谁|吗|不|没|忘)[{HAN_BLOCK}]{{2,12}}"
)
_TURNED = regex(r"[左右](?:边|转|拧|旋|扭)?[^。\n左右]{0,8}?\d{1,2}")
_LOCK = regex("保险|安全|锁|密|柜|箱")


def says_a_code_in_chinese(read: TextReading) -> bool:
    """Whether the digits of a phone, a door, a locker, a card or a one-time code stand beside a Chinese word for it."""
    for piece in read.pieces(CODES_ZH, before=16, after=56):
        near = piece.lower
        if any(shape.search(near) for shape in (_CODE_ZH, _LOCKED, _LOCKED_SIGN, _CARD_BACK, _DRAWN, _SENT, _CALLED)):
            return True
        if len(_TURNED.findall(near)) >= 2 and _LOCK.search(near):
            return True
    return False


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
_ABOUT_QUESTION = regex(lambda: one_of("answers_about"))
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
    return _ABOUT_QUESTION.search(piece.before) is not None and _TOLD_AT_ONCE.match(piece.after) is not None


PHRASES = Cues(listed("passphrase, passphrases"))
AGREED = Cues(Words("answers_agreed"))
AGREED_ZH = Cues(listed("暗语, 暗号, 口令, 密语"))
_IS = r"(?:\s(?:is|was|are)(?:\snow|\sstill)?\s?:?|\s?[:=]|\s?(?:->|\u2192))\s{0,2}"
_PASSPHRASE = regex(
    rf"(?:\s(?:on|for|to|of|at|in)\s[^.,:;=!?\n]{{1,36}}?)?(?P<link>{_IS})(?P<open>\"?)"
    r"(?P<value>[a-z'-]{1,14}(?: [a-z'-]{1,14}){2,9})"
    r"(?=\s{0,2}(?:$|[.!\"\n(,;]))"
)
_SPOKEN_OF = Words("answers_spoken_of")
"""A sentence that begins with one of these is about a passphrase; it is none."""
_ABOUT_A_PHRASE = regex(lambda: one_of("answers_about_a_phrase"))
_AGREED_WORD = regex(
    rf"(?:\s(?:for|with|at|of|on)\s[^.,:=\n]{{1,28}}?)?{_IS}[\"']?"
    rf"(?P<value>[a-z][a-z'-]{{3,24}}(?: [a-z'-]{{2,16}}){{0,3}})[\"']?\s{{0,2}}(?:$|[.,;!)\n]|and\b)"
)
_QUOTED_WORD = regex(r"[^.\n]{0,24}?\"(?P<value>[a-z][a-z' -]{3,32})\"")
_ASKED = regex(either("ask, asks, word, say, tell, give, code, password, question"))
_SAID_ZH = regex("[报说答念]一?[下个句]?$")
_AFTER_ZH = regex(
    rf"(?:就?[报说答念]|就?是|[:=])?\s?(?:\"[{HAN_BLOCK}a-z]{{2,12}}\"|[ :][{HAN_BLOCK}]{{2,8}}(?=$|[\s,。!;\n]))"
)
_REPORTED_ZH = regex(
    rf"(?:就|要)?(?:说|答|报|念)(?:的?是)?(?:\"[{HAN_BLOCK}]{{2,12}}\"|\s[{HAN_BLOCK}]{{2,8}}(?=$|[\s,。!;\n]))"
)


def _phrase_in(piece: Piece) -> bool:
    phrase = _PASSPHRASE.match(piece.after)
    if phrase is None or _ABOUT_A_PHRASE.search(phrase["value"]):
        return False
    words = phrase["value"].split()
    long_or_quoted = len(words) >= 4 or phrase["open"]
    plainly = phrase["open"] or phrase["link"].strip()[-1:] in ":=>" or "\u2192" in phrase["link"]
    return bool(long_or_quoted and plainly and words[0] not in _SPOKEN_OF and words[-1] not in _SPOKEN_OF)


def _agreed_in(piece: Piece) -> bool:
    if piece.word.endswith(("company", "people", "centre", "center", "banking")):
        quoted = _QUOTED_WORD.match(piece.after)
        return quoted is not None and _ASKED.search(piece.lower) is not None
    agreed = _AGREED_WORD.match(piece.after)
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
    Rule("password", 3, says_password, WORDS),
    Rule("password-zh", 3, says_password_in_chinese, WORDS_ZH),
    Rule("recovery-phrase", 3, found_in_lower(_SEED_PHRASE), Cues(WORDS, ["助记词"])),
    about("password", PASSWORDS, _password_in),
    Rule("password", 3, holds_a_password, signs=Sign.DIGIT),
    Rule("password", 3, says_a_kept_word, Cues(WORDS_KEPT, NAMED)),
    Rule("password", 3, says_a_wireless_key, Cues(_KEY, NETWORKS), needs=Sign.DIGIT | Sign.WIDE),
    about("password-zh", SECRECY, _password_in_chinese, before=24, after=72),
    Rule("pin-zh", 3, says_a_code_in_chinese, CODES_ZH, needs=Sign.WIDE),
    about("password", FOREIGN, _foreign_password_in, before=0, after=72),
    about("security-answer", QUESTIONS, _answer_in, before=40, after=110),
    about("security-answer", ANSWERS, _said_to_them),
    about("security-answer", ASKED, _answer_to, before=64),
    about("security-answer", QUESTIONS_ZH, _answer_in_chinese, before=24, after=72),
    about("password", PHRASES, _phrase_in),
    about("password", AGREED, _agreed_in),
    about("password", AGREED_ZH, _agreed_in_chinese, before=16, after=32),
)
