"""Studies that a comparison may make again: their statements in words stand in the report of such a comparison alone.

A study is a folder here with a function that gives a section of the report, or nothing where the comparison is not
the study's.
"""

from __future__ import annotations

from incast.comparison import Comparison
from incast.studies import yasomam

STUDIES = (yasomam,)


def sections(comparison: Comparison) -> list[str]:
    """Return the sections, as HTML, of the studies that a comparison makes again."""
    return [text for study in STUDIES if (text := study.section(comparison))]
