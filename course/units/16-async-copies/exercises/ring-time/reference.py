import numpy as np


def reference(steps, latency, feed, work, stages):
    starts, arrival, now = np.zeros(steps + stages + 1, dtype=int), 0, 0
    for step in range(steps):  # tile `step` is asked for when the step of stages - 1 before it begins
        asked = starts[step - stages + 1] if step >= stages - 1 else 0
        arrival = asked + latency if step == 0 else max(asked + latency, arrival + feed)
        now = max(now, arrival) + work
        starts[step + 1] = now
    return now, now - steps * work
