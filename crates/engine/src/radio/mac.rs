//! Unslotted CSMA-CA, acknowledgements and retries of a cell's stations (IEEE 802.15.4-2011, 5.1.1.4, 5.1.6.4).

use super::Cell;
use super::Effect;
use super::agenda::Kind;
use super::frame::{ALL, Flood, Frame, Part, What};
use super::station::{Sends, State};
use super::timing::{self, ACK_WAIT, ASSESSMENT, BACKOFF, TURNAROUND};
use crate::hash::pick;
use incast_cc::Time;

/// Result of sending a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    /// Acknowledged, or sent without a request for an acknowledgement.
    Delivered,
    AccessFailure,
    Unacknowledged,
}

impl Cell {
    /// Starts channel access of a station, for the frame in service or else for the next one, if any. Begins once the
    /// station can receive and the space after the last frame is over.
    pub(super) fn start(&mut self, station: u16, now: Time) {
        let mac = self.spec.mac;
        let mesh = self.spec.framing.adaptation.as_ref().and_then(|a| a.mesh);
        let s = &mut self.stations[station as usize];
        let had = s.service.is_some();
        if !s.serve(now) {
            return;
        }
        let Some(service) = &mut s.service else { return };
        if !had
            && service.part.flood.is_none()
            && let Some(mesh) = mesh
        {
            let serial = s.next_serial;
            s.next_serial = serial.wrapping_add(1);
            service.part.flood = Some(Flood { origin: station, left: mesh.hops as u8, serial });
        }
        if mac.reception_restarts || service.busy == 0 {
            (service.busy, service.exponent) = (0, mac.least_exponent);
        }
        let exponent = service.exponent;
        s.count.accesses += 1;
        s.enter(State::Access);
        let begins = now.max(s.space_until).max(s.receives_from);
        self.back_off(station, begins, exponent);
    }

    /// Starts a random backoff of a station, followed by an assessment of the channel.
    fn back_off(&mut self, station: u16, from: Time, exponent: u32) {
        let periods = pick(self.draw(station), 1 << exponent) as u64;
        self.plan_in_state(from + BACKOFF * periods + ASSESSMENT, Kind::Assessed, station);
    }

    /// Called when an assessment ends.
    pub(super) fn assessed(&mut self, station: u16, now: Time) {
        let busy = self.channel.is_busy(station, now);
        let mac = self.spec.mac;
        let s = &mut self.stations[station as usize];
        s.count.assessments += 1;
        let Some(service) = &mut s.service else { return };
        if !busy {
            s.enter(State::Turning(Sends::Data));
            self.channel.stop_reception(station, now);
            return self.plan_in_state(now + TURNAROUND, Kind::Begin, station);
        }
        s.count.busy_assessments += 1;
        service.busy += 1;
        service.exponent = (service.exponent + 1).min(mac.most_exponent);
        if service.busy <= mac.backoffs {
            let exponent = service.exponent;
            return self.back_off(station, now, exponent);
        }
        s.enter(State::Idle);
        self.finish(station, Outcome::AccessFailure, now);
    }

    /// Called when the transceiver begins to transmit a frame.
    pub(super) fn begin(&mut self, station: u16, now: Time) {
        let s = &mut self.stations[station as usize];
        let State::Turning(sends) = s.state else { return };
        let frame = match (sends, &s.service) {
            (Sends::Ack(number, part), _) => Frame { psdu: timing::ACK, number, what: What::Ack(part) },
            (Sends::Data, Some(service)) => {
                Frame { psdu: service.psdu, number: service.number, what: What::Data(service.part) }
            }
            (Sends::Data, None) => return,
        };
        let takes = timing::airtime(frame.psdu);
        s.count.tries += (sends == Sends::Data) as u64;
        s.count.acks += (sends != Sends::Data) as u64;
        s.count.transmitting_ps += takes.0;
        s.enter(State::Sending(sends));
        self.plan_in_state(now + takes, Kind::End, station);
        let number = self.channel.begin(station, now, frame);
        self.record_sighting(now, station, true, frame);
        self.announce(station, number, now + takes, frame);
    }

    /// Plans the end of a frame at the stations that it may concern: the addressed one, all that wait for one in case
    /// of an acknowledgement, or all in range.
    fn announce(&mut self, station: u16, number: u64, end: Time, frame: Frame) {
        let at = |cell: &Cell, to: u16| end + cell.channel.delay(station, to);
        match frame.what {
            What::Data(part) if part.to != ALL => {
                self.datagrams.copy(part.datagram, 1);
                self.plan(at(self, part.to), Kind::Heard, part.to, number);
            }
            what => {
                for to in 0..self.stations.len() as u16 {
                    let waits =
                        !matches!(what, What::Ack(_)) || matches!(self.stations[to as usize].state, State::Waiting);
                    if !waits || !self.channel.reaches(station, to) {
                        continue;
                    }
                    if let What::Data(part) = what {
                        self.datagrams.copy(part.datagram, 1);
                    }
                    self.plan(at(self, to), Kind::Heard, to, number);
                }
            }
        }
    }

    /// Called when a frame has left its station, whose transceiver turns to receiving.
    pub(super) fn end(&mut self, station: u16, now: Time) {
        let asks = self.spec.mac.acknowledged;
        let s = &mut self.stations[station as usize];
        let State::Sending(sends) = s.state else { return };
        s.receives_from = now + TURNAROUND;
        self.channel.resume_reception(station, now + TURNAROUND);
        match (sends, &s.service) {
            (Sends::Data, Some(service)) if asks && service.part.to != ALL => {
                s.enter(State::Waiting);
                self.plan_in_state(now + ACK_WAIT, Kind::Timeout, station);
            }
            (Sends::Data, Some(service)) => {
                s.space_until = now + timing::space(service.psdu);
                s.enter(State::Idle);
                self.finish(station, Outcome::Delivered, now);
            }
            _ => {
                s.enter(State::Idle);
                self.start(station, now);
            }
        }
    }

    /// Called when no acknowledgement has arrived in time.
    pub(super) fn timeout(&mut self, station: u16, now: Time) {
        if self.retry(station, now) {
            self.start(station, now);
        }
    }

    /// Handles a failed try. Returns whether the frame stays in service. The station becomes idle.
    fn retry(&mut self, station: u16, now: Time) -> bool {
        let max = self.spec.mac.retries;
        let s = &mut self.stations[station as usize];
        s.enter(State::Idle);
        let Some(service) = &mut s.service else { return false };
        if service.retries < max {
            service.retries += 1;
            service.busy = 0;
            return true;
        }
        self.finish(station, Outcome::Unacknowledged, now);
        false
    }

    /// Handles an acknowledgement received by a station that may wait for one.
    pub(super) fn acknowledged(&mut self, station: u16, frame: Frame, now: Time) {
        let s = &mut self.stations[station as usize];
        let Some(service) = s.service.filter(|_| matches!(s.state, State::Waiting)) else { return };
        if frame.number == service.number {
            // the receiver had received the frame one acknowledgement and one turnaround before
            let received = now.saturating_sub(timing::airtime(timing::ACK)).saturating_sub(TURNAROUND);
            s.count.service_ps += received.saturating_sub(service.since).0;
            s.space_until = now + timing::space(service.psdu);
            s.enter(State::Idle);
            // the timeout would be void
            self.agenda.withdraw_last(Kind::Timeout, station);
            self.finish(station, Outcome::Delivered, now);
        } else if self.spec.mac.foreign_acks_fail {
            s.count.foreign_acks += 1;
            if self.retry(station, now) {
                self.start(station, now);
            }
        }
    }

    /// Lets a station acknowledge a received frame, before anything else.
    pub(super) fn acknowledge(&mut self, station: u16, number: u8, part: Part, now: Time) {
        if matches!(self.stations[station as usize].state, State::Waiting) {
            self.retry(station, now);
        }
        self.channel.stop_reception(station, now);
        self.stations[station as usize].enter(State::Turning(Sends::Ack(number, part)));
        self.plan_in_state(now + TURNAROUND, Kind::Begin, station);
    }

    /// Ends the service of a frame. An idle station goes on with the next one, once its queue has provided it.
    fn finish(&mut self, station: u16, outcome: Outcome, now: Time) {
        let s = &mut self.stations[station as usize];
        let Some(service) = s.service.take() else { return };
        let count = &mut s.count;
        *match outcome {
            Outcome::Delivered => &mut count.delivered,
            Outcome::AccessFailure => &mut count.access_failures,
            Outcome::Unacknowledged => &mut count.unacknowledged,
        } += 1;
        let mut done = false;
        if service.own
            && let Some(own) = &mut s.own
        {
            own.next += 1;
            done = own.next == own.frames.count;
        }
        if done {
            s.own = None;
        }
        self.release(service.part.datagram);
        if done {
            self.effects.push_back(Effect::Done { station });
        } else {
            self.resume(now, station);
        }
    }
}
