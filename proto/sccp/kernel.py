"""Kernel interfaces of the prototype besides ``ip`` and ``tc``: namespaces, one mount, one map of BPF, features."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import signal
import socket
import struct
from pathlib import Path

NEW_MOUNTS, NEW_NETWORK = 0x00020000, 0x40000000
PRIVATE_BELOW = 0x40000 | 0x4000
SET_DEATH_SIGNAL = 1
SYSCALL_BPF = {"x86_64": 321, "aarch64": 280, "riscv64": 280}
OBJECT_GET, PROGRAM_NEXT = 7, 11
ETHTOOL = 0x8946
OFF = {"checksums": 0x17, "tso": 0x1F, "gso": 0x24, "gro": 0x2C}
"""Numbers of the requests that switch an offload off or on."""
BPF_FOLDER = Path("/sys/fs/bpf")
LIBC = ctypes.CDLL(None, use_errno=True)


def checked(status: int, what: str) -> int:
    """Return the status of a call of the C library, or raise with the kernel's reason."""
    if status < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return status


def die_with_parent(parent: int) -> None:
    """Have this process killed when its parent ends, however that ends."""
    checked(LIBC.prctl(SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0), "prctl")
    if os.getppid() != parent:
        os._exit(1)


def new_namespace() -> int:
    """Enter a new network namespace; the descriptor keeps it alive, and nothing else does."""
    checked(LIBC.unshare(NEW_NETWORK), "a new network namespace")
    return os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def enter(namespace: int) -> None:
    """Enter a network namespace."""
    checked(LIBC.setns(namespace, NEW_NETWORK), "a network namespace")


def own_bpf_folder() -> None:
    """Mount a file system of BPF that only this process and its children see, and that ends with them."""
    checked(LIBC.unshare(NEW_MOUNTS), "a new mount namespace")
    checked(LIBC.mount(b"none", b"/", None, PRIVATE_BELOW, None), "private mounts")
    checked(LIBC.mount(b"bpf", os.fsencode(BPF_FOLDER), b"bpf", 0, None), "a file system of BPF")


def bpf(command: int, attributes: bytes) -> tuple[int, bytes]:
    """Call the system call of BPF; return its result, -1 for an error, and the attributes behind it."""
    number = SYSCALL_BPF.get(os.uname().machine)
    if number is None:
        raise OSError(f"the number of bpf(2) on {os.uname().machine} is not known here")
    held = ctypes.create_string_buffer(attributes, 128)
    return LIBC.syscall(number, command, held, 128), held.raw


def pinned_map(path: Path, size: int) -> mmap.mmap:
    """Map the value of a pinned array of one entry into memory."""
    name = ctypes.create_string_buffer(os.fsencode(path))
    descriptor, _ = bpf(OBJECT_GET, struct.pack("=QII", ctypes.addressof(name), 0, 0))
    checked(descriptor, str(path))
    try:
        return mmap.mmap(descriptor, -(-size // mmap.PAGESIZE) * mmap.PAGESIZE)
    finally:
        os.close(descriptor)


def loaded_programs() -> set[int]:
    """Numbers of all programs of BPF that the kernel holds."""
    found: set[int] = set()
    number = 0
    while True:
        status, held = bpf(PROGRAM_NEXT, struct.pack("=III", number, 0, 0))
        if status < 0:
            if ctypes.get_errno() != errno.ENOENT:
                checked(status, "the list of programs of BPF")
            return found
        number = struct.unpack_from("=I", held, 4)[0]
        found.add(number)


def no_offloads(device: str) -> None:
    """Have a device carry packets as they are on a wire: no large segments, checksums computed by the sender."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
        for name, request in OFF.items():
            value = ctypes.create_string_buffer(struct.pack("=II", request, 0))
            ask = struct.pack("=16sQ16x", device.encode(), ctypes.addressof(value))
            try:
                fcntl.ioctl(asker, ETHTOOL, ask)
            except OSError as error:
                raise OSError(error.errno, f"{device}: cannot switch {name} off: {error.strerror}") from None
