--- What a run came to: the columns of the paper's table 3, and what is really held in memory.

local of_class = require("ladies.base.fields").of_class
local units = require "ladies.base.units"

local summary = {}

local Summary = {__name = "Summary"}
Summary.__index = Summary
of_class(Summary, "method dataset seed stopped trouble test_f1 test_macro_f1 val_f1 best_batch "
  .. "batches seconds batch_ms waiting_ms gathering_ms computing_ms workers sampling_ms "
  .. "validation_seconds input_rows hidden_rows numerics curve memory_paper memory_batch "
  .. "memory_parameters memory_peak")

--- Memory as the paper counts it, in bytes: weights, gathered input features and hidden rows of a
-- batch, dense float32, without biases and head:
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

--- A summary of `fields`: plain data, which is what summary.json holds. tostring gives the table.
-- method, dataset, seed, stopped ("patience", "epochs", "max_batches", "max_seconds",
-- "interrupted", "not finite"; "on_batch", "on_validation": the callback that said "stop")
-- trouble                           of a run that was "not finite": what was not, after which batch
-- test_f1, test_macro_f1            of the model that was kept; F1 is micro-F1 unless it says
--                                   macro, and nil without test nodes
-- monitor, mode                     the name of what validation goes by, "micro-F1" or another, and
--                                   whether more is better ("max") or less ("min")
-- best_value, best_batch            of the model that was kept, where there was a validation
-- val_f1                            best_value again, where it is micro-F1
-- batches, seconds, batch_ms        training without validation
-- waiting_ms, gathering_ms, computing_ms   their parts, a batch
-- workers, sampling_ms              threads that sampled ahead; what sampling a batch took them
-- validation_seconds
-- input_rows, hidden_rows           rows of a batch, of its input and of all layers, means
-- numerics                          what the bits depend on besides: see ladies.base.machine
-- curve                             the file of the run's folder that shows the training curve
-- memory_paper (bytes or nil), memory_batch, memory_parameters, memory_peak (bytes)
function summary.new(fields)
  return setmetatable(fields, Summary)
end

local function mib(bytes)
  return bytes and ("%.2f"):format(bytes / units.MIB) or "-"
end

function Summary:__tostring()
  local head = ("%-16s %13s %9s %10s %9s %8s"):format(
    "method", "test micro-F1", "total s", "memory MB", "batch ms", "batches")
  local row = ("%-16s %13s %9.2f %10s %9.2f %8d"):format(
    self.method, self.test_f1 and ("%.2f %%"):format(100 * self.test_f1) or "-", self.seconds,
    mib(self.memory_paper), self.batch_ms, self.batches)
  local lines = {head, row, ""}
  local function note(name, text, ...)
    lines[#lines + 1] = ("  %-12s " .. text):format(name, ...)
  end
  note("total", "%.2f s of training; validation took %.2f s more", self.seconds,
    self.validation_seconds)
  note("batch", "%.2f ms %s, %.2f ms gathering, %.2f ms computing", self.waiting_ms,
    self.workers > 0 and "waiting" or "sampling", self.gathering_ms, self.computing_ms)
  if self.workers > 0 then
    note("workers", "%d, %.2f ms sampling; the loop waited for it %.1f %% of its time",
      self.workers, self.sampling_ms, 100 * self.waiting_ms / self.batch_ms)
  end
  if self.memory_paper then
    note("memory MB", "as the paper counts it: weights, and a batch's dense input and hidden rows")
  end
  note("held", "%s MB by a batch with its gradients, %s MB by the model and its optimizer",
    mib(self.memory_batch), mib(self.memory_parameters))
  note("peak", "%s MB resident, data set and exact inference included", mib(self.memory_peak))
  if self.test_macro_f1 then note("macro-F1", "%.4f on the test nodes", self.test_macro_f1) end
  if self.best_value then
    note("best model", "after batch %d: validation %s %.4f", self.best_batch, self.monitor,
      self.best_value)
  end
  note("computed by", "%s", self.numerics)
  note("ended by", "%s", self.stopped)
  return table.concat(lines, "\n")
end

return summary
