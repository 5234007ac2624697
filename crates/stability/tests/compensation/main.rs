//! Compensated co-simulations of the systems of Tamellin 2022.

mod chain;

use chain::{Chain, Random};
use oldham_cosim::{Compensation, SubsystemId};
use oldham_stability::compensate::{
    Architecture, CouplingLaw, Design, DesignError, Domain, Target, assign, confirm,
};
use oldham_stability::{CoupledModel, Extrapolator};

fn design(chain: &Chain, sampled: bool) -> Result<Design, DesignError> {
    let mut plain = chain.build(Vec::new())?;
    let rows = Architecture::new(&plain, &[chain.site()]).expect("a chain takes corrections");
    let model = CoupledModel::of(&mut plain)?;
    let targets = Target::exact(&model, &rows);
    let chosen = vec![true; rows.unknowns()];
    let build = |laws: Vec<(SubsystemId, Compensation)>| chain.build(laws);
    let domain = if sampled {
        Domain::Sampled
    } else {
        Domain::Continuous(&model, Extrapolator::hold(0, chain.step))
    };
    assign(&build, &rows, &chosen, &targets, &domain)
}

fn structural(chain: &Chain) -> Result<[f64; 2], DesignError> {
    let build = |laws: Vec<(SubsystemId, Compensation)>| chain.build(laws);
    let law = CouplingLaw::of(&build, &chain.site())?;
    let micro = chain.step / chain.micro_steps as f64;
    confirm(&build, &[law], &[[micro; 2]])
}

#[test]
fn explore() {
    for masses in [0, 2, 3, 4, 5, 6, 7, 8] {
        for n in [1, 2, 5, 10] {
            let count = if masses == 0 { 500 } else { 100 };
            let mut random = Random(7);
            let (mut unstable, mut z, mut s, mut st, mut err) = (0, 0, 0, 0, 0);
            for _ in 0..count {
                let mut chain = if masses == 0 {
                    Chain::random_pair(&mut random)
                } else {
                    Chain::random(masses, &mut random)
                };
                chain.micro_steps = n;
                let before = oldham_stability::radius(&mut chain.build(Vec::new()).unwrap());
                unstable += u32::from(before > 1.0 + 1e-8);
                match design(&chain, true) {
                    Ok(_) => {}
                    Err(DesignError::Unstable { .. }) => z += 1,
                    Err(e) => {
                        err += 1;
                        if err < 3 {
                            println!("{e}")
                        }
                    }
                }
                if masses == 0 {
                    if design(&chain, false).is_err() {
                        s += 1
                    }
                }
                if let Err(e) = structural(&chain) {
                    st += 1;
                    if st < 3 {
                        println!("{e}")
                    }
                }
            }
            println!(
                "masses {masses} N {n}: unstable {unstable}/{count}, z fails {z} (+{err} other), s fails {s}, structural fails {st}"
            );
        }
    }
}
