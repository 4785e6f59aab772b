use std::path::Path;

use super::*;
use crate::load;

fn result() -> ResultFile {
    load(Path::new("tests/fixtures/schema-1.json")).unwrap()
}

#[test]
fn a_device_has_the_means_of_its_own_screen() {
    let result = result();
    let mut fleet = Fleet::default();
    fleet.add("roof", &result);
    let comparison = summary::compare(&result, &[]);
    let lines = means::lines(&result, &comparison.groups);
    assert_eq!(fleet.lines.len(), lines.len());
    assert_eq!(fleet.boxes.len(), lines.iter().map(|line| line.boxes.len()).sum::<usize>());
    let mut means = 0;
    for line in &lines {
        for (engine, standing) in line.group.engines.iter().zip(&line.boxes) {
            let shown = fleet.boxes.iter().find(|shown| {
                let at = &fleet.lines[shown.line];
                let of = (at.workload.as_str(), at.extent.clone(), at.tier);
                let own =
                    (line.group.workload, line.group.extent().to_string(), line.group.durability);
                of == own && fleet.engines[shown.engine].id == engine.id
            });
            let shown = shown.unwrap();
            if let Standing::Mean(mean) = standing {
                means += 1;
                assert_eq!(shown.ratio, Some(mean.ratio));
                assert_eq!(shown.whole, mean.answered == mean.of);
                assert!(shown.ns.is_some() && shown.says.is_none());
            } else {
                assert_eq!(shown.ratio, None);
            }
        }
    }
    assert!(means > 2, "{means}");
}

#[test]
fn lines_and_engines_of_several_devices_are_the_same_ones() {
    let result = result();
    let mut other = result.clone();
    other.manifest.machine.board = Some("Raspberry Pi 4 Model B Rev 1.4\u{7}".to_owned());
    other.manifest.machine.cpu = Some("A72".to_owned());
    let mut fleet = Fleet::default();
    fleet.add("roof", &result);
    let (lines, engines, boxes) = (fleet.lines.clone(), fleet.engines.clone(), fleet.boxes.len());
    fleet.lacks("cellar", "not reached: no route to host");
    fleet.add("kitchen", &other);
    assert_eq!((&fleet.lines, &fleet.engines, fleet.boxes.len()), (&lines, &engines, 2 * boxes));
    assert_eq!(fleet.devices.len(), 3);
    assert_eq!(fleet.devices[1].lacks.as_deref(), Some("not reached: no route to host"));
    let kitchen = &fleet.devices[2];
    assert!(kitchen.model.starts_with("Raspberry Pi 4 Model B Rev 1.4"), "{}", kitchen.model);
    assert!(!kitchen.model.contains('\u{7}'));
    assert!(fleet.boxes[boxes..].iter().all(|shown| shown.device == 2));
}
