//! ExpressPass: times computed by hand, credits at ports, shares of a link, and laws that hold under any losses.

use crate::properties::networks::dumbbell;
use crate::support::*;
use incast_engine::hash;

/// Packets of 1538 bytes with 1460 of payload and credits of 84. Credits are evenly spaced, at the maximum rate.
fn even() -> ExpressPass {
    ExpressPass {
        credit_min: 84,
        credit_max: 84,
        alpha: 1.0,
        ramp: 0,
        feedback: Feedback::Code,
        target_loss: 0.125,
        weight: 0.0625,
        min_weight: 0.01,
        jitter: 0.0,
        early_stop: false,
    }
}

/// The authors' values.
pub fn authors() -> ExpressPass {
    ExpressPass { credit_min: 76, credit_max: 92, alpha: 0.5, ramp: 40, jitter: 0.1, early_stop: true, ..even() }
}

fn transport(own: ExpressPass) -> TransportSpec {
    changed!(
        plain(),
        protocol = Protocol::ExpressPass(own),
        sizes.mss = 1460,
        sizes.header = 78,
        sizes.ack_size = 84,
        sizes.mtu = 0,
        connection.handshake = false,
        windows.send_buffer = 1 << 30,
        rto.rto_min = Time::us(100),
        rto.rto_initial = Time::ms(10)
    )
}

/// Ports as in the authors' code: 8 credits wait, two go at once, and 250 packets.
fn shaping() -> QueueSpec {
    let credits = queue(Discipline::DropTail, Limit::Bytes(8 * 84));
    let data = queue(Discipline::DropTail, Limit::Bytes(250 * 1538));
    let scheduler = Scheduler::Credits(CreditShaping { credit: 84, packet: 1538, burst: 2 });
    QueueSpec { count_in_service: false, ..classes(scheduler, vec![credits, data]) }
}

/// `spec` with this transport, and ports that shape credits.
pub fn with(mut spec: Spec, own: ExpressPass) -> Spec {
    spec.transports = vec![transport(own)];
    spec.queues = vec![shaping()];
    spec.controllers = vec![controller("newreno", &[])];
    spec.choice = PathChoice::Symmetric;
    spec.flows.iter_mut().for_each(|f| (f.class, f.ack_class) = (1, 1));
    spec
}

/// Flows between hosts around a switch: (source, destination, start, bytes).
fn around(flows: &[(u32, u32, u64, Option<u64>)], own: ExpressPass) -> Spec {
    let mut spec = star(5, Rate::gbps(10), Time::us(1));
    let flow = |&(src, dst, start, bytes)| FlowSpec { start: Time(start), ..bulk(src, dst, bytes) };
    spec.flows = flows.iter().map(flow).collect();
    with(spec, own)
}

/// Arrival time of the last byte of each flow, in ps after its start.
fn received(o: &Outcome) -> Vec<u64> {
    o.flows.iter().map(|f| f.received_ps.unwrap_or(0).saturating_sub(f.start_ps)).collect()
}

fn sum(o: &Outcome, f: fn(&FlowRecord) -> u64) -> u64 {
    o.flows.iter().map(f).sum()
}

/// Credits wait for tokens at ports where short messages follow one another, over links that are short for their rate.
/// A waiting packet goes as soon as the one before it has gone, and not when the next credit may.
#[test]
fn short_messages_pass_credits_that_wait() {
    for (delay, size) in [(100, 1), (200, 300), (300, 1), (1_000, 3_000)] {
        let mut spec = star(6, Rate::gbps(10), Time::ns(delay));
        spec.flows = (0..60u64)
            .map(|i| {
                let draw = |of: u64, n: u64| (hash::uniform(7, 91, i, of) * n as f64) as u64;
                let dst = draw(0, 6) as u32;
                let src = (dst + 1 + draw(1, 5) as u32) % 6;
                FlowSpec { start: Time(draw(2, 40_000_000)), ..bulk(src, dst, Some(size + draw(3, 6 * size))) }
            })
            .collect();
        spec.flows.push(bulk(0, 1, Some(200_000)));
        spec.flows.push(bulk(1, 2, Some(200_000)));
        let spec = with(spec, authors());
        let o = compared(&spec);
        assert!(o.flows.iter().all(|f| Some(f.delivered) == f.size), "{delay} ns: {:?}", o.flows);
    }
}

/// Time of 84 bytes over two links of 1 us, ps; of 1538 bytes; and the gap between credits at the maximum rate.
const SMALL: u64 = 2 * (67_200 + 1_000_000);
const FULL: u64 = 2 * (1_230_400 + 1_000_000);
const GAP: u64 = 1622 * 800;

#[test]
fn a_flow_alone_waits_for_a_credit_and_then_has_one_a_gap() {
    // the request, its credit, the packet; and the ACK
    let o = compared(&around(&[(0, 1, 0, Some(1460))], even()));
    assert_eq!(received(&o), [2 * SMALL + FULL]);
    assert_eq!(o.flows[0].finish_ps, Some(3 * SMALL + FULL));
    // one packet per credit, one credit per gap: no port delays or drops any
    let o = compared(&around(&[(0, 1, 0, Some(30 * 1460))], even()));
    assert_eq!(received(&o), [2 * SMALL + FULL + 29 * GAP]);
    assert_eq!((o.flows[0].sent, o.flows[0].delivered, o.packets_dropped), (30, 30 * 1460, 0));
    // the stop follows the last packet, and reaches the receiver 4528 ns after the last credit was used: five more
    // credits have gone by then. One request, one stop, one ACK
    assert_eq!(o.packets_sent, 30 + 35 + 3);
    // with an early stop every fourth credit checks the rest: the 29th finds one packet, and one credit less goes
    let o = compared(&around(&[(0, 1, 0, Some(30 * 1460))], ExpressPass { early_stop: true, ..even() }));
    assert_eq!(received(&o), [2 * SMALL + FULL + 29 * GAP]);
    assert_eq!(o.packets_sent, 30 + 34 + 3);
}

#[test]
fn ports_drop_credits_and_no_data() {
    // four senders with a receiver each behind one link between two switches: credits of all meet at the second one
    let mut spec = dumbbell(4, Rate::gbps(10), Time::us(4));
    spec.flows = (0..4).map(|h| bulk(h, h + 4, None)).collect();
    run_for(&mut spec, Time::ms(20));
    spec.measure_from = Time::ms(5);
    let o = compared(&with(spec, authors()));
    let class = |i: usize| o.ports.iter().map(|p| p.classes[i].drops).sum::<u64>();
    assert!(class(0) > 1000 && class(1) == 0, "{} {}", class(0), class(1));
    // 1460 of 1622 bytes of the link, less the gaps of unused credits
    let rate = |f: &FlowRecord| f.delivered_m as f64 * 8.0 / 15e-3;
    let all = o.flows.iter().map(rate).sum::<f64>();
    assert!(all < 10e9 * 1460.0 / 1622.0 && all > 0.97 * 10e9 * 1460.0 / 1622.0, "{all}");
    let squares = o.flows.iter().map(|f| rate(f) * rate(f)).sum::<f64>();
    assert!(all * all / (4.0 * squares) > 0.99, "fair: {:?}", o.flows.iter().map(rate).collect::<Vec<_>>());
    // data waits only behind packets that credits of other sizes and paths let arrive together
    assert!(o.ports.iter().all(|p| p.classes[1].queue_max_packets <= 8), "{:?}", o.ports);
}

#[test]
fn an_incast_has_no_queue_of_data_and_loses_none() {
    let mut spec = star(41, Rate::gbps(10), Time::us(1));
    spec.flows = (1..41).map(|h| bulk(h, 0, Some(146_000))).collect();
    let o = compared(&with(spec, authors()));
    assert!(o.flows.iter().all(|f| f.delivered == 146_000 && f.finish_ps.is_some() && f.retransmissions == 0));
    // 4000 packets and as many credits at 10 Gb/s, and up to half as much again for credits wasted on the way
    let last = received(&o).into_iter().max().unwrap();
    assert!(last > 4000 * GAP && last < 4000 * GAP * 3 / 2, "{last}");
    // 40 requests of 84 bytes meet; then one or two packets
    assert!(
        o.ports.iter().all(|p| p.classes[1].drops == 0 && p.classes[1].queue_max_bytes < 6 * 1538),
        "{:?}",
        o.ports
    );
}

#[test]
fn every_packet_comes_once_whatever_is_lost() {
    for seed in seeds(3).map(|seed| seed + 1) {
        for (own, loss) in [(authors(), 0.02), (authors(), 0.2), (even(), 0.02)] {
            let mut spec = fat_tree(4, Rate::gbps(100), Time::us(1));
            spec.seed = seed;
            spec.links.iter_mut().step_by(3).for_each(|l| l.loss = Loss::Packet(loss));
            spec.flows = (0..16).map(|h| bulk(h, (h * 5 + 3) % 16, Some(1 + h as u64 * 17_000))).collect();
            spec.flows.extend((1..9).map(|h| FlowSpec { start: Time::us(h as u64), ..bulk(h, 0, Some(60_000)) }));
            spec.ends_when_finished = true;
            let o = compared(&with(spec, own));
            for f in &o.flows {
                assert_eq!(Some(f.delivered), f.size, "{f:?}");
                assert!(f.finish_ps.is_some() && f.received_ps.is_some(), "{f:?}");
            }
            assert!(sum(&o, |f| f.retransmissions) > 0, "something is lost");
        }
    }
}

#[test]
fn a_closed_loop_goes_on_when_its_last_credit_was_before_the_ack() {
    let think = Time::us(50);
    let mut spec = around(&[(0, 1, 0, Some(1))], even());
    spec.flows[0].app = App::ClosedLoop(ClosedLoop { write: 1460, outstanding: 1, think, count: Some(5) });
    run_for(&mut spec, Time::ms(5));
    let o = compared(&spec);
    assert_eq!(o.flows[0].finish_ps, Some(5 * (3 * SMALL + FULL) + 4 * think.0));
}

#[test]
fn queries_closed_loops_and_other_traffic_run_beside_it() {
    let spec = asking(6, 50_000, transport(authors()));
    let o = compared(&with(spec, authors()));
    let queries = messages(&o, MessageKind::Query);
    assert_eq!(queries.len(), 3);
    // six responses of 50 kB at 10 Gb/s
    assert!(queries.iter().all(|q| q.finish_ps.is_some_and(|end| end - q.start_ps < 600_000_000)), "{queries:?}");

    let mut spec = around(&[(0, 4, 0, Some(1)), (1, 4, 0, None), (2, 3, 0, Some(500_000))], authors());
    let app = ClosedLoop { write: 30_000, outstanding: 2, think: Time::us(20), count: Some(20) };
    spec.flows[0].app = App::ClosedLoop(app);
    // a TCP flow, whose packets have the class of all packets other than credits
    spec.transports.push(plain());
    spec.flows[2].transport = 1;
    run_for(&mut spec, Time::ms(8));
    let o = compared(&spec);
    let writes = messages(&o, MessageKind::Write);
    assert_eq!(writes.iter().filter(|w| w.finish_ps.is_some()).count(), 20, "{writes:?}");
    assert_eq!(o.flows[2].delivered, 500_000);
    let rate = (o.flows[0].delivered + o.flows[1].delivered) as f64 * 8.0 / 8e-3;
    assert!(rate > 0.85 * 9e9 && rate < 9.002e9, "{rate}");
}

#[test]
fn what_contradicts_itself_is_refused() {
    let told = |change: &dyn Fn(&mut Spec)| {
        let mut spec = around(&[(0, 1, 0, Some(100))], authors());
        change(&mut spec);
        incast_engine::run(&spec, &mut |_| true).unwrap_err().to_string()
    };
    let own = |change: &dyn Fn(&mut ExpressPass)| {
        told(&|spec| {
            let mut own = authors();
            change(&mut own);
            spec.transports = vec![transport(own)];
        })
    };
    assert!(own(&|x| x.credit_min = 93).contains("credit_min = 93: expected at most credit_max, 92B"));
    assert!(own(&|x| x.alpha = 0.0).contains("alpha = 0: expected above 0 and at most 1"));
    assert!(own(&|x| x.min_weight = 0.5).contains("min_weight = 0.5: expected at most weight, 0.0625"));
    assert!(own(&|x| x.jitter = 1.0).contains("jitter = 1: expected at least 0 and below 1"));
    assert!(told(&|s| s.choice = PathChoice::Ecmp).contains("expected true"));
    assert!(told(&|s| s.flows[0].ack_class = 0).contains("class 0 is for credits"));
    // one link on the path of the credits, from the receiver's host or from the switch
    for link in [(1, 5), (5, 0)] {
        let told = told(&|s| {
            s.queues.push(classes(Scheduler::Strict, vec![endless_queue(); 2]));
            s.links.iter_mut().filter(|l| (l.from, l.to) == link).for_each(|l| l.queue = 1);
        });
        assert!(told.contains("on the path of its credits does not shape them"), "{told}");
    }
    // the other links need no shaping
    let mut spec = around(&[(0, 1, 0, Some(100))], authors());
    spec.queues.push(classes(Scheduler::Strict, vec![endless_queue(); 2]));
    spec.links.iter_mut().filter(|l| ![(1, 5), (5, 0)].contains(&(l.from, l.to))).for_each(|l| l.queue = 1);
    assert_eq!(compared(&spec).flows[0].delivered, 100);
    assert!(told(&|s| s.links[0].rate = Rate::INFINITE).contains("links with a finite rate"));
    let burst = |s: &mut Spec| {
        let scheduler = Scheduler::Credits(CreditShaping { credit: 84, packet: 1538, burst: 0 });
        s.queues = vec![classes(scheduler, vec![endless_queue(); 2])];
    };
    assert!(told(&burst).contains("a burst of at least 1 credit"));
}
