//! How long LSwift and MSwift wait for packets that others have overtaken (Gerstein et al., arXiv 2025, section III).
//! The transport keeps the count ([`Late`]).

use crate::{Late, Profile, Time};

params! {
    /// Consecutive late packets that count as a loss: they are sent again and the window is reduced.
    late_trigger: u32 = "5", "packets", "Gerstein et al. section III; LTCP has 2",
        "a whole number of at least 1" => |n| *n >= 1;
    /// How long the sender waits for a late packet before it sends the packet again, without a reduction; auto is one
    /// smoothed RTT. The retransmission timeout ends the wait at the latest.
    lazy_wait: Option<Time> = "auto", "", "own choice; not public";
    profile => |p, profile| Profile { late: Some(Late { trigger: p.late_trigger, wait: p.lazy_wait }), ..profile };
}
