--- The gradient contract of the functions in Lua that take tensors or matrices, or what holds them.
local core = require "ladies_core"
local ladies = require "ladies"
local kinds = require "reference.contract.kinds"
local node_of = require "ladies.data.about.node"
local show = require "ladies.show"

local passes, refuses, reads = kinds.passes, kinds.refuses, kinds.reads
local vector, dense, ENTRIES = kinds.vector, kinds.dense, kinds.ENTRIES
local rng, of_matrix, file = kinds.rng, kinds.of_matrix, kinds.file
local LABELS, square_matrix = kinds.LABELS, kinds.square_matrix
local index = ladies.index
local M = dense(4, 3)

local function linear(w, b)
  local layer = ladies.nn.linear{inputs = 3, outputs = 2, rng = rng()}
  layer.weight, layer.bias = w, b
  return layer
end

local function convolution(w, b)
  local layer = ladies.nn.gcn_conv{inputs = 3, outputs = 2, rng = rng()}
  layer.weight, layer.bias = w, b
  return layer
end

local function gcn() return ladies.nn.gcn{inputs = 3, outputs = 3, hidden = 2, layers = 1} end

--- A data set with features that are x, over A or a graph without values.
local function dataset(x, A, directed)
  return ladies.data.from_arrays{
    graph = A or square_matrix():symmetrize(), features = x, labels = LABELS, train = index{1, 2},
    val = index{3}, test = index{4}, directed = directed,
  }
end

--- A sampler over a matrix, by its name, with the first block's matrix of what it draws.
local function draws(name, given)
  return function(A)
    local batch = ladies.samplers[name](A, given)(index{1, 2}, rng())
    return batch.blocks[1].adj
  end
end

local function whole(A)
  local nodes = ladies.range(1, 4)
  return {adj = A, src = nodes, dst = nodes}
end

local entries = {
  ["loss.cross_entropy"] = {
    passes({M}, function(_, x) return ladies.loss.cross_entropy(x, LABELS) end),
    refuses(function(c) return ladies.loss.cross_entropy(c.constant, LABELS, c.v4) end),
    refuses(function(c)
      return ladies.loss.cross_entropy(c.constant, LABELS, {class_weights = c.v4:slice(1, 3)})
    end),
  },
  ["loss.binary_cross_entropy"] = {
    passes({M}, function(_, x)
      return ladies.loss.binary_cross_entropy(x, ladies.full(4, 3, 0.25))
    end),
    refuses(function(c)
      return ladies.loss.binary_cross_entropy(c.constant, ladies.ones(4, 3), c.v4)
    end),
  },
  ["Linear:forward"] = passes({M, dense(3, 2), vector(2)},
    function(_, x, w, b) return linear(w, b):forward(x) end),
  ["GcnConv:forward"] = passes({M, dense(3, 2), vector(2), vector(ENTRIES)},
    function(c, x, w, b, e) return convolution(w, b):forward(x, c.plain:with_values(e)) end),
  ["LayerNorm:forward"] = passes({M}, function(_, x)
    return ladies.nn.layer_norm{width = 3}:forward(x)
  end),
  ["BatchNorm:forward"] = {
    passes({M}, function(_, x) return ladies.nn.batch_norm{width = 3}:forward(x, rng()) end),
    passes({M}, function(_, x) return ladies.nn.batch_norm{width = 3}:forward(x) end),
  },
  ["Dropout:forward"] = passes({M}, function(_, x)
    return ladies.nn.dropout{p = 0.5}:forward(x, rng())
  end),
  ["Gcn:forward"] = passes({M, vector(ENTRIES)}, function(c, x, e)
    local block = whole(c.plain:with_values(e))
    return gcn():forward(x, {blocks = {block}, input = block.src, output = block.dst}, false)
  end),
  ["Gcn:layer"] = passes({M, vector(ENTRIES)}, function(c, x, e)
    return gcn():layer(1, x, whole(c.plain:with_values(e)))
  end),
  ["nn.own_rows"] = passes({M}, function(_, x)
    return ladies.nn.own_rows(x, {src = ladies.range(1, 4), dst = index{4, 2}})
  end),
  ["graph.normalize"] = of_matrix(function(A) return ladies.graph.new(A):normalize "row" end),
  ["graph.degrees"] = of_matrix(function(A)
    return ladies.graph.new(A):degrees() * A:row_sums()
  end),
  ["nn.parameters"] = passes({M}, function(_, x) return ladies.nn.parameters{x}[1] end),
  ["nn.named_parameters"] = passes({M}, function(_, x)
    return ladies.nn.named_parameters{x}[1].tensor
  end),

  ["graph.new"] = of_matrix(function(A) return ladies.graph.new(A).adjacency end),
  ["data.from_arrays"] = {
    passes({M}, function(_, x) return dataset(x).features * 2 end),
    of_matrix(function(A) return dataset(dense(4, 3)(), A, "keep").graph.adjacency end),
  },
  ["Dataset:new"] = passes({M}, function(_, x) return dataset(x).features * 2 end),
  ["data.row_normalized"] = passes({M}, function(_, x)
    return ladies.data.row_normalized(dataset(x)).features
  end),
  ["data.standardized"] = refuses(function(c)
    return ladies.data.standardized(dataset(c.m)).features
  end),
  ["data.shuffled"] = passes({M}, function(_, x)
    return ladies.data.shuffled(dataset(x), {what = "labels"}).features * 2
  end),
  ["samplers.full"] = of_matrix(draws("full", {layers = 1})),
  ["samplers.graphsage"] = of_matrix(draws("graphsage", {samples = {1}})),
  ["samplers.graphsaint"] = of_matrix(draws("graphsaint", {
    layers = 1, train = index{1, 2}, samples = 2, coverage = 2,
  })),
  ["samplers.labor"] = of_matrix(draws("labor", {samples = {1}})),
  ["samplers.clustergcn"] = of_matrix(draws("clustergcn", {
    layers = 1, train = index{1, 2}, parts = {index{1, 2}, index{3, 4}}, lambda = 0.5,
  })),
  ["samplers.pooled"] = of_matrix(draws("pooled", {samples = {1}})),
  ["samplers.pps"] = refuses(function(c) return draws("pps", {samples = {2}})(c.A) end),
  ["samplers.rns"] = of_matrix(draws("rns", {layers = 1, train = index{1, 2}, parts = 1})),
  ["samplers.shadow"] = refuses(function(c) return draws("shadow", {layers = 1})(c.A) end),
  ["samplers.ladies"] = refuses(function(c) return draws("ladies", {samples = {2}})(c.A) end),
  ["samplers.fastgcn"] = refuses(function(c) return draws("fastgcn", {samples = {2}})(c.A) end),
  ["samplers.vrgcn"] = refuses(function(c)
    return draws("vrgcn", {layers = 1, hidden = 2})(c.A)
  end),
  ["samplers.asgcn"] = refuses(function(c)
    return draws("asgcn", {samples = {2}, features = ladies.ones(4, 2)})(c.A)
  end),
  ["samplers.bandit"] = refuses(function(c) return draws("bandit", {samples = {2}})(c.A) end),
  ["samplers.bliss"] = refuses(function(c) return draws("bliss", {samples = {2}})(c.A) end),
  ["samplers.grapes"] = refuses(function(c)
    return draws("grapes", {samples = {2}, features = ladies.ones(4, 2)})(c.A)
  end),
  ["samplers.mvs"] = refuses(function(c)
    local inner = ladies.samplers.vrgcn(c.A, {layers = 1, hidden = 2})
    return ladies.samplers.mvs(inner, {train = index{1, 2}, norms = ladies.ones})(index{1}, rng())
  end),
  ["samplers.pass"] = refuses(function(c)
    return draws("pass", {samples = {2}, features = ladies.ones(4, 2)})(c.A)
  end),
  ["eigenvectors"] = refuses(function(c)
    local diagonal = ladies.csr{n_rows = 4, n_cols = 4, offsets = ladies.range(1, 5),
      columns = ladies.range(1, 4)}
    return ladies.eigenvectors(diagonal:with_values(c.v4), 1)
  end),
  ["sampling.joint_probabilities"] = refuses(function(c)
    return ladies.sampling.joint_probabilities(c.v4, 2, {draw = "pivotal"})
  end),
  ["sampling.poisson_probabilities"] = refuses(function(c)
    return ladies.sampling.poisson_probabilities(c.v4, 2)
  end),
  ["sampling.poisson"] = refuses(function(c)
    return ladies.sampling.poisson(c.v4, 2, {rng = rng()})
  end),
  ["sampling.layerwise"] = {
    refuses(function(c)
      return ladies.sampling.layerwise(c.A, {samples = {2}})(index{1, 2}, rng())
    end),
    refuses(function(c)
      return ladies.sampling.layerwise(c.A, {samples = {2}, probability = "norms",
        columns = "graph"})(index{1, 2}, rng())
    end),
  },
  ["sampling.mini_batch"] = of_matrix(function(A)
    return ladies.sampling.mini_batch(index{1, 2}, 1, function(_, dst) return A:slice(dst) end)
      .blocks[1].adj
  end),
  ["sampling.check"] = of_matrix(function(A)
    local block = whole(A)
    return ladies.sampling.check{blocks = {block}, input = block.src, output = block.dst}
      .blocks[1].adj
  end),
  ["sampling.at_layer"] = passes({M}, function(_, x)
    return ladies.sampling.at_layer(1, x.exp, x)
  end),
  ["comm.together"] = passes({M}, function(_, x) return ladies.comm.together(x.exp, x) end),
  ["errors.caught"] = passes({M}, function(_, x)
    return select(2, ladies.errors.caught(x.exp, x))
  end),
  ["errors.owned"] = passes({M}, function(_, x) return ladies.errors.owned(x.exp)(x) end),
  ["errors.try"] = passes({M}, function(_, x)
    return select(2, ladies.errors.try(x.exp, x))
  end),
  ["errors.within"] = passes({M}, function(_, x)
    return ladies.errors.within("layer %d", 1, x.exp, x)
  end),
  ["options.value"] = passes({M}, function(_, x)
    return ladies.options.value("f", "x", x, "Tensor"):exp()
  end),
  ["options.check"] = passes({M}, function(_, x)
    return ladies.options.check("f", {x = x}, {x = "Tensor"}).x:exp()
  end),

  ["inference.exact"] = {
    refuses(function(c) return ladies.inference.exact(gcn(), c.plain, {features = c.m}) end),
    refuses(function(c) return ladies.inference.exact(gcn(), c.A, {features = c.constant}) end),
  },
  ["inference.without_graph"] = refuses(function(c)
    local model = {forward = function(_, x, batch) return x:rows(batch.input) end}
    return ladies.inference.without_graph(model, c.m)
  end),
  ["inference.sampled"] = refuses(function(c)
    local data = dataset(c.m)
    return ladies.inference.sampled(gcn(), data, index{1, 2}, {
      sampler = ladies.samplers.full(data.graph:normalize "sym", {layers = 1}),
    })
  end),
  ["projection.pca"] = refuses(function(c) return ladies.projection.pca(c.m) end),
  ["projection.tsne"] = refuses(function(c)
    return ladies.projection.tsne(c.m, {perplexity = 1})
  end),
  ["smoothing.label_propagation"] = refuses(function(c)
    return ladies.smoothing.label_propagation(dataset(dense(4, 3)(), c.A, "keep"))
  end),
  ["smoothing.correct_and_smooth"] = {
    refuses(function(c)
      return ladies.smoothing.correct_and_smooth(dataset(dense(4, 3)()), c.m)
    end),
    refuses(function(c)
      return ladies.smoothing.correct_and_smooth(dataset(dense(4, 3)(), c.A, "keep"), c.constant)
    end),
  },
  ["links.split"] = refuses(function(c)
    return ladies.links.split(ladies.graph.new(c.A)).graph.adjacency
  end),
  ["links.left_out"] = refuses(function(c)
    local batch = {blocks = {whole(c.plain)}}
    return ladies.links.left_out(ladies.graph.new(c.A), batch, index{1}, index{2}).blocks[1].adj
  end),
  ["links.ranks"] = refuses(function(c)
    local edges = ladies.links.split(ladies.graph.new(kinds.square_matrix()), {val = 0, test = 0})
    return ladies.links.ranks(edges, index{1}, ladies.nn.link_decoder{inputs = 3}, c.m)
  end),
  ["links.top"] = refuses(function(c)
    local edges = ladies.links.split(ladies.graph.new(kinds.square_matrix()), {val = 0, test = 0})
    return ladies.links.top(edges, ladies.nn.link_decoder{inputs = 3}, c.m, 1).scores
  end),
  ["LinkDecoder:forward"] = passes({M, M}, function(_, x, y)
    return ladies.nn.link_decoder{inputs = 3}:forward(x, y)
  end),
  ["LinkDecoder:candidates"] = passes({M, M}, function(_, x, y)
    return ladies.nn.link_decoder{inputs = 3}:candidates(x, y, "to")
  end),
  ["metrics.f1"] = refuses(function(c)
    return ladies.metrics.f1(gcn(), dataset(c.m), index{1, 2})
  end),
  ["metrics.predictions"] = refuses(function(c)
    return ladies.metrics.predictions(gcn(), dataset(c.m))
  end),

  ["metrics.confusion"] = reads(function(c)
    return ladies.metrics.confusion(c.m:argmax(), LABELS, 3)
  end),
  ["data.save"] = reads(function(c) return ladies.data.save(dataset(c.m), file "data.npz") end),
  ["Rows:matmul"] = refuses(function(c)
    return core.rows_in_parts{dtype = "float32", n_rows = 0, n_cols = c.m.n_rows, parts = {}}
      :matmul(c.m)
  end),
  ["data.to_shards"] = reads(function(c)
    return ladies.data.to_shards(dataset(c.m), file "shards", {shards = 1})
  end),
  ["data.seed_parts"] = reads(function(c)
    local data = dataset(c.m)
    data.part_ends = ladies.index{#data}       -- so that METIS is not needed
    return ladies.data.seed_parts(data, 1, {nodes = ladies.index{1}})[1]
  end),
  ["data.export"] = reads(function(c)
    return ladies.data.export(dataset(c.m), file "export.npz")
  end),
  ["Dataset:describe"] = reads(function(c) return dataset(c.m):describe() end),
  ["Dataset:facts"] = reads(function(c) return dataset(c.m):facts() end),
  ["Dataset.__tostring"] = reads(function(c) return tostring(dataset(c.m)) end),
  ["Dataset.__html"] = reads(function(c) return show.rich(dataset(c.m)) end),
  ["Dataset.__show"] = reads(function(c) return ladies.show(dataset(c.m)) end),
  ["plot.bars"] = reads(function(c) return ladies.plot.bars(c.m) end),
  ["plot.figure"] = reads(function(c)
    return ladies.plot.figure{series = {{points = c.v}}}
  end),
  ["plot.heat_map"] = {
    reads(function(c) return ladies.plot.heat_map(c.m) end),
    reads(function(c) return ladies.plot.heat_map(c.A) end),
  },
  ["plot.histogram"] = reads(function(c) return ladies.plot.histogram(c.m) end),
  ["plot.lines"] = reads(function(c) return ladies.plot.lines(c.m) end),
  ["plot.network"] = reads(function(c) return ladies.plot.network(c.A) end),
  ["plot.scatter"] = reads(function(c) return ladies.plot.scatter(c.m:slice_cols(1, 2)) end),
  ["plot.spy"] = reads(function(c) return ladies.plot.spy(c.A) end),
  ["Dataset:draw"] = reads(function(c) return dataset(c.m):draw(1) end),
  ["Dataset:show"] = reads(function(c) return node_of.text(dataset(c.m), 1) end),
  ["show"] = reads(function(c) return ladies.show(c.A) end),
  ["help"] = reads(function() return ladies.help_text(ladies.help) end),
  ["help_text"] = reads(function(c) return ladies.help_text(c.m) end),
  ["graph.__show"] = reads(function(c) return ladies.show(ladies.graph.new(c.A)) end),
  ["graph.name_of"] = reads(function(c) return ladies.graph.new(c.A):name_of(c.A) end),
  ["graph.components"] = reads(function(c) return ladies.graph.new(c.A):components() end),
  ["graph.is_symmetric"] = reads(function(c) return ladies.graph.new(c.A):is_symmetric() end),
  ["graph.n_isolated"] = reads(function(c) return ladies.graph.new(c.A):n_isolated() end),
  ["graph.n_self_loops"] = reads(function(c) return ladies.graph.new(c.A):n_self_loops() end),
  ["graph.partition"] = reads(function(c)
    return ladies.graph.new(c.A):partition(2, {by = "random"})
  end),
  ["partition.of"] = reads(function(c)
    return ladies.partition.of(c.A, 2, {by = "random"})
  end),
  ["nn.size"] = reads(function(c) return ladies.nn.size{c.m} end),
  ["save_model"] = reads(function() return ladies.save_model(gcn(), file "model.npz") end),
  ["metrics.accuracy"] = reads(function(c)
    return ladies.metrics.accuracy(c.m:argmax(), LABELS)
  end),
  ["metrics.calibration"] = reads(function(c)
    return ladies.metrics.calibration(c.m, LABELS).error
  end),
  ["GcnConv:transforms_first"] = reads(function(c) return convolution():transforms_first(c.A) end),
  ["Gcn:takes_rows"] = reads(function(c) return gcn():takes_rows(c.A) end),
  ["GcnConv:transform_is_cheaper"] = reads(function(c)
    return convolution().transform_is_cheaper(c.A, 3, 2)
  end),
  ["gradcheck"] = "opens a step of its own",
  ["sampling.hash"] = reads(function(c) return ladies.sampling.hash{blocks = {whole(c.A)}} end),
}
for _, name in ipairs{"roc_auc", "average_precision"} do
  entries["metrics." .. name] = reads(function(c)
    return ladies.metrics[name](c.v4, ladies.tensor{0, 1, 1, 0})
  end)
end
for _, name in ipairs{"mse", "mae", "r2"} do
  entries["metrics." .. name] = reads(function(c)
    return ladies.metrics[name](c.m, ladies.ones(4, 3))
  end)
end
entries["metrics.ranks"] = {
  refuses(function(c) return ladies.metrics.ranks(c.v4, ladies.ones(4, 3)) end),
  refuses(function(c) return ladies.metrics.ranks(ladies.ones(4), c.m) end),
}
for _, name in ipairs{"mrr", "hits"} do
  entries["metrics." .. name] = reads(function(c)
    return ladies.metrics[name](c.v4, c.m, name == "hits" and 2 or nil)
  end)
end
for _, name in ipairs{"micro_f1", "macro_f1", "by_class", "precision", "recall"} do
  entries["metrics." .. name] = reads(function(c)
    return ladies.metrics[name](c.m:above(0):clone(), ladies.ones(4, 3))
  end)
end
for _, name in ipairs{"glorot_uniform", "glorot_normal", "kaiming_uniform", "kaiming_normal",
  "zeros"} do
  entries["nn.initialize." .. name] = refuses(function(c)
    return ladies.nn.initialize[name](c.m, rng())
  end)
end

return entries
