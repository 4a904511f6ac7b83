"""A translation from one simulator's files to another's: the files, and what they lose, said once."""

from __future__ import annotations

from dataclasses import dataclass, field

SCENARIO, FABRIC = "scenario.toml", "fabric.csv"
"""Files of a scenario."""


@dataclass
class Notes:
    """Sentences about what differs, and names of what has no counterpart."""

    differs: list[str] = field(default_factory=list)
    """Rules that are not as in the other simulator."""
    absent: list[str] = field(default_factory=list)
    """Keys without a counterpart, with their values."""
    idle: list[str] = field(default_factory=list)
    """Keys without effect there either, with their values."""
    idle_why: str = ""

    def differ(self, sentence: str) -> None:
        """Add what differs, once."""
        if sentence not in self.differs:
            self.differs.append(sentence)

    def lines(self) -> list[str]:
        """Return everything as lines."""
        lines = [f"differs: {one}" for one in self.differs]
        if self.absent:
            lines.append(f"no counterpart: {', '.join(self.absent)}")
        if self.idle:
            lines.append(f"no effect{self.idle_why}: {', '.join(self.idle)}")
        return lines


@dataclass
class Translation:
    """Files for the other simulator."""

    files: dict[str, str]
    """Texts by names."""
    notes: Notes
    about: str
    """Size and rules in a few words."""
