/* text: tables of numbers and names in text files. */
#include "io/bind_names.h"
#include "io/bind_progress.h"

#include <ctype.h>
#include <string.h>

#include "base/memory.h"
#include "io/text/text.h"

#define BIND_TABLE  "ladies.Table"
#define BIND_FIELDS "ladies.Fields"
#define BIND_READER "ladies.TableReader"

static int table_gc(lua_State *L)
{
    ld_table *t = bind_check_userdata(L, 1, BIND_TABLE);
    ld_table_clear(t);
    t->n_columns = 0;
    return 0;
}

static int fields_gc(lua_State *L)
{
    char **fields = bind_check_userdata(L, 1, BIND_FIELDS);
    ld_free(*fields);
    *fields = NULL;
    return 0;
}

static char option_separator(lua_State *L, int arg, const char *where)
{
    size_t length = 0;
    char c = '\0';
    if (bind_option(L, arg, "separator")) {
        const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &length) : "";
        c = text[0];
        if (length != 1 || isalnum((unsigned char)c) || (c & 0x80) || strchr("+-.\"\r\n", c))
            bind_error(L, "%s: separator must be one character that is in no number, got \"%s\"",
                       where, bind_show(L, -1));
    }
    lua_pop(L, 1);
    return c;
}

static const struct {
    const char *name;
    ld_column_kind kind;
} kinds[] = {
    {"id", LD_COLUMN_ID},           {"label", LD_COLUMN_LABEL}, {"number", LD_COLUMN_NUMBER},
    {"numbers", LD_COLUMN_NUMBERS}, {"skip", LD_COLUMN_SKIP},
};

/* The column that the value on top of the stack stands for. */
static ld_column to_column(lua_State *L, int64_t i, int64_t count)
{
    ld_column c = {.kind = LD_COLUMN_NAME, .names = bind_to_names(L, -1)};
    if (c.names)
        return c;
    const char *word = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (strcmp(word, kinds[k].name) == 0) {
            c.kind = kinds[k].kind;
            if (c.kind == LD_COLUMN_NUMBERS && i < count)
                bind_error(L, "text.read: columns[%I] is \"numbers\", which must be the last",
                           (LUAI_UACINT)i);
            return c;
        }
    }
    bind_error(L,
               "text.read: columns[%I] must be \"id\", \"label\", \"number\", \"numbers\", "
               "\"skip\" or Names, got %s",
               (LUAI_UACINT)i, bind_show(L, -1));
    return c;
}

/* Pushes the table to be read, behind an anchor for the names that its columns fill. */
static ld_table *push_table(lua_State *L, int arg)
{
    int64_t count = 1;
    bool given = bind_option(L, arg, "columns");
    if (given) {
        if (!lua_istable(L, -1))
            bind_error(L, "text.read: columns must be a table, got %s", luaL_typename(L, -1));
        count = (int64_t)lua_rawlen(L, -1);
        if (count < 1)
            bind_error(L, "text.read: columns must not be empty");
    }
    int columns = lua_gettop(L);
    lua_createtable(L, (int)count, 0);
    ld_table *t = lua_newuserdatauv(L, sizeof *t + (size_t)count * sizeof(ld_column), 1);
    memset(t, 0, sizeof *t + (size_t)count * sizeof(ld_column));
    t->columns = (ld_column *)(t + 1);
    t->n_columns = count;
    luaL_setmetatable(L, BIND_TABLE);
    for (int64_t i = 1; i <= count; i++) {
        if (given)
            lua_rawgeti(L, columns, i);
        else
            lua_pushliteral(L, "numbers");
        t->columns[i - 1] = to_column(L, i, count);
        lua_rawseti(L, columns + 1, i);
    }
    return t;
}

static int64_t option_limit(lua_State *L, const char *name)
{
    lua_Number limit = bind_option_number(L, 2, "text.read", name, 0);
    if (!(limit >= 0 && limit < INT32_MAX))
        bind_error(L, "text.read: %s must be 0 to 2^31 - 2, got %f", name, limit);
    return (int64_t)limit;
}

static void read_options(lua_State *L, ld_table *t)
{
    t->separator = option_separator(L, 2, "text.read");
    t->header = LD_HEADER_GUESS;
    if (bind_option(L, 2, "header"))
        t->header = lua_toboolean(L, -1) ? LD_HEADER_YES : LD_HEADER_NO;
    lua_pop(L, 1);
    lua_Number first = bind_option_number(L, 2, "text.read", "first_id", 0);
    if (first != 0 && first != 1)
        bind_error(L, "text.read: first_id must be 0 or 1, got %f", first);
    t->first_id = (int32_t)first;
    t->n_ids = option_limit(L, "n_ids");
    t->n_labels = option_limit(L, "n_labels");
}

/* Pushes the titles as a table. */
static void push_fields(lua_State *L, const char *fields, int64_t count)
{
    lua_newtable(L);
    for (int64_t i = 1; i <= count; i++, fields += strlen(fields) + 1) {
        lua_pushstring(L, fields);
        lua_rawseti(L, -2, i);
    }
}

static void push_column(lua_State *L, ld_table *t, int64_t i)
{
    switch (t->columns[i].kind) {
    case LD_COLUMN_SKIP: break;
    case LD_COLUMN_NUMBER:
    case LD_COLUMN_NUMBERS: bind_check(L, ld_table_tensor(bind_new_tensor(L), t, i)); break;
    default: bind_check(L, ld_table_index(bind_new_index(L), t, i)); break;
    }
}

/* Pushes the table that the arguments ask for, read from its file; it is cleared when the function
 * ends. */
static ld_table *push_read(lua_State *L)
{
    static const char *const options[] = {"columns",  "first_id", "header",    "n_ids",
                                          "n_labels", "progress", "separator", NULL};
    const char *path = bind_check_string(L, 1);
    bind_check_options(L, 2, "text.read", options);
    lua_settop(L, 2);
    bind_progress progress = bind_option_progress(L, 2, "text.read");
    ld_table *t = push_table(L, 2);
    lua_toclose(L, -1);
    read_options(L, t);
    t->progress = bind_progress_call(&progress);
    t->context = &progress;
    bind_progress_check(L, &progress, ld_table_read(t, path));
    return t;
}

static int text_read(lua_State *L)
{
    ld_table *t = push_read(L);
    int top = lua_gettop(L);
    luaL_checkstack(L, (int)t->n_columns + 8, "too many columns");
    for (int64_t i = 0; i < t->n_columns; i++)
        push_column(L, t, i);
    if (t->titles)
        push_fields(L, t->titles, t->n_fields);
    else
        lua_pushnil(L);
    return lua_gettop(L) - top;
}

/* --- a piece at a time -------------------------------------------------------------------------- */

static void drop_rows(void *rows)
{
    ld_table_close(rows);
}

static int rows_close(lua_State *L)
{
    bind_drop(L, bind_check_userdata(L, 1, BIND_READER), drop_rows);
    return 0;
}

/* Pushes the table of the reader at 1. */
static ld_table *push_own_table(lua_State *L)
{
    lua_getiuservalue(L, 1, 1);
    return bind_check_userdata(L, -1, BIND_TABLE);
}

/* The reader keeps its table, which keeps the names that it fills. */
static int text_reader(lua_State *L)
{
    static const char *const options[] = {"columns",  "first_id",  "header", "n_ids",
                                          "n_labels", "separator", NULL};
    const char *path = bind_check_string(L, 1);
    bind_check_options(L, 2, "text.reader", options);
    lua_settop(L, 2);
    ld_table *t = push_table(L, 2);
    int table = lua_gettop(L);
    read_options(L, t);
    lua_pushvalue(L, table - 1);
    lua_setiuservalue(L, table, 1);
    ld_table_rows **r = lua_newuserdatauv(L, sizeof *r, 1);
    *r = NULL;
    luaL_setmetatable(L, BIND_READER);
    lua_pushvalue(L, table);
    lua_setiuservalue(L, -2, 1);
    bind_check(L, ld_table_open(r, t, path));
    return 1;
}

static int rows_next(lua_State *L)
{
    ld_table_rows *r = bind_object(L, 1, BIND_READER);
    int64_t n = bind_count(L, 2, "the number");
    ld_table *t = push_own_table(L);
    int top = lua_gettop(L);
    int64_t before = t->n_rows;
    luaL_checkstack(L, (int)t->n_columns + 8, "too many columns");
    bind_check(L, ld_table_next(r, n));
    for (int64_t i = 0; t->n_rows > before && i < t->n_columns; i++)
        push_column(L, t, i);
    return lua_gettop(L) - top;
}

static int rows_get(lua_State *L)
{
    return bind_no_field(L, BIND_READER);
}

static bool is_node(const ld_column *c)
{
    return c->kind == LD_COLUMN_ID || c->kind == LD_COLUMN_NAME;
}

/* Moves the columns of nodes to the front, in their order, and one of numbers behind them, before
 * those that are skipped; false unless the columns are two, at most one, and such. */
static bool sort_edges(ld_table *t)
{
    int64_t nodes = 0, numbers = 0;
    ld_column *c = t->columns;
    for (int64_t i = 0; i < t->n_columns; i++) {
        ld_column moved = c[i];
        if (moved.kind == LD_COLUMN_SKIP)
            continue;
        if (!is_node(&moved) && moved.kind != LD_COLUMN_NUMBER)
            return false;
        int64_t to = is_node(&moved) ? nodes++ : nodes + numbers++;
        memmove(&c[to + 1], &c[to], (size_t)(i - to) * sizeof *c);
        c[to] = moved;
    }
    return nodes == 2 && numbers <= 1;
}

static int text_read_edges(lua_State *L)
{
    ld_table *t = push_read(L);
    const ld_column *c = t->columns;
    if (!sort_edges(t))
        return bind_error(L, "text.read_edges: columns must be two of nodes (\"id\" or Names), "
                             "perhaps a \"number\", and others a \"skip\" each");
    int64_t listed = c[0].cells.count;
    bind_check(L, ld_table_matrix(bind_new_matrix(L), t, lua_tostring(L, 1)));
    lua_pushinteger(L, listed - bind_any_matrix(L, -1)->s->nnz);
    return 2;
}

static int text_fields(lua_State *L)
{
    static const char *const options[] = {"separator", NULL};
    const char *path = bind_check_string(L, 1);
    int64_t count;
    bind_check_options(L, 2, "text.fields", options);
    char separator = option_separator(L, 2, "text.fields");
    char **fields = lua_newuserdatauv(L, sizeof *fields, 0);
    *fields = NULL;
    luaL_setmetatable(L, BIND_FIELDS);
    lua_toclose(L, -1);
    bind_check(L, ld_table_peek(fields, &count, path, separator));
    push_fields(L, *fields, count);
    return 1;
}

static int text_write(lua_State *L)
{
    bind_check(L, ld_text_write(bind_check_string(L, 1), bind_operand(L, 2)));
    return 0;
}

static int text_write_edges(lua_State *L)
{
    bind_check(L, ld_text_write_edges(bind_check_string(L, 1), bind_any_matrix(L, 2)));
    return 0;
}

static const bind_function functions[] = {
    {"read", text_read,
     "text.read(path [, {columns = {\"numbers\"}, header = boolean, separator = string,\n"
     "  first_id = 0, n_ids = integer, n_labels = integer, progress = function}])\n"
     "  -> Index | Tensor, ...\n"
     "Reads a table, a line a row, plain or packed with gzip, in one pass. A column is\n"
     "  \"id\"       whole numbers from first_id (0 or 1) on, as an Index; n_ids limits them\n"
     "  \"label\"    the same, or -1, first_id - 1 or an empty field for none, which is 0 in the Index; n_labels\n"
     "             limits them\n"
     "  \"number\"   numbers, as a Tensor of one dimension\n"
     "  \"numbers\"  this column and all behind it, as the rows of a Tensor\n"
     "  \"skip\"     nothing, and no result\n"
     "  Names      texts (text.names()), as an Index of their numbers there; a field may be\n"
     "             empty where \"\" is one of them\n"
     "The last result is the header's fields, or nil. Without `header`, the first line is one if\n"
     "all its fields in columns of numbers are words; without `separator`, it is the tab, comma,\n"
     "semicolon or blanks of the first line (\" \" is any number of blanks). Lines that begin with #\n"
     "or % are left out, and blank ones behind the last row; a blank one before it is an error.\n"
     "Names may be in double quotes. Numbers are rounded correctly to float32, and inf, nan and\n"
     "numbers beyond its range refused.\n"
     "progress(done, total) is called with bytes of the file now and then."},
    {"read_edges", text_read_edges,
     "text.read_edges(path, {columns = {\"id\", \"id\"}, n_ids = integer, ...})\n"
     "  -> Matrix, integer\n"
     "Reads edges, a line \"source,target\" or, with a third column \"number\", \"source,target,\n"
     "weight\" each (other columns are \"skip\"), as text.read does, into a square Matrix whose rows\n"
     "are the targets. It has n_ids rows, or as many as the nodes found need: ids beyond 100 for\n"
     "each line and 10^6 are then an error. Edges given twice are summed, without weights kept once;\n"
     "the integer is how many were. The Matrix is made of the columns where they lie: at no time is\n"
     "more held than twice what they take."},
    {"reader", text_reader,
     "text.reader(path [, {columns = {\"numbers\"}, header = boolean, separator = string, first_id = 0,\n"
     "n_ids = integer, n_labels = integer}]) -> TableReader\n"
     "Reads a table as text.read does, a piece at a time, for what does not fit in memory: r:next(n)."},
    {"fields", text_fields,
     "text.fields(path [, {separator = string}]) -> string[]\n"
     "The fields of the first line that is not blank or a comment, as strings."},
    {"write", text_write,
     "text.write(path, Tensor)\n"
     "Writes the rows of a Tensor with commas between the numbers, which come back as they are.\n"
     "Packed with gzip if the path ends in .gz. The file appears whole or not at all. A number that\n"
     "is nan or infinite is an error."},
    {"write_edges", text_write_edges,
     "text.write_edges(path, Matrix)\n"
     "Writes a line \"source,target\" for every entry, the row being the target, with ids from 0\n"
     "and, if the matrix has values, the value as a third column. Files are as with text.write."},
    {NULL, NULL, NULL},
};

static const bind_function row_methods[] = {
    {"next", rows_next,
     "r:next(n) -> ...\nThe columns of the next n rows, or of as many as there are; nothing at the "
     "end."},
    {"close", rows_close, "r:close()\nCloses the file."},
    {NULL, NULL, NULL},
};

void bind_open_text(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__gc", rows_close}, {"__close", rows_close}, {NULL, NULL}};
    static const char *const properties[] = {NULL};
    bind_class(L, BIND_READER, row_methods, meta, properties, rows_get);
    bind_hidden_class(L, BIND_TABLE, table_gc);
    bind_hidden_class(L, BIND_FIELDS, fields_gc);
    lua_newtable(L);
    bind_functions(L, functions);
    bind_open_names(L);
    lua_setfield(L, -2, "text");
}
