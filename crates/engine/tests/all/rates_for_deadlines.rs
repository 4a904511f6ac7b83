//! Rates that switches allocate by deadlines (D3).

use crate::support::{self, *};

/// Gains of RCP's thesis.
pub fn d3_program() -> D3 {
    D3 { alpha: 0.1, beta: 1.0, period: Time::us(100), least: 1500, forget: Time::ms(10) }
}

/// Four hosts send 2 MB each to host 0 at 10 Gb/s. Shared evenly that takes 6.4 ms. `due`: the deadlines.
fn four(kind: &str, due: [Option<Time>; 4]) -> Spec {
    let program =
        if kind == "d3" { Program::D3(d3_program()) } else { Program::Rcp(crate::explicit_rates::rcp_program()) };
    let mut spec = support::joining(kind, program, &[Time::ZERO; 4], Some(2_000_000));
    for (flow, within) in spec.flows.iter_mut().zip(due) {
        flow.deadline = within.map(|within| Deadline { within, random: false });
    }
    run_for(&mut spec, Time::ms(40));
    spec
}

fn took(o: &Outcome) -> Vec<f64> {
    o.flows.iter().map(|f| f.received_ps.unwrap() as f64 / 1e9).collect()
}

#[test]
fn a_near_deadline_is_met_where_an_even_share_misses_it() {
    let due = [Some(Time::ms(3)), None, None, None];
    let (even, by_deadline) = (took(&compared(&four("rcp", due))), took(&compared(&four("d3", due))));
    assert!(even[0] > 5.0, "{even:?}");
    assert!(by_deadline[0] < 3.0, "{by_deadline:?}");
    assert!(by_deadline[1..].iter().all(|ms| (4.0..9.0).contains(ms)), "the others have the rest: {by_deadline:?}");
}

#[test]
fn without_deadlines_flows_share_evenly() {
    let o = compared(&four("d3", [None; 4]));
    let took = took(&o);
    assert!(took.iter().all(|ms| (6.4..8.0).contains(ms)), "{took:?}");
    assert_eq!(o.ports.iter().map(|p| p.drops).sum::<u64>(), 0);
}

#[test]
fn more_than_the_link_is_given_to_those_that_come_first() {
    // each needs 5.3 Gb/s: two exceed the link, and the first gets its request
    let o = compared(&four("d3", [Some(Time::ms(3)); 4]));
    let met = took(&o).iter().filter(|ms| **ms < 3.0).count();
    assert_eq!(met, 1, "{:?}", took(&o));
}
