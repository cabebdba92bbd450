def touched(tiles_m, tiles_n, first, wave):
    """Returns, for programs first … first + wave - 1: how many strips they need row by row, the best group, and how many with it."""

    def strips(group):
        last = min(first + wave, tiles_m * tiles_n)
        rows, columns = set(), set()
        for number in range(first, last):
            top = number // (group * tiles_n) * group
            height = min(group, tiles_m - top)
            place = number % (group * tiles_n)
            rows.add(top + place % height)
            columns.add(place // height)
        return len(rows) + len(columns)

    best = min(range(1, tiles_m + 1), key=strips)
    return strips(1), best, strips(best)
