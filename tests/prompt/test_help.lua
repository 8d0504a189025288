--- ladies.help: the documentation of functions, modules and objects.
local lu = require "luaunit"
local cli = require "ladies.command.cli"
local glossary = require "ladies.prompt.glossary"
local help = require "ladies.prompt.help"
local host = require "ladies_host"
local ladies = require "ladies"
local models = require "ladies.experiment.models"
local tasks = require "ladies.experiment.tasks"

local tests = {}

-- Returns what help(x) prints.
local function text_of(...)
  local lines, plain = {}, print
  _G.print = function(text) lines[#lines + 1] = text end
  local ok, message = pcall(ladies.help, ...)
  _G.print = plain
  lu.assertTrue(ok, message)
  return table.concat(lines, "\n")
end

function tests.test_functions_of_lua_and_c()
  lu.assertStrContains(text_of(ladies.nn.gcn), "nn.gcn{inputs =, outputs =, hidden = 256")
  lu.assertStrContains(text_of(ladies.zeros), "ladies.zeros(n_rows [, n_cols]) -> Tensor")
  lu.assertEquals(text_of(load "return 1"), "no documentation")
end

--- Help on a sampler, a function or a callable table, says by which call it was made.
function tests.test_samplers()
  local P = ladies.matrix{n_rows = 2, n_cols = 2, rows = ladies.index{1, 2},
    cols = ladies.index{2, 1}}
  local made = "no documentation of its own; it was made by\n\nladies.samplers.graphsage(P, {"
  lu.assertStrContains(text_of(ladies.samplers.graphsage(P, {samples = {1}})), made)
  lu.assertStrMatches(text_of(ladies.samplers.ladies(P, {samples = {1}})),
    "ladies.samplers.ladies%(P, {samples = .*")
  lu.assertStrContains(text_of(setmetatable({}, {__call = ladies.samplers.graphsage(P,
    {samples = {1}})})), made)
  lu.assertEquals(text_of{a = 1}, "a table\n\n  a  (number)")
end

function tests.test_modules_and_objects()
  local schedules = text_of(ladies.schedule)
  lu.assertStrMatches(schedules, ".*\n  cosine    half a cosine from 1 .*")
  lu.assertStrContains(text_of(ladies.tensor{1, 2}), "  argmax ")
  lu.assertStrContains(text_of(), "  batches ")
  lu.assertEquals(text_of(5), "5: a number")
end

--- Help on a module begins with the comment that begins its file, before its list.
function tests.test_headers_of_modules()
  lu.assertStrMatches(text_of(ladies.schedule),
    "Makes learning%-rate schedules: .*\n\n.*  cosine .*")
  lu.assertStrMatches(text_of(ladies.graph), "Graph\nfields: adjacency, .*\n  degrees .*")
  lu.assertStrMatches(text_of(), "The library: .*\n  nn +Gathers the layers and models .*")
  lu.assertStrMatches(text_of(ladies.file), "a table\n\n.*  read .*")
end

function tests.test_names()
  lu.assertEquals(text_of "nn.gcn", text_of(ladies.nn.gcn))
  lu.assertEquals(text_of "ladies.nn.gcn", text_of(ladies.nn.gcn))
  lu.assertEquals(text_of "nn", text_of(ladies.nn))
  lu.assertStrMatches(text_of "Tensor", "Tensor\nfields: .*n_rows.*\n  argmax .*")
  lu.assertStrMatches(text_of "Dataset", "Dataset\nfields: name, .*\n  describe .*")
  lu.assertEquals(text_of "Tensor:sum", text_of(ladies.ones(1).sum))
  lu.assertEquals(text_of "Dataset:split", text_of(require "ladies.data.dataset".split))
end

--- Texts refer to modules that are not in the library itself, and to headers of files.
function tests.test_what_texts_refer_to()
  lu.assertStrContains(text_of "ladies.data.made_features",
    "Makes features for graphs that have none")
  lu.assertStrMatches(text_of(ladies.samplers.graphsage),
    "ladies.samplers.graphsage%(P, .*see the file's header.*\n\nThe sampler of GraphSAGE, .*")
end

function tests.test_nothing_of_that_name()
  local function refused(message, ...) lu.assertErrorMsgContains(message, ladies.help, ...) end
  refused('ladies has no field "trian"; did you mean "train"?', "trian")
  refused('ladies.nn has no field "gnc"; did you mean "gcn"?', "nn.gnc")
  refused('nothing is called "Tensor:smu"', "Tensor:smu")
  refused('nothing is called "nn.gcn.x"', "nn.gcn.x")
  refused("there is no help for nil; ladies.help() lists the library", nil)
end

--- Words are searched for in all texts, also by what means the same; a name comes first.
function tests.test_search()
  local found = text_of "choose neighbours"
  lu.assertStrMatches(found, ".*  ladies.samplers.graphsage  .*")
  lu.assertStrContains(text_of "rows sum", "  Matrix:row_sums  ")
  lu.assertStrContains(text_of "learning rates", "  ladies.schedule  ")
  lu.assertEquals(text_of "train", text_of(ladies.train))
  lu.assertErrorMsgContains('nothing is called "flux capacitor", and no documentation has these',
    ladies.help, "flux capacitor")
  lu.assertStrMatches(text_of "cross_entropy", "  ladies.loss.cross_entropy  .*")
  lu.assertStrMatches(text_of "draw_cols", "  Matrix:draw_cols  .*")
  for line in text_of "graph":gmatch "[^\n]+" do lu.assertTrue(#line <= 80, line) end
end

--- Help explains a word of the glossary, and an option by its name.
function tests.test_words_and_options()
  local found = text_of "self_nodes"
  lu.assertStrContains(found, "self_nodes is an option of\n")
  lu.assertStrContains(found, "\n  ladies.samplers.ladies     nodes that are always included")
  lu.assertStrMatches(text_of "seeds", "seed nodes, seeds: the nodes that a mini%-batch is for: .*"
    .. "The seed of an experiment.*\n\n  ladies%..*")
  lu.assertStrContains(text_of "mini-batch", "mini-batch: what a sampler returns: blocks, input, ")
  lu.assertStrContains(text_of "half cosine", "  ladies.schedule.cosine ")
  for line in text_of "seeds":gmatch "[^\n]+" do lu.assertTrue(#line <= 80, line) end
end

--- Words of other libraries are found in the tables of the guide, all that stand first in a row of
-- them too.
function tests.test_foreign_words()
  for word, here in pairs{gpu = "ladies.threads(n)", zero_grad = "adam:step(), which clears them",
    ["link prediction"] = "--task link_prediction", dataloader = "ladies.batches(ids,",
    Trainer = "ladies.train{...}", edge_attr = "the values of the Matrix",
    ["multi-head"] = "A:matmul_heads(w, x)", seed_everything = "seed = 1"} do
    local found = text_of(word):gsub("%s+", " ")
    lu.assertStrContains(found, here, nil, nil, word)
    lu.assertStrContains(found, ": here ")
  end
  local page, n = ladies.file.read(ladies.home() .. "/doc/guide/pyg-dgl.md"), 0
  for topic in page:match "\n## Other words\n(.-)\n## ":gmatch "\n| ([%a][^|]-) |" do
    for word in topic:gmatch "[^,]+" do
      n = n + 1
      local found = glossary((word:gsub("^ ", ""))) or ""
      lu.assertStrContains(found:gsub("%s+", " "), ": here ", nil, nil, word)
    end
  end
  lu.assertTrue(n > 40)
end

-- Returns the value at a path of names below a table, nil where there is none.
local function at(path, value)
  for name in path:gmatch "[^.]+" do
    local ok, next_one = pcall(function() return value[name] end)
    value = ok and next_one or nil
  end
  return value
end

--- Whatever the guide for users of other libraries names exists: functions, their options, and
-- options of commands with their values.
function tests.test_what_the_guide_offers_is_there()
  local flags, n = {}, 0
  for _, name in ipairs{"train", "view", "export"} do
    for _, option in ipairs(cli.spec_of(host.script(name))) do flags["--" .. option[1]] = true end
  end
  local function there(value, word) n = n + 1; lu.assertNotNil(value, word) end
  local page = ladies.file.read(ladies.home() .. "/doc/guide/pyg-dgl.md")
  for cell in page:gmatch "\n|[^\n]*|([^|\n]+)|%f[\n]" do
    for code in cell:gmatch "`([^`]+)`" do
      for room, path in code:gmatch "%f[%w](%a+)%.([%w_.]*[%w_])" do
        local module = room == "ladies" and ladies or (room == "nn" or room == "samplers")
          and ladies[room]
        if module then there(at(path, module), code) end
        local options = code:match "%b{}"
        for name in (module == ladies and options or ""):gmatch "([%w_]+) =" do
          local has = {}
          for _, option in ipairs(help.options(at(path, module))) do has[option.name] = true end
          there(has[name], code)
        end
      end
      for flag in code:gmatch "%-%-[%a-]+" do there(flags[flag], code) end
      for kind, word in code:gmatch "%-%-(%a+) ([%a_]+)" do
        local known = {task = tasks.by_name, model = models.by_name}
        if known[kind] then there(known[kind][word], code) end
      end
    end
  end
  lu.assertTrue(n > 40, n)
end

--- Completion takes signatures, options and the classes of results from texts.
function tests.test_parts_of_texts()
  local function names_of(f)
    local names = {}
    for i, option in ipairs(help.options(f)) do names[i] = option.name end
    return table.concat(names, " ")
  end
  lu.assertStrMatches(names_of(ladies.train),
    "data model sampler P optimizer lr weight_decay .*epochs .*count_memory")
  lu.assertStrMatches(names_of(ladies.nn.gat), "inputs .*heads output_heads .*dropout.*lambda P")
  lu.assertNotStrContains(names_of(ladies.nn.gat), "order")    -- "without order"
  lu.assertEquals(names_of(ladies.optim.sgd), "lr momentum weight_decay")
  lu.assertEquals(names_of(print), "")
  lu.assertEquals(help.signature(ladies.schedule.cosine),
    "schedule.cosine{batches = n, floor = 0} -> function")
  lu.assertEquals(help.signature(ladies.samplers.ladies),
    "ladies.samplers.ladies(P, {samples = {s1, s2, ...}, ...}) -> Sampler")
  lu.assertEquals(help.class_of_result(ladies.range), help.classes().Index)
  lu.assertNil(help.class_of_result(print))
end

return tests
