"""Queries in SQL: they reach a store alone, and take no more memory than there is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import Command, command, environment
from incast import FolderError, IncastError, Scenario, StudyError
from incast.batch.store import Store
from incast.runs import sql
from incast.study import companions, inputs
from incast.study import query as queries
from stored import small

duckdb = pytest.importorskip("duckdb", reason="queries need duckdb: pip install incast[query]")
SHORT = "[set]\nrun.duration = '2ms'\nrun.warmup = '0s'\n"
SMALL = ("--set", "run.duration=3ms", "--set", "run.warmup=1ms")
HUGE = "SELECT i, repeat('x', 1000) AS s FROM range(100000) t(i)"
"""An answer of 100 MB, of which DuckDB itself keeps a part alone."""


@pytest.mark.slow("a study and its queries")
def test_a_query_reads_the_store_alone(incast: Command, tmp_path: Path) -> None:
    (tmp_path / "plain.toml").write_text(f"scenario = 'dumbbell'\n{SHORT}")
    (tmp_path / "o'hara").mkdir()
    place = "o'hara/s"
    assert incast("study", "run", "plain.toml", "--store", place).status == 0
    before = {path: path.read_bytes() for path in (tmp_path / place).rglob("*") if path.is_file()}
    secret = tmp_path / "secret.txt"
    secret.write_text("told")
    copying = f"COPY (SELECT 1) TO '{tmp_path}/out.csv'"
    inside = f"COPY (SELECT 1) TO '{(tmp_path / place / 'runs.parquet').as_posix()}'".replace("o'hara", "o''hara")
    store = Store.at(tmp_path / place)
    for words in (
        inside,
        f"EXPLAIN ANALYZE {inside}",
        f"COPY (PIVOT (SELECT 1 a) ON a USING sum(a)) TO '{tmp_path}/out.csv'",
        f"SELECT * FROM read_text('{secret}')",
        f"SELECT * FROM '{tmp_path}/plain.csv'",
        f"ATTACH '{tmp_path}/new.db'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "SELECT 1; LOAD httpfs",
        f"EXPORT DATABASE '{tmp_path}/db'",
        "PREPARE x AS SELECT 1",
    ):
        with pytest.raises(StudyError, match="query: .*--allow-files"):
            queries.query(store, words)
    incast("query", place, copying).refused("query: COPY: expected a SELECT", "--allow-files")
    after = {path: path.read_bytes() for path in (tmp_path / place).rglob("*") if path.is_file()}
    assert after == before and not (tmp_path / "out.csv").exists()
    for words in (
        "WITH a AS (SELECT * FROM runs) SELECT count(*) AS n FROM a JOIN flows USING (run) JOIN costs USING (run)",
        "FROM runs SELECT arm",
        "PIVOT (SELECT arm, seed FROM runs) ON arm USING count(*)",
        "DESCRIBE runs",
        "SUMMARIZE SELECT seed FROM runs",
        "SHOW TABLES",
        "EXPLAIN ANALYZE SELECT count(*) FROM runs",
    ):
        assert queries.query(store, words).num_rows
    assert queries.query(store, f"SELECT * FROM read_text('{secret}')", allow_files=True).num_rows == 1
    assert incast("query", place, copying, "--allow-files").status == 0 and (tmp_path / "out.csv").exists()
    result = Scenario.load("dumbbell").with_({"run.duration": "1ms", "run.warmup": "0s"}).run()
    with pytest.raises(IncastError, match="file system operations are disabled"):
        result.sql(f"SELECT * FROM read_text('{secret}')")
    assert result.sql(f"SELECT * FROM flows, read_text('{secret}')", allow_files=True).num_rows


def test_comments_before_a_question_are_none_of_it(tmp_path: Path) -> None:
    """Not one in another: it ends elsewhere for whoever counts them."""

    def refuse(sql: str) -> None:
        queries._refuse_writes(duckdb.connect().extract_statements(sql))

    pivot = "PIVOT (SELECT 1 a) ON a USING sum(a)"
    copies_ = f"COPY ({pivot}) TO '{tmp_path}/out.csv'"
    for comment in ("-- of arms\n", "/* of\narms */ ", " /* a */ -- b\n\n"):
        refuse(comment + pivot)
        with pytest.raises(StudyError, match="COPY: expected a SELECT"):
            refuse(comment + copies_)
    for hidden in (f"/* /* */ SELECT */ {copies_}", f"/* /* */ {copies_} -- */ SELECT"):
        with pytest.raises((StudyError, duckdb.Error)):
            refuse(hidden)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return small().run(tmp_path / "s", workers=1)


def test_an_answer_is_no_larger_than_memory(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "free_memory", lambda: 60e6)
    with pytest.raises(StudyError, match="query: the answer exceeds 48 MB, the memory available: select less"):
        queries.query(store, HUGE)
    assert queries.query(store, f"SELECT count(s) AS n FROM ({HUGE})")["n"].to_pylist() == [100000]
    result = Scenario.load("dumbbell").with_({"run.duration": "1ms", "run.warmup": "0s"}).run()
    with pytest.raises(IncastError, match="the answer exceeds 48 MB"):
        result.sql(HUGE)


def test_an_answer_that_breaks_off_is_an_error_of_the_query(store: Store) -> None:
    late = "SELECT CAST(CASE WHEN i = 99999 THEN 'x' ELSE '1' END AS INT) AS n FROM range(100000) t(i)"
    with pytest.raises(StudyError, match="query: .*Could not convert string 'x' to INT32"):
        queries.query(store, late)


def test_nothing_is_laid_aside_and_no_setting_changed(store: Store) -> None:
    result = Scenario.load("dumbbell").with_({"run.duration": "1ms", "run.warmup": "0s"}).run()
    for found in (
        queries.query(store, "SELECT current_setting('temp_directory') AS t"),
        result.sql("SELECT current_setting('temp_directory') AS t"),
    ):
        assert found["t"].to_pylist() == [""]
    with pytest.raises(IncastError, match="locked"):
        result.sql("SET temp_directory = '/tmp'")


def test_a_store_of_odd_folders_is_read_or_named(store: Store, incast: Command) -> None:
    """A table called runs took the place of the runs; an empty log ended in Python's own words."""
    place = store.folder
    count = queries.query(store, "SELECT count(*) AS n FROM runs")["n"].to_pylist()
    (place / "tables/runs").mkdir()
    shutil.copy(next((place / "tables/flows").glob("*.parquet")), place / "tables/runs/x.parquet")
    (place / 'tables/a"b').mkdir()
    shutil.copy(next((place / "tables/flows").glob("*.parquet")), place / 'tables/a"b/x.parquet')
    shutil.rmtree(place / "log")
    (place / "log").mkdir()
    assert queries.query(store, "SELECT count(*) AS n FROM runs")["n"].to_pylist() == count
    with pytest.raises(StudyError, match="costs"):
        queries.query(store, "SELECT * FROM costs")


def test_what_cannot_be_locked_is_told_of_the_store(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error came before any file was looked at, and named one that was not known."""

    def fails(*_: object, **__: object) -> None:
        raise duckdb.Error("no such setting")

    monkeypatch.setattr(sql, "lock", fails)
    with pytest.raises(FolderError, match="s cannot be read: no such setting"):
        queries.connect(store)


@pytest.mark.extended(part="python")
def test_the_standard_output_takes_csv(store: Store) -> None:
    """Named as a shell's user names it, whatever it leads to."""
    place = store.folder.parent
    for words in (
        ["query", "s", "SELECT count(*) AS n FROM runs", "--out", "/dev/stdout"],
        ["study", "export", "s", "--out", "/dev/stdout"],
        ["model", "swift", "--q", "0.01", "--out", "/dev/stdout"],
    ):
        done = subprocess.run(command(words), cwd=place, env=environment(), capture_output=True, text=True)
        assert done.returncode == 0, (words, done.stderr)
        lines = done.stdout.splitlines()
        assert "," in lines[0] or lines == ['"n"', "4"], (words, lines)
        assert done.stdout.startswith(('"', "q,")), (words, lines)
    with (place / "out").open("w") as file:
        words = ["study", "export", "s", "--out", "/dev/stdout"]
        assert subprocess.run(command(words), cwd=place, env=environment(), stdout=file).returncode == 0
    assert (place / "out").read_text().count("\n") == 5


def test_links_in_a_store_that_was_sent_lead_nowhere(store: Store, tmp_path: Path) -> None:
    """Targets of links must not reach other machines, or the store."""
    secret = tmp_path / "id"
    secret.write_text("secret")
    folder = store.folder / "files"
    (folder / "a").mkdir(parents=True)
    (folder / "a/x.csv").write_text("x")
    assert dict(inputs.read_copies(folder)) == {"a/x.csv": b"x"}
    for link, target in ((folder / "a/link", secret), (folder / "b", tmp_path)):
        link.symlink_to(target)
        with pytest.raises(FolderError, match=f"{link} cannot be read: is a link; expected a copy of a file"):
            dict(inputs.read_copies(folder))
        with pytest.raises(FolderError, match="is a link"):
            inputs.install_study(store, folder, "new")
        link.unlink()
    (tmp_path / "whole").symlink_to(folder)
    with pytest.raises(FolderError, match="is a link"):
        dict(inputs.read_copies(tmp_path / "whole"))
    os.mkfifo(folder / "a/pipe")
    with pytest.raises(FolderError, match="is a pipe"):
        dict(inputs.read_copies(folder))
    assert not dict(inputs.read_copies(tmp_path / "none")), "a store without copies"


@pytest.mark.slow("two comparisons with their reports")
def test_the_documented_query_counts_the_flows_of_the_comparison_asked(incast: Command, tmp_path: Path) -> None:
    """In a store that two comparisons share, with the runs over time of each, which are no part of either."""
    own = ("compare", "random-pairs", "--seeds", "2", *SMALL, "--quiet", "--store", "lab")
    assert incast(*own, "--cc", "dctcp", "--vary", "traffic.flows=4,10", "--out", "one").status == 0
    assert incast(*own, "--cc", "swift", "--vary", "traffic.flows=4", "--out", "two").status == 0
    count = "SELECT arm, count(*) AS n FROM runs JOIN flows USING (run) GROUP BY arm"

    def asked(*words: str) -> dict[str, int]:
        answer = incast("query", *words, count, "--json")
        assert answer.status == 0, answer.err
        asked.told = answer.err  # type: ignore[attr-defined]
        return {row["arm"]: row["n"] for row in json.loads(answer.out)}

    assert asked("one") == {"dctcp": 2 * (4 + 10)}
    assert asked("two") == {"swift": 2 * 4}
    assert asked.told == ""  # type: ignore[attr-defined]
    first = json.loads((tmp_path / "one/study.json").read_text())["study"]
    assert asked("lab", "--study", first) == {"dctcp": 28}
    assert asked("lab") == {"dctcp": 28, "swift": 8}, "the whole store, without runs over time"
    assert "lab has 2 studies, and the query is over all" in asked.told  # type: ignore[attr-defined]
    incast("query", "lab", "--study", "oen", "SELECT 1").refused("lab has no study oen: expected one of compare-")

    status = incast("study", "status", "lab").out
    assert "-series" not in status and "store: lab, 6 runs" in status
    incast("study", "extend", "lab", "--seeds", "3").refused("lab has 2 studies, compare-", "name one with --study")
    assert "-series" not in incast("study", "extend", "lab", "--seeds", "3").err
    assert incast("study", "export", "lab", "--out", "all.csv").out == "6 rows: all.csv\n"
    assert incast("study", "export", "two", "--table", "flows", "--out", "two.csv").out == "8 rows: two.csv\n"


def test_a_users_own_study_that_ends_in_series_is_shown(tmp_path: Path) -> None:
    for name in ("a", "a-series"):
        store = small(name=name).run(tmp_path / "s", workers=1)
    assert companions.shown(store) == ["a", "a-series"]
    found = queries.query(store, "SELECT DISTINCT study FROM runs ORDER BY study")
    assert found["study"].to_pylist() == ["a", "a-series"]
    assert queries.query(store, "SELECT count(*) AS n FROM runs", study="a")["n"].to_pylist() == [4]


def test_runs_that_points_share_count_once_in_queries(tmp_path: Path) -> None:
    """A mark has no effect on swift: its runs serve every value."""
    arms = {"dctcp": "dctcp", "swift": "swift"}
    store = small(arms=arms, axes={"queue.mark": ["5p", "65p"]}).run(tmp_path / "s", workers=1)

    def asked(sql: str) -> list[dict[str, object]]:
        rows: list[dict[str, object]] = queries.query(store, sql).to_pylist()
        return rows

    assert asked("SELECT count(*) AS n, count(DISTINCT run) AS runs FROM runs") == [{"n": 6, "runs": 6}]
    flows = store.table("flows").num_rows
    assert asked("SELECT count(*) AS n FROM runs JOIN flows USING (run)") == [{"n": flows}]
    by_mark = asked('SELECT arm, "queue.mark" AS k, "queue.mark_packets" AS n, seed FROM runs ORDER BY ALL')
    assert [row for row in by_mark if row["arm"] == "swift"] == [
        {"arm": "swift", "k": None, "n": None, "seed": seed} for seed in (1, 2)
    ]
    assert {row["k"] for row in by_mark if row["arm"] == "dctcp"} == {"5p", "65p"}
    assert asked("SELECT count(*) AS n FROM points WHERE arm = 'swift'") == [{"n": 4}]
