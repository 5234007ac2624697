//! The grammar of the command line, and the help that teaches it.

mod pace;
mod wheel;

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, RangedU64ValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use oldham_scene::ViewName;
use oldham_study::{Draw, LinearFormat, Merit, Settings, Variation};

use crate::failure::KeyOptions;
pub use pace::PaceArgs;
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
    #[command(verbatim_doc_comment)]
    Run(Run),
    /// Read a model, report every problem in it, and tell whether its coupling is stable
    Check(Check),
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
    ///   oldham papers                      everything there is
    ///   oldham papers fontana              one paper
    ///   oldham papers fontana/fig-9        one item
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
    /// Show how mechanisms are cut: parts, their sizes, the interfaces, and a picture of the graph
    ///
    /// A cut can be tried without writing it down:
    ///
    ///   oldham partition beam.toml --set 'multibody.beam.cut.at=["girder.12"]'
    #[command(verbatim_doc_comment)]
    Partition(Partition),
    /// Find the static equilibrium of mechanisms under their loads
    ///
    /// Loads and gravity are raised in steps from nothing. A table of all nodes, and a picture with
    /// the initial configuration in grey.
    Statics(Statics),
    /// Find the natural vibrations of mechanisms and lumped models: frequencies, damping and shapes
    Modes(Modes),
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
    /// The run begins when somebody takes the controls. What was set is recorded with the results,
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
    /// Measure Oldham's own speed
    Bench(Bench),
    /// Print a completion script for your shell
    ///
    ///   oldham completions bash > ~/.local/share/bash-completion/completions/oldham
    #[command(verbatim_doc_comment)]
    Completions(Completions),
}

impl Command {
    /// Whether the answer goes to a machine.
    pub fn json(&self) -> bool {
        match self {
            Self::Run(run) => run.json,
            Self::Check(check) => check.json,
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
            Self::Linearise(linearise) => linearise.json,
            Self::Animate(animate) => animate.json,
            Self::View(view) => view.json,
            Self::Drive(drive) => drive.json,
            Self::Wheel(wheel) => wheel.json,
            Self::Bench(bench) => bench.json,
            Self::Completions(completions) => completions.json,
        }
    }
}

impl Command {
    /// The options that change keys of the model, for messages about them.
    pub fn key_options(&self) -> KeyOptions {
        let (varied, option): (Vec<&Variation>, _) = match self {
            Self::Run(run) => (run.vary.iter().collect(), "--vary"),
            Self::Compare(compare) => (compare.vary.iter().collect(), "--vary"),
            Self::Stability(stability) => match &stability.critical {
                Some(critical) => (vec![critical], "--critical"),
                None => (stability.over.iter().collect(), "--over"),
            },
            Self::Modes(modes) => (modes.over.iter().collect(), "--over"),
            _ => (Vec::new(), ""),
        };
        let varied = varied
            .into_iter()
            .map(|varied| (varied.key.clone(), option));
        KeyOptions(varied.chain([("with".to_owned(), "--with")]).collect())
    }
}

/// A model and changes to it.
#[derive(Args, Clone)]
pub struct ModelArgs {
    /// Model file (TOML)
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

/// Arguments of `run`.
#[derive(Args)]
pub struct Run {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Result file, .parquet or .csv [default: the model's name with .parquet, here]; with --vary a
    /// folder [default: the model's name with -sweep, here]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Overwrite an existing result file; with --vary do all runs anew
    #[arg(long)]
    pub force: bool,
    /// Run once for each value of a setting or parameter, on all cores; several --vary are combined.
    /// Values are a list 1,2,5, a range LOW:HIGH:POINTS or LOW:HIGH:POINTS:log, a column @FILE.csv:COLUMN,
    /// or drawn from normal(MEAN, DEVIATION) or uniform(LOW, HIGH)
    #[arg(long, value_name = "KEY=VALUES", value_parser = variation, conflicts_with_all = ["checkpoint_every", "resume", "replay"])]
    pub vary: Vec<Variation>,
    #[command(flatten)]
    pub draw: DrawArgs,
    /// A figure of merit of every run for the index: min, max, peak, span, mean, rms or final of a
    /// signal, such as rms(left.x1.a)
    #[arg(long, value_name = "FUNCTION(SIGNAL)", value_parser = merit, requires = "vary")]
    pub merit: Vec<Merit>,
    /// Solve the monolithic reference model instead: all subsystems as one
    #[arg(long)]
    pub monolithic: bool,
    /// Threads that share the subsystems; the results are the same bits for any number. With --vary
    /// the number of runs at the same time [default: one a core]
    #[arg(long, value_name = "N", value_parser = count)]
    pub threads: Option<usize>,
    /// Skip the stability analysis before the run
    #[arg(long)]
    pub no_analysis: bool,
    /// Save the complete state every so many simulated seconds, beside the results
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = positive)]
    pub checkpoint_every: Option<f64>,
    /// Continue from a saved state; the results start there
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,

    /// Set the external inputs of the model as in the run that wrote this result file.
    #[arg(long, value_name = "RESULT")]
    pub replay: Option<PathBuf>,
    #[command(flatten)]
    pub pace: PaceArgs,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `check`.
#[derive(Args)]
pub struct Check {
    /// Model file (TOML)
    #[arg(required_unless_present = "schema")]
    pub model: Option<PathBuf>,
    #[command(flatten)]
    pub changes: Changes,
    /// Print the JSON schema of model files, for editors, and end
    #[arg(long)]
    pub schema: bool,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `compare`.
#[derive(Args)]
pub struct Compare {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Try several values of a setting or parameter, given as for run --vary
    #[arg(long, value_name = "KEY=VALUES", value_parser = variation)]
    pub vary: Vec<Variation>,
    #[command(flatten)]
    pub draw: DrawArgs,
    /// Compare with `monolithic` (one system with the file's integrator), `exact` (the same by
    /// matrix exponential; linear models), `converged` (implicit coupling, its step refined until the
    /// solution does not change) or a result file [default: monolithic; converged where several
    /// subsystems are not all lumped]
    #[arg(long, value_name = "WHAT")]
    pub reference: Option<String>,
    /// The signal to draw [default: the displacement or force with the largest error]
    #[arg(long, value_name = "NAME")]
    pub signal: Option<String>,
    /// Picture, .svg or .png [default: the model's name with -compare.svg, here]
    #[arg(long, short, value_name = "FILE", value_parser = picture())]
    pub out: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `stability`.
#[derive(Args)]
pub struct Stability {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Vary a parameter, simulation.step or another number of the file, with values as for run --vary;
    /// twice for a map. A parameter without values is varied by factors, from 1e-3 to 1e3 times its value
    #[arg(long, value_name = "KEY[=VALUES]", value_parser = variation)]
    pub over: Vec<Variation>,
    /// Find the value at which stability changes, such as the largest stable simulation.step
    #[arg(long, value_name = "KEY[=LOW:HIGH]", value_parser = variation, conflicts_with = "over")]
    pub critical: Option<Variation>,
    #[command(flatten)]
    pub draw: DrawArgs,
    /// Compare with another scheme: settings separated by spaces, such as
    /// "schedule.coupling=implicit schedule.predictor=first-order"
    #[arg(long, value_name = "SETTINGS")]
    pub scheme: Vec<String>,
    /// Study the monolithic reference model instead
    #[arg(long)]
    pub monolithic: bool,
    /// Picture, .svg or .png [default: the model's name with -stability.svg, here]
    #[arg(long, short, value_name = "FILE", value_parser = picture())]
    pub out: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `poles`.
#[derive(Args)]
pub struct Poles {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Order of the hold on coupling variables
    #[arg(long, default_value_t = 0, value_parser = RangedU64ValueParser::<usize>::new().range(0..=2))]
    pub order: usize,
    /// Time that sending and receiving take, in seconds
    #[arg(long, default_value_t = 0.0, value_name = "SECONDS", allow_negative_numbers = true, value_parser = not_negative)]
    pub latency: f64,
    /// Use a Pade approximant of this order for the exponential instead of the exact roots
    #[arg(long, value_name = "ORDER", value_parser = RangedU64ValueParser::<usize>::new().range(1..=12))]
    pub pade: Option<usize>,
    /// Picture, .svg or .png [default: the model's name with -poles.svg, here]
    #[arg(long, short, value_name = "FILE", value_parser = picture())]
    pub out: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `compensate`.
#[derive(Args)]
pub struct Compensate {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Try only this approach
    #[arg(long, value_enum)]
    pub by: Option<CompensateBy>,
    /// Write the gains of the first assignment that works, for `gains_from` of a compensator
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// How to compensate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompensateBy {
    /// Gains for the co-simulation as it runs
    Z,
    /// Gains for a continuous model of the coupling
    S,
    /// The motion side evaluates the coupling law
    Structural,
}

/// Arguments of `papers`.
#[derive(Args)]
pub struct Papers {
    /// A paper, or one of its items
    #[arg(value_name = "KEY[/ITEM]")]
    pub item: Option<String>,
    /// Folder for pictures
    #[arg(long, short, value_name = "DIR", default_value = "papers-out")]
    pub out: PathBuf,
    /// How long runs by the clock on the wall take, each [default: 60]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = positive)]
    pub seconds: Option<f64>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `plot`.
#[derive(Args)]
pub struct Plot {
    /// Result files (.parquet, .csv, or .partial of an interrupted run)
    #[arg(required = true)]
    pub results: Vec<PathBuf>,
    /// Signals to draw, in order; `left.x1` stands for all of its components [default: displacements,
    /// positions, forces, pressures and energies that change]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub signals: Vec<String>,
    /// First time to draw, in seconds
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = finite)]
    pub from: Option<f64>,
    /// Last time to draw, in seconds
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = finite)]
    pub to: Option<f64>,
    /// Picture, .svg or .png [default: the first result's name with .svg, here]
    #[arg(long, short, value_name = "FILE", value_parser = picture())]
    pub out: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `handling`.
#[derive(Args)]
pub struct Handling {
    /// Result file (.parquet, .csv, or .partial of an interrupted run)
    pub result: PathBuf,
    /// The recorded motion of the chassis; its first axis points forward
    #[arg(long, value_name = "NAME", default_value = "car.chassis")]
    pub body: String,
    /// The recorded steering: an angle, or the travel of a rack
    #[arg(long, value_name = "NAME")]
    pub steer: Option<String>,
    /// Wheelbase in m, for the understeer gradient
    #[arg(long, value_name = "L", requires = "steer", value_parser = positive)]
    pub wheelbase: Option<f64>,
    /// The recorded distance along the track, for lap times
    #[arg(long, value_name = "NAME", requires = "lap")]
    pub distance: Option<String>,
    /// Length of the track in m
    #[arg(long, value_name = "L", requires = "distance", value_parser = positive)]
    pub lap: Option<f64>,
    /// Picture, .svg or .png [default: the result's name with -handling.svg, here]
    #[arg(long, short, value_name = "FILE", value_parser = picture())]
    pub out: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// From where to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum View {
    /// At the plane of the motion if there is one, else as `iso`
    Auto,
    /// x to the right, y up
    Xy,
    /// x to the right, z up
    Xz,
    /// y to the right, z up
    Yz,
    /// From above, all three axes equally long
    Iso,
}

impl From<View> for ViewName {
    fn from(view: View) -> Self {
        match view {
            View::Auto => Self::Auto,
            View::Xy => Self::Xy,
            View::Xz => Self::Xz,
            View::Yz => Self::Yz,
            View::Iso => Self::Iso,
        }
    }
}

/// Arguments of `partition`.
#[derive(Args)]
pub struct Partition {
    #[command(flatten)]
    pub model: ModelArgs,
    /// From where to look
    #[arg(long, value_enum, default_value_t = View::Auto)]
    pub view: View,
    /// Picture, .svg or .png [default: the model's name with -partition.svg, here]
    #[arg(long, short, value_name = "FILE", value_parser = picture())]
    pub out: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `statics`.
#[derive(Args)]
pub struct Statics {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The time at which the loads are taken, in seconds [default: the model's start]
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = finite)]
    pub time: Option<f64>,
    /// Steps in which the loads are raised, at most 10000; more are taken where they are needed
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000))]
    pub steps: usize,
    /// From where to look
    #[arg(long, value_enum, default_value_t = View::Auto)]
    pub view: View,
    /// Picture, .svg or .png [default: the model's name with -statics.svg, here]
    #[arg(long, short, value_name = "FILE", value_parser = picture())]
    pub out: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// The configuration about which vibrations are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Configuration {
    /// As the model starts; where it spins, in the steady rotation near that
    Initial,
    /// In static equilibrium under its loads
    Static,
}

/// Arguments of `modes`.
#[derive(Args)]
pub struct Modes {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The configuration about which the mechanism vibrates
    #[arg(long, value_enum, default_value_t = Configuration::Initial)]
    pub at: Configuration,
    /// How many modes, from the lowest frequency on
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = count)]
    pub count: usize,
    /// Vary a parameter or another number of the file, such as a speed of rotation, with values as for
    /// run --vary, and draw the frequencies over it: a Campbell diagram
    #[arg(long, value_name = "KEY=VALUES", value_parser = variation, conflicts_with_all = ["animate", "view"])]
    pub over: Option<Variation>,
    #[command(flatten)]
    pub draw: DrawArgs,
    /// The modes nearest to this frequency, in hertz [default: from zero on]
    #[arg(long, value_name = "HZ", allow_negative_numbers = true, value_parser = not_negative)]
    pub near: Option<f64>,
    /// From where to look
    #[arg(long, value_enum, default_value_t = View::Auto)]
    pub view: View,
    /// Picture, .svg or .png [default: the model's name with -modes.svg, here]
    #[arg(long, short, value_name = "FILE", value_parser = picture())]
    pub out: Option<PathBuf>,
    /// Mode shapes as JSON [default: the model's name with -modes.json, here]
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Animate each mode: animations (.svg), pictures of one period (.png), or folders
    /// of PNG frames, with the number of the mode after the name
    #[arg(long, value_name = "FILE", value_parser = animation())]
    pub animate: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `linearise`.
#[derive(Args)]
pub struct Linearise {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The time whose state is linearised about, in seconds: the model is run up to there [default: the
    /// model's start]
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = finite)]
    pub time: Option<f64>,
    /// Draw the frequency response
    #[arg(long)]
    pub bode: bool,
    /// Inputs of the frequency response [default: all, as far as they can be drawn]
    #[arg(long, value_name = "INPUT,...", value_delimiter = ',')]
    pub from: Vec<String>,
    /// Outputs of the frequency response [default: all, as far as they can be drawn]
    #[arg(long, value_name = "OUTPUT,...", value_delimiter = ',')]
    pub to: Vec<String>,
    /// Frequencies in hertz, such as 0.1:100:400:log [default: from a tenth of the lowest to ten times
    /// the highest frequency of a pole]
    #[arg(long, value_name = "LOW:HIGH[:POINTS][:log]", value_parser = frequencies)]
    pub frequencies: Option<Variation>,
    /// Matrices: .json with everything, .csv as one table, .npz for numpy [default: the model's name with
    /// -linear.json, here]
    #[arg(long, value_name = "FILE", value_parser = matrices())]
    pub data: Option<PathBuf>,
    /// Picture of the frequency response, .svg or .png [default: the model's name with -bode.svg, here]
    #[arg(long, short, value_name = "FILE", value_parser = picture())]
    pub out: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `animate`.
#[derive(Args)]
pub struct Animate {
    /// Result file, or model file (.toml) to be solved first
    pub source: PathBuf,
    #[command(flatten)]
    pub changes: Changes,
    /// Animation (.svg), one picture (.png), or a folder for PNG frames [default: the name
    /// with -motion.svg, here]
    #[arg(long, short, value_name = "FILE", value_parser = animation())]
    pub out: Option<PathBuf>,
    /// Frames at most, from 2 to 2000
    #[arg(long, value_name = "N", default_value_t = 120, value_parser = RangedU64ValueParser::<usize>::new().range(2..=2000))]
    pub frames: usize,
    /// Simulated seconds per second of the animation
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, allow_negative_numbers = true, value_parser = positive)]
    pub speed: f64,
    /// From where to look
    #[arg(long, value_enum, default_value_t = View::Auto)]
    pub view: View,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Where browsers find the page.
#[derive(Args)]
pub struct Serving {
    /// Port to listen at; 0 is any that is free
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
    /// Address to listen at; 0.0.0.0 lets other computers in that know the token
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub listen: IpAddr,
}

/// Arguments of `view`.
#[derive(Args)]
pub struct View3d {
    /// Result file, or model file (.toml) that runs while you look on
    pub source: PathBuf,
    /// Change a setting or a parameter of the model file first
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
    /// Write one page (.html) that plays without a server, and end
    #[arg(long, short, value_name = "FILE", value_parser = page())]
    pub out: Option<PathBuf>,
    /// Draw in characters, here, instead of in a browser: an animation on a terminal, else five instants
    #[arg(long, conflicts_with_all = ["out", "port", "listen"])]
    pub text: bool,
    /// With --text and a result: draw this one instant, in s
    #[arg(long, value_name = "SECONDS", requires = "text", allow_negative_numbers = true, value_parser = finite)]
    pub at: Option<f64>,
    /// Rows of a result that are shown at most, from 2 to 20000
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = RangedU64ValueParser::<usize>::new().range(2..=20_000))]
    pub frames: usize,
    #[command(flatten)]
    pub pace: PaceArgs,
    #[command(flatten)]
    pub serving: Serving,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `drive`.
#[derive(Args)]
pub struct Drive {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Result file [default: the model's name with -drive.parquet, here]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Overwrite an existing result file
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub pace: PaceArgs,
    #[command(flatten)]
    pub seat: AtTheWheel,
    #[command(flatten)]
    pub serving: Serving,
    /// End when the run is over, instead of letting viewers look back
    #[arg(long)]
    pub once: bool,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
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

fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value > 0.0 && f64::is_finite(value) => Ok(value),
        _ => Err("a positive number is needed".into()),
    }
}

fn not_negative(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value >= 0.0 && f64::is_finite(value) => Ok(value),
        _ => Err("a number that is not negative is needed".into()),
    }
}

fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a whole number from 1 on is needed".into()),
        Ok(count) => Ok(count),
    }
}

fn finite(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if f64::is_finite(value) => Ok(value),
        _ => Err("a finite number is needed".into()),
    }
}

/// The path of a picture. A wrong ending is found before anything is computed.
fn picture() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match ending(&path).as_deref() {
        Some("svg" | "png") => Ok(path),
        _ => Err("pictures are .svg or .png"),
    })
}

/// The path of matrices.
fn matrices() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match LinearFormat::of(&path) {
        Some(_) => Ok(path),
        None => Err("matrices are .json, .csv or .npz"),
    })
}

/// The path of a page.
fn page() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match ending(&path).as_deref() {
        Some("html" | "htm") => Ok(path),
        _ => Err("pages are .html"),
    })
}

/// The path of an animation: a picture, or a folder.
fn animation() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        let is_folder = path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.is_dir();
        match ending(&path).as_deref() {
            None | Some("svg" | "png") => Ok(path),
            _ if is_folder => Ok(path),
            _ => Err("animations are .svg, pictures .png; a folder of frames has no ending"),
        }
    })
}

fn ending(path: &Path) -> Option<String> {
    Some(path.extension()?.to_string_lossy().to_ascii_lowercase())
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().into(), value.trim().into()))
        }
        _ => Err("write KEY=VALUE, such as schedule.output_update=true".into()),
    }
}

fn variation(text: &str) -> Result<Variation, String> {
    text.parse::<Variation>().map_err(|error| error.to_string())
}

fn frequencies(text: &str) -> Result<Variation, String> {
    variation(&format!("frequency={text}"))
}

fn merit(text: &str) -> Result<Merit, String> {
    text.parse::<Merit>().map_err(|error| error.to_string())
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
