"""What the parser of the command line refuses is told in our words: which option, what was got, what is allowed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from typer._click.exceptions import BadParameter

from events.errors import InputError, refused

KINDS = {"valid integer": "a whole number", "valid number": "a number", "valid boolean": "true or false"}
"""What a library calls a kind of value, and we."""
_BOUND = re.compile(r"should be (less|greater) than (or equal to )?([-\d.]+)")


def in_our_words(command: Any) -> Any:
    """The command, and those below it, with such refusals as an InputError: then `--json` tells it as any other."""
    for below in getattr(command, "commands", {}).values():
        in_our_words(below)
    parse = command.parse_args

    def parse_args(context: Any, args: list[str]) -> Any:
        told = list(args)
        try:
            return parse(context, args)
        except BadParameter as problem:
            if problem.param is None or not problem.message.startswith("Input should be"):
                raise
            raise _refusal(problem, told) from None

    command.parse_args = parse_args
    return command


def _refusal(problem: BadParameter, told: Sequence[str]) -> InputError:
    parameter: Any = problem.param
    name = max(parameter.opts, key=len).lstrip("-").replace("-", "_")
    got = _got(parameter.opts, told) if parameter.param_type_name == "option" else "something else"
    bound = _BOUND.search(problem.message)
    if bound is not None:
        allowed = f"at {'most' if bound[1] == 'less' else 'least'} {bound[3]}"
    else:
        allowed = next((ours for theirs, ours in KINDS.items() if theirs in problem.message), "another value")
    return refused(name, got, allowed)


def _got(options: Sequence[str], told: Sequence[str]) -> str:
    """What stands behind the option."""
    for place, word in enumerate(told):
        for option in options:
            if word == option and place + 1 < len(told):
                return told[place + 1]
            if word.startswith(f"{option}=") or (len(option) == 2 and word.startswith(option)):
                return word[len(option) :].removeprefix("=")
    return "something else"
