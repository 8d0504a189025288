--- The defaults of functions and commands, and the settings of presets: fixtures/defaults.txt has
-- them all, a line each. One that changes there was meant to change.
local here = os.getenv "LADIES_SOURCE" .. "/tests"

local lu = require "luaunit"
require("ladies.base.machine").cores = 2      -- as where the fixture was written
local ladies = require "ladies"
local declared = require "reference.defaults"
local methods = require "ladies.experiment.methods"
local tables = require "ladies.base.tables"

local tests = {}

-- "key=value key=value" of a table, keys in order.
local function text_of(t)
  local list = {}
  for key, value in pairs(t) do list[#list + 1] = ("%s=%s"):format(key, value) end
  table.sort(list)
  return table.concat(list, " ")
end

local written = {}         -- line by name
for line in io.lines(here .. "/fixtures/defaults.txt") do
  local name, text = line:match "^(.-): (.*)$"
  written[name] = text
end

local function assert_written(name, text)
  lu.assertEquals(written[name], text, name)
  written[name] = nil
end

function tests.test_defaults()
  for name, text in pairs(declared) do assert_written(name, text) end
  for _, preset in ipairs{"default", "paper", "code"} do
    for _, method in ipairs(tables.sorted_keys(methods.by_name)) do
      local model = methods.by_name[method].no_graph and "mlp" or nil
      local config = ladies.experiment.configure{method = method, preset = preset, model = model}
      assert_written(("preset %s, %s"):format(preset, method), text_of(config))
    end
  end
  lu.assertEquals(written, {})
end

return tests
