//! Two-way connections and their queries.

use super::*;

/// A flow of a two-way connection.
pub fn one_way(src: u32, dst: u32, start: Time) -> FlowSpec {
    FlowSpec { app: App::Messages(Messages), start, ..bulk(src, dst, None) }
}

/// Host 0 of a star at 10 Gb/s with 1 us links asks hosts `1..=workers`: requests of 100 B, responses of `response`
/// bytes.
pub fn asking(workers: u32, response: u64, transport: TransportSpec) -> Spec {
    let mut spec = star(workers + 1, Rate::gbps(10), Time::us(1));
    spec.transports = vec![transport];
    spec.controllers = vec![controller("newreno", &[])];
    spec.flows = (1..=workers).flat_map(|w| [one_way(0, w, Time::ZERO), one_way(w, 0, Time::ZERO)]).collect();
    spec.queries = vec![QuerySpec {
        group: 0,
        root: 0,
        first: Time::us(10),
        think: Time::us(5),
        count: Some(3),
        stop: Time::NEVER,
        close: None,
        connections: (0..workers)
            .map(|i| ConnectionSpec { request: 2 * i, response: 2 * i + 1, request_size: 100, response_size: response })
            .collect(),
    }];
    spec
}

/// Queries or writes of a run.
pub fn messages(o: &Outcome, kind: MessageKind) -> Vec<&MessageRecord> {
    o.messages.iter().filter(|m| m.kind == kind).collect()
}

/// Twenty writes of 30 kB of flow 0, two at a time, beside the endless flow 1, for 4 ms: all are acknowledged.
pub fn closed_loop_beside_endless(mut spec: Spec) -> Outcome {
    let app = ClosedLoop { write: 30_000, outstanding: 2, think: Time::us(20), count: Some(20) };
    spec.flows[0].app = App::ClosedLoop(app);
    spec.flows[1].app = App::Bulk(Bulk { size: None, write: 65_160 });
    run_for(&mut spec, Time::ms(4));
    let o = compared(&spec);
    let writes = messages(&o, MessageKind::Write);
    assert_eq!(writes.iter().filter(|w| w.finish_ps.is_some()).count(), 20, "{writes:?}");
    o
}
