//! Made-up points, each held back by one thing.

use super::*;

fn event(class: &str, share_pct: f64) -> TimedEvent {
    TimedEvent {
        event: format!("{class} event"),
        class: class.into(),
        waits: None,
        time_s: share_pct,
        share_pct,
        source: "sampled".into(),
    }
}

fn figures() -> Figures {
    Figures {
        cpu_pct_avg: Some(30.0),
        device_busy_pct: Some(35.0),
        elapsed_s: Some(10.0),
        ..Figures::default()
    }
}

fn judged(events: &[(&str, f64)], figures: &Figures) -> Bottleneck {
    let events: Vec<TimedEvent> = events.iter().map(|(c, pct)| event(c, *pct)).collect();
    judge(&Evidence {
        figures,
        events: &events,
        background: &[],
        driver_pct: None,
        device: Some("sda"),
        jobs: 8,
        told_by_server: false,
    })
}

fn resource(events: &[(&str, f64)], figures: &Figures) -> String {
    let judged = judged(events, figures);
    assert!(Bottleneck::RESOURCES.contains(&judged.resource.as_str()));
    assert!(judged.sentence.ends_with('.'), "{}", judged.sentence);
    judged.resource
}

#[test]
fn each_class_names_its_resource_from_its_border_on() {
    for (class, name) in [
        ("data read", "device"),
        ("data write", "device"),
        ("log sync", "log sync"),
        ("lock", "lock"),
        ("latch", "latch"),
        ("client", "network"),
        ("round trip", "network"),
        ("driver", "driver"),
        ("driver", "driver"),
        ("other", "other wait"),
        ("wait", "other wait"),
    ] {
        // The rest is in parts that are each below the border.
        let with = |pct: f64| {
            let rest = (100.0 - pct) / 2.0;
            [(class, pct), ("CPU", rest), ("unknown", rest)]
        };
        assert_eq!(resource(&with(NAMED_PCT_MIN), &figures()), name, "{class}");
        let below = with(NAMED_PCT_MIN - 0.1);
        assert_eq!(resource(&below, &figures()), "none", "{class}");
    }
}

#[test]
fn processors_are_named_when_they_are_busy_and_the_jobs_are_on_them() {
    let busy = |pct: f64| Figures {
        cpu_pct_avg: Some(pct),
        ..figures()
    };
    let on_cpu = [("CPU", 80.0), ("lock", 20.0)];
    assert_eq!(resource(&on_cpu, &busy(CPU_BUSY_PCT_MIN)), "cpu");
    assert_eq!(resource(&on_cpu, &busy(CPU_BUSY_PCT_MIN - 0.1)), "none");
    assert_eq!(resource(&on_cpu, &Figures::default()), "none");
    // Others keep the machine busy; the jobs stand in a queue.
    let in_queue = [("CPU", 20.0), ("lock", 80.0)];
    assert_eq!(resource(&in_queue, &busy(100.0)), "lock");
    // Being woken up takes long where nobody leaves a processor free.
    let woken = |queued: f64| {
        [
            ("CPU", 20.0),
            ("scheduler", queued),
            ("round trip", 80.0 - queued),
        ]
    };
    assert_eq!(resource(&woken(10.0), &busy(95.0)), "cpu");
    // … but a long way stays one, whoever keeps the processors busy.
    assert_eq!(resource(&woken(0.5), &busy(95.0)), "network");
}

#[test]
fn who_waits_for_a_processor_is_told_by_who_uses_them() {
    let busy = Figures {
        cpu_pct_avg: Some(100.0),
        ..figures()
    };
    let split = |driver: f64| {
        let server = driver / CLIENT_OVER_SERVER_MIN;
        [
            ("driver", driver),
            ("CPU", server),
            ("scheduler", 100.0 - driver - server),
        ]
    };
    assert_eq!(resource(&split(30.0), &busy), "driver");
    let less = [("driver", 29.9), ("CPU", 10.0), ("scheduler", 60.1)];
    assert_eq!(resource(&less, &busy), "cpu");
}

#[test]
fn jobs_that_pause_are_held_back_by_nothing() {
    let busy = Figures {
        cpu_pct_avg: Some(100.0),
        swap_in_mb: Some(500.0),
        swap_out_mb: Some(500.0),
        ..figures()
    };
    let pausing = |idle: f64| [("idle", idle), ("data read", 100.0 - idle)];
    assert_eq!(resource(&pausing(80.1), &busy), "none");
    assert_eq!(resource(&pausing(80.0), &busy), "memory");
    // Shares are of the time in which the jobs did not pause.
    let half = [
        ("idle", 50.0),
        ("lock", 20.0),
        ("CPU", 18.0),
        ("driver", 12.0),
    ];
    assert_eq!(resource(&half, &figures()), "lock");
}

#[test]
fn memory_is_named_from_its_borders_on() {
    let read = [("data read", 100.0)];
    let swap = |mb: f64| Figures {
        swap_in_mb: Some(mb),
        swap_out_mb: Some(0.0),
        ..figures()
    };
    assert_eq!(resource(&read, &swap(SWAP_MB_PER_S_MIN * 10.0)), "memory");
    assert_eq!(resource(&read, &swap(SWAP_MB_PER_S_MIN * 9.9)), "device");
    let pressure = |pct: f64| Figures {
        pressure_memory_pct: Some(pct),
        ..figures()
    };
    let least = MEMORY_PRESSURE_PCT_MIN;
    assert_eq!(resource(&read, &pressure(least)), "memory");
    assert_eq!(resource(&read, &pressure(least - 0.1)), "device");
}

/// Somebody else on the machine may be short of memory while the jobs wait for something that has nothing to do with it.
#[test]
fn memory_is_named_only_where_the_jobs_wait_for_what_follows_from_it() {
    let short = |cpu_pct: f64| Figures {
        pressure_memory_pct: Some(90.0),
        cpu_pct_avg: Some(cpu_pct),
        ..figures()
    };
    for (class, name) in [
        ("data write", "memory"),
        ("wait", "memory"),
        ("CPU", "memory"),
        ("lock", "lock"),
        ("latch", "latch"),
        ("log sync", "log sync"),
        ("round trip", "network"),
    ] {
        assert_eq!(resource(&[(class, 100.0)], &short(30.0)), name, "{class}");
    }
    assert_eq!(resource(&[("CPU", 100.0)], &short(99.0)), "cpu");
}

#[test]
fn the_driver_is_named_where_the_point_is_invalid_for_it() {
    let with = |pct: f64| {
        judge(&Evidence {
            figures: &figures(),
            events: &[event("lock", 90.0), event("driver", 10.0)],
            background: &[],
            driver_pct: Some(pct),
            device: None,
            jobs: 2,
            told_by_server: false,
        })
    };
    assert_eq!(with(DRIVER_PCT_MIN + 0.1).resource, "driver");
    assert_eq!(with(DRIVER_PCT_MIN).resource, "lock");
}

#[test]
fn a_driver_that_was_put_aside_was_waiting_for_a_processor() {
    let figures = Figures {
        cpu_pct_avg: Some(100.0),
        ..Figures::default()
    };
    let put_aside = TimedEvent {
        event: DRIVER.into(),
        ..event("driver", 90.0)
    };
    let judged = judge(&Evidence {
        figures: &figures,
        events: &[put_aside, event("CPU", 10.0)],
        background: &[],
        driver_pct: Some(5.0),
        device: None,
        jobs: 2,
        told_by_server: false,
    });
    assert_eq!(judged.resource, "cpu");
}

/// Where others take nearly all of the processors, the loop of an embedded engine's job waits longer between
/// statements than its statements take of a processor; none of that is surely the driver's.
#[test]
fn jobs_that_others_crowded_out_waited_for_a_processor() {
    let events = [("scheduler", 93.6), ("driver", 4.9), ("wait", 1.5)];
    let events = events.map(|(class, share_pct)| TimedEvent {
        event: if class == "driver" { DRIVER } else { class }.into(),
        ..event(class, share_pct)
    });
    let figures = Figures {
        cpu_pct_avg: Some(100.0),
        ..figures()
    };
    let judged = judge(&Evidence {
        figures: &figures,
        events: &events,
        background: &[],
        driver_pct: Some(0.0),
        device: None,
        jobs: 6,
        told_by_server: false,
    });
    assert_eq!(judged.resource, "cpu", "{}", judged.sentence);
}

#[test]
fn reads_that_the_page_cache_served_are_work_of_the_processors() {
    let read = |device: f64| Figures {
        read_mb_per_s: Some(device),
        engine_read_mb_per_s: Some(100.0),
        cpu_pct_avg: Some(95.0),
        ..figures()
    };
    let reading = [("data read", 70.0), ("CPU", 30.0)];
    assert_eq!(resource(&reading, &read(100.0 * FROM_DEVICE_MIN)), "device");
    assert_eq!(resource(&reading, &read(9.9)), "cpu");
}

#[test]
fn blocked_jobs_of_an_embedded_engine_are_explained_by_the_device() {
    let busy = |pct: f64| Figures {
        device_busy_pct: Some(pct),
        ..figures()
    };
    let blocked = [("wait", 70.0), ("CPU", 30.0)];
    for (pct, name) in [
        (DEVICE_BUSY_PCT_MIN, "device"),
        (DEVICE_BUSY_PCT_MIN - 0.1, "other wait"),
        (DEVICE_IDLE_PCT_MAX, "other wait"),
        (DEVICE_IDLE_PCT_MAX - 0.1, "lock"),
    ] {
        assert_eq!(resource(&blocked, &busy(pct)), name, "{pct}");
    }
    let events = blocked.map(|(class, share)| event(class, share));
    let told = judge(&Evidence {
        figures: &busy(0.0),
        events: &events,
        background: &[],
        driver_pct: None,
        device: None,
        jobs: 8,
        told_by_server: true,
    });
    assert_eq!(told.resource, "other wait", "a server names its locks");
}

#[test]
fn what_nobody_tells_is_unknown() {
    let untold = [("unknown", 90.0), ("driver", 10.0)];
    assert_eq!(resource(&untold, &figures()), "unknown");
    assert_eq!(resource(&[], &figures()), "unknown");
}

#[test]
fn a_sentence_has_its_numbers() {
    let figures = Figures {
        device_busy_pct: Some(97.0),
        read_await_ms: Some(0.25),
        device_queue_mean: Some(3.21),
        ..figures()
    };
    let sentence = judged(&[("data read", 71.0), ("CPU", 29.0)], &figures).sentence;
    assert_eq!(
        sentence,
        "The device sda is saturated: 71 % of the jobs' busy time went to reading and writing data; \
         device: busy 97 %, 0.25 ms a read, 3.2 requests at once."
    );
    let syncs = BackgroundEvent {
        process: "log".into(),
        event: "log syncs".into(),
        count: Some(200),
        time_s: Some(0.3),
        ..BackgroundEvent::default()
    };
    let sentence = judge(&Evidence {
        figures: &Figures::default(),
        events: &[event("log sync", 60.0), event("CPU", 40.0)],
        background: &[syncs],
        driver_pct: None,
        device: None,
        jobs: 1,
        told_by_server: false,
    })
    .sentence;
    assert_eq!(
        sentence,
        "The log held it back: 60 % of the jobs' busy time went to writing and syncing it, 1.50 ms a \
         sync."
    );
}
