//! What holds of flows whose packets have numbers, and of what their receivers ask with.

use crate::support::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A packet of flow `f` has one length; what is delivered has come in order, once, and is all where the flow finishes.
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

/// Of what was asked with, all that was `sent` came, is gone, or is where other packets are, too.
pub fn nothing_is_lost_unseen(o: &Outcome, sent: u64, came: u64, gone: u64) -> Result<(), TestCaseError> {
    // what finds no way is dropped and not traced
    let traced = o.trace.iter().filter(|e| matches!(e.event, Happening::Drop | Happening::Loss)).count() as u64;
    let elsewhere = o.packets_in_flight + (o.packets_dropped - traced);
    prop_assert!(sent >= came + gone && sent <= came + gone + elsewhere, "{} {} {}", sent, came, gone);
    Ok(())
}
