//! Generated points, each limited by the resource in its name.

use std::time::Duration;

use archive::{BackgroundEvent, Figures};
use engine::Transport;
use engine::WaitClass::{self, *};

use super::*;
use crate::session_sampler::Link;
use crate::timed::{Class, Event};

const LOCAL: Link = Link {
    transport: Transport::Local,
    round_trip: Duration::from_micros(60),
};
const NETWORK: Link = Link {
    transport: Transport::Network,
    round_trip: Duration::from_micros(350),
};
const TUNNEL: Link = Link {
    transport: Transport::Local,
    round_trip: Duration::from_millis(40),
};

fn event(class: Class, share_pct: f64) -> Event {
    Event {
        name: format!("{} event", archive::EventClass::from(class).name()),
        class,
        waits: None,
        time_s: share_pct,
        share_pct,
        source: archive::EventSource::Sampled,
    }
}

fn session(class: WaitClass) -> Class {
    Class::Session(class)
}

fn figures() -> Figures {
    Figures {
        cpu_pct_avg: Some(30.0),
        device_busy_pct: Some(35.0),
        elapsed_s: Some(10.0),
        ..Figures::default()
    }
}

fn busy(pct: f64) -> Figures {
    Figures {
        cpu_pct_avg: Some(pct),
        ..figures()
    }
}

#[derive(Clone)]
struct Generated {
    events: Vec<Event>,
    figures: Figures,
    background: Vec<BackgroundEvent>,
    driver_pct: Option<f64>,
    reported_by_server: bool,
    link: Option<Link>,
}

impl Generated {
    fn of(events: &[(Class, f64)]) -> Self {
        Self {
            events: events.iter().map(|(c, pct)| event(*c, *pct)).collect(),
            figures: figures(),
            background: Vec::new(),
            driver_pct: None,
            reported_by_server: true,
            link: Some(LOCAL),
        }
    }

    fn with(self, figures: Figures) -> Self {
        Self { figures, ..self }
    }

    fn over(self, link: Link) -> Self {
        Self {
            link: Some(link),
            ..self
        }
    }

    fn embedded(self) -> Self {
        Self {
            reported_by_server: false,
            link: None,
            ..self
        }
    }

    fn judged(&self) -> Bottleneck {
        let judged = judge(&Evidence {
            figures: &self.figures,
            events: &self.events,
            background: &self.background,
            driver_pct: self.driver_pct,
            device: Some("sda"),
            jobs: 8,
            reported_by_server: self.reported_by_server,
            is_observed: false,
            link: self.link,
        });
        assert!(judged.sentence.ends_with('.'), "{}", judged.sentence);
        judged
    }

    fn resource(&self) -> Resource {
        self.judged().resource
    }
}

#[test]
fn each_class_names_its_resource_from_its_border_on() {
    for (class, link, name) in [
        (session(DataRead), LOCAL, Resource::Device),
        (session(DataWrite), LOCAL, Resource::Device),
        (session(LogSync), LOCAL, Resource::LogSync),
        (session(Lock), LOCAL, Resource::Lock),
        (session(Latch), LOCAL, Resource::Latch),
        (session(Other), LOCAL, Resource::OtherWait),
        (session(Blocked), LOCAL, Resource::OtherWait),
        (session(WaitClass::Client), LOCAL, Resource::Driver),
        (session(WaitClass::Client), NETWORK, Resource::Network),
        (Class::RoundTrip, LOCAL, Resource::Scheduling),
        (Class::RoundTrip, NETWORK, Resource::Network),
        (Class::RoundTrip, TUNNEL, Resource::Network),
        (Class::Driver, LOCAL, Resource::Driver),
        (Class::Client, LOCAL, Resource::Driver),
    ] {
        // Each of the other parts is below the limit.
        let with = |pct: f64| {
            let rest = (100.0 - pct) / 2.0;
            let rest = [(session(Cpu), rest), (Class::Unknown, rest)];
            Generated::of(&[[(class, pct)].as_slice(), &rest].concat()).over(link)
        };
        assert_eq!(with(NAMED_PCT_MIN).resource(), name, "{class:?}");
        let below = with(NAMED_PCT_MIN - 0.1);
        assert_eq!(below.resource(), Resource::Several, "{class:?}");
    }
}

/// A commit of three round trips on one machine: 120 µs of work, 180 µs of wake-ups, and a sync of variable duration.
fn committing(sync_us: f64) -> Generated {
    let whole = 300.0 + sync_us;
    let pct = |us: f64| 100.0 * us / whole;
    Generated::of(&[
        (session(Cpu), pct(120.0)),
        (session(LogSync), pct(sync_us)),
        (Class::RoundTrip, pct(180.0)),
    ])
}

#[test]
fn commits_are_held_back_by_a_slow_log_and_by_scheduling_where_it_is_fast() {
    assert_eq!(committing(0.0).resource(), Resource::Scheduling);
    assert_eq!(committing(40.0).resource(), Resource::Scheduling);
    // With 150 µs per sync the shares are 27 % processors, 33 % log, 40 % scheduling.
    let shared = committing(150.0).judged();
    assert_eq!(shared.resource, Resource::Scheduling);
    for part in ["33 % went to log writes and syncs", "27 % to the CPU"] {
        assert!(shared.sentence.contains(part), "{}", shared.sentence);
    }
    assert_eq!(committing(180.0).resource(), Resource::Several);
    assert_eq!(committing(220.0).resource(), Resource::LogSync);
    assert_eq!(committing(5000.0).resource(), Resource::LogSync);
}

/// A server on a Unix socket or the loopback has no network, however the time is divided.
#[test]
fn without_a_network_none_is_named() {
    for cpu_pct in [0.0, 30.0, 60.0, 89.9, 90.0, 100.0] {
        for way_pct in 0..=100 {
            for class in [Class::RoundTrip, session(WaitClass::Client)] {
                let way = f64::from(way_pct);
                let rest = 100.0 - way;
                let events = [
                    (class, way),
                    (session(LogSync), 0.6 * rest),
                    (Class::Queued, 0.4 * rest),
                ];
                let judged = Generated::of(&events).with(busy(cpu_pct)).judged();
                assert_ne!(judged.resource, Resource::Network, "{}", judged.sentence);
                assert!(!judged.sentence.contains("network"), "{}", judged.sentence);
            }
        }
    }
}

#[test]
fn an_address_of_this_machine_that_is_far_away_is_a_tunnel() {
    let after = |round_trip: Duration| {
        let link = Link {
            round_trip,
            ..LOCAL
        };
        Generated::of(&[(Class::RoundTrip, 100.0)])
            .over(link)
            .resource()
    };
    assert_eq!(after(FAR_ROUND_TRIP_MIN), Resource::Network);
    let shorter = FAR_ROUND_TRIP_MIN - Duration::from_nanos(1);
    assert_eq!(after(shorter), Resource::Scheduling);
}

#[test]
fn a_way_that_nobody_measured_is_no_network() {
    let made = Generated {
        link: None,
        ..Generated::of(&[(Class::RoundTrip, 100.0)])
    };
    assert_eq!(made.resource(), Resource::OtherWait);
}

#[test]
fn processors_are_named_when_they_are_busy_and_the_jobs_are_on_them() {
    let on_cpu = Generated::of(&[(session(Cpu), 80.0), (session(Lock), 20.0)]);
    let with = |figures| on_cpu.clone().with(figures).resource();
    assert_eq!(with(busy(CPU_BUSY_PCT_MIN)), Resource::Cpu);
    assert_eq!(with(busy(CPU_BUSY_PCT_MIN - 0.1)), Resource::None);
    assert_eq!(with(Figures::default()), Resource::None);
    // Others keep the machine busy while the jobs wait for a lock.
    let in_queue = Generated::of(&[(session(Cpu), 20.0), (session(Lock), 80.0)]);
    assert_eq!(in_queue.with(busy(100.0)).resource(), Resource::Lock);
}

#[test]
fn being_woken_up_takes_long_where_nobody_leaves_a_processor_free() {
    let woken = |queued: f64| {
        Generated::of(&[
            (session(Cpu), 20.0),
            (Class::Queued, queued),
            (Class::RoundTrip, 80.0 - queued),
        ])
        .with(busy(95.0))
    };
    for queued in [0.0, 0.5, 10.0] {
        assert_eq!(woken(queued).resource(), Resource::Cpu, "{queued}");
        let idle = woken(queued).with(busy(60.0));
        assert_eq!(idle.resource(), Resource::Scheduling, "{queued}");
    }
    // Over a network a part of the way is a wake-up …
    assert_eq!(woken(10.0).over(NETWORK).resource(), Resource::Cpu);
    // … but a long way stays one, however busy the processors are.
    assert_eq!(woken(0.5).over(NETWORK).resource(), Resource::Network);
    assert_eq!(woken(0.5).over(TUNNEL).resource(), Resource::Network);
}

#[test]
fn waits_for_a_processor_belong_to_its_largest_user() {
    let split = |driver: f64, server: f64| {
        Generated::of(&[
            (Class::Client, driver),
            (session(Cpu), server),
            (Class::Queued, 100.0 - driver - server),
        ])
        .with(busy(100.0))
    };
    let server = 30.0 / CLIENT_OVER_SERVER_MIN;
    assert_eq!(split(30.0, server).resource(), Resource::Driver);
    assert_eq!(split(29.9, server).resource(), Resource::Cpu);
}

#[test]
fn jobs_that_pause_are_held_back_by_nothing() {
    let swapping = Figures {
        swap_in_mb: Some(500.0),
        swap_out_mb: Some(500.0),
        ..busy(100.0)
    };
    let pausing = |idle: f64| {
        Generated::of(&[(Class::Idle, idle), (session(DataRead), 100.0 - idle)])
            .with(swapping.clone())
    };
    assert_eq!(pausing(80.1).resource(), Resource::None);
    assert_eq!(pausing(80.0).resource(), Resource::Memory);
    // Shares exclude pauses of the jobs.
    let half = Generated::of(&[
        (Class::Idle, 50.0),
        (session(Lock), 20.0),
        (session(Cpu), 18.0),
        (Class::Client, 12.0),
    ]);
    assert_eq!(half.resource(), Resource::Lock);
}

#[test]
fn memory_is_named_from_its_borders_on() {
    let with = |figures| {
        Generated::of(&[(session(DataRead), 100.0)])
            .with(figures)
            .resource()
    };
    let swap = |mb: f64| Figures {
        swap_in_mb: Some(mb),
        swap_out_mb: Some(0.0),
        ..figures()
    };
    assert_eq!(with(swap(SWAP_MB_PER_S_MIN * 10.0)), Resource::Memory);
    assert_eq!(with(swap(SWAP_MB_PER_S_MIN * 9.9)), Resource::Device);
    let pressure = |pct: f64| Figures {
        pressure_memory_pct: Some(pct),
        ..figures()
    };
    let least = MEMORY_PRESSURE_PCT_MIN;
    assert_eq!(with(pressure(least)), Resource::Memory);
    assert_eq!(with(pressure(least - 0.1)), Resource::Device);
}

/// Other programs may lack memory while the jobs wait for something unrelated.
#[test]
fn memory_is_named_only_where_the_jobs_wait_for_what_follows_from_it() {
    let short = |class, cpu_pct: f64| {
        let figures = Figures {
            pressure_memory_pct: Some(90.0),
            ..busy(cpu_pct)
        };
        Generated::of(&[(class, 100.0)]).with(figures).resource()
    };
    for (class, name) in [
        (session(DataWrite), Resource::Memory),
        (session(Blocked), Resource::Memory),
        (session(Cpu), Resource::Memory),
        (session(Lock), Resource::Lock),
        (session(Latch), Resource::Latch),
        (session(LogSync), Resource::LogSync),
        (Class::RoundTrip, Resource::Scheduling),
    ] {
        assert_eq!(short(class, 30.0), name, "{class:?}");
    }
    assert_eq!(short(session(Cpu), 99.0), Resource::Cpu);
}

/// The page shows how much of a core the driver used; a small part makes it no bottleneck.
#[test]
fn a_driver_that_hardly_used_a_processor_is_not_named() {
    let with = |class: Class, driver_cpu_pct: f64, cpu_pct: f64| {
        Generated::of(&[(class, 90.0), (session(Cpu), 10.0)]).with(Figures {
            driver_cpu_pct: Some(driver_cpu_pct),
            ..busy(cpu_pct)
        })
    };
    for class in [Class::Driver, Class::Client] {
        assert_eq!(with(class, 40.0, 95.0).resource(), Resource::Driver);
        assert_eq!(with(class, 1.6, 95.0).resource(), Resource::Cpu);
        assert_eq!(with(class, 1.6, 30.0).resource(), Resource::Scheduling);
        assert_eq!(with(class, 1.6, 95.0).embedded().resource(), Resource::Cpu);
    }
}

#[test]
fn the_driver_is_named_where_the_point_is_invalid_for_it() {
    let with = |pct: f64| Generated {
        driver_pct: Some(pct),
        ..Generated::of(&[(session(Lock), 90.0), (Class::Client, 10.0)])
    };
    assert_eq!(with(DRIVER_PCT_MIN + 0.1).resource(), Resource::Driver);
    assert_eq!(with(DRIVER_PCT_MIN).resource(), Resource::Lock);
}

#[test]
fn a_driver_that_was_put_aside_was_waiting_for_a_processor() {
    let made = Generated {
        driver_pct: Some(5.0),
        ..Generated::of(&[(Class::Driver, 90.0), (session(Cpu), 10.0)])
    };
    assert_eq!(made.with(busy(100.0)).resource(), Resource::Cpu);
}

/// If others take nearly all processors, a job of an embedded engine waits longer between statements than its
/// statements run; none of that is certainly the driver's.
#[test]
fn jobs_that_others_crowded_out_waited_for_a_processor() {
    let events = [
        (Class::Queued, 93.6),
        (Class::Driver, 4.9),
        (session(Blocked), 1.5),
    ];
    let made = Generated {
        driver_pct: Some(0.0),
        ..Generated::of(&events)
    };
    let made = made.embedded().with(busy(100.0));
    assert_eq!(made.resource(), Resource::Cpu);
}

#[test]
fn reads_that_the_page_cache_served_are_work_of_the_processors() {
    let read = |device: f64| Figures {
        read_mb_per_s: Some(device),
        engine_read_mb_per_s: Some(100.0),
        ..busy(95.0)
    };
    let reading = Generated::of(&[(session(DataRead), 70.0), (session(Cpu), 30.0)]);
    let with = |device| reading.clone().with(read(device)).resource();
    assert_eq!(with(100.0 * FROM_DEVICE_MIN), Resource::Device);
    assert_eq!(with(9.9), Resource::Cpu);
}

#[test]
fn blocked_jobs_of_an_embedded_engine_are_explained_by_the_device() {
    let blocked = Generated::of(&[(session(Blocked), 70.0), (session(Cpu), 30.0)]);
    let of_device = |pct: f64| Figures {
        device_busy_pct: Some(pct),
        ..figures()
    };
    for (pct, name) in [
        (DEVICE_BUSY_PCT_MIN, Resource::Device),
        (DEVICE_BUSY_PCT_MIN - 0.1, Resource::OtherWait),
        (DEVICE_IDLE_PCT_MAX, Resource::OtherWait),
        (DEVICE_IDLE_PCT_MAX - 0.1, Resource::Lock),
    ] {
        let embedded = blocked.clone().embedded().with(of_device(pct));
        assert_eq!(embedded.resource(), name, "{pct}");
    }
    let reported = blocked.with(of_device(0.0));
    assert_eq!(
        reported.resource(),
        Resource::OtherWait,
        "a server names its locks"
    );
}

#[test]
fn time_that_nobody_reports_is_unknown() {
    let unreported = Generated::of(&[(Class::Unknown, 90.0), (Class::Client, 10.0)]);
    assert_eq!(unreported.resource(), Resource::Unknown);
    assert_eq!(Generated::of(&[]).resource(), Resource::Unknown);
}

#[test]
fn the_sentences() {
    let half = |class| Generated::of(&[(class, 60.0), (session(Cpu), 40.0)]);
    let most = |class| Generated::of(&[(class, 85.0), (session(Cpu), 15.0)]);
    let reading = |device_busy_pct| Figures {
        device_busy_pct: Some(device_busy_pct),
        read_await_ms: Some(0.25),
        device_queue_mean: Some(3.21),
        ..busy(12.0)
    };
    let syncs = BackgroundEvent {
        process: "log".into(),
        event: "log syncs".into(),
        count: Some(200),
        time_s: Some(0.3),
        ..BackgroundEvent::default()
    };
    let beside = Figures {
        cpu_by_database_pct: Some(41.0),
        cpu_by_driver_pct: Some(6.0),
        cpu_by_others_pct: Some(48.0),
        cpu_steal_pct: Some(3.0),
        ..busy(98.0)
    };
    let moving = Figures {
        network_mb_per_s: Some(112.5),
        ..busy(20.0)
    };
    let short = Figures {
        pressure_memory_pct: Some(61.0),
        swap_in_mb: Some(40.0),
        swap_out_mb: Some(2.0),
        ..busy(35.0)
    };
    let made = [
        Generated::of(&[]),
        Generated {
            driver_pct: Some(31.0),
            ..most(Class::Client)
        },
        Generated::of(&[(Class::Idle, 93.0), (session(Cpu), 7.0)]),
        Generated::of(&[(Class::Unknown, 90.0), (session(Cpu), 10.0)]),
        most(session(DataRead)).with(short),
        Generated::of(&[(session(Cpu), 96.0), (Class::Queued, 4.0)]).with(busy(99.0)),
        Generated::of(&[(session(Cpu), 96.0), (Class::Queued, 4.0)]).with(beside),
        Generated::of(&[(session(Cpu), 72.0), (Class::RoundTrip, 28.0)]),
        most(session(Cpu)).with(Figures::default()),
        most(session(DataRead)).with(reading(97.0)),
        most(session(DataRead)).with(reading(12.0)),
        Generated {
            background: vec![syncs],
            ..half(session(LogSync)).with(Figures::default())
        },
        most(session(Lock)),
        most(session(Latch)),
        most(Class::RoundTrip).over(NETWORK).with(moving),
        most(Class::RoundTrip).over(TUNNEL),
        half(Class::RoundTrip),
        committing(150.0),
        half(Class::Client),
        most(session(Other)),
        committing(180.0),
    ];
    let sentences = made.map(|made| {
        let judged = made.judged();
        format!("{}: {}", judged.resource.name(), judged.sentence)
    });
    insta::assert_snapshot!(sentences.join("\n"));
}
