//! From a tyre property file to the coefficients of the magic formula.
//!
//! Scaling factors and inflation pressure do not change during a run: they are multiplied into the
//! coefficients here, so that the formula itself has neither.

use super::property_file::{PropertyFile, TyreProblem};

/// The versions of the formula that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// MF-Tyre 5.2, also known as PAC2002.
    Mf52,
    /// MF-Tyre 6.1.
    Mf61,
}

/// The coefficients of a tyre, named as in its property file without the first letters.
#[derive(Clone, Debug)]
pub struct MagicFormula {
    pub(super) version: Version,
    /// Whether it was measured on the left side of a car.
    pub(super) is_left: bool,
    /// Nominal load in N.
    pub(super) nominal_load: f64,
    /// Unloaded radius in m.
    pub(super) radius: f64,
    /// Reference speed in m/s.
    pub(super) reference_speed: f64,
    /// The coefficients hold up to this load in N and this camber in rad; beyond, they stay as they
    /// are there.
    pub(super) highest_load: f64,
    pub(super) largest_camber: f64,
    /// Below this speed the carcass is damped, in m/s.
    pub(super) low_speed: f64,
    pub(super) vertical: Vertical,
    pub(super) x: Longitudinal,
    pub(super) y: Lateral,
    pub(super) x_combined: LongitudinalCombined,
    pub(super) y_combined: LateralCombined,
    pub(super) z: Aligning,
    /// QSX1 to QSX14.
    pub(super) overturning: [f64; 14],
    /// QSY1 to QSY7; QSY8 is in the others.
    pub(super) rolling: [f64; 7],
    pub(super) relaxation: Relaxation,
}

#[derive(Clone, Debug)]
pub(super) struct Vertical {
    /// Force over relative deflection and its square, in N.
    pub stiffness: [f64; 2],
    pub damping: f64,
    pub by_spin: f64,
    pub growth: f64,
    pub effective_radius: [f64; 3],
    /// Nominal load over vertical stiffness, in m.
    pub nominal_deflection: f64,
}

#[derive(Clone, Debug)]
pub(super) struct Longitudinal {
    pub c: f64,
    pub d: [f64; 3],
    pub e: [f64; 4],
    pub k: [f64; 3],
    pub h: [f64; 2],
    pub v: [f64; 2],
}

#[derive(Clone, Debug)]
pub(super) struct Lateral {
    pub c: f64,
    pub d: [f64; 3],
    pub e: [f64; 5],
    pub k: [f64; 7],
    pub h: [f64; 3],
    pub v: [f64; 4],
}

#[derive(Clone, Debug)]
pub(super) struct LongitudinalCombined {
    pub b: [f64; 3],
    pub c: f64,
    pub e: [f64; 2],
    pub h: f64,
}

#[derive(Clone, Debug)]
pub(super) struct LateralCombined {
    pub b: [f64; 4],
    pub c: f64,
    pub e: [f64; 2],
    pub h: [f64; 2],
    pub v: [f64; 6],
}

#[derive(Clone, Debug)]
pub(super) struct Aligning {
    /// QBZ1 to QBZ5, then QBZ9 and QBZ10.
    pub b: [f64; 7],
    pub c: f64,
    /// QDZ1 to QDZ4, then QDZ6 to QDZ11.
    pub d: [f64; 10],
    pub e: [f64; 5],
    pub h: [f64; 4],
    pub s: [f64; 4],
}

#[derive(Clone, Debug)]
pub(super) enum Relaxation {
    /// Lengths as functions of the load.
    Lengths {
        x: [f64; 3],
        y: [f64; 2],
        y_camber: f64,
    },
    /// Stiffness of the carcass in N/m, with its dependence on the load.
    Carcass { x: [f64; 3], y: [f64; 3] },
}

/// Keys without which there is no tyre, with what they may be and what they are.
const REQUIRED: [(&str, [f64; 2], &str); 10] = [
    ("FNOMIN", [10.0, 1e5], "the nominal load in N"),
    ("UNLOADED_RADIUS", [0.05, 2.0], "the unloaded radius in m"),
    (
        "VERTICAL_STIFFNESS",
        [1e3, 1e8],
        "the vertical stiffness in N/m",
    ),
    (
        "PCX1",
        [0.5, 3.0],
        "the shape factor of the longitudinal force",
    ),
    (
        "PDX1",
        [0.05, 5.0],
        "the longitudinal friction at the nominal load",
    ),
    ("PKX1", [1.0, 500.0], "the slip stiffness over the load"),
    ("PCY1", [0.5, 3.0], "the shape factor of the lateral force"),
    (
        "PDY1",
        [0.05, 5.0],
        "the lateral friction at the nominal load",
    ),
    (
        "PKY1",
        [-500.0, -1.0],
        "the largest cornering stiffness over the nominal load, negative since the force acts \
         against the slip (TYDEX W axes)",
    ),
    (
        "PKY2",
        [0.05, 50.0],
        "the load at which the cornering stiffness is largest, over the nominal one",
    ),
];
const LENGTHS: [(&str, [f64; 2], &str); 3] = [
    (
        "PTX1",
        [0.01, 20.0],
        "the longitudinal relaxation length over the radius",
    ),
    (
        "PTY1",
        [0.01, 50.0],
        "the largest lateral relaxation length over the radius",
    ),
    (
        "PTY2",
        [0.05, 50.0],
        "the load at which it is reached, over the nominal one",
    ),
];
const CARCASS: [(&str, [f64; 2], &str); 2] = [
    (
        "LONGITUDINAL_STIFFNESS",
        [1e3, 1e8],
        "the longitudinal stiffness of the carcass in N/m",
    ),
    (
        "LATERAL_STIFFNESS",
        [1e3, 1e8],
        "the lateral stiffness of the carcass in N/m",
    ),
];
/// Keys that may be left out, with what they may be.
const OPTIONAL: [(&str, [f64; 2], &str); 14] = [
    // Files of pure slip have none of these four: slip in one direction then takes nothing from the force
    // in the other.
    (
        "RBX1",
        [0.0, 200.0],
        "how fast side slip reduces the longitudinal force; 0 if it does not",
    ),
    ("RCX1", [0.0, 3.0], "the shape of that reduction"),
    (
        "RBY1",
        [0.0, 200.0],
        "how fast longitudinal slip reduces the lateral force; 0 if it does not",
    ),
    ("RCY1", [0.0, 3.0], "the shape of that reduction"),
    (
        "FZMAX",
        [10.0, 1e6],
        "the largest load in N for which it holds",
    ),
    (
        "CAMMAX",
        [0.01, 1.5],
        "the largest camber in rad for which it holds",
    ),
    ("LONGVL", [0.1, 200.0], "the reference speed in m/s"),
    (
        "VXLOW",
        [0.01, 20.0],
        "the speed below which the carcass is damped, in m/s",
    ),
    (
        "VERTICAL_DAMPING",
        [0.0, 1e6],
        "the vertical damping in N·s/m",
    ),
    (
        "PEX1",
        [-50.0, 1.0],
        "the curvature of the longitudinal force, at most 1",
    ),
    (
        "PEY1",
        [-50.0, 1.0],
        "the curvature of the lateral force, at most 1",
    ),
    ("QDZ1", [-1.0, 1.0], "the pneumatic trail over the radius"),
    ("QSY1", [-0.1, 1.0], "the rolling resistance over the load"),
    ("LFZO", [0.01, 100.0], "the scale of the nominal load"),
];

impl MagicFormula {
    /// Reads the text of a tyre property file; all problems are told at once.
    pub fn parse(text: &str) -> Result<Self, Vec<TyreProblem>> {
        Self::from_properties(&PropertyFile::parse(text)?)
    }

    /// From what a tyre property file says.
    pub fn from_properties(file: &PropertyFile) -> Result<Self, Vec<TyreProblem>> {
        let mut problems = Vec::new();
        let version = match file.number("FITTYP") {
            // Version 5 has the keys of 5.2 but for some that are zero then.
            None | Some(5.0 | 6.0 | 21.0) => Version::Mf52,
            Some(61.0 | 62.0) => Version::Mf61,
            Some(other) => {
                problems.push(TyreProblem::new(
                    file.line("FITTYP"),
                    format!("FITTYP = {other} is a formula that is not known"),
                    "convert it to 5 or 6 (MF 5, MF 5.2) or 61 (MF 6.1)",
                ));
                Version::Mf52
            }
        };
        let transient = match version {
            Version::Mf52 => LENGTHS.as_slice(),
            Version::Mf61 => CARCASS.as_slice(),
        };
        for &(key, range, meaning) in REQUIRED.iter().chain(transient) {
            if file.number(key).is_none() {
                let what = format!("{key} is missing: {meaning}");
                let help = format!("give it, between {} and {}", range[0], range[1]);
                problems.push(TyreProblem::new(file.line(key), what, help));
            }
        }
        for &(key, range, meaning) in REQUIRED.iter().chain(transient).chain(&OPTIONAL) {
            let Some(value) = file.number(key) else {
                continue;
            };
            if !(range[0]..=range[1]).contains(&value) {
                let what = format!("{key} = {value} is absurd: {meaning}");
                let help = format!("it lies between {} and {}", range[0], range[1]);
                problems.push(TyreProblem::new(file.line(key), what, help));
            }
        }
        if problems.is_empty() {
            Ok(Builder::new(file, version).build())
        } else {
            problems.sort_by_key(|problem| problem.line);
            Err(problems)
        }
    }

    /// The unloaded radius in m.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// The nominal load in N.
    pub fn nominal_load(&self) -> f64 {
        self.nominal_load
    }
}

struct Builder<'f> {
    file: &'f PropertyFile,
    version: Version,
    /// Relative difference of the inflation pressure from the nominal one.
    pressure: f64,
}

impl<'f> Builder<'f> {
    fn new(file: &'f PropertyFile, version: Version) -> Self {
        let nominal = file.number("NOMPRES").unwrap_or(0.0);
        let inflation = file.number("INFLPRES").unwrap_or(nominal);
        let pressure = if nominal > 0.0 {
            inflation / nominal - 1.0
        } else {
            0.0
        };
        Self {
            file,
            version,
            pressure,
        }
    }

    fn or(&self, key: &str, default: f64) -> f64 {
        self.file.number(key).unwrap_or(default)
    }

    fn scale(&self, key: &str) -> f64 {
        self.or(key, 1.0)
    }

    /// Coefficients by the beginning of their key, from the first index on, times a factor.
    fn row<const N: usize>(&self, stem: &str, first: usize, factor: f64) -> [f64; N] {
        std::array::from_fn(|i| self.or(&format!("{stem}{}", first + i), 0.0) * factor)
    }

    /// 1 + a Δp + b Δp².
    fn by_pressure(&self, linear: &str, square: &str) -> f64 {
        1.0 + self.pressure * (self.or(linear, 0.0) + self.pressure * self.or(square, 0.0))
    }

    fn build(&self) -> MagicFormula {
        let nominal_load = self.or("FNOMIN", 1.0) * self.scale("LFZO");
        MagicFormula {
            version: self.version,
            is_left: !matches!(self.file.word("TYRESIDE"), Some(side) if side.eq_ignore_ascii_case("right")),
            nominal_load,
            radius: self.or("UNLOADED_RADIUS", 1.0),
            reference_speed: self.or("LONGVL", 16.7),
            highest_load: self.or("FZMAX", 3.0 * nominal_load),
            largest_camber: self.or("CAMMAX", 0.3),
            low_speed: self.or("VXLOW", 2.5),
            vertical: self.vertical(nominal_load),
            x: self.longitudinal(),
            y: self.lateral(),
            x_combined: LongitudinalCombined {
                b: self.row("RBX", 1, self.scale("LXAL")),
                c: self.or("RCX1", 0.0),
                e: self.row("REX", 1, 1.0),
                h: self.or("RHX1", 0.0),
            },
            y_combined: self.lateral_combined(),
            z: self.aligning(),
            overturning: self.overturning(),
            rolling: self.rolling(),
            relaxation: self.relaxation(),
        }
    }

    fn vertical(&self, nominal_load: f64) -> Vertical {
        let radius = self.or("UNLOADED_RADIUS", 1.0);
        let stiffness = self.or("VERTICAL_STIFFNESS", 0.0);
        let square = self.or("Q_FZ2", 0.0);
        let linear = stiffness * radius / nominal_load;
        // The given stiffness is that at the nominal load.
        let first = (linear * linear - 4.0 * square).max(0.0).sqrt();
        let factor = nominal_load * (1.0 + self.or("PFZ1", 0.0) * self.pressure);
        let effective_radius = match ["BREFF", "DREFF", "FREFF"].map(|key| self.or(key, 0.0)) {
            // Nothing is said: a third of the deflection, as of a radial tyre at its nominal load.
            [_, 0.0, 0.0] => [0.0, 0.0, 1.0 / 3.0],
            given => given,
        };
        Vertical {
            stiffness: [first * factor, square * factor],
            damping: self.or("VERTICAL_DAMPING", 0.0),
            by_spin: self.or("Q_V2", 0.0),
            growth: self.or("Q_V1", 0.0),
            effective_radius,
            nominal_deflection: nominal_load / stiffness,
        }
    }

    fn longitudinal(&self) -> Longitudinal {
        let friction = self.by_pressure("PPX3", "PPX4") * self.scale("LMUX");
        let d: [f64; 3] = self.row("PDX", 1, 1.0);
        let k: [f64; 3] = self.row("PKX", 1, 1.0);
        let stiffness = self.by_pressure("PPX1", "PPX2") * self.scale("LKX");
        let [e1, e2, e3, e4] = self.row("PEX", 1, 1.0);
        let curvature = self.scale("LEX");
        Longitudinal {
            c: self.or("PCX1", 1.0) * self.scale("LCX"),
            d: [d[0] * friction, d[1] * friction, d[2]],
            e: [e1 * curvature, e2 * curvature, e3 * curvature, e4],
            k: [k[0] * stiffness, k[1] * stiffness, k[2]],
            h: self.row("PHX", 1, self.scale("LHX")),
            v: self.row("PVX", 1, self.scale("LVX") * degressive(self.scale("LMUX"))),
        }
    }

    fn lateral(&self) -> Lateral {
        let friction = self.by_pressure("PPY3", "PPY4") * self.scale("LMUY");
        let camber = self.or("LKYC", self.scale("LGAY"));
        let d: [f64; 3] = self.row("PDY", 1, 1.0);
        let e: [f64; 5] = self.row("PEY", 1, 1.0);
        let k: [f64; 7] = self.row("PKY", 1, 1.0);
        let h: [f64; 3] = self.row("PHY", 1, 1.0);
        let v: [f64; 4] = self.row("PVY", 1, degressive(self.scale("LMUY")));
        let softening = 1.0 + self.or("PPY2", 0.0) * self.pressure;
        let by_camber = (1.0 + self.or("PPY5", 0.0) * self.pressure) * camber;
        Lateral {
            c: self.or("PCY1", 1.0) * self.scale("LCY"),
            d: [d[0] * friction, d[1] * friction, d[2]],
            e: [
                e[0] * self.scale("LEY"),
                e[1] * self.scale("LEY"),
                e[2],
                e[3],
                e[4],
            ],
            k: [
                k[0] * (1.0 + self.or("PPY1", 0.0) * self.pressure) * self.scale("LKY"),
                k[1] * softening,
                k[2],
                self.or("PKY4", 2.0),
                k[4] * softening,
                k[5] * by_camber,
                k[6] * by_camber,
            ],
            h: [
                h[0] * self.scale("LHY"),
                h[1] * self.scale("LHY"),
                h[2] * camber,
            ],
            v: [
                v[0] * self.scale("LVY"),
                v[1] * self.scale("LVY"),
                v[2] * camber,
                v[3] * camber,
            ],
        }
    }

    fn lateral_combined(&self) -> LateralCombined {
        let scale = self.scale("LYKA");
        let b: [f64; 4] = self.row("RBY", 1, 1.0);
        let v: [f64; 6] = self.row("RVY", 1, 1.0);
        let shift = self.scale("LVYKA");
        LateralCombined {
            b: [b[0] * scale, b[1], b[2], b[3] * scale],
            c: self.or("RCY1", 0.0),
            e: self.row("REY", 1, 1.0),
            h: self.row("RHY", 1, 1.0),
            v: [v[0] * shift, v[1] * shift, v[2] * shift, v[3], v[4], v[5]],
        }
    }

    fn aligning(&self) -> Aligning {
        let friction = self.scale("LMUY");
        let slope = self.scale("LKY") / friction;
        let [b1, b2, b3, b4, b5] = self.row("QBZ", 1, 1.0);
        let [b9, b10] = self.row("QBZ", 9, 1.0);
        let trail = self.scale("LTR") * (1.0 - self.or("PPZ1", 0.0) * self.pressure);
        let [d1, d2, d3, d4] = self.row("QDZ", 1, 1.0);
        let [d6, d7] = self.row("QDZ", 6, self.scale("LRES") * friction);
        let camber = self.scale("LKZC") * friction;
        let [d8, d9] = self.row(
            "QDZ",
            8,
            camber * (1.0 + self.or("PPZ2", 0.0) * self.pressure),
        );
        let [d10, d11] = self.row("QDZ", 10, camber);
        Aligning {
            b: [b1 * slope, b2 * slope, b3 * slope, b4, b5, b9 * slope, b10],
            c: self.or("QCZ1", 0.0),
            d: [d1 * trail, d2 * trail, d3, d4, d6, d7, d8, d9, d10, d11],
            e: self.row("QEZ", 1, 1.0),
            h: self.row("QHZ", 1, 1.0),
            s: self.row("SSZ", 1, self.scale("LS")),
        }
    }

    fn overturning(&self) -> [f64; 14] {
        let mut q: [f64; 14] = self.row("QSX", 1, 1.0);
        let scale = self.scale("LMX");
        q[0] *= self.scale("LVMX");
        q[1] *= 1.0 + self.or("PPMX1", 0.0) * self.pressure;
        for linear in [0, 1, 2, 3, 9, 11, 12, 13] {
            q[linear] *= scale;
        }
        q
    }

    fn rolling(&self) -> [f64; 7] {
        let pressure = (1.0 + self.pressure).powf(self.or("QSY8", 0.0));
        let mut q: [f64; 7] = self.row("QSY", 1, self.scale("LMY") * pressure);
        // Proportional to the load where nothing is said.
        q[6] = self.or("QSY7", 1.0);
        q
    }

    fn relaxation(&self) -> Relaxation {
        match self.version {
            Version::Mf52 => Relaxation::Lengths {
                x: [
                    self.or("PTX1", 0.0) * self.scale("LSGKP"),
                    self.or("PTX2", 0.0) * self.scale("LSGKP"),
                    self.or("PTX3", 0.0),
                ],
                y: [
                    self.or("PTY1", 0.0) * self.scale("LSGAL"),
                    self.or("PTY2", 1.0),
                ],
                y_camber: self.or("PKY3", 0.0),
            },
            Version::Mf61 => {
                let carcass = |key: &str, stem: &str| {
                    let [first, second, by_pressure] = self.row(stem, 1, 1.0);
                    let stiffness = self.or(key, 1.0) * (1.0 + by_pressure * self.pressure);
                    [stiffness, stiffness * first, stiffness * second]
                };
                Relaxation::Carcass {
                    x: carcass("LONGITUDINAL_STIFFNESS", "PCFX"),
                    y: carcass("LATERAL_STIFFNESS", "PCFY"),
                }
            }
        }
    }
}

/// A friction scale that lets the vertical shifts vanish only on ice.
fn degressive(scale: f64) -> f64 {
    10.0 * scale / (1.0 + 9.0 * scale)
}
