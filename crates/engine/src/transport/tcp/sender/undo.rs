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

#[cfg(test)]
mod tests {
    use super::Undo;
    use incast_cc::Time;

    const NONE: (u64, u64) = (0, 0);

    /// A reduction at 1000 unacknowledged, with retransmissions at these times.
    fn reduced(times: &[u64]) -> Undo {
        let mut undo = Undo { marker: Some(1000), ..Undo::default() };
        times.iter().for_each(|ms| undo.retransmitted(Time::ms(*ms)));
        undo
    }

    #[test]
    fn duplicates_of_all_retransmissions_show_the_reduction_to_be_mistaken() {
        let mut undo = reduced(&[10, 11]);
        assert_eq!(undo.duplicate_sack(5000, &[(1000, 2000), NONE, NONE, NONE]), 1000);
        assert!(!undo.was_mistaken(Time::ms(20)), "one of two (RFC 3708)");
        assert_eq!(undo.duplicate_sack(5000, &[(2000, 3000), NONE, NONE, NONE]), 1000);
        assert!(undo.was_mistaken(Time::ms(20)));
    }

    #[test]
    fn an_echo_from_before_the_retransmission_shows_it_too() {
        let undo = reduced(&[10]);
        assert!(undo.was_mistaken(Time::ms(9)) && !undo.was_mistaken(Time::ms(10)), "Eifel (RFC 4015)");
        assert!(!reduced(&[]).was_mistaken(Time::ms(9)), "nothing was retransmitted");
        assert!(!Undo::default().was_mistaken(Time::ms(0)), "nothing was reduced");
    }

    #[test]
    fn a_block_inside_the_second_is_a_duplicate_and_others_are_not() {
        let mut undo = Undo::default();
        assert_eq!(undo.duplicate_sack(1000, &[(3000, 4000), (2000, 6000), NONE, NONE]), 1000, "RFC 2883");
        assert_eq!(undo.duplicate_sack(1000, &[(3000, 4000), (5000, 6000), NONE, NONE]), 0);
        assert_eq!(undo.duplicate_sack(1000, &[NONE; 4]), 0);
    }
}
