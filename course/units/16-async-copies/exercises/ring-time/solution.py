def ring(steps, latency, feed, work, stages):
    """Returns the time of all steps, and how much of it is spent waiting."""
    now = 0
    arrivals = []  # of the tiles, in the order in which they were asked for

    def ask():
        free = arrivals[-1] + feed if arrivals else 0
        arrivals.append(max(now + latency, free))

    for _ in range(stages - 1):
        ask()
    for step in range(steps):
        ask()
        now = max(now, arrivals[step]) + work
    return now, now - steps * work
