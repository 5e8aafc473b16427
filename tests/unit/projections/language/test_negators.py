"""What turns a statement round is said once, and every reader knows all of it."""

from __future__ import annotations

from engramlog_server.projections.language import lexicon
from engramlog_server.projections.language.contradiction.relation import NOT, marked, written
from engramlog_server.projections.language.similar import polarity
from engramlog_server.projections.memory.tags import _word_tags
from tests.rows import each_row


@each_row("word", lexicon.negating_english("word", "verb", "feeling"))
def test_every_english_negator_turns_a_statement_round(word: str) -> None:
    assert polarity(f"they {word} it at home") == -1


@each_row("word", lexicon.negating_english("word"))
def test_contradiction_marks_every_english_negator(word: str) -> None:
    assert NOT in marked(written(f"they {word} tea at home"))


@each_row("word", lexicon.negating_english("word"))
def test_a_good_mood_is_denied_by_every_english_negator(word: str) -> None:
    assert "positive" in _word_tags("they are happy at home")
    assert "positive" not in _word_tags(f"they are {word} happy at home")


@each_row("word", lexicon.negating_chinese("word", "verb", "feeling"))
def test_every_chinese_negator_turns_a_statement_round(word: str) -> None:
    assert polarity(f"我{word}去跑步") == -1


@each_row("word", lexicon.negating_chinese("verb"))
def test_contradiction_marks_every_chinese_negator(word: str) -> None:
    assert NOT in marked(written(f"我{word}跑步"))


@each_row("word", lexicon.negating_chinese("idle"))
def test_what_only_looks_like_a_negation_is_none_to_any_reader(word: str) -> None:
    assert polarity(f"我们{word}的茶") == 1
    assert NOT not in marked(written(f"我们{word}的茶"))


def test_no_word_has_two_roles() -> None:
    roles = ("word", "contraction", "verb", "feeling", "idle")
    every = [one for role in roles for one in (*lexicon.negating_english(role), *lexicon.negating_chinese(role))]
    assert len(every) == len(set(every))
