--- Tests that no gradient is dropped without a word.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local gradcheck = require "reference.gradcheck"
local kinds = require "reference.contract.kinds"

--- Merges entries; a name twice is a mistake in the list.
local function merged(parts)
  local all = {}
  for _, part in ipairs(parts) do
    for name, entry in pairs(part) do
      assert(not all[name], name .. " is listed twice")
      all[name] = entry
    end
  end
  return all
end

local lists = {}
for i, name in ipairs{"tensors", "matrices", "functions", "modules", "neither"} do
  lists[i] = require("reference.contract." .. name)
end
local entries = merged(lists)

-- ---------------------------------------------------------------- every function there is

-- Classes written in Lua whose methods users call, as in scripts/reference.lua; Graph is a module.
local LUA_CLASSES = {
  Dataset = "ladies.data.dataset", Gcn = "ladies.nn.gcn", GcnConv = "ladies.nn.gcn_conv",
  Linear = "ladies.nn.linear", LayerNorm = "ladies.nn.layer_norm", Dropout = "ladies.nn.dropout",
  BatchNorm = "ladies.nn.batch_norm", LinkDecoder = "ladies.nn.link_decoder",
  Edges = "ladies.links.edges", EdgeData = "ladies.data.edges",
}

--- Adds the functions of a table, and of the tables in it, by their names.
local function add_functions(into, t, prefix, above)
  for name, value in pairs(t) do
    if type(value) == "function" then into[prefix .. name] = value end
    local inner = type(value) == "table" and type(name) == "string" and name ~= "docs"
    if inner and not above[value] then
      above[value] = true
      add_functions(into, value, prefix .. name .. ".", above)
      above[value] = nil
    end
  end
end

local function add_class(into, name, meta)
  for key, value in pairs(meta) do
    if type(value) == "function" then
      into[name .. (key:find "^__" and "." or ":") .. key] = value
    end
  end
  for key, value in pairs(rawget(meta, "__methods") or {}) do into[name .. ":" .. key] = value end
end

--- Functions of the program by their names: of modules, of classes and their operators, in C and in
-- Lua.
local function every_function()
  local all = {}
  add_functions(all, core, "", {})
  add_functions(all, ladies, "", {})
  for key, meta in pairs(debug.getregistry()) do
    local name = type(key) == "string" and key:match "^ladies%.(.*)"
    if name and type(meta) == "table" then add_class(all, name, meta) end
  end
  for name, module in pairs(LUA_CLASSES) do add_class(all, name, require(module)) end
  return all
end

-- ---------------------------------------------------------------- what an entry promises

--- Tells whether there is a Tensor or a Matrix in a value, or in a table of values.
local function holds_numbers(value)
  local class = ladies.options.class_of(value)
  if class == "Tensor" or class == "Matrix" then return true end
  for _, part in pairs(type(value) == "table" and value or {}) do
    if holds_numbers(part) then return true end
  end
  return false
end

--- A Matrix as the Tensor of its entries.
local function as_tensor(value)
  return ladies.options.class_of(value) == "Matrix" and value:entry_values() or value
end

local function in_step(f, ...)
  local _ <close> = ladies.step()
  return f(...)
end

local check = {}

function check.passes(name, entry)
  local inputs, c = {}, kinds.context(false)
  for i, make in ipairs(entry.inputs) do inputs[i] = make():requires_grad_() end
  gradcheck.check(name, function() return as_tensor(entry.f(c, table.unpack(inputs))) end, inputs)
end

function check.refuses(_, entry)
  lu.assertErrorMsgContains(":detach()", in_step, entry.f, kinds.context(true))
  in_step(entry.f, kinds.context(false))
end

function check.reads(name, entry)
  local function call() return table.pack(entry.f(kinds.context(true))) end
  lu.assertFalse(holds_numbers(in_step(call)), name .. " gave a Tensor or a Matrix")
end

function check.constant(_, entry, f)
  lu.assertStrContains(ladies.help_text(f), entry.text)
  in_step(function()
    local out = as_tensor(entry.f(kinds.context(true)))
    local loss = out:sum()
    lu.assertErrorMsgContains("depends on no parameter", loss.backward, loss)
  end)
end

-- Functions of a matrix that work outside of steps too, because they give its values as they are,
-- or follow from its structure alone.
local ANYWHERE = {
  ["Matrix:with_values"] = true, ["Matrix.__index"] = true, ["Matrix:edge_softmax"] = true,
  ["Matrix:dot_edges"] = true, ["Matrix:add_edges"] = true, ["Matrix:neighbour_max"] = true,
  ["Matrix:matmul_heads"] = true, ["Matrix:neighbour_mean"] = true,
  ["Matrix:neighbour_std"] = true, ["Matrix:relu_sums"] = true,
}

--- Entries that pass on the gradient of a matrix want a step.
function check.outside(name, entry)
  local inputs, c = {}, kinds.context(false)
  for i, make in ipairs(entry.inputs) do inputs[i] = make():requires_grad_() end
  lu.assertErrorMsgContains("carries a gradient, and no step is open", entry.f, c,
                            table.unpack(inputs))
  local out = ladies.no_grad(entry.f, c, table.unpack(inputs))
  lu.assertFalse(out.requires_grad, name)
end

--- The gradients that an entry gives its inputs, as hashes. Input `changed`, if one is named, gets
-- other numbers before backward, by a name that the tape does not see; nil where backward refuses.
local function gradients(entry, changed)
  local inputs, hashes = {}, {}
  for i, make in ipairs(entry.inputs) do inputs[i] = make():requires_grad_() end
  local ok, message = in_step(function()
    local out = as_tensor(entry.f(kinds.context(false), table.unpack(inputs)))
    local weights = ladies.range(1, out.n_rows * out.n_cols):to_tensor()
    if out.ndim == 2 then weights = weights:reshape(out.n_rows, out.n_cols) end
    local loss = (out * weights):sum()
    if changed then inputs[changed]:detach():uniform_(0.25, 0.75, ladies.rng(1)) end
    return pcall(loss.backward, loss)
  end)
  if not ok then
    lu.assertStrContains(message, "was changed in place after it was used")
    return nil
  end
  for i, x in ipairs(inputs) do hashes[i] = x.grad and x.grad:hash() or "none" end
  return hashes
end

--- A change in place before backward does not matter or is an error.
function check.changes(name, entry)
  local expected = gradients(entry)
  for i = 1, #entry.inputs do
    local got = gradients(entry, i)
    lu.assertEquals(got or expected, expected, ("%s: after a change of input %d"):format(name, i))
  end
end

-- ---------------------------------------------------------------- tests

local tests = {}

-- A test that fails may leave its step open.
function tests.tearDown() collectgarbage() end

local all = every_function()

for name, entry in pairs(entries) do
  local list = type(entry) == "string" and {} or entry.kind and {entry} or entry
  for i, one in ipairs(list) do
    local suffix = name:gsub("%W+", "_") .. (#list > 1 and "_" .. i or "")
    tests["test_" .. suffix] = function() check[one.kind](name, one, all[name]) end
    if one.kind == "passes" then
      tests["test_" .. suffix .. "_changes"] = function() check.changes(name, one) end
    end
    if name:find "^Matrix" and one.kind == "passes" and not ANYWHERE[name] then
      tests["test_" .. suffix .. "_outside"] = function() check.outside(name, one) end
    end
  end
end

--- A function has an entry under one of its names.
function tests.test_every_function_is_listed()
  local listed = {}
  for name, f in pairs(all) do if entries[name] then listed[f] = true end end
  local missing = {}
  for name, f in pairs(all) do if not listed[f] then missing[#missing + 1] = name end end
  table.sort(missing)
  lu.assertEquals(missing, {})
end

function tests.test_every_entry_is_a_function()
  local _ = require "ladies.data.generate".labels          -- the lists name what plugins have
  for name in pairs(entries) do lu.assertNotNil(all[name], name .. " is no function") end
end

function tests.test_every_documented_function_is_found()
  local found = {}
  for _, f in pairs(all) do found[f] = true end
  for f, doc in pairs(core.docs) do lu.assertTrue(found[f], doc) end
end

local REFUSED = "%S+: the %S+ carries a gradient, which (%S+) does not pass on; use :detach%(%)"

function tests.test_the_refusal_names_the_function_as_its_documentation_does()
  local _ <close> = ladies.step()
  local c = kinds.context(true)
  local call = c.m.fill_
  local ok, message = pcall(call, c.m, 0)
  lu.assertFalse(ok)
  lu.assertEquals(message:match(REFUSED), "fill_")
  lu.assertErrorMsgContains("sparse: the tensor carries a gradient, which sparse does not pass on",
                            ladies.sparse, c.m)
  lu.assertErrorMsgContains("symmetrize: the matrix carries a gradient, which symmetrize does not",
                            c.A.symmetrize, c.A)
end

function tests.test_a_parameter_is_a_constant_where_nothing_is_recorded()
  local w = kinds.dense(4, 3)():requires_grad_()
  local function use() return ladies.sparse(w) end
  use()
  do
    local unrecorded <close> = ladies.step{record = false}
    lu.assertNotNil(unrecorded)
    use()
  end
  local _ <close> = ladies.step()
  lu.assertError(use)
  ladies.no_grad(use)
  ladies.sparse(w:detach())
  w:sum():backward()
  use()  -- the step has no further use for gradients
end

--- A graph keeps no normalised matrix whose weights carry a gradient, since it would be of the
-- weights as they were.
function tests.test_a_graph_keeps_nothing_of_weights_that_carry_a_gradient()
  local c = kinds.context(true)
  local graph = ladies.graph.new(c.A)
  lu.assertEquals({c.A.requires_grad, c.plain.requires_grad}, {true, false})
  ladies.no_grad(graph.normalize, graph, "row")
  do
    local _ <close> = ladies.step()
    graph:normalize("row"):matmul(c.constant):square():sum():backward()
    lu.assertNotNil(c.e.grad)
  end
  local before = ladies.no_grad(graph.normalize, graph, "row")
  c.e:mul_at_(ladies.index{2}, 2)
  lu.assertNotEquals(ladies.no_grad(graph.normalize, graph, "row"):hash(), before:hash())
end

--- Numbers stay numbers where no gradient goes on.
function tests.test_elements_are_numbers_or_tensors()
  local w = kinds.vector(3)():requires_grad_()
  local function types() return {math.type(w[1]), math.type(w:max()), math.type(w:norm())} end
  lu.assertEquals(types(), {"float", "float", "float"})
  local _ <close> = ladies.step()
  lu.assertEquals(types(), {})
  lu.assertEquals({w[1].n_rows, w:max():item()}, {1, ladies.no_grad(w.max, w)})
  lu.assertEquals({math.type(w:get(1, 1)), math.type(w[1]:item())}, {"float", "float"})
  lu.assertEquals(ladies.no_grad(types), {"float", "float", "float"})
  lu.assertEquals(math.type(w:detach():min()), "float")
end

return tests
