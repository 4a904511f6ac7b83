//! Makes one type of all controllers in the list in `lib.rs` ([`Config`](crate::Config), [`Cc`](crate::Cc)); the only
//! place that forwards the methods of [`Controller`](crate::Controller).

use crate::registry::{Kind, ParamSet};
use core::fmt;

/// Writes a controller as a user would name it: its kind, its form unless that is the standard one, and the
/// parameters that differ from the form's.
pub(crate) fn write_short<P: ParamSet>(kind: &Kind, params: &P, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(kind.name)?;
    let (base, default) = (params.base(), P::default());
    let mut separator = ':';
    for param in P::PARAMS {
        let compared_with = if param.name == "form" { &default } else { &base };
        if !params.agrees(param.name, compared_with) {
            write!(f, "{separator}{}=", param.name)?;
            params.write(param.name, f)?;
            separator = ',';
        }
    }
    Ok(())
}

/// Implements [`Controller`](crate::Controller) by forwarding to another one: `pattern => the other`, for each.
macro_rules! forward {
    ($($pattern:pat => $cc:ident),+ $(,)?) => {
        forward! { @to [$($pattern => $cc,)+]
            #[inline] on_ack(&mut self, ack: &$crate::Ack);
            on_telemetry(&mut self, hops: &[$crate::Hop]);
            on_rate(&mut self, granted: f64);
            wants(&self, now: $crate::Time) -> f64;
            on_feedback(&mut self, feedback: &$crate::Feedback);
            on_bolt_grant(&mut self, packets: u32);
            on_backlog(&mut self, backlog: &$crate::Backlog);
            on_delivery(&mut self, sample: &$crate::Delivery);
            on_deadline(&mut self, deadline: &$crate::Deadline);
            on_cnp(&mut self, now: $crate::Time);
            wake_at(&self) -> $crate::Time;
            on_wake(&mut self, now: $crate::Time);
            #[inline] on_loss(&mut self, event: &$crate::Congestion);
            heeds_mark(&self) -> bool;
            #[inline] on_ecn(&mut self, event: &$crate::Congestion);
            #[inline] on_timeout(&mut self, event: &$crate::Timeout);
            #[inline] on_recovered(&mut self, now: $crate::Time, in_flight: u64);
            on_undo(&mut self);
            on_idle(&mut self, idle: &$crate::Idle);
            #[inline] cwnd(&self) -> f64;
            #[inline] ssthresh(&self) -> f64;
            in_slow_start(&self) -> bool;
            #[inline] pacing(&self) -> $crate::Pacing;
            state(&self, visit: &mut dyn FnMut(&'static str, f64));
        }
    };
    (
        @to $to:tt
        $($(#[$inline:meta])? $name:ident(&$($receiver:ident)+ $(, $arg:ident: $type:ty)*) $(-> $gives:ty)?;)+
    ) => {
        $(forward! { @one $to $(#[$inline])? $name [&$($receiver)+] ($($arg: $type),*) ($($arg),*) $(-> $gives)? })+
    };
    (
        @one [$($pattern:pat => $cc:ident,)+]
        $(#[$inline:meta])? $name:ident [&mut $self:ident] ($($arg:ident: $type:ty),*) $args:tt $(-> $gives:ty)?
    ) => {
        $(#[$inline])?
        fn $name(&mut $self $(, $arg: $type)*) $(-> $gives)? {
            match $self { $($pattern => $cc.$name $args),+ }
        }
    };
    (
        @one [$($pattern:pat => $cc:ident,)+]
        $(#[$inline:meta])? $name:ident [&$self:ident] ($($arg:ident: $type:ty),*) $args:tt $(-> $gives:ty)?
    ) => {
        $(#[$inline])?
        fn $name(&$self $(, $arg: $type)*) $(-> $gives)? {
            match $self { $($pattern => $cc.$name $args),+ }
        }
    };
}

/// Turns the list of controllers into [`Config`](crate::Config), [`Cc`](crate::Cc) and [`KINDS`](crate::KINDS). An
/// entry `file::Type` stands for a module `file` with `Params`, `KIND` and `Type`, where `Type` is a
/// [`Controller`](crate::Controller) made by `Type::new(&Params, &Env)`. Modules are declared outside, because tools
/// that format or mutate source look for `mod` and do not expand macros.
macro_rules! controllers {
    ($($file:ident::$type:ident,)+) => {
        /// Every kind of controller, in the order of registration.
        pub static KINDS: &[&Kind] = &[$(&$file::KIND),+];

        /// A controller and its parameters, before a flow exists.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Config {
            $(#[doc = concat!("See [`", stringify!($file), "`].")] $type($file::Params),)+
            /// A controller from outside this crate.
            External($crate::external::External),
        }

        impl Config {
            /// Controller of that name with its default parameters.
            pub fn new(kind: &str) -> Option<Config> {
                $(if kind == $file::KIND.name {
                    return Some(Config::$type($file::Params::default()));
                })+
                None
            }

            /// Description of the kind: name, source, declarations of its parameters.
            pub fn kind(&self) -> &'static Kind {
                match self {
                    $(Config::$type(_) => &$file::KIND,)+
                    Config::External(_) => &$crate::external::KIND,
                }
            }

            /// Requirements on the transport.
            pub fn profile(&self) -> Profile {
                match self {
                    $(Config::$type(params) => params.profile($file::KIND.profile),)+
                    Config::External(external) => external.0.profile(),
                }
            }

            /// Sets a parameter from the user's text.
            pub fn set(&mut self, key: &str, value: &str) -> Result<(), ParamError> {
                match self {
                    $(Config::$type(params) => ParamSet::set(params, key, value),)+
                    Config::External(_) => Err(ParamError::UnknownKey),
                }
            }

            /// The value of a parameter, in the text form that [`Config::set`] reads; `None` for
            /// an unknown key.
            pub fn get(&self, key: &str) -> Option<ParamValue<'_>> {
                let param = self.kind().params.iter().find(|param| param.name == key)?;
                let set: &dyn $crate::registry::WriteParam = match self {
                    $(Config::$type(params) => params,)+
                    Config::External(_) => return None,
                };
                Some(ParamValue::new(set, param))
            }

            /// Checks the parameters against each other; call it after the last `set`. Set the parameter `form`
            /// before all others.
            pub fn check(&self) -> Result<(), Conflict> {
                match self {
                    $(Config::$type(params) => params.check(),)+
                    Config::External(_) => Ok(()),
                }
            }

            /// Creates the controller of a new flow.
            pub fn build(&self, env: &Env) -> Cc {
                match self {
                    $(Config::$type(params) => Cc::$type($file::$type::new(params, env)),)+
                    Config::External(external) => Cc::External(external.0.make(env)),
                }
            }
        }

        /// Writes the controller as a user would name it: its kind, and after a colon the parameters that differ from
        /// its form's.
        impl core::fmt::Display for Config {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self {
                    $(Config::$type(params) => $crate::dispatch::write_short(&$file::KIND, params, f),)+
                    Config::External(external) => external.fmt(f),
                }
            }
        }

        /// Controller of one flow, of any kind: one `match` instead of a box and a virtual call per packet.
        #[derive(Debug)]
        pub enum Cc {
            $(#[doc = concat!("See [`", stringify!($file), "`].")] $type($file::$type),)+
            /// A controller from outside this crate.
            External(alloc::boxed::Box<dyn $crate::external::ExternalController>),
        }

        impl Controller for Cc {
            forward! { $(Cc::$type(cc) => cc,)+ Cc::External(cc) => cc }
        }
    };
}
