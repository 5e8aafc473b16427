"""Level 3: credentials of a network, a service, a device or a file: a login, and keys that computers issue.

A login is a password with its user or with the thing that asks for it: `login: ada / tr0ub4dor`, `mum changed the netflix again.
its sproutHater_09`, `SMTP_PASS=...`. Keys, tokens, codes of recovery and words of a wallet count near a word for them, or in forms
that only issuers use.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cache

from engramlog_server.projections.language.lexicon import words
from engramlog_server.projections.language.patterns import HAN_BLOCK, regex
from engramlog_server.projections.language.sensitivity.rule import (
    JOINED,
    STAND_IN,
    TOKEN,
    WORDS,
    Begun,
    Cues,
    Piece,
    Rule,
    Sign,
    TextReading,
    Words,
    about,
    bare,
    candidates,
    either,
    found_in_text,
    listed,
    made,
    may_be_strong,
    one_of,
    random_key,
    random_letters,
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


KEYS = Cues(Words("keys_keys"))
"""Words for a key, a token, a secret or a code of recovery."""
_FIRM = regex(
    r"secret|private|api|access|auth|client|signing|bearer|recovery|licen[sc]e|activation|product|bitlocker|filevault|encryption"
    r"|session|refresh|webhook|wallet|seed|account|app pass|token|\btok\b|\b[as]k\b"
    r"|totp|2fa|serial|host key|master|root|deploy|ssh|gpg|pgp|windows"
    r"|office|steam|game|cd key|priv|pk\b|seckey|\bwif\b|metamask|keystore"
    r"|[密秘私]钥|令牌|授权码|激活码|恢复码|备用码|救援码|备份码|加签|序列号|注册码|凭证|钱包"
)
"""What makes a random value beside it a secret; `key` alone is said of much else."""
_NO_KEY = regex(
    r"(?:commit|digest|checksum|sha-?\d*|sha256sum|hash|md5|uuid|guid|build|tracking|image|revision|fingerprint|etag|primary key"
    r"|public[ _]key|foreign key|cache key|object ?id|\brev|version|npub|address|contract|tx|transaction"
    r"|公钥|地址|哈希|摘要|校验和|镜像|提交|指纹|交易|订单|单号)"
    r"[\"']?\s{0,2}(?:id|hash|is|:|=)?\s{0,2}[\"']?(?:sha256:|0x)?$"
)
_DIGIT = regex("[0-9]")
_WITHOUT_DIGITS = 20
"""Characters of the shortest key without a digit."""
_TOKEN = regex(r"(?<![\w/+.-])[A-Za-z0-9_+/=.~-]{12,512}")
_MAY_BE_KEY = regex(r"[0-9]|[A-Za-z0-9_+/=.~-]{20}")
_UUID = regex(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_HEX = regex(r"(?:0x)?[0-9a-f]{32,128}", re.IGNORECASE)
_GROUPED = regex(r"(?<![\w-])(?=[a-z-]*\d)[a-z0-9]{4,8}(?:-[a-z0-9]{4,8}){2,9}(?![\w-])")
_RECOVERY = regex(r"back-?up|recovery|rescue|scratch|emergency|one[- ]time|2fa|mfa|备用|恢复|救援|备份|应急")
_CODES_SAID = regex(r"codes?|码|^\W{0,3}(?:is |are |keys? )?\W{0,3}(?=[a-z]*\d)")
_CODES = regex(
    r"(?<![\w.-])(?:(?=[a-z]{0,7}\d)[a-z0-9]{4,6}[ -](?=[a-z]{0,7}\d)[a-z0-9]{4,6}|\d{6,10}"
    r"|(?=[a-z]{0,9}\d)[a-z0-9]{8,10}|[a-z]\d{5,6})(?![\w.-])"
)
_LETTERS = regex(r"(?<![\w./@-])(?:[a-z]{10,24}|[a-z]{4}(?:[ -][a-z]{4}){3})(?![\w./@-])")
_LETTERED = Words("keys_lettered")
"""Words for keys that may be nothing but letters."""

_ISSUED = regex(
    r"(?<![A-Za-z0-9_-])(?:"
    r"\d{8,10}:[A-Za-z0-9_-]{34,36}(?![A-Za-z0-9_-])"  # Telegram
    r"|[A-Za-z0-9_-]{23,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,48}(?![A-Za-z0-9_-])"  # Discord
    r"|SEC[0-9a-f]{64}(?![0-9A-Za-z])"  # DingTalk
    r"|AKID[A-Za-z0-9]{32}(?![0-9A-Za-z])"  # Tencent Cloud
    r"|(?=[A-Z-]*[0-9])(?:[A-Z0-9]{5}-){4}[A-Z0-9]{5}(?![A-Za-z0-9-])"  # a product key
    r"|AGE-SECRET-KEY-1[0-9A-Z]{20,}"
    r"|(?:[0-9]{6}-){7}[0-9]{6}(?![0-9-])"  # BitLocker
    r"|sk\.eyJ[A-Za-z0-9_-]{20,512}"  # Mapbox
    r"|[5KL][1-9A-HJ-NP-Za-km-z]{50,51}(?![0-9A-Za-z])|[xyz]prv[1-9A-HJ-NP-Za-km-z]{107,108}"  # wallets
    r"|(?:dckr_pat|glsa|lin_api|sq0(?:atp|csp)|figd|nfp|vercel|rk_live|pat_live|tok_live|dapi|phc|secret|ntn|xai|gsk|r8|pplx"
    r"|tvly|fc|EAAC|shpss|PMAK|rnd|ATATT3)[_-](?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{20,512}"
    r"|(?:sk|pk|rk|key|tok)-(?=[A-Za-z-]{0,30}\d)[A-Za-z0-9_-]{24,512}"
    r")"
)
_HOOK = r"/\S{0,60}?(?:access_token=|key=|/hook/)[\w-]{16}"
_ARGUMENT = (
    r"(?:sig|signature|access_token|api_?key|auth_token|client_secret|password|passwd|pwd)="
    r"(?![<{$%*\[]|test|your|pass|demo|example|secret|xxx|foo)[\w%+/=.-]{8}"
)
_ADDRESSED = Begun(
    r"hooks\.slack\.com/(?:services|workflows)/[\w/]{20}",
    r"discord(?:app)?\.com/api/webhooks/\d{10,24}/[\w-]{20}",
    r"oapi\.dingtalk\.com" + _HOOK,
    r"qyapi\.weixin\.qq\.com" + _HOOK,
    r"open\.(?:feishu|larksuite)\.c\w{1,3}" + _HOOK,
    r"api\.telegram\.org/bot\d{8,10}:",
    r"otpauth://\S{1,200}?secret=[a-z2-7]{10}",
    r"wifi:(?:[a-z]:[^;\n]{0,40};){0,3}p:[^;\n]{4,64};",
    r"accountkey=[a-z0-9+/]{40}",
    r"sharedaccess\w{0,12}=[^\s;]{20}",
    *(rf"\{sign}{_ARGUMENT}" for sign in "?&;"),
)


def holds_issued_key(read: TextReading) -> bool:
    """Whether the text holds what only an issuer makes: a bot's token, a webhook's address, a wallet's key."""
    runs = read.long_runs
    return (_ISSUED.search(runs) or _ADDRESSED.search(runs.lower())) is not None


RECOVERING = Cues(Words("keys_recovering"))
_ROWS = regex(
    r"[^\n]{0,16}?(?:codes?|码)[^\n]{0,60}\n"
    r"(?:[ \t]{0,8}(?:\d{1,2}[.):] ?|[-*] ?)?(?:(?=[a-z]{0,7}\d)[a-z0-9]{4,6}[ -][a-z0-9]{4,6}|\d{6,10}"
    r"|(?=[a-z]{0,15}\d)[a-z0-9]{8,16})\s{0,3}(?:\n|$)){2,16}"
)


def lists_codes(read: TextReading) -> bool:
    """Whether codes of recovery stand below words for them, one a line."""
    return "\n" in read.lower and any(_ROWS.match(read.lower, end) for _, end in read.places(RECOVERING))


def _key_in(piece: Piece) -> bool:
    if not _MAY_BE_KEY.search(piece.text) and piece.word not in _LETTERED:
        return False
    tokens = [
        token
        for token in _TOKEN.finditer(piece.text)
        if len(token[0]) >= _WITHOUT_DIGITS or _DIGIT.search(token[0])  # no word of most texts
    ]
    digits = _DIGIT.search(piece.after)
    firm = bool(tokens or digits) and _FIRM.search(piece.lower, max(0, piece.at - 16), piece.end + 12) is not None
    if any(_is_key(piece, token, firm) for token in tokens) or (digits and _holds_codes(piece, piece.after, firm)):
        return True
    runs = _LETTERS.finditer(piece.after) if piece.word in _LETTERED else ()
    return any(random_letters(re.sub("[ -]", "", run[0])) for run in runs)


def _holds_codes(piece: Piece, after: str, firm: bool) -> bool:
    """Whether a code in groups, or codes of recovery, follow the word; all of them hold a digit."""
    grouped = _GROUPED.search(after) if firm else None
    if grouped and not _UUID.match(grouped[0]) and not _NO_KEY.search(after, 0, grouped.start()):
        return True
    codes = _RECOVERY.search(piece.lower, max(0, piece.at - 12), piece.end)
    return bool(codes and ("码" in piece.word or _CODES_SAID.search(after[:24])) and _CODES.search(after))


def _is_key(piece: Piece, token: re.Match[str], firm: bool) -> bool:
    """Whether a token after the word, or just before a firm one, is random as a key is and not called something else."""
    start, end = token.span()
    if end <= piece.at and (end < piece.at - 24 or not firm):
        return False
    if (piece.at <= start and end <= piece.end) or token[0].startswith("AAAA"):  # the word itself; a public key of SSH
        return False
    return _random(bare(token[0]), firm=firm, beside=0 <= start - piece.end <= 4) and not _NO_KEY.search(
        piece.lower, max(0, start - 32), start
    )


def _random(value: str, *, firm: bool, beside: bool) -> bool:
    value = value.partition("=")[2] if re.match(r"\w+=.", value) else value
    if _UUID.fullmatch(value):
        return firm
    if _HEX.fullmatch(value):
        return (firm or beside) and any(map(str.isdigit, value))
    return random_key(value) and (firm or len(value) >= 20)


_PRIVATE_KEY = Begun(
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:\\n|\s){0,8}(?:[A-Za-z-]{1,20}: [^\n]{0,200}\n\s{0,8}){0,4}[A-Za-z0-9+/=]{20}"
)
_JWT = Begun(r"eyJ(?<![A-Za-z0-9_-]eyJ)[A-Za-z0-9_-]{8,4096}\.eyJ[A-Za-z0-9_-]{4,8192}\.[A-Za-z0-9_-]{16}")
_ISSUED_TOKEN = Begun(
    *listed(
        "sk-, gh[opsru]_, github_pat_, glpat-, xox[abprs]-, sk_(?:live|test)_, rk_(?:live|test)_, npm_, hf_, pypi-"
    ),
    *listed(r"ya29\., SG\., shpat_, dop_v1_, whsec_"),
    then=r"(?P<value>[A-Za-z0-9_.-]{16,256})",
)
_CLOUD_KEY = Begun(
    *("AKIA[A-Z0-9]{16}", "ASIA[A-Z0-9]{16}", r"AIza[\w-]{35}", "LTAI[A-Za-z0-9]{16,24}", r"eg[cst]1_[\w-]{43}"),
    r"egl_[a-z0-9]{8}_[\w-]{43}_[0-9a-f]{6}",
    then="(?![A-Za-z0-9])",
)
# In lower case from here on.
_ASSIGNED_KEY = Begun(
    *listed(
        "key, token, secret, bearer, backup[ _-]codes?, recovery[ _-]codes?, 密钥, 秘钥, 私钥, 令牌, 授权码, 激活码, 恢复码"
    ),
    then=r"(?:[ _-]?id)?[\"'\])]{0,2}(?:\s{0,4}(?:\bis|\bwas|\bare|是|为|=>|[:=：])\s{0,4}|\s{1,4})"
    r"[\"'“`]?(?P<value>[a-z0-9+/_=-]{12,256})",
)
_CLOUD_SECRET = regex(r"secret[ _-]?access[ _-]?key[^a-z0-9]{1,8}[a-z0-9/+]{40}(?![a-z0-9/+])")
_KIND_OF_KEY = regex(
    r"(?:api|app|access|auth|account|bearer|client|consumer|encryption|private|product|licen[sc]e|refresh|recovery"
    r"|secret"
    r"|session|signing|subscription|webhook)[ _-]?$"
)
_LICENCE = regex(r"(?=.*[0-9])(?:[a-z0-9]{4,6}-){3,7}[a-z0-9]{4,6}")
_STAND_IN = regex(r"your|example|placeholder|changeme|xxxx|dummy|sample|insert|replace|redacted")


def holds_issued_token(read: TextReading) -> bool:
    """Whether the text holds a key by its issuer's prefix."""
    text = read.long_runs
    if not text:
        return False
    if any(_starts_a_word(text, match) for match in _CLOUD_KEY.finditer(text)):
        return True
    return any(_starts_a_word(text, match) and _looks_random(match["value"]) for match in _ISSUED_TOKEN.finditer(text))


NAMED = Cues(KEYS, by_word=True)


def holds_cloud_secret(read: TextReading) -> bool:
    """Whether the text holds what is called a secret access key and is as long as one."""
    return "secret" in read.lower and _CLOUD_SECRET.search(read.lower) is not None


def holds_named_key(read: TextReading) -> bool:
    """Whether the text holds a random-looking value called a key, a token or a secret."""
    for match in _ASSIGNED_KEY.finditer(read.lower):
        # "Key" alone says nothing: "the key is ..."; a token, a secret or any kind of key does.
        named = not match[0].startswith("key") or _KIND_OF_KEY.search(
            read.lower, max(0, match.start() - 16), match.start()
        )
        if named and _looks_random(match["value"]):
            return True
    return False


def _starts_a_word(text: str, match: re.Match[str]) -> bool:
    before = text[match.start() - 1] if match.start() else " "
    return not (before.isascii() and (before.isalnum() or before in "_-"))


def _looks_random(value: str) -> bool:
    """A licence key, or a run of at least eight letters with two digits and six different characters; no stand-in."""
    value = value.lower()
    if _STAND_IN.search(value):
        return False
    if _LICENCE.fullmatch(value):
        return True
    for run in re.split("[^a-z0-9]", value):
        digits = sum(c.isdigit() for c in run)
        if len(run) >= 8 and 2 <= digits < len(run) and len(set(run)) >= 6:
            return True
    return False


REDEEMED = Cues(Words("keys_redeemed"))
GUARDED = Cues(listed("steam guard, steamguard"))
SET_UP = Cues(Words("keys_set_up"))
_GROUPS = regex(
    r"(?<![\w./-])(?:[a-z0-9]{5}(?:-[a-z0-9]{5}){2,5}|[a-z0-9]{4}(?:-[a-z0-9]{4}){2,7}|[a-z0-9]{4}-[a-z0-9]{6}-[a-z0-9]{4,5}"
    r"|[a-z0-9]{6}(?:-[a-z0-9]{6}){2,5})(?![\w/-]|\.\w)"
)
_RUN = regex(r"(?<![\w./-])(?=[A-Z]{0,12}\d)[A-Z0-9]{13,18}(?![\w./-])")
_MIXED = regex(r"(?=[a-z]{0,5}\d)(?=\d{0,5}[a-z])[a-z0-9]{4,6}")
_NO_VOUCHER = regex(lambda: one_of("keys_of_else"))
_CARD = regex(either("card, code, codes, voucher, redeem, pin") + "|[码卡]")
_GUARD = regex(
    r"(?:\s(?:code|says|said|is|was|now|it's|shows|=|just)){0,3}\s?:?\s{1,2}(?=[A-Z]{0,4}\d)(?=\d{0,4}[A-Z])[A-Z0-9]{5}(?!\w)"
)
_BASE_32 = regex(r"(?<![a-z0-9-])[a-z2-7]{4}(?:[ -][a-z2-7]{4}){3,15}(?![a-z0-9-])")
_RUN_OF_BASE_32 = regex(r"(?<![\w./+-])[A-Z2-7]{16,64}(?![\w./+=-])")


def _redeemed(piece: Piece) -> bool:
    for groups in _GROUPS.finditer(piece.lower):
        mixed = [group for group in groups[0].split("-") if _MIXED.fullmatch(group)]
        if len(mixed) >= 2 and not _NO_VOUCHER.search(piece.lower, max(0, groups.start() - 32), groups.start()):
            return True
    return any(
        sum(map(str.isdigit, run[0])) >= 3
        and sum(map(str.isalpha, run[0])) >= 5
        and _CARD.search(piece.lower) is not None
        and not _NO_VOUCHER.search(piece.lower)
        for run in _RUN.finditer(piece.text)
    )


def _set_up(piece: Piece) -> bool:
    for groups in _BASE_32.finditer(piece.lower):
        if any(_MIXED.fullmatch(group) for group in re.split("[ -]", groups[0])):
            return True
    return any(len(re.findall("[2-7]", run[0])) >= 2 for run in _RUN_OF_BASE_32.finditer(piece.text))


@cache
def wallet_words() -> frozenset[str]:
    """The words of which wallets make recovery phrases."""
    return frozenset(words("wallet_words", "english"))


SEEDS = Cues(Words("keys_seeds"))
_WORD = regex("[a-z]+")
_LISTED = regex(
    r"(?:\d{1,2}[.):]?\s?)?[a-z]{3,8}(?:(?:[\s,、]{1,3}|[;/|-]|\s[-/|>]\s)(?:\d{1,2}[.):]?\s?)?[a-z]{3,8}){11,24}"
)
_LISTED_ZH = regex(f"[{HAN_BLOCK}](?:[ ,、.-][{HAN_BLOCK}]){{11,23}}")
ROW = 12
"""Words: the shortest recovery phrase."""
_LEAST = 6
"""Whole words of a wallet that lists must hold: two in three of `ROW` for each, of which the first and the last may be parts of
longer words."""


def _wallet_words_in(piece: Piece) -> bool:
    """Whether a list of words or of single characters follows a word for a seed; two in three are a wallet's words."""
    if _LISTED_ZH.search(piece.lower):
        return True
    if sum(word in wallet_words() for word in _WORD.findall(piece.after)) < _LEAST:
        return False  # spares the search for lists, which costs ten times as much
    words_listed = [word for run in _LISTED.finditer(piece.after) for word in _WORD.findall(run[0])]
    return sum(word in wallet_words() for word in words_listed) * 3 >= 2 * max(ROW, len(words_listed))


def holds_wallet_words(read: TextReading) -> bool:
    """Whether `ROW` words of a wallet's list follow each other, numbered or not."""
    row, wallet = 0, wallet_words()
    for word in read.lower.split():
        plain = word if word in wallet else word.strip(".,;:\"'()0123456789")
        row = row + 1 if plain in wallet else 0 if plain else row
        if row >= ROW:
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
    Rule("private-key", 3, found_in_text(_PRIVATE_KEY), signs=Sign.LONG),
    Rule("api-key", 3, holds_issued_token, signs=Sign.LONG),
    Rule("api-key", 3, holds_cloud_secret, NAMED, signs=Sign.WIDE_DIGIT),
    Rule("api-key", 3, holds_named_key, NAMED, needs=Sign.DIGIT, signs=Sign.WIDE_DIGIT),
    Rule("json-web-token", 3, found_in_text(_JWT), signs=Sign.LONG),
    about("api-key", REDEEMED, _redeemed, before=80, after=96, needs=Sign.DIGIT),
    about("api-key", GUARDED, lambda piece: _GUARD.match(piece.text, piece.end), needs=Sign.DIGIT),
    about("api-key", SET_UP, _set_up, before=72, after=110, needs=Sign.DIGIT),
    about("api-key", KEYS, _key_in, before=72, after=128),
    Rule("recovery-codes", 3, lists_codes, RECOVERING, needs=Sign.DIGIT),
    Rule("issued-key", 3, holds_issued_key, signs=Sign.LONG),
    about("recovery-phrase", SEEDS, _wallet_words_in, before=8, after=280),
    Rule("recovery-phrase", 3, holds_wallet_words, SEEDS),
)
