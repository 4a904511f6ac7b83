//! Events of a timeline, derived from the records of a run and from its frames.

use crate::spec::{Effect, Spec};
use incast_cc::Time;
use incast_record::{EventKind, FlowRecord, MessageKind, MessageRecord, PortFrame, TimelineEvent};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Number of frames without spreading pauses after which a storm is over.
const CALM: u32 = 10;

/// Records of a run from which events are derived.
pub struct Traces<'a> {
    /// Flows.
    pub flows: &'a [FlowRecord],
    /// Queries and writes.
    pub messages: &'a [MessageRecord],
    /// Timeouts: flow and time (ps).
    pub timeouts: &'a [(u32, u64)],
}

/// Events of a run that ends at `end`, by (time, kind, subject). `frames` returns those of ports, of `every` ps each.
pub fn events<F: Iterator<Item = PortFrame>>(
    spec: &Spec,
    traces: &Traces,
    frames: impl FnOnce() -> F,
    (every, end): (u64, Time),
) -> Vec<TimelineEvent> {
    let event = |time_ps, kind, subject| TimelineEvent { time_ps, kind, subject };
    // timers may fire, and hosts process an arrival, after the last arrival, at which a run that is over ends
    let known = |time_ps: u64, kind, subject| event(time_ps.min(end.0), kind, subject);
    let mut events = Vec::new();
    for flow in traces.flows.iter().filter(|flow| !flow.unopened) {
        events.push(known(flow.start_ps, EventKind::FlowStarts, flow.flow));
        events.extend(flow.finish_ps.map(|at| known(at, EventKind::FlowEnds, flow.flow)));
    }
    events.extend(traces.timeouts.iter().map(|(flow, at)| known(*at, EventKind::Timeout, *flow)));
    for query in traces.messages.iter().filter(|message| message.kind == MessageKind::Query) {
        events.push(known(query.start_ps, EventKind::Query, query.flow));
        events.extend(query.finish_ps.map(|at| known(at, EventKind::QueryEnds, query.flow)));
    }
    for failure in &spec.failures {
        let kind = match failure.effect {
            Effect::Down { .. } => EventKind::Failure,
            Effect::Degraded { .. } => EventKind::Degradation,
        };
        events.push(event(failure.from.0, kind, failure.link));
        events.push(event(failure.until.0, EventKind::Repair, failure.link));
    }
    // reading all rows takes long, and without flow control none has pauses
    if spec.pfc().is_some() {
        storms(spec, frames(), &mut |frame, kind, port| events.push(event(frame as u64 * every, kind, port)));
    }
    events.retain(|event| event.time_ps <= end.0);
    events.sort_unstable();
    events
}

/// Reports pause storms: periods in which pauses spread, because a switch that is paused at a port pauses a neighbour
/// in turn. A storm begins with the first such frame, and ends with the last one that is not followed by another within
/// [`CALM`] frames. Its port is that of such a switch which was paused longest in the storm's first frame.
fn storms(spec: &Spec, frames: impl Iterator<Item = PortFrame>, tell: &mut dyn FnMut(u32, EventKind, u32)) {
    let mut paused = frames.filter(|row| row.paused_ps > 0).peekable();
    // the storm's port, and its last frame so far
    let mut storm: Option<(u32, u32)> = None;
    while let Some(frame) = paused.peek().map(|row| row.frame) {
        let mut rows = Vec::new();
        while let Some(row) = paused.next_if(|row| row.frame == frame) {
            rows.push(row);
        }
        let pausing: BTreeSet<u32> = rows.iter().map(|row| spec.links[row.port as usize].to).collect();
        let between = rows.iter().filter(|row| pausing.contains(&spec.links[row.port as usize].from));
        let Some(worst) = between.max_by_key(|row| (row.paused_ps, Reverse(row.port))) else { continue };
        if let Some((port, last)) = storm.take_if(|(_, last)| frame - *last > CALM) {
            tell(last + 1, EventKind::StormEnds, port);
        }
        if storm.is_none() {
            tell(frame, EventKind::StormBegins, worst.port);
        }
        storm = Some((storm.map_or(worst.port, |(port, _)| port), frame));
    }
    if let Some((port, last)) = storm {
        tell(last + 1, EventKind::StormEnds, port);
    }
}
