//! Real Linux receivers (`parity/data/linux/acks.csv`): segments arrive as they did there, marked, bleached or
//! duplicated by the link, and get the same ACKs.

use super::*;

const RECORDED: &str = include_str!("../../../../../parity/data/linux/acks.csv");
const SEGMENT: u64 = 1448;

/// The receiver's rules, the kernel's tick and the buffer of the recordings: six segments make its window grow.
fn as_recorded() -> TransportSpec {
    changed!(
        plain(),
        sizes.mss = SEGMENT as u32,
        windows.receive_buffer = 161_792,
        acks.window_growth = true,
        acks.quickack = 16,
        acks.delayed_ack = 2,
        acks.delayed_ack_timeout = Time::ms(40),
        timing.timer_tick = Time::ms(4),
        acks.push_ack = true,
        acks.cwr_ack = true,
        acks.classic_quickack = true,
        loss.dsack = true,
        marks.ecn = Some(Ecn::Classic)
    )
}

/// Packets of a run after its handshake: time in ps, kind, number of the segment, flags.
fn recorded(run: &str) -> Vec<(u64, &str, u64, &str)> {
    let row = |line: &'static str| {
        let fields: Vec<&str> = line.split(',').collect();
        let micros = (fields[1].parse::<f64>().unwrap() * 1e3).round() as u64;
        (fields[0], (micros * US, fields[2], fields[3].parse().unwrap(), fields[4]))
    };
    let lines = RECORDED.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(row).filter(|(name, row)| *name == run && !row.1.starts_with("SYN")).map(|(_, row)| row).collect()
}

/// The first packet of a run that differs with our receiver: as recorded and as it is.
fn first_difference(run: &str, transport: TransportSpec) -> Option<(usize, String, String)> {
    let rows = recorded(run);
    assert!(rows.len() > 70, "{run} was read");
    let mut bench = bench(transport, "newreno", bulk(0, 1, None));
    let mut ours = Vec::new();
    let acks = |sent: Vec<Caught>| {
        let ack = |c: Caught| format!("ack {} {}", c.packet.ack / SEGMENT, if c.has(flag::ECE) { "ECE" } else { "" });
        sent.into_iter().map(ack).collect::<Vec<_>>()
    };
    for (at, _, number, said) in rows.iter().filter(|row| row.1 == "data") {
        let bits = said.split_whitespace().map(|flag| match flag {
            "ECT" => flag::ECT,
            "CE" => flag::ECT | flag::CE,
            "CWR" => flag::CWR,
            _ => flag::PSH,
        });
        ours.extend(acks(bench.advance(*at)));
        ours.push(format!("data {number} {said}"));
        ours.extend(acks(bench.data(number * SEGMENT, SEGMENT as u16, bits.fold(0, |all, bit| all | bit))));
    }
    let theirs: Vec<String> = rows.iter().map(|(_, kind, number, said)| format!("{kind} {number} {said}")).collect();
    let packet = |list: &[String], i: usize| list.get(i).cloned().unwrap_or_default();
    let pairs = (0..theirs.len().max(ours.len())).map(|i| (i, packet(&theirs, i), packet(&ours, i)));
    pairs.into_iter().find(|(_, theirs, ours)| theirs != ours)
}

/// Marks with or without a waiting segment, before CWR, with it and after; segments without ECT; duplicates.
#[test]
fn every_ack_of_a_linux_receiver_under_classic_ecn() {
    for run in ["unmarked", "k12", "k4", "timers", "syn-lost", "syn-ack-lost", "no-fallback"] {
        assert_eq!(first_difference(run, as_recorded()), None, "{run}");
    }
    for run in ["one", "one-waiting", "two", "cwr", "bleached", "copy-bleached", "copy-marked"] {
        assert_eq!(first_difference(run, as_recorded()), None, "{run}");
        if run != "copy-bleached" {
            let without = changed!(as_recorded(), acks.classic_quickack = false);
            assert!(first_difference(run, without).is_some(), "{run} has the quick ACKs");
        }
    }
}
