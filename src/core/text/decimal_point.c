#include "text/decimal_point.h"

#include <locale.h>

/* Where there is no memory for a locale, the thread keeps the one that it has. */
void ld_decimal_point_keep(void)
{
    static _Thread_local locale_t own;
    locale_t global = duplocale(LC_GLOBAL_LOCALE);
    locale_t chosen = global ? newlocale(LC_NUMERIC_MASK, "C", global) : (locale_t)0;
    if (!chosen) {
        if (global)
            freelocale(global);
        return;
    }
    uselocale(chosen);
    if (own)
        freelocale(own);
    own = chosen;
}

void ld_decimal_point_only(void)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* which is there, and never freed */
    if (plain)
        uselocale(plain);
}
