def arrived(ops):
    """Returns how many copies are certain to have arrived, and how many groups may be on their way."""
    groups = []  # of each group that may be on its way, the oldest first: its copies
    loose = 0  # copies that belong to no group yet
    there = 0
    for op in ops:
        if op == 0:
            loose += 1
        elif op == 1:
            groups.append(loose)
            loose = 0
        else:
            while len(groups) > op - 2:
                there += groups.pop(0)
    return there, len(groups)
