/* The loops of ensemble.py and of bulk/walks/pair_kernels.py in C, on the same arrays: the baseline.
 * cc -O3 -march=native -shared -fPIC */
#include <stdint.h>
#include <string.h>

typedef uint32_t u4;
typedef uint64_t u8;
typedef int32_t i4;
typedef int64_t i8;

static inline u8 mixed(u8 w) {
    w = (w ^ (w >> 30)) * 0xBF58476D1CE4E5B9u;
    w = (w ^ (w >> 27)) * 0x94D049BB133111EBu;
    return w ^ (w >> 31);
}
static const u8 GOLDEN = 0x9E3779B97F4A7C15u;
static inline u8 seeded(u8 seed, u8 name) { return mixed(seed ^ mixed(name + GOLDEN)); }
static inline u4 pick(u8 value, u4 bound) { return (u4)(((value >> 32) * bound) >> 32); }
static inline float fraction(u8 value) { return (float)(value & 0xFFFFFF) * 0x1p-24f; }

u4 one_walk(const u4 *start, const i4 *who, u4 x, u8 word, i8 steps) {
    for (i8 s = 0; s < steps; s++) {
        word += GOLDEN;
        u4 first = start[x];
        x = (u4)who[first + pick(mixed(word), start[x + 1] - first)];
    }
    return x;
}

typedef struct {
    const u4 *start;
    const i4 *who;
    u4 *mark; /* [n, 4] */
    i4 *back; /* [n, 2] */
    u4 *order; /* [n, 2] */
    const u4 *base_at, *ties_at; /* NULL for pure walks */
    const uint16_t *base, *ties;
    u8 *passed;
    float *behind, *row;
} field;

static inline void leave_trail(field *f, u4 stamp, int w, u4 y, u4 from, u4 passed) {
    f->mark[4 * y + w] = stamp;
    f->back[2 * y + w] = (i4)from;
    f->order[2 * y + w] = passed;
    for (u4 e = f->start[y]; e < f->start[y + 1]; e++) f->mark[4 * (u4)f->who[e] + 2 + w] = stamp;
}

static inline u4 onward(field *f, u4 stamp, int w, u4 e, u4 x, u8 value) {
    if (!f->passed) {
        u4 y = (u4)f->who[e];
        return pick(value, f->start[y + 1] - f->start[y]);
    }
    u4 link = 2 * e + w;
    float behind = fraction(value) * (float)(f->start[x + 1] - f->start[x]);
    u8 passage = f->passed[link];
    if (passage >> 32 != stamp) {
        u4 at = f->ties_at[e];
        u4 p = f->ties[at + pick(value, f->ties_at[e + 1] - at)];
        f->passed[link] = (u8)stamp << 32 | p;
        f->behind[link] = behind;
        return p;
    }
    u4 degree = f->base_at[e + 1] - f->base_at[e];
    float *row = f->row + 2 * (u8)f->base_at[e] + (u8)w * degree;
    if (!(passage & 1 << 16)) {
        for (u4 q = 0; q < degree; q++) row[q] = f->base[f->base_at[e] + q];
        row[passage & 0xFFFF] += f->behind[link];
        f->passed[link] = passage | 1 << 16;
    }
    float least = row[0];
    u4 ties = 0, p = 0;
    for (u4 q = 1; q < degree; q++) least = row[q] < least ? row[q] : least;
    for (u4 q = 0; q < degree; q++) ties += row[q] == least;
    u4 rank = pick(value, ties);
    while (row[p] != least || rank > 0) {
        if (row[p] == least) rank--;
        p++;
    }
    row[p] += behind;
    return p;
}

static i8 where(field *f, u4 stamp, int w, u4 y, i8 *steps) {
    if (f->mark[4 * y + 1 - w] == stamp) return y;
    u4 latest = 0, v = 0;
    for (u4 e = f->start[y]; e < f->start[y + 1]; e++) {
        u4 u = (u4)f->who[e];
        if (f->mark[4 * u + 1 - w] == stamp && f->order[2 * u + 1 - w] >= latest) {
            latest = f->order[2 * u + 1 - w];
            v = u;
        }
    }
    ++*steps;
    return v;
}

/* Pairs of walks, one step to k, heard; total steps and meeting node of each. */
void meetings(const u4 *start, const i4 *who, u4 *mark, i4 *back, u4 *order, const u4 *base_at,
              const u4 *ties_at, const uint16_t *base, const uint16_t *ties, u8 *passed,
              float *behind, float *row, u4 stamp, const i8 *pairs, i8 count, u8 seed, i8 k,
              i8 *steps_out, i8 *nodes_out) {
    field f = {start, who, mark, back, order, base_at, ties_at, base, ties, passed, behind, row};
    for (i8 p = 0; p < count; p++) {
        u4 x[2] = {(u4)pairs[2 * p], (u4)pairs[2 * p + 1]}, e[2], seen[2] = {1, 1};
        u8 word[2];
        i8 steps = 0, node = -1;
        stamp++;
        for (int w = 0; w < 2; w++) {
            leave_trail(&f, stamp, w, x[w], x[w], 0);
            word[w] = seeded(seeded(seed, x[w]), (u8)(2 * p + w)) + GOLDEN;
            e[w] = start[x[w]] + pick(mixed(word[w]), start[x[w] + 1] - start[x[w]]);
        }
        while (node < 0) {
            for (i8 turn = 0; turn <= k && node < 0; turn++) {
                int w = turn > 0;
                u4 y = (u4)who[e[w]];
                steps++;
                if (mark[4 * y + w] != stamp) leave_trail(&f, stamp, w, y, x[w], seen[w]++);
                if (mark[4 * y + 1 - w] == stamp || mark[4 * y + 3 - w] == stamp) {
                    node = where(&f, stamp, w, y, &steps);
                    break;
                }
                word[w] += GOLDEN;
                u4 z = onward(&f, stamp, w, e[w], x[w], mixed(word[w]));
                x[w] = y;
                e[w] = start[y] + z;
            }
        }
        steps_out[p] = steps;
        nodes_out[p] = node;
    }
}
