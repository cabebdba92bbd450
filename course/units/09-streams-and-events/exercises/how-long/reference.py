def reference(chunks, copy_in, kernel, copy_out):
    """Played chunk by chunk: a step begins when the chunk is ready for it and its engine is free."""
    seconds = (copy_in, kernel, copy_out)
    free = [0.0, 0.0, 0.0]
    for _ in range(int(chunks)):
        ready = 0.0
        for step, duration in enumerate(seconds):
            ready = free[step] = max(ready, free[step]) + duration
    return {"one": chunks * sum(seconds), "several": free[2]}
