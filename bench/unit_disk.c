/* The yardstick: a unit disk graph by a cell grid in C, the same job under the same contract
 * (rows relabelled in cell order, compressed rows, neighbours ascending, the ids as given kept).
 * Built by unit_disk.py with -O3 -march=native; products are not fused into sums, so that
 * `distance < radius` decides alike everywhere. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#ifndef COLUMNS
#define COLUMNS 3.0 /* cells a radius along x: measured, like ours */
#endif

static inline uint32_t bin(double value, double low, double per, uint32_t count) {
    double place = (value - low) * per;
    if (place < 0) return 0;
    uint32_t b = (uint32_t)place;
    return b < count ? b : count - 1;
}

/* start [n+1], ordered [2n] and label [n] are the caller's; *who is allocated here.
 * Returns the number of entries of *who, or -1 without memory. */
int64_t unit_disk(uint32_t n, const double *restrict xy, double radius, uint32_t *restrict start,
                  int32_t **who_out, double *restrict ordered, int32_t *restrict label) {
    double x0 = INFINITY, y0 = INFINITY, x1 = -INFINITY, y1 = -INFINITY;
    for (uint32_t i = 0; i < n; i++) {
        double x = xy[2 * i], y = xy[2 * i + 1];
        x0 = x < x0 ? x : x0, x1 = x > x1 ? x : x1;
        y0 = y < y0 ? y : y0, y1 = y > y1 ? y : y1;
    }
    const double per_x = COLUMNS / radius, per_y = 1 / radius;
    const uint32_t columns = (uint32_t)((x1 - x0) * per_x) + 1;
    const uint32_t rows = (uint32_t)((y1 - y0) * per_y) + 1;
    const uint32_t cells = columns * rows;
    uint32_t *first = calloc((size_t)cells + 1, sizeof *first);
    uint32_t *cell = malloc(n * sizeof *cell);
    if (!first || !cell) return free(first), free(cell), -1;

    for (uint32_t i = 0; i < n; i++) {
        cell[i] = bin(xy[2 * i + 1], y0, per_y, rows) * columns + bin(xy[2 * i], x0, per_x, columns);
        first[cell[i]]++;
    }
    for (uint32_t c = 0, total = 0; c <= cells; c++) first[c] = total += first[c];
    for (uint32_t i = n; i-- > 0;) {
        uint32_t k = --first[cell[i]];
        ordered[2 * k] = xy[2 * i], ordered[2 * k + 1] = xy[2 * i + 1], label[k] = (int32_t)i;
    }
    free(cell);

    size_t room = 1; /* candidates: memory that is never touched costs nothing */
    for (uint32_t i = 0; i < n; i++) {
        double x = ordered[2 * i], y = ordered[2 * i + 1];
        uint32_t a = bin(x - radius, x0, per_x, columns), b = bin(x + radius, x0, per_x, columns) + 1;
        uint32_t last = bin(y + radius, y0, per_y, rows);
        for (uint32_t row = bin(y - radius, y0, per_y, rows); row <= last; row++)
            room += first[row * columns + b] - first[row * columns + a];
    }
    int32_t *restrict who = malloc(room * sizeof *who);
    if (!who) return free(first), -1;

    const double reach = radius * radius;
    size_t k = 0;
    for (uint32_t i = 0; i < n; i++) {
        double x = ordered[2 * i], y = ordered[2 * i + 1];
        uint32_t a = bin(x - radius, x0, per_x, columns), b = bin(x + radius, x0, per_x, columns) + 1;
        uint32_t last = bin(y + radius, y0, per_y, rows);
        start[i] = (uint32_t)k;
        for (uint32_t row = bin(y - radius, y0, per_y, rows); row <= last; row++) {
            uint32_t end = first[row * columns + b];
            for (uint32_t j = first[row * columns + a]; j < end; j++) {
                double dx = ordered[2 * j] - x, dy = ordered[2 * j + 1] - y;
                who[k] = (int32_t)j; /* written first and kept if near: nothing to mispredict */
                k += (dx * dx + dy * dy < reach) & (j != i);
            }
        }
    }
    start[n] = (uint32_t)k;
    free(first);
    int32_t *fitted = realloc(who, (k ? k : 1) * sizeof *who);
    *who_out = fitted ? fitted : who;
    return (int64_t)k;
}

void forget(int32_t *who) { free(who); }
