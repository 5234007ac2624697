//! The grammar of the command line, and the help that teaches it.

mod advise;
mod analysis;
mod browser;
mod convert;
mod fmu;
mod new;
mod pace;
mod pictures;
mod run;
mod trim;
mod values;
mod wheel;

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Args, Parser, Subcommand};
use oldham_study::{Draw, Settings};

use crate::failure::KeyOptions;
pub use advise::Advise;
pub use analysis::{
    Compensate, CompensateBy, Configuration, Handling, Linearise, Modes, Poles, Stability, Statics,
};
pub use browser::{Drive, Serving, View3d};
pub use convert::Convert;
pub use fmu::{Export, Fmu, FmuAction, FmuProbe, FmuRun, Worker};
pub use new::New;
pub use pace::PaceArgs;
pub use pictures::{Animate, Papers, Partition, Plot, View};
pub use run::{Check, Compare, Run};
pub use trim::Trim;
use values::key_value;
pub use wheel::{AtTheWheel, Wheel};

/// Co-simulation of multibody systems.
///
/// A model file (TOML, SI units) describes subsystems, how they are connected and the schedule by
/// which they exchange values. Start with an example:
///
///   oldham check   examples/two-mass-force-displacement.toml    what is in it, is it stable?
///   oldham run     examples/two-mass-force-displacement.toml    solve it, write results
///   oldham compare examples/two-mass-force-displacement.toml    against its monolithic reference
///   oldham plot    two-mass-force-displacement.parquet          draw the results
///
/// Every command takes --json for machines. Exit codes: 0 fine, 1 ran but failed, 2 bad input,
/// 130 interrupted (results complete up to there).
#[derive(Parser)]
#[command(name = "oldham", version, verbatim_doc_comment, max_term_width = 100)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Solve a model and write its results
    ///
    /// Before the run the coupling is analysed: if the coupling makes a mode grow, you are told at
    /// which interface, how fast, and which settings would be stable. While it runs, results are
    /// on disk in a readable form (FILE.partial); at the end they become one file.
    ///
    /// With --vary there are many runs, one a core, each with its result file, and index.csv with a row
    /// for each. A sweep that was killed goes on where it was when it is started again:
    ///
    ///   oldham run model.toml --vary k=100:500:5 --vary c=1,2,5 --merit 'rms(body.x.a)'
    ///   oldham run model.toml --vary 'm=normal(10, 0.5)' --samples 200 --seed 7
    ///
    /// Many machines share a sweep by one folder: each does a shard, and the index is made at the end:
    ///
    ///   oldham run model.toml --vary k=1:9:10000 --out sweep --shard 3/16
    ///   oldham run model.toml --vary k=1:9:10000 --join sweep
    #[command(verbatim_doc_comment)]
    Run(Run),
    /// Read a model, report every problem in it, and tell whether its coupling is stable
    Check(Check),
    /// Find the coupling that suits a model: what is wrong, what to set, what that costs, how sure
    ///
    /// Schedule and order, predictor, output update, interface Jacobian, compensation, interface model and
    /// implicit coupling are ranked by their error at equal cost: by analysis with linear models of
    /// the parts, the best by short runs. What is not stable is never advised:
    ///
    ///   oldham advise model.toml                 say what to set
    ///   oldham advise model.toml --write         set it in the file
    ///   oldham advise model.toml --seconds 300   with more time, for large models
    #[command(verbatim_doc_comment)]
    Advise(Advise),
    /// Solve one model in several ways and compare them with a reference
    ///
    /// Without --vary the usual schemes are tried: as the file says, Gauss–Seidel, first- and
    /// second-order extrapolation, output update, implicit (tight) coupling; where parts choose their
    /// predictors also hold, learning and interface model; of a model with compensators
    /// also both kinds of compensation, none, and the learning predictor. With --vary any setting or
    /// parameter takes any values; several --vary are combined:
    ///
    ///   oldham compare model.toml --vary simulation.step=1e-3,5e-4 --vary schedule.output_update=false,true
    #[command(verbatim_doc_comment)]
    Compare(Compare),
    /// Tell whether a coupling is stable, and over which range of parameters
    ///
    /// Without options: the modes of the co-simulation as it is run. With one --over: the spectral
    /// radius along a parameter; with two: a map, with the border of stability and the model's own
    /// point. Parameters of the file and simulation.step can be varied:
    ///
    ///   oldham stability model.toml --over m2 --over m3             1e-3 to 1e3 times their values
    ///   oldham stability model.toml --over k=10:1000:40             from 10 to 1000 in 40 points
    ///   oldham stability model.toml --over k=10:1000:40:log         the same by equal factors
    ///   oldham stability model.toml --critical simulation.step      the largest stable step
    #[command(verbatim_doc_comment)]
    Stability(Stability),
    /// Show what the coupling does to the poles of a linear coupled model
    ///
    /// Beside the poles of the monolithic system stand those with every coupling variable held (exact
    /// roots of the transcendental equation, or of its Pade approximant) and those of the scheme as
    /// it is really run. They differ: a continuous hold is only a model of the coupling.
    Poles(Poles),
    /// Find feedback that compensates the delay of a coupling
    ///
    /// At interfaces between a force side and a motion side. Gains that put the poles of the
    /// co-simulation where those of the monolithic model are, designed on the co-simulation as it
    /// runs (z) or on a continuous model of the coupling (s); or the motion side evaluates the
    /// coupling law itself (structural). Offered is what the co-simulation with it confirms.
    Compensate(Compensate),
    /// Compute tables and figures of the papers anew, beside the printed values
    ///
    ///   oldham papers                      what there is; computes nothing
    ///   oldham papers fontana/fig-9        one item
    ///   oldham papers fontana              one paper
    ///   oldham papers --all                everything
    ///   oldham papers --report DIR         everything, as one page with all figures
    #[command(verbatim_doc_comment)]
    Papers(Papers),
    /// Draw results as SVG or PNG
    Plot(Plot),
    /// Tell how a car handles in a ride: largest accelerations, response to a step of the steering,
    /// understeer gradient, stopping distance, lap times, and a g-g diagram
    ///
    ///   oldham handling formula-student.parquet --steer car.sensors.rack
    ///   oldham handling car-constant-radius.parquet --steer car.sensors.rack --wheelbase 1.56
    ///   oldham handling car-lap.parquet --distance driver.s --lap 439.0657
    #[command(verbatim_doc_comment)]
    Handling(Handling),
    /// Show how mechanisms are cut: parts, their sizes, the interfaces, and a picture of the graph; or
    /// find the best cut
    ///
    /// A cut can be tried without writing it down. With --parts the best one is looked for, by an
    /// estimate or by what --measure has found on this machine; --write adds it to the model:
    ///
    ///   oldham partition beam.toml --set 'multibody.beam.cut.at=["girder.12"]'
    ///   oldham partition beam.toml --parts 2              the best cut by estimated costs
    ///   oldham partition beam.toml --parts 2 --measure    by costs as they are on this machine
    ///   oldham partition beam.toml --parts 2 --write      and write it down
    #[command(verbatim_doc_comment)]
    Partition(Partition),
    /// Find the static equilibrium of mechanisms under their loads
    ///
    /// Loads and gravity are raised in steps from nothing. A table of all nodes, and a picture with
    /// the initial configuration in grey.
    Statics(Statics),
    /// Find the natural vibrations of mechanisms and lumped models: frequencies, damping and shapes
    Modes(Modes),
    /// Find the steady motion of a model: the state in which what should be constant is constant
    ///
    /// A vehicle straight ahead or in a steady turn, a rotor at its speed, a machine under load; with
    /// --period a motion that repeats itself. What is held and which parameters are found with it stands in
    /// [trim] of the model, or here. The state goes to a file from which runs begin:
    ///
    ///   oldham trim model.toml
    ///   oldham trim car.toml --hold car.sensors.vx=27.8 --free throttle
    ///   oldham trim rotor.toml --period 0.5
    ///   oldham trim bicycle.toml --over speed=3:8:11
    ///   oldham run  car.toml --from car.trim
    #[command(verbatim_doc_comment)]
    Trim(Trim),
    /// Linearise a model: the matrices A, B, C and D, its poles, and its frequency response
    ///
    /// All parts as one system, without any delay of the coupling, about the initial state or the state
    /// at a time. The matrices and the names of states, inputs and outputs go to a JSON file:
    ///
    ///   oldham linearise model.toml                                    poles, and MODEL-linear.json
    ///   oldham linearise model.toml --bode                             and a Bode diagram
    ///   oldham linearise model.toml --bode --from car.road.x --to car.body.a
    #[command(verbatim_doc_comment, alias = "linearize")]
    Linearise(Linearise),
    /// Draw the motion of mechanisms: an animation, or frames
    ///
    ///   oldham animate slider-crank.parquet                     slider-crank-motion.svg, for any browser
    ///   oldham animate examples/slider-crank.toml               solves the model first
    ///   oldham animate slider-crank.parquet -o frames/          PNG frames, for videos and reports
    ///   oldham animate slider-crank.parquet -o motion.png       overlay of nine instants in one picture
    #[command(verbatim_doc_comment)]
    Animate(Animate),
    /// Show a motion in the browser: in three dimensions, with plots of any signal
    ///
    ///   oldham view slider-crank.parquet                   a result, to play, scrub and plot
    ///   oldham view examples/slider-crank.toml             runs the model while you look on
    ///   oldham view slider-crank.parquet -o motion.html    one file that plays without a server
    #[command(verbatim_doc_comment)]
    View(View3d),
    /// Drive a model from the browser: keyboard, gamepad or sliders set its external inputs
    ///
    /// The run begins when a driver takes the controls. What was set is recorded with the results,
    /// so the drive can be repeated with the same bits:
    ///
    ///   oldham drive examples/driven-cart.toml
    ///   oldham run   examples/driven-cart.toml --replay driven-cart-drive.parquet
    #[command(verbatim_doc_comment)]
    Drive(Drive),
    /// List steering wheels and pedals that are plugged into this computer, and calibrate them
    ///
    ///   oldham wheel                                              what is plugged in
    ///   oldham wheel /dev/input/event5                            its axes, and where they are
    ///   oldham wheel /dev/input/event5 --calibrate car.toml       which axis sets which input
    #[command(verbatim_doc_comment)]
    Wheel(Wheel),
    /// Start a model: a folder with a copy of an example, its schema for your editor, and a README
    ///
    ///   oldham new mycrane --like crane
    #[command(verbatim_doc_comment)]
    New(New),
    /// Make a model file of a robot, machine or system in another format: URDF, MJCF or SSP
    ///
    /// Links, joints and inertias become nodes, joints and bodies; meshes and colours are drawn by `oldham view`. What has no
    /// counterpart is listed. The model begins at the zero of all joints; the parameters q_JOINT set them:
    ///
    ///   oldham convert robot.urdf                        a robot that is fixed to the ground, as robot.toml
    ///   oldham convert dog.urdf --free --contacts        one on legs
    ///   oldham convert scene.xml -o model.toml           of MuJoCo
    ///   oldham convert system.ssp                        FMUs and their connections, of SSP
    ///   oldham run robot.toml --set q_elbow=0.5
    #[command(verbatim_doc_comment)]
    Convert(Convert),
    /// Look into an FMU (FMI 2.0 or 3.0): what it can do, whether it does so, and what it does by itself
    ///
    ///   oldham fmu info damper.fmu
    ///   oldham fmu validate damper.fmu
    ///   oldham fmu run damper.fmu --input velocity='0.1 * sin(6 * t)' --plot damper.svg
    ///   oldham fmu probe damper.fmu --step 1e-3
    ///   oldham fmu export two-mass-damped.toml -o pair.fmu
    ///
    /// In a model file an FMU is a section [fmu.NAME] with file = "damper.fmu".
    #[command(verbatim_doc_comment)]
    Fmu(Fmu),
    /// Hold an FMU for the process that started this one
    #[command(hide = true)]
    Worker(Worker),
    /// Measure Oldham's own speed
    Bench(Bench),
    /// Print a completion script for your shell
    ///
    ///   oldham completions bash > ~/.local/share/bash-completion/completions/oldham
    #[command(verbatim_doc_comment)]
    Completions(Completions),
    /// Print the manual page, or write those of all commands
    ///
    ///   oldham man | man -l -
    ///   oldham man --out ~/.local/share/man/man1     then: man oldham-run
    #[command(verbatim_doc_comment)]
    Man(Man),
}

impl Command {
    /// Whether the answer goes to a machine.
    pub fn json(&self) -> bool {
        match self {
            Self::Run(run) => run.json,
            Self::Check(check) => check.json,
            Self::Advise(advise) => advise.json,
            Self::Compare(compare) => compare.json,
            Self::Stability(stability) => stability.json,
            Self::Poles(poles) => poles.json,
            Self::Compensate(compensate) => compensate.json,
            Self::Papers(papers) => papers.json,
            Self::Plot(plot) => plot.json,
            Self::Handling(handling) => handling.json,
            Self::Partition(partition) => partition.json,
            Self::Statics(statics) => statics.json,
            Self::Modes(modes) => modes.json,
            Self::Trim(trim) => trim.json,
            Self::Linearise(linearise) => linearise.json,
            Self::Animate(animate) => animate.json,
            Self::View(view) => view.json,
            Self::Drive(drive) => drive.json,
            Self::Fmu(fmu) => fmu.json(),
            Self::Worker(_) => false,
            Self::Wheel(wheel) => wheel.json,
            Self::Convert(convert) => convert.json,
            Self::New(new) => new.json,
            Self::Bench(bench) => bench.json,
            Self::Completions(completions) => completions.json,
            Self::Man(man) => man.json,
        }
    }
}

impl Command {
    /// The options that change keys of the model, for messages about them.
    pub fn key_options(&self) -> KeyOptions {
        match self {
            Self::Run(run) => KeyOptions::of(&run.vary, "--vary"),
            Self::Compare(compare) => KeyOptions::of(&compare.vary, "--vary"),
            Self::Stability(stability) => match &stability.critical {
                Some(critical) => KeyOptions::of([critical], "--critical"),
                None => KeyOptions::of(&stability.over, "--over"),
            },
            Self::Modes(modes) => KeyOptions::of(&modes.over, "--over"),
            Self::Trim(trim) => KeyOptions::of(&trim.over, "--over"),
            _ => KeyOptions::of([], ""),
        }
    }
}

/// A model and changes to it.
#[derive(Args, Clone)]
pub struct ModelArgs {
    /// Model file (TOML), or package of SSP
    pub model: PathBuf,
    #[command(flatten)]
    pub changes: Changes,
}

/// Changes to a model.
#[derive(Args, Clone)]
pub struct Changes {
    /// Change a setting or a parameter for this run, such as schedule.output_update=true or kc=200
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    set: Vec<(String, String)>,
    /// Apply a named set of changes of the model file, [set.NAME]; several are applied in order
    #[arg(long = "with", value_name = "NAME")]
    with: Vec<String>,
}

impl Changes {
    /// All changes as settings; what is set goes over the sets.
    pub fn settings(&self) -> Settings {
        let mut settings = Settings::new();
        if !self.with.is_empty() {
            let names = self.with.iter().map(|name| format!("{name:?}"));
            let names = names.collect::<Vec<_>>().join(", ");
            settings.push(("with".into(), format!("[{names}]")));
        }
        settings.extend_from_slice(&self.set);
        settings
    }
}

/// How values are drawn at random.
#[derive(Args, Clone)]
pub struct DrawArgs {
    /// Draw the same random values whenever this number is the same
    #[arg(long, value_name = "N", default_value_t = Draw::default().seed)]
    seed: u64,
    /// How many values are drawn from normal(...) and uniform(...)
    #[arg(long, value_name = "N", default_value_t = Draw::default().samples, value_parser = RangedU64ValueParser::<usize>::new().range(1..=100_000))]
    samples: usize,
}

impl DrawArgs {
    /// As the study takes it.
    pub fn draw(&self) -> Draw {
        Draw {
            seed: self.seed,
            samples: self.samples,
        }
    }
}

/// Arguments of `bench`.
#[derive(Args)]
pub struct Bench {
    /// What to measure [default: everything]
    #[arg(value_parser = crate::commands::bench::NAMES)]
    pub name: Option<String>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `completions`.
#[derive(Args)]
pub struct Completions {
    /// Your shell
    pub shell: clap_complete::Shell,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `man`.
#[derive(Args)]
pub struct Man {
    /// Write the pages of all commands into this folder
    #[arg(long, short, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_sound() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }
}
