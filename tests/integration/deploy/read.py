"""What operators are handed, as tests read it: files, the settings they name, and command lines held to the program's own."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from engramlog_server.api.cli.main import whole
from tests.places import ROOT

DEPLOY = ROOT / "ops" / "deploy"
COMPOSE = DEPLOY / "compose"
IMAGE = DEPLOY / "image"
KUBERNETES = DEPLOY / "kubernetes"
SYSTEMD = DEPLOY / "systemd"
SETTING = re.compile(r"\bENGRAMLOG_([A-Z_]+)")
NO_KUBECTL = "no kubectl on PATH"
NO_ANALYZE = "no systemd-analyze on PATH"
OVERLAYS = ("base", "one", "cluster")
"""What `kubectl apply -k` takes."""


def texts() -> Mapping[str, str]:
    """Every file that is handed over, and its page, by its path."""
    files = [path for path in DEPLOY.rglob("*") if path.is_file() and path.suffix != ".lock"]
    pages = [ROOT / "docs" / "how-to" / "deploy.md", ROOT / ".dockerignore"]
    found = sorted(path for path in [*files, *pages] if "__pycache__" not in path.parts)
    return {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in found}


def taken(words: Sequence[str]) -> str:
    """The command that the program makes of these words, options and all; nothing is run. Raises click's UsageError for others."""
    command: Any = whole()
    context = command.make_context("engramlog", list(words))
    while hasattr(command, "commands"):
        name, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        context = command.make_context(name, rest, parent=context)
    told: str = context.command_path
    return told


@cache
def manifests(overlay: str) -> tuple[dict[str, Any], ...]:
    """What an overlay comes to."""
    ran = subprocess.run(
        ["kubectl", "kustomize", str(KUBERNETES / overlay)], capture_output=True, text=True, check=True
    )
    return tuple(yaml.safe_load_all(ran.stdout))


def has_kubectl() -> bool:
    """Whether overlays can be put together here."""
    return shutil.which("kubectl") is not None


def pods(documents: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The pods of a set of manifests, by the name of what makes them."""
    for one in documents:
        if one["kind"] in ("Deployment", "StatefulSet", "CronJob"):
            made = one["spec"].get("jobTemplate", one)["spec"]
            yield one["metadata"]["name"], made["template"]["spec"]


def conf(path: Path) -> dict[str, str]:
    """The directives of a file of Redis."""
    lines = [line for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    return dict(line.split(" ", 1) for line in lines)
