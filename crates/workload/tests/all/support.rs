//! Shared parts of the tests: reading texts, SHA-256, random numbers.

use incast_workload::{Code, Graph, Report, goal};
use std::io::Cursor;

/// Reads GOAL text; the graph and what was found.
pub fn text(source: &str) -> (Option<Graph>, Report) {
    let mut report = Report::default();
    let graph = goal::text::read(&mut source.as_bytes(), &mut report);
    (graph, report)
}

/// Reads GOAL text without findings.
pub fn graph(source: &str) -> Graph {
    let (graph, report) = text(source);
    assert_eq!(report.findings(), [], "{source}");
    graph.unwrap()
}

/// Reads GOAL binary.
pub fn binary(bytes: &[u8]) -> (Option<Graph>, Report) {
    let mut report = Report::default();
    let graph = goal::binary::read(&mut Cursor::new(bytes), &mut report);
    (graph, report)
}

/// Writes GOAL text.
pub fn to_text(graph: &Graph) -> String {
    let mut bytes = Vec::new();
    goal::text::write(graph, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Writes GOAL binary.
pub fn to_binary(graph: &Graph) -> Vec<u8> {
    let mut bytes = Vec::new();
    goal::binary::write(graph, &mut bytes).unwrap();
    bytes
}

/// Codes of the findings, in their order.
pub fn codes(report: &Report) -> Vec<Code> {
    report.findings().iter().map(|f| f.code).collect()
}

/// Findings as one text, a line each.
pub fn lines(report: &Report) -> String {
    report.findings().iter().map(|f| format!("{f}\n")).collect()
}

/// Random numbers by SplitMix64 (Steele, Lea, Flood 2014).
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// SHA-256 (FIPS 180-4) in hexadecimal digits. The constants are the fractions of roots of primes.
pub fn sha256(data: &[u8]) -> String {
    let primes: Vec<u64> = (2..312).filter(|n| (2..*n).all(|d| n % d != 0)).collect();
    // floor(p^(1/root) * 2^32) by bisection, exact in integers; its low 32 bits
    let fraction = |p: u64, root: u32| {
        let (mut low, mut high) = (0u128, 1u128 << 37);
        while high - low > 1 {
            let mid = (low + high) / 2;
            if mid.pow(root) <= u128::from(p) << (32 * root) { low = mid } else { high = mid }
        }
        low as u32
    };
    let k: Vec<u32> = primes.iter().take(64).map(|p| fraction(*p, 3)).collect();
    let mut h: Vec<u32> = primes.iter().take(8).map(|p| fraction(*p, 2)).collect();
    let mut padded = data.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64) + if padded.len() % 64 > 56 { 64 } else { 0 } - 8, 0);
    padded.extend((data.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks_exact(64) {
        let mut w: Vec<u32> = block.chunks_exact(4).map(|c| u32::from_be_bytes(c.try_into().unwrap())).collect();
        for i in 16..64 {
            let s0 = w[i - 15].rotate_right(7) ^ w[i - 15].rotate_right(18) ^ (w[i - 15] >> 3);
            let s1 = w[i - 2].rotate_right(17) ^ w[i - 2].rotate_right(19) ^ (w[i - 2] >> 10);
            w.push(w[i - 16].wrapping_add(s0).wrapping_add(w[i - 7]).wrapping_add(s1));
        }
        let mut v = h.clone();
        for i in 0..64 {
            let s1 = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
            let choice = (v[4] & v[5]) ^ (!v[4] & v[6]);
            let t1 = v[7].wrapping_add(s1).wrapping_add(choice).wrapping_add(k[i]).wrapping_add(w[i]);
            let s0 = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
            v.rotate_right(1);
            v[4] = v[4].wrapping_add(t1);
            v[0] = t1.wrapping_add(s0).wrapping_add(majority);
        }
        h.iter_mut().zip(v).for_each(|(h, v)| *h = h.wrapping_add(v));
    }
    h.iter().map(|word| format!("{word:08x}")).collect()
}

#[test]
fn sha256_has_its_published_values() {
    assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    let long = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    assert_eq!(sha256(long), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}
