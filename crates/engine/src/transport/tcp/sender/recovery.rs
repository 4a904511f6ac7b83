//! Loss recovery: its phase, its window, and the mechanisms that it consists of.

use super::frto::Frto;
use super::prr::Prr;
use super::tlp::Tlp;
use super::undo::Undo;
use crate::spec::{LossRules, Recovery, TransportSpec};
use incast_cc::Phase;

/// Loss recovery. Fields that tell whether all is in order come first.
#[derive(Debug)]
#[repr(C)]
pub(super) struct LossRecovery {
    pub phase: Phase,
    /// F-RTO after a timeout.
    pub frto: Frto,
    /// Set if the current ACK showed a loss.
    pub newly_lost: bool,
    /// Set if a timeout ended a recovery whose inflation stays.
    pub left_inflated: bool,
    /// Set if `window` is the inflation of the controller's window.
    pub inflates: bool,
    /// Set if nothing is being repaired, but segments are SACKed or were retransmitted (Linux: Disorder).
    pub disorder: bool,
    /// Set once RFC 6675's rescue retransmission went.
    pub rescued: bool,
    /// Set while the segment being sent opens a fast recovery or follows a timeout.
    pub restarting: bool,
    pub dupacks: u32,
    /// Number of duplicates that signal a loss, without SACK.
    pub dupthresh: u32,
    pub partial_acks: u32,
    /// Bytes sent by limited transmit since the first duplicate.
    pub limited: u64,
    /// Recovery window in bytes; below 0 if the controller's window counts.
    pub window: f64,
    /// End of the recovery: all below is acknowledged.
    pub point: u64,
    pub undo: Undo,
    pub prr: Prr,
    pub tlp: Tlp,
    pub renumbering: Renumbering,
}

/// Data that a timeout gave up and that is retransmitted as new data (htsim's Swift).
#[derive(Default, Debug)]
pub(super) struct Renumbering {
    /// Range of the data: all but its first segment is renumbered. (0, 0) if there is none.
    pub range: (u64, u64),
    /// Set if such data was lost for good.
    pub hung: bool,
}

impl Renumbering {
    /// Returns whether the segment at `seq` is retransmitted as new data.
    pub fn covers(&self, seq: u64) -> bool {
        self.range.0 < seq && seq < self.range.1
    }
}

impl LossRecovery {
    /// State without losses.
    pub fn new(t: &TransportSpec) -> LossRecovery {
        LossRecovery {
            phase: Phase::Open,
            frto: Frto::default(),
            newly_lost: false,
            left_inflated: false,
            inflates: t.loss.recovery == Recovery::Htsim && !t.loss.sack,
            disorder: false,
            rescued: false,
            restarting: false,
            dupacks: 0,
            dupthresh: t.loss.dupthresh,
            partial_acks: 0,
            limited: 0,
            window: 0.0,
            point: 0,
            undo: Undo::default(),
            prr: Prr::default(),
            tlp: Tlp::default(),
            renumbering: Renumbering::default(),
        }
    }

    /// Returns whether nothing is lost, reduced or about to be.
    #[inline(always)]
    pub fn is_in_order(&self) -> bool {
        self.phase == Phase::Open
            && (self.dupacks, self.limited, self.newly_lost, self.left_inflated) == (0, 0, false, false)
            && self.undo.marker.is_none()
            && !self.frto.is_active()
    }

    /// Returns whether the recovery window replaces the controller's.
    #[inline]
    pub fn has_window(&self) -> bool {
        match self.phase {
            Phase::Open | Phase::Loss => self.left_inflated,
            Phase::Recovery | Phase::Cwr => self.window >= 0.0,
        }
    }

    /// Returns whether the window is being reduced.
    #[inline]
    pub fn is_reducing(&self) -> bool {
        matches!(self.phase, Phase::Recovery | Phase::Cwr)
    }

    /// Returns whether PRR sets the window.
    pub fn prr_governs(&self, loss: &LossRules) -> bool {
        match self.phase {
            Phase::Recovery if loss.recovery == Recovery::Linux => true,
            Phase::Recovery => loss.sack && !matches!(loss.recovery, Recovery::NewReno | Recovery::Htsim),
            Phase::Cwr => loss.ecn_by_prr,
            _ => false,
        }
    }

    /// Returns whether duplicates of data from `una` on are of data sent after the last recovery (RFC 6582 section 3.2,
    /// step 1).
    pub fn is_past(&self, una: u64) -> bool {
        una > self.point || self.point == 0 || self.inflates && una == self.point
    }

    /// Counts new data sent on duplicates before a fast retransmit (limited transmit, RFC 3042), which is no part of
    /// the flight (RFC 5681).
    #[inline(always)]
    pub fn count_limited(&mut self, len: u32) {
        if self.dupacks > 0 && self.phase == Phase::Open {
            self.limited += len as u64;
        }
    }

    /// Begins a reduction at `una` that may have to be undone.
    pub fn begin_undo(&mut self, loss: &LossRules, una: u64, due: bool) {
        if loss.undo {
            // a probe that repeated old data may be reported as a duplicate too
            let retransmissions = if self.tlp.repeats() { 1 } else { -1 };
            self.undo = Undo { marker: Some(una), retransmissions, due, ..Undo::default() };
        }
    }
}
