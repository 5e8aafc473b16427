"""Letters that look like other letters: which ones a reader cannot tell from a Latin letter, or from a Han character. Pure tables.

Taken from Unicode's `confusables.txt` (UTS 39; Unicode License v3), and narrowed. A letter is listed for what its capital *or* its
small form looks like, since case is no difference here: `В` looks like `B`, so `в` stands with `b`. **No two letters of one living
alphabet stand with the same letter** (a test counts), so no two words of one language fall together; what falls together is a word
of one script with what looks the same in another (`сор`, `cop`), which nobody who looks at both can tell apart.

Left out: digits (`0`, `o`; `1`, `l`, `i`), letters that look like two (`rn`, `m`), Greek `σ` and `ω` (5 Ω is not 5 W), Arabic,
Hebrew and Indian letters (their likeness is weak), and Han characters that are words of their own (未末, 日曰, 己已巳).
"""

from __future__ import annotations

import re
import unicodedata

from engramlog_server.projections.language.patterns import regex

_WRITTEN = {
    "greek": ("α:a β:b ε:e ζ:z η:h ι:i κ:k ν:n ο:o ρ:p τ:t υ:y χ:x μ:u ϲ:c ϳ:j ϻ:m ϝ:f γ:ɣ"),
    "cyrillic": (
        "а:a в:b с:c е:e н:h і:i ј:j к:k м:m о:o р:p г:r ѕ:s т:t у:y х:x ԁ:d ԛ:q ԝ:w ѵ:v ӏ:l ԍ:g п:n һ:ħ ү:ɣ ь:ƅ"
    ),
    "armenian": "ց:g հ:h ո:n օ:o զ:q տ:s ս:u",
    "coptic": "ⲥ:c ⲏ:h ⲕ:k ⲓ:i ⲙ:m ⲛ:n ⲟ:o ⲣ:p ⲧ:t ⲭ:x ⲩ:y ⲅ:r",
    "cherokee": "Ꭺ:a Ᏼ:b Ꮯ:c Ꭰ:d Ꭼ:e Ꮐ:g Ꮋ:h Ꭵ:i Ꭻ:j Ꮶ:k Ꮮ:l Ꮇ:m Ꮲ:p Ꭱ:r Ꮪ:s Ꭲ:t Ꮩ:v Ꮃ:w Ꭹ:y Ꮓ:z",
    "lisu": ("ꓮ:a ꓐ:b ꓚ:c ꓓ:d ꓰ:e ꓝ:f ꓖ:g ꓧ:h ꓲ:i ꓙ:j ꓗ:k ꓡ:l ꓟ:m ꓠ:n ꓳ:o ꓑ:p ꓣ:r ꓢ:s ꓔ:t ꓴ:u ꓦ:v ꓪ:w ꓫ:x ꓬ:y ꓜ:z"),
    "canadian": "ᗩ:a ᗷ:b ᑕ:c ᗪ:d ᖴ:f ᕼ:h ᒍ:j ᒪ:l ᗰ:m ᑎ:n ᑭ:p ᖇ:r ᔕ:s ᑌ:u ᐯ:v ᗯ:w ᙭:x",
    "small capitals": (
        "ᴀ:a ʙ:b ᴄ:c ᴅ:d ᴇ:e ꜰ:f ɢ:g ʜ:h ɪ:i ᴊ:j ᴋ:k ʟ:l ᴍ:m ɴ:n ᴏ:o ᴘ:p ʀ:r ꜱ:s ᴛ:t ᴜ:u ᴠ:v ᴡ:w ʏ:y ᴢ:z"
    ),
    "latin": "ɑ:a ɡ:g ı:i ȷ:j ℮:e",
    "kana": "ニ:二 ハ:八 カ:力 ト:卜 ロ:口 タ:夕 エ:工 ー:一 ヘ:へ ベ:べ ペ:ぺ",
    "radicals": (
        "⺒:巳 ⺓:幺 ⺠:民 ⻁:虎 ⻄:西 ⻅:见 ⻆:角 ⻉:贝 ⻋:车 ⻑:长 ⻓:长 ⻔:门 ⻘:青 ⻙:韦 ⻚:页 ⻛:风 ⻜:飞 ⻝:食 ⻢:马 ⻣:骨 "
        "⻤:鬼 ⻥:鱼 ⻦:鸟 ⻧:卤 ⻨:麦 ⻩:黄 ⻪:黾 ⻬:齐 ⻮:齿 ⻰:龙 囗:口"
    ),
    "written twice": (
        "値:值 戸:户 絶:绝 郞:郎 黒:黑 晩:晚 鎭:镇 説:说 吿:告 靑:青 淸:清 淨:净 歳:岁 鬪:斗 緑:绿 録:录 歩:步 溫:温"
    ),
}
"""Each small letter with what it stands with. `ɣ`, `ħ` and `ƅ` are resting places: letters for which `IN_LATIN` has more to say."""

LIKE: dict[str, dict[str, str]] = {
    script: dict(pair.split(":") for pair in pairs.split()) for script, pairs in _WRITTEN.items()
}
"""By script, each letter in small form with what it stands with."""

IN_LATIN = {"ν": "v", "η": "n", "υ": "u", "γ": "y", "Μ": "m", "һ": "h", "ү": "y", "ь": "b"}
"""What a letter looks like exactly as it is written, where a Latin letter stands in the same word: small `ν` is a `v` there."""


def _accented() -> dict[str, str]:
    """The letters of `LIKE` with their accents: `ё` stands with `ë`, `ή` with `h` and an accent."""
    letters = {letter: like for script in ("greek", "cyrillic") for letter, like in LIKE[script].items()}
    found = {}
    for point in (*range(0x370, 0x530), *range(0x1F00, 0x2000)):
        apart = unicodedata.normalize("NFD", chr(point))
        first, accents = apart[0], apart[1:]
        if accents and first in letters:
            found[chr(point)] = unicodedata.normalize("NFC", letters[first] + accents)
    return found


_ALL = {letter: like for pairs in LIKE.values() for letter, like in pairs.items()} | _accented()
_LIKE = str.maketrans(_ALL)
_ANY = regex(f"[{''.join(_ALL)}]")
_LATIN = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
_IN_LATIN = str.maketrans(IN_LATIN)
_WORDS = regex(f"[{_LATIN}\u0370-\u052f\u0531-\u0587\u0300-\u0345]{{2,}}")
_HAS_LATIN = regex(f"[{_LATIN}]")
_TWO_FACED = regex(f"[{''.join(IN_LATIN)}]")


def as_in_latin(text: str) -> str:
    """A text in NFC whose letters of `IN_LATIN` are Latin ones in words that hold a Latin letter. Case is kept."""
    return _WORDS.sub(_as_in_latin, text) if _TWO_FACED.search(text) else text


def _as_in_latin(found: re.Match[str]) -> str:
    word = found[0]
    return word.translate(_IN_LATIN) if _HAS_LATIN.search(word) else word


def as_they_look(text: str) -> str:
    """A text in NFC and small letters, each letter of `LIKE` as what it stands with; may have to be composed again."""
    return text.translate(_LIKE) if _ANY.search(text) else text
