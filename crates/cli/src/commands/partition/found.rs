//! What a search for cuts has found, in words.

use oldham_study::{CostTable, CutSearch, CutStability, SearchedCut};

use crate::fold::fold;
use crate::say;
use crate::table::{Table, number};

/// Names that a cell lists at most.
const LISTED: usize = 3;

/// The costs of a mechanism, and how well they meet what was timed.
pub fn print_costs(costs: &CostTable) {
    let mut table = Table::new([
        "costs",
        "nodes",
        "constraints",
        "count",
        "each / us",
        "share",
    ]);
    let share = |cost: f64| format!("{:.0} %", 100.0 * cost / costs.whole);
    for kind in &costs.kinds {
        table.row([
            kind.kind.clone(),
            kind.nodes.to_string(),
            kind.constraints.to_string(),
            kind.count.to_string(),
            number(kind.cost),
            share(kind.cost * kind.count as f64),
        ]);
    }
    let elements: f64 = costs.kinds.iter().map(|it| it.cost * it.count as f64).sum();
    table.row([
        "node, with its share in the solver".into(),
        "1".into(),
        String::new(),
        String::new(),
        number(costs.node),
        share(costs.whole - elements),
    ]);
    say!("\n{table}");
    let text = format!(
        "a step of the whole takes {} us; in a part elements and nodes cost {} times as much, an interface copy {} us, \
         an interface node in the coupling {} us, waiting and exchange {} us",
        number(costs.whole),
        number(costs.part),
        number(costs.copy),
        number(costs.interface),
        number(costs.exchange),
    );
    say!("{}", fold(&format!("  {text}"), 2));
    let Some(fit) = &costs.fit else {
        return;
    };
    let text = match fit.cuts {
        0 => "no cut could be timed: what copies, interfaces and the exchange cost is an estimate"
            .to_owned(),
        cuts => format!(
            "fitted to {cuts} cuts with {} parts of {} steps: parts within {:.0} %, steps within {:.0} %",
            fit.parts,
            fit.steps,
            100.0 * fit.worst_part,
            100.0 * fit.worst_step,
        ),
    };
    say!("{}", fold(&format!("  {text}"), 2));
}

/// The best cuts, what to expect of them, and what was tried.
pub fn print_search(search: &CutSearch) {
    let source = match search.costs.measured {
        true => "by measured costs",
        false => "by costs estimated by matrix entries (--measure times them)",
    };
    say!("  {} in {} parts, {source}", search.mechanism, search.parts);
    let mut table = Table::new([
        "cut at",
        "largest part",
        "expected speed-up",
        "stability",
        "us per step",
    ]);
    let unstable = search.unstable.iter();
    for cut in search.cuts.iter().chain(unstable) {
        table.row([
            listed(&cut.cut.at),
            percent(cut.expected.largest, search),
            format!("{:.2}", cut.expected.speed_up),
            word(&cut.stability).into(),
            cut.measured.map_or_else(String::new, number),
        ]);
    }
    table.row([
        "nowhere".into(),
        percent(search.costs.whole, search),
        "1".into(),
        String::new(),
        number(search.whole),
    ]);
    say!("\n{table}");
    let expected = &search.cuts[0].expected;
    let why = format!(
        "expected of the best: {:.2} times faster with a core for each part{}; of a step of the whole the largest part takes {}, the \
         coupling {}, waiting and exchange {}",
        expected.speed_up,
        here(search, &search.cuts[0]),
        percent(expected.largest, search),
        percent(expected.coupling, search),
        percent(expected.exchange, search),
    );
    say!("{}", fold(&format!("  {why}"), 2));
    let tried = &search.searched;
    let analysed = search.cuts.len() + search.unstable.len();
    let run = search
        .cuts
        .iter()
        .filter(|cut| cut.measured.is_some())
        .count();
    let text = format!(
        "tried: {} starts and {} single nodes; of the best cuts {} went through the rules, which admit {}; {analysed} were analysed, \
         {} of them are unstable; {run} ran on {} threads",
        tried.starts,
        tried.single_nodes,
        tried.judged,
        tried.admitted,
        search.unstable.len(),
        search.threads,
    );
    say!("{}", fold(&format!("  {text}"), 2));
    for (reason, count) in &search.refused {
        say!("{}", fold(&format!("  refused {count} times: {reason}"), 2));
    }
    for cut in &search.cuts {
        if let CutStability::NotDecided(reason) = &cut.stability {
            let at = listed(&cut.cut.at);
            say!(
                "{}",
                fold(&format!("  {at}: not decided, because {reason}"), 2)
            );
        }
    }
}

/// Where there are fewer cores than parts.
fn here(search: &CutSearch, cut: &SearchedCut) -> String {
    match search.threads < search.parts {
        false => String::new(),
        true => format!(
            ", on the {} cores of this machine {:.2} times",
            search.threads,
            search.costs.whole / cut.expected.step_here
        ),
    }
}

fn percent(time: f64, search: &CutSearch) -> String {
    format!("{:.1} %", 100.0 * time / search.costs.whole)
}

fn word(stability: &CutStability) -> &'static str {
    match stability {
        CutStability::Stable => "stable",
        CutStability::Unstable => "unstable",
        CutStability::NotDecided(_) => "not decided",
        CutStability::NotAnalysed => "not analysed",
    }
}

fn listed(names: &[String]) -> String {
    match names.len() {
        0..=LISTED => names.join(", "),
        more => format!("{} and {} more", names[..LISTED].join(", "), more - LISTED),
    }
}
