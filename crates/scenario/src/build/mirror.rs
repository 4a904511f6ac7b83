//! Prescribed paths under symmetric routing: each direction mirrors the other.

use crate::document::group::path_of;
use crate::text::problem::{Errors, Problem};
use incast_engine::spec::Spec;

/// Adds the missing direction of flows with one prescribed path; refuses two paths that are not mirror images.
pub(super) fn given_paths(spec: &mut Spec) -> Result<(), Errors> {
    if !spec.choice.is_symmetric() {
        return Ok(());
    }
    let mut problems = Vec::new();
    let paths: Vec<String> = (0..spec.groups.len() as u32).map(|group| path_of(spec, group)).collect();
    for (i, flow) in spec.flows.iter_mut().enumerate() {
        // the directions of a link are adjacent
        let turned = |path: &Option<Vec<u32>>| path.as_ref().map(|path| path.iter().rev().map(|l| l ^ 1).collect());
        let (back, there): (Option<Vec<u32>>, _) = (turned(&flow.path), turned(&flow.reverse_path));
        match (&flow.path, &flow.reverse_path) {
            (Some(_), Some(given)) if back.as_ref() != Some(given) => {
                let message = format!(
                    "flow {i}, of {}, has a path and a reverse_path over other links; expected one of \
                     them, or two that are mirror images, or false",
                    paths[flow.group as usize]
                );
                problems.push(Problem::with_value("routing.symmetric", true, message));
            }
            (Some(_), None) => flow.reverse_path = back.clone(),
            (None, Some(_)) => flow.path = there,
            _ => {}
        }
        if flow.pull_path.is_some() && flow.pull_path != flow.reverse_path {
            let message = format!(
                "flow {i}, of {}, has a pull_path that is not the mirror image of its path; expected \
                 that, or none, or false",
                paths[flow.group as usize]
            );
            problems.push(Problem::with_value("routing.symmetric", true, message));
        }
    }
    Errors::unless_none(problems, ())
}
