//! Priority flow control.

mod causes;
mod deadlock;
mod failures;
mod headroom;
mod pauses;

pub use crate::support::*;
use incast_engine::hash;
use incast_engine::map::pfc::Pfc;
use incast_engine::testing::Account;

fn pfc() -> PfcSpec {
    PfcSpec {
        lossless: vec![true],
        threshold: None,
        reserve: 4096,
        headroom: Headroom::Link,
        margin: 3072,
        rule: PfcRule::Hpcc,
        on_top: false,
    }
}

fn with(pfc: PfcSpec, size: u64) -> Option<BufferSpec> {
    Some(BufferSpec { size, alpha: 1.0, reserve: 0, count_in_service: true, egress: None, pfc: Some(pfc) })
}

/// Packets of `mss` bytes without headers, back to back at `rate`.
fn flood(src: u32, dst: u32, mss: u32, rate: Rate) -> FlowSpec {
    FlowSpec { app: App::Udp(Udp { gap: rate.serialize(mss as u64), random: false }), ..bulk(src, dst, None) }
}

/// A star whose links differ in rate, overhead and delay, with packets of several sizes and classes, and pauses of all
/// kinds. Its senders stop, so that all packets can arrive.
fn random(seed: u64, headroom: Option<Headroom>) -> Spec {
    fit(draft(seed, headroom))
}

/// Adds the accounts' own share to the size of the buffer.
fn fit(spec: Spec) -> Spec {
    let (_, accounts) = Pfc::new(&spec, spec.pfc().unwrap()).unwrap();
    let own = |accounts: &Vec<Account>| accounts.iter().map(|a| a.reserve + a.headroom).sum::<u64>();
    let own = accounts.iter().map(own).max().unwrap();
    let buffer = spec.buffer.map(|buffer| BufferSpec { size: buffer.size + own, ..buffer });
    Spec { buffer, ..spec }
}

/// A random star, whose buffer size does not include the accounts' own share.
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
    spec.queues = vec![if classes > 1 { strict(&queue, classes) } else { queue }];
    let sizes = [46, 64, 300, 1000, 1500, 9000];
    spec.transports = (0..3).map(|_| changed!(htsim(), sizes.mss = sizes[n(6) as usize])).collect();
    let flow = |_| {
        let (src, transport) = (n(hosts as u64) as u32, n(3) as u32);
        let dst = (src + 1 + n(hosts as u64 - 1) as u32) % hosts;
        let whole = spec.transports[transport as usize].sizes.mss as u64 + 20;
        let gap = Time(spec.links[src as usize].rate.serialize(whole).0 * (1 + n(3)));
        let (start, stop) = (Time::ns(n(20_000)), Time::us(60 + n(60)));
        let class = n(classes as u64) as u8;
        FlowSpec { app: App::Udp(Udp { gap, random: false }), transport, class, start, stop, ..bulk(src, dst, None) }
    };
    spec.flows = (0..1 + 3 * hosts).map(flow).collect();
    let threshold = [None, Some(Threshold::Fixed(n(20_000))), Some(Threshold::Dynamic(0.1))][n(3) as usize];
    let little = [Headroom::Bytes(0), Headroom::Bytes(1000), Headroom::Delays][n(3) as usize];
    let (reserve, margin) = ([0, 100, 4096][n(3) as usize], [0, 3072][n(2) as usize]);
    let headroom = headroom.unwrap_or(little);
    let pfc = PfcSpec { lossless: vec![true; classes], threshold, reserve, headroom, margin, ..pfc() };
    spec.buffer = with(pfc, [1000, 20_000, 200_000][n(3) as usize]);
    spec.observe.pauses = [None, Some(u32::MAX), Some(5)][(seed % 3) as usize];
    Spec { seed, ..spec }
}

/// Both directions of a host's link fail and are repaired, or the one to the switch, with the other one for a part of
/// that time; or they are degraded for some time, or faster.
fn fail(spec: &mut Spec, seed: u64) {
    let mut draws = 0;
    let mut n = |of: u64| {
        draws += 1;
        (hash::uniform(seed, 79, 0, draws) * of as f64) as u64
    };
    for link in 0..spec.hosts {
        let mut at = 0;
        for _ in 0..n(6) {
            // some follow at once
            at += n(2) * n(40_000);
            let most = [10, 3000, 30_000][n(3) as usize];
            let length = 1 + n(most);
            let (from, until) = (Time::ns(at), Time::ns(at + length));
            at += length;
            let down = || Effect::Down { detection: Time::ZERO };
            let mut add = |link, from, until, effect| spec.failures.push(Failure { link, from, until, effect });
            let back = link + spec.hosts;
            match n(4) {
                0 => [link, back].into_iter().for_each(|l| add(l, from, until, down())),
                1 => add(link, from, until, down()),
                2 => {
                    add(link, from, until, down());
                    let begins = n(length);
                    let ends = begins + 1 + n(length - begins);
                    add(back, Time(from.0 + begins * 1000), Time(from.0 + ends * 1000), down());
                }
                _ => {
                    for l in [link, back] {
                        let rate = [None, Some(Rate::gbps(1)), Some(Rate::gbps(25)), Some(Rate::gbps(100))];
                        let delay = [None, Some(Time::ZERO), Some(Time::us(2)), Some(Time::us(20))];
                        let (rate, delay) = (rate[n(4) as usize], delay[n(4) as usize]);
                        add(l, from, until, Effect::Degraded { rate, delay, loss: 0.0 });
                    }
                }
            }
        }
    }
}

/// A copy of the queue for each class, in strict priority.
fn strict(queue: &QueueSpec, classes: usize) -> QueueSpec {
    let (scheduler, classes) = (Scheduler::Strict, vec![queue.clone(); classes]);
    let discipline = Discipline::Classes { scheduler, classes, aggregate: Aggregate::NONE };
    QueueSpec { discipline, ..queue.clone() }
}

fn endless(mut spec: Spec, duration: Time) -> Spec {
    spec.queues = vec![endless_queue()];
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

const DOWN: Effect = Effect::Down { detection: Time::ZERO };
