//! External controllers, which are not part of this crate, such as a class written by a user in Python.
//!
//! An embedding program implements [`ExternalFactory`], which stands for the controller and its parameters, and
//! [`ExternalController`], a [`Controller`] behind a pointer. Everything else treats it as a controller of this
//! crate; only its kind, [`KIND`], has no parameters to describe.

use crate::registry::Kind;
use crate::{Controller, Env, Pacing, Phase, Profile, Time};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::any::Any;
use core::fmt;

/// Makes the controllers of flows.
pub trait ExternalFactory: Any + fmt::Debug + Send + Sync {
    /// Name as a scenario gives it: `"mymodule:MyController"`.
    fn name(&self) -> &str;
    /// Parameters as in the scenario, in its order: names and values.
    fn params(&self) -> &[(String, String)];
    /// Identifies the version of its code; part of the scenario's identity.
    fn source(&self) -> &str;
    /// Requirements on the transport.
    fn profile(&self) -> Profile;
    /// Creates the controller of a new flow.
    fn make(&self, env: &Env) -> Box<dyn ExternalController>;
}

/// A controller of one flow, made by an [`ExternalFactory`].
pub trait ExternalController: Controller + fmt::Debug + Send + Sync {}

/// An external controller, before a flow exists. Two are equal if name, parameters and source are.
#[derive(Clone, Debug)]
pub struct External(pub Arc<dyn ExternalFactory>);

impl PartialEq for External {
    fn eq(&self, other: &External) -> bool {
        let (a, b) = (&self.0, &other.0);
        (a.name(), a.params(), a.source()) == (b.name(), b.params(), b.source())
    }
}

impl fmt::Display for External {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())?;
        for (i, (name, value)) in self.0.params().iter().enumerate() {
            write!(f, "{}{name}={value}", if i == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

/// Description shared by all external controllers.
pub static KIND: Kind = Kind {
    name: "external",
    title: "A controller of one's own",
    source: "its author",
    what: "A controller that is not part of Incast.",
    differences: &[],
    state: &[],
    profile: Profile::TCP,
    params: &[],
};

/// Slowest pacing, bits per second: a packet in some hours.
const SLOWEST: f64 = 1.0;

/// Largest window, bytes: more than any network holds. A window above it has grown without a bound.
const LARGEST: f64 = 1e15;

/// Attributes by which a user's object governs its flow, as read after a call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Attributes {
    /// Congestion window, bytes.
    pub cwnd: f64,
    /// Slow-start threshold, bytes.
    pub ssthresh: Option<f64>,
    /// Time between two packets, ps.
    pub pacing_gap_ps: Option<f64>,
    /// Rate of sending, bits per second; a gap goes before it.
    pub pacing_rate_bps: Option<f64>,
}

impl Attributes {
    /// Window and pacing that they ask for. The error says which attribute is wrong, and what was expected.
    pub fn pacing(&self) -> Result<Pacing, String> {
        let Attributes { cwnd, pacing_gap_ps: gap, pacing_rate_bps: rate, .. } = *self;
        if !(cwnd > 0.0 && cwnd <= LARGEST) {
            let text = if cwnd > LARGEST { format!("{cwnd:e}") } else { cwnd.to_string() };
            return Err(format!("cwnd is {text}; expected a number of bytes above 0 and at most {LARGEST:e}"));
        }
        match (gap, rate) {
            (Some(gap), _) if !(gap.is_finite() && gap >= 0.0) => {
                Err(format!("pacing_gap_ps is {gap}; expected a number of at least 0"))
            }
            (_, Some(rate)) if !(rate.is_finite() && rate > 0.0) => {
                Err(format!("pacing_rate_bps is {rate}; expected a number above 0, or None for no pacing"))
            }
            (Some(gap), _) => Ok(Pacing::Gap(Time(libm::round(gap) as u64))),
            (None, Some(rate)) => Ok(Pacing::Rate(rate.max(SLOWEST))),
            (None, None) => Ok(Pacing::None),
        }
    }
}

/// Name of a phase for users' code.
pub fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Open => "open",
        Phase::Cwr => "cwr",
        Phase::Recovery => "recovery",
        Phase::Loss => "loss",
    }
}

/// Declares what users' objects are passed: hands classes, attributes, types and values to the macro `$declare`.
#[macro_export]
macro_rules! external_events {
    ($declare:ident) => {
        $declare! {
            /// Facts of its flow for a new controller. Times in picoseconds, sizes in bytes.
            Env of env = &$crate::Env;
            flow: u32 = env.flow,
            mss: u32 = env.mss,
            initial_window: f64 = env.initial_window,
            packet_time_ps: u64 = env.packet_time.0,
            shortest_rtt_ps: u64 = env.shortest_rtt.0,
            shortest_hops: u32 = env.shortest_hops,
            hop_rtt_ps: u64 = env.hop_rtt.0,
            base_rtt_ps: u64 = env.base_rtt.0,
            line_rate_bps: f64 = env.line_rate.as_f64(),
            line_packet_time_ps: u64 = env.line_packet_time.0,
        }
        $declare! {
            /// An acknowledgement. Times in picoseconds, sizes in bytes.
            Ack of ack = &$crate::Ack;
            now_ps: u64 = ack.now.0,
            acked: u64 = ack.acked,
            delivered: u64 = ack.delivered,
            rtt_ps: Option<u64> = ack.rtt.map(|t| t.0),
            srtt_ps: u64 = ack.srtt.0,
            fabric_delay_ps: Option<u64> = ack.fabric_delay.map(|t| t.0),
            endpoint_delay_ps: Option<u64> = ack.endpoint_delay.map(|t| t.0),
            hops: u32 = ack.hops,
            ece: bool = ack.ece,
            in_flight: u64 = ack.in_flight,
            lost_bytes: u64 = ack.lost_bytes,
            round_acked: u64 = ack.round.acked,
            round_sent: u64 = ack.round.sent,
            /// Older names of `round_acked` and `round_sent`.
            una: u64 = ack.round.acked,
            nxt: u64 = ack.round.sent,
            cwnd_limited: bool = ack.cwnd_limited,
            phase: &'static str = $crate::external::phase_name(ack.phase),
        }
        $declare! {
            /// A loss, a mark, or a timeout. Times in picoseconds, sizes in bytes.
            Congestion of (event, timeouts) = (&$crate::Congestion, u32);
            now_ps: u64 = event.now.0,
            in_flight: u64 = event.in_flight,
            window: f64 = event.window,
            rtt_ps: u64 = event.rtt.0,
            /// Smoothed RTT; None at a timeout.
            srtt_ps: Option<u64> = (timeouts == 0).then_some(event.srtt.0),
            /// Number of consecutive timeouts; 0 if the event is not a timeout.
            consecutive: u32 = timeouts,
        }
    };
}
