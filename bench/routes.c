/* Dijkstra with a binary heap over compressed rows, as world/routes.py runs it, in C.
 * cc -O3 -march=native -shared -fPIC */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t u4;
typedef int32_t i4;

typedef struct {
    double key;
    i4 row;
} entry;

static u4 push(entry *heap, u4 count, double key, i4 row) {
    u4 k = count;
    while (k > 0) {
        u4 above = (k - 1) >> 1;
        if (heap[above].key <= key)
            break;
        heap[k] = heap[above];
        k = above;
    }
    heap[k] = (entry){key, row};
    return count + 1;
}

static void pop(entry *heap, u4 last) {
    entry moved = heap[last];
    u4 k = 0, below;
    while ((below = 2 * k + 1) < last) {
        if (below + 1 < last && heap[below + 1].key < heap[below].key)
            below++;
        if (moved.key <= heap[below].key)
            break;
        heap[k] = heap[below];
        k = below;
    }
    heap[k] = moved;
}

/* found [n], parent [n], from one source to all; ties by the lowest row */
void shortest(u4 n, const u4 *start, const i4 *who, const double *weight, i4 source, double *found,
              i4 *parent) {
    entry *heap = malloc((start[n] + 1) * sizeof *heap);
    uint8_t *done = calloc(n, 1);
    for (u4 i = 0; i < n; i++) {
        found[i] = INFINITY;
        parent[i] = -1;
    }
    found[source] = 0.0;
    parent[source] = source;
    u4 count = push(heap, 0, 0.0, source);
    while (count) {
        i4 i = heap[0].row;
        pop(heap, --count);
        if (done[i])
            continue;
        done[i] = 1;
        for (u4 k = start[i]; k < start[i + 1]; k++) {
            i4 j = who[k];
            double reached = found[i] + weight[k];
            if (reached > found[j] || done[j])
                continue;
            if (reached < found[j]) {
                found[j] = reached;
                parent[j] = i;
                count = push(heap, count, reached, j);
            } else if (i < parent[j])
                parent[j] = i;
        }
    }
    free(heap);
    free(done);
}
