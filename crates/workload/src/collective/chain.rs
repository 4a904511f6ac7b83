//! Chain: a broadcast goes from the root from member to member in pieces, a reduce the other way, to the root.

use super::member::Member;
use super::parts::pieces;
use crate::graph::{Pattern, Refused};

/// Ends of a chain, and what goes along it.
pub(super) struct Chain {
    pub n: u64,
    pub root: u64,
    pub share: u64,
    pub chunk: Option<u64>,
    pub channel: u32,
}

/// Adds the pieces of a channel.
pub(super) fn add(m: &mut Member, pattern: Pattern, chain: &Chain) -> Result<(), Refused> {
    let Chain { n, root, share, chunk, channel } = *chain;
    // place along the chain, from where the data begins
    let relative = (m.position + n - root) % n;
    let (own, back) = if pattern == Pattern::Reduce { (n - 1 - relative, true) } else { (relative, false) };
    let place = |at: u64| if back { (n - 1 - at + root) % n } else { (at + root) % n };
    let mut latest = Vec::new();
    for piece in pieces(share, chunk) {
        let mut ready = Vec::new();
        if own > 0 {
            let received = m.recv(place(own - 1), piece, channel, &latest)?;
            latest = vec![received];
            ready = vec![if back { m.reduce(piece, received)? } else { received }];
        }
        if own + 1 < n {
            m.send(place(own + 1), piece, channel, &ready)?;
        }
    }
    Ok(())
}
