//! Ranks of data: urgency of its transfer, message or write (Alizadeh et al., pFabric, SIGCOMM 2013, section 4.1).
//! Remaining bytes are counted as in the authors' ns-2 code: neither acknowledged nor SACKed when the packet leaves.

use super::Sender;
use crate::map::fabric::FabricMap;
use crate::spec::Rank;

impl Sender {
    /// Rank of data that begins at `seq`, in bytes.
    pub(super) fn rank(&self, net: &FabricMap, rank: Rank, seq: u64) -> u64 {
        let unit = self.unit(net);
        // the FIN has a number beyond the data
        let place = if seq < self.app.written { seq } else { seq.saturating_sub(1) };
        let begin = place - place % unit;
        let end = begin.saturating_add(unit).min(self.app.end().unwrap_or(u64::MAX));
        match rank {
            Rank::Sent => seq - begin,
            _ if end == u64::MAX => end,
            Rank::Size => end - begin,
            Rank::Remaining => {
                let left = end.saturating_sub(self.snd.una.max(begin));
                left.saturating_sub(if self.board.has_sacked() { self.board.sacked_bytes() } else { 0 })
            }
        }
    }
}
