//! Two-way connections: pairs of flows.

use crate::host::messages::Duplex;
use crate::ids::{FlowId, QueryId};
use crate::spec::{About, RunError, Spec};
use std::collections::BTreeSet;

/// The role of every flow in a two-way connection. Empty where there is none.
///
/// # Errors
/// Two flows do not match, or a flow belongs to no connection or to two.
pub fn of(spec: &Spec) -> Result<Vec<Option<Duplex>>, RunError> {
    let of_jobs: BTreeSet<u32> = spec.jobs.iter().flat_map(|job| &job.connections).map(|c| c.flow).collect();
    let homeless = |f: u32| spec.flows[f as usize].app.is_messages() && !of_jobs.contains(&f);
    let text = |f: u32| format!("flow {f} carries messages but belongs to no query and no job");
    let count = spec.flows.len() as u32;
    if spec.queries.is_empty() {
        return (0..count).find(|f| homeless(*f)).map_or(Ok(Vec::new()), |f| refused(f, text(f)));
    }
    let mut duplexes = vec![None; spec.flows.len()];
    for (q, query) in (0..).map(QueryId).zip(&spec.queries) {
        for c in &query.connections {
            let ends = |f: u32| spec.flows.get(f as usize).map(|f| (f.src, f.dst, f.transport));
            let fit = matches!(
                (ends(c.request), ends(c.response)),
                (Some((a, b, t)), Some((d, e, u))) if a == query.root && (a, b, t) == (e, d, u)
            );
            if !fit || c.request_size == 0 || c.response_size == 0 {
                let text = format!(
                    "flows {} and {} are no two-way connection of host {}: expected one from it and one back, the \
                     same transport, and sizes of at least 1 byte",
                    c.request, c.response, query.root
                );
                return refused(c.request, text);
            }
            for (flow, other, response, size) in
                [(c.request, c.response, false, c.request_size), (c.response, c.request, true, c.response_size)]
            {
                let duplex = &mut duplexes[flow as usize];
                if duplex.is_some() || !spec.flows[flow as usize].app.is_messages() {
                    let text = format!("flow {flow} is part of two connections, or sends more than messages");
                    return refused(flow, text);
                }
                *duplex = Some(Duplex { other: FlowId(other), query: q, response, size, close: query.close });
            }
            let t = &spec.transports[spec.flows[c.request as usize].transport as usize];
            if query.close.is_some() && !t.connection.handshake {
                let text = "a connection that each query opens and closes needs a transport with a handshake";
                return refused(c.request, format!("flow {}: {text}", c.request));
            }
        }
    }
    match (0..count).find(|f| duplexes[*f as usize].is_none() && homeless(*f)) {
        Some(f) => refused(f, text(f)),
        None => Ok(duplexes),
    }
}

fn refused<T>(flow: u32, text: String) -> Result<T, RunError> {
    Err(RunError::Refused(About::Flow(flow), text))
}
