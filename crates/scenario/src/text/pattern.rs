//! Patterns of names, in which `*` stands for any text.

/// True if a name matches a pattern.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    let left = name.strip_prefix(head).and_then(|left| left.strip_suffix(tail));
    // the earliest match of each part leaves the most for those after it
    let mut left = left;
    for part in middle.split('*') {
        left = left.and_then(|left| Some(&left[left.find(part)? + part.len()..]));
    }
    left.is_some()
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_star_stands_for_any_letters() {
        for (pattern, name, yes) in [
            ("*", "edge3", true),
            ("*", "", true),
            ("edge*", "edge3", true),
            ("edge*", "core3", false),
            ("*3", "edge13", true),
            ("e*1*", "edge13", true),
            ("*a*b*c", "aabbc", true),
            ("*a*b*c", "abbac", true),
            ("*a*b*c", "bac", false),
            ("ab*ba", "aba", false),
            ("edge1", "edge13", false),
            ("edge1", "edge1", true),
        ] {
            assert_eq!(fits(pattern, name), yes, "{pattern} {name}");
        }
    }
}
