"""Level 3 by what a person made up, told of a network, a service or a device that asks for a password; no word for one needed.

`mum changed the netflix again. its sproutHater_09`, `vpn: j.moreau / t0ast-Parliament-88`, `电脑开机：woaichihuoguo2`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.sensitivity.made import JOINED, WORDS, candidates, made
from engramlog_server.projections.language.sensitivity.reading import Cues, TextReading
from engramlog_server.projections.language.sensitivity.rule import Rule, either, listed
from engramlog_server.projections.language.sensitivity.sign import Sign

ASKING = Cues(
    listed("""
    wifi, wi-fi, wi fi, network, router, hotspot, broadband, modem, netflix, hulu, disney, disney plus, disney+, prime, hbo
    paramount, peacock, crunchyroll, kindle, audible, iplayer, amazon, ebay, etsy, paypal, venmo, revolut, monzo, bank, banking
    vinted, dropbox, icloud, outlook, gmail, hotmail, yahoo, mail, email, e-mail, zoom, slack, jira, kahoot, duolingo, roblox
    minecraft, fortnite, xbox, playstation, psn, nintendo, steam, instagram, insta, facebook, twitter, tiktok, snapchat, discord
    reddit, twitch, spotify, laptop, tablet, ipad, pc, macbook, chromebook, computer, desktop, phone, vpn, server
    plex, ssh, sftp, ftp
    nas, login, log in, log into, log on, sign in, sign into, portal, redis, citrix, zip, pdf, excel
""")
)
ASKING_ZH = Cues(
    listed("""
    校园网, 学校网, 单位网
    开机, 锁屏, 解锁, 电脑, 笔记本, 路由, 无线, wifi, 网盘, 家网, 家里网, 家的网, 网络, 热点, 宽带, 解压, 会员, 爱奇艺
    优酷, 腾讯, 芒果, 京东, 淘宝, 支付宝
    微博, qq, 微信, 抖音, 快手, 小红书, 哔哩, b站, 游戏, steam, 原神, 王者, 账号, 账户, 登录, 登陆, 登入, 登录名, oa
    vpn, 系统, 后台, 服务器
    数据库, root, 管理员, 摄像头, 打印机, 平板, 手机, 邮箱, 学号, 教务, 网银, 网课, 群晖, 监控, 门户
    小米, 华为
""")
)
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
_OF_NAMES = regex(
    either("""
    called, named, name, names, username, user, users, handle, gamertag, tag, tagged, nickname, file, files, folder
    branch, model
    version, playlist, episode, season, channel, hashtag, ssid, host, hostname, id, driver, firmware, follow, part
    order, series
    a, an, the new, upgraded, upgrade, device, build, ticket, error, case, bought, buy, got a, got an, function, class
    variable
    script, table, column, field, route, endpoint, module, package, commit, plan, street, rd, ref, reference, booking
    flight
""")
    + r"[^.!?\n]{0,18}$"
)
_HANDLED = frozenset(
    listed("""
    instagram, insta, twitter, tiktok, snapchat, discord, reddit, twitch, spotify, xbox, psn, playstation, steam
    roblox, gmail
    outlook, hotmail, yahoo, mail, email, e-mail, facebook, fortnite, minecraft, nintendo, icloud
""")
)
"""Where a name of a user is told as a password is; only what lets somebody in, or what is no name, counts."""
_LETS_IN = regex(r"(?:type|put|punch|enter|key|log|sign|in|unlock|open)\w{0,3}(?: in)?(?: with| using)?\s{1,2}[\"'(]?$")
_LOOSELY = frozenset(listed("phone, mail, email, e-mail, computer, network, server, zip, pdf"))
"""Things that are told much else of: only words that lead to a value that is typed count."""
_LEADING = frozenset(
    listed(
        "in, with, by, using, now, to, it, its, it's, is, use, then, want, wants, takes, for, type, put, enter, one's"
    )
)
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
    found = (
        link(lower[start:end], lower[end:at], lower[max(0, start - 24) : at])
        for start, end in places[max(0, last - 4) : last]
        if end <= at <= end + far and "\n" not in lower[end:at]
    )
    return min((grade for grade in found if grade), default=0)


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
    told = word not in _LOOSELY and (_PAIR.match(gap) or (_SAID.search(gap) and _AGAIN.search(gap)))
    return WORDS if told else 0


def _link_in_chinese(word: str, gap: str, before: str) -> int:
    if _OF_NAMES_ZH.search(gap) or _OF_NAMES.search(before):
        return 0
    if _TYPED_ZH.search(gap) or (word in _DIRECT_ZH and _SAID_ZH.search(gap)):
        return JOINED
    return WORDS if _SAID_ZH.search(gap) else 0


RULES = (Rule("password", 3, says_what_is_typed, Cues(ASKING, ASKING_ZH), needs=Sign.DIGIT),)
