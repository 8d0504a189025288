/* Finds the word that a misspelt one was meant to be. The distance of two words is the number of
 * edits between them (insert, delete, replace, swap two neighbours; Damerau 1964), regardless of
 * case; a word that only begins another counts as one edit. Near is one edit, or one in three
 * letters, or three where the first three letters are right. Among words that are near, the one
 * with the fewest edits is the guess, then the one with the longest right beginning, then the
 * shortest. */
#ifndef LD_TEXT_NEAREST_H
#define LD_TEXT_NEAREST_H

/* Returns the better guess at what was meant by `word`: `candidate`, when it is near and nearer
 * than `best` (NULL for none yet), otherwise `best`. */
const char *ld_nearer(const char *word, const char *best, const char *candidate);

#endif
