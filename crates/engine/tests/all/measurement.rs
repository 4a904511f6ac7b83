//! The report of a run: the measured interval, counters of flows and ports, delays against closed
//! forms, time series, packet traces.

use crate::support::*;
use incast_engine::testing;
use incast_record::store::Disk;
use std::io;
use std::sync::RwLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// 1000 B every millisecond, endless: 40 B headers, an ACK for each segment.
fn ticking() -> Spec {
    let app =
        App::OnOff(OnOff { rate: Rate::mbps(8), on: Time::s(1), off: Time::ZERO, write: 1000, begin: Begin::Open });
    let mut spec = wire(Rate::mbps(100), Time::us(10), plain(), "newreno", FlowSpec { app, ..bulk(0, 1, None) });
    run_for(&mut spec, Time::ms(100));
    spec
}

/// Time of a segment on the idle path of [`ticking`], ps; and of its ACK.
const THERE: u64 = 2 * (1040 * 80_000 + 10 * US);
const BACK: u64 = 2 * (40 * 80_000 + 10 * US);

#[test]
fn an_idle_path_has_its_closed_form_delay() {
    let outcome = run(&ticking());
    let flow = &outcome.flows[0];
    // ticks at 1, 2 .. 99 ms
    assert_eq!((flow.sent, flow.arrived, flow.delivered, flow.delivered_m), (99, 99, 99_000, 99_000));
    assert_eq!((flow.delay_sum_ps, flow.delay_max_ps), (99 * THERE, THERE));
    assert_eq!((flow.rtt_count, flow.rtt_sum_ps), (99, 99 * (THERE + BACK)));
    assert_eq!(flow.rtt_min_ps, Some(THERE + BACK));
    assert_eq!((flow.idle_rtt_ps, flow.hops), (THERE + BACK, 2));
    assert_eq!((outcome.delay[0].count(), outcome.rtt[0].count()), (99, 99));
    // FlowMonitor: no SYN here, so data only; headers count
    assert_eq!((flow.fm_tx_packets, flow.fm_rx_packets, flow.fm_rx_bytes), (99, 99, 99 * 1040));
    assert_eq!(flow.fm_delay_sum_ps, 99 * THERE);
    assert_eq!((flow.fm_first_tx_ps, flow.fm_last_rx_ps), (Some(MS), Some(99 * MS + THERE)));
}

#[test]
fn ack_directions_are_entries_of_their_own() {
    let mut spec = ticking();
    assert_eq!(run(&spec).flows[0].fm_acks, None, "not asked for");
    spec.observe.acks = true;
    // ACKs number 3 and 7 are lost on their first link
    assert_eq!(&*spec.links[1].name, "h1>s");
    spec.links[1].loss = Loss::List(vec![3, 7]);
    let outcome = compared(&spec);
    let first = MS + THERE;
    let entry = incast_record::MonitorEntry {
        tx_packets: 99,
        rx_packets: 97,
        rx_bytes: 97 * 40,
        lost_packets: 2,
        delay_sum_ps: 97 * BACK,
        first_tx_ps: Some(first),
        last_rx_ps: Some(first + 98 * MS + BACK),
    };
    assert_eq!(outcome.flows[0].fm_acks.as_deref(), Some(&entry));
    // packets sent inside an interval count, however it ends
    (spec.measure_from, spec.measure_to) = (Time::ms(20), Time(60 * MS + THERE + 1));
    spec.links[1].loss = Loss::None;
    let entry = *compared(&spec).flows[0].fm_acks.clone().unwrap();
    assert_eq!((entry.tx_packets, entry.rx_packets, entry.lost_packets), (41, 41, 0));
    // counting changes nothing, also beside traced flows
    let counted = compared(&spec);
    (spec.observe.acks, spec.observe.trace) = (false, vec![0]);
    let traced = compared(&spec);
    spec.observe.acks = true;
    let both = compared(&spec);
    assert_eq!(format!("{:?}", traced.trace), format!("{:?}", both.trace));
    assert_eq!(counted.ports.len(), traced.ports.len());
    assert_eq!(format!("{:?}", counted.ports), format!("{:?}", traced.ports));
}

#[test]
fn acks_under_way_at_the_end_are_neither_received_nor_lost() {
    let mut spec = wire(Rate::mbps(20), Time::us(700), tcp(), "newreno", bulk(0, 1, None));
    spec.links[1].loss = Loss::Packet(0.05);
    run_for(&mut spec, Time::ms(300));
    spec.observe.acks = true;
    let outcome = compared(&spec);
    let entry = outcome.flows[0].fm_acks.clone().unwrap();
    assert!(entry.lost_packets > 5, "{entry:?}");
    let under_way = entry.tx_packets - entry.rx_packets - entry.lost_packets;
    assert!((1..10).contains(&under_way), "{entry:?}");
}

#[test]
fn only_the_measured_interval_counts() {
    let mut spec = ticking();
    // from the instant of a transmission to just before another
    (spec.measure_from, spec.measure_to) = (Time::ms(20), Time::ms(60));
    let outcome = run(&spec);
    let flow = &outcome.flows[0];
    assert_eq!((flow.sent, flow.arrived), (99, 99), "the whole run");
    assert_eq!((flow.sent_m, flow.arrived_m, flow.delivered_m), (40, 40, 40_000));
    assert_eq!(flow.delay_sum_ps, 40 * THERE);
    assert_eq!((flow.rtt_count, flow.fm_tx_packets, flow.fm_rx_packets), (40, 40, 40));
    assert_eq!((flow.fm_first_tx_ps, flow.fm_last_rx_ps), (Some(20 * MS), Some(59 * MS + THERE)));
    assert_eq!((outcome.measure_from_ps, outcome.measure_to_ps), (20 * MS, 60 * MS));
    let port = &outcome.ports[0];
    assert_eq!((port.packets, port.bytes, port.packets_total), (40, 40 * 1040, 99));
    assert_eq!(port.busy_ps, 40 * 1040 * 80_000);
    // one packet for 83.2 of every 1000 us, counted while in service
    assert!((port.queue_mean_packets - 0.0832).abs() < 1e-12, "{}", port.queue_mean_packets);
    assert!((port.queue_mean_bytes - 0.0832 * 1040.0).abs() < 1e-9);
    assert_eq!((port.queue_max_packets, port.queue_max_bytes), (1, 1040));
}

#[test]
fn a_packet_belongs_to_the_interval_in_which_it_was_sent() {
    let mut spec = ticking();
    // the interval ends while the packet of 60 ms is on its way
    (spec.measure_from, spec.measure_to) = (Time::us(20_050), Time::us(60_050));
    let outcome = run(&spec);
    let flow = &outcome.flows[0];
    // sent at 21 .. 60 ms; delivered inside the interval: packets of 20 .. 59 ms
    assert_eq!((flow.sent_m, flow.arrived_m, flow.delivered_m), (40, 40, 40_000));
    assert_eq!(flow.fm_last_rx_ps, Some(60 * MS + THERE), "it is followed to its arrival");
    assert_eq!(flow.delay_sum_ps, 40 * THERE);
    assert_eq!(flow.dropped_m, 0);
}

#[test]
fn what_is_under_way_is_not_lost() {
    // a run that ends with packets in queues and on wires
    let mut spec = wire(Rate::mbps(10), Time::ms(5), tcp(), "newreno", bulk(0, 1, None));
    spec.links[3].rate = Rate::mbps(5);
    spec.queues = vec![drop_tail(20)];
    spec.links[3].loss = Loss::Packet(0.01);
    run_for(&mut spec, Time::ms(700));
    let outcome = run(&spec);
    let flow = &outcome.flows[0];
    let mut sent = data_sent(&outcome, "h0").len() as u64;
    let received = events(&outcome, "h1", Happening::Receive).iter().filter(|e| e.payload > 0).count() as u64;
    let lost = |h| outcome.trace.iter().filter(|e| e.event == h && e.payload > 0).count() as u64;
    assert_eq!((flow.sent, flow.arrived), (sent, received));
    assert_eq!(flow.dropped, lost(Happening::Drop) + lost(Happening::Loss));
    assert!(flow.dropped > 0);
    sent -= received + flow.dropped;
    assert!(sent > 0, "some are under way");
    assert!(outcome.packets_in_flight >= sent);
    assert_eq!(outcome.ports[3].losses + outcome.ports[3].drops + outcome.ports[0].drops, flow.dropped);
    assert_eq!(outcome.ports.iter().map(|p| p.lost_total).sum::<u64>(), outcome.packets_dropped);
}

#[test]
fn a_saturated_link_is_busy_all_the_time() {
    let mut spec = wire(Rate::mbps(100), Time::us(10), tcp(), "newreno", bulk(0, 1, None));
    (spec.duration, spec.measure_from, spec.measure_to) = (Time::ms(300), Time::ms(100), Time::ms(300));
    let outcome = run(&spec);
    assert_eq!(outcome.ports[0].busy_ps, 200 * MS);
    assert_eq!(outcome.ports[0].rate_bps, 100_000_000);
    // 1448 of 1500 B are payload; one segment more or less at either end
    let line = 100e6 / 8.0 * 0.2 * 1448.0 / 1500.0;
    assert!((outcome.flows[0].delivered_m as f64 - line).abs() <= 1448.0, "{}", outcome.flows[0].delivered_m);
}

/// Value at `t` in a series of changes.
fn at(changes: &[(u64, f64)], t: u64) -> Option<f64> {
    changes.iter().take_while(|c| c.0 < t).last().map(|c| c.1)
}

#[test]
fn a_series_at_an_interval_shows_the_same_as_every_change() {
    let mut spec = wire(Rate::mbps(50), Time::us(300), tcp(), "dctcp", bulk(0, 1, Some(3_000_000)));
    spec.queues = vec![QueueSpec { count_in_service: false, ..queue(ecn_threshold(15), Limit::Packets(60)) }];
    spec.links[3].rate = Rate::mbps(20);
    spec.links[3].loss = Loss::List(vec![400, 401, 700]);
    spec.observe = Observe { flows: vec![0], ports: vec![3], queue_interval: Time::us(10), ..Observe::default() };
    let changes = compared(&spec);
    spec.observe.interval = Some(Time::us(777));
    let regular = compared(&spec);
    assert_eq!(format!("{:?}", changes.flows), format!("{:?}", regular.flows), "looking changes nothing");
    for (entity, names) in [
        ("flow 0", &["cwnd_bytes", "ssthresh_bytes", "in_flight_bytes", "acked_bytes", "srtt_s", "alpha"][..]),
        ("s>h1", &["queue_packets"][..]),
    ] {
        for name in names {
            let all = series(&changes, entity, name);
            let few = series(&regular, entity, name);
            assert!(all.len() > 4 && few.len() > 100, "{entity} {name}: {} and {}", all.len(), few.len());
            assert!(all.windows(2).all(|w| w[0].0 <= w[1].0), "{name} in order of time");
            for (i, (t, value)) in few.iter().enumerate() {
                if name != &"srtt_s" {
                    assert_eq!(*t, i as u64 * 777 * US, "{name}");
                }
                if let Some(expected) = at(&all, *t) {
                    assert_eq!(*value, expected, "{entity} {name} at {t}");
                }
            }
        }
    }
    // the queue's own account agrees with its series
    let all = series(&changes, "s>h1", "queue_packets");
    let most = all.iter().map(|s| s.1).fold(0.0, f64::max);
    assert_eq!(most, changes.ports[3].queue_max_packets as f64);
    let end = changes.end_ps;
    let integral: f64 =
        all.iter().zip(all.iter().skip(1).map(|n| n.0).chain([end])).map(|(s, until)| s.1 * (until - s.0) as f64).sum();
    let mean = integral / (changes.measure_to_ps - changes.measure_from_ps) as f64;
    // sums of some thousand products in f64
    assert!((mean / changes.ports[3].queue_mean_packets - 1.0).abs() < 1e-9, "{mean}");
    // the rate is the slope of the acknowledged bytes
    let rate = series(&regular, "flow 0", "rate_bps");
    let acked = series(&regular, "flow 0", "acked_bytes");
    for i in 1..rate.len() {
        let slope = (acked[i].1 - acked[i - 1].1) * 8.0 / 777e-6;
        assert!((rate[i].1 - slope).abs() <= 1e-9 * slope.abs(), "{} {slope}", rate[i].1);
    }
}

#[test]
fn a_trace_follows_every_packet() {
    let mut spec = ticking();
    run_for(&mut spec, Time::us(3500));
    spec.links[3].loss = Loss::List(vec![1]);
    let outcome = compared(&spec);
    let lines = |seq: u64, data: bool| -> Vec<(u64, &str, Happening)> {
        let mine = outcome.trace.iter().filter(|e| if data { e.payload > 0 && e.seq == seq } else { e.payload == 0 });
        mine.map(|e| (e.time_ps, e.place.as_str(), e.event)).collect()
    };
    use Happening::{Arrive, Enqueue, Receive, Send};
    let hop = 1040 * 80_000 + 10 * US;
    let first = [
        (MS, "h0", Send),
        (MS, "h0>s", Enqueue),
        (MS + hop, "s", Arrive),
        (MS + hop, "s>h1", Enqueue),
        (MS + 2 * hop, "h1", Arrive),
        (MS + 2 * hop, "h1", Receive),
    ];
    assert_eq!(lines(0, true), first);
    let lost = lines(1000, true);
    assert_eq!(lost[3..], [(2 * MS + hop, "s>h1", Enqueue), (2 * MS + hop, "s>h1", Happening::Loss)]);
    let back = 40 * 80_000 + 10 * US;
    let ack = [
        (MS + 2 * hop, "h1", Send),
        (MS + 2 * hop, "h1>s", Enqueue),
        (MS + 2 * hop + back, "s", Arrive),
        (MS + 2 * hop + back, "s>h0", Enqueue),
        (MS + 2 * hop + 2 * back, "h0", Arrive),
    ];
    assert_eq!(lines(0, false)[..5], ack);
    let fields = &outcome.trace[0];
    assert_eq!((fields.seq, fields.ack, fields.payload, fields.size, fields.flow), (0, 0, 1000, 1040, 0));
    assert!(outcome.trace.windows(2).all(|w| w[0].time_ps <= w[1].time_ps), "ordered by time");
}

#[test]
fn a_trace_shows_marks_and_drops() {
    let mut spec = wire(Rate::gbps(1), Time::us(10), tcp(), "dctcp", bulk(0, 1, Some(200_000)));
    spec.links[3].rate = Rate::mbps(100);
    spec.links[3].queue = 1;
    spec.queues.push(queue(ecn_threshold(3), Limit::Packets(6)));
    let outcome = run(&spec);
    let count = |h: Happening| events(&outcome, "s>h1", h).len() as u64;
    let port = &outcome.ports[3];
    assert!(port.marks > 0 && port.drops > 0);
    assert_eq!((count(Happening::Mark), count(Happening::Drop)), (port.marks, port.drops));
    assert_eq!(count(Happening::Mark) + count(Happening::Enqueue), port.packets);
    assert!(events(&outcome, "s>h1", Happening::Mark).iter().all(|e| e.flags.contains("CE")));
    let marked = events(&outcome, "h1", Happening::Receive).iter().filter(|e| e.flags.contains("CE")).count() as u64;
    assert_eq!((outcome.flows[0].marked, marked), (port.marks, port.marks));
    assert!(events(&outcome, "h1", Happening::Send).iter().any(|e| e.flags.contains("ECE")));
}

#[test]
fn a_port_says_the_limit_of_its_queue() {
    let mut spec = ticking();
    spec.queues = vec![drop_tail(7), queue(Discipline::DropTail, Limit::Bytes(9000)), endless_queue()];
    (0..3).for_each(|l| spec.links[l].queue = l as u32);
    let limits: Vec<_> = run(&spec).ports.iter().take(3).map(|p| (p.limit_packets, p.limit_bytes)).collect();
    assert_eq!(limits, [(Some(7), None), (None, Some(9000)), (None, None)]);
}

#[test]
fn a_group_gathers_its_flows() {
    let mut spec = ticking();
    spec.groups = vec!["a".to_string(), "b".to_string()];
    spec.flows.push(FlowSpec { group: 1, start: Time::us(500), ..spec.flows[0].clone() });
    let outcome: Outcome = run(&spec);
    for g in 0..2 {
        assert_eq!(outcome.flows[g].group, g as u32);
        assert_eq!(outcome.delay[g].count(), outcome.flows[g].arrived);
    }
}

#[test]
fn dropped_segments_are_those_the_network_dropped() {
    // counted twice: as sent less arrived less in flight, and as drops and losses in the trace
    let mut spec = star(5, Rate::gbps(1), Time::us(20));
    spec.transports = vec![tcp()];
    spec.controllers = vec![controller("newreno", &[])];
    spec.queues = vec![drop_tail(12)];
    spec.links[1].loss = Loss::Packet(0.01);
    spec.flows = (0..4).map(|h| bulk(h, 4, None)).collect();
    spec.observe.trace = vec![0, 1, 2, 3];
    let outcome = run(&spec);
    let mut total = 0;
    for flow in &outcome.flows {
        let seen = |e: &&incast_record::PacketEvent| {
            e.flow == flow.flow && e.payload > 0 && matches!(e.event, Happening::Drop | Happening::Loss)
        };
        let seen = outcome.trace.iter().filter(seen).count() as u64;
        assert_eq!(flow.dropped, seen, "flow {}", flow.flow);
        total += seen;
    }
    assert!(total > 100, "{total} drops");
}

/// Two endless flows into one host for 30 ms. Each node may have a thread of its own.
fn two_into_one() -> Spec {
    let mut spec = star(3, Rate::gbps(10), Time::us(4));
    spec.transports = vec![tcp()];
    spec.controllers = vec![controller("newreno", &[])];
    spec.queues = vec![drop_tail(20)];
    spec.flows = vec![bulk(0, 2, None), bulk(1, 2, None)];
    spec.domain_of = vec![0, 1, 2, 3];
    run_for(&mut spec, Time::ms(30));
    spec
}

#[test]
fn rows_of_frames_are_the_same_where_they_lie_in_a_file() {
    let mut spec = two_into_one();
    // frames of constant length, and frames that become longer, whose rows are rewritten
    for most in [u32::MAX, 20_000] {
        spec.observe.timeline = Some(TimelineSpec { every: Time::us(1), most });
        spec.observe.timeline_near = None;
        spec.threads = Some(1);
        let near = run(&spec);
        let rows = near.port_frames.rows().count();
        assert!(rows > 20_000, "{rows} rows");
        assert_eq!(near.port_frames.far(), 0);
        for (bytes, threads) in [(0, 1), (40_000, 1), (0, 2), (40_000, 2), (0, 7)] {
            spec.observe.timeline_near = Some(bytes);
            spec.threads = Some(threads);
            let (far, cost) = incast_engine::run_timed(&spec, &mut |_| true).unwrap();
            assert_eq!(cost.threads.len(), threads.min(4) as usize);
            assert_eq!(far.port_frames.far() > 100_000, cfg!(unix), "{} B in a file", far.port_frames.far());
            assert!(far.port_frames.rows().eq(near.port_frames.rows()), "{bytes} in memory, {threads} threads");
            assert!(far.flow_frames.rows().eq(near.flow_frames.rows()), "{bytes} in memory, {threads} threads");
        }
    }
}

/// Disk that takes pages and gives none back, or only before the run is over.
#[derive(Debug)]
struct Broken(RwLock<Vec<u8>>, &'static AtomicBool);

static IS_BROKEN: AtomicBool = AtomicBool::new(true);
static BREAKS_LATER: AtomicBool = AtomicBool::new(false);

impl Disk for Broken {
    fn write(&self, page: &[u8], at: u64) -> io::Result<()> {
        let mut bytes = self.0.write().unwrap();
        let length = bytes.len().max(at as usize + page.len());
        bytes.resize(length, 0);
        bytes[at as usize..][..page.len()].copy_from_slice(page);
        Ok(())
    }

    fn read(&self, to: &mut [u8], at: u64) -> io::Result<()> {
        if self.1.load(Relaxed) {
            return Err(io::Error::other("the disk is broken"));
        }
        to.copy_from_slice(&self.0.read().unwrap()[at as usize..][..to.len()]);
        Ok(())
    }
}

#[test]
fn a_run_whose_rows_of_frames_cannot_be_read_again_ends_with_an_error_that_names_the_folder() {
    let mut spec = two_into_one();
    spec.observe.timeline_near = Some(0);
    spec.observe.timeline_disk = Some(|| Some(Box::new(Broken(RwLock::default(), &IS_BROKEN))));
    let folder = std::env::temp_dir().display().to_string();
    let is_told = |words: &str| words.contains("cannot be read again: the disk is broken") && words.contains(&folder);
    // rows are read as frames become longer, or only at the end; by one thread, and by several
    for (most, threads) in [(20_000, 1), (u32::MAX, 1), (20_000, 3)] {
        spec.observe.timeline = Some(TimelineSpec { every: Time::us(1), most });
        spec.threads = Some(threads);
        for refused in [
            incast_engine::run(&spec, &mut |_| true),
            testing::reference::run(testing::Simulation::new(&spec).unwrap()),
        ] {
            let Err(RunError::Invalid(words)) = refused else { panic!("{most} frames, {threads} threads: a result") };
            assert!(is_told(&words), "{words}");
        }
    }
    // after the run, when tables are made
    spec.observe.timeline_disk = Some(|| Some(Box::new(Broken(RwLock::default(), &BREAKS_LATER))));
    let outcome = run(&spec);
    let rows = outcome.port_frames.rows().count();
    assert_eq!(outcome.unreadable(), None);
    BREAKS_LATER.store(true, Relaxed);
    assert!(outcome.port_frames.rows().count() < rows);
    assert!(outcome.unreadable().is_some_and(|words| is_told(&words)));
}

/// Waiting times of 2000 packets in a queue over four hours add up to more than 2^64 ps.
#[test]
fn the_mean_of_a_long_queue_is_exact_after_hours() {
    let flow = bulk(0, 1, Some(20_000_000));
    let mut spec = wire(Rate(100), Time::us(1), changed!(htsim(), windows.initial_window = 16_384.0), "swift", flow);
    spec.queues = vec![drop_tail(100_000)];
    spec.transports[0].sizes.mss = 1000;
    spec.observe.trace.clear();
    spec.observe.queue_interval = Time::s(1);
    run_for(&mut spec, Time::s(4 * 3600));
    for explicit in [false, true] {
        spec.queues[0].explicit = explicit;
        let o = run(&spec);
        let port = o.ports.iter().max_by_key(|port| port.queue_max_packets).unwrap();
        let (mean, most) = (port.queue_mean_packets, port.queue_max_packets as f64);
        assert!(most > 2000.0 && mean > 0.8 * most && mean <= most, "mean {mean}, largest {most}");
        // segments end where writes do, so some are short: the queue has them as often as the flow
        let sizes = [port.queue_mean_bytes / mean, port.accepted_bytes as f64 / port.accepted as f64];
        assert!((sizes[0] / sizes[1] - 1.0).abs() < 1e-3, "{sizes:?} B a packet");
    }
}

#[test]
fn frames_of_flows_have_the_window_that_the_series_has_at_their_ends() {
    // two senders fill a queue of 20 packets: slow start ends in losses, and some of these in timeouts
    let mut spec = star(3, Rate::gbps(1), Time::us(4));
    spec.transports = vec![tcp()];
    spec.controllers = vec![controller("newreno", &[])];
    spec.queues = vec![drop_tail(20)];
    spec.flows = vec![bulk(0, 2, Some(3_000_000)), bulk(1, 2, Some(500_000))];
    run_for(&mut spec, Time::s(2));
    spec.observe.flows = vec![0, 1];
    for (every, most) in [(100, 1_000_000), (1_000, 50), (7, 300)] {
        spec.observe.timeline = Some(TimelineSpec { every: Time::us(every), most });
        let o = compared(&spec);
        let every = o.frame_ps.unwrap();
        let last = o.end_ps.div_ceil(every) as u32 - 1;
        let rows: Vec<FlowFrame> = o.flow_frames.rows().collect();
        for flow in 0..2 {
            let changes = series(&o, &format!("flow {flow}"), "cwnd_bytes");
            let mut own = rows.iter().filter(|row| row.flow == flow).peekable();
            let mut shown = None;
            for frame in 0..=last {
                shown = own.next_if(|row| row.frame == frame).map_or(shown, |row| row.cwnd_bytes);
                // events at the very end belong to the last frame
                let end = if frame == last { u64::MAX } else { every * (frame as u64 + 1) };
                let is = changes.iter().take_while(|(at, _)| *at < end).last().map(|(_, bytes)| bytes.round() as u64);
                assert_eq!(shown, is, "flow {flow}, frame {frame} of {every} ps");
            }
        }
        let states: Vec<FlowState> = rows.iter().map(|row| row.state).collect();
        use FlowState::*;
        let known = [SlowStart, Avoidance, Recovery, Timeout, Done];
        if every == 100 * US {
            let seen = known.iter().filter(|state| states.contains(state)).count();
            assert_eq!(seen, known.len(), "{states:?}");
        }
    }
}

#[test]
fn a_run_ends_when_its_links_have_carried_all_at_the_earliest() {
    use incast_engine::map::earliest_end::earliest_end;
    let mut spec = star(4, Rate::gbps(8), Time::us(4));
    spec.transports = vec![tcp()];
    spec.controllers = vec![controller("newreno", &[])];
    spec.queues = vec![drop_tail(20)];
    // a byte takes a nanosecond: two flows meet at host 3
    spec.flows = vec![bulk(0, 3, Some(400_000)), bulk(1, 3, Some(500_000)), bulk(2, 1, Some(600_000))];
    run_for(&mut spec, Time::ms(100));
    assert_eq!(earliest_end(&spec), Time::us(900));
    spec.flows[1].start = Time::us(700);
    assert_eq!(earliest_end(&spec), Time::us(1_200), "the second begins after the first");
    spec.flows[2].start = Time::ms(2);
    assert_eq!(earliest_end(&spec), Time::us(2_600));
    spec.flows[2].stop = Time::us(2_100);
    assert_eq!(earliest_end(&spec), Time::us(1_200), "the third is stopped");
    spec.flows[2].stop = Time::NEVER;
    spec.flows.push(bulk(0, 1, None));
    assert_eq!(earliest_end(&spec), Time::ms(100), "the fourth has no end");
    spec.ends_when_finished = true;
    assert_eq!(earliest_end(&spec), Time::us(2_600), "nothing waits for the fourth");
    // hosts have one link each, whatever path packets take between them
    spec.choice = PathChoice::Spray;
    assert_eq!(earliest_end(&spec), Time::us(2_600));
    spec.duration = Time::ms(1);
    assert_eq!(earliest_end(&spec), Time::ms(1));
}
