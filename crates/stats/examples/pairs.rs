//! Ratios of paired measurements with their 95 % intervals: reads lines `CASE,A,B` from standard input and prints the
//! ratio B/A of each case, in the order of its first line.

use std::io::{self, BufRead};

use stats::ratio::paired;

fn main() -> io::Result<()> {
    let mut cases: Vec<(String, Vec<f64>, Vec<f64>)> = Vec::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let mut fields = line.split(',').map(str::trim);
        let (Some(case), Some(a), Some(b)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let (Ok(a), Ok(b)) = (a.parse(), b.parse()) else {
            continue;
        };
        if !cases.iter().any(|(name, ..)| name == case) {
            cases.push((case.to_owned(), Vec::new(), Vec::new()));
        }
        for (name, of_a, of_b) in &mut cases {
            if name == case {
                of_a.push(a);
                of_b.push(b);
            }
        }
    }
    for (case, a, b) in &cases {
        match paired(a, b, 0.95) {
            Ok(r) => println!(
                "{case:<34} {:3} pairs  B/A {:.3}  [{:.3}, {:.3}]",
                a.len(),
                r.interval.estimate,
                r.interval.low,
                r.interval.high
            ),
            Err(warning) => println!("{case:<34} {:3} pairs  {warning}", a.len()),
        }
    }
    Ok(())
}
