//! Properties common to all flows of an entry: opening, controller, application for the engine.

use super::flows::Flows;
use crate::document::app::{App, BULK_WRITE, Bulk};
use crate::document::traffic::{DeadlineDraw, Traffic};
use crate::text::problem::Problem;
use crate::text::quantity::{PartOrRate, Size};
use incast_cc as cc;
use incast_engine::hash::{self, purpose};
use incast_engine::{map::ideal, spec};
use std::fmt::Display;

impl Traffic {
    /// Opening time of flow number `i` of the entry: its start, stagger and jitter.
    pub(crate) fn opening(&self, entry: u32, i: u64, seed: u64) -> cc::Time {
        let jitter = hash::uniform(seed, purpose::JITTER, entry as u64, i) * self.jitter.0.0 as f64;
        cc::Time(self.stagger.0.0.saturating_mul(i))
            .saturating_add(self.start.0)
            .saturating_add(cc::Time(jitter as u64))
    }

    /// Keys that move the openings of flows, in words.
    pub(crate) fn moved_by(&self) -> String {
        let keys = [("start", self.start), ("stagger", self.stagger), ("jitter", self.jitter)];
        let moving = keys.iter().filter(|(_, t)| t.0 > cc::Time::ZERO);
        moving.map(|(key, t)| format!("{key}, {t}")).collect::<Vec<_>>().join(", and ")
    }

    /// Announces `n` more flows of entry number `number`, and returns their common properties.
    pub(crate) fn begin(&self, number: u32, n: u64, flows: &mut Flows) -> Result<Entry<'_>, Problem> {
        flows.reserve(n)?;
        let controller = self.controller_of(flows)?;
        Ok(self.under(controller, number, flows))
    }

    /// Transport of its flows, except those that a file gives other controllers.
    pub(crate) fn settings(&self, flows: &mut Flows) -> Result<spec::TransportSpec, Problem> {
        let controller = self.controller_of(flows)?;
        let number = flows.transport(self.transport.as_ref(), controller);
        Ok(flows.settings(number).clone())
    }

    fn controller_of(&self, flows: &mut Flows) -> Result<u32, Problem> {
        match self.app {
            // datagrams have no controller and accept any
            App::Udp(_) => Ok(flows.any_controller()),
            _ => flows.controller(self.controller.as_ref()),
        }
    }

    /// Common properties of its flows under that controller.
    pub(crate) fn under(&self, controller: u32, number: u32, flows: &mut Flows) -> Entry<'_> {
        Entry { traffic: self, number, controller, transport: flows.transport(self.transport.as_ref(), controller) }
    }

    /// Refuses a flow that opens after the entry has stopped; `what` describes it.
    pub(crate) fn check_stop(&self, start: cc::Time, flows: &Flows, what: impl Display) -> Result<(), Problem> {
        let Some(stop) = self.stop.filter(|stop| stop.0 <= start) else { return Ok(()) };
        let message = format!("{what} at {start}; expected a later stop");
        Err(Problem::quoted(format!("{}.stop", flows.path), stop, message))
    }

    /// Refuses more flows than available; `has` describes these.
    pub(crate) fn check_most(&self, n: u64, has: impl Display, flows: &Flows) -> Result<(), Problem> {
        match self.flows.filter(|flows| *flows > n) {
            Some(flow) => {
                let message = format!("{has}; expected at most as many");
                Err(Problem::with_value(format!("{}.flows", flows.path), flow, message))
            }
            None => Ok(()),
        }
    }
}

/// The current entry, and the common properties of its flows.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'t> {
    traffic: &'t Traffic,
    number: u32,
    controller: u32,
    transport: u32,
}

impl Entry<'_> {
    /// A flow of the entry.
    pub(crate) fn flow(&self, (src, dst): (u32, u32), start: cc::Time) -> spec::FlowSpec {
        let Entry { traffic, number, controller, transport } = *self;
        spec::FlowSpec {
            src,
            dst,
            start,
            stop: traffic.stop.map_or(cc::Time::NEVER, |s| s.0),
            at_stop: traffic.at_stop.0,
            sink_stop: traffic.sink_stop.map_or(cc::Time::NEVER, |s| s.0),
            transport,
            controller,
            group: number,
            class: traffic.class,
            ack_class: traffic.ack_class.unwrap_or(traffic.class),
            app: traffic.app.spec(),
            read_rate: traffic.read_rate.0,
            path: None,
            reverse_path: None,
            pull_path: None,
            trigger: None,
            deadline: traffic.deadline.map(|within| traffic.due(within.0)),
        }
    }

    /// A transfer with its own size, in the writes of the entry; `None` means endless.
    pub(crate) fn transfer(&self, ends: (u32, u32), start: cc::Time, size: Option<u64>) -> spec::FlowSpec {
        let write = if let App::Bulk(bulk) = &self.traffic.app { bulk.write } else { BULK_WRITE };
        spec::FlowSpec { app: spec::App::Bulk(spec::Bulk { size, write: write.0.0 }), ..self.flow(ends, start) }
    }
}

impl Traffic {
    /// Deadline of a flow: this time, or drawn around it.
    pub(crate) fn due(&self, within: cc::Time) -> spec::Deadline {
        spec::Deadline { within, random: self.deadline_draw == DeadlineDraw::Exponential }
    }

    /// Sets the pace of a flow's datagrams, if it sends any.
    pub(crate) fn paced(&self, flow: spec::FlowSpec, flows: &Flows) -> Result<spec::FlowSpec, Problem> {
        let App::Udp(udp) = &self.app else { return Ok(flow) };
        let key = format!("{}.app.rate", flows.path);
        let wrong = |message: String| Problem::quoted(key, udp.rate, message);
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
        let gap = rate.serialize(ideal::wire_bytes(&flows.settings(flow.transport).sizes, link.overhead));
        Ok(spec::FlowSpec {
            app: spec::App::Udp(spec::Udp { gap: gap.max(cc::Time(1)), random: udp.is_random() }),
            ..flow
        })
    }

    /// Checks that a write fits into the send buffer, if it enters only as a whole.
    pub(crate) fn check_write(&self, flow: &spec::FlowSpec, flows: &Flows) -> Result<(), Problem> {
        let t = flows.settings(flow.transport);
        let (write, because) = match flow.app {
            spec::App::OnOff(spec::OnOff { write, .. }) => {
                (write, "a write at a rate enters the buffer as a whole or not at all")
            }
            // a smaller flow has less to write
            spec::App::Bulk(spec::Bulk { size, write })
                if t.windows.whole_writes
                    && size.is_none_or(|size| {
                        size + t.output.extra_packets as u64 * t.sizes.mss as u64 > t.windows.send_buffer
                    }) =>
            {
                (write, "with transport.whole_writes = true a write enters the buffer as a whole or not at all")
            }
            _ => return Ok(()),
        };
        if write <= t.windows.send_buffer || matches!(self.app, App::Bulk(Bulk { refused: true, size: None, .. })) {
            return Ok(());
        }
        let size = |n: u64| Size(cc::Bytes(n));
        let message = format!("expected at most transport.send_buffer, {}: {because}", size(t.windows.send_buffer));
        Err(Problem::quoted(format!("{}.app.write", flows.path), size(write), message))
    }
}
