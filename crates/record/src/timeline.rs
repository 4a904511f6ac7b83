//! The timeline: `timeline_ports.parquet`, `timeline_flows.parquet`, `timeline_events.parquet`,
//! `timeline_paths.parquet`.

use crate::figure::Of::{Index, OptU64, Time, U32, U64, Whole};
use crate::figure::{Quantity, rows};
use crate::{EventKind, FlowFrame, Outcome, PathPort, PortFrame, Subject, TimelineEvent};

/// Share of the frame of `row`, with numerator `ps`; the last frame ends with the run.
fn part(row: &PortFrame, ps: f64, outcome: &Outcome) -> Option<f64> {
    let every = outcome.frame_ps?;
    let length = outcome.end_ps.saturating_sub(every * row.frame as u64).min(every);
    Some(if length > 0 { ps / length as f64 } else { 0.0 })
}

/// `timeline_ports.parquet`.
pub(crate) const PORTS: &[Quantity<PortFrame>] = &rows! {
    "frame" [""] = U32(|r| r.frame), "Frame of the timeline, from 0; the last one ends with the run.";
    "port" [""] = U32(|r| r.port), "Port: its row in ports.parquet, from 0.";
    "queue_max_bytes" ["B"] = U64(|r| r.queue_max_bytes),
        "Largest queue in the frame, as the discipline counts it; packets waiting in a host's fair NIC are part of it.";
    "queue_mean_bytes" ["B"] = Whole(|r, o| part(r, r.byte_time as f64, o)),
        "Time-averaged queue in the frame.";
    "busy" [""] = Whole(|r, o| part(r, r.busy_ps as f64, o)), "Share of the frame in which the port transmits.";
    "marks" ["packets"] = U32(|r| r.marks), "Packets marked in the frame.";
    "drops" ["packets"] = U32(|r| r.drops), "Packets that the queue drops or the link loses in the frame.";
    "pauses" [""] = U32(|r| r.pauses), "Pauses that begin in the frame; 0 without priority flow control.";
    "paused" [""] = Whole(|r, o| part(r, r.paused_ps as f64, o)),
        "Share of the frame in which at least one class of the port is paused.";
};

/// `timeline_flows.parquet`.
pub(crate) const FLOWS: &[Quantity<FlowFrame>] = &rows! {
    "frame" [""] = U32(|r| r.frame), "Frame of the timeline, from 0; the last one ends with the run.";
    "flow" [""] = U32(|r| r.flow), "Flow number.";
    "delivered_bytes" ["B"] = U64(|r| r.delivered_bytes),
        "Application bytes delivered in order to the receiver in the frame; their sum is delivered_bytes in \
         flows.parquet.";
    "cwnd_bytes" ["B"] = OptU64(|r| r.cwnd_bytes),
        "Congestion window at the frame's end; missing for a flow without a window.";
    "state" [""] = U32(|r| r.state as u32),
        "State at the frame's end: 0 slow start, 1 congestion avoidance (a reduction for ECN included), 2 fast \
         recovery, 3 after a timeout, 4 done (finished, stopped or reset).";
};

fn names(known: &[&str]) -> Vec<String> {
    known.iter().map(|name| (*name).to_owned()).collect()
}

/// `timeline_events.parquet`.
pub(crate) const EVENTS: &[Quantity<TimelineEvent>] = &rows! {
    "time_s" ["s"] = Time(|r| r.time_ps), "Simulated time.";
    "kind" [""] = Index(|r| r.kind as u32, |_| names(&EventKind::NAMES)),
        "repair, failure, degradation (of a link; the subject is its port), pause-storm, pause-storm-end, query, \
         query-end (all responses have arrived), flow-start, flow-end (the last byte is acknowledged), timeout.";
    "subject" [""] = U32(|r| r.subject), "Number of the flow or port.";
    "what" [""] = Index(|r| r.kind.what() as u32, |_| names(&Subject::NAMES)),
        "flow, or port; for a query, the flow of its first response.";
};

/// `timeline_paths.parquet`.
pub(crate) const PATHS: &[Quantity<PathPort>] = &rows! {
    "flow" [""] = U32(|r| r.flow), "Flow number.";
    "port" [""] = U32(|r| r.port), "Port on the path of the flow's data: its row in ports.parquet, from 0.";
    "position" [""] = U32(|r| r.position), "Number of ports before it on the path.";
    "sprayed" [""] = U32(|r| r.sprayed as u32), "1 if only some of the flow's packets pass it, else 0.";
};
