"""File of a controller in Python."""

from __future__ import annotations

from incast.writing.names import as_commented_word


def controller_file(name: str, file: str) -> str:
    """Return the text of a file with a controller class of this name."""
    return _CONTROLLER.replace("NAME", name).replace("FILE", as_commented_word(file))


_CONTROLLER = '''\
"""A congestion controller: one object a flow, called at its events. Page controllers/python.

Run it:      incast run dumbbell --set controller=FILE:NAME
Compare it:  incast compare dumbbell --cc FILE:NAME --cc FILE:NAME:b=0.5 --cc dctcp --seeds 3
"""


class NAME:
    """Adds `a` segments a round trip; keeps the share `b` of its window on congestion."""

    ecn = "classic"  # "off", "classic" (RFC 3168), or "dctcp": every ACK echoes the mark of its data
    state = ("cuts",)  # attributes that a time series records, besides the window

    def __init__(self, a=1.0, b=0.7):  # parameters, with defaults: FILE:NAME:a=2,b=0.5
        self.a, self.b, self.cuts = a, b, 0

    def init(self, env):  # first call: facts of the flow and its path
        self.mss = env.mss  # payload of a segment, bytes

    def on_ack(self, ack):  # an ACK arrived; ack.rtt_ps is its RTT in picoseconds, or None
        if ack.phase == "open" and ack.cwnd_limited and not ack.ece:
            self.cwnd += self.a * self.mss * ack.acked / self.cwnd  # self.cwnd: congestion window, bytes

    def on_loss(self, event):  # a loss; also the first ECN echo of a window, without an `on_ecn`
        self.cwnd = max(self.b * self.cwnd, self.mss)
        self.cuts += 1

    def on_timeout(self, event):  # the retransmission timer fired
        self.cwnd = self.mss
'''
