//! Headers without room that return to their senders: NDP's rules, by hand and on any network.

use crate::properties::networks::{dumbbell, pick};
use crate::properties::numbered::data_comes_once;
use crate::receiver_driven::{self, PACKET, ndp};
use crate::support::*;
use proptest::prelude::*;
use std::collections::HashSet;

/// Data up to `packets` packets, headers up to `headers` bytes, beyond which they return.
fn returning(packets: u64, headers: u64) -> QueueSpec {
    let mut queue = receiver_driven::cutting(packets * PACKET);
    if let Discipline::Trimming(cut) = &mut queue.discipline {
        (cut.header_limit, cut.returns) = (Limit::Bytes(headers), true);
    }
    queue
}

/// `hosts` hosts send `bytes` each to another one, all at once.
fn incast(hosts: u32, bytes: u64, window: u32, queue: QueueSpec) -> Spec {
    let mut spec = receiver_driven::with(star(hosts + 1, Rate::gbps(100), Time::us(1)), ndp(window, false), queue);
    spec.flows = (0..hosts).map(|h| bulk(h, hosts, Some(bytes))).collect();
    spec
}

fn sum(o: &Outcome, count: fn(&PortRecord) -> u64) -> u64 {
    o.ports.iter().map(count).sum()
}

#[test]
fn the_only_packet_of_a_flow_goes_again_as_its_header_is_back() {
    // Four packets reach the switch after 1.3328 us: one is sent, one waits, of one the header waits, and the last has
    // no room. Its header returns after 1.00512 us more, and no pull is expected: it is retransmitted, and is alone.
    let o = compared(&incast(4, 4096, 50, returning(2, 64)));
    let mut times: Vec<u64> = o.flows.iter().filter_map(|f| f.finish_ps).collect();
    times.sort_unstable();
    // the ACK of the second waits behind the pull for the trimmed packet, a spacing of pulls after the first
    assert_eq!(times[..3], [4_675_840, 4_675_840 + 336_161 + 5_120, 2_337_920 + 4_675_840]);
    assert_eq!((sum(&o, |p| p.trimmed), sum(&o, |p| p.returned), sum(&o, |p| p.drops)), (2, 1, 0));
    assert_eq!(
        o.flows.iter().map(|f| (f.timeouts, f.retransmissions)).fold((0, 0), |s, f| (s.0 + f.0, s.1 + f.1)),
        (0, 2)
    );
    // if dropped it waits for its timer
    let o = compared(&incast(4, 4096, 50, {
        let mut queue = returning(2, 64);
        if let Discipline::Trimming(cut) = &mut queue.discipline {
            cut.returns = false;
        }
        queue
    }));
    assert_eq!((sum(&o, |p| p.returned), sum(&o, |p| p.drops)), (0, 1));
    assert_eq!(o.flows.iter().map(|f| f.timeouts).sum::<u64>(), 1);
}

#[test]
fn what_comes_back_of_a_window_waits_for_pulls() {
    // Each window of 20 packets is more than the port and its headers hold. Returned packets are retransmitted by
    // pulls, which the rest of the windows earn: nothing is lost, no timer is needed, and the receiver's link is hardly
    // ever idle.
    let (hosts, packets) = (8, 60);
    let o = compared(&incast(hosts, packets * 4096, 20, returning(8, 2 * 64)));
    let (returned, trimmed) = (sum(&o, |p| p.returned), sum(&o, |p| p.trimmed));
    // a flow may hear nothing before its first window has gone: beyond 160 only retransmissions returned again
    assert!(returned > 50 && returned <= 8 * 20 && trimmed > returned, "{returned} {trimmed}");
    assert_eq!((sum(&o, |p| p.drops), o.flows.iter().map(|f| f.timeouts).sum::<u64>()), (0, 0));
    let last = o.flows.iter().filter_map(|f| f.finish_ps).max().unwrap();
    let link = hosts as u64 * packets * 332_800;
    assert!(last > link && last < link + link / 20 + 10_000_000, "{last} of {link}");
    assert_eq!(
        o.flows.iter().map(|f| f.trimmed).sum::<u64>(),
        trimmed - returned,
        "what came cut, and did not go back"
    );
}

#[test]
fn one_full_path_among_many_has_its_packet_sent_again_at_once() {
    // A flow spreads over four cores. From one of them a link of 5 Gb/s leads on, so that most of a quarter of its
    // packets are trimmed there or return, and the others arrive whole: returned packets are retransmitted at once.
    let mut spec = receiver_driven::with(fat_tree(4, Rate::gbps(100), Time::us(1)), ndp(15, false), returning(1, 64));
    spec.choice = PathChoice::GivenPath;
    spec.flows = vec![bulk(0, 15, Some(400 * 4096))];
    // a slow link from a core to the receiver's pod
    let slow = spec.links.iter().position(|l| l.name == "core0>agg6").unwrap();
    spec.links[slow].rate = Rate::gbps(5);
    spec.observe.trace = vec![0];
    let o = compared(&spec);
    assert!(sum(&o, |p| p.returned) > 20, "{}", sum(&o, |p| p.returned));
    let here = |e: &&PacketEvent| e.event == Happening::Arrive && e.place == spec.node_names[0];
    let back = o.trace.iter().filter(here).filter(|e| e.flags.contains("RETURNED"));
    let sent: HashSet<u64> = o.trace.iter().filter(|e| e.event == Happening::Send).map(|e| e.time_ps).collect();
    let (back, at_once) = back.fold((0, 0), |(all, at_once), e| (all + 1, at_once + sent.contains(&e.time_ps) as u32));
    assert!(at_once > back / 2 && at_once > 10, "{at_once} of {back}");
    assert_eq!((sum(&o, |p| p.drops), o.flows[0].timeouts), (0, 0));
    assert_eq!(Some(o.flows[0].delivered), o.flows[0].size);
}

proptest! {
    #![proptest_config(crate::support::cases(200))]

    #[test]
    fn nothing_is_lost_or_comes_twice_where_headers_go_back(
        // scenarios refuse room for less than two headers: data of as many bytes as a header would never pass
        shape in pick(&[0u32, 1, 3, 6]), queue in (1u64..8, 2u64..12, any::<bool>()), window in 1u32..40,
        flows in prop::collection::vec((any::<u32>(), any::<u32>(), 0u64..30, 1u64..200_000), 1..10),
        choice in pick(&[PathChoice::GivenPath, PathChoice::Spray, PathChoice::Ecmp]), loss in pick(&[0.0, 0.01]),
        seed: u64,
    ) {
        let mut returns = returning(queue.0, queue.1 * 64);
        if let Discipline::Trimming(cut) = &mut returns.discipline {
            cut.draws = queue.2;
        }
        let mut spec = match shape {
            0 => fat_tree(4, Rate::gbps(10), Time::us(1)),
            1 => dumbbell(3, Rate::gbps(10), Time::us(1)),
            hosts => star(hosts, Rate::gbps(10), Time::us(1)),
        };
        spec = receiver_driven::with(spec, ndp(window, false), returns);
        let hosts = spec.hosts;
        let flow = |&(src, dst, start, size): &(u32, u32, u64, u64)| {
            let src = src % hosts;
            FlowSpec { start: Time::us(start), ..bulk(src, (src + 1 + dst % (hosts - 1)) % hosts, Some(size)) }
        };
        spec.flows = flows.iter().map(flow).collect();
        (spec.choice, spec.seed) = (choice, seed);
        if loss > 0.0 {
            spec.links.iter_mut().for_each(|l| l.loss = Loss::Packet(loss));
        }
        spec.observe.trace = (0..flows.len() as u32).collect();
        run_for(&mut spec, Time::ms(60));
        let o = compared_seen_and_unseen(&spec);
        for (f, flow) in (0..).zip(&spec.flows) {
            data_comes_once(f, flow, &o)?;
            let record = &o.flows[f as usize];
            prop_assert!(record.finish_ps.is_some() && Some(record.delivered) == record.size, "{:?}", record);
        }
        prop_assert_eq!(o.packets_sent, o.packets_delivered + o.packets_dropped + o.packets_in_flight);
    }
}
