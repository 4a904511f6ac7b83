//! Time series of flows and ports.

use crate::ids::FlowId;
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::transport::SendEndpoint;
use incast_cc::Time;
use incast_record::{Recorder, Sample};
use std::sync::Arc;

/// Time series of one flow.
#[derive(Clone, Debug)]
pub struct FlowProbe {
    entity: Arc<str>,
    /// Next instant, in interval mode.
    next: Time,
    last_acked: f64,
    /// Last values, in every-change mode.
    last: Vec<(&'static str, f64)>,
}

/// Lets a sender act, and its time series, if it has one, see before and after. A sender that would act again when its
/// host's NIC has sent something is told of that.
#[inline(always)]
pub fn observed<E: Effects>(
    probes: &mut [FlowProbe],
    sender: &mut SendEndpoint,
    ctx: &mut NodeCtx<E>,
    act: impl FnOnce(&mut SendEndpoint, &mut NodeCtx<E>),
) {
    let (now, net) = (ctx.now, ctx.net);
    sender.begin();
    match *sender.probe() {
        Some(probe) => {
            let probe = &mut probes[probe as usize];
            probe.before(sender, now, net, ctx.rec);
            act(sender, ctx);
            probe.after(sender, now, net, ctx.rec);
        }
        None => act(sender, ctx),
    }
    if sender.waits_for_room() {
        ctx.watch_nic(sender.ip().host);
    }
}

impl FlowProbe {
    /// The time series of a flow, from the beginning.
    pub fn new(flow: FlowId) -> FlowProbe {
        FlowProbe { entity: format!("flow {}", flow.0).into(), next: Time::ZERO, last_acked: 0.0, last: Vec::new() }
    }

    /// Interval mode: values hold until the next event, so every instant before it shows the
    /// state as it is now.
    #[cold]
    pub fn before<R: Recorder>(&mut self, sender: &SendEndpoint, now: Time, net: &FabricMap, rec: &mut R) {
        let Some(every) = net.spec.observe.interval else { return };
        while self.next < now {
            let time_ps = self.next.0;
            sender.observe(&mut |name, value| {
                if name == "acked_bytes" {
                    let rate = (value - self.last_acked) * 8.0 / every.as_secs_f64();
                    self.last_acked = value;
                    rec.sample(Sample { entity: self.entity.clone(), name: "rate_bps", time_ps, value: rate });
                }
                rec.sample(Sample { entity: self.entity.clone(), name, time_ps, value });
            });
            self.next += every.max(Time::ps(1));
        }
    }

    /// Every-change mode: reports what differs from the last report.
    #[cold]
    pub fn after<R: Recorder>(&mut self, sender: &SendEndpoint, now: Time, net: &FabricMap, rec: &mut R) {
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
            rec.sample(Sample { entity: self.entity.clone(), name, time_ps: now.0, value });
        });
    }
}
