/* Reads the signatures of functions from their documentation in one pass over the text. Each
 * parameter ends at a comma, or at a square bracket around what may be left out, unless that is
 * within round or curly brackets or a string. */
#include "state/signature.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const bind_meaning bind_glossary[] = {
    {"t u w x y logits weights", "Tensor"},
    {"idx dst src nodes labels pick train val test", "Index"},
    {"A P S U", "Matrix"},
    {"rng", "Rng"},
    {"k n n_rows n_cols n_nodes", "count"},
    {"row column first last dim power seed", "integer"},
    {"name path where", "string"},
    {"text", "bytes"},
    {"f", "function"},
    {"config model", "table"},
    {"e value", "any"},
    {NULL, NULL},
};

/* A part of the text, from `from` up to `to`. */
typedef struct {
    const char *from, *to;
} piece;

static piece trimmed(const char *from, const char *to)
{
    while (from < to && isspace((unsigned char)*from))
        from++;
    while (to > from && isspace((unsigned char)to[-1]))
        to--;
    return (piece){from, to};
}

static bool is(piece p, const char *word)
{
    size_t length = (size_t)(p.to - p.from);
    return strlen(word) == length && memcmp(p.from, word, length) == 0;
}

static const char *find(piece p, char c)
{
    return memchr(p.from, c, (size_t)(p.to - p.from));
}

/* --- types ------------------------------------------------------------------------------------ */

static const struct {
    const char *word;
    bind_type type;
} types[] = {
    {"Tensor", BIND_TENSOR_TYPE}, {"Index", BIND_INDEX_TYPE}, {"Matrix", BIND_MATRIX_TYPE},
    {"Rows", BIND_ROWS_TYPE},     {"Rng", BIND_RNG_TYPE},     {"number", BIND_NUMBER},
    {"integer", BIND_INTEGER},    {"count", BIND_COUNT},      {"boolean", BIND_BOOLEAN},
    {"string", BIND_STRING},      {"bytes", BIND_BYTES},      {"table", BIND_TABLE},
    {"function", BIND_ANY},       {"any", BIND_ANY},
};

/* Returns the type that a word names, such as "Tensor"; BIND_ANY for a word that names no single
 * type. */
static bind_type type_of_word(piece p)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (is(p, types[i].word))
            return types[i].type;
    bool is_class = p.to - p.from > 1 && isupper((unsigned char)*p.from) && !find(p, ' ');
    return is_class ? BIND_OBJECT_TYPE : BIND_ANY;
}

static bind_type type_of_name(piece name)
{
    size_t length = (size_t)(name.to - name.from);
    for (const bind_meaning *m = bind_glossary; m->names; m++)
        for (const char *p = m->names; *p; p += strcspn(p, " "), p += *p == ' ')
            if (strcspn(p, " ") == length && memcmp(p, name.from, length) == 0)
                return type_of_word((piece){m->type, m->type + strlen(m->type)});
    return BIND_ANY;
}

/* Returns the type of a default such as 0.01, 2^30, true, "wor" or {}. *value gets its value,
 * unless it is a string or a table. */
static bind_type type_of_default(piece p, double *value)
{
    char *end;
    if (is(p, "true") || is(p, "false")) {
        *value = is(p, "true");
        return BIND_BOOLEAN;
    }
    if (*p.from == '"')
        return BIND_STRING;
    if (*p.from == '{')
        return BIND_TABLE;
    if (!isdigit((unsigned char)*p.from) && *p.from != '-')
        return BIND_ANY; /* not inf either, which a name may begin with */
    *value = strtod(p.from, &end);
    if (*end == '^') {
        double base = *value;
        for (long i = strtol(end + 1, NULL, 10); i > 1; i--)
            *value *= base;
        return BIND_INTEGER;
    }
    for (const char *c = p.from; c < end; c++)
        if (*c == '.' || *c == 'e')
            return BIND_NUMBER;
    return BIND_INTEGER;
}

/* Gives a parameter the type that stands behind its name, or else the one that the name has in the
 * glossary. A parameter with a default may be left out; the default of words is the first of
 * them. */
static void set_type(bind_parameter *p, piece text, bool is_default)
{
    bool any_of = text.from < text.to && find(text, '|') && *text.from != '{';
    p->text = text.from;
    p->text_length = (int)(text.to - text.from);
    if (any_of) {
        p->type = *text.from == '"' ? BIND_WORD : BIND_ANY;
        p->optional |= is_default && p->type == BIND_WORD;
    } else if (text.from == text.to) {
        p->type = type_of_name((piece){p->name, p->name + p->name_length});
    } else if (text.to - text.from > 2 && text.to[-1] == ']') {
        p->type = BIND_TABLE;
    } else {
        p->type = type_of_word(text);
        if (p->type == BIND_ANY && (p->type = type_of_default(text, &p->standard)) != BIND_ANY)
            p->optional |= is_default;
        else if (p->type == BIND_ANY)
            p->type = type_of_name(text);
    }
}

/* --- parameters ------------------------------------------------------------------------------- */

/* Returns the end of the parameter at p, or NULL where its brackets do not close. */
static const char *parameter_end(const char *p)
{
    for (int depth = 0; *p; p++) {
        if (*p == '"' && !(p = strchr(p + 1, '"')))
            return NULL;
        bool is_list = p[0] == '[' && p[1] == ']';
        if (is_list)
            p++;
        else if (depth == 0 && strchr(",[])}", *p))
            return p;
        depth += *p == '(' || *p == '{';
        depth -= *p == ')' || *p == '}';
    }
    return NULL;
}

/* Reads one parameter: a name with its type behind ':' or its default behind '=', or types without
 * a name. */
static void read_parameter(bind_parameter *p, piece text, bool optional)
{
    const char *c = text.from;
    while (c < text.to && (isalnum((unsigned char)*c) || *c == '_'))
        c++;
    piece rest = trimmed(c, text.to);
    bool is_class = isupper((unsigned char)text.from[0]) && islower((unsigned char)text.from[1]);
    bool is_named = c > text.from && !is_class &&
                    (rest.from == rest.to || *rest.from == ':' || *rest.from == '=');
    bool is_default = is_named && rest.from < rest.to && *rest.from == '=';
    *p = (bind_parameter){.name = text.from, .optional = optional};
    p->name_length = is_named ? (int)(c - text.from) : 0;
    if (is_named && rest.from < rest.to)
        rest = trimmed(rest.from + 1, rest.to);
    set_type(p, is_named ? rest : text, is_default);
}

/* Reads parameters from behind an opening bracket up to the one that closes it, as parameters *n
 * and following. All of them may be left out where `optional` is 1. *braces gets the text of a
 * table of options. Returns the place behind the list, or NULL where it does not end. */
static const char *read_list(bind_signature *s, const char *p, int optional, int *n, piece *braces)
{
    for (;; p++) {
        while (isspace((unsigned char)*p) || strchr(",[]", *p)) {
            if (!*p)
                return NULL;
            optional += (*p == '[') - (*p == ']');
            p++;
        }
        if (*p == ')' || *p == '}')
            return p + 1;
        const char *end = parameter_end(p);
        if (!end || *n == BIND_MOST_PARAMETERS)
            return NULL;
        piece text = trimmed(p, end);
        if (is(text, "...")) {
            s->any_number = true;
        } else {
            if (*text.from == '{')
                *braces = text;
            read_parameter(&s->parameters[(*n)++], text, optional > 0);
        }
        p = end - 1;
    }
}

/* Reads the options in the last parameter's braces, as parameters behind the arguments. Returns the
 * end of the braces. */
static const char *read_options(bind_signature *s, piece braces)
{
    s->n_parameters = s->n_positional;
    if (s->n_positional == 0 || s->parameters[s->n_positional - 1].name != braces.from)
        return braces.to;
    bind_parameter *table = &s->parameters[s->n_positional - 1];
    table->type = BIND_TABLE;
    int optional = table->optional;
    table->optional = braces.to != NULL; /* an option that is missing has its own error */
    return read_list(s, braces.from + 1, optional, &s->n_parameters, &(piece){NULL, NULL});
}

/* --- results ---------------------------------------------------------------------------------- */

/* Returns true if a result has the name of the method's object, as in t:clear() -> t: the object is
 * given back. */
static bool is_object(const bind_signature *s, piece result)
{
    const bind_parameter *object = &s->parameters[0];
    return s->is_method && result.to - result.from == object->name_length &&
           memcmp(result.from, object->name, (size_t)object->name_length) == 0;
}

void bind_signature_read_results(bind_signature *s, const char *text)
{
    text += strspn(text, " \n");
    const char *line = text + strcspn(text, "\n");
    s->makes_results = true;
    if (strncmp(text, "->", 2) != 0)
        return;
    for (const char *p = text + 2, *end; p < line && s->n_results < BIND_MOST_RESULTS;
         p = end + 1) {
        end = p + strcspn(p, ",\n");
        piece one = trimmed(p, end);
        bind_type type = type_of_word(one);
        if (type == BIND_ANY)
            type = is_object(s, one) ? BIND_THE_OBJECT : type_of_name(one);
        s->makes_results &= type != BIND_ANY && type != BIND_OBJECT_TYPE && type != BIND_TABLE &&
                            type != BIND_STRING && type != BIND_BYTES;
        s->results[s->n_results++] = type;
    }
}

/* --- all -------------------------------------------------------------------------------------- */

/* Reads the name of a function: "sampling.choice" of "ladies.sampling.choice", and "slice" of
 * "A:slice", which makes A the first parameter. */
static void read_name(bind_signature *s, const char *doc, const char *end)
{
    static const char *const rooms[] = {"ladies.", "ladies_core."};
    const char *colon = memchr(doc, ':', (size_t)(end - doc));
    s->name = colon ? colon + 1 : doc;
    for (int i = 0; i < 2; i++)
        if (strncmp(s->name, rooms[i], strlen(rooms[i])) == 0)
            s->name += strlen(rooms[i]);
    s->name_length = (int)(end - s->name);
    s->is_method = colon != NULL;
    if (colon)
        s->parameters[s->n_positional++] =
            (bind_parameter){.name = doc, .name_length = (int)(colon - doc)};
}

const char *bind_signature_read(bind_signature *s, const char *doc)
{
    const char *open = doc + strcspn(doc, "({\n"), *end = NULL;
    piece braces = {open, NULL};
    memset(s, 0, sizeof *s);
    if (*open != '(' && *open != '{')
        return "it has no brackets";
    read_name(s, doc, open);
    if (*open == '{')
        s->parameters[s->n_positional++] = (bind_parameter){.name = open};
    else
        end = read_list(s, open + 1, 0, &s->n_positional, &braces);
    const char *options_end = *open == '{' || end ? read_options(s, braces) : NULL;
    if (*open == '{')
        end = options_end;
    if (!end || (braces.to && !options_end))
        return "its brackets are not closed, or it has too many parameters";
    s->end = end;
    bind_signature_read_results(s, end);
    return NULL;
}
