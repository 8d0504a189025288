/* ladies.text and ladies.mtx: tables of numbers and names, and Matrix Market files, which are read
 * from text files and written to them. */
#include "io/text/text.h"

#include <ctype.h>
#include <string.h>

#include "io/text/mtx.h"
#include "state/bind.h"

#define BIND_TABLE  "ladies.Table"
#define BIND_READER "ladies.TableReader"

/* --- progress --------------------------------------------------------------------------------- */

/* A Lua function that core's reading calls, to tell how far it has come. One that fails stops core,
 * and its error is raised once core has returned. */
typedef struct {
    lua_State *L;
    int function; /* its place on the stack; 0 when there is none */
    bool failed;  /* it raised an error, which is on top of the stack */
} progress;

/* Returns the function at a place of the stack; there may be nil. */
static progress progress_at(lua_State *L, int at, const char *where)
{
    bool given = !lua_isnil(L, at);
    if (given && !lua_isfunction(L, at))
        bind_error(L, "%s: progress must be a function, got %s", where, luaL_typename(L, at));
    return (progress){.L = L, .function = given ? at : 0};
}

static ld_status call_progress(void *context, int64_t done, int64_t total)
{
    progress *p = context;
    lua_pushvalue(p->L, p->function);
    lua_pushinteger(p->L, done);
    lua_pushinteger(p->L, total);
    bind_hold_off(p->L, true);
    p->failed = lua_pcall(p->L, 2, 0, 0) != LUA_OK;
    bind_hold_off(p->L, false);
    return p->failed ? ld_fail(LD_CANCELLED, "stopped by its progress function") : LD_OK;
}

/* Raises the error of the function, or else core's. */
static void check_progress(const progress *p, ld_status status)
{
    if (p->failed)
        lua_error(p->L);
    bind_check(p->L, status);
}

/* --- tables ----------------------------------------------------------------------------------- */

/* Frees the columns of a table. Its userdata holds the table itself, which may be empty already:
 * the reader and the functions here clear it, too. */
static int table_release(lua_State *L)
{
    ld_table *t = bind_check_userdata(L, 1, BIND_TABLE);
    ld_table_clear(t);
    t->n_columns = 0;
    return 0;
}

/* Reads the option `separator` at a place of the stack. It is one character, or '\0' where it is
 * not given. */
static char separator_at(lua_State *L, int at, const char *where)
{
    size_t length = 0;
    if (lua_isnil(L, at))
        return '\0';
    const char *text = lua_type(L, at) == LUA_TSTRING ? lua_tolstring(L, at, &length) : "";
    char c = text[0];
    if (length != 1 || isalnum((unsigned char)c) || (c & 0x80) || strchr("+-.\"\r\n", c))
        bind_error(L, "%s: separator must be one character that is in no number, got \"%s\"", where,
                   bind_show(L, at));
    return c;
}

static const struct {
    const char *name;
    ld_column_kind kind;
} kinds[] = {
    {"id", LD_COLUMN_ID},           {"label", LD_COLUMN_LABEL}, {"number", LD_COLUMN_NUMBER},
    {"numbers", LD_COLUMN_NUMBERS}, {"skip", LD_COLUMN_SKIP},
};

/* Returns the kind of column that the value on top of the stack names. */
static ld_column to_column(lua_State *L, int64_t i, int64_t count, const char *where)
{
    ld_column c = {.kind = LD_COLUMN_NAME, .names = bind_to_object(L, -1, BIND_NAMES)};
    if (c.names)
        return c;
    const char *word = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (strcmp(word, kinds[k].name) == 0) {
            c.kind = kinds[k].kind;
            if (c.kind == LD_COLUMN_NUMBERS && i < count)
                bind_error(L, "%s: columns[%I] is \"numbers\", which must be the last", where,
                           (LUAI_UACINT)i);
            return c;
        }
    }
    bind_error(L,
               "%s: columns[%I] must be \"id\", \"label\", \"number\", \"numbers\", "
               "\"skip\" or Names, got %s",
               where, (LUAI_UACINT)i, bind_show(L, -1));
    return c;
}

/* The places of the options of text.read, text.read_edges and text.reader among the values of a
 * call; on the stack each is one place further. */
enum { COLUMNS = 2, HEADER, SEPARATOR, FIRST_ID, N_IDS, N_LABELS, MISSING, PROGRESS };

/* Pushes the table to be read and, below it, a Lua table that keeps the Names which its columns
 * fill. */
static ld_table *push_table(lua_State *L, const char *where)
{
    int64_t count = 1;
    bool given = !lua_isnil(L, COLUMNS + 1);
    if (given) {
        count = (int64_t)lua_rawlen(L, COLUMNS + 1);
        if (count < 1)
            bind_error(L, "%s: columns must not be empty", where);
    }
    lua_createtable(L, (int)count, 0);
    int anchor = lua_gettop(L);
    ld_table *t = lua_newuserdatauv(L, sizeof *t + (size_t)count * sizeof(ld_column), 1);
    memset(t, 0, sizeof *t + (size_t)count * sizeof(ld_column));
    t->columns = (ld_column *)(t + 1);
    t->n_columns = count;
    luaL_setmetatable(L, BIND_TABLE);
    for (int64_t i = 1; i <= count; i++) {
        if (given)
            lua_rawgeti(L, COLUMNS + 1, i);
        else
            lua_pushliteral(L, "numbers");
        t->columns[i - 1] = to_column(L, i, count, where);
        lua_rawseti(L, anchor, i);
    }
    return t;
}

static int64_t limit_of(const bind_call *c, int option, const char *name, const char *where)
{
    lua_Integer limit = c->in[option].integer;
    if (limit < 0 || limit >= INT32_MAX)
        bind_error(c->L, "%s: %s must be 0 to 2^31 - 2, got %I", where, name, (LUAI_UACINT)limit);
    return limit;
}

static void read_options(const bind_call *c, ld_table *t, const char *where)
{
    lua_Integer first = c->in[FIRST_ID].integer;
    t->separator = separator_at(c->L, SEPARATOR + 1, where);
    t->missing = c->in[MISSING].flag;
    t->header = LD_HEADER_GUESS;
    if (!lua_isnil(c->L, HEADER + 1))
        t->header = c->in[HEADER].flag ? LD_HEADER_YES : LD_HEADER_NO;
    if (first != 0 && first != 1)
        bind_error(c->L, "%s: first_id must be 0 or 1, got %I", where, (LUAI_UACINT)first);
    t->first_id = (int32_t)first;
    t->n_ids = limit_of(c, N_IDS, "n_ids", where);
    t->n_labels = limit_of(c, N_LABELS, "n_labels", where);
}

/* Pushes the titles of the columns as a Lua table. */
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
    default: bind_check(L, ld_grow_index(bind_new_index(L), &t->columns[i].cells)); break;
    }
}

/* Pushes a table with all rows of the file that the arguments name. It is cleared when the calling
 * function ends. */
static ld_table *push_read(bind_call *c, const char *where)
{
    lua_State *L = c->L;
    progress p = progress_at(L, PROGRESS + 1, where);
    ld_table *t = push_table(L, where);
    lua_toclose(L, -1);
    read_options(c, t, where);
    t->progress = p.function ? call_progress : NULL;
    t->context = &p;
    check_progress(&p, ld_table_read(t, c->in[0].text));
    return t;
}

static ld_status text_read(bind_call *c)
{
    ld_table *t = push_read(c, "text.read");
    int top = lua_gettop(c->L);
    luaL_checkstack(c->L, (int)t->n_columns + 8, "too many columns");
    for (int64_t i = 0; i < t->n_columns; i++)
        push_column(c->L, t, i);
    if (t->titles)
        push_fields(c->L, t->titles, t->n_fields);
    else
        lua_pushnil(c->L);
    c->n_pushed = lua_gettop(c->L) - top;
    return LD_OK;
}

/* --- a piece at a time ------------------------------------------------------------------------ */

/* text.reader. The reader keeps its table alive, and the table the Names that it fills. */
static ld_status text_reader(bind_call *c)
{
    lua_State *L = c->L;
    ld_table *t = push_table(L, "text.reader");
    int table = lua_gettop(L);
    read_options(c, t, "text.reader");
    lua_pushvalue(L, table - 1);
    lua_setiuservalue(L, table, 1);
    ld_table_rows **r = lua_newuserdatauv(L, sizeof *r, 1);
    *r = NULL;
    luaL_setmetatable(L, BIND_READER);
    lua_pushvalue(L, table);
    lua_setiuservalue(L, -2, 1);
    return ld_table_open(r, t, c->in[0].text);
}

static ld_status rows_next(bind_call *c)
{
    lua_getiuservalue(c->L, 1, 1);
    ld_table *t = lua_touserdata(c->L, -1);
    int top = lua_gettop(c->L);
    int64_t before = t->n_rows;
    luaL_checkstack(c->L, (int)t->n_columns + 8, "too many columns");
    bind_check(c->L, ld_table_next(c->in[0].object, c->in[1].integer));
    for (int64_t i = 0; t->n_rows > before && i < t->n_columns; i++)
        push_column(c->L, t, i);
    c->n_pushed = lua_gettop(c->L) - top;
    return LD_OK;
}

/* --- edges, fields, writing ------------------------------------------------------------------- */

static bool is_node(const ld_column *c)
{
    return c->kind == LD_COLUMN_ID || c->kind == LD_COLUMN_NAME;
}

/* Puts the columns in the order source, target, weight, those that are skipped last. Returns false
 * unless there are two columns of nodes, at most one of numbers, and no others. */
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

static ld_status text_read_edges(bind_call *c)
{
    ld_table *t = push_read(c, "text.read_edges");
    const ld_column *columns = t->columns;
    if (!sort_edges(t))
        return ld_fail(LD_VALUE, "text.read_edges: columns must be two of nodes (\"id\" or Names), "
                                 "perhaps a \"number\", and others a \"skip\" each");
    int64_t listed = columns[0].cells.count;
    bind_check(c->L, ld_table_matrix(c->out[0].matrix, t, c->in[0].text));
    c->out[1].integer = listed - (*c->out[0].matrix)->s->nnz;
    return LD_OK;
}

static ld_status text_fields(bind_call *c)
{
    int64_t count;
    char separator = separator_at(c->L, 3, "text.fields");
    char **fields = (char **)bind_new_object(c->L, BIND_BUFFER);
    lua_toclose(c->L, -1);
    bind_check(c->L, ld_table_peek(fields, &count, c->in[0].text, separator));
    push_fields(c->L, *fields, count);
    return LD_OK;
}

static ld_status text_write(bind_call *c)
{
    return ld_text_write(c->in[0].text, c->in[1].tensor);
}

static ld_status text_write_edges(bind_call *c)
{
    return ld_text_write_edges(c->in[0].text, c->in[1].matrix);
}

/* --- Matrix Market ---------------------------------------------------------------------------- */

static ld_status mtx_read(bind_call *c)
{
    progress p = progress_at(c->L, 3, "mtx.read");
    ld_tensor **dense = bind_new_tensor(c->L);
    ld_csr **sparse = bind_new_matrix(c->L);
    check_progress(
        &p, ld_mtx_read(sparse, dense, c->in[0].text, p.function ? call_progress : NULL, &p));
    if (!*sparse)
        lua_pop(c->L, 1);
    return LD_OK;
}

static ld_status mtx_write(bind_call *c)
{
    const ld_tensor *dense = bind_to_operand(c->L, 2);
    bool symmetric = c->in[3].flag;
    if (dense && symmetric)
        return ld_fail(LD_VALUE, "mtx.write: symmetric is for a sparse Matrix");
    return dense ? ld_mtx_write_dense(c->in[0].text, dense)
                 : ld_mtx_write(c->in[0].text, bind_any_matrix(c->L, 2), symmetric);
}

static const bind_function functions[] = {
    {"read", text_read,
     "text.read(path [, {columns = {\"numbers\"}, header = boolean, separator = any,\n"
     "  first_id = 0, n_ids = 0, n_labels = 0, missing = false, progress = function}])\n"
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
     "numbers beyond its range refused; with missing = true an empty field, nan and na are NaN.\n"
     "progress(done, total) is called with bytes of the file now and then."},
    {"read_edges", text_read_edges,
     "text.read_edges(path, {columns = {\"id\", \"id\"}, header = boolean, separator = any,\n"
     "  first_id = 0, n_ids = 0, n_labels = 0, missing = false, progress = function})\n"
     "  -> Matrix, integer\n"
     "Reads edges, a line \"source,target\" or, with a third column \"number\", \"source,target,\n"
     "weight\" each (other columns are \"skip\"), as text.read does, into a square Matrix whose rows\n"
     "are the targets. It has n_ids rows, or as many as the nodes found need: ids beyond 100 for\n"
     "each line and 10^6 are then an error. Edges given twice are summed, without weights kept once;\n"
     "the integer is how many were. The Matrix is made of the columns where they lie: at no time is\n"
     "more held than twice what they take."},
    {"reader", text_reader,
     "text.reader(path [, {columns = {\"numbers\"}, header = boolean, separator = any,\n"
     "  first_id = 0, n_ids = 0, n_labels = 0, missing = false}]) -> TableReader\n"
     "Reads a table as text.read does, a piece at a time, for what does not fit in memory: r:next(n)."},
    {"fields", text_fields,
     "text.fields(path [, {separator = any}]) -> string[]\n"
     "The fields of the first line that is not blank or a comment, as strings."},
    {"write", text_write,
     "text.write(path, t)\n"
     "Writes the rows of t with commas between the numbers, which come back as they are.\n"
     "Packed with gzip if the path ends in .gz. The file appears whole or not at all. A number that\n"
     "is nan or infinite is an error.",
     .reads = "t"},
    {"write_edges", text_write_edges,
     "text.write_edges(path, A)\n"
     "Writes a line \"source,target\" for every entry, the row being the target, with ids from 0\n"
     "and, if A has values, the value as a third column. Files are as with text.write.",
     .reads = "A"},
    {NULL, NULL, NULL},
};

static const bind_function row_methods[] = {
    {"next", rows_next,
     "r:next(n) -> ...\nThe columns of the next n rows, or of as many as there are; nothing at the "
     "end."},
    {"close", NULL, "r:close()\nCloses the file.", .raw = bind_close},
    {NULL, NULL, NULL},
};

static const bind_function mtx_functions[] = {
    {"read", mtx_read,
     "mtx.read(path [, {progress = function}]) -> Matrix | Tensor\n"
     "Reads a Matrix Market file, plain or packed with gzip: \"coordinate\" (real, integer or\n"
     "pattern; general, symmetric or skew-symmetric) gives a Matrix, \"array\" a Tensor. Entries\n"
     "given twice are summed, in a pattern kept once; a pattern has no values. An entry too many,\n"
     "one too few or one outside of the declared size is an error with its line, and so are inf,\n"
     "nan and numbers beyond the range of float32.\n"
     "progress(done, total) is called with bytes of the file now and then."},
    {"write", mtx_write,
     "mtx.write(path, Matrix | Tensor [, {symmetric = false}])\n"
     "Writes a Matrix as coordinates (a pattern if it has no values), a Tensor as an array; with\n"
     "symmetric only the lower triangle of a Matrix that is symmetric. Packed with gzip if the\n"
     "path ends in .gz. Numbers come back as they are; nan and infinite ones are an error. The file\n"
     "appears whole or not at all."},
    {NULL, NULL, NULL},
};

static const bind_class reader_class = {
    .name = BIND_READER, .drop = ld_table_rows_drop, .closes = true, .methods = row_methods};

static const bind_class table_class = {
    .name = BIND_TABLE, .release = table_release, .closes = true};

const bind_subject bind_subject_text = {.classes = {&reader_class, &table_class},
                                        .functions = {{functions, "text"}, {mtx_functions, "mtx"}}};
