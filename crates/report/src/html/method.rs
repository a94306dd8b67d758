//! How every figure is made, in a few sentences, and the disclaimer.

/// Heading and text of each paragraph.
pub const METHOD: &[(&str, &str)] = &[
    (
        "Rates",
        "Operations and rows completed by the driver's own jobs, divided by the measured time from the common \
         start to the finish of the last job. Ramp-up lies before that start and is counted nowhere.",
    ),
    (
        "Latency",
        "Every operation is recorded in a histogram with an error of at most 0.1 %. Service time runs from the \
         actual start of an operation, response time from its intended start; with closed jobs the two are nearly \
         the same, with an open schedule their distance is queueing. Histograms of repetitions are merged; \
         percentiles are never averaged.",
    ),
    (
        "Repetitions",
        "Where a plan was repeated, a figure is the median over the repetitions and the range shown beside it \
         runs from the smallest to the largest. A single run says nothing about noise.",
    ),
    (
        "Validity",
        "Each test verifies what it computed. A point that failed a check is marked, drawn as a cross, and \
         appears in no scorecard.",
    ),
    (
        "Processor, device, log",
        "Read from the host's counters before and after the point (averages) and once a second (peaks and time \
         series). Device figures are those of the block device under the target's files, whoever caused them; \
         log figures are what the engine wrote to its log. What the platform does not tell is “–”, never 0.",
    ),
    (
        "Parallelism",
        "DOP is jobs × threads inside a job. Efficiency is the throughput per unit of parallelism relative to \
         the smallest level. A sweep saturates at the smallest level that reaches 95 % of the largest measured \
         throughput, unless that is the last one. Cores left are the host's hardware threads that were idle, on average and at the peak.",
    ),
    (
        "Scaling law",
        "The thin line on a chart of throughput is the Universal Scalability Law fitted to the valid points of \
         one sweep: contention σ is the share of the work for which jobs queue, coherency κ what every pair of \
         jobs costs to stay in agreement, λ the throughput of one job. It needs four levels, its 95 % intervals \
         six; without coherency it is Amdahl's law. Beyond the measured range it is dashed, at most to twice \
         the largest level, and a guess; a maximum that was not observed is not given.",
    ),
    (
        "The driver",
        "Its own processor time, its share of the jobs' time (Little's law) and its late starts stand with every \
         point, to show that it was not the bottleneck.",
    ),
    (
        "Beside each other",
        "Columns of other runs and of references are set beside this run without a verdict. Published figures \
         come from other hardware, engines and amounts of work; units were converted, contradictions in the \
         source are noted beside the figure.",
    ),
    (
        "Units",
        "MB is 10⁶ bytes, MiB is 2²⁰ bytes; k, M, G on axes are powers of 1000.",
    ),
];

/// What the figures are not.
pub const DISCLAIMER: &str = "Workloads whose names mention OLTP or OLAP are derived from the TPC-C and TPC-H \
    specifications; others follow published component tests. TPC, TPC-C and TPC-H are trade marks of the \
    Transaction Processing Performance Council. The figures in this report are not TPC results, were not \
    audited, and are not comparable with published results of any TPC benchmark.";
