//! Laws of any network: the engine of windows and the naive one agree to the byte, packets and bytes are conserved,
//! nothing arrives too early, windows stay within their bounds, and the seed determines everything.

mod credits;
mod ideals;
mod laws;
mod liveness;
pub mod networks;
pub mod numbered;
mod programs;
mod tokens;

use crate::support::*;
use incast_engine::map::earliest_end::earliest_end;
use incast_record::PortRecord;
use incast_record::packed::FrameTable;
use laws::laws;
use networks::*;
use programs::{drop_those_of_fifo_ports, keep_those_without_queues};
use proptest::prelude::*;

proptest! {
    #![proptest_config(crate::support::cases(40))]

    #[test]
    fn trimmed_segments_are_repaired_in_any_network(
        spec in networks(),
        limit in 2u64..30, headers in 1u64..40, header in pick(&[40u16, 64, 200]), per_data in 1u32..12,
    ) {
        let mut spec = spec;
        let header_limit = Limit::Bytes(headers * 100);
        let (headers_per_data, draws, drops, returns) = (per_data, true, false, false);
        let trimming = Trimming { header, header_limit, headers_per_data, draws, drops, returns, ecn: None };
        let count_in_service = spec.queues[0].count_in_service;
        spec.queues[0] =
            QueueSpec { discipline: Discipline::Trimming(trimming), count_in_service, ..drop_tail(limit) };
        spec.links.iter_mut().for_each(|l| l.bucket = 0);
        spec.buffer = spec.buffer.map(|buffer| BufferSpec { pfc: None, ..buffer });
        for t in &mut spec.transports {
            (t.sizes.mss, t.loss.sack) = (t.sizes.mss.min(1448), true);
            t.loss.scoreboard = if t.loss.scoreboard == Rules::Ns3 { Rules::Rfc6675 } else { t.loss.scoreboard };
        }
        drop_those_of_fifo_ports(&mut spec);
        spec.observe.flows = (0..spec.flows.len() as u32).collect();
        spec.observe.trace = spec.observe.flows.clone();
        compared_seen_and_unseen(&spec);
    }

    #[test]
    fn queues_that_go_by_ranks_are_the_same_in_any_network(
        spec in networks(), limit in prop_oneof![(1u64..30).prop_map(Limit::Packets), Just(Limit::Bytes(20_000))],
        rank in pick(&[Rank::Remaining, Rank::Sent, Rank::Size]), probe_after in 0u32..4,
    ) {
        let mut spec = spec;
        let count_in_service = spec.queues[0].count_in_service;
        spec.queues[0] = QueueSpec { count_in_service, ..queue(Discipline::Pfabric, limit) };
        spec.links.iter_mut().for_each(|l| l.bucket = 0);
        spec.buffer = None;
        spec.flows.iter_mut().for_each(|f| (f.class, f.ack_class) = (0, 0));
        // one of three has no ranks
        for t in &mut spec.transports[..2] {
            (t.output.rank, t.output.probe_after) = (Some(rank), probe_after);
        }
        drop_those_of_fifo_ports(&mut spec);
        spec.observe.ports = vec![0, spec.links.len() as u32 - 1];
        spec.observe.flows = (0..spec.flows.len() as u32).collect();
        spec.observe.trace = spec.observe.flows.clone();
        let outcome = compared_seen_and_unseen(&spec);
        laws(&spec, &outcome)?;
    }

    // departures are events at a watched port or with a traced flow
    #[test]
    fn marks_at_departures_are_the_same_in_any_network(
        spec in networks(), k in 1u64..10, bytes: bool, limit in 2u64..60, watched: bool, most in 1u64..400,
    ) {
        let mut spec = spec;
        let mark = if bytes { Limit::Bytes(k * 1000) } else { Limit::Packets(k) };
        spec.queues[0].discipline = Discipline::EcnAtDeparture(EcnAtDeparture { mark });
        drop_those_of_fifo_ports(&mut spec);
        spec.queues[0].limit = Limit::Packets(limit);
        spec.ties = if spec.ties == Ties::Scheduled { Ties::Hash } else { spec.ties };
        spec.buffer = None;
        spec.links.iter_mut().for_each(|l| l.bucket = 0);
        // delays of many windows, too: packets then wait at their ports until they come near
        spec.links[0].delay = spec.links[0].delay * most;
        spec.observe.ports = if watched { vec![1] } else { Vec::new() };
        compared_seen_and_unseen(&spec);
    }

    #[test]
    fn every_engine_gives_the_same_outcome(spec in networks()) {
        let mut spec = spec;
        spec.observe.flows = (0..spec.flows.len() as u32).collect();
        spec.observe.ports = vec![0, spec.links.len() as u32 - 1];
        spec.observe.trace = (0..spec.flows.len() as u32).collect();
        let outcome = compared_seen_and_unseen(&spec);
        laws(&spec, &outcome)?;
    }
}

proptest! {
    #![proptest_config(crate::support::cases(300))]

    #[test]
    fn the_laws_hold_on_any_network(spec in networks()) {
        let mut spec = spec;
        spec.observe.flows = (0..spec.flows.len() as u32).collect();
        spec.observe.trace = (0..spec.flows.len() as u32).collect();
        let outcome = run(&spec);
        prop_assert_eq!(
            outcome.packets_sent,
            outcome.packets_delivered + outcome.packets_dropped + outcome.packets_in_flight
        );
        laws(&spec, &outcome)?;
    }

    #[test]
    fn a_timeline_changes_nothing_else(spec in networks()) {
        let mut off = spec;
        off.observe.trace = (0..off.flows.len() as u32).collect();
        (off.observe.timeline, off.observe.pauses) = (None, None);
        let mut on = off.clone();
        on.observe.timeline = Some(TimelineSpec { every: Time::us(1), most: 40 });
        let end = earliest_end(&on);
        let mut long = on.clone();
        long.observe.timeline = on.observe.timeline.map(|t| TimelineSpec { every: t.every_by(end), ..t });
        let (off, on, long) = (run(&off), run(&on), run(&long));
        prop_assert!(on.frame_ps.is_some());
        // frames may start at the length that the run needs, unless connections are given up
        let given_up = on.flows.iter().any(|flow| flow.size.is_some() && flow.finish_ps.is_none());
        prop_assert!(given_up || end.0 <= on.end_ps, "{end:?} is later than the end");
        prop_assert!(given_up || long.frame_ps == on.frame_ps && long.timeline_events == on.timeline_events);
        prop_assert!(given_up || long.port_frames == on.port_frames && long.flow_frames == on.flow_frames);
        let on = Outcome { frame_ps: None, ..on };
        let on = Outcome { port_frames: FrameTable::default(), flow_frames: FrameTable::default(), ..on };
        let on = Outcome { timeline_events: Vec::new(), paths: Vec::new(), ..on };
        let same = format!("{on:?}") == format!("{off:?}");
        prop_assert!(same, "something beside the frames differs");
    }

    #[test]
    fn an_explicit_queue_changes_nothing(
        spec in networks(), watched: bool, one_class: bool, strict: bool, overhead in pick(&[0u32, 38]), counted: bool,
    ) {
        let mut arithmetic = spec;
        if watched {
            arithmetic.observe.ports = (0..arithmetic.links.len() as u32).collect();
            arithmetic.observe.trace = (0..arithmetic.flows.len() as u32).collect();
        }
        arithmetic.queues[0].explicit = false;
        arithmetic.buffer = None;
        keep_those_without_queues(&mut arithmetic);
        // a drop by a failure shows at the arrival by arithmetic, at the departure in a queue
        arithmetic.failures.retain(|f| matches!(f.effect, Effect::Degraded { loss: 0.0, .. }));
        arithmetic.queues[0].count_overhead = counted;
        arithmetic.links.iter_mut().for_each(|l| (l.bucket, l.overhead) = (0, overhead));
        only_first_class(&mut arithmetic.queues[0]);
        // there a departure is an event, and precedes every arrival
        arithmetic.ties = if arithmetic.ties == Ties::Scheduled { Ties::Link } else { arithmetic.ties };
        if one_class {
            arithmetic.flows.iter_mut().for_each(|f| (f.class, f.ack_class) = (0, 0));
            for t in &mut arithmetic.transports {
                (t.output.demotion, t.output.demotion_by) = (Vec::new(), Rank::Sent);
            }
        }
        let mut explicit = arithmetic.clone();
        explicit.queues[0].explicit = true;
        if one_class && explicit.queues[0].device == 0 {
            let queue = with_classes(explicit.queues.remove(0), 1, strict);
            explicit.queues.insert(0, QueueSpec { count_overhead: counted, ..queue });
        }
        let (one, other) = (run(&arithmetic), run(&explicit));
        use incast_record::Sample;
        let whole = |s: &Sample| (s.entity.clone(), s.name, s.time_ps, s.value.to_bits());
        let same = |a: &Sample, b: &Sample| whole(a) == whole(b);
        let differs = one.samples.iter().zip(&other.samples).find(|(a, b)| !same(a, b));
        prop_assert!(differs.is_none(), "{:?}", differs);
        prop_assert_eq!(format!("{:?}", one.ports), format!("{:?}", other.ports));
        prop_assert_eq!(format!("{:?}", one.trace), format!("{:?}", other.trace));
        let same = format!("{one:?}") == format!("{other:?}");
        prop_assert!(same, "something beside ports, samples and trace differs");
    }

    #[test]
    fn failures_take_the_same_from_explicit_queues(spec in networks()) {
        let mut arithmetic = spec;
        arithmetic.queues[0].explicit = false;
        arithmetic.buffer = None;
        keep_those_without_queues(&mut arithmetic);
        arithmetic.links.iter_mut().for_each(|l| l.bucket = 0);
        only_first_class(&mut arithmetic.queues[0]);
        arithmetic.ties = if arithmetic.ties == Ties::Scheduled { Ties::Link } else { arithmetic.ties };
        let mut explicit = arithmetic.clone();
        explicit.queues[0].explicit = true;
        let (one, other) = (run(&arithmetic), run(&explicit));
        prop_assert_eq!(format!("{:?}", one.flows), format!("{:?}", other.flows));
        prop_assert_eq!(format!("{:?}", one.ports), format!("{:?}", other.ports));
        let packets = |o: &Outcome| [o.packets_sent, o.packets_delivered, o.packets_dropped, o.packets_in_flight];
        prop_assert_eq!(packets(&one), packets(&other));
    }

    // neither at an interval nor at every change
    #[test]
    fn looking_changes_nothing(spec in networks(), every in prop::option::of(1u64..5000)) {
        let plain = run(&spec);
        let mut watched = spec;
        watched.observe.flows = (0..watched.flows.len() as u32).collect();
        watched.observe.ports = (0..watched.links.len() as u32).collect();
        watched.observe.trace = watched.observe.flows.clone();
        watched.observe.interval = every.map(Time::us);
        let watched = run(&watched);
        let records = |o: &Outcome| format!("{:?}{:?}", o.flows, o.ports);
        prop_assert_eq!(records(&plain), records(&watched));
    }

    #[test]
    fn how_often_queues_are_sampled_changes_nothing(spec in networks(), every in pick(&[1u64, 80, 1_000, 40_000])) {
        let mut rarely = spec;
        rarely.observe.queue_interval = Time::ms(500);
        let mut often = rarely.clone();
        often.observe.queue_interval = Time::ns(every * 100);
        let records = |spec: &Spec| {
            let Outcome { flows, ports, .. } = run(spec);
            let ports = ports.into_iter().map(|p| PortRecord { queue_p99_packets: None, ..p });
            format!("{flows:?}{:?}", ports.collect::<Vec<_>>())
        };
        prop_assert_eq!(records(&rarely), records(&often));
    }

    #[test]
    fn finite_transfers_finish(
        seed: u64, n in 1u32..4, loss in pick(&[0.0, 0.01, 0.1]), transports in prop::collection::vec(transports(), 3),
        queue in queues(), sizes in prop::collection::vec((1u64..150_000, 0..CONTROLLERS), 1..5), read in any::<bool>(),
    ) {
        let mut spec = dumbbell(n, Rate::mbps(100), Time::us(50));
        spec.seed = seed;
        run_for(&mut spec, Time::s(600));
        spec.observe.queue_interval = Time::ms(1);
        // a queue below the three fragments of each of a few synchronised senders starves them forever, and so does one
        // that drops packets that are not ECN-capable above a packet or two
        spec.queues = vec![match queue {
            QueueSpec { discipline: Discipline::EcnThreshold(EcnThreshold { drop_not_ect: true, .. }), .. }
            | QueueSpec { limit: Limit::Packets(..20) | Limit::Bytes(..30_000), .. } => drop_tail(20),
            queue => queue,
        }];
        // Swift measures delay, so it needs an ACK for every packet; and a window of a thousandth of a packet takes
        // longer than any test
        let quick = changed!(transports[0].clone(), acks.delayed_ack = 1);
        spec.transports = transports;
        spec.transports.push(quick);
        spec.controllers = controllers();
        for swift in spec.controllers.iter_mut().filter(|c| c.kind().name.contains("swift")) {
            swift.set("min_cwnd", "0.2").unwrap();
        }
        let last = spec.links.len();
        spec.links[last - 2].loss = Loss::Packet(loss);
        spec.links[last - 1].loss = Loss::Packet(loss);
        let read_rate = if read { Rate::mbps(30) } else { Rate::INFINITE };
        spec.flows = sizes
            .iter()
            .enumerate()
            .map(|(i, (size, cc))| FlowSpec {
                transport: if *cc < SWIFT { i as u32 % 3 } else { 3 },
                controller: *cc,
                read_rate,
                ..bulk(i as u32 % n, n + i as u32 % n, Some(*size))
            })
            .collect();
        // a window below a segment, and below the remaining bytes, would never end
        spec.transports.iter_mut().for_each(|t| (t.connection.syn_retries, t.windows.least_segment) = (50, true));
        let outcome = run(&spec);
        for (f, flow) in outcome.flows.iter().enumerate() {
            let transport = &spec.transports[spec.flows[f].transport as usize];
            prop_assert_eq!(flow.delivered, sizes[f].0, "flow {}: {:?} of {:?}", f, flow, transport);
            prop_assert!(flow.finish_ps.is_some(), "flow {}: {:?}", f, flow);
        }
    }
}

#[test]
fn a_seed_decides_everything() {
    let mut spec = fat_tree(4, Rate::mbps(100), Time::us(10));
    for link in &mut spec.links {
        link.loss = Loss::Packet(0.01);
    }
    spec.transports = vec![tcp()];
    spec.controllers = controllers();
    spec.flows =
        (0..16).map(|h| FlowSpec { controller: h % CONTROLLERS, ..bulk(h, (h + 7) % 16, Some(100_000)) }).collect();
    let text = |seed| format!("{:?}", run(&Spec { seed, ..spec.clone() }).flows);
    let seen: std::collections::BTreeSet<String> = (1..=8).map(text).collect();
    assert_eq!(seen.len(), 8, "eight seeds, eight networks");
    assert_eq!(text(3), text(3));
}
