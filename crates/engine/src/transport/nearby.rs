//! Prefetches of endpoints. TCP's layout is assumed: reading the variant would touch memory, and nearly all endpoints
//! are TCP's.

use crate::event::prefetch;
use crate::transport::ends::{ReceiveEndpoint, SendEndpoint};
use crate::transport::tcp;

/// Prefetches what a packet for `sender` touches.
#[inline(always)]
pub fn sender(sender: &SendEndpoint) {
    for (first, lines) in tcp::sender::HOT {
        prefetch::lines_from(sender, first, lines);
    }
}

/// Prefetches what `sender` refers to.
#[inline(always)]
pub fn board(sender: &SendEndpoint) {
    if let SendEndpoint::Tcp(sender) = sender {
        sender.prefetch_board();
    }
}

/// Prefetches what [`SendEndpoint::snapshot`] reads.
#[inline]
pub fn snapshot(sender: &SendEndpoint) {
    tcp::sender::SNAPSHOT.into_iter().for_each(|at| prefetch::lines_from(sender, at, 1));
}

/// Prefetches what a packet for `receiver` touches.
#[inline(always)]
pub fn receiver(receiver: &ReceiveEndpoint) {
    prefetch::lines(receiver, tcp::receiver::HOT);
}

/// Prefetches what [`ReceiveEndpoint::delivered`] reads.
#[inline]
pub fn delivered(receiver: &ReceiveEndpoint) {
    tcp::receiver::DELIVERED.into_iter().for_each(|at| prefetch::lines_from(receiver, at, 1));
}
