//! Files: formats told apart, names of execution traces, files that cannot be read.

use crate::support::{codes, graph, lines, to_binary};
use incast_workload::files::{Format, Options, format_of, parts, read};
use incast_workload::{Code, Graph, Report, simai};
use std::path::{Path, PathBuf};

/// A fresh folder of this test.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("incast-workload-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn found(path: &Path, options: Options) -> (Option<Graph>, Report) {
    let mut report = Report::default();
    (read(path, &options, &mut report), report)
}

const JOB: &str = "num_ranks 1\nrank 0 {\ncalc 5\n}\n";

#[test]
fn formats_are_told_apart_by_what_files_begin_with() {
    let folder = folder("formats");
    let text = folder.join("job");
    std::fs::write(&text, JOB).unwrap();
    let binary = folder.join("other");
    std::fs::write(&binary, to_binary(&graph(JOB))).unwrap();
    let rows = folder.join("rows.txt");
    std::fs::write(&rows, "MICRO all_gpus: 1\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n").unwrap();
    for (path, ranks) in [(&text, 1), (&binary, 1), (&rows, 1)] {
        let (graph, report) = found(path, Options::default());
        assert_eq!((codes(&report), graph.map(|g| g.ranks())), (vec![], Some(ranks)), "{path:?}");
    }
    let forced = Options { format: Some(Format::Bin), ..Options::default() };
    assert_eq!(codes(&found(&text, forced).1), [Code::E00]);
    let four = simai::Options { gpus: Some(4), as_simai: false };
    let ranks = |path| found(path, Options { simai: four, ..Options::default() }).0.unwrap().ranks();
    assert_eq!(ranks(&rows), 1, "the file has a number");
    std::fs::write(&rows, "MICRO ep: 1\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n").unwrap();
    assert_eq!(ranks(&rows), 4);
    assert!(Format::ALL.iter().all(|format| Format::named(format.name()) == Some(*format)));
}

#[test]
fn execution_traces_are_found_by_prefix_or_by_one_of_them() {
    let folder = folder("traces");
    for rank in 0..3 {
        std::fs::write(folder.join(format!("trace.{rank}.et")), [0]).unwrap();
    }
    std::fs::write(folder.join("comm_group.json"), "{\"1\": [0, 1]}").unwrap();
    for name in ["trace", "trace.1.et", "."] {
        let (graph, report) = found(&folder.join(name), Options::default());
        assert_eq!((codes(&report), graph.map(|g| g.ranks())), (vec![], Some(3)), "{name}");
    }
    let names = |name: &str| parts(&folder.join(name)).len();
    assert_eq!((names("trace"), names("."), names("none")), (4, 4, 0));
    assert_eq!(format_of(&folder.join("trace")).unwrap(), Format::Chakra);
    std::fs::write(folder.join("other.0.et"), [0]).unwrap();
    assert!(lines(&found(&folder, Options::default()).1).contains("no plain file"), "two sets of traces in a folder");
    std::fs::remove_file(folder.join("other.0.et")).unwrap();
    std::fs::write(folder.join("comm_group.json"), "?").unwrap();
    assert_eq!(codes(&found(&folder.join("trace"), Options::default()).1), [Code::E00]);
    let missing = found(&folder.join("none.0.et"), Options::default()).1;
    assert!(lines(&missing).starts_with("E00 job: none.0.et: no file of rank 0; "), "{}", lines(&missing));
}

#[test]
fn what_is_no_plain_file_is_refused() {
    let folder = folder("refused");
    let missing = found(&folder.join("none.goal"), Options::default());
    assert!(missing.0.is_none() && lines(&missing.1).starts_with("E00 job: none.goal: "), "{}", lines(&missing.1));
    let (graph, report) = found(&folder, Options::default());
    assert!(graph.is_none() && lines(&report).contains("no plain file"), "{}", lines(&report));
}
