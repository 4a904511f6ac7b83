//! Items by group, in the order of their numbers.

/// Items of every group, contiguous in memory.
#[derive(Clone, Debug)]
pub struct Groups<T> {
    /// Items of group `g`: `items[first[g] .. first[g + 1]]`.
    first: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy + Default> Groups<T> {
    /// Sorts `items`, each with its group, into `count` groups.
    pub fn new(count: usize, items: impl ExactSizeIterator<Item = (usize, T)> + Clone) -> Groups<T> {
        let mut first = vec![0u32; count + 1];
        items.clone().for_each(|(group, _)| first[group + 1] += 1);
        (0..count).for_each(|g| first[g + 1] += first[g]);
        let mut at = first.clone();
        let mut placed = vec![T::default(); items.len()];
        for (group, item) in items {
            placed[at[group] as usize] = item;
            at[group] += 1;
        }
        Groups { first, items: placed }
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.first.len() - 1
    }

    /// The items of a group.
    pub fn of(&self, group: usize) -> &[T] {
        &self.items[self.first[group] as usize..self.first[group + 1] as usize]
    }
}
