//! Neighbour discovery (RFC 4861, 7; RFC 4862, 5.4): stations resolve the neighbours that they send to.
//!
//! As in ns-3.43's `ndisc-cache` and `icmpv6-l4-protocol`, with two differences. There a packet looks up its neighbour
//! when IP sends it, here when it reaches the head of its port's queue. If a neighbour solicits this station while
//! packets wait for that neighbour, they are sent once it advertises itself; ns-3 drops them.

use super::Cell;
use super::agenda::Kind;
use super::datagrams::{Content, Datagram};
use super::frame::{ALL, Part};
use super::frames::Frames;
use super::neighbours::{Clock, Message, State, Step};
use super::station::Queued;
use crate::hash::pick;
use crate::spec::DiscoverySpec;
use incast_cc::Time;

/// Time after which duplicate address detection is over and routers are solicited (RFC 4862, RetransTimer).
const CLAIMED: Time = Time::s(1);

impl Cell {
    fn discovery(&self) -> Option<DiscoverySpec> {
        self.spec.framing.adaptation.as_ref().and_then(|a| a.discovery)
    }

    /// Lets stations claim their addresses at the start of a run, and then look for routers.
    pub(super) fn configure(&mut self) {
        let Some(spec) = self.discovery() else { return };
        for station in 0..self.stations.len() as u16 {
            self.stations[station as usize].neighbours.reachable = spec.reachable;
            for _ in 0..spec.addresses {
                let at = self.jitter(station, &spec);
                self.plan(at, Kind::Discover, station, Step::Claim.number());
            }
            if spec.router_solicitations > 0 && !self.spec.stations[station as usize].routes {
                let first = if spec.addresses > 0 { CLAIMED } else { Time::ZERO };
                let jitter = self.jitter(station, &spec);
                self.stations[station as usize].neighbours.router = CLAIMED;
                self.plan(first + jitter, Kind::Discover, station, Step::Router(0).number());
            }
        }
    }

    fn jitter(&mut self, station: u16, spec: &DiscoverySpec) -> Time {
        Time::ms(pick(self.draw(station), spec.jitter_ms + 1) as u64)
    }

    /// True if the station knows the neighbour that the datagram is for. Otherwise the datagram waits, and may be lost.
    pub(super) fn is_known(&mut self, station: u16, to: u16, datagram: u32, now: Time) -> bool {
        let Some(spec) = self.discovery() else { return true };
        let neighbours = &mut self.stations[station as usize].neighbours;
        let Some(own) = neighbours.get(to, now) else {
            neighbours.add(to, State::Incomplete).waiting.push_back(datagram);
            self.solicit(station, to, now, &spec);
            self.set(station, to, Clock::Solicit, now.saturating_add(spec.interval));
            return false;
        };
        match own.state {
            State::Reachable | State::Delay => true,
            State::Stale => {
                own.state = State::Delay;
                self.set(station, to, Clock::Delay, now.saturating_add(spec.delay));
                true
            }
            State::Incomplete | State::Probe => {
                own.waiting.push_back(datagram);
                if own.waiting.len() > spec.waiting as usize
                    && let Some(oldest) = own.waiting.pop_front()
                {
                    self.give_up(oldest, false);
                }
                false
            }
        }
    }

    /// Runs a step of neighbour discovery.
    pub(super) fn discover(&mut self, station: u16, step: Step, now: Time) {
        let Some(spec) = self.discovery() else { return };
        match step {
            Step::Solicit(to) => self.send(station, ALL, Message::Solicit(to), now),
            Step::Claim => self.send(station, ALL, Message::Claim, now),
            Step::Router(number) => {
                self.send(station, ALL, Message::Router, now);
                if (number as u32) + 1 < spec.router_solicitations {
                    self.plan_router(station, number, now);
                }
            }
            Step::Timer(to, timer) => self.timer(station, to, timer, now, &spec),
        }
    }

    /// Plans the next router solicitation: after about one second, two, four ... as in ns-3.43, whose first interval is
    /// the time of the first one and not its attribute of 4 s.
    fn plan_router(&mut self, station: u16, number: u16, now: Time) {
        let thousandths = if number == 0 { 900 } else { 1900 } + pick(self.draw(station), 201) as u64;
        let neighbours = &mut self.stations[station as usize].neighbours;
        neighbours.router = Time((neighbours.router.0 / 1000).saturating_mul(thousandths));
        let next = now.saturating_add(neighbours.router);
        self.plan(next, Kind::Discover, station, Step::Router(number + 1).number());
    }

    /// Handles the end of a neighbour's timer, if the timer is still the current one.
    fn timer(&mut self, station: u16, to: u16, timer: u32, now: Time, spec: &DiscoverySpec) {
        let neighbours = &mut self.stations[station as usize].neighbours;
        let Some(own) = neighbours.get(to, now).filter(|own| own.timer == timer) else { return };
        let max = if own.clock == Some(Clock::Solicit) { spec.retries } else { spec.probes };
        match own.clock {
            None => {}
            Some(Clock::Delay) if max > 0 => {
                (own.state, own.solicitations) = (State::Probe, 1);
                self.send(station, to, Message::Solicit(to), now);
                self.set(station, to, Clock::Probe, now.saturating_add(spec.interval));
            }
            Some(clock) if own.solicitations < max && clock != Clock::Delay => {
                own.solicitations += 1;
                match clock {
                    Clock::Solicit => self.solicit(station, to, now, spec),
                    _ => self.send(station, to, Message::Solicit(to), now),
                }
                self.set(station, to, clock, now.saturating_add(spec.interval));
            }
            Some(clock) => {
                // ns-3 returns the oldest one as unreachable
                for (i, datagram) in neighbours.remove(to).into_iter().enumerate() {
                    self.give_up(datagram, i == 0 && clock == Clock::Solicit);
                }
            }
        }
    }

    /// Sets the timer of a neighbour.
    fn set(&mut self, station: u16, to: u16, clock: Clock, at: Time) {
        let neighbours = &mut self.stations[station as usize].neighbours;
        neighbours.timers += 1;
        let timer = neighbours.timers;
        if let Some(own) = neighbours.known.iter_mut().find(|n| n.station == to) {
            (own.clock, own.timer) = (Some(clock), timer);
            self.plan(at, Kind::Discover, station, Step::Timer(to, timer).number());
        }
    }

    /// Lets a station solicit a neighbour, after some milliseconds.
    fn solicit(&mut self, station: u16, to: u16, now: Time, spec: &DiscoverySpec) {
        let at = now + self.jitter(station, spec);
        self.plan(at, Kind::Discover, station, Step::Solicit(to).number());
    }

    /// Lets a station send a message, by way of its queue.
    fn send(&mut self, station: u16, to: u16, message: Message, now: Time) {
        self.stations[station as usize].count.discovery += 1;
        let frames = Frames::of_message(&self.spec.framing, message.size());
        let datagram = self.datagrams.add(Content::Message(message), (station, to), frames, now);
        self.queue(station, datagram, now);
    }

    /// Queues the frames of a datagram at its station, before packets that came later.
    fn queue(&mut self, station: u16, place: u32, now: Time) {
        let Some(Datagram { frames, to, since, .. }) = self.datagrams.get(place).map(|own| &*own) else { return };
        let (frames, to, since) = (*frames, *to, *since);
        let to = self.next_hop(to);
        for index in 0..frames.count {
            let part = Part { datagram: place, index, to, flood: None };
            let queued = Queued { part, psdu: frames.psdu(index), since };
            self.stations[station as usize].queued.push_back(queued);
        }
        self.resume(now, station);
    }

    /// Drops a datagram that waits for a neighbour.
    fn give_up(&mut self, datagram: u32, unreachable: bool) {
        if let Some(datagram) = self.datagrams.take(datagram) {
            self.lose(datagram, unreachable);
        }
    }

    /// Handles a message received by a station.
    pub(super) fn on_message(&mut self, station: u16, from: u16, message: Message, now: Time) {
        let neighbours = &mut self.stations[station as usize].neighbours;
        match message {
            Message::Solicit(target) if target == station => {
                match neighbours.get(from, now) {
                    // the timer goes on, as in ns-3
                    Some(own) if own.state == State::Incomplete => own.state = State::Stale,
                    Some(_) => {}
                    None => {
                        neighbours.add(from, State::Stale);
                    }
                }
                self.send(station, from, Message::Advertise, now);
            }
            Message::Advertise => {
                let Some(own) = neighbours.get(from, now) else { return };
                own.stop();
                for datagram in own.is_reached(now) {
                    self.queue(station, datagram, now);
                }
            }
            Message::Solicit(_) | Message::Claim | Message::Router => {}
        }
    }
}
