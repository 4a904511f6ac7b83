"""The network of the prototype: namespaces of this process, which end with it.

    worker i:  e0 ---- s<i>  switch  r1 ---- b0  aggregator        a namespace and a link a worker

The port r1 is the bottleneck: tbf over a FIFO. It has the switch program. Nothing has a name outside: a namespace lives
as long as a process has it open, so nothing is left when the processes are gone, whatever ended them.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from proto.sccp import kernel

AGGREGATOR, GATEWAY = "198.18.0.1", "198.18.0.254"
HOST_MAC, SWITCH_MAC = "02:00:00:00:00:01", "02:00:00:00:00:fe"
MOST_WORKERS = 250 * 250
HOLDS = 6291456
"""Bytes of a socket's buffers: no response and no window is limited by them. The window scale is 7 with them."""


@dataclass(frozen=True)
class Setup:
    """Parameters of a network."""

    workers: int
    rate_bps: int
    buffer: int
    buffer_unit: str
    """``"B"`` or ``"packets"``."""
    burst_bytes: int = 15_000
    rto_min_ns: int = 200_000_000
    ack_per_packet: bool = False
    window_scaling: bool = False
    tlp_and_rack: bool = False


def probe() -> None:
    """Make one of each thing that a network needs of the kernel, in namespaces of this process; raise at a refusal."""
    kernel.own_bpf_folder()
    kernel.new_namespace()
    kernel.loaded_programs()
    batch("ip", "link add r1 type veth peer name b0")
    batch(
        "tc",
        "qdisc add dev r1 root handle 1: tbf rate 1mbit burst 15000b limit 15000b",
        "qdisc add dev r1 parent 1:1 bfifo limit 15000",
        "qdisc add dev r1 clsact",
        "filter add dev r1 egress bpf bytecode '1,6 0 0 4294967295'",
    )


def worker_address(number: int) -> str:
    """Return the address of a worker."""
    return f"198.19.{number // 250}.{number % 250 + 1}"


class Network:
    """Namespaces of the aggregator, the switch and the workers, linked and set."""

    def __init__(self, setup: Setup, program: Path) -> None:
        self.setup = setup
        self.home = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        kernel.own_bpf_folder()
        try:
            self.switch = kernel.new_namespace()
            self.aggregator = kernel.new_namespace()
            self.workers = [kernel.new_namespace() for _ in range(setup.workers)]
            self._link()
            self._hosts()
            self._port(program)
            self.counters = [self._counters(namespace) for namespace in self.workers]
        finally:
            kernel.enter(self.home)
        self.map = kernel.BPF_FOLDER / "tc/globals/sccp_port"

    def close(self) -> None:
        """Let go of everything."""
        for descriptor in (self.switch, self.aggregator, self.home, *self.workers, *self.counters):
            os.close(descriptor)

    @contextmanager
    def inside(self, namespace: int) -> Iterator[None]:
        """Be in a namespace for a while."""
        kernel.enter(namespace)
        try:
            yield
        finally:
            kernel.enter(self.home)

    def _link(self) -> None:
        """Make all links, and the switch's routes."""
        kernel.enter(self.switch)
        settings(ip_forward=1, **{"conf/all/rp_filter": 0, "conf/default/rp_filter": 0})
        ends = [("r1", "b0", self.aggregator, AGGREGATOR)]
        ends += [(f"s{i}", "e0", own, worker_address(i)) for i, own in enumerate(self.workers)]
        for near, far, namespace, address in ends:
            batch(
                "ip",
                f"link add {near} address {SWITCH_MAC} type veth"
                f" peer name {far} address {HOST_MAC} netns /proc/self/fd/{namespace}",
                f"link set {near} up",
                f"route add {address}/32 dev {near}",
                f"neigh replace {address} lladdr {HOST_MAC} dev {near} nud permanent",
                keep=[namespace],
            )
            kernel.no_offloads(near)

    def _hosts(self) -> None:
        """Set the hosts' addresses, routes and TCP."""
        setup = self.setup
        ack = " quickack 1" if setup.ack_per_packet else ""
        hosts = [(self.aggregator, "b0", AGGREGATOR, ack)]
        hosts += [(own, "e0", worker_address(i), "") for i, own in enumerate(self.workers)]
        for namespace, device, address, more in hosts:
            kernel.enter(namespace)
            settings(
                tcp_congestion_control="reno",
                tcp_no_metrics_save=1,
                tcp_ecn=0,
                tcp_sack=1,
                tcp_timestamps=1,
                tcp_window_scaling=int(setup.window_scaling),
                tcp_early_retrans=3 if setup.tlp_and_rack else 0,
                tcp_recovery=1 if setup.tlp_and_rack else 0,
                tcp_rmem=f"4096 {HOLDS} {HOLDS}",
                tcp_wmem=f"4096 {HOLDS} {HOLDS}",
            )
            batch(
                "ip",
                "link set lo up",
                f"link set {device} up",
                f"addr add {address}/32 dev {device}",
                f"neigh replace {GATEWAY} lladdr {SWITCH_MAC} dev {device} nud permanent",
                f"route add default via {GATEWAY} dev {device} onlink rto_min {setup.rto_min_ns // 10**6}ms{more}",
            )
            kernel.no_offloads(device)

    def _port(self, program: Path) -> None:
        """Give the switch's port to the aggregator its rate, its buffer and its program."""
        setup = self.setup
        kind = {"B": "bfifo", "packets": "pfifo"}[setup.buffer_unit]
        kernel.enter(self.switch)
        batch(
            "tc",
            f"qdisc add dev r1 root handle 1: tbf rate {setup.rate_bps}bit burst {setup.burst_bytes}b limit 1000000b",
            f"qdisc add dev r1 parent 1:1 handle 2: {kind} limit {setup.buffer}",
            "qdisc add dev r1 clsact",
            f"filter add dev r1 egress bpf direct-action object-file {program} section classifier/egress",
            f"filter add dev r1 ingress bpf direct-action object-file {program} section classifier/ingress",
        )

    def _counters(self, namespace: int) -> int:
        """Open the counters of a host's TCP."""
        kernel.enter(namespace)
        return os.open("/proc/self/net/netstat", os.O_RDONLY | os.O_CLOEXEC)

    def timeouts(self) -> int:
        """Return how many retransmission timeouts the workers have had."""
        return sum(tcp_counter(os.pread(counters, 1 << 16, 0), "TCPTimeouts") for counters in self.counters)

    def bad_checksums(self) -> int:
        """Return how many segments the hosts refused for their checksums."""
        found = 0
        for namespace in (self.aggregator, *self.workers):
            with self.inside(namespace):
                found += tcp_counter(Path("/proc/self/net/snmp").read_bytes(), "InCsumErrors", "Tcp")
        return found

    def drops(self) -> int:
        """Return how many packets the bottleneck's queue has dropped."""
        with self.inside(self.switch):
            shown = json.loads(run("tc", "-s", "-j", "qdisc", "show", "dev", "r1"))
        return int(next(queue["drops"] for queue in shown if queue["kind"] == "tbf"))

    def programs(self) -> list[int]:
        """Numbers of the programs at the port, as the kernel counts them."""
        with self.inside(self.switch):
            shown = [json.loads(run("tc", "-j", "filter", "show", "dev", "r1", side)) for side in ("egress", "ingress")]
        return [one["options"]["prog"]["id"] for side in shown for one in side if "prog" in one.get("options", {})]


def settings(**values: int | str) -> None:
    """Set TCP and IPv4 of the namespace that this process is in, and switch IPv6 off there."""
    folder = Path("/proc/sys/net")
    for key, value in values.items():
        (folder / "ipv4" / key).write_text(str(value), encoding="ascii")
    for group in ("all", "default"):
        off = folder / "ipv6/conf" / group / "disable_ipv6"
        if off.exists():
            off.write_text("1", encoding="ascii")


def batch(tool: str, *lines: str, keep: Sequence[int] = ()) -> None:
    """Run commands of ``ip`` or ``tc`` in the namespace that this process is in."""
    run(tool, "-batch", "-", text="\n".join(lines) + "\n", keep=keep)


def run(*words: str, text: str = "", keep: Sequence[int] = ()) -> str:
    """Run a program; raise with its words if it fails."""
    done = subprocess.run(words, input=text, capture_output=True, text=True, pass_fds=keep, check=False)
    if done.returncode:
        raise OSError(f"{' '.join(words)}: {done.stderr.strip()}\n{text}")
    return done.stdout


def tcp_counter(text: bytes, name: str, group: str = "TcpExt") -> int:
    """Read a counter of ``/proc/net/netstat`` or ``/proc/net/snmp``."""
    heads, values = [line.split() for line in text.decode("ascii").splitlines() if line.startswith(f"{group}:")]
    return int(values[heads.index(name)])
