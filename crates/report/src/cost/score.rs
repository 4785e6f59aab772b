//! Score of a resource table as defined by the source of the workload `machine`: one minus the
//! weighted mean of each resource's share of the largest value in its column.

use std::fmt;
use std::str::FromStr;

/// A resource that is scored, which is a column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScoredResource {
    /// CPU of the server, in percent of one CPU.
    ServerCpu,
    /// Memory of the server, in bytes.
    ServerMemory,
    /// Bytes per second from and to storage.
    Io,
    /// CPU of the client, in percent of one CPU. For an embedded engine this is the process that
    /// uses it.
    ClientCpu,
    /// Memory of the client, in bytes. For an embedded engine this is the process that uses it.
    ClientMemory,
    /// Bytes per second between client and server.
    Network,
    /// Bytes by which the database grew.
    Disk,
    /// Effort according to the source of the workload, from 1 to 5. Absent for engines that it did
    /// not grade.
    Effort,
}

impl ScoredResource {
    /// Resources of writing.
    pub const WRITING: [Self; 8] = [
        Self::ServerCpu,
        Self::ServerMemory,
        Self::Io,
        Self::ClientCpu,
        Self::ClientMemory,
        Self::Network,
        Self::Disk,
        Self::Effort,
    ];

    /// Resources of reading, which does not change the disk.
    pub const READING: [Self; 7] = [
        Self::ServerCpu,
        Self::ServerMemory,
        Self::Io,
        Self::ClientCpu,
        Self::ClientMemory,
        Self::Network,
        Self::Effort,
    ];
}

/// Weight of each kind of resource.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// CPU, for the server and the client each.
    pub cpu: f64,
    /// Memory, for the server and the client each.
    pub memory: f64,
    /// Disk I/O.
    pub io: f64,
    /// Network.
    pub network: f64,
    /// Disk space.
    pub disk: f64,
    /// Effort.
    pub effort: f64,
}

impl Default for Weights {
    /// Returns the weights of the source.
    fn default() -> Self {
        Self { cpu: 3.0, memory: 1.0, io: 2.0, network: 2.0, disk: 1.0, effort: 1.0 }
    }
}

/// An invalid list of weights.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a weight: give cpu, memory, io, network, disk or effort, and a number of 0 or more, as in cpu=3,io=2"
)]
pub struct NoWeights(String);

impl FromStr for Weights {
    type Err = NoWeights;

    /// Parses `cpu=3,io=2`. Weights that are not named stay those of the source.
    fn from_str(text: &str) -> Result<Self, NoWeights> {
        let mut weights = Self::default();
        for part in text.split(',') {
            let wrong = || NoWeights(part.trim().to_owned());
            let (name, value) = part.split_once('=').ok_or_else(wrong)?;
            let value: f64 = value.trim().parse().map_err(|_| wrong())?;
            if !value.is_finite() || value < 0.0 {
                return Err(wrong());
            }
            let weight = match name.trim() {
                "cpu" => &mut weights.cpu,
                "memory" => &mut weights.memory,
                "io" => &mut weights.io,
                "network" => &mut weights.network,
                "disk" => &mut weights.disk,
                "effort" => &mut weights.effort,
                _ => return Err(wrong()),
            };
            *weight = value;
        }
        Ok(weights)
    }
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cpu, memory, io, network, disk, effort } = self;
        write!(
            f,
            "CPU {cpu}, disk I/O {io}, network {network}, memory {memory}, disk {disk}, effort {effort}"
        )
    }
}

impl Weights {
    /// Returns the weights without effort, which is a matter of opinion.
    #[must_use]
    pub const fn without_effort(self) -> Self {
        Self { effort: 0.0, ..self }
    }

    /// Returns the weight of a resource.
    pub const fn get(&self, resource: ScoredResource) -> f64 {
        match resource {
            ScoredResource::ServerCpu | ScoredResource::ClientCpu => self.cpu,
            ScoredResource::ServerMemory | ScoredResource::ClientMemory => self.memory,
            ScoredResource::Io => self.io,
            ScoredResource::Network => self.network,
            ScoredResource::Disk => self.disk,
            ScoredResource::Effort => self.effort,
        }
    }
}

/// Computes the score of each row of a table, from 0 to 1: `1 - sum(usage / column maximum x
/// weight) / sum(weights)`. A column of zeros lowers no score. A row without the value of a
/// weighted resource has no score, and is not part of any maximum. Only effort may be missing: its
/// weight is then 0 for that row.
pub fn scores(
    rows: &[Vec<Option<f64>>],
    resources: &[ScoredResource],
    weights: &Weights,
) -> Vec<Option<f64>> {
    let weights: Vec<f64> = resources.iter().map(|resource| weights.get(*resource)).collect();
    let is_whole = |row: &Vec<Option<f64>>| {
        let dispensable = |at: usize| weights[at] <= 0.0 || resources[at] == ScoredResource::Effort;
        row.iter().enumerate().all(|(place, usage)| usage.is_some() || dispensable(place))
    };
    let whole = || rows.iter().filter(|row| is_whole(row));
    let largest = |column: usize| whole().filter_map(|row| row[column]).fold(0.0, f64::max);
    let largest: Vec<f64> = (0..resources.len()).map(largest).collect();
    let score = |row: &Vec<Option<f64>>| {
        let (mut used, mut total) = (0.0, 0.0);
        for ((usage, largest), weight) in row.iter().zip(&largest).zip(&weights) {
            let Some(usage) = usage else { continue };
            total += weight;
            used += if *largest > 0.0 { usage / largest * weight } else { 0.0 };
        }
        (is_whole(row) && total > 0.0).then(|| 1.0 - used / total)
    };
    rows.iter().map(score).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_loses_the_weighted_share_of_the_largest_in_each_column() {
        let columns = [ScoredResource::ServerCpu, ScoredResource::Disk];
        let rows = [vec![Some(10.0), Some(0.0)], vec![Some(5.0), Some(4.0)], vec![Some(0.0); 2]];
        let scores = scores(&rows, &columns, &Weights::default());
        // Weights 3 and 1: 1 - 3/4, 1 - (1.5 + 1)/4, 1.
        assert_eq!(scores, [Some(0.25), Some(0.375), Some(1.0)]);
    }

    #[test]
    fn what_was_not_measured_is_no_zero() {
        let columns = [ScoredResource::ServerCpu, ScoredResource::Network];
        let rows = [vec![Some(8.0), None], vec![Some(4.0), Some(1.0)]];
        let weights = Weights::default();
        assert_eq!(scores(&rows, &columns, &weights), [None, Some(0.0)]);
        let weights = Weights { network: 0.0, ..weights };
        assert_eq!(scores(&rows, &columns, &weights), [Some(0.0), Some(0.5)]);
    }

    #[test]
    fn no_table_divides_by_nothing() {
        let zero = vec![Some(0.0)];
        assert_eq!(scores(&[zero], &[ScoredResource::Io], &Weights::default()), [Some(1.0)]);
        let none = Weights { cpu: 0.0, memory: 0.0, io: 0.0, network: 0.0, disk: 0.0, effort: 0.0 };
        assert_eq!(scores(&[vec![Some(1.0)]], &[ScoredResource::Io], &none), [None]);
    }

    #[test]
    fn weights_are_read_from_words() {
        let weights: Weights = "cpu=1, io=0".parse().unwrap();
        assert_eq!(weights, Weights { cpu: 1.0, io: 0.0, ..Weights::default() });
        for wrong in ["", "cpu", "cpu=", "cpu=-1", "cpu=NaN", "cpu=inf", "gpu=1", "cpu=1,,"] {
            assert!(wrong.parse::<Weights>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn effort_that_nobody_graded_weighs_nothing_for_its_row_and_takes_no_score_away() {
        let columns = [ScoredResource::ServerCpu, ScoredResource::Effort];
        let rows = [vec![Some(10.0), Some(5.0)], vec![Some(5.0), Some(1.0)], vec![Some(4.0), None]];
        let scores = scores(&rows, &columns, &Weights::default());
        // Weights 3 and 1: 1 - 4/4, 1 - (1.5 + 0.2)/4, and for CPU only 1 - 1.2/3.
        let expected = [0.0, 0.575, 0.6];
        for (score, expected) in scores.into_iter().zip(expected) {
            assert!((score.unwrap() - expected).abs() < 1e-12, "{score:?}");
        }
    }
}
