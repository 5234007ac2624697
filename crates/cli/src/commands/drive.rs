//! `oldham drive`: somebody at a browser or at a wheel sets the external inputs of a model while it runs.

mod at_the_wheel;

use std::path::{Path, PathBuf};

use oldham_cosim::{Dial, End};
use oldham_model::Model;
use oldham_scene::Showing;
use oldham_study::{Onlooker, Pause, Place, PreparedRun, RunOptions, RunReport};
use oldham_web::{Input, Stage, Wish};
use serde_json::json;

use at_the_wheel::Driving;

use super::run::print_summary;
use crate::args::Drive;
use crate::failure::Failure;
use crate::live::{self, LiveScene};
use crate::say;
use crate::{interrupt, load};

pub fn execute(arguments: &Drive) -> Result<(), Failure> {
    // A replay needs what was set in every single step.
    let every_step = [("record.every".to_owned(), "1".to_owned())];
    let file = load::file(&arguments.model).with(&every_step);
    let model = file.read()?;
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| load::beside(&arguments.model.model, "-drive.parquet"));
    let options = RunOptions {
        force: arguments.force,
        returns: true,
        real_time: Some(arguments.pace.or_real()),
        ..RunOptions::default()
    };
    let mut prepared = PreparedRun::new(&file, &model, &out, &options)?;
    let scene = LiveScene::of(&model)?;
    let inputs = &scene.film.scene.inputs;
    if inputs.is_empty() {
        return Err(Failure::NothingToDrive {
            model: model.name().into(),
        });
    }
    let wheel = at_the_wheel::open(&arguments.seat, inputs, arguments.json)?;
    let pause = Pause::default();
    let stage = stage(&prepared, inputs, &pause);
    let serving = Some(stage.clone());
    let server = live::serve(
        "drive",
        &arguments.serving,
        &scene.film,
        serving,
        arguments.json,
    )?;
    let driving = wheel.zip(arguments.seat.wheel.as_deref());
    let driving = driving.map(|(wheel, path)| Driving::start(wheel, path, inputs, &stage));
    // A wheel is always there: it drives when somebody can see it, or wants to.
    let begins = |driving: &Driving| stage.viewers() > 0 || driving.begins();
    if !live::wait_until(|| stage.is_driven() && driving.as_ref().is_none_or(begins)) {
        return Err(Failure::Interrupted);
    }
    let mut told = Ok(());
    for number in 1.. {
        let take = take_path(&out, number, arguments.force);
        let report = drive(&mut prepared, &take, &scene, &stage, &pause, arguments)?;
        let is_interrupted = interrupt::watch().is_requested();
        let returns = prepared.can_return() && !is_interrupted;
        let mut place = pause.take_return().filter(|_| returns);
        let results = Some(load::shown(&report.results));
        let mut status = live::status_at_end(&report.outcome, results, false);
        let may_begin_again = returns && !arguments.once && !pause.is_ended();
        if place.is_none() {
            status.returns = may_begin_again;
            stage.tell(status.clone());
        }
        told = conclude(report, &model, arguments, !is_interrupted);
        if place.is_none() && may_begin_again {
            // The drive is over, or failed: the driver may begin again.
            interrupt::idle();
            live::wait_until(|| {
                place = pause.take_return();
                place.is_some() || pause.is_ended()
            });
        }
        match place {
            Some(place) => prepared.go_back(place)?,
            None => {
                // It was ended for good: nothing goes back any more.
                status.returns = false;
                stage.tell(status);
                break;
            }
        }
    }
    if told.is_ok() && !arguments.once {
        live::wait_for_the_user();
    }
    drop(driving);
    drop(server);
    told
}

/// One way from where the model is to its end, or until it is to go back.
fn drive(
    prepared: &mut PreparedRun<'_>,
    out: &Path,
    scene: &LiveScene,
    stage: &Stage,
    pause: &Pause,
    arguments: &Drive,
) -> Result<RunReport, Failure> {
    let factor = arguments.pace.or_real().factor;
    let onlooker = Onlooker {
        every: live::steps_between_rows(prepared.model(), factor),
        columns: scene.columns.clone(),
        recorder: &mut Showing(stage.clone()),
        pause: pause.clone(),
    };
    let cancel = Some(interrupt::watch());
    let returns = prepared.can_return();
    let mut progress = |here| live::tell_progress(stage, here, pause.is_paused(), returns);
    Ok(prepared.take(out, Some(onlooker), cancel, &mut progress)?)
}

/// Where the results of a take go: the first as told, the others with their number.
fn take_path(out: &Path, number: u32, force: bool) -> PathBuf {
    if number == 1 {
        return out.to_owned();
    }
    let stem = out.file_stem().unwrap_or_default().to_string_lossy();
    let ending = out.extension().unwrap_or_default().to_string_lossy();
    let numbered = |number| out.with_file_name(format!("{stem}-{number}.{ending}"));
    let mut free = (number..).map(numbered);
    let found = free.find(|path| force || !path.exists());
    found.unwrap_or_else(|| numbered(number))
}

/// The meeting place of the run and those at the page; the driver turns the dials.
fn stage(prepared: &PreparedRun<'_>, inputs: &[Input], pause: &Pause) -> Stage {
    let dial = |input: &Input| {
        let dial = prepared.dial(&input.name);
        (
            dial.expect("the input is the model's"),
            [input.low, input.high],
        )
    };
    let dials: Vec<(Dial, [f64; 2])> = inputs.iter().map(dial).collect();
    let initial = inputs.iter().map(|input| input.initial).collect();
    let pause = pause.clone();
    Stage::new(initial, move |wish| match wish {
        Wish::Set { input, value } => {
            let (dial, [low, high]) = &dials[input];
            dial.set(&[value.clamp(*low, *high)]);
        }
        Wish::Pause => pause.pause(),
        Wish::GoOn => pause.go_on(),
        Wish::Reset => pause.go_back(Place::Start),
        Wish::Save => pause.save(),
        Wish::Restart => pause.go_back(Place::Saved),
        Wish::End => pause.end(),
        Wish::Drive | Wish::Leave => {}
    })
}

fn conclude(
    report: RunReport,
    model: &Model,
    arguments: &Drive,
    ended_by_driver: bool,
) -> Result<(), Failure> {
    let summary = &report.outcome.summary;
    let answer = Box::new(json!({
        "command": "drive",
        "model": model.name(),
        "status": report.status(),
        "fault": report.fault(),
        "results": load::shown(&report.results),
        "summary": summary,
    }));
    if !arguments.json {
        print_summary(model, summary, report.outcome.end.is_err());
        say!("  results    {}", report.results.display());
        let model = arguments.model.model.display();
        say!(
            "  again      oldham run {model} --replay {}",
            report.results.display()
        );
    }
    match report.outcome.end {
        Err(fault) => Err(Failure::Run {
            fault,
            results: Some(report.results),
            answer,
        }),
        Ok(End::Cancelled) if !ended_by_driver => Err(Failure::RunInterrupted { answer }),
        Ok(_) => {
            if arguments.json {
                say!("{answer}");
            }
            Ok(())
        }
    }
}
