/* Keeps the decimal point in numbers, in files and in what is shown, whatever the locale that a
 * program has chosen by setlocale: printf and strtod of a thread go by a locale of its own from
 * then on. */
#ifndef LD_TEXT_DECIMAL_POINT_H
#define LD_TEXT_DECIMAL_POINT_H

/* Makes this thread's locale that of setlocale in all but numbers. It must be called again after
 * setlocale. */
void ld_decimal_point_keep(void);

/* Makes everything in this thread, which nobody but this library uses, as in the locale "C". */
void ld_decimal_point_only(void);

#endif
