//! What the machine is (facts) and does (samplers).
