//! Makes the page's data from result files.

use embermark_model::result::ResultFile;

use super::data::{AdviceData, AnswerData, GroupData, Page, ResultData, TableData, VERSION};
use super::durability::DurabilityData;
use super::{PageOptions, Source, cells, plan};
use crate::evidence::{self, Record, TierStanding};
use crate::export::label;
use crate::note::{Note, Section, note};
use crate::scaling::{self, Scaling};
use crate::screen::device::{self, Device};
use crate::summary::{self, Comparison, Resource};
use crate::{
    PublishedDetail, advise, ageing, compare, cost, flash, format, grid, notes, published, text,
};

pub(super) fn page_data<'a>(sources: &[Source<'a>], options: PageOptions<'_>) -> Page<'a> {
    let labels = labels(sources);
    let unpublishable: Vec<&str> =
        sources.iter().flat_map(|source| source.result.unpublishable()).collect();
    let mut page = Page {
        page: VERSION,
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        face: notes::unpublishable_notice(&unpublishable),
        unlike: unlike(sources, &labels),
        resource_columns: Resource::SHOWN.to_vec(),
        load_columns: summary::LOADING.iter().map(|metric| metric.column).collect(),
        beside_columns: summary::run_figure_columns()
            .into_iter()
            .flat_map(|(_, all)| all)
            .collect(),
        explained_columns: summary::explained_columns()
            .into_iter()
            .flat_map(|(_, all)| all)
            .collect(),
        engines: options.engines,
        workloads: options.workloads,
        presets: &advise::presets::PRESETS,
        advice: advice(sources, &labels, options.durability),
        ..Page::default()
    };
    for source in sources {
        let facts = source.result.manifest.engines.iter();
        let own = facts.filter(|(_, facts)| facts.configuration.is_some());
        page.engines.extend(own.map(|(name, facts)| (name.clone(), facts.clone())));
    }
    let mut standings = Vec::new();
    for (source, label) in sources.iter().zip(labels) {
        let file = source.result;
        let (comparison, durability) = evidence::compare(file, options.order, options.durability);
        let scaling = scaling::analyze(&comparison, options.explanations);
        let place = page.results.len();
        let table = |table| TableData { result: place, table };
        let published = published::comparisons(&comparison, PublishedDetail::Measured);
        page.published.extend(published.into_iter().map(table));
        let answer = |(client, device): (Option<String>, Device)| AnswerData {
            result: place,
            client: client.map(|client| text::plain(&client)),
            take: device.take,
            grid: device.grid,
            engines: device.engines,
            legend: device.legend,
            orders: device.orders,
        };
        let of_all = device::for_all_languages(&comparison, &durability).into_iter();
        let of_each = device::per_language(&comparison, &durability).into_iter().flatten();
        let of_each = of_each.map(|(client, device)| (Some(client), device));
        page.answer.extend(of_all.map(|device| (None, device)).chain(of_each).map(answer));
        let weights = cost::score::Weights::default();
        let costs = cost::grids(&comparison, &weights, PublishedDetail::Measured);
        let ageing = ageing::grids(file, options.rows_per_day);
        page.costs.extend(ageing.into_iter().chain(costs).map(table));
        let cards = flash::grids(&comparison, options.rows_per_day);
        page.flash.extend(cards.into_iter().map(table));
        for group in &comparison.groups {
            cells::add_group(&mut page, group, &scaling, &durability);
        }
        page.results.push(result(source, label, &comparison, &scaling, &durability));
        page.scaling.push(scaling);
        standings.extend(durability);
    }
    let used = |of: &Resource| page.cells.iter().any(|cell| cell.usage.get(*of).is_some());
    let used = Resource::SHOWN.iter().copied().filter(used);
    page.resource_reading = summary::combinations(used);
    page.durability = DurabilityData::from_results(standings, options.durability);
    page
}

/// Lists the differences in conditions from the first result, each with the result's name.
fn unlike(sources: &[Source<'_>], labels: &[String]) -> Vec<String> {
    let mut all = Vec::new();
    for (source, label) in sources.iter().zip(labels).skip(1) {
        let reasons = compare::conditions(sources[0].result, source.result).incomparable;
        all.extend(reasons.iter().map(|reason| format!("{}, {label}: {reason}", labels[0])));
    }
    all
}

/// Returns one set of tables for all results if they can be pooled, or one for each. Empty if
/// nothing was measured.
fn advice(sources: &[Source<'_>], labels: &[String], record: &Record) -> Vec<AdviceData> {
    let files: Vec<&ResultFile> = sources.iter().map(|source| source.result).collect();
    // Each with each: two of them may differ in an engine that the first one lacks.
    let alike = files.iter().enumerate().all(|(at, one)| {
        files[at + 1..].iter().all(|other| compare::unpoolable(one, other).is_empty())
    });
    let of_each = labels.iter().zip(&files);
    let of_each = of_each.map(|(label, file)| (Some(label.clone()), vec![*file]));
    let tables = if alike { vec![(None, files.clone())] } else { of_each.collect() };
    let tables = tables.into_iter().map(|(of, files)| {
        let mut tables = advise::tables(&files, None, &[]);
        evidence::mark_advice(&mut tables, &files, record);
        AdviceData::new(of, tables)
    });
    tables.filter(AdviceData::ranks).collect()
}

/// Returns a name for each result: its file's, or its folder's if the file is called `result`. If
/// names are equal, the run's id follows.
fn labels(sources: &[Source<'_>]) -> Vec<String> {
    let names: Vec<String> = sources.iter().map(|of| text::plain(&label(of.path))).collect();
    let alone = |label: &String| names.iter().filter(|other| *other == label).count() == 1;
    let with_time = |(label, source): (&String, &Source<'_>)| match alone(label) {
        true => label.clone(),
        false => format!("{label} {}", text::plain(&source.result.manifest.run_id)),
    };
    names.iter().zip(sources).map(with_time).collect()
}

fn result(
    source: &Source<'_>,
    label: String,
    comparison: &Comparison<'_>,
    scaling: &Scaling<'_>,
    durability: &[TierStanding],
) -> ResultData {
    let manifest = &source.result.manifest;
    let path = Some(source.path);
    let sections = notes::sections(comparison, scaling, durability, path).into_iter();
    // Warnings have their own field, and durability has a section of the page.
    let is_shown = |section: &Section| !matches!(&*section.title, "Warnings" | "Durability");
    ResultData {
        run_id: text::plain(&manifest.run_id),
        label,
        started: text::plain(&manifest.started),
        machine: notes::machine(&manifest.machine),
        warnings: manifest.warnings.iter().map(|warning| text::plain(warning)).collect(),
        sections: sections.filter(is_shown).collect(),
        manifest: plan_and_machine(source.result),
        unpublishable: source.result.unpublishable().into_iter().map(text::plain).collect(),
        groups: (comparison.groups.iter())
            .map(|group| GroupData {
                workload: text::plain(group.workload),
                scale: group.extent.scale.to_string(),
                limit: group.extent.memory_limit.map(|limit| limit.to_string()),
                storage: group.extent.storage.map(|storage| storage.to_string()),
                tier: group.durability,
                about: grid::subtitle(group),
            })
            .collect(),
    }
}

/// Returns the options of the plan, the data sets, and the facts about the machine that the notes
/// leave out.
pub(crate) fn plan_and_machine(file: &ResultFile) -> Vec<Note> {
    let manifest = &file.manifest;
    let datasets = manifest.datasets.iter().map(|(workload, dataset)| {
        let digest = dataset.sha256.as_ref().map(|digest| format!(", sha256 {digest}"));
        let rows = format::counted(dataset.rows, "row");
        let says = format!("{}, {rows}{}", dataset.name, digest.unwrap_or_default());
        note(format!("data of {}", text::plain(workload)), text::plain(&says))
    });
    let machine = &manifest.machine;
    let further = [
        ("mount options", machine.mount_options.clone()),
        ("CPU frequency governor", machine.governor.clone()),
        ("load at the start", machine.load.map(|load| format!("{load:.2}"))),
        ("run", Some(manifest.run_id.clone())),
        ("began", Some(manifest.started.clone())),
        ("ended", manifest.finished.clone()),
    ];
    let line = |(about, says): (&str, Option<String>)| Some(note(about, text::plain(&says?)));
    let further = further.into_iter().filter_map(line);
    plan::options(&file.plan).into_iter().chain(datasets).chain(further).collect()
}
