//! A buffer that the queues of a switch share.

use crate::problem::{self, Problem};
use crate::quantity::Size;
use crate::queue::Queue;
use crate::topology::Network;
use incast_cc::Bytes;
use incast_engine::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Buffer of every switch, shared by its queues with dynamic thresholds (Choudhury and Hahne, 1998).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Buffer {
    /// Size of the whole.
    pub size: Size,
    /// A queue takes an arrival while its shared part is below this times what is free; above 0.
    #[serde(default = "one")]
    pub alpha: f64,
    /// What every queue has for itself, out of the whole.
    #[serde(default = "nothing")]
    pub reserve: Size,
}

fn one() -> f64 {
    1.0
}

fn nothing() -> Size {
    Size(Bytes(0))
}

impl Buffer {
    /// As the engine has it.
    pub(crate) fn spec(&self) -> spec::BufferSpec {
        spec::BufferSpec { size: self.size.0.0, alpha: self.alpha, reserve: self.reserve.0.0 }
    }

    /// What does not fit: `packet` is the largest packet, in bytes.
    pub(crate) fn check(&self, queue: &Queue, network: &Network, packet: u64, out: &mut Vec<Problem>) {
        if !(self.alpha > 0.0 && self.alpha <= 1e6) {
            out.push(Problem::with_value(
                "buffer.alpha",
                problem::number(self.alpha),
                "expected above 0, at most 1000000",
            ));
        }
        let size = self.size.0.0;
        if size < packet {
            let message = format!("expected at least {packet}B, a full packet of the transport");
            out.push(Problem::with_value("buffer.size", format!("\"{}\"", self.size), message));
        }
        let queues = queue.spec().count() as u64;
        let mut ports = vec![0u64; network.names.len()];
        network.links.iter().for_each(|l| ports[l.from as usize] += 1);
        let most = ports.iter().skip(network.hosts as usize).max().map_or(0, |ports| ports * queues);
        if most > 0 && self.reserve.0.0 > size / most {
            let message = format!("expected at most {}B: a switch has {most} queues", size / most);
            out.push(Problem::with_value("buffer.reserve", format!("\"{}\"", self.reserve), message));
        }
        if network.links.iter().any(|l| l.bucket > 0 && l.from >= network.hosts) {
            let message = "expected no burst of links beside it: a token bucket has no departures to count";
            out.push(Problem::new("buffer", message));
        }
    }
}
