//! Dynamic mode decomposition as its authors have it, beside [`crate::Dmd`]: for comparison.

use nalgebra::{DMatrix, DVector};
use oldham_cosim::{InputPort, Ports, Predictor, State, Visitor};

use crate::error::DmdError;
use crate::frames::Frames;
use crate::selection::{Port, Selection, are_finite};
use crate::settings::{Controls, Received};

/// How a [`PlainDmd`] learns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainSettings {
    /// Pairs of snapshots in the window.
    pub window: usize,
    /// Whether one pair is taken in and one out (Eq. 12 to 19), instead of fitting all of them anew (Eq. 4).
    pub recursive: bool,
    /// The inputs that are predicted.
    pub received: Received,
    /// The outputs that act on the other side.
    pub controls: Controls,
}

impl PlainSettings {
    /// The window that so many received and sent components need, if this one is too short.
    pub fn too_short(&self, signals: usize) -> Option<usize> {
        (self.window < signals).then_some(signals)
    }
}

/// The predictor of Pikuliński et al., Sect. 2.3, as printed: x(k+1) = S z(k), z = (x, u), fitted to the last w pairs, without a
/// constant, without kinematics and without doubts.
///
/// A hold for two pairs; from then on the window grows until it has w of them, the soft start of Sect. 3.1: while there are fewer
/// pairs than unknowns, the smallest matrix that fits them. The recursion begins when the pairs determine S; Eq. 19 with the
/// outgoing pair k − w + 1, where the print has the newest one. Between communication points it goes along a line (Fig. 19). It
/// allocates in every step.
pub struct PlainDmd {
    window: usize,
    recursive: bool,
    ports: Vec<Port>,
    chosen: Vec<Option<usize>>,
    /// Places of the controls among the outputs.
    controls: Vec<usize>,
    /// The snapshots of the window, the newest, and the one that left it last.
    frames: Frames,
    /// The newest controls, which may be newer than the newest snapshot.
    sent: Vec<f64>,
    /// The recursion with all pairs but the newest.
    settled: Recursion,
    // What follows from the above: with the newest pair, and what it says for the next snapshot.
    newest: Option<Recursion>,
    next: Option<DVector<f64>>,
}

/// S, and P of the recursion where the pairs have full row rank.
#[derive(Clone)]
struct Recursion {
    model: DMatrix<f64>,
    normal: DMatrix<f64>,
    /// One while there is a model, else zero.
    has_model: u64,
    /// One while the recursion goes on, else zero.
    has_normal: u64,
}

impl Recursion {
    fn none(received: usize, signals: usize) -> Self {
        Self {
            model: DMatrix::zeros(received, signals),
            normal: DMatrix::zeros(signals, signals),
            has_model: 0,
            has_normal: 0,
        }
    }

    /// With a pair more, or with the opposite sign one less (Sherman and Morrison).
    fn update(&mut self, z: &DVector<f64>, y: &DVector<f64>, sign: f64) {
        let along = &self.normal * z;
        let gamma = sign / (1.0 + sign * z.dot(&along));
        let miss = y - &self.model * z;
        self.model += gamma * miss * along.transpose();
        self.normal -= gamma * &along * along.transpose();
    }
}

impl PlainDmd {
    /// A predictor for a subsystem with these ports.
    pub fn new(ports: &Ports, settings: &PlainSettings) -> Result<Self, DmdError> {
        let Selection {
            ports,
            chosen,
            controls,
            received,
            ..
        } = Selection::new(ports, &settings.received, &settings.controls)?;
        let (received, sent) = (received.input_width(), controls.len());
        if let Some(needed) = settings.too_short(received + sent) {
            return Err(DmdError::WindowTooShort {
                window: settings.window,
                needed,
                received,
                sent,
                delays: 0,
            });
        }
        Ok(Self {
            window: settings.window,
            recursive: settings.recursive,
            ports,
            chosen,
            frames: Frames::new(settings.window + 2, received, sent),
            sent: vec![0.0; sent],
            settled: Recursion::none(received, received + sent),
            controls,
            newest: None,
            next: None,
        })
    }

    /// Makes the newest snapshot one of time t, opening it if need be.
    fn date(&mut self, t: f64) {
        match self.frames.newest_time() {
            Some(newest) if t == newest => {}
            Some(newest) if t < newest => {
                self.reset();
                self.frames.redate(t);
            }
            newest => {
                if newest.is_some() {
                    self.settled = self.with_newest();
                }
                self.frames.open(t);
                self.frames.newest_sent().copy_from_slice(&self.sent);
            }
        }
        self.newest = None;
        self.next = None;
    }

    fn z(&self, index: u64) -> DVector<f64> {
        DVector::from_column_slice(self.frames.signals(index))
    }

    fn y(&self, index: u64) -> DVector<f64> {
        DVector::from_column_slice(self.frames.received(index))
    }

    /// The recursion with the newest pair.
    fn with_newest(&mut self) -> Recursion {
        if let Some(found) = self.newest.take() {
            return found;
        }
        let newest = self.frames.count() - 1;
        if !self.recursive || self.settled.has_normal == 0 || newest < 2 {
            return self.fit(newest);
        }
        let mut found = self.settled.clone();
        found.update(&self.z(newest - 1), &self.y(newest), 1.0);
        if let Some(out) = (newest - 1).checked_sub(self.window as u64) {
            found.update(&self.z(out), &self.y(out + 1), -1.0);
        }
        found
    }

    /// Fits all pairs of the window.
    fn fit(&self, newest: u64) -> Recursion {
        let none = Recursion {
            has_model: 0,
            has_normal: 0,
            ..self.settled.clone()
        };
        if newest < 2 {
            return none;
        }
        let pairs = newest.saturating_sub(self.window as u64)..newest;
        let columns: Vec<_> = pairs.clone().map(|index| self.z(index)).collect();
        let next: Vec<_> = pairs.map(|index| self.y(index + 1)).collect();
        let z = DMatrix::from_columns(&columns);
        let y = DMatrix::from_columns(&next);
        let svd = z.clone().svd(true, true);
        let values = &svd.singular_values;
        let bound = f64::EPSILON * values.max() * z.ncols().max(z.nrows()) as f64;
        let rank = values.iter().filter(|&&value| value > bound).count();
        let Ok(inverse) = svd.pseudo_inverse(bound) else {
            return none;
        };
        let normal = (&z * z.transpose()).try_inverse();
        let normal = normal.filter(|_| rank == z.nrows());
        Recursion {
            model: y * inverse,
            has_model: 1,
            has_normal: u64::from(normal.is_some()),
            normal: normal.unwrap_or(none.normal),
        }
    }

    /// The snapshot one step after the newest one, if there is a model.
    fn next(&mut self) -> Option<&DVector<f64>> {
        if self.next.is_none() {
            let found = self.with_newest();
            if found.has_model > 0 {
                self.next = Some(&found.model * self.z(self.frames.count() - 1));
            }
            self.newest = Some(found);
        }
        self.next.as_ref()
    }

    /// The received components at a time.
    fn at(&mut self, t: f64) -> DVector<f64> {
        let newest = self.frames.count() - 1;
        let x = self.y(newest);
        let (time, step) = (self.frames.time(newest), self.frames.step());
        let Some(step) = step.filter(|_| t != time) else {
            return x;
        };
        let s = (t - time) / step;
        if t < time {
            return &x + (&x - self.y(newest - 1)) * s.max(-1.0);
        }
        match self.next() {
            Some(next) => &x + (next - &x) * s,
            None => x,
        }
    }
}

impl Predictor for PlainDmd {
    fn receive(&mut self, port: InputPort, t: f64, values: &[f64]) {
        let Some(chosen) = self.chosen[port.0].filter(|_| are_finite(values)) else {
            return;
        };
        self.date(t);
        let port = &mut self.ports[chosen];
        port.fed = 1;
        self.frames.newest_received()[port.place.clone()].copy_from_slice(values);
    }

    fn sent(&mut self, t: f64, outputs: &[f64]) {
        if !are_finite(outputs) {
            return;
        }
        for (kept, &place) in self.sent.iter_mut().zip(&self.controls) {
            *kept = outputs[place];
        }
        if self.frames.newest_time() == Some(t) {
            self.date(t);
            self.frames.newest_sent().copy_from_slice(&self.sent);
        }
    }

    fn predict(&mut self, t: f64, _now: Option<&[f64]>, inputs: &mut [f64]) {
        if self.frames.count() == 0 {
            return;
        }
        let value = self.at(t);
        for port in self.ports.iter().filter(|port| port.fed > 0) {
            inputs[port.target.clone()].copy_from_slice(&value.as_slice()[port.place.clone()]);
        }
    }

    fn reset(&mut self) {
        self.frames.restart();
        self.settled.has_model = 0;
        self.settled.has_normal = 0;
        self.newest = None;
        self.next = None;
    }

    fn note(&self) -> Option<String> {
        let how = if self.recursive {
            "by the recursion"
        } else {
            "anew in every step"
        };
        Some(format!(
            "predicts by plain dynamic mode decomposition of the last {} pairs, {how}, and trusts it always",
            self.window
        ))
    }
}

impl State for PlainDmd {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.frames.visit(visitor);
        visitor.vector(&mut self.sent);
        for port in &mut self.ports {
            visitor.count(&mut port.fed);
        }
        visitor.count(&mut self.settled.has_model);
        visitor.count(&mut self.settled.has_normal);
        visitor.vector(self.settled.model.as_mut_slice());
        visitor.vector(self.settled.normal.as_mut_slice());
        if visitor.replaces() {
            self.newest = None;
            self.next = None;
        }
    }
}
