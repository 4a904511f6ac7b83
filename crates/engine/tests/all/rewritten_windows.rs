//! Windows reduced on the path, as by a switch that shares out its capacity: both ends obey from the first segment on.

use crate::support::*;
use incast_engine::testing::{Packet, QueryId, Timer, flag};

const RULES: [WindowUpdate; 3] = [WindowUpdate::News, WindowUpdate::Rfc9293, WindowUpdate::Linux];
const DELAY: u64 = 20 * US;

/// One worker, 100 kB in segments of 1000 B with an ACK each, separate connections for each query. `change` is applied
/// to every packet on its way. Returns the times at which the worker sent data, and all packets sent.
fn responses(t: TransportSpec, change: impl FnMut(&mut Packet, u64)) -> (Vec<u64>, Vec<Caught>) {
    let mut spec = asking(1, 100_000, changed!(t, connection.handshake = true));
    (spec.queries[0].first, spec.queries[0].close) = (Time::ZERO, Some(Close::Worker));
    spec.queries[0].think = Time::us(100);
    let mut bench = Bench::new(spec);
    let mut sent = bench.open();
    sent.extend(bench.fire(Timer::Query(QueryId(0))));
    // packets sent at the start take the same path
    bench.resend(sent);
    let sent = bench.relay(20 * MS, DELAY, change);
    let data = sent.iter().filter(|c| c.packet.flow.0 == 1 && c.packet.len > 0).map(|c| c.at).collect();
    (data, sent)
}

/// Maximum number of segments sent within one round trip.
fn burst(times: &[u64]) -> usize {
    times.iter().map(|t| times.iter().filter(|u| (*t..*t + 2 * DELAY).contains(*u)).count()).max().unwrap_or(0)
}

#[test]
fn syn_and_syn_ack_have_a_window_that_can_be_lowered() {
    let (_, sent) = responses(initial_window(10.0), |_, _| ());
    let syns: Vec<_> = sent.iter().filter(|c| c.packet.is(incast_engine::testing::Kind::Syn)).collect();
    assert_eq!(syns.len(), 6, "a SYN and a SYN-ACK for each of three queries");
    assert!(syns.iter().all(|c| c.packet.wnd == 65_535), "not scaled");
}

#[test]
fn a_lowered_window_bounds_every_connection_from_its_first_segment() {
    for window_update in RULES {
        let t = changed!(initial_window(10.0), windows.window_update = window_update);
        let (free, _) = responses(t.clone(), |_, _| ());
        assert_eq!(free.len(), 300);
        assert!(burst(&free) > 10);
        let (bound, sent) = responses(t, |p, _| p.wnd = p.wnd.min(3000));
        assert_eq!((bound.len(), burst(&bound)), (300, 3), "{window_update:?}");
        // 34 round trips of data for a query, with the others
        assert_eq!(sent.iter().filter(|c| c.has(flag::FIN)).count(), 6);
    }
}

#[test]
fn a_request_obeys_the_window_of_the_syn_ack() {
    // 40 B per round trip, for requests of 100 B, with segments as small as a window
    let t = changed!(initial_window(10.0), windows.sws_avoidance = false);
    let (_, sent) = responses(t, |p, _| {
        if p.is_reverse() && p.flow.0 == 0 {
            p.wnd = p.wnd.min(40);
        }
    });
    let requests: Vec<u16> = sent.iter().filter(|c| c.packet.flow.0 == 0).map(|c| c.packet.len).collect();
    let with_data: Vec<u16> = requests.into_iter().filter(|len| *len > 0).collect();
    assert_eq!(with_data[..3], [40, 40, 20]);
}

#[test]
fn a_window_that_shrinks_on_the_way_holds_after_a_round_trip() {
    for window_update in RULES {
        let t = changed!(initial_window(10.0), windows.window_update = window_update);
        let shrinks = 400 * US;
        let share = |now| if now < shrinks { 8000 } else { 2000 };
        let (data, _) = responses(t, |p, now| p.wnd = p.wnd.min(share(now)));
        assert_eq!(data.len(), 300, "{window_update:?}");
        let late: Vec<u64> = data.iter().copied().filter(|at| *at > shrinks + 2 * DELAY).collect();
        assert_eq!(burst(&late), 2, "{window_update:?}");
        let early: Vec<u64> = data.into_iter().filter(|at| *at < shrinks).collect();
        assert_eq!(burst(&early), 8, "{window_update:?}");
    }
}
