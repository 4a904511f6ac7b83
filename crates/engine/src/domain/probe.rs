//! Probes of flows: time series, and the frames of a timeline.

use crate::domain::flow_frames::SenderFrames;
use crate::event::series::Series;
use crate::ids::FlowId;
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use crate::transport::SendEndpoint;
use crate::transport::tcp::sender::Sender;
use incast_cc::Time;
use incast_record::Recorder;

/// Probes of one flow.
#[derive(Default, Debug)]
pub struct FlowProbe {
    /// Frames of the flow, with a timeline.
    pub frames: Option<SenderFrames>,
    series: Option<Box<FlowSeries>>,
}

/// Time series of one flow.
#[derive(Clone, Debug)]
struct FlowSeries {
    series: Series,
    last_acked: f64,
}

/// Lets a sender act, and its probes, if any, observe it before and after. A sender that waits for its host's NIC is
/// called when the NIC has sent a packet.
#[inline(always)]
pub fn observed<E: Effects>(
    probes: &mut [FlowProbe],
    sender: &mut SendEndpoint,
    ctx: &mut NodeCtx<E>,
    act: impl FnOnce(&mut SendEndpoint, &mut NodeCtx<E>),
) {
    let (now, net) = (ctx.now, ctx.net);
    if let Some(tcp) = sender.tcp() {
        tcp.begin();
    }
    match *sender.probe() {
        Some(probe) => {
            let probe = &mut probes[probe as usize];
            probe.before(sender, now, ctx.counts.last, net, ctx.rec);
            act(sender, ctx);
            probe.after(sender, now, net, ctx.rec);
        }
        None => act(sender, ctx),
    }
    if let Some(tcp) = sender.tcp()
        && tcp.waits_for_room()
    {
        ctx.watch_nic(tcp.ip.host);
    }
}

/// As [`observed`], for what TCP alone does.
pub fn observed_tcp<E: Effects>(
    probes: &mut [FlowProbe],
    sender: &mut SendEndpoint,
    ctx: &mut NodeCtx<E>,
    act: impl FnOnce(&mut Sender, &mut NodeCtx<E>),
) {
    observed(probes, sender, ctx, |sender, ctx| {
        if let Some(tcp) = sender.tcp() {
            act(tcp, ctx);
        }
    });
}

impl FlowProbe {
    /// Starts the time series of a flow.
    pub fn record_series(&mut self, flow: FlowId) {
        let series = Series::new(&format!("flow {}", flow.0));
        self.series = Some(Box::new(FlowSeries { series, last_acked: 0.0 }));
    }

    /// Called before the sender acts. `come`: time reached by the run.
    #[inline]
    pub fn before<R: Recorder>(&mut self, sender: &SendEndpoint, now: Time, come: Time, net: &FabricMap, rec: &mut R) {
        if let Some(frames) = &mut self.frames {
            frames.before(sender, now, come);
        }
        if let Some(series) = &mut self.series {
            series.before(sender, now, net, rec);
        }
    }

    /// Called after the sender has acted.
    #[inline]
    pub fn after<R: Recorder>(&mut self, sender: &SendEndpoint, now: Time, net: &FabricMap, rec: &mut R) {
        if let Some(series) = &mut self.series {
            series.after(sender, now, net, rec);
        }
    }
}

impl FlowSeries {
    /// Interval mode: records the sender's state, and the rate at which data was acknowledged.
    #[cold]
    fn before<R: Recorder>(&mut self, sender: &SendEndpoint, now: Time, net: &FabricMap, rec: &mut R) {
        let every = net.spec.observe.interval;
        let last = &mut self.last_acked;
        let mut show = |visit: &mut dyn FnMut(&'static str, f64)| {
            sender.observe(&mut |name, value| {
                if name == "acked_bytes" {
                    let rate = (value - *last) * 8.0 / every.unwrap_or_default().as_secs_f64();
                    *last = value;
                    visit("rate_bps", rate);
                }
                visit(name, value);
            });
        };
        self.series.before(now, every, &mut show, rec);
    }

    /// Every-change mode: records the values that have changed.
    #[cold]
    fn after<R: Recorder>(&mut self, sender: &SendEndpoint, now: Time, net: &FabricMap, rec: &mut R) {
        self.series.after(now, net.spec.observe.interval, &mut |visit| sender.observe(visit), rec);
    }
}
