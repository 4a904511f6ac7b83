//! Laws of flows with numbered packets, and of their receivers' requests.

use crate::support::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Every packet of flow `f` has a single length. Data is delivered in order and once, and completely if the flow
/// finishes.
pub fn data_comes_once(f: u32, flow: &FlowSpec, o: &Outcome) -> Result<(), TestCaseError> {
    let mut data = BTreeMap::new();
    for e in o.trace.iter().filter(|e| e.flow == f && e.event == Happening::Receive && e.payload > 0) {
        let len = data.entry(e.seq).or_insert(e.payload);
        prop_assert_eq!(*len, e.payload, "flow {}: packet {} has one length", f, e.seq);
    }
    let all = (0..).map_while(|n| data.get(&n)).map(|len| *len as u64).sum::<u64>();
    let record = &o.flows[f as usize];
    prop_assert_eq!(record.delivered, all, "flow {}: what is delivered has come in order, once", f);
    prop_assert!(record.delivered <= record.written);
    if record.finish_ps.is_some() && flow.at_stop == AtStop::Drain {
        prop_assert_eq!(record.delivered, record.written, "flow {}", f);
    }
    Ok(())
}

/// Of the requests, all that were `sent` arrived, are gone, or are among other packets in flight or dropped.
pub fn nothing_is_lost_unseen(o: &Outcome, sent: u64, came: u64, gone: u64) -> Result<(), TestCaseError> {
    // packets without a route are dropped and not traced
    let traced = o.trace.iter().filter(|e| matches!(e.event, Happening::Drop | Happening::Loss)).count() as u64;
    let elsewhere = o.packets_in_flight + (o.packets_dropped - traced);
    prop_assert!(sent >= came + gone && sent <= came + gone + elsewhere, "{} {} {}", sent, came, gone);
    Ok(())
}
