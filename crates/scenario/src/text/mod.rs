//! Text: quantities with units, controllers, keys, and the error messages for them. It knows nothing of networks.

pub mod controller;
pub(crate) mod default;
pub(crate) mod expression;
pub mod external;
pub(crate) mod name;
pub(crate) mod pattern;
pub mod problem;
pub mod quantity;
pub(crate) mod reading;
pub mod root_schema;
pub mod schema;
pub mod words;
