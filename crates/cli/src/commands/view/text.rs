//! A motion in characters.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use oldham_cosim::Recorder;
use oldham_scene::{TextView, ViewName};
use oldham_study::{Onlooker, Pause, run_live};
use oldham_web::{Film, Role};
use serde_json::json;

use crate::args::View3d;
use crate::failure::Failure;
use crate::live::LiveScene;
use crate::load::Begun;
use crate::table::number;
use crate::{interrupt, output, say};

/// Pictures of a motion that is printed, and pictures a second on a terminal.
const INSTANTS: usize = 5;
const RATE: f64 = 12.0;

/// A result.
pub fn show(film: &Film, arguments: &View3d) -> Result<(), Failure> {
    let (times, last) = (&film.times, film.times.len().saturating_sub(1));
    let at = |time: f64| times.partition_point(|t| *t <= time).saturating_sub(1);
    let chosen: Vec<usize> = match arguments.at {
        Some(time) => vec![at(time)],
        None => (0..INSTANTS).map(|i| last * i / (INSTANTS - 1)).collect(),
    };
    let mut screen = Screen::of(film);
    let row = |i: usize| &film.rows[i * film.scene.width..(i + 1) * film.scene.width];
    if arguments.json {
        let pictures = chosen.iter().map(|&i| {
            json!({"t": times[i], "picture": screen.view.draw(row(i)).lines().collect::<Vec<_>>()})
        });
        let pictures: Vec<_> = pictures.collect();
        let answer = json!({"command": "view", "model": film.scene.title, "status": "finished", "pictures": pictures});
        say!("{answer:#}");
        return Ok(());
    }
    if !screen.plays || arguments.at.is_some() {
        screen.plays = false;
        chosen.iter().for_each(|&i| screen.draw(times[i], row(i)));
        return Ok(());
    }
    let cancel = interrupt::watch();
    interrupt::idle();
    let began = Instant::now();
    let factor = arguments.pace.or_real().factor;
    loop {
        let time = times[0] + factor * began.elapsed().as_secs_f64();
        screen.draw(time.min(times[last]), row(at(time)));
        if time >= times[last] || cancel.is_requested() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_secs_f64(1.0 / RATE));
    }
}

/// A model that runs.
pub fn look_on(arguments: &View3d) -> Result<(), Failure> {
    let begun = Begun::with(&arguments.source, &arguments.set, arguments.from.as_deref())?;
    let mut simulation = begun.simulation()?;
    let model = begun.model;
    let real_time = arguments.pace.or_real();
    real_time.check(&model)?;
    let scene = LiveScene::of(&model)?;
    let mut screen = Screen::of(&scene.film);
    let every = match screen.plays {
        true => real_time.factor / RATE / model.step(),
        false => model.duration() / (INSTANTS - 1) as f64 / model.step(),
    };
    let (send, receive) = sync_channel(1);
    let outcome = std::thread::scope(|scope| {
        let draws = scope.spawn(move || screen.follow(&receive));
        let onlooker = Onlooker {
            every: every.round().max(1.0) as u64,
            columns: scene.columns.clone(),
            recorder: &mut Rows(send),
            pause: Pause::default(),
        };
        let cancel = Some(interrupt::watch());
        let outcome = run_live(
            &model,
            &mut simulation,
            &real_time,
            onlooker,
            cancel,
            &mut |_| {},
        );
        drop(draws);
        outcome
    });
    outcome.end.map(|_| ()).map_err(|fault| Failure::Run {
        answer: Box::new(
            json!({"command": "view", "status": "failed", "fault": fault.to_string()}),
        ),
        fault,
        results: None,
    })
}

/// Hands rows over; where the last one is still being drawn, this one is dropped.
struct Rows(SyncSender<(f64, Vec<f32>)>);

impl Recorder for Rows {
    fn record(&mut self, t: f64, row: &[f64]) -> io::Result<()> {
        let _ = self
            .0
            .try_send((t, row.iter().map(|&value| value as f32).collect()));
        Ok(())
    }
}

/// Where pictures are drawn.
struct Screen<'f> {
    film: &'f Film,
    view: TextView<'f>,
    /// Whether one picture is drawn over the other.
    plays: bool,
}

impl<'f> Screen<'f> {
    fn of(film: &'f Film) -> Self {
        let size = |name: &str, usual: usize| {
            let given = std::env::var(name).ok();
            given.and_then(|text| text.parse().ok()).unwrap_or(usual)
        };
        let (columns, lines) = (size("COLUMNS", 80), size("LINES", 24));
        Self {
            film,
            view: TextView::new(
                film,
                ViewName::Auto,
                columns.min(200),
                lines.clamp(8, 60) - 4,
            ),
            plays: io::stdout().is_terminal(),
        }
    }

    /// Draws rows until no more come.
    fn follow(&mut self, rows: &Receiver<(f64, Vec<f32>)>) {
        while let Ok((t, row)) = rows.recv() {
            self.draw(t, &row);
        }
    }

    fn draw(&self, t: f64, row: &[f32]) {
        let energies = self.film.scene.signals.iter();
        let energies = energies.filter(|signal| matches!(signal.role, Some(Role::Energy)));
        let told = energies.map(|signal| {
            let name = signal.name.trim_start_matches("energy.");
            format!(
                "{name} {} {}",
                number(f64::from(row[signal.at])),
                signal.unit
            )
        });
        let told: Vec<String> = told.collect();
        if self.plays {
            output::clear_screen();
        }
        say!(
            "{}, t = {} s, {}",
            self.film.scene.title,
            number(t),
            self.view.label()
        );
        say!("{}{}", self.view.draw(row), told.join(", "));
    }
}
