//! The table `cut`: where a mechanism is taken apart.

use oldham_multibody::cut::{self, Couplings, Cut, CutError, Place, Plan, Role};
use oldham_multibody::{ElementId, Marker, Method, NodeId, Options};

use super::{Draft, GROUND, MethodSettings, MethodWord, spectral_radius};
use crate::check::Checker;
use crate::check::predictor::Choice;
use crate::format::multibody::{self, Members, Multibody, Prescribe, Scheme as Word};
use crate::format::{At, Count, Entry, PredictorKind};
use crate::mechanism::{Cutting, Piece, Received, Scheme, Sent, Solution};
use crate::problem::Problem;
use crate::source::Span;

/// A cut with the places where its members were written.
#[derive(Default)]
struct Request {
    cut: Cut,
    nodes: Vec<Span>,
    elements: Vec<Span>,
    parts: Vec<Span>,
}

impl Request {
    fn span(&self, place: Place) -> Option<&Span> {
        match place {
            Place::Node(node) => {
                let index = self.cut.nodes.iter().position(|&other| other == node)?;
                self.nodes.get(index)
            }
            Place::Element(element) => {
                let found = self.cut.elements.iter().position(|&other| other == element);
                self.elements.get(found?)
            }
            Place::Part(part) => self.parts.get(part),
        }
    }
}

impl Checker<'_> {
    /// How the finished mechanism is cut; nothing if something is wrong with that.
    pub(super) fn cutting(
        &mut self,
        section: &Multibody,
        draft: &Draft<'_>,
        is_tight: bool,
    ) -> Option<Cutting> {
        let parts = draft.recipe.solution();
        let At { value: given, span } = section.cut.as_ref()?;
        let before = self.findings.len();
        let (model, elements) = draft.recipe.model();
        let mut request = Request::default();
        for name in given.at.iter().flat_map(|at| &at.value) {
            self.cut_at(name, draft, &elements, &mut request);
        }
        for entry in &given.parts {
            self.part_named(entry, draft, &mut request);
        }
        let coupling = self.piece_solution(&given.coupling, parts);
        let methods = given.methods.iter();
        let own: Vec<Option<Solution>> = methods
            .map(|entry| self.piece_solution(&entry.value.value, parts))
            .collect();
        if self.findings.len() != before {
            return None;
        }
        if request.cut.nodes.is_empty() && request.cut.elements.is_empty() {
            let message = "nothing is cut";
            let problem = Problem::new(span.clone(), message).help("name nodes or joints in `at`");
            self.findings.incomplete(span, problem);
            return None;
        }
        let coupling = coupling?;
        let own: Vec<Solution> = own.into_iter().collect::<Option<_>>()?;
        let all = [&[parts, coupling], &own[..]].concat();
        let prescribe = given.prescribe.as_ref().map(|at| at.value);
        let prescribes_velocity = prescribe == Some(Prescribe::PositionAndVelocity);
        let obstacle = match prescribes_velocity {
            true => Some(PRESCRIBED_VELOCITIES),
            false => obstacle_to_tangents(draft, &all, is_tight),
        };
        let scheme = self.scheme(&given.scheme, obstacle)?;
        request.cut.couplings = couplings(scheme);
        let plan = match cut::plan(&model, &request.cut) {
            Ok(plan) => plan,
            Err(errors) => {
                for error in errors {
                    self.refused(&error, &request, span);
                }
                return None;
            }
        };
        let corrections = self.corrections(&given.corrections, scheme)?;
        let names: Vec<&str> = given.parts.names().collect();
        let predictor = self.cut_predictor(&given.predictor)?;
        let names = Cutting::names(&plan, &names);
        let mut solutions: Vec<Solution> = plan
            .pieces
            .iter()
            .map(|piece| match piece.role {
                Role::Part => parts,
                Role::Coupling => coupling,
            })
            .collect();
        for (entry, solution) in given.methods.iter().zip(own) {
            let place = self.part_with_method(&entry.name, &names, &plan)?;
            solutions[place] = solution;
        }
        let cutting = Cutting {
            names,
            solutions,
            plan,
            prediction: predictor.prediction(spectral_radius(parts.options.method)),
            scheme,
            prescribes_velocity,
            corrections,
        };
        self.lines_are_whole(draft, &cutting, span)?;
        Some(cutting)
    }

    /// Pushes along lines, and what is shown of lines, need both ends in one piece.
    fn lines_are_whole(&mut self, draft: &Draft<'_>, cutting: &Cutting, span: &Span) -> Option<()> {
        let received = draft.recipe.inputs.iter().filter_map(|(name, received)| {
            let (Received::Thrust(ends) | Received::Pressure(ends, _)) = received else {
                return None;
            };
            Some((name, ends))
        });
        let sent = draft.recipe.outputs.iter().filter_map(|(name, sent)| {
            let Sent::Line(ends, _) = sent else {
                return None;
            };
            Some((name, ends))
        });
        let is_parted = |ends: &[Marker; 2]| cutting.home(ends.map(|end| end.node)).is_none();
        let Some((name, _)) = received.chain(sent).find(|(_, ends)| is_parted(ends)) else {
            return Some(());
        };
        let message = format!("the cut parts the two ends of `{name}`");
        let help = "cut elsewhere, or at one of its ends, so that one part has both";
        self.findings
            .push(Problem::new(span.clone(), message).help(help));
        None
    }

    /// How the parts guess the motion of the interface.
    fn cut_predictor(&mut self, given: &Option<At<PredictorKind>>) -> Option<Choice> {
        let Some(given) = given else {
            return Some(PredictorKind::Hermite.into());
        };
        if given.value == PredictorKind::Dmd {
            let message = "the motion of a cut is not learned";
            let problem = Problem::new(given.span.clone(), message);
            self.findings.push(problem.help("`hermite` is made for it"));
            return None;
        }
        Some(given.value.into())
    }

    /// The scheme as it is wanted, or the best that is possible.
    fn scheme(&mut self, wanted: &Option<At<Word>>, obstacle: Option<Obstacle>) -> Option<Scheme> {
        match (wanted.as_ref().map(|at| at.value), obstacle) {
            (Some(Word::InterfaceMass), _) | (None, Some(_)) => Some(Scheme::InterfaceMass),
            (Some(Word::ForceDisplacement), _) => Some(Scheme::ForceDisplacement),
            (Some(Word::InterfaceTangent) | None, None) => Some(Scheme::InterfaceTangent),
            (Some(Word::InterfaceTangent), Some(obstacle)) => {
                let span = wanted.as_ref()?.span.clone();
                let circumstance = obstacle.circumstance;
                let message =
                    format!("the scheme `interface-tangent` cannot be used {circumstance}");
                let problem = Problem::new(span, message);
                self.findings.push(problem.help(obstacle.remedy));
                None
            }
        }
    }

    /// How often steps are corrected: not at all where the scheme does not.
    fn corrections(&mut self, given: &Option<At<Count>>, scheme: Scheme) -> Option<usize> {
        let corrects = scheme == Scheme::InterfaceTangent;
        let Some(given) = given else {
            return Some(usize::from(corrects));
        };
        let count = self.count(given)?;
        if !corrects {
            let message = "only the scheme `interface-tangent` corrects steps";
            let problem = Problem::new(given.span.clone(), message);
            self.findings
                .push(problem.help("leave `corrections` out, or change the scheme"));
            return None;
        }
        Some(count as usize)
    }

    /// Notes what a name in `at` means.
    fn cut_at(
        &mut self,
        name: &At<String>,
        draft: &Draft<'_>,
        elements: &[ElementId],
        request: &mut Request,
    ) {
        let names = draft.recipe.sketch.nodes.iter().enumerate();
        let nodes = names.filter(|(_, node)| stands_for(&name.value, node));
        let nodes: Vec<NodeId> = nodes.map(|(index, _)| draft.recipe.node(index)).collect();
        let pieces = draft.recipe.pieces.iter().enumerate();
        let pieces: Vec<usize> = pieces
            .filter(|(_, (piece, _))| *piece == name.value)
            .map(|(index, _)| index)
            .collect();
        match (&nodes[..], &pieces[..]) {
            ([], []) => self.unknown_cut(name, draft),
            ([_, ..], []) => {
                request
                    .nodes
                    .extend(nodes.iter().map(|_| name.span.clone()));
                request.cut.nodes.extend(nodes);
            }
            ([], [first, ..]) if self.can_be_cut(name, &draft.recipe.pieces[*first].1) => {
                request.elements.push(name.span.clone());
                request.cut.elements.push(elements[*first]);
            }
            ([], _) => {}
            ([_, ..], [_, ..]) => {
                let message = format!("`{}` is a node and an element as well", name.value);
                let problem = Problem::new(name.span.clone(), message)
                    .label("which one is to be cut?")
                    .help("call one of them otherwise");
                self.findings.push(problem);
            }
        }
    }

    fn can_be_cut(&mut self, name: &At<String>, piece: &Piece) -> bool {
        let (what, help) = match piece {
            Piece::Beam2(_) | Piece::Beam3(_) => ("a beam element", "cut at one of its end nodes"),
            Piece::Load(_) => ("a load", "cut at the node on which it acts"),
            _ => return true,
        };
        let message = format!("`{}` is {what}, not a connection of two nodes", name.value);
        let problem = Problem::new(name.span.clone(), message);
        self.findings
            .push(problem.label("cannot be cut as a whole").help(help));
        false
    }

    fn unknown_cut(&mut self, name: &At<String>, draft: &Draft<'_>) {
        let prefix = format!("{}.", name.value);
        let mut nodes = draft.recipe.sketch.nodes.iter();
        // Neither an end, nor the middle of a three-node element.
        if let Some(inner) = nodes.by_ref().filter(|n| n.starts_with(&prefix)).nth(2) {
            let message = format!(
                "`{}` has many nodes and cannot be cut as a whole",
                name.value
            );
            let problem = Problem::new(name.span.clone(), message).label("where?");
            let help = format!("name some of its nodes, such as `{inner}`");
            self.findings.push(problem.help(help));
            return;
        }
        let message = format!(
            "there is no node, joint or spring `{}` to cut at",
            name.value
        );
        let problem = Problem::new(name.span.clone(), message)
            .label("unknown")
            .help("nodes of beams are called `<beam>.0`, of shells `<shell>.0.0`; `*` stands for any name between two dots");
        let nodes = draft.recipe.sketch.nodes.iter();
        let pieces = draft.recipe.pieces.iter().map(|(name, _)| name);
        let known = nodes.chain(pieces).map(String::as_str);
        let known = known.filter(|&known| known != GROUND);
        self.findings.push_misspelt(problem, &name.value, known);
    }

    /// A part by the nodes that are in it.
    fn part_named(&mut self, entry: &Entry<Members>, draft: &Draft<'_>, request: &mut Request) {
        self.name(&entry.name, "a part");
        if !Cutting::is_free_name(&entry.name.value) {
            let message = format!("no part can be called `{}`", entry.name.value);
            let problem = Problem::new(entry.name.span.clone(), message);
            self.findings
                .push(problem.label("the subsystem between the parts is called so"));
        }
        let members: Vec<At<String>> = match &entry.value.value {
            Members::One(name) => vec![At {
                value: name.clone(),
                span: entry.value.span.clone(),
            }],
            Members::Several(names) => names.clone(),
        };
        let nodes = members
            .iter()
            .filter_map(|name| self.moving_node_named(name, draft));
        request.cut.parts.push(nodes.collect());
        request.parts.push(entry.value.span.clone());
    }

    /// The part that is to be integrated in its own way.
    fn part_with_method(
        &mut self,
        wanted: &At<String>,
        names: &[String],
        plan: &Plan,
    ) -> Option<usize> {
        let pieces = names.iter().zip(&plan.pieces);
        let parts = pieces.filter(|(_, piece)| piece.role == Role::Part);
        let parts: Vec<&str> = parts.map(|(name, _)| name.as_str()).collect();
        let found = names.iter().position(|name| *name == wanted.value);
        if found.is_some() && parts.contains(&wanted.value.as_str()) {
            return found;
        }
        let message = format!("there is no part `{}`", wanted.value);
        let help = match wanted.value == "coupling" {
            true => "how couplings are integrated says `coupling`".to_owned(),
            false => format!("the parts are `{}`", parts.join("`, `")),
        };
        let problem = Problem::new(wanted.span.clone(), message).label("unknown");
        self.findings
            .push_misspelt(problem.help(help), &wanted.value, parts.into_iter());
        None
    }

    /// How a piece is solved: as the mechanism where nothing else is said.
    fn piece_solution(
        &mut self,
        given: &multibody::PieceMethod,
        parts: Solution,
    ) -> Option<Solution> {
        let default = parts.options.method;
        let word = match (&given.integrator, default) {
            (Some(word), _) => word.value,
            (None, Method::Lms2 { .. }) => MethodWord::Lms2,
            (None, Method::GeneralisedAlpha { .. }) => MethodWord::GeneralisedAlpha,
            (None, Method::BackwardEuler) => MethodWord::BackwardEuler,
            (None, Method::Rk4 { .. }) => MethodWord::Rk4,
        };
        let settings = MethodSettings {
            rho: &given.rho,
            inputs: &given.inputs_within_step,
            otherwise: default,
        };
        let method = self.method_of(word, settings);
        let micro_steps = match &given.micro_steps {
            None => Some(parts.micro_steps),
            Some(count) => self.count(count).map(|count| count as usize),
        };
        Some(Solution {
            options: Options {
                method: method?,
                ..parts.options
            },
            micro_steps: micro_steps?,
        })
    }

    fn refused(&mut self, error: &CutError, request: &Request, table: &Span) {
        let place = request.span(error.at).unwrap_or(table).clone();
        let mut problem = Problem::new(place, error.to_string()).label("cannot be cut here");
        if let Some(remedy) = &error.remedy {
            problem = problem.help(remedy.to_string());
        }
        self.findings.push(problem);
    }
}

/// What a scheme makes of the couplings.
fn couplings(scheme: Scheme) -> Couplings {
    match scheme {
        // The tangent of a part has terms across all its interfaces.
        Scheme::InterfaceTangent => Couplings::Joined,
        Scheme::InterfaceMass => Couplings::Separate,
        Scheme::ForceDisplacement => Couplings::InParts,
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

/// Why parts cannot correct their steps by tangents, if they cannot.
fn obstacle_to_tangents(
    draft: &Draft<'_>,
    solutions: &[Solution],
    is_tight: bool,
) -> Option<Obstacle> {
    let inputs = &draft.recipe.inputs;
    let has_pose = inputs
        .iter()
        .any(|(_, received)| matches!(received, Received::Pose(_)));
    let method = |solution: &Solution| solution.options.method;
    let circumstance = if solutions.iter().any(|it| method(it).is_explicit()) {
        "with the explicit integrator `rk4`, which has no implicit formula to take a tangent of"
    } else if is_tight {
        "with tight coupling"
    } else if solutions.iter().any(|it| it.micro_steps > 1) {
        "with several micro steps per macro step"
    } else if solutions
        .iter()
        .any(|it| method(it) != method(&solutions[0]))
    {
        "with pieces that are integrated differently"
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

/// Whether a pattern means a name: `*` is any part of it between two dots.
fn stands_for(pattern: &str, name: &str) -> bool {
    if name == GROUND {
        return pattern == GROUND;
    }
    let (mut pattern, mut name) = (pattern.split('.'), name.split('.'));
    loop {
        match (pattern.next(), name.next()) {
            (None, None) => return true,
            (Some(wanted), Some(found)) if wanted == "*" || wanted == found => {}
            _ => return false,
        }
    }
}
