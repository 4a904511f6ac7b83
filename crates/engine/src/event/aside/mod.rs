//! Data that only the packets of some controllers carry, beside the packet: stamps of ports, and what packets ask of
//! switches.

mod signals;
mod stamps;

pub use signals::{Claim, Demand, Granted, Signal, Signals};
pub use stamps::{PortStamp, STAMPS, Telemetry};

/// Data that only the packets of some controllers carry.
#[derive(Clone, Debug, PartialEq)]
pub enum Aside {
    /// Stamps of ports.
    Stamps(Telemetry),
    /// Questions to switches, and their answers.
    Signals(Signals),
}

impl Aside {
    /// What comes back, if anything.
    pub fn echoed(&self) -> Option<Signal> {
        match self {
            Aside::Signals(signals) => signals.echoed,
            Aside::Stamps(_) => None,
        }
    }

    /// Its signals; a packet with stamps gets them in their place.
    pub fn signals(&mut self) -> &mut Signals {
        if let Aside::Stamps(_) = self {
            *self = Aside::Signals(Signals::default());
        }
        match self {
            Aside::Signals(signals) => signals,
            Aside::Stamps(_) => unreachable!("they have just been replaced"),
        }
    }
}
