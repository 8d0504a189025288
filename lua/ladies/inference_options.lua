--- How a saved run's model is applied, as options of a command line (see ladies.cli).

return {
  {"dataset", "NAME|PATH", "string", help = "another data set than the run's"},
  {"inference", "HOW", "exact|sampled", default = "exact",
    help = "over the whole graph, or by the run's sampler"},
  {"samples", "N", "positive integer",
    help = "nodes of a layer, or neighbours of a node, for sampled inference (default: the run's)"},
  {"draws", "N", "positive integer", default = 1, help = "samples whose logits are averaged"},
  {"seed", "N", "integer", default = 1, help = "of the samples"},
}
