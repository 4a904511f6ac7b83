//! Flows opened by triggers at the ends of others: at once on the counting host, a link's latency later elsewhere.

use crate::support::*;
use incast_engine::map::triggers::Triggers;
use incast_engine::{FlowId, TriggerId};

/// A flow, and its trigger, if any: the activation, and the ends of other flows that count.
type Draft = (FlowSpec, Option<(u32, Vec<(u32, Done)>)>);

/// Hosts around a switch. Every flow has ten segments, and flows that wait for the same ends share a trigger.
fn around(n: u32, flows: Vec<Draft>) -> Spec {
    let mut spec = star(n, Rate::gbps(1), Time::us(1));
    spec.transports = vec![changed!(htsim(), sizes.mss = 460, sizes.header = 40, output.extra_packets = 0)];
    for (flow, after) in flows {
        let trigger = after.map(|(activation, activations)| {
            let wanted = TriggerSpec { activations };
            let trigger = spec.triggers.iter().position(|t| *t == wanted).unwrap_or_else(|| {
                spec.triggers.push(wanted);
                spec.triggers.len() - 1
            });
            Triggered { trigger: trigger as u32, activation }
        });
        spec.flows.push(FlowSpec { trigger, ..flow });
    }
    spec
}

/// The same with four hosts.
fn hosts(flows: Vec<Draft>) -> Spec {
    around(4, flows)
}

fn flow(src: u32, dst: u32) -> Draft {
    (bulk(src, dst, Some(4600)), None)
}

fn after((flow, _): Draft, count: u32, of: &[(u32, Done)]) -> Draft {
    (flow, Some((count, of.to_vec())))
}

/// Start times of the flows, ps.
fn opened(o: &Outcome) -> Vec<u64> {
    o.flows.iter().map(|f| f.start_ps).collect()
}

/// Longest latency of a link: the smallest packet's 20 bytes, and 1 us.
const RELAY: u64 = 1_160_000;

#[test]
fn a_run_that_ends_while_nothing_but_a_message_is_under_way_is_not_over() {
    let ends = [(0, Done::Sent), (1, Done::Sent)];
    let later = FlowSpec { start: Time::s(5), ..flow(1, 0).0 };
    // host 2 counts; at 25 s it notifies host 3, after all timers of the earlier flows have fired
    let waiting = [after(flow(2, 3), 1, &ends), after(flow(3, 2), 2, &ends)];
    let mut spec = around(5, [flow(0, 1), (later, None)].into_iter().chain(waiting).collect());
    // the longest link determines the delay of a message
    spec.links.iter_mut().filter(|l| [l.from, l.to].contains(&4)).for_each(|l| l.delay = Time::s(20));
    run_for(&mut spec, Time::s(40));
    let o = compared(&spec);
    let unopened: Vec<bool> = o.flows.iter().map(|f| f.unopened).collect();
    assert_eq!((o.end_ps, unopened), (Time::s(40).0, vec![false, false, false, true]));
}

#[test]
fn at_its_own_host_a_flow_follows_at_once() {
    let o = compared(&hosts(vec![
        flow(0, 1),
        after(flow(0, 2), 1, &[(0, Done::Sent)]),
        after(flow(1, 3), 1, &[(0, Done::Received)]),
    ]));
    let first = &o.flows[0];
    assert_eq!(opened(&o)[1..], [first.finish_ps.unwrap(), first.received_ps.unwrap()]);
    assert!(o.flows.iter().all(|f| f.finish_ps.is_some()));
    // completion times count from the opening of a flow
    assert!(o.flows[2].finish_ps.unwrap() - o.flows[2].start_ps < 2 * (first.finish_ps.unwrap() - first.start_ps));
}

#[test]
fn other_hosts_hear_of_it_a_latency_later() {
    let o = compared(&hosts(vec![
        flow(0, 1),
        after(flow(2, 3), 1, &[(0, Done::Sent)]),
        after(flow(0, 3), 1, &[(0, Done::Received)]),
    ]));
    let first = &o.flows[0];
    assert_eq!(opened(&o)[1..], [first.finish_ps.unwrap() + RELAY, first.received_ps.unwrap() + RELAY]);
}

#[test]
fn so_many_of_several() {
    let ends = [(0, Done::Sent), (1, Done::Sent), (2, Done::Sent)];
    let long = (bulk(0, 2, Some(46_000)), None);
    let nth = |count| after(flow(0, 3), count, &ends);
    let o = run(&hosts(vec![flow(0, 1), flow(0, 1), long, nth(1), nth(2), nth(3)]));
    let mut finished: Vec<u64> = o.flows[..3].iter().map(|f| f.finish_ps.unwrap()).collect();
    finished.sort_unstable();
    assert_eq!(opened(&o)[3..], finished[..]);
}

#[test]
fn its_start_is_the_earliest() {
    let waits = |start| (FlowSpec { start, ..flow(0, 2).0 }, Some((1, vec![(0, Done::Sent)])));
    let o = run(&hosts(vec![flow(0, 1), waits(Time::us(20)), waits(Time::ms(1))]));
    assert_eq!(opened(&o)[1..], [o.flows[0].finish_ps.unwrap(), Time::ms(1).0]);
}

#[test]
fn who_waits_for_what_never_ends_does_not_open() {
    let o = run(&hosts(vec![(bulk(0, 1, None), None), after(flow(2, 3), 1, &[(0, Done::Sent)]), flow(2, 1)]));
    assert_eq!((o.flows[1].sent, o.flows[1].finish_ps), (0, None));
    assert_eq!(o.flows.iter().map(|f| f.unopened).collect::<Vec<_>>(), [false, true, false]);
    // in a cycle none opens, and nothing is left to happen
    let circle = |of| after(flow(0, 1), 1, &[(of, Done::Sent)]);
    let o = run(&hosts(vec![circle(1), circle(0)]));
    assert_eq!((o.packets_sent, o.end_ps), (0, 0));
}

#[test]
fn a_ring_goes_round() {
    // data of step s received by a host is passed on as step s + 1
    let n = 4;
    let flows = (0..3 * n).map(|i| {
        let (step, h) = (i / n, i % n);
        let step_flow = flow(h, (h + 1) % n);
        if step == 0 { step_flow } else { after(step_flow, 1, &[((step - 1) * n + (h + n - 1) % n, Done::Received)]) }
    });
    let o = compared(&hosts(flows.collect()));
    for i in n..3 * n {
        let before = (i / n - 1) * n + (i % n + n - 1) % n;
        assert_eq!(Some(o.flows[i as usize].start_ps), o.flows[before as usize].received_ps, "flow {i}");
    }
}

#[test]
fn a_barrier_is_counted_at_one_host() {
    // three hosts send to the fourth; the barrier opens flows of all, first host 1's
    let ends = [(0, Done::Sent), (1, Done::Sent), (2, Done::Sent)];
    let first = |src| (bulk(src, 3, Some(4600 * (1 + u64::from(src)))), None);
    let second = |src| after(flow(src, 3), 3, &ends);
    let all = vec![first(0), first(1), first(2), second(1), second(2), second(1), after(flow(0, 3), 1, &ends)];
    let o = run(&hosts(all));
    let ended: Vec<u64> = o.flows[..3].iter().map(|f| f.finish_ps.unwrap()).collect();
    // host 0's flow is opened first, so host 0 counts: its own end at once, the others a latency later
    let mut heard = [ended[0], ended[1] + RELAY, ended[2] + RELAY];
    heard.sort_unstable();
    assert_eq!(opened(&o)[3..], [heard[2] + RELAY, heard[2] + RELAY, heard[2] + RELAY, heard[0]]);
}

#[test]
fn what_one_host_ends_opens_flows_anywhere_a_latency_later() {
    let ends = [(0, Done::Sent), (1, Done::Sent)];
    let all = vec![flow(2, 1), flow(2, 3), after(flow(0, 3), 2, &ends), after(flow(1, 3), 2, &ends)];
    let o = compared(&hosts(all.into_iter().chain([after(flow(2, 0), 2, &ends)]).collect()));
    let last = o.flows[..2].iter().map(|f| f.finish_ps.unwrap()).max().unwrap();
    assert_eq!(opened(&o)[2..], [last + RELAY, last + RELAY, last]);
}

#[test]
fn a_barrier_costs_what_goes_in_and_what_comes_out() {
    // with a list for each opened flow there would be 17 million ends
    let n = 4096;
    let ends: Vec<(u32, Done)> = (0..n).map(|f| (f, Done::Sent)).collect();
    let packet = |src: u32| FlowSpec { start: Time::ns(u64::from(src)), ..bulk(src, (src + 1) % n, Some(460)) };
    let mut spec = around(n, (0..n).map(|src| (packet(src), None)).collect());
    spec.triggers = vec![TriggerSpec { activations: ends }];
    let opened_by = Some(Triggered { trigger: 0, activation: n });
    spec.flows.extend((0..n).map(|src| FlowSpec { trigger: opened_by, ..packet(src) }));
    let triggers = Triggers::new(&spec).unwrap();
    assert_eq!((triggers.openings.len(), triggers.opened(TriggerId(0), n).count()), (4096, 4096));
    assert_eq!(
        (triggers.opened(TriggerId(0), n - 1).count(), triggers.activated((FlowId(7), Done::Sent)).count()),
        (0, 1)
    );
    for domains in [vec![0; n as usize + 1], (0..=n).collect(), (0..=n).map(|i| i % 7).collect()] {
        spec.domain_of = domains;
        let o = incast_engine::run(&spec, &mut |_| true).unwrap();
        let last = o.flows[1..n as usize].iter().map(|f| f.finish_ps.unwrap() + RELAY).max().unwrap();
        let last = last.max(o.flows[0].finish_ps.unwrap());
        assert!(o.flows[n as usize..].iter().skip(1).all(|f| f.start_ps == last + RELAY));
        assert_eq!(o.flows[n as usize].start_ps, last, "the host that counts");
        assert!(o.flows.iter().all(|f| f.finish_ps.is_some()));
    }
}

#[test]
fn activations_that_do_not_come_are_refused() {
    let refused = |spec: &Spec| incast_engine::run(spec, &mut |_| true).unwrap_err().to_string();
    for (count, ends) in [(0, 1), (2, 1), (1, 0)] {
        let spec = hosts(vec![flow(0, 1), after(flow(0, 2), count, &vec![(0, Done::Sent); ends])]);
        assert!(refused(&spec).contains(&format!("activation {count} of trigger 0, which has {ends}")));
    }
    let mut spec = hosts(vec![flow(0, 1), after(flow(0, 2), 1, &[(5, Done::Sent)])]);
    assert!(refused(&spec).contains("trigger 0 waits for flow 5, which there is not"));
    spec.triggers.clear();
    assert!(refused(&spec).contains("trigger 0, which has 0"));
}
