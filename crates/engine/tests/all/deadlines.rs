//! Deadlines: which flows have them, whether they were met, and their effect on D2TCP.

use crate::support::*;

/// A handshake, and the marks that the controller asks for.
fn connected() -> TransportSpec {
    changed!(tcp(), connection.handshake = true, marks.ecn = None)
}

/// Four hosts send 2 MB each to host 0 at 10 Gb/s, the first of them with the deadline `first`, the others with `rest`.
fn four(kind: &str, first: Time, rest: Time) -> Spec {
    let mut spec = star(5, Rate::gbps(10), Time::us(10));
    spec.transports = vec![connected()];
    spec.controllers = vec![controller(kind, &[])];
    spec.queues = vec![marking(1000, 30)];
    let due = |within| Some(Deadline { within, random: false });
    let flow = |h: u32| FlowSpec { deadline: due(if h == 1 { first } else { rest }), ..bulk(h, 0, Some(2_000_000)) };
    spec.flows = (1..5).map(flow).collect();
    run_for(&mut spec, Time::ms(20));
    spec
}

#[test]
fn the_flow_whose_deadline_is_near_comes_before_the_others_under_d2tcp_and_not_under_dctcp() {
    let [near, far] = [Time::us(4_000), Time::ms(40)];
    let came = |kind| compared(&four(kind, near, far)).flows.iter().map(|f| f.received_ps.unwrap()).collect::<Vec<_>>();
    let (dctcp, d2tcp) = (came("dctcp"), came("d2tcp"));
    // 8 MB take 6.4 ms, shared evenly
    assert!(dctcp.iter().all(|at| *at > 5 * MS), "{dctcp:?}");
    assert!(d2tcp[0] < 4 * dctcp[0] / 5, "{dctcp:?}, {d2tcp:?}");
    assert!(d2tcp[1..].iter().all(|at| *at > d2tcp[0] + MS), "{d2tcp:?}");
    let last = |all: &[u64]| all.iter().copied().max().unwrap();
    assert!(last(&d2tcp) < last(&dctcp) + MS / 2, "the link stays as busy: {dctcp:?}, {d2tcp:?}");
}

#[test]
fn deadlines_change_nothing_for_who_does_not_ask() {
    let bare =
        |spec: Spec| Spec { flows: spec.flows.into_iter().map(|f| FlowSpec { deadline: None, ..f }).collect(), ..spec };
    let spec = four("dctcp", Time::ms(4), Time::ms(40));
    let (with, without) = (run(&spec), run(&bare(spec)));
    let came = |o: &Outcome| o.flows.iter().map(|f| (f.received_ps, f.sent)).collect::<Vec<_>>();
    assert_eq!(came(&with), came(&without));
    assert_eq!(with.flows.iter().map(|f| f.deadline_ps).collect::<Vec<_>>()[..2], [Some(4 * MS), Some(40 * MS)]);
    assert!(without.flows.iter().all(|f| f.deadline_ps.is_none()));
}

/// A deadline for each write, and a common one for all connections of a query.
#[test]
fn writes_and_queries_have_deadlines_of_their_own() {
    let due = Some(Deadline { within: Time::us(100), random: true });
    let app = App::ClosedLoop(ClosedLoop { write: 50_000, outstanding: 2, think: Time::ms(1), count: Some(9) });
    let flow = FlowSpec { app, deadline: due, ..bulk(0, 1, None) };
    let mut spec = wire(Rate::gbps(10), Time::us(1), connected(), "d2tcp", flow);
    spec.queues = vec![marking(100, 5)];
    spec.observe.trace.clear();
    let o = compared(&spec);
    let within = |kind| messages(&o, kind).iter().map(|m| m.deadline_ps.unwrap()).collect::<Vec<_>>();
    let writes = within(MessageKind::Write);
    assert_eq!(writes.len(), 9);
    assert!(writes.windows(2).all(|two| two[0] != two[1]), "{writes:?}");
    assert_eq!(o.flows[0].deadline_ps, None, "it has no size");

    let mut spec = asking(6, 30_000, connected());
    spec.controllers = vec![controller("d2tcp", &[])];
    spec.queues = vec![marking(100, 5)];
    spec.queries[0].count = Some(2000);
    spec.flows.iter_mut().for_each(|f| f.deadline = due);
    run_for(&mut spec, Time::s(2));
    let o = run(&spec);
    let all = messages(&o, MessageKind::Query);
    let mean = all.iter().map(|m| m.deadline_ps.unwrap() as f64).sum::<f64>() / all.len() as f64;
    // three standard errors of 2,000 draws
    assert!((mean / 1e8 - 1.0).abs() < 3.0 / 2000f64.sqrt(), "{mean}");
    assert!(o.flows.iter().all(|f| f.deadline_ps.is_none()), "its queries have");
}

/// A sender of a response uses the urgency of its query.
#[test]
fn a_worker_knows_the_deadline_of_its_query() {
    let urgency = |within| {
        let mut spec = asking(6, 300_000, connected());
        spec.controllers = vec![controller("d2tcp", &[])];
        spec.queues = vec![marking(200, 5)];
        spec.queries[0].count = Some(1);
        spec.flows.iter_mut().for_each(|f| f.deadline = Some(Deadline { within, random: false }));
        spec.observe.flows = vec![1];
        let o = compared(&spec);
        let seen = series(&o, "flow 1", "urgency").into_iter().map(|(_, d)| d).find(|d| !d.is_nan());
        seen.expect("a reduction")
    };
    assert_eq!(urgency(Time::s(1)), 0.5);
    let [nearer, near] = [200, 300].map(|us| urgency(Time::us(us)));
    assert!(0.5 < near && near < nearer && nearer <= 2.0, "{near}, {nearer}");
}
