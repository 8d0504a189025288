--- The gradient contract of the functions in C that take tensors or matrices and are not methods.
local ladies = require "ladies"
local core = require "ladies_core"
local by_runs = require "ladies.data.by_runs"
local kinds = require "reference.contract.kinds"

local passes, refuses, reads = kinds.passes, kinds.refuses, kinds.reads
local constant, dense, rng = kinds.constant, kinds.dense, kinds.rng
local file, LABELS = kinds.file, kinds.LABELS
local index = ladies.index
local M = dense(4, 3)

local entries = {
  ["cross_entropy"] = {
    passes({M}, function(_, x) return core.cross_entropy(x, LABELS) end),
    refuses(function(c) return core.cross_entropy(c.constant, LABELS, c.v4) end),
    refuses(function(c) return core.cross_entropy(c.constant, LABELS, nil, c.v4:slice(1, 3)) end),
  },
  ["binary_cross_entropy"] = {
    passes({M}, function(_, x) return core.binary_cross_entropy(x, ladies.full(4, 3, 0.25)) end),
    refuses(function(c) return core.binary_cross_entropy(c.constant, c.m:clamp(0, 1)) end),
    refuses(function(c) return core.binary_cross_entropy(c.constant, ladies.ones(4, 3), c.v4) end),
  },
  ["where"] = {
    passes({M, dense(4, 1)}, function(_, x, y) return ladies.where(x:above(0), x, y * x) end),
    passes({kinds.vector(3)}, function(c, x)
      return ladies.where(c.constant:below(0), x, 2) + ladies.where(x:above(0), 1, x * c.constant)
    end),
    refuses(function(c) return ladies.where(c.m, 1, 2) end),
  },
  ["concat_rows"] = passes({M, dense(2, 3)}, function(_, x, y)
    return ladies.concat_rows{x, y, x, y, x, y, x} * 2
  end),
  ["matrix"] = refuses(function(c)
    return ladies.matrix{n_rows = 9, n_cols = 1, rows = ladies.range(1, 9),
                         cols = index{1, 1, 1, 1, 1, 1, 1, 1, 1}, values = c.e}
  end),
  ["edge_matrix"] = refuses(function(c)
    return ladies.edge_matrix{n_rows = 9, n_cols = 1, rows = ladies.range(1, 9),
                              cols = index{1, 1, 1, 1, 1, 1, 1, 1, 1}, values = c.e}
  end),
  ["csr"] = refuses(function(c)
    return ladies.csr{n_rows = 1, n_cols = 6, offsets = index{1, 7}, columns = ladies.range(1, 6),
                      values = c.v}
  end),
  ["sparse"] = refuses(function(c) return ladies.sparse(c.m) end),
  ["block_diagonal"] = refuses(function(c) return ladies.block_diagonal{c.plain, c.A} end),
  ["sampling.disjoint_union"] = refuses(function(c)
    local nodes = ladies.index{1, 2, 3, 4}
    return ladies.sampling.disjoint_union{{adj = c.A, dst = nodes, src = nodes}}
  end),
  ["sampling.alias"] = refuses(function(c) return ladies.sampling.alias(c.v4) end),
  ["sampling.choice"] = refuses(function(c)
    return ladies.sampling.choice(c.v4, 2, {rng = rng()})
  end),
  ["sampling.negatives"] = reads(function(c)
    return ladies.sampling.negatives(c.A, index{1, 2}, 3, {rng = rng(), loops = true})
  end),
  ["sampling.non_edges"] = reads(function(c)
    return ladies.sampling.non_edges(c.A, 3, {rng = rng(), loops = true})
  end),
  ["generate.labels"] = refuses(function(c) return core.generate.labels(9, c.v4, rng()) end),
  ["generate.features"] = refuses(function(c)
    return core.generate.features(LABELS, c.m, rng())
  end),
  ["generate.blocks"] = refuses(function(c)
    return core.generate.blocks(LABELS, c.probabilities, rng())
  end),
  ["generate.chung_lu"] = refuses(function(c)
    return core.generate.chung_lu(c.v4, LABELS, 4, 0.5, rng())
  end),
  ["generate.chung_lu_runs"] = core.edge_runs and refuses(function(c)
    local n = #LABELS
    local runs, dropped = by_runs.new(".", n), by_runs.new(".", n)
    return core.generate.chung_lu_runs(runs, dropped, c.v4, LABELS, 4, 0.5, 1, rng())
  end),
  ["freeze"] = refuses(function(c) return core.freeze(c.m) end),
  ["check_constant"] = {
    refuses(function(c) return core.check_constant("f", c.m) end),
    refuses(function(c) return core.check_constant("f", c.A) end),
  },
  ["GraphRows:collect"] = {
    refuses(function(c)
      return core.graph_rows{n_nodes = 4, parts = {}}:collect(index{}, {row_scale = c.v4})
    end),
    refuses(function(c)
      return core.graph_rows{n_nodes = 4, parts = {}}:collect(index{}, {col_scale = c.v4})
    end),
  },
  ["normalization"] = refuses(function(c) return core.normalization(c.v4, "sym") end),
  ["workers"] = refuses(function(c)
    local workers <close> = core.workers(function(x) return function() return x.n_rows end end, c.m,
                                         {threads = 1, first = 1, last = 1, ahead = 1})
    return workers:next()
  end),
  ["Optimizer:has"] = reads(function(c)
    return ladies.optim.sgd{ladies.zeros(2)}:has(c.m)
  end),
  ["Optimizer:load_state"] = refuses(function(c)
    local adam = ladies.optim.adam({dense(4, 3)()})
    local state = adam:state()
    state.moment1 = state.moment1 * c.one
    adam:load_state(state)
  end),
  ["comm.broadcast"] = refuses(function(c) return ladies.comm.broadcast(c.m) end),
  ["comm.all_reduce"] = refuses(function(c) return ladies.comm.all_reduce(c.m) end),
  ["Optimizer:set_mean"] = refuses(function(c)
    local weight = ladies.zeros(128)
    ladies.optim.adam({weight}):set_mean(ladies.zeros(128) * c.one, {true})
  end),

  ["Optimizer:group"] = reads(function(c)
    return ladies.optim.sgd{c.m}:group({c.m}, {lr = 1})
  end),
  ["sgd"] = reads(function(c) return ladies.optim.sgd{c.m} end),
  ["adam"] = reads(function(c) return ladies.optim.adam{c.m} end),
  ["adamw"] = reads(function(c) return ladies.optim.adamw{c.m} end),
  ["npz.write"] = reads(function(c) return ladies.npz.write(file "a.npz", {m = c.m}) end),
  ["safetensors.write"] = reads(function(c)
    return ladies.safetensors.write(file "a.safetensors", {m = c.m})
  end),
  ["npy.write"] = reads(function(c) return ladies.npy.write(file "a.npy", c.m) end),
  ["mtx.write"] = {
    reads(function(c) return ladies.mtx.write(file "a.mtx", c.m) end),
    reads(function(c) return ladies.mtx.write(file "b.mtx", c.A) end),
  },
  ["text.write"] = reads(function(c) return ladies.text.write(file "a.csv", c.m) end),
  ["text.write_edges"] = reads(function(c) return ladies.text.write_edges(file "b.csv", c.A) end),

  ["by_rows"] = passes({M, dense(3, 2)}, function(_, x, y)
    return core.by_rows(x.matmul, x, y)
  end),
  ["in_room"] = passes({M}, function(_, x)
    return core.in_room(core.room(0, "/tmp"), x.exp, x)
  end),
  ["room_keep"] = refuses(function(c) return core.room_keep(core.room(0, "/tmp"), c.m) end),
  ["in_bfloat16"] = passes({M}, function(_, x)       -- not by a product, which is rounded there
    if not core.bfloat16_units() then return x:exp() end
    return core.in_bfloat16(x.exp, x)
  end),
  ["in_float32"] = passes({M, dense(3, 2)}, function(_, x, y)
    return core.in_float32(x.matmul, x, y)
  end),
  ["no_grad"] = constant("nothing in it is recorded", function(c)
    return ladies.no_grad(function(x) return x * 2 end, c.m)
  end),
}
entries["safetensors.bfloat16"] = reads(function(c) return ladies.safetensors.bfloat16(c.m) end)
for _, name in ipairs{"float16", "float32", "float64"} do
  entries["npz." .. name] = reads(function(c) return ladies.npz[name](c.m) end)
end
for _, name in ipairs{"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
  "bool"} do
  entries["npz." .. name] = reads(function(c) return ladies.npz[name](c.one:argmax()) end)
end

return entries
