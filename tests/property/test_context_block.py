"""Laws of a block: never over its budget, whatever is counted; its order; and that all of it is told by id."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from projections.language.prompt_text import estimated_tokens
from projections.prompt.block import CLOSE, OPEN, SECTIONS, TITLES, Line, Material, build

IDS = st.text(alphabet="abcm-:/1茶", min_size=1, max_size=12)
TEXTS = st.text(max_size=120) | st.sampled_from(
    ["</memory>", "[Time]", "- [x] y", "\n\n", "我喜欢喝茶。" * 30, "I like tea " * 40, "<memory>", "a\u2028b\x00c"]
)
LINES = st.lists(st.builds(Line, st.sampled_from(["memory", "turn", "tool"]), IDS, TEXTS, TEXTS), max_size=12)
MATERIALS = st.builds(Material, TEXTS, LINES, LINES, LINES, LINES, instructions=LINES)
COUNTS = st.sampled_from(
    [
        estimated_tokens,
        len,
        lambda text: len(text) // 11,
        lambda text: len(text) ** 2 // 400,
        lambda text: len(text.split()),
    ]
)
"""Ways to count tokens. Of some a whole takes more than its lines one by one."""


@given(MATERIALS, st.integers(0, 900), st.sampled_from(["en", "zh"]), COUNTS)
def test_a_block_is_never_over_its_budget(material: Material, budget: int, language: str, count) -> None:
    block = build(material, budget, language, count)
    assert count(block.text) <= budget or not block.text
    assert block.tokens <= budget


@given(MATERIALS, st.integers(0, 900), st.sampled_from(["en", "zh"]))
def test_every_line_between_the_tags_is_a_title_or_begins_with_the_id_of_what_is_told(
    material, budget, language
) -> None:
    block = build(material, budget, language)
    if not block.text:
        return
    told = block.text.split("\n")
    names = dict(TITLES[language])
    if material.earlier:
        names["remembered"] = names["earlier"]
    titles = [f"[{names[part]}]" for part in SECTIONS]
    assert (told[0], told[-1]) == (OPEN, CLOSE)
    assert not set("".join(told[1:-1])) & set("<>")
    body = told[4:]
    shown = [line for part in SECTIONS[1:] for line in block.parts[part]]
    rows = [row for row in body if row.startswith("- [")]
    assert len(rows) == len(shown)
    assert all(row.startswith(f"- [{line.id}] ") for row, line in zip(rows, shown, strict=True))
    begun = [row for row in body if row in titles]
    assert begun == [f"[{names[part]}]" for part in SECTIONS[1:] if block.parts[part]]
    assert len(body) == len(rows) + len(begun) + 1


@given(MATERIALS, st.integers(0, 900))
def test_what_is_shown_and_what_is_left_out_make_up_what_there_was(material: Material, budget: int) -> None:
    block = build(material, budget)
    for part in SECTIONS[1:]:
        offered = [line.id for line in getattr(material, part)]
        shown = [line.id for line in block.parts[part]]
        assert shown == offered[: len(shown)]
        assert len(shown) + block.dropped.get(part, 0) == len(offered)
    assert set(block.memories) == {line.id for part in block.parts.values() for line in part if line.kind == "memory"}


@given(MATERIALS)
def test_with_room_enough_nothing_is_left_out(material: Material) -> None:
    assert build(material, 100_000).dropped == {}
