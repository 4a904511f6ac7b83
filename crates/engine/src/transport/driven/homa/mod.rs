//! Homa (Montazeri et al., "Homa: a receiver-driven low-latency transport protocol using network priorities", SIGCOMM
//! 2018).
//!
//! The first bytes of a message go unasked, the others when the receiver grants them. A receiver grants the few
//! messages that lack the fewest bytes, one a sender; senders give their wire to the message with the fewest
//! bytes to send.
//! Packets have priorities: unscheduled ones by the size of their message, granted ones by the rank that it has at its
//! receiver.
//!
//! Rules are those on which public codes agree (PlatformLab/HomaSimulation ab09ecb, HomaModule, HomaL4Protocol-ns-3
//! 3cac711), not held against the paper's text. Constants, window and the use of the lowest levels are those of the
//! first, the authors' study, timeouts those of the last.

mod receiver;
mod sender;

pub use receiver::Receiver;
pub use sender::Sender;

use crate::spec::{Homa, Protocol, TransportSpec};

/// The parameters of a transport that is Homa.
fn parameters(t: &TransportSpec) -> &Homa {
    match &t.protocol {
        Protocol::Homa(homa) => homa,
        _ => unreachable!("endpoints of Homa are made for transports that are Homa"),
    }
}
