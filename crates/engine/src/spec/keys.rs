//! Parameters that a scenario's keys set. A key is declared once: name, type in the engine, type in scenarios if it
//! differs (`as`), bounds, and the text that users read.

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
        $($(#[doc = $doc:literal])+ $(#[schemars($($bound:tt)+)])* $key:ident: $type:ty $(as $written:ty)?,)+
    })+) => {
        $($(#[doc = $about])+
        #[derive(Clone, PartialEq, Debug)]
        pub struct $name {
            $($(#[doc = $doc])+ pub $key: $type,)+
        })+
    };
}
pub(crate) use structs;
