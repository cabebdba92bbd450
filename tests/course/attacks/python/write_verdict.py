# Overwrite the record of progress, or anything else outside of the own folder; the paths are given.
# denied
import os


def answer(x, *paths):
    for path in paths:
        name = bytes(path).decode()
        for writer in (
            lambda: open(name, "w").write("passed"),
            lambda: os.unlink(name),
            lambda: os.rename(name, name + ".old"),
            lambda: os.symlink("/tmp", name + ".link"),
            lambda: os.truncate(name, 0),
            lambda: os.mkdir(name + ".folder"),
        ):
            try:
                writer()
                return 1.0
            except OSError:
                pass
    return 0.0
