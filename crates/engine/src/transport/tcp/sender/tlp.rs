//! Tail-loss probe (RFC 8985 section 7): the one that is outstanding, and what an ACK says of it.

/// Outstanding tail-loss probe.
#[derive(Default, Debug)]
pub(super) struct Tlp {
    /// End of the data at the time of the probe; 0 if none is outstanding.
    to: u64,
    /// Set if the probe was a retransmission.
    was_retransmission: bool,
}

impl Tlp {
    /// True if a probe is outstanding.
    pub fn is_out(&self) -> bool {
        self.to > 0
    }

    /// True if a retransmission is outstanding as a probe.
    pub fn repeats(&self) -> bool {
        self.is_out() && self.was_retransmission
    }

    /// Notes a probe, after which data up to `to` has been sent.
    pub fn sent(&mut self, to: u64, was_retransmission: bool) {
        *self = Tlp { to, was_retransmission };
    }

    /// Forgets the probe: losses are repaired in another way.
    pub fn cancel(&mut self) {
        self.to = 0;
    }

    /// True if a report of `twice` bytes received twice, up to `end`, is of the probe; a segment has `mss` bytes.
    pub fn is_reported(&self, twice: u64, end: u64, mss: u32) -> bool {
        twice > 0 && twice <= mss as u64 && end == self.to
    }

    /// Handles an ACK up to `una`. Returns true if the probe repaired a loss, which calls for a reduction. `twice`: the
    /// ACK reports the probed segment as received twice; `idle`: it brings no news at all.
    pub fn on_ack(&mut self, una: u64, twice: bool, idle: bool) -> bool {
        if !self.is_out() || una < self.to {
            return false;
        }
        let repaired = self.was_retransmission && !twice && una > self.to;
        if repaired || !self.was_retransmission || twice || idle {
            self.to = 0;
        }
        repaired
    }
}

#[cfg(test)]
mod tests {
    use super::Tlp;

    const MSS: u32 = 1000;

    #[test]
    fn a_retransmission_that_filled_a_hole_repaired_a_loss() {
        let mut tlp = Tlp::default();
        tlp.sent(5000, true);
        assert!(tlp.repeats());
        assert!(!tlp.on_ack(5000, false, false) && tlp.repeats(), "the original may have arrived as well");
        assert!(tlp.on_ack(6000, false, false) && !tlp.repeats(), "nothing was reported twice");
    }

    #[test]
    fn a_probe_that_is_reported_twice_repaired_nothing() {
        let mut tlp = Tlp::default();
        tlp.sent(5000, true);
        assert!(
            tlp.is_reported(1000, 5000, MSS) && !tlp.is_reported(2000, 5000, MSS) && !tlp.is_reported(500, 4000, MSS)
        );
        assert!(!tlp.on_ack(5000, true, false) && !tlp.repeats());
    }

    #[test]
    fn a_probe_of_new_data_ends_with_its_acknowledgement() {
        let mut tlp = Tlp::default();
        tlp.sent(5000, false);
        assert!(!tlp.on_ack(4000, false, false) && tlp.is_out());
        assert!(!tlp.on_ack(5000, false, false) && !tlp.is_out());
    }

    #[test]
    fn an_acknowledgement_without_news_or_a_repair_ends_the_probe() {
        let mut tlp = Tlp::default();
        tlp.sent(5000, true);
        assert!(!tlp.on_ack(5000, false, true) && !tlp.is_out());
        tlp.sent(7000, true);
        tlp.cancel();
        assert!(!tlp.on_ack(9000, false, false));
    }
}
