--- The sampler of GraphSAGE, which samples neighbours node by node. Hamilton, Ying and Leskovec,
-- NeurIPS 2017.
--
-- From the output down, every node v above keeps k of its neighbours, drawn uniformly. What a layer
-- then computes has two forms:
--     mean       v and its sampled neighbours, averaged with P's weights; where P is row-normalised
--                and the graph unweighted, the paper's mean aggregator (their eq. 2)
--     unbiased   P_vv h_v + sum over the sample of P_vu (d / k) h_u, d being v's neighbours: the
--                estimate of P that LADIES (Zou et al. 2019, section 2) and VR-GCN start from
-- A node with no more than k neighbours has them all, so with large k both are exact (the mean
-- where P's rows sum to one). The paper draws with replacement where a node has fewer than k
-- neighbours; replace = true does everywhere.

local arguments = require "ladies.sampling.arguments"
local declared = require "ladies.sampling.declared"
local options = require "ladies.base.options"
local sampling = require "ladies.sampling"

local SPEC = declared.spec("graphsage", {"samples", "layers", "form",
  {"replace", "boolean", default = false},
  {"self_nodes", "none|previous", default = "previous"},
})

--- ladies.samplers.graphsage(P, {samples = {k1, k2, ...}, ...}) -> Sampler: a sampler(seeds, rng)
-- -> mini-batch.
-- samples     neighbours drawn for each node (fan-outs), those of the first layer, nearest the
--             features, first; or one number for all of `layers`
-- replace     whether they are drawn with replacement: k draws even where there are fewer
-- form        "mean" or "unbiased", see the file's header
-- self_nodes  "previous": a layer's destinations are always in its src, where they come first, and
--             a node's self-loop, if P has it, is always included, with k other neighbours; "none":
--             a self-loop is an entry like the others, and src has only the nodes that are drawn
local function graphsage(P, given)
  arguments.check_square("ladies.samplers.graphsage", P, true)
  local opts = options.check("ladies.samplers.graphsage", given, SPEC)
  opts.samples = arguments.samples("ladies.samplers.graphsage", opts)
  local mean, loops = opts.form == "mean", opts.self_nodes == "previous" and P:diagonal() or nil
  return function(seeds, rng)
    return sampling.mini_batch(seeds, #opts.samples, function(l, dst)
      local adj, src, w = P:sample_rows(dst, opts.samples[l], {replace = opts.replace,
        count = mean, always = loops, rng = rng,
        first = arguments.kept(opts.self_nodes, seeds, dst)})
      if opts.replace or not mean then adj = adj:scale_entries(w) end
      if mean then adj = adj:row_normalize() end
      return adj, src
    end)
  end
end

return graphsage
