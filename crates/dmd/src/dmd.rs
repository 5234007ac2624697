//! The predictor: collects snapshots from the exchange, and answers from what was learned.

use std::ops::Range;

use oldham_cosim::{InputPort, Ports, Predictor, State, Visitor};

use crate::error::DmdError;
use crate::frames::{Frames, Memory};
use crate::kinematics::Kinematics;
use crate::learner::{Learner, Lesson};
use crate::monitor::{Monitor, Report};
use crate::rounding::copy_group;
use crate::selection::{Port, Selection, are_finite};
use crate::settings::Settings;

/// Times that differ by less than this fraction of the step are the same.
const ROUNDING: f64 = 1e-9;

/// Predicts the inputs of a subsystem from a model that it learns from the exchange.
///
/// A snapshot is learned from when the next one opens or when the future is asked for, whichever
/// is first; until then a sample at the same time replaces it at no cost.
///
/// In a sequential schedule some samples lie at the end of the coming step while others are still to
/// come. Such a snapshot stays early until it is whole: what has arrived is interpolated, what has
/// not is predicted from the last whole one.
pub struct Dmd {
    /// The inputs that are predicted.
    ports: Vec<Port>,
    /// Where each input of the subsystem is among those.
    chosen: Vec<Option<usize>>,
    /// Places of the controls among the outputs, by groups of components that are compared with each other.
    controls: Vec<Range<usize>>,
    kinematics: Kinematics,
    frames: Frames,
    early: Early,
    /// Predictions of the future so far.
    outlooks: u64,
    /// The newest controls, which may be newer than the newest snapshot.
    sent: Vec<f64>,
    learner: Learner,
    resets: u64,
    monitor: Monitor,
    /// The snapshots before a visit.
    memory: Memory,
    answer: Vec<f64>,
}

/// A snapshot of which only a part has arrived.
struct Early {
    time: f64,
    /// The received components.
    values: Vec<f64>,
    /// One for each port whose sample has arrived, else zero.
    arrived: Vec<u64>,
    /// One while there is such a snapshot, else zero.
    open: u64,
    /// Room for an interpolation towards it.
    between: Vec<f64>,
}

impl Early {
    fn new(ports: usize, received: usize) -> Self {
        Self {
            time: 0.0,
            values: vec![0.0; received],
            arrived: vec![0; ports],
            open: 0,
            between: vec![0.0; received],
        }
    }

    fn is_open(&self) -> bool {
        self.open > 0
    }

    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.count(&mut self.open);
        visitor.fixed(std::slice::from_mut(&mut self.time));
        visitor.fixed(&mut self.values);
        for arrived in &mut self.arrived {
            visitor.count(arrived);
        }
    }
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
        let Selection {
            ports,
            chosen,
            controls,
            control_groups,
            received: received_ports,
        } = settings.validate(ports)?;
        let (received, sent) = (received_ports.input_width(), controls.len());
        let learner = Learner::new(settings, received, sent);
        let frames = Frames::new(learner.snapshots(), received, sent);
        Ok(Self {
            early: Early::new(ports.len(), received),
            outlooks: 0,
            ports,
            chosen,
            controls: control_groups,
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

    /// Takes a sample that is newer than the newest whole snapshot.
    fn receive_early(&mut self, chosen: usize, t: f64, values: &[f64]) {
        if self.early.is_open() && self.early.time != t {
            self.close_early();
        }
        if !self.early.is_open() {
            self.early.open = 1;
            self.early.time = t;
            self.early.arrived.fill(0);
            match self.frames.count() {
                0 => self.early.values.fill(0.0),
                count => {
                    let newest = self.frames.received(count - 1);
                    self.early.values.copy_from_slice(newest);
                }
            }
        }
        self.ports[chosen].copy(values, &mut self.early.values);
        self.early.arrived[chosen] = 1;
        let mut ports = self.ports.iter().zip(&self.early.arrived);
        if ports.all(|(port, &arrived)| port.fed == arrived) {
            self.close_early();
        }
    }

    /// Makes a snapshot of what has arrived; what has not is held.
    fn close_early(&mut self) {
        self.early.open = 0;
        self.date(self.early.time);
        let newest = self.frames.newest_received();
        for (port, &arrived) in self.ports.iter().zip(&self.early.arrived) {
            if arrived > 0 {
                let place = port.place.clone();
                newest[place.clone()].copy_from_slice(&self.early.values[place]);
            }
        }
        self.align_newest();
    }

    /// Puts what has arrived early in place of what was predicted for a time up to then.
    fn look_between(&mut self, t: f64) {
        let Self {
            frames,
            early,
            kinematics,
            answer,
            ports,
            ..
        } = self;
        let newest = frames.count() - 1;
        let (start, from) = (frames.time(newest), frames.received(newest));
        kinematics.align(from, &mut early.values);
        let span = early.time - start;
        let s = ((t - start) / span).clamp(0.0, 1.0);
        kinematics.interpolate(from, &early.values, span, s, &mut early.between);
        for (port, &arrived) in ports.iter().zip(&early.arrived) {
            if arrived > 0 {
                let place = port.place.clone();
                answer[place.clone()].copy_from_slice(&early.between[place]);
            }
        }
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

    /// Whether a time is not after the early snapshot, but for the rounding of its computation.
    fn is_within_early(&self, t: f64) -> bool {
        let newest = self.frames.newest_time().unwrap_or(t);
        t <= self.early.time + ROUNDING * (self.early.time - newest)
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
        self.outlooks += 1;
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
        // NaN teaches nothing, and would stay for a whole window: the last value stands.
        if !are_finite(values) {
            return;
        }
        let newest = self.frames.newest_time();
        let is_new = newest.is_none_or(|newest| t > newest);
        if !is_new {
            self.early.open = 0;
            self.date(t);
        }
        let port = &mut self.ports[chosen];
        port.fed = 1;
        if is_new {
            return self.receive_early(chosen, t, values);
        }
        port.copy(values, self.frames.newest_received());
        self.align_newest();
    }

    fn sent(&mut self, t: f64, outputs: &[f64]) {
        if !are_finite(outputs) {
            return;
        }
        let mut kept = &mut self.sent[..];
        for group in &self.controls {
            let (head, rest) = kept.split_at_mut(group.len());
            copy_group(&outputs[group.clone()], head);
            kept = rest;
        }
        if self.frames.newest_time() == Some(t) {
            self.unlearn_newest();
            self.frames.newest_sent().copy_from_slice(&self.sent);
        }
    }

    fn predict(&mut self, t: f64, _now: Option<&[f64]>, inputs: &mut [f64]) {
        if self.early.is_open() && !self.is_within_early(t) {
            self.close_early();
        }
        let Some(newest) = self.frames.newest_time() else {
            return;
        };
        if t <= newest {
            self.look_back(t);
        } else {
            self.look_ahead(t - newest);
            if self.early.is_open() {
                self.look_between(t);
            }
        }
        self.kinematics.normalise(&mut self.answer);
        for port in self.ports.iter().filter(|port| port.fed > 0) {
            inputs[port.target.clone()].copy_from_slice(&self.answer[port.place.clone()]);
        }
    }

    fn reset(&mut self) {
        if self.early.is_open() {
            self.close_early();
        }
        self.restart();
    }

    fn note(&self) -> Option<String> {
        if self.outlooks == 0 {
            return Some(
                "has nothing to predict: all it receives is known when it advances".into(),
            );
        }
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
        self.early.visit(visitor);
        visitor.count(&mut self.outlooks);
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
