//! Values that findings depend on.

use crate::evaluate::delay::Network;
use incast_cc::{Bytes, Rate, Time};

/// Values that findings depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Network of W03: latency and rate of a message without contention.
    pub network: Network,
    /// Packet of W06: messages below it are small.
    pub packet: Bytes,
    /// GPUs of the topology, for W04.
    pub places: Option<u64>,
    /// Largest message of another program's field, for E10: 2^31 - 1 B for htsim.
    pub most_bytes: Option<Bytes>,
}

impl Default for Options {
    /// 1 us and 100 Gb/s; packets of 4 KiB; no topology; no other program.
    fn default() -> Options {
        let network = Network { latency: Time::us(1), rate: Rate::gbps(100) };
        Options { network, packet: Bytes(4096), places: None, most_bytes: None }
    }
}
