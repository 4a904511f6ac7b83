//! Recovery without SACK as Linux has it: duplicate ACKs stand for segments that have arrived, and are taken back
//! as ACKs advance over these.

use super::*;

/// Most that duplicates can make of `dupthresh` (net.ipv4.tcp_max_reordering).
const MAX_REORDERING: u32 = 300;

impl Sender {
    /// What an ACK says that has arrived, in bytes: an ACK of `segments` that advances fills a hole with one of
    /// them, and the others are those that duplicates stood for; a duplicate is one segment. Duplicates of what
    /// went again after a timeout count only if new data was sent since, which they may be of.
    pub(super) fn guess_delivered(&mut self, t: &TransportSpec, acked: u64, segments: u32, duplicate: bool) -> u64 {
        let mss = t.mss as u64;
        if acked > 0 {
            let guessed = self.dupacks;
            self.dupacks = guessed.saturating_sub(segments.saturating_sub(1));
            self.limit_duplicates(t, segments);
            return (segments.saturating_sub(guessed).max(1) as u64 * mss).min(acked);
        }
        let counts = match self.phase {
            Phase::Open | Phase::Cwr => true,
            Phase::Recovery => self.una < self.recover,
            Phase::Loss => self.una < self.recover && self.nxt > self.recover,
        };
        if !duplicate || !counts {
            return 0;
        }
        let before = self.dupacks;
        self.dupacks += 1;
        self.limit_duplicates(t, 0);
        if self.dupacks > before { mss } else { 0 }
    }

    /// There are no more duplicates than segments beyond a hole. More of them are taken for reordering.
    fn limit_duplicates(&mut self, t: &TransportSpec, more: u32) {
        let out = self.board.len();
        if self.dupacks == 0 {
            return;
        }
        let holes = self.board.lost_at_front().max(1).min(out);
        if self.dupacks + holes > out {
            self.dupacks = out - holes;
            if t.reordering {
                self.dupthresh = (out + more).min(MAX_REORDERING);
            }
        }
    }

    /// Brings the state up to date; true when a loss was found that the controller has to react to.
    pub(super) fn recover_by_guesses<O: Outbox, R: Recorder>(&mut self, io: &mut Io<O, R>, news: &News) -> bool {
        let advanced = news.acked > 0;
        if self.phase == Phase::Recovery && self.una >= self.recover {
            self.dupacks = 0;
            if self.was_mistaken(news.echoed) {
                self.take_back();
            }
            // the state is held until something beyond the old data is acknowledged: duplicates of what was sent
            // twice start nothing (RFC 6582)
            if self.una == self.recover {
                return false;
            }
            self.phase = Phase::Open;
            self.cc.on_recovered(Time(io.now), self.board.pipe());
        }
        match self.phase {
            Phase::Recovery => {
                if advanced {
                    self.newly_lost = !self.board.first_is_lost();
                    self.board.mark_first_lost();
                }
                return false;
            }
            Phase::Loss => {
                self.repair_by_guesses(news, advanced);
                if self.phase == Phase::Loss {
                    return false;
                }
            }
            Phase::Open | Phase::Cwr => {}
        }
        if advanced {
            self.dupacks = 0;
        }
        if self.dupacks < self.dupthresh {
            return false;
        }
        self.newly_lost = !self.board.first_is_lost();
        self.board.mark_first_lost();
        self.board.first_is_lost()
    }

    /// An ACK while what a timeout gave up is repaired.
    fn repair_by_guesses(&mut self, news: &News, advanced: bool) {
        let recovered = self.una >= self.recover;
        // an ACK of something that went again does not tell which of its segments had arrived before
        let original = self.board.original_arrived() && !self.board.acked_again();
        if advanced && self.was_mistaken(news.echoed) {
            self.take_back();
            self.board.nothing_is_lost(self.una);
            return;
        }
        if self.frto {
            if original {
                self.take_back();
                self.board.nothing_is_lost(self.una);
                if self.una != self.recover {
                    self.phase = Phase::Open;
                }
                return;
            }
            if self.nxt > self.recover {
                self.frto &= !news.duplicate;
            } else if advanced && !recovered {
                self.recover = self.nxt;
                self.board.watch_below(self.recover);
                if self.app.written > self.nxt && self.edge > self.nxt {
                    self.new_first = true;
                    return;
                }
                self.frto = false;
            }
        }
        if self.una > self.recover {
            self.phase = Phase::Open;
        } else if advanced && !recovered {
            self.dupacks = 0;
        }
    }
}
