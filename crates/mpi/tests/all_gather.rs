//! An all-gather by `mpirun -n 2` and `-n 4`, by each of the three interfaces. The ranks are this very program.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use oldham_cosim::{Portions, Ranks, gather_texts, gather_words};
use oldham_mpi::{Interface, Launch, World};

fn installed(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/mpi");
    let folder = folder.join(name);
    assert!(
        folder.join("bin/mpiexec").exists(),
        "{} is missing: `make target/mpi/installed` installs it from PyPI",
        folder.display()
    );
    folder.canonicalize().expect("it is there")
}

fn ranks_of_this_program(mpi: &str, library: Option<&str>, ranks: usize) -> Output {
    let home = installed(mpi);
    let mut command = Command::new(home.join("bin/mpiexec"));
    if mpi == "openmpi" {
        command.args(["--allow-run-as-root", "--oversubscribe"]);
    }
    // MPICH spins for ever where ranks share cores.
    command.env("MPIR_CVAR_POLLS_BEFORE_YIELD", "10");
    if let Some(library) = library {
        command.env("OLDHAM_MPI", home.join("lib").join(library));
    }
    command.args(["-n", &ranks.to_string()]);
    command.arg(std::env::current_exe().expect("this program"));
    command.args([
        "--ignored",
        "--exact",
        "one_rank",
        "--nocapture",
        "--test-threads=1",
    ]);
    command.output().expect("the launcher starts")
}

#[test]
fn words_reach_all_ranks_by_each_interface() {
    let cases = [
        ("openmpi", None, Interface::OpenMpi),
        ("mpich", None, Interface::Mpich),
        ("mpich", Some("libmpi_abi.so.1"), Interface::Standard),
    ];
    for (mpi, library, interface) in cases {
        for ranks in [2, 4] {
            let output = ranks_of_this_program(mpi, library, ranks);
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(
                output.status.success(),
                "{mpi}, {library:?}, {ranks} ranks: {output:?}"
            );
            let told = format!("{ranks} ranks by {interface:?}: ok");
            assert_eq!(text.matches(&told).count(), ranks, "{text}");
        }
    }
}

/// What each rank does.
#[test]
#[ignore = "it is a rank of `words_reach_all_ranks_by_each_interface`"]
fn one_rank() {
    let world = World::join(&Launch::of_this_process()).expect("a library");
    let world = world.expect("a launcher");
    let (rank, size) = (world.rank(), world.size());
    // Bits that are no number must come through, too.
    let word = |rank: usize, place: usize| 0x7ff0_0000_0000_0001 + (rank * 100 + place) as u64;
    let portions = Portions::new((0..size).map(|rank| 3 + rank));
    let words = |rank: usize| (0..3 + rank).map(move |place| word(rank, place));
    let given: Vec<u64> = words(rank).collect();
    let mut all = vec![0; portions.total()];
    for _ in 0..100 {
        all.fill(0);
        world.all_gather(&given, &portions, &mut all);
        for other in 0..size {
            let expected: Vec<u64> = words(other).collect();
            assert_eq!(all[portions.range(other)], expected);
        }
    }
    let own = vec![rank as u64; 2 * rank];
    for (other, words) in gather_words(&world, &own).iter().enumerate() {
        assert_eq!(*words, vec![other as u64; 2 * other]);
    }
    let texts = gather_texts(&world, &"é".repeat(rank));
    let expected: Vec<String> = (0..size).map(|rank| "é".repeat(rank)).collect();
    assert_eq!(texts, expected);
    println!("\n{size} ranks by {:?}: ok", world.interface());
    world.leave();
}
