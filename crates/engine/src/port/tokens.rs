//! Credit shaping at an explicit port (ExpressPass, SIGCOMM 2017): a token bucket limits the first class, which
//! precedes all others. If only credits wait and tokens are missing, the time at which there are enough is an event.
//!
//! Source: the authors' `XPassDropTail` (kaist-ina/ns2-xpass f4e38bc), which counts tokens in whole bytes; here they
//! are exact.

use super::settings::Settings;
use crate::event::packet::Packet;
use crate::spec::CreditShaping;
use incast_cc::Time;

/// Special queue number: credits wait for tokens.
pub(super) const NOT_YET: usize = usize::MAX;

/// Task of the transmitter other than sending packets.
#[derive(Clone, Debug)]
pub(super) enum TransmitterTask {
    /// Nothing.
    Nothing,
    /// Pause frame in transmission, with its start.
    Frame(Packet, Time),
    /// Time of the event at which there are tokens for the credit at the head of its queue. Other packets may be sent
    /// until then.
    Tokens(Time),
}

impl TransmitterTask {
    /// True while it sends a pause frame.
    pub(super) fn is_frame(&self) -> bool {
        matches!(self, TransmitterTask::Frame(..))
    }

    /// True if there is such a task.
    pub(super) fn is_pending(&self) -> bool {
        !matches!(self, TransmitterTask::Nothing)
    }
}

/// Token bucket: a credit costs (transmission time x `per_wire`) tokens, and (time x `per_time`) tokens flow in. So
/// credits get the share `per_time / per_wire` of the link.
#[derive(Clone, Debug)]
pub(super) struct Tokens {
    per_time: u64,
    per_wire: u64,
    max: u64,
    level: u64,
    since: Time,
    /// Time at which there are enough for the last refused credit.
    pub enough_at: Time,
}

impl Tokens {
    /// Full bucket of a port with these settings.
    pub(super) fn new(shaping: &CreditShaping, settings: &Settings) -> Tokens {
        let added = (settings.framing + settings.overhead) as u64;
        let (credit, packet) = (shaping.credit as u64 + added, shaping.packet as u64 + added);
        let one = settings.serialization(shaping.credit as u64 + settings.framing as u64);
        let per_wire = credit + packet;
        let max = one.0.saturating_mul(shaping.burst as u64).saturating_mul(per_wire);
        Tokens { per_time: credit, per_wire, max, level: max, since: Time::ZERO, enough_at: Time::ZERO }
    }

    /// Takes the tokens of a credit with transmission time `wire`, if there are enough at `now`. A credit larger than
    /// the bucket takes a full bucket.
    pub(super) fn take(&mut self, now: Time, wire: Time) -> bool {
        let refill = (now - self.since).0.saturating_mul(self.per_time);
        (self.level, self.since) = (self.level.saturating_add(refill).min(self.max), now);
        let costs = wire.0.saturating_mul(self.per_wire).min(self.max);
        let Some(rest) = self.level.checked_sub(costs) else {
            self.enough_at = now.saturating_add(Time((costs - self.level).div_ceil(self.per_time)));
            return false;
        };
        self.level = rest;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Discipline, Limit, LinkSpec, Loss, QueueSpec, Ties};
    use incast_cc::Rate;

    /// Tokens at 10 Gb/s for credits of 84 bytes and packets of 1538, and the transmission time of `bytes`.
    fn tokens(overhead: u32, bytes: u64) -> (Tokens, Time) {
        let (delay, name, loss) = (Time::us(1), "a>b".into(), Loss::None);
        let rate = Rate::gbps(10);
        let (from, to, tick) = (0, 1, Time::ZERO);
        let link = LinkSpec { from, to, rate, delay, tick, overhead, bucket: 0, queue: 0, loss, cell: None, name };
        let queue = QueueSpec {
            discipline: Discipline::DropTail,
            limit: Limit::None,
            device: 0,
            count_in_service: false,
            count_overhead: false,
            explicit: true,
        };
        let settings = Settings::new(&link, &queue, Ties::Hash);
        let shaping = CreditShaping { credit: 84, packet: 1538, burst: 2 };
        (Tokens::new(&shaping, &settings), settings.serialization(bytes))
    }

    #[test]
    fn credits_have_the_share_that_leaves_the_rest_to_what_they_let_go() {
        let (mut own, wire) = tokens(0, 84);
        // two at once; then one in the time of 84 + 1538 bytes
        let now = Time::us(5);
        assert_eq!([own.take(now, wire), own.take(now, wire), own.take(now, wire)], [true, true, false]);
        assert_eq!(own.enough_at, now + Time(1622 * 800));
        // requested before and at that time
        let (before, at) = (now + Time(1622 * 800 - 1), own.enough_at);
        assert!(!own.take(before, wire) && own.enough_at == at && own.take(at, wire) && !own.take(at, wire));
        // the bucket holds at most two, however long the idle time
        let late = Time::ms(7);
        assert!(own.take(late, wire) && own.take(late, wire) && !own.take(late, wire));
    }

    #[test]
    fn what_the_link_adds_counts_for_both() {
        let (mut own, wire) = tokens(38, 84);
        assert!(own.take(Time::ZERO, wire) && own.take(Time::ZERO, wire) && !own.take(Time::ZERO, wire));
        assert_eq!(own.enough_at, Time((1622 + 76) * 800));
        // credits of other sizes: their bytes count
        let (mut own, wire) = tokens(0, 76);
        assert!(own.take(Time::ZERO, wire) && own.take(Time::ZERO, wire) && !own.take(Time::ZERO, wire));
        // of 2 x 84 bytes of tokens 16 are left: 60 are missing, at 84 per 1622 x 0.8 ns
        assert_eq!(own.enough_at, Time((60 * 1622 * 800_u64).div_ceil(84)));
        // a credit larger than the bucket takes all of it
        let (mut own, wire) = tokens(0, 400);
        assert!(own.take(Time::ZERO, wire) && !own.take(Time::ZERO, wire) && own.enough_at == Time(2 * 1622 * 800));
    }
}
