"""Notes on the cases of a comparison: each once, with the cases that have it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def shared_notes(notes: Mapping[tuple[str, ...], Sequence[str]], most: int = 3) -> list[str]:
    """Return each note once, prefixed by the cases that have it unless all do.

    A case is a tuple of words, such as scenario, controller and value. If a note depends on one of them, only that word
    is shown; at most the first ``most`` cases are shown.
    """
    holders: dict[str, list[tuple[str, ...]]] = {}
    for case, texts in notes.items():
        for note in dict.fromkeys(texts):
            holders.setdefault(note, []).append(case)
    return [
        note if len(cases) == len(notes) else f"{_owners(cases, list(notes), most)}: {note}"
        for note, cases in holders.items()
    ]


def _owners(holders: Sequence[tuple[str, ...]], cases: Sequence[tuple[str, ...]], most: int) -> str:
    """Name the cases in a list, by one of their words if it decides."""
    words = [", ".join(case) for case in holders]
    for place in range(len(cases[0])):
        own = list(dict.fromkeys(case[place] for case in holders))
        if [case for case in cases if case[place] in own] == list(holders):
            words = own
            break
    return "; ".join(words[:most]) + (f"; and {len(words) - most} more" if len(words) > most else "")
