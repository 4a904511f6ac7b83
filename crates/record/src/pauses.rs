//! Pauses of priority flow control with their causes: `pauses.parquet`.

use crate::figure::Of::{Index, OptTime, Time, U32, U64};
use crate::figure::{Quantity, rows};
use crate::{Outcome, PauseRow};

fn moments(_: &Outcome) -> Vec<String> {
    ["request", "end"].map(str::to_owned).to_vec()
}

/// `pauses.parquet`.
pub(crate) const COLUMNS: &[Quantity<PauseRow>] = &rows! {
    "pause" [""] = U32(|r| r.pause), "Number of the pause in the order of requests, from 0; it has a row for each \
         egress port at which bytes of its account wait.";
    "asked_s" ["s"] = Time(|r| r.key.asked_ps), "Simulated time at which the switch decides to pause its neighbour.";
    "begin_s" ["s"] = OptTime(|r| r.begun_ps),
        "Time at which the port stops, as the pause frame arrives; missing if that does not happen.";
    "end_s" ["s"] = OptTime(|r| r.ended_ps),
        "Time at which the port goes on, or obeys another request; missing if it is paused at the end of the run.";
    "port" [""] = U32(|r| r.key.port), "Paused port: its row in ports.parquet, from 0.";
    "node" [""] = Index(|r| r.node, |o| o.pauses.nodes.clone()), "Switch that asks for the pause.";
    "class" [""] = U32(|r| u32::from(r.key.class)), "Traffic class that pauses.";
    "account_bytes" ["B"] = U64(|r| r.bytes),
        "Bytes that the switch holds of the class from the paused port at the time of the request, those in the \
         headroom included.";
    "headroom_bytes" ["B"] = U64(|r| r.headroom), "Bytes of these in the headroom.";
    "threshold_bytes" ["B"] = U64(|r| r.threshold),
        "Account from which the switch asks for a pause at that time: reserve and threshold.";
    "moment" [""] = Index(|r| u32::from(r.at_end), moments),
        "request, or end: the bytes that still wait at the end of the run, for a pause that stands then.";
    "through" [""] = U32(|r| r.waiting.port),
        "Egress port of the switch at which bytes of the account wait: its row in ports.parquet, from 0.";
    "through_bytes" ["B"] = U64(|r| r.waiting.bytes),
        "Bytes of the account at that port, with the packet in transmission.";
};
