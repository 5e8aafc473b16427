"""The wheels in empty environments of each Python of this machine: installed from wheels alone, without a compiler, and run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.integration.deploy.read import IMAGE
from tests.patience import PATIENCE
from tests.places import ROOT
from tests.servers import NO_REGISTRY
from tests.wheels import built

MINORS = range(11, 20)


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


@pytest.mark.parametrize("name", pythons())
def test_the_wheels_install_without_a_compiler_and_the_demo_runs(name: str, wheels: list[Path], tmp_path: Path) -> None:
    environment = {"PATH": "/nowhere", "HOME": str(tmp_path)} | {
        key: value
        for key, value in os.environ.items()
        if key.startswith(("PIP_", "SSL_")) or key.lower().endswith("_proxy")
    }
    subprocess.run([pythons()[name], "-m", "venv", tmp_path / "env"], check=True)

    def run(program: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [tmp_path / "env" / "bin" / program, *arguments]
        return subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=10 * PATIENCE
        )

    if run("python", "-m", "pip", "download", "--quiet", "--no-deps", "--dest", tmp_path / "probe", "pip").returncode:
        pytest.skip(NO_REGISTRY)
    locked = ["--only-binary", ":all:", "--require-hashes", "--requirement", IMAGE / "requirements.lock"]
    for arguments in (locked, ["--no-index", *wheels]):
        done = run("python", "-m", "pip", "install", "--quiet", "--no-deps", *arguments)
        assert done.returncode == 0, done.stderr
    assert run("python", "-m", "pip", "check").returncode == 0
    done = run("engramlog", "demo")
    assert (done.returncode, "engramlog up" in done.stdout) == (0, True), done.stderr
