--- How a saved run's model is applied, as options of a command line (see ladies.command.cli).

local inference_options = {}

--- The options, as ladies.command.cli takes them.
inference_options.list = {
  {"dataset", "NAME|PATH", "string", help = "another data set than the run's"},
  {"inference", "HOW", "exact|sampled", default = "exact",
    help = "over the whole graph, or by the run's sampler"},
  {"samples", "N", "positive integer",
    help = "nodes of a layer, or neighbours of a node, for sampled inference (default: the run's)"},
  {"draws", "N", "positive integer", default = 1, help = "samples whose logits are averaged"},
  {"seed", "N", "integer", default = 1, help = "of the samples"},
}

--- The options of SavedRun:logits from what cli.main hands over. One of sampled inference is an
-- error where inference is exact.
function inference_options.settings(opts, given)
  for _, key in ipairs{"samples", "draws", "seed"} do
    if given[key] and opts.inference == "exact" then
      error(("--%s is of sampled inference; add --inference sampled"):format(key), 0)
    end
  end
  return {how = opts.inference, samples = opts.samples, draws = opts.draws, seed = opts.seed}
end

return inference_options
