//! A station of a cell: its transceiver and MAC.

use super::channel::Heard;
use super::frame::Part;
use super::frames::Frames;
use super::neighbours::Neighbours;
use super::reassembly::Reassembly;
use incast_cc::Time;
use incast_record::RadioCounts;
use std::collections::VecDeque;

/// What the MAC of a station is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Nothing is to be sent.
    Idle,
    /// Backoff, or a clear channel assessment.
    Access,
    /// The transceiver turns to transmitting.
    Turning(Sends),
    /// A frame leaves.
    Sending(Sends),
    /// It waits for an acknowledgement.
    Waiting,
}

/// What a station sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sends {
    /// The frame in service.
    Data,
    /// An acknowledgement of the frame with this number, of this part.
    Ack(u8, Part),
}

/// The packet at the head of a station's queue.
#[derive(Clone, Copy, Debug)]
pub struct Own {
    /// Place of the datagram.
    pub datagram: u32,
    /// Its frames, and the next of them.
    pub frames: Frames,
    /// The next of them.
    pub next: u16,
    /// The station that they are sent to.
    pub to: u16,
    /// It is in the queue since then.
    pub since: Time,
}

/// A frame that waits beside those of the packet at the head of the port's queue.
#[derive(Clone, Copy, Debug)]
pub struct Queued {
    /// The frame.
    pub part: Part,
    /// Bytes of its PSDU.
    pub psdu: u8,
    /// It is in the queue since then.
    pub since: Time,
}

/// The frame in service.
#[derive(Clone, Copy, Debug)]
pub struct Service {
    /// The frame.
    pub part: Part,
    /// Bytes of its PSDU.
    pub psdu: u8,
    /// Its number.
    pub number: u8,
    /// It is of the station's own packet.
    pub own: bool,
    /// Retries so far.
    pub retries: u32,
    /// Backoff exponent, and how often the channel was busy in this try.
    pub exponent: u32,
    /// How often the channel was busy in this try.
    pub busy: u32,
    /// It is at the head of the queue since then.
    pub since: Time,
}

/// Counts of all stations at an instant.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// By station.
    pub stations: Vec<(RadioCounts, Heard)>,
    /// Time in which something was on the air.
    pub busy: Time,
}

/// A station.
#[derive(Clone, Debug)]
pub struct Station {
    /// What its MAC is doing.
    pub state: State,
    /// Entries of the agenda for another state than this are void.
    pub epoch: u32,
    /// The packet at the head of its queue.
    pub own: Option<Own>,
    /// Frames of others to be forwarded, of neighbour discovery, and of packets that have waited for it.
    pub queued: VecDeque<Queued>,
    /// The frame in service.
    pub service: Option<Service>,
    /// The next frame does not begin before: the space after the last one.
    pub space_until: Time,
    /// It can receive from then on.
    pub hears_from: Time,
    /// Number of the next frame.
    pub next_number: u8,
    /// Number of the next frame that it floods.
    pub next_serial: u8,
    /// Random numbers drawn for it, and their salt.
    pub draws: u64,
    pub(super) draw_salt: u64,
    /// Salt of the hashes that order stations at one instant; none where the order is fixed.
    pub(super) tie_salt: Option<u64>,
    /// Fragments that wait for others.
    pub reassembly: Reassembly,
    /// Numbers of the latest frames that were flooded, by origin, the oldest first.
    pub flooded: Vec<VecDeque<u8>>,
    /// Number of the last frame from each station, where that tells repeated ones.
    pub numbers: Vec<Option<u8>>,
    /// What it knows of its neighbours, where it has to find out.
    pub neighbours: Neighbours,
    /// Counts.
    pub count: RadioCounts,
}

impl Station {
    /// A station whose frames are numbered from `number` on; the salts are those of its random numbers and its ties.
    pub fn new(number: u8, draw_salt: u64, tie_salt: Option<u64>) -> Station {
        Station {
            state: State::Idle,
            epoch: 0,
            own: None,
            queued: VecDeque::new(),
            service: None,
            space_until: Time::ZERO,
            hears_from: Time::ZERO,
            next_number: number,
            next_serial: 0,
            draws: 0,
            draw_salt,
            tie_salt,
            reassembly: Reassembly::default(),
            flooded: Vec::new(),
            numbers: Vec::new(),
            neighbours: Neighbours::default(),
            count: RadioCounts::default(),
        }
    }

    /// Enters a state: what was to happen in the one before is void.
    pub fn enter(&mut self, state: State) {
        self.state = state;
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// Takes the next frame into service at `now`, if it has none and one waits.
    pub fn serve(&mut self, now: Time) -> bool {
        if self.service.is_some() {
            return true;
        }
        let queued = self.queued.front().map(|q| q.since);
        let own = self.own.as_ref().filter(|own| queued.is_none_or(|since| own.since <= since || own.next > 0));
        let (part, psdu, is_own) = match own {
            Some(own) => {
                let flood = None;
                (Part { datagram: own.datagram, index: own.next, to: own.to, flood }, own.frames.psdu(own.next), true)
            }
            None => match self.queued.pop_front() {
                Some(Queued { part, psdu, .. }) => (part, psdu, false),
                None => return false,
            },
        };
        let number = self.next_number;
        self.next_number = number.wrapping_add(1);
        let (retries, exponent, busy) = (0, 0, 0);
        self.service = Some(Service { part, psdu, number, own: is_own, retries, exponent, busy, since: now });
        true
    }
}
