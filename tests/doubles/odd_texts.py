"""Texts that a model's tokenizer may trip over: empty, broken, very long, or of characters that stand for many."""

ODD_TEXTS = {
    "empty": "",
    "white space": " \n\t",
    "a sign": "?",
    "beyond the basic plane": "🙂",
    "a lone surrogate": "\ud800",
    "a NUL within": "a\x00b",
    "NUL alone": "\x00",
    "letters without end": "a" * 9_000,
    "Han without end": "喝" * 9_000,
    "white space without end": " " * 20_000 + "end",
    "invisible": "\u200b\ufeff",
    "marks on nothing": "\u0300\u0316" * 5_000,
    "one character that stands for 18": "\ufdfa" * 5_000,
    "letters in parts": "\u1100\u1161" * 5_000,
}
