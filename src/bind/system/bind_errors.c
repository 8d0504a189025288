/* Functions for the Lua half of the library, which raises its own errors: the line to blame, and
 * the error of Ctrl-C. */
#include "state/bind.h"

static ld_status blamed_line(bind_call *c)
{
    bind_push_where(c->L);
    return LD_OK;
}

static ld_status set_home(bind_call *c)
{
    bind_set_home(c->L);
    return LD_OK;
}

static ld_status interruption(bind_call *c)
{
    bind_push_interruption(c->L);
    return LD_OK;
}

static ld_status is_interruption(bind_call *c)
{
    c->out[0].flag = bind_is_interruption(c->L, 1);
    return LD_OK;
}

static ld_status default_places(bind_call *c)
{
    lua_pushliteral(c->L, LUA_PATH_DEFAULT);
    lua_pushliteral(c->L, LUA_CPATH_DEFAULT);
    return LD_OK;
}

static const bind_function functions[] = {
    {"blamed_line", blamed_line,
     "ladies_core.blamed_line() -> string\n"
     "\"FILE:LINE: \" of the line that an error raised here blames: the nearest one on the stack that\n"
     "is in no source of the library; \"\" when there is none."},
    {"set_home", set_home,
     "ladies_core.set_home(text)\n"
     "Sets the beginning of the names of sources, as debug.getinfo has them, in the folder that\n"
     "holds the folders of the library and of the experiments."},
    {"interruption", interruption,
     "ladies_core.interruption(text) -> Interruption\n"
     "An error as Ctrl-C raises it, with this text as its message."},
    {"is_interruption", is_interruption,
     "ladies_core.is_interruption(value) -> boolean\n"
     "True if an error was raised by Ctrl-C."},
    {"default_places", default_places,
     "ladies_core.default_places() -> string, string\n"
     "The values of package.path and package.cpath where the environment does not set them."},
    {NULL, NULL, NULL},
};

const bind_subject bind_subject_errors = {.functions = {{functions}}};
