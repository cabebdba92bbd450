"""Matrix multiplication: from one thread per element to the speed of the vendor's library."""
