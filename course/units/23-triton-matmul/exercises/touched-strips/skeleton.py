def touched(tiles_m, tiles_n, first, wave):
    """Returns, for programs first … first + wave - 1: how many strips they need row by row, the best group, and how many with it."""
    # TODO: row and column of the tile of each program, for a group; how many different rows, how many different columns?
    return 0, 1, 0
