//! Brakes, motors and driven axles in model files.

use crate::brake::DiscBrake;
use crate::differential::{DrivenAxle, EngineMap, FinalDrive};
use crate::motor::{HubMotor, MotorLimits};
use oldham_model::{At, Problem, Site, TimeFunction};
use oldham_multibody::{LuGre, NodeId};
use oldham_space::Vec3;
use schemars::JsonSchema;
use serde::Deserialize;

/// A disc brake: LuGre friction of two pads on a disc, between an upright and its rim.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Brake {
    /// The nodes of upright and rim.
    between: [At<String>; 2],
    /// The axis of the wheel.
    #[schemars(extend("default" = [0.0, 1.0, 0.0]))]
    axis: Option<At<[f64; 3]>>,
    /// Where the pads rub, in m from the axis.
    #[schemars(extend("exclusiveMinimum" = 0))]
    radius: f64,
    /// The force on each pad in N.
    clamping: At<TimeFunction>,
    /// Coulomb coefficient.
    #[schemars(extend("exclusiveMinimum" = 0))]
    coulomb: f64,
    /// Static coefficient. By default the Coulomb coefficient.
    #[schemars(extend("exclusiveMinimum" = 0))]
    stiction: Option<f64>,
    /// Stribeck velocity in m/s.
    #[schemars(extend("exclusiveMinimum" = 0, "default" = 0.01))]
    stribeck: Option<f64>,
    /// Bristle stiffness σ₀ in 1/m: pads and caliper give by μ/σ₀ before the pads slide. A locked wheel
    /// swings on them with the angular frequency √(2 N σ₀ r²/J), which a step must resolve.
    #[schemars(extend("exclusiveMinimum" = 0, "default" = 5e3))]
    stiffness: Option<f64>,
    /// Bristle damping σ₁ in s/m.
    #[schemars(range(min = 0.0), extend("default" = 7.0))]
    damping: Option<f64>,
}

pub(super) fn brake(settings: Brake, site: &mut Site<'_>) -> Option<DiscBrake> {
    let (nodes, axis) = axle(&settings.between, &settings.axis, site)?;
    let clamping = site.time_function(&settings.clamping)?;
    let friction = LuGre {
        coulomb: settings.coulomb,
        stiction: settings.stiction.unwrap_or(settings.coulomb),
        stribeck: settings.stribeck.unwrap_or(0.01),
        stiffness: settings.stiffness.unwrap_or(5e3),
        damping: settings.damping.unwrap_or(7.0),
        viscous: 0.0,
    };
    Some(DiscBrake::new(
        nodes,
        axis,
        settings.radius,
        clamping,
        friction,
    ))
}

/// A hub motor: a torque between an upright and its rim, within the limits of the machine.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Motor {
    /// The nodes of upright and rim.
    between: [At<String>; 2],
    /// The axis of the wheel, to the left of the vehicle: a positive torque drives forward.
    #[schemars(extend("default" = [0.0, 1.0, 0.0]))]
    axis: Option<At<[f64; 3]>>,
    /// The commanded torque at the wheel in N·m.
    torque: At<TimeFunction>,
    /// The largest torque at the wheel in N·m.
    #[schemars(extend("exclusiveMinimum" = 0))]
    max_torque: f64,
    /// The largest power in W.
    #[schemars(extend("exclusiveMinimum" = 0))]
    max_power: f64,
    /// The angular velocity of the wheel in rad/s beyond which it does not drive.
    #[schemars(extend("exclusiveMinimum" = 0))]
    max_speed: f64,
}

pub(super) fn motor(settings: Motor, site: &mut Site<'_>) -> Option<HubMotor> {
    let (nodes, axis) = axle(&settings.between, &settings.axis, site)?;
    let torque = site.time_function(&settings.torque)?;
    let limits = MotorLimits {
        torque: settings.max_torque,
        power: settings.max_power,
        speed: settings.max_speed,
    };
    Some(HubMotor::new(nodes, axis, torque, limits))
}

/// An engine in the chassis that drives two rims by a final drive and a differential with a lock.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Driven {
    /// The node of the chassis.
    chassis: At<String>,
    /// The nodes of the left and of the right rim.
    rims: [At<String>; 2],
    /// The axis of the wheels, to the left of the vehicle: a positive torque drives forward.
    #[schemars(extend("default" = [0.0, 1.0, 0.0]))]
    axis: Option<At<[f64; 3]>>,
    /// The throttle, from 0 to 1.
    throttle: At<TimeFunction>,
    /// Speeds of the engine in rad/s, rising.
    speeds: At<Vec<f64>>,
    /// Its torque at full throttle in N·m, at each speed.
    full: Vec<f64>,
    /// The torque in N·m with which it drags without throttle, at each speed.
    drag: Vec<f64>,
    /// Turns of the engine for one of the wheels.
    #[schemars(extend("exclusiveMinimum" = 0))]
    ratio: f64,
    /// Speed of the engine in rad/s below which the clutch slips.
    #[schemars(range(min = 0.0))]
    idle: f64,
    /// Torque of the lock without load in N·m.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    preload: f64,
    /// Torque of the lock over the driving torque: 0 is an open differential.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    locking: f64,
}

pub(super) fn driven_axle(settings: Driven, site: &mut Site<'_>) -> Option<DrivenAxle> {
    let chassis = site.node(&settings.chassis);
    let [left, right] = settings.rims.each_ref().map(|name| site.node(name));
    let nodes = [chassis?, left?, right?];
    let axis = match &settings.axis {
        Some(axis) => super::direction(axis, nodes[0], site)?,
        None => site
            .model()
            .initial(nodes[0])
            .rotation
            .transpose_mul(Vec3::Y),
    };
    let throttle = site.time_function(&settings.throttle)?;
    let speeds = settings.speeds.value;
    let count = speeds.len();
    let message = match () {
        () if count < 2 || !speeds.windows(2).all(|pair| pair[0] < pair[1]) => {
            Some("the speeds of an engine must be two or more that rise".to_owned())
        }
        () if settings.full.len() != count || settings.drag.len() != count => Some(format!(
            "there are {count} speeds, {} torques `full` and {} torques `drag`",
            settings.full.len(),
            settings.drag.len()
        )),
        () => None,
    };
    if let Some(message) = message {
        let problem = Problem::new(settings.speeds.span, message);
        site.report(problem.help("give a torque `full` and a torque `drag` for every speed"));
        return None;
    }
    let map = EngineMap {
        speeds,
        full: settings.full,
        drag: settings.drag,
    };
    let drive = FinalDrive {
        ratio: settings.ratio,
        idle: settings.idle,
        preload: settings.preload,
        locking: settings.locking,
    };
    Some(DrivenAxle::new(nodes, axis, throttle, map, drive))
}

/// Both nodes, and the axis in axes of the first.
fn axle(
    between: &[At<String>; 2],
    axis: &Option<At<[f64; 3]>>,
    site: &mut Site<'_>,
) -> Option<([NodeId; 2], Vec3)> {
    let [upright, rim] = between.each_ref().map(|name| site.node(name));
    let upright = upright?;
    let axis = match axis {
        Some(axis) => super::direction(axis, upright, site)?,
        None => site
            .model()
            .initial(upright)
            .rotation
            .transpose_mul(Vec3::Y),
    };
    Some(([upright, rim?], axis))
}
