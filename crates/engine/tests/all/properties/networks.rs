//! Random networks: every kind of queue, transport, controller, application, route and failure.

use super::programs::programs;
use crate::support::*;
use proptest::prelude::*;

/// A random number of a test: which one of `n`.
pub fn pick<T: Clone + std::fmt::Debug + 'static>(values: &[T]) -> impl Strategy<Value = T> + use<T> {
    prop::sample::select(values.to_vec())
}

pub fn queues() -> impl Strategy<Value = QueueSpec> {
    let limit = prop_oneof![(3u64..60).prop_map(Limit::Packets), (6000u64..90_000).prop_map(Limit::Bytes),];
    let red = Red {
        min_th: 3.0,
        max_th: 9.0,
        qw: 0.2,
        l_interm: 10.0,
        mean_pkt_size: 1000,
        gentle: true,
        wait: true,
        use_ecn: true,
        use_hard_drop: false,
    };
    let discipline = prop_oneof![
        3 => Just(Discipline::DropTail),
        3 => (1u64..20, any::<bool>(), any::<bool>()).prop_map(|(k, drop_not_ect, count_dropped)| {
            Discipline::EcnThreshold(EcnThreshold { mark: Limit::Packets(k), drop_not_ect, count_dropped })
        }),
        1 => (1u64..20, 0.0f64..1.0).prop_map(|(k, probability)| {
            Discipline::RandomDrop(RandomDrop { threshold: Limit::Packets(k), probability })
        }),
        1 => (1u64..20).prop_map(|k| Discipline::EcnAtDeparture(EcnAtDeparture { mark: Limit::Packets(k) })),
        1 => Just(Discipline::Red(red)),
    ];
    let rest = (pick(&[0u32, 0, 5]), any::<bool>(), pick(&[false, false, true]));
    (discipline, limit, rest).prop_map(|(discipline, limit, (device, in_service, explicit))| {
        // RED's thresholds above are in packets
        let limit = match discipline {
            Discipline::Red(_) => Limit::Packets(30),
            _ => limit,
        };
        QueueSpec { discipline, limit, device, count_in_service: in_service, count_overhead: false, explicit }
    })
}

/// Queues for `n` classes, the first one as given and the others shorter, with uneven weights or by priority.
pub fn with_classes(queue: QueueSpec, n: u32, strict: bool) -> QueueSpec {
    let (limit, count_in_service) = (queue.limit, queue.count_in_service);
    let first = QueueSpec { device: 0, ..queue };
    let classes = std::iter::once(first).chain((1..n as u64).map(|i| drop_tail(10 * i))).collect();
    let quanta = (0..n).map(|i| 400 + 1000 * i).collect();
    let scheduler = if strict { Scheduler::Strict } else { Scheduler::Weighted { quanta } };
    // with several classes, every second kind has a common threshold and limit
    let aggregate = match limit {
        _ if n == 1 => Aggregate::NONE,
        Limit::Packets(n) if n % 2 == 0 => Aggregate { mark: Limit::Packets(n / 3), limit: Limit::Packets(2 * n) },
        Limit::Bytes(n) if n % 2 == 0 => Aggregate { mark: Limit::Bytes(n / 3), limit: Limit::Bytes(2 * n) },
        _ => Aggregate::NONE,
    };
    QueueSpec {
        discipline: Discipline::Classes { scheduler, classes, aggregate },
        limit,
        count_in_service,
        ..drop_tail(1)
    }
}

/// Uses the first of several classes for all.
pub fn only_first_class(queue: &mut QueueSpec) {
    if let Discipline::Classes { classes, .. } = &queue.discipline {
        queue.discipline = classes[0].discipline.clone();
    }
}

/// Sizes, and the settings that depend on them.
fn sizes() -> impl Strategy<Value = TransportSpec> {
    let counts = (1u32..4, 1u32..20, pick(&[0u32, 2, 16]), pick(&[0u32, 8]), pick(&[0u32, 1]));
    let buffers = (pick(&[4000u64, 20_000, 131_072]), pick(&[0u64, 20_000]));
    (pick(&[536u32, 1000, 1448, 3000]), counts, buffers).prop_map(|(mss, c, (buffer, notsent_lowat))| {
        changed!(
            tcp(),
            sizes.mss = mss,
            sizes.mtu = 1500,
            acks.delayed_ack = c.0,
            windows.initial_window = c.1 as f64,
            acks.quickack = c.2,
            loss.sack_block = c.3,
            output.extra_packets = c.4,
            windows.send_buffer = buffer * 2,
            windows.receive_buffer = buffer,
            windows.notsent_lowat = notsent_lowat,
            acks.delayed_ack_timeout = Time::ms(5),
            windows.persist_timeout = Time::ms(20),
            connection.syn_timeout = Time::ms(50),
            rto.rto_initial = Time::ms(50),
            rto.rto_max = Time::ms(400)
        )
    })
}

/// Rules for updates of the peer's window.
const RULES: [WindowUpdate; 3] = [WindowUpdate::News, WindowUpdate::Rfc9293, WindowUpdate::Linux];

/// A transport: every switch is drawn independently, so that any two may meet.
pub fn transports() -> impl Strategy<Value = TransportSpec> {
    let rules = (
        pick(&[Rules::Rfc6675, Rules::Rack, Rules::Ns3]),
        pick(&[Recovery::NewReno, Recovery::Prr, Recovery::PrrNs3, Recovery::Linux, Recovery::Htsim]),
        pick(&[LossFlight::Outstanding, LossFlight::Pipe]),
        pick(&[RtoRule::Rfc6298, RtoRule::Linux]),
        pick(&[Flush::Pending, Flush::Prior]),
        pick(&RULES),
    );
    let paced =
        |restart_at_max| Some(WindowPacing { slow_start: 2.0, avoidance: 1.2, max: Rate::mbps(200), restart_at_max });
    let pacing = pick(&[None, None, paced(true), paced(false)]);
    let ranks = pick(&[None, None, Some(Rank::Remaining), Some(Rank::Sent), Some(Rank::Size)]);
    let tick = || pick(&[Time::ZERO, Time::ms(1)]);
    let ticks = (tick(), tick(), pick(&[Time::ZERO, Time::ZERO, Time::ms(10)]));
    let rest = (pacing, ranks, pick(&[0u32, 0, 1, 3]));
    (sizes(), rules, rest, ticks, any::<[bool; 16]>(), any::<[bool; 30]>()).prop_map(
        |(sizes, rules, (pacing, rank, probe_after), ticks, s, u)| {
            let large = sizes.windows.send_buffer > 65_160;
            changed!(
                sizes,
                output.rank = rank,
                output.probe_after = probe_after,
                loss.scoreboard = rules.0,
                loss.recovery = rules.1,
                loss.loss_flight = rules.2,
                timing.rto_rule = rules.3,
                marks.ecn_flush = rules.4,
                windows.window_update = rules.5,
                output.pacing = pacing,
                timing.timer_tick = ticks.0,
                timing.timestamp_clock = ticks.1,
                timing.timer_scan = ticks.2,
                connection.handshake = s[0],
                connection.lone_syn = !s[0] && s[1],
                connection.fin_with_data = s[2],
                loss.sack = s[3],
                loss.dsack = s[4],
                loss.undo = s[5],
                loss.frto = s[6],
                loss.limited_transmit = s[7],
                loss.forward_retransmit = s[8],
                loss.sack_compression = s[9],
                acks.window_growth = s[10],
                acks.push_ack = s[11],
                acks.cwr_ack = s[12],
                acks.pingpong = s[13],
                acks.wakeup = s[14],
                acks.last_set_first = s[15],
                timing.timestamps = u[0],
                windows.cwnd_limited = u[1],
                loss.ecn_by_prr = u[2],
                loss.ecn_preempts = u[3],
                marks.ecn_change_ack = u[4],
                marks.ce_must_advance = u[5],
                marks.ect_control = u[6],
                marks.rtt_after_timeout = u[7],
                windows.idle_restart = u[8],
                windows.least_segment = u[9],
                // a write that the buffer never accepts would wait forever
                windows.whole_writes = u[10] && large,
                windows.window_scaling = u[11],
                windows.sws_avoidance = u[12],
                marks.ecn = u[13].then_some(Ecn::Classic),
                timing.segment_rtt = u[14],
                loss.reordering = u[15],
                acks.adaptive_ack = u[16],
                loss.tail_loss_probe = u[17],
                loss.reordering_timer = u[18],
                loss.adaptive_reordering = u[19],
                loss.cwr_after_loss = u[20],
                acks.mark_quickack = u[21],
                acks.classic_quickack = u[22],
                acks.ecn_fallback = u[23],
                windows.whole_segments = u[24],
                windows.half_window_mss = u[25],
                acks.push_half_window = u[26],
                acks.read_ack = u[27],
                acks.quickack_route = u[28],
                connection.close_after_write = u[29],
                loss.timeout_min = Time::ms(2)
            )
        },
    )
}

/// Every form of every controller: first window-based ones, from [`SWIFT`] on delay-based ones, then the rest.
pub fn controllers() -> Vec<Config> {
    let all: [Config; CONTROLLERS as usize] = [
        controller("newreno", &[]),
        controller("newreno", &[("form", "ns3")]),
        controller("newreno", &[("form", "linux")]),
        controller("dctcp", &[]),
        controller("dctcp", &[("form", "ns3")]),
        controller("dctcp", &[("form", "linux")]),
        controller("dctcp", &[("form", "htsim")]),
        controller("swift", &[]),
        controller("swift", &[("target", "min-rtt"), ("epsilon", "auto")]),
        controller("swift", &[("form", "yasomam")]),
        controller("swift", &[("form", "cse322")]),
        controller("swift", &[("form", "cse322-text")]),
        controller("swift", &[("form", "htsim")]),
        controller("swift", &[("form", "htsim"), ("recovery", "at-exit")]),
        controller("swift", &[("below_one", "false"), ("endpoint_target", "5us")]),
        controller("swift-v0", &[]),
        controller("lswift", &[]),
        controller("lswift", &[("late_trigger", "1"), ("lazy_wait", "2ms")]),
        controller("mswift", &[]),
        controller("swift-moving", &[]),
        controller("swift-ecn", &[]),
        controller("swift-rebase", &[]),
        controller("cubic", &[]),
        controller("cubic", &[("form", "linux")]),
        controller("westwood", &[]),
        controller("westwood", &[("form", "linux")]),
        controller("westwood-plus", &[("form", "ns3")]),
        controller("gcn", &[]),
        controller("d2tcp", &[]),
        controller("d2tcp", &[("left", "unacked"), ("missed", "2"), ("loss", "alpha")]),
        controller("fastflow", &[]),
        controller("timely", &[]),
        controller("hpcc", &[]),
        controller("dcqcn", &[]),
        controller("dcqcn", &[("form", "vendor")]),
        controller("bbr", &[]),
        controller("bbr", &[("rtt_window", "10ms"), ("probe_rtt", "1ms")]),
        controller("rcp", &[]),
        controller("xcp", &[]),
        controller("xcp", &[("rtt_of", "ack")]),
        controller("powertcp", &[]),
        controller("powertcp", &[("form", "authors-ns3")]),
        controller("theta-powertcp", &[]),
        controller("theta-powertcp", &[("form", "authors-ns3")]),
        controller("poseidon", &[]),
        controller("bolt", &[]),
        controller("vegas", &[]),
        controller("vegas", &[("form", "linux")]),
        controller("dx", &[]),
        controller("d3", &[]),
    ];
    all.into()
}
pub const SWIFT: u32 = 7;
pub const CONTROLLERS: u32 = 50;

/// Starts of on-off applications.
pub fn begins() -> impl Strategy<Value = Begin> {
    prop_oneof![Just(Begin::Open), Just(Begin::Off), Just(Begin::Connect)]
}

fn apps() -> impl Strategy<Value = App> {
    prop_oneof![
        3 => (1u64..80_000, pick(&[1000u64, 4096, 65_160]))
            .prop_map(|(size, write)| App::Bulk(Bulk { size: Some(size), write })),
        1 => Just(App::Bulk(Bulk { size: None, write: 8000 })),
        2 => (1u64..200, 1u64..6, 0u64..4, begins()).prop_map(|(mbps, on, off, begin)| App::OnOff(OnOff {
            rate: Rate::mbps(mbps),
            on: Time::ms(on),
            off: Time::ms(off),
            write: 1000,
            begin,
        })),
        1 => (1u64..30_000, 1u32..4, 0u64..3, prop::option::of(1u64..20)).prop_map(
            |(write, outstanding, ms, count)| {
                let think = Time::ms(ms);
                App::ClosedLoop(ClosedLoop { write, outstanding, think, count })
            }
        ),
        1 => pick(&[40u64, 300, 5000]).prop_map(|us| App::Udp(Udp { gap: Time::us(us), random: false })),
    ]
}

/// A query: its root and workers by number, sizes, count.
#[derive(Clone, Debug)]
struct Asking {
    root: u32,
    workers: Vec<u32>,
    sizes: (u64, u64),
    think: u64,
    transport: u32,
    controller: u32,
    close: Option<Close>,
}

fn askings() -> impl Strategy<Value = Vec<Asking>> {
    let ends = (0u32..1000, prop::collection::vec(0u32..1000, 1..5));
    let sizes = (pick(&[1u64, 100, 5000]), pick(&[1u64, 1448, 30_000]));
    let close = pick(&[None, None, None, Some(Close::Worker), Some(Close::Root), Some(Close::Reset)]);
    let one = (ends, sizes, 0u64..3, 0u32..3, 0..CONTROLLERS, close).prop_map(
        |(ends, sizes, think, transport, controller, close)| {
            let (root, workers) = ends;
            Asking { root, workers, sizes, think, transport, controller, close }
        },
    );
    prop::collection::vec(one, 0..3)
}

/// Two of three have a deadline, one of them a random one.
fn deadline(draw: u32) -> Option<Deadline> {
    (draw % 3 > 0).then(|| Deadline { within: Time::us(200 << (draw % 8)), random: draw % 3 == 1 })
}

/// Adds the connections, and the queries on them.
fn ask(spec: &mut Spec, askings: &[Asking]) {
    let hosts = spec.hosts;
    for (group, asking) in askings.iter().enumerate() {
        let root = asking.root % hosts;
        let one_way = |src, dst| FlowSpec {
            app: App::Messages(Messages),
            start: Time::us(group as u64),
            transport: asking.transport,
            controller: asking.controller,
            deadline: deadline(asking.root / 5),
            ..bulk(src, dst, None)
        };
        let mut connections = Vec::new();
        for worker in &asking.workers {
            let worker = (root + 1 + worker % (hosts - 1)) % hosts;
            let request = spec.flows.len() as u32;
            spec.flows.extend([one_way(root, worker), one_way(worker, root)]);
            let (request_size, response_size) = asking.sizes;
            connections.push(ConnectionSpec { request, response: request + 1, request_size, response_size });
        }
        spec.queries.push(QuerySpec {
            group: 0,
            root,
            first: Time::ms(1),
            think: Time::ms(asking.think),
            count: Some(20),
            stop: Time::NEVER,
            // a transport without a handshake opens no connections
            close: asking.close.filter(|_| spec.transports[asking.transport as usize].connection.handshake),
            connections,
        });
    }
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    Star(u32),
    /// Senders and receivers on two switches.
    Dumbbell(u32),
    FatTree,
}

pub fn dumbbell(n: u32, rate: Rate, delay: Time) -> Spec {
    let mut spec = star(2 * n, rate, delay);
    let sample = spec.links[0].clone();
    let (left, right) = (2 * n, 2 * n + 1);
    let side = |h: u32| if h < n { left } else { right };
    let mut links: Vec<LinkSpec> = (0..2 * n)
        .map(|h| LinkSpec { from: h, to: side(h), name: format!("h{h}>s").into(), ..sample.clone() })
        .collect();
    let down = (0..2 * n).map(|h| LinkSpec { from: side(h), to: h, name: format!("s>h{h}").into(), ..sample.clone() });
    links.extend(down);
    links.push(LinkSpec { from: left, to: right, name: "left>right".into(), ..sample.clone() });
    links.push(LinkSpec { from: right, to: left, name: "right>left".into(), ..sample });
    spec.links = links;
    spec.node_names.push("t".to_string());
    spec.domain_of = (0..2 * n + 2).map(|node| if node < 2 * n { side(node) - left } else { node - left }).collect();
    spec.routers = (0..2).map(|s| Router::Tree { first: s * n, span: n, stride: 1, down: 0, up: n, ups: 1 }).collect();
    spec
}

/// Draws that make a flow, before the shape of the network is known.
#[derive(Clone, Debug)]
struct Draft {
    src: u32,
    dst: u32,
    start: u64,
    stop: Option<(u64, AtStop)>,
    sink_stop: Option<u64>,
    transport: u32,
    controller: u32,
    app: App,
    read: Rate,
}

impl Draft {
    fn flow(&self, hosts: u32, classes: u32) -> FlowSpec {
        let src = self.src % hosts;
        let dst = (src + 1 + self.dst % (hosts - 1)) % hosts;
        FlowSpec {
            start: Time::ms(self.start),
            stop: self.stop.map_or(Time::NEVER, |s| Time::ms(s.0)),
            at_stop: self.stop.map_or(AtStop::Drain, |s| s.1),
            sink_stop: self.sink_stop.map_or(Time::NEVER, Time::ms),
            transport: self.transport,
            controller: self.controller,
            app: self.app,
            read_rate: self.read,
            class: (self.src % classes.max(1)) as u8,
            ack_class: (self.dst % classes.max(1)) as u8,
            deadline: deadline(self.src / 7),
            ..bulk(src, dst, None)
        }
    }
}

fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    let stop = prop_oneof![
        4 => Just(None),
        1 => (1u64..60, pick(&[AtStop::Drain, AtStop::Reset])).prop_map(Some),
    ];
    let sink_stop = prop_oneof![5 => Just(None), 1 => (1u64..60).prop_map(Some)];
    let ends = (0u32..1000, 0u32..1000, 0u64..4);
    let read = pick(&[Rate::INFINITE, Rate::INFINITE, Rate::INFINITE, Rate::mbps(20)]);
    let draft = (ends, (stop, sink_stop), 0u32..3, 0..CONTROLLERS, apps(), read).prop_map(
        |(e, (stop, sink_stop), transport, controller, app, read)| Draft {
            src: e.0,
            dst: e.1,
            start: e.2,
            stop,
            sink_stop,
            transport,
            controller,
            app,
            read,
        },
    );
    prop::collection::vec(draft, 1..9)
}

/// Lets some flows wait for the ends of others.
fn wait(spec: &mut Spec, drafts: &[Draft]) {
    // the others are at the same host or elsewhere
    let n = spec.flows.len() as u32;
    for (i, d) in (0u32..).zip(drafts).filter(|(_, d)| d.src % 3 == 0) {
        let trigger = match spec.triggers.len() as u32 {
            // a trigger of other flows too
            all if all > 0 && d.dst % 3 == 0 => d.src % all,
            own => {
                let end = |f| (f, if (f / 4 + d.dst) % 4 < 2 { Done::Sent } else { Done::Received });
                let others = (0..n).filter(|f| *f != i && (f + d.dst) % 2 == 0);
                spec.triggers.push(TriggerSpec { activations: others.map(end).collect() });
                own
            }
        };
        let has = spec.triggers[trigger as usize].activations.len() as u32;
        if has > 0 {
            let activation = 1 + d.src % has;
            spec.flows[i as usize].trigger = Some(Triggered { trigger, activation });
        }
    }
}

/// A routing policy, by eight bits.
pub fn policy(choice: u8, ties: Ties) -> PathChoice {
    let bands = |by, refresh| Adaptive { by, bands: vec![0.05, 0.1, 0.2], refresh };
    match choice % 16 {
        0 => PathChoice::First,
        1 => PathChoice::Spray,
        2 => PathChoice::SpraySource,
        3 if choice & 16 == 0 => PathChoice::RoundRobinSource,
        3 => PathChoice::Flowcell(20_000),
        4 => PathChoice::RoundRobin(2),
        5 => PathChoice::PowerOfTwo,
        6 | 7 => {
            let by = if choice % 16 == 6 { Gauged::Queue } else { Gauged::Utilisation };
            let refresh = if choice & 16 == 0 { Time::ZERO } else { Time::us(5) };
            PathChoice::Adaptive(bands(by, refresh))
        }
        8 => PathChoice::EcmpAdaptive(bands(Gauged::Queue, Time::ZERO), 0.5),
        9 | 10 => PathChoice::Flowlet(Flowlet {
            gap: Time::us(if choice & 16 == 0 { 0 } else { 300 }),
            by: (choice % 16 == 9).then(|| bands(Gauged::Queue, Time::us(5))),
            probability: if choice & 32 == 0 { 0.5 } else { 1.0 },
        }),
        // entropies and scheduled ties use the same field
        11 if ties != Ties::Scheduled => PathChoice::Entropy(Entropy::Counter),
        12 | 13 if ties != Ties::Scheduled => PathChoice::Entropy(Entropy::Recycled(Recycled {
            ring: 3,
            values: if choice & 16 == 0 { 4 } else { 1 << 16 },
            explore: 5,
            freeze: Time::ms(4),
        })),
        14 => PathChoice::Symmetric,
        _ => PathChoice::Ecmp,
    }
}

/// Makes links lose packets, one slower than the others, and one infinitely fast.
fn uneven(spec: &mut Spec, losses: &[(u32, f64, bool)], slow: u32, quick: u32) {
    let links = spec.links.len() as u32;
    for (link, p, by_byte) in losses.iter().copied() {
        spec.links[(link % links) as usize].loss = if by_byte { Loss::Byte(p / 1000.0) } else { Loss::Packet(p) };
    }
    // one link slower than the others
    let slow = &mut spec.links[(slow % links) as usize];
    slow.rate = Rate(slow.rate.0 / 3);
    // and one that takes no time
    let quick = &mut spec.links[(quick % links) as usize];
    quick.rate = Rate::INFINITE;
}

/// Processing times in every second host, if any.
fn costs() -> impl Strategy<Value = Option<HostSpec>> {
    let side = || {
        let times = (pick(&[0u64, 300, 5_000]), pick(&[0u64, 200]));
        let rest = (1u32..4, pick(&[Rate::INFINITE, Rate::gbps(2)]), pick(&[0u64, 0, 20]));
        prop::option::of((times, rest).prop_map(|((packet, ack), (engines, rate, limit))| ProcessingSpec {
            engines,
            packet_time: Time::ns(packet),
            ack_time: Time::ns(ack),
            rate,
            limit,
        }))
    };
    let both = (side(), side()).prop_map(|(receive, send)| Some(HostSpec { receive, send }));
    prop_oneof![2 => Just(None), 1 => both]
}

pub fn networks() -> impl Strategy<Value = Spec> {
    let shape =
        prop_oneof![(2u32..7).prop_map(Shape::Star), (1u32..5).prop_map(Shape::Dumbbell), Just(Shape::FatTree),];
    let rate = pick(&[Rate::mbps(50), Rate::mbps(100), Rate::gbps(1), Rate::mbps(300)]);
    let delay = pick(&[Time::ZERO, Time::us(1), Time::us(10), Time::us(300)]);
    let losses = prop::collection::vec((any::<u32>(), pick(&[0.005, 0.05]), any::<bool>()), 0..4);
    let transports = prop::collection::vec(transports(), 3);
    let nic = pick(&[None, None, Some(1u32), Some(3)]);
    let ties = pick(&[Ties::Hash, Ties::Link, Ties::Scheduled]);
    let bucket = pick(&[0u32, 0, 1600, 20_000]);
    let rest = (any::<(u8, u32, u32)>(), ties, bucket, askings(), costs(), (faults(), programs()));
    (any::<u64>(), shape, rate, delay, queues(), losses, transports, drafts(), (nic, rest)).prop_map(
        |(seed, shape, rate, delay, queue, losses, transports, drafts, (nic, rest))| {
            let ((choice, slow, quick), ties, bucket, askings, costs, (faults, programs)) = rest;
            let mut spec = match shape {
                Shape::Star(n) => star(n, rate, delay),
                Shape::Dumbbell(n) => dumbbell(n, rate, delay),
                Shape::FatTree => fat_tree(4, rate, delay),
            };
            spec.seed = seed;
            spec.duration = Time::ms(80);
            (spec.measure_from, spec.measure_to) = (Time::ms(10), Time::ms(70));
            spec.queues = vec![queue];
            spec.transports = transports;
            spec.controllers = controllers();
            spec.choice = policy(choice, ties);
            spec.acks_by_flow = choice & 64 != 0;
            spec.ends_when_finished = choice & 128 != 0;
            let classes = if choice & 32 != 0 { 1 + (choice as u32 >> 7) * 2 } else { 0 };
            if classes > 0 {
                let queue = spec.queues.remove(0);
                spec.queues.insert(0, with_classes(queue, classes, choice & 16 == 0));
            }
            spec.ties = ties;
            if let Some(per_flow) = nic {
                let discipline = Discipline::FairNic { per_flow };
                spec.queues.push(QueueSpec { discipline, limit: Limit::None, ..drop_tail(1) });
                spec.links.iter_mut().filter(|l| l.from < spec.hosts).for_each(|l| l.queue = 1);
            }
            uneven(&mut spec, &losses, slow, quick);
            if classes > 1 {
                // one of three transports assigns classes by position in a transfer, by size, or by remaining bytes
                let by = [Rank::Sent, Rank::Size, Rank::Remaining][(seed % 3) as usize];
                let own = &mut spec.transports[0];
                own.output.demotion = (1..classes as u64).map(|i| 3_000 * i * i).collect();
                own.output.demotion_by = by;
            }
            let hosts = spec.hosts;
            if let Some(costs) = costs {
                spec.host_costs =
                    (0..hosts).map(|h| if h % 2 == 0 { costs.clone() } else { HostSpec::default() }).collect();
            }
            // switches may use token buckets, unless they have explicit queues
            if choice & 4 != 0 && choice & 32 != 0 {
                let size = if choice & 8 != 0 { 40_000 } else { 400_000 };
                let alpha = [0.5, 2.0][(choice & 1) as usize];
                spec.buffer = Some(BufferSpec {
                    size,
                    alpha,
                    reserve: seed % 1000,
                    count_in_service: seed & 128 == 0,
                    egress: (seed & 256 != 0).then_some(size / 2),
                    pfc: pfc(&spec, seed),
                });
            }
            let explicit = spec.links.iter().any(|l| spec.is_explicit(l));
            if !explicit {
                spec.links
                    .iter_mut()
                    .filter(|l| l.from >= hosts && l.rate != Rate::INFINITE)
                    .for_each(|l| l.bucket = bucket);
            }
            spec.flows = drafts.iter().map(|d| d.flow(hosts, classes)).collect();
            wait(&mut spec, &drafts);
            ask(&mut spec, &askings);
            fail(&mut spec, &faults);
            spec.programs = programs.place(&spec);
            spec.observe.timeline = [None, Some((1, 40)), Some((50, u32::MAX))][(seed % 3) as usize]
                .map(|(us, most)| TimelineSpec { every: Time::us(us), most });
            spec.observe.pauses = [None, Some(u32::MAX), Some(4)][(seed / 3 % 3) as usize];
            spec
        },
    )
}

/// Priority flow control for some classes, at every other seed, if hosts can obey it.
fn pfc(spec: &Spec, seed: u64) -> Option<PfcSpec> {
    let classes = spec.queues[0].count() as u64;
    let able = |q: &QueueSpec| !matches!(q.discipline, Discipline::FairNic { .. } | Discipline::Trimming(_));
    let thresholds = [None, Some(Threshold::Fixed(6_000)), Some(Threshold::Dynamic(0.3))];
    (seed & 1 == 0 && spec.queues.iter().all(able)).then(|| PfcSpec {
        lossless: (0..classes).map(|c| (seed >> 1) % classes == c || seed & 16 == 0).collect(),
        threshold: thresholds[(seed % 3) as usize],
        reserve: seed % 300,
        headroom: Headroom::Bytes(seed % 1500),
        margin: 1000,
        rule: if seed & 32 == 0 { PfcRule::Hpcc } else { PfcRule::Ns3Datacenter },
        on_top: seed & 64 != 0,
    })
}

/// Failures: number of the link, start (us), duration, effect, and time of detection (us).
type Fault = (u32, u64, u64, u8, u64);

fn faults() -> impl Strategy<Value = Vec<Fault>> {
    let fault = (any::<u32>(), 0u64..60_000, 1u64..30_000, any::<u8>(), pick(&[0u64, 300, 5_000]));
    prop::collection::vec(fault, 0..5)
}

/// Adds failures, each of a directed link, and the detours around them.
fn fail(spec: &mut Spec, faults: &[Fault]) {
    let links = spec.links.len() as u32;
    for (link, from, length, kind, detection) in faults.iter().copied() {
        let link = link % links;
        let own = &spec.links[link as usize];
        if spec.failures.iter().any(|f| f.link == link) {
            continue;
        }
        let rate = if own.rate == Rate::INFINITE { Rate::mbps(50) } else { Rate(own.rate.0 / 4) };
        let effect = match kind % 4 {
            0 | 1 => Effect::Down { detection: Time::us(detection) },
            _ => Effect::Degraded {
                rate: (kind & 4 > 0 && own.bucket == 0).then_some(rate),
                delay: (kind & 8 > 0).then_some(Time(own.delay.0 * 5)),
                loss: f64::from(kind >> 4) / 40.0,
            },
        };
        spec.failures.push(Failure { link, from: Time::us(from), until: Time::us(from + length), effect });
    }
    incast_engine::map::failover::reroute(spec);
}
