//! Queries: a root repeatedly sends requests to its workers over two-way connections.

use crate::event::order::Timer;
use crate::host::messages::Query;
use crate::map::fabric::FabricMap;
use crate::node::context::{Effects, NodeCtx};
use incast_cc::Time;
use incast_record::{MessageKind, MessageRecord, Recorder};

/// Completes a response. The last one completes the query, and the next query begins after a think time.
pub fn answered(query: &mut Query, ctx: &mut NodeCtx<impl Effects>) {
    query.waiting -= 1;
    if query.waiting > 0 {
        return;
    }
    ctx.rec.message(query_record(query, ctx.net, Some(ctx.now)));
    let spec = &ctx.net.spec.queries[query.spec];
    query.number += 1;
    if spec.count == Some(query.number) {
        ctx.rec.finish(ctx.now.0);
    }
    let next = ctx.now.saturating_add(spec.think);
    if spec.count.is_none_or(|count| query.number < count) && next < spec.stop {
        ctx.timer(next, Timer::Query(query.spec));
    }
}

/// Record of a query that ends at `finish`, or is still active at the end of the run.
pub fn query_record(query: &Query, net: &FabricMap, finish: Option<Time>) -> MessageRecord {
    let spec = &net.spec.queries[query.spec];
    MessageRecord {
        kind: MessageKind::Query,
        group: spec.group,
        host: spec.root,
        flow: spec.connections.first().map_or(0, |c| c.response),
        number: query.number,
        workers: spec.connections.len() as u32,
        bytes: spec.connections.iter().map(|c| c.response_size).sum(),
        start_ps: query.begun.0,
        finish_ps: finish.map(|t| t.0),
        timeouts: 0,
        deadline_ps: net.deadline_of_query(query.spec, query.number).map(|t| t.0),
    }
}
