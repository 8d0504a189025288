/* Trains a graph convolutional network of two layers with LADIES (Zou et al., NeurIPS 2019), in C
 * alone: doc/c.md goes through it. Prints the loss and, in the end, the share of right answers. */
#include <ladies.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 5000, ENTRIES = 50000, CLASSES = 5, INPUTS = 16, HIDDEN = 32 };
enum { LAYERS = 2, BATCH = 256, SAMPLES = 256, STEPS = 60 };

typedef struct {
    ld_csr *P;           /* D^-1/2 (A+I) D^-1/2 */
    ld_tensor *features; /* NODES x INPUTS */
    ld_index *labels;    /* NODES */
} graph;

typedef struct {
    ld_csr *block[LAYERS]; /* rows are destinations, columns sources; block[0] reads the features */
    ld_index *input;       /* the sources of block[0] */
} batch;

static void free_graph(graph *g)
{
    ld_csr_unref(g->P);
    ld_tensor_unref(g->features);
    ld_index_unref(g->labels);
}

static void free_batch(batch *b)
{
    for (int l = 0; l < LAYERS; l++)
        ld_csr_unref(b->block[l]);
    ld_index_unref(b->input);
    *b = (batch){0};
}

/* A random graph with planted classes; the features of a class lie around a mean of its own. */
static ld_status make_graph(graph *g, ld_rng *rng)
{
    ld_tensor *shares = NULL, *weights = NULL, *means = NULL;
    ld_csr *adjacency = NULL;
    ld_status st;
    LD_TRY(ld_tensor_full(&shares, 1, CLASSES, 1, 1.0f));
    LD_TRY(ld_generate_labels(&g->labels, NODES, shares, rng));
    LD_TRY(ld_generate_weights(&weights, NODES, 2.5, rng));
    LD_TRY(ld_generate_chung_lu(&adjacency, weights, g->labels, ENTRIES, 0.8, rng));
    LD_TRY(ld_op_csr_normalize(NULL, &g->P, adjacency, LD_SYM, true));
    LD_TRY(ld_tensor_new(&means, 2, CLASSES, INPUTS));
    LD_TRY(ld_tensor_normal(means, 0.5f, rng));
    LD_TRY(ld_generate_features(&g->features, g->labels, means, 0, rng));
done:
    ld_tensor_unref(shares);
    ld_tensor_unref(weights);
    ld_tensor_unref(means);
    ld_csr_unref(adjacency);
    return st;
}

/* One block of LADIES: SAMPLES columns of P's rows `dst`, drawn in proportion to their squared norms
 * there, weighted so that sums stay what they were on average, rows normalised. */
static ld_status sample_block(ld_csr **block, ld_index **src, graph *g, ld_index *dst, ld_rng *rng)
{
    ld_draw_options how = {.power = 2, .choice = {.draw = LD_CHOICE_WOR}};
    ld_csr *drawn = NULL, *weighted = NULL;
    ld_tensor *w = NULL;
    ld_status st;
    LD_TRY(ld_draw_cols(&drawn, src, &w, g->P, dst, SAMPLES, how, rng));
    LD_TRY(ld_op_csr_scale_cols(NULL, &weighted, drawn, w));
    LD_TRY(ld_op_csr_row_normalize(NULL, block, weighted));
done:
    ld_csr_unref(drawn);
    ld_csr_unref(weighted);
    ld_tensor_unref(w);
    return st;
}

/* The blocks for the nodes `seeds`, from the last layer to the first. */
static ld_status sample(batch *b, graph *g, ld_index *seeds, ld_rng *rng)
{
    b->input = ld_index_ref(seeds);
    for (int l = LAYERS - 1; l >= 0; l--) {
        ld_index *src = NULL;
        ld_status st = sample_block(&b->block[l], &src, g, b->input, rng);
        if (st != LD_OK)
            return st;
        ld_index_unref(b->input);
        b->input = src;
    }
    return LD_OK;
}

/* Logits: P (relu(P X W0)) W1, with the blocks of a mini-batch for P, and no biases. */
static ld_status forward(ld_tape *tape, ld_tensor **out, ld_csr *const *P, ld_tensor *x,
                         ld_tensor *const *w)
{
    ld_tensor *xw = NULL, *sums = NULL, *h = NULL, *hw = NULL;
    ld_status st;
    LD_TRY(ld_op_matmul(tape, &xw, x, w[0]));
    LD_TRY(ld_op_spmm(tape, &sums, P[0], xw, NULL));
    LD_TRY(ld_op_unary(tape, &h, LD_RELU, sums, 0));
    LD_TRY(ld_op_matmul(tape, &hw, h, w[1]));
    LD_TRY(ld_op_spmm(tape, out, P[1], hw, NULL));
done:
    ld_tensor_unref(xw);
    ld_tensor_unref(sums);
    ld_tensor_unref(h);
    ld_tensor_unref(hw);
    return st;
}

/* One step of training on a mini-batch of random nodes. */
static ld_status step(double *loss_value, graph *g, ld_tensor *const *w, ld_optimizer *adam,
                      ld_tape *tape, ld_rng *rng)
{
    batch b = {0};
    ld_index *seeds = NULL, *labels = NULL;
    ld_tensor *x = NULL, *logits = NULL, *loss = NULL;
    ld_status st;
    LD_TRY(ld_index_permutation(&seeds, NODES, BATCH, rng));
    LD_TRY(sample(&b, g, seeds, rng));
    LD_TRY(ld_tape_open(tape, true));
    LD_TRY(ld_op_gather(tape, &x, g->features, b.input));
    LD_TRY(forward(tape, &logits, b.block, x, w));
    LD_TRY(ld_index_gather(&labels, g->labels, seeds));
    LD_TRY(ld_op_cross_entropy(tape, &loss, logits, labels, NULL, NULL));
    *loss_value = loss->data[0];
    LD_TRY(ld_tape_backward(tape, loss));
    LD_TRY(ld_optimizer_step(adam));
done:
    ld_tape_close(tape);
    ld_tensor_unref(x);
    ld_tensor_unref(logits);
    ld_tensor_unref(loss);
    ld_index_unref(seeds);
    ld_index_unref(labels);
    free_batch(&b);
    return st;
}

/* The share of nodes whose class the network tells with the whole P. */
static ld_status score(double *share, graph *g, ld_tensor *const *w)
{
    ld_csr *const whole[LAYERS] = {g->P, g->P};
    ld_tensor *logits = NULL;
    ld_index *told = NULL;
    int right = 0;
    ld_status st;
    LD_TRY(forward(NULL, &logits, whole, g->features, w));
    LD_TRY(ld_tensor_argmax(&told, logits));
    for (int i = 0; i < NODES; i++)
        right += told->data[i] == g->labels->data[i];
    *share = (double)right / NODES;
done:
    ld_tensor_unref(logits);
    ld_index_unref(told);
    return st;
}

static ld_status train(ld_rng *rng)
{
    ld_optimizer_options options = {.lr = 0.01, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
    graph g = {0};
    ld_tensor *w[LAYERS] = {NULL};
    ld_optimizer *adam = NULL;
    ld_tape *tape = NULL;
    double loss = 0, share = 0;
    ld_status st;
    LD_TRY(make_graph(&g, rng));
    LD_TRY(ld_tensor_new(&w[0], 2, INPUTS, HIDDEN));
    LD_TRY(ld_tensor_new(&w[1], 2, HIDDEN, CLASSES));
    for (int l = 0; l < LAYERS; l++)
        LD_TRY(ld_tensor_normal(w[l], 0.2f, rng));
    LD_TRY(ld_optimizer_new(&adam, LD_ADAM, &options, w, LAYERS));
    LD_TRY(ld_tape_new(&tape));
    for (int i = 1; i <= STEPS; i++) {
        LD_TRY(step(&loss, &g, w, adam, tape, rng));
        if (i % 20 == 0)
            printf("step %d: loss %.3f\n", i, loss);
    }
    LD_TRY(score(&share, &g, w));
    printf("accuracy %.3f\n", share);
done:
    ld_optimizer_free(adam);
    ld_tape_free(tape);
    for (int l = 0; l < LAYERS; l++)
        ld_tensor_unref(w[l]);
    free_graph(&g);
    return st;
}

int main(void)
{
    ld_rng rng = ld_rng_seed(1);
    if (ld_init() != LD_OK || train(&rng) != LD_OK) {
        fprintf(stderr, "train: %s\n", ld_message());
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
