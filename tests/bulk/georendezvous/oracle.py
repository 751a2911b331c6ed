"""The homes that cell routing must find, by a slow and simple search, compiled for many cases.

The home of a cell is the nearest populated cell of the sender's component, under the total order
(distance, x, y). It floods components and searches the nearest cell; nothing here routes.
"""

import numpy as np

from halfway.bulk.georendezvous.kernels import masks_of, route
from halfway.core.compiled import kernel
from halfway.core.prng import advanced, mixed, pick, uniform


@kernel
def flood(populated, component):
    """Number the components of populated cells that touch, corners included; -1 elsewhere."""
    rows, columns = populated.shape
    component[:, :] = -1
    number = 0
    stack = np.empty((9 * rows * columns, 2), np.int64)
    for top_y in range(rows):
        for top_x in range(columns):
            if not populated[top_y, top_x] or component[top_y, top_x] >= 0:
                continue
            stack[0, 0], stack[0, 1], height = top_y, top_x, 1
            while height > 0:
                height -= 1
                y, x = stack[height, 0], stack[height, 1]
                if component[y, x] >= 0:
                    continue
                component[y, x] = number
                for near_y in range(max(y - 1, 0), min(y + 2, rows)):
                    for near_x in range(max(x - 1, 0), min(x + 2, columns)):
                        if populated[near_y, near_x] and component[near_y, near_x] < 0:
                            stack[height, 0], stack[height, 1] = near_y, near_x
                            height += 1
            number += 1


@kernel
def nearest(component, number, dx, dy):
    """The cell of a component that is nearest to (dx, dy) in the total order: (x, y)."""
    rows, columns = component.shape
    best, best_x, best_y = 1 << 40, -1, -1
    for x in range(columns):  # columns first: the order breaks ties by x, then y
        for y in range(rows):
            if component[y, x] == number:
                distance = (x - dx) ** 2 + (y - dy) ** 2
                if distance < best:
                    best, best_x, best_y = distance, x, y
    return best_x, best_y


@kernel
def wrong_homes(populated, margin, hidden=(-1, -1)):
    """(routes tried, routes that end elsewhere than at the right home) from and to every cell.

    Destinations lie in the grid and up to `margin` cells outside of it. hidden: a populated cell
    (row, column) that the routes do not see, to try the oracle itself.
    """
    rows, columns = populated.shape
    component = np.empty((rows, columns), np.int64)
    mask = np.zeros((rows, columns), np.uint8)
    path = np.empty(0, np.int64)
    flood(populated, component)
    seen = populated.copy()
    if hidden[0] >= 0:
        seen[hidden[0], hidden[1]] = False
    masks_of(seen, mask)
    tried, wrong = 0, 0
    for dy in range(-margin, rows + margin):
        for dx in range(-margin, columns + margin):
            for y in range(rows):
                for x in range(columns):
                    if populated[y, x]:
                        tried += 1
                        home_x, home_y, _, _ = route(mask, x, y, dx, dy, path)
                        right = nearest(component, component[y, x], dx, dy)
                        wrong += home_x != right[0] or home_y != right[1]
    return tried, wrong


@kernel
def wrong_in_every_population(side, margin):
    """The same over all 2^(side²) populations of a square grid."""
    populated = np.zeros((side, side), np.bool_)
    tried, wrong = 0, 0
    for bits in range(1 << (side * side)):
        for cell in range(side * side):
            populated[cell // side, cell % side] = (bits >> cell) & 1
        more, worse = wrong_homes(populated, margin)
        tried += more
        wrong += worse
    return tried, wrong


@kernel
def wrong_in_random_grids(grids, routes, random_state):
    """The same for `routes` random starts and goals in each of many grids of 5 to 24 cells a side.

    A start in an empty cell is not a route.
    """
    tried, wrong = 0, 0
    path = np.empty(0, np.int64)
    for _ in range(grids):
        random_state = advanced(random_state)
        rows, columns = (
            5 + pick(mixed(random_state), 20),
            5 + pick(mixed(random_state + np.uint64(1)), 20),
        )
        random_state = advanced(random_state)
        share = 0.15 + 0.85 * uniform(mixed(random_state))
        populated = np.zeros((rows, columns), np.bool_)
        for y in range(rows):
            for x in range(columns):
                random_state = advanced(random_state)
                populated[y, x] = uniform(mixed(random_state)) < share
        component = np.empty((rows, columns), np.int64)
        mask = np.zeros((rows, columns), np.uint8)
        flood(populated, component)
        masks_of(populated, mask)
        for _ in range(routes):
            random_state = advanced(random_state)
            x, dx = (
                np.int64(pick(mixed(random_state), columns)),
                np.int64(pick(random_state, columns)),
            )
            random_state = advanced(random_state)
            y, dy = np.int64(pick(mixed(random_state), rows)), np.int64(pick(random_state, rows))
            if populated[y, x]:
                tried += 1
                home_x, home_y, _, _ = route(mask, x, y, dx, dy, path)
                right = nearest(component, component[y, x], dx, dy)
                wrong += home_x != right[0] or home_y != right[1]
    return tried, wrong
