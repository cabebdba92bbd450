"""Where sequences of given lengths start, one after the other in one array, and where the last one ends."""


def reference(lengths):
    places = [0]
    for length in lengths:
        places.append(places[-1] + int(length))
    return places
