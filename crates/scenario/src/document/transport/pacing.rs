//! Pacing of senders. The engine declares the keys: names, types, bounds and texts.

use super::tables::{Written, written};
use crate::text::quantity::Rate;
use incast_engine::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Pacing.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Pacing {
    /// The controller's pacing.
    Controller(ControllerPacing),
    /// A multiple of cwnd / srtt.
    Window(WindowPacing),
}

/// The word `"controller"`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum ControllerPacing {
    /// The controller's pacing.
    Controller,
}

/// Declares the table of pacing at a multiple of the window, and its value for the engine.
macro_rules! table {
    ($(#[doc = $about:literal])+ $group:ident: $name:ident {
        $($(#[doc = $doc:literal])+ $(#[schemars($($bound:tt)+)])?
        $key:ident: $type:ty $(as $written:ty)? $(= $default:literal)?,)+
    }) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
        #[schemars(inline)]
        pub struct $name {
            $($(#[doc = $doc])+
            $(#[schemars($($bound)+)])?
            $(#[serde(default = $default)])?
            pub $key: written!($type $(as $written)?),)+
        }

        impl Written<Option<spec::$name>> for Pacing {
            fn value(self) -> Option<spec::$name> {
                match self {
                    Pacing::Controller(_) => None,
                    Pacing::Window(own) => Some(spec::$name { $($key: own.$key.value()),+ }),
                }
            }
        }
    };
}
incast_engine::window_pacing_keys! { table }
