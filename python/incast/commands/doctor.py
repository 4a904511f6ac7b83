"""``incast doctor``: what this machine has for Incast, and what to type for the rest."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.table import Table
from rich.text import Text

from incast import _core
from incast.batch.shares import default_workers
from incast.commands.options import next_steps, out
from incast.runs.run_folder import engine_digest
from incast.system import memory

LEAST_BYTES = 1e9
"""Memory and disk below which most studies do not fit."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "firefox", "xdg-open", "open")
EXTRAS = {
    "duckdb": ("query", "incast query"),
    "optuna": ("tune", "incast tune"),
    "ray": ("ray", "incast study run --on ray"),
    "pandas": ("pandas", "to_pandas()"),
    "polars": ("polars", "to_polars()"),
    "gymnasium": ("learn", "incast.learn"),
}
"""Packages of the extras that a command needs, with the extra and its use."""


@dataclass(frozen=True)
class Finding:
    """A line: what was looked at, what was found, and what to type if it is missing."""

    what: str
    found: str
    state: str = "ok"
    """``ok``, ``missing`` (optional), ``low``, or ``broken`` (nothing runs)."""
    todo: str = ""


def doctor() -> None:
    """Say what this machine has: versions, cores, memory, disk, packages, programs; and what to type for the rest.

    Exit status 1 if something is broken without which nothing runs.
    """
    found = [*_program(), *_machine(), *_packages(), *_programs()]
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for _ in range(3):
        table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    styles = {"ok": "green", "missing": "dim", "low": "yellow", "broken": "bold red"}
    for one in found:
        table.add_row(Text(one.state, styles[one.state]), one.what, one.found, one.todo)
    out.print(table)
    if any(one.state == "broken" for one in found):
        raise typer.Exit(1)
    next_steps(False, "incast", "incast run dumbbell")


def _program() -> Iterator[Finding]:
    yield Finding("incast", _core.__version__, todo=str(Path(_core.__file__).parent))
    build = "with debug checks, for tests: runs are slower" if _core.HAS_ASSERTIONS else "optimised"
    yield Finding("engine", f"{build}; digest {engine_digest()}")
    yield Finding("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")


def _machine() -> Iterator[Finding]:
    cores, workers = os.cpu_count() or 1, default_workers()
    yield Finding("cores", f"{cores}, {workers} runs at once")
    free, whole = memory.free_memory(), memory.machine_memory()
    state, todo = ("ok", "") if free >= LEAST_BYTES else ("low", "make runs smaller: incast run FILE --dry-run")
    yield Finding("memory", f"{memory.spoken(free)} free of {memory.spoken(whole)}", state, todo)
    disk, here = shutil.disk_usage("."), os.access(".", os.W_OK)
    state, todo = ("ok", "") if disk.free >= LEAST_BYTES else ("low", "results need another --out")
    if not here:
        state, todo = "low", "this folder is read-only: results need another --out"
    yield Finding("disk of this folder", f"{memory.spoken(disk.free)} free of {memory.spoken(disk.total)}", state, todo)


def _packages() -> Iterator[Finding]:
    """Yield the packages that every command needs, and those of the extras."""
    for text in _needed():
        name = text.split(">")[0].split("=")[0].split("<")[0].strip()
        there = _version(name)
        yield Finding(name, there) if there else Finding(name, "no", "broken", f"pip install {name}")
    for name, (extra, use) in EXTRAS.items():
        there = _version(name)
        if there:
            yield Finding(name, there)
        else:
            yield Finding(name, "no", "missing", f'for {use}: pip install "incast[{extra}]"')


def _needed() -> list[str]:
    """Return the requirements of the package, without those of extras."""
    from importlib.metadata import PackageNotFoundError, requires  # slow, and only for this command

    try:
        return [text for text in requires("incast") or [] if "extra ==" not in text]
    except PackageNotFoundError:  # used from a folder, without an installation
        return []


def _version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _programs() -> Iterator[Finding]:
    page = Path(_core.__file__).parent / "view" / "viewer.html"
    if page.is_file():
        yield Finding("viewer", f"{page.stat().st_size / 1e3:,.0f} kB")
    else:
        yield Finding(
            "viewer", "no", "missing", "for incast view: make viewer (needs Node.js 20.19), or install a wheel"
        )
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    todo = "for --open: install a browser; pages open on any other machine"
    yield Finding("browser", browser) if browser else Finding("browser", "no", "missing", todo)
    tshark = shutil.which("tshark")
    todo = "reads incast export --pcapng: apt-get install tshark, or Wireshark elsewhere"
    yield Finding("tshark", tshark) if tshark else Finding("tshark", "no", "missing", todo)
