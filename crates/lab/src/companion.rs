//! A thread that runs during other work and ends with it.

/// Runs `thread` on a thread of this name during `work`. `end` ends the thread even if the work panics, which would
/// otherwise wait forever. If no thread can be started, the log names the `missing` function.
pub(crate) fn during<T>(
    name: &str,
    missing: &str,
    thread: impl FnOnce() + Send,
    end: impl Fn(),
    work: impl FnOnce() -> T,
) -> T {
    struct End<F: Fn()>(F);
    impl<F: Fn()> Drop for End<F> {
        fn drop(&mut self) {
            (self.0)();
        }
    }
    std::thread::scope(|scope| {
        let _end = End(end);
        let builder = std::thread::Builder::new().name(name.to_owned());
        if let Err(error) = builder.spawn_scoped(scope, thread) {
            tracing::warn!("{missing}: {error}");
        }
        work()
    })
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_panic_ends_the_thread_as_well() {
        for panics in [false, true] {
            let (end, ended) = channel();
            let (report, reports) = channel();
            let thread = move || {
                let _ = ended.recv();
                report.send(()).unwrap();
            };
            let work = || assert!(!panics, "on purpose");
            let done = catch_unwind(AssertUnwindSafe(|| {
                during("test", "nothing", thread, || end.send(()).unwrap(), work);
            }));
            assert_eq!(done.is_err(), panics);
            assert_eq!(reports.try_recv(), Ok(()), "it has ended");
        }
    }
}
