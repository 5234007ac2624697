//! Strains and internal loads of beams and shells.

use oldham_cosim::Unit;
use oldham_multibody::{SectionSensor, Sensor};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Reading, Reads};
use crate::check::Bench;
use crate::extensions::{Extensions, With};
use crate::format::At;
use crate::format::multibody::{SectionWord, Vector};

/// A place along a beam.
#[derive(Deserialize, JsonSchema)]
struct AlongBeam {
    /// Where, from 0 to 1 along it.
    at: Option<At<Vector>>,
}

/// A place on a shell.
#[derive(Deserialize, JsonSchema)]
struct OnShell {
    /// The two parameters `[u, v]`, from 0 to 1.
    at: Option<At<Vector>>,
}

/// What is felt there.
#[derive(Deserialize, JsonSchema)]
struct Felt {
    /// Which internal load. Of a beam in N or N·m, of a shell in N/m or N.
    load: Option<At<SectionWord>>,
    /// Which strain, conjugate to the load of this name.
    strain: Option<At<SectionWord>>,
}

const BEAM: (&str, &str) = (
    "beam",
    "A strain or an internal load of this beam, `at` some place along it.",
);
const SHELL: (&str, &str) = (
    "shell",
    "A strain or an internal load of this shell, `at` some place on it: in the middle of the element there.",
);

pub(super) fn register(own: &mut Extensions) {
    let reads = Reads::Motions;
    own.own_sensor(BEAM, reads, |of, given: With<AlongBeam, Felt>, bench| {
        let With(AlongBeam { at }, felt) = given;
        let component = felt.component(true, bench);
        let place = place_on::<1>(&at, "such as at = [0.5], half way along the beam", bench);
        let beam = bench.checker.known(&of, "beam", &bench.draft.beams)?;
        Some(component?.reading(beam.samples(place?[0])))
    });
    own.own_sensor(SHELL, reads, |of, given: With<OnShell, Felt>, bench| {
        let With(OnShell { at }, felt) = given;
        let component = felt.component(false, bench);
        let help = "such as at = [0.5, 0.5], in the middle of the shell";
        let place = place_on::<2>(&at, help, bench);
        let shell = bench.checker.known(&of, "shell", &bench.draft.shells)?;
        Some(component?.reading(shell.samples(place?)))
    });
}

/// What a word means: whether of a beam, which component, and the units of load and strain.
pub(crate) fn units_of(word: SectionWord) -> (bool, usize, [&'static str; 2]) {
    use SectionWord as W;
    match word {
        W::Axial => (true, 0, ["N", "1"]),
        W::ShearY => (true, 1, ["N", "1"]),
        W::ShearZ => (true, 2, ["N", "1"]),
        W::Torsion => (true, 3, ["N.m", "1/m"]),
        W::BendingY => (true, 4, ["N.m", "1/m"]),
        W::BendingZ => (true, 5, ["N.m", "1/m"]),
        W::N11 => (false, 0, ["N/m", "1"]),
        W::N22 => (false, 1, ["N/m", "1"]),
        W::N12 => (false, 2, ["N/m", "1"]),
        W::M11 => (false, 3, ["N", "1/m"]),
        W::M22 => (false, 4, ["N", "1/m"]),
        W::M12 => (false, 5, ["N", "1/m"]),
        W::Q1 => (false, 6, ["N/m", "1"]),
        W::Q2 => (false, 7, ["N/m", "1"]),
    }
}

const OF_BEAMS: &str =
    "a beam has `axial`, `shear-y`, `shear-z`, `torsion`, `bending-y` and `bending-z`";
const OF_SHELLS: &str = "a shell has `n11`, `n22`, `n12`, `m11`, `m22`, `m12`, `q1` and `q2`";

/// One component of a strain or load.
struct Component {
    index: usize,
    is_strain: bool,
    unit: &'static str,
}

impl Component {
    fn reading(self, samples: crate::check::Samples) -> Reading {
        Reading::Fed(Sensor::Section(SectionSensor {
            samples,
            is_strain: self.is_strain,
            component: self.index,
            unit: Unit(self.unit.into()),
        }))
    }
}

impl Felt {
    fn component(
        &self,
        is_beam: bool,
        Bench {
            checker,
            name,
            place,
            ..
        }: &mut Bench<'_, '_, '_>,
    ) -> Option<Component> {
        let help = if is_beam { OF_BEAMS } else { OF_SHELLS };
        let (word, is_strain) = match (&self.load, &self.strain) {
            (Some(load), None) => (load, false),
            (None, Some(strain)) => (strain, true),
            _ => {
                let message = format!("`{name}` needs a `load` or a `strain`");
                checker.report_missing(place, message).help(help);
                return None;
            }
        };
        let (of_beam, index, units) = units_of(word.value);
        if of_beam != is_beam {
            let what = if is_beam { "beam" } else { "shell" };
            let message = format!("no section of a {what} feels this");
            checker.report(&word.span, message).help(help);
            return None;
        }
        Some(Component {
            index,
            is_strain,
            unit: units[usize::from(is_strain)],
        })
    }
}

/// Where on a beam or shell: numbers from 0 to 1.
fn place_on<const N: usize>(
    given: &Option<At<Vector>>,
    help: &str,
    Bench {
        checker,
        name,
        place,
        ..
    }: &mut Bench<'_, '_, '_>,
) -> Option<[f64; N]> {
    let Some(list) = given else {
        let message = format!("`{name}` needs the place where it measures");
        checker
            .report_missing(place, message)
            .label("has no `at`")
            .help(help);
        return None;
    };
    let place: [f64; N] = checker.numbers(list, "a place from 0 to 1 for each parameter")?;
    if place.iter().all(|s| (0.0..=1.0).contains(s)) {
        return Some(place);
    }
    let message = "places are from 0 to 1";
    checker.report(&list.span, message).help(help);
    None
}
