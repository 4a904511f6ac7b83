//! Transfers cut short by their stop: stopped, not finished, whatever happens to the bytes written before.

use crate::receiver_driven::{cutting, ndp, uets, with};
use crate::support::*;

/// 10 MB at 1 Gb/s; a send buffer of 64 kB lets a part be written before the stop at 100 us.
fn cut(transport: TransportSpec, at_stop: AtStop) -> Spec {
    let transport = changed!(transport, windows.send_buffer = 64_000);
    let flow = FlowSpec { stop: Time::us(100), at_stop, ..bulk(0, 1, Some(10_000_000)) };
    let mut spec = wire(Rate::gbps(1), Time::us(1), transport, "newreno", flow);
    spec.observe.trace.clear();
    run_for(&mut spec, Time::ms(50));
    spec
}

/// NDP, and UET with RCCC.
fn receiver_driven() -> [TransportSpec; 2] {
    [ndp(20, false), uets(true, true, Time::us(10), Spread::Oblivious, false)]
}

#[test]
fn a_transfer_that_is_cut_short_has_not_finished() {
    let [one, other] = receiver_driven();
    for transport in [plain(), tcp(), one, other] {
        let is_receiver_driven = transport.protocol.numbers_packets();
        let mut spec = cut(transport, AtStop::Drain);
        if is_receiver_driven {
            let transport = spec.transports[0].clone();
            spec = with(spec, transport, cutting(40_000));
        }
        let flow = &compared(&spec).flows[0];
        let stopped = flow.stopped_ps.expect("it came to an end");
        assert_eq!((flow.finish_ps, flow.received_ps), (None, None), "{flow:?}");
        assert!(stopped > 100 * US, "after the stop, when all that was written is acknowledged: {stopped}");
        assert_eq!(flow.delivered, flow.written);
        assert!(flow.written > 0 && flow.written < 200_000, "{}", flow.written);
    }
}

#[test]
fn a_transfer_that_is_reset_has_not_finished() {
    let [one, _] = receiver_driven();
    for transport in [tcp(), one] {
        let is_receiver_driven = transport.protocol.numbers_packets();
        let mut spec = cut(transport, AtStop::Reset);
        if is_receiver_driven {
            let transport = spec.transports[0].clone();
            spec = with(spec, transport, cutting(40_000));
        }
        let flow = &compared(&spec).flows[0];
        assert_eq!((flow.stopped_ps, flow.finish_ps, flow.received_ps), (Some(100 * US), None, None));
    }
}

/// Flows that wait for the end of another open when it finishes, and not when its stop cuts it short.
#[test]
fn a_transfer_that_is_cut_short_opens_no_other() {
    let [one, other] = receiver_driven();
    let written = App::ClosedLoop(ClosedLoop { write: 5_000, outstanding: 1, think: Time::ZERO, count: Some(1000) });
    for transport in [plain(), tcp(), one, other] {
        for (at_stop, app) in [(AtStop::Drain, None), (AtStop::Reset, None), (AtStop::Drain, Some(written))] {
            let is_receiver_driven = transport.protocol.numbers_packets();
            let mut spec = cut(transport.clone(), at_stop);
            if is_receiver_driven {
                let transport = spec.transports[0].clone();
                spec = with(spec, transport, cutting(40_000));
            }
            spec.flows[0].app = app.unwrap_or(spec.flows[0].app);
            spec.triggers =
                [Done::Sent, Done::Received].map(|done| TriggerSpec { activations: vec![(0, done)] }).into();
            let waits = |trigger| FlowSpec {
                trigger: Some(Triggered { trigger, activation: 1 }),
                stop: Time::NEVER,
                ..bulk(0, 1, Some(9))
            };
            spec.flows.extend([waits(0), waits(1)]);
            let opened = |o: &Outcome| [!o.flows[1].unopened, !o.flows[2].unopened];
            let o = compared(&spec);
            assert!(o.flows[0].stopped_ps.is_some(), "{:?}", o.flows[0]);
            assert_eq!(opened(&o), [false, false], "{at_stop:?}, {:?}", o.flows[0]);
            if app.is_none() {
                spec.flows[0].app = App::Bulk(Bulk { size: Some(9_000), write: 64_000 });
                spec.flows[0].stop = Time::NEVER;
                assert_eq!(opened(&run(&spec)), [true, true]);
            }
        }
    }
}

/// The timeline shows a flow as done once it is reset, or opens after its stop, with any transport.
#[test]
fn frames_of_what_is_cut_short_end_as_done() {
    let [one, _] = receiver_driven();
    for transport in [tcp(), one] {
        let is_receiver_driven = transport.protocol.numbers_packets();
        let mut spec = cut(transport, AtStop::Reset);
        if is_receiver_driven {
            let transport = spec.transports[0].clone();
            spec = with(spec, transport, cutting(40_000));
        }
        spec.observe.timeline = Some(TimelineSpec { every: Time::us(50), most: 10_000 });
        let o = compared(&spec);
        let last = o.flow_frames.rows().last().map(|row| row.state);
        assert_eq!((last, o.flows[0].stopped_ps), (Some(FlowState::Done), Some(100 * US)));
    }
}

/// A stop affects neither bytes written before nor endless flows.
#[test]
fn what_a_stop_does_not_cut_finishes() {
    let mut spec = cut(plain(), AtStop::Drain);
    spec.flows[0].app = App::Bulk(Bulk { size: Some(60_000), write: 64_000 });
    let flow = &run(&spec).flows[0];
    assert!(flow.finish_ps.is_some_and(|at| at > 100 * US), "all is in the send buffer by then: {flow:?}");
    assert_eq!((flow.stopped_ps, flow.delivered), (None, 60_000));
    assert!(flow.received_ps.is_some());
    spec.flows[0].app = App::Bulk(Bulk { size: None, write: 64_000 });
    let flow = &run(&spec).flows[0];
    assert!(flow.finish_ps.is_some() && flow.stopped_ps.is_none(), "a flow without an end ends there");
}

/// A closed loop with a count is cut, one without is not; its writes complete or do not, one by one.
#[test]
fn a_closed_loop_that_is_cut_short_has_not_finished() {
    for (count, at_stop) in [(Some(1000), AtStop::Drain), (Some(1000), AtStop::Reset), (None, AtStop::Drain)] {
        let mut spec = cut(plain(), at_stop);
        spec.flows[0].app = App::ClosedLoop(ClosedLoop { write: 5_000, outstanding: 1, think: Time::ZERO, count });
        let outcome = compared(&spec);
        let flow = &outcome.flows[0];
        let ends = (flow.finish_ps.is_some(), flow.stopped_ps.is_some());
        assert_eq!(ends, (count.is_none(), count.is_some()), "{flow:?}");
        let writes = messages(&outcome, MessageKind::Write);
        let open = writes.iter().filter(|w| w.finish_ps.is_none()).count();
        assert_eq!(open, usize::from(at_stop == AtStop::Reset), "what is under way is delivered, or reset");
    }
}

/// A flow that a trigger opens after its stop moves nothing.
#[test]
fn a_transfer_that_opens_after_its_stop_is_stopped() {
    let [one, _] = receiver_driven();
    for transport in [plain(), one] {
        let is_receiver_driven = transport.protocol.numbers_packets();
        let mut spec = cut(transport, AtStop::Drain);
        if is_receiver_driven {
            let transport = spec.transports[0].clone();
            spec = with(spec, transport, cutting(40_000));
        }
        let first = FlowSpec { stop: Time::NEVER, ..bulk(0, 1, Some(300_000)) };
        spec.triggers = vec![TriggerSpec { activations: vec![(0, Done::Sent)] }];
        let second = FlowSpec {
            trigger: Some(Triggered { trigger: 0, activation: 1 }),
            stop: Time::us(50),
            ..bulk(0, 1, Some(9))
        };
        spec.flows = vec![first, second];
        let outcome = compared(&spec);
        assert!(outcome.flows[0].finish_ps.is_some());
        let flow = &outcome.flows[1];
        assert_eq!((flow.finish_ps, flow.delivered, flow.stopped_ps), (None, 0, outcome.flows[0].finish_ps));
    }
}

/// No query begins after the stop, and one that has begun is answered.
#[test]
fn a_query_that_has_begun_is_answered_after_the_stop() {
    let mut spec = asking(2, 40_000, plain());
    spec.queries[0].stop = Time::us(50);
    let outcome = compared(&spec);
    let queries = messages(&outcome, MessageKind::Query);
    assert_eq!(queries.len(), 1, "{queries:?}");
    assert!(queries[0].finish_ps.is_some_and(|at| at > 50 * US), "{queries:?}");
}

/// A run that ends with its last transfer also ends with a stopped one.
#[test]
fn a_run_does_not_wait_for_what_was_stopped() {
    for at_stop in [AtStop::Drain, AtStop::Reset] {
        let mut spec = cut(plain(), at_stop);
        spec.ends_when_finished = true;
        let outcome = compared(&spec);
        assert!(outcome.end_ps < 2 * MS, "{}", outcome.end_ps);
        assert!(outcome.flows[0].stopped_ps.is_some());
    }
}
