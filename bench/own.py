"""Controllers in Python that `make bench` times."""

from __future__ import annotations

from typing import Any


class Still:
    """Does nothing, with a constant window, to measure the cost of a call."""

    ack_every_packet = True

    def init(self, env: Any) -> None:
        """Take the window that two senders need to fill their link."""
        self.cwnd = 60.0 * env.mss

    def on_ack(self, ack: Any) -> None:
        """Leave the window as it is."""

    def on_loss(self, event: Any) -> None:
        """Leave the window as it is."""

    def on_timeout(self, event: Any) -> None:
        """Leave the window as it is."""
