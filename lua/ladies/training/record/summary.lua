--- Makes the summary of a run: the columns of the LADIES paper's table 3, and the memory that was
-- measured.

local core = require "ladies_core"
local History = require "ladies.training.record.history"
local of_class = require("ladies.base.fields").of_class
local html = require "ladies.report.html"
local metric_text = require "ladies.task.metric_text"
local options = require "ladies.base.options"
local picture = require "ladies.report.picture"
local ranks_cost = require "ladies.training.ranks.cost"
local show = require "ladies.show"
local tables = require "ladies.base.tables"
local units = require "ladies.base.units"
local wrap_paragraphs = require "ladies.base.wrap_paragraphs"

local summary = {}

local Summary = {__name = "Summary"}
Summary.__index = Summary
of_class(Summary, "method dataset seed stopped trouble test measure percent test_f1 "
  .. "test_macro_f1 blind monitor mode "
  .. "best_value best_batch val_f1 folder batches seconds batch_ms waiting_ms gathering_ms "
  .. "computing_ms workers sampling_ms validation_seconds input_rows hidden_rows numerics curve "
  .. "memory_paper memory_batch memory_parameters memory_peak profile ranks history inference")

--- Returns the memory as the LADIES paper counts it, in bytes: weights, gathered input features and
-- hidden rows of a batch, dense float32, without biases and head:
--   4 (K F + (L-1) K^2 + F input + K hidden)
-- features F, width K of the hidden layers, layers L, and of a batch the rows of the features
-- (`input`) and of all that is computed from them (`hidden`). With s nodes in every sampled layer
-- and b training nodes in a batch, input is s and hidden (L-1) s + b; where LADIES draws from a
-- neighbourhood of fewer than s nodes, those. This gives the figures of the paper for FastGCN and
-- LADIES on the citation graphs within 1 %.
function summary.paper_memory(shape)
  local F, K, L = shape.features, shape.width, shape.layers
  return math.floor(4 * (K * F + (L - 1) * K * K + F * shape.input + K * shape.hidden) + 0.5)
end

--- ladies.summary(fields: table) -> table: what a loop came to. tostring gives the table, of the
-- fields that there are; what is left is plain data, which is what summary.json holds. `timer`, a
-- ladies.timer, gives all times for `batches`; `stopper`, a ladies.early_stopping, best_value and
-- best_batch. method, dataset, seed, stopped ("patience", "epochs", "max_batches", "max_seconds",
-- "interrupted", "not finite"; "on_batch", "on_validation": the callback that said "stop")
-- trouble                           of a run that was "not finite": what was not, after which batch
-- test                              the metrics of the task by name, of the model that was kept, on
--                                   the test units; nil without such
-- blind                             what could be said of the test units without features or
--                                   graph, {is = in words, test = metrics by name}, where the task
--                                   tells
-- measure                           the first metric of the task, nil of node classification
-- percent                           whether people are shown it in percent; of other tasks
-- test_f1, test_macro_f1            of node classification the test's micro-F1 and macro-F1
-- monitor, mode                     the name of what validation goes by, "micro-F1" or another, and
--                                   whether more is better ("max") or less ("min")
-- best_value, best_batch            of the model that was kept, where there was a validation
-- val_f1                            best_value again, where it is micro-F1
-- batches, seconds, batch_ms        training without validation
-- waiting_ms, gathering_ms, computing_ms   their parts, a batch; a loop without workers waits for
--                                   its sampling and for the checks around it
-- workers, sampling_ms              threads that sampled ahead; what sampling a batch took them
-- validation_seconds
-- input_rows, hidden_rows           rows of a batch, of its input and of all layers, means
-- numerics                          what the bits of results also depend on: versions, kernels of
--                                   processors
-- inference                         how exact inference went about the validations: for which
--                                   nodes, in how much memory
-- folder, curve                     the run's, and the file in it that shows the training curve
-- profile                           where the time of batches went, when that was asked for
-- ranks                             what several ranks sent, and for what they waited, where there
--                                   were such; of `each` its host, the seconds that it worked and
--                                   waited, and what it computed by (see
--                                   ladies.training.ranks.cost)
-- history                           its validations, an array of {batch =, seconds = (of training),
--                                   value =, loss = (mean since the one before)}, shown as a table
--                                   and a curve; not in summary.json
-- memory_paper (bytes or nil), memory_batch, memory_parameters, memory_peak (bytes): as the paper
--                                   counts it; of a mini-batch, its activations and its gradients,
--                                   the largest of the 1st, 4th, 16th, ... mini-batch, without what
--                                   callbacks keep (the same for the same run, whatever ran before
--                                   it in the process); of the parameters and the optimizer; and
--                                   the most that the process ever had, other runs included
function summary.new(fields)
  local where = "ladies.summary"
  options.value(where, "what it is given", fields, "table")
  local timer = options.value(where, "timer", fields.timer, "Timer or nil")
  local stopper, best = options.value(where, "stopper", fields.stopper, "EarlyStopping or nil"), {}
  if stopper then best.best_value, best.best_batch = stopper:kept() end
  local all = tables.merged(best, timer and timer:means(fields.batches), fields)
  all.timer, all.stopper = nil, nil
  return setmetatable(all, Summary)
end

local TEXTS = {"method", "dataset", "stopped", "trouble", "measure", "monitor", "mode",
  "numerics", "inference", "folder", "curve"}
local NUMBERS = {"seed", "test_f1", "test_macro_f1", "best_value", "best_batch", "val_f1",
  "batches", "seconds", "batch_ms", "waiting_ms", "gathering_ms", "computing_ms", "workers",
  "sampling_ms", "validation_seconds", "input_rows", "hidden_rows", "memory_paper", "memory_batch",
  "memory_parameters", "memory_peak"}

--- Reads the fields of the summary.json in a run's folder (see ladies.base.own_folder), and checks
-- their types.
function summary.stored(folder)
  local stored, where = folder:read_json "summary.json", folder:file "summary.json"
  for _, name in ipairs(TEXTS) do options.value(where, name, stored[name], "string or nil") end
  for _, name in ipairs(NUMBERS) do options.value(where, name, stored[name], "number or nil") end
  options.value(where, "batches", stored.batches, "non-negative integer or nil")
  options.value(where, "best_batch", stored.best_batch, "non-negative integer or nil")
  for name, value in pairs(options.value(where, "test", stored.test, "table or nil") or {}) do
    options.value(where, ("test[%q]"):format(tostring(name)), value, "number")
  end
  return stored
end

local function mib(bytes)
  return bytes and ("%.2f"):format(bytes / units.MIB) or "-"
end

-- Returns a number in the format of a column, "-" for nil.
local function cell(format, value)
  return value and format:format(value) or "-"
end

-- Returns how long the loop waited for a mini-batch. Where it samples itself that is told apart
-- from what comes around it: checks of mini-batches, some of which are drawn once more.
local function waiting_text(self, is_apart)
  local waiting, sampling = self.waiting_ms, self.sampling_ms
  if not waiting or is_apart or not sampling or sampling > waiting then
    return ("%.2f ms waiting"):format(waiting or 0)
  end
  return ("%.2f ms sampling, %.2f ms around it"):format(sampling, waiting - sampling)
end

-- Returns a line about how much several ranks sent for a step's gradients, and how long they
-- waited.
local function ranks_text(ranks)
  local sent, waited = ranks.kinds.gradients, 0
  for _, kind in pairs(ranks.kinds) do waited = waited + kind.seconds.mean end
  local slow = ranks_cost.slowest(ranks)
  return ("%d; %s MB of gradients sent; each trained for %.2f s and waited %.2f s, validation "
    .. "included%s"):format(ranks.ranks, mib(sent.bytes), ranks.busy.mean, waited, slow and
    ("; rank %d on %s worked %.2f times as long as the others"):format(slow.rank, slow.host,
      slow.times) or "")
end

-- Returns a line for each kind of numerics by which ranks of a run have computed; none where there
-- is one.
local function ranks_numerics(ranks)
  return tables.map(ranks and ranks_cost.numerics(ranks) or {}, function(one)
    return ("rank %s by %s"):format(table.concat(one.ranks, ", "), one.numerics)
  end)
end

-- Returns the lines below the table, those whose numbers the summary has.
local function notes_of(self)
  local notes = {}
  local function note(there, name, text, ...)
    if not there then return end
    notes[#notes + 1] = core.printable(("  %-12s " .. text):format(name, ...))
  end
  local workers, ranks = self.workers or 0, self.ranks
  note(self.seconds and self.validation_seconds, "total",
    "%.2f s of training; validation took %.2f s more", self.seconds, self.validation_seconds)
  note(self.waiting_ms, "batch", "%s, %.2f ms gathering, %.2f ms computing",
    waiting_text(self, workers > 0 or ranks), self.gathering_ms, self.computing_ms)
  note(ranks, "ranks", "%s", ranks and ranks_text(ranks))
  note(workers > 0, "workers", "%d, %.2f ms sampling; the loop waited %.1f %% of its time", workers,
    self.sampling_ms, 100 * (self.waiting_ms or 0) / (self.batch_ms or 1))
  note(self.memory_paper, "memory MB",
    "as the paper counts it: weights, and a batch's dense input and hidden rows")
  note(self.memory_batch, "held",
    "%s MB by a batch with its gradients, %s MB by the model and its optimizer",
    mib(self.memory_batch), mib(self.memory_parameters))
  note(self.memory_peak, "peak",
    "%s MB resident in this process so far, data set and exact inference included",
    mib(self.memory_peak))
  note(self.inference, "inference", "%s", self.inference)
  local shown, tests = metric_text.of_record(self).name, metric_text.tests(self)
  for _, name in ipairs(tables.sorted_keys(tests)) do
    note(name ~= shown, name, "%.4f on the test part", tests[name])
  end
  local blind = self.blind and self.blind.test[shown]
  note(blind, "blind", "%s %.4f on the test part: %s", shown, blind, blind and self.blind.is)
  note(self.best_value, "best model", "after batch %d: validation %s %.4f", self.best_batch,
    self.monitor or "value", self.best_value)
  note(self.numerics, "computed by", "%s", self.numerics)
  for _, line in ipairs(ranks_numerics(ranks)) do note(true, "", "%s", line) end
  note(self.stopped, "ended by", "%s", self.stopped)
  return notes
end

function Summary:__show(width)
  local name = ("  %-12s "):format "validation"
  local curve = self.history
    and History.curve(self.history, (width or show.width()) - #name)
  local rows, notes = tostring(self):match "^([^\n]*\n[^\n]*)(.*)$"
  local text = rows .. wrap_paragraphs(notes, width or show.width())
  return curve and ("%s\n%s%s"):format(text, name, curve) or text
end

-- Returns the columns of the table, each with its width and the function that reads its cell from a
-- summary. The column of the paper's count of memory, which is only defined for GCNs, is left out
-- where there is none.
local function columns_of(self)
  local shown = metric_text.of_record(self)
  local columns = {
    {"method", -16, core.printable(self.method or "-")},
    {"test " .. shown.name, math.max(13, #shown.name + 5),
      metric_text.value(metric_text.tests(self)[shown.name], shown.percent)},
    {"total s", 9, cell("%.2f", self.seconds)},
    {"batch ms", 9, cell("%.2f", self.batch_ms)},
    {"batches", 8, cell("%d", self.batches)},
  }
  if self.memory_paper then table.insert(columns, 4, {"memory MB", 10, mib(self.memory_paper)}) end
  return columns
end

-- Returns the heads of the columns, or their cells.
local function part_of(columns, i)
  return tables.map(columns, function(column) return column[i] end)
end

function Summary:__html()
  local curve = self.history and #self.history > 1 and picture(self.history:plot()) or ""
  local columns = columns_of(self)
  return html.table{head = part_of(columns, 1), rows = {part_of(columns, 3)}}
    .. html.block(notes_of(self)) .. curve
end

function Summary:__tostring()
  local columns = columns_of(self)
  local row = table.concat(tables.map(columns, function(column)
    return ("%%%ds"):format(column[2])
  end), " ")
  return table.concat({row:format(table.unpack(part_of(columns, 1))),
    row:format(table.unpack(part_of(columns, 3))), "", table.unpack(notes_of(self))}, "\n")
end

return summary
