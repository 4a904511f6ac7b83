//! Max-min fair shares.

use incast_model::fair::{Demand, max_min};
use proptest::prelude::*;

#[test]
fn one_link_is_shared_evenly() {
    let flows = vec![Demand::over(&[0]); 4];
    assert_eq!(max_min(&[10.0], &flows).unwrap(), [2.5; 4]);
}

/// A flow over three links beside one, one and two others: Bertsekas and Gallager's kind of example.
#[test]
fn a_long_flow_has_the_share_of_its_tightest_link() {
    let flows =
        [Demand::over(&[0, 1, 2]), Demand::over(&[0]), Demand::over(&[1]), Demand::over(&[2]), Demand::over(&[2])];
    assert_eq!(max_min(&[12.0, 12.0, 12.0], &flows).unwrap(), [4.0, 8.0, 8.0, 4.0, 4.0]);
}

#[test]
fn who_wants_less_leaves_the_rest() {
    let little = Demand { most: 1.0, ..Demand::over(&[0]) };
    let flows = [little, Demand::over(&[0]), Demand::over(&[0])];
    assert_eq!(max_min(&[10.0], &flows).unwrap(), [1.0, 4.5, 4.5]);
}

#[test]
fn parts_of_links_count() {
    // one flow takes twice its rate of the link, the other half of it
    let flows =
        [Demand { takes: vec![(0, 2.0)], most: f64::INFINITY }, Demand { takes: vec![(0, 0.5)], most: f64::INFINITY }];
    assert_eq!(max_min(&[10.0], &flows).unwrap(), [4.0, 4.0]);
    // a flow over four paths at once, beside one on one of them
    let spread = Demand { takes: (0..4).map(|l| (l, 0.25)).collect(), most: f64::INFINITY };
    let rates = max_min(&[10.0; 4], &[spread, Demand::over(&[0])]).unwrap();
    assert_eq!(rates, [8.0, 8.0]);
}

#[test]
fn without_a_limit_there_is_none() {
    assert_eq!(max_min(&[f64::INFINITY], &[Demand::over(&[0]), Demand::over(&[])]).unwrap(), [f64::INFINITY; 2]);
    assert_eq!(max_min(&[], &[]).unwrap(), Vec::<f64>::new());
    assert_eq!(max_min(&[0.0], &[Demand::over(&[0])]).unwrap(), [0.0]);
}

#[test]
fn nonsense_is_refused() {
    let words = |capacity: &[f64], flow: Demand| max_min(capacity, &[flow]).unwrap_err().to_string();
    assert_eq!(words(&[-1.0], Demand::over(&[0])), "capacity = -1: expected a number of at least 0");
    assert_eq!(words(&[1.0], Demand::over(&[1])), "takes = 1: expected the index of a link");
    let negative = Demand { takes: vec![(0, -0.5)], most: 1.0 };
    assert_eq!(words(&[1.0], negative), "takes = -0.5: expected a number of at least 0");
    let unknown = Demand { most: f64::NAN, ..Demand::over(&[0]) };
    assert_eq!(words(&[1.0], unknown), "most = nan: expected a number of at least 0");
}

proptest! {
    /// No link is overfull, and every flow has what it wants or a full link where nobody has more.
    #[test]
    fn shares_are_max_min_fair(
        capacity in proptest::collection::vec(0.5f64..100.0, 1..8),
        routes in proptest::collection::vec((proptest::collection::btree_set(0usize..8, 1..4), 0.1f64..200.0), 1..30),
    ) {
        let links = capacity.len();
        let flows: Vec<Demand> = routes
            .iter()
            .map(|(route, most)| {
                let mut route: Vec<usize> = route.iter().map(|l| l % links).collect();
                route.sort_unstable();
                route.dedup();
                Demand { most: *most, ..Demand::over(&route) }
            })
            .collect();
        let rates = max_min(&capacity, &flows).unwrap();
        let mut used = vec![0.0; links];
        for (flow, rate) in flows.iter().zip(&rates) {
            prop_assert!(*rate <= flow.most);
            flow.takes.iter().for_each(|(l, _)| used[*l] += rate);
        }
        for (u, c) in used.iter().zip(&capacity) {
            prop_assert!(*u <= c * (1.0 + 1e-9));
        }
        for (flow, rate) in flows.iter().zip(&rates) {
            let satisfied = *rate == flow.most;
            let bottleneck = flow.takes.iter().any(|(l, _)| {
                let most = flows.iter().zip(&rates).filter(|(f, _)| f.takes.iter().any(|t| t.0 == *l)).map(|(_, r)| *r);
                used[*l] >= capacity[*l] * (1.0 - 1e-9) && most.fold(0.0, f64::max) <= rate * (1.0 + 1e-9)
            });
            prop_assert!(satisfied || bottleneck, "{flows:?} {rates:?}");
        }
    }
}
