//! RoCE: times computed by hand, and go-back-N after losses.

use crate::support::*;

/// Packets of 1250 bytes: 1 us at 10 Gb/s.
pub fn roce(window: u32, ack_every: u32) -> TransportSpec {
    changed!(
        plain(),
        protocol = Protocol::Roce(Roce { window, ack_every }),
        sizes.mss = 1206,
        sizes.header = 44,
        sizes.ack_size = 48,
        sizes.mtu = 0,
        connection.handshake = false,
        windows.send_buffer = 1 << 30,
        rto.rto_min = Time::us(100)
    )
}

/// `spec` with this transport, and switches with queues of this limit.
pub fn with(mut spec: Spec, transport: TransportSpec, limit: Limit) -> Spec {
    spec.transports = vec![transport];
    spec.queues = vec![queue(Discipline::DropTail, limit), endless_queue()];
    let hosts = spec.hosts;
    spec.links.iter_mut().filter(|l| l.from < hosts).for_each(|l| l.queue = 1);
    spec.controllers = vec![controller("newreno", &[])];
    spec
}

/// A flow of `packets` packets between two of `hosts` hosts around a switch.
fn alone(packets: u64, transport: TransportSpec) -> Spec {
    let mut spec = star(3, Rate::gbps(10), Time::us(1));
    spec.flows = vec![bulk(0, 1, Some(packets * 1206))];
    with(spec, transport, Limit::None)
}

/// Loses packets whose transmission by link 0 begins in this time, in ns.
fn losing(mut spec: Spec, from: u64, until: u64) -> Spec {
    let effect = Effect::Degraded { rate: None, delay: None, loss: 1.0 };
    spec.failures = vec![Failure { link: 0, from: Time::ns(from), until: Time::ns(until), effect }];
    run_for(&mut spec, Time::ms(5));
    spec
}

/// Time of an ACK of 48 bytes over two links, in ps.
const ACK: u64 = 2 * (38_400 + 1_000_000);

#[test]
fn packets_leave_back_to_back_up_to_the_window() {
    // ten packets at the host, one at the switch, and two links
    let o = compared(&alone(10, roce(64, 16)));
    let flow = &o.flows[0];
    assert_eq!((flow.received_ps, flow.finish_ps), (Some(13_000_000), Some(13_000_000 + ACK)));
    // four packets in a round trip: the last of a window asks for the ACK
    let o = compared(&alone(12, roce(4, 16)));
    assert_eq!(o.flows[0].received_ps, Some(3 * 7_000_000 + 2 * ACK));
    assert_eq!((o.flows[0].retransmissions, o.flows[0].rtt_min_ps), (0, Some(3_000_000 + 1_000_000 + ACK)));
}

#[test]
fn a_sender_goes_back_to_the_lost_packet() {
    // packet 3 is lost. Packet 4 arrives at 8 us, and its NACK is back at 10.1 us
    let o = compared(&losing(alone(20, roce(64, 64)), 2_950, 3_050));
    let flow = &o.flows[0];
    assert_eq!((flow.delivered, flow.timeouts), (20 * 1206, 0));
    // sent before the NACK, in vain: packets 4 to 10, beside the lost one
    assert_eq!(flow.retransmissions, 8, "{flow:?}");
    assert_eq!(flow.received_ps, Some(11_000_000 + 17_000_000 + 3_000_000));
}

#[test]
fn a_lost_tail_waits_for_the_timeout() {
    let o = compared(&losing(alone(5, roce(64, 64)), 3_950, 4_050));
    let flow = &o.flows[0];
    assert_eq!((flow.delivered, flow.timeouts, flow.retransmissions), (5 * 1206, 1, 5));
    // nothing was acknowledged since the first packet left
    assert_eq!(flow.received_ps, Some(100_000_000 + 8_000_000));
}

#[test]
fn queries_and_an_incast_into_short_queues_run_over_it() {
    let spec = asking(6, 50_000, roce(32, 8));
    let o = compared(&with(spec, roce(32, 8), Limit::Packets(20)));
    assert_eq!(messages(&o, MessageKind::Query).len(), 3);
    assert!(o.flows.iter().any(|f| f.retransmissions > 0), "queues of 20 packets drop some");
}

#[test]
fn what_contradicts_itself_is_refused() {
    for (transport, shown) in [
        (roce(0, 1), "roce.window = 0: expected"),
        (roce(1, 0), "roce.ack_every = 0: expected"),
        (changed!(roce(1, 1), rto.rto_min = Time::ZERO), "rto_min = 0s: expected a time above 0"),
    ] {
        let error = incast_engine::run(&alone(1, transport), &mut |_| true).unwrap_err().to_string();
        assert!(error.contains(shown), "{error}");
    }
}

#[test]
fn a_full_send_buffer_asks_for_an_acknowledgement() {
    for packets in [2, 5, 20] {
        let transport = changed!(roce(64, 1000), windows.send_buffer = packets * 1206);
        let o = compared(&alone(100, transport));
        assert_eq!((o.flows[0].timeouts, o.flows[0].retransmissions), (0, 0), "a buffer of {packets} packets");
        assert!(o.flows[0].finish_ps.is_some());
    }
}
