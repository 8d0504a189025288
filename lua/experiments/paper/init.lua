--- The experiments of the paper (Zou et al., "Layer-Dependent Importance Sampling for Training Deep
-- and Large Graph Convolutional Networks", NeurIPS 2019), and the document of what they find.
-- They stand on the library, which knows nothing of them.

return {
  ablate = require "experiments.paper.ablate",
  costs = require "experiments.paper.costs",
  figures = require "experiments.paper.figures",
  report = require "experiments.paper.report",
  reproduce = require "experiments.paper.reproduce",
  table3 = require "experiments.paper.table3",
  variance = require "experiments.paper.variance",
}
