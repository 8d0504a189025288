--- The signature in a docstring is the declaration: arguments beyond it are errors.
local lu = require "luaunit"
local ladies = require "ladies"
local core = require "ladies_core"

local tests = {}

local function message_of(f, ...)
  local ok, message = pcall(f, ...)
  lu.assertFalse(ok, "an error expected")
  return message
end

local function fails(text, f, ...)
  lu.assertStrContains(message_of(f, ...), text)
end

-- The number of parameters in a docstring's signature, a table of options being one, and whether an
-- object comes before them; nil for any number.
local function declared(doc)
  local name, list = doc:match "^([%w_.:]+)(%b())"
  if not name then
    return assert(doc:match "^[%w_.:]+%b{}", doc) and 1
  end
  list = list:sub(2, -2):gsub("%b{}", "options"):gsub('".-"', "word"):gsub("[%[%]%s]", "")
  if list:find("...", 1, true) then return nil end
  local n = list == "" and 0 or select(2, list:gsub(",", "")) + 1
  return n, name:find(":", 1, true) ~= nil
end

function tests.test_every_function_refuses_one_argument_more()
  local checked = 0
  for f, doc in pairs(core.docs) do
    local most, of_object = declared(doc)
    if most then
      local given = {}
      for i = 1, most + 1 + (of_object and 1 or 0) do given[i] = false end
      local expected = "takes at most %d argument%s, got %d"
      expected = expected:format(most, most == 1 and "" or "s", most + 1)
      fails(most == 0 and "takes no arguments, got 1" or expected, f, table.unpack(given))
      checked = checked + 1
    end
  end
  lu.assertTrue(checked > 200)
end

function tests.test_the_message_has_the_signature()
  fails("ladies.ones(n_rows [, n_cols]) takes at most 2 arguments, got 3", ladies.ones, 2, 3, 4)
  fails("x:relu() takes no arguments, got 1", ladies.ones(2).relu, ladies.ones(2), 1)
  fails("ladies.optim.sgd(parameters [, {lr = 0.01, momentum = 0, weight_decay = 0}]) takes at most",
    ladies.optim.sgd, {}, {}, 1)
  fails("eps = 1e-8, weight_decay = 0}]) takes at most 2 arguments", ladies.optim.adam, {}, {}, 1)
  fails("rows=Index, cols=Index [, values=Tensor]} takes at most 1 argument, got 2", ladies.matrix,
    {}, 1)
end

function tests.test_the_callers_line_is_blamed()
  local line = debug.getinfo(1, "l").currentline + 1
  local message = message_of(function() ladies.ones(2, 3, 4) end)
  lu.assertStrContains(message, ("test_arguments.lua:%d: ladies.ones"):format(line))
end

--- nil is no argument, in the signature or behind it.
function tests.test_nil_says_nothing()
  lu.assertEquals(tostring(ladies.ones(2, nil, nil, nil)), "Tensor 2: 1 1")
  lu.assertEquals(ladies.ones(2):relu(nil):to_table(), {1, 1})
  fails("takes at most 2 arguments, got 4", ladies.ones, 2, nil, nil, 4)
end

function tests.test_any_number_where_the_signature_says_so()
  lu.assertEquals(select("#", ladies.no_grad(function(...) return ... end, 1, nil, 3, nil)), 4)
end

function tests.test_options_are_in_the_table_itself()
  local options = setmetatable({}, {__index = {record = false}})
  fails("step: options must be in the table itself, not behind __index", ladies.step, options)
end

os.exit(lu.LuaUnit.new():runSuiteByInstances{{"arguments", tests}}, true)
