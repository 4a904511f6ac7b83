//! Metadata that only packets of some controllers carry: stamps of ports, and requests to switches.

mod signals;
mod stamps;

pub use signals::{Claim, Demand, Granted, Signal, Signals};
pub use stamps::{PortStamp, STAMPS, Telemetry};

/// Metadata that only packets of some controllers carry.
#[derive(Clone, Debug, PartialEq)]
pub enum Aside {
    /// Stamps of ports (in-band telemetry).
    Stamps(Telemetry),
    /// Requests to switches, and their answers.
    Signals(Signals),
}

impl Aside {
    /// The echoed answer, if any.
    pub fn echoed(&self) -> Option<Signal> {
        match self {
            Aside::Signals(signals) => signals.echoed,
            Aside::Stamps(_) => None,
        }
    }

    /// The signals of the packet. Replaces its stamps, if it has any.
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
