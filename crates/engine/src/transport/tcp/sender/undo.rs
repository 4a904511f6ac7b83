//! Taking back a reduction that new evidence shows to have been mistaken (Eifel, RFC 4015; DSACK undo, RFC 3708).

use crate::transport::tcp::rtt::STAMP;
use incast_cc::{Cc, Controller, Time};

/// State that shows whether the latest reduction was a mistake.
#[derive(Clone, Copy, Debug)]
pub struct Undo {
    /// First unacknowledged byte at the reduction; `None` where there is none to undo.
    pub marker: Option<u64>,
    /// Segments sent again since, less those that duplicate SACKs report; below 0 before the first.
    pub again: i32,
    /// When the first of them was sent; [`Time::NEVER`] before.
    pub first_at: Time,
    /// A mark, or a reduction that was under way, called for it: the window stays as it is.
    pub due: bool,
}

impl Default for Undo {
    fn default() -> Undo {
        Undo { marker: None, again: -1, first_at: Time::NEVER, due: false }
    }
}

impl Undo {
    /// A segment was sent again at `now`.
    pub fn retransmitted(&mut self, now: Time) {
        self.again = self.again.max(0) + 1;
        self.first_at = self.first_at.min(now);
    }

    /// Whether all that was sent again had arrived before: all of it was reported twice, or the ACK of
    /// `echoed` answers something that was sent earlier. Linux' time stamps count milliseconds.
    pub fn was_mistaken(&self, echoed: Time) -> bool {
        self.marker.is_some()
            && (self.again == 0 || self.first_at != Time::NEVER && echoed / STAMP < self.first_at / STAMP)
    }

    /// Takes the latest reduction back.
    pub fn take_back(&mut self, cc: &mut Cc) {
        self.marker = None;
        if !self.due {
            cc.on_undo();
        }
    }

    /// A first SACK block below the acknowledgement or inside the second one reports what came twice
    /// (RFC 2883). Returns its bytes: they have left the network too.
    pub fn duplicate_sack(&mut self, ack: u64, blocks: &[(u64, u64); 4]) -> u64 {
        let [(start, end), (low, high), ..] = *blocks;
        if start >= end || start >= ack && (low >= high || start < low || end > high) {
            return 0;
        }
        if self.again > 0 && self.marker.is_some_and(|marker| end > marker) {
            self.again -= 1;
        }
        end - start
    }
}
