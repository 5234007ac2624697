//! `mpirun -n N oldham run`: one run that several processes share.

use std::sync::Arc;

use oldham_cosim::Ranks;
use oldham_mpi::World;
use oldham_study::{Card, Intent, PreparedRun, meet_ranks};

use crate::args::Run;
use crate::commands::run;
use crate::failure::{Failure, KeyOptions};
use crate::load::Begun;
use crate::progress::Bar;
use crate::{interrupt, load, output, picture};

/// The first rank speaks and writes for all of them.
pub fn execute(arguments: &Run, world: World) -> Result<(), Failure> {
    let world = Arc::new(world);
    if world.rank() > 0 {
        output::silence();
    }
    let done = share(arguments, &world);
    // A launcher kills the other ranks as soon as one has failed, and none ends before all have left.
    if let Err(failure) = &done {
        failure.report(arguments.json, &KeyOptions::of(&arguments.vary, "--vary"));
    }
    output::silence();
    world.leave();
    done
}

fn share(arguments: &Run, world: &Arc<World>) -> Result<(), Failure> {
    let is_first = world.rank() == 0;
    let settings = arguments.model.changes.settings();
    let begun = Begun::with(&arguments.model.model, &settings, arguments.from.as_deref());
    let (begun, _) = together(world, begun.map(|begun| (begun, Intent::here())))?;
    let Begun { model, file, .. } = begun;
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| load::beside(&arguments.model.model, ".parquet"));
    let options = run::options(arguments);
    let prepared = picture::protect(&out, &[&arguments.model.model]).and_then(|()| {
        let ranks: Arc<dyn Ranks> = Arc::clone(world) as Arc<dyn Ranks>;
        let mut prepared = PreparedRun::on_ranks(&file, &model, &out, &options, ranks)?;
        let intent = prepared.intent();
        Ok((prepared, intent))
    });
    // The others wait where the ranks compare what they have prepared.
    let advice = match (&prepared, is_first) {
        (Ok(_), true) => {
            let _analysis = interrupt::Analysis::new();
            run::analyse(&file, &model, arguments)
        }
        _ => None,
    };
    let (prepared, _) = together(world, prepared)?;
    let bar = Bar::new(model.steps(), arguments.json || !is_first);
    let cancel = Some(interrupt::watch());
    let report = prepared.solve(cancel, &mut |progress| bar.show(progress))?;
    drop(bar);
    run::conclude(report, &model, arguments, advice.as_ref(), None)
}

/// All ranks go on, or none does.
fn together<T>(world: &World, own: Result<(T, Intent), Failure>) -> Result<(T, Intent), Failure> {
    let card = match &own {
        Ok((_, intent)) => Card::Ready(intent.clone()),
        Err(failure) => Card::Failed(failure.to_string()),
    };
    let met = meet_ranks(world, &card);
    let own = own?;
    met.map_err(|error| Failure::Study(error.into()))?;
    Ok(own)
}
