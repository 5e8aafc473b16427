"""What `--check` of the commands that start something prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from api.cli.app import out, show

if TYPE_CHECKING:
    from ops.doctor.findings import DoctorReport
    from ops.doctor.starting import Starts

BAD_SETTING = 2


def check_start(starts: Starts, given: Mapping[str, Any], *, as_json: bool) -> None:
    """Say what would not work of a start with the settings of this environment and what a command line says beside them.

    Ends with 0 where it would start, 1 where it would not, 2 where a setting cannot be right, 3 where that could not be looked at.
    """
    from ops.doctor.findings import exit_code
    from ops.doctor.starting import would_start, wrong_settings
    from ops.settings import read_settings
    from ops.worker import url_of_a_worker

    settings, wrong = read_settings()
    if settings is not None and starts == "worker":
        wrong += url_of_a_worker(settings)
    if settings is None or wrong:
        show(wrong_settings(wrong), as_json, lambda told: _render(told, starts))
        raise typer.Exit(BAD_SETTING)
    update = dict(given)
    if (port := update.pop("metrics_port", None)) is not None:
        update["metrics"] = settings.metrics_on(port)
    answer = would_start(settings.model_copy(update=update), starts)
    show(answer, as_json, lambda told: _render(told, starts))
    if code := exit_code(answer):
        raise typer.Exit(code)


def _render(answer: DoctorReport, starts: Starts) -> None:
    from ops.commands.doctor import render_groups

    render_groups(answer, every=False)
    wrong, advised = answer["counts"]["wrong"], answer["counts"]["advice"]
    text = f"engramlog {starts} would not start: {wrong:,} wrong" if wrong else f"engramlog {starts} would start"
    more = f"; {advised:,} advised." if advised else "."
    out.print(Text.assemble((text, "bold red" if wrong else "bold green"), more), soft_wrap=True)
