"""Whether what is on this machine is its user's alone: the data folder and everything in it, the token, folders elsewhere."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path

from engramlog_server.events.text import many
from engramlog_server.ops.doctor.findings import PERMISSIONS, Check, CheckFinding, named, unless
from engramlog_server.ops.embedded.private_file import OTHERS
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.token import read_token

Findings = list[CheckFinding]
MOST_ENTRIES = 10_000
WRITE_BY_OTHERS = 0o022


def folder_of(settings: Settings) -> Path:
    """The data folder, links followed. Raises OSError, RuntimeError for links in a circle."""
    return settings.data.expanduser().resolve()


def is_safe_to_open(folder: Path) -> bool:
    """Whether nobody else can have put there what a server would be started on, or asked at. Raises OSError."""
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & WRITE_BY_OTHERS


def private(check: str, folder: Path, setting: str) -> Findings:
    """Whether a folder of ours is this user's alone. `setting`: what names it. Raises OSError."""
    try:
        found = folder.stat()
    except FileNotFoundError:
        return [PERMISSIONS.ok(check, f"{folder} is not there yet: it is made, for this user alone, once it is needed")]
    octal, close = f"{stat.S_IMODE(found.st_mode):04o}", f"`chmod 700 {folder}`"
    if not stat.S_ISDIR(found.st_mode):
        return [PERMISSIONS.wrong(check, f"{folder} is no folder", f"let {setting} name a folder")]
    if found.st_uid != os.geteuid():
        text = f"{folder} belongs to user {found.st_uid}, and this command runs as user {os.geteuid()}"
        cure = "run it as the user of the service, as in `sudo -u engramlog engramlog doctor`"
        return [PERMISSIONS.wrong(check, text, cure)]
    if found.st_mode & WRITE_BY_OTHERS:
        text = f"others can write to {folder} ({octal}), so its files may be theirs"
        return [PERMISSIONS.wrong(check, text, f"look through it, then {close}")]
    if found.st_mode & OTHERS:
        return [PERMISSIONS.wrong(check, f"others can enter {folder} ({octal})", close)]
    return [PERMISSIONS.ok(check, f"{folder} is this user's alone ({octal})")]


def token(settings: Settings) -> Findings:
    """The API's token: set in the environment, or in a file that nobody else could have read."""
    if settings.token is not None:
        return [PERMISSIONS.ok("token", "callers show ENGRAMLOG_TOKEN; no file holds it")]
    fine = "no other user can read it; `up` makes it if there is none"
    return unless(PERMISSIONS, "token", fine, lambda: read_token(folder_of(settings)))


def files(folder: Path) -> Findings:
    """Everything in the data folder and below, links not followed, without what is removed meanwhile. Raises OSError."""
    if not folder.is_dir():
        return []
    check, findings = "files", Findings()
    found = list(islice(_below(folder), MOST_ENTRIES + 1))
    looked = found[:MOST_ENTRIES]
    if foreign := [path.name for path, status in looked if status.st_uid != os.geteuid()]:
        cure = "find out who put it there; if a command was run as root, give it back: `chown`"
        findings.append(PERMISSIONS.wrong(check, f"another user's, in the data folder: {named(foreign)}", cure))
    readable = [path.name for path, status in looked if _is_plain(status) and status.st_mode & OTHERS]
    if readable:
        things = f"{many(len(readable), 'thing')} in the data folder could be read by others, were it not closed"
        cure = f"`chmod -R go= {folder}`: a copy takes these permissions along"
        findings.append(PERMISSIONS.advice(check, f"{things}: {named(readable)}", cure))
    more = "; there are more, which were not looked at" if len(found) > MOST_ENTRIES else ""
    fine = f"{many(len(looked), 'thing')} in the data folder, all this user's alone{more}"
    return findings or [PERMISSIONS.ok(check, fine)]


def _is_plain(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)


def _below(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for path in sorted(folder.iterdir()):
        with suppress(FileNotFoundError, PermissionError):
            status = path.lstat()
            yield path, status
            if stat.S_ISDIR(status.st_mode):
                yield from _below(path)


def of_permissions(settings: Settings) -> list[Check]:
    """These checks."""
    elsewhere, setting = settings.rejections, "ENGRAMLOG_REJECTIONS"
    return [
        Check(PERMISSIONS, "data folder", lambda: private("data folder", folder_of(settings), "ENGRAMLOG_DATA")),
        Check(PERMISSIONS, "token", partial(token, settings)),
        Check(PERMISSIONS, "files", lambda: files(folder_of(settings))),
        *(
            [Check(PERMISSIONS, setting, lambda: private(setting, elsewhere.expanduser().resolve(), setting))]
            if elsewhere is not None
            else []
        ),
    ]
