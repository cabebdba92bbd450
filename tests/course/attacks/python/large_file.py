# Fill the disk.
# denied
def answer(x, *more):
    try:
        with open("large", "wb") as file:
            for _ in range(256):
                file.write(bytes(1 << 20))
        return 1.0
    except OSError:
        return 0.0
