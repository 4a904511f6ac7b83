//! Connections that are not closed yet when a query opens the next one.

use crate::host::messages::ConnectionSide;
use crate::ids::FlowId;
use crate::transport::{ReceiveEndpoint, SendEndpoint};

/// A host's end of a connection that both sides have not closed yet, while a later one has its place.
#[derive(Debug)]
pub struct Lingering {
    /// The flow that its host sends.
    pub flow: FlowId,
    /// Its sender there,
    pub sender: SendEndpoint,
    /// ... its receiver,
    pub receiver: ReceiveEndpoint,
    /// ... and what these share.
    pub side: ConnectionSide,
}

/// Both directions are closed, or the connection was reset.
pub fn is_closed(sender: &mut SendEndpoint, receiver: &mut ReceiveEndpoint) -> bool {
    sender.is_over() && (sender.is_dead() || receiver.has_ended())
}
