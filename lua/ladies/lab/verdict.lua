--- The verdict on a sampler: a sentence or two, before all numbers.

local causes = require "ladies.lab.causes"
local findings = require "ladies.lab.findings"
local measure = require "ladies.lab.measure"
local statistics = require "ladies.report.statistics"
local student = require "ladies.lab.student"
local tables = require "ladies.base.tables"

-- The bias² of the embedding or the gradient beyond chance, as a share of the signal: as it was
-- estimated, or at least that along the exact one, which is known better.
local function certain_bias(columns, name)
  local function mean(number, without)
    local column = columns[name .. "." .. number] or {}
    return #column > 1 and student.p_value(column, without) <= causes.LEVEL
      and statistics.mean(column) or without
  end
  return math.max(mean("bias", 0), (mean("scale", 1) - 1) ^ 2)
end

-- How bias and variance stand in the embedding or the gradient, whose error is `whole`. Bias counts
-- where it has a share of the error, or is large itself.
local function kind_of(found, name, whole)
  if whole < measure.ROUNDING then return "exact" end
  local columns = found.sample.columns
  local bias, likely = certain_bias(columns, name), columns[name .. ".bias"]
  local most = math.max(bias / whole, bias)
  if most > 0.1 then return most > 0.5 and "badly biased" or "biased" end
  local is_noisy = likely and student.interval(likely).high > 0.5 * whole
  return is_noisy and "too noisy to judge" or "close to unbiased"
end

local MEANING = {
  exact = "it gives what the whole graph gives",
  biased = "the mean of many draws is off",
  ["badly biased"] = "the mean of many draws is far off",
  ["close to unbiased"] = "its error is nearly all variance",
  ["too noisy to judge"] = "half of its error or more may be bias, for all that these draws show",
}

-- The same of both, whose errors are given, as a sentence.
local function bias_text(found, of_embedding, of_gradient)
  local embedding = kind_of(found, "embedding", of_embedding)
  local gradient = kind_of(found, "gradient", of_gradient)
  if embedding == gradient then
    return ("%s: %s."):format(embedding:gsub("^%l", string.upper), MEANING[embedding])
  end
  return ("Its embedding is %s, its gradient %s."):format(embedding, gradient)
end

--- verdict(found): what a reader should know first of an examination (see ladies.lab.examination):
-- the first fault, or how bias stands; then how far off embedding and gradient are.
return function(found)
  local parts = {}
  for _, fault in ipairs(found.faults) do
    if fault.kind == "fault" and not parts[1] then
      parts[1] = "Something is wrong with it: " .. fault.text .. "."
    end
  end
  local by_key = tables.by_field(found.findings, "key")
  if not by_key["embedding.error"] then return table.concat(parts, " ") end
  local embedding, gradient = by_key["embedding.error"].mean, by_key["gradient.error"].mean
  parts[1] = parts[1] or bias_text(found, embedding, gradient)
  parts[2] = ("The embedding is off by %s of its size, the gradient by %s."):format(
    findings.percent(math.sqrt(embedding)), findings.percent(math.sqrt(gradient)))
  return table.concat(parts, " ")
end
