//! Coulomb's law as it is, for any number of contacts.
//!
//! γ = Π(γ − ρ (u + μ |u_t| n)) for every contact, with u = W γ + b and the friction cone's projection Π: with de Saxcé's term
//! μ |u_t| this is Coulomb's law, without it the convex law of [`Cone`](crate::Cone). Contacts that share moving bodies form an island,
//! and each island goes along one chain until its residual is met:
//!
//! 1. impulses of the last step, where they still hold;
//! 2. sweeps of exact local solutions with Anderson's acceleration;
//! 3. a smoothing Newton method;
//! 4. a semismooth Newton method, which also gives small islands digits beyond the tolerance;
//! 5. an interior-point method, polished by those before;
//! 6. sweeps up to the bound;
//! 7. the smoothing and the semismooth method from far away.
//!
//! Methods after the sweeps start on their own, not from where another one went astray. The best impulses by residual of all of them are the answer: they
//! are finite.
//!
//! Reference: G. de Saxcé, Z.-Q. Feng, "The bipotential method", Mathematical and Computer Modelling 28 (1998) 225–245.

mod anderson;
mod factor;
mod interior;
mod island;
mod islands;
pub(crate) mod local;
mod newton;
mod smooth;
mod turning;

use oldham_space::{V3, Vec3};

use crate::cone::Cone;
use crate::pivoting::Pivoting;
use crate::problem::{Bodies, BodyMotion, Problem};
use crate::room::Room;
use crate::solver::{ContactSolver, FrictionLaw, RowState, Solved, SolvedBy};
use anderson::Anderson;
use interior::Interior;
use island::{Island, Residual};
use islands::Islands;
use local::Three;
use newton::Newton;
use smooth::Smooth;
use turning::Turning;

/// Contacts take part when they open more slowly than so many tolerances.
const NEAR: f64 = 100.0;
/// How often contacts may join.
const MOST_ADDITIONS: usize = 100;
/// Rounds of moments and impulses where contacts resist turning.
const MOST_ROUNDS: usize = 100;
/// Sweeps before something better is tried.
const FIRST_SWEEPS: usize = 20;
/// Steps of Newton's method before something else is tried.
const FIRST_STEPS: usize = 8;
/// Steps of Newton's method for a small island without impulses of the last step.
const COLD_STEPS: usize = 6;
/// Steps of Newton's method for digits beyond the tolerance.
const MORE_DIGITS: usize = 2;
/// The same where sweeps have not met that.
const ALL_DIGITS: usize = 6;
/// Multiplications of a sweep for each contact.
const SWEEP_WORK: f64 = 300.0;
/// A factorisation that costs more sweeps than this is put off.
const DEAR_SWEEPS: f64 = 100.0;
/// Sweeps of an island that nothing else has solved.
const LAST_SWEEPS: usize = 500;
/// Plain sweeps of an island of round bodies before that.
const LOOSE_SWEEPS: usize = 3000;
/// Plain sweeps of a small island after those.
const PLAIN_SWEEPS: usize = 5000;
/// Accelerated sweeps of beds of grains before anything else.
const GRAIN_SWEEPS: usize = 200;
/// Steps of the smoothing method.
const MOST_SMOOTH: usize = 40;
/// Widths from which the smoothing method starts anew, as shares of the largest velocity without impulses.
const FAR_AWAY: [f64; 3] = [1.0, 0.1, 10.0];
/// Its steps from there, and those of the semismooth method after it.
const LAST_STEPS: [usize; 2] = [80, 20];
/// Steps of the interior-point method.
const MOST_INTERIOR: usize = 45;
/// Sweeps before Newton's method polishes.
const POLISH: usize = 30;
/// Multiplications of a factorisation beyond which only sweeps and a few of Newton's steps are left.
const MOST_WORK: f64 = 1e8;
/// Small islands aim at this share of their largest velocity without impulses; they are accepted at the tolerance.
const AIM: f64 = 1e-11;
/// Larger ones aim at this share of the tolerance, so that their impulses hold for some more steps.
const LARGE_AIM: f64 = 0.3;
/// Contacts of a small island.
const SMALL: usize = 24;
/// Gaps below so many tolerances times the step count as closed: noise must not decide which feet carry.
const DEAD_BAND: f64 = 10.0;

/// What has become of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ContactState {
    /// It opens, and takes no part.
    Far,
    /// It has just joined.
    New,
    /// Its island is solved.
    Met,
    /// Its island is not solved to the tolerance.
    Unmet,
}

/// Coulomb's law by islands.
#[derive(Clone, Debug)]
pub struct Coulomb {
    /// The largest residual that is accepted, in m/s.
    pub tolerance: f64,
    /// Most sweeps of an island.
    pub most_sweeps: usize,
    islands: Islands,
    island: Island,
    sweeps: Anderson,
    newton: Newton,
    interior: Interior,
    smooth: Smooth,
    impulses: Vec<Three>,
    /// Where methods start, and the best so far while another one is tried.
    start: Vec<Three>,
    kept: Vec<Three>,
    velocities: Vec<[Vec3; 2]>,
    turning: Turning,
    /// Of all contacts, while islands are solved.
    states: Vec<ContactState>,
    takes_part: Vec<bool>,
    motion: Vec<BodyMotion>,
    /// Of all contacts of the last solution, where one of them resists turning.
    turns: Vec<Vec3>,
    dense: Pivoting,
    /// For beds of grains.
    grains: Cone,
}

impl Coulomb {
    /// A solver that accepts a residual in m/s.
    pub fn new(tolerance: f64, most_sweeps: usize) -> Self {
        Self {
            tolerance,
            most_sweeps,
            islands: Islands::default(),
            island: Island::default(),
            sweeps: Anderson::default(),
            newton: Newton::default(),
            interior: Interior::default(),
            smooth: Smooth::default(),
            impulses: Vec::new(),
            start: Vec::new(),
            kept: Vec::new(),
            velocities: Vec::new(),
            turning: Turning::default(),
            states: Vec::new(),
            takes_part: Vec::new(),
            motion: Vec::new(),
            turns: Vec::new(),
            dense: Pivoting::new(),
            grains: Cone::by_coulomb(tolerance, GRAIN_SWEEPS),
        }
    }

    /// Islands of contacts that press or may come to press. Where others turn out to close, they take part as well, and their islands are solved again.
    fn solve_bodies(&mut self, problem: &Bodies<'_>, impulses: &mut [f64]) -> Solved {
        let mut solved = Solved::default();
        self.turns.clear();
        if is_of_grains(problem) {
            self.grains.tolerance = self.tolerance;
            let swept = self.grains.sweep(problem, impulses);
            if swept.is_converged {
                // All of them as one.
                let by = SolvedBy {
                    sweeps: 1,
                    ..SolvedBy::default()
                };
                return Solved { by, ..swept };
            }
            solved.iterations = swept.iterations;
        }
        let impulses = impulses.as_chunks_mut::<3>().0;
        self.islands.clear();
        self.states.clear();
        self.states.make_room(impulses.len());
        self.states.resize(impulses.len(), ContactState::Far);
        self.move_bodies(problem, impulses);
        let near = NEAR * self.tolerance;
        let mut found = self.add_closing(problem, impulses, near);
        for _ in 0..MOST_ADDITIONS {
            if found == 0 {
                break;
            }
            self.solve_islands(problem, impulses, &mut solved);
            self.move_bodies(problem, impulses);
            found = self.add_closing(problem, impulses, 0.0);
        }
        solved.islands = self.islands.len();
        let first = |island: usize| self.islands.of(island)[0] as usize;
        let is_unmet = |island: &usize| self.states[first(*island)] == ContactState::Unmet;
        solved.unmet = (0..solved.islands).filter(is_unmet).count() + usize::from(found > 0);
        solved.is_converged = solved.unmet == 0;
        solved
    }

    fn find_islands(&mut self, problem: &Bodies<'_>) {
        self.takes_part.clear();
        self.takes_part.make_room(self.states.len());
        let states = self.states.iter();
        self.takes_part
            .extend(states.map(|state| *state != ContactState::Far));
        self.islands.find(problem, &self.takes_part);
    }

    /// Takes in an island with the impulses given.
    fn take_island(&mut self, problem: &Bodies<'_>, number: usize, impulses: &[Three]) {
        self.island.fill(problem, self.islands.of(number));
        self.impulses.clear();
        self.impulses.make_room(self.island.links.len());
        for link in &self.island.links {
            let vector = V3(impulses[link.contact as usize]);
            let within = link.frame.map(|axis| axis.dot(vector));
            let is_usable = Island::is_movable(link) && within.iter().all(|x| x.is_finite());
            self.impulses.push(match is_usable {
                true => link.admit(within),
                false => [0.0; 3],
            });
        }
    }

    /// Velocities that belong to the impulses so far.
    fn move_bodies(&mut self, problem: &Bodies<'_>, impulses: &[Three]) {
        self.motion.clear();
        self.motion.make_room(problem.motion.len());
        self.motion.extend_from_slice(problem.motion);
        problem.apply(impulses.as_flattened(), &mut self.motion);
        problem.turn(&self.turns, &mut self.motion);
    }

    /// Lets contacts take part that have an impulse, or open more slowly than a velocity. Says how many have joined.
    fn add_closing(&mut self, problem: &Bodies<'_>, impulses: &[Three], below: f64) -> usize {
        let mut joined = 0;
        for (contact, state) in self.states.iter_mut().enumerate() {
            if *state != ContactState::Far {
                continue;
            }
            let normal = problem.touches[contact].normal;
            let opening =
                problem.relative(contact, &self.motion).dot(normal) + problem.bias(contact);
            // What is not finite takes part, too.
            if impulses[contact] != [0.0; 3] || opening < below || opening.is_nan() {
                *state = ContactState::New;
                joined += 1;
            }
        }
        joined
    }

    /// Solves the islands that have new contacts.
    fn solve_islands(&mut self, problem: &Bodies<'_>, impulses: &mut [Three], solved: &mut Solved) {
        self.find_islands(problem);
        for number in 0..self.islands.len() {
            let contacts = self.islands.of(number);
            let is_new = |contact: &u32| self.states[*contact as usize] == ContactState::New;
            if !contacts.iter().any(is_new) {
                continue;
            }
            self.take_island(problem, number, impulses);
            let before = solved.unmet;
            match self.island.resists_turning() {
                true => self.solve_turning(problem, solved),
                false => self.solve_island(solved),
            }
            let state = match solved.unmet == before {
                true => ContactState::Met,
                false => ContactState::Unmet,
            };
            if self.impulses.iter().flatten().any(|part| !part.is_finite()) {
                // Velocities that are not finite have no solution.
                self.impulses.fill([0.0; 3]);
            }
            for (link, impulse) in self.island.links.iter().zip(&self.impulses) {
                impulses[link.contact as usize] = link.vector(impulse).0;
                self.states[link.contact as usize] = state;
            }
        }
    }

    /// Moments and impulses in turn, until both laws hold.
    fn solve_turning(&mut self, problem: &Bodies<'_>, solved: &mut Solved) {
        self.turns.make_room(problem.touches.len());
        self.turns.resize(problem.touches.len(), Vec3::ZERO);
        self.turning.start(&self.island);
        let mut missed = f64::INFINITY;
        for _ in 0..MOST_ROUNDS {
            let mut round = Solved {
                is_converged: true,
                ..Solved::default()
            };
            self.solve_island(&mut round);
            solved.iterations += round.iterations;
            solved.factorisations += round.factorisations;
            solved.interior += round.interior;
            if missed <= self.tolerance || missed.is_nan() {
                solved.by += round.by;
                solved.unmet += round.unmet;
                solved.is_converged &= round.is_converged;
                break;
            }
            missed = self.turning.sweep(&mut self.island, &mut self.impulses);
        }
        if missed > self.tolerance || missed.is_nan() {
            solved.unmet += 1;
            solved.is_converged = false;
        }
        for (link, moment) in self.island.links.iter().zip(&self.turning.moments) {
            let moment = link.vector(moment);
            let is_finite = moment.0.iter().all(|part| part.is_finite());
            self.turns[link.contact as usize] = if is_finite { moment } else { Vec3::ZERO };
        }
    }

    /// The chain for one island.
    fn solve_island(&mut self, solved: &mut Solved) {
        let aim = self.aim();
        self.island.velocities(&self.impulses, &mut self.velocities);
        let mut now = self.island.residual(&self.impulses, &self.velocities);
        let is_small = self.island.links.len() <= SMALL;
        if now.largest <= if is_small { aim } else { self.tolerance } {
            solved.by.kept += 1;
            return;
        }
        let is_cold = self.impulses.iter().all(|impulse| *impulse == [0.0; 3]);
        if is_cold && is_small {
            // Nearest to nothing, in a few steps.
            self.newton.factors.analyse(&self.island);
            now = self.newton(aim, (COLD_STEPS, 1e-4), solved);
            if now.largest <= self.tolerance {
                solved.by.newton += 1;
                return;
            }
        }
        now = self.sweep(aim, FIRST_SWEEPS, solved);
        if now.largest <= aim {
            solved.by.sweeps += 1;
            return;
        }
        // Newton's method while a factorisation costs no more than some sweeps.
        let work = self.newton.factors.analyse(&self.island);
        let per_sweep = SWEEP_WORK * self.island.links.len() as f64;
        if work > DEAR_SWEEPS * per_sweep {
            now = self.sweep(aim, 10 * FIRST_SWEEPS, solved);
        }
        if !is_small && self.island.is_of_round_bodies() && !now.is_met(self.tolerance) {
            now = self.sweep(self.tolerance, 5 * FIRST_SWEEPS, solved);
            if !now.is_met(self.tolerance) {
                self.start.clone_from(&self.impulses);
                now = self.rival(now, |own| own.sweep_plainly(LOOSE_SWEEPS, solved));
            }
        }
        if now.is_met(self.tolerance) {
            solved.by.sweeps += 1;
            if is_small {
                // Digits beyond the tolerance are worth a few steps.
                self.newton(aim, (MORE_DIGITS, 1e-4), solved);
            }
            return;
        }
        if work <= MOST_WORK {
            now = self.factor(aim, solved);
        }
        if now.is_met(self.tolerance) {
            if is_small && !now.is_met(aim) {
                self.newton(aim, (ALL_DIGITS, 1e-4), solved);
            }
            return;
        }
        now = self.sweep(self.tolerance, self.most_sweeps.min(LAST_SWEEPS), solved);
        if !now.is_met(self.tolerance) {
            let most = if is_small { PLAIN_SWEEPS } else { LAST_SWEEPS };
            now = self.rival(now, |own| own.sweep_plainly(most, solved));
        }
        if now.is_met(self.tolerance) {
            solved.by.last_sweeps += 1;
            return;
        }
        if work <= MOST_WORK {
            now = self.starting_anew(now, solved);
        }
        if now.is_met(self.tolerance) {
            solved.by.far_away += 1;
        } else {
            solved.is_converged = false;
            solved.unmet += 1;
        }
    }

    /// Starts anew with the law rounded off by the velocities that there are: what lies near the impulses so far, where all others have stayed, is no solution then. From these
    /// impulses, and from none.
    fn starting_anew(&mut self, mut now: Residual, solved: &mut Solved) -> Residual {
        let fastest = self.fastest();
        for share in FAR_AWAY {
            for is_cold in [false, true] {
                now = self.rival(now, |own| {
                    if is_cold {
                        own.impulses.fill([0.0; 3]);
                    }
                    own.smooth((share * fastest, LAST_STEPS[0]), solved);
                    own.newton(own.tolerance, (LAST_STEPS[1], 1e-3), solved)
                });
                if now.is_met(self.tolerance) {
                    return now;
                }
            }
        }
        now
    }

    /// Methods that factorise, one after the other. In large islands, the semismooth one hardly ever solves what the smoothing one has not.
    fn factor(&mut self, aim: f64, solved: &mut Solved) -> Residual {
        self.start.clone_from(&self.impulses);
        let mut now = self.smooth((0.0, MOST_SMOOTH), solved);
        if now.is_met(self.tolerance) {
            solved.by.smoothing += 1;
            return now;
        }
        if self.island.links.len() <= SMALL {
            now = self.rival(now, |own| {
                own.impulses.clone_from(&own.start);
                own.sweep(aim, FIRST_SWEEPS, solved);
                own.newton(own.tolerance, (FIRST_STEPS, 1e-3), solved)
            });
            if now.is_met(self.tolerance) {
                solved.by.newton += 1;
                return now;
            }
        }
        // Its digits come slowly: others find those beyond the tolerance.
        now = self.rival(now, |own| own.inside(own.tolerance, solved));
        solved.by.interior += usize::from(now.is_met(self.tolerance));
        now
    }

    /// The residual at which an island is left: small ones are solved to rounding, where that costs little.
    fn aim(&self) -> f64 {
        let links = &self.island.links;
        if links.len() > SMALL {
            return LARGE_AIM * self.tolerance;
        }
        (AIM * self.fastest()).min(self.tolerance)
    }

    /// The largest velocity of a contact of the island without impulses: closing, or sliding.
    fn fastest(&self) -> f64 {
        let island = &self.island;
        island.links.iter().fold(0.0, |most: f64, link| {
            let [n, s, t] = std::array::from_fn(|axis| {
                let free = |side: usize| {
                    let mover = island.movers.get(link.ends[side] as usize);
                    mover.map_or(Vec3::ZERO, |m| m.free[0] + m.free[1].cross(link.arms[side]))
                };
                link.offset[axis] + link.frame[axis].dot(free(1) - free(0))
            });
            most.max(-n).max(s.abs()).max(t.abs())
        })
    }

    /// Tries a method on its own, from wherever it starts, and keeps what is better by residual: a method that goes astray leads no other one
    /// astray.
    fn rival(&mut self, now: Residual, attempt: impl FnOnce(&mut Self) -> Residual) -> Residual {
        self.kept.clone_from(&self.impulses);
        let found = attempt(self);
        if found.is_better(&now) {
            return found;
        }
        std::mem::swap(&mut self.impulses, &mut self.kept);
        now
    }

    /// The interior-point method, polished by Newton's.
    fn inside(&mut self, aim: f64, solved: &mut Solved) -> Residual {
        let (mut now, steps) = self.interior.run(
            &self.island,
            &mut self.newton.factors,
            &mut self.impulses,
            aim,
            MOST_INTERIOR,
        );
        solved.factorisations += steps;
        solved.interior += 1;
        for steps in [(6, 1e-6), (12, 1e-3)] {
            if now.largest <= self.tolerance {
                break;
            }
            now = self.sweep(aim, POLISH, solved);
            if !now.is_met(aim) {
                now = self.newton(aim, steps, solved);
            }
        }
        now
    }

    /// Rounded off by a velocity at least, for so many steps.
    fn smooth(&mut self, (round, most): (f64, usize), solved: &mut Solved) -> Residual {
        let (found, steps) = self.smooth.run(
            &self.island,
            &mut self.newton.factors,
            &mut self.impulses,
            (LARGE_AIM * self.tolerance, self.tolerance),
            (round, most),
        );
        solved.factorisations += steps;
        found
    }

    fn newton(&mut self, tolerance: f64, steps: (usize, f64), solved: &mut Solved) -> Residual {
        let (found, counts) = self.newton.run(
            &self.island,
            &mut self.sweeps,
            &mut self.impulses,
            tolerance,
            steps,
        );
        solved.iterations += counts.sweeps;
        solved.factorisations += counts.factorisations;
        found
    }

    /// From where the other methods start.
    fn sweep_plainly(&mut self, most: usize, solved: &mut Solved) -> Residual {
        self.impulses.clone_from(&self.start);
        let most = self.most_sweeps.min(most);
        let (found, sweeps) =
            self.sweeps
                .run_plainly(&self.island, &mut self.impulses, self.tolerance, most);
        solved.iterations += sweeps;
        found
    }

    fn sweep(&mut self, tolerance: f64, most: usize, solved: &mut Solved) -> Residual {
        let (found, sweeps) = self
            .sweeps
            .run(&self.island, &mut self.impulses, tolerance, most);
        solved.iterations += sweeps;
        found
    }
}

/// Whether nearly all contacts are those of grains.
fn is_of_grains(problem: &Bodies<'_>) -> bool {
    let all = problem.touches.len();
    let plain = (0..all).filter(|&contact| problem.levers_of(contact).is_none());
    all > SMALL && 5 * plain.count() >= 4 * all
}

impl ContactSolver for Coulomb {
    fn law(&self) -> FrictionLaw {
        FrictionLaw::Coulomb
    }

    /// Few rows with a full matrix are pivoted.
    fn solve(
        &mut self,
        problem: &Problem<'_>,
        impulses: &mut [f64],
        sets: &mut [RowState],
    ) -> Solved {
        match problem {
            Problem::Dense(_) => self.dense.solve(problem, impulses, sets),
            Problem::Bodies(bodies) => {
                let solved = self.solve_bodies(bodies, impulses);
                bodies.classify(impulses, sets);
                solved
            }
        }
    }

    fn knows_turning(&self) -> bool {
        true
    }

    fn turns(&self) -> &[Vec3] {
        &self.turns
    }

    fn dead_band(&self, step: f64) -> f64 {
        DEAD_BAND * self.tolerance * step
    }

    fn tolerance(&self) -> f64 {
        self.tolerance
    }

    fn bytes(&self) -> usize {
        self.sweeps.bytes()
            + self.newton.bytes()
            + self.interior.bytes()
            + self.smooth.bytes()
            + self.impulses.held()
            + self.start.held()
            + self.turning.bytes()
            + self.turns.held()
            + self.states.held()
            + self.takes_part.held()
            + self.motion.held()
            + self.kept.held()
            + self.velocities.held()
    }
}
