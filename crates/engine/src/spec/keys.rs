//! Parameters that a scenario's keys set. A key is declared once: name, type in the engine, type in scenarios if it
//! differs (`as`), bounds, the text that users read, and the default in scenarios if presets have none (`=`).

/// Declares structs of parameters, a group each. Exports the declarations as a macro `$carry`, which passes them and
/// further tokens to a macro of the caller.
macro_rules! keys {
    ($d:tt $carry:ident $($declared:tt)+) => {
        $crate::spec::keys::structs! { $($declared)+ }

        #[doc(hidden)]
        #[macro_export]
        macro_rules! $carry {
            ($d to:ident $d($d more:tt)*) => {
                $d to! { $($declared)+ $d($d more)* }
            };
        }
    };
}
pub(crate) use keys;

macro_rules! structs {
    ($($(#[doc = $about:literal])+ $group:ident: $name:ident {
        $($(#[doc = $doc:literal])+ $(#[schemars($($bound:tt)+)])?
        $key:ident: $type:ty $(as $written:ty)? $(= $default:literal)?,)+
    })+) => {
        $($(#[doc = $about])+
        #[derive(Clone, PartialEq, Debug)]
        pub struct $name {
            $($(#[doc = $doc])+ pub $key: $type,)+
        }

        impl $name {
            /// Refuses numbers out of their bounds.
            #[allow(dead_code, unused_variables, reason = "some groups have no bounds")]
            pub(crate) fn bounds(&self, to: &mut $crate::spec::refused_value::Refusals) {
                $($(to.within(stringify!($key), self.$key.into(), $crate::spec::keys::bounds!($($bound)+));)?)+
            }
        })+
    };
}
pub(crate) use structs;

/// Bounds of a number, as the schema of scenarios has them.
macro_rules! bounds {
    (range(min = $least:literal, max = $most:literal)) => {
        (std::ops::Bound::Included($least as f64), std::ops::Bound::Included($most as f64))
    };
    (range(min = $least:literal)) => {
        (std::ops::Bound::Included($least as f64), std::ops::Bound::Unbounded)
    };
    (range(max = $most:literal)) => {
        (std::ops::Bound::Unbounded, std::ops::Bound::Included($most as f64))
    };
    (extend("exclusiveMinimum" = $least:literal)) => {
        (std::ops::Bound::Excluded($least as f64), std::ops::Bound::Unbounded)
    };
    (extend("exclusiveMinimum" = $least:literal), range(max = $most:literal)) => {
        (std::ops::Bound::Excluded($least as f64), std::ops::Bound::Included($most as f64))
    };
    (range(min = $least:literal), extend("exclusiveMaximum" = $most:literal)) => {
        (std::ops::Bound::Included($least as f64), std::ops::Bound::Excluded($most as f64))
    };
}
pub(crate) use bounds;
