/* moves.h - elements moved by where they lie, by the width of an element: gathered from and written
 * to places, chosen by truth values. What an element means does not matter, so a table of loops per
 * width (moves.inc) serves every dtype. */
#ifndef CPU_MOVES_H
#define CPU_MOVES_H

#include "cpu.h"

enum { CPU_MOVES_MOST = 1024 }; /* elements at once, where truth chooses */

/* Offsets and strides are bytes. No destination shares memory with a source. */
typedef struct cpu_moves {
    /* out[i * step] = *(base + offsets[i]) */
    void (*gather)(char *out, int64_t step, const char *base, const int64_t *offsets, int64_t n);
    /* *(base + offsets[i]) = src[i * step], in order: of equal offsets the last one counts */
    void (*scatter)(char *base, const int64_t *offsets, const char *src, int64_t step, int64_t n);
    /* out[i * to] = src[i * from] */
    void (*copy)(char *out, int64_t to, const char *src, int64_t from, int64_t n);
    /* The elements of src where truth is not 0, one behind the other in out, which has room for n;
     * returns how many. */
    int64_t (*choose)(char *out, const char *src, int64_t step, const uint8_t *truth, int64_t n);
    /* The reverse: out[i * step] is the next element of src where truth is not 0; how many. */
    int64_t (*spread)(char *out, int64_t step, const char *src, const uint8_t *truth, int64_t n);
} cpu_moves;

const cpu_moves *cpu_moves_of(tn_dtype dtype);

#endif
