--- `ladies reference --annotations`: Lua that loads, in which every public function stands with its
-- documentation and every parameter, option and field with a type that there is.
local lu = require "luaunit"
local annotations = require "ladies.command.reference.annotations"
local help = require "ladies.prompt.help"
local shell = require "tools.shell"
local signature = require "ladies.command.reference.signature"
local topics = require "ladies.command.reference.topics"

local tests = {}
local text, untyped = annotations()

-- Calls f(entry) for every function of the library; returns how many there are.
local function each(f)
  local count = 0
  for _, topic in ipairs(topics()) do
    for _, section in ipairs(topic.sections) do
      for _, entry in ipairs(section.entries) do
        if not entry.name:find "^ladies_" then
          count = count + 1
          f(entry)
        end
      end
    end
  end
  return count
end

function tests.test_command()
  local out, err, status = shell.run_ladies{"reference", "--annotations"}
  lu.assertEquals(status, 0, err)
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

--- Each stands there once, and each of its parameters has one type.
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

--- A type is one of Lua's, a word in quotes, or a class that the file declares.
function tests.test_types_exist()
  local known = {}
  for name in ("any integer number string boolean table function nil"):gmatch "%S+" do
    known[name] = true
  end
  for name in text:gmatch "\n%-%-%-@class (%S+)" do known[name] = true end
  local function check(type_text, line)
    for one in type_text:gsub("[()%[%]?]", ""):gmatch "[^|]+" do
      lu.assertTrue(known[one] or one:find '^"[^"]*"$' ~= nil, line)
    end
  end
  local count = 0
  for line in text:gmatch "[^\n]+" do
    local found = line:match "^%-%-%-@param %S+ (.*)$" or line:match "^%-%-%-@return (.*)$"
      or line:match "^%-%-%-@field %[?[%w_]+%]?%?? (.*)$"
    if found then
      count = count + 1
      check(found, line)
    end
  end
  lu.assertTrue(count > 1000)
end

--- The signature in a docstring of Lua has as many parameters as the code.
function tests.test_signatures_are_those_of_the_code()
  each(function(entry)
    local form = signature.of(entry.value, entry.is_method)
    local most = signature.most_of_code(entry.value, entry.is_method)
    if most then lu.assertEquals(#form.parameters, most, entry.name) end
  end)
end

function tests.test_operators_and_elements()
  lu.assertStrContains(text, "---@operator add(ladies.Tensor|number): ladies.Tensor\n")
  lu.assertStrContains(text, "---@operator len: integer\n")
  lu.assertStrContains(text, "---@field [integer] number|ladies.Tensor\n")
  lu.assertStrContains(text, "---@operator concat(ladies.Index): ladies.Index\n")
end

--- Some that are known: from a spec, from a signature, from a name.
function tests.test_known_types()
  local function has(class, line)
    local body = text:match("\n%-%-%-@class " .. class:gsub("%p", "%%%0") .. "\n(.-)\n\n")
    lu.assertStrContains(body .. "\n", "---@field " .. line .. "\n")
  end
  has("ladies.samplers.ladies.opts", 'draw? "wor"|"wr"|"poisson"')
  has("ladies.nn.gcn.opts", "inputs integer")
  has("ladies.batches.opts", "shuffle? boolean")
  has("ladies.optim.adam.opts", "lr? number")
  has("ladies.Dataset", "train? ladies.Index")
  lu.assertStrContains(text, "---@param rng ladies.Rng\n")
end

return tests
