//! Cross-sections of beams.

use oldham_multibody::{LineInertia, Material, Profile, Section};

use super::MechanismDraft;
use crate::check::Checker;
use crate::check::keys::read_if;
use crate::format::multibody::{self, Multibody, Pairs};
use crate::format::{At, Entry};

/// Poisson's ratio when none is given.
pub(super) const DEFAULT_POISSON: f64 = 0.3;

/// What a beam is made of.
#[derive(Clone, Copy)]
pub(super) struct CrossSection {
    pub section: Section,
    pub inertia: LineInertia,
}

/// A material that is softer than this, in Pa, is likely given in another unit.
const SOFT: f64 = 1e4;

impl Checker<'_> {
    pub(super) fn sections<'f>(&mut self, section: &'f Multibody, draft: &mut MechanismDraft<'f>) {
        for entry in &section.sections {
            self.name(&entry.name, "a section");
            let made = self.cross_section(entry);
            draft.sections.insert(&entry.name.value, made);
        }
    }

    fn cross_section(&mut self, entry: &Entry<multibody::Section>) -> Option<CrossSection> {
        let given = &entry.value.value;
        let profile = self.profile(entry);
        let material = self.material(entry);
        let section = match (profile, material) {
            (Some(profile), Some(material)) => Some(profile?.section(material?)),
            (None, None) => self.stiffnesses(entry),
            _ => {
                let message = "a profile needs a material, and a material a profile";
                self.report_missing(&entry.value.span, message)
                    .help("give `young` and one of `rectangle`, `circle`, `tube`");
                None
            }
        };
        let damping = self.number_or(&given.damping, 0.0);
        let inertia = self.line_inertia(entry, profile.flatten());
        Some(CrossSection {
            section: section?.damped(damping?),
            inertia: inertia?,
        })
    }

    /// The profile, if one is given.
    fn profile(&mut self, entry: &Entry<multibody::Section>) -> Option<Option<Profile>> {
        let given = &entry.value.value;
        let kinds = [
            given.rectangle.is_some(),
            given.circle.is_some(),
            given.tube.is_some(),
        ];
        if kinds.into_iter().filter(|&kind| kind).count() > 1 {
            let message = "the section has several profiles; it must be one";
            self.report(&entry.value.span, message);
            return Some(None);
        }
        if let Some(sides) = &given.rectangle {
            let sides = self.numbers(sides, "the sides along the second and third axis");
            return Some(sides.map(Profile::Rectangle));
        }
        if let Some(radius) = &given.circle {
            let radius = self.number(radius);
            return Some(radius.map(|radius| Profile::Tube([radius, 0.0])));
        }
        let radii = self.radii(given.tube.as_ref()?, "outer and inner radius");
        Some(radii.map(Profile::Tube))
    }

    /// The material, if one is given.
    fn material(&mut self, entry: &Entry<multibody::Section>) -> Option<Option<Material>> {
        let given = &entry.value.value;
        let young = given.young.as_ref()?;
        let young = self.number(young);
        if let Some(soft) = young.filter(|&young| young < SOFT) {
            self.notes.push(format!(
                "Young's modulus of {soft} Pa is that of a foam: steel has 2.1e11; a unit may be written, as in \"210 GPa\""
            ));
        }
        let poisson = self.number_or(&given.poisson, DEFAULT_POISSON);
        let both = young.zip(poisson);
        Some(both.map(|(young, poisson)| Material { young, poisson }))
    }

    fn stiffnesses(&mut self, entry: &Entry<multibody::Section>) -> Option<Section> {
        let given = &entry.value.value;
        if let Some(rows) = &given.stiffness {
            return self.stiffness_matrix(rows);
        }
        let (Some(axial), Some(shear), Some(torsion), Some(bending)) =
            (&given.axial, &given.shear, &given.torsion, &given.bending)
        else {
            let message = format!("the section `{}` lacks stiffness", entry.name.value);
            self.report_missing(&entry.value.span, message).help(
                "give `axial`, `shear`, `torsion` and `bending`, or `stiffness`, or a material and a profile",
            );
            return None;
        };
        let axial = self.number(axial);
        let shear: Option<[f64; 2]> = self.numbers(shear, "along the second and third axis");
        let torsion = self.number(torsion);
        let bending: Option<[f64; 2]> = self.numbers(bending, "about the second and third axis");
        let ([sy, sz], [by, bz]) = (shear?, bending?);
        Some(Section::diagonal([axial?, sy, sz, torsion?, by, bz]))
    }

    fn stiffness_matrix(&mut self, rows: &At<Pairs>) -> Option<Section> {
        let stiffness = self.six_rows(rows)?;
        let symmetric = (0..6).all(|i| (0..i).all(|j| stiffness[i][j] == stiffness[j][i]));
        let definite = nalgebra::Matrix6::from(stiffness).cholesky().is_some();
        if !(symmetric && definite) {
            let message = "a section stiffness must be symmetric and positive definite";
            self.report(&rows.span, message);
        }
        Some(Section {
            stiffness,
            damping: 0.0,
        })
    }

    fn line_inertia(
        &mut self,
        entry: &Entry<multibody::Section>,
        profile: Option<Profile>,
    ) -> Option<LineInertia> {
        let given = &entry.value.value;
        let density = read_if(&given.density, |at| self.number(at));
        let mass = read_if(&given.mass, |at| self.number(at));
        let what = "about the three section axes";
        let rotary = read_if(&given.inertia, |list| self.numbers(list, what));
        let of_profile = density?.zip(profile);
        let of_profile = of_profile.map(|(density, profile)| profile.inertia(density));
        let Some(mass) = mass?.or(of_profile.map(|inertia| inertia.mass)) else {
            let message = format!("the section `{}` has no mass", entry.name.value);
            self.report_missing(&entry.value.span, message)
                .help("give `mass`, or `density` and a profile");
            return None;
        };
        let usual = of_profile.map_or([0.0; 3], |inertia| inertia.rotary);
        Some(LineInertia {
            mass,
            rotary: rotary?.unwrap_or(usual),
        })
    }
}
