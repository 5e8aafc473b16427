"""A program that builds and runs images, where there is one: docker with a daemon, or what `IMAGE_BUILDER` names."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from functools import cache

from tests.places import ROOT
from tests.servers import NO_BUILDER

BASE = os.environ.get("IMAGE_BASE", "python:3.13-slim-bookworm")
"""What the image is built on."""
RUN_OPTIONS = shlex.split(os.environ.get("IMAGE_RUN_OPTIONS", ""))
"""What the builder needs to run one on this machine."""


@cache
def builder() -> list[str] | None:
    """How it is called; None where nothing answers, or the base is neither there nor to be had."""
    named = shlex.split(os.environ.get("IMAGE_BUILDER", "docker"))
    if shutil.which(named[0]) is None:
        return None
    there = [*named, "image", "inspect", BASE]
    for ask in ([*named, "info"], there):
        if _answers(ask, 30):
            continue
        if ask is not there or not _answers([*named, "pull", "--quiet", BASE], 120):
            return None
    return named


def built(tag: str) -> list[str]:
    """The image of this tree under a tag; gives how the builder is called."""
    named = builder()
    assert named is not None, NO_BUILDER
    options = shlex.split(os.environ.get("IMAGE_BUILD_OPTIONS", ""))
    recipe = ["--file", "ops/deploy/image/Dockerfile", "--build-arg", f"BASE={BASE}", "--tag", tag, "."]
    subprocess.run([*named, "build", *options, *recipe], cwd=ROOT, check=True, stdin=subprocess.DEVNULL)
    return named


def _answers(command: list[str], seconds: float) -> bool:
    try:
        return (
            subprocess.run(
                command, check=False, capture_output=True, timeout=seconds, stdin=subprocess.DEVNULL
            ).returncode
            == 0
        )
    except subprocess.TimeoutExpired:
        return False
