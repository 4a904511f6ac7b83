//! Controller x loss x buffer as one table, `grid.txt`. `UPDATE_SNAPSHOTS=1 cargo test -p incast-engine grid` writes it
//! anew; `git diff` then shows the effect of a change.

use crate::explicit_rates::rcp_program;
use crate::explicit_windows::xcp_program;
use crate::rates_for_deadlines::d3_program;
use crate::sub_rtt::bolt_program;
use crate::support::*;
use incast_cc::Asks;
use std::fmt::Write;

const LOSSES: [(&str, f64); 3] = [("no loss", 0.0), ("0.1 %", 0.001), ("1 %", 0.01)];
const BUFFERS: [u64; 2] = [20, 200];

const HEAD: &str = "\
Four hosts send 1 MB each to a fifth at once: 10 Gb/s, 5 us a link, 1448 B segments, SACK, timeouts from 4 ms on. The
link into the fifth has a buffer of so many packets, marks from a fifth of it on, and loses so many at random.
Cells: goodput, Gb/s; retransmissions; timeouts; completion time of the last flow, ms (- where one does not end in 2 s).
";

fn cell(config: &Config, loss: f64, buffer: u64) -> String {
    let mut spec = star(5, Rate::gbps(10), Time::us(5));
    let delayed_ack = if config.profile().ack_every_packet { 1 } else { 2 };
    spec.transports = vec![changed!(
        tcp(),
        acks.delayed_ack = delayed_ack,
        rto.rto_min = Time::ms(4),
        windows.send_buffer = 1 << 20,
        windows.receive_buffer = 1 << 20
    )];
    spec.controllers = vec![config.clone()];
    spec.queues = vec![drop_tail(1000), marking(buffer, buffer / 5)];
    (spec.links[9].queue, spec.links[9].loss) = (1, Loss::Packet(loss));
    spec.flows = (0..4).map(|h| bulk(h, 4, Some(1_000_000))).collect();
    let program = match config.profile().asks {
        Asks::Nothing => None,
        Asks::Rate if config.profile().deadlines => Some(Program::D3(d3_program())),
        Asks::Rate => Some(Program::Rcp(rcp_program())),
        Asks::Window => Some(Program::Xcp(xcp_program())),
        Asks::Bolt => Some(Program::Bolt(bolt_program())),
    };
    spec.programs = program.into_iter().map(|program| ProgramSpec { nodes: vec![5], program }).collect();
    run_for(&mut spec, Time::s(2));
    let o = run(&spec);
    let sum = |f: fn(&FlowRecord) -> u64| o.flows.iter().map(f).sum::<u64>();
    let last = o.flows.iter().map(|f| f.finish_ps).max().flatten();
    let ends = o.flows.iter().all(|f| f.finish_ps.is_some());
    let goodput = sum(|f| f.delivered) as f64 * 8e3 / last.unwrap_or(o.end_ps) as f64;
    let took = if ends { format!("{:.2}", last.unwrap() as f64 / 1e9) } else { "-".to_string() };
    format!("{goodput:5.2} {:5} {:3} {took:>8}", sum(|f| f.retransmissions), sum(|f| f.timeouts))
}

#[test]
fn the_grid_of_controllers_losses_and_buffers_is_the_snapshot() {
    let mut text = HEAD.to_string();
    let kinds: Vec<Config> = incast_cc::KINDS.iter().map(|kind| Config::new(kind.name).unwrap()).collect();
    for buffer in BUFFERS {
        text.push('\n');
        let mut row = |name: &str, cells: [String; 3]| {
            writeln!(text, "{}", format!("{name:14}| {}", cells.join(" | ")).trim_end()).unwrap();
        };
        row(&format!("{buffer} packets"), LOSSES.map(|(name, _)| format!("{name:24}")));
        kinds.iter().for_each(|config| row(config.kind().name, LOSSES.map(|(_, loss)| cell(config, loss, buffer))));
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/grid.txt");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let expected = std::fs::read_to_string(path).unwrap();
    let moved = text.lines().zip(expected.lines()).find(|(now, then)| now != then);
    assert!(text == expected, "now and in grid.txt: {moved:#?}; UPDATE_SNAPSHOTS=1 writes it anew");
}
