--- Tests ladies.show, the form in which print and the prompt show values.
local lu = require "luaunit"
local ladies = require "ladies"
local shell = require "tools.shell"
local sparkline = require "ladies.show.sparkline"
local toy = require "reference.toy_data"

local tests = {}

local function assert_shows(value, expected, width)
  lu.assertEquals(ladies.show(value, width or 80), expected)
end

local function widest_line(text)
  local widest = 0
  for line in text:gmatch "[^\n]+" do widest = math.max(widest, utf8.len(line)) end
  return widest
end

function tests.test_tensors()
  lu.assertErrorMsgContains("ladies.show: the width must be a positive integer", ladies.show,
    ladies.zeros(2), ladies.ones(1))
  assert_shows(ladies.ones(3, 2), "Tensor 3 x 2, all 1\n  1  1\n  1  1\n  1  1")
  assert_shows(ladies.tensor{{1.5, -20}, {0.25, 3}},
    "Tensor 2 x 2, -20 to 3\n    1.500  -20.000\n    0.250    3.000")
  assert_shows(ladies.tensor{1e-5, 2e-4}, "Tensor 2, 1e-05 to 0.0002\n  1.000e-05  2.000e-04")
  assert_shows(ladies.tensor{1, 0 / 0, 1 / 0}, "Tensor 3, not finite: nan at 2\n    1  nan  inf")
  assert_shows(ladies.zeros(0, 3), "Tensor 0 x 3")
  local matrix = ladies.zeros(2, 2):set_(2, 1, -1 / 0)
  assert_shows(matrix, "Tensor 2 x 2, not finite: -inf at (2, 1)\n     0     0\n  -inf     0")
  local weight = ladies.ones(2):requires_grad_()
  assert_shows(weight, "Tensor 2, all 1, parameter\n  1  1")
  assert_shows(weight:requires_grad_(false), "Tensor 2, all 1, parameter, frozen\n  1  1")
end

--- A long list shows as many elements of both ends as fit, and at least one of each.
function tests.test_long_lists()
  local list = ladies.range(1000000, 1000300)
  local head = "Index 301, 1000000 to 1000300\n"
  assert_shows(list, head .. "  1000000  1000001  ...  1000299  1000300", 41)
  assert_shows(list, head .. "  1000000  ...  1000300", 40)
  assert_shows(list, head .. "  1000000  ...  1000300", 12)
end

--- A large tensor shows only its corner, within the width.
function tests.test_large_tensors()
  local x = ladies.range(1, 3000):to_tensor():reshape(30, 100)
  local lines = {}
  for line in ladies.show(x, 40):gmatch "[^\n]+" do lines[#lines + 1] = line end
  lu.assertEquals({lines[1], lines[2], lines[11], lines[12], #lines}, {"Tensor 30 x 100, 1 to 3000",
    "    1    2    3    4    5    6  ...", "  901  902  903  904  905  906  ...", "  ...", 12})
  assert_shows(ladies.range(1, 1000):to_tensor(),
    "Tensor 1000, 1 to 1000\n  1  2  3  4  5  ...  996  997  998  999  1000", 46)
  for width = 20, 200 do
    lu.assertTrue(widest_line(ladies.show(x, width)) <= math.max(width, 28))
  end
end

--- Showing a tensor records nothing, and one that is released is no error.
function tests.test_tensors_of_steps()
  local weight = ladies.ones(2):requires_grad_()
  local step = ladies.step()
  local y = weight * 2
  local before = tostring(step)
  assert_shows(y, "Tensor 2, all 2\n  2  2")
  lu.assertEquals(tostring(step), before)
  y:sum():backward()
  lu.assertEquals(weight.grad:to_table(), {2, 2})
  step:close()
  assert_shows(y, "Tensor 2 of a closed step")
  local released = ladies.ones(2)
  released:release()
  assert_shows(released, "Tensor, released")
end

function tests.test_indexes()
  assert_shows(ladies.index{7, 3, 20}, "Index 3, 3 to 20\n   7   3  20")
  assert_shows(ladies.index{}, "Index 0")
  assert_shows(ladies.range(1, 500), "Index 500, 1 to 500\n  1  2  3  4  5  6  7  8  ...  "
    .. "493  494  495  496  497  498  499  500")
end

local function eye(n)
  return ladies.csr{n_rows = n, n_cols = n, offsets = ladies.range(1, n + 1),
    columns = ladies.range(1, n)}
end

function tests.test_matrices()
  assert_shows(eye(3):scale_rows(ladies.tensor{1, 2, 30}),
    "Matrix 3 x 3, 3 entries, 1 to 30\n   1   .   .\n   .   2   .\n   .   .  30")
  local text = ladies.show(eye(1200), 30)
  local rows = {}
  for row in text:gmatch "\n  |(.-)|" do rows[#rows + 1] = row end
  lu.assertEquals(#rows, 12)
  -- The diagonal goes from corner to corner, and there is nothing beside it.
  for i, row in ipairs(rows) do
    local before, marks, after = row:match "^( *)([^ ]+)( *)$"
    lu.assertEquals(#before, (100 * (i - 1)) * 26 // 1200)
    lu.assertEquals(#before + utf8.len(marks), (100 * i - 1) * 26 // 1200 + 1)
    lu.assertEquals(#before + utf8.len(marks) + #after, 26)
  end
  assert_shows(ladies.csr{n_rows = 2, n_cols = 3, offsets = ladies.index{1, 1, 1},
    columns = ladies.index{}}, "Matrix 2 x 3, 0 entries")
end

--- Of parallel edges a place shows the sum, and the last line says so.
function tests.test_a_matrix_of_parallel_edges()
  local P = ladies.edge_matrix{n_rows = 2, n_cols = 2, rows = ladies.index{1, 2, 2},
    cols = ladies.index{2, 1, 1}, values = ladies.tensor{3, 5, 1}}
  assert_shows(P, "Matrix 2 x 2, 3 entries, 1 to 5\n  .  3\n  6  .\n"
    .. "  (entries in one place are added up)")
end

--- A matrix with so many entries that not all rows are looked at says so.
function tests.test_a_large_matrix()
  local n = 120000
  lu.assertStrContains(ladies.show(eye(n)), "  (from 50000 of the rows, evenly spaced)")
end

function tests.test_mini_batches()
  local P = toy.new().graph:normalize "sym"
  local sampler = ladies.samplers.ladies(P, {samples = {9, 12}})
  local batch = sampler(ladies.range(1, 20), ladies.rng(1))
  local text = ladies.show(batch)
  local blocks = batch.blocks
  local function line(l, from)
    return ("\n  %d %14d <- %9d  %10d  %8d\n"):format(l, #blocks[l].dst, from, blocks[l].adj.nnz,
      blocks[l].adj:empty_rows())
  end
  lu.assertStrContains(text, "mini-batch of 20 seeds, 2 layers\n")
  lu.assertStrContains(text, line(2, #blocks[2].src))
  lu.assertStrContains(text, line(1, #blocks[1].src))
  lu.assertStrContains(text, ("\n  %d rows of the features"):format(#batch.input))
  local one = ladies.index{1}
  local adj = ladies.matrix{n_rows = 1, n_cols = 1, rows = one, cols = one}
  lu.assertStrContains(ladies.show{blocks = {{adj = adj, dst = one, src = one}}, input = one,
    output = one}, "\n  1 row of the features")
end

--- A table that only looks like a mini-batch is shown as any table is.
function tests.test_what_is_no_mini_batch()
  local adj, seeds = eye(2), ladies.range(1, 2)
  lu.assertStrContains(ladies.show{blocks = {{adj = adj}}, output = seeds},
    "mini-batch of 2 seeds, 1 layer\n")
  for _, other in ipairs{
    {}, {blocks = 3}, {blocks = {}, output = seeds}, {blocks = {{adj = adj}}},
    {blocks = {{adj = adj}}, output = 2}, {blocks = {{adj = adj}, 7}, output = seeds},
    {blocks = {{adj = 1}}, output = seeds}, {blocks = {{adj = adj}}, output = seeds, input = 3},
  } do
    lu.assertNil(ladies.show(other))
  end
end

--- print shows a single mini-batch, in a script as at the prompt; of several values it prints what
-- tostring says.
function tests.test_print_of_a_mini_batch()
  local script <close> = shell.file [[
    local ladies = require "ladies"
    local P = ladies.csr{n_rows = 2, n_cols = 2, offsets = ladies.range(1, 3),
      columns = ladies.range(1, 2)}
    local batch = ladies.samplers.full(P, {layers = 2})(ladies.range(1, 2), ladies.rng(1))
    print(batch)
    print(batch, 1)
    print({}, nil)
    print{}
    print(ladies.show(batch) .. "!")]]
  local out, err = shell.run_ladies{script.path}
  lu.assertEquals(err, "")
  local shown = out:match "^(mini%-batch of 2 seeds, 2 layers\n.-\n  2 rows of the features)\n"
  lu.assertEquals(out:gsub("0x%x+", "P"), table.concat({shown, "table: P\t1", "table: P\tnil",
    "table: P", shown .. "!", ""}, "\n"))
end

function tests.test_models()
  local model = ladies.nn.gcn{inputs = 30, outputs = 4, hidden = 16, layers = 2, head = "linear"}
  assert_shows(model, [[
Gcn of 2 layers, P = sym, 836 parameters
  layer  what                    parameters  shapes
  1      GcnConv 30 -> 16, relu         496  conv.bias 16, conv.weight 30 x 16
  2      GcnConv 16 -> 16, relu         272  conv.bias 16, conv.weight 16 x 16
  head   Linear 16 -> 4                  68  linear.bias 4, linear.weight 16 x 4]], 90)
  lu.assertStrContains(ladies.show(model, 60),
    "\n  1      GcnConv 30 -> 16, relu         496\n      conv.bias 16, conv.weight 30 x 16\n")
  assert_shows(ladies.nn.linear{inputs = 3, outputs = 2, rng = ladies.rng(1)},
    "Linear 3 -> 2, 8 parameters\n  bias 2, weight 3 x 2")
  local class = ladies.nn.class "Own"
  local own = setmetatable({map = ladies.ones(2, 3):requires_grad_()}, class)
  own.map:requires_grad_(false)
  assert_shows(own, "Own, 6 parameters\n  map 2 x 3 (frozen)")
  for _, name in ipairs{"gat", "sage", "gin", "gcnii", "appnp", "sgc", "mlp"} do
    local options = {inputs = 8, outputs = 3, layers = 2, hidden = name ~= "sgc" and 8 or nil}
    local one = ladies.nn[name](options)
    lu.assertStrContains(ladies.show(one), one.normalize and "P = " or "no graph")
    lu.assertTrue(widest_line(ladies.show(one)) <= 80)
  end
end

function tests.test_data_sets()
  local data = toy.new()
  local text = ladies.show(data, 50)
  lu.assertStrContains(text, "\n  classes    " .. data.classes)
  lu.assertTrue(widest_line(text) <= 50)
  lu.assertStrMatches(ladies.show(data.graph),
    "Graph %d+ nodes, %d+ entries\n  entries of a row: %d+ to %d+, [%d.]+ on average; empty: %d+")
end

-- Returns what f prints.
local function printed(f, ...)
  local lines, plain = {}, print
  _G.print = function(text) lines[#lines + 1] = text end
  local ok, message = pcall(f, ...)
  _G.print = plain
  lu.assertTrue(ok, message)
  return table.concat(lines, "\n")
end

--- Names cannot send orders to the terminal, and their characters stay whole.
function tests.test_hostile_names_of_data_sets()
  local data = toy.new()
  data.class_names = {"a\27[31mb", ("\xc3\xb6"):rep(60), "c", "d"}
  local text = ladies.show(data, 40)
  lu.assertNil(text:find "\27")
  lu.assertEquals(utf8.len(text) and widest_line(text), 40)
end

local function named(labels)
  return ladies.data.from_arrays{
    edges = {{1, 2}, {2, 1}, {1, 3}, {3, 1}, {3, 4}, {4, 3}},
    features = ladies.tensor{{1, 0}, {0, 1}, {0, 0}, {2, 2}, {0, 0}},
    labels = labels, train = {1, 2}, val = {3}, test = {4}, name = "pets",
    node_names = {"dog", "cat", "fox", "owl", "eel"}, class_names = {"tame", "wild"},
    feature_names = {"barks", "purrs"},
  }
end

function tests.test_a_neighbourhood()
  local data = named{1, 1, 2, 2, 0}
  lu.assertEquals(printed(data.show, data, "dog"), [[
node 1, dog, tame, train
  features    1 of 2: barks
  neighbours  2, and 3 nodes within two edges
         2  cat  tame
         3  fox  wild]])
  lu.assertStrContains(printed(data.show, data, 1, 1), "2  cat  tame\n  and 1 more")
  lu.assertEquals(printed(data.show, data, 5),
    "node 5, eel\n  features    0 of 2\n  neighbours  0, and no nodes within two edges")
  lu.assertErrorMsgContains('pets has no node called "ox"; did you mean "fox"?', data.show, data,
    "ox")
  lu.assertErrorMsgContains('pets has no node called "walrus"', data.show, data, "walrus")
  lu.assertErrorMsgContains("data:show: the node must be an integer in [1, 5], got 6", data.show,
    data, 6)
  local several = named(ladies.tensor{{1, 1}, {1, 0}, {0, 1}, {0, 0}, {0, 0}})
  lu.assertStrContains(printed(several.show, several, 1), "node 1, dog, tame+wild, train\n")
end

--- A node is not within two edges of itself, whichever way edges go, and a neighbour counts once.
function tests.test_what_is_within_two_edges()
  local function shown(edges, node, more)
    local given = {edges = edges, features = ladies.ones(4, 1), labels = {1, 2, 1, 2}}
    for key, value in pairs(more or {}) do given[key] = value end
    local data = ladies.data.from_arrays(given)
    return printed(data.show, data, node):match "neighbours  ([^\n]+)"
  end
  local path = {{1, 2}, {2, 1}, {2, 3}, {3, 2}, {3, 4}, {4, 3}}
  lu.assertEquals(shown(path, 1), "1, and 2 nodes within two edges")
  lu.assertEquals(shown(path, 2), "2, and 3 nodes within two edges")
  local one_way = {directed = "keep"}
  lu.assertEquals(shown({{1, 2}, {2, 3}, {3, 4}}, 4, one_way), "1, and 2 nodes within two edges")
  lu.assertEquals(shown({{1, 2}, {2, 3}, {3, 4}}, 2, one_way), "1, and 1 node within two edges")
  lu.assertEquals(shown({{1, 2}, {1, 2}, {3, 2}}, 2,
    {directed = "keep", edge_times = {1, 2, 3}}), "2 by 3 edges, and 2 nodes within two edges")
end

function tests.test_sparklines()
  lu.assertEquals(sparkline({0, 1, 2, 3, 4, 5, 6, 7}, 80), "▁▂▃▄▅▆▇█")
  lu.assertEquals(sparkline({0, 0, 7, 7, 0.5, 0.5}, 3), "▁█▁")
  lu.assertEquals(sparkline({3, 3}, 80), "▁▁")
end

--- A summary has the history of its run, and shows it as a curve.
function tests.test_summaries()
  local data = toy.new()
  local function train(folder, options)
    local all = {data = data, lr = 0.1, quiet = true, eval_every = 1, batch_size = 64, patience = 0,
      model = ladies.nn.gcn{inputs = data.features.n_cols, outputs = data.classes, layers = 1},
      sampler = ladies.samplers.full(data.graph:normalize "sym", {layers = 1}), out = folder}
    for key, value in pairs(options) do all[key] = value end
    return ladies.train(all)
  end
  local run = train(nil, {max_batches = 5})
  lu.assertEquals({#run.history, run.history[5].batch}, {5, 5})
  local width = 60
  local text = ladies.show(run, width)
  local function words(written) return (written:gsub("%s+", " ")) end
  lu.assertEquals(words(text):sub(1, #words(tostring(run))), words(tostring(run)))
  local notes = text:match "\n\n.*"
  for line in notes:gmatch "[^\n]+" do lu.assertTrue(utf8.len(line) <= width, line) end
  lu.assertStrMatches(text, (".*\n  validation   0%%.%%d+ .* %.4f"):format(
    run.history[5].value))
  local values = {}
  for i, row in ipairs(run.history) do values[i] = row.value end
  lu.assertStrContains(text, (" %s "):format(sparkline(values, 80)))
  lu.assertEquals(tostring(run.history), "History of 5 validations")
  local table_of_it = ladies.show(run.history, width)
  lu.assertStrContains(table_of_it, "\n     batch    seconds       loss  micro-F1\n         1 ")
  lu.assertStrContains(table_of_it, sparkline(values, 80))
  lu.assertTrue(widest_line(table_of_it) <= width)
  local by_hand = ladies.summary{batches = 2, history = {{value = 0}, {value = 1}}}
  lu.assertStrContains(ladies.show(by_hand), "\n  validation   0.0000 ▁█ 1.0000")
  -- The history of a run that was stopped and went on is whole; the summary's file does not have
  -- it.
  local folder <close> = shell.folder()
  local first = train(folder.path .. "/run", {max_batches = 3})
  local second = train(folder.path .. "/run", {max_batches = 5, resume = true})
  for i, row in ipairs(run.history) do
    lu.assertAlmostEquals(second.history[i].value, row.value, 1e-6)
    lu.assertEquals(second.history[i].batch, row.batch)
    lu.assertTrue(row.loss > 0)                 -- with a log or without one
    lu.assertAlmostEquals(second.history[i].loss, row.loss, 1e-4)
  end
  lu.assertEquals({#first.history, #second.history}, {3, 5})
  lu.assertNil(ladies.file.read(folder.path .. "/run/summary.json"):find '"history"')
end

--- Without a width that of the terminal is taken, whatever it is that shows itself.
function tests.test_print_of_everything()
  local model = ladies.nn.gcn{inputs = 3, outputs = 2, layers = 1}
  for _, value in ipairs{model, toy.new(), toy.new().graph, ladies.summary{batches = 3}} do
    lu.assertEquals(getmetatable(value).__show(value), ladies.show(value))
  end
end

--- print of a single value shows it, and of several is a line; so in a script as at the prompt.
function tests.test_print()
  local out = shell.run_ladies{"-e",
    "t = ladies.ones(1, 2) print(t) print(t, 1) io.write(tostring(t))"}
  lu.assertEquals(out, "Tensor 1 x 2, all 1\n  1  1\nTensor 1 x 2\t1\nTensor 1 x 2")
  local odd = "print(setmetatable({}, {__show = function() end, __tostring = function() "
    .. "return ('long'):rep(9000) end}))"
  lu.assertEquals(shell.run_ladies{"-e", odd}, ("long"):rep(9000) .. "\n")
end

--- The module that shows values may be loaded before the library.
function tests.test_any_order_of_loading()
  local out = shell.run_ladies{"-e", [[require "ladies.show"
    print(require "ladies".show(require "ladies".ones(1, 2)))]]}
  lu.assertEquals(out, "Tensor 1 x 2, all 1\n  1  1\n")
end

function tests.test_the_prompt()
  lu.assertNil(shell.talk [[
    send ladies.ones(2, 2)\r
    expect \nTensor 2 x 2, all 1\r\n  1  1\r\n  1  1\r\n>
    send {ladies.ones(2, 2), ladies.range(1, 3)}\r
    expect \n{Tensor 2 x 2, Index 3}\r\n
    size 30
    send ladies.ones(2, 50)\r
    expect \n  1  1  1  1  1  1  1  ...\r\n
  ]])
end

return tests
