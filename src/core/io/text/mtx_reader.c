#include "io/text/mtx_reader.h"

#include <inttypes.h>
#include <math.h>

#include "io/text/number.h"

ld_status ld_mtx_value(const ld_mtx_reader *r, int column, const char *p, const char *end,
                       float *value)
{
    p = ld_mtx_skip_blanks(p);
    const char *stop = ld_parse_float(value, p);
    if (!stop || ld_mtx_skip_blanks(stop) != end)
        return ld_lines_fail(&r->lines, column, p, end, "a number and the end of the line");
    if (isinf(*value))
        return ld_lines_fail(&r->lines, column, p, end, "a number that fits float32");
    return LD_OK;
}

/* Refuses a declared number of entries in a file that cannot hold them: they would take memory for
 * nothing. */
ld_status ld_mtx_check_room(const ld_mtx_reader *r, int64_t count, int64_t bytes)
{
    int64_t left = ld_ahead_bound(r->lines.file) + 1;
    if (count <= left / bytes)
        return LD_OK;
    return ld_fail(LD_FORMAT, "%s: line %" PRId64 ": %" PRId64 " entries are more than it can hold",
                   ld_ahead_name(r->lines.file), r->lines.number, count);
}
