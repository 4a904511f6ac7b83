//! Messages and receives meet as in a list that is searched from its beginning.

use crate::support::Random;
use incast_workload::ANY;
use incast_workload::matching::{Key, Mailbox};

/// Mailbox as two lists in order.
#[derive(Default)]
struct Lists {
    posted: Vec<(Key, u32)>,
    arrived: Vec<(Key, u32)>,
}

fn fits(receive: Key, message: Key) -> bool {
    [(receive.0, message.0), (receive.1, message.1)].iter().all(|(asked, own)| [ANY, *own].contains(asked))
}

impl Lists {
    fn post(&mut self, key: Key, receive: u32) -> Option<u32> {
        let found = self.arrived.iter().position(|(own, _)| fits(key, *own));
        if found.is_none() {
            self.posted.push((key, receive));
        }
        found.map(|i| self.arrived.remove(i).1)
    }

    fn arrive(&mut self, key: Key, message: u32) -> Option<u32> {
        let found = self.posted.iter().position(|(own, _)| fits(*own, key));
        if found.is_none() {
            self.arrived.push((key, message));
        }
        found.map(|i| self.posted.remove(i).1)
    }

    fn left(&self) -> (Vec<u32>, Vec<u32>) {
        let numbers = |list: &[(Key, u32)]| list.iter().map(|(_, number)| *number).collect();
        (numbers(&self.posted), numbers(&self.arrived))
    }
}

#[test]
fn a_mailbox_takes_what_a_search_of_lists_takes() {
    let mut random = Random(3);
    for case in 0..400 {
        let wild = case % 4 > 0;
        let (mut lists, mut mailbox) = (Lists::default(), Mailbox::new(wild));
        for number in 0..60 {
            let mut key = (random.below(3) as u32, random.below(2) as u32);
            if random.below(2) == 0 {
                assert_eq!(mailbox.arrive(key, number), lists.arrive(key, number), "case {case}, message {number}");
                continue;
            }
            if wild && random.below(3) == 0 {
                key.0 = ANY;
            }
            if wild && random.below(3) == 0 {
                key.1 = ANY;
            }
            assert_eq!(mailbox.post(key, number), lists.post(key, number), "case {case}, receive {number}");
            assert_eq!(mailbox.left(), lists.left(), "case {case}, after {number}");
        }
    }
}
