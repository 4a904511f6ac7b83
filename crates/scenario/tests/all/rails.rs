//! Fabrics of rails: wiring, planes, servers, and ranks of jobs on them.

use incast_cc::Rate;
use incast_engine::FlowId;
use incast_engine::map::ideal::Fabric;
use incast_engine::spec::{PlaneRule, Spec};
use incast_scenario::Scenario;
use std::collections::BTreeMap;
use std::path::Path;

const RAILS: &str = "kind = \"rail-optimised\"\nservers = 4\ngpus = 2\nservers_per_segment = 2\nspines = 3";
const LEAVES: &str = "kind = \"leaf-spine\"\nleaves = 2\nspines = 1\nhosts_per_leaf = 2";
const ONLY: &str = "kind = \"rail-only\"\nservers = 3\ngpus = 2";

/// A job on `topology`, with these keys.
fn job(topology: &str, keys: &str) -> Result<Spec, String> {
    scenario(topology, keys).and_then(|own| own.build().map_err(|e| e.to_string()))
}

fn scenario(topology: &str, keys: &str) -> Result<Scenario, String> {
    let text = format!(
        "controller = \"dctcp\"\n[run]\nduration = \"1ms\"\n[topology]\n{topology}\n\
         link = {{ rate = \"100Gbps\", delay = \"1us\" }}\n[queue]\nkind = \"drop-tail\"\nlimit = \"10MB\"\n\
         [[job]]\n{keys}\n"
    );
    Scenario::from_toml(&text, Path::new("."), "rails").map_err(|e| e.to_string())
}

const SHIFT: &str = "collective = { kind = \"all-to-all\", size = \"1MB\" }";
const SCALE_UP: &str = "scale_up = { rate = \"1Tbps\", delay = \"1us\" }";

/// Links of the paths from the first rank, by the names of both hosts.
fn hops(spec: &Spec) -> BTreeMap<String, usize> {
    let fabric = Fabric::new(spec);
    let flows = (0..).map(FlowId).zip(&spec.flows).filter(|(_, flow)| flow.src == 0);
    flows.map(|(i, flow)| (spec.node_names[flow.dst as usize].clone(), fabric.path(i, false).len())).collect()
}

fn named(spec: &Spec) -> Vec<&str> {
    spec.jobs[0].hosts.iter().map(|host| spec.node_names[*host as usize].as_str()).collect()
}

#[test]
fn a_rail_is_two_links_and_another_rail_or_segment_four() {
    let spec = job(RAILS, SHIFT).unwrap();
    let expected = [
        ("server0gpu1", 4),
        ("server1gpu0", 2),
        ("server1gpu1", 4),
        ("server2gpu0", 4),
        ("server2gpu1", 4),
        ("server3gpu0", 4),
        ("server3gpu1", 4),
    ];
    assert_eq!(hops(&spec), expected.map(|(name, links)| (name.to_owned(), links)).into());
    let has = |name: &str| spec.links.iter().any(|link| link.name == name);
    assert!(has("server3gpu1>leaf3") && has("server0gpu1>leaf1") && has("leaf2>spine2") && !has("server0gpu1>leaf0"));
    assert_eq!((spec.hosts, spec.routers.len(), spec.links.len()), (8, 4 + 3, 2 * (8 + 12)));
}

#[test]
fn rails_alone_refuse_messages_to_another_rail() {
    assert_eq!(
        job(ONLY, SHIFT).unwrap_err(),
        "job.job: rank 0 (server0gpu0) sends to rank 1 (server0gpu1), and no path joins the two; expected \
         ranks of one rail, of one server with scale_up, or pxn = true"
    );
    let error = job(ONLY, &format!("{SHIFT}\n{SCALE_UP}")).unwrap_err();
    assert!(error.contains("rank 0 (server0gpu0) sends to rank 3 (server1gpu1)"), "{error}");
    let ring = "collective = { kind = \"all-reduce\", size = \"1MB\", algorithm = \"hierarchical\", server = 2 }";
    let spec = job(ONLY, &format!("{ring}\n{SCALE_UP}")).unwrap();
    assert!(hops(&spec).values().all(|links| *links == 2), "{:?}", hops(&spec));
    assert_eq!((spec.routers.len(), spec.links.len()), (2, 2 * 6));
}

#[test]
fn planes_are_copies_that_share_the_rate_of_a_nic() {
    let spec = job(&format!("{RAILS}\nplanes = 2\nspine_link = {{ rate = \"400Gbps\" }}"), SHIFT).unwrap();
    let rate = |name: &str| spec.links.iter().find(|link| link.name == name).map(|link| link.rate);
    assert_eq!(rate("p0server0gpu1>p0leaf1"), Some(Rate::gbps(50)));
    assert_eq!(rate("p1leaf1>p1server0gpu1"), Some(Rate::gbps(50)));
    assert_eq!(rate("p1leaf3>p1spine2"), Some(Rate::gbps(400)));
    assert_eq!((spec.hosts, spec.routers.len(), spec.links.len()), (16, 2 * 7, 4 * (8 + 12)));
    assert!(named(&spec).iter().all(|name| name.starts_with("p0")));
    // a server is one domain, in all planes
    let of = |name: &str| spec.domain_of[spec.node_names.iter().position(|node| node == name).unwrap()];
    assert_eq!((of("p0server3gpu0"), of("p0server3gpu1")), (of("p1server3gpu1"), of("p1server3gpu0")));
    assert_ne!(of("p0leaf0"), of("p1leaf0"));
}

/// Counts of SimAI's templates (aliyun/SimAI, gen_Topo_Template.py): Spectrum-X, and AlibabaHPN with two planes. The
/// links inside servers are not part of the network here.
#[test]
fn templates_have_their_switches_and_cables() {
    let count = |text: &str| {
        let pair = "collective = { kind = \"all-reduce\", size = \"1MB\", ranks = 2 }";
        let spec = job(&format!("kind = \"rail-optimised\"\ngpus = 8\n{text}"), pair).unwrap();
        let of = |kind: &str| spec.node_names.iter().filter(|name| name.contains(kind)).count();
        (spec.hosts, of("leaf"), of("spine"), spec.links.len() / 2)
    };
    let spectrum_x = count("servers = 512\nservers_per_segment = 64\nspines = 64");
    assert_eq!(spectrum_x, (4096, 64, 64, 64 * 64 + 4096));
    let hpn = count("servers = 1920\nservers_per_segment = 128\nspines = 60\nplanes = 2");
    assert_eq!(hpn, (2 * 15_360, 240, 120, 60 * 240 + 1920 * 16));
}

#[test]
fn placements_know_servers_and_leaves() {
    let on = |placement: &str| {
        let keys =
            format!("collective = {{ kind = \"all-reduce\", size = \"1MB\", ranks = 4 }}\nplacement = \"{placement}\"");
        let spec = job(RAILS, &keys).unwrap();
        named(&spec).iter().map(|name| name.replace("server", "").replace("gpu", ".")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(on("packed"), "0.0 0.1 1.0 1.1");
    assert_eq!(on("by-server"), "0.0 1.0 2.0 3.0");
    assert_eq!(on("by-rack"), "0.0 0.1 2.0 2.1");
    assert_eq!(on("strided"), "0.0 1.0 2.0 3.0");
    let drawn = on("random-servers");
    let servers: Vec<&str> = drawn.split(' ').map(|own| &own[..1]).collect();
    assert!(servers[0] == servers[1] && servers[2] == servers[3] && servers[0] != servers[2], "{drawn}");
    let refused = job(LEAVES, &format!("{SHIFT}\nplacement = \"by-server\""));
    assert!(refused.unwrap_err().contains("the topology has no servers"));
}

#[test]
fn servers_of_the_topology_are_those_of_scale_up() {
    let ring = "collective = { kind = \"all-reduce\", size = \"1MB\" }";
    let spec = job(RAILS, &format!("{ring}\n{SCALE_UP}\nplacement = \"by-server\"")).unwrap();
    assert_eq!(spec.jobs[0].scale_up.as_ref().unwrap().servers, [0, 1, 2, 3, 0, 1, 2, 3]);
    let spec = job(RAILS, &format!("{ring}\n{SCALE_UP}")).unwrap();
    // every second step of the ring is inside a server
    assert_eq!((spec.jobs[0].scale_up.as_ref().unwrap().servers[7], spec.flows.len()), (3, 4));
    let wrong = SCALE_UP.replace("{ rate", "{ gpus = 4, rate");
    let error = job(RAILS, &format!("{ring}\n{wrong}")).unwrap_err();
    assert!(error.contains("scale_up.gpus = 4: a server of the topology has 2 ranks"), "{error}");
    let error = job(LEAVES, &format!("{ring}\n{SCALE_UP}"));
    assert!(error.unwrap_err().contains("scale_up.gpus: missing"));
}

#[test]
fn ranks_of_a_host_share_its_link() {
    let ring = "collective = { kind = \"all-reduce\", size = \"1MB\" }\nranks_per_host = 2";
    let error = job(LEAVES, ring).unwrap_err();
    assert!(error.contains("rank 0 sends to rank 1 on the same host, h0; expected scale_up"), "{error}");
    let spec = job(LEAVES, &format!("{ring}\n{SCALE_UP}")).unwrap();
    assert_eq!(named(&spec), ["h0", "h0", "h1", "h1", "h2", "h2", "h3", "h3"]);
    let ends: Vec<(u32, u32)> = spec.flows.iter().map(|flow| (flow.src, flow.dst)).collect();
    assert_eq!(ends, [(0, 1), (1, 2), (2, 3), (3, 0)]);
    let wrong = SCALE_UP.replace("{ rate", "{ gpus = 3, rate");
    let error = job(LEAVES, &format!("{ring}\n{wrong}")).unwrap_err();
    assert!(error.contains("scale_up.gpus = 3: expected a multiple of ranks_per_host, 2"), "{error}");
}

#[test]
fn fabrics_that_do_not_fit_are_refused() {
    let large = "kind = \"rail-optimised\"\nservers = 200000\ngpus = 8\nspines = 2";
    assert!(job(large, SHIFT).unwrap_err().contains("makes 1600000 hosts; expected at most 1048576"));
    let many = "kind = \"rail-optimised\"\nservers = 16000\ngpus = 8\nservers_per_segment = 1\nspines = 2";
    assert!(job(many, SHIFT).unwrap_err().contains("makes 128002 switches"));
}

#[test]
fn messages_go_by_the_gpu_on_the_rail_of_their_receiver() {
    let keys = format!("{SHIFT}\n{SCALE_UP}\npxn = true");
    let spec = job(ONLY, &keys).unwrap();
    assert!(spec.flows.iter().all(|flow| flow.src % 2 == flow.dst % 2));
    // a pair of hosts of a rail: each of two rails joins three servers, both ways
    assert_eq!(spec.flows.len(), 2 * 3 * 2);
    assert!(job(ONLY, &format!("{SHIFT}\npxn = true")).unwrap_err().contains("pxn = true: expected with scale_up"));
    let error = job(LEAVES, &keys.replace("{ rate", "{ gpus = 2, rate")).unwrap_err();
    assert!(error.contains("pxn = true: the topology has no servers"), "{error}");
}

/// Bytes at ports of leaves to spines, and the time of the job, of a run.
fn run(keys: &str) -> (u64, u64) {
    let single = "kind = \"rail-optimised\"\nservers = 3\ngpus = 2\nspines = 2";
    let mut spec = job(single, keys).unwrap();
    spec.ends_when_finished = true;
    spec.duration = incast_cc::Time::ms(100);
    spec.measure_to = spec.duration;
    let outcome = incast_engine::run(&spec, &mut |_| true).unwrap();
    assert!(outcome.ranks.iter().all(|rank| rank.left == 0), "{:?}", outcome.ranks);
    let up = |name: &str| name.starts_with("leaf") && name.contains(">spine");
    let ports = spec.links.iter().zip(&outcome.ports).filter(|(link, _)| up(&link.name));
    let end = outcome.ranks.iter().filter_map(|rank| rank.finish_ps).max().unwrap();
    (ports.map(|(_, port)| port.packets).sum(), end)
}

#[test]
fn no_message_crosses_a_spine_with_pxn() {
    let direct = run(&format!("{SHIFT}\n{SCALE_UP}"));
    let forwarded = run(&format!("{SHIFT}\n{SCALE_UP}\npxn = true"));
    assert!(direct.0 > 0);
    assert_eq!(forwarded.0, 0);
}

#[test]
fn a_job_has_all_planes_of_its_gpus() {
    let two = format!("{RAILS}\nplanes = 2");
    let ring = "collective = { kind = \"all-reduce\", size = \"1MB\", ranks = 4 }";
    let spec = job(&two, ring).unwrap();
    let planes = spec.jobs[0].planes.as_ref().unwrap();
    assert_eq!((planes.hosts.as_slice(), planes.rule), (&[vec![8, 9, 10, 11]][..], PlaneRule::ByMessage));
    let ends: Vec<(u32, u32)> = spec.flows.iter().map(|flow| (flow.src, flow.dst)).collect();
    assert_eq!(ends[..4], [(0, 1), (8, 9), (1, 2), (9, 10)]);
    let split = job(&two, &format!("{ring}\nplanes = \"split\"")).unwrap();
    assert_eq!(split.jobs[0].planes.as_ref().unwrap().rule, PlaneRule::Split);
    let error = job(&two, &format!("{ring}\nconnections = \"message\"")).unwrap_err();
    assert!(error.contains("job.connections = \"message\": the topology has 2 planes"), "{error}");
    // a switch of one plane fails in the middle of the job
    for rule in ["by-message", "split"] {
        let failure = "[[failures]]\nnode = \"p0leaf0\"\nat = \"40us\"\ndetection = \"5us\"";
        let mut spec = job(&two, &format!("{ring}\nplanes = \"{rule}\"\n{failure}")).unwrap();
        spec.ends_when_finished = true;
        (spec.duration, spec.measure_to) = (incast_cc::Time::ms(100), incast_cc::Time::ms(100));
        let outcome = incast_engine::run(&spec, &mut |_| true).unwrap();
        assert!(outcome.ranks.iter().all(|rank| rank.left == 0), "{rule}: {:?}", outcome.ranks);
    }
}

/// Links that fail, by the names of both directions, with this failure in the rails of two planes.
fn failing(failure: &str) -> Result<Vec<String>, String> {
    let keys = "collective = { kind = \"all-reduce\", size = \"1MB\" }";
    let failures = format!("[[failures]]\n{failure}\nat = \"100us\"\ndetection = \"10us\"\n");
    let spec = job(&format!("{RAILS}\nplanes = 2"), &format!("{keys}\n{failures}"))?;
    Ok(spec.failures.iter().map(|own| spec.links[own.link as usize].name.to_string()).collect())
}

#[test]
fn nodes_and_nics_fail_with_all_their_links() {
    let nic = failing("nic = \"server1gpu0\"").unwrap();
    let both = ["p0server1gpu0>p0leaf0", "p0leaf0>p0server1gpu0", "p1server1gpu0>p1leaf0", "p1leaf0>p1server1gpu0"];
    assert_eq!(nic, both);
    assert_eq!(failing("nic = \"p1server1gpu0\"").unwrap(), both[2..]);
    // two hosts and three spines, both ways
    let leaf = failing("node = \"p1leaf3\"").unwrap();
    assert_eq!(leaf.len(), 2 * (2 + 3));
    assert!(leaf.iter().all(|name| name.split('>').any(|end| end == "p1leaf3")), "{leaf:?}");
    assert_eq!(failing("node = \"leaf3\"").unwrap().len(), 2 * leaf.len());
    let server = failing("node = \"server2\"").unwrap();
    assert_eq!(server.len(), 2 * 2 * 2);
    assert!(server.iter().all(|name| name.contains("server2gpu")), "{server:?}");
    let refused = |failure: &str, part: &str| {
        let error = failing(failure).unwrap_err();
        assert!(error.contains(part), "{error}");
    };
    refused("nic = \"leaf0\"", "failures.0.nic = \"leaf0\": no such host; expected a name such as \"p0server0gpu0\"");
    refused("node = \"server4\"", "failures.0.node = \"server4\": no such node with links");
    refused("node = \"leaf0\"\nnic = \"server0gpu0\"", "expected none beside nic: an entry is about one of them");
    refused("node = \"leaf0\"\nshare = 0.5", "failures.0.share = 0.5: expected with between only");
}

#[test]
fn keys_of_a_job_that_change_nothing_are_noted() {
    let ring = "send_done = \"written\"\ncollective = { kind = \"all-reduce\", size = \"1MB\" }";
    let notes = |keys: &str| scenario(LEAVES, &format!("{ring}\n{keys}")).unwrap().notes().unwrap();
    assert_eq!(notes("by.all-reduce = { controller = \"swift\" }"), [""; 0]);
    assert_eq!(
        notes("by.all-to-all = { controller = \"swift\" }\nby.send = { transport = { mss = 500 } }"),
        [
            "job.job.by.send does nothing: all messages of the job belong to collectives",
            "job.job.by.all-to-all does nothing: the job has no all-to-all",
        ]
    );
    assert_eq!(
        notes("by.all-reduce = { class = 1 }"),
        ["job.job.by.all-reduce.class = 1 does nothing: ports have one queue for all classes \
             (docs/queues/strict-priority.md)"]
    );
    let slow = "slow = [{ ranks = [1], calc = 2.0 }]";
    assert_eq!(notes(slow), ["job.job.slow does nothing: the job has no calculations"]);
    let reduced = ring.replace("\"1MB\"", "\"1MB\", reduce = \"100Gbps\"");
    assert_eq!(scenario(LEAVES, &format!("{reduced}\n{slow}")).unwrap().notes().unwrap(), [""; 0]);
    assert_eq!(notes("planes = \"split\""), ["job.job.planes = \"split\" does nothing: the topology has one plane"]);
    let hosts = "hosts = [0, 1, 2, 3]";
    assert_eq!(
        notes(&format!("{hosts}\n[[job]]\nname = \"b\"\n{ring}\nhosts = [2, 3]")),
        ["job.b.hosts: an earlier job has 2 of these hosts too; both use the hosts' links, and their calculations do \
          not slow each other"]
    );
}
