"""The prompts that models are asked with: files beside this one, in Chinese and in English."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Literal

Language = Literal["en", "zh"]


@cache
def prompt(name: str, language: Language) -> str:
    """The text of `projections/models/prompts/NAME.LANGUAGE.md`. Raises FileNotFoundError where there is none."""
    return (
        files("engramlog_server.projections.models")
        .joinpath("prompts", f"{name}.{language}.md")
        .read_text("utf-8")
        .strip()
    )
