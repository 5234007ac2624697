//! Contact: the shaken can, beds of grains, piles of boxes and spheres, and mixed problems solved by pivoting.

use oldham_contact::bench::{
    CAN_TOLERANCE, Figures, Mixed, PileFigures, Solid, bed, gripper, mean_of, mean_of_starts,
    measure, pile, settled, shaken_can_by, sledge,
};
use oldham_contact::{ContactError, Coulomb, FrictionBounds, Pivoting, Wall};

use super::{Figure, cpu_seconds};

/// Starts of the can, disturbed by at most 1e-9 m: the scene is chaotic, its means are not.
const STARTS: u64 = 10;
const STEPS: usize = 3000;

pub fn figures() -> Vec<Figure> {
    let mut figures = can().expect("the benchmark's can runs");
    figures.extend(beds().expect("the benchmark's beds run"));
    figures.extend(pivoting());
    figures
}

/// Apart from the others: a thousand boxes take minutes.
pub fn pile_figures() -> Vec<Figure> {
    piles().expect("the benchmark's piles run")
}

fn can() -> Result<Vec<Figure>, ContactError> {
    let flat = mean_of_starts(Wall::Facets(24), STARTS, STEPS, &cpu_seconds)?;
    let round = mean_of_starts(Wall::Round, STARTS, STEPS, &cpu_seconds)?;
    let coulomb = |start| {
        let solver = Coulomb::new(CAN_TOLERANCE, 20_000);
        shaken_can_by(solver, Wall::Facets(24), start)
    };
    let disc = mean_of(coulomb, STARTS, STEPS, &cpu_seconds)?;
    let by_coulomb = format!(
        "the same by Coulomb's law, at most 1.5 times the time; residual {:.1e} m/s at most, {:.1} sweeps",
        disc.residual, disc.sweeps
    );
    let work = |found: &Figures| found.work * 1e3;
    let sweeps = format!(
        "CPU time per step, mean of ten starts; {:.1} sweeps, {:.0} contacts pressed",
        flat.sweeps, flat.pressed
    );
    Ok(vec![
        Figure::new("can-147", flat.mean, "ms", &sweeps).required(0.4),
        Figure::new(
            "can-147-p99",
            flat.p99,
            "ms",
            "one step in a hundred takes longer",
        )
        .required(1.5),
        Figure::new(
            "can-147-residual",
            flat.residual,
            "m/s",
            "largest of all steps and starts",
        )
        .required(1e-5),
        Figure::new(
            "can-147-penetration",
            flat.penetration * 1e6,
            "um",
            "deepest of all steps and starts",
        )
        .required(1.0),
        Figure::new(
            "can-147-work",
            work(&flat),
            "mJ",
            "24 flat walls, mean of ten starts; from 14.03 to 14.10",
        )
        .within(14.03, 14.10),
        Figure::new("can-147-coulomb", disc.mean, "ms", &by_coulomb).required(1.5 * flat.mean),
        Figure::new("can-147-round", round.mean, "ms", "the same in a round can"),
        Figure::new(
            "can-147-round-work",
            work(&round),
            "mJ",
            "a round can, mean of ten starts",
        ),
    ])
}

fn beds() -> Result<Vec<Figure>, ContactError> {
    let mut figures = Vec::new();
    let mut times = Vec::new();
    let mut residual = 0.0_f64;
    let mut bytes = 0.0;
    let sizes = [
        ("grains-100", 100, 3000),
        ("grains-1000", 1000, 1500),
        ("grains-10000", 10_000, 700),
    ];
    for (name, grains, steps) in sizes {
        let found = measure(&mut bed(grains, 1)?, steps, &cpu_seconds)?;
        let note = format!(
            "CPU time per step, eight layers deep; {:.1} sweeps, {:.0} contacts pressed",
            found.sweeps, found.pressed
        );
        let figure = Figure::new(name, found.mean, "ms", &note);
        figures.push(if grains == 10_000 {
            figure.required(400.0)
        } else {
            figure
        });
        times.push(found.mean);
        residual = residual.max(found.residual);
        bytes = found.bytes_per_grain;
    }
    let exponent = (times[2] / times[0]).log10() / 2.0;
    figures.push(
        Figure::new(
            "grains-exponent",
            exponent,
            "",
            "of the time over the number",
        )
        .required(1.15),
    );
    figures.push(
        Figure::new("grains-residual", residual, "m/s", "largest of all steps").required(1e-4),
    );
    let note = "most bytes held for each of 10,000 grains, contacts and scratch included";
    figures.push(Figure::new("grains-bytes", bytes, "B", note).required(600.0));
    Ok(figures)
}

/// Boxes and spheres that land and come to rest, by Coulomb's law.
fn piles() -> Result<Vec<Figure>, ContactError> {
    let sizes = [
        (Solid::Box, 1, ["boxes-1-landing", "boxes-1"]),
        (Solid::Box, 10, ["boxes-10-landing", "boxes-10"]),
        (Solid::Box, 100, ["boxes-100-landing", "boxes-100"]),
        (Solid::Box, 1000, ["boxes-1000-landing", "boxes-1000"]),
        (Solid::Sphere, 1, ["spheres-1-landing", "spheres-1"]),
        (Solid::Sphere, 10, ["spheres-10-landing", "spheres-10"]),
        (Solid::Sphere, 100, ["spheres-100-landing", "spheres-100"]),
        (
            Solid::Sphere,
            1000,
            ["spheres-1000-landing", "spheres-1000"],
        ),
    ];
    let mut figures = Vec::new();
    let (mut residual, mut landing, mut resting) = (0.0_f64, Vec::new(), Vec::new());
    for (solid, count, [first, second]) in sizes {
        let lands = pile(solid, count)?.land(&cpu_seconds)?;
        let rests = settled(solid, count, false)?.stay(&cpu_seconds)?;
        for (name, found) in [(first, &lands), (second, &rests)] {
            residual = residual.max(found.residual);
            figures.push(Figure::new(name, found.mean, "us", &described(found)));
        }
        if solid == Solid::Box {
            landing.push(lands.mean);
            resting.push(rests.mean);
        }
    }
    for (count, name) in [(100, "boxes-100-asleep"), (1000, "boxes-1000-asleep")] {
        let sleeps = settled(Solid::Box, count, true)?.stay(&cpu_seconds)?;
        residual = residual.max(sleeps.residual);
        figures.push(Figure::new(name, sleeps.mean, "us", &described(&sleeps)));
    }
    let exponent = |times: &[f64]| (times[3] / times[2]).log10();
    let note = "of the time over the number, 100 to 1000 boxes, ten layers each";
    figures.push(Figure::new("boxes-exponent", exponent(&resting), "", note).required(1.3));
    let landing = exponent(&landing);
    figures.push(Figure::new(
        "boxes-landing-exponent",
        landing,
        "",
        "the same while they land",
    ));
    let slides = sledge(16, 400, &cpu_seconds)?;
    residual = residual.max(slides.residual);
    figures.push(Figure::new(
        "sledge-16",
        slides.mean,
        "us",
        &described(&slides),
    ));
    let grips = gripper(400, &cpu_seconds)?;
    residual = residual.max(grips.figures.residual);
    let note = format!(
        "{}; both jaws carry {:.4} N of 9.81, the box fell {:.2} mm",
        described(&grips.figures),
        grips.carried,
        grips.fallen * 1e3
    );
    figures.push(Figure::new("gripper", grips.figures.mean, "us", &note));
    let note = "largest of all steps of these scenes";
    figures.push(Figure::new("piles-residual", residual, "m/s", note).required(1e-5));
    Ok(figures)
}

fn described(found: &PileFigures) -> String {
    format!(
        "CPU time per step of 2.5 ms; residual {:.1e} m/s at most, {} of {} steps above 1e-5; {:.2e} mm deep at most; \
         {:.0} contacts pressed, {:.1} sweeps, {:.2} factorisations",
        found.residual,
        found.unmet,
        found.steps,
        found.penetration * 1e3,
        found.pressed,
        found.sweeps,
        found.factorisations
    )
}

fn pivoting() -> Vec<Figure> {
    let solve = |name, mut mixed: Mixed, bounds, limit: Option<f64>| {
        let held = bounds == FrictionBounds::Last;
        let found = mixed.measure(&mut Pivoting::with_bounds(bounds), 500, held, &cpu_seconds);
        let note = format!(
            "CPU time of a warm-started solution, bounds of friction {}; {:.2} changes of the sets, {} fallbacks, \
             {} of 500 not solved",
            if held { "of the last step" } else { "iterated" },
            found.changes,
            found.fallbacks,
            found.unsolved
        );
        let figure = Figure::new(name, found.mean, "us", &note);
        match limit {
            Some(limit) => figure.required(limit),
            None => figure,
        }
    };
    let iterated = Pivoting::new().bounds;
    vec![
        solve(
            "pivot-35",
            Mixed::manipulator(),
            FrictionBounds::Last,
            Some(100.0),
        ),
        solve(
            "pivot-178",
            Mixed::chain(),
            FrictionBounds::Last,
            Some(3000.0),
        ),
        solve("pivot-35-iterated", Mixed::manipulator(), iterated, None),
        solve("pivot-178-iterated", Mixed::chain(), iterated, None),
    ]
}
