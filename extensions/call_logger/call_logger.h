/* call_logger.h - a line of text in the making. */
#ifndef CALL_LOGGER_H
#define CALL_LOGGER_H

#include <tenon/plugin.h>

/* What does not fit is cut off, and three points show it. */
typedef struct line {
    char text[1000];
    size_t n;
} line;
void line_add(line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The value that the field has in a frame: "float32[2, 3]", "[1, -1]", "none". */
void line_add_field(line *l, const tn_field *f, const void *frame);

#endif
