//! Plans, sweeps, repetitions and validity gates: turns a plan into finished points.
