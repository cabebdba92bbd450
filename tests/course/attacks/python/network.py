# Ask somebody else for the answer.
# denied
import socket


def answer(x, *more):
    for kind in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX):
        try:
            socket.socket(kind, socket.SOCK_STREAM)
            return 1.0
        except OSError:
            pass
    return 0.0
