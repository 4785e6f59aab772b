use super::*;

/// Standard SQL, with or without a standard deviation.
struct Plain(bool);

impl Dialect for Plain {
    fn placeholder(&self, n: usize) -> String {
        format!("${n}")
    }

    fn sample_deviation(&self, column: &str) -> Option<String> {
        self.0.then(|| format!("STDDEV_SAMP({column})"))
    }
}

const ASKED: [Query; 4] = [Query::AvgSensor, Query::Anomalies, Query::DailySummary, Query::Outages];

#[test]
fn a_question_of_one_sensor_has_it_as_a_parameter_at_each_of_its_places() {
    for dialect in [Plain(true), Plain(false)] {
        for query in ASKED {
            let text = query.text(Of::One, &dialect);
            let sensors = query.sensors(&dialect);
            assert!(sensors <= Query::MOST_SENSORS);
            for n in 1..=Query::MOST_SENSORS {
                let has = text.contains(&format!("sensor = ${n}"));
                assert_eq!(has, n <= sensors, "{n}: {text}");
            }
            assert_eq!(text.matches('$').count(), sensors, "{text}");
            assert!(!query.text(Of::All, &dialect).contains('$'));
            let written = text.split('$').map(|part| part.trim_start_matches(['1', '2', '3']));
            let written = written.collect::<Vec<_>>().join("17");
            assert_eq!(query.text(Of::Written(17), &dialect), written);
        }
    }
}
