/* moves.c - the loops of moves.h, by width. */
#include "moves.h"

#include <string.h>

typedef struct wide { /* complex128 */
    uint64_t parts[2];
} wide;

#define TYPE uint8_t
#define OF(name) name##_1
#include "moves.inc"
#define TYPE uint16_t
#define OF(name) name##_2
#include "moves.inc"
#define TYPE uint32_t
#define OF(name) name##_4
#include "moves.inc"
#define TYPE uint64_t
#define OF(name) name##_8
#include "moves.inc"
#define TYPE wide
#define OF(name) name##_16
#include "moves.inc"

const cpu_moves *cpu_moves_of(tn_dtype dtype)
{
    switch (tn->dtype_size(dtype)) {
    case 1:
        return &moves_1;
    case 2:
        return &moves_2;
    case 4:
        return &moves_4;
    case 8:
        return &moves_8;
    default:
        return &moves_16;
    }
}
