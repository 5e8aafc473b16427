"""Files of kept views: one an owner, in a folder of this user's alone, bounded, and never trusted further than that.

Each is written beside its place, synced and renamed. Whoever appends what hides a content marks the owner first and then drops
its file; whoever writes one looks for such a mark after it stands. So no file outlives the mark that was begun before it, nor
for a minute after: until then what was appended is folded. Of a sealed store a file is encrypted (`projections.redis.kept`).
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Lock, Thread

from events.errors import StoreUnavailable
from events.sealing.blocks import SealedBlock
from ops.kept.view_code import view_code
from ops.owned import OTHERS, is_ours
from ops.settings import Settings
from ops.tracebacks import reason_of

Tell = Callable[..., None]
SUFFIX, MARK, BEGUN = ".view", ".mark", ".begun"
GRACE_NS = 60_000_000_000
"""A block that was begun so soon after a mark may still hold what was hidden."""
UNUSED_SECONDS = 7 * 86_400
"""A file that nobody read for so long goes, and with it what another host's deletions left in it."""
LEFT_SECONDS = 3_600
"""A block that was begun and a mark: longer ago nobody works on the one or needs the other."""
MOST_WAITING = 8
STOP_SECONDS = 2.0
LEAST_MEMORIES = 1_000
"""An owner of so many is loaded in some 20 ms from Redis."""
FREE_SHARE = 10
"""Times its size that must be free on the disk: what Redis writes there comes first."""


def view_folder(settings: Settings, store_id: str, tell: Tell) -> ViewFolder | None:
    """Where a store's views are kept on this machine; None where they are not."""
    beside, ours = settings.kept_views == "auto", settings.data.expanduser() / "views"
    folder = ours if beside else Path(settings.kept_views).expanduser()
    try:
        if not (beside or settings.redis_url) and folder.resolve() != ours.resolve():
            _clear(ours)
    except OSError as error:
        tell("kept views that are not wanted any more cannot be removed", folder=str(ours), reason=_reason(error))
    if settings.kept_views == "off" or (beside and settings.redis_url):
        return None
    found = ViewFolder(folder, store_id, most_bytes=settings.kept_views_bytes, tell=tell)
    found.tidy()
    return found


def drop_views(settings: Settings) -> None:
    """Remove every view that is kept on this machine where the settings say, and beside the store; they are made anew. Raises
    StoreUnavailable where they cannot be removed."""
    folders = [settings.data.expanduser() / "views"]
    if settings.kept_views not in ("auto", "off"):
        folders.append(Path(settings.kept_views).expanduser())
    for folder in folders:
        try:
            _clear(folder)
        except OSError as error:
            raise StoreUnavailable(
                f"views kept in {folder} cannot be removed: {_reason(error)}", file=str(folder)
            ) from error


def view_name(store_id: str, owner: str) -> str:
    """What the file of an owner's kept view is called: nobody tells the owner by it who does not know the store's id."""
    key = blake2b(store_id.encode()).digest()
    return blake2b(owner.encode("utf-8", "surrogatepass"), key=key, digest_size=20).hexdigest() + SUFFIX


class ViewFolder:
    """The kept views of one store on this machine. Safe for threads and between processes; nothing it is asked raises."""

    def __init__(
        self, folder: Path, store_id: str, *, most_bytes: int, tell: Tell, least: int = LEAST_MEMORIES
    ) -> None:
        self.folder = folder
        self.least = least
        self._store_id = store_id
        self._most = most_bytes
        self._tell = tell
        self.code = view_code()
        """See `ViewFiles`. Read now: an upgrade may put other files there while this process runs."""
        self._waiting: Queue[Callable[[], None] | None] = Queue(MOST_WAITING)
        self._thread: Thread | None = None
        self._lock = Lock()
        self._ends = False

    def read(self, owner: str) -> bytearray | None:
        """See `ViewFiles`."""
        path = self._path(owner)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except OSError as error:
            self.passed_over(owner, f"it cannot be opened: {error.strerror}")
            return None
        try:
            found = os.fstat(descriptor)
            if why := self._distrust(found):
                self.passed_over(owner, why)
                return None
            block = bytearray(found.st_size)
            with open(descriptor, "rb", buffering=0, closefd=False) as file:
                size, view = 0, memoryview(block)
                while size < len(block) and (got := file.readinto(view[size:])):
                    size += got
            if size < len(block):
                self.passed_over(owner, "it was cut off while it was read")
                return None
            os.utime(descriptor)
        except OSError as error:
            self.passed_over(owner, f"it cannot be read: {error.strerror}")
            return None
        else:
            return block
        finally:
            os.close(descriptor)

    def _distrust(self, found: os.stat_result) -> str | None:
        """Why a file is not to be read; None where it is this user's alone."""
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            return "it is no plain file"
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & OTHERS:
            return f"others can use it (user {found.st_uid}, {stat.S_IMODE(found.st_mode):04o})"
        return f"it has {found.st_size:,} bytes" if found.st_size > self._most else None

    def began(self) -> int:
        """See `ViewFiles`: nanoseconds since 1970, by the clock of files."""
        return time.time_ns()

    def write(self, owner: str, block: Sequence[bytes | memoryview] | SealedBlock, began: int) -> bool:
        """See `ViewFiles`."""
        path, size = self._path(owner), block.size if isinstance(block, SealedBlock) else sum(map(len, block))
        begun = path.with_suffix(f".{os.getpid()}-{began}{BEGUN}")
        try:
            self._make_folder()
            if not self._has_room(size):
                return False
            descriptor = os.open(begun, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                with open(descriptor, "wb") as file:  # noqa: PTH123 - it is a descriptor
                    if isinstance(block, SealedBlock):
                        block.write(file)
                    else:
                        file.writelines(block)
                    file.flush()
                    os.fsync(descriptor)
                begun.rename(path)
            except FileNotFoundError:  # erased meanwhile
                return False
            except BaseException:
                begun.unlink(missing_ok=True)
                raise
            if self._marked(owner) >= began - GRACE_NS:
                path.unlink(missing_ok=True)
                return False
        except OSError as error:
            self.not_kept(owner, _reason(error))
            return False
        return True

    def erase(self, owner: str) -> None:
        """See `ViewFiles`."""
        self.drop(owner)
        mark = self._path(owner).with_suffix(MARK)
        try:
            self._make_folder()
            _touch(mark)
        except OSError as error:
            self._tell("an owner whose view is to go cannot be marked", file=str(mark), reason=_reason(error))
        self.drop(owner)  # again: what was put into its place before the mark stood

    def drop(self, owner: str) -> None:
        """See `ViewFiles`."""
        path = self._path(owner)
        try:
            path.unlink(missing_ok=True)
            for begun in self.folder.glob(f"{path.stem}.*{BEGUN}"):
                begun.unlink(missing_ok=True)
        except OSError as error:
            self._tell("a kept view cannot be erased: remove it", file=str(path), reason=_reason(error))

    def not_kept(self, owner: str, why: str) -> None:
        """See `ViewFiles`."""
        self._tell("a view cannot be kept", file=str(self._path(owner)), reason=why)

    def passed_over(self, owner: str, why: str) -> None:
        """See `ViewFiles`."""
        path = self._path(owner)
        with suppress(OSError):
            path.unlink(missing_ok=True)
        self._tell("a kept view is passed over, and its owner loaded", file=str(path), reason=why)

    def later(self, work: Callable[[], None]) -> bool:
        """See `ViewFiles`."""
        with self._lock:
            if self._ends:
                return False
            try:
                self._waiting.put_nowait(work)
            except Full:
                return False
            if self._thread is None:
                self._thread = Thread(target=self._run, name="views", daemon=True)
                self._thread.start()
            return True

    def close(self, seconds: float = STOP_SECONDS) -> None:
        """Finish what waits, for which is waited so long at most in all."""
        end = time.monotonic() + seconds
        with self._lock:
            self._ends = True
            thread = self._thread
        if thread is None:
            return
        with suppress(Full):
            self._waiting.put(None, timeout=seconds)
        thread.join(max(0.0, end - time.monotonic()))
        left = int(thread.is_alive())
        with suppress(Empty):  # what is not begun by now is not kept
            while True:
                left += self._waiting.get_nowait() is not None
        if left:
            self._waiting.put_nowait(None)
            self._tell("views are not kept: the process ends before", views=left)

    def _run(self) -> None:
        while (work := self._waiting.get()) is not None:
            try:
                work()
            except Exception as error:  # noqa: BLE001 - the end of a thread: one owner that cannot be kept keeps no other back
                self._tell("a view cannot be kept", reason=reason_of(error))

    def _path(self, owner: str) -> Path:
        return self.folder / view_name(self._store_id, owner)

    def _make_folder(self) -> None:
        """Raises OSError where it is not this user's alone."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not is_ours(self.folder, stat.S_ISDIR):
            raise PermissionError(1, "the folder is not this user's alone")

    def _marked(self, owner: str) -> int:
        try:
            return self._path(owner).with_suffix(MARK).lstat().st_mtime_ns
        except FileNotFoundError:
            return -GRACE_NS

    def tidy(self) -> None:
        """Remove what is too old, or left of a process that died."""
        try:
            if is_ours(self.folder, stat.S_ISDIR):
                list(self._tidied())
        except OSError as error:
            self._tell("kept views cannot be tidied", folder=str(self.folder), reason=_reason(error))

    def _has_room(self, size: int) -> bool:
        """Whether a file of this size may come; those that were read longest ago make room."""
        files = sorted(self._tidied(), key=lambda one: one[1].st_mtime)
        room = os.statvfs(self.folder)
        if size > self._most or room.f_bavail * room.f_frsize < FREE_SHARE * size:
            return False
        held = sum(found.st_size for _, found in files)
        for path, found in files:
            if held + size <= self._most:
                break
            path.unlink(missing_ok=True)
            held -= found.st_size
        return True

    def _tidied(self) -> Iterator[tuple[Path, os.stat_result]]:
        """The kept views; what is too old, or left of a process that died, goes."""
        now = time.time()
        for path in self.folder.iterdir():
            with suppress(FileNotFoundError):
                found = path.lstat()
                old = UNUSED_SECONDS if path.suffix == SUFFIX else LEFT_SECONDS
                if path.suffix in (SUFFIX, MARK, BEGUN) and now - found.st_mtime > old:
                    path.unlink(missing_ok=True)
                elif path.suffix == SUFFIX:
                    yield path, found


def _clear(folder: Path) -> None:
    """Remove every view that lies there; marks stay, for who still writes. Raises OSError."""
    if is_ours(folder, stat.S_ISDIR):
        for path in folder.iterdir():
            if path.suffix in (SUFFIX, BEGUN):
                path.unlink(missing_ok=True)


def _touch(mark: Path) -> None:
    """Leave a mark of now. Raises OSError where it cannot be this user's own plain file."""
    if not is_ours(mark, stat.S_ISREG):
        mark.unlink(missing_ok=True)
    descriptor = os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    try:
        os.utime(descriptor)
    finally:
        os.close(descriptor)


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
