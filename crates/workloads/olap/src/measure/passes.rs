//! Client that executes another one's operations in whole passes until its time is over.

use std::time::{Duration, Instant};

use ::load::{BlockingClient, Done, Failure, Request};

pub const PASSES_MAX: u64 = 100_000;

pub struct Passes<'s> {
    pub client: Box<dyn BlockingClient + 's>,
    pub queries: u64,
    pub least: Duration,
    pub begun: Option<Instant>,
}

impl BlockingClient for Passes<'_> {
    fn operate(&mut self, request: Request) -> Result<Done, Failure> {
        let index = request.index;
        let begun = *self.begun.get_or_insert_with(Instant::now);
        if index > 0 && index.is_multiple_of(self.queries) && begun.elapsed() >= self.least {
            return Err(Failure::Exhausted);
        }
        self.client.operate(request)
    }

    fn measurement_begins(&mut self) {
        self.client.measurement_begins();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Quick;

    impl BlockingClient for Quick {
        fn operate(&mut self, _request: Request) -> Result<Done, Failure> {
            Ok(Done::default())
        }
    }

    fn executed(least: Duration) -> u64 {
        let mut user = Passes {
            client: Box::new(Quick),
            queries: 3,
            least,
            begun: None,
        };
        (0..)
            .take_while(|index| user.operate(Request::of_job(0, *index)).is_ok())
            .count() as u64
    }

    #[test]
    fn a_pass_is_never_left_in_its_middle() {
        assert_eq!(executed(Duration::ZERO), 3, "one pass at least");
        let many = executed(Duration::from_millis(20));
        assert!(many > 3 && many.is_multiple_of(3), "{many}");
    }
}
