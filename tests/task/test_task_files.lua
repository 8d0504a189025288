--- Files of tasks that are wrong: a command says in one line what was wrong and where.
local lu = require "luaunit"
local files = require "tools.files"
local shell = require "tools.shell"

local tests = {}

-- A task that is right; CHANGE stands for what is changed of its fields.
local TASK = [[
local ladies = require "ladies"
return function(_, data)
  local fields = {
    name = "mine", data = data, outputs = data.classes,
    units = {train = data.train, val = data.val, test = data.test},
    targets = function(nodes) return data.labels[nodes] end,
    loss = function(out, labels) return ladies.loss.cross_entropy(out, labels) end,
    predict = function(out) return out:argmax() end,
    metrics = {{name = "F1", of = ladies.metrics.micro_f1}},
  }
  CHANGE
  return fields
end
]]

local LINE = 11                             -- of the change

local folder

function tests.setUp()
  folder = shell.folder()
  shell.run_ladies({"make-graph", "--nodes", "200", "--entries", "1000", "--classes", "3",
    "--features", "4", "--out", "g.npz"}, {folder = folder.path})
end

function tests.tearDown() getmetatable(folder).__close(folder) end

-- Trains for the task in a file of this text; returns what shell.run_ladies does.
local function train(text, ...)
  files.write(folder.path .. "/t.lua", text)
  return shell.run_ladies({"train", "g.npz", "--task", "t.lua", "--layers", "1",
    "--samples", "32", "--self-nodes", "previous", "--max-batches", "3", "--quiet", ...},
    {folder = folder.path})
end

function tests.test_what_is_right()
  shell.silent(train((TASK:gsub("CHANGE", ""))))
end

--- A task of nodes with `read` is given the rows and the units that have a loss alone, whatever the
-- method: labels of other nodes, which are in its mini-batches, are not learned.
function tests.test_read_of_nodes()
  files.write(folder.path .. "/t.lua", (TASK:gsub("CHANGE", [[
  fields.read = function(h, batch)
    assert(h.n_rows == #batch.units and batch.units == batch.output)
    return h * 1
  end
  fields.loss = function(out, labels, _, batch)
    for _, node in ipairs(batch.units:to_table()) do
      assert(#data.train:equals(node):positions() == 1, "no training node")
    end
    return ladies.loss.cross_entropy(out, labels)
  end]])))
  for _, method in ipairs{"ladies", "clustergcn", "graphsaint"} do
    shell.silent(shell.run_ladies({"train", "g.npz", "--task", "t.lua", "--layers", "1",
      "--max-batches", "3", "--quiet", "--method", method}, {folder = folder.path}))
  end
end

--- Each in one line, which has the place where there is one.
function tests.test_one_line()
  local here = ("t.lua:%d: "):format(LINE)
  for change, message in pairs{
    ["error 'boom'"] = here .. "boom",
    ["error {}"] = here .. "(error object is a table value)",
    ["error(setmetatable({}, {__tostring = function() return 'mine!' end}))"] = here
      .. "mine!",
    ["fields.loss = function() error {} end"] = here .. "(error object is a table value)",
    ["fields.metrics[1].of = function() error(true) end"] = here .. "(error object is a boolean",
    ["fields.data = {}"] = "t.lua: data must be a data set, with features",
    ["fields.foo = 1"] = 't.lua: unknown option "foo"',
    ["fields.units = {train = ladies.index{1, 999}}"] = "t.lua: units: train[2] is 999, must be in "
      .. "1..200",
    ["fields.outputs = 2"] = "cross_entropy: label 3",
    ["fields.targets = function() end"] = "t.lua:7: ladies.train: batch 1: bad argument #2",
    ["fields.targets = function() error 'oops' end"] = here .. "ladies.train: batch 1: oops",
    ["fields.loss = function() end"] = "the loss function's result for batch 1 must be a Tensor",
    ["fields.loss = function(o) return o end"] = "must have one element",
    ["fields.loss = function(o) return o:sum() * (0 / 0) end"] = "batch 1: the loss is nan",
    ["fields.loss = function(o) return ladies.loss.cross_entropy(o, 3) end"] = here,
    ["fields.loss = function(o) coroutine.yield() return o:sum() end"] = here,
    ["fields.predict = function(o) return o:nothing() end"] = here,
    ["fields.metrics[1].of = function() return 'x' end"] = "mine: the metric F1 must give a number",
    ["fields.metrics[1].of = function(p) return ladies.metrics.mae(p, 3) end"] = here,
    ["fields.decoder = function() return 3 end"] = "mine: what decoder gives must be a table",
    ["fields.read = function() end"] = "mine: read must return what the loss takes, got nil",
  } do
    local text = TASK:gsub("CHANGE", function() return change end)
    shell.refuses(message, "", select(2, train(text)))
  end
end

--- The second Ctrl-C ends a loss that does not end, and says where it was; the first waits for the
-- end of the step.
function tests.test_endless_losses()
  for _, body in ipairs{"while true do end", "local function f() return f() end return f()"} do
    local change = "fields.loss = function() for _ = 1, 2 do io.popen('kill -INT $PPID'):close() "
      .. "end " .. body .. " end"
    local _, err, status = train((TASK:gsub("CHANGE", function() return change end)))
    lu.assertEquals({status, err}, {130, ("ladies train: t.lua:%d: ladies.train: batch 1: "
      .. "interrupted!\n"):format(LINE)}, body)
  end
end

function tests.test_files_that_make_no_task()
  for text, message in pairs{
    ["return function("] = "t.lua:1: ", ["local x = 1"] = "must be a function or a table, got nil",
    ["error 'boom'"] = "t.lua:1: boom", ["error {}"] = "t.lua:1: (error object is a table value)",
    ["return function() end"] = "must be a table, got nil",
  } do
    local _, err, status = train(text)
    lu.assertTrue(status ~= 0, text)
    lu.assertStrContains(err, message)
    lu.assertEquals(select(2, err:gsub("\n", "")), 1, err)
  end
end

return tests
