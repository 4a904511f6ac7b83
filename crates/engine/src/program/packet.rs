//! What programs write into packets beside their headers: a traffic class, and that they leave a prescribed path.

use crate::event::packet::{Packet, flag};

impl Packet {
    /// Another way than its prescribed path, if it has one, is its way from here on.
    pub fn leave_path(&mut self) {
        self.flags &= !flag::PATH;
    }

    /// Highest traffic class that a program can give it.
    pub const MOST_CLASS: u8 = 6;

    /// Traffic class that a program has given it.
    #[inline]
    pub fn own_class(&self) -> Option<u8> {
        ((self.flags >> 13) as u8).checked_sub(1)
    }

    /// A program gives it a traffic class, at most [`Packet::MOST_CLASS`].
    pub fn set_class(&mut self, class: u8) {
        debug_assert!(class <= Packet::MOST_CLASS);
        self.flags = self.flags & !flag::CLASS | (class as u16 + 1) << 13;
    }
}
