//! Numbers of packets that the ends of connections have sent, as one host tells the other.
//!
//! A number is written before a message leaves for the other host, and read when the message is there, which is in a
//! later engine window: no order of threads is visible.

use std::sync::atomic::{AtomicU32, Ordering};

/// Packets of senders and receivers, by connection.
#[derive(Default, Debug)]
pub struct PacketCounts(Vec<[AtomicU32; 2]>);

impl PacketCounts {
    /// Counts of so many connections.
    pub fn new(connections: usize) -> PacketCounts {
        PacketCounts(std::iter::repeat_with(Default::default).take(connections).collect())
    }

    /// Writes the number of packets of a sender, or of a receiver (`back`).
    pub fn tell(&self, connection: u32, back: bool, packets: u32) {
        self.0[connection as usize][usize::from(back)].store(packets, Ordering::Relaxed);
    }

    /// Reads the number of packets of a sender, or of a receiver (`back`).
    pub fn told(&self, connection: u32, back: bool) -> u32 {
        self.0[connection as usize][usize::from(back)].load(Ordering::Relaxed)
    }
}
