--- Measures where the time of a run's batches goes, by layer and by primitive, for `ladies train
-- --profile`.
--
-- Every other batch is made under a hook that sees the primitives (see
-- ladies.base.primitive_calls). The time of such a batch that is not spent in primitives is that of
-- Lua and of the hook; the time of a batch without the hook is shown beside it. Backward is
-- measured operation by operation; each belongs to the layer and to the primitive that recorded it.
-- The first batches, which fill caches, are left out as soon as there are others.

local core = require "ladies_core"
local InputRows = require "ladies.nn.input_rows"
local primitive_calls = require "ladies.base.primitive_calls"
local Table = require "ladies.report.table"
local units = require "ladies.base.units"

local WARM_UP = 2

-- The names of the parts of a batch other than its layers.
local SAMPLING, FEATURES, LOSS, UPDATE = "sampling", "features", "loss", "update"

local Profile = {__name = "Profile"}
Profile.__index = Profile

-- Returns the sums of a profile, which are zero: batches and seconds of the traced batches and of
-- the plain ones, and times of the traced ones by part and by primitive. The part of the features
-- is there from the beginning, since it may take no time.
local function no_sums()
  return {traced = {batches = 0, seconds = 0}, plain = {batches = 0, seconds = 0},
    parts = {[FEATURES] = {forward = 0, backward = 0, calls = 0}}, primitives = {}}
end

--- Makes a profile of the batches of a run with this model. It can tell layers apart if the model's
-- forward calls model:layer(i, ...), as those of this library do.
function Profile.new(model)
  return setmetatable({model = model, number = 0, layers = 0, sums = no_sums()}, Profile)
end

--- Begins the next batch.
function Profile:begin()
  self.number = self.number + 1
  self.is_traced = self.number % 2 == 0
  if self.number == WARM_UP + 1 then self.sums = no_sums() end
  self.whole = self.is_traced and self.sums.traced or self.sums.plain
  self.whole.batches = self.whole.batches + 1
end

-- Adds to the sums {forward =, backward =, calls =} of a name.
local function add(list, name, direction, seconds)
  local sum = list[name] or {forward = 0, backward = 0, calls = 0}
  list[name] = sum
  sum[direction] = sum[direction] + seconds
  if direction == "forward" then sum.calls = sum.calls + 1 end
end

function Profile:add(part, name, direction, seconds)
  add(self.sums.parts, part, direction, seconds)
  add(self.sums.primitives, name, direction, seconds)
end

-- Records a call of a primitive, and the operations that the call has recorded for backward.
function Profile:saw(name, seconds)
  if name == "Tensor:backward" then
    self.of_backward = seconds
    return
  end
  self:add(self.part, name, "forward", seconds)
  local recorded = self.recorded
  for i = #recorded + 1, self.step and #self.step or 0 do
    recorded[i] = {part = self.part, name = name}
  end
end

--- Is told of the step (gradient tape) that is opened for the current batch.
function Profile:opened(step)
  self.step, self.part = step, FEATURES
end

--- Is told that backward has run in that step.
function Profile:went_back()
  if not self.is_traced then return end
  local rest = self.of_backward
  for i, seconds in ipairs(self.step:seconds()) do
    self:add(self.recorded[i].part, self.recorded[i].name, "backward", seconds)
    rest = rest - seconds
  end
  self:add(LOSS, "Tensor:backward", "backward", rest)
  self.part = UPDATE
end

-- Calls f(...) with model:layer wrapped so that the profile knows which layer is running; returns
-- its results.
local function within_layers(self, f, ...)
  local model, layer = self.model, self.model.layer
  if not layer then return f(...) end
  local own = rawget(model, "layer")
  local function left(...)
    self.part = LOSS
    return ...
  end
  local _ <close> = setmetatable({}, {__close = function() rawset(model, "layer", own) end})
  local function told(this, i, ...)
    self.part, self.layers = "layer " .. i, math.max(self.layers, i)
    return left(layer(this, i, ...))
  end
  InputRows.taken_by[told] = InputRows.taken_by[layer]
  rawset(model, "layer", told)
  return f(...)
end

--- Calls f(...), a part of the current batch, and measures it; returns its results.
function Profile:measure(f, ...)
  local began = core.clock()
  local function ended(...)
    self.whole.seconds = self.whole.seconds + core.clock() - began
    return ...
  end
  if not self.is_traced then return ended(f(...)) end
  self.part, self.recorded, self.step = SAMPLING, {}, nil
  return ended(primitive_calls.each(function(...) self:saw(...) end, within_layers, self, f, ...))
end

-- ---------------------------------------------------------------- what comes of it

-- Returns the sums of a name as milliseconds per batch.
local function row_of(list, name, batches)
  local sum, ms = list[name], 1e3 / batches
  return {name = name, calls = sum.calls / batches, forward = ms * sum.forward,
    backward = ms * sum.backward}
end

--- Returns the results of the profile as plain data: {batches = that were traced, ms = of a whole
-- one, plain_ms = of one that was not, lua = Lua's own part and the hook's, parts =, primitives =
-- arrays of {name =, calls =, forward =, backward =}}, calls and milliseconds a batch; primitives
-- come with the longest first. nil where there are too few batches.
function Profile:result()
  local sums = self.sums
  local traced, plain = sums.traced.batches, sums.plain.batches
  if traced == 0 or plain == 0 then return nil end
  local found = {batches = traced, ms = 1e3 * sums.traced.seconds / traced,
    plain_ms = 1e3 * sums.plain.seconds / plain, parts = {}, primitives = {}}
  local order = {SAMPLING, FEATURES}
  for i = 1, self.layers do order[#order + 1] = "layer " .. i end
  order[#order + 1], order[#order + 2] = LOSS, UPDATE
  found.lua = found.ms
  for _, name in ipairs(order) do
    if sums.parts[name] then
      local row = row_of(sums.parts, name, traced)
      table.insert(found.parts, row)
      found.lua = found.lua - row.forward - row.backward
    end
  end
  for name in pairs(sums.primitives) do
    table.insert(found.primitives, row_of(sums.primitives, name, traced))
  end
  table.sort(found.primitives, function(a, b)
    local x, y = a.forward + a.backward, b.forward + b.backward
    if x ~= y then return x > y end
    return a.name < b.name
  end)
  return found
end

local function ms(x) return Table.number(x, "%.3f") end

-- Makes a table of some rows, with a last row for the remaining time, which is Lua's own.
local function table_of(head, rows, found)
  local content = Table.new{head, "calls", "forward ms", "backward ms", "% of a batch"}
  for _, row in ipairs(rows) do
    content:add{row.name, Table.number(row.calls, "%.1f"), ms(row.forward), ms(row.backward),
      Table.number(100 * (row.forward + row.backward) / found.ms, "%.1f")}
  end
  content:add{"Lua, and the measuring", "", ms(found.lua), "",
    Table.number(100 * found.lua / found.ms, "%.1f")}
  return content:markdown()
end

-- Returns the rows with at least 1 % of a batch's time, and the sum of the others.
local function longest(rows, found)
  local list, others = {}, {name = "others", calls = 0, forward = 0, backward = 0}
  for _, row in ipairs(rows) do
    if row.forward + row.backward >= found.ms / 100 then
      list[#list + 1] = row
    else
      for key, value in pairs(others) do
        if key ~= "name" then others[key] = value + row[key] end
      end
    end
  end
  list[#list + 1] = others
  return list
end

--- Returns a result of Profile:result as text, two tables for readers, or why there is none.
function Profile.text(found)
  if not found then
    return ("no profile: the run had too few batches; one of %d or more has it"):format(WARM_UP + 2)
  end
  return ("profile of %s, %.3f ms each; the others %.3f ms\n\n%s\n\n%s"):format(
    units.counted(found.batches, "batch", "batches"), found.ms, found.plain_ms,
    table_of("part", found.parts, found),
    table_of("primitive", longest(found.primitives, found), found))
end

return Profile
