--- Gathers the samplers (ladies.samplers), each in a file of its own. A constructor takes P and
-- returns a sampler, a function sampler(seeds, rng) -> mini-batch; a function of that kind in a
-- user's script is a sampler just as well.

return {
  asgcn = require "ladies.samplers.asgcn",
  bandit = require "ladies.samplers.bandit",
  bliss = require "ladies.samplers.bliss",
  clustergcn = require "ladies.samplers.clustergcn",
  fastgcn = require "ladies.samplers.fastgcn",
  full = require "ladies.samplers.full",
  grapes = require "ladies.samplers.grapes",
  graphsage = require "ladies.samplers.graphsage",
  graphsaint = require "ladies.samplers.graphsaint",
  labor = require "ladies.samplers.labor",
  ladies = require "ladies.samplers.ladies",
  mvs = require "ladies.samplers.mvs",
  pass = require "ladies.samplers.pass",
  pooled = require "ladies.samplers.pooled",
  pps = require "ladies.samplers.pps",
  rns = require "ladies.samplers.rns",
  shadow = require "ladies.samplers.shadow",
  temporal = require "ladies.samplers.temporal",
  vrgcn = require "ladies.samplers.vrgcn",
}
