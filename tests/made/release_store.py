"""The store of a release, by which later ones are tested to open it: `make release-store` writes it with what it answers.

Made once by each release, from its commands and with its default settings, and never changed afterwards. The order of results may
follow a later release that ranks otherwise; weights, texts and proofs may not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fastapi.testclient import TestClient

from engramlog_server.api.choices import program_version
from tests.given.http import http_store
from tests.places import ROOT

RELEASES = ROOT / "tests" / "releases"
NOT_KEPT = {"redis.log", "engramlog.owner"}
"""Files of the data folder that say where it was made; locks are empty."""
AS_OF = "2026-01-01T00:00:00Z"
QUESTIONS = ("早上喝什么", "kiln", "what does she drink in the morning", "allergies", "glaze")

DAY = "2025-06-01T08:00:00Z"
THEN = ("--occurred-at", DAY)
STORY: tuple[tuple[str, ...], ...] = (
    ("import", "turns", "docs/examples/turns.jsonl"),
    ("negate", "lin", "t3", "--correction", "我戒咖啡了，早上改喝龙井。", "--reason", "she said so", *THEN),
    ("add", "lin", "I store glazes in the cellar", "--id", "cellar", "--keyword", "studio", *THEN),
    ("add", "lin", "The kiln fires at 1240 degrees", "--id", "kiln", "--key", "first-kiln", *THEN),
    ("add", "lin", "The studio is closed in August", "--id", "august", *THEN),
    ("delete", "lin", "august", *THEN),
    ("edit", "lin", "cellar", "I store glazes in the cold cellar", *THEN),
    ("edit", "lin", "cellar", "--tier", "core", "--reason", "she asks for it daily", *THEN),
    ("mention", "lin", "kiln", *THEN),
    ("reinforce", "lin", "kiln", "--outcome", "used", *THEN),
    ("synonyms", "lin", "glaze", "enamel", *THEN),
    ("negate", "lin", "cellar", "--actor", "assistant", *THEN),
    ("set-aside", "lin", "--of-actor", "assistant", *THEN),
    ("context", "lin", "What does she drink?", "--turn", "t10", "--trace"),
    ("profile", "bo", "tiered", *THEN),
    ("add", "bo", "Bo plays the cello on Sundays", "--id", "cello", *THEN),
    ("key", "new", "reader"),
    ("add", "ada", "A sentence that is erased", "--id", "erased", *THEN),
    ("erase", "ada", "--yes", "--ground", "objection"),
)


def archive(version: str) -> Path:
    """The data folder of a release's store."""
    return RELEASES / f"store-{version}.tar.xz"


def engramlog(data: Path, *words: str) -> Any:
    """The answer of a command on a data folder, which must end with 0."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ENGRAMLOG_")}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "engramlog_server.ops.main", *words, "--json"],
        cwd=ROOT,
        env=kept | {"ENGRAMLOG_DATA": str(data)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, f"{words}: {done.stderr[-2000:]}{done.stdout[-2000:]}"
    return json.loads(done.stdout)


def answers(client: TestClient) -> dict[str, Any]:
    """What a store answers about the past."""
    then = {"as_of": AS_OF, "trace": "false"}
    rows = [
        one
        for owner in ("lin", "bo")
        for one in _get(client, f"/v1/owners/{owner}/memories", mode="debug", limit=100, as_of=AS_OF)["memories"]
    ]
    return {
        "memories": {one["id"]: [one["memory"], one["weight"], one["level"]] for one in rows},
        "results": {
            question: [one["id"] for one in _get(client, "/v1/owners/lin/search", query=question, **then)["results"]]
            for question in QUESTIONS
        },
    }


def _get(client: TestClient, path: str, **parameters: Any) -> Any:
    answer = client.get(path, params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def main() -> None:
    """Play the story on an empty folder and keep it."""
    version = program_version()
    with TemporaryDirectory(prefix="engramlog-release-") as place:
        data = Path(place) / "data"
        for words in STORY:
            engramlog(data, *words)
        with http_store(data, partitions=16) as store:
            found = answers(store.client)
        found |= {"events": engramlog(data, "verify")["events"]}
        archive(version).parent.mkdir(exist_ok=True)
        with tarfile.open(archive(version), "w:xz") as file:
            file.add(data, "data", filter=_kept)
    text = json.dumps(found, ensure_ascii=False, indent=1, sort_keys=True)
    archive(version).with_name(f"store-{version}.json").write_text(text + "\n", "utf-8")
    print(f"{archive(version).name}: {archive(version).stat().st_size:,} bytes")


def _kept(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    name = Path(member.name).name
    if name in NOT_KEPT or name.endswith(".lock") or not (member.isfile() or member.isdir()):
        return None
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    main()
