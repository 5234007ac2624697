//! Links and pictures of all pages lead somewhere, every page is in the table of contents, and the gallery shows every
//! example.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use super::collect;
use super::page::fence;

/// Pictures of the gallery are small: a page with a hundred of them has to open at once.
const LARGEST_PICTURE: u64 = 60_000;

fn root() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    collect(&root().join("docs/src"), &mut pages);
    pages.sort();
    pages
}

/// The lines outside of blocks of code.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_inside = false;
    text.lines().enumerate().filter(move |(_, line)| {
        let is_fence = fence(line).is_some();
        is_inside ^= is_fence;
        !is_inside && !is_fence
    })
}

/// Without what stands between backticks.
fn without_code(line: &str) -> String {
    let parts = line.split('`').enumerate();
    parts
        .map(|(place, part)| if place % 2 == 0 { part } else { "code" })
        .collect()
}

/// Where the links and pictures of a line lead.
fn targets(line: &str) -> Vec<String> {
    let line = without_code(line);
    let ends = line.match_indices("](").map(|(place, _)| place + 2);
    ends.filter_map(|start| {
        let length = line[start..].find(')')?;
        Some(line[start..start + length].to_owned())
    })
    .collect()
}

/// What a heading is called in links: as mdbook and GitHub do.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    text.chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || matches!(c, '-' | '_') => Some(c),
            _ => None,
        })
        .collect()
}

fn anchors(page: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(page).unwrap();
    let headings = prose(&text).filter(|(_, line)| line.starts_with('#'));
    headings.map(|(_, line)| anchor(line)).collect()
}

#[test]
fn links_and_pictures_lead_somewhere() {
    let mut known: HashMap<PathBuf, BTreeSet<String>> = HashMap::new();
    let (mut dead, mut count) = (Vec::new(), 0);
    for page in pages().into_iter().chain([root().join("README.md")]) {
        let text = fs::read_to_string(&page).unwrap();
        for (line, target) in
            prose(&text).flat_map(|(line, text)| targets(text).into_iter().map(move |t| (line, t)))
        {
            if target.starts_with("http") || target.starts_with("mailto:") {
                continue;
            }
            count += 1;
            let (file, part) = target.split_once('#').unwrap_or((&target, ""));
            let path = match file {
                "" => page.clone(),
                file => page.parent().unwrap().join(file),
            };
            let Ok(path) = fs::canonicalize(&path) else {
                dead.push(format!("{}:{}: {target}", page.display(), line + 1));
                continue;
            };
            let is_page = path.extension().is_some_and(|end| end == "md");
            if part.is_empty() || !is_page {
                continue;
            }
            let parts = known.entry(path).or_insert_with_key(|path| anchors(path));
            if !parts.contains(part) {
                dead.push(format!("{}:{}: {target}", page.display(), line + 1));
            }
        }
    }
    assert!(count > 300, "only {count} links were found");
    assert!(dead.is_empty(), "links that lead nowhere: {dead:#?}");
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let book = root().join("docs/src");
    let contents = fs::read_to_string(book.join("SUMMARY.md")).unwrap();
    let listed: Vec<String> = contents.lines().flat_map(targets).collect();
    let once: BTreeSet<&String> = listed.iter().collect();
    assert_eq!(once.len(), listed.len(), "a page is there twice");
    for page in pages() {
        let name = page.strip_prefix(&book).unwrap().display().to_string();
        assert!(
            name == "SUMMARY.md" || once.contains(&name),
            "{name} is not in the table of contents"
        );
    }
}

#[test]
fn pictures_are_all_used() {
    let book = root().join("docs/src");
    let texts: String = pages()
        .iter()
        .map(|page| fs::read_to_string(page).unwrap())
        .collect();
    for entry in fs::read_dir(book.join("images")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(
            path.is_dir() || texts.contains(&format!("images/{name})")),
            "{name} is on no page"
        );
    }
}

/// Every model among the examples is in the gallery once, with a page, and with a picture that is not large.
#[test]
fn the_gallery_shows_every_example() {
    let examples = root().join("examples");
    let mut wanted = BTreeSet::new();
    for folder in ["", "fmu", "process"] {
        for entry in fs::read_dir(examples.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|end| end == "toml") {
                let name = path.strip_prefix(&examples).unwrap().with_extension("");
                wanted.insert(name.display().to_string());
            }
        }
    }
    let list: toml::Table = fs::read_to_string(root().join("docs/gallery.toml"))
        .unwrap()
        .parse()
        .unwrap();
    let page = fs::read_to_string(root().join("docs/src/gallery.md")).unwrap();
    let subjects = list["subject"].as_array().unwrap();
    let shown: Vec<&str> = subjects
        .iter()
        .flat_map(|subject| subject["examples"].as_array().unwrap())
        .map(|example| example["file"].as_str().unwrap())
        .collect();
    let once: BTreeSet<String> = shown.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(once.len(), shown.len(), "an example is there twice");
    assert_eq!(once, wanted, "docs/gallery.toml and examples/ do not agree");
    let folder = root().join("docs/src/images/gallery");
    for name in &once {
        let picture = format!("{}.png", name.replace('/', "-"));
        assert!(
            page.contains(&format!("(images/gallery/{picture})")),
            "{name} is not on the page: run `make gallery`"
        );
        let size = fs::metadata(folder.join(&picture)).unwrap().len();
        assert!(
            size < LARGEST_PICTURE,
            "{picture} has {size} bytes: run `make gallery`"
        );
    }
    let pictures = fs::read_dir(&folder).unwrap().count();
    assert_eq!(pictures, once.len(), "pictures of no example");
    assert_eq!(page.matches("](images/gallery/").count(), once.len());
}
