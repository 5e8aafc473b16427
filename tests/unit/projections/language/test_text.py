"""What a text is found by."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from projections.language.text import MAX_TOKEN, tokens
from tests.rows import each_row

TEXTS = [
    ("words are stemmed and stop words left out", "The cats were running", ["cat", "run"]),
    ("the first and second person are kept", "I told you about my dog", ["i", "told", "you", "my", "dog"]),
    ("stop words are kept where nothing else is left", "who was that?", ["who", "was", "that"]),
    ("contractions leave their words", "Anna's", ["anna"]),
    ("a hyphen joins no identifier by itself", "well-known", ["well", "known"]),
    ("Han runs are bigrams and characters", "喝咖啡", ["喝咖", "咖啡", "喝", "咖", "啡"]),
    ("function characters only stand in bigrams", "我的猫", ["我的", "的猫", "我", "猫"]),
    ("a Han run of one is itself", "猫!", ["猫"]),
    ("a function character alone is itself", "的", ["的"]),
    ("Han and Latin in one run are parted", "买iPhone15了", ["买", "iphone15", "了"]),
    ("rare Han beyond the basic plane count as Han", "𠮷野", ["𠮷野", "𠮷", "野"]),
    ("full-width letters and digits are the plain ones", "ＡＢＣ２０２３", ["abc2023"]),
    ("compatibility forms are folded", "ﬁne ①", ["fine", "1"]),
    ("case is folded beyond ASCII", "STRASSE Straße", ["strass", "strass"]),
    ("accented words stay whole", "naïve Zoë", ["naïve", "zoë"]),
    ("Cyrillic is words", "Привет, мир", ["привет", "мир"]),
    ("Greek final sigma is folded", "ΟΔΟΣ", ["οδοσ"]),
    ("Arabic keeps its vowel marks", "كِتَاب جميل", ["كِتَاب", "جميل"]),
    ("Devanagari keeps its vowel signs", "हिन्दी में", ["हिन्दी", "में"]),
    ("Hangul is words", "커피를 좋아해", ["커피를", "좋아해"]),
    ("kana runs are words by script", "コーヒーがすき", ["コーヒー", "がすき"]),
    ("Thai is bigrams without characters", "กาแฟ", ["กา", "าแ", "แฟ"]),
    ("a file name is found whole and by its parts", "foo_bar.py", ["foo_bar.py", "foo", "bar", "py"]),
    ("a dunder name loses its outer marks", "__init__.py", ["init__.py", "init", "py"]),
    ("an error code is found whole", "ERR-1042!", ["err-1042", "err", "1042"]),
    ("a version is found whole", "v2.3.1.", ["v2.3.1", "v2", "3", "1"]),
    ("an e-mail address is found whole", "ada+x@b.co", ["ada+x@b.co", "ada", "x", "b", "co"]),
    ("an address's stop-word part is left out", "a@b.co", ["a@b.co", "b", "co"]),
    ("a day is found whole", "2023-05-07", ["2023-05-07", "2023", "05", "07"]),
    ("a time is found whole", "10:30", ["10:30", "10", "30"]),
    ("languages with signs are found", "C++, C#", ["c++", "c", "c#", "c"]),
    ("an ellipsis joins nothing", "well...1", ["well", "1"]),
    ("a path is its names, then itself", "src/main.py", ["src", "main.py", "main", "py", "src/main.py"]),
    ("a choice of two is no path", "and/or he/she", ["and", "or", "he", "she"]),
    ("a slash alone makes no path", "/tmp9 </h1>", ["tmp9", "h1"]),
    (
        "an address is its names, then itself",
        "https://x.y/z?q=1.",
        ["https", "x.y", "x", "y", "z", "q", "1", "https://x.y/z?q=1"],
    ),
    ("a numbered thing is its number, then itself", "#1234 #goals", ["1234", "goal", "#1234"]),
    (
        "a telephone number is its last nine digits and more",
        "0 30 1234567",
        ["0", "30", "1234567", "tel:301234567", "tel:0301234567"],
    ),
    ("however it is written", "030-123 4567", ["030-123", "030", "123", "4567", "tel:301234567", "tel:0301234567"]),
    ("also among Han", "电0301234567话", ["电", "0301234567", "话", "tel:301234567", "tel:0301234567"]),
    ("a language is whole before Han too", "C++和C#。", ["c++", "c", "和", "c#", "c"]),
    ("a day and a time are no telephone number", "2023-05-07 10", ["2023-05-07", "2023", "05", "07", "10"]),
    ("emoji are tokens", "🎉🎉 yes", ["🎉", "🎉", "yes"]),
    ("skin tone and presentation are dropped", "👍🏽❤️", ["👍", "❤"]),
    ("a flag is one token", "🇨🇳🇫🇷", ["🇨🇳", "🇫🇷"]),
    ("punctuation alone is nothing", "?!… — “”", []),
    ("nothing is nothing", "", []),
    ("a lone surrogate is no token", "\ud800 x", ["x"]),
]


@each_row(("text", "expected"), [case[1:] for case in TEXTS], ids=[case[0] for case in TEXTS])
def test_a_text_has_these_tokens(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


def test_a_long_run_is_cut_alike_in_text_and_query() -> None:
    blob = "Qx7" * 1000
    assert tokens(blob) == tokens(f"see {blob}")[1:]
    assert len(tokens(blob)[0]) == MAX_TOKEN


@given(st.text())
def test_any_text_has_tokens_and_none_is_empty_or_too_long(text: str) -> None:
    assert all(0 < len(token) <= MAX_TOKEN for token in tokens(text))


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_ascii_words_are_the_same_beside_other_scripts(text: str) -> None:
    assert sorted(tokens(f"x1 {text} y1 é")) == sorted([*tokens(f"x1 {text} y1"), "é"])
