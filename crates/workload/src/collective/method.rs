//! Method of a collective: the algorithm and its parameters.

use crate::graph::{Pattern, Refused};
use incast_cc::{Bytes, Rate};

/// Algorithm of a collective. Sources: NVIDIA/nccl 5067397c for ring, tree, chain and the grouped all-to-all; Thakur,
/// Rabenseifner, Gropp (2005) for halving-doubling, recursive doubling, binomial trees and pairwise exchange; Hensgen,
/// Finkel, Manber (1988) for dissemination.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Algorithm {
    /// Parts go round a ring: n-1 steps of S/n to reduce, n-1 to gather.
    Ring,
    /// Double binary tree: half of the data up and down each tree, in chunks.
    Tree,
    /// Recursive halving to reduce, recursive doubling to gather; n is a power of two.
    HalvingDoubling,
    /// Exchanges at distances 1, 2, 4, ..; n is a power of two.
    RecursiveDoubling,
    /// Reduce-scatter in each server, all-reduce along each rail, all-gather in each server, all by rings.
    Hierarchical,
    /// From member to member along the group, in chunks.
    Chain,
    /// Binomial tree from the root, or to it.
    Binomial,
    /// n-1 rounds; in round i to the member i further, from the one i before.
    Pairwise,
    /// As pairwise, with the distances in NCCL's order.
    NcclGrouped,
    /// All messages at once.
    AtOnce,
    /// Rounds as pairwise, several under way.
    Windowed,
    /// ceil(log2 n) rounds without data; in round k to the member 2^k further.
    Dissemination,
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: [Algorithm; 12] = [
        Algorithm::Ring,
        Algorithm::Tree,
        Algorithm::HalvingDoubling,
        Algorithm::RecursiveDoubling,
        Algorithm::Hierarchical,
        Algorithm::Chain,
        Algorithm::Binomial,
        Algorithm::Pairwise,
        Algorithm::NcclGrouped,
        Algorithm::AtOnce,
        Algorithm::Windowed,
        Algorithm::Dissemination,
    ];

    /// Name of the algorithm.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Ring => "ring",
            Algorithm::Tree => "tree",
            Algorithm::HalvingDoubling => "halving-doubling",
            Algorithm::RecursiveDoubling => "recursive-doubling",
            Algorithm::Hierarchical => "hierarchical",
            Algorithm::Chain => "chain",
            Algorithm::Binomial => "binomial",
            Algorithm::Pairwise => "pairwise",
            Algorithm::NcclGrouped => "nccl-grouped",
            Algorithm::AtOnce => "at-once",
            Algorithm::Windowed => "windowed",
            Algorithm::Dissemination => "dissemination",
        }
    }
    /// The algorithm of this name.
    pub fn named(name: &str) -> Option<Algorithm> {
        Algorithm::ALL.into_iter().find(|a| a.name() == name)
    }
    /// Patterns that the algorithm carries out.
    pub const fn patterns(self) -> &'static [Pattern] {
        match self {
            Algorithm::Ring | Algorithm::HalvingDoubling => {
                &[Pattern::AllReduce, Pattern::ReduceScatter, Pattern::AllGather]
            }
            Algorithm::RecursiveDoubling => &[Pattern::AllReduce, Pattern::AllGather],
            Algorithm::Tree | Algorithm::Hierarchical => &[Pattern::AllReduce],
            Algorithm::Chain | Algorithm::Binomial => &[Pattern::Broadcast, Pattern::Reduce],
            Algorithm::Pairwise | Algorithm::NcclGrouped | Algorithm::AtOnce | Algorithm::Windowed => {
                &[Pattern::AllToAll]
            }
            Algorithm::Dissemination => &[Pattern::Barrier],
        }
    }
    /// Algorithm of a pattern where none is chosen.
    pub const fn usual(pattern: Pattern) -> Algorithm {
        match pattern {
            Pattern::AllReduce | Pattern::ReduceScatter | Pattern::AllGather => Algorithm::Ring,
            Pattern::AllToAll => Algorithm::Pairwise,
            Pattern::Broadcast | Pattern::Reduce => Algorithm::Chain,
            Pattern::Barrier => Algorithm::Dissemination,
        }
    }
    /// Returns whether channels and chunks are parameters of the algorithm.
    pub const fn has_chunks(self) -> bool {
        matches!(self, Algorithm::Ring | Algorithm::Tree | Algorithm::Chain | Algorithm::Hierarchical)
    }
}

/// Algorithm of a collective with its parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Method {
    /// Algorithm.
    pub algorithm: Algorithm,
    /// Channels, each with its share of the data; of ring, tree, chain and hierarchical.
    pub channels: u32,
    /// Largest part of a step of a ring, or piece of a tree or a chain; without it a share is one chunk.
    pub chunk: Option<Bytes>,
    /// Messages of a connection that have started and not ended; 0 for any number. Of the same algorithms.
    pub credits: u32,
    /// Rate of a reduction of received data, which then takes a calculation; none takes no time.
    pub reduce: Option<Rate>,
    /// Rounds under way of a windowed all-to-all.
    pub window: u32,
    /// Members of a server, of a hierarchical all-reduce: positions k g to k g + g - 1.
    pub server: u32,
    /// Order of a ring: position in the group of each member of the ring; empty for the order of the group.
    pub order: Vec<u32>,
}

impl Method {
    /// An algorithm with one channel, one chunk and nothing else.
    pub fn new(algorithm: Algorithm) -> Method {
        Method {
            algorithm,
            channels: 1,
            chunk: None,
            credits: 0,
            reduce: None,
            window: 1,
            server: 1,
            order: Vec::new(),
        }
    }

    /// Refuses parameters that do not fit a pattern or a number of members.
    pub fn check(&self, pattern: Pattern, n: u64) -> Result<(), Refused> {
        let name = self.algorithm.name();
        let refuse = |what: String, expected: String| Err(Refused(format!("{what}: expected {expected}")));
        if !self.algorithm.patterns().contains(&pattern) {
            let able = Algorithm::ALL.into_iter().filter(|a| a.patterns().contains(&pattern));
            let able: Vec<&str> = able.map(Algorithm::name).collect();
            return refuse(format!("algorithm {name} of {}", pattern.name()), able.join(", "));
        }
        if matches!(self.algorithm, Algorithm::HalvingDoubling | Algorithm::RecursiveDoubling) && !n.is_power_of_two() {
            return refuse(format!("n = {n}"), format!("a power of two for {name}"));
        }
        if self.algorithm == Algorithm::Hierarchical && (self.server == 0 || n % u64::from(self.server) != 0) {
            return refuse(format!("server = {}", self.server), format!("a divisor of the {n} members"));
        }
        if self.channels == 0 || self.channels > 1024 {
            return refuse(format!("channels = {}", self.channels), "1 to 1024".into());
        }
        let chunked = self.channels > 1 || self.chunk.is_some() || self.credits > 0;
        if chunked && !self.algorithm.has_chunks() {
            return refuse(format!("channels, chunk or credits of {name}"), "ring, tree, chain or hierarchical".into());
        }
        if self.chunk.is_some_and(|chunk| chunk.0 == 0) {
            return refuse("chunk = 0B".into(), "at least 1 B".into());
        }
        if self.window == 0 {
            return refuse("window = 0".into(), "at least 1".into());
        }
        if self.reduce.is_some_and(|rate| rate.0 == 0) {
            return refuse("reduce = 0".into(), "a rate above 0".into());
        }
        let mut sorted = self.order.clone();
        sorted.sort_unstable();
        if !self.order.is_empty() && !sorted.iter().map(|p| u64::from(*p)).eq(0..n) {
            return refuse("order".into(), format!("each position from 0 to {} once", n.saturating_sub(1)));
        }
        Ok(())
    }
}

/// Methods by pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Methods {
    of: Vec<Method>,
}

impl Default for Methods {
    /// The usual algorithm of each pattern.
    fn default() -> Methods {
        Methods { of: Pattern::ALL.map(|pattern| Method::new(Algorithm::usual(pattern))).into() }
    }
}

impl Methods {
    /// Method of a pattern.
    pub fn of(&self, pattern: Pattern) -> &Method {
        &self.of[pattern as usize]
    }
    /// Chooses the method of a pattern.
    pub fn choose(&mut self, pattern: Pattern, method: Method) {
        self.of[pattern as usize] = method;
    }
}
