--- Averages a model's weights over the steps of training, since the averages are often better than
-- the last weights.
--
--   ema:D    a <- D a + (1 - D) w at every step: an exponential moving average
--   swa:N    the mean of the weights after every step from step N on (Izmailov, Podoprikhin,
--            Garipov, Vetrov and Wilson, "Averaging Weights Leads to Wider Optima and Better
--            Generalization", UAI 2018)
--
-- Averaged are the parameters that are trained. Buffers, such as the means that batch normalisation
-- keeps, stay those of the last weights.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local module = require "ladies.nn.module"
local of_class = require("ladies.base.fields").of_class
local options = require "ladies.base.options"

local Average = {__name = "ladies.Average"}
Average.__index = Average
of_class(Average, "decay:number from:integer named:table copies:table count:integer steps:integer")

-- Parses a text such as "ema:0.99" to its kind and its number.
local function read(text)
  local kind, value = text:match "^(%l+):(.+)$"
  local number = tonumber(value)
  if kind == "ema" and number and number >= 0 and number < 1 then return {decay = number} end
  local from = kind == "swa" and math.tointeger(number)
  if from and from >= 1 then return {from = from} end
  errors.fail(('ladies.optim.average: an average is "ema:DECAY", with a decay from 0 to less than '
    .. '1, or "swa:STEP", with the step from which on it is taken, got %q'):format(text))
end

--- ladies.optim.average(model: table, how: string) -> Average: an average of the parameters of a
-- model that are trained. how is "ema:DECAY", such as "ema:0.999", or "swa:STEP". A loop calls
-- average:update() after each step of the optimizer; average:swap() before and after a validation
-- by the averaged weights; state and load_state are for its checkpoints. The option `average` of
-- ladies.train does all of it.
function Average.new(model, how)
  options.value("ladies.optim.average", "the model", model, "table")
  options.value("ladies.optim.average", "how", how, "string")
  local average = setmetatable(read(how), Average)
  average.named, average.copies, average.count, average.steps = {}, {}, 0, 0
  for _, one in ipairs(module.named_parameters(model)) do
    if one.tensor.requires_grad then
      table.insert(average.named, one)
      average.copies[one.name] = one.tensor:detach():clone()
    end
  end
  return average
end

-- Returns the share that the present weights get in the average.
local function share(self)
  if self.count == 0 then return 1 end
  return self.decay and 1 - self.decay or 1 / (self.count + 1)
end

--- average:update(): adds the weights after a step to the average.
function Average:update()
  self.steps = self.steps + 1
  if self.from and self.steps < self.from then return end
  local part = share(self)
  core.no_grad(function()
    for _, one in ipairs(self.named) do
      local copy = self.copies[one.name]
      copy:copy_(part == 1 and one.tensor or copy * (1 - part) + one.tensor * part)
    end
  end)
  self.count = self.count + 1
end

--- average:swap(): exchanges the average and the weights; before there is an average it does
-- nothing.
function Average:swap()
  if self.count == 0 then return end
  for _, one in ipairs(self.named) do
    local copy, now = self.copies[one.name], one.tensor:detach():clone()
    one.tensor:copy_(copy)
    copy:copy_(now)
  end
end

--- average:state() -> table: returns the average and its counter, for a checkpoint.
function Average:state()
  return {count = self.count, steps = self.steps, copies = self.copies}
end

--- average:load_state(state: table): takes over what state() gave.
function Average:load_state(state)
  state = options.check("average:load_state", state,
    {count = "non-negative integer", steps = "non-negative integer", copies = "table"})
  for _, one in ipairs(self.named) do
    options.value("average:load_state", one.name, state.copies[one.name], "Tensor")
  end
  self.count, self.steps = state.count, state.steps
  for _, one in ipairs(self.named) do
    self.copies[one.name]:copy_(state.copies[one.name])
  end
end

return Average
