//! dcPIM: times computed by hand, the division of channels, and exactly-once delivery under any losses.

use crate::phost;
use crate::support::*;

/// Packets of 1500 bytes with 1460 of payload; the authors' counts, and rounds for a star with links of 1 us,
/// in which control packets may wait for a full packet.
pub fn authors() -> DcPim {
    DcPim {
        rounds: 4,
        channels: 4,
        control_rtt: Time(2 * SMALL),
        beta: 2.0,
        alpha: 1.0,
        short_packets: 5,
        shortest_first: 1,
        window: 19,
        window_timeout: 20.9,
        reissue: 19.0,
        levels: 7,
    }
}

/// `spec` with this transport, switches with a priority queue, and flows of the lowest priority.
pub fn with(spec: Spec, own: DcPim, queue: QueueSpec) -> Spec {
    let mut spec = phost::with(spec, phost::authors(), queue);
    let lowest = own.levels - 1;
    spec.flows.iter_mut().for_each(|f| f.class = lowest);
    spec.transports[0].protocol = Protocol::DcPim(own);
    spec
}

pub fn strict(limit: Limit) -> QueueSpec {
    classes(Scheduler::Strict, vec![queue(Discipline::DropTail, limit); 7])
}

/// Messages between hosts around a switch: (source, destination, packets).
fn messages_of(flows: &[(u32, u32, u64)], own: DcPim) -> Spec {
    let mut spec = star(5, Rate::gbps(10), Time::us(1));
    spec.flows = flows.iter().map(|&(src, dst, packets)| bulk(src, dst, Some(packets * 1460))).collect();
    with(spec, own, strict(Limit::None))
}

/// Arrival time of the last byte of each flow, in ps. All start at 0.
fn received(o: &Outcome) -> Vec<u64> {
    o.flows.iter().map(|f| f.received_ps.unwrap_or(0)).collect()
}

/// Time of 40 bytes and of 1500 on the wire, ps; and of both over two links of 1 us.
const SHORT: u64 = 32_000;
const FULL: u64 = 1_200_000;
const SMALL: u64 = 2 * (SHORT + 1_000_000);
const LARGE: u64 = 2 * (FULL + 1_000_000);
/// A round, of 8.256 us, and a matching: in a data phase a channel carries 27.5 / 4 packets, that is 6.
const ROUND: u64 = 8_256_000;
const MATCHING: u64 = 4 * ROUND;

#[test]
fn the_only_message_has_all_channels_at_once() {
    // announced at 2.06 us, asked for after one round, granted in the middle of the next, accepted at its end; channels
    // that the data phase under way leaves free serve at once, and the token goes behind the acceptance
    let o = compared(&messages_of(&[(0, 1, 20)], authors()));
    assert_eq!(received(&o), [2 * ROUND + SHORT + SMALL + LARGE + 19 * FULL]);
    // announcement, request, grant, acceptance, ACK; and a token a packet
    assert_eq!((o.packets_sent, o.flows[0].retransmissions), (5 + 2 * 20, 0));
}

#[test]
fn a_message_takes_as_many_channels_as_it_needs() {
    // 8 packets: two channels, a token in 2.4 us; the eighth goes as the data phase begins
    let o = compared(&messages_of(&[(0, 1, 8)], authors()));
    assert_eq!(received(&o), [MATCHING + SMALL + LARGE]);
    // the receivers of two messages have two channels each, and share the sender's link
    let o = compared(&messages_of(&[(0, 1, 8), (0, 2, 8)], authors()));
    let last = MATCHING + SMALL + LARGE;
    assert!(received(&o).iter().all(|at| (last..=last + 2 * FULL).contains(at)), "{:?}", received(&o));
}

#[test]
fn of_two_senders_the_shortest_is_served_first() {
    // 20 packets ask for four channels, 10 for two: these have both, the others the rest. All rounds prefer the
    // shortest, as the messages are known in the second
    let own = DcPim { shortest_first: 4, ..authors() };
    let o = compared(&messages_of(&[(0, 4, 20), (1, 4, 10)], own));
    let [long, short] = received(&o)[..] else { panic!() };
    // seven tokens 2.4 us apart from the second round on, the others in the data phase; packets meet at the port
    assert_eq!(long, MATCHING + 12 * 2 * FULL + SMALL + LARGE);
    let early = MATCHING + 2 * 2 * FULL + SMALL + LARGE;
    assert!((early..=early + FULL + SHORT).contains(&short), "{short}");
}

#[test]
fn a_short_message_goes_at_once_behind_its_announcement() {
    let o = compared(&messages_of(&[(0, 1, 5)], authors()));
    assert_eq!((received(&o), o.packets_sent), (vec![SHORT + 4 * FULL + LARGE], 1 + 5 + 1));
}

/// Runs messages with one link down for some time, in ps.
fn interrupted(flows: &[(u32, u32, u64)], link: u32, from: u64, until: u64) -> Outcome {
    let mut spec = messages_of(flows, authors());
    let effect = Effect::Down { detection: Time::ZERO };
    spec.failures = vec![Failure { link, from: Time(from), until: Time(until), effect }];
    compared(&spec)
}

#[test]
fn what_is_lost_of_a_short_message_matches() {
    // the fifth packet is lost. A token for it may go after the time of 5 + 19 packets from the announcement on; it is
    // asked for in the next round, the first of the second matching
    let end = SHORT + 5 * FULL;
    let o = interrupted(&[(0, 1, 5)], 0, end - 130_000, end - 30_000);
    assert_eq!((SMALL + 24 * FULL).div_ceil(ROUND), 4);
    // its channel is accepted after five rounds. Five of its slots are those of the packets that went without tokens
    assert_eq!(received(&o), [5 * ROUND + 5 * 4 * FULL + SMALL + LARGE]);
    assert_eq!((o.flows[0].retransmissions, o.flows[0].timeouts), (1, 0));
}

#[test]
fn what_a_round_loses_the_next_one_repeats() {
    // the grant leaves its host in the middle of the second round
    let grant = ROUND + ROUND / 2;
    let o = interrupted(&[(0, 1, 20)], 0, grant - 10_000, grant + 40_000);
    assert_eq!(received(&o), [3 * ROUND + SHORT + SMALL + LARGE + 19 * FULL]);
    // the acceptance and the token behind it, for the first packet: it comes 19 packets after the last token or later
    let token = 2 * ROUND + SHORT;
    let o = interrupted(&[(0, 1, 20)], 1, token + 10_000, token + 40_000);
    assert!(received(&o)[0] > 2 * ROUND + 38 * FULL, "{:?}", received(&o));
    assert_eq!((o.flows[0].delivered, o.flows[0].retransmissions), (20 * 1460, 0));
}

#[test]
fn a_lost_announcement_is_repeated() {
    let o = interrupted(&[(0, 1, 20)], 0, 0, 10_000);
    assert_eq!(o.flows[0].timeouts, 1);
    assert!((1_000_000_000..1_060_000_000).contains(&received(&o)[0]), "{:?}", received(&o));
}

#[test]
fn priorities_follow_from_sizes() {
    assert_eq!([1, 7, 8, 49, 50, 343, 344, 16_807, 16_808].map(|n| authors().class_of(n)), [1, 1, 2, 2, 3, 3, 4, 5, 6]);
    assert_eq!(DcPim { levels: 2, ..authors() }.class_of(50), 1);
    let o = compared(&messages_of(&[(0, 4, 60), (1, 4, 20)], authors()));
    let class = |i: usize| o.ports.iter().filter_map(|p| p.classes.get(i)).map(|c| c.packets).sum::<u64>();
    assert_eq!((class(2), class(3)), (20, 60));
}

#[test]
fn every_message_comes_whole_and_once_whatever_is_lost() {
    for (seed, loss, queue) in
        [(1, 0.02, strict(Limit::Packets(6))), (2, 0.02, strict(Limit::None)), (3, 0.2, phost::ranked())]
    {
        let mut spec = fat_tree(4, Rate::gbps(100), Time::us(1));
        (spec.choice, spec.seed) = (PathChoice::Spray, seed);
        spec.links.iter_mut().step_by(3).for_each(|l| l.loss = Loss::Packet(loss));
        spec.flows = (0..16).map(|h| bulk(h, (h * 5 + 3) % 16, Some(1 + h as u64 * 17_000))).collect();
        spec.flows.extend((1..9).map(|h| FlowSpec { start: Time::us(h as u64), ..bulk(h, 0, Some(60_000)) }));
        spec.ends_when_finished = true;
        let own = DcPim { control_rtt: Time::us(13), ..authors() };
        let o = compared(&with(spec, own, queue));
        for f in &o.flows {
            assert_eq!(Some(f.delivered), f.size, "{f:?}");
            assert!(f.finish_ps.is_some() && f.received_ps.is_some(), "{f:?}");
        }
        assert!(o.flows.iter().any(|f| f.retransmissions > 0), "something is lost");
    }
}

#[test]
fn queries_closed_loops_and_endless_flows_run_over_it() {
    let own = || DcPim { control_rtt: Time::us(30), ..authors() };
    let o = compared(&with(asking(6, 50_000, plain()), own(), strict(Limit::None)));
    let queries = messages(&o, MessageKind::Query);
    assert!(queries.len() == 3 && queries.iter().all(|q| q.finish_ps.is_some()), "{queries:?}");
    let o = closed_loop_beside_endless(messages_of(&[(0, 4, 1), (1, 4, 1)], authors()));
    // packets of 12,000 bits, less slots without use
    let rate = (o.flows[0].sent + o.flows[1].sent) as f64 * 12e3 / 4e-3;
    assert!(rate > 9e9 && rate < 1e10, "{rate}");
}

#[test]
fn what_contradicts_itself_is_refused() {
    let told = |change: &dyn Fn(&mut Spec)| {
        let mut spec = messages_of(&[(0, 1, 1)], authors());
        change(&mut spec);
        incast_engine::run(&spec, &mut |_| true).unwrap_err().to_string()
    };
    let own = |own: DcPim| told(&|s| s.transports[0].protocol = Protocol::DcPim(own.clone()));
    for (wrong, shown) in [
        (DcPim { rounds: 0, ..authors() }, "rounds = 0: expected at least 1 and at most 64"),
        (DcPim { channels: 65, ..authors() }, "channels = 65: expected"),
        (DcPim { window: 0, ..authors() }, "window = 0: expected"),
        (DcPim { levels: 8, ..authors() }, "levels = 8: expected"),
        (DcPim { alpha: 0.5, ..authors() }, "alpha = 0.5: expected"),
        (DcPim { beta: f64::NAN, ..authors() }, "beta = NaN: expected a finite number"),
        (DcPim { reissue: 0.0, ..authors() }, "reissue = 0: expected above 0"),
        (DcPim { control_rtt: Time::us(2), ..authors() }, "in which control packets take 2.064us and 2.064us"),
    ] {
        let text = own(wrong);
        assert!(text.contains(shown), "{text}");
    }
    let two = |s: &mut Spec| {
        s.transports.push(changed!(s.transports[0].clone(), sizes.mss = 1000));
    };
    assert!(told(&two).contains("expected one setting for all traffic"));
    assert!(told(&|s| s.transports[0].rto.rto_min = Time::ZERO).contains("repeats requests after it"));
    assert!(told(&|s| s.flows[0].class = 1).contains("expected 6, its lowest class"));
    assert!(told(&|s| s.links[1].rate = Rate::INFINITE).contains("expected a finite rate"));
}
