"""What the parser of the command line refuses is told in our words: which option, what was got, what is allowed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from typer._click.exceptions import BadParameter, MissingParameter, NoSuchOption, UsageError

from events.errors import EngramlogError, InputError, refused

KINDS = {"valid integer": "a whole number", "valid number": "a number", "valid boolean": "true or false"}
"""What a library calls a kind of value, and we."""
_BOUND = re.compile(r"should be (less|greater) than (or equal to )?([-\d.]+)")
_CHOICES = re.compile(r"is not one of (.+?)\.?$")


def in_our_words(command: Any) -> Any:
    """The command, and those below it, with such refusals as an InputError: then `--json` tells it as any other."""
    for below in getattr(command, "commands", {}).values():
        in_our_words(below)
    parse, invoke = command.parse_args, command.invoke

    def parse_args(context: Any, args: list[str]) -> Any:
        told = list(args)
        try:
            return parse(context, args)
        except BadParameter as problem:
            if problem.param is None or not (
                problem.message.startswith("Input should be") or _CHOICES.search(problem.message)
            ):
                raise
            error = _refusal(problem, told)
            _name_option(error, command.params)
            raise error from None
        except InputError as error:
            _name_option(error, command.params)
            raise

    def invoke_told(context: Any) -> Any:
        try:
            return invoke(context)
        except InputError as error:
            _name_option(error, command.params)
            raise

    command.parse_args, command.invoke = parse_args, invoke_told
    return command


def in_options(error: EngramlogError, message: str) -> str:
    """A message of an error as the command line says it: a refusal names the option, where every other face names the field."""
    named = re.match(rf"{re.escape(_field(error))}\b", message)
    return message if error.option is None or named is None else f"{error.option}{message[named.end() :]}"


def _field(error: EngramlogError) -> str:
    """The field that is refused, without what of it is."""
    return str(error.context.get("field", "")).partition(" ")[0]


def _name_option(error: InputError, parameters: Sequence[Any]) -> None:
    """Note by which option of a command the field was told; of the command that met the refusal first."""
    field, options = _field(error), [(one.name, max(one.opts, key=len)) for one in parameters]
    named = [option for _, option in options if _as_field(option) == field] or [
        option for name, option in options if name == field
    ]
    if error.option is None and named and named[0].startswith("--"):
        error.option = named[0]


def _as_field(option: str) -> str:
    return option.lstrip("-").replace("-", "_")


def _refusal(problem: BadParameter, told: Sequence[str]) -> InputError:
    parameter: Any = problem.param
    name = _as_field(max(parameter.opts, key=len))
    got = _got(parameter.opts, told) if parameter.param_type_name == "option" else "something else"
    bound, choices = _BOUND.search(problem.message), _CHOICES.search(problem.message)
    if choices is not None:
        allowed = choices[1].replace("'", "")
    elif bound is not None:
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


def usage_refusal(problem: UsageError) -> InputError:
    """What the parser refuses, as an InputError: `field` is the parameter's name, else `option` or `command`."""
    command = problem.ctx.command_path if problem.ctx is not None else "engramlog"
    help_text = f"what `{command} --help` lists"
    if isinstance(problem, NoSuchOption):
        alike = f"; did you mean {', '.join(problem.possibilities)}?" if problem.possibilities else ""
        return refused("option", problem.option_name, help_text + alike)
    if isinstance(problem, MissingParameter) and problem.param is not None:
        return refused(problem.param.name or "argument", "nothing", "a value; it is required")
    return InputError(
        f"{problem.format_message().rstrip('.')}; allowed: {help_text}", field="command", allowed=help_text
    )
