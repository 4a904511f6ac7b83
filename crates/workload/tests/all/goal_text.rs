//! GOAL text: what is read, what is read with a warning, what is refused.

use crate::support::{codes, graph, lines, text, to_text};
use incast_cc::{Bytes, Time};
use incast_workload::{ANY, Builder, Code, Collective, Pattern, Task, goal};

#[test]
fn every_form_of_the_grammar_is_read() {
    let source = "// a job\n/* of two\nranks */ num_ranks 2\r\n\nrank 0 {\n\ta1: calc 7 cpu 3\n\
                  send 8 b to 1 tag 4 cpu 1 nic 2\nb_2:send 8b to 1\nb_2 requires a1\nb_2 irequires a1\n}\n\
                  rank 1 {\nrecv 8b from -1 tag -1\nrecv 8b from 0 nic 255\n}";
    let (read, report) = text(source);
    assert_eq!(codes(&report), [Code::W10], "the tab before a1: {}", lines(&report));
    let read = read.unwrap();
    let send = Task::send(Bytes(8), 1);
    assert_eq!(read.task(0, 0), Task::calc(Time::ns(7)).on_stream(3));
    assert_eq!(read.task(0, 1), send.tagged(4).on_stream(1).at_nic(2));
    assert_eq!(read.task(0, 2), send);
    assert_eq!(read.successors(0, 0), (&[2][..], &[2][..]));
    assert_eq!(read.task(1, 0), Task::recv(Bytes(8), ANY).tagged(ANY));
    assert_eq!(read.task(1, 1), Task::recv(Bytes(8), 0).at_nic(255));
}

#[test]
fn what_is_written_is_read_back_and_written_alike() {
    let source = "num_ranks 2\n\nrank 0 {\nl0: calc 100 cpu 1\nl1: send 8b to 1 tag 7 nic 2\nl1 requires l0\n\
                  l1 requires l0\n}\n\nrank 1 {\nl0: recv 8b from -1 tag -1 cpu 9\nl1: calc 5\nl1 irequires l0\n}\n";
    assert_eq!(to_text(&graph(source)), source);
}

#[test]
fn durations_are_rounded_to_nanoseconds_and_counted() {
    let mut job = Builder::new(1).unwrap();
    for ps in [1499, 1500, 2000] {
        job.task(0, Task::calc(Time(ps))).unwrap();
    }
    job.task(0, Task::nop()).unwrap();
    let job = job.finish();
    let mut bytes = Vec::new();
    assert_eq!(goal::text::write(&job, &mut bytes).unwrap().rounded, 2);
    let expected = "num_ranks 1\n\nrank 0 {\nl0: calc 1\nl1: calc 2\nl2: calc 2\nl3: calc 0\n}\n";
    assert_eq!(String::from_utf8(bytes).unwrap(), expected);
}

#[test]
fn collectives_are_not_written() {
    let mut job = Builder::new(1).unwrap();
    let group = job.group([0]);
    let index = job.collective(Collective::new(Pattern::Barrier, group, Bytes(0)));
    job.task(0, Task::collective(index, 0, Bytes(0))).unwrap();
    let refused = goal::text::write(&job.finish(), &mut Vec::new()).unwrap_err().to_string();
    assert_eq!(refused, "task 0:0: GOAL has no collectives; expected a graph that is expanded");
}

/// Statements of rank 0 of two, and the finding that they give: code, place and fact.
#[test]
fn mistakes_are_named_with_line_and_column() {
    for (statements, expected) in [
        ("a: calc 1\na: calc 2", "E02 line 4, column 1: label \"a\" twice"),
        ("a: calc 1\na requires b", "E02 line 4, column 12: label \"b\" is unknown"),
        ("a: calc 1\na irequires a", "E01 line 4, column 1: a task that waits for itself"),
        ("send 1b to 2", "E04 line 3, column 12: peer 2 of 2 ranks"),
        ("send 1b to -1", "E00 line 3, column 12: \"-1\""),
        ("send 1b to 1 tag -1", "E10 line 3, column 18: tag -1 of a send"),
        ("send 1b to 1 tag 4294967295", "E10 line 3, column 18: tag = \"4294967295\""),
        ("send 1b to 1 cpu 256", "E10 line 3, column 18: cpu = \"256\""),
        ("send 1b to 1 cpu 1 tag 2", "E00 line 3, column 20: \"tag\""),
        ("send 18446744073709551616b to 1", "E10 line 3, column 6: bytes = \"18446744073709551616b\""),
        ("send 1kb to 1", "E00 line 3, column 7: \"kb\""),
        ("send 1b from 1", "E00 line 3, column 9: \"from\""),
        ("calc 1.5", "E00 line 3, column 7: \".5\""),
        ("calc 18446744073709552", "E10 line 3, column 6: calc = \"18446744073709552\""),
        ("calc 1 nic 1", "E00 line 3, column 8: \"nic\""),
        ("calc 1 calc 2", "E00 line 3, column 8: \"calc\""),
        ("calc", "E00 line 3, column 5: the line ends here"),
        ("a: work 1", "E00 line 3, column 4: \"work\""),
        ("a needs b", "E00 line 3, column 3: \"needs\""),
        ("a requires 7", "E00 line 3, column 12: \"7\""),
        ("\u{fe}", "E00 line 3, column 1: \"\u{fffd}\""),
    ] {
        let (read, report) = text(&format!("num_ranks 2\nrank 0 {{\n{statements}\n}}\nrank 1 {{\n}}\n"));
        let found = lines(&report);
        assert!(found.starts_with(&format!("{expected}; ")) && read.is_none(), "{statements}: {found}");
        assert_eq!(report.errors(), 1, "{statements}: {found}");
    }
}

#[test]
fn mistakes_of_the_frame_are_named() {
    for (source, expected) in [
        ("", "E00 line 1, column 1: the file ends here; "),
        ("rank 0 {\n}", "E00 line 1, column 1: \"rank\"; "),
        ("num_ranks two", "E00 line 1, column 11: \"two\"; "),
        ("num_ranks 1\nrank 0\n{\n}", "E00 line 2, column 7: the line ends here; "),
        ("num_ranks 1\nrank 0 {\n", "E00 line 2, column 1: the file ends here; "),
        ("num_ranks 1\nrank 0 {\n} /* open", "E00 line 3, column 1: the file ends here; "),
        ("num_ranks 2\nrank 0 {\n}", "E03 line 3, column 1: the file ends before rank 1 of 2; "),
        ("num_ranks 3\nrank 0 {\n}\nrank 2 {\n}", "E03 line 4, column 1: rank 2 where rank 1 is missing; "),
        ("num_ranks 2\nrank 0 {\n}\nrank 0 {\n}", "E03 line 4, column 1: rank 0 behind rank 0; "),
        ("num_ranks 1\nrank 0 {\n}\nrank 1 {\n}", "E03 line 4, column 1: rank 1 of 1 ranks; "),
    ] {
        let (read, report) = text(source);
        assert!(lines(&report).starts_with(expected) && read.is_none(), "{source}: {}", lines(&report));
    }
}

#[test]
fn absurd_numbers_of_ranks_say_what_they_take() {
    let (_, report) = text("num_ranks 1000000000000000\n");
    assert!(lines(&report).starts_with("E10 line 1, column 11: num_ranks = 1000000000000000, which takes "));
}

#[test]
fn text_that_the_reference_converter_refuses_is_read_with_a_warning() {
    let source = "num_ranks 1\nrank 0 {\nb requires a\na: calc 1 // one\n  b: calc 2\n}\n";
    let (read, report) = text(source);
    assert_eq!(report.count(Code::W10), 3, "{}", lines(&report));
    assert_eq!(report.errors(), 0);
    assert_eq!(read.unwrap().successors(0, 0).0, [1]);
}

#[test]
fn all_mistakes_of_a_file_are_found_and_sixteen_of_a_code_are_kept() {
    let source = format!("num_ranks 1\nrank 0 {{\n{}}}\n", "send 1b to 9 cpu 999\n".repeat(40));
    let (_, report) = text(&source);
    assert_eq!((report.count(Code::E04), report.count(Code::E10), report.findings().len()), (40, 40, 32));
}

#[test]
fn labels_of_any_form_are_kept_apart() {
    let names = ["l1", "l01", "l4000000000", "l99999999999", "l", "lx", "L1", "l1_"];
    let tasks: String = names.iter().map(|name| format!("{name}: calc 1\n")).collect();
    let chain: String = names.windows(2).map(|pair| format!("{} requires {}\n", pair[1], pair[0])).collect();
    let read = graph(&format!("num_ranks 1\nrank 0 {{\n{tasks}{chain}}}\n"));
    for i in 1..names.len() as u32 {
        assert_eq!(read.successors(0, i - 1).0, [i]);
    }
}
