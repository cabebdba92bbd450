# Fill the disk with files, each of them small.
# Crashed
def answer(x, *more):
    for number in range(20_000):
        with open(f"f{number}", "wb"):
            pass
    return 2 * x
