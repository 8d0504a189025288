--- Every public function and method refuses an argument of another type than its documentation
-- says, by one line which tells what it got there.
local lu = require "luaunit"
local ladies = require "ladies"
local signature = require "ladies.command.reference.signature"
local temporary = require "reference.temporary"
local topics = require "ladies.command.reference.topics"
local toy = require "reference.toy_data"
local types = require "ladies.command.reference.types"

local tests = {}

local nn, data, rng = ladies.nn, toy.new(), ladies.rng(1)
local VALID = {
  Tensor = ladies.ones(3), Index = ladies.index{1, 2}, Matrix = data.graph.adjacency,
  Graph = data.graph, Dataset = data, Rng = rng, MiniBatch = {blocks = {}},
  Optimizer = ladies.optim.sgd{ladies.ones(3):requires_grad_()},
  Linear = nn.linear{inputs = 3, outputs = 2, rng = rng}, LayerNorm = nn.layer_norm{width = 3},
  Dropout = nn.dropout{p = 0.5},
  integer = 1, number = 1, string = temporary.path "a", table = {}, boolean = true, any = 1,
  ["function"] = function() end,
}
local WRONG = io.stdout -- of a type that nothing takes

local LEFT_OUT = {
  -- They tell of errors, or serve modules that have checked what they give.
  "^ladies%.errors%.", "^ladies%.options%.", "^ladies%.experiment%.", "^ladies%.run_folder$",
  "^GcnConv%.transform_is_cheaper$", "^ladies%.loss%.of$", "^ladies%.task%.new$",
  -- They look for any value, which need not be there.
  "^Dataset:find_node$", "^Graph:name_of$",
  -- They refuse something else first, which the values above are.
  "^ladies%.data%.load$", "^ladies%.inference%.", "^ladies%.lab$", "^ladies%.metrics%.f1$",
  "^ladies%.metrics%.predictions$", "^ladies%.plot%.files$", "^ladies%.projection%.",
  "^ladies%.sampling%.choice$", "^ladies%.sampling%.layerwise$", "^ladies%.sampling%.poisson$",
  "^ladies%.task%.%l+_regression$",
}

local function is_left_out(name)
  for _, pattern in ipairs(LEFT_OUT) do
    if name:find(pattern) then return true end
  end
  return name:find "^experiments%." ~= nil
end

-- Returns a value of one of the types of a text such as "ladies.Tensor|number", or nil.
local function valid_for(type_text)
  for one in type_text:gmatch "[^|?]+" do
    local value = VALID[one:match "^ladies%.(%w+)$" or one] or one:match '^"(.*)"$'
    if value then return value end
  end
end

-- Returns arguments that have the types of a function's parameters, {value or nil, n =}, the object
-- of a method first, and these types.
local function arguments_of(entry)
  local arguments, type_texts = {n = 0}, {}
  local function add(type_text)
    arguments.n = arguments.n + 1
    arguments[arguments.n], type_texts[arguments.n] = valid_for(type_text), type_text
  end
  if entry.is_method then add(entry.name:match "^(%w+):") end
  for _, parameter in ipairs(signature.of(entry.value, entry.is_method).parameters) do
    add(parameter.is_options and "table" or types.of_parameter(parameter) or "any")
  end
  return arguments, type_texts
end

-- Calls a function with a wrong value in the place of each argument whose forerunners are valid.
-- Returns how many places there were. Whatever is neither nil nor false is true.
local function check(entry)
  local arguments, type_texts = arguments_of(entry)
  local count = 0
  for i = 1, arguments.n do
    local is_checked = not (entry.is_method and i == 1 or type_texts[i]:find "any"
      or type_texts[i] == "boolean")
    if is_checked then
      local valid = arguments[i]
      arguments[i] = WRONG
      local ok, e = pcall(entry.value, table.unpack(arguments, 1, arguments.n))
      arguments[i] = valid
      local told = tostring(e):gsub("FILE%*", "userdata"):gsub("file %(0x%x+%)", "userdata")
      local place = ("%s, argument %d"):format(entry.name, i)
      lu.assertFalse(ok, place)
      lu.assertStrContains(told, "userdata", false, place)
      lu.assertNotStrContains(told, "attempt to", false, place)
      lu.assertNotStrContains(told, "\n", false, place)
      count = count + 1
    end
    if arguments[i] == nil then break end
  end
  return count
end

function tests.test_wrong_arguments()
  local count = 0
  for _, topic in ipairs(topics()) do
    for _, section in ipairs(topic.sections) do
      for _, entry in ipairs(section.entries) do
        if not is_left_out(entry.name) then count = count + check(entry) end
      end
    end
  end
  lu.assertTrue(count > 600, count)
end

return tests
