//! `oldham man`: manual pages, made of the grammar that `--help` shows.

use std::path::Path;

use clap::CommandFactory;
use serde_json::json;

use crate::args::{Arguments, Man};
use crate::failure::Failure;
use crate::load::shown;
use crate::say;

pub fn execute(arguments: &Man) -> Result<(), Failure> {
    // `oldham help` is not a page of its own: it shows these.
    let grammar = Arguments::command().disable_help_subcommand(true);
    let Some(folder) = &arguments.out else {
        let mut page = Vec::new();
        let page_of = clap_mangen::Man::new(grammar);
        page_of
            .render(&mut page)
            .expect("a page in memory can be written");
        let page = String::from_utf8_lossy(&page);
        if arguments.json {
            say!("{:#}", json!({"command": "man", "page": page}));
        } else {
            crate::output::write(format_args!("{page}"));
        }
        return Ok(());
    };
    let failed = |error: std::io::Error| Failure::File {
        path: folder.clone(),
        reason: error.to_string(),
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(grammar, folder).map_err(failed)?;
    let pages = pages(folder).map_err(failed)?;
    if arguments.json {
        let told = json!({"command": "man", "folder": shown(folder), "pages": pages});
        say!("{told:#}");
    } else {
        say!("{} pages in {}", pages.len(), folder.display());
    }
    Ok(())
}

fn pages(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.starts_with("oldham") && name.ends_with(".1") {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}
