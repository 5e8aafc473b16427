"""The documentation keeps up: commands, settings, links, decisions and figures are checked against the code."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import redis

from engramlog_server.events.envelope import Stored
from engramlog_server.events.partitions import LogKeys
from engramlog_server.ops.environment import OF_CLIENTS
from engramlog_server.ops.settings import Settings
from engramlog_server.projections.embedding.vectors import VectorKeys
from engramlog_server.projections.fold.changelog import FIRST_LINK, event_link
from engramlog_server.projections.redis.builds import BuildKeys
from tests.made.reference import FOLDER, pages
from tests.places import ROOT
from tests.sentences import hard, hard_strings, modules
from tests.sentences import pages as hand_written
from tests.servers import RedisServer, redis_cli

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
PROSE = "\n".join(page.read_text("utf-8") for page in PAGES)
LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
"""Pictures too."""
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
NOT_OURS = re.compile(
    r"pypi\.org|pythonhosted|registry\.npmjs|index-url|(?:/home|/Users|/root)/\w|" + re.escape(str(ROOT)) + r"(?![\w-])"
)
"""Addresses of registries, and paths of somebody's machine."""


def anchor(title: str) -> str:
    """The fragment under which a heading is found."""
    kept = "".join(c for c in title.lower() if c.isalnum() or c in " -_")
    return kept.strip().replace(" ", "-")


def anchors(page: Path) -> set[str]:
    """The fragments of a page."""
    text = FENCED.sub("", page.read_text("utf-8"))
    return {anchor(line.lstrip("#").replace("`", "")) for line in text.splitlines() if line.startswith("#")}


def test_every_setting_that_is_written_about_exists() -> None:
    known = {*OF_CLIENTS, *(f"ENGRAMLOG_{name.upper()}" for name in Settings.model_fields)}
    assert set(re.findall(r"ENGRAMLOG_[A-Z_]+", PROSE)) - known == set()


def test_every_relative_link_leads_somewhere() -> None:
    assert {str(page.relative_to(ROOT)): dead for page in PAGES if (dead := dead_links(page))} == {}


def dead_links(page: Path) -> list[str]:
    """The links of a page that lead to no file or no heading."""
    dead = []
    for target in LINK.findall(FENCED.sub("", page.read_text("utf-8"))):
        if target.startswith(("https://", "http://")):
            continue
        path, _, fragment = unquote(target).partition("#")
        found = (page.parent / path).resolve() if path else page
        if not found.exists() or not found.is_relative_to(ROOT) or (fragment and fragment not in anchors(found)):
            dead.append(target)
    return dead


def test_the_site_has_every_page_in_its_menu_and_no_page_links_out_of_it() -> None:
    """`make docs` sees neither: it builds pages that no menu names, and copies no file from outside `docs/`."""
    folder, menu = ROOT / "docs", tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]["nav"]
    pages = [str(page.relative_to(folder)) for page in folder.rglob("*.md")]
    assert sorted(re.findall(r"'([\w/-]+\.md)'", str(menu))) == sorted(pages)
    outside = [
        (page, target)
        for page in pages
        for target in LINK.findall(FENCED.sub("", (folder / page).read_text("utf-8")))
        if "://" not in target and not (folder / page).parent.joinpath(target).resolve().is_relative_to(folder)
    ]
    assert outside == []


OF_TODAY = [page for page in PAGES if page.name != "CHANGELOG.md"]
"""The changelog names files that are gone."""
NAMED = re.compile(r"`((?:events|projections|consumers|api|ops|client|tests)/[\w/.-]*[\w/])`")


def test_every_file_of_ours_that_a_page_names_is_there() -> None:
    """A folder too; files move, and pages that name them are no links."""
    named = [(page.name, name) for page in OF_TODAY for name in NAMED.findall(page.read_text("utf-8"))]
    assert named
    assert [(page, name) for page, name in named if not (ROOT / name).exists()] == []


def test_no_new_sentence_has_to_be_read_twice() -> None:
    """`python -m tests.sentences PAGE` prints them."""
    found = {str(page.relative_to(ROOT)): hard(page.read_text("utf-8")) for page in hand_written()}
    assert {name: lines for name, lines in found.items() if lines} == {}


HARD_DOCSTRINGS = 2_800
"""Sentences of docstrings that have to be read twice, from before there was a rule: lower it whenever there are fewer."""


def test_no_new_message_or_docstring_has_to_be_read_twice() -> None:
    """`python -m tests.sentences` prints messages, `python -m tests.sentences MODULE` its docstrings too."""
    found = {str(module.relative_to(ROOT)): hard_strings(module) for module in modules()}
    assert {name: messages for name, (messages, _) in found.items() if messages} == {}
    assert sum(len(notes) for _, notes in found.values()) <= HARD_DOCSTRINGS


def project_files() -> Iterator[Path]:
    """Every text file of the project, without environments and caches."""
    folders = ("events", "projections", "consumers", "api", "ops", "client", "tests", "docs", ".ci")
    for path in [
        *ROOT.glob("*.*"),
        ROOT / "Makefile",
        *(path for name in folders for path in (ROOT / name).rglob("*")),
    ]:
        if path.is_file() and path.suffix != ".pyc" and path != Path(__file__):
            yield path


def test_no_file_names_a_path_of_somebodys_machine_or_the_address_of_a_registry() -> None:
    found = {
        str(path.relative_to(ROOT)): NOT_OURS.findall(path.read_text("utf-8", "replace")) for path in project_files()
    }
    assert {name: hits for name, hits in found.items() if hits} == {}


def _code_of_the_page() -> str:
    page = (ROOT / "docs" / "stream-format.md").read_text("utf-8")
    return re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[0]


def test_the_ten_lines_of_the_stream_format_recompute_a_chain_with_redis_cli_and_python(
    redis_server: RedisServer,
) -> None:
    bodies = ['{"text":"早上喝咖啡"}', r'{"text":"a \"quoted\" back\\slash\n"}', "{}", "{}", '{"o":"t"}']
    plain = (b"7", b"t", b"1:0", b"", bytes(range(32)))
    beside = [plain, plain, plain, (b"7", b"1-0", b"0:0", b"\x01" * 17, bytes(32), b"6"), plain]
    stream, head = LogKeys("e0").stream, FIRST_LINK
    with redis_server.client() as client:
        for seq, (body, told) in enumerate(zip(bodies, beside, strict=True), 1):
            raw_id = bytes([0, 10, 13, 34, 39, 92, 255, seq] * 2)
            fields = {"t": "TurnRecorded.1", "i": raw_id, "o": "林/lin", "e": body}
            fields |= dict(zip("rpldc", told[:5], strict=True)) | {"s": bytes(16)}
            client.xadd(stream, fields | dict(zip("w", told[5:], strict=False)), id=f"{seq}-0")
            head = event_link(head, Stored(seq, "TurnRecorded.1", raw_id, "林/lin", body.encode(), told, bytes(16)))
        told_by_cli = _redis_cli(client, "XRANGE", stream, "-", "+")
    done = subprocess.run(
        [sys.executable, "-c", _code_of_the_page()], input=told_by_cli, capture_output=True, check=True
    )
    assert done.stdout.decode().split() == ["5", head.hex()]


def _redis_cli(client: redis.Redis, *command: str) -> bytes:
    socket = client.connection_pool.connection_kwargs["path"]
    return subprocess.run([redis_cli(), "-s", socket, "--no-raw", *command], capture_output=True, check=True).stdout


def test_the_example_script_is_the_one_on_the_page() -> None:
    def said(text: str) -> list[str]:
        lines = (line for line in text.splitlines() if line and not line.startswith(("import ", '"""')))
        return list(lines)

    script = (ROOT / "docs" / "examples" / "recompute_chain.py").read_text("utf-8")
    assert said(script) == said(_code_of_the_page())


def test_the_table_of_keys_lists_every_key() -> None:
    log, build = LogKeys("tag"), BuildKeys("tag", "BUILD")
    keys = [log.meta, log.stream, log.heads, log.secrets, log.control, build.checkpoint, build.owners, build.quarantine]
    keys += build.of_owner("OWNER")
    vectors = VectorKeys("tag")
    keys += [vectors.models, vectors.changes("MODEL"), vectors.seen("MODEL")]
    keys += [vectors.wholes("MODEL", "OWNER"), vectors.pieces("MODEL", "OWNER")]
    keys = [key.replace("MODEL", "<model>") for key in keys]
    written = [key.replace("BUILD", "<build>").replace("OWNER", "<owner>") for key in keys]
    page = (ROOT / "docs" / "operating.md").read_text("utf-8")
    assert [key for key in written if f"| `{key}` |" not in page] == []


def test_the_reference_pages_are_what_the_code_generates() -> None:
    written = {page.name: page.read_text("utf-8") for page in FOLDER.glob("*.md")}
    assert written == pages(), "run `make reference`"
