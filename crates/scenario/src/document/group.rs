//! Groups of flows: the traffic entries of a document, then its jobs.

use super::Document;
use super::app::App;
use super::job::Job;
use super::traffic::Traffic;
use super::transport::Transport;
use crate::text::controller::Controller;
use incast_engine::spec::Spec;

/// A traffic entry or a job.
#[derive(Clone, Copy)]
pub(crate) enum Group<'d> {
    /// A traffic entry.
    Traffic(&'d Traffic),
    /// A job.
    Job(&'d Job),
}

impl Document {
    /// Groups of flows, by number.
    pub(crate) fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        self.traffic.iter().map(Group::Traffic).chain(self.jobs.iter().map(Group::Job))
    }

    /// Writes out the names and transports of all groups; the transport of the document is resolved.
    pub(crate) fn name_groups(&mut self) {
        for t in &mut self.traffic {
            t.name = Some(t.name());
            t.transport = t.transport.as_ref().map(|own| own.over(&self.transport));
        }
        for job in &mut self.jobs {
            job.name = Some(job.name());
            job.transport = job.transport.as_ref().map(|own| own.over(&self.transport));
        }
    }

    /// The group of this number.
    pub(crate) fn group(&self, number: u32) -> Option<Group<'_>> {
        self.groups().nth(number as usize)
    }
}

impl<'d> Group<'d> {
    /// Name in results.
    pub(crate) fn name(self) -> String {
        match self {
            Group::Traffic(traffic) => traffic.name(),
            Group::Job(job) => job.name(),
        }
    }

    /// Key path, `traffic.NAME` or `job.NAME`.
    pub(crate) fn path(self) -> String {
        match self {
            Group::Traffic(traffic) => format!("traffic.{}", traffic.name()),
            Group::Job(job) => format!("job.{}", job.name()),
        }
    }

    /// Controller of the group alone.
    pub(crate) fn controller(self) -> Option<&'d Controller> {
        match self {
            Group::Traffic(traffic) => traffic.controller.as_ref(),
            Group::Job(job) => job.controller.as_ref(),
        }
    }

    /// Transport of the group alone.
    pub(crate) fn transport(self) -> Option<&'d Transport> {
        match self {
            Group::Traffic(traffic) => traffic.transport.as_ref(),
            Group::Job(job) => job.transport.as_ref(),
        }
    }

    /// Applications of its flows; a job has messages in place of them.
    pub(crate) fn app(self) -> Option<&'d App> {
        match self {
            Group::Traffic(traffic) => Some(&traffic.app),
            Group::Job(_) => None,
        }
    }

    /// File of flows, whose rows may have classes and controllers.
    pub(crate) fn file(self) -> Option<&'d str> {
        match self {
            Group::Traffic(traffic) => traffic.file.as_deref(),
            Group::Job(_) => None,
        }
    }

    /// Traffic class of data, and that of acknowledgements if it is given.
    pub(crate) fn classes(self) -> (u8, Option<u8>) {
        match self {
            Group::Traffic(traffic) => (traffic.class, traffic.ack_class),
            Group::Job(job) => (job.class, job.ack_class),
        }
    }

    /// Key that asks for a traffic class above 0, and the class; or the column of its file that may.
    pub(crate) fn asks_for_class(self) -> Option<(String, Option<u8>)> {
        match (self.classes(), self.file()) {
            ((class @ 1.., _), _) => Some((format!("{}.class", self.path()), Some(class))),
            ((_, Some(class @ 1..)), _) => Some((format!("{}.ack_class", self.path()), Some(class))),
            (_, Some(file)) => Some((format!("{file}: prio"), None)),
            _ => self.asks_by_kind(),
        }
    }

    /// Key of a job's settings by kind of message that asks for a traffic class above 0, and the class.
    fn asks_by_kind(self) -> Option<(String, Option<u8>)> {
        let Group::Job(Job { by: Some(by), .. }) = self else { return None };
        by.iter().find_map(|(name, own)| {
            let keys = [("class", own.class), ("ack_class", own.ack_class)];
            let (key, class) = keys.into_iter().find(|(_, class)| class.is_some_and(|class| class > 0))?;
            Some((format!("{}.by.{name}.{key}", self.path()), class))
        })
    }

    /// True if its flows keep to one path.
    pub(crate) fn keeps_one_path(self) -> bool {
        matches!(self, Group::Traffic(traffic) if traffic.keeps_one_path())
    }
}

/// Key path of a group of a specification, `traffic.NAME` or `job.NAME`.
pub(crate) fn path_of(spec: &Spec, group: u32) -> String {
    let table = if spec.jobs.iter().any(|job| job.group == group) { "job" } else { "traffic" };
    format!("{table}.{}", spec.groups[group as usize])
}
