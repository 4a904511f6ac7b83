//! Labels of the tasks of a rank. Labels `l<number>`, which programs write, are places of an array.

use std::collections::HashMap;

const NONE: u32 = u32::MAX;

/// Tasks by label.
#[derive(Default)]
pub struct Labels {
    numbered: Vec<u32>,
    named: HashMap<Box<[u8]>, u32>,
}

impl Labels {
    /// Forgets all labels.
    pub fn clear(&mut self) {
        self.numbered.clear();
        self.named.clear();
    }

    /// Task with this label.
    pub fn find(&self, label: &[u8]) -> Option<u32> {
        match number(label).and_then(|n| self.numbered.get(n as usize)) {
            Some(&task) if task != NONE => Some(task),
            _ => self.named.get(label).copied(),
        }
    }

    /// Gives a task a label; returns the task that has it already, and leaves it there.
    pub fn insert(&mut self, label: &[u8], task: u32) -> Option<u32> {
        if let Some(other) = self.find(label) {
            return Some(other);
        }
        // the array stays in proportion to the tasks; labels beyond have names
        match number(label).filter(|n| *n <= 2 * u64::from(task) + 64) {
            Some(n) => {
                if self.numbered.len() as u64 <= n {
                    self.numbered.resize(n as usize + 1, NONE);
                }
                self.numbered[n as usize] = task;
            }
            None => {
                self.named.insert(label.into(), task);
            }
        }
        None
    }
}

/// Number of a label `l<number>` without leading zeros.
fn number(label: &[u8]) -> Option<u64> {
    let digits = label.strip_prefix(b"l")?;
    if digits.is_empty() || digits.len() > 10 || (digits[0] == b'0' && digits.len() > 1) {
        return None;
    }
    digits.iter().try_fold(0u64, |n, c| c.is_ascii_digit().then(|| n * 10 + u64::from(c - b'0')))
}
