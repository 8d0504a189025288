--- Tests the prompt's formatting and completion, without a terminal.
local lu = require "luaunit"
local complete = require "ladies.prompt.complete"
local fields = require "ladies.base.fields"
local format = require "ladies.prompt.format"
local help = require "ladies.prompt.help"
local ladies = require "ladies"
local members = require "ladies.prompt.members"
local repl = require "ladies.prompt.repl"
local shell = require "tools.shell"

local tests = {}

local function assert_format(value, width, expected)
  lu.assertEquals(format.line(value, width), expected)
  lu.assertTrue(utf8.len(format.line(value, width)) <= width)
end

function tests.test_plain_values()
  assert_format(nil, 80, "nil")
  assert_format(true, 80, "true")
  assert_format(12, 80, "12")
  assert_format(1.5, 80, "1.5")
  assert_format(2.0, 80, "2.0")
  assert_format(0 / 1e-300 + 1e300, 80, "1e+300")
  lu.assertStrMatches(format.line(print, 80), "function: 0x.*")
  lu.assertStrMatches(format.line(tests.test_plain_values, 80), "function: .*format.lua:%d+")
end

function tests.test_strings_are_quoted_and_cut()
  assert_format('a "b"\n\t\\ \0', 80, [["a \"b\"\n\t\\ \x00"]])
  assert_format("", 80, '""')
  assert_format("wörld", 80, '"wörld"')
  assert_format("\xff\xfe", 80, [["\xff\xfe"]])
  assert_format(("x"):rep(78), 80, '"' .. ("x"):rep(78) .. '"')
  assert_format(("x"):rep(5000), 40, '"' .. ("x"):rep(22) .. '..." (5000 bytes)')
  assert_format(("ö"):rep(5000), 40, '"' .. ("ö"):rep(21) .. '..." (10000 bytes)')
end

--- The prompt is safe whatever a name of a data set, a file or a text of the session holds.
function tests.test_no_text_reaches_the_controls_of_a_terminal()
  local hostile = "\27[2J\u{9b}2J\u{202e}x\nspoof"
  local own = setmetatable({}, {__tostring = function() return hostile end})
  local f = load("return function() end", "@" .. hostile)()
  for _, value in ipairs{hostile, {hostile}, {[hostile] = 1}, own, {own}, f} do
    local text = repl.results(80, value, value)
    lu.assertNil(text:find "[%c]", text)
    lu.assertNil(text:find("\u{9b}", 1, true), text)
    lu.assertNil(text:find("\u{202e}", 1, true), text)
  end
  local _, message = repl.load("x = = '" .. hostile:sub(1, 4) .. "'")
  lu.assertNil(message:find "\27", message)
end

--- Tab looks at the lines of the chunk that is being typed, and at none of a chunk before it.
function tests.test_tab_knows_the_lines_of_its_chunk_alone()
  rawset(_G, "make_model", ladies.nn.gcn)
  repl.begin_chunk()
  local _, _, wants_more = repl.load "make_model{"
  lu.assertTrue(wants_more)
  lu.assertEquals(repl.tab("drop", 80), "out")
  repl.begin_chunk()
  lu.assertEquals(repl.tab("drop", 80), "")
  rawset(_G, "make_model", nil)
end

function tests.test_tables_show_what_there_is_room_for()
  assert_format({}, 80, "{}")
  assert_format({1, "two", {3}}, 80, '{1, "two", {3}}')
  assert_format({b = 1, a = 2, [10] = 3, [1.5] = 4, [true] = 5, ["end"] = 6, ["x y"] = 7}, 80,
                '{[1.5] = 4, [10] = 3, a = 2, b = 1, ["end"] = 6, ["x y"] = 7, [true] = 5}')
  local hundred = {}
  for i = 1, 100 do hundred[i] = i end
  assert_format(hundred, 28, "{1, 2, 3, 4, ... 96 more}")
  assert_format({{{{{}}}}}, 80, "{{{{...}}}}")
  assert_format({1, nil, 3}, 80, "{1, nil, 3}")
  local ring = {name = "ring"}
  ring.self = ring
  assert_format(ring, 90, '{name = "ring", self = ' .. '{name = "ring", self = ' ..
                '{name = "ring", self = {...}}}}')
  for width = 20, 90 do
    lu.assertTrue(#format.line({hundred, hundred, x = ("y"):rep(200)}, width) <= width)
  end
end

function tests.test_objects_speak_for_themselves()
  local object = setmetatable({1, 2}, {__tostring = function() return "Thing 3 x 4" end})
  assert_format(object, 80, "Thing 3 x 4")
  assert_format({object, x = object}, 80, "{Thing 3 x 4, x = Thing 3 x 4}")
  assert_format(setmetatable({1}, {__index = error}), 80, "{1}")
  assert_format(setmetatable({1}, {__len = error, __pairs = error}), 80, "{1}")
  local tall = setmetatable({}, {__tostring = function() return "model\n  layer\n" end})
  assert_format(tall, 80, "model layer ")
  lu.assertEquals(repl.results(80, tall), "model\n  layer")
end

--- A result of several lines is a text to be read, alone; what would move the cursor, or goes on
-- for ever, is quoted as within a table.
function tests.test_texts_are_shown_as_such()
  lu.assertEquals(repl.results(80, "two\n  lines\n"), "two\n  lines")
  local data = ladies.data.load "wordnet"
  lu.assertEquals(repl.results(80, data:describe()), data:describe())
  for value, shown in pairs{["one\n"] = [["one\n"]], ["a\n\27[2J"] = [["a\n\x1b[2J"]],
      [""] = '""', ["\n"] = [["\n"]]} do
    lu.assertEquals(repl.results(80, value), shown)
  end
  lu.assertEquals(repl.results(80, "a\nb", 1), [["a\nb", 1]])
  lu.assertEquals(repl.results(80, ("x\n"):rep(200)), ("x\n"):rep(199) .. "x")
  lu.assertStrContains(repl.results(80, ("x\n"):rep(201)), '"x\\nx')
  lu.assertStrMatches(repl.results(80, ("x\n"):rep(5000)), '"x\\nx.*%.%.%." %(10000 bytes%)')
end

--- A mini-batch that anybody's sampler makes is known by its fields, also within a table.
function tests.test_mini_batches_say_what_they_are()
  local adj = ladies.csr{n_rows = 1, n_cols = 1, offsets = ladies.range(1, 2),
    columns = ladies.range(1, 1)}
  local batch = {blocks = {{adj = adj}, {adj = adj}}, output = ladies.range(1, 1)}
  assert_format(batch, 80, "mini-batch of 1 seed, 2 layers")
  assert_format({batch, 1}, 80, "{mini-batch of 1 seed, 2 layers, 1}")
  assert_format(batch, 20, "mini-batch of 1 s...")
end

function tests.test_results()
  lu.assertEquals(repl.results(80, nil), "nil")
  lu.assertEquals(repl.results(80, 1, nil, "x", nil), '1, nil, "x", nil')
  lu.assertTrue(#repl.results(80, ("x"):rep(500), ("y"):rep(500)) <= 80)
end

local BAIT = {__index = function() error "completion ran the user's code" end}
local class = {__index = {forward = print, width = 3, _private = 1}}
local tensor = io.tmpfile() -- a userdata whose metatable is ours for a while
local FILE = debug.getmetatable(tensor)
local ENV = {
  print = print, printer = 1, string = string, _hidden = 1, [1] = 1, ["not a name"] = 1,
  nest = {deep = {er = {value = 1, victory = 2}}},
  model = setmetatable({layers = {}, forget = 1}, class),
  bait = setmetatable({known = 1}, BAIT), text = "some text",
}

local function assert_complete(line, position, names)
  local start, found = complete.at(line, ENV)
  lu.assertEquals(found, names, line)
  if names[1] then lu.assertEquals(start, position, line) end
end

function tests.test_globals_and_keywords_complete()
  assert_complete("pri", 1, {"print", "printer"})
  assert_complete("x = pri", 5, {"print", "printer"})
  assert_complete("f(pri", 3, {"print", "printer"})
  assert_complete("x..pri", 4, {"print", "printer"})
  assert_complete("wh", 1, {"while"})
  assert_complete("n", 1, {"nest", "nil", "not"})
  assert_complete("_h", 1, {"_hidden"})
  assert_complete("nothing_like_it", 1, {})
end

function tests.test_fields_and_methods_complete()
  assert_complete("nest.", 6, {"deep"})
  assert_complete("nest.deep.er.v", 14, {"value", "victory"})
  assert_complete("string.re", 8, {"rep", "reverse"})
  assert_complete("text:upp", 6, {"upper"})
  assert_complete("model.", 7, {"forget", "forward", "layers", "width"})
  assert_complete("model:", 7, {"forward"})
  assert_complete("model._", 7, {"_private"})
  assert_complete("2 + nest.deep.er.vi", 18, {"victory"})
end

--- The value of an option that names a method, a model or a data set is completed as one.
function tests.test_values_of_options_complete()
  assert_complete('train{data = "x", method = "grap', 29, {"grapes", "graphsage", "graphsaint"})
  assert_complete('f{model = "gcni', 12, {"gcnii"})
  assert_complete('f{data = "reddi', 11, {"reddit"})
  assert_complete('f{x = "reddi', 8, {})
end

--- What a line tells of an option is from the list of options, not from a sentence below it.
function tests.test_a_callback_is_told_from_its_list()
  for _, option in ipairs(help.options(ladies.train)) do
    if option.name == "on_batch" then lu.assertStrContains(option.text, "called after each") end
  end
end

function tests.test_userdata_complete_by_methods_and_fields()
  local saved = FILE.__index
  FILE.__index = BAIT.__index
  FILE.__methods = {matmul = print, max = print, relu = print}
  FILE.__fields = {"n_rows", "n_cols", "grad"}
  ENV.t = tensor
  assert_complete("t:ma", 3, {"matmul", "max"})
  assert_complete("t.n_", 3, {"n_cols", "n_rows"})
  assert_complete("t.", 3, {"grad", "matmul", "max", "n_cols", "n_rows", "relu"})
  assert_complete("t.grad.", 8, {})
  ENV.t, FILE.__methods, FILE.__fields, FILE.__index = nil, nil, nil, saved
end

-- Tab behind any beginning of a name of the library inserts more or shows something to read; at its
-- end it shows what is known of the name.
local function check_prefixes(name, separator, key, env)
  for n = 1, #key do
    local line = name .. separator .. key:sub(1, n)
    local insert, shown = complete.tab(line, 80, env)
    lu.assertTrue(insert ~= "" or shown ~= nil and shown ~= "", line)
    if insert ~= "" then
      local _, names = complete.at(line .. insert, env)
      lu.assertTrue(#names > 0, line .. insert)
    end
  end
  return #key
end

function tests.test_tab_behind_every_prefix()
  local env, n, seen = {ladies = ladies}, 0, {}
  local function walk(name, module)
    for key, value in pairs(module) do
      if type(key) == "string" and key:find "^%a[%w_]*$" then
        n = n + check_prefixes(name, ".", key, env)
        if type(value) == "table" and fields.is_module(value) and not seen[value] then
          seen[value] = true
          walk(name .. "." .. key, value)
        end
      end
    end
  end
  walk("ladies", ladies)
  local classes = help.classes()
  for _, members_of in pairs(classes) do
    env.x = members_of.__methods and setmetatable({}, members_of) or nil
    for key, value in pairs(members_of.__methods or members_of) do
      local is_public = type(key) == "string" and key:find "^%a" and type(value) == "function"
      if env.x and is_public then n = n + check_prefixes("x", ":", key, env) end
    end
  end
  lu.assertTrue(n > 2000, n)
end

--- Modules are those of this library and Lua's own.
function tests.test_modules()
  for _, module in ipairs{ladies, ladies.nn, string, math} do
    lu.assertTrue(members.is_module(module))
  end
  for _, value in ipairs{{}, {string = string}, "string", 1} do
    lu.assertFalse(members.is_module(value))
  end
end

function tests.test_no_completion_where_there_is_no_name()
  for _, line in ipairs {
    "", "  ", "x = ", "f(", "12", "0x", "1.", "x[1].n", "f().n", "nest..", "a.b.c", "::pri",
    '"pri', "'it\\'s pri", "-- pri", "model:forward():x", "list[1].x", "f()[1].n",
    "nest[1 + 1].d",
  } do
    assert_complete(line, 0, {})
  end
  assert_complete('f("x", pri', 8, {"print", "printer"})
end

function tests.test_completion_never_runs_code()
  assert_complete("bait.", 6, {"known"})
  assert_complete("bait.unknown.x", 1, {})
  local ring = {}
  ENV.ring = setmetatable(ring, {__index = ring})
  assert_complete("ring.x.", 1, {})
  assert_complete("ring.", 1, {})
  local start, names = complete.at("kno", ENV.bait)
  lu.assertEquals({start, names}, {1, {"known"}})
end

--- Tab completes behind indexes and calls: values that are there, and the classes that calls
-- return.
function tests.test_elements_and_results_complete()
  ENV.list = {{deep = 1}, ["a b"] = {wide = 2}}
  ENV.ladies = require "ladies"
  assert_complete("list[1].", 9, {"deep"})
  assert_complete('x = list["a b"].w', 17, {"wide"})
  assert_complete("list[2].", 9, {})
  assert_complete("list[ENV].", 11, {})
  assert_complete("ladies.ones(3, f{2}):matmul_t", 22, {"matmul_t_precise"})
  assert_complete("ladies.range(1, 2):to_tensor():col_", 32, {"col_sums"})
  assert_complete("ladies.ones(2).n_", 16, {"n_cols", "n_rows"})
  assert_complete('ladies.data.load "x":find', 22, {"find_node"})
  assert_complete('f("x"):', 8, {})
  ENV.list, ENV.ladies = nil, nil
end

function tests.test_options_complete()
  ENV.ladies = require "ladies"
  assert_complete("ladies.nn.gcn{inp", 15, {"input_dropout", "inputs"})
  assert_complete("ladies.nn.gcn{inputs = f(3, 4), outp", 33, {"outputs"})
  assert_complete("ladies.samplers.ladies(P, {samp", 28, {"samples"})
  assert_complete("ladies.train{\n  data = {x = 1},\n  sched", 35, {"schedule"})
  assert_complete("ladies.nn.gat{attention", 15, {"attention_dropout"})
  local _, names, values = complete.at("ladies.optim.adam(ps, {", ENV)
  lu.assertEquals(names, {"beta1", "beta2", "eps", "lr", "weight_decay"})
  lu.assertEquals(values.lr.name, "lr")
  -- Values are names again.
  assert_complete("ladies.nn.gcn{inputs = pri", 24, {"print", "printer"})
  assert_complete("ladies.nn.gcn(inp", 15, {})
  assert_complete("ladies.nn.gcn{x = {inp", 20, {})
  assert_complete("ladies.nn.gcn{inputs = inp", 24, {})
  ENV.ladies = nil
end

function tests.test_names_of_data_sets_and_files_complete()
  ENV.ladies = require "ladies"
  assert_complete('ladies.data.load "wordn', 19, {"wordnet"})
  assert_complete("ladies.data.load('wordn", 19, {"wordnet"})
  ENV.ladies = nil
  local folder <close> = shell.folder()
  os.execute("mkdir " .. folder.path .. "/below; touch " .. folder.path .. "/before")
  local path = folder.path .. "/be"
  assert_complete('x = io.open "' .. path, 14, {folder.path .. "/before", folder.path .. "/below/"})
  assert_complete("-- " .. path, 1, {})
end

--- Candidates are listed with the first words of their documentation.
function tests.test_candidates_with_documentation()
  local env = {ladies = require "ladies"}
  local _, shown = complete.tab("ladies.schedule.co", 80, env)
  lu.assertEquals(shown, "constant  factor 1 throughout.\n"
    .. "cosine    half a cosine from 1 to `floor` over n batches, then `floor` (Loshc...")
  lu.assertEquals({complete.tab("ladies.schedule.cosine", 80, env)},
    {"", "schedule.cosine{batches = n, floor = 0} -> function"})
  _, shown = complete.tab("ladies.nn.gcn{head", 200, env)
  lu.assertStrContains(shown, "head_dropout  before the linear layer")
end

function tests.test_columns()
  lu.assertEquals(complete.columns({"a", "b", "c", "d", "e"}, 9), "a  c  e\nb  d")
  lu.assertEquals(complete.columns({"long", "words"}, 3), "long\nwords")
end

function tests.test_tab_inserts_what_is_common_or_lists()
  rawset(_G, "some_table_for_tab", {alpha = 1, alphabet = 2})
  lu.assertEquals({complete.tab("some_ta", 80, _G)}, {"ble_for_tab"})
  lu.assertEquals({complete.tab("some_table_for_tab.al", 80, _G)}, {"pha"})
  lu.assertEquals({complete.tab("some_table_for_tab.alpha", 80, _G)}, {"", "alpha     alphabet"})
  lu.assertEquals({complete.tab("some_table_for_tab.alphabet", 80, _G)}, {"", "2"})
  lu.assertEquals({complete.tab("some_table_for_tab.z", 80, _G)}, {""})
  rawset(_G, "some_table_for_tab", nil)
end

return tests
