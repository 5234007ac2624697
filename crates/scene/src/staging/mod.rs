//! What a browser shows of a model: a scene, and which columns of a run move it.

mod chain;
mod mechanism;
mod showing;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use oldham_cosim::Column;
use oldham_model::Model;
use oldham_web::{Feedback, Film, Frame, Gauge, Input, Moves, Rider, Role, Scene, Signal, Source};

use crate::motion::chosen_rows;

pub use showing::Showing;

/// A scene whose rows are columns of a run.
///
/// ```
/// use oldham_scene::Staging;
/// use oldham_study::{ModelFile, solve_in_memory};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/slider-crank.toml");
/// let model = ModelFile::new(path).set("simulation.duration", 0.1).read()?;
/// let simulation = model.simulation()?;
/// let staging = Staging::of(&model, simulation.columns());
/// assert_eq!(staging.columns().len(), staging.scene().width);
/// assert!(staging.scene().signals.iter().any(|signal| signal.name == "energy.total"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Staging {
    scene: Scene,
    /// For each number of a row, the column that it comes from.
    columns: Vec<usize>,
}

impl Staging {
    /// What there is to see of a model when these columns are known. What cannot be drawn is told
    /// in the notes of the scene.
    pub fn of(model: &Model, columns: &[Column]) -> Self {
        let mut draft = Draft::new(model, columns);
        for mechanism in model.mechanisms() {
            draft.mechanism(mechanism);
        }
        draft.chain(&model.chain());
        draft.finish(model)
    }

    /// The same for a run that goes on, with what somebody at the page may set.
    pub fn live(mut self, model: &Model) -> Self {
        self.scene.source = Source::Live;
        let unit = |name: &str| {
            let mut signals = self.scene.signals.iter();
            let signal = signals.find(|signal| signal.name == name);
            signal.map_or_else(String::new, |signal| signal.unit.clone())
        };
        // Of a motion one number alone would contradict the others.
        let single = model.external_inputs().filter(|it| it.initial.len() == 1);
        let inputs = single.map(|input| Input {
            name: input.name.clone(),
            component: 0,
            unit: unit(&input.name),
            initial: input.initial[0],
            low: input.range[0],
            high: input.range[1],
            feedback: input.feedback.as_ref().and_then(|felt| {
                let mut signals = self.scene.signals.iter();
                let signal = signals.find(|signal| signal.name == felt.signal)?;
                Some(Feedback {
                    name: signal.name.clone(),
                    unit: signal.unit.clone(),
                    at: signal.at,
                    full: felt.full,
                })
            }),
        });
        let inputs: Vec<Input> = inputs.collect();
        let felt = |name: &str| {
            let mut inputs = inputs.iter().filter_map(|input| input.feedback.as_ref());
            inputs.any(|feedback| feedback.name == name)
        };
        for input in model.external_inputs() {
            if let Some(feedback) = &input.feedback
                && !felt(&feedback.signal)
            {
                self.scene.notes.push(format!(
                    "Nothing is felt at `{}`: there is no recorded signal `{}`.",
                    input.name, feedback.signal
                ));
            }
        }
        self.scene.inputs = inputs;
        self
    }

    /// The scene of a run that goes on, with its initial row and the columns of the simulation that
    /// its further rows consist of. Given are all columns with their initial values, and which of
    /// them are shown.
    pub fn of_run(
        model: &Model,
        columns: &[Column],
        initial: &[f64],
        shown: &[usize],
    ) -> (Film, Vec<usize>) {
        let known: Vec<Column> = shown.iter().map(|&place| columns[place].clone()).collect();
        let staging = Self::of(model, &known).live(model);
        let taken = staging.columns.iter().map(|&place| shown[place]).collect();
        let first: Vec<[f64; 1]> = shown.iter().map(|&place| [initial[place]]).collect();
        let film = staging.film(&[model.start()], |place| &first[place], 1);
        (film, taken)
    }

    /// What is drawn.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// For each number of a row, the column that it comes from.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// A film of recorded columns, with so many rows at most, at equal distances.
    pub fn film<'t>(
        mut self,
        times: &[f64],
        column: impl Fn(usize) -> &'t [f64],
        frames: usize,
    ) -> Film {
        let chosen = chosen_rows(times.len(), frames);
        if chosen.len() < times.len() {
            let note = format!(
                "{} of {} recorded rows are shown.",
                chosen.len(),
                times.len()
            );
            self.scene.notes.push(note);
        }
        let sources: Vec<&[f64]> = self.columns.iter().map(|&place| column(place)).collect();
        let row = |&row: &usize| sources.iter().map(move |column| column[row] as f32);
        Film {
            rows: chosen.iter().flat_map(row).collect(),
            times: chosen.iter().map(|&row| times[row]).collect(),
            scene: self.scene,
        }
    }
}

/// A scene in the making.
struct Draft<'c> {
    /// In which files lie that the model names.
    folder: PathBuf,
    known: &'c [Column],
    by_name: HashMap<&'c str, usize>,
    scene: Scene,
    columns: Vec<usize>,
    /// Corners of the box around what is placed so far.
    box_around: Option<[[f64; 3]; 2]>,
}

impl<'c> Draft<'c> {
    fn new(model: &Model, known: &'c [Column]) -> Self {
        let by_name = known.iter().enumerate();
        let ground = Frame {
            name: "ground".into(),
            motion: Moves::Not { base: [0.0; 3] },
        };
        let folder = Path::new(model.source().name()).parent();
        Self {
            folder: folder.unwrap_or(Path::new("")).to_owned(),
            by_name: by_name
                .map(|(i, column)| (column.name.as_str(), i))
                .collect(),
            known,
            scene: Scene {
                title: model.name().into(),
                description: model.description().unwrap_or_default().into(),
                up: [0.0, 0.0, 1.0],
                frames: vec![ground],
                ..Scene::default()
            },
            columns: Vec::new(),
            box_around: None,
        }
    }

    /// Takes columns into the row, one after the other; the place of the first.
    fn take(&mut self, names: &[String]) -> Result<usize, String> {
        let find = |name: &String| self.by_name.get(name.as_str()).copied().ok_or(name.clone());
        let found: Vec<usize> = names.iter().map(find).collect::<Result<_, _>>()?;
        let at = self.columns.len();
        self.columns.extend(found);
        Ok(at)
    }

    /// The unit of a column.
    fn unit(&self, name: &str) -> String {
        let column = self.by_name.get(name).map(|&place| &self.known[place]);
        column.map_or_else(String::new, |column| column.unit.to_string())
    }

    fn frame(&mut self, name: &str, motion: Moves) -> usize {
        self.scene.frames.push(Frame {
            name: name.into(),
            motion,
        });
        self.scene.frames.len() - 1
    }

    /// The number of a part's colour.
    fn group(&mut self, name: &str) -> usize {
        let groups = &mut self.scene.groups;
        let known = groups.iter().position(|other| other == name);
        known.unwrap_or_else(|| {
            groups.push(name.into());
            groups.len() - 1
        })
    }

    fn surround(&mut self, place: [f64; 3]) {
        let [low, high] = self.box_around.get_or_insert([place; 2]);
        for axis in 0..3 {
            low[axis] = low[axis].min(place[axis]);
            high[axis] = high[axis].max(place[axis]);
        }
    }

    /// Where somebody sits who rides along, and what instruments show.
    fn cockpit(&mut self, model: &Model) {
        let cockpit = model.cockpit();
        let (frames, notes) = (&self.scene.frames, &mut self.scene.notes);
        let seat = cockpit.seat.as_ref().and_then(|seat| {
            let frame = frames.iter().position(|frame| frame.name == seat.node)?;
            let eye = seat.eye.map(|eye| [eye[0], eye[1], eye[2]]);
            Some(Rider { frame, eye })
        });
        let follow = self.scene.follow.map(|frame| Rider { frame, eye: None });
        self.scene.rider = seat.or(follow);
        self.scene.follow = self.scene.rider.map(|rider| rider.frame);
        for gauge in &cockpit.gauges {
            let mut signals = self.scene.signals.iter();
            let Some(signal) = signals.find(|signal| signal.name == gauge.signal) else {
                notes.push(format!(
                    "An instrument is missing: there is no recorded signal `{}`.",
                    gauge.signal
                ));
                continue;
            };
            let unit = gauge.unit.clone();
            let (unit, factor) = unit.unwrap_or_else(|| (signal.unit.clone(), 1.0));
            self.scene.gauges.push(Gauge {
                label: gauge.label.clone(),
                at: signal.at,
                unit,
                factor,
                range: gauge.range,
            });
        }
    }

    /// Every column can be plotted, whether it moves something or not.
    fn finish(mut self, model: &Model) -> Staging {
        let mut is_taken = vec![false; self.known.len()];
        self.columns
            .iter()
            .for_each(|&place| is_taken[place] = true);
        self.columns
            .extend((0..self.known.len()).filter(|&place| !is_taken[place]));
        let mut place_of = vec![0; self.known.len()];
        for (at, &place) in self.columns.iter().enumerate() {
            place_of[place] = at;
        }
        let is_time = |column: &Column| column.name == "time";
        let signals = self
            .known
            .iter()
            .zip(place_of)
            .filter(|(column, _)| !is_time(column));
        self.scene.signals = signals
            .map(|(column, at)| Signal {
                role: role(&column.name, model),
                name: column.name.clone(),
                unit: column.unit.to_string(),
                at,
            })
            .collect();
        if self.scene.groups.len() < 2 {
            self.scene.groups.clear();
            self.scene
                .items
                .iter_mut()
                .for_each(|item| item.group = None);
        }
        if self.scene.items.is_empty() {
            self.scene
                .notes
                .push("There is nothing to draw of this model.".into());
        }
        self.scene.width = self.columns.len();
        self.cockpit(model);
        Staging {
            scene: self.scene,
            columns: self.columns,
        }
    }
}

/// What a column tells by its name.
fn role(column: &str, model: &Model) -> Option<Role> {
    if column == "energy.imbalance" || column.starts_with("exchange.") {
        return Some(Role::Spurious);
    }
    if column.starts_with("energy.") {
        return Some(Role::Energy);
    }
    let is_inner = |name: &str| {
        let rest = column.strip_prefix(name);
        let inner = [
            ".nodes.",
            ".interfaces.",
            ".sections.",
            ".particles.",
            ".contacts.",
        ];
        rest.is_some_and(|rest| inner.iter().any(|start| rest.starts_with(start)))
    };
    let is_rate = [".v", ".a"].iter().any(|end| column.ends_with(end));
    let is_plain = !is_rate && !model.mechanisms().any(|it| is_inner(it.name()));
    is_plain.then_some(Role::Output)
}
