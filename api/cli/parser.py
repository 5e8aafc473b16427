"""Parser of the command line: plain help, values as they are, and refusals that say what is allowed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin

import typer
from typer._click.exceptions import BadParameter, MissingParameter, NoSuchOption, UsageError
from typer._coercion import RuntimeParam, build_runtime_param
from typer.core import TyperCommand, TyperGroup

from engramlog_server.events.errors import EngramlogError, InputError, refused

if TYPE_CHECKING:
    Base = TyperCommand
else:
    Base = object
Called = TypeVar("Called", bound=Callable[..., Any])
MARKUP: Any = None
"""Help is plain text: what typer draws with boxes loads a parser of Markdown and a highlighter of code."""
MOST_COLUMN = 30
"""Columns of the names in a list of options."""
_USAGE = re.compile(r"\{(.+)\}|(?<=\[)\[(.+)\](?=\])")
_LISTED = re.compile(r"<list\[(\w+)\]>")
_EXAMPLE = re.compile(r"`(engramlog [^`]+)`")
_DIGITS = re.compile(r"[0-9]{1,18}")
COMMANDS = {
    "Ask": "search get list why history events assess map associations facts synonyms context answers",
    "Compare": "compare diff parameters profile replay",
    "Say": "add edit mention append import extract episodes negate merge unmerge delete set-aside retract export",
    "Keep": "inbox health fading reinforce review cleanup",
    "Connect": "install uninstall hook",
    "Share": "key grant access",
    "Operate": "up console token master-key backup mcp worker status doctor alarms stats dead seal erase rebuild verify demo",
}
"""The commands by group, in the order of `--help`; what else a listing tells of them is in the made table."""


class _Value(RuntimeParam):
    """What a parameter is given, as it is where it has its type already: else typer loads pydantic for every command."""

    def _coerce_value(self, value: Any, param: Any, ctx: Any) -> Any:
        kind: Any = self.annotation
        if type(value) is kind:
            return value
        if kind == list[str] and all(isinstance(one, str) for one in value):
            return list(value)
        if get_origin(kind) is Literal and value in get_args(kind):
            return value
        if kind is int and isinstance(value, str) and _DIGITS.fullmatch(value) and self.parameter_info.max is None:
            return int(value)
        return build_runtime_param(param.type_descriptor).coerce(value, param=param, ctx=ctx)


class _Plain(Base):
    """Help in sections of plain text, and values taken as they are."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Arguments and options."""
        parameters: list[Any] = super().get_params(ctx)
        for one in parameters:
            if one._runtime_param is None:
                one._runtime_param = _Value(one.type_descriptor.parameter_info, one.type_descriptor.annotation)
        return parameters

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """What the first line of help lists."""
        return [_USAGE.sub(lambda found: found[1] or found[2], one) for one in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments, options by panel, and commands by panel."""
        panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for one in self.get_params(ctx):
            if (told := one.get_help_record(ctx)) is not None:
                panel = "Arguments" if one.param_type_name == "argument" else "Options"
                row = (_LISTED.sub(r"<\1>", told[0]), _unquoted(told[1]))
                panels.setdefault(one.rich_help_panel or panel, []).append(row)
        _write_panels(panels, formatter)
        panels = {}
        for name, command in getattr(self, "commands", {}).items():
            about = _unquoted(command.help or "").partition("\n\n")[0].replace("\n", " ")
            panels.setdefault(command.rich_help_panel or "Commands", []).append((name, about))
        _write_panels(panels, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - as the library calls it
        """Examples, each in a line of its own that can be copied; else a paragraph."""
        epilog = self.epilog or ""
        if epilog.startswith("Example") and (examples := _EXAMPLE.findall(epilog)):
            with formatter.section("Examples"):
                formatter.write("".join(f"  {one}\n" for one in examples))
        elif epilog:
            formatter.write_paragraph()
            formatter.write_text(_unquoted(epilog))


class Command(_Plain, TyperCommand):
    """A command."""


class Group(_Plain, TyperGroup):
    """A group of commands."""


def _unquoted(text: str) -> str:
    return text.replace("`", "")


def _write_panels(panels: dict[str, list[tuple[str, str]]], formatter: Any) -> None:
    widest = max((len(name) for rows in panels.values() for name, _ in rows if len(name) <= MOST_COLUMN), default=0)
    for panel, rows in panels.items():
        if rows:
            with formatter.section(panel):
                formatter.write_dl([(name.ljust(widest), about) for name, about in rows], col_max=MOST_COLUMN)


class Registry(typer.Typer):
    """Where a module registers commands, or a group of them."""

    def __init__(self, **told: Any) -> None:
        super().__init__(**{"cls": Group, "pretty_exceptions_enable": False, "rich_markup_mode": MARKUP} | told)

    def command(self, name: str | None = None, **told: Any) -> Callable[[Called], Called]:
        """Register a command."""
        registered: Callable[[Called], Called] = super().command(name, **{"cls": Command} | told)
        return registered


app = Registry()
"""Where a module registers its commands while it is imported."""


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
        return refused(problem.param.name or "argument", None, "a value; it is required")
    return InputError(
        f"{problem.format_message().rstrip('.')}; allowed: {help_text}", field="command", allowed=help_text
    )
