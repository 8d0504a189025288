--- Tests errors for names that are not there, and the modules of the library, which are loaded when
-- they are looked up.
local lu = require "luaunit"
local complete = require "ladies.prompt.complete"
local fields = require "ladies.base.fields"
local ladies = require "ladies"
local refused = require "tools.blames_itself"
local shell = require "tools.shell"
local toy = require "reference.toy_data"

local tests = {}

--- A class has the names of its fields and, behind a colon, their types.
function tests.test_types()
  local class = fields.of_class({__name = "ladies.Mine"}, "path labels:Index|Tensor names:string[]")
  lu.assertEquals(class.__fields, {"path", "labels", "names"})
  lu.assertEquals(class.__field_types, {labels = "Index|Tensor", names = "string[]"})
  local core = debug.getmetatable(ladies.ones(2))
  lu.assertEquals(core.__fields[1], "n_rows")
  lu.assertEquals(core.__field_types.n_rows, "integer")
end

--- Of names that are equally near, the first by the alphabet is suggested, not the one that comes
-- first in a table, which is another each time.
function tests.test_equally_near()
  local class = {__name = "Mine"}
  class.__index = class
  fields.of_class(class, "value9 value8 value7 value6 value5 value4 value3 value2 value1")
  local object = setmetatable({}, class)
  lu.assertErrorMsgContains('did you mean "value1"?', function() return object.value end)
end

function tests.test_objects()
  local data = toy.new()
  local model = ladies.nn.gcn{inputs = 3, outputs = 2, layers = 1}
  local vrgcn = ladies.samplers.vrgcn(data.graph:normalize "row", {layers = 2, hidden = 3})
  for message, f in pairs{
    ['Dataset has no field or method "valid"; did you mean "val"?'] =
      function() return data.valid end,
    ['Dataset has no field or method "descripe"; did you mean "describe"?'] =
      function() return data:descripe() end,
    ['Dataset has no field or method "edge_index"; did you mean "graph"?'] =
      function() return data.edge_index end,
    ['Graph has no field or method "num_nodes"; did you mean "n_nodes"?'] =
      function() return data.graph.num_nodes end,
    ['Dataset has no field or method "num_nodes"; graph.n_nodes is their number'] =
      function() return data.num_nodes end,
    ['Tensor has no field or method "shape"; did you mean "n_rows"?'] =
      function() return ladies.ones(2, 3).shape end,
    ['Optimizer has no field or method "zero_grad"; did you mean "clear"?'] =
      function() return ladies.optim.adam(model:parameters()):zero_grad() end,
    ['Gcn has no field or method "eval"; forward(..., false), with false for the rng, drops no '
      .. 'element'] = function() return model:eval() end,
    ['Gcn has no field or method "train"; ladies.train trains a model, and forward drops elements '
      .. 'where it has an rng'] = function() return model:train() end,
    ['ladies.samplers has no field "neighbor"; did you mean "graphsage"?'] =
      function() return ladies.samplers.neighbor end,
    ['ladies has no field "save"; did you mean "save_model"?'] = function() return ladies.save end,
    ['Dataset has no field or method "xyzzy"'] = function() return data.xyzzy end,
    ['Dataset has no field or method [1]'] = function() return data[1] end,
    ['Graph has no field or method "normalise"; did you mean "normalize"?'] =
      function() return data.graph:normalise() end,
    ['Gcn has no field or method "foward"; did you mean "forward"?'] =
      function() return model:foward() end,
    ['GcnConv has no field or method "wieght"; did you mean "weight"?'] =
      function() return model.layers[1].conv.wieght end,
    ['vrgcn has no field or method "histroy"; did you mean "history"?'] =
      function() return vrgcn.histroy end,
    ['Optimizer has no field or method "stpe"; did you mean "step"?'] =
      function() return ladies.optim.adam(model:parameters()):stpe() end,
  } do
    lu.assertEquals(refused(f), message)
  end
end

--- An error says that the object is missing where a point stands in place of a colon.
function tests.test_point_for_colon()
  local data = toy.new()
  local model = ladies.nn.gcn{inputs = 3, outputs = 2, layers = 1}
  lu.assertEquals(refused(function() model.parameters() end),
    "nn.named_parameters: the model must be a table, got nil")
  lu.assertEquals(refused(function() data.graph.normalize "sym" end),
    'graph:normalize: the graph must be a Graph, got "sym"')
end

--- Fields that an object may have are nil where it has not, and a user's own are found.
function tests.test_fields_that_may_be_absent()
  local data, model = toy.new(), ladies.nn.gcn{inputs = 3, outputs = 2, layers = 1}
  lu.assertEquals({data.node_names, data.feature_names, model.head, model.P}, {})
  model.mine = 5
  lu.assertEquals(model.mine, 5)
  lu.assertNil(model.__call)
end

function tests.test_a_summary()
  local data = toy.new()
  local summary = ladies.train{
    data = data, sampler = toy.neighbourhoods(data.graph:normalize "sym", 2), quiet = true,
    model = ladies.nn.gcn{inputs = toy.FEATURES, hidden = 4, outputs = 3, layers = 2},
    max_batches = 2,
  }
  lu.assertEquals(refused(function() return summary.best_bacth end),
    'Summary has no field or method "best_bacth"; did you mean "best_batch"?')
  lu.assertNil(summary.trouble)
end

function tests.test_classes_of_a_user()
  local Mine, Strict = ladies.nn.class "Mine", ladies.nn.class("Strict", "weight bias")
  lu.assertNil(setmetatable({}, Mine).anything)
  local strict = setmetatable({weight = 1}, Strict)
  lu.assertEquals({strict.weight, strict.bias}, {1})
  lu.assertEquals(refused(function() return strict.wieght end),
    'Strict has no field or method "wieght"; did you mean "weight"?')
  lu.assertEquals(refused(function() ladies.nn.class() end),
    "ladies.nn.class: the name must be a string, got nil")
end

function tests.test_modules()
  for message, f in pairs{
    ['ladies has no field "trian"; did you mean "train"?'] = function() return ladies.trian end,
    ['ladies.nn has no field "gnc"; did you mean "gcn"?'] = function() return ladies.nn.gnc end,
    ['ladies.nn.initialize has no field "glorot"; did you mean "glorot_normal"?'] =
      function() return ladies.nn.initialize.glorot end,
    ['ladies.loss has no field "crossentropy"; did you mean "cross_entropy"?'] =
      function() return ladies.loss.crossentropy end,
    ['ladies.file has no field "raed"; did you mean "read"?'] =
      function() return ladies.file.raed end,
    ['ladies.schedule has no field "xyzzy"'] = function() return ladies.optim.schedule.xyzzy end,
  } do
    lu.assertEquals(refused(f), message)
  end
end

-- ---------------------------------------------------------------- loading

local LOADED = "for name in pairs(package.loaded) do "
  .. "if name:find '^ladies[.]' then print(name) end end"

-- The modules of the library that a script has loaded in the end, sorted.
local function loaded_after(script)
  local names = {}
  for name in shell.run_ladies{"-e", script .. " " .. LOADED}:gmatch "[^\n]+" do
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

--- Loading the library by require "ladies" loads next to nothing, so it takes a few milliseconds.
function tests.test_a_bare_require()
  local names = loaded_after ""
  lu.assertTrue(#names <= 6, table.concat(names, " "))
  for _, name in ipairs(names) do lu.assertStrContains(name, "ladies.base.") end
end

function tests.test_a_module_is_loaded_when_it_is_looked_up()
  local names = loaded_after "local _ = ladies.partition"
  lu.assertTableContains(names, "ladies.graph.partition")
  lu.assertTrue(#names <= 10, table.concat(names, " "))
end

--- pairs, help and completion see all members, loaded or not.
function tests.test_all_members_are_seen()
  local script = "for name, value in pairs(ladies) do print(name, type(value)) end"
  local seen = "\n" .. shell.run_ladies{"-e", script}
  for _, member in ipairs{"nn\ttable", "train\tfunction", "ones\tfunction", "help\tfunction",
    "sweep\tfunction", "version\tstring"} do
    lu.assertStrContains(seen, "\n" .. member .. "\n")
  end
  lu.assertStrMatches(shell.run_ladies{"-e", "ladies.help()"}, ".*\n  train +.*")
  local _, names = complete.at("ladies.sche", {ladies = ladies})
  lu.assertEquals(names, {"schedule"})
  local fresh = "local at = require('ladies.prompt.complete').at "
    .. "print(select(2, at('ladies.nn.gcn', _G))[2], select(2, at('ladies.tra', _G))[1])"
  lu.assertEquals(shell.run_ladies{"-e", fresh}, "gcn_conv\ttrain\n")
end

function tests.test_is_module()
  lu.assertTrue(fields.is_module(ladies))
  lu.assertTrue(fields.is_module(ladies.graph))
  lu.assertTrue(fields.is_module{})
  lu.assertFalse(fields.is_module(toy.new()))
  lu.assertFalse(fields.is_module(print))
end

--- Modules of Lua's own are found where LUA_PATH and LUA_CPATH do not name their places.
function tests.test_paths_without_the_default()
  local out = shell.run_ladies({"-e", "print(require('ladies.base.json').encode{1})"},
    {env = {"LUA_PATH=/nonexistent/?.lua", "LUA_CPATH=/nonexistent/?.so"}})
  lu.assertEquals(out, "[1]\n")
end

return tests
