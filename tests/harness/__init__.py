"""What tests of several folders share: samples, checks and contracts, imported as `tests.harness`."""
