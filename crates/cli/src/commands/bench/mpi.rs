//! Two processes of MPI: what an exchange costs beyond the message itself.

use std::sync::Arc;

use oldham_cosim::{Discard, Ranks};
use oldham_mpi::{Launch, World};

use super::{Figure, STEPS, pair, run};
use crate::failure::Failure;
use crate::output;

/// Repetitions of both measurements, one after the other.
const REPEATS: usize = 10;
/// Words of a message there and back: about as many as an exchange of the two parts has.
const WORDS: usize = 12;

pub(super) fn figures() -> Result<Vec<Figure>, Failure> {
    let failed = |reason: &str| Failure::Benchmark {
        name: "mpi",
        reason: reason.into(),
    };
    let start = "it measures two processes: start it as `mpirun -n 2 oldham bench mpi`";
    let world = World::join(&Launch::of_this_process())?.ok_or_else(|| failed(start))?;
    if world.rank() > 0 {
        output::silence();
    }
    let world = Arc::new(world);
    let figures = match world.size() {
        2 => measure(&world),
        _ => Err(failed(start)),
    };
    world.leave();
    figures
}

fn measure(world: &Arc<World>) -> Result<Vec<Figure>, Failure> {
    let (mut exchange, mut trip) = (f64::INFINITY, f64::INFINITY);
    let mut alone = f64::INFINITY;
    for _ in 0..REPEATS {
        let times = STEPS as u32;
        let took = world.round_trip(&mut [0; WORDS], times);
        trip = trip.min(took.as_secs_f64() * 1e6 / f64::from(times));
        alone = alone.min(super::wall_per_step(&mut pair()?, 1));
        let mut simulation = pair()?;
        let ranks: Arc<dyn Ranks> = Arc::clone(world) as Arc<dyn Ranks>;
        simulation
            .share(ranks)
            .map_err(oldham_study::StudyError::from)?;
        let started = std::time::Instant::now();
        run(&mut simulation, 1, &mut Discard);
        let took = started.elapsed().as_secs_f64() * 1e6;
        let meetings = simulation.summary().ranks[0].meetings;
        exchange = exchange.min(took / meetings as f64);
    }
    let interface = format!("{:?}", world.interface());
    let note = format!("wall time of {WORDS} words to the other process and back, {interface}");
    Ok(vec![
        Figure::new("mpi-round-trip", trip, "us", &note),
        Figure::new(
            "alone",
            alone,
            "us",
            "wall time of a macro step on one rank, one thread",
        ),
        Figure::new(
            "exchange-2",
            exchange - trip,
            "us",
            "wall time of a step of two parts on two ranks, per meeting, beyond mpi-round-trip",
        )
        .required(5.0),
    ])
}
