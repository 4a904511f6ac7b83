//! Frames that reach a station: acknowledged, reassembled, delivered, forwarded.

use super::agenda::Kind;
use super::datagrams::Content;
use super::frame::{ALL, Flood, Part, What};
use super::station::{Queued, State};
use super::{Cell, Effect, Forwarded};
use crate::event::packet::flag;
use crate::hash::pick;
use crate::spec::MeshSpec;
use incast_cc::Time;

impl Cell {
    /// Called when the last bit of frame `number` reaches a station that the frame may concern.
    pub(super) fn heard(&mut self, station: u16, number: u64, now: Time) {
        let on = *self.channel.frame(number);
        let heard = self.channel.has_received(station, number, now);
        let What::Data(part) = on.frame.what else {
            if heard {
                self.record_sighting(now, station, false, on.frame);
                self.acknowledged(station, on.frame, now);
            }
            return;
        };
        if !heard {
            let lost = self.channel.lost(station, number);
            let count = &mut self.stations[station as usize].count;
            if part.to != ALL {
                count.collided += lost as u64;
                count.missed += !lost as u64;
            }
            return self.release(part.datagram);
        }
        self.record_sighting(now, station, false, on.frame);
        let s = &mut self.stations[station as usize];
        s.count.received += 1;
        if part.to != ALL && self.spec.mac.acknowledged {
            self.acknowledge(station, on.frame.number, part, now);
        }
        if self.is_new(station, on.from, on.frame.number) {
            self.take(station, part, on.frame.psdu, now);
        }
        self.release(part.datagram);
    }

    /// True if this number differs from that of the last frame that the station received from `from`.
    fn is_new(&mut self, station: u16, from: u16, number: u8) -> bool {
        let s = &mut self.stations[station as usize];
        let Some(last) = s.numbers.get_mut(from as usize) else { return true };
        let new = last.replace(number) != Some(number);
        s.count.repeated += !new as u64;
        new
    }

    /// Handles a part of a datagram received by a station.
    fn take(&mut self, station: u16, part: Part, psdu: u8, now: Time) {
        let Some(adaptation) = &self.spec.framing.adaptation else { return self.arrive(station, part, now) };
        let (mesh, reassembly) = (adaptation.mesh, adaptation.reassembly);
        if let (Some(flood), Some(mesh)) = (part.flood, mesh)
            && !self.passes(station, (part, psdu), flood, mesh, now)
        {
            return;
        }
        let s = &mut self.stations[station as usize];
        s.count.incomplete += s.reassembly.expire(now);
        let Some(datagram) = self.datagrams.get(part.datagram) else { return };
        let (serial, count) = (datagram.serial, datagram.frames.count);
        if count == 1 || s.reassembly.add(serial, part.index, count, now.saturating_add(reassembly)) {
            self.arrive(station, part, now);
        }
    }

    /// Handles a flooded frame at a station: forwards it if it is new and for another station. Returns whether it is
    /// for this one.
    fn passes(&mut self, station: u16, (part, psdu): (Part, u8), flood: Flood, mesh: MeshSpec, now: Time) -> bool {
        let s = &mut self.stations[station as usize];
        let latest = &mut s.flooded[flood.origin as usize];
        if latest.contains(&flood.serial) {
            s.count.repeated += 1;
            return false;
        }
        latest.push_back(flood.serial);
        if latest.len() > mesh.remembered as usize {
            latest.pop_front();
        }
        let to = self.datagrams.get(part.datagram).map_or(ALL, |datagram| datagram.to);
        if to == station {
            return true;
        }
        if flood.left > 0 && flood.origin != station {
            let flood = Some(Flood { left: flood.left - 1, ..flood });
            let forwarded = Forwarded { part: Part { flood, ..part }, psdu };
            self.datagrams.copy(part.datagram, 1);
            let jitter = Time::ms(pick(self.draw(station), mesh.jitter_ms + 1) as u64);
            let place = match self.free.pop() {
                Some(place) => {
                    self.forwarded[place as usize] = forwarded;
                    place
                }
                None => {
                    self.forwarded.push(forwarded);
                    self.forwarded.len() as u32 - 1
                }
            };
            self.plan(now + jitter, Kind::Forward, station, place as u64);
        }
        to == ALL
    }

    /// Lets a station forward a frame, by way of its queue.
    pub(super) fn forward(&mut self, station: u16, place: u32, now: Time) {
        let Forwarded { part, psdu } = self.forwarded[place as usize];
        self.free.push(place);
        let s = &mut self.stations[station as usize];
        s.queued.push_back(Queued { part, psdu, since: now });
        if s.state == State::Idle {
            self.start(station, now);
        }
    }

    /// Delivers a complete datagram.
    fn arrive(&mut self, to: u16, part: Part, now: Time) {
        let Some(datagram) = self.datagrams.get(part.datagram) else { return };
        let again = std::mem::replace(&mut datagram.arrived, true);
        let (from, content) = (datagram.from, datagram.content.clone());
        self.stations[to as usize].neighbours.confirm(from, now);
        match content {
            Content::Message(message) => self.on_message(to, from, message, now),
            Content::Packet(mut packet, ext) => {
                if again {
                    self.stations[to as usize].count.duplicates += 1;
                    if self.spec.stations[to as usize].routes {
                        return;
                    }
                    // figures of the measured interval include it already
                    packet.flags &= !flag::MEASURED;
                }
                self.effects.push_back(Effect::Arrived { to, packet, ext, again });
            }
        }
    }
}
