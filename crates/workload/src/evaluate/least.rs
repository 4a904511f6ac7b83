//! Bytes that a collective moves at least, whatever its algorithm, where no switch reduces.

use crate::graph::{Collective, Pattern};
use incast_cc::Bytes;

/// Bytes that a pair of an all-to-all exchanges.
pub(super) fn pair(what: &Collective, n: u64, from: u64, to: u64) -> u64 {
    match &what.sizes {
        Some(sizes) => sizes.get((from * n + to) as usize).copied().unwrap_or(0),
        None => what.bytes.0 / n.max(1),
    }
}

/// Part (n-1)/n of the total.
fn others(what: &Collective, n: u64) -> u64 {
    (u128::from(what.bytes.0) * u128::from(n.saturating_sub(1)) / u128::from(n.max(1))) as u64
}

/// Bytes that some member of n sends or receives at least: 2(n-1)/n S of an all-reduce, as all members together send
/// 2(n-1) S; (n-1)/n S of a reduce-scatter, an all-gather or an all-to-all, S of a broadcast or a reduce.
pub fn moved(what: &Collective, n: u64) -> Bytes {
    Bytes(match what.pattern {
        _ if n < 2 => 0,
        Pattern::AllReduce => others(what, n).saturating_mul(2),
        Pattern::AllToAll if what.sizes.is_some() => {
            let ends = (0..n).map(|position| own(what, n, position));
            ends.map(|(sends, receives)| sends.0.max(receives.0)).max().unwrap_or(0)
        }
        Pattern::ReduceScatter | Pattern::AllGather | Pattern::AllToAll => others(what, n),
        Pattern::Broadcast | Pattern::Reduce => what.bytes.0,
        Pattern::Barrier => 0,
    })
}

/// Bytes that the member at a position sends and receives at least. Of an all-reduce each member sends S: for each
/// value its own part, or the sum if the sum is made there.
pub fn own(what: &Collective, n: u64, position: u64) -> (Bytes, Bytes) {
    let (all, part, is_root) = (what.bytes.0, what.bytes.0 / n.max(1), position == u64::from(what.root));
    let (sends, receives) = match what.pattern {
        _ if n < 2 => (0, 0),
        Pattern::AllReduce => (all, all),
        Pattern::ReduceScatter => (others(what, n), part),
        Pattern::AllGather => (part, others(what, n)),
        Pattern::AllToAll => {
            let peers = || (0..n).filter(|peer| *peer != position);
            let sum = |bytes: u64, more: u64| bytes.saturating_add(more);
            let sends = peers().map(|to| pair(what, n, position, to)).fold(0, sum);
            (sends, peers().map(|from| pair(what, n, from, position)).fold(0, sum))
        }
        Pattern::Broadcast if is_root => (all, 0),
        Pattern::Reduce if is_root => (0, all),
        Pattern::Broadcast => (0, all),
        Pattern::Reduce => (all, 0),
        Pattern::Barrier => (0, 0),
    };
    (Bytes(sends), Bytes(receives))
}

/// Bytes that a member of a collective without a root and without sizes of pairs receives at least after the last of
/// the others has started. Parts of a reduce-scatter or an all-gather may be empty.
pub(super) fn from_last(what: &Collective, n: u64) -> Bytes {
    Bytes(match what.pattern {
        Pattern::AllReduce => what.bytes.0,
        Pattern::AllToAll => what.bytes.0 / n.max(1),
        _ => 0,
    })
}

/// Bytes that a member of such a collective receives at least, whatever its part: parts of a ring are rounded up to
/// 16 B.
pub(super) fn received(what: &Collective, n: u64) -> Bytes {
    let all = what.bytes.0;
    Bytes(match what.pattern {
        Pattern::AllReduce => all,
        Pattern::AllGather => {
            let part = all.div_ceil(n.max(1));
            all - part.checked_next_multiple_of(16).map_or(all, |part| part.min(all))
        }
        Pattern::AllToAll => (all / n.max(1)).saturating_mul(n.saturating_sub(1)),
        _ => 0,
    })
}
