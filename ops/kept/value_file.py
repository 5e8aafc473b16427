"""A file of kept rejections: appended to and fsynced under a lock, bounded, each line by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from events.errors import StoreUnavailable
from ops.durable import FileFull, FileLock, append_lines, file_state, replace_file
from ops.kept.values import KeptValue, Line, ValueBook, is_of, read_values, with_secret, write_lines
from ops.settings import Settings

MOST_BYTES = 16 * 1024 * 1024
"""A file takes no more lines from here on: 20,000 and more. None is let go, for each keeps a value back."""
_NAME = 64


def values_path(settings: Settings, store_id: str) -> Path:
    """Where a store's rejections are kept on this machine. The id comes out of Redis: no path is made of it."""
    told = "".join(one for one in store_id if (one.isascii() and one.isalnum()) or one == "-")[:_NAME]
    folder = settings.rejections or settings.data
    one_store = settings.rejections is None and settings.redis_url is None
    return folder.expanduser() / ("rejections.jsonl" if one_store else f"rejections-{told}.jsonl")


class ValueFile:
    """The kept rejections of a store in its data folder. Several processes may append: each does under the file's lock."""

    def __init__(self, path: Path, store: str, partitions: int, *, most_bytes: int = MOST_BYTES) -> None:
        self.path = path
        self.store = store
        self._partitions = partitions
        self._most = most_bytes
        self._known: tuple[int, int, int] | None = None
        self._book = ValueBook(store, partitions)

    def read(self) -> ValueBook:
        """What is kept; nothing where there is no file. Raises StoreUnavailable where it cannot be read."""
        try:
            state = file_state(self.path)
            if state is None:
                self._book, self._known = ValueBook(self.store, self._partitions), None
            elif state != self._known:
                with self.path.open("rb") as file:
                    raw = file.read(2 * self._most)
                self._book, self._known = read_values(raw, self.store, self._partitions), state
        except OSError as error:
            raise StoreUnavailable(f"kept rejections cannot be read: {error}", file=str(self.path)) from error
        return self._book

    def append(self, lines: Sequence[Line]) -> None:
        """Write those that are not there, on disk when this returns. Raises StoreUnavailable where it is full, or the disk is."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(self.path):
                book = self.read()
                new = [one for one in lines if not isinstance(one, KeptValue) or one.event not in book.kept]
                if new:
                    append_lines(self.path, write_lines(new), self._most)
        except FileFull as full:
            text = (
                f"the file of kept rejections is full: {full.size:,} of {self._most:,} bytes; more are in the log alone"
            )
            raise StoreUnavailable(text, file=str(self.path)) from None
        except OSError as error:
            raise StoreUnavailable(f"rejections cannot be kept: {error}", file=str(self.path)) from error

    def rewrite(self, secrets: Mapping[str, str]) -> int:
        """Put other secrets into the lines of these events; how many were changed. All else stays, byte for byte. On disk then.

        Raises StoreUnavailable where the file cannot be written; it is then as it was.
        """
        return self._rewritten(lambda line: with_secret(line, self.store, secrets))

    def forget(self, owner: str, upto: int = -1) -> int:
        """Take out the lines of an owner who was erased: they hold its secret. `upto`: the last seq of which lines go, where it was
        readmitted; -1: all. How many went; on disk then. Raises as `rewrite`."""
        if not self.path.exists():
            return 0
        return self._rewritten(lambda line: b"" if is_of(line, self.store, owner, upto) else None)

    def _rewritten(self, anew: Callable[[bytes], bytes | None]) -> int:
        """Write the file with what is made of each line: None leaves it as it is, nothing takes it out."""
        try:
            with FileLock(self.path):
                raw, changed, kept = self.path.read_bytes(), 0, list[bytes]()
                *whole, rest = raw.split(b"\n")
                for line in whole:
                    found = anew(line)
                    changed += found is not None
                    kept += [line] if found is None else [found] if found else []
                replace_file(self.path, b"\n".join([*kept, rest]), locked=True)
                return changed
        except OSError as error:
            raise StoreUnavailable(f"kept rejections cannot be written anew: {error}", file=str(self.path)) from error
