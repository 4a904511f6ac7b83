//! A packet at a port whose explicit queues have [lazy service](crate::port::lazy_service).

use crate::event::outbox::Outbox;
use crate::event::packet::{Ext, Packet};
use crate::map::fabric::FabricMap;
use crate::node::context::Counts;
use crate::port::Port;
use incast_cc::Time;

/// Passes a packet to such a port. Returns whether its queue has accepted it.
#[inline]
pub fn pass_lazily(
    port: &mut Port,
    now: Time,
    packet: &Packet,
    ext: Option<&mut Ext>,
    net: &FabricMap,
    counts: &mut Counts,
    out: &mut impl Outbox,
) -> bool {
    // the flow is far away in memory: it is read only if its class matters
    let (taken, dropped) = port.take_in(now, packet, ext, || net.class(packet), &net.interval, out);
    counts.hops += taken as u64;
    if dropped > 0 {
        counts.dropped += dropped;
        counts.happened(now);
    }
    taken
}
