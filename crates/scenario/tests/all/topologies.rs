//! Wiring, numbering and routes.

use incast_cc::Time;
use incast_engine::map::ideal::Fabric;
use incast_engine::map::paths::{Paths, divisors, hops};
use incast_engine::spec::{Discipline, Limit, Loss, Spec, memory_of};
use incast_engine::{FlowId, LinkId, NodeId};
use incast_scenario::Scenario;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

fn load(name: &str, sets: &[(&str, &str)]) -> Spec {
    let mut s = Scenario::load(name).unwrap();
    for (k, v) in sets {
        s.set(k, v).unwrap();
    }
    s.build().unwrap()
}

fn links(spec: &Spec) -> BTreeSet<String> {
    spec.links.iter().map(|l| l.name.to_string()).collect()
}

fn route(spec: &Spec, path: &[LinkId]) -> String {
    path.iter().map(|l| &*spec.links[*l].name).collect::<Vec<_>>().join(" ")
}

/// ns-3's rule, written out: core[i*h+j]-agg[pod*h+i], agg[pod*h+i]-edge[pod*h+j],
/// edge-host[edge*h+i].
#[test]
fn fat_tree_wiring() {
    for k in [2u32, 4, 6] {
        let h = k / 2;
        let mut expected = BTreeSet::new();
        let mut both = |a: String, b: String| {
            expected.insert(format!("{a}>{b}"));
            expected.insert(format!("{b}>{a}"));
        };
        for pod in 0..k {
            for i in 0..h {
                for j in 0..h {
                    both(format!("core{}", i * h + j), format!("agg{}", pod * h + i));
                    both(format!("agg{}", pod * h + i), format!("edge{}", pod * h + j));
                    both(format!("edge{}", pod * h + j), format!("h{}", (pod * h + j) * h + i));
                }
            }
        }
        let spec = load("hotspot", &[("topology.k", &k.to_string())]);
        assert_eq!(links(&spec), expected, "k={k}");
        assert_eq!(spec.links.len(), 6 * (k * k * k / 4) as usize);
        assert_eq!(spec.hosts, k * k * k / 4);
    }
}

/// Every pair of hosts, both routings: the path is connected, ends where it should, has 2, 4 or 6
/// links as the hosts share an edge switch, a pod or neither; the way back as well.
#[test]
fn fat_tree_paths() {
    for kind in ["ecmp", "first-path"] {
        let mut spec = load("random-pairs", &[("topology.k", "4"), ("routing.kind", kind), ("traffic.flows", "240")]);
        let pairs = (0..16).flat_map(|a| (0..16).map(move |b| (a, b))).filter(|(a, b)| a != b);
        for (f, (a, b)) in spec.flows.iter_mut().zip(pairs) {
            (f.src, f.dst) = (a, b);
        }
        let fabric = Fabric::new(&spec);
        for (i, f) in (0..).map(FlowId).zip(&spec.flows) {
            let hops = if f.src / 2 == f.dst / 2 {
                2
            } else if f.src / 4 == f.dst / 4 {
                4
            } else {
                6
            };
            for (reverse, from, to) in [(false, f.src, f.dst), (true, f.dst, f.src)] {
                let path = fabric.path(i, reverse);
                assert_eq!(path.len(), hops);
                let end = path.iter().fold(from, |at, l| {
                    assert_eq!(spec.links[*l].from, at);
                    spec.links[*l].to
                });
                assert_eq!(end, to);
                if kind == "first-path" {
                    let names = route(&spec, &path);
                    assert!(!names.contains("core") || names.contains("core0"), "{names}");
                    for agg in path
                        .iter()
                        .map(|l| &spec.node_names[spec.links[*l].to as usize])
                        .filter(|n| n.starts_with("agg"))
                    {
                        // Aggregation switch 0 of every pod of two.
                        assert_eq!(agg[3..].parse::<u32>().unwrap() % 2, 0, "{names}");
                    }
                }
            }
        }
    }
}

/// Under ECMP all cores and all aggregation switches carry traffic, about evenly.
#[test]
fn ecmp_uses_every_path() {
    let mut spec = load("random-pairs", &[("traffic.flows", "4000")]);
    for f in &mut spec.flows {
        (f.src, f.dst) = (0, 15);
    }
    let fabric = Fabric::new(&spec);
    let mut seen: HashMap<String, u32> = HashMap::new();
    for i in (0..spec.flows.len() as u32).map(FlowId) {
        *seen.entry(route(&spec, &fabric.path(i, false))).or_default() += 1;
    }
    assert_eq!(seen.len(), 4);
    // A count of 4000 draws with probability 1/4 has a standard deviation of 27.4; five of them.
    assert!(seen.values().all(|n| n.abs_diff(1000) < 137), "{seen:?}");
}

#[test]
fn tiers_may_differ() {
    let spec = load(
        "hotspot",
        &[
            ("topology.host_link.rate", "25Gbps"),
            ("topology.edge_link", "{ delay = \"2us\", overhead = 38 }"),
            (
                "topology.core_link",
                "{ rate = \"100Gbps\", back_delay = \"7us\", error_rate = 0.5, error_unit = \"byte\" }",
            ),
        ],
    );
    let link = |name: &str| spec.links.iter().find(|l| l.name == name).unwrap();
    let facts = |name: &str| {
        let l = link(name);
        (l.rate.to_string(), l.delay.to_string(), l.overhead)
    };
    assert_eq!(facts("h0>edge0"), ("25Gbps".into(), "10us".into(), 2));
    assert_eq!(facts("edge0>h0"), ("25Gbps".into(), "10us".into(), 2));
    assert_eq!(facts("edge0>agg1"), ("1Gbps".into(), "2us".into(), 38));
    assert_eq!(facts("agg1>core2"), ("100Gbps".into(), "10us".into(), 2));
    assert_eq!(facts("core2>agg1"), ("100Gbps".into(), "7us".into(), 2));
    assert_eq!(link("core2>agg1").loss, Loss::Byte(0.5));
    assert_eq!(link("h0>edge0").loss, Loss::None);
}

#[test]
fn racks_are_domains() {
    let spec = load("hotspot", &[]);
    let of = |name: &str| spec.domain_of[spec.node_names.iter().position(|n| n == name).unwrap()];
    assert_eq!(of("h6"), of("edge3"));
    assert_eq!(of("h7"), of("edge3"));
    assert_ne!(of("h8"), of("edge3"));
    let distinct: BTreeSet<u32> = spec.domain_of.iter().copied().collect();
    assert_eq!(distinct.len(), 8 + 8 + 4);
    assert_eq!(load("hotspot", &[("run.domains", "one")]).domain_of, vec![0; 36]);
    assert_eq!(load("hotspot", &[("run.domains", "node")]).domain_of, (0..36).collect::<Vec<_>>());
}

#[test]
fn dumbbell_and_star() {
    let spec = load("dumbbell", &[("topology.sender_delays", "[\"1us\", \"5us\"]")]);
    assert_eq!(spec.node_names, ["s0", "s1", "r0", "r1", "left", "right"]);
    let fabric = Fabric::new(&spec);
    assert_eq!(route(&spec, &fabric.path(FlowId(1), false)), "s1>left left>right right>r1");
    assert_eq!(route(&spec, &fabric.path(FlowId(1), true)), "r1>right right>left left>s1");
    let delay = |name: &str| spec.links.iter().find(|l| l.name == name).unwrap().delay.to_string();
    assert_eq!(
        (delay("s0>left"), delay("s1>left"), delay("left>s1"), delay("right>r0")),
        ("1us".into(), "5us".into(), "5us".into(), "10us".into())
    );

    let spec = load("star", &[("topology.sources", "3")]);
    assert_eq!(spec.node_names, ["source0", "source1", "source2", "sink", "gateway"]);
    let fabric = Fabric::new(&spec);
    assert_eq!(spec.flows.len(), 3);
    assert_eq!(route(&spec, &fabric.path(FlowId(2), false)), "source2>gateway gateway>sink");
    assert!(spec.links.iter().all(|l| l.loss == Loss::Packet(0.0001)));
}

#[test]
fn leaf_spine_oversubscription() {
    let spec = load("leaf-spine", &[]);
    let rate = |spec: &Spec, name: &str| spec.links.iter().find(|l| l.name == name).unwrap().rate.to_string();
    // 16 hosts of 10 Gb/s over 4 spines, half of it.
    assert_eq!(rate(&spec, "leaf3>spine2"), "20Gbps");
    assert_eq!(rate(&spec, "h0>leaf0"), "10Gbps");
    assert_eq!(rate(&load("leaf-spine", &[("topology.oversubscription", "4")]), "spine0>leaf1"), "10Gbps");
    let fabric = Fabric::new(&spec);
    for (i, f) in (0..).map(FlowId).zip(&spec.flows) {
        assert_eq!(fabric.path(i, false).len(), if f.src / 16 == f.dst / 16 { 2 } else { 4 });
    }
}

/// The rule written out: `h<tor*s + i>` below `tor`, racks dealt to aggregation switches in runs, these to all cores.
#[test]
fn three_tier_wiring() {
    for (cores, aggs, racks, servers) in [(1u32, 2u32, 10u32, 48u32), (3, 2, 4, 2), (1, 1, 1, 2)] {
        let size = |key: &str, n: u32| (format!("topology.{key}"), n.to_string());
        let sets =
            [size("cores", cores), size("aggregations", aggs), size("racks", racks), size("servers_per_rack", servers)];
        let sets: Vec<(&str, &str)> = sets.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let spec = load("three-tier-incast", &[&sets[..], &[("traffic.flows", "1")]].concat());
        let mut expected = BTreeSet::new();
        let mut both = |a: String, b: String| {
            expected.insert(format!("{a}>{b}"));
            expected.insert(format!("{b}>{a}"));
        };
        for h in 0..racks * servers {
            both(format!("h{h}"), format!("tor{}", h / servers));
        }
        for rack in 0..racks {
            both(format!("tor{rack}"), format!("agg{}", rack / (racks / aggs)));
        }
        (0..aggs).for_each(|a| (0..cores).for_each(|c| both(format!("agg{a}"), format!("core{c}"))));
        assert_eq!(links(&spec), expected, "{cores} {aggs} {racks} {servers}");
        assert_eq!(spec.hosts, racks * servers);
    }
}

#[test]
fn a_three_tier_tree_has_the_rates_of_sccps_simulations() {
    let spec = load("three-tier-incast", &[]);
    let facts = |spec: &Spec, name: &str| {
        let l = spec.links.iter().find(|l| l.name == name).unwrap();
        (l.rate.to_string(), l.delay.to_string())
    };
    assert_eq!(spec.hosts, 480);
    assert_eq!(spec.routers.len(), 13);
    for (link, rate) in
        [("tor9>h479", "1Gbps"), ("h0>tor0", "1Gbps"), ("tor4>agg0", "10Gbps"), ("core0>agg1", "10Gbps")]
    {
        assert_eq!(facts(&spec, link), (rate.into(), "20us".into()), "{link}");
    }
    let sets = [
        ("topology.link", "{ rate = \"40Gbps\", delay = \"2us\" }"),
        ("topology.rack_link", "{ delay = \"3us\" }"),
        ("topology.core_link", "{ rate = \"100Gbps\" }"),
    ];
    let spec = load("three-tier-incast", &sets);
    assert_eq!(facts(&spec, "tor0>h3"), ("1Gbps".into(), "2us".into()));
    assert_eq!(facts(&spec, "agg0>tor3"), ("40Gbps".into(), "3us".into()));
    assert_eq!(facts(&spec, "agg1>core0"), ("100Gbps".into(), "2us".into()));
    // single keys leave the others as they are
    let sets = [("topology.link.delay", "5us"), ("topology.server_link.overhead", "38")];
    let spec = load("three-tier-incast", &sets);
    assert_eq!(facts(&spec, "h9>tor0"), ("1Gbps".into(), "5us".into()));
    assert_eq!(facts(&spec, "tor0>agg0"), ("10Gbps".into(), "5us".into()));
    let fast = load("three-tier-incast", &[("topology.server_link.rate", "10Gbps")]);
    assert_eq!(facts(&fast, "h9>tor0"), ("10Gbps".into(), "20us".into()));
}

/// Every pair of hosts of a tree with three cores: the path is connected, ends where it should, and has 2, 4 or 6 links
/// as the hosts share a ToR switch, an aggregation switch or neither. Flows use all cores.
#[test]
fn three_tier_paths() {
    let sets = [
        ("topology.cores", "3"),
        ("topology.racks", "4"),
        ("topology.servers_per_rack", "3"),
        ("traffic", "[{ pattern = \"random-pairs\", flows = 132 }]"),
    ];
    let mut spec = load("three-tier-incast", &sets);
    let pairs = (0..12).flat_map(|a| (0..12).map(move |b| (a, b))).filter(|(a, b)| a != b);
    spec.flows.iter_mut().zip(pairs).for_each(|(f, (a, b))| (f.src, f.dst) = (a, b));
    let fabric = Fabric::new(&spec);
    let mut cores = BTreeSet::new();
    for (i, f) in (0..).map(FlowId).zip(&spec.flows) {
        let tier = if f.src / 3 == f.dst / 3 {
            2
        } else if f.src / 6 == f.dst / 6 {
            4
        } else {
            6
        };
        let path = fabric.path(i, false);
        assert_eq!(path.len(), tier, "{} to {}", f.src, f.dst);
        let end = path.iter().fold(f.src, |at, l| {
            assert_eq!(spec.links[*l].from, at);
            spec.links[*l].to
        });
        assert_eq!(end, f.dst);
        cores.extend(path.iter().map(|l| spec.links[*l].to).filter(|n| spec.node_names[*n as usize].starts_with('c')));
    }
    assert_eq!(cores.len(), 3, "{cores:?}");
}

fn graph(text: &str, name: &str, extra: &str) -> Spec {
    let dir = std::env::temp_dir().join(format!("incast-graph-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let file = if text.starts_with("kind") { "g.csv" } else { "g.toml" };
    std::fs::write(dir.join(file), text).unwrap();
    let scenario = format!(
        "controller = \"newreno\"\n[run]\nduration = \"1ms\"\n[topology]\nkind = \"graph\"\nfile = \"{file}\"\n\
         {extra}\n\
         [queue]\nkind = \"drop-tail\"\nlimit = \"100p\"\n[[traffic]]\npattern = \"random-pairs\"\nflows = 500\n"
    );
    let spec = Scenario::from_toml(&scenario, &dir, "g").unwrap().build().unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
    spec
}

/// A diamond with a tail: two ways of two links between s and t, and none longer is taken.
#[test]
fn graph_routes_are_all_shortest_paths() {
    let spec = graph(
        "kind,name,peer,rate,delay\nhost,a\nhost,b\nhost,c\nswitch,s\nswitch,u\nswitch,v\nswitch,w\nswitch,t\n\
         link,a,s\nlink,b,t\nlink,c,s\nlink,s,u\nlink,s,v,10Gbps\nlink,u,t\nlink,v,t,,5us\nlink,s,w\nlink,w,u\n",
        "diamond",
        "link = { rate = \"1Gbps\", delay = \"1us\" }",
    );
    let fabric = Fabric::new(&spec);
    let mut seen = BTreeSet::new();
    for i in (0..spec.flows.len() as u32).map(FlowId) {
        seen.insert(route(&spec, &fabric.path(i, false)));
        seen.insert(route(&spec, &fabric.path(i, true)));
    }
    let expected = [
        "a>s s>c",
        "a>s s>u u>t t>b",
        "a>s s>v v>t t>b",
        "b>t t>u u>s s>a",
        "b>t t>u u>s s>c",
        "b>t t>v v>s s>a",
        "b>t t>v v>s s>c",
        "c>s s>a",
        "c>s s>u u>t t>b",
        "c>s s>v v>t t>b",
    ];
    assert_eq!(seen, expected.iter().map(|s| (*s).to_owned()).collect());
    let link = |name: &str| spec.links.iter().find(|l| l.name == name).unwrap();
    assert_eq!(
        (link("v>s").rate.to_string(), link("t>v").delay.to_string(), link("u>t").delay.to_string()),
        ("10Gbps".into(), "5us".into(), "1us".into())
    );
}

/// Packets hold the stamps of six ports.
#[test]
fn a_path_of_more_ports_than_packets_hold_stamps_of_is_refused() {
    let chain = |switches: u32| {
        let mut text = "kind,name,peer\nhost,a\nhost,b\n".to_owned();
        (0..switches).for_each(|s| text += &format!("switch,s{s}\n"));
        text += &format!("link,a,s0\nlink,b,s{}\n", switches - 1);
        (1..switches).for_each(|s| text += &format!("link,s{},s{s}\n", s - 1));
        let mut spec = graph(&text, &format!("chain{switches}"), "link = { rate = \"1Gbps\", delay = \"1us\" }");
        spec.controllers[0] = incast_cc::Config::new("hpcc").unwrap();
        incast_engine::run(&spec, &mut |_| true)
    };
    assert!(chain(5).is_ok());
    assert_eq!(
        chain(6).unwrap_err().to_string(),
        "flow 0: packets of hpcc hold telemetry of at most 6 ports, but its path crosses 7 ports"
    );
}

/// A fat tree written as a graph has the same shortest paths as the fat tree's arithmetic.
#[test]
fn a_fat_tree_as_a_graph() {
    let tree = load("random-pairs", &[("traffic.flows", "500"), ("topology.k", "4"), ("controller", "newreno")]);
    let mut text = String::from("kind,name,peer,rate,delay\n");
    for (i, n) in tree.node_names.iter().enumerate() {
        text += &format!("{},{n}\n", if i < 16 { "host" } else { "switch" });
    }
    for l in tree.links.iter().step_by(2) {
        text += &format!("link,{},1Gbps,10us\n", l.name.replace('>', ","));
    }
    let mut graph = graph(&text, "tree", "");
    graph.flows = tree.flows.clone();
    let (a, b) = (Fabric::new(&tree), Fabric::new(&graph));
    for i in (0..tree.flows.len() as u32).map(FlowId) {
        // The same hash of the same node picks the same of the same equal next hops.
        assert_eq!(route(&tree, &a.path(i, false)), route(&graph, &b.path(i, false)));
    }
}

#[test]
fn parallel_links_have_names_of_their_own() {
    let spec = graph(
        "kind,name,peer,rate,delay\nhost,a\nhost,b\nswitch,s\nswitch,t\nlink,a,s\nlink,s,t\nlink,s,t\nlink,t,b\n",
        "parallel",
        "link = { rate = \"1Gbps\", delay = \"1us\" }",
    );
    let names = links(&spec);
    assert!(names.contains("s>t") && names.contains("s>t#2"));
    let fabric = Fabric::new(&spec);
    let flows = (0..500).map(FlowId);
    let used: BTreeSet<String> = flows.map(|i| route(&spec, &fabric.path(i, spec.flows[i].src == 1))).collect();
    assert_eq!(used.len(), 2, "{used:?}");
}

#[test]
fn file_names_start_at_the_scenario() {
    let e = Scenario::from_toml(
        "controller = \"newreno\"\n[run]\nduration = \"1ms\"\n[topology]\nkind = \"graph\"\nfile = \"g.toml\"\n\
         [queue]\nkind = \"drop-tail\"\nlimit = \"1p\"\n[[traffic]]\npattern = \"random-pairs\"\nflows = 1\n",
        Path::new("some/where"),
        "x",
    );
    assert_eq!(
        e.unwrap().build().unwrap_err().to_string(),
        "topology.file = \"some/where/g.toml\": no such file; file names start from the folder of the scenario file"
    );
}

/// Round robin by counted whole paths distributes them as the divisors of a regular fabric do, if switches choose
/// among three.
#[test]
fn counted_paths_go_round_as_divisors_do() {
    let fabrics = [
        ("hotspot", "topology.k", "6", vec![(1, 1), (1, 3), (3, 1), (3, 3), (9, 1)]),
        ("leaf-spine", "topology.spines", "3", vec![(1, 1), (1, 3), (3, 1)]),
    ];
    for (name, key, value, choices) in fabrics {
        let spec = load(name, &[(key, value)]);
        let divisors = divisors(&spec);
        let paths = Paths::new(&spec, Time::ZERO);
        let mut met = BTreeSet::new();
        for flow in &spec.flows {
            let edge = spec.links.iter().find(|l| l.from == flow.src).unwrap().to;
            for index in 0..3 * u64::from(paths.count(NodeId(edge), NodeId(flow.dst))) {
                let mut at = edge;
                while at != flow.dst {
                    let switch = (at - spec.hosts) as usize;
                    let ports = hops(&spec.routers[switch], NodeId(flow.dst));
                    let choice = (index / u64::from(divisors[switch]) % u64::from(ports.len())) as u32;
                    let place = format!("{name}: {} of path {index}", spec.node_names[at as usize]);
                    assert_eq!(
                        paths.follow(&spec, NodeId(at), NodeId(flow.src), NodeId(flow.dst), index),
                        choice,
                        "{place}"
                    );
                    met.insert((divisors[switch], ports.len()));
                    at = spec.links.iter().filter(|l| l.from == at).nth(ports.get(choice) as usize).unwrap().to;
                }
            }
        }
        assert_eq!(met.into_iter().collect::<Vec<_>>(), choices, "{name}: divisors, and choices there");
    }
}

/// The buffers of SCCP's simulations, one per tier: exactly the ports named by the pattern.
#[test]
fn a_tier_has_a_queue_of_its_own() {
    let entry = |link: &str, limit: &str, mark: u32| {
        format!(
            "{{ link = \"{link}\", queue = {{ kind = \"ecn-threshold\", limit = \"{limit}\", mark = \"{mark}p\" }} }}"
        )
    };
    let links = [entry("tor*>h*", "128kB", 20), entry("agg*>tor*", "300kB", 65), entry("core*>agg*", "400kB", 65)];
    let links = format!("[{}, {{ link = \"h*>tor*\", delay = \"3us\" }}]", links.join(", "));
    let spec = load("three-tier-incast", &[("links", &links), ("links.0.queue.limit", "130kB")]);
    let queue = |name: &str| {
        let link = spec.links.iter().find(|l| l.name == name).unwrap();
        let queue = &spec.queues[link.queue as usize];
        let mark = match &queue.discipline {
            Discipline::EcnThreshold(threshold) => Some(threshold.mark),
            _ => None,
        };
        (queue.limit, mark)
    };
    let packets = |n| Some(Limit::Packets(n));
    for (link, limit, mark) in [
        ("tor0>h0", Limit::Bytes(130_000), packets(20)),
        ("tor9>h479", Limit::Bytes(130_000), packets(20)),
        ("agg1>tor9", Limit::Bytes(300_000), packets(65)),
        ("core0>agg1", Limit::Bytes(400_000), packets(65)),
        // as [queue] and [queue.host] have it
        ("tor0>agg0", Limit::Bytes(128_000), packets(20)),
        ("h0>tor0", Limit::Packets(1000), None),
    ] {
        assert_eq!(queue(link), (limit, mark), "{link}");
    }
    let count = |limit| spec.links.iter().filter(|l| spec.queues[l.queue as usize].limit == limit).count();
    assert_eq!(
        [count(Limit::Bytes(300_000)), count(Limit::Bytes(400_000)), count(Limit::Bytes(130_000))],
        [10, 2, 480]
    );
    // the pattern's other key holds for both directions, as that of a single link does
    let delays: BTreeSet<_> =
        spec.links.iter().filter(|l| l.from.min(l.to) < spec.hosts).map(|l| l.delay.to_string()).collect();
    assert_eq!(delays, BTreeSet::from(["3us".to_owned()]));
}

/// A port's own queue is the one that drops.
#[test]
fn the_queue_of_a_link_is_the_one_that_its_port_has() {
    let drops = |sets: &[(&str, &str)]| {
        let o = incast_engine::run(&load("incast", sets), &mut |_| true).unwrap();
        o.ports.iter().filter(|p| p.drops > 0).map(|p| p.name.to_string()).collect::<Vec<_>>()
    };
    let wide = ("queue", "{ kind = \"drop-tail\", limit = \"9000p\" }");
    assert_eq!(drops(&[wide]), Vec::<String>::new());
    let narrow = "[{ link = \"gateway>s*\", queue = { kind = \"drop-tail\", limit = \"30p\" } }]";
    assert_eq!(drops(&[wide, ("links", narrow)]), ["gateway>sink"]);
}

/// Names of a graph file match patterns too, the second of parallel links by a `*` at its end.
#[test]
fn patterns_name_links_of_a_graph_file() {
    let text = "kind,name,peer\nhost,a\nhost,b\nswitch,s\nswitch,t\nlink,a,s\nlink,s,t\nlink,s,t\nlink,t,b\n";
    let rates = |pattern: &str| {
        let extra = format!(
            "link = {{ rate = \"1Gbps\", delay = \"1us\" }}\n[[links]]\nlink = \"{pattern}\"\nback_rate = \"2Gbps\"\n"
        );
        let spec = graph(text, &pattern.replace(['*', '>'], "-"), &extra);
        let quicker = spec.links.iter().filter(|l| l.rate.to_string() == "2Gbps").map(|l| l.name.to_string());
        quicker.collect::<Vec<_>>()
    };
    assert_eq!(rates("s>t*"), ["t>s", "t>s#2"]);
    assert_eq!(rates("s>t"), ["t>s"]);
    assert_eq!(rates("*>b"), ["b>t"]);
    // where a pattern has both directions, forward is the file's
    assert_eq!(rates("*>*"), ["s>a", "t>s", "t>s#2", "b>t"]);
}

/// Each direction of a link loses by a probability of its own, in a tier, for a single link and in a graph file.
#[test]
fn the_directions_of_a_link_lose_apart() {
    let loss = |spec: &Spec, name: &str| spec.links.iter().find(|l| l.name == name).unwrap().loss.clone();
    let core = "{ error_rate = 0.5, back_error_rate = 0.0, error_unit = \"byte\" }";
    let spec = load("hotspot", &[("topology.core_link", core)]);
    assert_eq!([loss(&spec, "agg0>core0"), loss(&spec, "core0>agg0")], [Loss::Byte(0.5), Loss::None]);
    // forward is the direction named; what an entry does not name stays
    let links = "[{ link = \"core0>agg0\", back_error_rate = 0.25 }, { link = \"core0>agg2\", error_rate = 0.125 }, \
                 { link = \"core0>agg4\", rate = \"2Gbps\" }, \
                 { link = \"h0>edge0\", back_error_rate = 0.75, lose = [2] }]";
    let spec = load("hotspot", &[("topology.core_link", core), ("links", links)]);
    assert_eq!([loss(&spec, "agg0>core0"), loss(&spec, "core0>agg0")], [Loss::Byte(0.25), Loss::None]);
    assert_eq!([loss(&spec, "agg2>core0"), loss(&spec, "core0>agg2")], [Loss::Byte(0.5), Loss::Byte(0.125)]);
    assert_eq!([loss(&spec, "agg4>core0"), loss(&spec, "core0>agg4")], [Loss::Byte(0.5), Loss::None]);
    assert_eq!([loss(&spec, "h0>edge0"), loss(&spec, "edge0>h0")], [Loss::List(vec![2]), Loss::Packet(0.75)]);
    let spec = graph(
        "kind,name,peer,error_rate,back_error_rate\nhost,a\nhost,b\nswitch,s\nlink,a,s,0.5,0.25\nlink,s,b,,1\n",
        "directions",
        "link = { rate = \"1Gbps\", delay = \"1us\" }",
    );
    assert_eq!([loss(&spec, "a>s"), loss(&spec, "s>a")], [Loss::Packet(0.5), Loss::Packet(0.25)]);
    assert_eq!([loss(&spec, "s>b"), loss(&spec, "b>s")], [Loss::None, Loss::Packet(1.0)]);
}

/// Only ACKs of one sender take longer: data of all flows is as fast as before.
#[test]
fn a_back_delay_is_a_senders_own_return_delay() {
    let links = "[{ link = \"s1>left\", back_delay = \"60us\" }]";
    let flows = |sets: &[(&str, &str)]| {
        let size = ("traffic", "[{ pattern = \"pairs\", app = { kind = \"bulk\", size = \"1kB\" } }]");
        let o = incast_engine::run(&load("dumbbell", &[&[size], sets].concat()), &mut |_| true).unwrap();
        o.flows.iter().map(|f| (f.delay_max_ps, f.rtt_min_ps.unwrap())).collect::<Vec<_>>()
    };
    let (before, after) = (flows(&[]), flows(&[("links", links)]));
    assert_eq!(before[0], after[0]);
    assert_eq!(before[1].0, after[1].0);
    // the link has 10 us otherwise
    assert_eq!(before[1].1 + 50_000_000, after[1].1);
}

#[test]
fn ports_are_known_before_a_network_is_built() {
    let mut counted = 0;
    for name in incast_scenario::builtin::names() {
        let scenario = Scenario::load(name).unwrap();
        let ports = scenario.document().unwrap().topology.ports();
        assert!(ports.is_none_or(|n| n == scenario.build().unwrap().links.len() as u64), "{name}: {ports:?}");
        counted += u32::from(ports.is_some());
    }
    assert!(counted > 20, "{counted}");
}

#[test]
fn a_run_that_takes_too_much_memory_is_known_by_its_ports_and_then_by_its_flows() {
    let mut scenario = Scenario::load("permutation").unwrap();
    scenario.set("topology.k", "8").unwrap();
    let (ports, flows) = (6 * 8 * 4 * 4, 128);
    let whole = scenario.memory(u64::MAX).unwrap();
    assert!(whole > memory_of(ports, flows));
    assert_eq!(scenario.memory(whole), Ok(whole));
    let least = memory_of(ports, flows);
    assert_eq!(scenario.memory(least - 1), Ok(least), "by the flows of its entry");
    let mut classes = scenario.clone();
    let queue = "{kind = \"drop-tail\", limit = \"1MB\"}";
    classes.set("queue", &format!("{{kind = \"strict-priority\", classes = [{queue}, {queue}]}}")).unwrap();
    assert_eq!(classes.memory(u64::MAX), Ok(whole + 2 * 600 * ports), "each port of them has two queues");
    // packets outstanding: what the queue may hold counts where the controller fills it
    let with = |sets: &[(&str, &str)]| {
        let mut other = scenario.clone();
        sets.iter().for_each(|(key, value)| other.set(key, value).unwrap());
        other.memory(u64::MAX).unwrap()
    };
    assert_eq!(with(&[("queue.limit", "1MB")]), whole, "Swift keeps it short");
    let loss = ("controller.kind", "\"newreno\"");
    assert_eq!(with(&[loss]) - whole, flows * 100 * 190);
    assert_eq!(with(&[loss, ("queue.limit", "\"1MB\"")]) - whole, flows * 250 * 190);
    assert_eq!(with(&[loss, ("queue.limit", "1GB")]), with(&[loss, ("queue.limit", "2MB")]), "no more than is sent");
    // eight times the 160 us that links need: 1,563 frames, at all ports and flows
    assert_eq!(with(&[("measure.timeline", "auto")]) - whole, 8 * 1563 * (ports + flows));
    // what is wrong with the flows would be found where they are made
    scenario.set("traffic.flows", "3000000000").unwrap();
    assert_eq!(scenario.memory(1000), Ok(memory_of(ports, 0)), "by its ports, before any flow");
    assert!(scenario.memory(u64::MAX).unwrap_err().to_string().contains("expected at most 4000000 flows"));
}

#[test]
fn frames_of_a_timeline_begin_as_long_as_the_shortest_run_needs_them() {
    let every = |sets: &[(&str, &str)]| {
        let mut scenario = Scenario::load("permutation").unwrap();
        scenario.set("topology.k", "4").unwrap();
        scenario.set("traffic.app.size", "100MB").unwrap();
        scenario.set("run.duration", "1s").unwrap();
        sets.iter().for_each(|(key, value)| scenario.set(key, value).unwrap());
        scenario.build().unwrap().observe.timeline.unwrap().every
    };
    let auto = ("measure.timeline", "auto");
    // 100 MB take 8 ms at a host, where one path is for one flow, and 2,000 frames 6.4 us
    let spread = ("routing.kind", "spray");
    assert_eq!(every(&[auto, spread]), Time::ns(100 * 64));
    let once = every(&[auto]);
    assert!(once > Time::ns(100 * 64), "{once}: some paths meet");
    assert_eq!(every(&[auto, ("traffic.app", "{kind = \"bulk\"}")]), Time::ns(100 * 8192), "no flow ends");
    assert_eq!(every(&[("measure.timeline", "\"1ms\"")]), Time::ms(1));
    assert_eq!(every(&[auto, ("run.duration", "100us")]), Time::ns(50), "never longer");
}

#[test]
fn more_hosts_than_any_network_may_have_are_told_of_first() {
    let mut scenario = Scenario::load("permutation").unwrap();
    scenario.set("topology.k", "4000000000").unwrap();
    let shown = scenario.memory(1000).unwrap_err().to_string();
    assert!(shown.contains("expected at most 1048576 in all"), "{shown}");
}
