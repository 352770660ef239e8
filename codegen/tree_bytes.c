/* tree_bytes.c - below the tree: which bytes a YAML file may hold, where its lines end, and what an
 * unquoted scalar is by YAML 1.1's rules, which are PyTorch's: `no` is a truth value and 3 a
 * number. */
#include "tree_impl.h"

#include <stdint.h>
#include <string.h>

enum { BAD_BYTE_CAP = 20 };

/* Length of the character at s when YAML allows it, 0 when not. */
static int allowed(const unsigned char *s, size_t n)
{
    if (s[0] < 0x80)
        return s[0] == '\t' || s[0] == '\n' || s[0] == '\r' || (s[0] >= 0x20 && s[0] < 0x7f);
    int len = s[0] >= 0xf0 && s[0] < 0xf5   ? 4
              : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
              : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                                            : 0;
    if (len == 0 || (size_t)len > n)
        return 0;
    uint32_t c = s[0] & (0x7fu >> len);
    for (int i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3f);
    }
    bool overlong = (len == 3 && c < 0x800) || (len == 4 && c < 0x10000);
    bool refused = (c < 0xa0 && c != 0x85) || (c >= 0xd800 && c < 0xe000) || c == 0xfeff ||
                   c == 0xfffe || c == 0xffff || c > 0x10ffff;
    return overlong || refused ? 0 : len;
}

/* Reports and blanks what YAML does not allow. */
void cg_bytes_clean(cg_diag *d, const char *name, char *bytes, size_t n)
{
    cg_pos pos = {1, 1};
    int bad = 0;
    size_t i = 0;
    while (i < n) {
        unsigned char byte = (unsigned char)bytes[i];
        bool plain = byte >= ' ' && byte < 0x7f; /* nearly all */
        int len = plain ? 1 : allowed((const unsigned char *)bytes + i, n - i);
        if (len == 0) {
            unsigned c = (unsigned char)bytes[i];
            if (bad++ < BAD_BYTE_CAP)
                cg_error(d, name, pos,
                         "%s 0x%02x; remove it: the file is UTF-8 text without control characters",
                         c == 0     ? "a NUL byte"
                         : c < 0x80 ? "control character"
                                    : "a byte that is not UTF-8 text",
                         c);
            bytes[i] = '?';
            len = 1;
        }
        pos.column++;
        if (bytes[i] == '\n' || (bytes[i] == '\r' && !(i + 1 < n && bytes[i + 1] == '\n')))
            pos = (cg_pos){pos.line + 1, 1};
        i += (size_t)len;
    }
    if (bad > BAD_BYTE_CAP)
        cg_error(d, name, pos, "%d more such bytes; is this a text file?", bad - BAD_BYTE_CAP);
}

/* Bytes of the line break at s, as libyaml counts lines; 0 when there is none. */
size_t cg_line_break(const char *s, size_t n)
{
    if (s[0] == '\r')
        return n > 1 && s[1] == '\n' ? 2 : 1;
    if (s[0] == '\n')
        return 1;
    if (n > 1 && memcmp(s, "\xc2\x85", 2) == 0)
        return 2;
    return n > 2 && (memcmp(s, "\xe2\x80\xa8", 3) == 0 || memcmp(s, "\xe2\x80\xa9", 3) == 0) ? 3
                                                                                             : 0;
}

static bool one_of(const char *s, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(s, *words) == 0)
            return true;
    return false;
}

/* Does an unquoted scalar look like a number or a date to YAML? Exact for what people write: 3,
 * -1.5e+3, 0x1f, 1_000, .inf, 2024-01-31. */
static bool looks_like_number(const char *s)
{
    if (*s == '+' || *s == '-')
        s++;
    if (one_of(s, (const char *const[]){".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN", NULL}))
        return true;
    if (s[0] == '0' && (s[1] == 'x' || s[1] == 'b') && s[2])
        return s[2 + strspn(s + 2, s[1] == 'x' ? "0123456789abcdefABCDEF_" : "01_")] == '\0';
    size_t whole = strspn(s, "0123456789_");
    if (whole == 10 || (whole == 4 && s[4] == '-'))
        return s[strspn(s, "0123456789-")] == '\0' && strlen(s) == 10;
    if (whole > 0 && s[0] != '_' && s[whole] == '\0')
        return true;
    if (s[whole] != '.' || (whole > 0 && s[0] == '_') ||
        (whole == 0 && !(s[1] >= '0' && s[1] <= '9')))
        return false;
    s += whole + 1;
    s += strspn(s, "0123456789_");
    if ((*s == 'e' || *s == 'E') && (s[1] == '+' || s[1] == '-') && s[2])
        s += 2 + strspn(s + 2, "0123456789");
    return *s == '\0';
}

cg_node_kind cg_plain_kind(const char *text, bool *truth)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const trues[] = {"true", "True", "TRUE", "yes", "Yes",
                                        "YES",  "on",   "On",   "ON",  NULL};
    static const char *const falses[] = {"false", "False", "FALSE", "no",  "No",
                                         "NO",    "off",   "Off",   "OFF", NULL};
    *truth = false;
    if (strlen(text) > 5 && strspn(text, "+-.0123456789") == 0)
        return CG_NODE_STR; /* longer than any of these words, and no number begins like it */
    *truth = one_of(text, trues);
    if (one_of(text, nulls))
        return CG_NODE_NULL;
    if (*truth || one_of(text, falses))
        return CG_NODE_BOOL;
    return looks_like_number(text) ? CG_NODE_NUMBER : CG_NODE_STR;
}
