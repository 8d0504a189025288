--- The experiments of the paper (Zou et al., "Layer-Dependent Importance Sampling for Training Deep
-- and Large Graph Convolutional Networks", NeurIPS 2019), and the document of what they find.
-- They stand on the library, which knows nothing of them.

return {
  ablate = require "ladies_paper.ablate",
  costs = require "ladies_paper.costs",
  figures = require "ladies_paper.figures",
  report = require "ladies_paper.report",
  reproduce = require "ladies_paper.reproduce",
  table3 = require "ladies_paper.table3",
  variance = require "ladies_paper.variance",
}
