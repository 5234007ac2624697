use oldham_model::{Model, Overrides};
fn run(set: &[(&str, String)], h: f64, sample: f64) -> (Vec<[f64; 3]>, Vec<String>) {
    let set = set
        .iter()
        .map(|(k, v)| ((*k).to_string(), v.clone()))
        .collect();
    let text = std::fs::read_to_string("examples/hydraulic-manipulator.toml").unwrap();
    let model = Model::parse(&text, "m", &Overrides(set)).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = model.simulation().unwrap_or_else(|e| panic!("{e}"));
    let [arm, oil] = ["arm", "oil"].map(|n| sim.find(n).unwrap());
    let every = (sample / h).round() as u64;
    let mut out = Vec::new();
    let n = (9.96 / sample).floor() as usize;
    out.push([
        sim.outputs(arm)[0],
        sim.outputs(arm)[1],
        sim.outputs(oil)[0],
    ]);
    for _ in 0..n {
        for _ in 0..every {
            if sim.step().is_err() {
                return (out, vec!["failed".into()]);
            }
        }
        out.push([
            sim.outputs(arm)[0],
            sim.outputs(arm)[1],
            sim.outputs(oil)[0],
        ]);
    }
    let notes = sim.summary().notes;
    (out, notes)
}
fn main() {
    let drive = std::env::args().nth(1).unwrap_or("smooth".into());
    let spool = match drive.as_str() {
        "smooth" => {
            "amplitude * sin(2 * pi * frequency * t) * max(0, min(1, min(t, 10 - t)))".to_string()
        }
        _ => "amplitude*(step(t-2)-step(t-3)) - amplitude*(step(t-5)-step(t-6))".to_string(),
    };
    let d = ("drive.\"oil.lift.spool\"", format!("\"{spool}\""));
    for hm in [0.012, 0.02] {
        let reference = run(
            &[
                d.clone(),
                ("simulation.step", "2e-4".into()),
                ("simulation.duration", "9.96".into()),
                ("schedule.coupling", "tight".into()),
                ("hydraulics.oil.predictor", "first-order".into()),
            ],
            2e-4,
            hm,
        )
        .0;
        let mean = reference.iter().map(|r| r[0]).sum::<f64>() / reference.len() as f64;
        let var =
            reference.iter().map(|r| (r[0] - mean).powi(2)).sum::<f64>() / reference.len() as f64;
        for p in [
            "\"zero-order\"",
            "\"first-order\"",
            "\"dmd\"",
            "{kind=\"dmd\",window=4}",
            "{kind=\"dmd\",window=6}",
            "{kind=\"dmd\",window=8}",
            "{kind=\"dmd\",window=10}",
            "{kind=\"dmd\",window=20}",
            "{kind=\"dmd\",window=40}",
            "{kind=\"dmd\",window=100}",
        ] {
            let (out, notes) = run(
                &[
                    d.clone(),
                    ("simulation.step", hm.to_string()),
                    ("simulation.duration", "9.96".into()),
                    ("hydraulics.oil.predictor", p.into()),
                ],
                hm,
                hm,
            );
            let e: Vec<[f64; 2]> = out
                .iter()
                .zip(&reference)
                .map(|(a, b)| [(a[0] - b[0]).abs(), (a[1] - b[1]).abs()])
                .collect();
            let m = e
                .iter()
                .fold([0f64; 2], |m, e| [m[0].max(e[0]), m[1].max(e[1])]);
            let nmse = e.iter().map(|e| e[0] * e[0]).sum::<f64>() / var;
            println!(
                "{hm} {p:30} rows {} max ds {:.3e} max dv {:.3e} nmse {:.4e} {:?}",
                out.len(),
                m[0],
                m[1],
                nmse,
                notes
            );
            if std::env::args().nth(2).is_some() {
                for (i, o) in out.iter().enumerate().take(12) {
                    println!("   {i} {o:?} ref {:?}", reference[i]);
                }
            }
        }
        println!(
            "range {:?}",
            reference
                .iter()
                .fold([1e9f64, -1e9], |m, r| [m[0].min(r[0]), m[1].max(r[0])])
        );
    }
}
