"""Files and folders that are there whole or not at all, and that nothing overwrites.

A file is replaced by a rename, which would put it in the place of anything: of a device, a pipe that somebody reads, a
link. So files of the program's own names (``write_whole``, ``write_together``) are written where there is nothing or a
plain file, and are refused elsewhere. A file that a user names (``write_named``) goes where a shell's ``>`` puts it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
import sys
import uuid
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from incast.errors import FolderError
from incast.files import kind_of
from incast.interrupts import half_written

BOOT = Path("/proc/sys/kernel/random/boot_id")
"""What differs between machines of one name, and from boot to boot, where the system tells it."""

MOST_LINKS = 40
"""Links that lead to one another, as the system has it."""


def write_whole(path: Path, content: str | bytes) -> None:
    """Replace a file so that it is seen either as before or with all of ``content``."""
    write_together(path.parent, {path.name: content})


def write_together(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Replace files of a folder that belong together: all are whole before the first is in its place.

    Where one cannot be written, on a full disk, none is replaced. Raises ``FolderError`` where a link, a device or
    anything else that is no plain file has the name of one.
    """
    asides: dict[Path, Path] = {}
    try:
        for name, content in files.items():
            path = folder / name
            refuse_other(path)
            aside = path.with_name(f".{path.name}.partial-{uuid.uuid4().hex[:8]}")
            half_written.add(aside)
            asides[aside] = path
            with aside.open("wb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
        for aside, path in asides.items():
            aside.replace(path)
    except BaseException:
        for aside in asides:
            aside.unlink(missing_ok=True)
        raise
    finally:
        half_written.difference_update(asides)


def refuse_other(path: Path) -> None:
    """Raise where something is under the name of a file of ours that is no plain file."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    kind = "a link" if stat.S_ISLNK(mode) else kind_of(mode)
    if kind:
        raise FolderError(f"{path} is {kind}: expected a plain file, or nothing; nothing was written over it")


def open_lock(path: Path) -> IO[bytes]:
    """Open the file of a lock, and make it where it is not there; what it holds stays. Raises as ``refuse_other``."""
    refuse_other(path)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return open(os.open(path, flags, 0o666), "r+b", buffering=0)  # noqa: PTH123


def write_named(path: Path, content: str | bytes) -> None:
    """Write a file that a user names: whole, or to the pipe or device that the name leads to.

    A link is followed, and stays: what it leads to is replaced, or made. ``/dev/stdout`` and its like are this
    process's own, to whose end it is written. Raises ``FolderError`` of a folder, a disk or a socket, and ``OSError``.
    """
    data = content.encode() if isinstance(content, str) else content
    own = _own_descriptor(path)
    if own is not None:
        sys.stdout.flush()
        _pour(data, os.dup(own))
        return
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG
    if stat.S_ISREG(mode):
        write_whole(path.resolve() if path.is_symlink() else path, data)
    elif stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
        # a pipe waits for its reader
        _pour(data, os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC))
    else:
        kind = "a disk" if stat.S_ISBLK(mode) else kind_of(mode)
        raise FolderError(f"{path} is {kind}: expected the name of a file, a pipe or a device such as /dev/stdout")


def _pour(data: bytes, descriptor: int) -> None:
    """Write all to an open file, and close it."""
    with open(descriptor, "wb", buffering=0) as file:
        rest = memoryview(data)
        while rest:
            rest = rest[file.write(rest) :]


def is_stream(path: Path) -> bool:
    """Whether a name leads to a pipe or a device, or to what this process has open: writing there replaces nothing."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or _own_descriptor(path) is not None


def is_standard_output(path: Path) -> bool:
    """Whether what is written to a name comes out of the standard output, where nothing else may come between."""
    if _own_descriptor(path) == 1:
        return True
    try:
        there, own = path.stat(), os.fstat(1)
    except OSError:
        return False
    return os.path.samestat(there, own) and not stat.S_ISCHR(own.st_mode)


def _own_descriptor(path: Path) -> int | None:
    """Give the number of the open file of this process that a name such as ``/dev/stdout`` is a link to."""
    own = Path("/proc") / str(os.getpid()) / "fd"
    for _ in range(MOST_LINKS):
        parent = path.parent.resolve()
        if parent == own and path.name.isdigit():
            return int(path.name)
        if not path.is_symlink():
            return None
        path = parent / path.readlink()
    return None


def write_through(path: Path, content: str | bytes) -> None:
    """Write a file through to the disk, into a folder that nobody sees yet."""
    with path.open("wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())


def put_first(path: Path, content: str, told: str) -> None:
    """Make a folder by its first file, which says what the folder is for; nothing is done where the file is there.

    Of several programs at once one writes it. What a killed one left of it is cleared away. Raises ``FolderError``,
    with what is to be told of the folder, where anything else is in it.
    """
    folder = path.parent
    try:
        if path.exists():
            return
        if not folder.is_dir():
            refuse_unless_empty(folder, told)
            folder.mkdir(parents=True, exist_ok=True)
        with _held(folder):
            if path.exists():
                return
            there = list(folder.iterdir())
            if all(one.name.startswith(f".{path.name}.partial-") for one in there):
                for one in there:
                    one.unlink(missing_ok=True)
            refuse_unless_empty(folder, told)
            write_whole(path, content)
        sync_folder(folder)
    except OSError as error:
        raise FolderError(f"cannot write results to {folder}: {error.strerror}") from None


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Keep other programs out of this block; where a disk has no locks of folders nobody is kept out."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Give a folder to fill that becomes ``folder`` at the end of the block, and only then.

    Raises ``FolderError`` at once when that could not work, so that nobody simulates for an hour
    to find out. Whatever ends the block early removes what was written; what a program that was killed left of the
    same folder is removed here.
    """
    refuse_unless_empty(folder)
    given = folder
    if folder.is_symlink():
        # A rename would put the new folder in the place of the link.
        folder = folder.resolve()
    if folder.name in ("", ".."):
        raise FolderError(f'"{given}" cannot be a results folder: name a new folder')
    prefix = f".{folder.name}.partial-{_machine():08x}-"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _clear_killed(folder.parent, prefix)
        aside, descriptor = _locked_folder(folder.parent, prefix)
    except OSError as error:
        raise FolderError(f"cannot write results to {given}: {error.strerror}") from None
    try:
        yield aside
        sync_folder(aside)
        try:
            # A rename puts a folder in the place of an empty one, never of a full one.
            aside.rename(folder)
        except OSError:
            refuse_unless_empty(folder)
            raise
        sync_folder(folder.parent)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    finally:
        half_written.discard(aside)
        os.close(descriptor)


def _machine() -> int:
    """Give a number of this boot of this machine.

    Another machine that shares the disk, of the same name even, may not see our locks: what it left is its own. So is
    what lies there from before this boot.
    """
    name = os.uname().nodename
    with suppress(OSError):
        name += BOOT.read_text(encoding="utf-8")
    return zlib.crc32(name.encode())


def _locked_folder(parent: Path, prefix: str) -> tuple[Path, int]:
    """Make a folder that stays locked while the descriptor is open, or this process lives, where the disk has locks."""
    while True:
        aside = parent / f"{prefix}{uuid.uuid4().hex[:8]}"
        half_written.add(aside)
        try:
            aside.mkdir()
            try:
                descriptor = os.open(aside, os.O_RDONLY)
            except FileNotFoundError:
                # another program took it for a killed one's,
                half_written.discard(aside)
                continue
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        except BaseException:
            shutil.rmtree(aside, ignore_errors=True)
            half_written.discard(aside)
            raise
        if aside.exists():
            return aside, descriptor
        # ... after it was opened and before it was locked
        half_written.discard(aside)
        os.close(descriptor)


def _clear_killed(parent: Path, prefix: str) -> None:
    """Remove folders of this prefix whose programs are gone: nobody locks them, on a disk that has locks."""
    for stale in [path for path in parent.iterdir() if path.name.startswith(prefix)]:
        # one that cannot be locked or removed stays
        with suppress(OSError):
            descriptor = os.open(stale, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(stale, ignore_errors=True)
            finally:
                os.close(descriptor)


NOT_EMPTY = "exists and is not empty: give another --out, or remove it first (results are never overwritten)"


def refuse_unless_empty(folder: Path, told: str = NOT_EMPTY) -> None:
    """Raise ``FolderError``, with what is to be told of it, if something is where a new folder shall be."""
    try:
        if next(folder.iterdir(), None) is not None:
            raise FolderError(f"{folder} {told}")
    except FileNotFoundError:
        if folder.is_symlink():
            raise FolderError(
                f"{folder} cannot be a results folder: it is a link to {folder.readlink()}, which does not exist"
            ) from None
    except NotADirectoryError:
        raise FolderError(f"{folder} cannot be a results folder: a file is in the way") from None
    except OSError as error:
        raise FolderError(f"cannot use {folder} for results: {error.strerror}") from None


def clear_away(folder: Path, keep: bool) -> None:
    """Remove what is in a folder, and the folder unless it is to be kept, empty."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    if not keep:
        folder.rmdir()


def sync_folder(folder: Path) -> None:
    """Make names in a folder last through a crash of the machine."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
