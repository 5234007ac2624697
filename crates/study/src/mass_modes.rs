//! The modes of the masses of a model, as one linear system.

use nalgebra::Complex;
use oldham_multibody::{Mode, ModeKind, Modes, Vec3};
use serde::{Serialize, Serializer};

use crate::LinearModel;
use crate::linear::RIGID;
use crate::mechanisms::ModeNumbers;

impl LinearModel {
    /// The modes of the masses, undamped or damped, by frequency: at most so many, those nearest to a frequency
    /// in hertz if one is given.
    pub fn modes(&self, count: usize, near: Option<f64>) -> MassModes {
        let is_mass = |name: &String| Some(name.strip_suffix(".x")?.to_owned());
        let masses = self.space.states.iter().filter_map(is_mass).collect();
        let poles = self.space.poles.iter().copied();
        let poles: Vec<_> = poles.filter(|pole| pole.norm().is_finite()).collect();
        let largest = poles.iter().map(|pole| pole.norm()).fold(0.0, f64::max);
        let mut modes: Vec<Mode> = Vec::new();
        let mut rigid = 0;
        for pole in poles {
            let is_rigid = pole.norm() <= RIGID * largest || largest == 0.0;
            rigid += usize::from(is_rigid);
            // A rigid-body motion is a double pole at zero: one mode.
            if is_rigid && rigid % 2 == 0 {
                continue;
            }
            modes.push(match is_rigid {
                true => self.mode(Complex::from(0.0), ModeKind::Rigid),
                false => self.mode(pole, kind(pole)),
            });
        }
        if let Some(near) = near {
            let distance = |mode: &Mode| (mode.frequency() - near).abs();
            modes.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
        }
        modes.truncate(count);
        modes.sort_by(|a, b| a.frequency().total_cmp(&b.frequency()));
        MassModes {
            masses,
            found: Modes {
                degrees_of_freedom: Some(self.space.states.len() / 2),
                modes,
                frames: Vec::new(),
                fastest: 0.0,
                is_steady: true,
                turns_unsteadily: false,
            },
        }
    }

    /// The mode of a pole: a mass moves along the first axis. The largest displacement is one.
    fn mode(&self, pole: Complex<f64>, kind: ModeKind) -> Mode {
        let shape = self.space.shape(pole).unwrap_or_default();
        let states = self.space.states.iter().zip(shape);
        let masses = states.filter(|(name, _)| name.ends_with(".x"));
        let moving: Vec<Complex<f64>> = masses.map(|(_, value)| value).collect();
        let largest = moving.iter().max_by(|a, b| a.norm().total_cmp(&b.norm()));
        let scale = largest.filter(|value| value.norm() > 0.0).copied();
        let scale = scale.unwrap_or(Complex::from(1.0));
        let along = |part: fn(Complex<f64>) -> f64| {
            let place = |value: &Complex<f64>| (Vec3::X * part(value / scale), Vec3::ZERO);
            moving.iter().map(place).collect()
        };
        Mode {
            kind,
            growth: pole.re,
            omega: pole.im,
            error: f64::EPSILON * pole.norm(),
            shape: along(|value| value.re),
            quadrature: along(|value| value.im),
        }
    }
}

/// What a motion that some force resists does.
fn kind(pole: Complex<f64>) -> ModeKind {
    match pole.im == 0.0 {
        true if pole.re > 0.0 => ModeKind::Growing,
        true => ModeKind::Decaying,
        false if pole.re > RIGID * pole.norm() => ModeKind::Growing,
        false => ModeKind::Oscillating,
    }
}

/// Modes of the masses of a model.
#[derive(Clone, Debug)]
pub struct MassModes {
    /// Names of the masses, in the order of the shapes.
    pub masses: Vec<String>,
    /// The modes; shapes are along the first axis, the largest displacement is one.
    pub found: Modes,
}

impl MassModes {
    /// The masses with their displacements in a mode.
    pub fn shape<'a>(&'a self, mode: &'a Mode) -> impl Iterator<Item = (&'a str, Complex<f64>)> {
        let values = mode.shape.iter().zip(&mode.quadrature);
        let values = values.map(|((re, _), (im, _))| Complex::new(re[0], im[0]));
        self.masses.iter().map(String::as_str).zip(values)
    }
}

impl Serialize for MassModes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Share<'a> {
            mass: &'a str,
            re: f64,
            im: f64,
        }
        #[derive(Serialize)]
        struct Data<'a> {
            #[serde(flatten)]
            numbers: ModeNumbers,
            shape: Vec<Share<'a>>,
        }
        let shares = |mode| {
            let shape = self.shape(mode);
            shape.map(|(mass, Complex { re, im })| Share { mass, re, im })
        };
        let modes = self.found.modes.iter().map(|mode| Data {
            numbers: ModeNumbers::from(mode),
            shape: shares(mode).collect(),
        });
        serializer.collect_seq(modes)
    }
}
