//! Next step of a packet at the end of a link.

use crate::ids::PortIx;

/// Next step of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Route {
    /// Egress port.
    Port(PortIx),
    /// Egress port chosen by the switch when the packet arrives.
    Choose,
    /// Delivery to the stack of its host.
    Deliver,
    /// No route to the destination.
    None,
}

/// [`Route`] in four bytes: an engine window stores one for every packet.
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

    /// Index of the port; larger than every port index if the route is not a port.
    #[inline(always)]
    pub const fn ix(self) -> usize {
        self.0 as usize
    }

    /// Route.
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
