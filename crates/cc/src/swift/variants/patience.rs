//! Waiting times of LSwift and MSwift for packets that others have overtaken (Gerstein et al., arXiv 2025, section
//! III). The transport keeps the count ([`Late`]).

use crate::{Late, Profile, Time};

params! {
    /// Number of consecutive late packets that count as a loss: they are retransmitted and the window is reduced.
    late_trigger: u32 = "5", "packets", "Gerstein et al. section III; LTCP has 2",
        "a whole number of at least 1" => |n| *n >= 1;
    /// Waiting time before a late packet is retransmitted without a reduction; auto is one smoothed RTT. The
    /// retransmission timeout ends the wait at the latest.
    lazy_wait: Option<Time> = "auto", "", "own choice; not public";
    profile => |p, profile| Profile { late: Some(Late { trigger: p.late_trigger, wait: p.lazy_wait }), ..profile };
}
