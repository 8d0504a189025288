--- The methods that followed the paper (Zou et al., NeurIPS 2019), measured: every method and
-- architecture of the library beside each other, and published tables of others tried again. They
-- stand on the library and on the paper's experiments, which know nothing of them.

return {
  bliss = require "experiments.followers.bliss",
  gcnii = require "experiments.followers.gcnii",
  labor = require "experiments.followers.labor",
  links = require "experiments.followers.links",
  measure = require "experiments.followers.measure",
  methods = require "experiments.followers.methods",
  models = require "experiments.followers.models",
  relations = require "experiments.followers.relations",
  rns = require "experiments.followers.rns",
}
