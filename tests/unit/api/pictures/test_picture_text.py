"""Labels are cut by their width, and fonts with Chinese characters are found by their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.pictures.text import columns, has_chinese_name, short


@pytest.mark.parametrize(
    ("name", "chinese"),
    [
        ("NotoSansCJK-Regular.ttc", True),
        ("NotoSansSC[wght].ttf", True),
        ("wqy-microhei.ttc", True),
        ("simhei.ttf", True),
        ("msyh.ttc", True),
        ("PingFang.ttc", True),
        ("Hiragino Sans GB.ttc", True),
        ("DejaVuSans.ttf", False),
        ("NotoSans-Regular.ttf", False),
        ("NotoColorEmoji.ttf", False),
    ],
)
def test_fonts_with_chinese_are_known_by_their_file_name(name: str, chinese: bool) -> None:
    assert has_chinese_name(Path("fonts") / name) is chinese


@pytest.mark.parametrize(
    ("text", "most", "shown"),
    [
        ("short", 10, "short"),
        ("exactly ten", 11, "exactly ten"),
        ("much longer than that", 10, "much long…"),
        ("早上一定要喝咖啡", 10, "早上一定…"),
        (" two\nlines\x00 ", 10, "two lines"),
    ],
)
def test_a_label_is_cut_by_its_width(text: str, most: float, shown: str) -> None:
    assert short(text, most) == shown
    assert columns(shown) <= most
