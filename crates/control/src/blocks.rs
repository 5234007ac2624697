//! Ready blocks: each adds states and signals to a controller, so that there is one kind of
//! equations only.

use nalgebra::DMatrix;
use oldham_expression::Expression;

use crate::controller::Controller;
use crate::error::ControlError;
use crate::propagator::held;

/// Between the name of a block and that of its inner parts: a letter that no model file has in a
/// name.
const INNER: char = 'ʹ';

/// Most samples of a delay.
const MOST_SAMPLES: f64 = 10_000.0;

/// A PID controller with a filtered derivative, a limited output and back-calculation against
/// windup: `kp e + I + kd N (e - f)` with `f' = N (e - f)` and `I' = ki e + (u - v) / tracking`,
/// where u is the limited and v the unlimited output.
#[derive(Clone, Debug, PartialEq)]
pub struct Pid {
    /// Proportional gain.
    pub kp: f64,
    /// Integral gain in 1/s.
    pub ki: f64,
    /// Derivative gain in s.
    pub kd: f64,
    /// Bandwidth N of the derivative's filter in 1/s; not needed without derivative.
    pub filter: f64,
    /// Least and largest output.
    pub limits: Option<[f64; 2]>,
    /// Time constant in s with which the integral returns from a limit.
    pub tracking: f64,
    /// The integral at the start.
    pub initial: f64,
}

/// A transfer function by the coefficients of its numerator and denominator, highest power first.
#[derive(Clone, Debug, PartialEq)]
pub struct TransferFunction {
    /// Numerator.
    pub numerator: Vec<f64>,
    /// Denominator.
    pub denominator: Vec<f64>,
}

/// A linear system x' = A x + B u, y = C x + D u by its matrices, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// States by states.
    pub a: Vec<Vec<f64>>,
    /// States by inputs.
    pub b: Vec<Vec<f64>>,
    /// Outputs by states.
    pub c: Vec<Vec<f64>>,
    /// Outputs by inputs.
    pub d: Vec<Vec<f64>>,
    /// The states at the start.
    pub initial: Vec<f64>,
    /// Whether it is given in discrete time already, x⁺ = A x + B u: for a sampled controller only.
    pub discrete: bool,
}

/// A limit of the rate of a signal.
#[derive(Clone, Debug, PartialEq)]
pub struct RateLimit {
    /// Largest rate upwards, per s.
    pub rise: f64,
    /// Largest rate downwards, per s.
    pub fall: f64,
    /// With which time constant in s a continuous controller follows its input below the limit.
    pub lag: f64,
    /// The output at the start.
    pub initial: f64,
}

impl Controller {
    /// Adds a PID controller whose output is called `name`.
    pub fn pid(&mut self, name: &str, input: Expression, pid: &Pid) -> Result<(), ControlError> {
        let positive = |what, value: f64| match value > 0.0 {
            true => Ok(()),
            false => Err(wrong(name, what, "must be positive", value)),
        };
        if pid.kd != 0.0 {
            positive("the bandwidth `filter` of the derivative", pid.filter)?;
        }
        if let Some([low, high]) = pid.limits {
            if low >= high {
                return Err(wrong(
                    name,
                    "the lower limit",
                    "must be below the upper one",
                    low,
                ));
            }
            positive("the time constant `tracking`", pid.tracking)?;
        }
        let [e, integral, filtered, raw] =
            ["input", "integral", "filtered", "unlimited"].map(|part| inner(name, part));
        self.signal(&e, input);
        let Pid {
            kp, ki, kd, filter, ..
        } = *pid;
        let mut sum = format!("({kp:e})*{e}");
        if ki != 0.0 {
            sum += &format!(" + {integral}");
        }
        if kd != 0.0 {
            sum += &format!(" + ({:e})*({e} - {filtered})", kd * filter);
        }
        self.signal(&raw, generated(&sum, &[&e, &integral, &filtered]));
        let limited = match pid.limits {
            Some([low, high]) => format!("clamp({raw}, ({low:e}), ({high:e}))"),
            None => raw.clone(),
        };
        self.signal(name, generated(&limited, &[&raw]));
        if ki != 0.0 {
            let mut rate = format!("({ki:e})*{e}");
            if pid.limits.is_some() {
                rate += &format!(" + ({name} - {raw})/({:e})", pid.tracking);
            }
            let change = match self.sample {
                // The rectangle up to the next sample.
                Some(period) => format!("{integral} + ({period:e})*({rate})"),
                None => rate,
            };
            let change = generated(&change, &[&integral, &e, name, &raw]);
            self.state(&integral, pid.initial, change);
        }
        if kd != 0.0 {
            let factor = match self.sample {
                Some(period) => -(-filter * period).exp_m1(),
                None => filter,
            };
            let rate = format!("({factor:e})*({e} - {filtered})");
            let change = match self.sample {
                Some(_) => format!("{filtered} + {rate}"),
                None => rate,
            };
            self.state(&filtered, 0.0, generated(&change, &[&e, &filtered]));
        }
        Ok(())
    }

    /// Adds a transfer function whose output is called `name`, in controllable canonical form.
    pub fn transfer_function(
        &mut self,
        name: &str,
        input: Expression,
        function: &TransferFunction,
        discrete: bool,
    ) -> Result<(), ControlError> {
        let TransferFunction {
            numerator,
            denominator,
        } = function;
        let Some(&leading) = denominator.first().filter(|leading| **leading != 0.0) else {
            return Err(ControlError::NoDenominator(name.to_owned()));
        };
        let zeros = numerator.iter().take_while(|&&c| c == 0.0).count();
        let numerator = &numerator[zeros.min(numerator.len().saturating_sub(1))..];
        let order = denominator.len() - 1;
        if numerator.len() > denominator.len() {
            return Err(ControlError::Improper {
                name: name.to_owned(),
                numerator: numerator.len() - 1,
                denominator: order,
            });
        }
        // Lowest power first, divided by the leading coefficient, both of the same length.
        let scaled = |list: &[f64]| {
            let mut list: Vec<f64> = list.iter().rev().map(|c| c / leading).collect();
            list.resize(order + 1, 0.0);
            list
        };
        let (b, a) = (scaled(numerator), scaled(denominator));
        let direct = b[order];
        let shift = |row: usize| {
            (0..order)
                .map(|k| f64::from(u8::from(k == row + 1)))
                .collect()
        };
        let mut rows: Vec<Vec<f64>> = (0..order.saturating_sub(1)).map(shift).collect();
        if order > 0 {
            rows.push(a[..order].iter().map(|a| -a).collect());
        }
        let system = Linear {
            a: rows,
            b: (0..order)
                .map(|row| vec![f64::from(u8::from(row + 1 == order))])
                .collect(),
            c: vec![(0..order).map(|k| b[k] - direct * a[k]).collect()],
            d: vec![vec![direct]],
            initial: vec![0.0; order],
            discrete,
        };
        self.linear(name, vec![input], &system)
    }

    /// Adds a linear system. Its output is called `name`; several are `name1`, `name2` and so on.
    /// In a sampled controller a system in continuous time is solved exactly for inputs that are held
    /// between the samples.
    pub fn linear(
        &mut self,
        name: &str,
        inputs: Vec<Expression>,
        system: &Linear,
    ) -> Result<(), ControlError> {
        let (n, m, p) = (system.initial.len(), inputs.len(), system.c.len());
        let shapes = [
            ("a", &system.a, n, n),
            ("b", &system.b, n, m),
            ("c", &system.c, p, n),
            ("d", &system.d, p, m),
        ];
        for (matrix, rows, height, width) in shapes {
            if rows.len() != height || rows.iter().any(|row| row.len() != width) {
                return Err(ControlError::Shape {
                    name: name.to_owned(),
                    matrix,
                    rows: height,
                    columns: width,
                });
            }
        }
        let numbered = |part: &str, k: usize| inner(name, &format!("{part}{}", k + 1));
        let u: Vec<String> = (0..m).map(|k| numbered("input", k)).collect();
        let x: Vec<String> = (0..n).map(|k| numbered("state", k)).collect();
        for (name, input) in u.iter().zip(inputs) {
            self.signal(name, input);
        }
        let known: Vec<&str> = x.iter().chain(&u).map(String::as_str).collect();
        let dense =
            |rows: &[Vec<f64>], width| DMatrix::from_fn(rows.len(), width, |i, j| rows[i][j]);
        let (a, b) = (dense(&system.a, n), dense(&system.b, m));
        let [a, b] = match self.sample {
            Some(period) if !system.discrete => held(&a, &b, period),
            _ => [a, b],
        };
        let outputs = system.c.iter().chain(&system.d).flatten();
        let mut all = a.iter().chain(b.iter()).chain(outputs);
        if let Some(&value) = all.find(|value| !value.is_finite()) {
            let requirement = "must be finite once it is divided by the leading one and sampled";
            return Err(wrong(name, "a coefficient", requirement, value));
        }
        for (row, state) in x.iter().enumerate() {
            let weights = (0..n).map(|k| a[(row, k)]);
            let weights = weights.chain((0..m).map(|k| b[(row, k)]));
            let change = weighted_sum(weights, &known);
            self.state(state, system.initial[row], change);
        }
        for (row, (c, d)) in system.c.iter().zip(&system.d).enumerate() {
            let output = match p {
                1 => name.to_owned(),
                _ => format!("{name}{}", row + 1),
            };
            let weights = c.iter().chain(d).copied();
            self.signal(&output, weighted_sum(weights, &known));
        }
        Ok(())
    }

    /// Adds a limit of the rate whose output is called `name`.
    pub fn rate_limit(
        &mut self,
        name: &str,
        input: Expression,
        limit: &RateLimit,
    ) -> Result<(), ControlError> {
        for (what, value) in [
            ("the rate upwards", limit.rise),
            ("the rate downwards", limit.fall),
        ] {
            if value.is_nan() || value <= 0.0 {
                return Err(wrong(name, what, "must be positive", value));
            }
        }
        let [u, last] = ["input", "last"].map(|part| inner(name, part));
        self.signal(&u, input);
        let known = [u.as_str(), last.as_str(), name];
        match self.sample {
            Some(period) => {
                let (fall, rise) = (-limit.fall * period, limit.rise * period);
                let text = format!("{last} + clamp({u} - {last}, ({fall:e}), ({rise:e}))");
                self.signal(name, generated(&text, &known));
                self.state(&last, limit.initial, generated(name, &known));
            }
            None => {
                if limit.lag.is_nan() || limit.lag <= 0.0 {
                    let what = "the time constant `lag`";
                    return Err(wrong(name, what, "must be positive", limit.lag));
                }
                let (fall, rise, lag) = (-limit.fall, limit.rise, limit.lag);
                let text = format!("clamp(({u} - {last})/({lag:e}), ({fall:e}), ({rise:e}))");
                self.state(&last, limit.initial, generated(&text, &known));
                self.signal(name, generated(&last, &known));
            }
        }
        Ok(())
    }

    /// Adds a delay whose output is called `name`: of a sampled controller a whole number of samples.
    pub fn transport_delay(
        &mut self,
        name: &str,
        input: Expression,
        time: f64,
        initial: f64,
    ) -> Result<(), ControlError> {
        if !(time > 0.0 && time.is_finite()) {
            return Err(wrong(name, "the delay", "must be positive", time));
        }
        let Some(period) = self.sample else {
            self.delay(name, input, time, initial);
            return Ok(());
        };
        let samples = (time / period).round();
        if (time - samples * period).abs() > 1e-9 * time || samples < 1.0 {
            let below = (time / period).floor() * period;
            return Err(ControlError::DelayBetweenSamples {
                name: name.to_owned(),
                delay: time,
                period,
                below,
                above: below + period,
            });
        }
        if samples > MOST_SAMPLES {
            let what = "the delay in samples";
            return Err(wrong(name, what, "must be at most 10000", samples));
        }
        let u = inner(name, "input");
        self.signal(&u, input);
        let mut before = u;
        for k in 0..samples as usize {
            let register = inner(name, &format!("sample{}", k + 1));
            self.state(&register, initial, generated(&before, &[&before]));
            before = register;
        }
        self.signal(name, generated(&before, &[&before]));
        Ok(())
    }
}

fn inner(name: &str, part: &str) -> String {
    format!("{name}{INNER}{part}")
}

/// An expression that this file wrote itself.
fn generated(text: &str, variables: &[&str]) -> Expression {
    Expression::parse(text, variables).expect("a generated expression")
}

fn weighted_sum(weights: impl Iterator<Item = f64>, names: &[&str]) -> Expression {
    let terms = weights.zip(names).filter(|(weight, _)| *weight != 0.0);
    let terms: Vec<String> = terms.map(|(w, name)| format!("({w:e})*{name}")).collect();
    match terms.is_empty() {
        true => generated("0", &[]),
        false => generated(&terms.join(" + "), names),
    }
}

fn wrong(name: &str, what: &'static str, requirement: &'static str, value: f64) -> ControlError {
    ControlError::Value {
        name: name.to_owned(),
        what,
        requirement,
        value,
    }
}
