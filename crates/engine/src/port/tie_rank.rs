//! Tie ranks of sent packets under [`Ties::Scheduled`](crate::spec::Ties): the order of packets of one size that arrive
//! together, the lowest rank first. The order is that of a simulator with one event list, in which the event inserted
//! first comes first.
//!
//! The arrivals are inserted when their transmissions begin, all at one instant. The cause of each transmission was
//! inserted before: the arrival at an idle port when that packet's own transmission began, the end of the previous
//! transmission when that transmission began. The older the cause, the lower the rank. For equal ages the previous
//! packets decide, and so on, back to the beginning of the younger of two back-to-back chains.

use super::settings::Settings;
use crate::event::packet::{NO_TIE_RANK, Packet, TIMER};
use incast_cc::Time;

/// Positions in a chain that ranks before older ones count up from 0; in one that ranks after them, down from 8190.
const HALF: u16 = 4095;
const LAST: u16 = 2 * HALF;
const PLACE: u16 = 0x1fff;

/// Age of a cause relative to its packet's transmission time, coded by powers of two: longer, equal, then ever shorter.
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

/// Rank of the first packet of a chain, with transmission time `wire` and a cause inserted `lag` ago. Older chains are
/// assumed to send packets with transmission time `before`, as this port did.
fn first(lag: Time, wire: Time, before: Time) -> u16 {
    ago(lag, wire) | if lag > before { 0 } else { LAST }
}

/// Rank of a packet back-to-back after one of rank `before` and transmission time `lag`.
fn next(before: u16, lag: Time, wire: Time) -> u16 {
    let place = before & PLACE;
    ago(lag, wire) | if place < HALF { (place + 1).min(HALF - 1) } else { (place - 1).max(HALF) }
}

/// Tie rank of the latest packet at a port, which determines the next.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct TieRank {
    /// True if the latest arrival found the transmitter busy.
    pub busy: bool,
    /// Rank and transmission time of the last accepted packet.
    rank: u16,
    wire: Time,
}

impl TieRank {
    /// Rank of `packet`, the last accepted one; arrivals are assumed to have come over a link like this one.
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

    /// Full packets at 1 Gb/s over 10 us take 12 us each; the event of an ACK's arrival is 10.4 us old when it fires.
    const FULL: Time = Time(12_016_000);
    const ACK: Time = Time(10_432_000);

    #[test]
    fn what_was_entered_longer_ago_ranks_before() {
        let chain = next(first(Time::NEVER, FULL, Time::ZERO), FULL, FULL);
        assert!(first(Time::NEVER, FULL, FULL) < chain, "a timer, set long before");
        assert!(first(FULL + Time(1), FULL, FULL) < chain, "a packet of the same size, passed on");
        assert!(first(ACK, FULL, FULL) > chain, "the chain's last transmission began before the ACK's");
        // after a fragment of 72 B the cause of the chain's next packet is 0.6 us old
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
        // positions beyond the range saturate without wrapping
        assert!(follow(older, 60_000) < follow(first(ACK, FULL, FULL), 60_000));
    }
}
