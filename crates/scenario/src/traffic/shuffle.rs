//! Random orders.

use std::collections::HashMap;

/// Fisher and Yates's shuffle of `0..n`; `draw(i, n)` is the i-th draw below n.
pub(crate) fn shuffled(n: u32, draw: impl Fn(u32, u32) -> u32) -> Vec<u32> {
    let mut items: Vec<u32> = (0..n).collect();
    for i in (1..n).rev() {
        items.swap(i as usize, draw(i, i + 1) as usize);
    }
    items
}

/// The first `n` places of a shuffle of `0..all`, computed from the changed places only; `draw(i, m)` is the i-th
/// draw below m.
pub(crate) fn drawn(n: u32, all: u32, draw: impl Fn(u32, u32) -> u32) -> Vec<u32> {
    let mut moved: HashMap<u32, u32> = HashMap::new();
    let place = |moved: &HashMap<u32, u32>, i: u32| moved.get(&i).copied().unwrap_or(i);
    let chosen = (0..n).map(|i| {
        let with = i + draw(i, all - i);
        let (own, other) = (place(&moved, i), place(&moved, with));
        moved.insert(with, own);
        other
    });
    chosen.collect()
}
