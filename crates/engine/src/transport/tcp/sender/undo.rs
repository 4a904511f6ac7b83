//! Undo of a reduction that later evidence shows to be mistaken (Eifel, RFC 4015; DSACK undo, RFC 3708).

use crate::transport::tcp::rtt::STAMP;
use incast_cc::{Cc, Controller, Time};

/// Evidence on the latest reduction.
#[derive(Clone, Copy, Debug)]
pub struct Undo {
    /// First unacknowledged byte at the reduction; `None` if there is nothing to undo.
    pub marker: Option<u64>,
    /// Retransmissions since, less those that duplicate SACKs report; below 0 before the first.
    pub retransmissions: i32,
    /// Time of the first retransmission; [`Time::NEVER`] before.
    pub first_at: Time,
    /// Set if a mark, or a reduction already under way, justified it: the window stays.
    pub due: bool,
}

impl Default for Undo {
    fn default() -> Undo {
        Undo { marker: None, retransmissions: -1, first_at: Time::NEVER, due: false }
    }
}

impl Undo {
    /// Counts a retransmission at `now`.
    pub fn retransmitted(&mut self, now: Time) {
        self.retransmissions = self.retransmissions.max(0) + 1;
        self.first_at = self.first_at.min(now);
    }

    /// Returns whether all retransmitted data had arrived before: all of it was reported twice, or the ACK of `echoed`
    /// answers an earlier packet. Linux' time stamps count milliseconds.
    pub fn was_mistaken(&self, echoed: Time) -> bool {
        self.marker.is_some()
            && (self.retransmissions == 0 || self.first_at != Time::NEVER && echoed / STAMP < self.first_at / STAMP)
    }

    /// Undoes the latest reduction.
    pub fn take_back(&mut self, cc: &mut Cc) {
        self.marker = None;
        if !self.due {
            cc.on_undo();
        }
    }

    /// Detects a duplicate SACK (RFC 2883): a first block below the acknowledgement or inside the second block. Returns
    /// its bytes: they have left the network too.
    pub fn duplicate_sack(&mut self, ack: u64, blocks: &[(u64, u64); 4]) -> u64 {
        let [(start, end), (low, high), ..] = *blocks;
        if start >= end || start >= ack && (low >= high || start < low || end > high) {
            return 0;
        }
        if self.retransmissions > 0 && self.marker.is_some_and(|marker| end > marker) {
            self.retransmissions -= 1;
        }
        end - start
    }
}
