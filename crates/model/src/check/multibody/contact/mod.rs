//! Contact: shapes, particles, and how contacts are solved.

mod compliant;
mod lattice;
mod shapes;

use oldham_multibody::contact::{self, ContactOptions, Grains, Start, Surface};
use oldham_multibody::{Method, NodeId, Options, Sent, Vec3};

use super::MechanismDraft;
use crate::check::Checker;
use crate::check::keys::{all, read_if};
use crate::format::multibody::{
    Contact, ContactLaw, DEFAULT_DOMAIN, DEFAULT_RESIDUAL, DEFAULT_SPACING, Impacts, Multibody,
    Overlap, Particles,
};
use crate::format::{At, Count, Entry, NonNegative, Restitution, place};
use crate::mechanism::{CONTACT_PORTS, PARTICLE_PORTS, ParticleSketch};

impl Checker<'_> {
    /// All of it. Bodies must be known.
    pub(super) fn contact<'f>(&mut self, section: &'f Multibody, draft: &mut MechanismDraft<'f>) {
        let default = Contact::default();
        let given = section.contact.as_ref().map_or(&default, |at| &at.value);
        let surface =
            self.contact_surface(&given.friction, &given.restitution, Surface::rough(0.0));
        let surface = self.with_turning(&given.rolling, &given.torsion, surface);
        let surface = surface.unwrap_or(Surface::rough(0.0));
        self.turning_is_known(given, section);
        self.shapes(section, given, surface, draft);
        self.excluded(given, draft);
        for entry in &section.particles {
            self.name(&entry.name, "particles");
            self.particles(entry, section, surface, draft);
        }
        show_contacts(draft);
        if let Some(options) = self.contact_options(given) {
            draft.spec.whole.model.contacts().options = options;
        }
    }

    /// Contacts need impulses, and impulses no structures.
    pub(super) fn contact_methods(
        &mut self,
        section: &Multibody,
        options: &Options,
        draft: &mut MechanismDraft<'_>,
    ) {
        let solves = |method: Method| method == Method::Impulses;
        let cut = section.cut.as_ref().map(|cut| &cut.value);
        let in_part = cut.is_some_and(|cut| {
            let words = cut.methods.iter().flat_map(|e| &e.value.value.integrator);
            words
                .into_iter()
                .any(|word| word.value == super::MethodWord::Impulses)
        });
        let shape = section.shapes.iter().map(|entry| &entry.name.span).next();
        let particles = section.particles.iter().map(|entry| &entry.name.span);
        let place = shape.or(particles.chain(place(&section.contact)).next());
        if let Some(place) = place
            && !draft.spec.whole.model.contacts().is_empty()
            && !solves(options.method)
            && !in_part
        {
            let message = "contacts are solved by the integrator `impulses` alone";
            self.report(place, message).help(
                "set `integrator = \"impulses\"` in this section, or in `cut.methods` of the part with the contacts",
            ).label("in contact");
        }
        if !solves(options.method) || in_part {
            return;
        }
        let beams = section.beams.iter().map(|entry| &entry.name);
        let structures = beams.chain(section.shells.iter().map(|entry| &entry.name));
        for name in structures {
            let At { value: beam, span } = name;
            let message =
                format!("`{beam}` is flexible: the integrator `impulses` moves rigid bodies only");
            let help = format!(
                "keep `lms2` here, cut the mechanism at the node where `{beam}` carries the bodies in contact (`cut.at = [\"{beam}.0\"]`, `cut.scheme = \"force-displacement\"`), and set `integrator = \"impulses\"` for that part in `cut.methods`",
            );
            self.report(span, message).label("flexible").help(help);
        }
    }

    /// A surface with what is given, else as another one.
    fn contact_surface(
        &mut self,
        friction: &Option<At<NonNegative>>,
        restitution: &Option<At<Restitution>>,
        otherwise: Surface,
    ) -> Option<Surface> {
        let friction = self.number_or(friction, otherwise.friction);
        let restitution = self.number_or(restitution, otherwise.restitution);
        Some(Surface {
            friction: friction?,
            restitution: restitution?,
            ..otherwise
        })
    }

    /// The same with rolling and torsional friction, where given.
    fn with_turning(
        &mut self,
        rolling: &Option<At<NonNegative>>,
        torsion: &Option<At<NonNegative>>,
        surface: Option<Surface>,
    ) -> Option<Surface> {
        let otherwise = surface.unwrap_or(Surface::rough(0.0));
        let rolling = self.number_or(rolling, otherwise.rolling);
        let torsion = self.number_or(torsion, otherwise.torsion);
        Some(Surface {
            rolling: rolling?,
            torsion: torsion?,
            ..surface?
        })
    }

    /// Only Coulomb's law without pivoting has moments of friction.
    fn turning_is_known(&mut self, given: &Contact, section: &Multibody) {
        let shapes = section.shapes.iter().map(|entry| &entry.value.value);
        let of_shapes = shapes.flat_map(|shape| [&shape.rolling, &shape.torsion]);
        let mut all = [&given.rolling, &given.torsion]
            .into_iter()
            .chain(of_shapes);
        let Some(at) = all.find_map(|given| given.as_ref()) else {
            return;
        };
        let obstacle = match (given.law, &given.exact) {
            (Some(ContactLaw::Convex), _) => "the convex law",
            (_, Some(_)) => "pivoting (`exact`)",
            _ => return,
        };
        let message = format!("{obstacle} knows neither rolling nor torsional friction");
        self.report(&at.span, message)
            .help("take Coulomb's law, without `exact`");
    }

    fn excluded(&mut self, given: &Contact, draft: &mut MechanismDraft<'_>) {
        for pair in given.exclude.iter().flatten() {
            let Some(names) = self.two(pair, "nodes") else {
                continue;
            };
            let nodes = names.map(|name| self.node_named(name, draft));
            if let [Some(a), Some(b)] = nodes {
                draft.spec.whole.model.contacts().excluded.push([a, b]);
            }
        }
    }

    fn contact_options(&mut self, given: &Contact) -> Option<ContactOptions> {
        let reach = read_if(&given.reach, |at| self.number(at));
        let penetration = read_if(&given.penetration, |at| self.number(at));
        let residual = self.number_or(&given.residual, DEFAULT_RESIDUAL);
        let domain = self.number_or(&given.domain, DEFAULT_DOMAIN);
        let exact = read_if(&given.exact, |at| self.count(at));
        Some(ContactOptions {
            reach: reach?,
            penetration: penetration?,
            start: match given.overlap {
                Some(Overlap::Resolve) => Start::Resolve,
                _ => Start::Refuse,
            },
            law: match given.law {
                Some(ContactLaw::Convex) => contact::ContactLaw::Convex,
                _ => contact::ContactLaw::Coulomb,
            },
            impacts: match given.impacts {
                Some(Impacts::Together) => contact::Impacts::Together,
                _ => contact::Impacts::InTurn,
            },
            few: exact?.map_or(0, |few| few as usize),
            tolerance: residual?,
            domain: domain?,
            sleep: self.sleep(given),
        })
    }

    /// Resting impulses are judged by Coulomb's law.
    fn sleep(&mut self, given: &Contact) -> bool {
        let Some(At { value: true, span }) = &given.sleep else {
            return false;
        };
        let obstacle = match (given.law, &given.exact) {
            (Some(ContactLaw::Convex), _) => "the convex law",
            (_, Some(_)) => "pivoting (`exact`)",
            _ => return true,
        };
        let message = format!("bodies do not sleep with {obstacle}");
        self.report(span, message)
            .help("take Coulomb's law without `exact`, or leave `sleep` out");
        false
    }

    fn particles<'f>(
        &mut self,
        entry: &'f Entry<Particles>,
        section: &Multibody,
        otherwise: Surface,
        draft: &mut MechanismDraft<'f>,
    ) -> Option<()> {
        let given = &entry.value.value;
        let otherwise = Surface {
            rolling: 0.0,
            torsion: 0.0,
            ..otherwise
        };
        let surface = self.contact_surface(&given.friction, &given.restitution, otherwise);
        let density = self.required(&given.density);
        let radius = self.required(&given.radius);
        let spacing = self.number_or(&given.spacing, DEFAULT_SPACING);
        if let (Some(at), Some(spacing)) = (&given.spacing, spacing)
            && spacing <= 2.0
        {
            let message = "particles at this distance would overlap";
            self.report(&at.span, message)
                .label("must be more than 2 radii");
            return None;
        }
        let others = &draft.spec.whole.model.contacts().grains;
        if let (Some(surface), Some(other)) = (surface, others.first())
            && other.surface != surface
        {
            let message = format!(
                "all particles of a subsystem have one surface; these differ from `{}` in friction or restitution",
                other.name
            );
            self.report(&entry.name.span, message);
        }
        let (radius, spacing) = (radius?, spacing?);
        let (centres, container) = match (&given.container, &given.lattice) {
            (Some(name), None) => self.contained(entry, name, [radius, spacing], section, draft)?,
            (None, Some(lattice)) => {
                let counts = self.counts(lattice)?;
                let first = self.vector_or_zero(&given.position)?;
                (lattice::block(counts, first, spacing * radius), None)
            }
            _ => {
                let name = &entry.name.value;
                let message = format!(
                    "the particles `{name}` need either a `container` and a `count`, or a `lattice`"
                );
                self.report_missing(&entry.value.span, message);
                return None;
            }
        };
        let name = entry.name.value.clone();
        let count = centres.len();
        let contacts = draft.spec.whole.model.contacts();
        let held_by = container.map(|shape| contacts.shapes[shape].at.node);
        contacts.grains.push(Grains {
            name: name.clone(),
            centres,
            radius,
            density: density?,
            surface: surface?,
            container,
        });
        let port = format!("{PARTICLE_PORTS}{name}");
        let sent = Sent::Grains {
            kind: name.clone(),
            count,
            near: held_by,
        };
        draft.spec.whole.outputs.push((port, sent));
        draft.spec.sketch.particles.push(ParticleSketch {
            name,
            radius,
            count,
        });
        Some(())
    }

    fn counts(&mut self, lattice: &At<Vec<At<Count>>>) -> Option<[usize; 3]> {
        let counts = all(lattice.value.iter().map(|at| self.count(at)))?;
        let Ok(counts) = <[u32; 3]>::try_from(counts) else {
            let message = "a lattice has three numbers: how many along each axis";
            self.report(&lattice.span, message);
            return None;
        };
        Some(counts.map(|count| count as usize))
    }

    /// Centres in a can, and the place of its shape.
    fn contained(
        &mut self,
        entry: &Entry<Particles>,
        name: &At<String>,
        [radius, spacing]: [f64; 2],
        section: &Multibody,
        draft: &mut MechanismDraft<'_>,
    ) -> Option<(Vec<Vec3>, Option<usize>)> {
        let given = &entry.value.value;
        let model = &mut draft.spec.whole.model;
        let shapes = &model.contacts().shapes;
        let found = shapes.iter().position(|shape| shape.name == name.value);
        let Some(place) = found else {
            if !section.shapes.names().any(|known| known == name.value) {
                self.unknown(name, "shape", section.shapes.names());
            }
            return None;
        };
        let shape = shapes[place].clone();
        let Some(count) = &given.count else {
            let message = format!("how many particles `{}` are there?", entry.name.value);
            self.report_missing(&entry.value.span, message)
                .help("give their `count`");
            return None;
        };
        let wanted = self.count(count)? as usize;
        let oldham_multibody::contact::Shape::Can(can) = &shape.shape else {
            let message = format!("`{}` is no can: only cans contain particles", name.value);
            self.report(&name.span, message);
            return None;
        };
        let local = lattice::fill(can, radius, spacing * radius, wanted);
        if local.len() < wanted {
            let message = format!(
                "`{}` holds {} particles of this size and spacing",
                name.value,
                local.len()
            );
            self.report(&count.span, message)
                .label("too many")
                .help("take fewer or smaller ones, or a `spacing` nearer to 2");
            return None;
        }
        let motion = draft.motion(shape.at.node)?;
        let axes = shape.at.orientation.matrix();
        let to_absolute =
            |at: Vec3| motion.position + motion.rotation * (shape.at.offset + axes * at);
        Some((local.into_iter().map(to_absolute).collect(), Some(place)))
    }
}

/// Records the loads of contacts on every node with shapes, and where they press.
fn show_contacts(draft: &mut MechanismDraft<'_>) {
    let shapes = &draft.spec.whole.model.contacts().shapes;
    let mut nodes: Vec<NodeId> = shapes.iter().map(|shape| shape.at.node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes.retain(|node| *node != NodeId::GROUND);
    for &node in &nodes {
        let name = draft.spec.whole.model.node_name(node);
        let port = format!("{CONTACT_PORTS}{name}");
        let at = format!("{port}.at");
        let outputs = &mut draft.spec.whole.outputs;
        outputs.push((port, Sent::ContactLoad(node)));
        outputs.push((at, Sent::ContactPoint(node)));
    }
    draft.spec.sketch.contacts = nodes;
}
