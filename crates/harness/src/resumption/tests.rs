use super::*;

fn machine() -> Machine {
    Machine {
        cpu: Some("A53".to_owned()),
        cpus: Some(4),
        memory_bytes: Some(1_000_000_000),
        kernel: Some("Linux 6.1".to_owned()),
        file_system: Some("ext4".to_owned()),
        ..Machine::default()
    }
}

#[test]
fn another_machine_is_refused_by_what_differs_and_a_new_kernel_is_a_warning() {
    assert_eq!(another_machine(&machine(), &machine()), None);
    let more = Machine { memory_bytes: Some(1_010_000_000), ..machine() };
    assert_eq!(another_machine(&machine(), &more), None);
    let others = [
        (Machine { cpu: Some("A76".to_owned()), ..machine() }, "the CPU was A53"),
        (Machine { cpus: Some(2), ..machine() }, "number of CPUs was 4, and here it is 2"),
        (Machine { memory_bytes: Some(2_000_000_000), ..machine() }, "2000000000 bytes"),
        (Machine { file_system: None, ..machine() }, "here it is unknown"),
    ];
    for (other, says) in others {
        let refusal = another_machine(&machine(), &other);
        assert!(refusal.as_ref().is_some_and(|text| text.contains(says)), "{refusal:?}");
    }
    let updated = Machine { kernel: Some("Linux 6.2".to_owned()), ..machine() };
    let changes = changes(&machine(), &updated);
    assert!(changes.len() == 1 && changes[0].contains("6.1"), "{changes:?}");
    assert_eq!(another_machine(&machine(), &updated), None);
}

#[test]
fn another_build_or_commit_is_another_program() {
    let tool = |commit: &str, profile: &str| Tool {
        version: "1.0".to_owned(),
        commit: Some(commit.to_owned()),
        profile: profile.to_owned(),
    };
    assert_eq!(another_tool(&tool("a", "debug"), &tool("a", "debug")), None);
    for other in [tool("b", "debug"), tool("a", "release")] {
        let refusal = another_tool(&tool("a", "debug"), &other).unwrap_or_default();
        assert!(refusal.contains("embermark 1.0 (a), debug build began it"), "{refusal}");
    }
}
