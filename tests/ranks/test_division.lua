--- Which work ranks divide and which each does alone: where sending takes long (this test delays
-- it), each computes exact inference alone, unless ranks_infer says otherwise; the logits are
-- always the same.
local lu = require "luaunit"
local ranks = require "tools.ranks"
local shell = require "tools.shell"

local tests = {}

-- Three inferences of a model of three layers by two ranks, by a clock that goes on as arguments
-- say: the kind of model, the seconds that each layer waits for what is sent, ranks_infer, the
-- seconds that each layer of the first inference computes instead, and those for which the first
-- rank waits in its first layer since the second one is late. Prints how each went about it, and
-- how many graphs were made to try whether the model goes by rows.
local SCRIPT = [[
  local ladies = require "ladies"
  local core = require "ladies_core"
  local link = require "ladies.ranks.link"
  local OwnRows = require "ladies.ranks.own_rows"
  local kind, wish = arg[1], arg[3] ~= "" and arg[3] or nil
  local wait, compute, late = tonumber(arg[2]), tonumber(arg[4] or 0), tonumber(arg[5] or 0)
  local data = ladies.generate.power_law{nodes = 2500, entries = 9000, features = 8, classes = 3}
  local model = ladies.nn[kind]{inputs = 8, hidden = 8, outputs = 3, layers = 3}
  local expected = ladies.inference.exact(model, data):hash()
  local layer, computed, waited, tried = model.layer, 0, 0, 0
  local without_edges = OwnRows.without_edges
  if link.rank == 1 then late = 0 end
  function core.clock() return computed + waited end
  function link.waited() return waited end
  function model.layer(...)
    if link.is_sharing() and select(4, ...).adj.n_rows > 4 then
      computed, waited = computed + compute, waited + (compute > 0 and 0 or wait) + late
      late = 0
    end
    return layer(...)
  end
  function OwnRows.without_edges(n)
    tried = tried + 1
    return without_edges(n)
  end
  for i = 1, 3 do
    local way = ladies.inference.way{ranks_infer = wish}
    local logits = ladies.comm.together(ladies.inference.exact, model, data, {way = way})
    print(tostring(way):match "^exact; ([^;]*)", logits:hash() == expected)
    compute = 0
  end
  print(tried)
]]

-- Runs the script; returns the lines that it prints, and what it prints to stderr.
local function run(...)
  return shell.succeeded(ranks.run_script(2, SCRIPT, {...}))
end

local ALONE = "each rank computed all of it alone\ttrue\n"
local BY_ROWS = "each rank computed its own rows\ttrue\n"
local PRODUCTS = "the ranks divided single products, since the layers cannot be computed by rows\t"
  .. "true\n"

--- A slow link is found out after the first layer, in one line, and each rank begins anew alone;
-- then nothing is tried or measured again.
function tests.test_slow_link()
  for _, kind in ipairs{"gcn", "gat"} do
    local out, err = run(kind, "0.34")
    lu.assertStrContains(out, ALONE:rep(3), false, kind)
    lu.assertEquals(select(2, err:gsub("each rank computes exact inference alone from now on: "
      .. "1 of 3 layers took %S+ s together, and one rank would have computed it in %S+ s", "")), 1,
      err)
  end
end

--- A first inference in which ranks compute for longer than later does not decide for good that
-- they go on together.
function tests.test_found_out_later()
  local out = run("gcn", "0.34", "", "0.34")
  lu.assertStrContains(out, BY_ROWS .. ALONE:rep(2))
end

--- Where layers take next to no time, they are measured for longer than one inference.
function tests.test_short_inferences()
  local out, err = run("gcn", "0.04")
  lu.assertStrContains(out, BY_ROWS:rep(2) .. ALONE)
  lu.assertStrContains(err, "all layers took")
end

--- A rank that comes late keeps the others waiting, but not since sending takes long.
function tests.test_late_rank()
  local out, err = run("gcn", "0", "", "0", "0.5")
  lu.assertStrContains(out, BY_ROWS:rep(3))
  lu.assertEquals(err, "")
end

--- A wish decides it, whatever is measured, and says nothing.
function tests.test_wish()
  local out, err = run("gcn", "0.05", "together")
  lu.assertStrContains(out, BY_ROWS:rep(3))
  lu.assertEquals(err, "")
  out, err = run("gcn", "0", "alone")
  lu.assertEquals(out, ALONE:rep(3) .. "0\n")
  lu.assertEquals(err, "")
end

--- Whether a model can be computed by rows is found out once, on graphs of four and of two nodes.
function tests.test_verdict_is_remembered()
  lu.assertEquals(run("gat", "0", "together"), PRODUCTS:rep(3) .. "2\n")
end

return tests
