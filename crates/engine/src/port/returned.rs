//! Numbered data that goes back to its sender.

use crate::event::packet::{Answer, Kind, Packet, flag};
use crate::ids::NodeId;

/// Bit of `wnd` of numbered data: its sender takes its header back.
const RETURNS: u32 = 1 << 31;

impl Packet {
    /// The sender of numbered data takes its header back.
    pub fn let_return(&mut self) {
        debug_assert!(self.is(Kind::Numbered));
        self.wnd |= RETURNS;
    }

    /// See [`Packet::let_return`].
    pub fn may_return(&self) -> bool {
        self.is(Kind::Numbered) && self.wnd & RETURNS > 0
    }

    /// `of` goes back to its sender, host `src`, as an answer that names its number, of `size` IP bytes.
    pub fn returned(of: &Packet, src: NodeId, size: u16) -> Packet {
        let answer = Answer { number: of.seq() as u32, echo: of.sent_at().0, ..Answer::default() };
        let flags = of.flags & (flag::DUPLEX | flag::SLOW_PATH | flag::CLASS);
        let mut back = Packet::answer(Kind::Returned, of.flow, src, &answer);
        back.set_entropy(of.entropy());
        (back.size, back.id, back.hop) = (size, of.id, of.hop);
        back.flags |= flags;
        back
    }
}
