//! Time of a rank by what it does.

use incast_cc::Time;

/// Time of a rank since its iteration began: with a calculation, with communication and no calculation, with neither.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Account {
    /// Time with a calculation under way.
    pub compute: Time,
    /// Time with a message under way, from or to the rank, and no calculation: exposed communication.
    pub exposed: Time,
    /// Time with neither.
    pub idle: Time,
    /// Time with a message under way.
    pub communication: Time,
    calculations: u32,
    messages: u32,
    known_to: Time,
}

impl Account {
    /// An account that begins at `now`. What is under way goes on.
    pub fn begin(&mut self, now: Time) {
        let (calculations, messages) = (self.calculations, self.messages);
        *self = Account { calculations, messages, known_to: now, ..Account::default() };
    }

    /// Adds the time up to `now`, in which nothing has changed.
    pub fn advance(&mut self, now: Time) {
        let span = now.saturating_sub(self.known_to);
        self.known_to = now;
        let share = match (self.calculations, self.messages) {
            (0, 0) => &mut self.idle,
            (0, _) => &mut self.exposed,
            _ => &mut self.compute,
        };
        *share += span;
        if self.messages > 0 {
            self.communication += span;
        }
    }

    /// Counts a calculation that begins, or ends.
    pub fn calculates(&mut self, now: Time, begins: bool) {
        self.advance(now);
        self.calculations = if begins { self.calculations + 1 } else { self.calculations.saturating_sub(1) };
    }

    /// Counts a message that sets out, or arrives.
    pub fn communicates(&mut self, now: Time, begins: bool) {
        self.advance(now);
        self.messages = if begins { self.messages + 1 } else { self.messages.saturating_sub(1) };
    }
}
