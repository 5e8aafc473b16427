"""docs/laws.md, "One more law": what the page says makes a law is enough to have one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.places import ROOT

LAWS_PAGE = (ROOT / "docs" / "laws.md").read_text("utf-8")

FURTHER = """
import json
from engramlog_server.events.parameters import DEFAULTS
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.laws import LAWS
from tests.given.events import at, created, folded, profile

history = folded(profile("power"), created())
columns = Columns()
columns.put_all(history.memories.values())
law = LAWS[history.owner.profile]
read = [law.read(memory, at(3), DEFAULTS).weight for memory in columns]
print(json.dumps([law.name, read, law.weights(columns, at(3), DEFAULTS).tolist()]))
"""


def test_one_more_law_is_the_file_of_the_page_its_instance_and_one_word(tmp_path: Path) -> None:
    server = tmp_path / "engramlog_server"
    for package, folder in (("events", server), ("projections", server), ("tests", tmp_path)):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    (server / "__init__.py").touch()
    code, instance, word = re.findall(r"^```python\n(.*?)^```$", LAWS_PAGE, re.MULTILINE | re.DOTALL)
    (server / "projections" / "laws" / "power.py").write_text(code)
    laws = server / "projections" / "laws" / "__init__.py"
    laws.write_text(re.sub(r"^LAWS: .*\n", instance, laws.read_text(), flags=re.MULTILINE))
    vocabulary = server / "events" / "parameters.py"
    before = vocabulary.read_text()
    after = re.sub(r"^Profile = .*\n", word, before, flags=re.MULTILINE)
    vocabulary.write_text(after)
    command = [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}){FURTHER}"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (ran.stderr, json.loads(ran.stdout or "null")) == ("", ["power", [0.5], [0.5]])
    assert set(after.split()) - set(before.split()) == {'"tiered",', '"power"]'}
