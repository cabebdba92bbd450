def ring(steps, latency, feed, work, stages):
    """Returns the time of all steps, and how much of it is spent waiting."""
    # TODO: this is the time of one stage, with memory that delivers at any rate.
    now = steps * (latency + work)
    return now, now - steps * work
