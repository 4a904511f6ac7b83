"""``python -m incast`` is ``incast``."""

from incast.cli import main

main()
