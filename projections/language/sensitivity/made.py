"""What a person makes up as a password, by its form: words joined with digits, signs or capitals. Pure.

`sproutHater_09`, `t0ast-Parliament-88`, `muddywellies77`. Names of products, files, hosts, episodes and users look alike; what is
known of their forms is left out here, the rest must be told by what stands around (`secrets.told`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.sensitivity.rule import listed
from engramlog_server.projections.language.sensitivity.values import bare, strength
from engramlog_server.projections.language.times.names import MONTH_STARTS, WEEKDAY

JOINED, WORDS = 1, 2
"""A word with digits; words joined as hardly anything else is."""

_LEAST, _MOST = 7, 40
_WORD = regex("[A-Za-z]{2,}")
_PRODUCTS = "|".join(
    listed("""
    iphone, ipad, ipod, imac, mac, macbook, airpods?, homepod, thinkpad, ideapad, yoga, legion, chromebook, surface
    galaxy, pixel
    redmi, xiaomi, huawei, honor, oppo, vivo, oneplus, matebook, matepad, mate, nova, kindle, fire, echo, playstation
    xbox, switch
    nintendo, windows, win, ubuntu, debian, fedora, centos, android, ios, ipados, macos, python, node, nodejs, django
    flask, rails
    react, angular, vue, spring, mysql, mariadb, postgres, postgresql, redis, mongodb, java, php, office, word, excel
    photoshop
    chrome, firefox, safari, edge, opera, geforce, rtx, gtx, radeon, ryzen, intel, core, xeon, archer, netgear
    linksys, asus
    tplink, tp-link, nighthawk, deco, orbi, eero, fritz, fritzbox, velop, unifi, dlink, season, episode, chapter
    version, release
    build, patch, update, level, stage, part, phase, wave, covid, sony, samsung, canon, epson, brother, laserjet
    deskjet, officejet
    envy, pavilion, inspiron, latitude, xps, optiplex, precision, vostro, dell, acer, aspire, nitro, predator
    alienware, razer
    logitech, gpt, chatgpt, llama, claude, gemini, qwen, deepseek, xiaoxin, lenovo, dji, gopro, garmin, fitbit, nokia
    motorola
    bluetooth, displayport, hdmi, usb, type, oauth, openvpn, wireguard, openssl, nginx, apache, tomcat, webpack
    bootstrap, openwrt
    wordpress, drupal, magento, poweredge, proliant, synology, qnap, group, team, week, day, grade, class, section
    table, figure
    example, option, question, task, item, number, test, user, admin, server, port, column, slide, lesson, exercise
    section
""")
)
_SOMETHING_ELSE = regex(
    rf"(?:{_PRODUCTS})(?:pro|air|max|plus|ultra|mini|se|lite|gen)*(?:[\d.+_-]|$)"
    r"|.*[_-](?:5|2\.4|2)g$|.*[_.-]v\d+(?:\.\d+)*$|.*\bs\d\de\d\d|.*\d(?:gb|tb|mb|mhz|ghz|mah|px|hz|bit|fps)\b|.*\.\d+\.\d|.*-\d+\.\d+$"
    r"|.*[_.-](?:rc|beta|alpha|pre|rev|fix|dev|prod|test|staging|node|copy|final|draft|img|dsc|pic|photo|chapter|part|page)[_.-]?\d*$"
    r"|(?:img|dsc|pic|scr|rfc|cve|iso|ieee|pep|jira|bug|pr|eq|fig|img|ver|rev|gen|lv|us|eu|ap|ca)[_-]"
    rf"|(?:{WEEKDAY})\d|(?:{MONTH_STARTS})[a-z]{{0,6}}[-_.]?\d"
)
_LEET = regex("[A-Za-z][0-9][A-Za-z]{2}|[0-9][A-Za-z]{3}")
_AT_NUMBER = regex("[a-z]{6,16}@[0-9]{2,6}")
_HUMP = regex("[a-z][A-Z][a-z]")
_NUMBERED = regex("[A-Z][a-z]+[-.][0-9]{1,3}")
"""As a crew, a plane, an error is: Apollo-11."""
_ENDS = regex(r"[A-Za-z]{6,24}[0-9]{1,8}")


def candidates(text: str, kinds: bytes) -> Iterator[tuple[int, str]]:
    """What may be made up as a password in a text: where it begins, and the run of letters, digits and signs.

    `kinds` are those of the text (`TextReading.kinds`).

    A digit follows a letter in it, at once or after one sign, or it begins with a digit and a letter.
    """
    for numbered in (b"a0", b"a-0", b" 0a"):
        at = kinds.find(numbered)
        while at >= 0:
            start, end = kinds.rfind(b" ", 0, at + 1) + 1, kinds.find(b" ", at + 1)
            end = len(text) if end < 0 else end
            if _LEAST <= end - start <= _MOST + 8:
                yield start, text[start:end]
            at = kinds.find(numbered, end)


def made(token: str) -> int:
    """0 for what is nothing a person made up as a password, else `JOINED` or `WORDS`."""
    value = bare(token)
    if not _LEAST <= len(value) <= _MOST or sum(map(str.islower, value)) < 3 or _SOMETHING_ELSE.match(value.lower()):
        return 0
    known = 3 if _AT_NUMBER.fullmatch(value) else strength(value)
    letters = sum(map(len, _WORD.findall(value)))
    if not known or letters < 5:
        return 0
    if known == 3 or (letters >= 6 and _of_words(value)):
        return WORDS
    return JOINED if len(value) >= 8 or _ENDS.fullmatch(value) else 0


def _of_words(value: str) -> bool:
    """Whether words are joined by capitals, or by signs and with a capital or a digit for a letter."""
    cased = value.lower() != value
    if cased and len(value) >= 10 and _HUMP.search(value):
        return True
    parts = [part for part in re.split("[._-]", value) if part]
    joined = len(parts) >= 2 and max(map(len, parts)) >= 4 and (cased or _LEET.search(value) is not None)
    return joined and not _NUMBERED.fullmatch(value)
