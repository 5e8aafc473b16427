"""Level 3: what lets somebody in to a network, a service, a device or a file, with a user or the thing that asks for it.

`login: ada / tr0ub4dor`, `mum changed the netflix again. its sproutHater_09`, `SMTP_PASS=...`, `vpn, mine is Larch_2023#`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.sensitivity.rule import (
    Begun,
    Cues,
    Piece,
    Rule,
    Sign,
    TextReading,
    Words,
    about,
    either,
    listed,
    one_of,
)
from engramlog_server.projections.language.sensitivity.values import (
    JOINED,
    STAND_IN,
    TOKEN,
    WORDS,
    bare,
    candidates,
    made,
    may_be_strong,
    strength,
    word_with_digits,
)

LOGINS = Cues(
    listed("login, logins, user, username, usr, account, acct, creds, credentials, admin, 账号, 账户, 用户名")
)
USERS = Cues(listed("admin, administrator, root, sa, pi, user, guest, ubuntu, postgres, sysadmin, deploy"))
COMMANDS = Cues(Words("logins_commands"))
OVERALL = Cues(listed("for everything, on everything, with everything, everywhere, for all of them, for most sites"))
SERVICES = Cues(Words("logins_services"))
GIVEN = Cues(SERVICES, COMMANDS, OVERALL)
"""Words where a password may be given without being named."""


_CREDENTIALS = regex(
    r"\W{0,3}(?:name\b|is\b|are\b|details\b|in\b)?\W{0,3}(?P<user>(?!(?:is|was|are)\b)[\w.@+-]{2,40})\s?(?P<between>/|\||,|;|:|\band\b|\s"
    r"|->)\s{0,2}"
    r"(?:(?:the )?(?P<named>p\w{0,9})[: ]{1,2}(?:is )?)?(?P<value>[!-~]{5,64})"
)
_AFTER_USER = regex(r"\s?[/|:]\s?(?P<value>[!-~]{5,64})")
_OPTION = regex(
    r"[^\n]{0,60}?\s(?:-u\s?[\w.@-]{1,40}:|-p\s?|-a\s|--?pass(?:word)?[= ]|-w\s|-P\s)(?P<value>[!-~]{5,64})"
)
_LAST = regex(r"(?P<value>[!-~]{5,64})\s?$")


_OF_SERVICE = regex(
    r"(?!\s?(?:user ?|screen ?)?(?:name|id|handle|tag)\b)[^\n]{0,16}?(?:是|\bis|:|=)\s?(?P<value>[!-~]{8,64})"
)
_AFTER_ADDRESS = Begun(
    r"@[\w-]{1,63}(?:\.[\w-]{1,63}){1,3}",
    r"1(?<!\d1)[3-9]\d{9}",
    then=r"(?P<between>\s?[/|,;:]\s?|\s{1,3})(?:(?:and then|then|and) )?"
    r"(?:(?:pw|pwd|pass\w{0,6}|密码)\s?[:是]?\s?)?(?P<value>[!-~]{5,64})",
)


def holds_an_address_and_a_password(read: TextReading) -> bool:
    """Whether a password follows an e-mail address or a telephone number as one: `ada@example.org / Bridge_2`.

    A number is one only among words of other scripts, 手机 13577889900 / Bridge_2, as its signs have it: alone it stands before
    anything.
    """
    if "@" not in read.text and read.lower.isascii():
        return False
    return any(
        strength(pair["value"]) >= (1 if pair["between"].strip() in ("/", "|") else 2)
        and any(map(str.isdigit, pair["value"]))
        for pair in _AFTER_ADDRESS.finditer(read.text)
    )


def says_a_login(read: TextReading) -> bool:
    """Whether a password follows a user's name: `login: ada / tr0ub4dor`, `admin:tr0ub4dor`."""
    for piece in read.pieces(USERS):
        if (given := _AFTER_USER.match(piece.text, piece.end)) and word_with_digits(given["value"]):
            return True
    return any(map(_credentials_in, read.pieces(LOGINS)))


def gives_a_password(read: TextReading) -> bool:
    """Whether a password stands where one is given: as a command's option, for a service, as used for everything."""
    for piece in read.pieces(COMMANDS) if " -" in read.text else ():
        if (given := _OPTION.match(piece.text, piece.end)) and word_with_digits(given["value"]):
            return True
    for piece in read.pieces(OVERALL):
        if (given := _LAST.search(piece.text[: piece.at])) and word_with_digits(given["value"]):
            return True
    return any(map(_of_service, read.pieces(SERVICES)))


def _of_service(piece: Piece) -> bool:
    """Whether what is told of a service is mixed as no name of a user is: capitals, small letters, digits and a sign."""
    given = _OF_SERVICE.match(piece.text, piece.end)
    value = given["value"] if given else ""
    kinds = (str.isupper, str.islower, str.isdigit)
    return (
        all(any(map(kind, value)) for kind in kinds) and re.search("[_.-]", value) is not None and strength(value) >= 2
    )


_NAMES = frozenset(["pass", "pw", "pwd", "psw", "pswd", "password", "passwd"])


def _credentials_in(piece: Piece) -> bool:
    """Whether a user's name and a password follow the word: `login: ada / tr0ub4dor`."""
    pair = _CREDENTIALS.match(piece.text, piece.end) if may_be_strong(piece.text[piece.end :]) else None
    if pair is None or not (grade := strength(pair["value"])) or strength(pair["user"]) == 3:
        return False
    return grade >= (1 if pair["between"] in "/|" or pair["named"] in _NAMES else 2)


PLACES = Cues(Words("logins_places"))
_SIGN = regex(r"[!@#$%^&*+?]")
_GAP = regex(
    r"[^\n]{0,40}?"
    r"(?:\b(?:mine is|mine's|i use|use|with|is|says|are)|我?的?(?:就?是|用的?是?)|后面是?|然后是?|[/|:=,\u2192-]|\s)\s{0,2}[\"'(]?$"
)
_WIRELESS_KEY = regex(
    r"(?:wi-?fi|无线|热点|hotspot)(?:\s?(?:的|就)?\s?(?:是|:|=)\s?|\s)(?P<value>[a-z]{2,16}\d{3,12}[a-z]{0,4}|\d{8,12})(?![\w.%-])"
    r"|(?:wi-?fi|无线|热点)\s?(?:名?叫|是|名|:)\s?[^\s,/|]{2,24}\s?(?:然后|后面|,|/|\||;|\s)\s?是?\s?(?:\d{8,12}|[a-z]{3,16}\d{2,12})(?![\w.%])"
)
_DEVICE = regex(r"(?:tp-?link|ax|be|ac|wr|mi|archer|asus|rt|ubnt|mesh|iphone|version)\w{0,4}\d")


def _in_a_place(piece: Piece) -> bool:
    """Whether what only a password looks like follows a place where somebody logs in."""
    return _told(piece) or _wireless(piece) or _opened(piece)


def _told(piece: Piece) -> bool:
    after = piece.text[piece.end :]
    return _SIGN.search(after) is not None and any(
        _typed(bare(token[0])) and _GAP.match(after[: token.start()].lower()) for token in TOKEN.finditer(after)
    )


_FILE_OPENED = regex(
    r"[^\n]{0,24}?(?:\b(?:zip|pdf|excel|file|doc|archive|rar|spreadsheet|attachment|folder|drive|disk)\b[^.\n]{0,20}?)?"
    r",?\s(?:with|use|using)\s(?P<value>(?=[a-z]{0,20}\d)[a-z0-9]{6,24})(?![\w.])"
)
_FILES = regex(r"\b(?:zip|pdf|excel|file|doc|archive|rar|spreadsheet|attachment|folder|drive|disk)\b")


def _opened(piece: Piece) -> bool:
    """Whether a file is opened or protected with a word with digits."""
    opened = _FILE_OPENED.match(piece.after) if piece.word in ("unlock", "protected") else None
    return opened is not None and strength(opened["value"]) > 0 and _FILES.search(piece.lower) is not None


def _typed(value: str) -> bool:
    """Whether a value has a sign amid or after letters of both cases or with digits, as only a password has."""
    if not 8 <= len(value) <= 40 or not _SIGN.search(value[1:]) or "://" in value or re.search(r"@[\w-]+\.\w", value):
        return False
    kinds = sum(any(map(kind, value)) for kind in (str.isupper, str.islower, str.isdigit))
    letters = sum(map(str.isalpha, value))
    if kinds < 2 or letters < 3 or re.search(r"[()<>{}=/\\|]", value):
        return False
    return kinds == 3 or strength(value) >= 2


def _wireless(piece: Piece) -> bool:
    key = _WIRELESS_KEY.search(piece.lower)
    return key is not None and not _DEVICE.match(key["value"] or "")


ASKING = Cues(Words("logins_asking"))
ASKING_ZH = Cues(Words("logins_asking_zh"))
_SECRETIVE = regex(
    r"(?:\b(?:type|typed|types|put|puts|punch|key|tap)(?: in)?|\benter(?:ing)?"
    r"|\b(?:log|logs|logged|sign|signs|signed|in|on|opens?|unlocks?|opened|works) (?:with|using|by)"
    r"|\b(?:it|that)(?:'s| is|s|'ll want)? (?:now|wants?|takes)|\bnow it'?s"
    r"|\b(?:changed|reset|switched|set|made|back)(?: it)?(?: back)? to|\bmade it"
    r"|\bwants?|\bauth(?: is|:)|\btakes|\basks for|\bnew one(?:'s| is)"
    r"|\bthe (?:usual|old one|new one)(?:,| is|:)|\buse the one with"
    r")\s{1,2}(?:admin and then )?[\"'(]?$"
)
"""Words before a value that is typed to be let in."""
_SAID = regex(
    r"(?:\b(?:its|it's|it is|is|is now|now|then|and then|use|with|to)\s{1,2}|[:=/|+,>\u2192]\s{0,2}|\s-\s)[\"'(]?$"
)
_TYPED_AS = regex(
    r"[\"')]?[,.;:( -]{1,3}(?:it's |thats |that's |and |but |its )?"
    r"(?:all (?:in )?(?:lower|small|one word|caps|together)"
    r"|lower ?case|no (?:spaces|caps|capitals|gaps)|one word|(?:with )?a? ?(?:capital|cap|big) [a-z0-9]\b"
    r"|small letters|caps? matters?"
    r"|case sensitive|with the caps)"
)
"""How a value is typed."""
_BY_NOW = regex(r"[\"')]?,? (?:now|these days|at the moment|nowadays|as of (?:today|last))\b")
_AGAIN = regex(either("changed, again, new, reset, updated, switched"))
_PAIR = regex(
    r"\W{0,3}(?:(?:login|account|acc|console|user|auth|is|as|in|id)\b\W{0,3}){0,2}(?P<user>[\w.@+-]{2,40})?"
    r"\s?(?:[/|+:,]|\s-|\bthen|\band then)\s{0,2}$"
)
_SLASHED = regex(r"(?:\s\w{2,10})?\s?:?\s[\w.@+-]{2,40}\s?[/|]\s{0,2}$|[^\n]{0,24}?\bas [\w.-]{2,24}\s?[,:/]\s{0,2}$")
_ACCOUNT = regex(r"\s(?:acc|account|login|creds)\b\W{1,3}[\w.@+-]{2,40}\s?[/|,]\s{0,2}$")
"""A user, and what stands after it."""
_CHANGED = regex(r"\b(?:changed|switched|reset)\b[^.\n]{0,24}\bfrom \S{4,40} to\s{1,2}[\"']?$")
_LOGINS = frozenset(listed("login, log in, log into, log on, sign in, sign into"))
_OF_NAMES = regex(lambda: one_of("logins_of_names") + r"[^.!?\n]{0,18}$")
_HANDLED = Words("logins_handled")
"""Where a name of a user is told as a password is; only what lets somebody in, or what is no name, counts."""
_LETS_IN = regex(r"(?:type|put|punch|enter|key|log|sign|in|unlock|open)\w{0,3}(?: in)?(?: with| using)?\s{1,2}[\"'(]?$")
_LOOSELY = frozenset(listed("phone, mail, email, e-mail, computer, network, server, zip, pdf"))
"""Things that are told much else of: only words that lead to a value that is typed count."""
_LEADING = Words("logins_leading")
_LEADING_SIGNS = frozenset(":=/|+,>\u2192-")
"""What may end the words that lead to a value: the cheapest question, asked first."""
NEAR, NEAR_ZH = 72, 28

_TYPED_ZH = regex(
    r"(?:[输填敲打按](?:入|的)?(?:是|了)?|要?改(?:成|为|到)了?|换(?:成|为)了?|设(?:成|为)了?|现在是|登[录陆入](?:要|用|是|时)?"
    r"|后面(?:是|跟)?|就打|然后是?)\s{0,2}[\"'(]?$"
)
_SAID_ZH = regex(r"(?:就?是|[:=/|+,]|用|加|的是|给你|\s)\s{0,2}[\"'(]?$")
_OF_NAMES_ZH = regex(
    r"(?:名字?|昵称|号(?![^\n]{0,12}[登/|])|id|型号|版本|叫|报错|错误|失败|不[了上]|文件|换了台|买|新款|系列|分支|游戏名|户名)[^\n/|登]{0,6}$"
)
_DIRECT_ZH = frozenset(listed("开机, 锁屏, 解锁, 解压, 登录, 登陆, 登入"))


def says_what_is_typed(read: TextReading) -> bool:
    """Whether what a person made up is told of a thing that asks for a password."""
    lower = read.lower
    english, chinese = read.places(ASKING), [] if lower.isascii() else read.places(ASKING_ZH)
    if not english and not chinese:
        return False
    values = [(at, value) for at, value in candidates(read.text, read.kinds) if _may_lead(lower[max(0, at - 12) : at])]
    return any(
        (
            led := _typed_as(lower, english, at, value)
            or _led(lower, english, at, NEAR, _link)
            or _led(lower, chinese, at, NEAR_ZH, _link_in_chinese)
        )
        and made(value) >= led
        for at, value in values
    )


def _typed_as(lower: str, places: list[tuple[int, int]], at: int, value: str) -> int:
    """The grade that is believed of a value with words about how it is typed, after a thing that asks for one."""
    last = bisect_right(places, (at, at)) - 1
    near = last >= 0 and places[last][1] <= at <= places[last][1] + NEAR and "\n" not in lower[places[last][1] : at]
    before = lower[max(0, at - 24) : at]
    if not near or not _SAID.search(before) or _OF_NAMES.search(before):
        return 0
    end = at + len(value.rstrip(",.;:)'\""))
    return JOINED if _TYPED_AS.match(lower, end) else WORDS if _BY_NOW.match(lower, end) else 0


def _may_lead(before: str) -> bool:
    """Whether what stands before a value can lead to it."""
    before = before.rstrip(" \"'(")
    last = before[-1:]
    return last in _LEADING_SIGNS or not last.isascii() or before.rpartition(" ")[2] in _LEADING


def _led(lower: str, places: list[tuple[int, int]], at: int, far: int, link: Callable[[str, str, str], int]) -> int:
    """The least grade that is believed by what leads from one of the last things before a value to it; 0 where nothing does."""
    last = bisect_right(places, (at, at))
    grades = (
        link(lower[start:end], lower[end:at], lower[max(0, start - 24) : at])
        for start, end in places[max(0, last - 4) : last]
        if end <= at <= end + far and "\n" not in lower[end:at]
    )
    return min((grade for grade in grades if grade), default=0)


def _link(word: str, gap: str, before: str) -> int:
    if _OF_NAMES.search(before):
        return 0
    if _ACCOUNT.match(gap) or _CHANGED.search(before):
        return JOINED
    typed = _SECRETIVE.search(gap) is not None or (word in _LOGINS and gap.rstrip().endswith(("with", "using")))
    if word in _HANDLED:
        return WORDS if typed and _LETS_IN.search(gap) else 0
    if typed:
        return JOINED
    if _SLASHED.match(gap):
        return WORDS
    linked = word not in _LOOSELY and (_PAIR.match(gap) or (_SAID.search(gap) and _AGAIN.search(gap)))
    return WORDS if linked else 0


def _link_in_chinese(word: str, gap: str, before: str) -> int:
    if _OF_NAMES_ZH.search(gap) or _OF_NAMES.search(before):
        return 0
    if _TYPED_ZH.search(gap) or (word in _DIRECT_ZH and _SAID_ZH.search(gap)):
        return JOINED
    return WORDS if _SAID_ZH.search(gap) else 0


NAMES = Cues(listed("pass, passwd, password, passphrase, pwd, pw, psw, secret, token, key, auth, creds"))
MANAGERS = Cues(Words("logins_managers"))
_ASSIGNED = Begun(
    *("_PASS", "_PWD", "_PW", "_PSW", "_SECRET", "_TOKEN", "_KEY", "_AUTH", "_CREDS"),
    then=r"(?:WORD|WD|PHRASE)?(?:_(?:KEY|KEY_BASE|PROD|LIVE|DEV|STAGING|[0-9]))?\s?[=:]\s?(?P<quote>[\"'`]?)(?P<value>[!-~]{6,256})",
)
_NAME_BEFORE = regex(r"[A-Z0-9_]{1,40}$")
_OF_ELSE = regex("PUBLIC|PRIMARY|FOREIGN|PARTITION|SORT|CACHE|MAX|MIN|LIMIT|OBJECT|FILE|S3|HOT|INDEX|SHARD|TEST|TYPE")
_REFERENCE = regex(
    r"[$<{%*/~.\[(]|[a-z][a-z0-9+.-]{1,20}://|[a-z_]+[.(\[]|os\.|process\.|[\w/.-]+\.(?:pem|key|crt|json|ya?ml|txt|env|png|jpe?g|md|py|ts|js)$",
    re.IGNORECASE,
)
_PASSWORD = regex("_P(?:ASS|WD|W|SW)")
_OPENS = regex(
    r"(?:'s)?(?:\s(?:master|vault|file|database|db|account|app|main|key|pass|passphrase|password|phrase|pw|login|unlocks?|is|now|still)(?:'s)?){0,5}\s?"
    r"(?:\bis|:|=|'s|\bwith|\bnow|\bto|\buse|\bare|->|\u2192|,)?\s{1,2}(?:now |still |just |my |use )?[\"'(]?"
)
_LEADS = regex(either("master, vault, opens, unlocks, opened, passphrase, phrase, password, login, pw, pass"))
_JOINED = regex(r"[A-Za-z]{3,14}(?:[-_. ][A-Za-z]{3,14}){2,7}(?:[-_. ]\d{1,4})?")
_PHRASE = regex(r"[a-z]{3,12}(?: [a-z]{3,12}){3,7}(?=\s{0,2}(?:$|[.,;!?)\n]))")
_SPOKEN_OF = Words("logins_spoken_of")


def holds_an_assigned_secret(read: TextReading) -> bool:
    """Whether a value that is no stand-in is assigned to a variable that is named for a password, a secret, a token or a key."""
    return (
        "_" in read.text
        and any(_assigned(read.text, match) for match in _ASSIGNED.finditer(read.text))
        and bool(read.places(NAMES))
    )


def _assigned(text: str, match: re.Match[str]) -> bool:
    before = _NAME_BEFORE.search(text, max(0, match.start() - 40), match.start())
    if before is None or _OF_ELSE.search(before[0]):
        return False
    quote, value = match["quote"], match["value"]
    value = value.partition(quote)[0] if quote else value.rstrip(",;)\"'`")
    if len(value) < 6 or _REFERENCE.match(value) or STAND_IN.search(value):
        return False
    digits, cased = sum(map(str.isdigit, value)), value.lower() != value and value.upper() != value
    letters = sum(map(str.isalpha, value))
    if letters < 3:
        return False
    if _PASSWORD.match(match[0]):
        return digits > 0 or cased or re.search(r"[a-z][!@#$%^&*+?~/][a-z]", value.lower()) is not None
    return digits > 0 and len(value) >= 8 and (cased or (digits >= 3 and len(value) >= 16))


def _opens_a_manager(piece: Piece) -> bool:
    if not _LEADS.search(piece.lower, max(0, piece.at - 24)):
        return False
    led = _OPENS.match(piece.after.replace("opens", "vault").replace("unlocks", "unlock "))
    after = piece.text[piece.end :]
    for token in TOKEN.finditer(after, 0, 72):
        value = bare(token[0])
        gap = after[: token.start()].lower()
        if _LEADS.search(gap) and (made(value) or strength(value) >= 2 or ("-" in value and _worded(value))):
            return True
    phrase = _PHRASE.match(piece.after, led.end()) if led and _LEADS.search(led[0]) else None
    return phrase is not None and _SPOKEN_OF.isdisjoint(phrase[0].split())


def _worded(value: str) -> bool:
    """Whether words are joined as in a passphrase."""
    words = re.split("[-_. ]", value.lower())
    return _JOINED.fullmatch(value) is not None and _SPOKEN_OF.isdisjoint(words)


_URL_LOGIN = regex(r"://(?P<user>[^\s:/@]{0,64}):(?P<value>[^\s:/@]{4,128})@")
_URL_STAND_IN = regex(
    r"[<$%{*\[]|.*(?:pass|pwd|pw$|secret|user|your|xxx|token|example|postgres|mysql|root|admin|guest|test)",
    re.IGNORECASE,
)


def holds_login_in_url(read: TextReading) -> bool:
    """Whether an address such as `scheme://user:password@host` holds a password that is no stand-in."""
    for match in _URL_LOGIN.finditer(read.text):
        value = match["value"]
        if not _URL_STAND_IN.match(value) and value.lower() != match["user"].lower():
            return True
    return False


RULES = (
    Rule("login-in-url", 3, holds_login_in_url, signs=Sign.AT),
    Rule("login", 3, holds_an_address_and_a_password, signs=Sign.AT | Sign.WIDE_DIGIT),
    Rule("login", 3, says_a_login, Cues(USERS, LOGINS), needs=Sign.DIGIT | Sign.WIDE),
    Rule("login", 3, gives_a_password, GIVEN, needs=Sign.DIGIT),
    about("login", PLACES, _in_a_place, before=12, after=72),
    Rule("password", 3, says_what_is_typed, Cues(ASKING, ASKING_ZH), needs=Sign.DIGIT),
    Rule("password", 3, holds_an_assigned_secret, NAMES),
    about("password", MANAGERS, _opens_a_manager, before=32, after=110),
)
