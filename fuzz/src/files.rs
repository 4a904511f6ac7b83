//! Files used by scenarios: graphs, lists of flows, matrices, sizes, places of stations.

use crate::grammar::Around;
use crate::random::Random;
use std::fmt::Write;

/// A random connected graph, with paths of unequal rates and lengths, and parallel links.
pub fn graphs(random: &mut Random) -> Vec<(String, String)> {
    let (hosts, switches) = (2 + random.below(6), 1 + random.below(6));
    let list = |letter: &str, n: u64| (0..n).map(|i| format!("\"{letter}{i}\"")).collect::<Vec<_>>().join(", ");
    let mut text = format!("hosts = [{}]\nswitches = [{}]\n", list("h", hosts), list("s", switches));
    let mut link = |a: String, b: String, random: &mut Random| {
        let _ = write!(text, "[[links]]\na = \"{a}\"\nb = \"{b}\"\n");
        if random.chance(0.3) {
            let _ = writeln!(text, "rate = \"{}Mbps\"", random.one(&[100, 1000, 2500, 10_000, 40_000]));
        }
        if random.chance(0.3) {
            let _ = writeln!(text, "delay = \"{}ns\"", random.below(5_000));
        }
        if random.chance(0.1) {
            let _ = writeln!(text, "burst = \"{}kB\"", 1 + random.below(64));
        }
        if random.chance(0.1) {
            let _ = writeln!(text, "overhead = {}", random.below(40));
        }
        if random.chance(0.1) {
            let _ = writeln!(text, "back_rate = \"{}Mbps\"", random.one(&[100, 1000, 10_000]));
        }
        if random.chance(0.05) {
            let _ = writeln!(text, "error_rate = {}", random.one(&[0.001, 0.01, 0.1]));
        }
    };
    for host in 0..hosts {
        link(format!("h{host}"), format!("s{}", random.below(switches)), random);
    }
    for switch in 1..switches {
        link(format!("s{}", random.below(switch)), format!("s{switch}"), random);
    }
    for _ in 0..random.below(2 * switches) {
        let (a, b) = (random.below(switches), random.below(switches));
        if a != b {
            link(format!("s{a}"), format!("s{b}"), random);
        }
    }
    vec![("graph.toml".into(), text)]
}

/// Places of a number of stations.
pub fn places(stations: i64, random: &mut Random) -> Vec<(String, String)> {
    let mut text = "x,y\n".to_owned();
    for i in 0..stations.clamp(2, 50) {
        let _ = writeln!(text, "{},{}", i * 7, random.below(60));
    }
    vec![("places.csv".into(), text)]
}

/// Files of traffic between the hosts of a network: kinds, names and contents.
pub fn of_traffic(around: &Around, random: &mut Random) -> Vec<(&'static str, String, String)> {
    let hosts = &around.nodes[..around.hosts];
    if hosts.len() < 2 {
        return Vec::new();
    }
    vec![
        ("flows", "flows.csv".into(), flows(hosts, around, random)),
        ("matrix", "matrix.csv".into(), matrix(hosts, random, |random| random.scaled(1.0, 50e3).round().to_string())),
        ("parts", "parts.csv".into(), matrix(hosts, random, |random| format!("{:.2}", random.part()))),
        ("connections", "connections.cm".into(), connections(hosts.len() as u64, random)),
        ("sizes", "sizes.csv".into(), "size,cumulative\n100,0.2\n1460,0.5\n10000,0.9\n40000,1\n".into()),
    ]
}

/// Ends of a flow.
fn ends(hosts: u64, random: &mut Random) -> (u64, u64) {
    let a = random.below(hosts);
    (a, (a + 1 + random.below(hosts - 1)) % hosts)
}

fn flows(hosts: &[String], around: &Around, random: &mut Random) -> String {
    let columns = ["size", "after", "stop", "deadline", "controller"];
    let chosen: Vec<&str> = columns.into_iter().filter(|_| random.chance(0.35)).collect();
    let mut text = format!("start,source,destination{}\n", chosen.iter().map(|c| format!(",{c}")).collect::<String>());
    for i in 0..1 + random.below(8) {
        let (a, b) = ends(hosts.len() as u64, random);
        let start = (around.duration * random.part() * 0.5).round();
        let _ = write!(text, "{start}ns,{},{}", hosts[a as usize], hosts[b as usize]);
        for column in &chosen {
            let late = (start + around.duration * random.scaled(0.01, 1.0)).round();
            let _ = match *column {
                "size" => write!(text, ",{}", random.scaled(1.0, 60e3).round()),
                "after" if i > 0 && random.chance(0.5) => write!(text, ",{}", random.below(i)),
                "stop" | "deadline" if random.chance(0.5) => write!(text, ",{late}ns"),
                "controller" if random.chance(0.5) => {
                    write!(text, ",{}", random.one(&["dctcp", "newreno", "cubic", "swift", "timely"]))
                }
                _ => write!(text, ","),
            };
        }
        text.push('\n');
    }
    text
}

fn matrix(hosts: &[String], random: &mut Random, cell: fn(&mut Random) -> String) -> String {
    let mut text = format!("source,{}\n", hosts.join(","));
    for (i, source) in hosts.iter().enumerate() {
        text.push_str(source);
        for j in 0..hosts.len() {
            text.push(',');
            if i != j && random.chance(0.3) {
                text.push_str(&cell(random));
            }
        }
        text.push('\n');
    }
    text
}

fn connections(hosts: u64, random: &mut Random) -> String {
    let n = 2 + random.below(6);
    let triggered = random.chance(0.5);
    let mut text = format!("Nodes {hosts}\nConnections {n}\n");
    if triggered {
        text.push_str("Triggers 1\n");
    }
    for id in 1..=n {
        let (a, b) = ends(hosts, random);
        let size = random.scaled(1.0, 60e3).round();
        let _ = match id {
            1 if triggered => writeln!(text, "{a}->{b} id 1 start 0 size {size} send_done_trigger 1"),
            2 if triggered => writeln!(text, "{a}->{b} id 2 trigger 1 size {size}"),
            _ => writeln!(text, "{a}->{b} id {id} start {} size {size}", random.below(40)),
        };
    }
    if triggered {
        let _ = writeln!(text, "trigger id 1 {}", random.one(&["oneshot", "multishot", "barrier count 1"]));
    }
    text
}
