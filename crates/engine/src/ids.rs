//! Numbers of things. Each has its own type, which indexes the vectors kept by that number.

use std::ops::{Index, IndexMut};

macro_rules! indexes {
    ($name:ident: $($kept:ty),*) => {$(
        impl<T> Index<$name> for $kept {
            type Output = T;
            #[inline(always)]
            fn index(&self, at: $name) -> &T {
                &self[at.ix()]
            }
        }

        impl<T> IndexMut<$name> for $kept {
            #[inline(always)]
            fn index_mut(&mut self, at: $name) -> &mut T {
                &mut self[at.ix()]
            }
        }
    )*};
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
        pub struct $name(pub u32);

        impl $name {
            /// The number as an index.
            #[inline(always)]
            pub const fn ix(self) -> usize {
                self.0 as usize
            }
        }

        impl From<$name> for u32 {
            #[inline(always)]
            fn from(id: $name) -> u32 {
                id.0
            }
        }

        indexes!($name: [T], Vec<T>);
    )*};
}

ids! {
    /// A link of the network.
    LinkId
    /// A flow.
    FlowId
    /// A node of the network: hosts first, then switches.
    NodeId
    /// A query.
    QueryId
    /// A trigger.
    TriggerId
    /// An [`Opening`](crate::map::triggers::Opening): flows of a host that a trigger opens together.
    OpeningId
    /// A rank of a job, among those of all jobs.
    RankId
    /// A stream of calculations of a rank: 256 a rank.
    StreamId
    /// A task of a rank, among those of all ranks.
    TaskId
    /// A radio cell.
    CellId
    /// An engine of a host ([`Processing`](crate::host::processing::Processing)).
    EngineId
    /// A domain.
    DomainId
    /// A sender of a domain.
    SenderIx
    /// A receiver of a domain.
    ReceiverIx
    /// A shared buffer of a domain.
    PoolIx
    /// A port of a domain.
    PortIx
    /// A host of a domain.
    HostIx
    /// A switch of a domain.
    SwitchIx
}

impl PortIx {
    /// Port number `local` of the switch whose first port is this one.
    #[inline(always)]
    pub const fn plus(self, local: u32) -> PortIx {
        PortIx(self.0 + local)
    }
}

/// A node of a domain, in four bytes, since every hop looks one up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NodeIx(u32);

/// The node of a [`NodeIx`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Node {
    /// A host.
    Host(HostIx),
    /// A switch.
    Switch(SwitchIx),
}

impl NodeIx {
    const HOST: u32 = 1 << 31;

    /// A host.
    pub const fn host(host: HostIx) -> NodeIx {
        NodeIx(host.0 | NodeIx::HOST)
    }

    /// A switch.
    pub const fn switch(switch: SwitchIx) -> NodeIx {
        NodeIx(switch.0)
    }

    /// The host. The caller knows that the node is one.
    #[inline(always)]
    pub const fn of_host(self) -> HostIx {
        HostIx(self.0 & !NodeIx::HOST)
    }

    /// The node.
    #[inline(always)]
    pub const fn get(self) -> Node {
        if self.0 & NodeIx::HOST != 0 {
            Node::Host(HostIx(self.0 & !NodeIx::HOST))
        } else {
            Node::Switch(SwitchIx(self.0))
        }
    }
}

/// Direction through a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// From the NIC to the stack.
    Receive,
    /// From the stack to the NIC.
    Send,
}

impl EngineId {
    /// Maximum number of engines on one side of a host.
    pub const MAX: u32 = 64;

    /// Engine number `engine`, below [`EngineId::MAX`], of this side of a host.
    pub const fn new(host: NodeId, side: Side, engine: u32) -> EngineId {
        EngineId((host.0 * 2 + side as u32) * EngineId::MAX + engine)
    }

    /// Host of the engine.
    pub const fn host(self) -> NodeId {
        NodeId(self.0 / EngineId::MAX / 2)
    }

    /// Side of the host that the engine serves.
    pub const fn side(self) -> Side {
        if self.0 / EngineId::MAX % 2 == 1 { Side::Send } else { Side::Receive }
    }

    /// Number of the engine among those of its side.
    pub const fn engine(self) -> u32 {
        self.0 % EngineId::MAX
    }
}
