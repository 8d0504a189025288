/* Reads signatures, which say on the first line of a function's documentation how it is called.
 *
 *   ladies.f(P: Matrix, ids [, width = 3, {by = "size", rng = Rng}]) -> Tensor, Index
 *
 * Parameters that may be left out stand in square brackets, and a table of options in braces.
 * Behind a colon stands the type of a parameter, behind "=" its default, or the type of an option.
 * A parameter with neither has the type that its name has everywhere (bind_glossary). */
#ifndef LD_BIND_SIGNATURE_H
#define LD_BIND_SIGNATURE_H

#include <stdbool.h>

/* The types that values are converted to. BIND_ANY is a value of any type, which stays on the
 * stack; BIND_COUNT an integer from 0 to 2^31 - 1; BIND_STRING a string without zero bytes, such as
 * a path, and BIND_BYTES any; BIND_WORD one of several words. BIND_SELF is the object of a method
 * whose class is none of those above, and BIND_THE_OBJECT a result that is the method's object,
 * whatever its class. */
typedef enum {
    BIND_ANY,
    BIND_TENSOR_TYPE,
    BIND_INDEX_TYPE,
    BIND_MATRIX_TYPE,
    BIND_ROWS_TYPE,
    BIND_RNG_TYPE,
    BIND_OBJECT_TYPE,
    BIND_NUMBER,
    BIND_INTEGER,
    BIND_COUNT,
    BIND_BOOLEAN,
    BIND_STRING,
    BIND_BYTES,
    BIND_TABLE,
    BIND_WORD,
    BIND_THE_OBJECT,
    BIND_SELF,
} bind_type;

/* How a function treats the gradient that a Tensor or a Matrix may carry: it refuses the argument,
 * passes the gradient on, passes it on into a factor of a Matrix, or reads values only, so that it
 * does not matter. BIND_CHANGES: it writes to the Tensor. */
typedef enum { BIND_REFUSES, BIND_PASSES, BIND_FACTOR, BIND_READS, BIND_CHANGES } bind_gradient;

enum { BIND_MOST_PARAMETERS = 16, BIND_MOST_RESULTS = 4 };

typedef struct {
    const char *name, *text; /* within the documentation; `text` is the type or default */
    int name_length, text_length;
    bind_type type;
    bind_gradient gradient;
    bool optional;
    double standard; /* the value where it is left out, if it is a number or a boolean */
} bind_parameter;

/* A signature. Its positional parameters are the arguments in their order, with the object of a
 * method first and a table of options last; then come the options. So parameter i is at place i + 1
 * of the stack. */
typedef struct {
    const char *name, *end; /* "sampling.choice" or "slice"; the end of the parameters */
    int name_length;
    bool is_method, any_number; /* "A:f" is a method; "..." stands for any number */
    int n_positional, n_parameters, n_results;
    bool makes_results; /* all are of types that can be made before the function is called */
    bind_type results[BIND_MOST_RESULTS];
    bind_parameter parameters[BIND_MOST_PARAMETERS];
} bind_signature;

/* Reads the signature that a text begins with. Returns why it is none, or NULL. */
const char *bind_signature_read(bind_signature *s, const char *doc);

/* Reads the results of an operator from a text such as "... -> Tensor, integer". */
void bind_signature_read_results(bind_signature *s, const char *text);

/* The glossary, which gives parameters without a type the type of their name: `names`, with blanks
 * between, are of `type`. The list ends with NULL. */
typedef struct {
    const char *names, *type;
} bind_meaning;

extern const bind_meaning bind_glossary[];

#endif
