"""Files named by a user: through links, to pipes and devices, and never in the place of what is no file."""

from __future__ import annotations

import os
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import Command
from incast import Scenario
from incast.commands.compared import Picture
from incast.errors import FolderError
from incast.system import folders
from incast.system.folders import alone_in
from stored import small

NULL, FULL = os.makedev(1, 3), os.makedev(1, 7)
"""Numbers of /dev/null and /dev/full, for nodes of the tests' own: the real ones are never named here."""
WRITERS = {
    "view": ["view", "{run}", "--out", "{out}"],
    "perfetto": ["export", "{run}", "--perfetto", "{out}"],
    "pcapng": ["export", "{run}", "--pcapng", "{out}"],
    "study-export": ["study", "export", "{store}", "--out", "{out}.csv"],
    "query": ["query", "{store}", "select run, seed from runs order by run, seed", "--out", "{out}.csv"],
    "model": ["model", "mathis", "--p", "0.01:0.1:lin3", "--out", "{out}.csv", "--quiet"],
    "plot-of-model": ["model", "mathis", "--p", "0.01:0.1:lin3", "--plot", "{out}.svg", "--quiet"],
    "as-study": ["compare", "dumbbell", "--cc", "dctcp", "--as-study", "{out}"],
}
"""Commands that write one file, which {out} names."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a run with a trace and a timeline, and a store."""
    folder = tmp_path_factory.mktemp("outputs")
    asked = {"run.warmup": "0s", "run.duration": "1ms", "measure.trace": [0], "measure.timeline": "auto"}
    Scenario.load("dumbbell").with_(asked).run().save(folder / "run")
    small(axes={}, seeds=1).run(folder / "store")
    return folder


def words_of(writer: str, place: Path, out: Path) -> tuple[list[str], Path]:
    """Give the words of a command that writes to a path, and the path with the ending that it asks for."""
    words = [word.format(run=place / "run", store=place / "store", out=out) for word in WRITERS[writer]]
    return words, Path(next(word for word in words if word.startswith(str(out))))


@pytest.fixture
def whole(place: Path, incast: Command, tmp_path: Path) -> Callable[[str], bytes]:
    """Give what a command writes to a plain file."""

    def written(writer: str) -> bytes:
        words, path = words_of(writer, place, tmp_path / "plain")
        assert incast(*words).status == 0
        return path.read_bytes()

    return written


@pytest.mark.parametrize("writer", ["view", "as-study"])
def test_a_link_stays_and_what_it_leads_to_is_written(
    writer: str, place: Path, incast: Command, whole: Callable[[str], bytes], tmp_path: Path
) -> None:
    expected = whole(writer)
    words, link = words_of(writer, place, tmp_path / "link")
    (tmp_path / "there").mkdir()
    link.symlink_to("there/file")
    answer = incast(*words)
    assert answer.status == 0, answer.err
    assert link.is_symlink() and (tmp_path / "there" / "file").read_bytes() == expected
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["file"]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_pipe_gets_the_bytes_and_stays(
    writer: str, place: Path, incast: Command, whole: Callable[[str], bytes], tmp_path: Path
) -> None:
    expected = whole(writer)
    words, pipe = words_of(writer, place, tmp_path / "pipe")
    os.mkfifo(pipe)
    found: list[bytes] = []
    # what opens it for both ends never waits for the other one, so that a program that does not write ends the test
    held = os.open(pipe, os.O_RDWR)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    try:
        answer = incast(*words)
    finally:
        os.close(held)
        if not stat.S_ISFIFO(pipe.stat().st_mode):
            pytest.fail("the pipe was replaced")
        reader.join(10)
    assert answer.status == 0, answer.err
    assert found == [expected]


@pytest.mark.skipif(os.geteuid() != 0, reason="device nodes are root's to make")
@pytest.mark.parametrize("writer", ["perfetto", "model"])
def test_a_device_is_written_to_and_stays(writer: str, place: Path, incast: Command, tmp_path: Path) -> None:
    words, node = words_of(writer, place, tmp_path / "device")
    for device, status in ((NULL, 0), (FULL, 1)):
        try:
            os.mknod(node, stat.S_IFCHR | 0o666, device)
        except PermissionError:
            pytest.skip("no device nodes in this container")
        answer = incast(*words)
        assert stat.S_ISCHR(node.lstat().st_mode) and node.lstat().st_rdev == device
        if not os.statvfs(tmp_path).f_flag & os.ST_NODEV:
            assert (answer.status == 0) == (status == 0), (answer.err, device)
        node.unlink()


@pytest.mark.parametrize("writer", ["view", "study-export", "as-study"])
def test_the_standard_output_gets_the_bytes_and_nothing_beside_them(
    writer: str, place: Path, incast: Command, whole: Callable[[str], bytes], tmp_path: Path
) -> None:
    expected = whole(writer)
    words, link = words_of(writer, place, tmp_path / "stdout")
    link.symlink_to("/proc/self/fd/1")
    answer = incast(*words)
    assert answer.status == 0, answer.err
    assert link.is_symlink() and link.readlink() == Path("/proc/self/fd/1")
    assert answer.out == expected.decode()


@pytest.fixture
def strange(tmp_path: Path) -> Iterator[dict[str, Path]]:
    """Make what no file can be put in the place of."""
    found = {name: tmp_path / name for name in ("folder", "link-to-folder", "socket", "loop")}
    found["folder"].mkdir()
    found["link-to-folder"].symlink_to("folder")
    found["loop"].symlink_to("loop")
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(tmp_path)  # the name of a socket is short
        listener.bind("socket")
        os.chdir(here)
        yield found


def test_nothing_is_put_in_the_place_of_folders_sockets_and_loops(strange: dict[str, Path]) -> None:
    before = {name: path.lstat().st_ino for name, path in strange.items()}
    for name, path in strange.items():
        with pytest.raises((FolderError, OSError), match="folder|directory|socket|symbolic links"):
            Picture(b"picture").save(path)
        assert path.lstat().st_ino == before[name], name
    assert list(strange["folder"].iterdir()) == []


@pytest.mark.parametrize("writer", ["view", "pcapng"])
def test_a_command_says_in_a_sentence_that_it_does_not_write_there(
    writer: str, place: Path, incast: Command, strange: dict[str, Path]
) -> None:
    for name, path in strange.items():
        answer = incast(*words_of(writer, place, path)[0])
        assert answer.status in (1, 2) and answer.out == "", name
        assert answer.err.startswith("error: ") and answer.err.count("\n") == 1, answer.err
        assert str(path) in answer.err


def test_files_of_the_programs_own_names_are_not_written_through_links(place: Path, tmp_path: Path) -> None:
    """A folder that somebody sends could have links to any file of the user under the names that a report has."""
    mine = tmp_path / "mine"
    mine.write_text("of the user")
    (tmp_path / "report.html").symlink_to(mine)
    os.mkfifo(tmp_path / "table.csv")
    for name in ("report.html", "table.csv"):
        with pytest.raises(FolderError, match="expected a plain file, or nothing"):
            folders.write_together(tmp_path, {"fine.txt": "fine", name: "content"})
    assert mine.read_text() == "of the user"
    assert (tmp_path / "report.html").is_symlink() and not (tmp_path / "fine.txt").exists()


def test_a_view_of_a_run_folder_leaves_a_link_under_its_own_name_alone(
    place: Path, incast: Command, tmp_path: Path
) -> None:
    mine = tmp_path / "mine"
    mine.write_text("of the user")
    run = place / "run"
    (run / "view.html").symlink_to(mine)
    try:
        incast("view", str(run)).refused("view.html is a link: expected a plain file")
    finally:
        (run / "view.html").unlink()
    assert mine.read_text() == "of the user"


def test_a_lock_is_not_taken_of_a_link_or_a_pipe(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("of the user")
    lock = tmp_path / ".lock"
    lock.symlink_to(mine)
    with pytest.raises(FolderError, match="is a link"), alone_in(tmp_path):
        pass
    assert mine.read_text() == "of the user"
    lock.unlink()
    os.mkfifo(lock)
    with pytest.raises(FolderError, match="is a pipe"), alone_in(tmp_path):
        pass


def test_results_that_are_there_are_still_never_overwritten(place: Path, incast: Command, tmp_path: Path) -> None:
    (tmp_path / "there.csv").write_text("of the user")
    (tmp_path / "link.csv").symlink_to("there.csv")
    for name in ("there.csv", "link.csv"):
        incast("study", "export", str(place / "store"), "--out", name).refused("exists: give another --out")
    assert (tmp_path / "there.csv").read_text() == "of the user"
