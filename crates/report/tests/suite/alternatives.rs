//! Alternatives on the terminal and on the page.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use archive::{
    Alternative, DeviceUse, Purpose, Remark, Requests, Run, Sample, SideLabel, StudyPart,
};
use report::{Against, HtmlOptions, Shown, html};
use verdict::contrasts::{Kind, Options, contrasts};

const NAMES: [&str; 3] = ["shared", "log-apart", "no <flush>"];

/// Three alternatives in four rounds: the second is a tenth faster than the first, the third twice as fast and unsafe.
fn runs() -> Vec<Run> {
    let pattern = crate::fixture::single().points.swap_remove(0);
    let of_side = |(number, name): (usize, &&str)| {
        let mut run = crate::fixture::frame();
        run.label = SideLabel::new("try", number).to_string();
        run.id = number as i64 + 1;
        run.repetitions = 4;
        run.targets.truncate(1);
        let is_unsafe = number == 2;
        run.study = Some(StudyPart {
            name: "try".into(),
            side: StudyPart::letter(number).into(),
            sides: 3,
            order: "abccbaabcacb".into(),
            alternative: Some(Alternative {
                name: (*name).into(),
                about: format!("What {name} is"),
                layout: None,
                remarks: is_unsafe
                    .then_some(Remark::CommitsCanBeLost)
                    .into_iter()
                    .collect(),
            }),
            ..StudyPart::default()
        });
        for round in 1..=4_u32 {
            let wobble = 1.0 + 0.002 * ((number as u32 * 7 + round * 5) % 11) as f64;
            let mut point = pattern.clone();
            point.key.target = 0;
            point.key.repetition = round;
            point.key.test = "T311".into();
            point.reasons.clear();
            point.figures.rows_per_s = None;
            point.figures.operations_per_s = Some([1000.0, 1100.0, 2000.0][number] * wobble);
            point.figures.read_mb_per_s = Some(1.0);
            point.figures.write_mb_per_s = Some(39.0);
            point.samples = (1..=20).map(sample).collect();
            point.devices = devices(number);
            run.points.push(point);
        }
        run.points_planned = 4;
        run
    };
    NAMES.iter().enumerate().map(of_side).collect()
}

fn sample(at: u32) -> Sample {
    Sample {
        at_s: f64::from(at),
        read_mb_per_s: Some(1.0),
        write_mb_per_s: Some(30.0 + f64::from(at)),
        ..Sample::default()
    }
}

/// The first has one device, the others one for the log as well.
fn devices(number: usize) -> Vec<DeviceUse> {
    let device = |name: &str, holds: Vec<Purpose>, count| DeviceUse {
        name: name.into(),
        holds,
        elapsed_s: Some(10.0),
        writes: Some(Requests {
            count,
            mb: count as f64 * 0.008,
            await_ms: Some(0.25),
        }),
        busy_pct: Some(50.0),
        ..DeviceUse::default()
    };
    match number {
        0 => vec![device("loop0", vec![Purpose::Data, Purpose::Log], 10_000)],
        _ => vec![
            device("loop1", vec![Purpose::Data], 2_000),
            device("loop2", vec![Purpose::Log], 8_000),
        ],
    }
}

#[test]
fn alternatives_read_from_descriptions_to_verdicts() {
    let runs = runs();
    let runs: Vec<&Run> = runs.iter().collect();
    let found = contrasts(Kind::Alternatives, &runs, &Options::default()).unwrap();
    let shown = Shown {
        width: 110,
        ..Shown::default()
    };
    insta::assert_snapshot!("alternatives", report::alternatives(&found, shown));
}

#[test]
fn a_page_of_alternatives_is_of_the_study() {
    let runs = runs();
    let against: Vec<Against<'_>> = runs[1..].iter().map(Against::Run).collect();
    let page = html(&runs[0], &against, &HtmlOptions::default());
    let section = page.split("<section id=\"alternatives\"").nth(1).unwrap();
    let section = section.split("</section>").next().unwrap();
    insta::assert_snapshot!("alternatives_section", section.replace("</tr>", "</tr>\n"));
    for said in [
        "<title>dbdyno · try</title>",
        "no &#60;flush&#62; has the best mean (2,0",
        "It is better than log-apart, shared.",
        "ratio to no &lt;flush&gt;",
        "show the run “try-a” (shared)",
        "no &#60;flush&#62;: commits are not flushed",
    ] {
        assert!(page.contains(said), "{said}");
    }
    // No side appears as a separate comparison or as a screening.
    for absent in [
        "Compared with run",
        "id=\"differences\"",
        "id=\"screening\"",
    ] {
        assert!(!page.contains(absent), "{absent}");
    }
    let some = html(&runs[0], &against[..1], &HtmlOptions::default());
    assert!(some.contains("No verdicts: the runs try-a, try-b are not all"));
}
