/* Numbers in texts have a decimal point, in files and in what is shown, whatever the locale that a
 * program has chosen by setlocale: printf and strtod of a thread go by a locale of its own from then
 * on. */
#ifndef LD_BASE_DECIMAL_POINT_H
#define LD_BASE_DECIMAL_POINT_H

/* In this thread all but numbers is as setlocale has it now. To be called again after setlocale. */
void ld_decimal_point_keep(void);

/* In this thread, which nobody but this library uses, everything is as in the locale "C". */
void ld_decimal_point_only(void);

#endif
