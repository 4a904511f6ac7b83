//! Link failures: outages and degradations, with repair.
//!
//! Failure times are known in advance, so a FIFO port still decides everything at a packet's arrival: the end of its
//! transmission at the rates that the link will have, whether a failure hits it, and its arrival time. A failure does
//! not affect the queue: the port sends into a dead link as into a live one, and the packets are lost on the wire.

use super::account::PARTS;
use super::settings::Settings;
use crate::event::interval::Interval;
use crate::event::packet::Packet;
use crate::ids::FlowId;
use crate::spec::{Effect, Failure, LinkSpec, Spec};
use incast_cc::{Rate, Time};
use std::collections::{BTreeMap, VecDeque};
use std::mem::take;

/// Packets lost to failures of the link, counted at the end of their transmission. A FIFO port knows of the loss at
/// arrival, an explicit queue at the end of the transmission.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Taken {
    pub total: u64,
    /// Losses in the measured interval.
    pub measured: u64,
}

/// Failures of one link, in order.
#[derive(Clone, Debug)]
pub struct Faults {
    /// Current and future failures.
    left: Vec<Failure>,
    /// Past failures that changed the rate, in order.
    over: Vec<Failure>,
    /// Latest arrival so far; later packets arrive no earlier.
    latest: Time,
    /// Packets of a FIFO port that will be lost, with the end of their transmission, which may be in the future.
    scheduled_losses: VecDeque<(Time, Packet)>,
    pub(super) taken: Taken,
    /// Flows with a packet that crossed a failure, with the end of its transmission, the earliest one of a flow.
    pub(super) crossed: BTreeMap<FlowId, Time>,
}

impl Faults {
    /// Failures by link, for links that have some; a message if they are invalid.
    pub fn of_links(spec: &Spec) -> Result<BTreeMap<u32, Faults>, String> {
        let mut faults: BTreeMap<u32, Faults> = BTreeMap::new();
        for failure in &spec.failures {
            let Some(link) = spec.links.get(failure.link as usize) else {
                return Err(format!(
                    "a failure of link {}, expected a number below {}",
                    failure.link,
                    spec.links.len()
                ));
            };
            let wrong = |what: &str| Err(format!("a failure of link {} {what}", link.name));
            if failure.from >= failure.until {
                return wrong("ends before it begins");
            }
            if let Effect::Degraded { rate, loss, .. } = failure.effect {
                if rate.is_some_and(|rate| rate.0 == 0) || !(0.0..=1.0).contains(&loss) {
                    return wrong("has a rate of 0, or a loss that is not a probability");
                }
                if rate.is_some() && link.bucket > 0 {
                    return wrong("changes the rate of a token bucket, which is not supported");
                }
            }
            let known = faults.entry(failure.link).or_insert_with(Faults::none);
            known.left.push(failure.clone());
        }
        for (link, faults) in &mut faults {
            faults.left.sort_by_key(|f| f.from);
            if faults.left.windows(2).any(|two| two[1].from < two[0].until) {
                return Err(format!("two failures of link {} overlap", spec.links[*link as usize].name));
            }
            // reversed: the last element is the first failure
            faults.left.reverse();
        }
        Ok(faults)
    }

    fn none() -> Faults {
        Faults {
            left: Vec::new(),
            over: Vec::new(),
            latest: Time::ZERO,
            scheduled_losses: VecDeque::new(),
            taken: Taken::default(),
            crossed: BTreeMap::new(),
        }
    }

    /// Link with its highest rate and lowest delay.
    pub fn quickest(&self, link: &LinkSpec) -> LinkSpec {
        let mut quickest = link.clone();
        for failure in &self.left {
            if let Effect::Degraded { rate, delay, .. } = failure.effect {
                quickest.rate = quickest.rate.max(rate.unwrap_or(link.rate));
                quickest.delay = quickest.delay.min(delay.unwrap_or(link.delay));
            }
        }
        quickest
    }

    pub(super) fn changes_rate(&self) -> bool {
        self.left.iter().any(|f| f.rate().is_some())
    }

    /// Moves failures that ended by `now` out of the current ones.
    fn forget(&mut self, now: Time) {
        while let Some(failure) = self.left.pop_if(|f| f.until <= now) {
            self.over.extend(Some(failure).filter(|f| f.rate().is_some()));
        }
    }

    /// Failure at `time`, if any.
    fn at(&self, time: Time) -> Option<&Failure> {
        self.left.iter().rev().find(|f| time < f.until).filter(|f| f.from <= time)
    }

    /// End of a transmission of `bytes` bytes that begins at `start`, rounded to a picosecond.
    fn end(&self, start: Time, bytes: u64, rate: Rate) -> Time {
        let mut rest = bytes as u128 * PARTS;
        let mut now = start;
        loop {
            let here = self.at(now);
            let rate = here.and_then(Failure::rate).unwrap_or(rate);
            if rate == Rate::INFINITE {
                return now;
            }
            let next = match here {
                Some(failure) => failure.until,
                None => self.left.iter().rev().map(|f| f.from).find(|from| *from > now).unwrap_or(Time::NEVER),
            };
            let until_then = (next - now).0 as u128 * rate.0 as u128;
            if rest <= until_then {
                return now + Time(((rest + rate.0 as u128 / 2) / rate.0 as u128) as u64);
            }
            rest -= until_then;
            now = next;
        }
    }

    /// Bytes that a link of this rate carries in `[from, to)`, in [`PARTS`].
    pub(super) fn carried(&self, from: Time, to: Time, rate: Rate) -> u128 {
        let in_time = |time: Time, rate: Rate| time.0 as u128 * rate.0 as u128;
        let (mut sum, mut usual) = (0u128, to.saturating_sub(from));
        for failure in self.over.iter().chain(&self.left) {
            let Some(rate) = failure.rate() else { continue };
            let time = to.min(failure.until).saturating_sub(from.max(failure.from));
            sum = sum.saturating_add(in_time(time, rate));
            usual -= time;
        }
        sum.saturating_add(in_time(usual, rate))
    }

    /// Transmission time of a packet that begins at `start`, of `size` bytes as the queue counts it.
    pub(super) fn wire_from(&self, start: Time, size: u64, settings: &Settings) -> Time {
        if self.changes_rate() {
            self.end(start, size + settings.overhead as u64, settings.rate) - start
        } else {
            settings.serialization(size)
        }
    }

    /// Arrival time of a packet whose transmission lasts from `start` to `end`, over a link of this delay; `None`:
    /// lost. `draw` is its random number.
    pub(super) fn arrival(&mut self, start: Time, end: Time, delay: Time, draw: impl Fn() -> f64) -> Option<Time> {
        self.forget(start);
        let delay = match self.at(end) {
            Some(Failure { effect: Effect::Degraded { delay: Some(delay), .. }, .. }) => *delay,
            _ => delay,
        };
        let arrival = (end + delay).max(self.latest);
        self.latest = arrival;
        let meets = |f: &Failure| start < f.until && (arrival > f.from || start >= f.from);
        let dead = self.left.iter().any(|f| matches!(f.effect, Effect::Down { .. }) && meets(f));
        let unlucky = || match self.at(start) {
            Some(Failure { effect: Effect::Degraded { loss, .. }, .. }) => *loss > 0.0 && draw() < *loss,
            _ => false,
        };
        if dead || unlucky() { None } else { Some(arrival) }
    }

    /// Notes that a packet of `flow`, transmitted from `start` to `end`, crossed a failure, if it did: it was lost to
    /// one, or the link was degraded meanwhile.
    pub(super) fn note_crossing(&mut self, flow: FlowId, start: Time, end: Time, lost: bool) {
        let meets = |f: &Failure| start < f.until && (end > f.from || start >= f.from);
        if lost || self.left.iter().any(meets) {
            let first = self.crossed.entry(flow).or_insert(end);
            *first = end.min(*first);
        }
    }

    /// Counts the loss of a packet whose transmission ends at `end`.
    pub(super) fn lose(&mut self, end: Time, interval: &Interval) {
        self.taken.total += 1;
        self.taken.measured += interval.holds(end) as u64;
    }

    /// Counts `packet` of a FIFO port as lost, although its transmission ends only at `departure`.
    pub(super) fn schedule_loss(&mut self, packet: &Packet, now: Time, departure: Time, interval: &Interval) {
        self.lose(departure, interval);
        while self.scheduled_losses.front().is_some_and(|(end, _)| *end <= now) {
            self.scheduled_losses.pop_front();
        }
        self.scheduled_losses.push_back((departure, *packet));
    }

    /// End of the last of these transmissions, as far as known.
    pub(super) fn last_scheduled_loss(&self) -> Option<Time> {
        self.scheduled_losses.back().map(|(departure, _)| *departure)
    }

    /// Ends the run at `end`: packets to be lost later are in flight instead, and are no longer counted as lost.
    pub(super) fn spare(&mut self, end: Time, interval: &Interval) -> impl Iterator<Item = (Time, Packet)> {
        let taken = &mut self.taken;
        take(&mut self.scheduled_losses).into_iter().filter(move |(departure, _)| *departure >= end).inspect(
            |(departure, _)| {
                taken.total -= 1;
                taken.measured -= interval.holds(*departure) as u64;
            },
        )
    }
}
