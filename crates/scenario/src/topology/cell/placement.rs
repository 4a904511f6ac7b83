//! Positions of the stations of a cell, and their range.

use crate::files::Beside;
use crate::files::read_named;
use crate::files::rows::Rows;
use crate::text::problem::{Errors, Problem, Report};
use incast_engine::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest coordinate and distance, metres. Signals take 3.3 ms for it, two hundred times as long as a symbol.
const FAR: f64 = 1e6;

/// Positions of the stations. The first is that of the sink, or of the gateway.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Placement {
    /// The first in the middle, the others evenly on a circle.
    Circle {
        /// Radius, metres.
        radius: f64,
    },
    /// On a square grid, row by row. The first is the corner, or the position nearest to the middle.
    Grid {
        /// Distance between neighbours, metres; this or `side`.
        step: Option<f64>,
        /// Length of a row, metres; this or `step`.
        side: Option<f64>,
        /// Stations per row; default: the square root of their number, rounded up.
        #[schemars(range(min = 1))]
        columns: Option<u32>,
        /// Makes the position nearest to the middle the first.
        #[serde(default)]
        centre: bool,
    },
    /// The first in the middle, the others at `distance` to its left and right in turn: beyond half the range,
    /// neither side hears the other.
    Hidden {
        /// Distance from the first, metres.
        distance: f64,
    },
    /// From a CSV file with the columns `x` and `y`, metres, one line per station.
    File {
        /// Name of the file; relative to the scenario file.
        file: String,
    },
}

impl Placement {
    /// Name of its file, if it has one.
    pub(crate) fn file(&mut self) -> Option<&mut String> {
        match self {
            Placement::File { file } => Some(file),
            _ => None,
        }
    }

    /// Positions of `count` stations of a cell.
    pub(super) fn places(&self, count: u32, beside: &Beside) -> Result<Vec<(f64, f64)>, Errors> {
        let places = match self {
            Placement::Circle { radius } => {
                let turn = |i: u32| core::f64::consts::TAU * f64::from(i) / f64::from(count.max(2) - 1);
                let at = |i: u32| (radius * libm::cos(turn(i)), radius * libm::sin(turn(i)));
                std::iter::once((0.0, 0.0)).chain((0..count - 1).map(at)).collect()
            }
            Placement::Hidden { distance } => {
                let at = |i: u32| (if i.is_multiple_of(2) { -distance } else { *distance }, 0.0);
                std::iter::once((0.0, 0.0)).chain((1..count).map(at)).collect()
            }
            Placement::Grid { step, side, columns, centre } => {
                let columns = columns.unwrap_or_else(|| libm::ceil(libm::sqrt(f64::from(count))) as u32).max(1);
                let step = step.unwrap_or_else(|| side.unwrap_or(0.0) / f64::from((columns - 1).max(1)));
                let at = |i: u32| (f64::from(i % columns) * step, f64::from(i / columns) * step);
                let mut places: Vec<(f64, f64)> = (0..count).map(at).collect();
                if *centre {
                    let first = nearest_to_middle(&places);
                    let place = places.remove(first);
                    places.insert(0, place);
                }
                places
            }
            Placement::File { file } => from_file(file, count, beside)?,
        };
        self.check_apart(&places)?;
        let far = |(x, y): &(f64, f64)| x.abs().max(y.abs()) > FAR;
        if let Some(number) = places.iter().position(far) {
            let (x, y) = places[number];
            let message = format!("station number {} is at {x} m, {y} m; expected within 1000 km", number + 1);
            return Err(Problem::new("topology.placement", message).into());
        }
        Ok(places)
    }

    /// Reports two stations at one position, whose distance would be zero. Those of a hidden placement may share
    /// theirs.
    fn check_apart(&self, places: &[(f64, f64)]) -> Result<(), Errors> {
        if let Placement::Hidden { .. } = self {
            return Ok(());
        }
        let mut sorted: Vec<(usize, (f64, f64))> = places.iter().copied().enumerate().collect();
        sorted.sort_by(|a, b| a.1.0.total_cmp(&b.1.0).then(a.1.1.total_cmp(&b.1.1)).then(a.0.cmp(&b.0)));
        let Some(pair) = sorted.windows(2).find(|pair| pair[0].1 == pair[1].1) else { return Ok(()) };
        let (first, second) = (pair[0].0 + 1, pair[1].0 + 1);
        let (x, y) = pair[0].1;
        let message =
            format!("stations number {first} and {second} are both at {x} m, {y} m; expected distinct places");
        Err(Problem::new("topology.placement", message).into())
    }

    /// Reports invalid distances.
    pub(super) fn check(&self, at: &mut Report) {
        let mut distance = |key: &str, value: f64| {
            if !(value > 0.0 && value <= FAR) {
                at.value(key, value, "expected a distance above 0 m, at most 1000 km");
            }
        };
        match self {
            Placement::Circle { radius } => distance("radius", *radius),
            Placement::Hidden { distance: own } => distance("distance", *own),
            Placement::Grid { step: Some(step), side: None, .. } => distance("step", *step),
            Placement::Grid { step: None, side: Some(side), .. } => distance("side", *side),
            Placement::Grid { .. } => at.key("step", "expected either step or side"),
            Placement::File { .. } => {}
        }
        if let Placement::Grid { columns: Some(0), .. } = self {
            at.value("columns", 0, "expected at least 1");
        }
    }
}

/// Position nearest to the centroid; the first of equal ones.
fn nearest_to_middle(places: &[(f64, f64)]) -> usize {
    let n = places.len() as f64;
    let sum = places.iter().fold((0.0, 0.0), |sum, place| (sum.0 + place.0, sum.1 + place.1));
    let middle = (sum.0 / n, sum.1 / n);
    let far = |place: &(f64, f64)| libm::hypot(place.0 - middle.0, place.1 - middle.1);
    let mut nearest = 0;
    for (i, place) in places.iter().enumerate() {
        if far(place) < far(&places[nearest]) {
            nearest = i;
        }
    }
    nearest
}

fn from_file(file: &str, count: u32, beside: &Beside) -> Result<Vec<(f64, f64)>, Errors> {
    let text = read_named("topology.placement.file", beside, file)?;
    let rows = Rows::read(file, &text, &["x", "y"], &["x", "y"])?;
    let mut problems = Vec::new();
    let mut places = Vec::new();
    for row in rows.iter() {
        if !row.fits(&mut problems) {
            continue;
        }
        let metres = |text: &str| match text.parse::<f64>() {
            Ok(value) if value.abs() <= FAR => Ok(value),
            _ => Err("expected a number of metres, -1000 km to 1000 km".to_owned()),
        };
        let mut metres = |column| {
            if row.get(column).is_none() {
                problems.push(row.wrong(column, "expected a number of metres"));
            }
            row.parse(column, metres, &mut problems)
        };
        let (x, y) = (metres("x"), metres("y"));
        places.extend(x.zip(y));
    }
    if problems.is_empty() && places.len() != count as usize {
        let message = format!("{} places; expected {count}, one a station", places.len());
        problems.push(Problem::new(file, message));
    }
    Errors::unless_none(problems, places)
}

/// Range of the stations.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Propagation {
    /// Full power up to a distance, and none beyond.
    Range {
        /// Distance, metres.
        range: f64,
    },
    /// A loss of `reference_db + 10 exponent log10(distance / 1 m)` dB.
    LogDistance {
        /// Loss at 1 m, dB; 46.6777 is ns-3's default.
        #[serde(default = "reference")]
        reference_db: f64,
        /// Exponent; 3 is ns-3's default.
        #[serde(default = "exponent")]
        exponent: f64,
        /// Standard deviation of shadowing, dB: a normal number for every pair of stations.
        #[serde(default)]
        shadowing_db: f64,
    },
}

fn reference() -> f64 {
    46.6777
}

fn exponent() -> f64 {
    3.0
}

impl Default for Propagation {
    fn default() -> Propagation {
        Propagation::Range { range: 80.0 }
    }
}

impl Propagation {
    pub(super) fn spec(&self) -> spec::Propagation {
        match *self {
            Propagation::Range { range } => spec::Propagation::Range(range),
            Propagation::LogDistance { reference_db, exponent, shadowing_db } => {
                spec::Propagation::LogDistance { reference: reference_db, exponent, shadowing: shadowing_db }
            }
        }
    }

    pub(super) fn check(&self, at: &mut Report) {
        match *self {
            Propagation::Range { range } if !(range > 0.0 && range <= FAR) => {
                at.value("range", range, "expected a distance above 0 m, at most 1000 km");
            }
            Propagation::LogDistance { reference_db, exponent, shadowing_db } => {
                let values = [("reference_db", reference_db, 200.0), ("exponent", exponent, 10.0)];
                for (key, value, most) in values.into_iter().chain([("shadowing_db", shadowing_db, 50.0)]) {
                    if !(0.0..=most).contains(&value) {
                        at.value(key, value, format!("expected 0 to {most}"));
                    }
                }
            }
            Propagation::Range { .. } => {}
        }
    }
}
