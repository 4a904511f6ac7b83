"""Comparisons over two keys: a study with two axes, whose report has heat maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Self

from incast.comparisons import declaration
from incast.comparisons.declaration import ComparisonStudy, Controller, axis_value_of
from incast.errors import StudyError
from incast.external import consent

APART = " × "
"""Between the two values of a station."""


@dataclass(frozen=True)
class Grid(ComparisonStudy):
    """Controllers on the same scenarios, over the values of two keys and over seeds."""

    second: str = ""
    """The second varied key."""
    seconds: tuple[str, ...] = ()
    """Values of the second key."""

    FILE = "grid.json"
    KIND = "a comparison over two keys"
    ASKED = ("scenarios", "controllers", "key", "values", "second", "seconds", "seeds", "settings")

    def __post_init__(self) -> None:
        if self.key == self.second:
            raise StudyError(f"--vary {self.key} is given twice: give all its values in one")
        super().__post_init__()

    @property
    def varied(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Both keys with their values."""
        return (self.key, self.values), (self.second, self.seconds)

    @cached_property
    def _stations(self) -> dict[str, dict[str, str]]:
        return {
            APART.join(pair): {self.key: pair[0], self.second: pair[1]} for pair in product(self.values, self.seconds)
        }

    @property
    def stations(self) -> tuple[str, ...]:
        """Every pair of values."""
        return tuple(self._stations)

    def at(self, station: str) -> dict[str, str]:
        """Return the two values of a station."""
        return self._stations[station]

    def axes(self, values: Sequence[str]) -> dict[str, list[str | int | float | bool]]:
        """Return both axes of the study; ``values`` are those of the first key."""
        return super().axes(values) | {self.second: [axis_value_of(value) for value in self.seconds]}

    def _fields(self, values: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
        return {"values": values[self.key], "seconds": values[self.second]}

    def labels(self) -> dict[str, str]:
        """Return the names of the controllers by the arms of the study."""
        names = declaration.named(self.controllers)
        return {arm: label for label, arm in zip(names, self.arms().values(), strict=True)}

    @classmethod
    def of_data(cls, data: Mapping[str, Any], **others: Any) -> Self:
        """Read the entries of this kind; the others are what all kinds have."""
        return super().of_data(data, second=data["second"], seconds=tuple(data["seconds"]), **others)

    @classmethod
    def of(
        cls,
        scenarios: Sequence[str],
        controllers: Sequence[str],
        vary: Sequence[str],
        seeds: int,
        settings: Sequence[tuple[str, str]],
    ) -> Self:
        """Make a grid from the arguments of the command line, with two varied keys. Classes in them are allowed."""
        consent.grant(list(controllers), dict(settings))
        if len(vary) != 2:
            raise StudyError(
                f"--vary is given {len(vary)} times: a comparison varies one key or two; a study file has more axes "
                "(incast study run)"
            )
        (key, values), (second, seconds) = map(declaration.varied, vary)
        given = tuple(Controller(text) for text in controllers)
        return cls(tuple(scenarios), given, key, values, seeds, tuple(settings), second=second, seconds=seconds)


def declared(
    scenarios: Sequence[str],
    controllers: Sequence[str],
    vary: Sequence[str],
    seeds: int,
    settings: Sequence[tuple[str, str]],
) -> ComparisonStudy:
    """Make a comparison from the arguments of the command line: over one key or none, or over two."""
    if len(vary) > 1:
        return Grid.of(scenarios, controllers, vary, seeds, settings)
    return ComparisonStudy.parse(scenarios, controllers, vary[0] if vary else None, seeds, settings)
