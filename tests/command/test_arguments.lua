--- Tests that the signature in a docstring is the declaration: arguments beyond it are errors.
local lu = require "luaunit"
local ladies = require "ladies"
local message_of = require "tools.message_of"
local shell = require "tools.shell"
local toy = require "reference.toy_data"
local core = require "ladies_core"

local tests = {}

local function fails(text, f, ...)
  lu.assertStrContains(message_of(f, ...), text)
end

-- The number of parameters in a docstring's signature, a table of options being one, and whether an
-- object comes before them; nil for any number.
local function declared(doc)
  local name, list = doc:match "^([%w_.:]+)(%b())"
  if not name then
    return assert(doc:match "^[%w_.:]+%b{}", doc) and 1
  end
  list = list:sub(2, -2):gsub("%b{}", "options"):gsub('".-"', "word"):gsub("[%[%]%s]", "")
  if list:find("...", 1, true) then return nil end
  local n = list == "" and 0 or select(2, list:gsub(",", "")) + 1
  return n, name:find(":", 1, true) ~= nil
end

function tests.test_every_function_refuses_one_argument_more()
  local checked = 0
  for f, doc in pairs(core.docs) do
    local most, of_object = declared(doc)
    if most then
      local given = {}
      for i = 1, most + 1 + (of_object and 1 or 0) do given[i] = false end
      local expected = "takes at most %d argument%s, got %d"
      expected = expected:format(most, most == 1 and "" or "s", most + 1)
      fails(most == 0 and "takes no arguments, got 1" or expected, f, table.unpack(given))
      checked = checked + 1
    end
  end
  lu.assertTrue(checked > 200)
end

function tests.test_the_message_has_the_signature()
  fails("ladies.ones(n_rows [, n_cols]) takes at most 2 arguments, got 3", ladies.ones, 2, 3, 4)
  fails("x:relu() takes no arguments, got 1", ladies.ones(2).relu, ladies.ones(2), 1)
  fails("{lr = 0.01, momentum = 0.0, weight_decay = 0.0}]) takes at most 2 arguments, got 3",
    ladies.optim.sgd, {}, {}, 1)
  fails("eps = 1e-8, weight_decay = 0.0}]) takes at most 2 arguments", ladies.optim.adam, {}, {}, 1)
  fails("cols=Index [, values=Tensor]} takes at most 1 argument, got 2", ladies.matrix, {}, 1)
end

function tests.test_the_callers_line_is_blamed()
  local line = debug.getinfo(1, "l").currentline + 1
  local _, message = pcall(function() ladies.ones(2, 3, 4) end)
  lu.assertStrContains(message, ("test_arguments.lua:%d: ladies.ones"):format(line))
end

--- A Matrix where a Tensor is wanted can become one.
function tests.test_a_matrix_for_a_tensor()
  local A = ladies.sparse(ladies.ones(2, 2))
  fails("bad argument #1 to 'matmul' (ladies.Tensor expected, got ladies.Matrix; its to_dense() is "
    .. "one)", function() return A:matmul(A) end)
end

--- An argument nil counts as none, in the signature or behind it.
function tests.test_nil_says_nothing()
  lu.assertEquals(tostring(ladies.ones(2, nil, nil, nil)), "Tensor 2: 1 1")
  lu.assertEquals(ladies.ones(2):relu(nil):to_table(), {1, 1})
  fails("takes at most 2 arguments, got 4", ladies.ones, 2, nil, nil, 4)
end

function tests.test_any_number_where_the_signature_says_so()
  lu.assertEquals(select("#", ladies.no_grad(function(...) return ... end, 1, nil, 3, nil)), 4)
end

--- A message is one line, whatever it quotes, and no message of Lua's about our own code.
function tests.test_what_is_wrong_is_told_in_one_line()
  local nodes, data = ladies.range(1, 2), toy.new()
  local model = ladies.nn.gcn{inputs = toy.FEATURES, outputs = 3, layers = 1, hidden = 2}
  local step = {schedule = function() return "x" end}
  local path <close> = shell.file ""
  local function train(more)
    local given = {data = data, model = model, max_batches = 1, quiet = true, patience = 0,
      sampler = toy.neighbourhoods(data.graph:normalize "sym", 1)}
    for name, value in pairs(more) do given[name] = value end
    return function() ladies.train(given) end
  end
  for text, f in pairs{
    ["n_rows must be an integer 0 to 2147483647, got a?b"] = function() ladies.ones "a\nb" end,
    ["got " .. ("a"):rep(60) .. "..."] = function() ladies.ones(("a"):rep(99)) end,
    ["got " .. ("b"):rep(59) .. "..."] = function()
      ladies.ones(("b"):rep(59) .. "\u{e9}\u{e9}")
    end,
    ['unknown option "a?b"'] = function() ladies.step{["a\nb"] = 1} end,
    ['no field or method "a?b"'] = function() return nodes["a\nb"] end,
    ["as must be"] = function() ladies.npy.read(path.path, {as = "a\nb"}) end,
    ["npy: a?b: cannot be opened"] = function() ladies.npy.read "a\nb" end,
    ["invalid option 'a?b'"] = function() data.graph.adjacency:normalize "a\nb" end,
    ["function expected, got number"] = function() ladies.no_grad(1) end,
    ["what comes after it must be a Matrix or a table"] = function()
      ladies.load_model("none", print)
    end,
    ["the options must be a table, got 64"] = function()
      ladies.samplers.ladies(data.graph:normalize "sym", 64, 64)
    end,
    ["the settings must be a table"] = function() ladies.experiment.configure(1) end,
    ["the model must be a table"] = function() ladies.inference.exact(1, data) end,
    ["the graph must be a Graph"] = function() ladies.inference.exact(model, {}) end,
    ["features must be a Tensor or a Matrix"] = function()
      ladies.inference.exact(model, data.graph:normalize "sym")
    end,
    ["what the sampler returns must be a table"] = function()
      ladies.inference.sampled(model, data, nodes, {sampler = function() end})
    end,
    ["the weights must be a Tensor"] = function() ladies.nn.initialize.kaiming_normal(1) end,
    ["the layers are 1 to 1, got 5"] = function() model:layer(5, data.features, {}) end,
    ["x must be a Tensor or a Matrix"] = function() ladies.nn.linear{
      inputs = 1, outputs = 1, rng = ladies.rng(1)}:forward(1) end,
    ["blocks must be a table"] = function() model:forward(data.features, {blocks = 3}) end,
    ["as samplers return it, got its blocks alone"] = function()
      model:forward(data.features, {{adj = data.graph:normalize "sym"}})
    end,
    ["got a Graph; ladies.inference.exact(model, data) gives"] = function()
      model:forward(data.features, data.graph)
    end,
    ["got a Dataset; ladies.inference"] = function() model:forward(data.features, data) end,
    ["must be a table with blocks, input and output, as samplers return it, got nil"] = function()
      ladies.nn.mlp{inputs = 2, outputs = 2}:forward(data.features)
    end,
    ["got another table"] = function() model:forward(data.features, {}) end,
    ["the name must be a string"] = ladies.nn.class,
    ["parts must be a table"] = function() ladies.partition.part_of("here", 1, 2) end,
    ["the part of each node must be an Index"] = ladies.partition.from_index,
    ["sampling.hash: blocks[1] must be a table"] = function()
      ladies.sampling.hash{blocks = {1}}
    end,
    ["f must be a callable"] = function() ladies.sampling.at_layer(1) end,
    ["class 2, expected 1 to 1"] = function()
      ladies.metrics.confusion(nodes, nodes, 1)
    end,
    ["idx must be an Index"] = function() ladies.metrics.confusion(nodes, nodes, 2, 1) end,
    ["result for batch 1 must be a Tensor, got nil"] = train{loss = function() end},
    ["schedule must give a factor of 0 or more"] = train(step),
  } do
    local message = message_of(f)
    lu.assertStrContains(message, text)
    lu.assertNil(message:find "%c")
  end
end

function tests.test_options_are_in_the_table_itself()
  local options = setmetatable({}, {__index = {record = false}})
  fails("step: options must be in the table itself, not behind __index", ladies.step, options)
end

return tests
