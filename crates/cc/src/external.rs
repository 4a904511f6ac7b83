//! External controllers, which are not part of this crate, such as a class written by a user in Python.
//!
//! An embedding program implements [`ExternalFactory`], which stands for the controller and its parameters, and
//! [`ExternalController`], a [`Controller`] behind a pointer. Everything else treats it as a controller of this
//! crate; only its kind, [`KIND`], has no parameters to describe.

use crate::registry::Kind;
use crate::{Controller, Env, Profile};
use alloc::boxed::Box;
use alloc::string::String;
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
