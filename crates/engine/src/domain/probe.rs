//! Time series of flows and ports.

use crate::domain::queries::query_record;
use crate::domain::{Domain, Endpoints};
use crate::event::outbox::Outbox;
use crate::map::fabric::FabricMap;
use crate::node::context::NodeCtx;
use crate::node::trace::observe_port;
use crate::transport::SendEndpoint;
use incast_record::{Recorder, Sample};
use std::sync::Arc;

/// Time series of one flow.
#[derive(Clone, Debug)]
pub struct FlowProbe {
    entity: Arc<str>,
    /// Next instant, in interval mode.
    next: u64,
    last_acked: f64,
    /// Last values, in every-change mode.
    last: Vec<(&'static str, f64)>,
}

impl Endpoints {
    /// Starts a time series of the flow of local sender `sender`.
    pub fn probe(&mut self, sender: u32) {
        let s = &mut self.senders[sender as usize];
        *s.probe() = Some(self.probes.len() as u32);
        self.probes.push(FlowProbe {
            entity: format!("flow {}", s.flow()).into(),
            next: 0,
            last_acked: 0.0,
            last: Vec::new(),
        });
    }
}

impl Domain {
    /// Completes the time series at the end of the run.
    pub fn finish<R: Recorder>(&mut self, end: u64, net: &FabricMap, rec: &mut R) {
        for sender in &mut self.endpoints.senders {
            if let Some(probe) = *sender.probe() {
                self.endpoints.probes[probe as usize].before(sender, end, net, rec);
            }
            sender.record_writes(net, rec);
        }
        for query in self.endpoints.queries.iter().filter(|q| q.waiting > 0) {
            rec.message(query_record(query, net, None));
        }
        // departures at the very end are not part of the run, whichever way a port keeps its queue
        let until = if net.spec.observe.interval.is_some() { end } else { end.saturating_sub(1) };
        for port in self.nodes.ports.iter_mut().filter(|p| p.is_probed()) {
            observe_port(port, until, net, rec);
        }
    }
}

/// Lets a sender act, and its time series, if it has one, see before and after.
#[inline(always)]
pub fn observed<O: Outbox, R: Recorder>(
    probes: &mut [FlowProbe],
    sender: &mut SendEndpoint,
    ctx: &mut NodeCtx<O, R>,
    act: impl FnOnce(&mut SendEndpoint, &mut NodeCtx<O, R>),
) {
    let (now, net) = (ctx.now, ctx.net);
    match *sender.probe() {
        Some(probe) => {
            let probe = &mut probes[probe as usize];
            probe.before(sender, now, net, ctx.rec);
            act(sender, ctx);
            probe.after(sender, now, net, ctx.rec);
        }
        None => act(sender, ctx),
    }
}

impl FlowProbe {
    /// Interval mode: values hold until the next event, so every instant before it shows the
    /// state as it is now.
    #[cold]
    pub fn before<R: Recorder>(&mut self, sender: &SendEndpoint, now: u64, net: &FabricMap, rec: &mut R) {
        let Some(every) = net.spec.observe.interval else { return };
        while self.next < now {
            let time_ps = self.next;
            sender.observe(&mut |name, value| {
                if name == "acked_bytes" {
                    let rate = (value - self.last_acked) * 8.0 / every.as_secs_f64();
                    self.last_acked = value;
                    rec.sample(Sample { entity: self.entity.clone(), name: "rate_bps", time_ps, value: rate });
                }
                rec.sample(Sample { entity: self.entity.clone(), name, time_ps, value });
            });
            self.next += every.0.max(1);
        }
    }

    /// Every-change mode: reports what differs from the last report.
    #[cold]
    pub fn after<R: Recorder>(&mut self, sender: &SendEndpoint, now: u64, net: &FabricMap, rec: &mut R) {
        if net.spec.observe.interval.is_some() {
            return;
        }
        sender.observe(&mut |name, value| {
            let known = self.last.iter_mut().find(|(n, _)| *n == name);
            match known {
                Some((_, last)) if *last == value => return,
                Some((_, last)) => *last = value,
                None => self.last.push((name, value)),
            }
            rec.sample(Sample { entity: self.entity.clone(), name, time_ps: now, value });
        });
    }
}
