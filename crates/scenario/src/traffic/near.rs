//! Distance of flows to elephants: leaves and pods where both begin or end.

use crate::topology::network::Network;

use std::collections::HashMap;

/// Distance from an end of a flow to that of an elephant: in another pod (or no elephant), in its pod, on its leaf.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Near {
    None,
    Pod,
    Leaf,
}

/// Names of the distances, in their order.
pub(super) const NEAR: [&str; 3] = ["none", "pod", "leaf"];

/// Places of a host where a flow begins (`false`) or ends (`true`), the nearest first.
fn places(network: &Network, side: bool, host: u32) -> impl Iterator<Item = (bool, Near, u32)> {
    let pod = host.checked_div(network.hosts_per_pod).map(|pod| (side, Near::Pod, pod));
    std::iter::once((side, Near::Leaf, network.racks[host as usize])).chain(pod)
}

/// Number of elephants that begin or end at each place.
pub(super) struct ElephantPlacement<'a> {
    network: &'a Network,
    ends: HashMap<(bool, Near, u32), u32>,
}

impl<'a> ElephantPlacement<'a> {
    /// Counts the elephants with these ends.
    pub(super) fn new(network: &'a Network, elephants: impl Iterator<Item = (u32, u32)>) -> ElephantPlacement<'a> {
        let hosts = elephants.flat_map(|(src, dst)| [(false, src), (true, dst)]);
        let mut ends = HashMap::new();
        for place in hosts.flat_map(|(side, host)| places(network, side, host)) {
            *ends.entry(place).or_insert(0) += 1;
        }
        ElephantPlacement { network, ends }
    }

    /// Distances of the elephants nearest to a flow's source and to its destination, possibly two different ones; an
    /// elephant (`own`) is compared with the others.
    pub(super) fn sharing(&self, (src, dst): (u32, u32), own: bool) -> (Near, Near) {
        let others = |place: &(bool, Near, u32)| self.ends.get(place).is_some_and(|n| *n > u32::from(own));
        let near = |side, host| places(self.network, side, host).find(others).map_or(Near::None, |(_, near, _)| near);
        (near(false, src), near(true, dst))
    }
}

/// Order of sharing: the nearer end first, whichever it is.
pub(super) fn rank((source, destination): (Near, Near)) -> (Near, Near) {
    (source.max(destination), source.min(destination))
}

#[cfg(test)]
mod tests {
    use super::Near::{Leaf, None, Pod};
    use super::*;

    /// Four pods of two leaves of two hosts, as in a fat tree of k = 4.
    fn network() -> Network {
        Network { hosts: 16, racks: (0..16).map(|h| h / 2).collect(), hosts_per_pod: 4, ..Network::default() }
    }

    fn sharing(elephants: &[(u32, u32)], flow: (u32, u32)) -> (Near, Near) {
        let network = network();
        let own = elephants.contains(&flow);
        ElephantPlacement::new(&network, elephants.iter().copied()).sharing(flow, own)
    }

    #[test]
    fn classes_of_one_elephant_by_hand() {
        // from leaf 0 in pod 0 to leaf 6 in pod 3
        let elephant = [(0, 12)];
        assert_eq!(sharing(&elephant, (1, 8)), (Leaf, None), "its leaf at the source");
        assert_eq!(sharing(&elephant, (2, 8)), (Pod, None), "the other leaf of its pod");
        assert_eq!(sharing(&elephant, (1, 14)), (Leaf, Pod));
        assert_eq!(sharing(&elephant, (5, 13)), (None, Leaf));
        assert_eq!(sharing(&elephant, (5, 8)), (None, None));
        assert_eq!(sharing(&elephant, (12, 1)), (None, None), "the other way: its links have another direction");
        assert_eq!(sharing(&elephant, (0, 12)), (None, None), "the elephant with itself");
    }

    #[test]
    fn the_two_ends_may_be_near_different_elephants() {
        let elephants = [(0, 12), (9, 4)];
        assert_eq!(sharing(&elephants, (1, 5)), (Leaf, Leaf));
        assert_eq!(sharing(&elephants, (10, 13)), (Pod, Leaf));
        assert_eq!(sharing(&elephants, (0, 12)), (None, None), "an elephant with the other");
        assert_eq!(sharing(&[(0, 12), (1, 13)], (0, 12)), (Leaf, Leaf));
    }

    #[test]
    fn without_pods_there_are_leaves() {
        let network = Network { hosts_per_pod: 0, ..network() };
        let placement = ElephantPlacement::new(&network, [(0, 12)].into_iter());
        let s = |flow| placement.sharing(flow, false);
        assert_eq!(s((1, 8)), (Leaf, None));
        assert_eq!(s((2, 14)), (None, None));
    }

    #[test]
    fn more_is_shared_by_the_nearer_end_first() {
        let all = [(None, None), (None, Pod), (Pod, Pod), (Leaf, None), (Pod, Leaf), (Leaf, Leaf)];
        let ranks = all.map(rank);
        assert!(ranks.is_sorted_by(|a, b| a < b), "{ranks:?}");
    }
}
