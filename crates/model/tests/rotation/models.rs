//! Mechanisms that turn, as model files.

use nalgebra::Complex;
use oldham_model::{Extensions, Model, Overrides};

/// Reads a text.
pub fn read(text: &str) -> Model {
    let kinds = Extensions::new();
    Model::parse_with(text, "test.toml", &Overrides::none(), &kinds)
        .unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

/// The bar of a [`Spinner`].
pub struct SpinnerBar {
    pub mass: f64,
    pub inertia: [f64; 3],
    pub stiffness: f64,
    pub radius: f64,
}

/// The bar of every [`Spinner`].
pub const BAR: SpinnerBar = SpinnerBar {
    mass: 5.0,
    inertia: [0.02, 0.1, 0.1],
    stiffness: 50.0,
    radius: 2.0,
};

/// A bar on a ball joint at the rim of a heavy hub that turns about the vertical, held by a rotary
/// spring; its centre of mass lies `offset` outside of its node.
pub struct Spinner {
    pub spin: f64,
    pub offset: f64,
    pub step: f64,
    pub rho: f64,
    pub integrator: &'static str,
    pub micro_steps: usize,
    /// Along x: across the axis.
    pub gravity: f64,
    /// Moments of inertia of the hub.
    pub hub: f64,
    /// Of the rotary spring.
    pub damping: f64,
}

impl Default for Spinner {
    fn default() -> Self {
        Self {
            spin: 8.0,
            offset: -0.1,
            step: 1e-3,
            rho: 0.9,
            integrator: "lms2",
            micro_steps: 1,
            gravity: 0.0,
            hub: 1e4,
            damping: 0.0,
        }
    }
}

impl Spinner {
    /// The velocity of the pin as LMS2 makes it of positions that have gone round for ever.
    pub fn rim_velocity(&self) -> [f64; 2] {
        let square = (1.0 - self.rho) * (1.0 - self.rho);
        let a2 = (3.0 * square + 4.0 * (2.0 * self.rho - 1.0)) / (4.0 - square);
        let delta = square / (2.0 * (4.0 - square));
        let b = [delta + 0.5, 0.5 * a2 + 0.5 - 2.0 * delta, 0.5 * a2 + delta];
        let h = self.step / self.micro_steps as f64;
        let before = Complex::from_polar(1.0, -self.spin * h);
        let above = Complex::from(1.0) - before * (1.0 - a2) - before * before * a2;
        let below = (Complex::from(b[0]) + before * b[1] + before * before * b[2]) * h;
        let velocity = above / below * BAR.radius;
        [velocity.re, velocity.im]
    }

    pub fn text(&self) -> String {
        let Self {
            spin,
            offset,
            step,
            rho,
            integrator,
            micro_steps,
            gravity,
            hub,
            damping,
        } = self;
        format!(
            r#"
            [model]
            name = "spinner"
            [simulation]
            step = {step}
            duration = 1.0
            [multibody.m]
            integrator = "{integrator}"
            rho = {rho}
            micro_steps = {micro_steps}
            gravity = [{gravity}, 0, 0]
            [multibody.m.nodes]
            hub = {{ angular_velocity = [0, 0, {spin}] }}
            bar = {{ position = [2, 0, 0], velocity = [{rim_x}, {rim_y}, 0], angular_velocity = [0, 0, {spin}] }}
            [multibody.m.bodies]
            hub = {{ node = "hub", mass = 1, inertia = [{hub}, {hub}, {hub}] }}
            bar = {{ node = "bar", mass = 5, centre = [{offset}, 0, 0], inertia = [0.02, 0.1, 0.1] }}
            [multibody.m.joints]
            axle = {{ type = "revolute", between = ["ground", "hub"], axis = [0, 0, 1] }}
            ball = {{ type = "spherical", between = ["hub", "bar"], position = [2, 0, 0] }}
            [multibody.m.bushings]
            spring = {{ between = ["hub", "bar"], position = [2, 0, 0], rotational_stiffness = [50, 50, 50], rotational_damping = [{damping}, {damping}, {damping}] }}
            "#,
            rim_x = self.rim_velocity()[0],
            rim_y = self.rim_velocity()[1],
        )
    }
}

/// Flexible blades on a hub that turns about the vertical.
#[derive(Clone)]
pub struct Rotor {
    pub blades: usize,
    pub length: f64,
    pub elements: usize,
    pub nodes_per_element: usize,
    /// Radius of the section.
    pub thickness: f64,
    pub young: f64,
    pub density: f64,
    pub damping: f64,
    pub hub: f64,
    pub spin: f64,
    pub step: f64,
    pub rho: f64,
    pub integrator: &'static str,
    pub lumping: &'static str,
    pub gravity: [f64; 3],
    /// Lines of the section `cut`; uncut without.
    pub cut: Option<&'static str>,
    pub schedule: &'static str,
}

impl Rotor {
    /// The blades are as they are without load, and turn with the hub.
    pub fn text(&self) -> String {
        let Self {
            blades,
            length,
            elements,
            nodes_per_element,
            thickness,
            young,
            density,
            damping,
            hub,
            spin,
            step,
            rho,
            integrator,
            lumping,
            gravity,
            cut,
            schedule,
        } = self;
        let mut text = format!(
            r#"
            [model]
            name = "rotor"
            [simulation]
            step = {step}
            duration = {duration}
            [schedule]
            kind = "{schedule}"
            [multibody.m]
            integrator = "{integrator}"
            gravity = {gravity:?}
            rho = {rho}
            [multibody.m.sections.s]
            circle = {thickness}
            young = {young}
            poisson = 0.3
            density = {density}
            damping = {damping}
            [multibody.m.nodes]
            hub = {{ angular_velocity = [0, 0, {spin}] }}
            [multibody.m.bodies]
            hub = {{ node = "hub", mass = {hub}, inertia = [0.001, 0.0012, 0.0015] }}
            [multibody.m.joints]
            axle = {{ type = "revolute", between = ["ground", "hub"], axis = [0, 0, 1] }}
            [multibody.m.outputs]
            tip = {{ motion = "b0.{tip}" }}
            "#,
            tip = elements * (nodes_per_element - 1),
            duration = 200.0 * step,
        );
        if let Some(cut) = cut {
            text += &format!("[multibody.m.cut]\nat = [\"hub\"]\n{cut}\n");
        }
        for blade in 0..*blades {
            let angle = std::f64::consts::TAU * blade as f64 / *blades as f64;
            let (y, x) = angle.sin_cos();
            text += &format!(
                r#"
                [multibody.m.beams.b{blade}]
                from = "hub"
                to = [{}, {}, 0]
                elements = {elements}
                nodes_per_element = {nodes_per_element}
                section = "s"
                lumping = "{lumping}"
                up = [0, 0, 1]
                angular_velocity = [0, 0, {spin}]
                "#,
                length * x,
                length * y,
            );
        }
        text
    }
}

/// Two short soft blades, cut at the hub.
pub fn two_short_blades() -> Rotor {
    Rotor {
        blades: 2,
        length: 0.85,
        elements: 2,
        nodes_per_element: 2,
        thickness: 0.01,
        young: 1.6045e8,
        density: 7800.0,
        damping: 0.01965,
        hub: 8.367,
        spin: 19.32,
        step: 0.005,
        rho: 0.31,
        integrator: "lms2",
        lumping: "segments",
        gravity: [0.0; 3],
        cut: Some("scheme = \"interface-mass\""),
        schedule: "jacobi",
    }
}

/// Two long blades of three-node elements.
pub fn two_long_blades() -> Rotor {
    Rotor {
        length: 2.71,
        elements: 3,
        nodes_per_element: 3,
        young: 1.7501e8,
        density: 2700.0,
        damping: 0.09764,
        hub: 0.9362,
        spin: 15.68,
        rho: 0.52,
        cut: Some("scheme = \"force-displacement\"\npredictor = \"hermite\""),
        schedule: "gauss-seidel",
        ..two_short_blades()
    }
}

/// Three blades without much stiffness that turn fast under their weight along the axis.
pub fn three_ropes() -> Rotor {
    Rotor {
        blades: 3,
        length: 0.72,
        elements: 2,
        nodes_per_element: 3,
        thickness: 0.02,
        young: 7.8128e8 * 0.0006978305848598664,
        density: 2700.0,
        damping: 0.02921,
        hub: 2.704,
        spin: 26.5,
        rho: 0.36,
        gravity: [0.0, 0.0, -9.81],
        cut: Some("scheme = \"force-displacement\""),
        schedule: "gauss-seidel",
        ..two_short_blades()
    }
}

/// Two undamped blades under their weight along the axis.
pub fn two_undamped_blades() -> Rotor {
    Rotor {
        blades: 2,
        length: 1.86,
        thickness: 0.03,
        young: 5.2246e7,
        damping: 0.0,
        hub: 3.13,
        spin: 8.03,
        rho: 0.13,
        gravity: [0.0, 0.0, -9.81],
        cut: Some("scheme = \"force-displacement\""),
        schedule: "gauss-seidel",
        ..two_short_blades()
    }
}

/// Rigid bars on ball joints at the rim of a hub that turns about the vertical.
#[derive(Clone)]
pub struct Bars {
    pub bars: usize,
    pub radius: f64,
    pub offset: f64,
    pub stiffness: f64,
    pub damping: f64,
    pub spin: f64,
    pub step: f64,
    pub rho: f64,
    pub integrator: &'static str,
    pub gravity: [f64; 3],
}

impl Bars {
    pub fn text(&self) -> String {
        let Self {
            bars,
            radius,
            offset,
            stiffness,
            damping,
            spin,
            step,
            rho,
            integrator,
            gravity,
        } = self;
        let mut text = format!(
            r#"
            [model]
            name = "bars"
            [simulation]
            step = {step}
            duration = {duration}
            [multibody.m]
            integrator = "{integrator}"
            gravity = {gravity:?}
            rho = {rho}
            [multibody.m.nodes]
            hub = {{ angular_velocity = [0, 0, {spin}] }}
            [multibody.m.bodies]
            hub = {{ node = "hub", mass = 3, inertia = [0.1, 0.1, 0.2] }}
            [multibody.m.joints]
            axle = {{ type = "revolute", between = ["ground", "hub"], axis = [0, 0, 1] }}
            "#,
            duration = 200.0 * step,
        );
        for bar in 0..*bars {
            let angle = std::f64::consts::TAU * bar as f64 / *bars as f64;
            let (y, x) = angle.sin_cos();
            let at = format!("[{}, {}, 0]", radius * x, radius * y);
            text += &format!(
                r#"
                [multibody.m.nodes.n{bar}]
                position = {at}
                orientation = {{ axis = [0, 0, 1], angle = {angle} }}
                velocity = [{}, {}, 0]
                angular_velocity = [0, 0, {spin}]
                [multibody.m.bodies.b{bar}]
                node = "n{bar}"
                mass = 2
                centre = [{offset}, 0, 0]
                inertia = [0.02, 0.1, 0.1]
                [multibody.m.joints.j{bar}]
                type = "spherical"
                between = ["hub", "n{bar}"]
                position = {at}
                [multibody.m.bushings.k{bar}]
                between = ["hub", "n{bar}"]
                position = {at}
                rotational_stiffness = [{stiffness}, {stiffness}, {stiffness}]
                rotational_damping = [{damping}, {damping}, {damping}]
                "#,
                -spin * radius * y,
                spin * radius * x,
            );
        }
        text
    }
}
