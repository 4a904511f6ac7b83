//! ns-3.43's own response vectors (system test `ns3-tcp-loss`, NewReno and Westwood+): every packet that the
//! sender emits, at its time to a microsecond.

use crate::support::*;

/// s1 -(8 Mbit/s, 0.1 ms)- r1 -(0.8 Mbit/s, 100 ms)- k1 with 2 B of PPP a packet; 200 000 B and then close. The device
/// of k1 loses the arrivals with these indices.
fn tcp_loss(lost: &[u64], kind: &str, controller_form: &[(&str, &str)]) -> Spec {
    let transport = changed!(
        tcp(),
        sizes.mss = 1000,
        sizes.header = 40,
        sizes.ack_size = 40,
        sizes.syn_size = 44,
        acks.delayed_ack = 1,
        loss.sack = false,
        timing.timestamps = false,
        loss.recovery = Recovery::NewReno,
        loss.loss_flight = LossFlight::Pipe,
        connection.fin_with_data = true,
        rto.rto_min = Time::s(1),
        rto.rto_granularity = Time::ms(1),
        windows.initial_window = 1.0,
        loss.scoreboard = Rules::Ns3
    );
    let mut spec = wire(Rate::mbps(8), Time::us(100), transport, kind, bulk(0, 1, Some(200_000)));
    spec.controllers = vec![controller(kind, controller_form)];
    for link in &mut spec.links {
        link.overhead = 2;
    }
    for link in [1, 3] {
        spec.links[link].rate = Rate::bps(800_000);
        spec.links[link].delay = Time::ms(100);
    }
    if !lost.is_empty() {
        spec.links[3].loss = Loss::List(lost.to_vec());
    }
    spec
}

/// `time seq ack payload FIN` of the rows of a vector. Sequence numbers count from SYN as in TCP.
fn expected(csv: &str) -> Vec<String> {
    let rows = csv.lines().filter(|l| l.starts_with(|c: char| c.is_ascii_digit()));
    let row = |line: &str| {
        let f: Vec<&str> = line.split(',').collect();
        let flags = u32::from_str_radix(f[3].trim_start_matches("0x"), 16).unwrap();
        format!("{} {} {} fin={}", f[0], f[1], f[4], flags & 1)
    };
    rows.map(row).collect()
}

fn emitted(o: &Outcome) -> Vec<String> {
    let row = |e: &&incast_record::PacketEvent| {
        let syn = e.flags.contains("SYN");
        let micros = (e.time_ps + 500_000) / 1_000_000;
        let seq = if syn { 0 } else { e.seq + 1 };
        format!(
            "{}.{:06} {seq} {} fin={}",
            micros / 1_000_000,
            micros % 1_000_000,
            e.payload,
            u32::from(e.flags.contains("FIN"))
        )
    };
    events(o, "h0", Happening::Send).iter().map(row).collect()
}

macro_rules! vector {
    ($name:literal) => {
        include_str!(concat!("../../../../parity/data/ns3/tcp-loss-", $name, ".csv"))
    };
}

const CASES: [(&str, &[u64]); 5] = [
    (vector!("newreno0"), &[]),
    (vector!("newreno1"), &[16]),
    (vector!("newreno2"), &[16, 17]),
    (vector!("newreno3"), &[16, 17, 18]),
    (vector!("newreno4"), &[16, 17, 18, 19]),
];

const WESTWOOD_PLUS: [(&str, &[u64]); 4] = [
    (vector!("westwood-plus0"), &[]),
    (vector!("westwood-plus1"), &[16]),
    (vector!("westwood-plus2"), &[16, 17]),
    (vector!("westwood-plus3"), &[16, 17, 18]),
];

/// First row in which the run differs from the vector.
fn first_difference(csv: &str, spec: &Spec) -> Option<(usize, String, String)> {
    let (expected, emitted) = (expected(csv), emitted(&run(spec)));
    let rows = expected.len().max(emitted.len());
    let row = |rows: &[String], i: usize| rows.get(i).cloned().unwrap_or_default();
    (0..rows).map(|i| (i, row(&expected, i), row(&emitted, i))).find(|(_, a, b)| a != b)
}

#[test]
fn every_packet_of_the_loss_vectors_at_its_microsecond() {
    let newreno = CASES.iter().map(|case| ("newreno", case));
    for (kind, (csv, lost)) in newreno.chain(WESTWOOD_PLUS.iter().map(|case| ("westwood-plus", case))) {
        assert_eq!(expected(csv).len(), 203 + lost.len(), "{kind}, {lost:?}: the vector was read");
        let spec = tcp_loss(lost, kind, &[("form", "ns3")]);
        assert_eq!(first_difference(csv, &spec), None, "{kind}, {lost:?}");
    }
}

#[test]
fn each_rule_of_ns3_is_needed() {
    let (csv, lost) = CASES[1];
    let ns3 = || tcp_loss(lost, "newreno", &[("form", "ns3")]);
    // 30 segments and 3 of limited transmit are out at the loss: half of 30 has left the network at the third
    // duplicate, half of all is more
    let mut spec = ns3();
    spec.transports[0].loss.loss_flight = LossFlight::Outstanding;
    let differs = first_difference(csv, &spec).map(|d| d.0);
    assert!(differs.is_some_and(|row| row > 33), "flight at the loss: {differs:?}");
    // real numbers differ from whole bytes once avoidance has begun, after recovery (row 41 on)
    let mut spec = ns3();
    spec.controllers[0] = controller("newreno", &[]);
    let differs = first_difference(csv, &spec).map(|d| d.0);
    assert!(differs.is_some_and(|row| row > 41), "whole bytes: {differs:?}");
    // FIN in its own segment: the last data segment is the first to differ
    let mut spec = ns3();
    spec.transports[0].connection.fin_with_data = false;
    let (row, expected, emitted) = first_difference(csv, &spec).expect("differs");
    assert_eq!((row, &expected[9..], &emitted[9..]), (202, "199001 1000 fin=1", "199001 1000 fin=0"));
    // without limited transmit the two segments before the retransmission are missing
    let mut spec = ns3();
    spec.transports[0].loss.limited_transmit = false;
    let (row, expected, emitted) = first_difference(csv, &spec).expect("differs");
    assert_eq!((row, &expected[..], &emitted[..]), (31, "1.261874 29001 1000 fin=0", "1.282714 14001 1000 fin=0"));
}
