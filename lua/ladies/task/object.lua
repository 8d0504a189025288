--- The class of tasks. A task defines from which units (nodes, edges or graphs) mini-batches are
-- drawn, what the model predicts for these, the loss, the metrics, and how results are shown.
-- ladies.task.new documents the fields.

local blind = require "ladies.task.blind"
local checks = require "ladies.data.checks"
local core = require "ladies_core"
local errors = require "ladies.base.errors"
local inference = require "ladies.evaluation.inference"
local of_class = require("ladies.base.fields").of_class
local not_finite = require("ladies.base.units").not_finite
local options = require "ladies.base.options"
local tables = require "ladies.base.tables"

local Task = {__name = "Task"}
Task.__index = Task

local SPEC = {
  name = "string", unit = {"node|edge|graph", "node"}, data = "table", units = "table",
  all = "Index or nil", outputs = "positive integer or nil", outputs_are = {"string", "outputs"},
  draw = "callable or nil", read = "callable or nil", targets = "callable", loss = "callable",
  decoder = "callable or nil", nodes = "callable or nil", score = "callable or nil",
  infer = "callable or nil", predict = "callable or nil", metrics = "array of tables",
  blind = "callable or nil", top = "callable or nil",
  known = "callable or nil",
  arrays = "callable or nil", columns = "callable or nil", page = "callable or nil",
  own_seeds = "boolean or nil", by_rows = "boolean or nil",
}

do
  local names = {}
  for _, name in ipairs(tables.sorted_keys(SPEC)) do
    local type_text = type(SPEC[name]) == "table" and "string" or SPEC[name]:match "^%a+"
    names[#names + 1] = ("%s:%s"):format(name, ({array = "table", positive = "integer",
      callable = "function"})[type_text] or type_text)
  end
  of_class(Task, table.concat(names, " "))
end

local METRIC = {
  name = "string", of = "callable", mode = {"max|min", "max"}, percent = {"boolean", false},
  scores = {"boolean", false},
}

-- The functions of a task that are called in the process that trains. `draw` crosses to workers as
-- it is.
local CALLED = {"read", "targets", "loss", "decoder", "nodes", "score", "infer", "predict", "blind",
  "top", "known", "arrays", "columns", "page"}

local PARTS = {train = "Index", val = "Index or nil", test = "Index or nil"}

-- The outputs that a data set has; any others a task asks for.
local OF_DATA = {classes = true, targets = true}

local function same(x) return x end

-- Checks the metrics of a task and returns them.
local function metrics_of(where, given)
  if #given == 0 then errors.fail(where .. ": metrics must have at least one") end
  local list, seen = {}, {}
  for i, one in ipairs(given) do
    list[i] = options.check(("%s: metrics[%d]"):format(where, i), one, METRIC)
    if seen[list[i].name] then
      errors.fail(("%s: metrics has %s twice"):format(where, list[i].name))
    end
    seen[list[i].name] = true
    list[i].of = errors.owned(list[i].of)
  end
  return list
end

-- Fails if a unit for training is one for validation or test too, where a result would be of what
-- was learned by heart.
local function check_apart(where, task)
  local train = task.units.train
  for _, part in ipairs{"val", "test"} do
    local units = task.units[part] or train:slice(1, 0)
    local shared = core.sampling.find(units, train)
    if #shared > 0 then
      errors.fail(("%s: units: %s %d is in both train and %s"):format(where, task.unit,
        units[shared[1]], part))
    end
  end
end

-- Fills in the fields that are the same for all tasks on nodes.
local function complete_of_nodes(where, task)
  local n = task.data.features.n_rows
  for _, part in ipairs(checks.SPLIT) do
    checks.ids({where = where .. ": units", keys = {[part] = part}, shift = 0}, part,
      task.units[part] or {}, n)
  end
  task.all = task.all or core.range(1, n)
  task.nodes = task.nodes or same
  if task.own_seeds == nil then task.own_seeds = true end
end

-- Fails for a task on edges or graphs that lacks a field which only tasks on nodes may leave out.
local function check_of_others(where, task)
  for _, name in ipairs{"draw", "read"} do
    if not task[name] then
      errors.fail(("%s: a task of %ss needs %s"):format(where, task.unit, name))
    end
  end
  if task.own_seeds then
    errors.fail(("%s: own_seeds: a sampler that draws its own seeds draws nodes, not %ss"):format(
      where, task.unit))
  end
end

--- ladies.task.new(fields: table [, where: string]) -> Task: a task of one's own, of these fields.
-- Functions among them are called without the task. The units are what mini-batches are drawn of:
-- nodes, edges or graphs, each a number from 1.
-- name         what it is called, such as "node regression"
-- unit         "node" (default), "edge" or "graph": the word for a unit
-- data         the data set that samplers, models and inference see. That of link prediction has
--              the edges for training alone
-- units        {train = Index, val = Index, test = Index}: the units of each part, val and test
--              where there are any; an error for nodes that the data set has not, and for a unit
--              of train that is also in another part
-- all          Index of all units; of nodes it is all nodes by default
-- outputs      the columns that a model gives for a node, called `outputs_are` ("classes") in
--              errors; without it the model decides
-- draw(units, rng, sample) -> mini-batch   turns units into seeds, an Index of nodes without
--              repetition, calls sample(seeds), the sampler's mini-batch, and returns it, perhaps
--              with fewer edges in its blocks and with fields of the task's own. With
--              sample(seeds, times), an Index, a seed is a node at a time, for
--              ladies.samplers.temporal; other samplers are refused then. `rng` is the
--              task's. It runs in workers, so what it refers to must cross (see ladies.batches).
--              The loop sets batch.units then. Without it units are nodes, and the seeds
-- read(h, batch, model) -> out   makes of what the model's forward gives, the rows of batch.output,
--              what the loss takes: pooled rows of graphs, scores of edges. Of units that are nodes
--              h has their rows alone, batch.units and batch.output are they, and without `read`
--              `out` is h
-- targets(units [, batch]) -> any   what `out` is compared with; without batch for evaluation
-- loss(out, targets, weight, batch, model) -> Tensor   of one element. weight is that of rows of
--              nodes (batch.loss_weight), with which the loss is the weighted sum, or nil: the mean
-- decoder() -> module   parameters of the task's own, which a model gets as model.decoder where it
--              has none: they are trained and saved with it
-- nodes(units) -> Index | nil   for evaluation, the nodes whose rows of exact inference are needed;
--              nil: all. Of nodes they are the units
-- score(h, units, model) -> out   for evaluation, `out` from the rows of these nodes, in that
--              order. By default h, or what `read` makes of h and {output = the nodes, units =}
-- infer(units, model, rows) -> out   of a task in time, whose draw gives the seeds times, in place
--              of nodes and score: `out` for evaluation, by rows(nodes, times), which returns a row
--              for each node at a time, each once, of edges from before it
--              (ladies.inference.in_time)
-- predict(out, units) -> any   what is predicted; by default `out`
-- metrics      an array of {name =, of = function(predicted, targets) -> number, mode = "max" or
--              "min", percent = false, scores = false}: how good predictions are, whether more or
--              less is better, whether people are shown it in percent, and whether it is of `out`
--              in place of the predictions. The first one is monitored unless something else is
--              said
-- blind(units) -> predicted, string   what a guess predicts without features and graph, and what
--              it is, such as "the class of most training nodes, for all": its metrics are shown
--              beside those of the test. Several guesses are an array of {share =, predicted =},
--              and their metrics the weighted mean
-- top(rows, model, k, each) -> table | nil   for each node the k best pairs that are not known, as
--              links.top, {from = Index, to = Index, rank = Index, scores = Tensor}, by rows(nodes,
--              times), which returns a row for each node, of a task in time for each at a time.
--              Where `each` is given it may call that with such a table for some nodes at a time
--              instead
-- known() -> Index   the units that have a target; by default all
-- arrays(out, units, whole: boolean) -> table   arrays by name for a file of predictions, of which
--              `predicted` should be one; with `whole` as much as is known, such as probabilities
-- columns(out, units) -> string, function   the head of columns for a table of predictions, and a
--              function(i) that gives their cells for the i-th of the units, with commas between
-- page(page, found)   adds to the page of a run (ladies view); found has units, out, predicted,
--              targets, task
-- own_seeds    whether samplers that draw their own seeds go with it (true of nodes)
-- by_rows      whether `out` is a Tensor with a row for each unit, and the predictions and columns
--              of some rows are those rows of all: then they are made some rows at a time (false)
-- `where` begins messages about the fields. Two methods are for a loop by hand: task:loss_of and
-- task:evaluate.
function Task.new(fields, where)
  where = where or "ladies.task.new"
  local task = options.check(where, fields, SPEC)
  options.check(where .. ": units", task.units, PARTS)
  if not task.data.features then
    errors.fail(where .. ": data must be a data set, with features")
  end
  for _, name in ipairs(CALLED) do task[name] = errors.owned(task[name]) end
  task.metrics = metrics_of(where, task.metrics)
  task.predict = task.predict or same
  if task.unit == "node" then
    complete_of_nodes(where, task)
  else
    check_of_others(where, task)
  end
  check_apart(where, task)
  return setmetatable(task, Task)
end

-- Makes the metric "loss", the smaller the better, which every task on nodes has in addition to its
-- own.
local function loss_of(task)
  return {name = "loss", mode = "min", percent = false, scores = true, of = function(out, targets)
    return core.no_grad(task.loss, out, targets):item()
  end}
end

--- task:metric([name: string [, where: string]]) -> table: returns the task's metric with this
-- name, or the first one. "loss" is the loss itself, without a weight, of tasks on nodes. An error,
-- which begins with `where`, for a name that none has.
function Task:metric(name, where)
  if not name then return self.metrics[1] end
  local names = {}
  for i, one in ipairs(self.metrics) do
    if one.name == name then return one end
    names[i] = one.name
  end
  if name == "loss" and self.unit == "node" then return loss_of(self) end
  errors.fail(('%s: monitor: the task %s has no metric "%s"%s'):format(where or "task:metric",
    self.name, name, options.hint(name, names, "it has")))
end

--- task:units_of(part: string) -> Index: returns the units of a part: "train", "val", "test",
-- "labelled" (every one with a target) or "all".
function Task:units_of(part)
  local units = self.units[part]
  if part == "all" or part == "labelled" then
    units = part == "labelled" and self.known and self.known() or self.all
    if not units then
      errors.fail(("the task %s has no list of all %ss; choose train, val or test"):format(
        self.name, self.unit))
    end
  end
  if not units or #units == 0 then
    errors.fail(("%s has no %s %ss"):format(self.data.name or "the data set", part, self.unit))
  end
  return units
end

--- task:equip(model: table) -> Model: gives a model the task's decoder, where the task has one and
-- the model none. Returns the model.
function Task:equip(model)
  options.value(self.name, "the model", model, "table")
  if self.decoder and rawget(model, "decoder") == nil then
    model.decoder = options.value(self.name, "what decoder gives", self.decoder(), "table")
  end
  return model
end

--- task:check_outputs(where: string, h: Tensor): fails unless h has a column for each output of the
-- task.
function Task:check_outputs(where, h)
  options.value(where, "the model's result", h, "Tensor")
  if self.outputs and h.n_cols ~= self.outputs then
    local of = OF_DATA[self.outputs_are] and "the data set"
      or ("the task %s needs"):format(self.name)
    errors.fail(("%s: the model has %d outputs, %s %d %s"):format(where, h.n_cols, of,
      self.outputs, self.outputs_are))
  end
end

--- task:loss_of(h: Tensor, batch: table, model: table [, loss: function]) -> Tensor: returns the
-- loss of h, the result of the model's forward for a mini-batch of ladies.batches with `task`: of
-- its loss_nodes alone where there are such. `loss` takes the place of the task's own.
function Task:loss_of(h, batch, model, loss)
  options.value(self.name, "loss", loss, "callable or nil")
  local weight, units = rawget(batch, "loss_weight"), rawget(batch, "units")
  if not (units and self.read) then                  -- units that are nodes
    units = batch.output
    if batch.loss_nodes then
      h, units = h:rows(batch.loss_nodes), units[batch.loss_nodes]
      weight = weight and weight[batch.loss_nodes]
    end
    if self.read then batch = setmetatable({units = units, output = units}, {__index = batch}) end
  end
  if self.read then
    h = self.read(h, batch, model)
    if h == nil then errors.fail(self.name .. ": read must return what the loss takes, got nil") end
  end
  return (loss or self.loss)(h, self.targets(units, batch), weight, batch, model)
end

-- Fails unless a model is one that has the decoder of the task, if this has one.
local function check_model(task, model)
  options.value(task.name, "the model", model, "table")
  if task.decoder and rawget(model, "decoder") == nil then
    errors.fail(("%s: the model has no decoder; task:equip gives it one"):format(task.name))
  end
end

-- Returns the output for some units, made of a model's rows, all of them finite.
local function read_rows(task, h, units, model)
  if task.score then return task.score(h, units, model) end
  local nodes = task.nodes and task.nodes(units) or core.range(1, h.n_rows)
  return task.read(h, {units = units, output = nodes}, model)
end

--- task:scored(h: Tensor, units: Index, model: table) -> any: `out` for evaluation, from the rows h
-- of the nodes that the units need. Where a Tensor that a decoder gives is not finite, nil and the
-- number.
function Task:scored(h, units, model)
  options.value(self.name, "the rows", h, "Tensor")
  if not (self.score or self.read) then return h end
  options.value(self.name, "the units", units, "Index")
  check_model(self, model)
  local out, finite, value = read_rows(self, h, units, model), true, nil
  if not out then
    errors.fail(("%s: %s must return what its metrics take, got %s"):format(self.name,
      self.score and "score" or "read", tostring(out)))
  end
  if options.class_of(out) == "Tensor" then finite, value = out:is_finite() end
  if not finite then return nil, value end
  return out
end

--- task:inferred(where: string, units: Index, model: table, sampler: Sampler) -> any: `out` for
-- evaluation
-- of a task in time, by the run's sampler, a ladies.samplers.temporal. Where some row of the model
-- is not finite, nil and the number.
function Task:inferred(where, units, model, sampler)
  if type(sampler) ~= "table" or not rawget(sampler, "exact") then
    errors.fail(("%s: the task is in time, and needs the sampler ladies.samplers.temporal, by "
      .. "which nothing looks ahead"):format(where))
  end
  check_model(self, model)
  local wrong
  local ok, out = errors.try(core.no_grad, self.infer, units, model, function(nodes, times)
    local h = inference.in_time(model, self.data, nodes, times, {sampler = sampler})
    self:check_outputs(where, h)
    local finite, value = h:is_finite()
    if not finite then wrong = value end
    return h
  end)
  if wrong then return nil, wrong end
  if not ok then errors.pass_on(out) end
  return out
end

--- task:values(predicted: any, out: any, units: Index [, names: string[]]) -> table: the metrics of
-- these units by name, of all names or of some.
function Task:values(predicted, out, units, names)
  options.value(self.name, "the units", units, "Index")
  options.value(self.name, "names", names, "array of strings or nil")
  local targets, found, wanted = self.targets(units), {}, {}
  for _, name in ipairs(names or {}) do wanted[name] = true end
  local metrics = self.metrics
  if wanted.loss then metrics = tables.append({self:metric "loss"}, metrics) end
  for _, metric in ipairs(metrics) do
    if not names or wanted[metric.name] then
      local value = metric.of(metric.scores and out or predicted, targets)
      if type(value) ~= "number" then
        errors.fail(("%s: the metric %s must give a number, got a %s"):format(self.name,
          metric.name, options.class_of(value) or type(value)))
      end
      found[metric.name] = value
    end
  end
  return found
end

--- task:blind_values(units: Index) -> table | nil: what a guess predicts without features and
-- graph: {is = what it is, test = its metrics by name, but for those that are NaN or not of
-- predictions}; nil where the task does not say, or has no training units.
function Task:blind_values(units)
  options.value("task:blind_values", "the units", units, "Index")
  if not self.blind or #self.units.train == 0 then return nil end
  return blind.values(self, units)
end

local function fail_not_finite(where, value)
  errors.fail(("%s: what the model gives is not finite: it has %s"):format(where,
    not_finite(value)))
end

--- task:evaluate(model: table, part: string | Index [, {P =, memory = integer | string, folder =
-- string, sampler = Sampler}]) -> table: evaluates a model on a part of the units, or on some of
-- them: returns its metrics by name, by exact inference, with the options of
-- ladies.inference.exact. A task in time needs the sampler in their place, which no other has (see
-- ladies.inference.in_time).
function Task:evaluate(model, part, given)
  local where = "task:evaluate"
  local units = type(part) == "string" and self:units_of(part)
    or options.value(where, "the part", part, "Index")
  local opts = options.check(where, given, {P = "Matrix or nil", folder = "string or nil",
    memory = "string or positive number or nil", sampler = "callable or nil"})
  local sampler = opts.sampler
  opts.sampler = nil
  if self.infer then
    if next(opts) then
      errors.fail(("%s: %s is of exact inference, which a task in time has not"):format(where,
        tables.sorted_keys(opts)[1]))
    end
    local out, wrong = self:inferred(where, units, model, sampler)
    if not out then fail_not_finite(where, wrong) end
    return self:values(self.predict(out, units), out, units)
  end
  if sampler then
    errors.fail(where .. ": a sampler is for tasks in time; ladies.inference.sampled infers by one")
  end
  opts.nodes = self.nodes and self.nodes(units) or nil
  local h = inference.exact(model, self.data, opts)
  self:check_outputs(where, h)
  local out, wrong = core.no_grad(self.scored, self, h, units, model)
  if not out then fail_not_finite(where, wrong) end
  return self:values(self.predict(out, units), out, units)
end

function Task:__tostring()
  return ("Task %s: %d %ss for training"):format(self.name, #self.units.train, self.unit)
end

return Task
