//! Keys of levels, which limit the packets of hosts per epoch.

use super::kind::{Around, NodeProgram, check_step};
use crate::text::default::microseconds;
use crate::text::problem::Report;
use crate::text::quantity::{Size, Time};
use crate::topology::network::MAX_HOSTS;
use incast_cc as cc;
use incast_engine::spec::{self, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Levels.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Qjump {
    /// Hosts that run it: `hosts`, or names separated by commas, with `*` for any text, such as `"h0, h1*"`.
    #[serde(default = "everywhere")]
    pub on: String,
    /// Full packets that a host may send per epoch (the paper's f), by traffic class from class 0 on. Classes beyond
    /// the list are not limited.
    pub factors: Vec<f64>,
    /// Hosts that may send to one host at once (the paper's n). Default: all of the network.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub hosts: Option<u32>,
    /// Size of a full packet, link overhead included (the paper's P). Default: that of the run's transports.
    pub packet: Option<Size>,
    /// Processing time of switches, added to an epoch (the paper's epsilon).
    #[serde(default = "microseconds::<0>")]
    pub processing: Time,
    /// Length of an epoch, at most `run.duration`. Default: `2 n P / R + epsilon`, with R the rate of the network's
    /// slowest link.
    pub epoch: Option<Time>,
}

fn everywhere() -> String {
    "hosts".into()
}

impl NodeProgram for Qjump {
    fn on(&self) -> &str {
        &self.on
    }

    fn spec(&self, around: &Around) -> spec::Program {
        let rates = around.network.links.iter().map(|link| link.rate);
        spec::Program::Qjump(spec::Qjump {
            factors: self.factors.clone(),
            hosts: self.hosts,
            packet: self.packet.map(|size| size.0.0),
            processing: self.processing.0,
            rate: rates.filter(|rate| *rate != cc::Rate::INFINITE).min(),
            epoch: self.epoch.map(|time| time.0),
        })
    }

    fn check(&self, around: &Around, at: &mut Report) {
        if around.nodes.iter().any(|node| *node >= around.network.hosts) {
            at.text("on", &self.on, "expected hosts: only packets of a host's own stack wait");
        }
        if self.factors.is_empty() {
            at.text("factors", "[]", "expected a number for each limited traffic class, class 0 first");
        }
        for (i, factor) in self.factors.iter().enumerate().filter(|(_, f)| !(**f > 0.0 && **f <= 1e6)) {
            at.value(format!("factors.{i}"), factor, "expected a number above 0, at most 1000000");
        }
        if let Some(hosts) = self.hosts.filter(|hosts| !(1..=MAX_HOSTS).contains(&(*hosts as u64))) {
            at.value("hosts", hosts, format!("expected 1 to {MAX_HOSTS}"));
        }
        if let Some(packet) = self.packet.filter(|size| size.0.0 == 0 || size.0.0 > 1 << 20) {
            at.text("packet", packet, "expected 1B to 1MiB");
        }
        check_step("epoch", self.epoch, "waiting packets leave once an epoch", at);
    }

    fn check_run(&self, spec: &Spec, _nodes: &[u32], at: &mut Report) {
        for (key, time) in [("epoch", self.epoch), ("processing", Some(self.processing))] {
            if let Some(time) = time.filter(|time| time.0 > spec.duration) {
                let message = format!("expected at most run.duration, {}: no epoch would end", spec.duration);
                at.text(key, time, message);
            }
        }
    }

    fn without_effect(&self, spec: &Spec) -> Option<&'static str> {
        let limits = |class: u8| (class as usize) < self.factors.len();
        let limited = spec.flows.iter().any(|flow| limits(flow.class) || limits(flow.ack_class));
        let infinite = |host: u32| spec.links.iter().any(|l| l.from == host && l.rate == cc::Rate::INFINITE);
        match () {
            () if !limited => Some("no flow has a class with a factor"),
            () if (0..spec.hosts).all(infinite) => Some("links of hosts are infinitely fast"),
            () => None,
        }
    }
}
