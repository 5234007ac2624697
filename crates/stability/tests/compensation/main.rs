//! Compensated co-simulations of the systems of Tamellin 2022.

mod chain;

use chain::Chain;
use oldham_cosim::{Compensation, SubsystemId};
use oldham_stability::compensate::{Architecture, Design, DesignError, Domain, Target, assign};
use oldham_stability::{CoupledModel, Extrapolator};

fn design(chain: &Chain, sampled: bool) -> Result<Design, DesignError> {
    let mut plain = chain.build(false, Vec::new())?;
    let rows = Architecture::new(&plain, &[chain.site()]);
    let model = CoupledModel::of(&mut plain)?;
    let targets = Target::exact(&model, &rows);
    let chosen = vec![true; rows.unknowns()];
    let build = |laws: Vec<(SubsystemId, Compensation)>| chain.build(false, laws);
    let domain = if sampled {
        Domain::Sampled
    } else {
        Domain::Continuous(&model, Extrapolator::hold(0, chain.step))
    };
    assign(&build, &rows, &chosen, &targets, &domain)
}

#[test]
fn explore() {
    for (name, mut chain) in [("four", Chain::four_mass())] {
        for n in [1, 2, 5, 10] {
            chain.micro_steps = n;
            for sampled in [true, false] {
                match design(&chain, sampled) {
                    Ok(d) => println!(
                        "{name} N={n} z={sampled}: {:?} trials {} trunc {:e} radius {:?}\n   {:?}\n   gains {:?}",
                        d.ranks,
                        d.trials,
                        d.truncation,
                        d.radius,
                        d.modes
                            .iter()
                            .map(|m| (m.with - m.target).norm())
                            .collect::<Vec<_>>(),
                        d.gains
                            .iter()
                            .map(|g| (g * 1e5).round() / 1e5)
                            .collect::<Vec<_>>()
                    ),
                    Err(e) => println!("{name} N={n} z={sampled}: {e}"),
                }
            }
        }
    }
}
