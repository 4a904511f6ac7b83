"""Hold two builds of the program against each other: they should give the same bytes.

``python tools/same_bytes.py BEFORE AFTER`` takes two ``incast`` programs (or folders of clones whose ``.venv/bin`` has
one) and runs with both every built-in scenario and a list of variations that together reach every controller, form,
routing policy, queue, preset, failure and observation. It compares ``summary.json`` and every table byte for byte and
names what differs: the figure in a summary, the column of a table. What a build gave is kept (``--keep``, by the
digest of the program), so that a build that stands still, such as the one before a redesign, runs once.

``--demo`` compares ``make demo``'s comparison as well. The rows of ``make parity`` are in git: run it and look at what
``git diff parity/results/fidelity.csv`` says. Exit status 1 when anything differs, 2 when a build cannot run a case.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pyarrow.parquet as pq

KEEP = Path(__file__).resolve().parent.parent / ".cache" / "same-bytes"
IGNORED = {"manifest.json", "scenario.toml"}
"""Files of a run folder that tell of the machine, or of keys and their names, and not of what the run gave."""

SCENARIOS = [
    "coexistence",
    "dumbbell",
    "expresspass",
    "phost",
    "dcpim",
    "hotspot",
    "htsim-permutation",
    "wireless-cell",
    "wireless-mesh",
    "sensor-gateway",
    "incast",
    "incast-50",
    "incast-trimming",
    "leaf-spine",
    "link-failure",
    "linux-dumbbell",
    "mixed-rdma-tcp",
    "two-jobs",
    "moe-alltoall",
    "allreduce-rails",
    "llm-3d",
    "linux-incast",
    "ns3-hotspot",
    "ns3-random-hotspot",
    "ns3-random-pairs",
    "ns3-star",
    "permutation",
    "permutation-elephants",
    "pfabric",
    "pias",
    "pfc-incast",
    "priority",
    "random-hotspot",
    "random-pairs",
    "rcp-processor-sharing",
    "star",
    "three-tier-incast",
    "sccp-incast",
    "sccp-table",
    "two-senders",
    "websearch",
]

CONTROLLERS = [
    "newreno",
    "westwood",
    "westwood-plus",
    "dctcp",
    "d2tcp",
    "gcn",
    "cubic",
    "bbr",
    "swift",
    "swift-ecn",
    "swift-v0",
    "swift-moving",
    "swift-rebase",
    "lswift",
    "mswift",
    "fastflow",
    "hpcc",
    "dcqcn",
    "timely",
    "rcp",
    "xcp",
    "bolt",
    "powertcp",
    "theta-powertcp",
    "poseidon",
    "vegas",
    "dx",
    "d3",
    "dctcp-rate",
]
"""Every controller; ``tests/python/test_same_bytes.py`` holds that none is missing."""

# yasomam is spelled by its former name, seed-000: builds from before the new name know only that one
FORMS = {
    "newreno": "ns3 linux",
    "cubic": "linux",
    "westwood": "linux ns3 ns3-35",
    "westwood-plus": "ns3",
    "dctcp": "ns3 htsim linux",
    "swift": "htsim seed-000 cse322 cse322-text",
    "dcqcn": "paper vendor authors",
    "timely": "paper authors",
    "hpcc": "authors",
    "fastflow": "spcl",
    "powertcp": "authors-ns3 linux",
    "theta-powertcp": "authors-ns3 linux",
    "vegas": "linux ns3",
}

NEEDS = {kind: (f'program=[{{kind="{kind}"}}]',) for kind in ("rcp", "d3", "xcp", "bolt")}
"""Settings that a controller needs."""

SMALL = ("topology.k=4", "traffic.app.size=300kB", "run.duration=20ms")
LOSSY = (*SMALL, "queue.limit=8p")
ROUTING = {
    "ecmp": (),
    "first-path": (),
    "spray": (),
    "spray-source": (),
    "ns3-per-packet": (),
    "round-robin": (),
    "adaptive": (),
    "power-of-two": (),
    "flowlet": ("routing.gap=10us",),
    "ecmp-adaptive": (),
    "flowcell": (),
    "reps": (),
    "transport": (
        "routing.by=path",
        'transport={preset="ndp"}',
        'queue={kind="trimming",limit="8p",host={kind="drop-tail",limit="none"}}',
    ),
}


@dataclass(frozen=True)
class Case:
    """A run that both builds make."""

    name: str
    scenario: str
    settings: tuple[str, ...] = ()


def cases() -> Iterator[Case]:
    """Give every case: built-in scenarios first, then variations."""
    for name in SCENARIOS:
        yield Case(name, name)
    for kind in CONTROLLERS:
        chosen = (f"controller.kind={kind}", *NEEDS.get(kind, ()))
        yield Case(f"controller-{kind}", "permutation", (*LOSSY, *chosen))
        yield Case(f"incast-{kind}", "incast", (*chosen, "run.duration=100ms"))
    for kind, forms in FORMS.items():
        for form in forms.split():
            chosen = (f"controller.kind={kind}", f"controller.form={form}")
            yield Case(f"form-{kind}-{form}", "permutation", (*LOSSY, *chosen))
    for preset in ("linux", "linux-default", "ns3", "htsim", "swift"):
        yield Case(f"preset-{preset}", "dumbbell", (f"transport.preset={preset}", "run.duration=200ms"))
        yield Case(f"preset-incast-{preset}", "incast", (f"transport.preset={preset}", "controller.kind=newreno"))
    own = 'queue={kind="drop-tail",limit="8p",host={kind="drop-tail",limit="none"}}'
    yield Case("preset-roce", "permutation", (*SMALL, 'transport={preset="roce"}', own))
    for kind, more in ROUTING.items():
        yield Case(f"routing-{kind}", "permutation", (*LOSSY, f"routing.kind={kind}", *more))
        yield Case(f"routing-failure-{kind}", "link-failure", (f"routing.kind={kind}", *more))
    for ties in ("hash", "link", "scheduled"):
        yield Case(f"ties-{ties}", "hotspot", (f"run.ties={ties}", "run.duration=1s"))
    yield Case("fair-nic", "random-pairs", ("queue.host.kind=fair-nic", "traffic.flows=50", "run.duration=5s"))
    for interval in ("10us", "change"):
        series = f'measure.series={{flows=[0, 1], ports=["left>right"], interval="{interval}"}}'
        yield Case(f"series-{interval}", "dumbbell", ("run.duration=60ms", series, "measure.trace=[0]"))
    for seed in (2, 3):
        yield Case(f"seed-{seed}", "random-pairs", (f"run.seed={seed}", "traffic.flows=60", "run.duration=5s"))


def program(where: str) -> Path:
    """Find the program that an argument means."""
    path = Path(where)
    found = path / ".venv" / "bin" / "incast" if path.is_dir() else path
    if not found.exists():
        raise SystemExit(f"{where}: expected a program, or a folder with .venv/bin/incast")
    return found.absolute()


def stamp(incast: Path) -> str:
    """Digest the package that a program runs: what it gave is good for as long as this stays."""
    ask = "import incast, pathlib; print(pathlib.Path(incast.__file__).parent)"
    run = subprocess.run([incast.parent / "python", "-c", ask], capture_output=True, text=True, check=True)
    digest = hashlib.sha256()
    for path in sorted(Path(run.stdout.strip()).rglob("*")):
        if path.suffix in (".py", ".so", ".toml", ".csv"):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def made(incast: Path, case: Case, keep: Path) -> Path | str:
    """Run a case, or find what an earlier run left; a text says why there is nothing."""
    words = [word for setting in case.settings for word in ("--set", setting)]
    key = hashlib.sha256(repr((case.scenario, case.settings)).encode()).hexdigest()[:8]
    folder = keep / f"{case.name}-{key}"
    refused = folder.with_suffix(".refused")
    if refused.exists():
        return refused.read_text()
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=keep) as scratch:
            out = Path(scratch) / "run"
            command = [incast, "run", case.scenario, *words, "--quiet", "--out", out]
            run = subprocess.run(command, capture_output=True, text=True, cwd=scratch, check=False)
            if run.returncode != 0:
                refused.write_text(run.stderr.strip() or f"exit status {run.returncode}")
                return refused.read_text()
            if not folder.exists():  # both sides may be one build
                out.rename(folder)
    return folder


def demo(incast: Path, root: Path, keep: Path) -> Path | str:
    """Run the comparison of ``make demo`` and keep its figures; runs lie as a build has them, by its own digest."""
    folder = keep / "demo"
    if not folder.exists():
        dry = subprocess.run(["make", "-n", "demo"], cwd=root, capture_output=True, text=True, check=True).stdout
        line = next(line for line in dry.replace("\\\n", " ").splitlines() if " compare " in line)
        words = line.split()[1:]
        words[words.index("--out") + 1] = str(keep / "demo-making")
        shutil.rmtree(keep / "demo-making", ignore_errors=True)
        run = subprocess.run([incast, *words], cwd=keep, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            return run.stderr.strip()
        folder.mkdir()
        (keep / "demo-making" / "comparison.json").rename(folder / "comparison.json")
        shutil.rmtree(keep / "demo-making")
    return folder


def tables(folder: Path) -> dict[str, Path]:
    """Find what a run gave, by the path inside its folder."""
    found = (p for p in folder.rglob("*") if p.suffix in (".json", ".parquet", ".csv") and p.name not in IGNORED)
    return {str(path.relative_to(folder)): path for path in sorted(found)}


def flat(value: object, at: str = "") -> Iterator[tuple[str, object]]:
    """Walk through a summary's figures by their dotted names."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, f"{at}.{key}" if at else key)
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from flat(inner, f"{at}[{i}]")
    else:
        yield at, value


def difference(before: Path, after: Path) -> str:
    """Say where two files differ; nothing if they are the same bytes."""
    if before.read_bytes() == after.read_bytes():
        return ""
    if before.suffix == ".json":
        old, new = (dict(flat(json.loads(path.read_text()))) for path in (before, after))
        keys = [key for key in {**old, **new} if old.get(key, KeyError) != new.get(key, KeyError)]
        told = [f"{key}: {old.get(key, 'absent')} -> {new.get(key, 'absent')}" for key in keys[:4]]
        return f"{len(keys)} figures ({'; '.join(told)})" if keys else "the same figures, written differently"
    if before.suffix == ".parquet":
        old_table, new_table = pq.read_table(before), pq.read_table(after)
        if old_table.column_names != new_table.column_names:
            lost = [name for name in old_table.column_names if name not in new_table.column_names]
            more = [name for name in new_table.column_names if name not in old_table.column_names]
            return f"columns: {lost} went, {more} came" if lost or more else "columns in another order"
        if old_table.num_rows != new_table.num_rows:
            return f"{old_table.num_rows} rows, then {new_table.num_rows}"
        names = [name for name in old_table.column_names if not old_table[name].equals(new_table[name])]
        return f"columns {', '.join(names)}" if names else "the same columns, written differently"
    return "bytes"


def compared(before: Path | str, after: Path | str) -> list[str]:
    """Hold what two builds gave against each other."""
    if isinstance(before, str) or isinstance(after, str):
        texts = [side if isinstance(side, str) else "ran" for side in (before, after)]
        return [] if texts[0] == texts[1] else [f"before: {texts[0]}\n    after: {texts[1]}"]
    old, new = tables(before), tables(after)
    lines = [f"{name}: only {'before' if name in old else 'after'}" for name in sorted(old.keys() ^ new.keys())]
    for name in sorted(old.keys() & new.keys()):
        told = difference(old[name], new[name])
        lines += [f"{name}: {told}"] if told else []
    return lines


def main(words: Sequence[str] | None = None) -> int:
    """Compare two builds; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", help="a program, or a clone that is built")
    parser.add_argument("after", help="the other one")
    parser.add_argument("--only", nargs="*", default=[], metavar="PATTERN", help="cases by name, e.g. 'routing-*'")
    parser.add_argument("--demo", action="store_true", help="the comparison of make demo as well")
    parser.add_argument("--keep", type=Path, default=KEEP, help="folder for what builds gave (default %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="runs at once (default %(default)s)")
    options = parser.parse_args(words)
    programs = [program(options.before), program(options.after)]
    keeps = [options.keep / stamp(incast) for incast in programs]
    for keep in keeps:
        keep.mkdir(parents=True, exist_ok=True)
    chosen = [c for c in cases() if not options.only or any(fnmatchcase(c.name, p) for p in options.only)]
    if not chosen:
        raise SystemExit(f"--only {' '.join(options.only)}: no case has such a name")
    found: list[tuple[str, Path | str, Path | str]] = []
    with ThreadPoolExecutor(options.jobs) as pool:
        sides = [[pool.submit(made, i, case, k) for case in chosen] for i, k in zip(programs, keeps, strict=True)]
        found += [(c.name, b.result(), a.result()) for c, b, a in zip(chosen, *sides, strict=True)]
    if options.demo:
        root = Path(__file__).resolve().parent.parent
        before, after = (demo(i, root, k) for i, k in zip(programs, keeps, strict=True))
        found.append(("demo", before, after))
    differ = 0
    for name, before, after in found:
        lines = compared(before, after)
        differ += bool(lines)
        for line in lines:
            print(f"{name}: {line}")
    refused = [name for name, before, _ in found if isinstance(before, str)]
    if refused:
        print(f"not run by either: {', '.join(refused)}")
    print(f"{len(found)} cases, {differ} differ")
    return 1 if differ else 2 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
