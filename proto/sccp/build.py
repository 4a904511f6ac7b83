"""The switch program compiled, and what the prototype needs of a machine.

``python -m proto.sccp.build`` installs the packages that are missing, by apt-get where there is root, and compiles.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

from proto.sccp import kernel

SOURCE = Path(__file__).with_name("switch.bpf.c")
ROOT = Path(__file__).parents[2]
OBJECT = ROOT / "build/proto/switch.bpf.o"
PACKAGES = ("clang", "libbpf-dev", "iproute2")
"""Packages of Debian and Ubuntu."""
TOOLS = ("clang", "ip", "tc")
HEADER = Path("/usr/include/bpf/bpf_helpers.h")


class Missing(Exception):
    """Something that the prototype needs is not there; the message says what."""


def missing() -> list[str]:
    """Name what the machine lacks, each with what to do."""
    install = f"apt-get install {' '.join(PACKAGES)}"
    found = []
    if sys.platform != "linux":
        return ["Linux: the prototype is made of network namespaces and programs of BPF"]
    if os.geteuid() != 0:
        found.append("root: namespaces, queues and BPF need it (sudo)")
    if not kernel.BPF_FOLDER.is_dir():
        found.append(f"BPF: the kernel has no {kernel.BPF_FOLDER} (CONFIG_BPF_SYSCALL)")
    found += [f"{name}: {install}" for name in TOOLS if shutil.which(name) is None]
    if not HEADER.exists():
        found.append(f"{HEADER}: {install}")
    return found or refused()


def refused() -> list[str]:
    """Name what the kernel refuses to a network of its own, as a container's often does; tried in another process."""
    words = [sys.executable, "-c", "from proto.sccp import network; network.probe()"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if not done.returncode:
        return []
    said = [line for line in done.stderr.splitlines() if "Error: " in line] or ["no reason given"]
    return [f"a kernel that allows namespaces, tbf and tc programs: {said[-1]}"]


def require() -> None:
    """Raise ``Missing`` with everything that the machine lacks."""
    if found := missing():
        raise Missing("the prototype needs\n" + "\n".join(f"  {line}" for line in found))


def compiled() -> Path:
    """Compile the switch program, unless the object is newer than its source."""
    if OBJECT.exists() and OBJECT.stat().st_mtime > SOURCE.stat().st_mtime:
        return OBJECT
    OBJECT.parent.mkdir(parents=True, exist_ok=True)
    aside = OBJECT.with_name(f".{OBJECT.name}.{uuid.uuid4().hex[:8]}")
    # Headers of the kernel for its own processor; clang does not look there for the target bpf.
    headers = f"/usr/include/{platform.machine()}-linux-gnu"
    words = ["clang", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-target", "bpf", "-mcpu=v3", f"-I{headers}"]
    try:
        done = subprocess.run(
            [*words, "-c", str(SOURCE), "-o", str(aside)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise Missing(f"{SOURCE.name} does not compile:\n{done.stderr}")
        aside.replace(OBJECT)
    finally:
        aside.unlink(missing_ok=True)
    return OBJECT


def install() -> None:
    """Install the packages, if something that they hold is missing and this user can."""
    lacking = not HEADER.exists() or any(shutil.which(name) is None for name in TOOLS)
    if lacking and os.geteuid() == 0 and shutil.which("apt-get"):
        for words in (["update"], ["install", "--yes", "--no-install-recommends", *PACKAGES]):
            subprocess.run(["apt-get", "--quiet=2", *words], check=True)


def main() -> int:
    """Install and compile; exit status 2 where something is missing that is not installed here."""
    try:
        install()
        require()
        print(compiled())
    except (Missing, OSError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
