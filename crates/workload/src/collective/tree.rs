//! Double binary tree (NVIDIA/nccl 5067397c, `trees.cc`; Sanders, Speck, Träff 2009): half of the data goes up and
//! down each of two trees, in pieces; a member that is inside one tree is a leaf of the other, if n is even.

use super::member::Member;
use super::parts::pieces;
use crate::graph::Refused;

/// Parent of a position in a tree of n; `None` for the root. Tree 0: with b the lowest set bit of r > 0 the parent is
/// (r ^ b) | 2b, or r ^ b where that is not below n. Tree 1 is the mirror for even n, the shift by one for odd n.
pub fn parent(tree: u32, n: u64, position: u64) -> Option<u64> {
    let first = |r: u64| {
        let bit = r & r.wrapping_neg();
        let up = (r ^ bit) | (bit << 1);
        (r > 0).then_some(if up < n { up } else { r ^ bit })
    };
    match tree {
        0 => first(position),
        _ if n % 2 == 0 => first(n - 1 - position).map(|up| n - 1 - up),
        _ => first((position + n - 1) % n).map(|up| (up + 1) % n),
    }
}

/// Children of a position, ascending.
pub fn children(tree: u32, n: u64, position: u64) -> Vec<u64> {
    // in tree 0 the children of r lie at a distance of a bit below its lowest one
    let of_first = |r: u64| {
        let low = if r == 0 { n.next_power_of_two() } else { r & r.wrapping_neg() };
        let mut bit = low >> 1;
        let mut found = Vec::new();
        while bit > 0 {
            let near = [r.checked_sub(bit), r.checked_add(bit)].into_iter().flatten();
            found.extend(near.filter(|c| *c < n && parent(0, n, *c) == Some(r)));
            bit >>= 1;
        }
        found
    };
    let mut found: Vec<u64> = match tree {
        0 => of_first(position),
        _ if n % 2 == 0 => of_first(n - 1 - position).into_iter().map(|c| n - 1 - c).collect(),
        _ => of_first((position + n - 1) % n).into_iter().map(|c| (c + 1) % n).collect(),
    };
    found.sort_unstable();
    found.dedup();
    found
}

/// Number of edges from the root to the deepest position.
pub fn depth(tree: u32, n: u64) -> u64 {
    let depth_of = |mut position: u64| {
        let mut depth = 0;
        while let Some(up) = parent(tree, n, position) {
            position = up;
            depth += 1;
        }
        depth
    };
    (0..n).map(depth_of).max().unwrap_or(0)
}

/// Adds the pieces of a channel: the first half of its share by tree 0, the rest by tree 1.
pub(super) fn add(m: &mut Member, n: u64, share: u64, chunk: Option<u64>, channel: u32) -> Result<(), Refused> {
    for tree in 0..2 {
        let bytes = if tree == 0 { share.div_ceil(2) } else { share / 2 };
        let tag = 2 * channel + tree;
        let up = parent(tree, n, m.position);
        let down = children(tree, n, m.position);
        // latest receive of each connection: pieces come one after the other
        let mut latest = vec![Vec::new(); down.len() + 1];
        for piece in pieces(bytes, chunk) {
            let mut summed = Vec::new();
            for (i, child) in down.iter().enumerate() {
                let received = m.recv(*child, piece, tag, &latest[i])?;
                latest[i] = vec![received];
                summed.push(m.reduce(piece, received)?);
            }
            let ready = match up {
                Some(up) => {
                    m.send(up, piece, tag, &summed)?;
                    let received = m.recv(up, piece, tag, &latest[down.len()])?;
                    latest[down.len()] = vec![received];
                    vec![received]
                }
                None => summed,
            };
            for child in &down {
                m.send(*child, piece, tag, &ready)?;
            }
        }
    }
    Ok(())
}
