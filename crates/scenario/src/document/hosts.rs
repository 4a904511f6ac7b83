//! Processing time of packets in hosts: engines between the NIC and the stack.

use crate::text::default::{infinite, microseconds, number};
use crate::text::problem::{Problem, Report};
use crate::text::quantity::{Auto, QueueLimit, Rate, Time};
use crate::topology::network::Network;
use incast_engine::EngineId;
use incast_engine::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Processing of packets at hosts. Delays and losses at hosts are reported separately from those of the fabric.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Hosts {
    /// Processing of arriving packets, from the NIC to the stack.
    pub receive: Option<Processing>,
    /// Processing of sent packets, from the stack to the NIC. Data gets its time stamp after it.
    pub send: Option<Processing>,
    /// Names of the hosts with processing times, such as `"h0"`; default: all.
    #[schemars(length(min = 1))]
    pub only: Option<Vec<String>>,
}

/// Parallel engines. All packets of a flow in one direction pass the same engine, one at a time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Processing {
    /// Number of engines.
    #[serde(default = "number::<1>")]
    #[schemars(range(min = 1, max = 64))]
    pub engines: u32,
    /// Service time of a packet with payload.
    #[serde(default = "microseconds::<0>")]
    pub packet_time: Time,
    /// Service time of a packet without payload; `auto`: `packet_time`.
    #[serde(default)]
    pub ack_time: Auto<Time>,
    /// Rate at which the IP bytes of a packet add to its service time.
    #[serde(default = "infinite")]
    pub rate: Rate,
    /// Largest number of packets in an engine, the one in service included; a packet that does not fit is dropped at
    /// the host.
    #[serde(default = "unlimited")]
    pub queue: QueueLimit,
}

fn unlimited() -> QueueLimit {
    QueueLimit(spec::Limit::None)
}

impl Processing {
    fn spec(&self, at: &mut Report) -> spec::ProcessingSpec {
        let limit = match self.queue.0 {
            spec::Limit::None => 0,
            spec::Limit::Packets(n) if n > 0 => n,
            _ => {
                at.text("queue", self.queue, "expected a number of packets from 1 up, such as \"64p\", or \"none\"");
                0
            }
        };
        if !(1..=EngineId::MAX).contains(&self.engines) {
            at.value("engines", self.engines, format!("expected 1 to {}", EngineId::MAX));
        }
        spec::ProcessingSpec {
            engines: self.engines,
            packet_time: self.packet_time.0,
            ack_time: self.ack_time.given().map_or(self.packet_time.0, |t| t.0),
            rate: self.rate.0,
            limit,
        }
    }
}

impl Hosts {
    /// Processing of every host.
    pub(crate) fn spec(&self, network: &Network, problems: &mut Vec<Problem>) -> Vec<spec::HostSpec> {
        let mut side = |own: &Option<Processing>, key: &str| {
            own.as_ref().map(|own| own.spec(&mut Report::new(format!("hosts.{key}"), problems)))
        };
        let costs = spec::HostSpec { receive: side(&self.receive, "receive"), send: side(&self.send, "send") };
        if costs == spec::HostSpec::default() {
            let message = "expected hosts.receive or hosts.send, such as hosts.receive.packet_time = \"300ns\"";
            problems.push(Problem::new("hosts", message));
        }
        let hosts = network.hosts as usize;
        let Some(only) = &self.only else { return vec![costs; hosts] };
        let names = &network.names[..hosts];
        let mut all = vec![spec::HostSpec::default(); hosts];
        for name in only {
            match names.iter().position(|n| n == name) {
                Some(host) => all[host] = costs.clone(),
                None => {
                    let message = format!("no such host; expected names such as \"{}\"", names[0]);
                    let problem = Problem::quoted("hosts.only", name, message);
                    problems.push(problem.suggest(name, names.iter().take(10_000).map(String::as_str)));
                }
            }
        }
        all
    }
}
