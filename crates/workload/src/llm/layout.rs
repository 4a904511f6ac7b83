//! Places of the ranks: coordinates by dimension, and the groups in which they meet.

/// Dimension of parallelism.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Dimension {
    /// Tensors.
    Tp,
    /// Stages of the pipeline.
    Pp,
    /// Replicas.
    Dp,
}

impl Dimension {
    /// All dimensions.
    pub const ALL: [Dimension; 3] = [Dimension::Tp, Dimension::Pp, Dimension::Dp];

    /// Name.
    pub const fn name(self) -> &'static str {
        ["tp", "pp", "dp"][self as usize]
    }
}

/// Order of the dimensions in the number of a rank, the fastest first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Order(pub [Dimension; 3]);

impl Order {
    /// Reads `tp,pp,dp`: each dimension once.
    pub fn named(text: &str) -> Option<Order> {
        let mut found = Vec::new();
        for word in text.split(',') {
            let one = Dimension::ALL.into_iter().find(|one| one.name() == word.trim())?;
            if !found.contains(&one) {
                found.push(one);
            }
        }
        let count = text.split(',').count();
        <[Dimension; 3]>::try_from(found).ok().filter(|_| count == 3).map(Order)
    }

    /// Text of the order.
    pub fn text(self) -> String {
        self.0.map(Dimension::name).join(",")
    }
}

/// The usual order: the ranks of tensor parallelism are neighbours.
impl Default for Order {
    fn default() -> Order {
        Order([Dimension::Tp, Dimension::Pp, Dimension::Dp])
    }
}

/// Place of a rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct At {
    /// Coordinate of tensors.
    pub t: u64,
    /// Stage.
    pub p: u64,
    /// Replica.
    pub d: u64,
}

/// Group of ranks that meet in collectives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Group {
    /// Parts of one tensor.
    Tp,
    /// Replicas of what is no expert.
    Dp,
    /// Ranks with the experts of a layer.
    Ep,
    /// Replicas of one expert.
    Experts,
}

/// Sizes of the dimensions and strides of their coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    sizes: [u64; 3],
    strides: [u64; 3],
    ep: u64,
}

impl Layout {
    /// Layout of dimensions of these sizes, with experts spread over `ep` replicas.
    pub fn new(sizes: [u64; 3], order: Order, ep: u64) -> Layout {
        let (mut strides, mut stride) = ([1; 3], 1);
        for dimension in order.0 {
            strides[dimension as usize] = stride;
            stride *= sizes[dimension as usize];
        }
        Layout { sizes, strides, ep }
    }

    /// Place of a rank.
    pub fn at(&self, rank: u64) -> At {
        let [t, p, d] = [0, 1, 2].map(|i| rank / self.strides[i] % self.sizes[i]);
        At { t, p, d }
    }

    /// Rank at a place.
    pub fn rank(&self, at: At) -> u32 {
        (at.t * self.strides[0] + at.p * self.strides[1] + at.d * self.strides[2]) as u32
    }

    /// Number of members of a group.
    pub fn size(&self, group: Group) -> u64 {
        match group {
            Group::Tp => self.sizes[0],
            Group::Dp => self.sizes[2],
            Group::Ep => self.ep,
            Group::Experts => self.sizes[2] / self.ep,
        }
    }

    /// Position of a rank in its group.
    pub fn position(&self, group: Group, at: At) -> u64 {
        match group {
            Group::Tp => at.t,
            Group::Dp => at.d,
            Group::Ep => at.d % self.ep,
            Group::Experts => at.d / self.ep,
        }
    }

    /// Place of the member of a rank's group at a position.
    pub fn member(&self, group: Group, at: At, position: u64) -> At {
        match group {
            Group::Tp => At { t: position, ..at },
            Group::Dp => At { d: position, ..at },
            Group::Ep => At { d: at.d / self.ep * self.ep + position, ..at },
            Group::Experts => At { d: position * self.ep + at.d % self.ep, ..at },
        }
    }
}
