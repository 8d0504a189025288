--- Defines ladies.lab, the laboratory, which measures bias, variance and cost of samplers and finds
-- their faults before anything is trained with them.

local core = require "ladies_core"
local context = require "ladies.lab.context"
local data_sets = require "ladies.data"
local declared = require "ladies.lab.declared"
local equal = require "ladies.lab.cost.equal"
local errors = require "ladies.base.errors"
local examination = require "ladies.lab.examination"
local Laboratory = require "ladies.lab.laboratory"
local link = require "ladies.ranks.link"
local mapped_files = require "ladies.base.mapped_files"
local methods = require "ladies.experiment.methods"
local options = require "ladies.base.options"
local problems = require "ladies.lab.problem"
local progress = require "ladies.base.progress"
local splits = require "ladies.data.splits"
local subject = require "ladies.lab.subject"
local tables = require "ladies.base.tables"
local training = require "ladies.lab.training"

local WHERE = "ladies.lab"

-- The options of the function: those of the command, and those that the command has otherwise.
local SPEC = tables.merged(declared.types, {
  task = "string or table or nil", model = "string or table or nil", settings = {"table", {}},
  statistics = {"table", {}}, train = "table or nil",
})

-- The samplers with which a single sampler is compared by default.
local AGAINST = {"ladies", "fastgcn"}

-- Returns the given samplers, one or an array, as a list.
local function list_of(given)
  local is_list = type(given) == "table" and not getmetatable(given) and given[1] ~= nil
  return is_list and given or {given}
end

-- Fails for settings that none of the subjects has.
local function check_settings(list, settings)
  local names = {}
  for _, one in ipairs(list) do names[#names + 1] = one.config and one.name end
  methods.share(WHERE, names, settings)
end

-- Returns the subjects of an examination: the given samplers, and those with which they are
-- compared.
local function subjects_of(given, data, opts)
  local names, list = {}, {}
  local function add(one)
    local found = subject.of(WHERE, one, data, opts)
    if names[found.title] then return found.title end
    names[found.title] = true
    list[#list + 1] = found
  end
  for _, one in ipairs(list_of(given)) do
    local twice = add(one)
    if twice then errors.fail(("%s: %s is there twice"):format(WHERE, twice)) end
  end
  local own = #list == 1
  for _, one in ipairs(opts.against or own and AGAINST or {}) do add(one) end
  check_settings(list, opts.problem.of_methods)
  return list
end

local BUDGET = {batches = "positive integer or nil", seconds = "positive number or nil",
  seeds = {"integer in [2, inf]", 5}}

-- Checks and returns the budget for training; nil if the user wants no training.
local function budget_of(given)
  if not given then return nil end
  local budget = options.check(WHERE .. ": train", given, BUDGET)
  if (budget.batches ~= nil) == (budget.seconds ~= nil) then
    errors.fail(WHERE .. ": train needs a budget, either batches or seconds")
  end
  return budget
end

-- The first group of the draws for finding the numbers of samples that make costs equal.
local EQUAL = 60001

-- Gives the subjects the numbers of samples that make their costs equal; returns texts that say how
-- nearly.
local function equalize(all, shared, what)
  local texts = {}
  for i, one in ipairs(what and equal.find(shared, all, what, EQUAL) or {}) do
    all[i], texts[i] = one.subject, one.text
  end
  return texts
end

-- Examines a subject. If that fails, the other subjects are still examined, unless it is the only
-- one that the user gave.
local function examine(shared, one, opts, is_the_one)
  local ok, found = errors.try(examination.of, shared, one, opts)
  if ok then return found end
  if is_the_one then error(found, 0) end
  return examination.failed(shared, one, errors.told(found))
end

-- Adds a note if a sampler is compared with other exact values than the first one, because its P is
-- another.
local function note_other_P(found, first)
  local own, other = found.subject, first.subject
  if own.P_text and other.P_text and own.P_text ~= other.P_text then
    table.insert(found.notes, ("its errors are those of a network over P of %s, those of %s over P "
      .. "of %s; the same normalize for all makes it one network"):format(own.P_text, other.title,
      other.P_text))
  end
end

-- Trains with those subjects that have settings, and adds the results to their examinations.
local function train(all, list, data, budget, tick)
  local first
  for i, one in ipairs(all) do
    if one.config and #list[i].findings > 0 then
      local columns = training.run(one, data, budget)
      tables.append(list[i].findings, training.findings(columns, budget, first, all[1].title))
      if i == 1 then first = columns end
    else
      table.insert(list[i].notes, "not trained: " .. (one.config and "it fails"
        or "it is no method with settings"))
    end
    tick()
  end
end

-- Fails for what is timed or trained, which several ranks that were started cannot divide.
local function check_ranks(opts)
  local what = opts.equal == "seconds" and "equal = seconds" or opts.train and "train"
  if link.size > 1 and what then
    errors.fail(("%s: %s runs in one process, and %d were started"):format(WHERE, what, link.size))
  end
end

--- ladies.lab(sampler: string | table | function, {dataset = "cora", ...}) -> Laboratory: examines
-- a sampler, or an array of them, and sets them beside each other; the Laboratory prints itself
-- (see doc/laboratory.md).
-- sampler     a method's name ("ladies", "ladies:64"), a file ("./mine.lua"), {name =, sampler =
--             function(P, data, model) -> sampler}, or a sampler as it is: function(seeds, rng)
-- dataset     a name, a path, or a data set with a split; one that is loaded without any gets the
--             default one
-- against     samplers to compare it with: {"ladies", "fastgcn"} where one sampler is given
-- task        what the network learns, a name or a file, where it is not what the data set is for:
--             seeds are the nodes of the task's edges or graphs then, and the loss is its own
-- model       a name or a file, of a network that is no GCN, such as one that reads what is known
--             of edges
-- samples     of all samplers that have a number of samples; settings: further ones, of methods and
--             of the task
-- layers, hidden, steps   of the network whose embeddings and gradients are estimated: a GCN after
--             so many steps of training with whole neighbourhoods (2, 64, 5)
-- batch_size  seeds of a batch (512), drawn from the training nodes; or edges, or graphs
-- draws       of each set of seeds (6)
-- precision   half the width of the intervals of the errors, as a share of them (0.1); the number
--             of sets of seeds follows from it, as far as `seconds`, of each sampler (10), allow
-- statistics  numbers of your own: name -> function(batch, exact) -> number or nil, the mean of
--             which is reported. exact has P, model, layers[l] = Z of layer l, hidden[l] = H,
--             embedding, all of all nodes, and gradient(nodes)
-- equal       "samples", "nodes" (distinct ones), "entries" or "seconds" (of sampling and step) of
--             a mini-batch: the others get the samples that make it equal to that of the first
-- same_as     a sampler that the first one is to be the same as in distribution: another way to
--             write it, or a faster one
-- along       the steps of a training with whole neighbourhoods and all training nodes, along which
--             the loss of mini-batches is set beside that of all training nodes, and the variance
--             of their gradients is measured
-- train       {batches = N, seeds = 5} or {seconds = N, seeds = 5}: what each is worth in training,
--             with this budget and so many seeds
-- seed        of everything random; quiet: no progress
-- Several ranks (mpirun), which all call it, divide the sets of seeds of which errors are measured.
return function(given, opts)
  options.value(WHERE, "the sampler", given, "string or table or callable")
  opts = options.check(WHERE, opts, SPEC)
  for name, see in pairs(opts.statistics) do
    options.value(WHERE, ("statistics[%q]"):format(tostring(name)), see, "callable")
  end
  check_ranks(opts)
  local data = opts.dataset
  if type(data) == "string" then
    data = data_sets.load(data)
    splits.complete(WHERE, data)
  end
  opts.settings = tables.merged({samples = opts.samples}, opts.settings)
  opts.problem = problems.new(WHERE, data, opts)
  local all, shared = subjects_of(given, data, opts), context.new(data, opts)
  local budget = budget_of(opts.train)
  local reference = opts.same_as and subject.of(WHERE, opts.same_as, data, opts)
  local bar, done, list = progress.new{total = #all * (budget and 2 or 1), unit = "sampler",
    quiet = opts.quiet, delay = 1}, 0, {}
  local function tick()
    done = done + 1
    bar:update(done, core.clock())
  end
  local reached = equalize(all, shared, opts.equal)
  for i, one in ipairs(all) do
    opts.reference = i == 1 and reference or nil
    list[i] = examine(shared, one, opts, i == 1 and #list_of(given) == 1)
    note_other_P(list[i], list[1])
    table.insert(list[i].notes, reached[i])
    table.insert(list[i].notes, opts.problem.note)
    tick()
  end
  if link.rank == 0 then examination.add_costs(list, opts.seconds / 5) end
  if budget then train(all, list, data, budget, tick) end
  bar:clear()
  mapped_files.check()
  return Laboratory.new(opts.problem, opts, list)
end
