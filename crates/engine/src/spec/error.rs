//! Errors of a run.

/// Why a run ended without a result.
#[derive(Clone, PartialEq, Debug)]
pub enum RunError {
    /// The caller asked to stop.
    Stopped,
    /// The specification contradicts itself, or the run cannot go on (e.g. endless work at one
    /// instant); in words for the user.
    Invalid(String),
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunError::Stopped => f.write_str("the run was stopped"),
            RunError::Invalid(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for RunError {}
