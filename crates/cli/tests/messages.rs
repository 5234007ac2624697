//! What is said to typical mistakes: what is wrong, where, and what to do about it.

use std::path::{Path, PathBuf};
use std::process::Command;

fn example(name: &str) -> PathBuf {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    examples.join(name).with_extension("toml")
}

/// A mistake in a model file: the example, what is written, what is written instead; then what is wrong,
/// where, and what to do.
type InFile = (&'static str, &'static str, &'static str, [&'static str; 3]);

const PAIR: &str = "two-mass-damped";
const CRANK: &str = "slider-crank";
const BEAM: &str = "cut-beam";
const TEN: &str = "ten-link-pendulum";

#[rustfmt::skip]
const IN_FILES: &[InFile] = &[
    // Numbers and expressions.
    (PAIR, "m1 = 1.0", "m1 = \"2,0e4\"", ["has a decimal comma", "m.toml:12:", "write a decimal point"]),
    (PAIR, "m1 = 1.0", "m1 = 0", ["must be positive: it is a mass", "m.toml:27:", "leave it out"]),
    (PAIR, "step = 4e-3", "step = -1", ["must be positive", "m.toml:21:", "above 0"]),
    (PAIR, "step = 4e-3", "step = 0", ["must be positive", "m.toml:21:", "above 0"]),
    (PAIR, "duration = 10.0", "duration = 0", ["must be positive", "m.toml:20:", "above 0"]),
    (PAIR, "stiffness = \"k2\"", "stiffness = \"k3\"", ["`k3` is no parameter", "m.toml:", "did you mean"]),
    (PAIR, "stiffness = \"k2\"", "stiffness = \"sqr(k2)\"", ["no function `sqr`", "m.toml:", "did you mean `sqrt`?"]),
    (PAIR, "m2 = 1.0", "m2 = \"2 * m2\"", ["depend on each other: m2 -> m2", "m.toml:13:", "leads back to itself"]),
    (PAIR, "m2 = 1.0", "m1 = 3", ["duplicate key", "m.toml:13:1", "line 12 has `m1` already"]),
    (PAIR, "step = 4e-3", "step = true", ["must be a number", "m.toml:21:", "expression in quotes"]),
    (PAIR, "m1 = 1.0", "m-1 = 1.0", ["cannot be the name of a parameter", "m.toml:12:", "letters, digits and `_`"]),
    (PAIR, "duration = 10.0", "duration = 10.001", ["whole number of", "m.toml:2", "step"]),
    // Keys.
    (PAIR, "duration = 10.0", "duratoin = 10.0", ["unknown key `duratoin`", "m.toml:20:", "did you mean `duration`?"]),
    (PAIR, "[simulation]", "[simulaton]", ["unknown key `simulaton`", "m.toml:19:", "did you mean `simulation`?"]),
    (PAIR, "masses]\nx1", "mases]\nx1", ["unknown key `mases`", "m.toml:", "did you mean `masses`?"]),
    (PAIR, "stiffness = \"k1\"", "stifness = \"k1\"", ["unknown key `stifness`", "m.toml:30:", "did you mean `stiffness`?"]),
    (PAIR, "kind = \"jacobi\"", "kind = \"jacoby\"", ["cannot be `jacoby`", "m.toml:", "did you mean `jacobi`?"]),
    (PAIR, "kind = \"jacobi\"", "kind = \"parallel\"", ["cannot be `parallel`", "m.toml:", "possible are"]),
    (PAIR, "predictor = \"zero-order\"", "predictor = \"linear\"", ["cannot be `linear`", "m.toml:66:", "did you mean `linear-rate`?"]),
    (PAIR, "integrator = \"semi-implicit-euler\"\n\n[lumped.left", "\n[lumped.left", ["`integrator` is missing", "m.toml:23:", "with one of"]),
    (PAIR, "duration = 10.0\n", "", ["`duration` is missing", "m.toml:19:", "Simulated time"]),
    (PAIR, "integrator = \"semi-implicit-euler\"", "integrator = \"euler\"", ["cannot be `euler`", "m.toml:24:", "possible are"]),
    (PAIR, "name = \"Damped two-mass oscillator\"\n", "", ["`name` is missing", "m.toml:7:", "Title of the model"]),
    // Names and connections.
    (PAIR, "[\"ground\", \"x1\"]", "[\"ground\", \"x9\"]", ["x9", "m.toml:30:", "x1"]),
    (PAIR, "between = [\"x2\", \"ground\"]", "between = [\"x2\"]", ["two", "m.toml:", "between"]),
    (PAIR, "to = \"left.far\"", "to = \"left.fahr\"", ["`left` has no input `fahr`", "m.toml:58:", "far"]),
    (PAIR, "to = \"left.far\"", "to = \"lft.far\"", ["no subsystem `lft`", "m.toml:58:", "did you mean `left`?"]),
    (PAIR, "to = \"left.far\"", "to = \"far\"", ["`far` is no port", "m.toml:58:", "subsystem.port"]),
    (PAIR, "to = \"left.far\"", "to = \"left.x1\"", ["is an output, an input is needed", "m.toml:58:", "far"]),
    (PAIR, "from = \"left.fc\"", "from = \"left.x1\"", ["sends motion along a line", "m.toml:62:", "send `left.fc` instead"]),
    (PAIR, "[[connection]]\nfrom = \"left.fc\"\nto = \"right.push\"\n", "", ["nothing feeds the input `right.push`", "m.toml:", "connect an output to it"]),
    (PAIR, "from = \"right.x2\"", "from = \"left.x1\"", ["are of one subsystem", "m.toml:58:", "instead of a connection"]),
    (PAIR, "[[connection]]\nfrom = \"left.fc\"", "[[connection]]\nfrom = \"right.x2\"\nto = \"left.far\"\n[[connection]]\nfrom = \"left.fc\"", ["is fed twice", "m.toml:6", "feeds it already"]),
    (PAIR, "far = { motion = \"far\" }", "far = { moton = \"far\" }", ["unknown key `moton`", "m.toml:35:", "did you mean `motion`?"]),
    (PAIR, "x1 = { motion = \"x1\" }", "x1 = { motion = \"x7\" }", ["x7", "m.toml:38:", "x1"]),
    (PAIR, "[lumped.right]\n", "[lumped.\"right one\"]\n", ["cannot be the name of", "m.toml:", "letters, digits"]),
    (PAIR, "[schedule]", "[record]\nsignals = [\"left.x1.q\"]\n[schedule]", ["no signal `left.x1.q`", "m.toml:65:", "did you mean"]),
    (PAIR, "[schedule]", "[record]\nevery = 0\n[schedule]", ["whole number from 1", "m.toml:65:", "is 0"]),
    (PAIR, "[schedule]", "[excitation]\n\"left.x1\" = 0\n[schedule]", ["is an output, an input is needed", "m.toml:65:", "far"]),
    (PAIR, "[schedule]", "[schedule]\norder = [\"left\", \"right\"]", ["`order` has no meaning", "m.toml:", "leave it out, or write kind"]),
    (PAIR, "kind = \"jacobi\"", "kind = \"gauss-seidel\"\norder = [\"left\", \"rigth\"]", ["rigth", "m.toml:66:", "did you mean `right`?"]),
    // Syntax.
    (PAIR, "[simulation]", "[simulation", ["unclosed table", "m.toml:19:", "]"]),
    (PAIR, "m1 = 1.0", "m1 = ", ["m1", "m.toml:12:", "expected"]),
    (PAIR, "m1 = 1.0", "m1: 1.0", ["m1", "m.toml:12:", "expected `=`"]),
    (PAIR, "name = \"Damped", "name = \"Damped \n", ["invalid basic string", "m.toml:8:", "expected `\"`"]),
    // Mechanisms.
    (CRANK, "node = \"rod\"", "node = \"rot\"", ["no node `rot`", "m.toml:", "did you mean `rod`?"]),
    (CRANK, "type = \"prismatic\"", "type = \"slider\"", ["cannot be `slider`", "m.toml:", "possible are"]),
    (CRANK, "\"revolute\", between = [\"crank\", \"rod\"]", "\"revolut\", between = [\"crank\", \"rod\"]", ["cannot be `revolut`", "m.toml:", "did you mean `revolute`?"]),
    (CRANK, "between = [\"ground\", \"slider\"]", "between = [\"grund\", \"slider\"]", ["`grund`", "m.toml:", "did you mean `ground`?"]),
    (CRANK, "gravity = [0, -9.81, 0]", "gravity = [0, -9.81]", ["3 numbers are needed", "m.toml:21:", "the components of a vector"]),
    (CRANK, "gravity = [0, -9.81, 0]", "gravity = -9.81", ["must be a list", "m.toml:21:", "list in brackets"]),
    (CRANK, "reaction = \"motor\"", "reaction = \"moter\"", ["`moter`", "m.toml:", "did you mean `motor`?"]),
    (CRANK, "mass = 0.5", "mass = -0.5", ["must be positive", "m.toml:", "leave it out"]),
    (CRANK, "angle = \"w * t\"", "angle = \"w * T\"", ["`T` is no parameter", "m.toml:39:", "known here are l, r, w"]),
    (CRANK, "axis = [1, 0, 0] }\n\n", "axis = [0, 0, 0] }\n\n", ["axis", "m.toml:", "length"]),
    (CRANK, "gravity = [0, -9.81, 0]", "integrator = \"rk4\"\nlocate_kinks = true", ["only implicit integrators locate kinks", "m.toml:22:", "integrator = \"lms2\""]),
    (CRANK, "[multibody.machine.outputs]", "[multibody.machine.clearances]\np = { between = [\"rod\", \"slider\"], gap = 1e-4, stiffness = 1e6, friction = { coefficient = 0.1 } }\n[multibody.machine.outputs]", ["`radius` is missing", "m.toml:", "Radius of the pin"]),
    (BEAM, "left = \"girder.0\"", "left = \"girder.12\"", ["is cut and belongs to the coupling", "m.toml:", "name the part by another of its nodes"]),
    (BEAM, "at = [\"girder.12\"]", "at = [\"girdr.12\"]", ["girdr.12", "m.toml:", "did you mean `girder"]),
    // Reuse.
    (TEN, "\"bob{i}\" = { repeat.i = 10, node", "bob = { repeat.i = 10, node", ["`bob` is there already", "m.toml:", "such as \"p{i}\""]),
    (TEN, "bob{i - 1}", "bob{j - 1}", ["nothing called `j`", "m.toml:", "known here are i"]),
    (TEN, "repeat.i = \"2:10\"", "repeat.i = \"2:10:0\"", ["is no range", "m.toml:", "first:last"]),
    (TEN, "[model]", "with = \"heavy\"\n[model]", ["no set `heavy`", "m.toml:", "write one: [set.heavy]"]),
    (TEN, "[model]", "include = \"missing.toml\"\n[model]", ["cannot be included", "m.toml:", "folder of the file that includes"]),
    (TEN, "[model]", "[use.left]\ntemplate = \"leg\"\n[model]", ["no template `leg`", "m.toml:", "write one: [template.leg]"]),
];

/// A mistake on the command line; `PAIR`, `CRANK` and `LOADER` stand for paths of examples.
#[rustfmt::skip]
const ON_THE_COMMAND_LINE: &[(&str, [&str; 3])] = &[
    ("simulate PAIR", ["no command `simulate`", "simulate", "`oldham run`"]),
    ("sweep PAIR", ["no command `sweep`", "sweep", "--vary"]),
    ("chek PAIR", ["chek", "subcommand", "check"]),
    ("run", ["required arguments", "<MODEL>", "--help"]),
    ("run missing.toml", ["cannot be read", "missing.toml", "give the path of a model file"]),
    ("run PAIR --set", ["value is required", "--set", "--help"]),
    ("run PAIR --set kc", ["invalid value 'kc'", "--set", "write KEY=VALUE"]),
    ("run PAIR --set kcc=3", ["no parameter `kcc`", "--set:1:1", "did you mean `kc`?"]),
    ("run PAIR --set step=3", ["no parameter `step`", "--set:1:1", "did you mean `simulation.step`?"]),
    ("run PAIR --set simulation.stp=3", ["unknown key `stp`", "--set:1:12", "did you mean `step`?"]),
    ("run PAIR --set lumped.lft.micro_steps=3", ["nothing called `lft`", "--set:1:8", "did you mean `left`?"]),
    ("run PAIR --set simulation.step=fast", ["`fast` is no parameter", "--set:1:17", "unknown name"]),
    ("run PAIR --with heavy", ["no set `heavy`", "--with:1:", "[set.heavy]"]),
    ("run PAIR --out a.xlsx", ["a.xlsx", ".xlsx", ".parquet"]),
    ("run PAIR --threads 0", ["invalid value '0'", "--threads", "whole number from 1 on"]),
    ("run PAIR --thread 2", ["unexpected argument '--thread'", "--thread", "--threads"]),
    ("run PAIR --checkpoint-every 0", ["invalid value '0'", "--checkpoint-every", "positive number"]),
    ("run PAIR --resume no.checkpoint", ["no.checkpoint", "No such file", "checkpoint"]),
    ("run PAIR --vary kcc=1,2", ["no parameter `kcc`", "--vary:1:1", "did you mean `kc`?"]),
    ("run PAIR --vary kc", ["no values of `kc`", "kc", "kc=LOW:HIGH:POINTS"]),
    ("run PAIR --vary kc=5:1", ["invalid value 'kc=5:1'", "--vary", "LOW must be below HIGH"]),
    ("run PAIR --vary kc=0:1:5:log", ["no equal factors from zero", "--vary", "leave `:log` out"]),
    ("run PAIR --vary kc=normal(1)", ["no distribution", "--vary", "normal(MEAN, DEVIATION)"]),
    ("run PAIR --vary kc=@none.csv:k", ["cannot be read", "none.csv", "No such file"]),
    ("run PAIR --vary kc=@none.csv", ["no column of a file", "--vary", "@FILE.csv:COLUMN"]),
    ("run PAIR --vary kc=1,2 --merit rms", ["no figure of merit", "--merit", "rms(left.x1.a)"]),
    ("run PAIR --vary kc=1,2 --merit rms(left.x1.b)", ["no recorded signal `left.x1.b`", "left.x1.b", "did you mean"]),
    ("run PAIR --vary kc=1,2 --resume x.checkpoint", ["cannot be used with", "--vary", "--resume"]),
    ("compare PAIR --vary spped=1,2", ["no parameter `spped`", "--vary:1:1", "the parameters are"]),
    ("compare PAIR --reference exct", ["no reference `exct`", "exct", "`monolithic`, `exact`, `converged`"]),
    ("compare LOADER", ["no reference without the cut", "`loader`", "--reference FILE"]),
    ("compare PAIR --signal left.y", ["no signal `left.y`", "left.y", "left."]),
    ("compare PAIR -o a.pdf", ["invalid value 'a.pdf'", "--out", ".svg or .png"]),
    ("stability PAIR --over spped=1:2", ["no parameter `spped`", "--over:1:1", "the parameters are"]),
    ("stability PAIR --over k1 --over k2 --over kc", ["not 3 times", "--over", "set the others with --set"]),
    ("stability PAIR --over k1 --critical k2", ["cannot be used with", "--over", "--critical"]),
    ("stability PAIR --scheme jacobi", ["`jacobi` is none", "--scheme", "schedule.output_update=true"]),
    ("linearise PAIR --bode", ["no free input", "Damped two-mass oscillator", "add one, such as"]),
    ("linearise PAIR --time -1", ["before the start", "-1 s", "at 0 s"]),
    ("statics PAIR", ["has no multibody subsystem", "Damped two-mass oscillator", "for lumped models use"]),
    ("animate PAIR", ["has no multibody subsystem", "Damped two-mass oscillator", "for lumped models use"]),
    ("modes PAIR --animate a.svg", ["is for mechanisms", "--animate", "leave it out"]),
    ("modes CRANK --over w", ["range of `w` is not known", "w", "write w=LOW:HIGH"]),
    ("plot none.parquet", ["none.parquet", "No such file", "none"]),
    ("plot PAIR", ["toml", "two-mass-damped.toml", ".parquet"]),
    ("papers nobody", ["nobody", "there is no", "fontana"]),
    ("bench speed", ["invalid value 'speed'", "[NAME]", "possible values"]),
    ("completions tcsh", ["invalid value 'tcsh'", "<SHELL>", "possible values"]),
];

fn said(arguments: &[String], folder: &Path) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oldham"));
    command
        .current_dir(folder)
        .args(arguments)
        .env("NO_COLOR", "1");
    let output = command.output().expect("oldham starts");
    let text = String::from_utf8_lossy(&output.stderr);
    // Lines are folded: words count, not their arrangement.
    let words: Vec<&str> = text
        .split_whitespace()
        .filter(|word| *word != "|")
        .collect();
    (output.status.code(), words.join(" "))
}

#[test]
fn mistakes_in_model_files_are_told_with_place_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for (name, written, instead, tells) in IN_FILES {
        let text = std::fs::read_to_string(example(name)).unwrap();
        assert!(text.contains(written), "{name} has no `{written}`");
        let changed = text.replacen(written, instead, 1);
        std::fs::write(folder.path().join("m.toml"), changed).unwrap();
        let (code, said) = said(&["check".into(), "m.toml".into()], folder.path());
        let lacks = tells.iter().filter(|words| !said.contains(**words));
        let lacks: Vec<_> = lacks.collect();
        if code != Some(2) || !lacks.is_empty() {
            wrong.push(format!(
                "{instead}: code {code:?}, lacks {lacks:?} in:\n{said}\n"
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        IN_FILES.len(),
        wrong.join("\n")
    );
}

#[test]
fn mistakes_on_the_command_line_are_told_with_place_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for (line, tells) in ON_THE_COMMAND_LINE {
        let word = |word: &str| match word {
            "PAIR" => example(PAIR).display().to_string(),
            "CRANK" => example(CRANK).display().to_string(),
            "LOADER" => example("loader").display().to_string(),
            other => other.to_owned(),
        };
        let arguments: Vec<String> = line.split(' ').map(word).collect();
        let (code, said) = said(&arguments, folder.path());
        let lacks: Vec<_> = tells
            .iter()
            .filter(|words| !said.contains(**words))
            .collect();
        if code != Some(2) || !lacks.is_empty() {
            wrong.push(format!(
                "{line}: code {code:?}, lacks {lacks:?} in:\n{said}\n"
            ));
        }
    }
    let count = ON_THE_COMMAND_LINE.len();
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
