--- The gradient contract of Tensor: its methods and operators.
local ladies = require "ladies"
local kinds = require "reference.contract.kinds"

local passes, refuses, reads = kinds.passes, kinds.refuses, kinds.reads
local constant, vector, dense = kinds.constant, kinds.vector, kinds.dense
local positive, rng, method = kinds.positive, kinds.rng, kinds.method
local both = kinds.both
local index = ladies.index
local M = dense(4, 3)
local V, row = vector(6), vector(3)
local P = positive(vector(6))

-- A method without an argument, with 1 and with 2; and one more entry.
local function along(name, more)
  return {passes({M}, method(name)), passes({M}, method(name, 1)), passes({M}, method(name, 2)),
    passes({V}, function(_, x) return x:reshape(2, 3)[name](x:reshape(2, 3), 2) end), more}
end

return {
  -- passing on
  ["Tensor:matmul"] = passes({M, dense(3, 2)}, method "matmul"),
  ["Tensor:linear"] = passes({M, dense(3, 2), vector(2)}, method "linear"),
  ["Tensor:gather"] = passes({M}, method("gather", index{2, 4, 2})),
  ["Tensor:rows"] = passes({M}, method("rows", index{2, 4, 2})),
  ["Tensor:scatter_add"] = passes({M}, method("scatter_add", index{2, 1, 2, 3}, 5)),
  ["Tensor:concat"] = passes({M, dense(4, 2)}, method "concat"),
  ["Tensor:reshape"] = passes({M}, method("reshape", 2, 6)),
  ["Tensor:slice"] = passes({M}, method("slice", 2, 3)),
  ["Tensor:slice_cols"] = passes({M}, function(_, x)
    return x:slice_cols(2, 3) * x:slice_cols(1, 2)
  end),
  ["Tensor:transpose"] = passes({M}, function(_, x)
    return x:transpose() * x:square():transpose() + x:reshape(3, 4)
  end),
  ["Tensor:clone"] = passes({M}, method "clone"),
  ["Tensor:clamp"] = passes({M}, method("clamp", -0.5, 0.5)),
  ["Tensor:above"] = passes({M, positive(row)}, function(_, x, y)
    return x:above(y) * x * y
  end),
  ["Tensor:below"] = passes({M}, function(_, x) return x:below(-0.5) * x end),
  ["Tensor:equals"] = passes({M}, function(_, x) return x:equals(x:abs()) * x end),
  ["Tensor:max"] = along("max", passes({V}, method "max")),
  ["Tensor:topk"] = {
    passes({V}, function(_, x) return (x:topk(4)) end),
    passes({M}, function(_, x) return (x:topk(2)) end),
  },
  ["Tensor:sort"] = {
    passes({V}, function(_, x) return (x:sort()) end),
    passes({M}, function(_, x) return (x:sort(true)) end),
  },
  ["Tensor.__concat"] = passes({M, dense(2, 3)}, function(_, x, y) return x .. y .. x end),
  ["Tensor:min"] = along("min", passes({V}, method "min")),
  ["Tensor:norm"] = {passes({M}, method "norm"), passes({V}, method "norm")},
  ["Tensor.__index"] = {
    passes({V}, function(_, x) return x[2] * 3 + x[5] end),
    passes({M}, function(_, x) return x[3] end),
    passes({M}, function(_, x) return x[index{4, 1, 4}] end),
    passes({M}, function(c, x) return x[c.constant:sum(2):above(0)] end),
    refuses(function(c) return vector(6)()[c.v] end),
    reads(function(c) return c.v.n_rows, c.m.n_cols, c.m.ndim, c.m.requires_grad, c.m.in_step end),
  },
  ["Tensor.__add"] = both(function(x, y) return x + y end),
  ["Tensor.__sub"] = both(function(x, y) return x - y end),
  ["Tensor.__mul"] = both(function(x, y) return x * y end),
  ["Tensor.__div"] = {
    passes({M, positive(M)}, function(_, x, y) return x / y end),
    passes({M}, function(_, x) return x / 3 end),
    passes({positive(M)}, function(_, x) return 2 / x end),
  },
  ["Tensor.__pow"] = {
    passes({positive(M), M}, function(_, x, y) return x ^ y end),
    passes({positive(M), row}, function(_, x, y) return x ^ y end),
    passes({positive(M), dense(4, 1)}, function(_, x, y) return x ^ y end),
    passes({M}, function(_, x) return x ^ 3 end),
    passes({positive(V)}, function(_, x) return x ^ -0.5 end),
    passes({V}, function(_, x) return 2 ^ x end),
  },
  ["Tensor.__mod"] = {
    passes({M, positive(row)}, function(_, x, y) return x % (y + 3) end),
    passes({V}, function(_, x) return x % 3 end),
  },
  ["Tensor.__unm"] = passes({M}, function(_, x) return -x end),
  ["Tensor:relu"] = passes({M}, method "relu"),
  ["Tensor:leaky_relu"] = passes({M}, method("leaky_relu", 0.2)),
  ["Tensor:elu"] = passes({M}, method("elu", 1.5)),
  ["Tensor:sigmoid"] = passes({M}, method "sigmoid"),
  ["Tensor:tanh"] = passes({M}, method "tanh"),
  ["Tensor:exp"] = passes({M}, method "exp"),
  ["Tensor:log"] = passes({P}, method "log"),
  ["Tensor:sqrt"] = passes({P}, method "sqrt"),
  ["Tensor:square"] = passes({M}, method "square"),
  ["Tensor:sin"] = passes({M}, method "sin"),
  ["Tensor:cos"] = passes({M}, method "cos"),
  ["Tensor:huber"] = {passes({M}, method "huber"), passes({V}, method("huber", 0.5))},
  ["Tensor:abs"] = passes({M}, method "abs"),
  ["Tensor:dropout"] = passes({M}, function(_, x) return x:dropout(0.5, rng()) end),
  ["Tensor:relu_dropout"] = passes({M}, function(_, x) return x:relu_dropout(0.5, rng()) end),
  ["Tensor:mul_add"] = {
    passes({M, vector(1), dense(4, 3)}, method "mul_add"),
    passes({M, vector(1), dense(5, 3)}, function(_, x, factor, y)
      return x:mul_add(factor, y, index{5, 1, 2, 4})
    end),
    passes({M, dense(2, 3)}, function(_, x, y) return x:mul_add(-2, y, index{1, 2, 1, 1}) end),
    passes({V, vector(9)}, function(_, x, y)
      return (x * 2):mul_add(3, y, index{1, 9, 8, 7, 6, 5}, true)
    end),
  },
  ["Tensor:layer_norm"] = passes({M, vector(3), vector(3)}, method "layer_norm"),
  ["Tensor:batch_norm"] = {
    passes({M, vector(3), vector(3)}, function(_, x, gain, bias)
      return (x:batch_norm(gain, bias, 0.1))
    end),
    passes({M}, function(_, x)
      return x:batch_norm(ladies.ones(3), ladies.zeros(3), 0.1) * x:square()
    end),
  },
  ["Tensor:normalize_rows"] = passes({M}, method "normalize_rows"),
  ["Tensor:softmax"] = passes({M}, method "softmax"),
  ["Tensor:log_softmax"] = passes({M}, method "log_softmax"),
  ["Tensor:sum"] = along "sum",
  ["Tensor:mean"] = along "mean",
  ["Tensor:variance"] = along("variance", passes({M}, method("variance", nil, 1))),
  ["Tensor:std"] = along("std", passes({M}, method("std", 1, 1))),
  ["Tensor:row_sums"] = along "row_sums",       -- by the powers 1 and 2
  ["Tensor:col_sums"] = along "col_sums",
  ["Tensor:cumsum"] = {
    passes({M}, method "cumsum"),
    passes({M}, method("cumsum", 2)),
    passes({V}, function(_, x) return x:cumsum() * x end),
  },
  ["Tensor:keep_grad_"] = passes({M}, function(_, x) return (x * 2):keep_grad_() end),
  ["Tensor:requires_grad_"] = passes({M}, method "requires_grad_"),

  -- refusing
  ["Tensor:floor"] = refuses(function(c) return c.m:floor() end),
  ["Tensor:round"] = refuses(function(c) return c.m:round() end),
  ["Tensor.__newindex"] = refuses(function(c) c.v[1] = 2 end),
  ["Tensor:matmul_precise"] = {
    refuses(function(c) return c.m:matmul_precise(c.constant, {transpose_b = true}) end),
    refuses(function(c) return c.constant:matmul_precise(c.m, {transpose_b = true}) end),
  },
  ["Tensor:matmul_t_precise"] = {
    refuses(function(c) return c.m:matmul_t_precise(c.constant) end),
    refuses(function(c) return c.constant:matmul_t_precise(c.m) end),
  },
  ["Tensor:set_"] = refuses(function(c) return c.m:set_(1, 1, 0) end),
  ["Tensor:fill_"] = refuses(function(c) return c.m:fill_(0) end),
  ["Tensor:copy_"] = {
    refuses(function(c) return c.m:copy_(c.constant) end),
    refuses(function(c) return c.constant:copy_(c.m) end),
  },
  ["Tensor:normal_"] = refuses(function(c) return c.m:normal_(1, rng()) end),
  ["Tensor:uniform_"] = refuses(function(c) return c.m:uniform_(0, 1, rng()) end),
  ["Tensor:add_at_"] = {
    refuses(function(c) return c.v:add_at_(index{1, 2}, 1) end),
    refuses(function(c) return vector(6)():add_at_(index{1}, c.one) end),
  },
  ["Tensor:mul_at_"] = {
    refuses(function(c) return c.v:mul_at_(index{1, 2}, 2) end),
    refuses(function(c) return vector(6)():mul_at_(index{1}, c.one) end),
  },
  ["Tensor:copy_rows_"] = {
    refuses(function(c) return c.m:copy_rows_(index{1}, c.constant:slice(1, 1)) end),
    refuses(function(c) return c.constant:copy_rows_(index{4, 3, 2, 1}, c.m) end),
  },
  ["Tensor:add_window_"] = {
    refuses(function(c) return c.m:add_window_(c.A:detach(), c.constant, 1) end),
    refuses(function(c) return c.constant:add_window_(c.A:detach(), c.m, 1) end),
  },
  ["Tensor:set_grad_"] = refuses(function(c)
    return dense(4, 3)():requires_grad_():set_grad_(c.m)
  end),

  -- reading
  ["Tensor:to_table"] = reads(function(c) return c.m:to_table() end),
  ["Tensor:item"] = reads(function(c) return c.one:item() end),
  ["Tensor:get"] = reads(function(c) return c.m:get(1, 2) end),
  ["Tensor:argmax"] = reads(function(c) return c.m:argmax() end),
  ["Tensor:argsort"] = reads(function(c) return c.v:argsort() end),
  ["Tensor:positions"] = reads(function(c) return c.v:positions() end),
  ["Tensor:to_index"] = reads(function(c) return (c.v * 0 + 1):to_index() end),
  ["Tensor:is_finite"] = reads(function(c) return c.m:is_finite() end),
  ["Tensor:hash"] = reads(function(c) return c.m:hash() end),
  ["Tensor:backward"] = reads(function(c) return c.m:sum():backward() end),
  ["Tensor:release"] = reads(function(c) return c.constant:release() end),
  ["Tensor.__eq"] = reads(function(c) return c.m == c.constant end),
  ["Tensor.__len"] = reads(function(c) return #c.m end),
  ["Tensor.__tostring"] = reads(function(c) return tostring(c.m) end),
  ["Tensor.__html"] = reads(function(c) return getmetatable(c.m).__html(c.m) end),
  ["Tensor.__show"] = reads(function(c) return ladies.show(c.m) end),
  ["Tensor.__gc"] = reads(function() end),  -- of objects that nothing refers to any more

  -- the way out
  ["Tensor:detach"] = constant("constant", function(c) return c.m:detach() end),
}
