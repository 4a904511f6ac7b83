//! Frames of a cell.

/// Address of all stations in range.
pub const ALL: u16 = u16::MAX;

/// A frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Bytes of the PSDU.
    pub psdu: u8,
    /// Sequence number (DSN).
    pub number: u8,
    /// Content of the frame.
    pub what: What,
}

impl Frame {
    /// True if the frame may concern a station. An acknowledgement has no address.
    pub fn concerns(&self, station: u16) -> bool {
        match self.what {
            What::Ack(_) => true,
            What::Data(part) => part.to == station || part.to == ALL,
        }
    }
}

/// Content of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// An acknowledgement. It has no address; the part that it acknowledges is recorded for traces.
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
    /// Station of the next hop, or [`ALL`].
    pub to: u16,
    /// Mesh headers, if the frame is flooded.
    pub flood: Option<Flood>,
}

/// Mesh and broadcast headers of a flooded frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flood {
    /// The station that sent it first.
    pub origin: u16,
    /// Remaining number of times that it may be forwarded.
    pub left: u8,
    /// Number among the origin's frames.
    pub serial: u8,
}
