//! From result files to the page's data.

use std::path::Path;

use embermark_model::result::ResultFile;

use super::data::{
    AdviceData, CostData, GroupData, NoteData, Page, PublishedData, PublishedRow, ResultData,
    SectionData, VERSION,
};
use super::{PageOptions, Source, cells};
use crate::notes::{self, Note};
use crate::summary::{self, Comparison, Group};
use crate::{Beside, advise, compare, cost, grid, published, text};

pub(super) fn gather(sources: &[Source<'_>], options: PageOptions<'_>) -> Page {
    let labels = labels(sources);
    let unpublishable: Vec<&str> =
        sources.iter().flat_map(|source| source.result.unpublishable()).collect();
    let mut page = Page {
        page: VERSION,
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        face: notes::face_of(&unpublishable),
        results: Vec::new(),
        engines: options.engines,
        workloads: options.workloads,
        cells: Vec::new(),
        entries: Vec::new(),
        published: Vec::new(),
        costs: Vec::new(),
        advice: advice(sources, &labels),
    };
    for (source, label) in sources.iter().zip(labels) {
        let comparison = summary::compare(source.result, options.order);
        page.published.extend(published_of(page.results.len(), source.result, &comparison));
        page.costs.extend(costs_of(page.results.len(), source.result));
        for group in &comparison.groups {
            cells::add(&mut page, source.result, group);
        }
        page.results.push(result(source, label, &comparison));
    }
    page
}

fn costs_of(result: usize, file: &ResultFile) -> impl Iterator<Item = CostData> {
    let tables = cost::grids(file, &cost::score::Weights::default(), Beside::Measured);
    tables.into_iter().map(move |table| CostData {
        result,
        title: table.grid.title,
        header: table.grid.header,
        rows: (table.grid.rows.into_iter())
            .map(|(label, texts)| {
                let texts = texts.into_iter().map(|text| text.value + text.best);
                std::iter::once(label).chain(texts).collect()
            })
            .collect(),
        notes: table.notes.into_iter().map(note).collect(),
    })
}

/// One table of all results that were measured alike, else one of each; none where nothing was
/// measured.
fn advice(sources: &[Source<'_>], labels: &[String]) -> Vec<AdviceData> {
    let files: Vec<&ResultFile> = sources.iter().map(|source| source.result).collect();
    let alike = |file: &&ResultFile| {
        files.first().is_some_and(|first| compare::conditions(first, file).incomparable.is_empty())
    };
    let tables = match files.iter().skip(1).all(alike) {
        true => vec![AdviceData { of: None, table: advise::table(&files) }],
        false => labels
            .iter()
            .zip(&files)
            .map(|(label, file)| AdviceData {
                of: Some(label.clone()),
                table: advise::table(&[file]),
            })
            .collect(),
    };
    let measured = |data: &AdviceData| data.table.engines.iter().any(|one| !one.ratios.is_empty());
    tables.into_iter().filter(measured).collect()
}

/// A name for each result: its file's, or its folder's where the file is called `result`, and the
/// time of the run where that is not enough.
fn labels(sources: &[Source<'_>]) -> Vec<String> {
    let name = |path: &Path| {
        let stem = path.file_stem().map(|name| name.to_string_lossy().into_owned());
        let folder = || {
            let parent = std::path::absolute(path).ok()?;
            Some(parent.parent()?.file_name()?.to_string_lossy().into_owned())
        };
        stem.filter(|stem| stem != "result").or_else(folder).unwrap_or_else(|| "result".into())
    };
    let names: Vec<String> = sources.iter().map(|source| text::plain(&name(source.path))).collect();
    let alone = |label: &String| names.iter().filter(|other| *other == label).count() == 1;
    let with_time = |(label, source): (&String, &Source<'_>)| match alone(label) {
        true => label.clone(),
        false => format!("{label} {}", text::plain(&source.result.manifest.run_id)),
    };
    names.iter().zip(sources).map(with_time).collect()
}

fn result(source: &Source<'_>, label: String, comparison: &Comparison<'_>) -> ResultData {
    let manifest = &source.result.manifest;
    let sections = notes::sections(source.result, comparison, Some(source.path));
    ResultData {
        run_id: text::plain(&manifest.run_id),
        label,
        started: text::plain(&manifest.started),
        machine: notes::machine(&manifest.machine),
        warnings: manifest.warnings.iter().map(|warning| text::plain(warning)).collect(),
        sections: sections
            .into_iter()
            .filter(|section| section.title != "Warnings")
            .map(|section| SectionData {
                title: section.title.to_owned(),
                notes: section.notes.into_iter().map(note).collect(),
            })
            .collect(),
        manifest: asked(source.result),
        unpublishable: source.result.unpublishable().into_iter().map(text::plain).collect(),
        groups: comparison.groups.iter().map(|group| about(group, source.result)).collect(),
    }
}

fn about(group: &Group<'_>, file: &ResultFile) -> GroupData {
    GroupData {
        workload: text::plain(group.workload),
        scale: group.scale.to_string(),
        tier: group.durability,
        variant: text::plain(group.variant),
        about: grid::subtitle(group, &file.plan),
    }
}

fn note(note: Note) -> NoteData {
    NoteData { about: note.about, says: note.says }
}

/// The plan, the data sets and what of the machine the notes leave out.
fn asked(file: &ResultFile) -> Vec<NoteData> {
    let (plan, manifest) = (&file.plan, &file.manifest);
    let milliseconds = |ms: u64| crate::format::duration(ms as f64 * 1e6);
    let mut rows = vec![
        ("workloads", plan.workloads.join(", ")),
        ("engines", plan.engines.join(", ")),
        ("tiers", plan.durabilities.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
        (
            "runs in a trial",
            format!("{}, of which the first {} to warm up", plan.runs, plan.warmup_runs),
        ),
        ("trials", plan.trials.to_string()),
        ("longest run time", plan.max_run_time_ms.map_or_else(|| "none".into(), milliseconds)),
        (
            "phases by the clock last",
            plan.window_ms.map_or_else(|| "as long as each workload has it".into(), milliseconds),
        ),
        ("cache memory", crate::format::bytes(plan.memory_bytes as f64)),
        ("seed", plan.seed.to_string()),
    ];
    if !plan.accepted_licences.is_empty() {
        rows.push(("licences accepted", plan.accepted_licences.join(", ")));
    }
    let mut named: Vec<(String, String)> =
        rows.into_iter().map(|(about, says)| (about.to_owned(), says)).collect();
    for (workload, dataset) in &manifest.datasets {
        let digest = dataset.sha256.as_ref().map(|digest| format!(", sha256 {digest}"));
        let rows = crate::format::counted(dataset.rows, "row");
        let says = format!("{}, {rows}{}", dataset.name, digest.unwrap_or_default());
        named.push((format!("data of {workload}"), says));
    }
    let machine = &manifest.machine;
    let further = [
        ("mount options", machine.mount_options.clone()),
        ("CPU frequency governor", machine.governor.clone()),
        ("load at the start", machine.load.map(|load| format!("{load:.2}"))),
        ("run", Some(manifest.run_id.clone())),
        ("began", Some(manifest.started.clone())),
        ("ended", manifest.finished.clone()),
    ];
    named.extend(further.into_iter().filter_map(|(about, says)| Some((about.to_owned(), says?))));
    let row = |(about, says): (String, String)| NoteData {
        about: text::plain(&about),
        says: text::plain(&says),
    };
    named.into_iter().map(row).collect()
}

fn published_of(
    place: usize,
    file: &ResultFile,
    comparison: &Comparison<'_>,
) -> Vec<PublishedData> {
    let laid = published::beside(file, comparison, Beside::Measured);
    laid.into_iter()
        .map(|laid| PublishedData {
            result: place,
            title: laid.grid.title,
            engines: laid.grid.header,
            rows: laid
                .grid
                .rows
                .into_iter()
                .map(|(label, texts)| PublishedRow {
                    here: label.starts_with(' '),
                    label: label.trim().to_owned(),
                    figures: texts
                        .into_iter()
                        .map(|text| (text.value, text.second, text.ratio))
                        .collect(),
                })
                .collect(),
            notes: laid.notes.into_iter().map(note).collect(),
        })
        .collect()
}
