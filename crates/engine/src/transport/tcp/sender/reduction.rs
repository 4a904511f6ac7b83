//! The window while a reduction lasts: proportional rate reduction (RFC 6937), as published, as ns-3
//! and as Linux have it.

use super::*;

impl Sender {
    /// A reduction from `window` begins.
    pub(super) fn start_prr(&mut self, t: &TransportSpec, window: f64) {
        let recover_fs = if t.recovery == Recovery::Linux { window as u64 } else { self.nxt - self.una };
        self.prr = Prr { delivered: 0, out: 0, recover_fs: recover_fs.max(1), ssthresh: self.cc.cwnd() };
    }

    /// ns-3.43's rate reduction, in its 32-bit arithmetic. `duplicate`: the ACK is one, or opens
    /// the episode; `safe`: it acknowledges a retransmission.
    pub(super) fn prr_ns3(&mut self, t: &TransportSpec, delivered: u64, duplicate: bool, safe: bool) {
        let prr = &mut self.prr;
        let pipe = self.board.pipe() as u32;
        if prr.delivered == 0 && prr.out == 0 && duplicate {
            // the episode's first step
            prr.recover_fs = pipe as u64;
        }
        let mut delivered = delivered as u32;
        if duplicate && prr.delivered < prr.recover_fs {
            delivered += t.mss;
        }
        if delivered == 0 {
            return;
        }
        prr.delivered += delivered as u64;
        let (arrived, out, ssthresh) = (prr.delivered as u32, prr.out as u32, prr.ssthresh as u32);
        let send = if pipe > ssthresh {
            let product = arrived.wrapping_mul(ssthresh) as f64;
            // what C++ makes of infinity is the least integer
            if prr.recover_fs == 0 {
                i32::MIN
            } else {
                (libm::ceil(product / prr.recover_fs as f64) - out as f64) as i32
            }
        } else {
            let owed = arrived.wrapping_sub(out).max(delivered).wrapping_add(if safe { t.mss } else { 0 });
            (owed as i32).min((ssthresh - pipe) as i32)
        };
        // the first segment goes whatever is in flight
        let least = if out > 0 { 0 } else { t.mss as i32 };
        self.recovery_window = pipe as f64 + send.max(least) as f64;
    }

    pub(super) fn prr_governs(&self, t: &TransportSpec) -> bool {
        match self.phase {
            Phase::Recovery => {
                (t.sack && !matches!(t.recovery, Recovery::NewReno | Recovery::Htsim) || t.recovery == Recovery::Linux)
                    && !self.profile.own_recovery
            }
            Phase::Cwr => t.ecn_by_prr && !self.profile.own_recovery,
            _ => false,
        }
    }

    pub(super) fn prr_update(&mut self, t: &TransportSpec, delivered: u64) {
        let prr = &mut self.prr;
        prr.delivered += delivered;
        let pipe = self.board.pipe();
        let send = if pipe as f64 > prr.ssthresh {
            let share = libm::ceil(prr.delivered as f64 * prr.ssthresh / prr.recover_fs as f64);
            (share - prr.out as f64).max(0.0)
        } else {
            let owed = prr.delivered.saturating_sub(prr.out).max(delivered) + t.mss as u64;
            (prr.ssthresh - pipe as f64).min(owed as f64)
        };
        // nothing out yet: one segment goes whatever is in flight
        let least = if prr.out == 0 { t.mss as f64 } else { 0.0 };
        self.recovery_window = pipe as f64 + send.max(least);
    }

    /// The same in whole segments, as Linux counts them.
    pub(super) fn prr_linux(&mut self, t: &TransportSpec, delivered: u64, advanced: bool) {
        if delivered == 0 {
            return;
        }
        let mss = t.mss as u64;
        let in_flight = self.pipe(t).div_ceil(mss) as i64;
        let prr = &mut self.prr;
        let newly = delivered.div_ceil(mss);
        prr.delivered += newly * mss;
        let ssthresh = (prr.ssthresh / mss as f64) as u64;
        let (total, out) = (prr.delivered / mss, prr.out.div_ceil(mss) as i64);
        let room = ssthresh as i64 - in_flight;
        let send = if room < 0 {
            (ssthresh * total).div_ceil((prr.recover_fs / mss).max(1)) as i64 - out
        } else {
            let grown = i64::from(advanced && !self.newly_lost);
            room.min((total as i64 - out).max(newly as i64) + grown)
        };
        // nothing out yet: the first retransmission goes whatever is in flight
        let send = send.max(i64::from(prr.out == 0));
        self.recovery_window = ((in_flight + send).max(0) as u64 * mss) as f64;
    }
}
