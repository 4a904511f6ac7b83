//! Credit rate of a host in a fabric with an oversubscribed core (RCCC). Packets trimmed in the core, and marks, lower
//! the share of its link rate at which a host gives credit. Intervals without them raise it.
//! Pure: creates no events. Intervals that have ended are evaluated on the next call.
//!
//! Source: `oversubscribed_cc.cpp` of ultraethernet/uet-htsim 40ccb05.

use crate::hash::{self, purpose};
use crate::ids::NodeId;
use crate::spec::Uet;
use incast_cc::Time;

/// Mean share of marked packets above which the rate falls, and gain of the decrease on the excess.
const TARGET: f64 = 0.3;
const DECREASE: f64 = 0.5;
/// First increase. It doubles with every interval without a mark.
const INCREASE: f64 = 0.01;
/// Weight of an interval in the mean share of marked packets.
const GAIN: f64 = 0.5;
/// Round-trip times without a packet after which the rate returns to the link rate. An interval without marks doubles
/// the increase, so the rate would be back after a few intervals anyway.
const REST: u64 = 512;
/// Lower bounds of the rate: share of the core's capacity per host, and absolute.
const SHARE: f64 = 0.9;
const MIN: f64 = 0.01;

/// Fate of a packet on its way to the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Delivered untrimmed.
    Good,
    /// Delivered untrimmed with a mark.
    Marked,
    /// Trimmed at the last hop.
    TrimmedAtLastHop,
    /// Trimmed before the last hop.
    TrimmedInCore,
}

/// Packets of an interval.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    all: u32,
    marked: u32,
    trimmed: u32,
    trimmed_in_core: u32,
}

/// Credit rate, as a share of the link rate.
#[derive(Clone, Debug)]
pub struct CoreRate {
    rate: f64,
    /// Mean share of marked packets.
    marks: f64,
    /// Consecutive increases.
    increases: u32,
    counts: Counts,
    /// End of the current interval, and its number.
    end: Time,
    number: u64,
    /// Round-trip time of the fabric: the longest of the host's flows.
    rtt: Time,
}

impl Default for CoreRate {
    fn default() -> CoreRate {
        let counts = Counts::default();
        CoreRate { rate: 1.0, marks: 0.0, increases: 0, counts, end: Time::ZERO, number: 0, rtt: Time::ZERO }
    }
}

impl CoreRate {
    /// Advances time at host `node`, for a flow whose fabric has round-trip time `rtt` (at least [`Uet::MIN_RTT`]).
    /// The core has one `ratio`th of the hosts' capacity.
    pub fn pass(&mut self, (seed, node): (u64, NodeId), now: Time, rtt: Time, ratio: f64) {
        self.rtt = self.rtt.max(rtt).max(Uet::MIN_RTT);
        if now.saturating_sub(self.end).0 / REST > self.rtt.0 {
            *self = CoreRate { end: now, number: self.number + 1, rtt: self.rtt, ..CoreRate::default() };
        }
        while self.end <= now {
            if self.number > 0 {
                self.adapt(ratio);
            }
            // random lengths, so that hosts do not change their rates in step
            let part = 0.75 + hash::uniform(seed, purpose::CORE_RATE, node.0 as u64, self.number) / 2.0;
            self.end = self.end.saturating_add(Time((part * 1.5 * self.rtt.0 as f64) as u64));
            self.number += 1;
        }
    }

    /// Counts a packet in the current interval.
    pub fn count(&mut self, fate: Fate) {
        self.counts.all += 1;
        match fate {
            Fate::Good => {}
            Fate::Marked => self.counts.marked += 1,
            Fate::TrimmedAtLastHop => self.counts.trimmed += 1,
            Fate::TrimmedInCore => {
                self.counts.trimmed += 1;
                self.counts.trimmed_in_core += 1;
            }
        }
    }

    /// Share of the link rate at which the host gives credit.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Ends an interval.
    fn adapt(&mut self, ratio: f64) {
        let Counts { all, marked, trimmed, trimmed_in_core } = std::mem::take(&mut self.counts);
        let whole = all - trimmed;
        let share = if whole > 0 { marked as f64 / whole as f64 } else { 0.0 };
        self.marks = self.marks * (1.0 - GAIN) + GAIN * share;
        let falls = trimmed_in_core > 0 || self.marks > TARGET;
        if trimmed_in_core > 0 {
            self.rate -= trimmed_in_core as f64 / all as f64;
        }
        if self.marks > TARGET {
            self.rate *= 1.0 - (self.marks - TARGET) * DECREASE;
        }
        if falls {
            self.increases = 0;
        } else {
            let doubled = if marked == 0 { 2_f64.powi(self.increases.min(64) as i32) } else { 1.0 };
            self.rate += INCREASE * doubled;
            self.increases += 1;
        }
        self.rate = self.rate.clamp((SHARE / ratio).max(MIN), 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rate after an interval of `all` packets, of which some were marked, trimmed at the last hop, or trimmed in the
    /// core.
    fn after(rate: &mut CoreRate, all: u32, (marked, at_end, in_core): (u32, u32, u32), ratio: f64) -> f64 {
        let fates = [(Fate::Marked, marked), (Fate::TrimmedAtLastHop, at_end), (Fate::TrimmedInCore, in_core)];
        fates.into_iter().for_each(|(fate, n)| (0..n).for_each(|_| rate.count(fate)));
        (0..all - marked - at_end - in_core).for_each(|_| rate.count(Fate::Good));
        rate.adapt(ratio);
        (rate.rate() * 1e6).round() / 1e6
    }

    #[test]
    fn packets_cut_in_the_core_lower_the_rate_and_quiet_intervals_double_the_increase() {
        let mut rate = CoreRate::default();
        let cut = after(&mut rate, 100, (0, 0, 20), 4.0);
        let quiet = [(); 6].map(|()| after(&mut rate, 100, (0, 0, 0), 4.0));
        assert_eq!((cut, quiet), (0.8, [0.81, 0.83, 0.87, 0.95, 1.0, 1.0]));
        // trimming at the last hop is caused by the receiver's own queue
        assert_eq!(after(&mut rate, 100, (0, 50, 0), 4.0), 1.0);
    }

    #[test]
    fn marks_lower_the_rate_by_what_their_mean_share_exceeds_and_hold_back_its_increase() {
        let mut rate = CoreRate::default();
        // 80 of 80 complete packets are marked: a mean share of 0.5, then of 0.75
        assert_eq!(after(&mut rate, 100, (80, 20, 0), 4.0), 0.9);
        assert_eq!(after(&mut rate, 80, (80, 0, 0), 4.0), 0.6975);
        // mean share 0.375 with no packets, then 0.1875: the first increase, then the same again with one mark
        assert_eq!(after(&mut rate, 0, (0, 0, 0), 4.0), 0.671344);
        assert_eq!(after(&mut rate, 0, (0, 0, 0), 4.0), 0.681344);
        assert_eq!(after(&mut rate, 100, (1, 0, 0), 4.0), 0.691344);
    }

    #[test]
    fn the_rate_stays_above_nine_tenths_of_what_the_core_has() {
        let min = |ratio| after(&mut CoreRate::default(), 10, (0, 0, 10), ratio);
        assert_eq!([min(4.0), min(1.0), min(1e3)], [0.225, 0.9, 0.01]);
    }

    #[test]
    fn intervals_are_one_and_a_half_round_trips_on_average_and_made_up_for() {
        let (rtt, hosts) = (Time::us(10), 200);
        let mut ended = 0;
        for node in (0..hosts).map(NodeId) {
            let (mut at_once, mut often) = (CoreRate::default(), CoreRate::default());
            at_once.pass((1, node), Time::us(1500), rtt, 4.0);
            (0..=1500).for_each(|us| often.pass((1, node), Time::us(us), rtt, 4.0));
            assert_eq!((at_once.number, at_once.end), (often.number, often.end));
            ended += at_once.number - 1;
        }
        // 100 each; the first interval lasts 0.75 to 1.25 of the mean
        assert!((hosts as u64 * 99..=hosts as u64 * 101).contains(&ended), "{ended}");
    }

    #[test]
    fn after_a_long_rest_or_without_a_round_trip_time_passes_at_once() {
        let (day, node) = (Time::s(86_400), NodeId(0));
        let min = Uet::MIN_RTT;
        let mut rate = CoreRate::default();
        rate.pass((1, node), Time::ZERO, Time::ZERO, 4.0);
        assert!(rate.end >= min);
        after(&mut rate, 10, (0, 0, 5), 4.0);
        rate.pass((1, node), day, Time::ps(1), 4.0);
        assert_eq!((rate.rate(), rate.number), (1.0, 3));
        assert!(rate.end > day && rate.end < day + min * 2);
        // the lowest rate grows back to 1 within such a rest
        let mut often = CoreRate { rate: 0.225, marks: 1.0, ..CoreRate::default() };
        often.pass((1, node), min * REST, min, 4.0);
        assert_eq!(often.rate(), 1.0);
    }
}
