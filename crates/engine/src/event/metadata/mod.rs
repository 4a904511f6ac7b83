//! Metadata that only packets of some controllers carry: stamps of ports, and requests to switches.

mod signals;
mod stamps;

pub use signals::{BoltSignal, RateGrant, Signal, Signals, WindowGrant};
pub use stamps::{PortStamp, STAMPS, Telemetry};

/// Metadata that only packets of some controllers carry.
#[derive(Clone, Debug, PartialEq)]
pub enum Metadata {
    /// Stamps of ports (in-band telemetry).
    Stamps(Telemetry),
    /// Requests to switches, and their answers.
    Signals(Signals),
}

impl Metadata {
    /// The echoed answer, if any.
    pub fn echoed(&self) -> Option<Signal> {
        match self {
            Metadata::Signals(signals) => signals.echoed,
            Metadata::Stamps(_) => None,
        }
    }

    /// The signals of the packet. Replaces its stamps, if it has any.
    pub fn signals(&mut self) -> &mut Signals {
        if let Metadata::Stamps(_) = self {
            *self = Metadata::Signals(Signals::default());
        }
        match self {
            Metadata::Signals(signals) => signals,
            Metadata::Stamps(_) => unreachable!("they have just been replaced"),
        }
    }
}
