//! Homa (Montazeri et al., "Homa: a receiver-driven low-latency transport protocol using network priorities", SIGCOMM
//! 2018).
//!
//! The first bytes of a message go unscheduled, the rest on grants of the receiver. A receiver grants the few messages
//! with the fewest missing bytes, one per sender. Senders give their NIC to the message with the fewest bytes to send.
//! Priorities: unscheduled packets by message size, granted packets by the rank of their message at the receiver.
//!
//! Rules are those on which public implementations agree (PlatformLab/HomaSimulation ab09ecb, HomaModule,
//! HomaL4Protocol-ns-3 3cac711); they have not been checked against the paper's text. Constants, window and the use of
//! the lowest levels are from the first, the authors' study; timeouts from the last.

mod pacer;
mod receiver;
mod sender;
mod wire;

use crate::spec::refusal::invalid;
use crate::spec::{Homa, RunError, Spec, TransportSpec};
use crate::transport::packet::check::{Check, check_classes, flows_of};
pub use receiver::Receiver;
pub use sender::Sender;

impl Check for Homa {
    fn check(&self, spec: &Spec, t: &TransportSpec) -> Result<(), RunError> {
        let same = |other: &TransportSpec| other.protocol.of::<Homa>().is_none_or(|own| own == self);
        if !spec.transports.iter().all(same) {
            return invalid("expected one setting for all traffic: a host grants messages of all its flows".into());
        }
        check_classes(spec, &t.protocol, flows_of(spec, self))
    }
}
