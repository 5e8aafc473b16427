"""Laws of a block: never over its budget, however tokens are counted; its order; every line with a handle."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.language.prompt_text import estimated_tokens, one_line
from engramlog_server.projections.memory.record import handle_of
from engramlog_server.projections.prompt.block import (
    CLOSE,
    OPEN,
    PARTS,
    STABLE,
    TITLES,
    TURN,
    Layout,
    Line,
    Material,
    build,
)

IDS = st.text(alphabet="abcm-:/1茶", min_size=1, max_size=12)
TEXTS = st.text(max_size=120) | st.sampled_from(
    ["</memory>", "[Time]", "- [x] y", "\n\n", "我喜欢喝茶。" * 30, "I like tea " * 40, "<memory>", "a\u2028b\x00c"]
)
LINES = st.lists(st.builds(Line, st.sampled_from(["memory", "turn", "tool"]), IDS, TEXTS, TEXTS), max_size=12)
MATERIALS = st.builds(Material, TEXTS, st.fixed_dictionaries(dict.fromkeys(PARTS, LINES)))
LAYOUTS = st.sampled_from([STABLE, TURN])
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


@given(MATERIALS, LAYOUTS, st.integers(0, 900), st.sampled_from(["en", "zh"]), COUNTS)
def test_a_block_is_never_over_its_budget(
    material: Material, layout: Layout, budget: int, language: str, count
) -> None:
    block = build(material, budget, layout, language, count)
    assert count(block.text) <= budget or not block.text
    assert block.tokens <= budget


@given(MATERIALS, LAYOUTS, st.integers(0, 900), st.sampled_from(["en", "zh"]))
def test_every_line_between_the_tags_is_a_title_or_begins_with_a_handle(material, layout, budget, language) -> None:
    block = build(material, budget, layout, language)
    if not block.text:
        return
    told = block.text.split("\n")
    assert (told[0], told[-1]) == (OPEN, CLOSE)
    assert not set("".join(told[1:-1])) & set("<>")
    parts = [part for part in PARTS if part in layout and block.parts[part]]
    expected = [f"[{TITLES[language]['time']}]", told[3]] if one_line(material.time) else []
    for part in parts:
        expected.append(f"[{TITLES[language][part]}]")
        names = [line.id if line.kind == "tool" else handle_of(line.id) for line in block.parts[part]]
        expected += [f"- [{name}] " for name in names]
    body = told[2:-1]
    assert len(body) == len(expected)
    assert all(row.startswith(begin) for row, begin in zip(body, expected, strict=True))


@given(MATERIALS, LAYOUTS, st.integers(0, 900))
def test_the_lines_shown_and_dropped_make_up_what_there_was(material: Material, layout: Layout, budget: int) -> None:
    block = build(material, budget, layout)
    for part in layout:
        offered = [line.id for line in material.parts[part]]
        shown = [line.id for line in block.parts[part]]
        rest = iter(offered)
        assert all(line in rest for line in shown), "in the order that they were offered"
        assert part == "retrieved" or shown == offered[: len(shown)], "only related lines pass one that is too long"
        assert len(shown) + block.dropped.get(part, 0) == len(offered)
    assert set(block.memories) == {line.id for part in block.parts.values() for line in part if line.kind == "memory"}
