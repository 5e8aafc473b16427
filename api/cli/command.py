"""Commands made of operations: arguments and options, words of standard input, the call, and how its answer is printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from inspect import Parameter as Argument
from inspect import Signature
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer
from rich.text import Text

from engramlog_server.api.choices import UNKNOWN
from engramlog_server.api.cli import completion
from engramlog_server.api.cli.app import Json, MemoryId, Owner, Shape, app, err, joined, opened, progress, show
from engramlog_server.api.cli.service import asked
from engramlog_server.api.operations.definition import (
    NEVER,
    REQUIRED,
    SPEAKER,
    Given,
    Operation,
    Option,
    Parameter,
    loaded_from,
)
from engramlog_server.events.errors import refused

if TYPE_CHECKING:
    from engramlog_server.api.application import Application


SUBJECTS = {"owner": Owner, "memory_id": MemoryId}
PARTLY = 3
"""Exit code where what was written waits behind a quarantine."""


@dataclass(slots=True)
class Call:
    """A command as it was called: what was told, as the service takes it."""

    context: typer.Context
    operation: Operation
    given: Given = field(default_factory=dict)
    json: bool = False
    unknown: str | None = None
    """The owner that was asked about, where nothing is recorded of him."""
    parameters: tuple[Parameter, ...] = ()
    """Everything that the command may be told."""

    def answer(self, operation: Operation | None = None, **changed: Any) -> Any:
        """Ask once."""
        with self.asking() as ask:
            return ask(operation or self.operation, self.given | changed)

    @contextmanager
    def asking(self) -> Iterator[Callable[[Operation, Given], Any]]:
        """To ask as often as need be: a running service, or else the store, opened once; with a bar where folding the past takes
        long."""
        store: list[tuple[Application, Callable[[int, int], None]]] = []
        with ExitStack() as last:

            def carried_out(operation: Operation, given: Given) -> Any:
                if ":" in operation.call:
                    return operation.ask(None, given)
                if not store and (reply := asked(joined(self.context).ask, operation, given)) is not None:
                    return reply.answer
                if not store:
                    application = last.enter_context(opened(self.context))
                    store.append((application, last.enter_context(progress(operation.task, self.json))))
                application, advance = store[0]
                return operation.ask(application, given | ({"on_progress": advance} if operation.folds else {}))

            def ask(operation: Operation, given: Given) -> Any:
                answer = carried_out(operation, given)
                owner = given.get("owner")
                if operation.asks and not self.json and is_unknown(carried_out, owner, answer):
                    self.unknown = owner
                return answer

            yield ask

    def take(self, *names: str) -> list[Any]:
        """What was told under these names, which the service is not told."""
        return [self.given.pop(name) for name in names]

    def turn_to(self, operation: Operation, way: str, **given: Any) -> None:
        """Ask another operation and print its answer. Raises InputError for an option that it does not take."""
        self.only(operation, way)
        self.operation = operation
        self.print(self.answer(**given))

    def only(self, operation: Operation, way: str) -> None:
        """Leave only what the operation takes. Raises InputError for another option that was given."""
        takes = {one.name: one.default for one in operation.question} | dict.fromkeys(operation.subject)
        for one in self.parameters:
            value = self.given.get(one.name)
            if one.name not in takes and value is not None and value != _read(one, _default(one)):
                raise refused(one.name, str(value), f"nothing with {way}")
        self.given = {
            name: value
            for name, value in self.given.items()
            if name in takes and (value is not None or takes[name] is None)
        }

    def print(self, answer: Shape, printed: Callable[[Shape], None] | None = None) -> None:
        """Print an answer; exit code 3 where it was written and waits behind a quarantine."""
        self.show(answer, printed)
        self.end(answer)

    def show(self, answer: Shape, printed: Callable[[Shape], None] | None = None) -> None:
        """Print an answer."""
        show(
            answer,
            self.json,
            printed or loaded_from(f"engramlog_server.api.cli.show.{self.operation.shown}"),
        )
        if self.unknown is not None:
            tell_unknown(self.unknown)

    def end(self, answer: Mapping[str, object]) -> None:
        """Exit code 3 where what was told waits behind a quarantine; what was only asked is answered as of before it."""
        if self.operation.tells_by(self.given) and "quarantined" in answer:
            raise typer.Exit(PARTLY)


def argument(name: str, metavar: str | None, description: str, completes: str = "") -> Parameter:
    """An argument of a command that may be left out."""
    return Parameter(
        name, str | None, description, None, option=Option(argument=True, metavar=metavar, completes=completes)
    )


def plain(call: Call) -> None:
    """Ask, and print what was answered."""
    call.print(call.answer())


def command(
    operation: Operation,
    *others: Operation,
    more: Iterable[Parameter] = (),
    subject: tuple[str, ...] | None = None,
    on: typer.Typer = app,
    name: str | None = None,
) -> Callable[[Callable[[Call], None]], Callable[[Call], None]]:
    """Register a command of its own with the options of one operation or several, and more; it is given the `Call`.

    `subject`: the arguments before all others, where they are not those of the operation's path.
    """
    parameters = _joined([*(one for asked in (operation, *others) for one in asked.question), *more])
    parameters += operation.traces

    def registered(run: Callable[[Call], None]) -> Callable[[Call], None]:
        def called(context: typer.Context, json: bool, **told: Any) -> None:
            run(Call(context, operation, _given(operation, parameters, told), json, parameters=tuple(parameters)))

        called.__signature__ = _signature(  # type: ignore[attr-defined]
            operation.subject if subject is None else subject, parameters
        )
        called.__module__ = run.__module__
        called.__annotations__ = {one.name: one.annotation for one in called.__signature__.parameters.values()}  # type: ignore[attr-defined]
        on.command(name or operation.name, help=help_of(operation), epilog=operation.example or None)(called)
        return run

    return registered


def help_of(operation: Operation) -> str:
    """The help of a command."""
    return (operation.but(help=operation.command) if operation.command else operation).described


def _joined(parameters: Iterable[Parameter]) -> list[Parameter]:
    """Each once, by its name; what the command line has not is left out."""
    met: dict[str, Parameter] = {}
    for one in parameters:
        if one.option is not None and one.kind != NEVER:
            met.setdefault(one.name, one)
    return list(met.values())


def _signature(subject: tuple[str, ...], parameters: Iterable[Parameter]) -> Signature:
    arguments = {"context": Argument("context", Argument.KEYWORD_ONLY, annotation=typer.Context)}
    arguments |= {one: Argument(one, Argument.KEYWORD_ONLY, annotation=SUBJECTS[one]) for one in subject}
    ordered = sorted(parameters, key=lambda one: not _option(one).argument)
    arguments |= {_called(one): _argument(one) for one in ordered}
    arguments["json"] = Argument("json", Argument.KEYWORD_ONLY, annotation=Json, default=False)
    return Signature(list(arguments.values()))


def _option(parameter: Parameter) -> Option:
    return parameter.option or Option()


def _called(parameter: Parameter) -> str:
    """The name under which the command line tells it."""
    option = _option(parameter)
    return option.names[0] if option.argument and option.names else parameter.name


def typer_option(parameter: Parameter) -> Any:
    """Typer's option or argument of a parameter: a command with a signature of its own takes it too."""
    option, default = _option(parameter), _default(parameter)
    told: Given = {
        "help": option.help or parameter.description,
        "metavar": option.metavar or (_called(parameter).upper() if option.argument else None),
    }
    told["show_default"] = default not in (REQUIRED, None, "", False)
    if option.panel:
        told["rich_help_panel"] = option.panel
    if option.completes:
        told["autocompletion"] = getattr(completion, option.completes)
    if parameter.bounds.get("ge") == 0:  # other bounds are the service's to refuse, in our words
        told["min"] = 0
    names = option.names or (f"--{parameter.name.replace('_', '-')}",)
    return typer.Argument(**told) if option.argument else typer.Option(*names, **told)


def _argument(parameter: Parameter) -> Argument:
    default = _default(parameter)
    kind: Any = Annotated[_kind(parameter), typer_option(parameter)]
    if default is REQUIRED:
        return Argument(_called(parameter), Argument.KEYWORD_ONLY, annotation=kind)
    return Argument(_called(parameter), Argument.KEYWORD_ONLY, annotation=kind, default=default)


def _negative(parameter: Parameter) -> bool:
    """Whether the option takes away what is done unless told."""
    return parameter.kind is bool and _option(parameter).names[:1] == (f"--no-{parameter.name.replace('_', '-')}",)


def _kind(parameter: Parameter) -> Any:
    kind = _option(parameter).kind or (str if parameter.kind == SPEAKER else parameter.kind)
    several = _listed(kind)
    return kind if several is None or _default(parameter) is REQUIRED else several | None


def _listed(kind: Any) -> Any:
    """The list that a kind is, with or without None beside it; None of another kind."""
    kinds = [one for one in get_args(kind) if one is not NoneType] if isinstance(kind, UnionType) else [kind]
    return kinds[0] if len(kinds) == 1 and get_origin(kinds[0]) is list else None


def _default(parameter: Parameter) -> Any:
    option = _option(parameter)
    default = parameter.default if option.default is REQUIRED else option.default
    if _negative(parameter):
        return not default
    if default is not REQUIRED and (isinstance(default, list | type) or _listed(option.kind or parameter.kind)):
        return None
    return default


def _given(operation: Operation, parameters: Iterable[Parameter], told: Given) -> Given:
    """What was told as the service takes it."""
    by_name = {_called(one): one for one in parameters}
    given = {name: value for name, value in told.items() if name not in by_name}
    given |= {one.name: _read(one, told[name]) for name, one in by_name.items()}
    if operation.traces:
        given |= _traced(given)
    return given


def _read(parameter: Parameter, value: Any) -> Any:
    option = _option(parameter)
    if _negative(parameter):
        return not value
    if option.reads and not (value is None and option.argument):
        return loaded_from(option.reads)(value if value is not None else ())
    if value is None or (value == [] and _listed(parameter.kind)):
        default = parameter.default
        if isinstance(default, type):
            return default()
        return list(default) if isinstance(default, list) else None
    return value


def _traced(given: Given) -> dict[str, bool]:
    """What a command records. Without an option it only looks: recorded of the present, and no memory gains by it."""
    trace, no_trace, inspect = (bool(given.pop(name, False)) for name in ("trace", "no_trace", "inspect"))
    if trace and (no_trace or inspect):
        raise refused("trace", f"--trace with {'--no-trace' if no_trace else '--inspect'}", "one of them")
    present = given.get("mode", "normal") == "normal" and not any(given.get(one) for one in ("as_of", "known", "at"))
    return {"trace": not no_trace, "inspect": inspect or (present and not trace)}


FOUND = ("answers", "changes", "count", "events", "memories", "results")
"""Fields that hold, or count, what an answer has found."""


def is_unknown(ask: Callable[[Operation, Given], Any], owner: object, answer: Mapping[str, Any]) -> bool:
    """Whether an answer about an owner has found nothing because nothing is recorded of him; `ask` looks, where it may be so."""
    found = [answer[name] for name in FOUND if name in answer]
    if not isinstance(owner, str) or not found or any(found) or answer.get("hint") or _may_come(answer):
        return False
    from engramlog_server.api.operations.reading import OWNER_HISTORY

    page = ask(OWNER_HISTORY, {"owner": owner, "limit": 1})
    return not page["changes"] and not _may_come(page)


def _may_come(answer: Mapping[str, Any]) -> bool:
    """Whether there is something that is not folded."""
    return bool(answer.get("behind") or answer.get("quarantined"))


def tell_unknown(owner: str) -> None:
    """In one line on standard error, with the way on."""
    err.print(Text(UNKNOWN.format(owner=owner), "yellow"), soft_wrap=True)


MOST_BYTES = 1024 * 1024
"""Most bytes of a text or of a list of ids. A memory holds 64 KiB."""


def text_of(words: str, field: str = "TEXT", allowed: str = "a text in UTF-8 of at most 64 KiB") -> str:
    """The words of an argument, or of standard input where that is `-`, without the newline at its end."""
    if words != "-":
        return words
    from engramlog_server.api.exchange.files import standard_input

    read = standard_input(field).read(MOST_BYTES + 1)
    if len(read) > MOST_BYTES:
        raise refused(field, f"more than {MOST_BYTES:,} bytes", allowed)
    try:
        return read.decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise refused(field, "-", f"{allowed}; byte {error.start:,} is none of it") from None
