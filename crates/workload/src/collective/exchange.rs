//! Exchanges by rounds: halving-doubling, recursive doubling, binomial trees, dissemination, all-to-all.

use super::member::Member;
use super::method::{Algorithm, Method};
use super::parts::bound;
use crate::graph::{Collective, Pattern, Refused};

/// Recursive halving: in round k positions at distance n/2, n/4, .. exchange halves of what they still have; then
/// recursive doubling of the sums, in the reverse order. n is a power of two.
pub(super) fn halving_doubling(m: &mut Member, pattern: Pattern, n: u64, bytes: u64) -> Result<(), Refused> {
    let size = |from: u64, to: u64| bound(bytes, n, to) - bound(bytes, n, from);
    let (mut from, mut to) = (0, n);
    let mut last: Vec<u32> = Vec::new();
    // what is kept after each round of halving: doubling goes back over it
    let mut kept = vec![(from, to)];
    while to - from > 1 {
        let middle = from + (to - from) / 2;
        let upper = m.position >= middle;
        let peer = if upper { m.position - (middle - from) } else { m.position + (middle - from) };
        let (keep, give) = if upper { ((middle, to), (from, middle)) } else { ((from, middle), (middle, to)) };
        if pattern != Pattern::AllGather {
            m.send(peer, size(give.0, give.1), 0, &last)?;
            let received = m.recv(peer, size(keep.0, keep.1), 0, &last)?;
            last = vec![m.reduce(size(keep.0, keep.1), received)?];
        }
        (from, to) = keep;
        kept.push(keep);
    }
    if pattern == Pattern::ReduceScatter {
        return Ok(());
    }
    for pair in kept.windows(2).rev() {
        let (all, own) = (pair[0], pair[1]);
        let half = own.1 - own.0;
        let (peer, other) =
            if own.0 == all.0 { (m.position + half, (own.1, all.1)) } else { (m.position - half, (all.0, own.0)) };
        m.send(peer, size(own.0, own.1), 0, &last)?;
        last = vec![m.recv(peer, size(other.0, other.1), 0, &last)?];
    }
    Ok(())
}

/// Exchanges with the positions that differ in one bit: of all data for a reduction, of what is gathered otherwise.
pub(super) fn recursive_doubling(m: &mut Member, pattern: Pattern, n: u64, bytes: u64) -> Result<(), Refused> {
    let mut last: Vec<u32> = Vec::new();
    let mut distance = 1;
    while distance < n {
        let peer = m.position ^ distance;
        if pattern == Pattern::AllGather {
            let size = |position: u64| {
                let first = position / distance * distance;
                bound(bytes, n, first + distance) - bound(bytes, n, first)
            };
            m.send(peer, size(m.position), 0, &last)?;
            last = vec![m.recv(peer, size(peer), 0, &last)?];
        } else {
            m.send(peer, bytes, 0, &last)?;
            let received = m.recv(peer, bytes, 0, &last)?;
            last = vec![m.reduce(bytes, received)?];
        }
        distance <<= 1;
    }
    Ok(())
}

/// Binomial tree: a broadcast halves the distance each round, a reduce doubles it.
pub(super) fn binomial(m: &mut Member, pattern: Pattern, n: u64, bytes: u64, root: u64) -> Result<(), Refused> {
    // positions relative to the root
    let own = (m.position + n - root) % n;
    let place = |relative: u64| (relative + root) % n;
    let low = if own == 0 { n.next_power_of_two() } else { own & own.wrapping_neg() };
    let mut last: Vec<u32> = Vec::new();
    if pattern == Pattern::Broadcast {
        if own > 0 {
            last = vec![m.recv(place(own - low), bytes, 0, &[])?];
        }
        let mut bit = low >> 1;
        while bit > 0 {
            if own + bit < n {
                m.send(place(own + bit), bytes, 0, &last)?;
            }
            bit >>= 1;
        }
        return Ok(());
    }
    let mut bit = 1;
    while bit < low {
        if own + bit < n {
            let received = m.recv(place(own + bit), bytes, 0, &last)?;
            last = vec![m.reduce(bytes, received)?];
        }
        bit <<= 1;
    }
    if own > 0 {
        m.send(place(own - low), bytes, 0, &last)?;
    }
    Ok(())
}

/// Barrier: in round k a message without data to the position 2^k further.
pub(super) fn dissemination(m: &mut Member, n: u64) -> Result<(), Refused> {
    let mut last: Vec<u32> = Vec::new();
    let mut distance = 1;
    while distance < n {
        m.send((m.position + distance) % n, 0, 0, &last)?;
        last = vec![m.recv((m.position + n - distance) % n, 0, 0, &last)?];
        distance <<= 1;
    }
    Ok(())
}

/// Distances of an all-to-all in the order in which NCCL groups them (NVIDIA/nccl 5067397c): 0, 1, 3, 6, 10, .. modulo
/// the power of two not below n, without those that are not below n.
pub fn grouped_distances(n: u64) -> Vec<u64> {
    let size = n.next_power_of_two();
    let steps = (0..size).scan(0u64, move |at, step| {
        *at = (*at + step) % size;
        Some(*at)
    });
    steps.filter(|distance| *distance < n).collect()
}

/// All-to-all: rounds of one send and one receive each, by the distances of the algorithm.
pub(super) fn all_to_all(m: &mut Member, what: &Collective, method: &Method, n: u64) -> Result<(), Refused> {
    let distances: Vec<u64> = match method.algorithm {
        Algorithm::NcclGrouped => grouped_distances(n).into_iter().filter(|d| *d > 0).collect(),
        _ => (1..n).collect(),
    };
    let under_way = match method.algorithm {
        Algorithm::Pairwise => 1,
        Algorithm::Windowed => method.window as usize,
        _ => usize::MAX,
    };
    let size = |from: u64, to: u64| match &what.sizes {
        Some(sizes) => sizes.get((from * n + to) as usize).copied().unwrap_or(0),
        None => bound(what.bytes.0, n, to + 1) - bound(what.bytes.0, n, to),
    };
    // sizes of pairs say who has nothing to send
    let skips = |bytes: u64| bytes == 0 && what.sizes.is_some();
    let mut rounds: Vec<Vec<u32>> = Vec::with_capacity(distances.len());
    for (round, distance) in distances.into_iter().enumerate() {
        let (to, from) = ((m.position + distance) % n, (m.position + n - distance) % n);
        let after = round.checked_sub(under_way).map_or(&[][..], |before| &rounds[before]);
        let (sends, receives) = (size(m.position, to), size(from, m.position));
        let mut own = Vec::with_capacity(2);
        if !skips(sends) {
            own.push(m.send(to, sends, 0, after)?);
        }
        if !skips(receives) {
            own.push(m.recv(from, receives, 0, after)?);
        }
        // a round without messages is over when the one before is
        if own.is_empty() {
            own.extend_from_slice(after);
        }
        rounds.push(own);
    }
    Ok(())
}
