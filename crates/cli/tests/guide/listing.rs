//! Listings are written out on the pages, so that they can be read there, and agree with the files they are from.
//!
//! A block says where it is from behind its language: `from=code/arm.toml` for a whole file, `from=code/arm.toml:9:` from
//! a line on, `from=code/arm.toml:nodes` between two comments with `ANCHOR: nodes` and `ANCHOR_END: nodes`.

use std::env;
use std::fs;
use std::path::Path;

use super::collect;
use super::page::{block, fence, setting};

#[test]
fn listings_of_the_guide_are_those_of_the_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = Vec::new();
    collect(&root.join("docs/src"), &mut pages);
    let update = env::var_os("OLDHAM_UPDATE_GUIDE").is_some();
    let (mut complaints, mut count) = (Vec::new(), 0);
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut place = 0;
        let mut is_inside = false;
        while place < lines.len() {
            let info = fence(&lines[place]).map(str::to_owned);
            let from = info.as_deref().filter(|_| !is_inside);
            let Some(from) = from.and_then(|info| setting(info, "from")) else {
                is_inside ^= info.is_some();
                place += 1;
                continue;
            };
            count += 1;
            let wanted = listing(page.parent().unwrap(), from);
            let (printed, end) = block(&lines, place);
            if printed != wanted {
                complaints.push(format!("{}:{}: {from}", page.display(), place + 1));
                lines.splice(place + 1..end, wanted.iter().cloned());
            }
            place += wanted.len() + 2;
        }
        if update {
            fs::write(&page, lines.join("\n") + "\n").unwrap();
        }
    }
    assert!(count > 20, "only {count} listings were found");
    assert!(
        update || complaints.is_empty(),
        "other than the files: {complaints:#?}\nOLDHAM_UPDATE_GUIDE=1 brings the pages up to date"
    );
}

/// What a listing shows.
fn listing(folder: &Path, from: &str) -> Vec<String> {
    let (file, part) = from.split_once(':').unwrap_or((from, ""));
    let text = fs::read_to_string(folder.join(file))
        .unwrap_or_else(|error| panic!("{}: {error}", folder.join(file).display()));
    let lines = text.lines();
    let is_mark = |line: &&str| line.contains("ANCHOR: ") || line.contains("ANCHOR_END: ");
    let chosen: Vec<&str> = match part.trim_end_matches(':') {
        "" => lines.collect(),
        first if first.bytes().all(|byte| byte.is_ascii_digit()) => {
            lines.skip(first.parse::<usize>().unwrap() - 1).collect()
        }
        name => {
            let is = |line: &str, what: &str| {
                line.trim_end()
                    .strip_suffix(name)
                    .is_some_and(|rest| rest.ends_with(what))
            };
            let inner: Vec<&str> = lines
                .skip_while(|line| !is(line, "ANCHOR: "))
                .skip(1)
                .take_while(|line| !is(line, "ANCHOR_END: "))
                .collect();
            assert!(!inner.is_empty(), "nothing in `{file}` is called `{name}`");
            inner
        }
    };
    let chosen = chosen.into_iter().filter(|line| !is_mark(line));
    chosen.map(str::to_owned).collect()
}
