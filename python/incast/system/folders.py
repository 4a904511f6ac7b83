"""Atomic writing of files and folders; results are never overwritten.

A file is replaced by a rename, which would also replace a device, a pipe or a link. So files with names of the program
(``write_whole``, ``write_together``) only replace plain files. A file named by the user (``write_named``) goes where a
shell's ``>`` puts it.
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

from incast.errors import FolderError, WriteError
from incast.system.files import kind_of
from incast.system.interrupts import half_written

BOOT = Path("/proc/sys/kernel/random/boot_id")
"""File with an identifier of the machine's boot, where the system has it."""

MOST_LINKS = 40
"""Most links in a chain, as in the system."""


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Write a file in this block; what the system refuses becomes a ``WriteError`` that names it."""
    try:
        yield
    except OSError as error:
        raise WriteError(error.errno, error.strerror or str(error), str(path)) from error


def name_written(error: BaseException, aside: Path, folder: Path) -> None:
    """Let an error about writing name a folder in place of the temporary one, which is removed."""
    if isinstance(error, WriteError):
        error.filename = str(error.filename).replace(str(aside), str(folder), 1)


def write_whole(path: Path, content: str | bytes) -> None:
    """Replace a file atomically."""
    write_together(path.parent, {path.name: content})


def write_together(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Replace files of a folder that belong together: all are written before the first is renamed.

    If one cannot be written (full disk), none is replaced. Raises ``WriteError`` then, and ``FolderError`` if a name is
    taken by a link, a device or anything else but a plain file.
    """
    asides: dict[Path, Path] = {}
    try:
        for name, content in files.items():
            path = folder / name
            refuse_other(path)
            aside = path.with_name(f".{path.name}.partial-{uuid.uuid4().hex[:8]}")
            half_written.add(aside)
            asides[aside] = path
            with writing(path), aside.open("wb") as file:
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


def refuse_odd_name(folder: Path) -> None:
    """Raise ``FolderError`` if the absolute path of a folder is no text: pages, JSON and SQL could not name it."""
    place = str(folder.absolute())
    shown = os.fsencode(place).decode("utf-8", "backslashreplace")
    if shown != place:
        raise FolderError(f"{shown}: the name is not UTF-8: rename the folder, or give another one")


def refuse_other(path: Path) -> None:
    """Raise if the name of a file of the program is taken by anything but a plain file."""
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
    """Open the file of a lock, and create it if missing, without truncation. Raises like ``refuse_other``."""
    refuse_other(path)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return open(os.open(path, flags, 0o666), "r+b", buffering=0)  # noqa: PTH123


def write_named(path: Path, content: str | bytes) -> None:
    """Write a file named by the user: atomically, or into a pipe or device.

    A link is followed and stays: its target is replaced or created. ``/dev/stdout`` and the like are the descriptors of
    this process, and are appended to. Raises ``FolderError`` for a folder, a disk or a socket, and ``OSError``.
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
        # opening a pipe waits for its reader
        _pour(data, os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC))
    else:
        kind = "a disk" if stat.S_ISBLK(mode) else kind_of(mode)
        raise FolderError(f"{path} is {kind}: expected the name of a file, a pipe or a device such as /dev/stdout")


def _pour(data: bytes, descriptor: int) -> None:
    """Write all data to a descriptor, and close it."""
    with open(descriptor, "wb", buffering=0) as file:
        rest = memoryview(data)
        while rest:
            rest = rest[file.write(rest) :]


def is_stream(path: Path) -> bool:
    """Return whether a name leads to a pipe, a device or an open descriptor: writing there replaces nothing."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or _own_descriptor(path) is not None


def is_standard_output(path: Path) -> bool:
    """Return whether a name leads to standard output, where nothing else may be mixed in."""
    if _own_descriptor(path) == 1:
        return True
    try:
        there, own = path.stat(), os.fstat(1)
    except OSError:
        return False
    return os.path.samestat(there, own) and not stat.S_ISCHR(own.st_mode)


def _own_descriptor(path: Path) -> int | None:
    """Return the descriptor of this process that a name such as ``/dev/stdout`` links to."""
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
    """Write a file and flush it to disk, in a folder that is not visible yet."""
    with writing(path), path.open("wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())


def put_first(path: Path, content: str, message: str) -> None:
    """Create a folder with its first file, which marks its purpose; do nothing if the file exists.

    Of several concurrent programs one writes it. Leftovers of a killed program are removed. Raises ``FolderError`` with
    the given message if the folder has other content.
    """
    folder = path.parent
    try:
        if path.exists():
            return
        if not folder.is_dir():
            refuse_unless_empty(folder, message)
            folder.mkdir(parents=True, exist_ok=True)
        with _held(folder):
            if path.exists():
                return
            there = list(folder.iterdir())
            if all(one.name.startswith(f".{path.name}.partial-") for one in there):
                for one in there:
                    one.unlink(missing_ok=True)
            refuse_unless_empty(folder, message)
            write_whole(path, content)
        sync_folder(folder)
    except OSError as error:
        raise FolderError(f"cannot write results to {folder}: {error.strerror}") from None


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Lock a folder against other programs in this block; without effect on disks without folder locks."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder that becomes ``folder`` at the end of the block.

    Raises ``FolderError`` at once if that cannot work, not after an hour of simulation. An exception in the block
    removes the temporary folder. Leftovers of a killed program for the same folder are removed here.
    """
    refuse_unless_empty(folder)
    given = folder
    if folder.is_symlink():
        # a rename would replace the link by the new folder
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
            # a rename replaces an empty folder, never a full one
            aside.rename(folder)
        except OSError:
            refuse_unless_empty(folder)
            raise
        sync_folder(folder.parent)
    except BaseException as error:
        shutil.rmtree(aside, ignore_errors=True)
        name_written(error, aside, given)
        raise
    finally:
        half_written.discard(aside)
        os.close(descriptor)


def _machine() -> int:
    """Return a number of this boot of this machine.

    Another machine that shares the disk, even one with the same name, may not see our locks: its leftovers are left
    alone. So are leftovers from before this boot.
    """
    name = os.uname().nodename
    with suppress(OSError):
        name += BOOT.read_text(encoding="utf-8")
    return zlib.crc32(name.encode())


def _locked_folder(parent: Path, prefix: str) -> tuple[Path, int]:
    """Create a folder that stays locked until its descriptor closes or this process ends, if the disk has locks."""
    while True:
        aside = parent / f"{prefix}{uuid.uuid4().hex[:8]}"
        half_written.add(aside)
        try:
            aside.mkdir()
            try:
                descriptor = os.open(aside, os.O_RDONLY)
            except FileNotFoundError:
                # another program took it for a leftover,
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
        # after it was opened and before it was locked
        half_written.discard(aside)
        os.close(descriptor)


def _clear_killed(parent: Path, prefix: str) -> None:
    """Remove unlocked folders of this prefix: their programs are gone, if the disk has locks."""
    for stale in [path for path in parent.iterdir() if path.name.startswith(prefix)]:
        # folders that cannot be locked or removed stay
        with suppress(OSError):
            descriptor = os.open(stale, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(stale, ignore_errors=True)
            finally:
                os.close(descriptor)


NOT_EMPTY = "exists and is not empty: give another --out, or remove it first (results are never overwritten)"


def refuse_unless_empty(folder: Path, message: str = NOT_EMPTY) -> None:
    """Raise ``FolderError`` with a message if the place of a new folder is taken."""
    try:
        if next(folder.iterdir(), None) is not None:
            raise FolderError(f"{folder} {message}")
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
    """Remove the content of a folder, and the folder itself unless ``keep``."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    if not keep:
        folder.rmdir()


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def alone_in(folder: Path, deep: bool = True) -> Iterator[None]:
    """Lock the folder against other programs, and remove leftovers of killed ones.

    Without ``deep``, subfolders with their own locks are left alone.
    """
    try:
        lock = open_lock(folder / ".lock")
    except OSError as error:
        raise FolderError(f"cannot write results to {folder}: {error.strerror}") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderError(f"{folder} is in use: another program is running there") from None
        for stale in (folder.rglob if deep else folder.glob)(".*.partial-*"):
            if stale.is_dir():
                shutil.rmtree(stale, ignore_errors=True)
            else:
                stale.unlink(missing_ok=True)
        yield
