//! The columns of CSV and Parquet.

use embermark_model::Status;
use embermark_model::result::{
    DeviceIo, Energy, Execution, Explained, Latency, OsCost, ResultFile, Run,
};

use super::column::{
    Column, Figure, flag, maintenance, real, run, trial, unsampled, used, whole, word,
};
use super::flash;
use super::lines::{Line, Statistic};
use super::observed::{LATENCY, observed};
use crate::evidence::{self, Record, TierStanding};
use crate::summary::{COUNTS, LOADING, Metric, RUN_TABLES, RunValue, Source, memory_floor};
use crate::text::plain;

/// Returns every column for a result of the device with this name. No two have the same name:
/// `Header` would keep only the first.
pub(super) fn all_columns(device: &str, file: &ResultFile, durability: &Record) -> Vec<Column> {
    let mut columns = identity();
    columns.extend(statistics());
    columns.extend(shared());
    columns.extend(measured());
    columns.extend(observed(file));
    columns.extend(explained_columns());
    columns.extend(flash::columns(file));
    columns.push(durability_shown(evidence::tier_standings(file, durability)));
    columns.extend(energy_columns());
    let device = plain(device);
    columns.push(word("device", move |_| Some(device.clone())));
    columns.push(word("board", |line| Some(plain(line.file.manifest.machine.board.as_deref()?))));
    // The CPU time of a maintenance is a metric, and one of the resources above.
    let is_new = |column: &Column| columns.iter().all(|known| known.name != column.name);
    let figures: Vec<Column> = run_figures().into_iter().filter(is_new).collect();
    columns.extend(figures);
    columns
}

/// What a line is about, how that ended, and the main figures of its run.
fn identity() -> Vec<Column> {
    let mut columns = vec![
        word("run_id", |line| Some(plain(&line.file.manifest.run_id))),
        word("workload", |line| Some(plain(&line.cell.id.workload))),
        word("scale", |line| Some(line.cell.id.scale.to_string())),
        word("durability", |line| Some(line.cell.id.durability.to_string())),
        word("variant", |line| Some(plain(&line.cell.id.variant))),
        word("engine", |line| Some(plain(&line.cell.id.engine))),
        flag("reference", |line| Some(line.cell.reference)),
        flag("by_url", |line| Some(line.file.plan.urls.contains_key(&line.cell.id.engine))),
        flag("publishable", |line| Some(!line.cell.unpublishable)),
        word("effective_durability", |line| Some(line.cell.effective_durability?.to_string())),
        word("cell_status", |line| Some(slug(line.cell.status))),
        whole("trial", |line| Some(line.trial?.index.into())),
        flag("counting", |line| Some(line.cell.is_counting(line.trial?))),
        whole("order", |line| Some(line.trial?.order.into())),
        word("version", |line| Some(plain(line.trial?.version.as_deref()?))),
        word("trial_status", |line| Some(slug(line.trial?.status))),
        word("phase", |line| Some(plain(&line.phase?.phase))),
        word("how", |line| match line.phase?.execution {
            Execution::Native => Some("native".to_owned()),
            Execution::ClientSide => Some("client-side".to_owned()),
        }),
        word("phase_status", |line| Some(slug(line.phase?.status))),
        whole("phase_ops", |line| Some(line.phase?.ops)),
        word("reason", |line| Some(line.reason())),
        whole("run", |line| Some(line.run?.0 as u64)),
        flag("discarded", |line| Some(line.run?.1.discarded)),
        flag("capped", |line| Some(line.run?.1.capped)),
        run("elapsed_ns", |run| Some(run.elapsed_ns)),
        run("ops", |run| Some(run.ops)),
    ];
    columns.extend(used("", |run| Some(&run.engine)));
    columns.extend(unsampled(used("client_", |run| run.client.as_ref())));
    columns
}

/// The statistics of the line's phase, and whether its trial is an outlier.
fn statistics() -> Vec<Column> {
    let of = |name: &str, get: fn(&Statistic<'_>) -> Option<f64>| {
        real(name, move |line| get(line.statistic?))
    };
    vec![
        of("per_op_median_ns", |of| Some(of.median_ns)),
        of("per_op_mean_ns", |of| Some(of.mean_ns)),
        of("per_op_low_ns", |of| Some(of.interval_ns?[0])),
        of("per_op_high_ns", |of| Some(of.interval_ns?[1])),
        flag("outlier", |line| Some(line.statistic?.outliers.contains(&line.trial?.index))),
        of("ratio", |of| of.ratio),
        of("ratio_low", |of| Some(of.ratio_interval?[0])),
        of("ratio_high", |of| Some(of.ratio_interval?[1])),
        flag("not_significant", |line| {
            line.statistic.filter(|of| of.ratio.is_some()).map(|of| of.not_significant)
        }),
        word("shortfall", |line| line.statistic?.shortfall.clone()),
    ]
}

/// The evidence for the durability of the line's engine, as text.
fn durability_shown(all: Vec<TierStanding>) -> Column {
    word("durability_shown", move |line| {
        evidence::of_tier(&all, &line.cell.id.engine, line.cell.id.durability)
    })
}

/// Clients and schedules of a run. Latencies cover the counted runs of its phase.
fn shared() -> Vec<Column> {
    let rates = |line: &Line<'_>, which: fn(f64, f64) -> f64| {
        let clients = line.run?.1.clients.iter();
        clients.filter_map(|client| client.ops_per_second()).reduce(which)
    };
    let service = |name: &str, get: Figure<Latency>| {
        whole(name, move |line| line.run.and(get(line.phase?.latency.as_ref()?)))
    };
    let response = |name: &str, get: Figure<Latency>| {
        whole(name, move |line| line.run.and(get(line.phase?.response.as_ref()?)))
    };
    vec![
        run("clients", |run| Some(run.clients.len().max(1) as u64)),
        real("ops_per_second", |line| line.run?.1.ops_per_second()),
        real("slowest_client_per_second", move |line| rates(line, f64::min)),
        real("fastest_client_per_second", move |line| rates(line, f64::max)),
        real("target_rate", |line| Some(line.run?.1.schedule?.target_rate)),
        real("achieved_rate", |line| Some(line.run?.1.schedule?.achieved_rate)),
        flag("kept_up", |line| Some(line.run?.1.schedule?.kept_up())),
        run("late_p99_ns", |run| run.schedule?.late_p99_ns),
        run("client_machines", |run| {
            Some(run.client_machines.as_ref().map_or(1, |all| all.machines.len() as u64))
        }),
        run("common_ns", |run| Some(run.client_machines.as_ref()?.common_ns)),
        run("common_ops", |run| Some(run.client_machines.as_ref()?.common_ops)),
        run("start_spread_ns", |run| Some(run.client_machines.as_ref()?.start_spread_ns)),
        service("service_p50_ns", |latency| Some(latency.p50)),
        service("service_p99_ns", |latency| latency.p99),
        service("service_p99_9_ns", |latency| latency.p99_9),
        real("response_mean_ns", |line| Some(line.run?.1.schedule?.response_ns)),
        response("response_p50_ns", |latency| Some(latency.p50)),
        response("response_p99_ns", |latency| latency.p99),
        response("response_p99_9_ns", |latency| latency.p99_9),
    ]
}

/// Returns what reached the device, from the field of current files or of older ones.
fn device(run: &Run) -> Option<DeviceIo> {
    run.device_io.or(run.loaded.and_then(|loaded| loaded.device_io))
}

/// Everything else that was measured of the trial, the phase and the run.
fn measured() -> Vec<Column> {
    let of_phase = LATENCY.map(|(name, get)| {
        whole(&format!("latency_{name}"), move |line| get(line.phase?.latency.as_ref()?))
    });
    let stalled = real("latency_stalled", |line| line.phase?.latency.as_ref()?.stalled);
    let of_trial = [
        trial("open_ns", |trial| trial.open_ns),
        trial("wall_ns", |trial| Some(trial.wall_ns)),
        trial("baseline_bytes", |trial| trial.baseline_bytes),
        trial("disk_allocated_bytes", |trial| Some(trial.disk?.allocated_bytes)),
        trial("disk_apparent_bytes", |trial| Some(trial.disk?.apparent_bytes)),
        trial("device_read_bytes", |trial| Some(trial.device_io?.read_bytes)),
        trial("device_written_bytes", |trial| Some(trial.device_io?.written_bytes)),
        trial("device_flushes", |trial| Some(trial.device_io?.flushes)),
        trial("background_cpu_ns", |trial| Some(trial.background_cpu?.cpu_ns)),
        trial("background_stolen_ns", |trial| Some(trial.background_cpu?.stolen_ns)),
        trial("total_cpu_ns", |trial| Some(trial.background_cpu?.total_cpu_ns)),
    ];
    let of_run = [
        run("run_device_read_bytes", |run| Some(device(run)?.read_bytes)),
        run("run_device_written_bytes", |run| Some(device(run)?.written_bytes)),
        run("run_device_flushes", |run| Some(device(run)?.flushes)),
        maintenance("maintenance_device_read_bytes", |of| Some(of.device_io?.read_bytes)),
        maintenance("maintenance_device_flushes", |of| Some(of.device_io?.flushes)),
        maintenance("before_maintenance_apparent_bytes", |of| Some(of.disk_before?.apparent_bytes)),
        maintenance("after_maintenance_apparent_bytes", |of| Some(of.disk_after?.apparent_bytes)),
    ];
    let conditions = [
        whole("memory_limit_bytes", |line| Some(line.cell.id.memory_limit?.0)),
        word("storage", |line| Some(plain(line.cell.id.storage?.as_str()))),
        trial("limited_peak_bytes", |trial| trial.limited_peak_bytes),
        trial("network_round_trip_ns", |trial| Some(trial.network?.round_trip_ns)),
        trial("network_up_packets", |trial| Some(trial.network?.up.packets)),
        trial("network_up_bytes", |trial| Some(trial.network?.up.bytes)),
        trial("network_down_packets", |trial| Some(trial.network?.down.packets)),
        trial("network_down_bytes", |trial| Some(trial.network?.down.bytes)),
        trial("network_lost_packets", |trial| Some(trial.network?.lost())),
        trial("network_dropped_packets", |trial| Some(trial.network?.dropped())),
        flag("cold", |line| Some(line.file.plan.cold)),
        word("configuration", |line| {
            Some(plain(&line.file.plan.configurations.get(&line.cell.id.engine)?.to_string()))
        }),
        word("client", |line| {
            Some(plain(&line.file.plan.client_of(&line.cell.id.engine)?.to_string()))
        }),
        word("own_durability", |line| Some(plain(line.cell.own_durability.as_deref()?))),
        real("memory_floor_bytes", |of| memory_floor(of.file, of.cell, &[&*of.phase?.phase])),
        flag("lost", |line| Some(line.cell.is_lost(line.trial?))),
    ];
    let maintained = unsampled(used("maintenance_", |run| Some(&run.maintenance()?.engine)));
    let of_phase = of_phase.into_iter().chain([stalled]);
    let of_run = of_run.into_iter().chain(maintained);
    of_trial.into_iter().chain(of_phase).chain(of_run).chain(conditions).collect()
}

/// Returns the columns of the requests of a run to the operating system: those of the engine and,
/// with the prefix `client_`, of the client. They are totals, to be divided by `ops`, or by
/// `traced_ops` for system calls.
fn explained_columns() -> Vec<Column> {
    let mut columns = vec![
        flag("explaining", |line| Some(line.cell.is_explaining(line.trial?))),
        whole("traced_ops", |line| line.run?.1.explained.as_ref()?.traced_ops),
    ];
    type Side = fn(&Explained) -> Option<&OsCost>;
    let sides: [(&str, Side); 2] =
        [("", |all| Some(&all.engine)), ("client_", |all| all.client.as_ref())];
    for (prefix, side) in sides {
        columns.extend(COUNTS.iter().filter_map(|(column, of)| {
            let name = format!("{prefix}{}", column.key);
            match *of {
                Source::Calls(of) => Some(whole(&name, move |line| {
                    Some(of(side(line.run?.1.explained.as_ref()?)?.calls.as_ref()?))
                })),
                Source::Cost(of) => {
                    Some(whole(&name, move |line| of(side(line.run?.1.explained.as_ref()?)?)))
                }
                // Every run has a column of them, also if requests were not counted.
                Source::Used(_) => None,
            }
        }));
    }
    columns
}

/// Returns the columns of the energy of a run.
fn energy_columns() -> Vec<Column> {
    let energy = |name: &str, get: fn(&Energy, &Run) -> Option<f64>| {
        real(name, move |line| {
            let run = line.run?.1;
            get(run.energy.as_ref()?, run)
        })
    };
    vec![
        word("began", |line| Some(plain(&line.run?.1.period.as_ref()?.began))),
        whole("lasted_ns", |line| Some(line.run?.1.period.as_ref()?.lasted_ns)),
        word("energy_source", |line| Some(plain(&line.run?.1.energy.as_ref()?.source))),
        energy("energy_joules", |energy, _| Some(energy.joules)),
        energy("energy_over_idle_joules", |energy, _| energy.over_idle_joules),
        energy("energy_idle_error_joules", |energy, _| energy.idle_error_joules),
        energy("energy_over_idle_per_op_joules", |of, run| of.over_idle_per_operation(run.ops)),
        word("energy_beside", |line| {
            let others = line.run?.1.energy_beside.iter();
            let others: Vec<String> =
                others.map(|of| format!("{}:{}", plain(&of.source), of.joules)).collect();
            (!others.is_empty()).then(|| others.join("; "))
        }),
        word("no_energy", |line| Some(plain(line.run?.1.no_energy.as_deref()?))),
    ]
}

/// Figures of a run other than its time, and of its load.
fn run_figures() -> Vec<Column> {
    let repeated = [
        run("repeated_times", |run| Some(run.repeated?.times)),
        run("repeated_total_ns", |run| Some(run.repeated?.total_ns)),
        flag("repeated_steady", |line| Some(line.run?.1.repeated?.steady?.steady)),
    ];
    let metrics = LOADING.iter().chain(RUN_TABLES.iter().flat_map(|(_, metrics)| *metrics));
    metrics.map(metric_column).chain(repeated).collect()
}

/// The column of a metric.
fn metric_column(metric: &Metric) -> Column {
    let key = metric.column.key;
    match metric.value {
        RunValue::Whole(of) => run(key, of),
        RunValue::Real(of) => real(key, move |line| of(line.run?.1)),
    }
}

/// Returns the status as one word, as the result file writes it.
fn slug(status: Status) -> String {
    status.name().replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use embermark_model::result::{DiskCurve, Observed, Timeline};

    use super::*;

    #[test]
    fn no_two_columns_have_the_same_name() {
        let mut file = crate::load(Path::new("tests/fixtures/schema-1.json")).unwrap();
        let (disk, timeline) = (Some(DiskCurve::default()), Some(Timeline::default()));
        let run = &mut file.cells[0].trials[0].phases[0].runs[0];
        run.observed = Some(Observed { disk, timeline, ..Observed::default() });
        let columns = all_columns("pi", &file, &Record::default());
        let mut names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
        assert!(names.contains(&"stalls_above_100ms") && names.contains(&"observed_disk_points"));
        names.sort_unstable();
        let twice: Vec<&[&str]> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
