/* schema_allow.c - the allow-list: breaks that are wanted, until a date, for a reason.
 *
 *     # comment
 *     ns::name  2026-12-31  why, in words            the default overload only
 *     ns::name.overload  2026-12-31  why             that overload only
 *     ns::name.*  2026-12-31  why                    every overload, the default one too
 *
 * Names are compared whole: ns::add never covers ns::add_relu, nor ns::add.Scalar. */
#include "schema_impl.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool is_date(const char *s)
{
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    static const char form[] = "dddd-dd-dd";
    for (int i = 0; i < 10; i++)
        if (form[i] == '-' ? s[i] != '-' : s[i] < '0' || s[i] > '9')
            return false;
    int month = atoi(s + 5), day = atoi(s + 8);
    return s[10] == '\0' && month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1];
}

static bool is_name(const char *s, size_t n)
{
    bool well = n > 0;
    for (size_t i = 0; i < n; i++)
        well = well && (s[i] == '_' || (s[i] >= '0' && s[i] <= '9' && i) ||
                        (s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z'));
    return well;
}

static bool is_pattern(const char *s)
{
    const char *colons = strstr(s, "::");
    if (!colons || !is_name(s, (size_t)(colons - s)))
        return false;
    const char *name = colons + 2, *dot = strchr(name, '.');
    if (!dot)
        return is_name(name, strlen(name));
    return is_name(name, (size_t)(dot - name)) &&
           (strcmp(dot, ".*") == 0 || is_name(dot + 1, strlen(dot + 1)));
}

/* Cuts the next word out of *p; NULL when the line is at its end. */
static char *word(char **p)
{
    *p += strspn(*p, " \t\r");
    char *w = *p;
    *p += strcspn(*p, " \t\r");
    if (**p)
        *(*p)++ = '\0';
    return *w ? w : NULL;
}

static bool bad_line(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d:1: %s; write 'ns::name[.overload]  YYYY-MM-DD  reason'\n", file, line,
            what);
    return false;
}

static bool read_entry(schema_allow *list, char *text, int line, const char *today)
{
    char *pattern = word(&text), *expires = word(&text);
    text += strspn(text, " \t");
    text[strcspn(text, "\r")] = '\0';
    if (!pattern || pattern[0] == '#')
        return true;
    if (!is_pattern(pattern))
        return bad_line(list->file, line, "the entry does not begin with an operator's full name");
    if (!expires || !is_date(expires))
        return bad_line(list->file, line, "the entry has no expiry date");
    if (!*text)
        return bad_line(list->file, line, "the entry gives no reason");
    if (list->n == list->cap) {
        int cap = list->cap ? list->cap * 2 : 16;
        schema_allowed *more = realloc(list->items, (size_t)cap * sizeof *more);
        if (!more)
            return bad_line(list->file, line, "out of memory");
        list->items = more;
        list->cap = cap;
    }
    list->items[list->n++] = (schema_allowed){.pattern = pattern,
                                              .expires = expires,
                                              .reason = text,
                                              .line = line,
                                              .expired = strcmp(expires, today) < 0};
    return true;
}

static bool find_today(const char *given, char *today)
{
    time_t now = time(NULL);
    struct tm utc;
    if (!given)
        return gmtime_r(&now, &utc) && strftime(today, 11, "%Y-%m-%d", &utc) == 10;
    if (!is_date(given))
        return tool_fail("'%s' is not a date; write --today YYYY-MM-DD", given) == TOOL_OK;
    memcpy(today, given, 11);
    return true;
}

bool schema_allow_read(schema_allow *list, const char *path, const char *given_today)
{
    char today[11];
    size_t n = 0;
    if (!find_today(given_today, today))
        return false;
    char *bytes = tool_read_file(path, &n);
    char *text = bytes ? tn__arena_strndup(&list->arena, bytes, n) : NULL;
    free(bytes);
    if (!text)
        return false;
    list->file = path;
    bool well = true;
    for (int line = 1; text; line++) {
        char *next = strchr(text, '\n');
        if (next)
            *next++ = '\0';
        well = read_entry(list, text, line, today) && well;
        text = next;
    }
    return well;
}

static bool covers(const char *pattern, const char *key)
{
    size_t n = strlen(pattern);
    if (n < 2 || strcmp(pattern + n - 2, ".*") != 0)
        return strcmp(pattern, key) == 0;
    return strncmp(pattern, key, n - 2) == 0 && (key[n - 2] == '\0' || key[n - 2] == '.');
}

const schema_allowed *schema_allow_find(schema_allow *list, const char *key)
{
    schema_allowed *found = NULL;
    for (int i = 0; i < list->n; i++)
        if (covers(list->items[i].pattern, key) && (!found || found->expired))
            found = &list->items[i];
    if (found)
        found->used = true;
    return found;
}

void schema_allow_free(schema_allow *list)
{
    free(list->items);
    tn__arena_free(&list->arena);
    memset(list, 0, sizeof *list);
}
