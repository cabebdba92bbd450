# Never come to an end while it is imported.
# TimedOut
while True:
    pass


def answer(x, *more):
    return 1.0
