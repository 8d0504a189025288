--- Tests errors: the line that they blame, whoever raises them, what is added to them, and
-- interruptions.
local lu = require "luaunit"
local core = require "ladies_core"
local errors = require "ladies.base.errors"
local ladies = require "ladies"
local refused = require "tools.blames_itself"
local toy = require "reference.toy_data"
local shell = require "tools.shell"

local tests = {}

-- ---------------------------------------------------------------- the line

function tests.test_fail_makes_one_line()
  lu.assertEquals(refused(function() errors.fail "a\nb"; return 0 end), "a\\nb")
  lu.assertEquals(refused(function() errors.fail(7); return 0 end), "7")
end

--- An error of core blames the user's line where the library calls core.
function tests.test_errors_of_core_blame_the_user()
  local conv = ladies.nn.gcn_conv{inputs = 17, outputs = 32, rng = ladies.rng(1)}
  local x, P = ladies.ones(64, 16), ladies.sparse(ladies.ones(3, 64))
  lu.assertStrContains(refused(function() conv:forward(x, P); return 0 end), "16")
  lu.assertStrContains(refused(function() conv:forward(x); return 0 end), "16")
  lu.assertStrContains(refused(function() ladies.data.split({}, "x"); return 0 end), "split")
end

--- Arguments that lauxlib would check are refused in its words.
function tests.test_arguments_of_core_blame_the_user()
  local w = ladies.ones(2, 3)
  lu.assertEquals(refused(function() ladies.nn.initialize.glorot_uniform(w, 3); return 0 end),
    "bad argument #3 to 'uniform_' (ladies.Rng expected, got number)")
  lu.assertEquals(refused(function() w.sum(3); return 0 end),
    "bad argument #1 to 'sum' (ladies.Tensor expected, got number)")
  lu.assertEquals(refused(function() w:clamp({}, 1); return 0 end),
    "bad argument #1 to 'clamp' (number expected, got table)")
  lu.assertEquals(refused(function() return ladies.index(nil) end),
    "bad argument #1 to 'index' (table expected, got nil)")
  lu.assertEquals(refused(function() return ladies.range(1.5, 2) end),
    "bad argument #1 to 'range' (number has no integer representation)")
end

--- A callback blames its own line, in Lua and in core, and what called it is named behind that.
function tests.test_callbacks_blame_themselves()
  local function sampler(seeds) return seeds[0] end
  local line = debug.getinfo(1, "l").currentline - 1
  local _, message = pcall(ladies.batches(ladies.range(1, 4), {sampler = sampler}))
  lu.assertStrMatches(message, (".*test_errors.lua:%d: sampler of .*test_errors%%.lua:%d, epoch 1, "
    .. "batch 1: %%[0%%] of an Index .*"):format(line, line))
end

--- An error of a callback blames the user's line in a worker, too, and the loop raises it.
function tests.test_callbacks_in_workers()
  local ids = ladies.range(1, 40)
  local function loop(sampler, workers)
    for _ in ladies.batches(ids, {sampler = sampler, batch_size = 4, workers = workers}) do end
  end
  local function seeds_too_late(seeds, _)
    if seeds[1] > 30 then return seeds[0] end
    return {output = seeds, input = seeds, blocks = {}}
  end
  local _, in_step = pcall(loop, seeds_too_late, 0)
  local _, in_worker = pcall(loop, seeds_too_late, 2)
  lu.assertStrMatches(in_step, "[^ ]*test_errors.lua:%d+: .*")
  lu.assertEquals(in_worker, in_step)
end

--- Layers say which they are, and training which mini-batch it was, whoever calls them.
function tests.test_layers_and_batches()
  local data = toy.new()
  local sampler = toy.neighbourhoods(data.graph:normalize "sym", 2)
  local model = ladies.nn.gcn{inputs = 17, hidden = 4, outputs = 3, layers = 2}
  local wrong = ("layer 1: nn.gcn_conv: features have %d columns, its weight 17 rows"):format(
    toy.FEATURES)
  local function train(opts)
    opts.data, opts.sampler, opts.quiet, opts.max_batches = data, sampler, true, 1
    return ladies.train(opts)
  end
  lu.assertEquals(refused(function() train{model = model}; return 0 end),
    "ladies.train: batch 1: " .. wrong)
  lu.assertEquals(refused(function() return ladies.inference.exact(model, data), 0 end), wrong)
  local batch = ladies.batches(data.train, {sampler = sampler})()
  lu.assertEquals(refused(function() return model:forward(data.features, batch), 0 end), wrong)
  local fitting = ladies.nn.gcn{inputs = toy.FEATURES, hidden = 4, outputs = 3, layers = 2}
  local function loss(logits) return logits:cross() end
  local _, message = pcall(train, {model = fitting, loss = loss})
  lu.assertEquals(message:gsub("^.-: ", "", 1),
    'ladies.train: batch 1: Tensor has no field or method "cross"')
  lu.assertEquals(refused(function() return ladies.ones(2, 2):linear(ladies.ones(3, 1)) end),
    "matmul: (2 x 2) * (3 x 1)")
end

function tests.test_shapes_of_modules()
  local rng, x = ladies.rng(1), ladies.ones(4, 3)
  local linear = ladies.nn.linear{inputs = 2, outputs = 5, rng = rng}
  local conv = ladies.nn.gcn_conv{inputs = 3, outputs = 5, rng = rng}
  lu.assertEquals(refused(function() return linear:forward(x), 0 end),
    "nn.linear: x has 3 columns, its weight 2 rows")
  lu.assertEquals(refused(function() return conv:forward(x, ladies.sparse(x)), 0 end),
    "nn.gcn_conv: the block has 3 columns, features 4 rows")
end

function tests.test_brackets()
  local X = ladies.sparse(ladies.ones(3, 3))
  lu.assertEquals(refused(function() return X[ladies.index{1, 3}] end),
    "Matrix has no elements, got [Index 2]; its rows are :rows(idx)")
  lu.assertEquals(refused(function() return ladies.rng(1)[1] end), "Rng has no elements, got [1]")
  for kind, x in pairs{["a vector"] = ladies.ones(3), ["an Index"] = ladies.range(1, 3)} do
    lu.assertEquals(refused(function() return x[{1, 2}] end), ("[{...}] of %s: a position, an "
      .. "Index (ladies.index{1, 2}) or a mask (a Tensor) expected"):format(kind))
  end
end

--- A list of samples, one for each layer, is no number of samples.
function tests.test_a_list_for_a_number()
  lu.assertErrorMsgContains("bad argument #2 to 'choice' (number expected, got table; of a list, "
    .. "as samples for each layer are, give one element)", ladies.sampling.choice, ladies.ones(5),
    {2, 3}, {rng = ladies.rng(1)})
end

--- Operators that a class lacks say what there is in their place.
function tests.test_absent_operators()
  local X = ladies.sparse(ladies.ones(3, 3))
  for _, f in ipairs{function() return X * 2 end, function() return 2 * X end,
    function() return X * ladies.ones(3) end} do
    lu.assertStrContains(refused(f), "A Matrix has no *: A:scale_entries(w) multiplies each entry")
  end
  lu.assertStrContains(refused(function() return X / 2 end), "A Matrix has no /: A:scale")
  lu.assertEquals(refused(function() return ladies.ones(3) // 2 end),
    "A Tensor has no //: (t - t % u) / u is the quotient, rounded down")
  lu.assertEquals(refused(function() return ladies.range(1, 3) / 2 end),
    "An Index has no /: idx // x is the quotient, rounded down")
end

-- ---------------------------------------------------------------- around a message

function tests.test_message_has_no_place()
  for _, place in ipairs{"x.lua:3: ", "(command line):1: ", "stdin:12: ", "/tmp/a script:7: ",
    '[string "x = 1"]:1: ', ""} do
    lu.assertEquals(errors.message(place .. "edges: row 3: 5: no id"), "edges: row 3: 5: no id")
  end
  lu.assertEquals(errors.message "wordnet: data.noun:5: no line", "wordnet: data.noun:5: no line")
  lu.assertEquals(errors.message(setmetatable({}, {__tostring = function() return "mine" end})),
    "mine")
end

function tests.test_context_stands_behind_the_place()
  local function raised(e, context) return select(2, pcall(errors.pass_on, e, context)) end
  lu.assertEquals(raised("x.lua:3: wrong", "layer 2"), "x.lua:3: layer 2: wrong")
  lu.assertEquals(raised("x.lua:3: wrong"), "x.lua:3: wrong")
  lu.assertEquals(refused(function() errors.pass_on("wrong", "layer 2"); return 0 end),
    "layer 2: wrong")
  local object = {}
  lu.assertIs(raised(object, "layer 2"), object)
end

--- An error that is an object stays one, and is reported with its line.
function tests.test_objects()
  local object = {}
  local line = debug.getinfo(1, "l").currentline + 1
  local _, e = errors.caught(function() error(object) end)
  lu.assertIs(e, object)
  lu.assertIs(select(2, pcall(errors.pass_on, e, "layer 2")), object)
  lu.assertEquals(errors.message(e), "(error object is a table value)")
  errors.own_file((debug.getinfo(1, "S").source:sub(2)))
  lu.assertEquals(errors.told(e), ("%s:%d: (error object is a table value)"):format(
    debug.getinfo(1, "S").short_src, line))
  lu.assertEquals({errors.message(nil), errors.message(7)}, {"(error object is a nil value)", "7"})
end

--- A worker's error that is an object comes with its line; others are as they were.
function tests.test_from_a_worker()
  local object = {}
  local line = debug.getinfo(1, "l").currentline + 1
  local _, e = errors.caught(function() error(object) end)
  local crossed = errors.packed(e)
  crossed.error = {}                                   -- what arrives is another object
  local arrived = errors.unpacked(crossed)
  lu.assertIs(arrived, crossed.error)
  lu.assertEquals(errors.text(arrived), ("%s:%d: (error object is a table value)"):format(
    debug.getinfo(1, "S").short_src, line))
  lu.assertEquals(errors.unpacked(errors.packed "x.lua:3: wrong"), "x.lua:3: wrong")
end

--- A text that fails, or is none, is no error of its own.
function tests.test_objects_whose_text_fails()
  for _, text in ipairs{function() error {} end, function() return {} end} do
    lu.assertEquals(errors.text(setmetatable({}, {__tostring = text})),
      "(error object is a table value)")
  end
end

--- A script's error that is an object is reported with the line that raised it where the library
-- passed it on.
function tests.test_objects_in_a_script()
  for object, text in pairs{
    ["{}"] = "(error object is a table value)\nstack traceback:\n",
    ["setmetatable({}, {__tostring = error})"] = "(error object is a table value)\n",
    ["setmetatable({}, {__tostring = function() return 'mine!' end})"] = "mine!\n",
  } do
    local script <close> = shell.file(([[local errors = require "ladies.base.errors"
local _, e = errors.caught(function()
  error(%s)
end)
error(e, 0)
]]):format(object))
    local err = shell.refused(shell.run_ladies{script.path})
    lu.assertStrContains(err, ":3: " .. text)
  end
end

function tests.test_faults_of_code()
  lu.assertTrue(errors.is_internal "x.lua:3: attempt to index a nil value")
  lu.assertFalse(errors.is_internal "x.lua:3: shapes do not fit")
end

-- ---------------------------------------------------------------- interruptions

-- Returns the error that an interrupted call raises.
local function interruption()
  core.cancel_at(1)
  local _, e = pcall(core.sparse, core.ones(3, 3))
  core.cancel_at(0)
  return e
end

function tests.test_an_interruption_is_an_object()
  local e = interruption()
  lu.assertTrue(errors.is_interrupt(e))
  lu.assertStrMatches(tostring(e), "[^ ]*test_errors.lua:%d+: interrupted!")
  lu.assertFalse(errors.is_interrupt "x.lua:3: interrupted!")
  lu.assertFalse(errors.is_interrupt(nil))
  lu.assertEquals(errors.message(e), "interrupted!")
end

function tests.test_try_lets_interruptions_pass()
  local e = interruption()
  local ok, raised = pcall(errors.try, error, e)
  lu.assertFalse(ok)
  lu.assertIs(raised, e)
  lu.assertEquals({errors.try(error, "wrong", 0)}, {false, "wrong"})
  lu.assertEquals({errors.try(function(...) return ... end, 1, 2)}, {true, 1, 2})
end

function tests.test_an_interruption_with_context_stays_one()
  local _, e = pcall(errors.pass_on, interruption(), "batch 3")
  lu.assertTrue(errors.is_interrupt(e))
  lu.assertStrMatches(tostring(e), "[^ ]*test_errors.lua:%d+: batch 3: interrupted!")
end

--- A script that reports what it caught is interrupted only when it raises the object again; a text
-- that says so is no interruption.
function tests.test_status_after_an_interruption()
  local function status_of(last)
    local script <close> = shell.file([[
      local ladies = require "ladies"
      local ok, e = pcall(function()
        io.popen("kill -INT $PPID"):close()
        while true do end
      end)
      io.stderr:write(tostring(ok), " ", tostring(e), "\n")
      ]] .. last)
    local _, err, status = shell.run{"timeout", "20", shell.ladies, script.path}
    lu.assertStrMatches(err, "false [^ ]*:%d+: interrupted!\n.*")
    return status
  end
  lu.assertEquals(status_of "error(e, 0)", 130)
  lu.assertEquals(status_of "error(tostring(e), 0)", 1)
  lu.assertEquals(status_of "", 0)
end

return tests
