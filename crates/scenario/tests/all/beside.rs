//! Files of scenarios that are in memory: as in the page, which reads no disk.

use incast_scenario::{Beside, Scenario};
use std::collections::BTreeMap;
use std::path::Path;

const TEXT: &str = r#"
controller = "dctcp"
[run]
duration = "1ms"
[topology]
kind = "graph"
file = "net.toml"
[queue]
kind = "drop-tail"
limit = "100p"
[[traffic]]
name = "listed"
pattern = "file"
file = "flows/listed.csv"
[[traffic]]
name = "drawn"
pattern = "poisson"
arrivals = { load = 0.1, sizes = "websearch" }
[[job]]
name = "job"
workload = "ring.goal"
"#;

const NETWORK: &str = r#"
hosts = ["h0", "h1", "h2", "h3"]
switches = ["s0"]
links = [
    { a = "h0", b = "s0", rate = "1Gbps", delay = "1us" },
    { a = "h1", b = "s0", rate = "1Gbps", delay = "1us" },
    { a = "h2", b = "s0", rate = "1Gbps", delay = "1us" },
    { a = "h3", b = "s0", rate = "1Gbps", delay = "1us" },
]
"#;

const FILES: [(&str, &str); 4] = [
    ("net.toml", NETWORK),
    ("flows/listed.csv", "start,source,destination,size\n0s,h0,h1,1kB\n"),
    ("ring.goal", "num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n"),
    // a table of the program has this name too
    ("websearch", "size,cumulative\n1000,0\n2000,1\n"),
];

fn texts(files: &[(&str, &str)]) -> Beside {
    Beside::Texts(files.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect::<BTreeMap<_, _>>())
}

fn wrong(text: &str, files: &[(&str, &str)]) -> String {
    let built = Scenario::from_toml(text, texts(files), "kept").and_then(|scenario| scenario.build());
    built.unwrap_err().to_string()
}

#[test]
fn a_scenario_is_the_same_with_files_in_memory_and_in_a_folder() {
    let dir = std::env::temp_dir().join(format!("incast-beside-{}", std::process::id()));
    std::fs::create_dir_all(dir.join("flows")).unwrap();
    FILES.iter().for_each(|(name, text)| std::fs::write(dir.join(name), text).unwrap());
    let kept = Scenario::from_toml(TEXT, texts(&FILES), "kept").unwrap();
    let read = Scenario::from_toml(TEXT, &dir, "kept").unwrap();
    assert_eq!(kept.hash().unwrap(), read.hash().unwrap());
    assert_eq!(kept.resolved_toml().unwrap(), read.resolved_toml().unwrap());
    let names = |scenario: &Scenario| scenario.files().unwrap().into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(names(&kept), ["flows/listed.csv", "net.toml", "ring.goal", "websearch"]);
    assert_eq!(names(&kept), names(&read));
    assert_eq!(format!("{:?}", kept.build().unwrap().flows), format!("{:?}", read.build().unwrap().flows));
    std::fs::remove_dir_all(&dir).unwrap();
    let other = Scenario::from_toml(TEXT, texts(&FILES[..3]), "kept").unwrap();
    assert_ne!(other.hash().unwrap(), kept.hash().unwrap(), "the table of the program is another");
}

#[test]
fn a_file_that_is_not_there_is_named_with_the_nearest_that_is() {
    let network = wrong(TEXT, &[("nett.toml", NETWORK), FILES[1], FILES[2]]);
    let lacking =
        "topology.file = \"net.toml\": no file of this name came with the scenario (did you mean \"nett.toml\"?)";
    assert_eq!(network, lacking);
    let job = wrong(TEXT, &[FILES[0], FILES[1]]);
    assert!(job.contains("job.job.workload = \"ring.goal\": no file of this name came with the scenario"), "{job}");
    let sizes = wrong(&TEXT.replace("\"websearch\"", "\"mime.csv\""), &[FILES[0], ("mine.csv", ""), FILES[2]]);
    assert!(sizes.contains("(did you mean \"mine.csv\"?); tables of the program are"), "{sizes}");
    let tables = wrong(&TEXT.replace("\"websearch\"", "\"websaerch\""), &FILES);
    assert!(tables.contains("(did you mean \"websearch\"?)"), "{tables}");
}

#[test]
fn jobs_are_read_as_from_a_folder() {
    let dir = std::env::temp_dir().join(format!("incast-beside-jobs-{}", std::process::id()));
    std::fs::create_dir_all(dir.join("flows")).unwrap();
    let marked = format!("\u{feff}{}", FILES[2].1);
    let files = [FILES[0], FILES[1], ("ring.goal", marked.as_str()), FILES[3]];
    files.iter().for_each(|(name, text)| std::fs::write(dir.join(name), text).unwrap());
    let read = Scenario::from_toml(TEXT, &dir, "kept").unwrap();
    let kept = Scenario::from_toml(TEXT, texts(&files), "kept").unwrap();
    assert_eq!(kept.hash().unwrap(), read.hash().unwrap());
    assert_eq!(kept.build().unwrap_err(), read.build().unwrap_err());
    std::fs::remove_dir_all(&dir).unwrap();
    let traces = wrong(&TEXT.replace("ring.goal", "ring.0.et"), &[FILES[0], FILES[1], ("ring.0.et", FILES[2].1)]);
    assert!(traces.contains("execution traces are read from a folder"), "{traces}");
}

#[test]
fn nothing_is_read_from_a_disk_beside_texts() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let outside = wrong(&TEXT.replace("net.toml", here.to_str().unwrap()), &FILES);
    assert!(outside.contains("no file of this name came with the scenario"), "{outside}");
    let binary = wrong(TEXT, &[("net.toml", "a\0b"), FILES[1], FILES[2]]);
    assert!(binary.contains("not a text file: it has bytes that are 0"), "{binary}");
}
