//! The table `cut`: where a mechanism is taken apart.

mod methods;
mod request;

use oldham_cosim::MotionLaw;
use oldham_multibody::cut::{self, Couplings, CutError, Partition, Reason};
use oldham_multibody::{CutScheme, CutSettings, ElementId, Method, NodeId, Prescription, Received};

use super::{GROUND, MechanismDraft, MethodSettings, MethodWord, spectral_radius};
use crate::check::Checker;
use crate::check::predictor::Choice;
use crate::format::multibody::{CutOrder, Multibody, Prescribe, PrescribeName, Scheme as Word};
use crate::format::{At, Corrections, PredictorKind};
use crate::kinds::Reading;
use crate::mechanism::{Cutting, Order, SENSOR_PORTS};
use crate::source::Span;
use methods::Methods;
use request::Request;

impl Checker<'_> {
    /// How the finished mechanism is cut; nothing if something is wrong with that.
    pub(super) fn cutting(
        &mut self,
        section: &Multibody,
        draft: &MechanismDraft<'_>,
        is_implicit: bool,
    ) -> Option<Cutting> {
        let At { value: given, span } = section.cut.as_ref()?;
        let before = self.findings.len();
        let mut request = self.request(given, draft);
        let methods = self.methods(given, draft.spec.solution());
        if self.findings.len() != before {
            return None;
        }
        if request.is_empty() {
            self.report_missing(span, "nothing is cut")
                .help("name nodes or joints in `at`");
            return None;
        }
        let methods = methods?;
        let prescription = self.prescription(&given.prescribe)?;
        let obstacle = match prescription {
            Prescription::Motion => Some(PRESCRIBED_VELOCITIES),
            _ => obstacle_to_tangents(draft, &methods, is_implicit),
        };
        let follows_law = matches!(prescription, Prescription::Law(_));
        let scheme = match (&given.scheme, follows_law) {
            (None, true) => CutScheme::ForceDisplacement,
            (wanted, _) => self.scheme(wanted, obstacle)?,
        };
        request.cut.couplings = couplings(scheme);
        let partition = self.partition(draft, &request, span)?;
        let usual = usual_corrections(draft, &methods);
        let corrections = self.corrections(&given.corrections, scheme, usual)?;
        let default = match follows_law {
            true => PredictorKind::HermiteVelocity,
            false => PredictorKind::Hermite,
        };
        let predictor = self.cut_predictor(&given.predictor, default)?;
        let wanted: Vec<&str> = given.parts.names().collect();
        let names = Cutting::names(&partition, &wanted);
        let cutting = Cutting {
            settings: CutSettings {
                solutions: self.solutions(&methods, &names, &partition)?,
                names,
                partition,
                scheme,
                prescription,
                // Further corrections find something to improve.
                is_thorough: corrections > 1,
                predicts_interface: false,
            },
            prediction: predictor.prediction(spectral_radius(methods.parts.options.method)),
            corrections,
            order: match given.order.as_ref().map(|at| at.value) {
                Some(CutOrder::Parallel) => Order::Scheduled,
                Some(CutOrder::NonsmoothFirst) => Order::NonsmoothFirst,
                Some(CutOrder::SmoothFirst) => Order::SmoothFirst,
                None if follows_law => Order::NonsmoothFirst,
                None => Order::Scheduled,
            },
        };
        if let (Some(at), true) = (&given.prescribe, follows_law) {
            self.followers_are_nonsmooth(draft, &cutting, &at.span)?;
        }
        self.lines_are_whole(draft, &cutting, span)?;
        Some(cutting)
    }

    /// What parts follow of the motion of interface nodes.
    fn prescription(&mut self, given: &Option<At<Prescribe>>) -> Option<Prescription> {
        let name = match given.as_ref().map(|at| &at.value) {
            None => return Some(Prescription::Pose),
            Some(Prescribe::Named(name)) => name,
            Some(Prescribe::Weights(weights)) => {
                return Some(Prescription::Law(self.weighted_law(weights)?));
            }
        };
        Some(match name {
            PrescribeName::Position => Prescription::Pose,
            PrescribeName::PositionAndVelocity => Prescription::Motion,
            PrescribeName::Original => Prescription::Law(MotionLaw::Original),
            PrescribeName::Index1 => Prescription::Law(MotionLaw::INDEX_1),
            PrescribeName::Index2 => Prescription::Law(MotionLaw::INDEX_2),
            PrescribeName::Index3 => Prescription::Law(MotionLaw::INDEX_3),
        })
    }

    /// A law is for parts that compute velocities, at nodes that smooth parts have.
    fn followers_are_nonsmooth(
        &mut self,
        draft: &MechanismDraft<'_>,
        cutting: &Cutting,
        place: &Span,
    ) -> Option<()> {
        let is_nonsmooth =
            |part: usize| cutting.settings.solutions[part].options.method == Method::Impulses;
        let names = &cutting.settings.names;
        let mut fits = true;
        for interface in cutting.settings.partition.interfaces() {
            let node = draft.spec.whole.model.node_name(interface.node);
            let smooth: Vec<&str> = interface
                .followers
                .iter()
                .filter(|part| !is_nonsmooth(**part))
                .map(|part| names[*part].as_str())
                .collect();
            let (message, help) = if is_nonsmooth(interface.owner) {
                let owner = &names[interface.owner];
                (
                    format!(
                        "the part `{owner}` is moved by impulses and has the node `{node}`, which the other part is to move"
                    ),
                    "name the smooth part first in `cut.parts`".to_owned(),
                )
            } else if let Some(part) = smooth.first() {
                (
                    format!(
                        "the part `{part}` follows the node `{node}`, but is not moved by impulses"
                    ),
                    format!(
                        "set `cut.methods.{part}.integrator = \"impulses\"`, or leave `prescribe` out"
                    ),
                )
            } else {
                continue;
            };
            self.report(place, message)
                .label("this law is for impulses")
                .help(help);
            fits = false;
        }
        fits.then_some(())
    }

    /// What goes where; everything that is wrong with that is reported.
    fn partition(
        &mut self,
        draft: &MechanismDraft<'_>,
        request: &Request,
        table: &Span,
    ) -> Option<Partition> {
        let partitioned = cut::partition(&draft.spec.whole.model, &request.cut);
        let refused = |errors: Vec<CutError>| {
            for error in &errors {
                self.refused(error, request, table, draft);
            }
        };
        partitioned.map_err(refused).ok()
    }

    /// Pushes along lines, and what is shown of lines or by sensors, need all of it in one
    /// subdomain. What sensors would record across a cut is not recorded.
    fn lines_are_whole(
        &mut self,
        draft: &MechanismDraft<'_>,
        cutting: &Cutting,
        span: &Span,
    ) -> Option<()> {
        let received = draft.spec.whole.inputs.iter();
        let received = received.map(|(name, received)| (name, received.needs()));
        let sent = draft.spec.whole.outputs.iter();
        let sent = sent.map(|(name, sent)| (name, sent.needs()));
        let partition = &cutting.settings.partition;
        let parted = received.chain(sent).find(|(name, needs)| {
            !name.starts_with(SENSOR_PORTS)
                && partition.home(&needs.nodes, &needs.elements).is_none()
        });
        let Some((name, _)) = parted else {
            return Some(());
        };
        let message =
            format!("the cut parts what `{name}` needs: its two ends, or all that it reads");
        let help = "cut elsewhere, or at one of its ends, so that one part has all of it";
        self.report(span, message).help(help);
        None
    }

    /// How the parts guess the motion of the interface.
    fn cut_predictor(
        &mut self,
        given: &Option<At<PredictorKind>>,
        default: PredictorKind,
    ) -> Option<Choice> {
        let Some(given) = given else {
            return Some(default.into());
        };
        if matches!(
            given.value,
            PredictorKind::Dmd | PredictorKind::PlainDmd | PredictorKind::InterfaceModel
        ) {
            let message = "the motion of a cut is not learned";
            self.report(&given.span, message)
                .help("`hermite` is made for it");
            return None;
        }
        Some(given.value.into())
    }

    /// The scheme as it is wanted, or the best that is possible.
    fn scheme(
        &mut self,
        wanted: &Option<At<Word>>,
        obstacle: Option<Obstacle>,
    ) -> Option<CutScheme> {
        match (wanted.as_ref().map(|at| at.value), obstacle) {
            (Some(Word::InterfaceMass), _) | (None, Some(_)) => Some(CutScheme::InterfaceMass),
            (Some(Word::ForceDisplacement), _) => Some(CutScheme::ForceDisplacement),
            (Some(Word::InterfaceTangent) | None, None) => Some(CutScheme::InterfaceTangent),
            (Some(Word::InterfaceTangent), Some(obstacle)) => {
                let span = wanted.as_ref()?.span.clone();
                let circumstance = obstacle.circumstance;
                let message =
                    format!("the scheme `interface-tangent` cannot be used {circumstance}");
                self.report(&span, message).help(obstacle.remedy);
                None
            }
        }
    }

    /// How often steps are corrected: not at all where the scheme does not.
    fn corrections(
        &mut self,
        given: &Option<At<Corrections>>,
        scheme: CutScheme,
        usual: usize,
    ) -> Option<usize> {
        let corrects = scheme == CutScheme::InterfaceTangent;
        let Some(given) = given else {
            return Some(if corrects { usual } else { 0 });
        };
        let count = self.count(given)?;
        if !corrects {
            let message = "only the scheme `interface-tangent` corrects steps";
            self.report(&given.span, message)
                .help("leave `corrections` out, or change the scheme");
            return None;
        }
        Some(count as usize)
    }

    fn refused(
        &mut self,
        error: &CutError,
        request: &Request,
        table: &Span,
        draft: &MechanismDraft<'_>,
    ) {
        let place = request.span(error.at).unwrap_or(table).clone();
        let mut message = error.to_string();
        if let Reason::MeasuredElsewhere { measured, .. } = &error.reason {
            message += &draft.sensors_at(measured);
        }
        let (label, help) = match error.reason {
            Reason::MeasuredElsewhere { .. } => (
                "cannot be cut here",
                "keep both in one part; or let an output send the sensor, a `[control]` section compute the \
                 law and an input bring it back, with the delay of an exchange",
            ),
            Reason::CutNodeAsMember { .. } => (
                "belongs to the coupling",
                "name the part by another of its nodes, one that is not cut",
            ),
            Reason::HeldTwice { .. } => (
                "cannot be cut here",
                "a chain of rigid bodies has nothing that gives: cut within a beam or shell, or leave it whole",
            ),
            _ => ("cannot be cut here", ""),
        };
        let remedy = error.remedy.as_ref().map(ToString::to_string);
        self.report(&place, message)
            .label(label)
            .or_help(remedy.unwrap_or(help.to_owned()));
    }
}

impl MechanismDraft<'_> {
    /// The names of the sensors that read a node, a joint or another element, to be added to a message.
    fn sensors_at(&self, measured: &str) -> String {
        let model = &self.spec.whole.model;
        let counter = format!("{measured}.turns");
        let reads = |reading: &Option<Reading>| {
            let Some(Reading::Fed(_)) = reading else {
                return false;
            };
            let needs = reading.as_ref().map(|reading| reading.sent().needs());
            needs.is_some_and(|needs| {
                let of_node = |&node: &NodeId| model.node_name(node) == measured;
                let names = |&element: &ElementId| {
                    let name = model.element_name(element);
                    name == measured || name == counter
                };
                needs.nodes.iter().any(of_node) || needs.elements.iter().any(names)
            })
        };
        let readings = self.readings.iter().filter(|(_, reading)| reads(reading));
        let mut sensors: Vec<String> = readings.map(|(name, _)| format!("`{name}`")).collect();
        sensors.sort_unstable();
        match sensors.as_slice() {
            [] => String::new(),
            [only] => format!(" (sensor {only})"),
            several => format!(" (one of the sensors {})", several.join(", ")),
        }
    }
}

/// What a scheme makes of the couplings.
fn couplings(scheme: CutScheme) -> Couplings {
    match scheme {
        // The tangent of a part has terms across all its interfaces.
        CutScheme::InterfaceTangent => Couplings::Joined,
        CutScheme::InterfaceMass => Couplings::Separate,
        CutScheme::ForceDisplacement => Couplings::InParts,
    }
}

/// Why tangents cannot be used, and what to do instead.
#[derive(Clone, Copy)]
struct Obstacle {
    circumstance: &'static str,
    remedy: &'static str,
}

/// A tangent is that of copies whose velocities follow from their poses.
const PRESCRIBED_VELOCITIES: Obstacle = Obstacle {
    circumstance: "with prescribed velocities",
    remedy: "leave `prescribe` out: with this scheme parts end a step with the velocity of the interface anyway; or use `interface-mass`, within its limits of stability",
};

/// Why parts cannot correct their steps by tangents, if they cannot. Parts that are moved by impulses can, beside smooth ones:
/// they take their steps again.
fn obstacle_to_tangents(
    draft: &MechanismDraft<'_>,
    methods: &Methods<'_>,
    is_implicit: bool,
) -> Option<Obstacle> {
    let inputs = &draft.spec.whole.inputs;
    let has_pose = inputs
        .iter()
        .any(|(_, received)| matches!(received, Received::Pose(_)));
    let solutions = methods.all();
    let coupling = methods.coupling.options.method;
    let has = |method: fn(Method) -> bool| solutions.iter().any(|it| method(it.options.method));
    let smooth = solutions
        .iter()
        .map(|it| it.options.method)
        .filter(|method| *method != Method::Impulses);
    let circumstance = if has(|method| matches!(method, Method::Rk4 { .. })) {
        "with the explicit integrator `rk4`, which has no implicit formula to linearise"
    } else if coupling == Method::Impulses {
        "where the interface itself is moved by `impulses`, which have no implicit formula to linearise"
    } else if is_implicit {
        "with implicit (tight) coupling"
    } else if solutions.iter().any(|it| it.micro_steps > 1) {
        "with several micro steps per macro step"
    } else if smooth.into_iter().any(|method| method != coupling) {
        "with parts that have different integrators"
    } else if solutions.iter().any(|it| it.options.locates_kinks) {
        "with `locate_kinks`, which divides steps"
    } else if has_pose {
        "where a pose comes from outside"
    } else {
        return None;
    };
    Some(Obstacle {
        circumstance,
        remedy: "`interface-mass` works, within its limits of stability",
    })
}

/// What is moved by impulses and may press on the ground takes another round: which contacts press is known after the first.
fn usual_corrections(draft: &MechanismDraft<'_>, methods: &Methods<'_>) -> usize {
    let mut solutions = methods.all().into_iter();
    let has_impulses = solutions.any(|solution| solution.options.method == Method::Impulses);
    let touches_ground = draft.spec.whole.model.touches(NodeId::GROUND);
    1 + usize::from(has_impulses && touches_ground)
}
