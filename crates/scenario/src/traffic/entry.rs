//! What every flow of an entry has: its opening, its controller, its application as the engine has it.

use super::flows::Flows;
use crate::document::app::App;
use crate::document::traffic::Traffic;
use crate::text::problem::Problem;
use crate::text::quantity::{PartOrRate, Size};
use incast_cc as cc;
use incast_engine::hash::{self, purpose};
use incast_engine::{map::ideal, spec};

impl Traffic {
    /// When flow number `i` of the entry opens: its start, stagger and jitter.
    pub(crate) fn opening(&self, entry: u32, i: u64, seed: u64) -> cc::Time {
        let jitter = hash::uniform(seed, purpose::JITTER, entry as u64, i) * self.jitter.0.0 as f64;
        cc::Time(self.stagger.0.0.saturating_mul(i))
            .saturating_add(self.start.0)
            .saturating_add(cc::Time(jitter as u64))
    }

    /// What moves the openings of flows, in words.
    pub(crate) fn moved_by(&self) -> String {
        let keys = [("start", self.start), ("stagger", self.stagger), ("jitter", self.jitter)];
        let moving = keys.iter().filter(|(_, t)| t.0 > cc::Time::ZERO);
        moving.map(|(key, t)| format!("{key}, {t}")).collect::<Vec<_>>().join(", and ")
    }

    /// Number of the controller of its flows; datagrams have none, and take any.
    pub(crate) fn governed_by(&self, flows: &mut Flows) -> Result<u32, Problem> {
        if matches!(self.app, App::Udp(_)) {
            Ok(flows.any_controller())
        } else {
            flows.controller(self.controller.as_ref())
        }
    }

    pub(crate) fn flow(
        &self,
        src: u32,
        dst: u32,
        start: cc::Time,
        transport: u32,
        controller: u32,
        group: u32,
    ) -> spec::FlowSpec {
        spec::FlowSpec {
            src,
            dst,
            start,
            stop: self.stop.map_or(cc::Time::NEVER, |s| s.0),
            at_stop: self.at_stop.0,
            sink_stop: self.sink_stop.map_or(cc::Time::NEVER, |s| s.0),
            transport,
            controller,
            group,
            class: self.class,
            ack_class: self.ack_class.unwrap_or(self.class),
            app: self.app.spec(),
            read_rate: self.read_rate.0,
            path: None,
            reverse_path: None,
            trigger: None,
        }
    }

    /// The flow with the pace of its datagrams, if it sends such.
    pub(crate) fn paced(&self, flow: spec::FlowSpec, flows: &Flows) -> Result<spec::FlowSpec, Problem> {
        let App::Udp(udp) = &self.app else { return Ok(flow) };
        let key = format!("{}.app.rate", flows.path);
        let wrong = |message: String| Problem::with_value(key, format!("\"{}\"", udp.rate), message);
        let Some(link) = flows.network.links.iter().find(|l| l.from == flow.src) else { return Ok(flow) };
        let name = &flows.network.names[flow.src as usize];
        let rate = match udp.rate.0 {
            PartOrRate::Part(_) if link.rate == cc::Rate::INFINITE => {
                return Err(wrong(format!(
                    "the link of {name} has no finite rate; expected a rate such as \"10Gbps\""
                )));
            }
            PartOrRate::Part(n) => cc::Rate((link.rate.0 as u128 * n as u128).div_ceil(1_000_000) as u64),
            PartOrRate::Rate(rate) if rate.0 > link.rate.0 => {
                return Err(wrong(format!("expected at most the rate of the link of {name}, {}", link.rate)));
            }
            PartOrRate::Rate(rate) => rate,
        };
        let gap = rate.serialize(ideal::wire_bytes(flows.settings(flow.transport), link.overhead));
        Ok(spec::FlowSpec { app: spec::App::Udp { gap: gap.max(cc::Time(1)) }, ..flow })
    }

    /// A write that enters the send buffer whole or not at all has to fit into it.
    pub(crate) fn check_write(&self, flow: &spec::FlowSpec, flows: &Flows) -> Result<(), Problem> {
        let t = flows.settings(flow.transport);
        let (write, because) = match flow.app {
            spec::App::OnOff { write, .. } => (write, "a write at a rate enters it whole or not at all"),
            // a flow of less has less to write
            spec::App::Bulk { size, write }
                if t.whole_writes
                    && size.is_none_or(|size| size + t.extra_packets as u64 * t.mss as u64 > t.send_buffer) =>
            {
                (write, "with transport.whole_writes = true it enters it whole or not at all")
            }
            _ => return Ok(()),
        };
        if write <= t.send_buffer {
            return Ok(());
        }
        let size = |n: u64| Size(cc::Bytes(n));
        let message = format!("expected at most transport.send_buffer, {}: {because}", size(t.send_buffer));
        Err(Problem::with_value(format!("{}.app.write", flows.path), format!("\"{}\"", size(write)), message))
    }
}
