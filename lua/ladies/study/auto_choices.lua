--- The choices that ladies.auto tries: networks to begin with, and what is changed in the best of
-- them. A choice is a table of settings of ladies.experiment.

local configuration = require "ladies.experiment.configuration"
local models = require "ladies.experiment.models"
local options = require "ladies.base.options"
local settings = require "ladies.experiment.settings"
local tables = require "ladies.base.tables"

local choices = {}

-- The networks in the order in which they are tried, and their depths.
local NETWORKS = {"gcnii", "gcn", "sage", "mlp"}
local DEPTHS = {gcnii = {2, 5}, gcn = {2, 5}, sage = {2, 5}, mlp = {2}}
local DEFAULT_DEPTHS = {2, 5}

-- The settings with which networks are begun: as they are by default, with a sampler, which takes
-- no longer where the graph is large; those of the published results on small graphs (Kipf and
-- Welling, ICLR 2017, but for the width, and most who came after them); and those of tuned networks
-- on larger ones (Luo, Shi and Wu, NeurIPS 2024, but for the width, and a learning rate that shows
-- what a network is worth in a hundred batches).
local RECIPES = {
  {},
  {method = "full", hidden = 64, dropout = 0.5, input_dropout = 0.5, lr = 0.01,
    weight_decay = 5e-4, features = "row_normalized"},
  {method = "full", hidden = 64, dropout = 0.5, lr = 0.01, norm = true},
}

-- The settings that are changed in a choice, one at a time and in this order.
local VARIED = {
  {"weight_decay", {0, 5e-4, 5e-3}}, {"dropout", {0, 0.3, 0.5, 0.7}}, {"lr", {0.001, 0.005, 0.02}},
  {"hidden", {64, 256, 512}}, {"method", {"full", "ladies"}}, {"layers", {1, 2, 3, 5, 8}},
  {"features", {"as_given", "row_normalized", "standardized"}}, {"input_dropout", {0, 0.5}},
  {"norm", {false, true}}, {"residual", {false, true}}, {"normalize", {"sym", "row"}},
}

-- The settings that a choice always has, so that it says what it is.
local SAID = {model = true, layers = true}

-- Tells whether a network, and the optimizer that the user has set, can have a setting of a recipe.
-- Full batches are not for a network that reads no graph, nor for a user who has set a number of
-- samples; there is one decay.
local function fits(name, model, own)
  if name == "method" then return not models.by_name[model].no_graph and own.samples == nil end
  if name == "weight_decay" and own.decoupled_decay then return false end
  local one = settings.common[name]
  local entries = configuration.entries{model = model, optimizer = own.optimizer}
  return not one.of_some or settings.takes(entries[one.place], name)
end

--- choices.ways(features) -> table: the values of the setting `features` that a data set's features
-- allow, as keys: rows are divided by their sums where nothing is negative, as words and their
-- counts are; dense columns can be standardized; features that stay in a file are as given.
function choices.ways(features)
  local class, ways = options.class_of(features), {as_given = true}
  if class ~= "Tensor" and class ~= "Matrix" then return ways end
  local values = class == "Matrix" and features:entry_values() or features
  ways.row_normalized = values.n_rows > 0 and values:min() >= 0
  ways.standardized = class == "Tensor"
  return ways
end

-- Tells whether a setting may have a value, by choices.ways.
local function is_allowed(name, value, ways) return name ~= "features" or ways[value] end

-- Returns the settings of a recipe for a network that the user has not set.
local function open_of(recipe, model, own, ways)
  local open = {}
  for name, value in pairs(recipe) do
    if own[name] == nil and fits(name, model, own) and is_allowed(name, value, ways) then
      open[name] = value
    end
  end
  return open
end

--- choices.bases(own, ways) -> array: the choices to begin with, by the settings that are given (a
-- model, layers and whatever else is among these is not varied) and the ways of features.
function choices.bases(own, ways)
  local list = {}
  local layers = own.layers or type(own.samples) == "table" and #own.samples or nil
  for _, recipe in ipairs(RECIPES) do
    for _, model in ipairs(own.model and {own.model} or NETWORKS) do
      for _, depth in ipairs(layers and {layers} or DEPTHS[model] or DEFAULT_DEPTHS) do
        list[#list + 1] = tables.merged({model = model, layers = depth},
          open_of(recipe, model, own, ways))
      end
    end
  end
  return list
end

--- choices.around(choice, config, own, ways) -> array: the choices that differ from one in a single
-- setting that the user has not given; config: the configuration of that choice.
function choices.around(choice, config, own, ways)
  local list = {}
  for _, one in ipairs(VARIED) do
    local name, values = table.unpack(one)
    local is_open = own[name] == nil and fits(name, config.model or "gcn", own)
      and not (name == "layers" and type(own.samples) == "table")
    for _, value in ipairs(is_open and values or {}) do
      local now = config[name]
      if value ~= now and is_allowed(name, value, ways)
        and not (now == nil and (value == 0 or value == false)) then
        list[#list + 1] = tables.merged(choice, {[name] = value})
      end
    end
  end
  return list
end

--- choices.text(choice): what it is called.
function choices.text(choice)
  local words, rest = {}, {}
  for name, value in pairs(choice) do
    local list = SAID[name] and words or rest
    list[name] = value
  end
  local text, more = settings.text(words), settings.text(rest)
  return more ~= "" and ("%s, %s"):format(text, more) or text
end

return choices
