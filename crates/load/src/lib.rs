//! Drives jobs and virtual users on a schedule and records what they feel; knows no SQL.
