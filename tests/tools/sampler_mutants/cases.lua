--- The settings in which mutants of each sampler are tried, so that every branch of it is used: by
-- the name of its file, an array of settings of experiments, `method` among them. `training` is the
-- number of steps of the laboratory's network: what samplers learn from shows only after many.

local function with(method, list)
  for _, settings in ipairs(list) do settings.method = method end
  return list
end

return {
  ladies = with("ladies", {
    {samples = {14, 10}, self_nodes = "none"},
    {samples = {14, 10}, self_nodes = "previous", draw = "wor", debias = true,
      row_normalize = false},
    {samples = {14, 10}, self_nodes = "batch", union = "post", normalize = "row"},
    {samples = {14, 10}, self_nodes = "none", draw = "wr", flat = true, row_normalize = false},
    {samples = {14, 10}, self_nodes = "previous", draw = "poisson", sketch = true},
  }),
  fastgcn = with("fastgcn", {
    {samples = {40, 30}},
    {samples = {40, 30}, draw = "wor", row_normalize = true, self_nodes = "batch", flat = true},
    {samples = {40, 30}, draw = "poisson", self_nodes = "previous", probability = "uniform"},
  }),
  graphsage = with("graphsage", {
    {samples = {3, 2}},
    {samples = {3, 2}, normalize = "sym"},
  }),
  labor = with("labor", {
    {samples = {3, 2}},
    {samples = {3, 2}, normalize = "sym", iterations = 1},
    {samples = {3, 2}, layer_dependency = true},
  }),
  pooled = with("pooled", {
    {samples = {3, 2}},
    {samples = {3, 2}, form = "unbiased", self_nodes = "previous"},
    {samples = {3, 2}, self_nodes = "batch"},
  }),
  pps = with("pps", {
    {samples = {40, 30}},
    {samples = {40, 30}, draw = "poisson", self_nodes = "batch"},
  }),
  clustergcn = with("clustergcn", {
    {parts = 24, clusters = 4, lambda = 0.5},
    {parts = 12, clusters = 3, partition = "random", normalize = "sym"},
  }),
  rns = with("rns", {
    {parts = 4},
    {parts = 3, normalize = "row"},
  }),
  vrgcn = with("vrgcn", {
    {samples = 2, layers = 3},
    {samples = 2, layers = 3, dropout = 0.2},
  }),
  mvs = with("mvs", {
    {samples = 2, large = 60, refresh = 1},
  }),
  full = with("full", {{}}),
  asgcn = with("asgcn", {
    {samples = {14, 10}, self_nodes = "none", training = 300},
    {samples = {14, 10}, self_nodes = "previous", row_normalize = true, training = 300},
  }),
  bandit = with("bandit", {
    {samples = {3, 2}, delta = 10, training = 300},
    {samples = {3, 2}, delta = 10, replace = true, row_normalize = true, training = 300},
  }),
  bliss = with("bliss", {
    {samples = {14, 10}, self_nodes = "none", steps = 1, eta = 0.7, cap = 20, training = 300},
    {samples = {14, 10}, draw = "wr", self_nodes = "batch", row_normalize = false, steps = 1,
      eta = 0.7, training = 300},
  }),
  grapes = with("grapes", {
    {samples = {14, 10}, training = 300},
    {samples = {14, 10}, self_nodes = "none", row_normalize = false, training = 300},
  }),
  graphsaint = with("graphsaint", {
    {by = "rw", samples = 20, length = 2, coverage = 10},
    {by = "edge", samples = 30, coverage = 10},
    {by = "node", samples = 40, coverage = 10, inductive = true},
    {by = "mrw", samples = 40, coverage = 10},
  }),
  pass = with("pass", {
    {samples = {3, 2}, training = 300},
    {samples = {3, 2}, normalize = "sym", training = 300},
  }),
  shadow = with("shadow", {
    {samples = 2, depth = 2, layers = 2},
    {samples = 3, depth = 1, layers = 3, normalize = "row"},
  }),
}
