//! The coordinates of joints that turn or slide: prescribed motions, end stops, damping, inertia.

use oldham_multibody::{
    Coordinate, CoordinateForce, Drive, DrivenCoordinate, Element, Law, Target,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::friction::{JointFriction, Rubbing};
use crate::check::keys::read_if;
use crate::check::{Bench, word};
use crate::extensions::{Companion, ForeignJoint};
use crate::format::multibody::Given;
use crate::format::{At, Formula, NonNegative, Positive};

/// Keys of joints that turn.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Turning {
    /// The angle in rad about the axis, from the initial
    /// orientation, as it is to be.
    angle: Option<At<Given>>,
    /// The rate of the angle in rad/s as it is to be, instead of
    /// the angle, which starts at zero.
    angle_rate: Option<At<Given>>,
    /// End stops of the angle, in rad.
    angle_stops: Option<At<Stops>>,
}

/// Keys of joints that slide.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Sliding {
    /// The distance in m along the axis, from the initial
    /// position, as it is to be.
    slide: Option<At<Given>>,
    /// The rate of the distance in m/s as it is to be, instead
    /// of the distance, which starts at zero.
    slide_rate: Option<At<Given>>,
    /// End stops of the distance, in m.
    slide_stops: Option<At<Stops>>,
}

/// What resists the motion along the coordinate.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Resisting {
    /// Damping of the coordinate in N·m·s/rad or N·s/m; of a `cylindrical`
    /// joint that of the angle.
    #[schemars(extend("default" = 0.0))]
    damping: Option<At<NonNegative>>,
    /// Inertia against the motion in the joint alone, in kg·m² or kg, such as that of a
    /// rotor times the square of its gear. It is a node `<name>.rotor` of its own, which turns with the coordinate.
    #[schemars(extend("default" = 0.0))]
    reflected_inertia: Option<At<NonNegative>>,
}

/// End stops of a joint: beyond them it is pushed back by
/// `stiffness · penetration · (1 + damping · rate of penetration)`, after Hunt and Crossley, and never
/// pulled.
#[derive(Debug, Deserialize, JsonSchema)]
struct Stops {
    /// The lower stop; none, if it is left out. The joint starts at zero.
    lower: Option<At<Formula>>,
    /// The upper stop; none, if it is left out.
    upper: Option<At<Formula>>,
    /// Stiffness in N/m or N·m/rad.
    #[schemars(required)]
    stiffness: Option<At<Positive>>,
    /// Damping in s/m or s/rad.
    #[schemars(extend("default" = 0.0))]
    damping: Option<At<NonNegative>>,
}

/// What a file says of one coordinate.
#[derive(Clone, Copy)]
pub(super) struct Along<'g> {
    coordinate: Coordinate,
    value: &'g Option<At<Given>>,
    rate: &'g Option<At<Given>>,
    stops: &'g Option<At<Stops>>,
}

impl Turning {
    pub fn along(&self) -> Along<'_> {
        Along {
            coordinate: Coordinate::Angle,
            value: &self.angle,
            rate: &self.angle_rate,
            stops: &self.angle_stops,
        }
    }
}

impl Sliding {
    pub fn along(&self) -> Along<'_> {
        Along {
            coordinate: Coordinate::Slide,
            value: &self.slide,
            rate: &self.slide_rate,
            stops: &self.slide_stops,
        }
    }
}

impl Along<'_> {
    /// The prescribed value, if there is one.
    pub fn value(&self, bench: &mut Bench<'_, '_, '_>) -> Option<Option<Drive>> {
        let drive = read_if(self.value, |at| bench.checker.drive_at(at, bench.draft));
        if let (Coordinate::Angle, Some(Some(Drive::Constant(angle)))) = (self.coordinate, &drive) {
            bench.checker.remark_on_angle("a joint", *angle);
        }
        drive
    }

    /// What prescribes the rate: an element beside the joint.
    fn rate(&self, bench: &mut Bench<'_, '_, '_>) -> Option<Target> {
        let rate = self.rate.as_ref()?;
        if self.value.is_some() {
            let word = word(self.coordinate);
            let message = format!("`{word}` prescribes the motion already");
            bench
                .checker
                .report(&rate.span, message)
                .label("contradicts it, or repeats it")
                .help(format!("keep one of `{word}` and `{word}_rate`"));
            return None;
        }
        bench.checker.drive_at(rate, bench.draft).map(Target::Rate)
    }

    fn is_driven(&self) -> bool {
        self.value.is_some() || self.rate.is_some()
    }

    /// End stops: an element beside the joint.
    fn stops(&self, bench: &mut Bench<'_, '_, '_>) -> Option<Law> {
        let stops = self.stops.as_ref()?;
        if self.is_driven() {
            let word = word(self.coordinate);
            let message = format!("the {word} is prescribed: stops have nothing to act on");
            bench
                .checker
                .report(&stops.span, message)
                .label("leave them out");
            return None;
        }
        Stops::law(stops, bench)
    }
}

impl Resisting {
    /// A joint with these coordinates, the main one first, and all that acts along them.
    pub fn joint(
        &self,
        joint: ForeignJoint,
        along: &[Along<'_>],
        bench: &mut Bench<'_, '_, '_>,
    ) -> ForeignJoint {
        let ends = joint.ends;
        let main = along[0].coordinate;
        let mut companions = Vec::new();
        let mut add = |name: String, element: Box<dyn Element>, drives: bool| {
            companions.push(Companion {
                name,
                element,
                drives,
            });
        };
        for one in along {
            if let Some(rate) = one.rate(bench) {
                let driven = DrivenCoordinate::new(one.coordinate, ends, rate);
                let name = format!("{} drive", word(one.coordinate));
                add(name, Box::new(driven), one.coordinate == main);
            }
        }
        for one in along {
            if let Some(law) = one.stops(bench) {
                let stops = CoordinateForce::new(one.coordinate, ends, law, 0.0);
                let name = format!("{} stops", word(one.coordinate));
                add(name, Box::new(stops), false);
            }
        }
        if let Some(damping) = self.positive(&self.damping, bench) {
            let law = Law::Linear {
                stiffness: 0.0,
                damping,
            };
            let damper = CoordinateForce::new(main, ends, law, 0.0);
            add("damping".to_owned(), Box::new(damper), false);
        }
        let inertia = self.positive(&self.reflected_inertia, bench);
        let driven = along.iter().filter(|one| one.is_driven());
        ForeignJoint {
            coordinate: Some(main),
            second: along.get(1).map(|one| one.coordinate),
            driven: driven.map(|one| one.coordinate).collect(),
            companions,
            reflected_inertia: inertia.unwrap_or(0.0),
            ..joint
        }
    }

    /// A number that does something.
    fn positive(
        &self,
        given: &Option<At<NonNegative>>,
        bench: &mut Bench<'_, '_, '_>,
    ) -> Option<f64> {
        let value = bench.checker.required(given)?;
        (value > 0.0).then_some(value)
    }
}

impl Rubbing {
    /// The friction, which has nothing to act on where one of the coordinates is prescribed.
    pub fn friction_along(
        &self,
        along: &[Along<'_>],
        of: Option<&str>,
        bench: &mut Bench<'_, '_, '_>,
    ) -> Option<Option<JointFriction>> {
        let prescribed = along.iter().find(|one| one.value.is_some());
        let (Some(given), Some(one)) = (&self.friction, prescribed) else {
            return self.friction(of, bench);
        };
        let what = word(one.coordinate);
        let message = format!("the {what} is prescribed: friction has nothing to act on");
        bench
            .checker
            .report(&given.span, message)
            .label("leave it out");
        None
    }
}

impl Stops {
    fn law(given: &At<Self>, bench: &mut Bench<'_, '_, '_>) -> Option<Law> {
        let checker = &mut *bench.checker;
        let Self {
            lower,
            upper,
            stiffness,
            damping,
        } = &given.value;
        if lower.is_none() && upper.is_none() {
            let message = "the stops are nowhere";
            checker
                .report_missing(&given.span, message)
                .label("has neither `lower` nor `upper`")
                .help("give `lower`, `upper` or both");
            return None;
        }
        let low = checker.number_or(lower, f64::NEG_INFINITY);
        let high = checker.number_or(upper, f64::INFINITY);
        let stiffness = checker.required(stiffness);
        let damping = checker.number_or(damping, 0.0);
        let (low, high) = (low?, high?);
        if low >= high {
            let message = "the lower stop must be below the upper one";
            checker
                .report(&given.span, message)
                .label(format!("from {low} to {high}"))
                .help("exchange `lower` and `upper`, or leave one of them out");
            return None;
        }
        Some(Law::Stops {
            lower: low,
            upper: high,
            stiffness: stiffness?,
            damping: damping?,
        })
    }
}
