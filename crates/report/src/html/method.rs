//! How every figure is made, in a few sentences, and the disclaimer.

pub const METHOD: &[(&str, &str)] = &[
    (
        "Rates",
        "Operations and rows completed by the sessions, divided by the measured time from the common start to the end of \
         the last job. Ramp-up lies before that start and does not count.",
    ),
    (
        "Latency",
        "Every operation is recorded in a histogram with an error of at most 0.1 %. Service time runs from the \
         actual start of an operation, response time from its intended start. With closed jobs the two are nearly \
         equal; with an open schedule the difference is queueing. Histograms of repetitions are merged; \
         percentiles are never averaged.",
    ),
    (
        "Repetitions",
        "A figure of a repeated plan is the median over the repetitions; the range next to it runs from the smallest to \
         the largest. A single run says nothing about noise.",
    ),
    (
        "Validity",
        "Each test verifies what it computed. A point that failed a check is marked, drawn as a cross, and excluded \
         from the scorecard.",
    ),
    (
        "CPU, device, log",
        "Read from the host's counters before and after the point (averages) and once a second (peaks and time \
         series). Device figures cover all I/O of the block device under the target's files, including that of other \
         programs; log figures are what the engine wrote to its log. What the platform does not report is “–”, never 0.",
    ),
    (
        "Parallelism",
        "DOP (degree of parallelism) is sessions × threads per session. Efficiency is throughput per unit of parallelism, \
         relative to the smallest level. A sweep saturates at the smallest level that reaches 95 % of the largest measured \
         throughput, unless that is the last one. Cores left are the host's idle hardware threads, on average and at the peak.",
    ),
    (
        "Scaling law",
        "The thin line on a throughput chart is the Universal Scalability Law fitted to the valid points of one sweep: \
         contention σ is the share of the work for which jobs queue, coherency κ the cost of keeping each pair of jobs \
         consistent, λ the throughput of one session. The fit needs four levels, its 95 % intervals six; without coherency \
         it is Amdahl's law. Beyond the measured range the line is a dashed extrapolation, at most to twice the \
         largest level; a maximum that was not observed is not reported.",
    ),
    (
        "The driver",
        "Its CPU time, its share of the sessions' time (Little's law) and its late starts are shown with every point, to \
         show that the driver was not the bottleneck.",
    ),
    (
        "Comparisons",
        "Columns of other runs and of references carry no verdict. Published figures come from other hardware, engines \
         and amounts of work; units were converted, and contradictions in the source are noted at the figure.",
    ),
    (
        "Units",
        "MB is 10⁶ bytes, MiB is 2²⁰ bytes; k, M, G on axes are powers of 1000.",
    ),
];

pub const DISCLAIMER: &str = "Workloads whose names mention OLTP or OLAP are derived from the TPC-C and TPC-H \
    specifications; others follow published component tests. TPC, TPC-C and TPC-H are trademarks of the \
    Transaction Processing Performance Council. The figures in this report are not TPC results, were not \
    audited, and are not comparable with published results of any TPC benchmark.";
