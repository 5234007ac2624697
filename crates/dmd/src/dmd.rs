//! The predictor: collects snapshots from the exchange, and answers from what was learned.

use std::ops::Range;

use oldham_cosim::{InputPort, Ports, Predictor, State, Visitor};

use crate::error::DmdError;
use crate::frames::{Frames, Memory};
use crate::kinematics::Kinematics;
use crate::learner::{Learner, Lesson};
use crate::monitor::{Monitor, Report};
use crate::settings::Settings;

/// Predicts the inputs of a subsystem from a model that it learns from the exchange.
///
/// A snapshot is learned from when the next one opens or when the future is asked for, whichever
/// is first; until then a sample at the same time replaces it at no cost.
pub struct Dmd {
    /// The inputs that are predicted.
    ports: Vec<Port>,
    /// Where each input of the subsystem is among those.
    chosen: Vec<Option<usize>>,
    /// Places of the controls among the outputs.
    controls: Vec<usize>,
    kinematics: Kinematics,
    frames: Frames,
    /// The newest controls, which may be newer than the newest snapshot.
    sent: Vec<f64>,
    learner: Learner,
    resets: u64,
    monitor: Monitor,
    /// The snapshots before a visit.
    memory: Memory,
    answer: Vec<f64>,
}

/// An input port that is predicted.
struct Port {
    /// Its place in the subsystem's input vector.
    target: Range<usize>,
    /// Its place among the received components.
    place: Range<usize>,
    /// One if a sample arrived, else zero: nothing is said about ports that nothing feeds.
    fed: u64,
}

/// The learned model x(k+1) = A x(k) + B u(k) + c, with delayed signals after the newest ones.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearModel {
    /// Received components, the rows.
    pub received: usize,
    /// Coefficients of all signals, newest first, and last of the constant, row by row.
    pub coefficients: Vec<f64>,
}

impl Dmd {
    /// A predictor for a subsystem with these ports.
    pub fn new(ports: &Ports, settings: &Settings) -> Result<Self, DmdError> {
        let (inputs, controls) = settings.validate(ports)?;
        let mut chosen = vec![None; ports.inputs().len()];
        let mut received_ports = Ports::new();
        let mut predicted = Vec::new();
        for (index, &input) in inputs.iter().enumerate() {
            chosen[input.0] = Some(index);
            let port = &ports.inputs()[input.0];
            let place = received_ports.add_input(port.name.as_str(), port.quantity.clone());
            predicted.push(Port {
                target: ports.input_range(input),
                place: received_ports.input_range(place),
                fed: 0,
            });
        }
        let (received, sent) = (received_ports.input_width(), controls.len());
        let learner = Learner::new(settings, received, sent);
        let frames = Frames::new(learner.snapshots(), received, sent);
        Ok(Self {
            ports: predicted,
            chosen,
            controls,
            kinematics: Kinematics::of(&received_ports),
            memory: frames.memory(),
            frames,
            sent: vec![0.0; sent],
            learner,
            resets: 0,
            monitor: Monitor::default(),
            answer: vec![0.0; received],
        })
    }

    /// A window through which to watch this predictor when a simulation has taken it over.
    pub fn monitor(&self) -> Monitor {
        self.monitor.clone()
    }

    /// What it is doing.
    pub fn report(&self) -> Report {
        let model = self.learner.model();
        Report {
            shape: model.shape(),
            pairs: model.pairs() as u64,
            rank: model.rank() as u64,
            fallbacks: self.learner.fallbacks(),
            resets: self.resets,
            switches: self.learner.switches(),
            error: self.learner.usual_error(),
        }
    }

    /// The model in use, as learned from everything exchanged so far.
    pub fn model(&mut self) -> Option<LinearModel> {
        self.learn();
        let step = self.frames.step()?;
        self.learner.solve(&self.frames, &self.kinematics);
        let model = self.learner.model();
        let received = self.answer.len();
        let rows = (0..received).flat_map(|component| model.coefficients(component));
        let mut coefficients: Vec<f64> = rows.copied().collect();
        // The Taylor step is linear: its columns are its images of the unit vectors.
        for column in 0..received {
            let mut unit = vec![0.0; received];
            unit[column] = 1.0;
            self.kinematics.taylor(&unit, step, &mut self.answer);
            for (row, value) in self.answer.iter().enumerate() {
                coefficients[row * model.columns() + column] += value;
            }
        }
        Some(LinearModel {
            received,
            coefficients,
        })
    }

    fn learn(&mut self) {
        let lesson = self.learner.learn(&mut self.frames, &self.kinematics);
        if lesson == Lesson::PastIsWorthless {
            self.restart();
        }
    }

    /// Keeps only the newest snapshot.
    fn restart(&mut self) {
        self.resets += 1;
        self.frames.restart();
        self.learner.restart(self.frames.count());
    }

    /// Makes the newest snapshot one of time t, opening it if need be.
    fn date(&mut self, t: f64) {
        match self.frames.newest_time() {
            Some(newest) if t == newest => self.unlearn_newest(),
            Some(newest) if t < newest => {
                self.restart();
                self.frames.redate(t);
            }
            _ => {
                self.learn();
                self.frames.open(t);
                self.frames.newest_sent().copy_from_slice(&self.sent);
            }
        }
    }

    /// The newest snapshot is about to be changed.
    fn unlearn_newest(&mut self) {
        if self.learner.has_learned(&self.frames) {
            self.learner.distrust();
        }
    }

    /// Keeps the orientations of the newest snapshot on the sheet of the one before.
    fn align_newest(&mut self) {
        if let Some(before) = self.frames.count().checked_sub(2) {
            self.answer.copy_from_slice(self.frames.received(before));
            let newest = self.frames.newest_received();
            self.kinematics.align(&self.answer, newest);
        }
    }

    /// The received components at a time not after the newest snapshot.
    fn look_back(&mut self, t: f64) {
        let newest = self.frames.count() - 1;
        let (end, to) = (self.frames.time(newest), self.frames.received(newest));
        let before = newest.checked_sub(1).filter(|_| t < end);
        let Some(before) = before else {
            self.answer.copy_from_slice(to);
            return;
        };
        let (start, from) = (self.frames.time(before), self.frames.received(before));
        let span = end - start;
        let s = ((t - start) / span).max(0.0);
        self.kinematics
            .interpolate(from, to, span, s, &mut self.answer);
    }

    /// The received components a time `tau` after the newest snapshot.
    fn look_ahead(&mut self, tau: f64) {
        self.learn();
        if self.learner.look_ahead(&self.frames, &self.kinematics) {
            self.monitor.write(&self.report());
        }
        self.learner
            .at(tau, &self.frames, &self.kinematics, &mut self.answer);
    }
}

impl Predictor for Dmd {
    fn receive(&mut self, port: InputPort, t: f64, values: &[f64]) {
        let Some(chosen) = self.chosen[port.0] else {
            return;
        };
        // Not a number teaches nothing, and would stay for a whole window: the last value stands.
        if !are_finite(values) {
            return;
        }
        self.date(t);
        let port = &mut self.ports[chosen];
        port.fed = 1;
        self.frames.newest_received()[port.place.clone()].copy_from_slice(values);
        self.align_newest();
    }

    fn sent(&mut self, t: f64, outputs: &[f64]) {
        if !are_finite(outputs) {
            return;
        }
        for (kept, &place) in self.sent.iter_mut().zip(&self.controls) {
            *kept = outputs[place];
        }
        if self.frames.newest_time() == Some(t) {
            self.unlearn_newest();
            self.frames.newest_sent().copy_from_slice(&self.sent);
        }
    }

    fn predict(&mut self, t: f64, _now: Option<&[f64]>, inputs: &mut [f64]) {
        let Some(newest) = self.frames.newest_time() else {
            return;
        };
        if t <= newest {
            self.look_back(t);
        } else {
            self.look_ahead(t - newest);
        }
        self.kinematics.normalise(&mut self.answer);
        for port in self.ports.iter().filter(|port| port.fed > 0) {
            inputs[port.target.clone()].copy_from_slice(&self.answer[port.place.clone()]);
        }
    }

    fn reset(&mut self) {
        self.restart();
    }

    fn note(&self) -> Option<String> {
        let report = self.report();
        Some(format!("predicts with what it learned: {report}"))
    }
}

impl State for Dmd {
    /// Snapshots, and what was expected of them. Factors and coefficients follow from the
    /// snapshots, bit by bit, and are made anew when those come back changed.
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.frames.copy_to(&mut self.memory);
        let had_learned = self.learner.has_learned(&self.frames);
        self.frames.visit(visitor);
        visitor.vector(&mut self.sent);
        for port in &mut self.ports {
            visitor.count(&mut port.fed);
        }
        self.learner.visit(visitor);
        visitor.count(&mut self.resets);
        let has_learned = self.learner.has_learned(&self.frames);
        if had_learned != has_learned || !self.frames.equals(&self.memory) {
            self.learner.distrust();
        }
    }
}

fn are_finite(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite())
}
