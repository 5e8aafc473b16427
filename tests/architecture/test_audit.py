"""`make audit`: a known weakness fails, and what could not be looked up is told and fails nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.audit import __main__ as audit
from tests.audit.answers import Report, Weakness, verdict
from tests.rows import each_row

HASH = "--hash=sha256:" + "0" * 64
LOCK = f"""\
redis==8.1.0 \\
    {HASH}
numpy==2.4.6 ; python_full_version < '3.12' \\
    {HASH}
numpy==2.5.1 ; python_full_version >= '3.12' \\
    {HASH}
"""
FREE = {"redis 8.1.0": [], "numpy 2.4.6": [], "numpy 2.5.1": []}
WEAK = {**FREE, "numpy 2.4.6": [{"id": "PYSEC-1", "aliases": ["CVE-1"], "fix_versions": ["2.5.0"]}]}
AUDITOR = """\
#!{python}
import json, pathlib, sys
words = sys.argv[1:]
known = json.loads(pathlib.Path(__file__).with_name(words[words.index("-s") + 1] + ".json").read_text())
if known is None:
    sys.exit("Failed to resolve 'nowhere'")
lines = pathlib.Path(words[words.index("-r") + 1]).read_text().split()
names = [line.split("==")[0] for line in lines]
assert len(set(names)) == len(names), "pip-audit takes no package twice"
rows = [
    dict(name=line.split("==")[0], version=line.split("==")[1], vulns=known[line.replace("==", " ")])
    if line.replace("==", " ") in known
    else dict(name=line.split("==")[0], skip_reason="Dependency not found")
    for line in lines
]
pathlib.Path(words[words.index("-o") + 1]).write_text(json.dumps(dict(dependencies=rows)))
sys.exit(any(row.get("vulns") for row in rows))
"""
"""Stands in for pip-audit: takes and gives what that does, by what a file says of each service."""


def audited(folder: Path, **services: Any) -> tuple[list[str], int]:
    """What the target says of a small lock, where the services know this; None: cannot be reached."""
    program = folder / "pip-audit"
    program.write_text(AUDITOR.replace("{python}", sys.executable))
    program.chmod(0o700)
    for name in audit.SERVICES:
        (folder / f"{name}.json").write_text(json.dumps(services.get(name)))
    (folder / "requirements.lock").write_text(LOCK)
    return audit.audited(program, folder / "requirements.lock", folder)


def test_packages_without_a_known_weakness_pass(tmp_path: Path) -> None:
    assert audited(tmp_path, pypi=FREE) == (["audited: 3 of 3 packages, 0 known weaknesses"], 0)


@each_row("service", ["pypi", "osv"])
def test_a_known_weakness_fails_by_name_whichever_service_tells_it(tmp_path: Path, service: str) -> None:
    lines, code = audited(tmp_path, **{service: WEAK})
    assert code == 1
    assert lines[0] == "WEAK numpy 2.4.6: PYSEC-1 = CVE-1; fixed in 2.5.0"
    assert lines[-1] == "audited: 3 of 3 packages, 1 known weaknesses"


def test_services_that_cannot_be_reached_are_named_and_fail_nothing(tmp_path: Path) -> None:
    lines, code = audited(tmp_path)
    told = "pypi: Failed to resolve 'nowhere'; osv: Failed to resolve 'nowhere'"
    assert (lines, code) == ([f"not audited: 3 of 3 packages ({told})"], 0)


def test_a_weakness_that_was_accepted_is_told_with_its_reason_and_another_of_the_package_fails() -> None:
    found = Report(frozenset(["numpy 2.4.6"]), (Weakness("numpy 2.4.6", ("PYSEC-1", "CVE-1"), ()),))
    lines, code = verdict(["numpy 2.4.6"], found, [], {"CVE-1": "nothing of ours calls it"})
    assert code == 0
    assert lines[0].startswith("accepted numpy 2.4.6: PYSEC-1 = CVE-1; no release without it is known: nothing of ours")
    other = found | Report(frozenset(), (Weakness("numpy 2.4.6", ("PYSEC-2",), ()),))
    assert verdict(["numpy 2.4.6"], other, [], {"CVE-1": "nothing of ours calls it"})[1] == 1


@pytest.mark.parametrize(
    ("complaint", "told", "code"),
    [
        ("ERROR: No matching distribution found for pip-audit", "not audited: pip-audit cannot be installed", 0),
        ("THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "WEAK pip-audit is not what", 1),
    ],
)
def test_an_auditor_that_cannot_be_had_is_told_and_one_that_was_exchanged_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], complaint: str, told: str, code: int
) -> None:
    def refused(*words: str | Path) -> audit.subprocess.CompletedProcess[str]:
        return audit.subprocess.CompletedProcess(words, 1, "", complaint)

    monkeypatch.setattr(audit, "_run", refused)
    monkeypatch.setattr(audit.venv, "create", lambda *_, **__: None)
    monkeypatch.setattr(audit, "has_network", lambda: False)
    assert audit.main() == code
    assert capsys.readouterr().out.startswith(told)


@each_row(
    ("network", "ci", "told", "code"),
    [
        (True, "true", "NOTHING was audited", 1),
        (True, "", "NOTHING was audited", 0),
        (False, "true", "NOTHING was audited: there is no network", 0),
    ],
)
def test_where_nothing_was_looked_up_that_is_said_and_fails_in_ci_alone_and_with_a_network_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], network: bool, ci: str, told: str, code: int
) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(audit, "has_network", lambda: network)
    monkeypatch.setattr(audit, "auditor", lambda folder: folder / "pip-audit")
    monkeypatch.setattr(audit, "audited", lambda *_: (["not audited: 3 of 3 packages (no answer)"], 0))
    assert audit.main() == code
    assert capsys.readouterr().out.splitlines()[-1] == told
    monkeypatch.setattr(audit, "audited", lambda *_: (["audited: 1 of 3 packages, 0 known weaknesses"], 0))
    assert audit.main() == 0
    assert "NOTHING" not in capsys.readouterr().out
