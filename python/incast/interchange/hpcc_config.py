"""Configuration files of HPCC's simulator and its dialects (``config.txt``): keys and their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from incast.interchange.words import Words
from incast.system.output import nearest

MOST_MAP = 10_000
MOST_UNKNOWN = 20
"""Most words that are no keys, but named."""


def _flag(words: Words, key: str) -> bool:
    return words.whole(key, 1) == 1


def _whole(words: Words, key: str) -> int:
    return words.whole(key)


def _number(words: Words, key: str) -> Decimal:
    return words.number(key)


def _share(words: Words, key: str) -> Decimal:
    return words.number(key, 1.0)


def _rate(words: Words, key: str) -> int:
    return words.rate(key)


def _path(words: Words, key: str) -> str:
    return words.take(key, "the name of a file")


def _map(words: Words, key: str) -> dict[int, int]:
    """Read thresholds by rate: bit/s, 1000 B."""
    rates = [words.whole(f"number of rates of {key}", MOST_MAP)]
    return {words.whole(f"rate of {key}", 2**63): words.whole(f"value of {key}") for _ in range(rates[0])}


def _shares(words: Words, key: str) -> dict[int, Decimal]:
    """Read probabilities by rate."""
    rates = [words.whole(f"number of rates of {key}", MOST_MAP)]
    return {words.whole(f"rate of {key}", 2**63): words.number(f"value of {key}", 1.0) for _ in range(rates[0])}


def _link_down(words: Words, key: str) -> tuple[int, int, int]:
    """Read the time of a failure in us, and the ends of the link."""
    return words.whole(key, 10**12), words.whole(key), words.whole(key)


Reader = Callable[[Words, str], Any]

KEYS: Mapping[str, tuple[Reader, Any]] = {
    "ENABLE_QCN": (_flag, True),
    "USE_DYNAMIC_PFC_THRESHOLD": (_flag, True),
    "PAUSE_TIME": (_number, Decimal(5)),
    "DATA_RATE": (_path, None),
    "LINK_DELAY": (_path, None),
    "PACKET_PAYLOAD_SIZE": (_whole, 1000),
    "L2_CHUNK_SIZE": (_whole, 0),
    "L2_ACK_INTERVAL": (_whole, 0),
    "L2_BACK_TO_ZERO": (_flag, False),
    "TOPOLOGY_FILE": (_path, None),
    "FLOW_FILE": (_path, None),
    "TRACE_FILE": (_path, None),
    "TRACE_OUTPUT_FILE": (_path, None),
    "FCT_OUTPUT_FILE": (_path, None),
    "PFC_OUTPUT_FILE": (_path, None),
    "QLEN_MON_FILE": (_path, None),
    "SIMULATOR_STOP_TIME": (_number, Decimal("3.01")),
    "CC_MODE": (_whole, 1),
    "ALPHA_RESUME_INTERVAL": (_number, Decimal(55)),
    "RATE_DECREASE_INTERVAL": (_number, Decimal(4)),
    "RP_TIMER": (_number, None),
    "CLAMP_TARGET_RATE": (_flag, False),
    "FAST_RECOVERY_TIMES": (_whole, 5),
    "EWMA_GAIN": (_share, None),
    "RATE_AI": (_rate, None),
    "RATE_HAI": (_rate, None),
    "MIN_RATE": (_rate, 10**8),
    "DCTCP_RATE_AI": (_rate, 10**9),
    "ERROR_RATE_PER_LINK": (_share, Decimal(0)),
    "HAS_WIN": (_whole, 1),
    "GLOBAL_T": (_whole, 1),
    "VAR_WIN": (_flag, False),
    "FAST_REACT": (_flag, True),
    "U_TARGET": (_share, Decimal("0.95")),
    "MI_THRESH": (_whole, 5),
    "INT_MULTI": (_whole, 1),
    "MULTI_RATE": (_flag, True),
    "SAMPLE_FEEDBACK": (_flag, False),
    "PINT_LOG_BASE": (_number, Decimal("1.05")),
    "PINT_PROB": (_share, Decimal(1)),
    "RATE_BOUND": (_flag, True),
    "ACK_HIGH_PRIO": (_flag, False),
    "LINK_DOWN": (_link_down, (0, 0, 0)),
    "ENABLE_TRACE": (_flag, True),
    "KMIN_MAP": (_map, {}),
    "KMAX_MAP": (_map, {}),
    "PMAX_MAP": (_shares, {}),
    "BUFFER_SIZE": (_whole, 16),
    "QLEN_MON_START": (_number, None),
    "QLEN_MON_END": (_number, None),
    # ConWeave
    "FLOWGEN_START_TIME": (_number, Decimal(2)),
    "FLOWGEN_STOP_TIME": (_number, Decimal("2.5")),
    "LB_MODE": (_whole, 0),
    "ENABLE_PFC": (_flag, True),
    "ENABLE_IRN": (_flag, False),
    "SW_MONITORING_INTERVAL": (_whole, None),
    "CONWEAVE_TX_EXPIRY_TIME": (_whole, None),
    "CONWEAVE_REPLY_TIMEOUT_EXTRA": (_whole, None),
    "CONWEAVE_PATH_PAUSE_TIME": (_whole, None),
    "CONWEAVE_EXTRA_VOQ_FLUSH_TIME": (_whole, None),
    "CONWEAVE_DEFAULT_VOQ_WAITING_TIME": (_whole, None),
    "LOAD": (_number, None),
    "RANDOM_SEED": (_whole, None),
    "CNP_OUTPUT_FILE": (_path, None),
    "VOQ_MON_FILE": (_path, None),
    "VOQ_MON_DETAIL_FILE": (_path, None),
    "UPLINK_MON_FILE": (_path, None),
    "CONN_MON_FILE": (_path, None),
    "EST_ERROR_MON_FILE": (_path, None),
    "FLOW_INPUT_FILE": (_path, None),
    # SimAI
    "NIC_TOTAL_PAUSE_TIME": (_number, None),
    "BW_MON_FILE": (_path, None),
    "RATE_MON_FILE": (_path, None),
    "CNP_MON_FILE": (_path, None),
    "MON_START": (_number, None),
    "MON_END": (_number, None),
    "QP_MON_INTERVAL": (_number, None),
    "BW_MON_INTERVAL": (_number, None),
    "QLEN_MON_INTERVAL": (_number, None),
}
"""Readers of the keys, and values where a key is missing; ``None``: none."""


@dataclass(frozen=True)
class Given:
    """A key in a file."""

    value: Any
    words: str
    """Value as written."""
    at: int


@dataclass
class Config:
    """Keys of a configuration, the last of each, and which of them a translation has used."""

    words: Words
    given: dict[str, Given] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    """The first words that are no keys, with the nearest key."""
    more: int = 0
    """Number of further such words."""
    used: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, path: Path) -> Config:
        """Read a configuration: keys in any order; other words are skipped one by one, as by their reader."""
        config = cls(Words.read(path))
        words, in_remark = config.words, False
        while (word := words.next()) is not None:
            in_remark = in_remark or word.startswith("{")
            if word in KEYS:
                start = words.at + len(word)
                at, value = words.at, KEYS[word][0](words, word)
                written = " ".join(words.text[start : words.end].split())
                config.given[word] = Given(value, written, at)
            elif not in_remark and word not in config.unknown:
                if len(config.unknown) < MOST_UNKNOWN:
                    config.unknown[word] = nearest(word, list(KEYS))
                else:
                    config.more += 1
            if word.endswith("}"):
                in_remark = False
        if not config.given:
            raise words.error(0, "no key of a configuration; expected some, such as TOPOLOGY_FILE topology.txt")
        return config

    def __getitem__(self, key: str) -> Any:
        """Return the value of a key, or that of the simulator where it is missing; the key then counts as used."""
        self.used.add(key)
        return self.peek(key)

    def peek(self, key: str) -> Any:
        """Return the value of a key without using it."""
        return self.given[key].value if key in self.given else KEYS[key][1]

    def told(self, key: str) -> str:
        """Return a key with its value as written."""
        return f"{key} {self.given[key].words}" if key in self.given else key

    def refuse(self, key: str, expected: str) -> Exception:
        """Return the error about the value of a key."""
        one = self.given.get(key)
        if one is None:
            return self.words.error(0, f"no {key}: expected {expected}")
        return self.words.error(one.at, f"{key} {one.words}: expected {expected}")

    def rest(self) -> list[str]:
        """Return the keys of the file that nothing has used, with their values."""
        return [self.told(key) for key in self.given if key not in self.used]
