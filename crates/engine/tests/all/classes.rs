//! Traffic classes: order of service, shares of a link, and which queue fills.

use crate::support::fifo::{packet, recorded};
use crate::support::*;
use incast_engine::testing::{Interval, Offered, Port};
use incast_engine::{FlowId, LinkId};
use proptest::prelude::*;

/// Order in which classes leave a port at 10 Gb/s (1500 B: 1.2 us), to which all of (class, size) arrive at time 0.
fn order(queue: &QueueSpec, arrivals: &[(u8, u64)]) -> Vec<u8> {
    let interval = fifo::ALWAYS;
    let mut port = Port::new(&fifo::link(Rate::gbps(10), 0), queue, LinkId(0), 1, &interval);
    let mut ends = None;
    for (class, size) in arrivals {
        // the packet's number identifies its class
        let mut packet = packet(*size, false);
        packet.flow = FlowId(*class as u32);
        let Offered::Waits { ends: end, .. } = port.offer(Time::ZERO, &packet, None, *class, None, &interval) else {
            panic!()
        };
        ends = ends.or(end);
    }
    fifo::drain(&mut port, ends, &interval).iter().map(|p| p.flow.0 as u8).collect()
}

#[test]
fn strict_priority_finishes_what_it_sends_and_then_takes_the_lowest_class() {
    let queue = classes(Scheduler::Strict, vec![drop_tail(10); 3]);
    let arrivals = [(2, 1500), (2, 1500), (1, 1500), (0, 1500), (1, 1500), (0, 1500)];
    assert_eq!(order(&queue, &arrivals), [2, 0, 0, 1, 1, 2]);
}

#[test]
fn deficit_round_robin_is_the_example_of_its_paper() {
    // Shreedhar and Varghese, figures 2 and 3: a quantum of 500; queue 1 has packets of 200, 750, 20 and queue 2
    // of 500, 500. Round 1: 200 leaves 300 of a deficit; 500 leaves none. Round 2: 750 goes, and 20 with it.
    let queue = classes(Scheduler::Weighted { quanta: vec![500, 500] }, vec![drop_tail(10); 2]);
    let arrivals = [(0, 200), (0, 750), (0, 20), (1, 500), (1, 500)];
    assert_eq!(order(&queue, &arrivals), [0, 1, 0, 0, 1]);
}

#[test]
fn what_leaves_after_the_interval_began_was_below_the_classes() {
    let queue = QueueSpec { count_in_service: false, ..classes(Scheduler::Strict, vec![drop_tail(10); 2]) };
    let us = |t: f64| Time((t * 1e6) as u64);
    for second in [0, 1] {
        let interval = Interval { from: us(10.0), to: us(20.0), every: Time(1 << 40) };
        let mut port = Port::new(&fifo::link(Rate::gbps(10), 0), &queue, LinkId(0), 1, &interval);
        // on the wire at 10 us; the port decides when the next one comes
        for (came, left, class) in [(9.1, 10.3, 0), (11.0, 12.2, second)] {
            let ends = Some(us(left));
            let waits = Offered::Waits { ends, marked: false, lost: false };
            assert_eq!(port.offer(us(came), &packet(1500, false), None, class, None, &interval), waits);
            port.depart(us(left), None, &interval).unwrap();
        }
        let record = recorded(&mut port, us(30.0), &interval);
        assert!(record.classes.iter().all(|c| (c.queue_max_packets, c.queue_max_bytes) == (0, 0)), "{record:?}");
    }
}

#[test]
fn an_idle_port_begins_anew() {
    // a quantum of 3000: a packet of 1400 leaves 1600, which are lost with the queue
    let queue = classes(Scheduler::Weighted { quanta: vec![3000, 3000] }, vec![drop_tail(10); 2]);
    let interval = fifo::ALWAYS;
    let mut port = Port::new(&fifo::link(Rate::gbps(10), 0), &queue, LinkId(0), 1, &interval);
    let mut offer = |now, class: u8, size| {
        let mut packet = packet(size, false);
        packet.flow = FlowId(class as u32);
        let Offered::Waits { ends, .. } = port.offer(now, &packet, None, class, None, &interval) else { panic!() };
        ends.map(
            |end| if now == Time::ZERO { port.depart(end, None, &interval).unwrap().next.unwrap_or(end) } else { end },
        )
    };
    offer(Time::ZERO, 0, 1400);
    let later = Time::ms(1);
    let ends: Vec<_> = [0, 0, 0, 0, 1, 1, 1, 1].map(|class| offer(later, class, 1500)).into_iter().flatten().collect();
    let (mut left, mut next) = (Vec::new(), Some(ends[0]));
    while let Some(departed) = next.and_then(|now| port.depart(now, None, &interval)) {
        left.push(departed.packet.flow.0);
        next = departed.next;
    }
    assert_eq!(left, [0, 0, 1, 1, 0, 0, 1, 1]);
}

/// Decisions of a port with three classes, one threshold and one limit on simultaneous arrivals (class, size): true if
/// marked; `None` if dropped.
fn said(aggregate: Aggregate, in_service: bool, arrivals: &[(u8, u64)]) -> Vec<Option<bool>> {
    let discipline = Discipline::Classes { scheduler: Scheduler::Strict, classes: vec![endless_queue(); 3], aggregate };
    let queue = QueueSpec { count_in_service: in_service, ..queue(discipline, Limit::None) };
    let interval = fifo::ALWAYS;
    let mut port = Port::new(&fifo::link(Rate::gbps(10), 0), &queue, LinkId(0), 1, &interval);
    let mut offer =
        |(class, size): &(u8, u64)| match port.offer(Time::ZERO, &packet(*size, true), None, *class, None, &interval) {
            Offered::Waits { marked, .. } => Some(marked),
            _ => None,
        };
    arrivals.iter().map(&mut offer).collect()
}

#[test]
fn one_threshold_and_one_limit_hold_for_all_classes_together() {
    let classes: Vec<(u8, u64)> = [2, 1, 0, 2, 0, 1].map(|class| (class, 1500)).into();
    let [no, mark] = [Some(false), Some(true)];
    let aggregate = |mark, limit| Aggregate { mark, limit };
    let packets = aggregate(Limit::Packets(2), Limit::Packets(5));
    assert_eq!(said(packets, true, &classes), [no, no, mark, mark, mark, None]);
    // the first is in transmission, whatever class it has
    assert_eq!(said(packets, false, &classes), [no, no, no, mark, mark, mark]);
    let bytes = aggregate(Limit::Bytes(3000), Limit::Bytes(6000));
    assert_eq!(said(bytes, true, &classes), [no, no, mark, mark, None, None]);
    assert_eq!(said(bytes, false, &classes), [no, no, no, mark, mark, None]);
    // 40 bytes fit where a full packet does not
    assert_eq!(said(bytes, true, &[&classes[..4], &[(0, 1), (1, 0)]].concat())[4..], [None, mark]);
    assert_eq!(said(aggregate(Limit::None, Limit::Packets(1)), true, &classes[..2]), [no, None]);
    assert_eq!(said(aggregate(Limit::Packets(0), Limit::None), true, &classes[..1]), [mark]);
    assert_eq!(said(Aggregate::NONE, true, &classes), [no; 6]);
}

proptest! {
    #![proptest_config(crate::support::cases(100))]

    #[test]
    fn weights_share_bytes(
        weights in prop::collection::vec(1u32..8, 2..5),
        quantum in 100u32..4000,
        size in 100u64..1500,
    ) {
        // all have more than enough to send: after a number of rounds each has sent its quanta, except for its
        // remaining deficit, which is less than a packet (Shreedhar and Varghese, lemma 2)
        let (n, rounds) = (weights.len(), 40);
        let quanta: Vec<u32> = weights.iter().map(|w| w * quantum).collect();
        let queue = classes(Scheduler::Weighted { quanta: quanta.clone() }, vec![drop_tail(1_000_000); n]);
        let need = |i: usize| quanta[i] as u64 * (rounds + 2) / size + 2;
        let arrivals: Vec<(u8, u64)> =
            (0..n).flat_map(|i| (0..need(i)).map(move |_| (i as u8, size))).collect();
        let left = order(&queue, &arrivals);
        // whole packets of that number of rounds, of all classes
        let share = |i: usize| quanta[i] as u64 * rounds;
        let first = &left[..(0..n).map(|i| share(i) / size).sum::<u64>() as usize];
        for i in 0..n {
            let sent = first.iter().filter(|c| **c == i as u8).count() as u64 * size;
            // the very first packet came alone, so its class may be ahead by a packet, and another behind
            prop_assert!(sent.abs_diff(share(i) / size * size) <= size, "class {} sent {} of {}", i, sent, share(i));
        }
    }
}

/// Two senders to one receiver at 1 Gb/s: flow 0 of class 0 and flow 1 of class 1.
fn rivals(scheduler: Scheduler) -> Spec {
    let mut spec = star(3, Rate::gbps(1), Time::us(5));
    spec.queues = vec![classes(scheduler, vec![drop_tail(40), drop_tail(20)])];
    spec.transports = vec![tcp()];
    spec.controllers = vec![controller("newreno", &[])];
    spec.flows = vec![bulk(0, 2, None), FlowSpec { class: 1, ack_class: 1, ..bulk(1, 2, None) }];
    spec
}

#[test]
fn every_class_has_its_own_queue_and_its_own_account() {
    let mut spec = rivals(Scheduler::Strict);
    spec.flows.extend([spec.flows[1].clone(), spec.flows[1].clone()]);
    let outcome = run(&spec);
    let port = &outcome.ports[5];
    let [first, second] = &port.classes[..] else { panic!("{port:?}") };
    assert_eq!((port.accepted, port.drops), (first.packets + second.packets, first.drops + second.drops));
    assert!((port.queue_mean_packets - first.queue_mean_packets - second.queue_mean_packets).abs() < 1e-9);
    assert!(first.queue_max_packets <= 40 && second.queue_max_packets <= 20, "{port:?}");
    // three initial windows of ten packets are too many for class 1, which is hardly served
    assert_eq!(second.queue_max_packets, 20, "{port:?}");
    assert!(first.drops == 0 && second.drops > 0, "{port:?}");
    let delivered: u64 = outcome.flows.iter().map(|f| f.delivered).sum();
    assert!(outcome.flows[0].delivered as f64 > 0.99 * delivered as f64, "{outcome:?}");
}

#[test]
fn weighted_classes_share_a_link_whoever_sends() {
    // Ten flows of class 0 against one of class 1, weights 1 to 3. NewReno keeps both queues full, except for some time
    // after losses.
    let mut spec = rivals(Scheduler::Weighted { quanta: vec![1500, 4500] });
    spec.flows = (0..10).map(|_| bulk(0, 2, None)).chain([spec.flows[1].clone()]).collect();
    // the others' link must not be what limits them
    spec.links[0].rate = Rate::gbps(10);
    spec.links[1].rate = Rate::gbps(10);
    spec.queues.push(drop_tail(1000));
    spec.links[0].queue = 1;
    spec.links[1].queue = 1;
    spec.queues[0] = classes(Scheduler::Weighted { quanta: vec![1500, 4500] }, vec![drop_tail(100), drop_tail(100)]);
    (spec.measure_from, spec.duration) = (Time::ms(20), Time::ms(100));
    let outcome = compared(&spec);
    let port = &outcome.ports[5];
    let share = port.classes[1].bytes as f64 / (port.classes[0].bytes + port.classes[1].bytes) as f64;
    assert!((share - 0.75).abs() < 0.02, "{share}");
}

#[test]
fn acknowledgements_have_a_class_of_their_own() {
    let mut spec = rivals(Scheduler::Strict);
    spec.flows = vec![FlowSpec { class: 1, ack_class: 0, ..bulk(0, 2, Some(100_000)) }];
    let outcome = run(&spec);
    let [to, back] = [&outcome.ports[5].classes, &outcome.ports[3].classes];
    assert!(to[1].packets > 60 && back[0].packets > 30, "{to:?} {back:?}");
    assert_eq!((to[0].packets, back[1].packets), (0, 0));
}

#[test]
fn flows_of_a_class_that_a_port_lacks_are_refused() {
    let mut spec = rivals(Scheduler::Strict);
    spec.flows[1].ack_class = 2;
    let error = incast_engine::run(&spec, &mut |_| true).unwrap_err().to_string();
    assert!(error.contains("link h0>s: has 2 classes, but flows use class 2"), "{error}");
}
