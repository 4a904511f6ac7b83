//! The window while a reduction lasts: proportional rate reduction (RFC 6937), as published and as
//! Linux has it.

use super::*;

/// State of a reduction.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Prr {
    pub(super) delivered: u64,
    pub(super) out: u64,
    /// What the share is taken of: the flight at the start, or (Linux) the window then.
    pub(super) recover_fs: u64,
    pub(super) ssthresh: f64,
    /// ns-3: delivered bytes that make no whole segment yet.
    pub(super) left_over: u32,
    /// ... and the ACK at work made one.
    pub(super) whole_segment: bool,
}

impl Sender {
    /// A reduction from `window` begins.
    pub(super) fn start_prr(&mut self, t: &TransportSpec, window: f64) {
        let recover_fs = if t.recovery == Recovery::Linux { window as u64 } else { self.nxt - self.una };
        self.prr = Prr { delivered: 0, out: 0, recover_fs: recover_fs.max(1), ssthresh: self.cc.cwnd(), ..self.prr };
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
        self.recovery.window = pipe as f64 + send.max(least);
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
            let grown = i64::from(advanced && !self.recovery.newly_lost);
            room.min((total as i64 - out).max(newly as i64) + grown)
        };
        // nothing out yet: the first retransmission goes whatever is in flight
        let send = send.max(i64::from(prr.out == 0));
        self.recovery.window = ((in_flight + send).max(0) as u64 * mss) as f64;
    }
}
