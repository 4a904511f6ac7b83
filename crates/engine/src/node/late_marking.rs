//! A packet at a FIFO port that marks at departures ([`crate::port::late_marking`]).

use crate::event::interval::Interval;
use crate::event::outbox::{Instant, Outbox, Stamp};
use crate::event::packet::{Ext, Packet};
use crate::node::context::Counts;
use crate::port::{Port, Sent};

/// Passes a packet through such a port, which is not observed. Its link has no loss, and a delay.
pub fn pass_marking_late<O: Outbox>(
    port: &mut Port,
    at: Instant,
    packet: &Packet,
    ext: Option<&mut Ext>,
    interval: &Interval,
    counts: &mut Counts,
    out: &mut O,
) {
    port.settle_due(at.time, interval);
    let Sent::Arrives { time, .. } = port.enqueue(at.time, packet, interval) else {
        counts.drop_at(at.time);
        return;
    };
    counts.hops += 1;
    let stamp = Stamp { time, link: port.link, ce: 0 };
    if let Some(place) = out.arrive(packet, stamp, ext, 0) {
        port.placed(packet, place);
    }
    if port.becomes_due() {
        out.settle(port.link);
    }
}
