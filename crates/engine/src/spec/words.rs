//! Words: an enum whose values users write as words, each declared once with its word and meaning.

/// Declares an enum of words. `WORDS` has each word with its value and meaning, `DOC` the meaning of the whole.
macro_rules! words {
    ($(#[doc = $about:literal])+ $name:ident { $($(#[doc = $doc:literal])+ $value:ident = $word:literal,)+ }) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name {
            $($(#[doc = $doc])+ $value,)+
        }

        impl $name {
            #[doc(hidden)]
            pub const DOC: &str = concat!($($about, "\n"),+);
            #[doc(hidden)]
            pub const WORDS: &[(&str, $name, &str)] = &[$(($word, $name::$value, concat!($($doc, "\n"),+))),+];
        }
    };
}
pub(crate) use words;
