//! A station of a cell: its transceiver and MAC.

use super::channel::ReceptionCounts;
use super::frame::Part;
use super::frames::Frames;
use super::neighbours::Neighbours;
use super::reassembly::Reassembly;
use incast_cc::Time;
use incast_record::RadioCounts;
use std::collections::VecDeque;

/// State of a station's MAC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Nothing to send.
    Idle,
    /// Backoff, or a clear channel assessment.
    Access,
    /// The transceiver turns to transmitting.
    Turning(Sends),
    /// A frame is being sent.
    Sending(Sends),
    /// Waiting for an acknowledgement.
    Waiting,
}

/// Frame that a station sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sends {
    /// The frame in service.
    Data,
    /// An acknowledgement of the frame with this number and part.
    Ack(u8, Part),
}

/// The packet at the head of a station's queue.
#[derive(Clone, Copy, Debug)]
pub struct Own {
    /// Place of the datagram.
    pub datagram: u32,
    /// Frames of the packet.
    pub frames: Frames,
    /// Index of the next frame.
    pub next: u16,
    /// Station of the next hop.
    pub to: u16,
    /// Time since which it is in the queue.
    pub since: Time,
}

/// A frame that waits beside those of the packet at the head of the port's queue.
#[derive(Clone, Copy, Debug)]
pub struct Queued {
    /// The frame.
    pub part: Part,
    /// Bytes of its PSDU.
    pub psdu: u8,
    /// Time since which it is in the queue.
    pub since: Time,
}

/// The frame in service.
#[derive(Clone, Copy, Debug)]
pub struct Service {
    /// The frame.
    pub part: Part,
    /// Bytes of its PSDU.
    pub psdu: u8,
    /// Sequence number.
    pub number: u8,
    /// True for a frame of the station's own packet.
    pub own: bool,
    /// Retries so far.
    pub retries: u32,
    /// Backoff exponent.
    pub exponent: u32,
    /// Number of busy assessments in this try.
    pub busy: u32,
    /// Time since which it is at the head of the queue.
    pub since: Time,
}

/// Counters of all stations at an instant.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Counters by station.
    pub stations: Vec<(RadioCounts, ReceptionCounts)>,
    /// Time with frames on the air.
    pub busy: Time,
}

/// A station.
#[derive(Clone, Debug)]
pub struct Station {
    /// State of the MAC.
    pub state: State,
    /// Number of the current state. Entries of the agenda for another one are void.
    pub epoch: u32,
    /// The packet at the head of its queue.
    pub own: Option<Own>,
    /// Frames of other stations to forward, of neighbour discovery, and of packets that waited for it.
    pub queued: VecDeque<Queued>,
    /// The frame in service.
    pub service: Option<Service>,
    /// End of the space after the last frame, before which the next one does not begin.
    pub space_until: Time,
    /// Time from which it can receive.
    pub receives_from: Time,
    /// Number of the next frame.
    pub next_number: u8,
    /// Serial number of the next frame that it floods.
    pub next_serial: u8,
    /// Number of random numbers drawn for it, and their salt.
    pub draws: u64,
    pub(super) draw_salt: u64,
    /// Salt of the hashes that order stations at one instant; `None` if the order is fixed.
    pub(super) tie_salt: Option<u64>,
    /// Incomplete datagrams.
    pub reassembly: Reassembly,
    /// Serial numbers of the latest flooded frames, by origin, oldest first.
    pub flooded: Vec<VecDeque<u8>>,
    /// Number of the last frame from each station, where repeated frames are recognised.
    pub numbers: Vec<Option<u8>>,
    /// Neighbour cache, where neighbours must be resolved.
    pub neighbours: Neighbours,
    /// Counters.
    pub count: RadioCounts,
}

impl Station {
    /// A station that numbers frames from `number` on, with the salts of its random numbers and of its ties.
    pub fn new(number: u8, draw_salt: u64, tie_salt: Option<u64>) -> Station {
        Station {
            state: State::Idle,
            epoch: 0,
            own: None,
            queued: VecDeque::new(),
            service: None,
            space_until: Time::ZERO,
            receives_from: Time::ZERO,
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

    /// Enters a state. Events planned in the previous one become void.
    pub fn enter(&mut self, state: State) {
        self.state = state;
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// Takes the next frame into service at `now`, unless there is one already. Returns whether one is in service.
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
