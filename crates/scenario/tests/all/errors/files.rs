//! Errors in files that a scenario names.

use super::*;

#[test]
fn files_that_are_not_there() {
    let unknown =
        message("pattern = \"hotspot\"\nflows = 10", "pattern = \"file\"\nfile = \"builtin:htsim-permutation-swft\"");
    assert_eq!(
        unknown,
        "traffic.load.file = \"builtin:htsim-permutation-swft\": no file of this name comes with the program (did \
         you mean \"htsim-permutation-swift\"?); expected builtin: and one of ns3-random-hotspot, ns3-random-pairs, \
         pfc-incast-victim, htsim-permutation-swift, htsim-permutation-dctcp"
    );
    let unknown = Scenario::load("hotspto").unwrap_err().to_string();
    assert!(
        unknown.starts_with(
            "hotspto: no file and no built-in scenario of this name (did you mean \"hotspot\"?); built in"
        ),
        "{unknown}"
    );
    assert!(unknown.ends_with(" and 29 more (incast list scenarios names all)"), "{unknown}");
    assert_eq!(Scenario::load("nowhere/x.toml").unwrap_err().to_string(), "nowhere/x.toml: no such file");
    said(message("pattern = \"hotspot\"\nflows = 10", "pattern = \"file\""), "traffic.load.file: missing");
    said(
        message("pattern = \"hotspot\"\nflows = 10", "pattern = \"file\"\nfile = \"no.csv\""),
        "traffic.load.file = \"./no.csv\": no such",
    );
}

#[test]
fn toml_that_is_not_toml() {
    let e = Scenario::from_toml("[run\nduration = 1", Path::new("."), "broken.toml").unwrap_err().to_string();
    assert!(e.starts_with("broken.toml: TOML parse error at line 1, column 5"), "{e}");
}

#[test]
fn bad_lines_of_a_flow_file() {
    let csv = "start,source,destination,size,controller,path\n\
               0s,h0,h1,2MB,,\n\
               1,h0,h1,2MB,,\n\
               0s,h0,h16,2MB,,\n\
               0s,h2,2,2MB,,\n\
               0s,h0,h1,2Mb,,\n\
               0s,h0,h1,2MB,sift,\n\
               0s,h0,h4,2MB,,edge0 agg0 edge2\n\
               0s,h0,h2,2MB,,edge0 agg9 edge1\n\
               0s,,h2,2MB,,\n";
    let expected = format!(
        "flows.csv, line 3, column start = 1: {TIME}\n\
         flows.csv, line 4, column destination = h16: expected a host: h0 to h15, or a number from 0 to 15\n\
         flows.csv, line 5, column destination = 2: expected another host than the source, h2\n\
         flows.csv, line 6, column size = 2Mb: expected a size above 0, in bytes or with a unit, such as 2000000 or \
         \"2MB\"\n\
         flows.csv, line 7, column controller = sift: {}\n\
         flows.csv, line 8, column path = edge0 agg0 edge2: no link goes from agg0 to edge2\n\
         flows.csv, line 9, column path = edge0 agg9 edge1: no node is called agg9; expected names of switches from \
         source to destination (did you mean \"agg0\"?)\n\
         flows.csv, line 10, column source: empty; expected a host's name or number",
        no_controller(" (did you mean \"swift\"?)")
    );
    assert_eq!(flows("bad-lines", csv).unwrap_err().to_string(), expected);
    assert_eq!(
        flows("bad-header", "start,source,dest\n0s,h0,h1\n").unwrap_err().to_string(),
        "flows.csv, line 1, column dest = dest: unknown column; expected some of \
         start,source,destination,size,controller,path,reverse_path,pull_path,after,stop,deadline\n\
         flows.csv, line 1: the column destination is missing"
    );
    said(flows("too-wide", "start,source,destination\n0s,h0,h1,7\n").unwrap_err().to_string(), "flows.csv, line 2: ");
}

#[test]
fn flows_of_a_file_stop_after_they_start() {
    let csv = "start,source,destination,stop\n1ms,h0,h1,1ms\n1ms,h0,h1,0s\n1ms,h0,h1,2\n1ms,h0,h1,2ms\n";
    assert_eq!(
        flows("stops", csv).unwrap_err().to_string(),
        format!(
            "flows.csv, line 2, column stop = 1ms: expected a time after the start, 1ms\n\
             flows.csv, line 3, column stop = 0s: expected a time after the start, 1ms\n\
             flows.csv, line 4, column stop = 2: {TIME}"
        )
    );
}

#[test]
fn a_flow_file() {
    let csv = "# what, from where to where\n\
               start, source, destination, size, controller, path, reverse_path\n\
               0s, h0, 15, 2000000,\"swift:target=min-rtt,epsilon=100us\", edge0 agg1 core2 agg7 edge7, edge7 agg6 \
               core0 agg0 edge0\n\
               5us, 3, h0, , ,\n";
    let spec = flows("good", csv).unwrap();
    let f = &spec.flows[0];
    assert_eq!((f.src, f.dst, f.start.0), (0, 15, 0));
    assert_eq!(
        f.app,
        incast_engine::spec::App::Bulk(incast_engine::spec::Bulk { size: Some(2_000_000), write: 64_000 })
    );
    let names = |links: &Option<Vec<u32>>| {
        links.as_ref().unwrap().iter().map(|l| spec.links[*l as usize].name.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(&f.path), "h0>edge0 edge0>agg1 agg1>core2 core2>agg7 agg7>edge7 edge7>h15");
    assert_eq!(names(&f.reverse_path), "h15>edge7 edge7>agg6 agg6>core0 core0>agg0 agg0>edge0 edge0>h0");
    assert_eq!(spec.controllers.len(), 2);
    assert_ne!(f.controller, spec.flows[1].controller);
    let g = &spec.flows[1];
    assert_eq!((g.src, g.dst, g.start.0, &g.path), (3, 0, 5_000_000, &None));
    assert_eq!(
        g.app,
        incast_engine::spec::App::Bulk(incast_engine::spec::Bulk { size: Some(1_000_000), write: 64_000 }),
        "the entry's app"
    );
    // Swift wants an ACK for every packet, DCTCP lives with the preset's two.
    let acks = |f: usize| spec.transports[spec.flows[f].transport as usize].acks.delayed_ack;
    assert_eq!((acks(0), acks(1)), (1, 2));
}

#[test]
fn graph_files() {
    let dir = folder("graph-errors");
    let build = |file: &str, text: &str| {
        std::fs::write(dir.join(file), text).unwrap();
        let topology = format!("kind = \"graph\"\nfile = \"{file}\"");
        let text = GOOD.replace("kind = \"fat-tree\"\nk = 4\nlink = { rate = \"1Gbps\", delay = \"10us\" }", &topology);
        Scenario::from_toml(&text, &dir, "test").and_then(|s| s.build()).map(drop).map_err(|e| e.to_string())
    };
    let base = "hosts = [\"a\", \"b\"]\nswitches = [\"s\"]\n";
    let link = |a: &str, b: &str| format!("[[links]]\na = \"{a}\"\nb = \"{b}\"\nrate = \"1Gbps\"\ndelay = \"1us\"\n");
    assert_eq!(build("good.toml", &[base, &link("a", "s"), &link("s", "b")].concat()), Ok(()));
    assert_eq!(
        build("two.toml", &[base, &link("a", "s"), &link("s", "b"), &link("s", "b")].concat()),
        Err("two.toml, host b: has 2 links; expected exactly one".into())
    );
    assert_eq!(
        build("none.toml", &[base, &link("a", "s")].concat()),
        Err("none.toml, host b: has 0 links; expected exactly one".into())
    );
    assert_eq!(
        build("name.toml", &[base, &link("a", "s"), &link("s", "bb")].concat()),
        Err("name.toml, link 2.b = \"bb\": expected the name of a host or switch (did you mean \"b\"?)".into())
    );
    assert_eq!(
        build("key.toml", &[base, &link("a", "s").replace("delay", "dely")].concat()),
        Err("key.toml, links.0.dely: unknown key (did you mean \"delay\"?)".into())
    );
    assert_eq!(
        build("rate.toml", &[base, &link("a", "s").replace("rate = \"1Gbps\"", "")].concat()),
        Err("rate.toml, link 1.rate: missing; give it here or as topology.link.rate".into())
    );
    assert_eq!(
        build(
            "apart.toml",
            "hosts = [\"a\", \"b\"]\nswitches = [\"s\", \"t\"]\n[[links]]\na = \"a\"\nb = \"s\"\nrate = \"1Gbps\"\n\
             delay = \"1us\"\n[[links]]\na = \"b\"\nb = \"t\"\nrate = \"1Gbps\"\ndelay = \"1us\"\n"
        ),
        Err((0..10)
            .map(|i| format!("traffic.load, flow {i} (a to b): no path joins the two hosts"))
            .collect::<Vec<_>>()
            .join("\n"))
    );
    assert_eq!(
        build("rows.csv", "kind,name,peer,rate,delay\nhost,a\nhost,b\nswich,s\nlink,a,s,1Gbps,1\n"),
        Err(format!(
            "rows.csv, line 4, column kind = swich: expected one of \"host\", \"switch\", \"link\" (did you mean \
             \"switch\"?)\n\
             rows.csv, line 5, column delay = 1: {TIME}"
        ))
    );
    assert_eq!(
        build(
            "good.csv",
            "kind,name,peer,rate,delay\nhost,a\nhost,b\nswitch,s\nlink,a,s,1Gbps,1us\nlink,s,b,1Gbps,1us\n"
        ),
        Ok(())
    );
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn flow_files_without_flows() {
    said(
        flows("only-header", "start,source,destination\n# none yet\n").unwrap_err().to_string(),
        "traffic.load.file = \"flows.csv\": ",
    );
}

#[test]
fn things_given_twice() {
    said(
        flows("twice", "start,size,source,destination,size\n0s,1,h0,h1,2\n").unwrap_err().to_string(),
        "flows.csv, line 1: ",
    );
    said(message("\"dctcp\"", "\"dctcp:g=0.1,g=0.2\""), "controller.g = \"0.2\": given twice");
}

#[test]
fn every_line_of_a_flow_file_is_looked_at() {
    // An unquoted comma, and then more wrong lines than are printed.
    let csv = "start,source,destination,size,controller\n0s,h0,h1,1,swift:target=min-rtt,epsilon=100us\n".to_owned()
        + &"1,h0,h1,1,\n".repeat(30);
    let errors = flows("all-lines", &csv).unwrap_err();
    assert_eq!(errors.0.len(), 31);
    assert_eq!(
        errors.0[0].to_string(),
        "flows.csv, line 2: 6 values under 5 columns; a value that holds a comma goes in quotes, such as \
         \"swift:target=min-rtt,epsilon=100us\""
    );
    assert_eq!(errors.0[30].to_string(), format!("flows.csv, line 32, column start = 1: {TIME}"));
    assert!(errors.to_string().ends_with("\n... and 11 more"), "{errors}");
}

#[test]
fn quotes_and_circles_in_a_flow_file() {
    said(
        flows("quote", "start,source,destination\n# \"a comment\n0s,\"h0,h1\n0s,h2,h3\n").unwrap_err().to_string(),
        "flows.csv, line 3: ",
    );
    flows("quoted", "start,source,destination,controller\n0s,h0,h1,\"swift:target=min-rtt,epsilon=100us\"\n").unwrap();
    said(
        flows("circle", "start,source,destination,path\n0s,h0,h15,edge0 agg0 edge1 agg0 core0 agg6 edge7\n")
            .unwrap_err()
            .to_string(),
        "flows.csv, line 2, column path = edge0 agg0 edge1 agg0 core0 agg6 edge7: ",
    );
}

#[test]
fn files_are_named_in_errors() {
    let dir = folder("named");
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    std::fs::write(dir.join("a.toml"), "name = \"x\"\n[run\n").unwrap();
    let error = |name: &str| Scenario::load(&at(name)).unwrap_err().to_string();
    assert!(error("a.toml").starts_with(&format!("{}: TOML parse error at line 2, column 5", at("a.toml"))));
    assert_eq!(error(""), format!("{}: is a folder; expected a file", at("")));
    assert_eq!(
        Scenario::load("hotspot.toml").unwrap_err().to_string(),
        "hotspot.toml: no such file; the built-in scenario is called hotspot"
    );
    std::fs::create_dir_all(dir.join("flows.csv")).unwrap();
    let text = GOOD.replace("pattern = \"hotspot\"\nflows = 10", "pattern = \"file\"\nfile = \"flows.csv\"");
    let error = Scenario::from_toml(&text, &dir, "test").unwrap().build().unwrap_err().to_string();
    assert_eq!(error, format!("traffic.load.file = \"{}\": is a folder; expected a file", at("flows.csv")));
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_line_that_has_no_end_is_not_told_whole() {
    let shown =
        flows("endless-line", &format!("start,{}z,source\n", "a\u{e9}".repeat(100_000))).unwrap_err().to_string();
    assert!(shown.chars().count() < 1500, "{} letters", shown.chars().count());
    assert!(
        shown.starts_with("flows.csv, line 1, column a\u{e9}a\u{e9}") && shown.contains("a\u{e9}z = a\u{e9}"),
        "{shown}"
    );
}

#[cfg(unix)]
#[test]
fn only_plain_files_are_read() {
    use std::os::unix::fs::symlink;
    let dir = folder("plain");
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    let _listening = std::os::unix::net::UnixListener::bind(dir.join("socket")).unwrap();
    symlink("pipe", dir.join("link")).unwrap();
    symlink("/dev/zero", dir.join("device")).unwrap();
    symlink("loop", dir.join("loop")).unwrap();
    let (fabric, load) = ("kind = \"fat-tree\"\nk = 4", "pattern = \"hotspot\"\nflows = 10");
    let (app, bulk) = ("app = { kind = \"bulk\", size = \"1MB\" }\n", "app = { kind = \"bulk\" }\n");
    let arrivals = "pattern = \"poisson\"\narrivals = { load = 0.1, sizes = \"FILE\" }";
    // each way in which a scenario names a file: to open a pipe is to wait until somebody writes to it
    let ways: [(&str, &[(&str, &str)]); 5] = [
        ("topology.file", &[(fabric, "kind = \"graph\"\nfile = \"FILE\"")]),
        ("traffic.load.file", &[(load, "pattern = \"file\"\nfile = \"FILE\"")]),
        ("traffic.load.file", &[(load, "pattern = \"matrix\"\nfile = \"FILE\""), (app, bulk)]),
        (
            "traffic.load.file",
            &[(load, "pattern = \"connection-matrix\"\nstart_unit = \"us\"\nfile = \"FILE\""), (app, bulk)],
        ),
        ("traffic.load.arrivals.sizes", &[(load, arrivals), (app, "")]),
    ];
    let refused = |key: &str, changes: &[(&str, &str)], name: &str, expected: &str| {
        let text = changes.iter().fold(GOOD.to_owned(), |text, (from, to)| text.replacen(from, to, 1));
        let built = Scenario::from_toml(&text.replace("FILE", name), &dir, "test").and_then(|s| s.build().map(drop));
        let shown = built.unwrap_err().to_string();
        assert!(shown.starts_with(&format!("{key} = \"{}\": {expected}", at(name))), "{shown}");
    };
    for (key, changes) in ways {
        refused(key, changes, "link", "is a pipe; expected a file");
    }
    for (name, expected) in [
        ("pipe", "is a pipe; expected a file"),
        ("socket", "is a socket; expected a file"),
        ("device", "is a device; expected a file"),
        ("loop", "Too many levels of symbolic links"),
    ] {
        refused(ways[0].0, ways[0].1, name, expected);
    }
    let mut cell = Scenario::load("wireless-cell").unwrap();
    cell.set("topology.placement", &format!("{{ kind = \"file\", file = \"{}\" }}", at("pipe"))).unwrap();
    let shown = cell.build().map(drop).unwrap_err().to_string();
    assert_eq!(shown, format!("topology.placement.file = \"{}\": is a pipe; expected a file", at("pipe")));
    assert_eq!(
        Scenario::load(&at("pipe")).unwrap_err().to_string(),
        format!("{}: is a pipe; expected a file", at("pipe"))
    );
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn every_line_that_is_no_toml_is_told() {
    let text = "[run]\nduration = 10ms\nwarmup = \"1ms\"\n[topology\nkind = \"star\"\n= 3\n";
    let errors = Scenario::from_toml(text, Path::new("."), "test").map(drop).expect_err("no TOML");
    let lines: Vec<&str> = errors.0.iter().map(|problem| problem.message.lines().next().unwrap()).collect();
    let at = |line: u32, column: u32| format!("TOML parse error at line {line}, column {column}");
    assert_eq!(lines, [at(2, 12), at(4, 10), at(6, 1)]);
    let garbage = Scenario::from_toml(&"= \n".repeat(1_000), Path::new("."), "test").map(drop).expect_err("no TOML");
    assert_eq!(garbage.0.len(), 4);
    assert!(garbage.0[3].message.starts_with("more lines that are no TOML: "), "{:?}", garbage.0[3]);
}
