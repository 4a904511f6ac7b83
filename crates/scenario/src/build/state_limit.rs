//! Limit on the memory for whole paths in all states of a network with failures.

use crate::document::failures::LinkFailure;
use crate::text::problem::Problem;
use incast_engine::map::paths::Timetable;
use incast_engine::spec::Spec;

/// Problem if failures leave too many states for a routing that counts whole paths in each.
pub(super) fn too_many_states(failures: &[LinkFailure], spec: &Spec, most: u64) -> Option<Problem> {
    let size = if spec.choice.is_by_path() { Timetable::size(spec) } else { 0 };
    (size > most).then(|| {
        let message = format!(
            "routing by whole paths would count these in every state of the network, in {size} B of memory; expected \
             failures that need at most {most} B, or a routing that chooses at every switch, such as \"spray\""
        );
        let in_files = failures.iter().all(|f| f.line().is_some());
        let first = failures.iter().find_map(LinkFailure::line).filter(|_| in_files);
        Problem::new(first.map_or("failures", |line| line.place.as_str()), message)
    })
}

#[cfg(test)]
mod tests {
    use super::{LinkFailure, Timetable, too_many_states};
    use crate::Scenario;
    use crate::document::failures::{Line, Links};

    #[test]
    fn whole_paths_are_counted_in_so_many_states_and_no_more() {
        let spec = |routing: &str| {
            let mut s = Scenario::load("link-failure").unwrap();
            s.set("routing.kind", routing).unwrap();
            s.build().unwrap()
        };
        let by_path = spec("spray-source");
        let size = Timetable::size(&by_path);
        assert_eq!(size, 2 * 4 * by_path.routers.len() as u64 * by_path.hosts as u64, "without the link, and with it");
        assert_eq!(too_many_states(&[], &by_path, size), None);
        let shown = too_many_states(&[], &by_path, size - 1).unwrap().to_string();
        assert!(
            shown.starts_with("failures: routing by whole paths") && shown.contains(&format!("in {size} B")),
            "{shown}"
        );
        assert_eq!(too_many_states(&[], &spec("spray"), size - 1), None);
        let line = Line { place: "m.cm, line 4".into(), words: "switch_id 0 link_id 0".into() };
        let of_a_file = LinkFailure::from_the_beginning("agg0>core0".into(), line);
        let of_the_scenario = LinkFailure { links: Links::One("agg0>core0".into()), ..of_a_file.clone() };
        let key = |failures: &[LinkFailure]| too_many_states(failures, &by_path, size - 1).unwrap().to_string();
        assert!(key(std::slice::from_ref(&of_a_file)).starts_with("m.cm, line 4: routing by whole paths"));
        assert!(key(&[of_a_file, of_the_scenario]).starts_with("failures: routing by whole paths"));
    }
}
