//! Datagrams that a cell has: at their stations, on the air, and waiting to be forwarded.

use super::frames::Frames;
use super::neighbours::Message;
use crate::event::packet::{Ext, Packet};
use incast_cc::Time;

/// What a datagram carries.
#[derive(Clone, Debug)]
pub enum Content {
    /// A packet, and its extension.
    Packet(Packet, Option<Ext>),
    /// A message of neighbour discovery.
    Message(Message),
}

/// A datagram in the cell.
#[derive(Clone, Debug)]
pub struct Datagram {
    /// What it carries.
    pub content: Content,
    /// Station that sends it.
    pub from: u16,
    /// The station that it is for, or [`ALL`](super::frame::ALL).
    pub to: u16,
    /// Its frames.
    pub frames: Frames,
    /// The station has it since then.
    pub since: Time,
    /// Tells it from all others of the cell.
    pub serial: u64,
    /// Frames of it that are in a queue, on the air, or waiting to be forwarded.
    copies: u32,
    /// It has arrived.
    pub arrived: bool,
}

/// The datagrams in a cell.
#[derive(Clone, Debug, Default)]
pub struct Datagrams {
    places: Vec<Option<Datagram>>,
    free: Vec<u32>,
    serial: u64,
}

impl Datagrams {
    /// Adds a datagram, all of whose frames are in the queue: its place.
    pub fn add(&mut self, content: Content, (from, to): (u16, u16), frames: Frames, since: Time) -> u32 {
        self.serial += 1;
        let (serial, copies) = (self.serial, frames.count as u32);
        let datagram = Some(Datagram { content, from, to, frames, since, serial, copies, arrived: false });
        match self.free.pop() {
            Some(place) => {
                self.places[place as usize] = datagram;
                place
            }
            None => {
                self.places.push(datagram);
                self.places.len() as u32 - 1
            }
        }
    }

    /// The datagram in a place, while copies of it are left.
    pub fn get(&mut self, place: u32) -> Option<&mut Datagram> {
        self.places[place as usize].as_mut()
    }

    /// There are so many more copies of a datagram.
    pub fn copy(&mut self, place: u32, copies: u32) {
        if let Some(datagram) = self.get(place) {
            datagram.copies += copies;
        }
    }

    /// There is a copy less: the datagram, if that was the last and it has not arrived.
    pub fn release(&mut self, place: u32) -> Option<Datagram> {
        let datagram = self.get(place)?;
        datagram.copies -= 1;
        if datagram.copies > 0 {
            return None;
        }
        if datagram.arrived {
            self.free.push(place);
            self.places[place as usize] = None;
            return None;
        }
        self.take(place)
    }

    /// Takes a datagram out, whatever its copies.
    pub fn take(&mut self, place: u32) -> Option<Datagram> {
        self.free.push(place);
        self.places[place as usize].take()
    }

    /// Packets that have not arrived and still may.
    pub fn under_way(&self) -> impl Iterator<Item = &Packet> {
        let may_arrive = self.places.iter().flatten().filter(|datagram| !datagram.arrived);
        may_arrive.filter_map(|datagram| match &datagram.content {
            Content::Packet(packet, _) => Some(packet),
            Content::Message(_) => None,
        })
    }
}
