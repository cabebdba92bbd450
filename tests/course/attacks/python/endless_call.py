# Never come to an end, and let no exception through.
# TimedOut
def answer(x, *more):
    while True:
        try:
            while True:
                x = x
        except BaseException:
            pass
