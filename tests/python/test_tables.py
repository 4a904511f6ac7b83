"""Tables that may be wider than the terminal."""

import io

from rich.console import Console

from incast.report.tables import Column, show, that_fit


def test_columns_go_into_as_many_tables_as_they_need() -> None:
    assert that_fit([5, 5, 5, 5], 10) == [[0, 1], [2, 3]]
    assert that_fit([5, 6, 5], 10) == [[0], [1], [2]]
    # one that is too wide by itself is shown all the same
    assert that_fit([20, 3, 3], 10) == [[0], [1, 2]]
    assert that_fit([], 10) == []


def test_each_part_has_the_first_columns_and_nothing_is_cut() -> None:
    text = io.StringIO()
    names = ["newreno", "swift-rebase", "westwood-plus"]
    rows = Column("beside", names, "left")
    show(Console(file=text, width=50), "Shares", [rows], [Column(name, ["50.25"] * 3) for name in names], [1])
    printed = text.getvalue()
    assert printed.count("Shares") == printed.count("beside") == 2
    assert printed.count("50.25") == 9
    assert all(printed.count(name) == 3 for name in names)
    assert max(len(line) for line in printed.splitlines()) <= 50
