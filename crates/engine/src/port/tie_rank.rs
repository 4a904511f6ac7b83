//! The tie ranks of what a port sends, where equal times ask for them ([`Ties::Scheduled`](crate::spec::Ties)): how
//! packets of one size are told apart that arrive together, the least rank first, as a simulator does that has one list
//! of events, what was entered first before the rest.
//!
//! Arrivals are entered when their transmissions begin, all of these at one instant. What made a transmission
//! begin was entered before: the arrival at an idle port when that packet's own began, the end of the
//! transmission before when that began. The longer ago, the earlier the rank. Where that is equal the
//! packets before decide, and so on, back to where the younger of two chains without a pause began.

use super::settings::Settings;
use crate::event::packet::{NO_TIE_RANK, Packet, TIMER};
use incast_cc::Time;

/// Places in a chain that has begun before older ones, from 0 up; in one that has begun after them, from
/// 8190 down.
const HALF: u16 = 4095;
const LAST: u16 = 2 * HALF;
const PLACE: u16 = 0x1fff;

/// How long ago a cause was entered against how long its packet takes, by powers of two:
/// longer, as long, and then shorter and shorter.
fn ago(lag: Time, wire: Time) -> u16 {
    let times = (wire / lag.max(Time::ps(1))).max(1);
    let code = if lag > wire {
        0
    } else if lag == wire {
        1
    } else {
        (times.ilog2() as u16 + 2).min(6)
    };
    code << 13
}

/// The rank of a packet that begins a chain and takes `wire`: what set it going was entered `lag` ago.
/// Older chains are taken to send what this port sent `before`.
fn first(lag: Time, wire: Time, before: Time) -> u16 {
    ago(lag, wire) | if lag > before { 0 } else { LAST }
}

/// The rank of what follows one of rank `before`, that took `lag`, without a pause.
fn next(before: u16, lag: Time, wire: Time) -> u16 {
    let place = before & PLACE;
    ago(lag, wire) | if place < HALF { (place + 1).min(HALF - 1) } else { (place - 1).max(HALF) }
}

/// The tie rank of the latest packet at a port, for the next.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct TieRank {
    /// The latest arrival found the transmitter busy.
    pub busy: bool,
    /// Rank of the packet accepted last, and its time on the wire.
    rank: u16,
    wire: Time,
}

impl TieRank {
    /// The rank of `packet`, accepted last; arrivals are taken to have come over a link like this one.
    pub(super) fn next(&mut self, packet: &Packet, settings: &Settings) -> u16 {
        if settings.bucket > Time::ZERO || settings.serialization(1) == Time::ZERO {
            return NO_TIE_RANK;
        }
        let wire = |size: u16| settings.serialization(size as u64 + settings.framing as u64);
        let own = wire(packet.size);
        self.rank = if self.busy {
            next(self.rank, self.wire, own)
        } else {
            let lag = match if packet.hop == 0 { packet.cause() } else { packet.size } {
                TIMER => Time::NEVER,
                cause => settings.delay + wire(cause),
            };
            first(lag, own, self.wire)
        };
        self.wire = own;
        self.rank
    }
}

#[cfg(test)]
mod tests {
    use super::{first, next};
    use incast_cc::Time;

    /// Full packets at 1 Gb/s over 10 us: 12 us each, an ACK is 10.4 us old when it is taken in.
    const FULL: Time = Time(12_016_000);
    const ACK: Time = Time(10_432_000);

    #[test]
    fn what_was_entered_longer_ago_ranks_before() {
        let chain = next(first(Time::NEVER, FULL, Time::ZERO), FULL, FULL);
        assert!(first(Time::NEVER, FULL, FULL) < chain, "a timer, set long before");
        assert!(first(FULL + Time(1), FULL, FULL) < chain, "a packet of the same size, passed on");
        assert!(first(ACK, FULL, FULL) > chain, "the chain's last transmission began before the ACK's");
        // behind a fragment of 72 B the chain's next packet was set going 0.6 us ago
        assert!(first(ACK, FULL, Time(592_000)) < next(chain, Time(592_000), FULL));
    }

    #[test]
    fn chains_keep_the_order_they_met_in() {
        let follow = |rank, n| (0..n).fold(rank, |t, _| next(t, FULL, FULL));
        let older = first(Time::NEVER, FULL, FULL);
        for packets in [1, 10, 1000] {
            assert!(follow(first(FULL + Time(1), FULL, FULL), packets) < follow(older, packets + 1), "{packets}");
            assert!(follow(first(ACK, FULL, FULL), packets) > follow(older, packets + 1), "{packets}");
        }
        // beyond what is counted nothing turns over
        assert!(follow(older, 60_000) < follow(first(ACK, FULL, FULL), 60_000));
    }
}
