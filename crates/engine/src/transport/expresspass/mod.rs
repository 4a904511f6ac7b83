//! ExpressPass (Cho et al., "Credit-scheduled delay-bounded congestion control for datacenters", SIGCOMM 2017).
//!
//! A data packet is sent only for a credit of its receiver. Every port lets credits through at the rate at which their
//! data fills the opposite link, and drops the rest ([`CreditShaping`](crate::spec::CreditShaping)). A receiver adapts
//! its rate of credits to the share that was dropped, known from the credit numbers on arriving data.
//!
//! Rules are those of the authors' simulator (kaist-ina/ns2-xpass f4e38bc, `xpass.cc`); the paper's form of the
//! feedback is known at second hand. Additions, because packets can be lost here: credits acknowledge received data,
//! requests carry a session number, and an unanswered request or stop is repeated.

mod feedback;
mod receiver;
mod sender;
mod wire;

pub use receiver::Receiver;
pub use sender::Sender;

/// Traffic class of credits.
const CREDITS: u8 = 0;
