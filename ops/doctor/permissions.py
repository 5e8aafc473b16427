"""Whether what is on this machine is its user's alone: the data folder and everything in it, token, key file and socket."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from engramlog_server.ops.doctor.findings import PERMISSIONS, Check, CheckFinding, many, named
from engramlog_server.ops.embedded.private_file import OTHERS
from engramlog_server.ops.keys.master import key_in
from engramlog_server.ops.keys.master_file import KeyFileUnusable, read_key_file
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.token import TokenFileUnusable, read_token

Findings = list[CheckFinding]
MOST_ENTRIES = 10_000
WRITE_BY_OTHERS = 0o022
Kind = Literal["folder", "file", "link", "socket", "other"]
_KINDS: dict[int, Kind] = {
    stat.S_IFDIR: "folder",
    stat.S_IFREG: "file",
    stat.S_IFLNK: "link",
    stat.S_IFSOCK: "socket",
}


class FileEntry(NamedTuple):
    """A name in a folder, links not followed."""

    path: Path
    kind: Kind
    uid: int
    mode: int
    """Permission bits."""

    @property
    def octal(self) -> str:
        """As chmod takes them."""
        return f"{self.mode & 0o7777:04o}"


def entry(path: Path) -> FileEntry | None:
    """What a name is; None if there is none. Raises OSError."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    kind = _KINDS.get(stat.S_IFMT(found.st_mode), "other")
    return FileEntry(path, kind, found.st_uid, stat.S_IMODE(found.st_mode))


def is_safe_to_open(folder: FileEntry, me: int) -> bool:
    """Whether nobody else can have put there what a server would be started on, or asked at."""
    return folder.kind == "folder" and folder.uid == me and not folder.mode & WRITE_BY_OTHERS


def folder_of(settings: Settings) -> Path:
    """The data folder, links followed. Raises OSError, RuntimeError for links in a circle."""
    return settings.data.expanduser().resolve()


def data_folder(path: Path, folder: FileEntry | None, me: int) -> CheckFinding:
    """The data folder. `path`: as it is set, which may be a link to it. `folder`: None if there is none."""
    check = "data folder"
    if folder is None:
        return PERMISSIONS.ok(check, f"{path} is not there yet: it is made, for this user alone, once it is needed")
    if folder.kind != "folder":
        return PERMISSIONS.wrong(check, f"{folder.path} is no folder", "let ENGRAMLOG_DATA name a folder")
    if folder.uid != me:
        return PERMISSIONS.wrong(
            check,
            f"{folder.path} belongs to user {folder.uid}, and this command runs as user {me}",
            "run it as the user of the service, as in `sudo -u engramlog engramlog doctor`",
        )
    close = f"`chmod 700 {folder.path}`"
    if folder.mode & WRITE_BY_OTHERS:
        open_to = f"others can write to {folder.path} ({folder.octal}), so its files may be theirs"
        return PERMISSIONS.wrong(check, open_to, f"look through it, then {close}")
    if folder.mode & OTHERS:
        return PERMISSIONS.wrong(check, f"others can enter {folder.path} ({folder.octal})", close)
    by = "" if path == folder.path else f", by the link {path}"
    return PERMISSIONS.ok(check, f"{folder.path} is this user's alone ({folder.octal}){by}")


def _data_folder(settings: Settings) -> Findings:
    return [data_folder(settings.data.expanduser().absolute(), entry(folder_of(settings)), os.geteuid())]


def token(there: bool, trouble: str | None, *, given: bool) -> CheckFinding:
    """The API's token. `given`: by the environment, and then no file counts."""
    check = "token"
    if given:
        return PERMISSIONS.ok(check, "callers show ENGRAMLOG_TOKEN; no file holds it")
    if trouble is not None:
        problem, _, cure = trouble.partition("; ")
        return PERMISSIONS.wrong(check, problem, cure or "`engramlog token --rotate` makes a new one")
    state = "only this user can read it" if there else "there is none yet: the first `up` makes it"
    return PERMISSIONS.ok(check, state)


def _token(settings: Settings) -> Findings:
    trouble, there = None, False
    if settings.token is None:
        try:
            there = read_token(folder_of(settings)) is not None
        except TokenFileUnusable as error:
            trouble = error.message
    return [token(there, trouble, given=settings.token is not None)]


def key_file(settings: Settings) -> Findings:
    """The file of the master key, if there is one."""
    check, path = "master key file", key_in(folder_of(settings) if settings.redis_url is None else None, settings)
    if path is None:
        return []
    try:
        read_key_file(path)
    except KeyFileUnusable as error:
        cure = f"`chmod 600 {path}` and its owner's user, or bring back the copy of it; docs/how-to/sealing.md"
        return [PERMISSIONS.wrong(check, error.message, cure)]
    return [PERMISSIONS.ok(check, f"only this user can read {path}")]


def kept_files(folder: Path, files: Sequence[FileEntry], me: int, *, cut: bool = False) -> Findings:
    """Everything in the data folder and below. `cut`: whether there is more than was looked at."""
    check, findings = "files", Findings()
    foreign = [one.path.name for one in files if one.uid != me]
    links = [one.path.name for one in files if one.kind == "link"]
    open_ = [one.path.name for one in files if one.kind in ("file", "folder") and one.mode & OTHERS]
    if foreign:
        cure = "find out who put it there; if a command was run as root, give it back: `chown`"
        findings.append(PERMISSIONS.wrong(check, f"another user's, in the data folder: {named(foreign)}", cure))
    if links:
        cure = "put the files themselves there: what a link leads to is in no copy of the folder, and has its own permissions"
        findings.append(PERMISSIONS.advice(check, f"links in the data folder: {named(links)}", cure))
    if open_:
        things = f"{many(len(open_), 'thing')} in the data folder could be read by others, were it not closed"
        cure = f"`chmod -R go= {folder}`: a copy takes these permissions along"
        findings.append(PERMISSIONS.advice(check, f"{things}: {named(open_)}", cure))
    more = "; there are more, which were not looked at" if cut else ""
    all_ = f"{many(len(files), 'thing')} in the data folder, all this user's alone{more}"
    return findings or [PERMISSIONS.ok(check, all_)]


def _below(folder: Path) -> Iterator[FileEntry]:
    """Everything in a folder and below, links not followed, without what is removed meanwhile. Raises OSError."""
    for item in sorted(os.scandir(folder), key=lambda one: one.name):
        file = None
        with suppress(PermissionError):
            file = entry(folder / item.name)
        if file is None:
            continue
        yield file
        if file.kind == "folder":
            with suppress(FileNotFoundError, PermissionError):
                yield from _below(file.path)


def _kept_files(settings: Settings) -> Findings:
    folder = folder_of(settings)
    if not folder.is_dir():
        return []
    files = list(islice(_below(folder), MOST_ENTRIES + 1))
    return kept_files(folder, files[:MOST_ENTRIES], os.geteuid(), cut=len(files) > MOST_ENTRIES)


def kept_elsewhere(setting: str, path: Path, folder: FileEntry | None, me: int) -> CheckFinding:
    """A folder of ours outside of the data folder."""
    if folder is None:
        return PERMISSIONS.ok(setting, f"{path} is not there yet: it is made once it is needed")
    if folder.uid != me or folder.mode & WRITE_BY_OTHERS:
        whose = f"belongs to user {folder.uid}" if folder.uid != me else f"can be written to by others ({folder.octal})"
        return PERMISSIONS.wrong(setting, f"{path} {whose}", f"make it this user's alone: `chown`, `chmod 700 {path}`")
    if folder.mode & OTHERS:
        return PERMISSIONS.advice(setting, f"others can enter {path} ({folder.octal})", f"`chmod 700 {path}`")
    return PERMISSIONS.ok(setting, f"{path} is this user's alone ({folder.octal})")


def _kept_elsewhere(settings: Settings) -> Findings:
    if settings.rejections is None:
        return []
    path = settings.rejections.expanduser()
    return [kept_elsewhere("ENGRAMLOG_REJECTIONS", path, entry(path.resolve()), os.geteuid())]


def socket(found: FileEntry | None, me: int, *, closed: bool) -> CheckFinding:
    """The socket of the private Redis. `closed`: whether its folder is this user's alone."""
    check = "redis socket"
    if found is None or found.kind != "socket":
        cure = "restart `engramlog up`, and keep cleaners off its folder"
        return PERMISSIONS.wrong(check, "the socket of the private Redis is gone", cure)
    if found.uid != me or not closed:
        cure = f"stop what runs on the folder, `chmod 700 {found.path.parent}`, start it again"
        return PERMISSIONS.wrong(check, f"others can put something in the place of {found.path}", cure)
    return PERMISSIONS.ok(check, f"only this user reaches {found.path}")


def of_permissions(settings: Settings) -> list[Check]:
    """These checks, except that of the socket: it needs a server."""
    return [
        Check(PERMISSIONS, "data folder", partial(_data_folder, settings)),
        Check(PERMISSIONS, "token", partial(_token, settings)),
        Check(PERMISSIONS, "master key file", partial(key_file, settings)),
        Check(PERMISSIONS, "files", partial(_kept_files, settings)),
        Check(PERMISSIONS, "folders elsewhere", partial(_kept_elsewhere, settings)),
    ]
