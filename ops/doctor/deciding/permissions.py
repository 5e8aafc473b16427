"""Whether what lies on this machine is its user's alone. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from ops.doctor.finding import PERMISSIONS, CheckFinding, many, named
from ops.owned import OTHERS

WRITE = 0o022
Kind = Literal["folder", "file", "link", "socket", "other"]


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


def is_safe_to_open(folder: FileEntry, me: int) -> bool:
    """Whether nobody else can have put there what a server would be started on, or asked at."""
    return folder.kind == "folder" and folder.uid == me and not folder.mode & WRITE


def data_folder(told: Path, folder: FileEntry | None, me: int) -> CheckFinding:
    """The data folder; `told`: as it is set, which may be a link to it. `folder`: None where there is none."""
    check = "data folder"
    if folder is None:
        return PERMISSIONS.ok(check, f"{told} is not there yet: it is made, for this user alone, once it is needed")
    if folder.kind != "folder":
        return PERMISSIONS.wrong(check, f"{folder.path} is no folder", "let ENGRAMLOG_DATA name a folder")
    if folder.uid != me:
        return PERMISSIONS.wrong(
            check,
            f"{folder.path} belongs to user {folder.uid}, and this command runs as user {me}",
            "run it as the user of the service, as in `sudo -u engramlog engramlog doctor`",
        )
    if folder.mode & WRITE:
        return PERMISSIONS.wrong(
            check,
            f"others can write to {folder.path} ({folder.octal}), so what lies there may be theirs",
            f"look through it, then `chmod 700 {folder.path}`",
        )
    if folder.mode & OTHERS:
        return PERMISSIONS.wrong(
            check, f"others can enter {folder.path} ({folder.octal})", f"`chmod 700 {folder.path}`"
        )
    by = "" if told == folder.path else f", by the link {told}"
    return PERMISSIONS.ok(check, f"{folder.path} is this user's alone ({folder.octal}){by}")


def token(there: bool, trouble: str | None, *, given: bool) -> CheckFinding:
    """The API's token; `given`: by the environment, and then no file counts."""
    check = "token"
    if given:
        return PERMISSIONS.ok(check, "callers show ENGRAMLOG_TOKEN; no file holds it")
    if trouble is not None:
        found, _, cure = trouble.partition("; ")
        return PERMISSIONS.wrong(check, found, cure or "`engramlog token --rotate` makes a new one")
    return PERMISSIONS.ok(
        check, "only this user can read it" if there else "there is none yet: the first `up` makes it"
    )


def key_file(path: Path, trouble: str | None) -> CheckFinding:
    """The file of the master key."""
    check = "master key file"
    if trouble is not None:
        return PERMISSIONS.wrong(
            check, trouble, f"`chmod 600 {path}` and its owner's user, or bring back the copy of it; docs/sealing.md"
        )
    return PERMISSIONS.ok(check, f"only this user can read {path}")


def socket(found: FileEntry | None, me: int, *, closed: bool) -> CheckFinding:
    """The socket of the private Redis; `closed`: whether its folder is this user's alone."""
    check = "redis socket"
    if found is None or found.kind != "socket":
        return PERMISSIONS.wrong(
            check, "the socket of the private Redis is gone", "restart `engramlog up`, and keep cleaners off its folder"
        )
    if found.uid != me or not closed:
        return PERMISSIONS.wrong(
            check,
            f"others can put something in the place of {found.path}",
            f"stop what runs on the folder, `chmod 700 {found.path.parent}`, start it again",
        )
    return PERMISSIONS.ok(check, f"only this user reaches {found.path}")


def kept_files(folder: Path, found: Sequence[FileEntry], me: int, *, cut: bool = False) -> list[CheckFinding]:
    """What lies in the data folder and below; `cut`: whether there is more than was looked at."""
    check = "files"
    foreign = [one.path.name for one in found if one.uid != me]
    links = [one.path.name for one in found if one.kind == "link"]
    open_ = [one.path.name for one in found if one.kind in ("file", "folder") and one.mode & OTHERS]
    told = list[CheckFinding]()
    if foreign:
        told.append(
            PERMISSIONS.wrong(
                check,
                f"another user's, in the data folder: {named(foreign)}",
                "find out who put it there; where a command was run as root, give it back: `chown`",
            )
        )
    if links:
        told.append(
            PERMISSIONS.advice(
                check,
                f"links in the data folder: {named(links)}",
                "put the files themselves there: what a link leads to is in no copy of the folder, and has its own permissions",
            )
        )
    if open_:
        told.append(
            PERMISSIONS.advice(
                check,
                f"{many(len(open_), 'thing')} in the data folder could be read by others, were it not closed: {named(open_)}",
                f"`chmod -R go= {folder}`: a copy takes these permissions along",
            )
        )
    if not told:
        more = "; there are more, which were not looked at" if cut else ""
        told.append(
            PERMISSIONS.ok(check, f"{many(len(found), 'thing')} in the data folder, all this user's alone{more}")
        )
    return told


def kept_elsewhere(setting: str, path: Path, found: FileEntry | None, me: int) -> CheckFinding:
    """A folder of ours outside of the data folder."""
    check = setting
    if found is None:
        return PERMISSIONS.ok(check, f"{path} is not there yet: it is made once it is needed")
    if found.uid != me or found.mode & WRITE:
        whose = f"belongs to user {found.uid}" if found.uid != me else f"can be written to by others ({found.octal})"
        return PERMISSIONS.wrong(check, f"{path} {whose}", f"make it this user's alone: `chown`, `chmod 700 {path}`")
    if found.mode & OTHERS:
        return PERMISSIONS.advice(check, f"others can enter {path} ({found.octal})", f"`chmod 700 {path}`")
    return PERMISSIONS.ok(check, f"{path} is this user's alone ({found.octal})")
