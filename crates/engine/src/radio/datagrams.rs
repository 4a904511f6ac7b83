//! Datagrams in a cell: at their stations, on the air, and waiting to be forwarded.

use super::frames::Frames;
use super::neighbours::Message;
use crate::event::packet::{Ext, Packet};
use incast_cc::Time;

/// Content of a datagram.
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
    /// Content of the datagram.
    pub content: Content,
    /// Station that sends it.
    pub from: u16,
    /// Destination station, or [`ALL`](super::frame::ALL).
    pub to: u16,
    /// Frames of the datagram.
    pub frames: Frames,
    /// Time since which the station has it.
    pub since: Time,
    /// Number that identifies the datagram in the cell.
    pub serial: u64,
    /// Number of its frames in a queue, on the air, or waiting to be forwarded.
    copies: u32,
    /// True once it has arrived.
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
    /// Adds a datagram whose frames are all in the queue. Returns its place.
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

    /// The datagram at a place, while copies of it exist.
    pub fn get(&mut self, place: u32) -> Option<&mut Datagram> {
        self.places[place as usize].as_mut()
    }

    /// Adds `copies` to the copies of a datagram.
    pub fn copy(&mut self, place: u32, copies: u32) {
        if let Some(datagram) = self.get(place) {
            datagram.copies += copies;
        }
    }

    /// Removes a copy. Returns the datagram if that was the last one and it has not arrived.
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

    /// Removes a datagram with all its copies.
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
