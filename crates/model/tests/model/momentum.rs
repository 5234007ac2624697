//! Forces that bring a mechanism the momentum which its fast subsystems spend: the order over macro steps, against the solution
//! in closed form.

use oldham_stability::Spectrum;

use crate::common::{assert_checkpoint_keeps_bits, coupled, read};

/// A carriage on a rail and a sledge on the carriage, each with friction against what carries it. The friction acts through fast
/// subsystems and brings both to their speed within 3 ms; a load that grows pulls at the sledge.
const OUTER: f64 = 180.0;
const INNER: f64 = 120.0;
const FRICTIONS: [f64; 2] = [1.2e5, 5e4];
/// Of the load, N/s.
const GROWTH: f64 = 6000.0;
const DURATION: f64 = 0.5;

fn two_slides(step: f64, integrator: &str, order: &str) -> String {
    let fast = |name: &str, friction: f64| {
        format!(
            r#"
[lumped.{name}]
integrator = "semi-implicit-euler"
micro_step = 1e-5
predictor = "interface-model"

[lumped.{name}.springs]
friction = {{ between = ["ground", "slide"], stiffness = 0, damping = {friction} }}

[lumped.{name}.inputs]
slide = {{ motion = "slide" }}

[lumped.{name}.outputs]
force = {{ force = "slide" }}

[[connection]]
from = "{name}.force"
to = "slides.{name}"

[[connection]]
from = "slides.{name}.motion"
to = "{name}.slide"
"#
        )
    };
    format!(
        r#"
[model]
name = "Two slides"

[simulation]
duration = {DURATION}
step = {step}

[schedule]
kind = "gauss-seidel"
order = [{order}]

[multibody.slides]
integrator = "{integrator}"

[multibody.slides.nodes]
carriage = {{ position = [0, 0, 0] }}
sledge = {{ position = [0, 0, 0] }}

[multibody.slides.bodies]
carriage = {{ node = "carriage", mass = {OUTER}, inertia = [1, 1, 1] }}
sledge = {{ node = "sledge", mass = {INNER}, inertia = [1, 1, 1] }}

[multibody.slides.joints]
outer = {{ type = "prismatic", between = ["ground", "carriage"], axis = [1, 0, 0] }}
inner = {{ type = "prismatic", between = ["carriage", "sledge"], axis = [1, 0, 0] }}

[multibody.slides.loads]
pull = {{ on = "sledge", force = ["{GROWTH} * t", 0, 0] }}

[multibody.slides.inputs]
outer = {{ force = "outer" }}
inner = {{ force = "inner" }}

[lumped.bystander]
integrator = "rk4"

[lumped.bystander.masses]
mass = {{ mass = 1 }}
{}{}"#,
        fast("outer", FRICTIONS[0]),
        fast("inner", FRICTIONS[1]),
    )
}

/// One model for both, or a model each: what lies between them in the order keeps them apart.
const SHARED: &str = r#""bystander", "outer", "inner", "slides""#;
const APART: &str = r#""outer", "bystander", "inner", "slides""#;

/// The ways of both slides after a time, by the two modes of M v' + C v = F t.
fn exact(t: f64) -> [f64; 2] {
    let [c1, c2] = FRICTIONS;
    let m = [[OUTER + INNER, INNER], [INNER, INNER]];
    // det(C - λ M) = 0.
    let a = m[0][0] * m[1][1] - m[0][1] * m[0][1];
    let b = c1 * m[1][1] + c2 * m[0][0];
    let root = (b * b - 4.0 * a * c1 * c2).sqrt();
    let mut ways = [0.0; 2];
    for rate in [(b - root) / (2.0 * a), (b + root) / (2.0 * a)] {
        let shape = [rate * m[0][1], c1 - rate * m[0][0]];
        let mass = shape[0] * (m[0][0] * shape[0] + m[0][1] * shape[1])
            + shape[1] * (m[0][1] * shape[0] + m[1][1] * shape[1]);
        let load = GROWTH * (shape[0] + shape[1]);
        let faded = -(-rate * t).exp_m1() / rate;
        let way = load / (mass * rate) * (0.5 * t * t - (t - faded) / rate);
        ways[0] += shape[0] * way;
        ways[1] += shape[1] * way;
    }
    ways
}

/// The largest error of a way, over the largest way.
fn error(step: f64, integrator: &str, order: &str) -> f64 {
    let run = coupled(&read(&two_slides(step, integrator, order)).unwrap());
    let found = ["outer", "inner"].map(|name| run.column(&format!("slides.{name}.motion.x")));
    let most = exact(DURATION).into_iter().fold(0.0, f64::max);
    let mut error: f64 = 0.0;
    for n in 0..found[0].len() {
        let expected = exact(step * n as f64);
        for (found, expected) in found.iter().zip(expected) {
            error = error.max((found[n] - expected).abs() / most);
        }
    }
    error
}

/// With the momentum of both errors fall with the square of the step. With a model each, which lacks what the other does,
/// the mechanism takes forces at the end of the step: most of what is spent within a step never reaches it.
#[test]
fn errors_fall_with_the_square_of_the_step() {
    // By themselves impulses are of first order, which shows a little.
    for (integrator, least) in [("lms2", 1.8), ("rk4", 1.8), ("impulses", 1.5)] {
        let steps = [0.01, 0.005, 0.0025];
        let shared = steps.map(|step| error(step, integrator, SHARED));
        let apart = steps.map(|step| error(step, integrator, APART));
        println!("{integrator}: one model {shared:?}, a model each {apart:?}");
        assert!(shared[0] < 0.1, "{integrator}: {shared:?}");
        for pair in shared.windows(2) {
            let order = (pair[0] / pair[1]).log2();
            assert!(order > least, "{integrator}: {shared:?}");
        }
        for (shared, apart) in shared.iter().zip(apart) {
            assert!(*shared < 0.3 * apart, "{integrator}: {shared} {apart}");
        }
    }
}

/// What is remembered of the last step belongs to the state.
#[test]
fn a_checkpoint_keeps_the_momentum() {
    let model = read(&two_slides(0.01, "lms2", SHARED)).unwrap();
    assert_checkpoint_keeps_bits(&model, &["outer+inner", "slides"]);
}

/// A cart on a spring without friction, seen through an interface model.
fn sprung_cart(kind: &str, step: f64) -> String {
    format!(
        r#"
[model]
name = "Sprung cart"

[simulation]
duration = {}
step = {step}

[schedule]
kind = "{kind}"
order = ["spring", "cart"]

[multibody.cart.nodes]
cart = {{ position = [0, 0, 0], velocity = [1e-3, 0, 0] }}

[multibody.cart.bodies]
cart = {{ node = "cart", mass = 10, inertia = [1, 1, 1] }}

[multibody.cart.joints]
rail = {{ type = "prismatic", between = ["ground", "cart"], axis = [1, 0, 0] }}

[multibody.cart.inputs]
rail = {{ force = "rail" }}

[lumped.spring]
integrator = "semi-implicit-euler"
micro_step = 1e-4
predictor = "interface-model"

[lumped.spring.springs]
spring = {{ between = ["ground", "cart"], stiffness = 1e4 }}

[lumped.spring.inputs]
cart = {{ motion = "cart" }}

[lumped.spring.outputs]
force = {{ force = "cart" }}

[[connection]]
from = "spring.force"
to = "cart.rail"

[[connection]]
from = "cart.rail.motion"
to = "spring.cart"
"#,
        200.0 * step
    )
}

/// What is shown of an interface is state: the radius that is told is the growth of a run. With the momentum of the spring nothing grows.
#[test]
fn the_spectral_radius_is_the_growth_of_a_run() {
    let told = |text: &str| {
        let mut simulation = read(text).unwrap().simulation().unwrap();
        Spectrum::of(&mut simulation)
            .unwrap()
            .dominant()
            .value
            .norm()
    };
    // Both at once: the force is a step late.
    let text = sprung_cart("jacobi", 0.01).replace("order = [\"spring\", \"cart\"]\n", "");
    let found = coupled(&read(&text).unwrap()).column("cart.rail.motion.x");
    let most = |from: usize| {
        found[from..from + 50]
            .iter()
            .fold(0.0, |most: f64, x| most.max(x.abs()))
    };
    let growth = (most(150) / most(100)).powf(0.02);
    let radius = told(&text);
    assert!(growth > 1.005, "{growth}");
    assert!(
        (radius - growth).abs() < 0.05 * (growth - 1.0),
        "{radius} {growth}"
    );
    for step in [0.01, 0.05] {
        let radius = told(&sprung_cart("gauss-seidel", step));
        assert!(radius < 1.0 + 1e-6, "{step}: {radius}");
    }
}
