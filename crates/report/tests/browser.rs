//! first look
mod fixture;
#[test]
fn look() {
    let run = fixture::run();
    let reference = fixture::reference();
    let page = report::html(&run, &[report::Against::Reference(&reference)], &report::HtmlOptions::default(), "{}");
    std::fs::write("/tmp/rep/page.html", &page).unwrap();
    println!("{} bytes, {} points", page.len(), run.points.len());
    let text = report::terminal(&run, &[reference], 120, false);
    println!("{text}");
}
