"""What is measured: trials, experiments and suites."""
