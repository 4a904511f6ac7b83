//! GOAL binary: golden bytes, and what is refused.

use crate::support::{binary, codes, graph, lines, sha256, text, to_binary, to_text};
use incast_workload::Code;

const GOLDEN: &str = "num_ranks 2\nrank 0 {\na: calc 100 cpu 1\nb: send 8b to 1 tag 7 cpu 0 nic 2\nb requires a\n}\n\
                      rank 1 {\nr: recv 8b from 0 tag 7\nc: calc 5\nc irequires r\n}\n";

fn golden() -> Vec<u8> {
    to_binary(&graph(GOLDEN))
}

#[test]
fn bytes_are_those_of_the_reference_converter() {
    let bytes = golden();
    let begin: String = bytes[..46].iter().map(|b| format!("{b:02x}")).collect();
    let offsets = "260000000000000084000000000000008400000000000000e200000000000000";
    assert_eq!(begin, format!("7f10000000000000020000000102{offsets}"));
    assert_eq!(bytes.len(), 234);
    assert_eq!(sha256(&bytes), "9f79ceae8711b16cb5938c098f86bd18c06a841b8414d530edcc0fc809956433");
}

#[test]
fn text_binary_text_is_the_same_text() {
    let first = to_text(&graph(GOLDEN));
    let (read, report) = binary(&golden());
    assert_eq!(codes(&report), []);
    let read = read.unwrap();
    assert_eq!(read, graph(GOLDEN));
    assert_eq!(to_text(&read), first);
    assert_eq!(to_binary(&read), golden());
}

#[test]
fn every_shortened_file_is_refused() {
    let bytes = golden();
    for length in 0..bytes.len() {
        let (read, report) = binary(&bytes[..length]);
        assert!(read.is_none() && report.errors() > 0, "{length}");
    }
}

/// Bytes of the golden file set to a value, and the finding that this gives.
#[test]
fn mistakes_are_named_with_their_byte() {
    // rank 0 begins at byte 46: 8 of counts, 4 of one root, then its first node at 58
    for (at, value, expected) in [
        (0, 2342u64.to_le_bytes().to_vec(), "E00 byte 0: a file that a run of the reference has changed; "),
        (0, 7u64.to_le_bytes().to_vec(), "E00 byte 0: the file begins with 7; "),
        (8, vec![255; 4], "E10 byte 8: 4294967295 ranks, whose offsets and arrays take "),
        (14, vec![0; 16], "E03 byte 14: rank 0 is missing: its offsets are 0; "),
        (22, vec![255; 8], "E03 byte 14: rank 0 from 38 to 18446744073709551615; "),
        (46, vec![255; 4], "E10 byte 46: rank 0 of 4294967295 tasks and 1 roots, which take 167503724517 bytes; "),
        (58, vec![1], "E00 byte 58: task 0:0 waits for 1 others; "),
        (62, vec![9], "E00 byte 58: kind 9; "),
        (67, vec![255; 8], "E10 byte 58: calc 18446744073709551615 ns; "),
        (81, vec![2], "E00 byte 58: 2 successors from 0 of the appendix; "),
        (85, vec![255; 4], "E00 byte 58: 1 successors from 4294967295 of the appendix; "),
        (102, vec![9], "E04 byte 97: peer 9 of 2 ranks; "),
        (114, vec![255; 4], "E10 byte 97: tag -1 of a send; "),
        (136, vec![7], "E02 byte 58: dependency on task 7: the rank has 2 tasks, from 0; "),
        (136, vec![0], "E01 byte 58: task 0 waits for itself; "),
    ] {
        let mut bytes = golden();
        bytes[at..at + value.len()].copy_from_slice(&value);
        let (read, report) = binary(&bytes);
        assert!(lines(&report).starts_with(expected) && read.is_none(), "byte {at}: {}", lines(&report));
    }
}

#[test]
fn ranks_that_share_bytes_are_refused() {
    // both ranks at the place of the first: a small file could stand for any number of tasks
    let mut bytes = golden();
    bytes.copy_within(14..30, 30);
    bytes.truncate(140);
    let (read, report) = binary(&bytes);
    assert_eq!((read, codes(&report)), (None, vec![Code::E03]), "{}", lines(&report));
}

#[test]
fn successors_that_share_places_are_refused() {
    let (read, _) = text("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\nc: calc 1\nc requires a\nc requires b\n}\n");
    let mut bytes = to_binary(&read.unwrap());
    // both tasks claim both words of the appendix
    let first = 14 + 16 + 8 + 8;
    for node in [first, first + 39] {
        bytes[node + 23] = 2;
        bytes[node + 27] = 0;
    }
    let (read, report) = binary(&bytes);
    assert_eq!((read, codes(&report)), (None, vec![Code::E00]), "{}", lines(&report));
}
