//! Compensators.

use super::{check_all, mistake};

#[test]
fn compensators() {
    check_all([
        mistake(
            "[schedule]",
            "[compensator.link]\nforce = «\"left.fcc\"\n[schedule]",
            "`left` has no output `fcc`",
            "did you mean `fc`?",
        ),
        mistake(
            "push = { force = \"x2\" }",
            "push = { force = \"x2\" }\nhit = { force = \"x2\" }\n[compensator.link]\nforce = \"left.fc\"\ncorrect = «\"right.hit\"",
            "`right.hit` is not of the subsystem that sends `left.fc`",
            "the force side receives a motion",
        ),
        mistake(
            "[schedule]",
            "[compensator.link]\nforce = \"left.fc\"\ngains_from = «\"nowhere.toml\"\n[schedule]",
            "the gains cannot be read from `nowhere.toml`",
            "oldham compensate MODEL --out FILE",
        ),
        mistake(
            "[schedule]",
            "[compensator.link]\nforce = \"left.fc\"\ngains = { sent_force = { \"x1.v\" = 1 } }\ngains_from = «\"nowhere.toml\"\n[schedule]",
            "`gains` and `gains_from` say the same thing",
            "",
        ),
    ]);
}
