//! Where a packet goes from the end of a link.

use crate::ids::PortIx;

/// Where a packet goes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Route {
    /// Out of this port.
    Port(PortIx),
    /// Out of a port that the switch chooses when the packet arrives.
    Choose,
    /// To the stack: it is at its host.
    Deliver,
    /// Nowhere: no route leads to its destination.
    None,
}

/// A [`Route`] in four bytes: a window keeps one for every packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Planned(u32);

impl Planned {
    /// [`Route::Deliver`].
    pub const DELIVER: Planned = Planned(u32::MAX);
    /// [`Route::None`].
    pub const NONE: Planned = Planned(u32::MAX - 1);
    /// [`Route::Choose`].
    pub const CHOOSE: Planned = Planned(u32::MAX - 2);

    /// [`Route::Port`].
    #[inline(always)]
    pub const fn port(port: PortIx) -> Planned {
        Planned(port.0)
    }

    /// Index of the port; beyond every port where the route is none.
    #[inline(always)]
    pub const fn ix(self) -> usize {
        self.0 as usize
    }

    /// The route.
    #[inline(always)]
    pub const fn route(self) -> Route {
        match self {
            Planned::DELIVER => Route::Deliver,
            Planned::NONE => Route::None,
            Planned::CHOOSE => Route::Choose,
            Planned(port) => Route::Port(PortIx(port)),
        }
    }
}

impl Default for Planned {
    fn default() -> Planned {
        Planned::NONE
    }
}
