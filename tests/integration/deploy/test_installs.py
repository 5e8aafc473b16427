"""The wheels: one import name each, the same from a source distribution, and run in empty environments without a compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.integration.deploy.read import IMAGE
from tests.patience import PATIENCE
from tests.places import ROOT
from tests.servers import NO_REGISTRY
from tests.wheels import built

MINORS = range(11, 20)
UVX = "uvx --find-links dist --from dist/engramlog-*.whl engramlog demo"


def pythons() -> dict[str, Path]:
    """Each supported Python that can be run here, by version: of PATH, else of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = {}
    for name in (f"python3.{minor}" for minor in MINORS):
        candidates = [*filter(None, [shutil.which(name)]), *sorted(pyenv.glob(f"*/bin/{name}"))]
        runs = (
            path
            for path in candidates
            if not subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode
        )
        if (path := next(runs, None)) is not None:
            found[name] = Path(path)
    return found


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The program's and the client's."""
    folder = tmp_path_factory.mktemp("wheels")
    return [built(ROOT, folder), built(ROOT / "client", folder)]


def files(wheel: Path) -> dict[str, bytes]:
    """The bytes of each file of a wheel."""
    with ZipFile(wheel) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def test_each_wheel_holds_one_import_name_and_no_file_of_the_other(wheels: list[Path]) -> None:
    program, client = ({name.partition("/")[0] for name in files(one)} for one in wheels)
    assert {name for name in program if not name.endswith(".dist-info")} == {"engramlog_server"}
    assert {name for name in client if not name.endswith(".dist-info")} == {"engramlog"}


def test_wheels_of_the_source_distribution_are_those_of_the_tree(wheels: list[Path], tmp_path: Path) -> None:
    with tarfile.open(built(ROOT, tmp_path, "sdist")) as packed:
        packed.extractall(tmp_path, filter="data")
    (tree,) = (path for path in tmp_path.iterdir() if path.is_dir())
    for folder, wheel in zip((tree, tree / "client"), wheels, strict=True):
        assert files(built(folder, tmp_path)) == files(wheel)


def test_modules_of_a_project_s_own_with_the_names_of_our_folders_change_nothing(tmp_path: Path) -> None:
    for name in ("events", "projections", "consumers", "api", "ops"):
        (tmp_path / f"{name}.py").write_text("raise AssertionError('a module of the project was imported')")
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "ENGRAMLOG_DATA": str(tmp_path / "data")}
    for command in (["add", "lin", "I like tea"], ["search", "lin", "tea", "--json"]):
        done = subprocess.run(
            [Path(sys.executable).parent / "engramlog", *command],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=10 * PATIENCE,
        )
        assert done.returncode == 0, done.stderr
    assert "I like tea" in done.stdout


Run = Callable[..., subprocess.CompletedProcess[str]]


def empty(python: Path, folder: Path, *beside: str) -> Run:
    """Runs programs of a new environment, with nothing on PATH but it and `beside`. Skips without a registry."""
    programs = folder / "env" / "bin"
    uv = {"UV_PYTHON": str(python.resolve()), "UV_PYTHON_DOWNLOADS": "never"}  # it passes over that of an environment
    environment = {"PATH": os.pathsep.join([str(programs), *beside]), "HOME": str(folder), **uv} | {
        key: value
        for key, value in os.environ.items()
        if key.startswith(("PIP_", "SSL_", "UV_")) or key.lower().endswith("_proxy")
    }
    subprocess.run([python, "-m", "venv", folder / "env"], check=True)

    def run(program: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [programs / program, *arguments],
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=10 * PATIENCE,
        )

    if run("python", "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder / "probe", "pip").returncode:
        pytest.skip(NO_REGISTRY)
    return run


def test_the_command_of_the_readme_runs_the_demo_of_both_wheels(wheels: list[Path], tmp_path: Path) -> None:
    """The program's wheel needs the client's, which is on no index: `--find-links` names the folder with both."""
    assert f"`{UVX}`" in (ROOT / "README.md").read_text("utf-8")
    run = empty(Path(sys.executable), tmp_path, os.defpath)
    assert run("python", "-m", "pip", "install", "--quiet", "uv").returncode == 0
    (tmp_path / "dist").symlink_to(wheels[0].parent)
    done = run("/bin/sh", "-c", UVX)
    assert (done.returncode, "engramlog up" in done.stdout) == (0, True), done.stderr


@pytest.mark.parametrize("name", pythons())
def test_the_wheels_install_without_a_compiler_and_the_demo_runs(name: str, wheels: list[Path], tmp_path: Path) -> None:
    run = empty(pythons()[name], tmp_path)
    locked = ["--only-binary", ":all:", "--require-hashes", "--requirement", IMAGE / "requirements.lock"]
    for arguments in (locked, ["--no-index", *wheels]):
        done = run("python", "-m", "pip", "install", "--quiet", "--no-deps", *arguments)
        assert done.returncode == 0, done.stderr
    assert run("python", "-m", "pip", "check").returncode == 0
    done = run("engramlog", "demo")
    assert (done.returncode, "engramlog up" in done.stdout) == (0, True), done.stderr
