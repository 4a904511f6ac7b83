//! Neighbour cache of a station, and the messages of neighbour discovery (RFC 4861, 7.3.2).

use crate::spec::MAX_DISCOVERY;
use incast_cc::Time;
use std::collections::VecDeque;

/// A message of neighbour discovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    /// Neighbour solicitation for this station.
    Solicit(u16),
    /// Neighbour advertisement.
    Advertise,
    /// Neighbour solicitation of a station for one of its own addresses.
    Claim,
    /// Router solicitation.
    Router,
}

impl Message {
    /// Bytes of the message in a frame, after 6LoWPAN's compression, as measured in ns-3.43.
    pub fn size(self) -> u32 {
        match self {
            Message::Solicit(_) => 60,
            Message::Advertise => MAX_DISCOVERY,
            Message::Claim => 44,
            Message::Router => 23,
        }
    }
}

/// State of a neighbour (RFC 4861, 7.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Solicited, without an answer so far.
    Incomplete,
    /// Confirmed recently.
    Reachable,
    /// Not confirmed recently.
    Stale,
    /// Not confirmed recently, and a packet has been sent to it.
    Delay,
    /// Probed, without an answer so far.
    Probe,
}

/// Purpose of a neighbour's timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// Solicit again.
    Solicit,
    /// Send the first probe.
    Delay,
    /// Probe again.
    Probe,
}

/// A neighbour.
#[derive(Clone, Debug)]
pub struct Neighbour {
    pub(super) station: u16,
    pub(super) state: State,
    /// Time of the latest confirmation.
    pub(super) confirmed: Time,
    /// Purpose and number of the current timer. Steps with another number are void.
    pub(super) clock: Option<Clock>,
    pub(super) timer: u32,
    pub(super) solicitations: u32,
    /// Places of the datagrams waiting for it, oldest first.
    pub(super) waiting: VecDeque<u32>,
}

impl Neighbour {
    pub(super) fn stop(&mut self) {
        (self.clock, self.timer, self.solicitations) = (None, 0, 0);
    }

    pub(super) fn is_reached(&mut self, now: Time) -> VecDeque<u32> {
        (self.state, self.confirmed) = (State::Reachable, now);
        std::mem::take(&mut self.waiting)
    }
}

/// Neighbour cache of a station.
#[derive(Clone, Debug, Default)]
pub struct Neighbours {
    pub(super) known: Vec<Neighbour>,
    pub(super) reachable: Time,
    /// Number of timers set so far.
    pub(super) timers: u32,
    /// Interval to the next router solicitation.
    pub(super) router: Time,
}

impl Neighbours {
    /// A neighbour. Its state may have changed with time.
    pub(super) fn get(&mut self, station: u16, now: Time) -> Option<&mut Neighbour> {
        let reachable = self.reachable;
        let own = self.known.iter_mut().find(|n| n.station == station)?;
        if own.state == State::Reachable && now >= own.confirmed.saturating_add(reachable) {
            own.state = State::Stale;
        }
        Some(own)
    }

    pub(super) fn add(&mut self, station: u16, state: State) -> &mut Neighbour {
        let place = self.known.len();
        let (confirmed, waiting) = (Time::ZERO, VecDeque::new());
        self.known.push(Neighbour { station, state, confirmed, clock: None, timer: 0, solicitations: 0, waiting });
        &mut self.known[place]
    }

    pub(super) fn remove(&mut self, station: u16) -> VecDeque<u32> {
        let Some(place) = self.known.iter().position(|n| n.station == station) else { return VecDeque::new() };
        self.known.remove(place).waiting
    }

    /// Confirms a neighbour, on receiving from it.
    pub fn confirm(&mut self, from: u16, now: Time) {
        if let Some(own) = self.get(from, now)
            && own.state == State::Reachable
        {
            own.confirmed = now;
        }
    }
}

/// A step of neighbour discovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Solicit a neighbour.
    Solicit(u16),
    /// Claim an address.
    Claim,
    /// Solicit routers; number of the solicitation.
    Router(u16),
    /// Handle the end of a neighbour's timer: station and number of the timer.
    Timer(u16, u32),
}

impl Step {
    /// Encodes the step as a number of the agenda.
    pub fn number(self) -> u64 {
        match self {
            Step::Solicit(to) => (to as u64) << 32,
            Step::Claim => 1 << 48,
            Step::Router(number) => 2 << 48 | (number as u64) << 32,
            Step::Timer(to, timer) => 3 << 48 | (to as u64) << 32 | timer as u64,
        }
    }

    /// Decodes a number of the agenda.
    pub fn of(number: u64) -> Step {
        let to = (number >> 32) as u16;
        match number >> 48 {
            0 => Step::Solicit(to),
            1 => Step::Claim,
            2 => Step::Router(to),
            _ => Step::Timer(to, number as u32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Step;

    #[test]
    fn steps_are_numbers_of_the_agenda() {
        for step in [Step::Solicit(7), Step::Claim, Step::Router(3), Step::Timer(2_047, u32::MAX)] {
            assert_eq!(Step::of(step.number()), step);
        }
    }
}
