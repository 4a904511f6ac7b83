//! Priority flow control: nothing is dropped where the headroom suffices, exactly what does not fit where it does not;
//! who waits for whom.
mod net;

use incast_cc::{Rate, Time};
use incast_engine::hash;
use incast_engine::port::pfc::Pfc;
use incast_engine::port::shared::Account;
use incast_engine::spec::*;
use incast_record::{Outcome, PortRecord};
use net::*;
use std::time::{Duration, Instant};

fn pfc() -> PfcSpec {
    PfcSpec { lossless: vec![true], threshold: None, reserve: 4096, headroom: Headroom::Link, margin: 3072 }
}

fn with(pfc: PfcSpec, size: u64) -> Option<BufferSpec> {
    Some(BufferSpec { size, alpha: 1.0, reserve: 0, pfc: Some(pfc) })
}

/// Packets of `mss` bytes without headers, back to back at `rate`.
fn flood(src: u32, dst: u32, mss: u32, rate: Rate) -> FlowSpec {
    FlowSpec { app: App::Udp { gap: rate.serialize(mss as u64) }, ..bulk(src, dst, None) }
}

/// A star whose links differ in rate, overhead and delay, with packets of several sizes and classes, and pauses of all
/// kinds; its senders stop, so that all can arrive.
fn random(seed: u64, headroom: Option<Headroom>) -> Spec {
    fit(draft(seed, headroom))
}

/// Buffers of that size beside what the accounts have for themselves.
fn fit(spec: Spec) -> Spec {
    let (_, accounts) = Pfc::new(&spec, spec.pfc().unwrap()).unwrap();
    let own = |accounts: &Vec<Account>| accounts.iter().map(|a| a.reserve + a.headroom).sum::<u64>();
    let own = accounts.iter().map(own).max().unwrap();
    let buffer = spec.buffer.map(|buffer| BufferSpec { size: buffer.size + own, ..buffer });
    Spec { buffer, ..spec }
}

/// ... the buffer of a size without what the accounts have for themselves.
fn draft(seed: u64, headroom: Option<Headroom>) -> Spec {
    let mut draws = 0;
    let mut n = |of: u64| {
        draws += 1;
        (hash::uniform(seed, 77, 0, draws) * of as f64) as u64
    };
    let hosts = 3 + n(5) as u32;
    let mut spec = endless(star(hosts, Rate::gbps(10), Time::us(1)), Time::ms(60));
    let rates = [1, 10, 40, 100].map(Rate::gbps);
    for l in 0..hosts as usize {
        let rate = rates[n(4) as usize];
        let back = if seed % 2 == 0 { rate } else { rates[n(4) as usize] };
        let delay = Time::ns([0, 100, 1000, 5000][n(4) as usize]);
        let overhead = [0, 18, 38][n(3) as usize];
        for (l, rate) in [(l, rate), (l + hosts as usize, back)] {
            spec.links[l] = LinkSpec { rate, delay, overhead, ..spec.links[l].clone() };
        }
    }
    let classes = 1 + n(3) as usize;
    let count_overhead = seed % 4 == 2;
    let queue = QueueSpec { count_in_service: n(2) == 0, count_overhead, ..spec.queues[0].clone() };
    let several = Discipline::Classes { scheduler: Scheduler::Strict, classes: vec![queue.clone(); classes] };
    spec.queues = vec![if classes > 1 { QueueSpec { discipline: several, ..queue } } else { queue }];
    let sizes = [46, 64, 300, 1000, 1500, 9000];
    spec.transports = (0..3).map(|_| TransportSpec { mss: sizes[n(6) as usize], ..htsim() }).collect();
    let flow = |_| {
        let (src, transport) = (n(hosts as u64) as u32, n(3) as u32);
        let dst = (src + 1 + n(hosts as u64 - 1) as u32) % hosts;
        let whole = spec.transports[transport as usize].mss as u64 + 20;
        let gap = Time(spec.links[src as usize].rate.serialize(whole).0 * (1 + n(3)));
        let (start, stop) = (Time::ns(n(20_000)), Time::us(60 + n(60)));
        let class = n(classes as u64) as u8;
        FlowSpec { app: App::Udp { gap }, transport, class, start, stop, ..bulk(src, dst, None) }
    };
    spec.flows = (0..1 + 3 * hosts).map(flow).collect();
    let threshold = [None, Some(Threshold::Fixed(n(20_000))), Some(Threshold::Dynamic(0.1))][n(3) as usize];
    let little = [Headroom::Bytes(0), Headroom::Bytes(1000), Headroom::Delays][n(3) as usize];
    let (reserve, margin) = ([0, 100, 4096][n(3) as usize], [0, 3072][n(2) as usize]);
    let headroom = headroom.unwrap_or(little);
    let pfc = PfcSpec { lossless: vec![true; classes], threshold, reserve, headroom, margin };
    spec.buffer = with(pfc, [1000, 20_000, 200_000][n(3) as usize]);
    Spec { seed, ..spec }
}

fn endless(mut spec: Spec, duration: Time) -> Spec {
    spec.queues = vec![QueueSpec { limit: Limit::None, ..drop_tail(1) }];
    spec.controllers = vec![controller("newreno", &[])];
    (spec.duration, spec.measure_to) = (duration, duration);
    spec
}

fn port<'a>(o: &'a Outcome, name: &str) -> &'a PortRecord {
    o.ports.iter().find(|p| p.name == name).unwrap()
}

fn drops(o: &Outcome) -> u64 {
    o.ports.iter().map(|p| p.drops).sum()
}

/// Seven hosts at line rate into an eighth, over links of several lengths and with packets of several sizes.
#[test]
fn an_incast_at_line_rate_loses_nothing() {
    for (delay, mss, size) in [(0, 1500, 400_000), (1, 1500, 400_000), (1, 64, 400_000), (5, 9000, 1_500_000)] {
        let mut spec = endless(star(8, Rate::gbps(10), Time::us(delay)), Time::us(600));
        spec.transports = vec![TransportSpec { mss, ..htsim() }];
        spec.flows = (0..7).map(|h| flood(h, 7, mss, Rate::gbps(10))).collect();
        spec.buffer = with(pfc(), size);
        let o = judged(&spec);
        assert_eq!(drops(&o), 0, "{delay} us, {mss} B");
        let last = port(&o, "s>h7");
        assert!(last.queue_max_bytes < size, "{last:?}");
        // the bottleneck never runs dry: the first packet comes after two delays
        let idle = o.end_ps - last.busy_ps;
        assert!(idle <= 2 * delay * 1_000_000 + 2 * Rate::gbps(10).serialize(mss as u64).0, "{last:?}");
        let paused: Vec<u64> = (0..7).map(|h| port(&o, &format!("h{h}>s")).paused_ps).collect();
        assert!(paused.iter().all(|p| (400_000_000..600_000_000).contains(p)), "a seventh each: {paused:?}");
        // without it the buffer overflows
        spec.buffer = Some(BufferSpec { size, alpha: 1.0, reserve: 0, pfc: None });
        assert!(drops(&judged(&spec)) > 0);
    }
}

/// One host at 10 Gb/s into a link of 1 Mb/s. The threshold is 20,500 B, the twenty-first packet of 1000 B is beyond
/// it. The frame takes 51.2 ns and the delay, packets 800 ns: with 2 us of delay they go on for 4051.2 ns after
/// the transmission of that one, which is six packets more.
#[test]
fn a_headroom_of_a_packet_too_little_drops_a_packet() {
    let run = |headroom: Headroom| {
        let mut spec = endless(star(2, Rate::gbps(10), Time::us(2)), Time::us(100));
        spec.links[3].rate = Rate::mbps(1);
        spec.transports = vec![TransportSpec { mss: 1000, ..htsim() }];
        spec.flows = vec![flood(0, 1, 1000, Rate::gbps(10))];
        let threshold = Some(Threshold::Fixed(20_500));
        // a frame to h1 may wait for a packet at 1 Mb/s, 8 ms, which is 10 MB of headroom
        spec.buffer = with(PfcSpec { threshold, headroom, reserve: 0, ..pfc() }, 20_000_000);
        let o = judged(&spec);
        (drops(&o), port(&o, "s>h1").packets_total)
    };
    // 20 in the shared part, 1 that exceeds it, 6 until the port stops; one of the first has begun to leave
    assert_eq!(run(Headroom::Bytes(7000)).0, 0);
    assert_eq!(run(Headroom::Bytes(6999)).0, 1);
    // without any the pause begins with the twentieth, the last that fits
    assert_eq!(run(Headroom::Bytes(0)).0, 6);
    assert_eq!(run(Headroom::Link).0, 0);
    // three times 2 us of 10 Gb/s are 7500 B
    assert_eq!(run(Headroom::Delays).0, 0);
    assert_eq!(run(Headroom::Bytes(7000)).1, 27, "and not one packet more while it is paused");
}

/// The headroom is what the rules of links, frames and resuming make of it, whatever the network.
#[test]
fn no_star_loses_a_packet_with_the_headroom_of_its_links() {
    // at 41, 215, 240 and 243 frames about one class would wait for each other on the way back
    for seed in 0..250 {
        let o = run(&random(seed, Some(Headroom::Link)));
        assert_eq!((drops(&o), o.packets_in_flight), (0, 0), "seed {seed}");
        assert_eq!(o.packets_sent, o.packets_delivered, "seed {seed}");
    }
    for seed in 0..20 {
        judged(&random(seed, Some(Headroom::Link)));
    }
}

/// Packets that its headroom does not hold, a buffer that others fill: drops, but nothing waits for ever.
#[test]
fn a_class_that_has_nothing_in_the_buffer_is_not_paused() {
    for seed in 0..150 {
        let o = run(&random(seed, None));
        assert_eq!(o.packets_in_flight, 0, "seed {seed}: dropped {} of {}", drops(&o), o.packets_sent);
    }
    for seed in 0..10 {
        judged(&random(seed, None));
    }
}

/// Hosts 0, 1 and 2 behind a switch, 3 and 4 behind another: 0 and 1 fill the way to 3, 2 sends to 4, which nobody
/// else does.
fn victims(lossless: Vec<bool>, classes: Option<(u8, u8)>) -> Spec {
    let mut spec = endless(star(5, Rate::gbps(10), Time::us(1)), Time::ms(2));
    let sample = spec.links[0].clone();
    spec.node_names = ["h0", "h1", "h2", "h3", "h4", "a", "b"].map(str::to_owned).to_vec();
    spec.domain_of = vec![0, 0, 0, 1, 1, 0, 1];
    let ends = [(0, 5), (1, 5), (2, 5), (5, 0), (5, 1), (5, 2), (5, 6), (6, 5), (6, 3), (6, 4), (3, 6), (4, 6)];
    let names = &spec.node_names;
    let link = |(from, to): (u32, u32)| LinkSpec {
        from,
        to,
        rate: if (from, to) == (6, 3) { Rate::gbps(2) } else { Rate::gbps(10) },
        name: format!("{}>{}", names[from as usize], names[to as usize]),
        ..sample.clone()
    };
    spec.links = ends.map(link).to_vec();
    let table =
        |set: [u32; 5], ports: u32| Router::Table { set: set.to_vec(), sets: (0..ports).map(|p| vec![p]).collect() };
    spec.routers = vec![table([0, 1, 2, 3, 3], 4), table([0, 0, 0, 1, 2], 3)];
    spec.transports = vec![TransportSpec { mss: 1000, ..htsim() }];
    spec.flows =
        vec![flood(0, 3, 1000, Rate::gbps(3)), flood(1, 3, 1000, Rate::gbps(3)), flood(2, 4, 1000, Rate::gbps(3))];
    if let Some((filling, victim)) = classes {
        let queue = spec.queues[0].clone();
        let discipline =
            Discipline::Classes { scheduler: Scheduler::Strict, classes: vec![queue.clone(), queue.clone()] };
        spec.queues = vec![QueueSpec { discipline, ..queue }];
        spec.flows.iter_mut().zip([filling, filling, victim]).for_each(|(f, class)| f.class = class);
    }
    spec.buffer = with(PfcSpec { lossless, ..pfc() }, 300_000);
    spec
}

#[test]
fn a_pause_holds_up_who_goes_elsewhere() {
    let rate = |o: &Outcome| o.flows[2].delivered as f64 * 8.0 / 2e-3 / 1e9;
    let o = judged(&victims(vec![true], None));
    assert_eq!(drops(&o), 0);
    assert!(port(&o, "a>b").paused_ps > 0);
    // of 10 Gb/s between the switches 2 go to h3, and as many to h4 as each of the others sends: 1
    assert!((0.8..1.4).contains(&rate(&o)), "{}", rate(&o));
    // in a class of its own it is not held up, although that class is lossless too; nor without flow control
    let o = judged(&victims(vec![true, true], Some((1, 0))));
    assert_eq!(drops(&o), 0);
    assert!(rate(&o) > 2.95, "{}", rate(&o));
    let shared = port(&o, "a>b");
    assert_eq!((shared.classes[0].pauses, shared.classes[0].paused_ps), (0, 0));
    assert!(shared.classes[1].pauses > 0 && shared.classes[1].paused_ps == shared.paused_ps, "{shared:?}");
    let o = judged(&Spec { buffer: None, ..victims(vec![true], None) });
    assert!(rate(&o) > 2.95, "{}", rate(&o));
}

#[test]
fn only_lossless_classes_are_paused() {
    // the class that fills is dropped, the other one passes
    let o = judged(&victims(vec![true, false], Some((1, 0))));
    let last = port(&o, "b>h3");
    assert!(last.classes[1].drops > 0 && drops(&o) == last.classes[1].drops, "{last:?}");
    assert!(o.ports.iter().all(|p| p.pauses == 0));
    let o = judged(&victims(vec![false, true], Some((1, 0))));
    assert_eq!(drops(&o), 0);
    assert!(port(&o, "a>b").classes[1].pauses > 0);
}

/// Three switches in a ring, a host at each, which sends to the host behind the next switch but one.
fn ring(size: u64) -> Spec {
    let mut spec = endless(star(3, Rate::gbps(10), Time::us(1)), Time::ms(2));
    let sample = spec.links[0].clone();
    spec.node_names = ["h0", "h1", "h2", "a", "b", "c"].map(str::to_owned).to_vec();
    spec.domain_of = vec![0, 1, 2, 0, 1, 2];
    let ends = [(0, 3), (1, 4), (2, 5), (3, 0), (4, 1), (5, 2), (3, 4), (4, 5), (5, 3), (4, 3), (5, 4), (3, 5)];
    let names = &spec.node_names;
    let link = |(from, to): (u32, u32)| LinkSpec {
        from,
        to,
        name: format!("{}>{}", names[from as usize], names[to as usize]),
        ..sample.clone()
    };
    spec.links = ends.map(link).to_vec();
    // local ports: 0 down, 1 onwards, 2 back
    let on =
        |own: usize| Router::Table { set: (0..3).map(|h| u32::from(h != own)).collect(), sets: vec![vec![0], vec![1]] };
    spec.routers = (0..3).map(on).collect();
    spec.transports = vec![TransportSpec { mss: 1000, ..htsim() }];
    spec.flows = (0..3).map(|h| flood(h, (h + 2) % 3, 1000, Rate::gbps(10))).collect();
    spec.buffer = with(pfc(), size);
    spec
}

#[test]
fn a_ring_of_buffers_that_wait_for_each_other_stops_for_good() {
    let o = judged(&ring(100_000));
    assert_eq!((drops(&o), o.end_ps), (0, Time::ms(2).0));
    for name in ["a>b", "b>c", "c>a"] {
        let port = port(&o, name);
        let since = port.deadlocked_ps.unwrap();
        assert!(since < Time::us(500).0 && port.paused_ps >= Time::ms(2).0 - since, "{port:?}");
    }
    // hosts wait for them, and lie in no ring, but wait for it all the same
    assert!(port(&o, "h0>a").deadlocked_ps.is_some());
    assert!(port(&o, "a>c").deadlocked_ps.is_none());
    // without so much to send it stays away
    let mut spec = ring(100_000);
    spec.flows.iter_mut().for_each(|f| f.app = App::Udp { gap: Time::us(2) });
    let o = judged(&spec);
    assert!(o.ports.iter().all(|p| p.deadlocked_ps.is_none() && p.pauses == 0));
}

/// Whichever end of a run: who is in a deadlock then is in one still at the end of a longer run.
#[test]
fn what_is_called_a_deadlock_is_for_good() {
    let mut seen = 0;
    for seed in 0..100 {
        let mut draws = 0;
        let mut n = |of: u64| {
            draws += 1;
            (hash::uniform(seed, 78, 0, draws) * of as f64) as u64
        };
        let mut spec = ring(70_000 + n(60_000));
        for f in &mut spec.flows {
            f.app = App::Udp { gap: Time(800_000 + n(1_200_000)) };
            f.start = Time::ns(n(3000));
        }
        let pfc = spec.buffer.as_mut().unwrap().pfc.as_mut().unwrap();
        (pfc.reserve, pfc.margin) = ([0, 4096][n(2) as usize], [0, 1000, 3072][n(3) as usize]);
        pfc.threshold = [None, Some(Threshold::Dynamic(1.0)), Some(Threshold::Fixed(5_000))][n(3) as usize];
        let deadlocked = |end: Time| {
            let o = run(&Spec { duration: end, measure_to: end, ..spec.clone() });
            let ports = o.ports.into_iter().filter(|p| p.deadlocked_ps.is_some());
            ports.map(|p| (p.name, p.deadlocked_ps)).collect::<Vec<_>>()
        };
        let later = deadlocked(Time::us(400));
        for _ in 0..40 {
            let end = Time::ns(20_000 + n(300_000));
            let here = deadlocked(end);
            seen += u32::from(!here.is_empty());
            assert!(here.iter().all(|port| later.contains(port)), "seed {seed} at {end:?}: {here:?}, later {later:?}");
        }
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn a_ring_that_waits_for_itself_ends_at_its_duration_although_its_senders_have_stopped() {
    let mut spec = ring(100_000);
    spec.flows.iter_mut().for_each(|f| f.stop = Time::us(300));
    let o = judged(&spec);
    assert_eq!((drops(&o), o.end_ps), (0, Time::ms(2).0));
    assert!(o.packets_in_flight > 0);
    for name in ["a>b", "b>c", "c>a"] {
        let port = port(&o, name);
        assert!(port.paused_ps >= Time::ms(2).0 - port.deadlocked_ps.unwrap(), "{port:?}");
        // nothing has moved since, so that the mean is nearly what is there
        let (mean, max) = (port.queue_mean_packets, port.queue_max_packets as f64);
        assert!(mean <= max && mean > max / 2.0, "{port:?}");
    }
}

/// A look at all links for every link would be some 2.4 billion of them here, and take seconds.
#[test]
fn a_large_fabric_is_set_up_at_once() {
    let mut spec = fat_tree(32, Rate::gbps(100), Time::us(1));
    spec.queues = vec![QueueSpec { limit: Limit::None, ..drop_tail(1) }];
    let begun = Instant::now();
    let (_, accounts) = Pfc::new(&spec, &pfc()).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    // every link but those into hosts
    assert_eq!(accounts.iter().flatten().count(), spec.links.len() - 8192);
}

/// A link that is worse or better for some time needs the headroom of one that is always so, and so does the way back.
#[test]
fn a_headroom_holds_the_worst_that_failures_make_of_a_link() {
    let headrooms = |spec: &Spec| {
        let own = Pfc::new(spec, spec.pfc().unwrap()).unwrap().1;
        own.into_iter().flatten().map(|a| a.headroom).collect::<Vec<u64>>()
    };
    let mut spec = endless(star(2, Rate::gbps(10), Time::us(1)), Time::us(100));
    spec.buffer = with(pfc(), 1_000_000);
    let plain = headrooms(&spec);
    let mut always = spec.clone();
    (always.links[0].rate, always.links[0].delay) = (Rate::gbps(40), Time::us(5));
    (always.links[2].rate, always.links[2].delay) = (Rate::gbps(2), Time::us(3));
    let mut add = |link: u32, us: u64, rate: Option<Rate>, delay: Option<Time>| {
        let effect = Effect::Degraded { rate, delay, loss: 0.0 };
        spec.failures.push(Failure { link, from: Time::us(us), until: Time::us(us + 1), effect });
    };
    add(0, 10, Some(Rate::gbps(40)), Some(Time::ns(10)));
    add(0, 20, Some(Rate::gbps(1)), Some(Time::us(5)));
    add(2, 30, Some(Rate::gbps(2)), None);
    add(2, 40, Some(Rate::gbps(20)), Some(Time::us(3)));
    let failing = headrooms(&spec);
    assert_eq!(failing, headrooms(&always));
    assert!(failing[0] > 2 * plain[0] && failing[1] == plain[1], "{failing:?} beside {plain:?}");
    // what is given is what is there, and what HPCC has is reckoned of the link as built
    for headroom in [Headroom::Bytes(5000), Headroom::Delays] {
        let with =
            |spec: &Spec| headrooms(&Spec { buffer: with(PfcSpec { headroom, ..pfc() }, 1 << 20), ..spec.clone() });
        assert_eq!(with(&spec), with(&Spec { failures: Vec::new(), ..spec.clone() }));
    }
    let endless = Effect::Degraded { rate: Some(Rate::INFINITE), delay: None, loss: 0.0 };
    spec.failures[0].effect = endless;
    let error = Pfc::new(&spec, spec.pfc().unwrap()).unwrap_err();
    assert!(error.starts_with("link h0>s: at an infinite rate no headroom"), "{error}");
}

/// Packets of 64 B come without overhead and leave with 38 B, or the other way round; queues count it. Headroom is for
/// what comes.
#[test]
fn an_account_counts_what_comes() {
    for (comes, leaves, counts) in [(0, 38, true), (38, 0, true), (38, 38, true), (38, 38, false)] {
        let mut spec = endless(star(2, Rate::gbps(10), Time::us(2)), Time::us(100));
        spec.links[3].rate = Rate::mbps(1);
        (spec.links[0].overhead, spec.links[3].overhead) = (comes, leaves);
        spec.transports = vec![TransportSpec { mss: 64, ..htsim() }];
        spec.flows = vec![flood(0, 1, 64 + comes, Rate::gbps(10))];
        spec.queues[0].count_overhead = counts;
        let accounts = |headroom: Headroom| {
            let threshold = Some(Threshold::Fixed(20_000));
            let mut spec = spec.clone();
            // a frame to h1 may wait for a packet at 1 Mb/s
            spec.buffer = with(PfcSpec { threshold, headroom, reserve: 0, ..pfc() }, 20_000_000);
            let accounts = Pfc::new(&spec, spec.pfc().unwrap()).unwrap().1;
            let o = judged(&spec);
            let link = port(&o, "h0>s");
            // the threshold is whole packets as they are counted, whatever they leave with
            assert!(link.pauses == 1, "{link:?}");
            (accounts[2][0].headroom, drops(&o), port(&o, "s>h1").packets_total)
        };
        let counted = 64 + if counts { comes as u64 } else { 0 };
        let (headroom, dropped, taken) = accounts(Headroom::Link);
        assert_eq!(dropped, 0, "{comes} and {leaves}");
        let beyond = taken - 20_000 / counted;
        assert_eq!(accounts(Headroom::Bytes(beyond * counted)).1, 0, "{comes} and {leaves}");
        assert_eq!(accounts(Headroom::Bytes(beyond * counted - 1)).1, 1, "{comes} and {leaves}");
        // all that "link" has beside it is a packet that the frame need not wait for, and one that had not just begun
        assert!(headroom < (beyond + 4) * counted.max(64 + comes as u64), "{headroom} for {beyond} packets");
    }
}

/// A port that is paused sends nothing: whether or not what is in service counts, all of its queue does.
#[test]
fn a_paused_port_counts_all_that_it_has() {
    let held = |count_in_service: bool, limit: Limit| {
        let mut spec = endless(star(2, Rate::gbps(10), Time::us(1)), Time::us(100));
        spec.links[3].rate = Rate::mbps(1);
        spec.transports = vec![TransportSpec { mss: 1000, ..htsim() }];
        spec.flows = vec![flood(0, 1, 1000, Rate::gbps(10))];
        let limited = QueueSpec { count_in_service, limit, ..spec.queues[0].clone() };
        spec.queues.push(limited);
        spec.links[0].queue = 1;
        spec.buffer = with(PfcSpec { threshold: Some(Threshold::Fixed(20_000)), ..pfc() }, 20_000_000);
        // paused, and no packet is in transmission any more
        (spec.measure_from, spec.observe.queue_interval) = (Time::us(50), Time::ns(100));
        let o = judged(&spec);
        let port = port(&o, "h0>s");
        assert!(port.paused_ps == Time::us(50).0 && port.packets_total > 30, "{port:?}");
        (port.queue_max_packets, port.queue_max_bytes, port.queue_mean_packets, port.queue_p99_packets, port.drops)
    };
    let counted = held(true, Limit::None);
    assert_eq!(held(false, Limit::None), counted);
    assert!(counted.0 > 80 && counted.1 == counted.0 * 1000, "{counted:?}");
    for limit in [Limit::Packets(5), Limit::Bytes(5999)] {
        let (packets, bytes, mean, ..) = held(false, limit);
        assert_eq!((packets, bytes, mean), (5, 5000, 5.0), "{limit:?}");
    }
}

/// The way to the sender fails while its port is paused, so that it never hears of the end of that; and the other way.
#[test]
fn a_link_that_fails_forgets_its_pauses() {
    for link in [0, 2] {
        let mut spec = endless(star(3, Rate::gbps(10), Time::us(1)), Time::ms(1));
        spec.transports = vec![TransportSpec { mss: 1000, ..htsim() }];
        spec.flows = (0..2).map(|h| flood(h, 2, 1000, Rate::gbps(8))).collect();
        spec.flows[1].stop = Time::us(300);
        spec.buffer = with(pfc(), 150_000);
        let down = Effect::Down { detection: Time::ZERO };
        let (from, until) = (Time::us(200), Time::us(400));
        spec.failures = vec![Failure { link: [0, 3][(link == 2) as usize], from, until, effect: down }];
        let o = judged(&spec);
        let own = port(&o, "h0>s");
        assert!(own.pauses > 0, "{own:?}");
        let late = o.end_ps - until.0;
        // once repaired it sends what has gathered as quickly as it can
        assert!(port(&o, "s>h2").busy_ps > late * 9 / 10, "{own:?}");
        assert!(own.paused_ps < from.0 + late, "{own:?}");
    }
}

/// HPCC's eighth is for links as quick as hosts'; one host that is slower, or quicker, does not make them others.
#[test]
fn thresholds_go_by_the_median_host() {
    let shares = |rates: [u64; 5]| {
        let mut spec = star(5, Rate::gbps(10), Time::us(1));
        (0..5).for_each(|h| spec.links[h].rate = Rate::gbps(rates[h]));
        let (_, accounts) = Pfc::new(&spec, &pfc()).unwrap();
        accounts[5].iter().map(|a| a.threshold).collect::<Vec<_>>()
    };
    let dynamic = |shares: [f64; 5]| shares.map(Threshold::Dynamic).to_vec();
    assert_eq!(shares([10, 10, 10, 10, 10]), dynamic([0.125; 5]));
    assert_eq!(shares([1, 10, 10, 10, 10]), dynamic([0.125; 5]));
    assert_eq!(shares([100, 10, 10, 10, 20]), dynamic([1.0, 0.125, 0.125, 0.125, 0.25]));
}
