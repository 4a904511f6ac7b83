//! Random and mutated files: every reader returns, with a graph or with an error that names a place, and what it reads
//! it can write. `INCAST_CASES=all` (`make properties`) tries a hundred times as many.

use crate::support::{Random, binary, to_binary, to_text};
use incast_workload::{Graph, Report, goal};

/// Number of files.
pub fn cases() -> usize {
    if std::env::var("INCAST_CASES").is_ok_and(|cases| cases == "all") { 1_000_000 } else { 10_000 }
}

const TEXT: &[u8] =
    b"num_ranks 3\n// c\nrank 0 {\nl1: calc 10 cpu 1\nl2: send 8b to 1 tag 7 cpu 0 nic 2\nl2 requires l1\n\
                      }\n/* d */ rank 1 {\nr: recv 8b from -1 tag -1\n  c: calc 5\nc irequires r\n}\nrank 2 {\n}\n";
const WORDS: [&[u8]; 14] = [
    b"num_ranks ",
    b"rank ",
    b"{\n",
    b"}\n",
    b"l1: ",
    b"calc 5",
    b" requires l2\n",
    b"send 1b to 2\n",
    b"18446744073709551616",
    b"-1",
    b"/*",
    b"*/",
    b"\xff",
    b"\r\n",
];

/// The bytes after a few changes: bits, bytes, cuts, repeats, words.
pub fn mutated(bytes: &[u8], words: &[&[u8]], random: &mut Random) -> Vec<u8> {
    let mut made = bytes.to_vec();
    for _ in 0..=random.below(4) {
        let (at, to) = (random.below(made.len()), random.below(made.len()));
        match random.below(7) {
            _ if made.is_empty() => made.push(random.next() as u8),
            0 => made[at] ^= 1 << random.below(8),
            1 => made[at] = random.next() as u8,
            2 => made.truncate(at),
            3 => drop(made.drain(at.min(to)..at.max(to))),
            4 => {
                let part = made[at.min(to)..at.max(to)].to_vec();
                made.splice(at..at, part);
            }
            5 => made[at] = [0, 1, 127, 128, 255][random.below(5)],
            _ => drop(made.splice(at..at, words[random.below(words.len())].iter().copied())),
        }
    }
    made
}

/// A graph, or an error with its texts.
fn judge(read: Option<&Graph>, report: &Report, bytes: &[u8]) {
    match read {
        Some(graph) => assert!(report.errors() == 0 && graph.ranks() < 100, "{bytes:?}"),
        None => {
            let error = report.first_error().unwrap_or_else(|| panic!("neither graph nor error: {bytes:?}"));
            assert!(!error.what.is_empty() && !error.remedy.is_empty(), "{error:?}");
        }
    }
}

#[test]
fn any_text_is_read_or_refused() {
    let mut random = Random(1);
    let mut read = 0;
    for _ in 0..cases() {
        let bytes = mutated(TEXT, &WORDS, &mut random);
        let mut report = Report::default();
        let graph = goal::text::read(&mut &bytes[..], &mut report);
        judge(graph.as_ref(), &report, &bytes);
        let Some(graph) = graph else { continue };
        read += 1;
        let mut report = Report::default();
        let again = goal::text::read(&mut to_text(&graph).as_bytes(), &mut report);
        assert_eq!(again.as_ref(), Some(&graph), "{}", String::from_utf8_lossy(&bytes));
    }
    assert!(read > cases() / 500, "files that are read: {read}");
}

#[test]
fn any_binary_file_is_read_or_refused() {
    let graph = goal::text::read(&mut &TEXT[..], &mut Report::default()).unwrap();
    let golden = to_binary(&graph);
    let mut random = Random(2);
    let mut read = 0;
    for _ in 0..cases() {
        let bytes = mutated(&golden, &[b"\0\0\0\0", b"\x01\0\0\0", b"\xff\xff\xff\xff"], &mut random);
        let (graph, report) = binary(&bytes);
        judge(graph.as_ref(), &report, &bytes);
        let Some(graph) = graph else { continue };
        read += 1;
        assert_eq!(binary(&to_binary(&graph)).0.as_ref(), Some(&graph), "{bytes:?}");
    }
    assert!(read > cases() / 500, "files that are read: {read}");
}
