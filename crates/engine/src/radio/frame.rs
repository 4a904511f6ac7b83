//! Frames of a cell.

/// To all in range.
pub const ALL: u16 = u16::MAX;

/// A frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Bytes of its PSDU.
    pub psdu: u8,
    /// Its number (DSN).
    pub number: u8,
    /// What it is.
    pub what: What,
}

impl Frame {
    /// Whether it may concern a station: an acknowledgement has no address.
    pub fn concerns(&self, station: u16) -> bool {
        match self.what {
            What::Ack(_) => true,
            What::Data(part) => part.to == station || part.to == ALL,
        }
    }
}

/// What a frame is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// An acknowledgement. It has no address; the part that it acknowledges is for whoever watches.
    Ack(Part),
    /// A part of a datagram.
    Data(Part),
}

/// A part of a datagram, on its way over one hop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// Place of the datagram.
    pub datagram: u32,
    /// Number of the fragment.
    pub index: u16,
    /// The station that it is sent to, or [`ALL`].
    pub to: u16,
    /// Where it is flooded.
    pub flood: Option<Flood>,
}

/// The mesh and the broadcast header of a frame that is flooded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flood {
    /// The station that sent it first.
    pub origin: u16,
    /// Times that it may still be forwarded.
    pub left: u8,
    /// Number among the origin's frames.
    pub serial: u8,
}
