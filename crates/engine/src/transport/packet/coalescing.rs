//! Coalesced acknowledgements with bitmaps, as EQDS and UET have them.

use crate::event::packet::{Packet, flag};
use crate::node::context::{Effects, NodeCtx};
use crate::spec::TransportSpec;
use crate::transport::packet::receiver_base::ReceiverBase;

/// Packets that the bitmap of an ACK covers.
const MAP: u32 = 64;

/// State since the last ACK.
#[derive(Clone, Debug, Default)]
pub struct Coalescing {
    /// Bytes received since the last ACK.
    pub unacknowledged: u64,
    /// Set if an ACK is requested once no packet is missing.
    requested: bool,
    /// Set once something has arrived.
    begun: bool,
}

impl Coalescing {
    /// Takes in data. Returns whether its packet is new, and the first packet of the bitmap if an ACK is due: at the
    /// first packet, at duplicates and marks, if one is requested, and after `bytes`.
    pub fn take(
        &mut self,
        ctx: &mut NodeCtx<impl Effects>,
        base: &mut ReceiverBase,
        t: &TransportSpec,
        p: &Packet,
        bytes: u64,
    ) -> (bool, Option<u32>) {
        let (number, marked, before) = (p.seq() as u32, p.has(flag::CE), base.next());
        self.unacknowledged += p.size as u64;
        let is_new = base.take(ctx, t, p);
        let asks = is_new && p.asks_for_ack();
        let mut due = !is_new || marked || asks || !self.begun || self.unacknowledged >= bytes;
        self.begun = true;
        self.requested |= asks;
        if is_new && base.next() > before && base.received.out_of_order() == 0 && self.requested {
            (due, self.requested) = (true, false);
        }
        if due {
            self.unacknowledged = 0;
        }
        (is_new, due.then(|| if marked || asks { number } else { map_from(base, number) }))
    }
}

/// First packet of the bitmap of an ACK for packet `number`: the bitmap ends with it, beyond the first missing packet.
pub fn map_from(base: &ReceiverBase, number: u32) -> u32 {
    number.saturating_sub(MAP - 1).max(base.next() + 1)
}
