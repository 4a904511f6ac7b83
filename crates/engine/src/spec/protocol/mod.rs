//! Transports of flows: TCP, and those that number packets, a file each.

mod dcpim;
mod eqds;
mod expresspass;
mod facts;
mod homa;
mod ndp;
mod phost;
mod rdma;
mod roce;
mod uet;

use super::refused_value::Refusals;
pub use dcpim::DcPim;
pub use eqds::Eqds;
pub use expresspass::{ExpressPass, Feedback};
pub use facts::Facts;
pub use homa::Homa;
pub use ndp::{Ndp, Walk};
pub use phost::{Free, PHost};
pub use rdma::{Rdma, Repace, Repair, Window};
pub use roce::Roce;
pub use uet::{Control, Spread, Uet};

/// List of transports that number packets, passed to the macro `$to`: each with its parameters and its folder in
/// [`transport`](crate::transport).
macro_rules! packet_transports {
    ($to:ident) => {
        $to! {
            /// NDP.
            Ndp => ndp,
            /// EQDS.
            Eqds => eqds,
            /// UET.
            Uet => uet,
            /// Homa.
            Homa => homa,
            /// ExpressPass.
            ExpressPass => expresspass,
            /// pHost.
            PHost => phost,
            /// RoCE.
            Roce => roce,
            /// dcPIM.
            DcPim => dcpim,
            /// RDMA.
            Rdma => rdma,
        }
    };
}
pub(crate) use packet_transports;

macro_rules! list {
    ($($(#[$doc:meta])+ $name:ident => $module:ident,)+) => {
        /// Transport of a flow.
        #[derive(Clone, PartialEq, Debug, Default)]
        pub enum Protocol {
            /// TCP.
            #[default]
            Tcp,
            $($(#[$doc])+ $name($name),)+
        }

        impl Protocol {
            /// Facts of the transport.
            pub fn facts(&self) -> Facts {
                match self {
                    Protocol::Tcp => {
                        Facts { numbers_packets: false, control: None, waits_for_nic: false, ..Facts::of("tcp") }
                    }
                    $(Protocol::$name(own) => own.facts(),)+
                }
            }

            /// Refuses values of the transport's own table.
            pub(super) fn check(&self, to: &mut Refusals) {
                match self {
                    Protocol::Tcp => {}
                    $(Protocol::$name(own) => {
                        own.bounds(to);
                        own.check(to);
                    })+
                }
            }
        }

        $(impl<'a> TryFrom<&'a Protocol> for &'a $name {
            type Error = ();
            fn try_from(protocol: &'a Protocol) -> Result<&'a $name, ()> {
                if let Protocol::$name(own) = protocol { Ok(own) } else { Err(()) }
            }
        })+
    };
}
packet_transports!(list);

impl Protocol {
    /// Parameters of one transport, if selected.
    pub fn of<'a, T>(&'a self) -> Option<&'a T>
    where
        &'a T: TryFrom<&'a Protocol>,
    {
        self.try_into().ok()
    }

    /// True for every transport except TCP.
    pub fn numbers_packets(&self) -> bool {
        self.facts().numbers_packets
    }

    /// Name in messages.
    pub fn name(&self) -> &'static str {
        self.facts().name
    }
}
