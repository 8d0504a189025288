--- `ladies reference --annotations`: Lua that loads, in which every public function stands with its
-- documentation and every parameter, option and field with a type that there is.
local lu = require "luaunit"
local annotations = require "ladies.command.reference.annotations"
local core = require "ladies_core"
local files = require "tools.files"
local help = require "ladies.prompt.help"
local ladies = require "ladies"
local options = require "ladies.base.options"
local shell = require "tools.shell"
local signature = require "ladies.command.reference.signature"
local topics = require "ladies.command.reference.topics"
local types = require "ladies.command.reference.types"

local tests = {}
local text, untyped = annotations()

-- Calls f(entry) for every function of the library; returns how many there are.
local function each(f)
  local count = 0
  for _, topic in ipairs(topics()) do
    for _, section in ipairs(topic.sections) do
      for _, entry in ipairs(section.entries) do
        if not entry.name:find "^experiments%." then
          count = count + 1
          f(entry)
        end
      end
    end
  end
  return count
end

function tests.test_command()
  local out = shell.succeeded(shell.run_ladies{"reference", "--annotations"})
  lu.assertTrue(out == text)
end

--- The file is Lua and defines what the library has.
function tests.test_it_loads()
  local library = assert(load(text, "=annotations", "t", {}))()
  lu.assertIsFunction(library.nn.gcn)
  lu.assertIsFunction(library.samplers.ladies)
  lu.assertIsFunction(library.schedule.cosine)
end

function tests.test_everything_has_a_type()
  lu.assertEquals(untyped, {})
end

--- Functions stand there once, and their parameters have one type each.
function tests.test_every_function_is_annotated()
  local blocks = {}
  for block in (text .. "\n"):gmatch "(.-)\n\n" do
    local name, names = block:match "\nfunction ([%w_.:]+)%(([^\n]*)%) end$"
    if name then
      lu.assertNil(blocks[name], name)
      blocks[name] = block
      for parameter in names:gmatch "[^%s,]+" do
        local pattern = "\n%-%-%-@param " .. parameter:gsub("%.", "%%.") .. "%?? %S"
        local _, typed = block:gsub(pattern, "")
        lu.assertEquals(typed, 1, ("%s: %s"):format(name, parameter))
      end
    end
  end
  local count = each(function(entry)
    lu.assertNotNil(blocks[entry.name], entry.name)
    local first = help.documentation(entry.value):match "^[^\n]*"
    lu.assertStrContains("\n" .. blocks[entry.name], "\n---" .. first)
  end)
  lu.assertTrue(count > 350)
end

-- The types of the results of every function, by its name.
local function annotated()
  local found, list = {}, {}
  for line in text:gmatch "[^\n]+" do
    list[#list + 1] = line:match "^%-%-%-@return (.*)$"
    local name = line:match "^function ([%w_.:]+)"
    if name then found[name], list = list, {} end
  end
  return found
end

--- A type is one of Lua's, a word in quotes, a function, or a class that the file declares.
function tests.test_types_exist()
  local known = {}
  for name in ("any integer number string boolean table function nil ..."):gmatch "%S+" do
    known[name] = true
  end
  for name in text:gmatch "\n%-%-%-@[ca]l[ai]%l+ ([%w_.]+)" do known[name] = true end
  local function check(type_text, line)
    local arguments, result = type_text:match "^fun(%b()):? ?(.*)$"
    if arguments then
      for one in arguments:gmatch ":%s*([^,)]+)" do check(one, line) end
      return result == "" or check(result, line)
    end
    for one in type_text:gsub("[()%[%]?]", ""):gsub(" %.%.%.$", ""):gmatch "[^|]+" do
      lu.assertTrue(known[one] or one:find '^"[^"]*"$' ~= nil, line)
    end
  end
  local count = 0
  for line in text:gmatch "[^\n]+" do
    local found = line:match "^%-%-%-@param %S+ (.*)$" or line:match "^%-%-%-@return (.*)$"
      or line:match "^%-%-%-@field %[?[%w_]+%]?%?? (.*)$" or line:match "^%-%-%-@alias %S+ (.*)$"
    if found then
      count = count + 1
      check(found, line)
    end
  end
  lu.assertTrue(count > 1000)
end

--- A function in Lua whose code ends in a result says in its signature what that is.
function tests.test_what_is_returned_is_said()
  local count = 0
  each(function(entry)
    local info = debug.getinfo(entry.value, "S")
    if info.what == "C" then return end
    local lines = files.lines(info.source:sub(2))
    local first, last = lines[info.linedefined], lines[info.lastlinedefined - 1]
    local returns = first:find "%f[%w]return .* end"
      or last:find("^" .. first:match "^%s*" .. "  return ")
    if returns then
      count = count + 1
      local form = signature.of(entry.value, entry.is_method)
      lu.assertNotEquals(form.results, {}, entry.name .. ' returns something: write "-> TYPE" ' ..
        "behind the brackets of the signature in its docstring")
    end
  end)
  lu.assertTrue(count > 100, count)
end

--- sampling.unsaid(P, thing, ids: Indx, {colour =, width = 2}) -> Tensor, stuff: says too little.
local function unsaid() end

--- Says nothing of how it is called.
local function unwritten(thing) return thing end

--- A function that says too little is told what to write.
function tests.test_complaints()
  local sampling = ladies.sampling
  sampling.unsaid, sampling.unwritten = unsaid, unwritten
  local _, found = annotations()
  sampling.unsaid, sampling.unwritten = nil, nil
  local shown = {}
  for i, complaint in ipairs(found) do
    shown[i] = complaint:gsub("ladies%.sampling%.(%l+) %(test_annotations%.lua:%d+%)", string.upper)
  end
  lu.assertEquals(shown, {
    'UNSAID: what is parameter "thing"? Write "thing: TYPE" into the ' ..
      "signature in its docstring, or give it a name that types.GLOSSARY has",
    'UNSAID: ids is a "Indx", which is no type',
    'UNSAID: what is option "colour"? Write "colour = TYPE", or its default, ' ..
      "into the braces of the signature in its docstring",
    'UNSAID: what is "stuff"? Behind the arrow of a signature stand types, or ' ..
      "names that types.GLOSSARY has, and then (in Lua) a colon",
    "UNWRITTEN: begin its docstring with its signature, as in " ..
      '"ladies.f(P, ids: Index | integer[] [, {width = 2}]) -> Tensor: what it does"',
    'UNWRITTEN: what is parameter "thing"? Write "thing: TYPE" into the ' ..
      "signature in its docstring, or give it a name that types.GLOSSARY has",
  })
end

--- ladies.f(P, ids: Index | integer[] [, width: integer = 2, rest = 0.5], "a,b" | "c" [,
-- {rng = Rng, by = "x"}]) -> Tensor, t [, string | nil]: what it does.
local function said() end

--- A signature is parsed into parameters, options and results, part by part.
function tests.test_parts_of_a_signature()
  local form = signature.of(said, false)
  local list = {}
  for i, one in ipairs(form.parameters) do
    list[i] = {one.name, one.is_options and "options" or types.of_parameter(one),
      one.optional and "optional" or nil}
  end
  lu.assertEquals(list, {
    {"P", "ladies.Matrix"}, {"ids", "ladies.Index|integer[]"}, {"width", "integer", "optional"},
    {"rest", "number", "optional"}, {"value", '"a,b"|"c"'}, {"opts", "options", "optional"},
  })
  lu.assertEquals(form.parameters[6].defaults, {rng = "Rng", by = '"x"'})
  lu.assertEquals(types.of_result(form.results[1]), "ladies.Tensor")
  lu.assertEquals(types.of_result(form.results[2]), "ladies.Tensor")
  lu.assertEquals(types.of_result(form.results[3]), "string?")
  lu.assertNil(form.results[4])
end

-- Tells whether a value is of a type of the file.
local function is_of(value, type_text)
  if type_text == "any" then return true end
  if type_text:sub(-1) == "?" then return value == nil or is_of(value, type_text:sub(1, -2)) end
  if type_text:find("|", 1, true) then
    for one in type_text:gmatch "[^|]+" do
      if is_of(value, one) then return true end
    end
    return false
  end
  local element = type_text:match "^(.*)%[%]$"
  if element then return type(value) == "table" and (#value == 0 or is_of(value[1], element)) end
  local class = type_text:match "^ladies%.(%w+)$"
  if class == "Sampler" or class == "Batches" or type_text == "function" then
    return type(value) == "function" or getmetatable(value).__call ~= nil
  end
  local shape = ({Model = "forward", Module = "forward", MiniBatch = "blocks", Block = "adj",
    Named = "tensor"})[class]
  if shape then return value[shape] ~= nil end
  return class and options.class_of(value) == class or math.type(value) == type_text
    or type(value) == type_text
end

-- Functions and what they are called with; the object comes first.
local function calls()
  local data = ladies.data.load "wordnet"
  local P = data.graph:normalize "sym"
  local few, rng = ladies.range(1, 10), ladies.rng(1)
  local small = ladies.sparse(ladies.tensor{{0, 1}, {1, 0}})
  local model = ladies.nn.gcn{inputs = 2, outputs = 3, layers = 2, hidden = 4}
  local x = ladies.ones(2, 2)
  local options_of = {samples = {4, 4}}
  return {
    {"Dataset:describe", data}, {"Dataset:facts", data}, {"Dataset:find_node", data, "dog.n"},
    {"Dataset:find_node", data, "no such node"}, {"Gcn:named_parameters", model},
    {"Gcn:parameters", model}, {"Gcn:layer", model, 1, x, {adj = small}},
    {"Graph:components", data.graph}, {"Graph:degrees", data.graph},
    {"Graph:is_symmetric", data.graph}, {"Graph:n_isolated", data.graph},
    {"Graph:name_of", data.graph, P}, {"Graph:normalize", data.graph, "row"},
    {"Index:group", few, 10}, {"Index:max", few}, {"Index:to_table", few}, {"Matrix:slice", P, few},
    {"Matrix:components", small}, {"Matrix:draw_cols", P, few, 4, {rng = rng}},
    {"Rng:uniform", rng}, {"Rng:below", rng, 3}, {"Tensor:argmax", x}, {"Tensor:hash", x},
    {"Tensor:is_finite", x}, {"Tensor:is_finite", ladies.full(2, 2, 1 / 0)}, {"Tensor:max", x},
    {"Tensor:max", x, 1}, {"Tensor:sum", x}, {"Tensor:topk", ladies.ones(3), 2},
    {"ladies.batches", few, {sampler = ladies.samplers.full(P, {layers = 1}), batch_size = 5}},
    {"ladies.data.names"}, {"ladies.data.class_split", data},
    {"ladies.data.split", data, "10/10/80"},
    {"ladies.early_stopping"}, {"ladies.errors.message", "x"}, {"ladies.errors.try", print},
    {"ladies.experiment.configure", {}}, {"ladies.gradcheck", x.square, {x}}, {"ladies.home"},
    {"ladies.help_text", x}, {"ladies.loss.of", data.labels}, {"ladies.memory"},
    {"ladies.metrics.accuracy", few, few}, {"ladies.metrics.confusion", few, few, 10},
    {"ladies.metrics.macro_f1", few, few}, {"ladies.nn.activation", "relu"},
    {"ladies.nn.gat", {inputs = 2, outputs = 2}}, {"ladies.nn.mlp", {inputs = 2, outputs = 2}},
    {"ladies.nn.gat_conv", {inputs = 2, outputs = 8, rng = rng}}, {"ladies.nn.own_rows", x,
      {src = ladies.index{1, 2}, dst = ladies.index{1}}}, {"ladies.nn.parameters", model},
    {"ladies.nn.size", model}, {"ladies.npz.int64", {1}}, {"ladies.optim.adam", model:parameters()},
    {"ladies.options.class_of", x}, {"ladies.options.nearest", "x", {"y"}},
    {"ladies.partition.of", P, 2, {by = "random"}}, {"ladies.plot.available"},
    {"ladies.sampling.alias", ladies.ones(3)}, {"ladies.sampling.choice", ladies.ones(5), 2,
      {rng = rng}}, {"ladies.sampling.uniform", 9, 3, {rng = rng}}, {"ladies.samplers.ladies", P,
      options_of}, {"ladies.samplers.graphsage", P, options_of}, {"ladies.samplers.labor", P,
      options_of}, {"ladies.schedule.cosine", {batches = 9}}, {"ladies.schedule.plateau"},
    {"ladies.show", x}, {"ladies.show", "text"}, {"ladies.summary", {}}, {"ladies.timer"},
    {"ladies.threads"}, {"ladies.process.exists", "sh"}, {"ladies.zip.sha256", shell.ladies},
  }
end

function tests.test_functions_return_what_is_said()
  local found = annotated()
  for _, call in ipairs(calls()) do
    local name = call[1]
    local list = found[name]
    local got = table.pack(help.find(name)(table.unpack(call, 2)))
    lu.assertTrue(got.n <= #list, name)
    for i, type_text in ipairs(list) do
      lu.assertTrue(is_of(got[i], (type_text:gsub(" %.%.%.$", ""))),
        ("%s: result %d is %s, not %s"):format(name, i, tostring(got[i]), type_text))
    end
  end
end

-- Returns how many arguments the code of a Lua function takes at most; nil where it takes any
-- number, and for functions in C, for which the signature counts.
local function most_of_code(f, is_method)
  local info = debug.getinfo(f, "u")
  if core.docs[f] or info.isvararg then return nil end
  return info.nparams - (is_method and 1 or 0)
end

--- The signature in a docstring of Lua has as many parameters as the code.
function tests.test_signatures_are_those_of_the_code()
  each(function(entry)
    local form = signature.of(entry.value, entry.is_method)
    local most = most_of_code(entry.value, entry.is_method)
    if most then lu.assertEquals(#form.parameters, most, entry.name) end
  end)
end

function tests.test_operators_and_elements()
  lu.assertStrContains(text, "---@operator add(ladies.Tensor|number): ladies.Tensor\n")
  lu.assertStrContains(text, "---@operator len: integer\n")
  lu.assertStrContains(text, "---@field [integer] number|ladies.Tensor\n")
  lu.assertStrContains(text, "---@operator concat(ladies.Index): ladies.Index\n")
end

--- Some types are known: from a spec, from a signature, from a name.
function tests.test_known_types()
  local function has(class, line)
    local body = text:match("\n%-%-%-@class " .. class:gsub("%p", "%%%0") .. "\n(.-)\n\n")
    lu.assertStrContains(body .. "\n", "---@field " .. line .. "\n")
  end
  has("ladies.samplers.ladies.opts", 'draw? "wor"|"wr"|"poisson"|"systematic"|"pivotal"|"sampford"')
  has("ladies.nn.gcn.opts", "inputs integer")
  has("ladies.batches.opts", "shuffle? boolean")
  has("ladies.optim.adam.opts", "lr? number")
  has("ladies.Dataset", "train? ladies.Index")
  lu.assertStrContains(text, "---@param rng ladies.Rng\n")
end

return tests
