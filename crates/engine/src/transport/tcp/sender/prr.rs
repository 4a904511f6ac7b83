//! Window during a reduction: proportional rate reduction (RFC 6937), as published, as in Linux and as in ns-3. Input:
//! bytes in flight and bytes delivered by an ACK.

/// State of a reduction.
#[derive(Clone, Copy, Default, Debug)]
pub struct Prr {
    /// prr_delivered.
    delivered: u64,
    /// prr_out.
    pub out: u64,
    /// Base of the share: the flight at the start, or (Linux) the window at the start.
    recover_fs: u64,
    /// Window at the end of the reduction.
    pub ssthresh: f64,
    /// ns-3: delivered bytes short of a whole segment.
    left_over: u32,
    /// ns-3: set if the current ACK completed a whole segment.
    pub whole_segment: bool,
}

impl Prr {
    /// Begins a reduction from `recover_fs` to `ssthresh`.
    pub fn begin(&mut self, recover_fs: u64, ssthresh: f64) {
        *self = Prr { delivered: 0, out: 0, recover_fs: recover_fs.max(1), ssthresh, ..*self };
    }

    /// Window after an ACK (RFC 6937 section 3.1, with the slow-start reduction bound).
    pub fn window(&mut self, pipe: u64, delivered: u64, mss: u32) -> f64 {
        self.delivered += delivered;
        let send = if pipe as f64 > self.ssthresh {
            let share = libm::ceil(self.delivered as f64 * self.ssthresh / self.recover_fs as f64);
            (share - self.out as f64).max(0.0)
        } else {
            let owed = self.delivered.saturating_sub(self.out).max(delivered) + mss as u64;
            (self.ssthresh - pipe as f64).min(owed as f64)
        };
        // nothing out yet: one segment goes whatever is in flight
        let min = if self.out == 0 { mss as f64 } else { 0.0 };
        pipe as f64 + send.max(min)
    }

    /// As [`Prr::window`], in whole segments as in Linux; `grows`: the ACK advances and shows no new loss.
    pub fn window_of_linux(&mut self, pipe: u64, delivered: u64, mss: u64, grows: bool) -> f64 {
        let in_flight = pipe.div_ceil(mss) as i64;
        let newly = delivered.div_ceil(mss);
        self.delivered += newly * mss;
        let ssthresh = (self.ssthresh / mss as f64) as u64;
        let (total, out) = (self.delivered / mss, self.out.div_ceil(mss) as i64);
        let room = ssthresh as i64 - in_flight;
        let send = if room < 0 {
            (ssthresh * total).div_ceil((self.recover_fs / mss).max(1)) as i64 - out
        } else {
            room.min((total as i64 - out).max(newly as i64) + i64::from(grows))
        };
        // nothing out yet: the first retransmission goes whatever is in flight
        let send = send.max(i64::from(self.out == 0));
        ((in_flight + send).max(0) as u64 * mss) as f64
    }

    /// Counts whole segments, since ns-3 reduces only on ACKs that complete one; the rest waits for the next ACK.
    pub fn count_segments(&mut self, delivered: u64, mss: u32) {
        let bytes = self.left_over as u64 + delivered;
        self.left_over = (bytes % mss as u64) as u32;
        self.whole_segment = bytes >= mss as u64;
    }

    /// As [`Prr::window`], with the rules and the 32-bit arithmetic of ns-3.43; `None` keeps the window. `duplicate`:
    /// the ACK is one, or opens the episode; `safe`: it acknowledges a retransmission.
    pub fn window_of_ns3(&mut self, pipe: u32, delivered: u64, mss: u32, duplicate: bool, safe: bool) -> Option<f64> {
        if self.delivered == 0 && self.out == 0 && duplicate {
            // first step of the episode
            self.recover_fs = pipe as u64;
        }
        let mut delivered = delivered as u32;
        if duplicate && self.delivered < self.recover_fs {
            delivered += mss;
        }
        if delivered == 0 {
            return None;
        }
        self.delivered += delivered as u64;
        let (arrived, out, ssthresh) = (self.delivered as u32, self.out as u32, self.ssthresh as u32);
        let send = if pipe > ssthresh {
            let product = arrived.wrapping_mul(ssthresh) as f64;
            // C++ converts infinity to the smallest integer
            if self.recover_fs == 0 {
                i32::MIN
            } else {
                (libm::ceil(product / self.recover_fs as f64) - out as f64) as i32
            }
        } else {
            let owed = arrived.wrapping_sub(out).max(delivered).wrapping_add(if safe { mss } else { 0 });
            (owed as i32).min((ssthresh - pipe) as i32)
        };
        // the first segment goes whatever is in flight
        let min = if out > 0 { 0 } else { mss as i32 };
        Some(pipe as f64 + send.max(min) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::Prr;

    const MSS: u32 = 1000;

    /// Bytes sent on each ACK of a recovery of `flight` segments towards `target`, one SACKed a time; `lost` were lost.
    fn sends(flight: u64, lost: u64, target: u64) -> Vec<u64> {
        let mut prr = Prr::default();
        prr.begin(flight * 1000, target as f64 * 1000.0);
        let mut pipe = (flight - lost) * 1000;
        let acks = (0..flight - lost).map(|_| {
            pipe -= 1000;
            let send = ((prr.window(pipe, 1000, MSS) - pipe as f64) as u64) / 1000;
            (pipe, prr.out) = (pipe + send * 1000, prr.out + send * 1000);
            send
        });
        acks.collect()
    }

    #[test]
    fn segments_leave_in_proportion_until_the_window_is_reached() {
        // RFC 6937 section 4: 20 segments, one lost, the window halved. In bytes a half segment waits for the other
        // half
        let sent = sends(20, 1, 10);
        assert_eq!(sent[..8], [1, 0, 0, 1, 0, 1, 0, 1]);
        assert_eq!(sent.iter().sum::<u64>(), 10, "the window is reached");
    }

    #[test]
    fn heavy_loss_regrows_by_slow_start_and_never_beyond_the_window() {
        // 15 of 20 lost: the pipe lies below the target, and grows by one more segment an ACK than arrived
        let sent = sends(20, 15, 10);
        assert_eq!(sent[0], 2);
        assert!(sent.iter().sum::<u64>() <= 10);
    }

    #[test]
    fn the_first_retransmission_goes_whatever_is_in_flight() {
        let mut prr = Prr::default();
        prr.begin(20_000, 2_000.0);
        assert_eq!(prr.window(19_000, 1000, MSS), 20_000.0);
        assert_eq!(Prr { out: 0, ..prr }.window_of_linux(19_000, 1000, 1000, false), 20_000.0);
    }

    #[test]
    fn ns3_reduces_on_whole_segments_alone() {
        let mut prr = Prr::default();
        prr.count_segments(600, MSS);
        assert!(!prr.whole_segment);
        prr.count_segments(600, MSS);
        assert!(prr.whole_segment);
        prr.begin(10_000, 5_000.0);
        assert_eq!(prr.window_of_ns3(9_000, 0, MSS, false, false), None, "nothing was delivered");
    }
}
