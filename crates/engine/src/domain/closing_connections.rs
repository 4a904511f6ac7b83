//! Connections not yet closed when a query opens the next one.

use crate::host::messages::Tcb;
use crate::ids::FlowId;
use crate::transport::tcp::receiver::Receiver;
use crate::transport::tcp::sender::Sender;

/// One end of a connection not yet closed by both sides, while a later one has its place.
#[derive(Debug)]
pub struct ClosingConnection {
    /// Flow sent by its host.
    pub flow: FlowId,
    /// Sender of the connection.
    pub sender: Sender,
    /// Receiver of the connection.
    pub receiver: Receiver,
    /// State shared by both.
    pub tcb: Tcb,
}

/// True if both directions are closed, or the connection was reset.
pub fn is_closed(sender: &Sender, receiver: &Receiver) -> bool {
    sender.is_over() && (sender.is_dead() || receiver.has_ended())
}
