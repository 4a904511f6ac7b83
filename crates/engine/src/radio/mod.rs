//! A radio cell (IEEE 802.15.4): stations that share one channel. A pure state machine, called with the current time.
//!
//! A station hands over the packet at the head of its queue ([`Cell::submit`]). The cell resolves the neighbour
//! ([`neighbours`]), cuts the packet into frames ([`frames`]), lets them access the channel ([`mac`](self),
//! [`channel`]), and reassembles packets on arrival ([`reassembly`]). [`Cell::run`] runs all events that are due, and
//! leaves their effects on the nodes in [`Cell::effects`].
//!
//! Sources: IEEE 802.15.4-2011; RFC 4944 and RFC 6282; ns-3.43's `lr-wpan` and `sixlowpan`, where these differ.

mod agenda;
mod arrivals;
pub mod channel;
mod datagrams;
mod discovery;
pub mod errors;
pub mod frame;
pub mod frames;
mod log;
mod mac;
pub mod neighbours;
pub mod reassembly;
pub mod repeated;
mod report;
mod series;
pub mod station;
pub mod timing;

use self::agenda::{Agenda, Entry, Kind};
use self::channel::Channel;
use self::datagrams::{Content, Datagram, Datagrams};
use self::frame::{ALL, Frame, Part, What};
use self::frames::Frames;
use self::neighbours::Step;
use self::station::{Own, Snapshot, State, Station};
use crate::event::interval::Interval;
use crate::event::order::Order;
use crate::event::packet::{Ext, Kind as PacketKind, Packet};
use crate::hash::{self, purpose};
use crate::ids::NodeId;
use crate::spec::{CellSpec, StationSpec, Ties};
use incast_cc::Time;
use std::collections::VecDeque;

/// Effect of a cell on the nodes of its stations.
#[derive(Clone, Debug)]
pub enum Effect {
    /// A packet has arrived at a station.
    Arrived {
        /// The station.
        to: u16,
        /// The packet.
        packet: Packet,
        /// Extension of the packet.
        ext: Option<Ext>,
        /// True if it had arrived before.
        again: bool,
    },
    /// A station has finished the packet at the head of its queue. [`Cell::resume`] follows.
    Done {
        /// The station.
        station: u16,
    },
    /// A packet was lost in the cell.
    Lost {
        /// The station that sent it.
        from: u16,
        /// The packet.
        packet: Packet,
        /// True if no neighbour answered. The station is told.
        unreachable: bool,
    },
}

/// A frame waiting to be forwarded by a station.
#[derive(Clone, Copy, Debug)]
struct Forwarded {
    part: Part,
    psdu: u8,
}

/// Record of a frame on the air, for traces.
#[derive(Clone, Copy, Debug)]
pub struct Sighting {
    /// Time of the record.
    pub time: Time,
    /// The station.
    pub station: u16,
    /// True when the first bit leaves the station, false when the station has received the frame.
    pub begins: bool,
    /// The frame.
    pub frame: Frame,
    /// Packet of the frame, or of the frame that it acknowledges, while the cell has it, with its number of frames.
    pub packet: Option<(Packet, u16)>,
}

/// Observations of a cell.
#[derive(Clone, Copy, Default, Debug)]
pub struct Observed {
    /// Records frames.
    pub frames: bool,
    /// Records busy periods of the channel.
    pub channel: bool,
}

/// A cell.
#[derive(Clone, Debug)]
pub struct Cell {
    spec: CellSpec,
    interval: Interval,
    channel: Channel,
    stations: Vec<Station>,
    agenda: Agenda,
    datagrams: Datagrams,
    forwarded: Vec<Forwarded>,
    free: Vec<u32>,
    /// Effects on the nodes, in order, not yet taken.
    pub effects: VecDeque<Effect>,
    /// Time of the latest end of a frame, at its sender or at a station.
    pub last: Time,
    /// Time for which an event of the engine is set.
    pub armed: Time,
    /// Counters at the start and at the end of the measured interval, and time of the next snapshot.
    at_from: Option<Snapshot>,
    at_to: Option<Snapshot>,
    advance_at: Time,
    /// Recorded frames, if they are watched.
    pub sightings: Option<Vec<Sighting>>,
}

impl Cell {
    /// The cell of `spec`, with the observations `observed`.
    pub fn new(spec: &CellSpec, order: Order, interval: &Interval, observed: Observed) -> Cell {
        let number = |i: u64| hash::bits(order.seed, purpose::RADIO_NUMBER, spec.channel as u64, i) as u8;
        let station = |(i, station): (u64, &StationSpec)| {
            let entity = (spec.channel as u64) << 32 | i;
            let draw_salt = hash::bits_salt(order.seed, purpose::RADIO_BACKOFF, entity);
            let tie_salt = hash::tie_salt(order.seed, station.node as u64 | 1 << 41);
            Station::new(number(i), draw_salt, (order.ties == Ties::Hash).then_some(tie_salt))
        };
        let mut stations: Vec<Station> = (0..).zip(&spec.stations).map(station).collect();
        if spec.framing.adaptation.as_ref().is_some_and(|a| a.mesh.is_some()) {
            let origins = stations.len();
            stations.iter_mut().for_each(|s| s.flooded = vec![Default::default(); origins]);
        }
        if spec.mac.duplicates_rejected {
            let others = stations.len();
            stations.iter_mut().for_each(|s| s.numbers = vec![None; others]);
        }
        let mut cell = Cell {
            spec: spec.clone(),
            interval: *interval,
            channel: Channel::new(spec, order.seed, observed.channel),
            stations,
            agenda: Agenda::default(),
            datagrams: Datagrams::default(),
            forwarded: Vec::new(),
            free: Vec::new(),
            effects: VecDeque::new(),
            last: Time::ZERO,
            armed: Time::NEVER,
            at_from: None,
            at_to: None,
            advance_at: interval.from,
            sightings: observed.frames.then(Vec::new),
        };
        cell.configure();
        cell.armed = cell.next();
        cell
    }

    /// Time of the next event.
    pub fn next(&self) -> Time {
        self.agenda.next()
    }

    /// Packets that have not arrived and still may.
    pub fn under_way(&self) -> impl Iterator<Item = &Packet> {
        self.datagrams.under_way()
    }

    /// Node that represents the channel.
    pub fn channel_node(&self) -> NodeId {
        NodeId(self.spec.channel)
    }

    /// Number of a station's node.
    pub fn node(&self, station: u16) -> u32 {
        self.spec.stations[station as usize].node
    }

    /// Submits the packet at the head of a station's queue, waiting there from `since` on, for station `to`. Returns
    /// whether it is in service. If not, it has left the queue and waits until that neighbour is known.
    pub fn submit(
        &mut self,
        now: Time,
        (from, to): (u16, u16),
        since: Time,
        packet: &Packet,
        ext: Option<Ext>,
    ) -> bool {
        self.advance_account(now);
        let framing = &self.spec.framing;
        let frames = Frames::of(framing, packet.size as u32, packet.is(PacketKind::Datagram));
        let datagram = self.datagrams.add(Content::Packet(*packet, ext), (from, to), frames, since);
        if !self.is_known(from, to, datagram, now) {
            return false;
        }
        let next_hop = self.next_hop(to);
        self.stations[from as usize].own = Some(Own { datagram, frames, next: 0, to: next_hop, since });
        self.resume(now, from);
        true
    }

    /// Next hop of a datagram's frames for `to`.
    fn next_hop(&self, to: u16) -> u16 {
        if self.spec.framing.adaptation.as_ref().is_some_and(|a| a.mesh.is_some()) { ALL } else { to }
    }

    /// Lets an idle station go on with its next frame.
    pub fn resume(&mut self, now: Time, station: u16) {
        if matches!(self.stations[station as usize].state, State::Idle) {
            self.start(station, now);
        }
    }

    /// Runs all events due by `now`, and further ones before `until`, up to an instant with effects on the nodes.
    /// Returns the last instant.
    pub fn run(&mut self, now: Time, until: Time) -> Time {
        let mut now = now;
        self.advance_account(now);
        loop {
            let further = until > now && self.effects.is_empty();
            let Some(entry) = self.agenda.due(if further { until - Time::ps(1) } else { now }) else { return now };
            if entry.time > now {
                now = entry.time;
                self.advance_account(now);
            }
            self.happen(entry);
        }
    }

    /// Runs an event.
    fn happen(&mut self, entry: Entry) {
        let Entry { time, of, .. } = entry;
        let station = entry.station();
        match entry.kind() {
            Kind::Heard => {
                self.last = time;
                self.heard(station, of, time);
            }
            Kind::Forward => self.forward(station, of as u32, time),
            Kind::Discover => self.discover(station, Step::of(of), time),
            kind => {
                if kind == Kind::End {
                    self.last = time;
                }
                if of != self.stations[station as usize].epoch as u64 {
                    return;
                }
                match kind {
                    Kind::Assessed => self.assessed(station, time),
                    Kind::Begin => self.begin(station, time),
                    Kind::End => self.end(station, time),
                    _ => self.timeout(station, time),
                }
            }
        }
    }

    /// True if effects have yet to reach the nodes, or records the packet trace.
    pub fn acts(&self) -> bool {
        !self.effects.is_empty() || self.sightings.as_ref().is_some_and(|seen| !seen.is_empty())
    }

    /// Adds an event at a station to the agenda.
    #[inline]
    fn plan(&mut self, time: Time, kind: Kind, station: u16, of: u64) {
        let tie = self.stations[station as usize].tie_salt.map_or(0, |salt| hash::tie_salted(salt, time));
        self.agenda.add(Entry::new(time, kind, tie, station, of));
    }

    /// Adds an event to the agenda that is valid only in the station's current state.
    fn plan_in_state(&mut self, time: Time, kind: Kind, station: u16) {
        let epoch = self.stations[station as usize].epoch as u64;
        self.plan(time, kind, station, epoch);
    }

    /// Draws a random number for a station.
    fn draw(&mut self, station: u16) -> u64 {
        let s = &mut self.stations[station as usize];
        s.draws += 1;
        hash::bits_salted(s.draw_salt, s.draws)
    }

    /// Removes a copy of a datagram.
    fn release(&mut self, datagram: u32) {
        if let Some(lost) = self.datagrams.release(datagram) {
            self.lose(lost, false);
        }
    }

    /// Counts a lost datagram.
    fn lose(&mut self, datagram: Datagram, unreachable: bool) {
        let from = datagram.from;
        if let Content::Packet(packet, _) = datagram.content {
            self.stations[from as usize].count.lost += 1;
            self.effects.push_back(Effect::Lost { from, packet, unreachable });
        }
    }

    fn record_sighting(&mut self, time: Time, station: u16, begins: bool, frame: Frame) {
        if let Some(sightings) = &mut self.sightings {
            let (What::Ack(part) | What::Data(part)) = frame.what;
            let packet = self.datagrams.get(part.datagram).and_then(|datagram| match &datagram.content {
                Content::Packet(packet, _) => Some((*packet, datagram.frames.count)),
                Content::Message(_) => None,
            });
            sightings.push(Sighting { time, station, begins, frame, packet });
        }
    }
}
