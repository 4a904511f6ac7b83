//! Numbered data that returns to its sender.

use crate::event::packet::{Kind, Packet, Words, flag};
use crate::ids::NodeId;

/// Bit of `wnd` of numbered data: its sender accepts returned headers.
const RETURNS: u32 = 1 << 31;

impl Packet {
    /// Marks numbered data whose sender accepts its returned header.
    pub fn let_return(&mut self) {
        debug_assert!(self.is(Kind::Numbered));
        self.wnd |= RETURNS;
    }

    /// True if the header may return to its sender; see [`Packet::let_return`].
    pub fn may_return(&self) -> bool {
        self.is(Kind::Numbered) && self.wnd & RETURNS > 0
    }

    /// Returned header of `of` to its sender, host `src`: an answer with its number, of `size` IP bytes.
    pub fn returned(of: &Packet, src: NodeId, size: u16) -> Packet {
        let words = Words { ack: [0, of.seq() as u32], stamp: of.sent_at().0, ..Words::default() };
        let flags = of.flags & (flag::DUPLEX | flag::SLOW_PATH | flag::CLASS);
        let mut back = Packet::answer(Kind::Returned, of.flow, src, words);
        back.set_entropy(of.entropy());
        (back.size, back.id, back.hop) = (size, of.id, of.hop);
        back.flags |= flags;
        back
    }

    /// Number of the packet whose header returns, if this is one.
    pub fn returned_number(&self) -> Option<u32> {
        self.is(Kind::Returned).then(|| self.words().ack[1])
    }
}
