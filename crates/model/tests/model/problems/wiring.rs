//! Connections and drives.

use super::{check_all, mistake};

#[test]
fn connections_and_drives() {
    check_all([
        mistake(
            "from = \"right.x2\"",
            "from = «\"rigth.x2\"",
            "there is no subsystem `rigth`",
            "did you mean `right`?",
        ),
        mistake(
            "from = \"right.x2\"",
            "from = «\"right.x22\"",
            "`right` has no output `x22`",
            "did you mean `x2`?",
        ),
        mistake(
            "from = \"right.x2\"",
            "from = «\"right.push\"",
            "`right.push` is an input, an output is needed here",
            "",
        ),
        mistake(
            "from = \"right.x2\"",
            "from = «\"right\"",
            "`right` is no port",
            "",
        ),
        mistake(
            "from = \"left.fc\"\nto = \"right.push\"",
            "from = \"left.x1\"\nto = «\"right.push\"",
            "`left.x1` sends motion along a line (m, m/s, m/s2), but `right.push` takes scalar in N",
            "",
        ),
        mistake(
            "from = \"left.fc\"\nto = \"right.push\"",
            "from = \"right.x2\"\nto = «\"right.push\"",
            "of one subsystem",
            "",
        ),
        mistake(
            "[schedule]",
            "[excitation]\n«\"right.push\" = 0\n[schedule]",
            "the input `right.push` is fed twice",
            "`left.fc` feeds it already",
        ),
        mistake(
            "[schedule]",
            "[[connection]]\nfrom = \"left.fc\"\nto = «\"right.push\"\n[schedule]",
            "the input `right.push` is fed twice",
            "`left.fc` feeds it already",
        ),
        mistake(
            "push = { force = \"x2\" }",
            "push = { force = \"x2\" }\n«hit = { force = \"x2\" }",
            "nothing feeds the input `right.hit`",
            "[excitation]",
        ),
        mistake(
            "push = { force = \"x2\" }",
            "push = { force = \"x2\" }\nhit = { force = \"x2\" }\n[excitation]\n\"right.hit\" = «{ x = 0, v = 0, a = 0 }",
            "single number",
            "",
        ),
        mistake(
            "push = { force = \"x2\" }",
            "push = { force = \"x2\" }\nhand = { motion = \"hand\" }\n[excitation]\n\"right.hand\" = «0",
            "this input is a motion: give `x`, or `x`, `v` and `a`",
            "",
        ),
    ]);
}
