--- The verdict on a sampler: a sentence or two, before all numbers.
--
-- What is said of bias follows from the interval of bias² alone. Beyond chance it is told as it was
-- estimated; otherwise the end of its interval bounds it, and it is "close to unbiased" where the
-- bound is small.

local causes = require "ladies.lab.causes"
local findings = require "ladies.lab.findings"
local measure = require "ladies.lab.measure"
local statistics = require "ladies.report.statistics"
local student = require "ladies.lab.student"
local tables = require "ladies.base.tables"

-- A bound of bias is small where it is no more than SMALL of the size, or NOTABLE of it and a tenth
-- of the error.
local SMALL, NOTABLE, OF_ERROR = 0.05, 0.1, 0.1

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

local function share(square) return findings.percent(math.sqrt(math.max(0, square))) end

-- How bias stands in the embedding or the gradient, whose error is `whole`: a word, and a number.
local function kind_of(found, name, whole)
  if whole < measure.ROUNDING then return "exact" end
  local columns = found.sample.columns
  local bias, likely = certain_bias(columns, name), columns[name .. ".bias"]
  local most = math.max(bias / whole, bias)
  if most > 0.1 then
    return most > 0.5 and "badly biased" or "biased", ("by %s"):format(share(bias))
  end
  if not likely or #likely < 2 then return "too noisy to judge", "by an unknown share" end
  local x = student.interval(likely)
  local high = math.max(x.high, bias)
  local bound = ("by at most %s"):format(share(high))
  if high <= SMALL ^ 2 or high <= math.min(NOTABLE ^ 2, OF_ERROR * whole) then
    return "close to unbiased", bound
  end
  return bias > 0 and "biased" or "too noisy to judge", bias > 0 and ("by %s"):format(share(bias))
    or bound
end

local MEANING = {
  exact = "it gives what the whole graph gives",
  biased = "the mean of many draws is off",
  ["badly biased"] = "the mean of many draws is far off",
  ["close to unbiased"] = "the mean of many draws is off",
  ["too noisy to judge"] = "for all that these draws show, the mean of many is off",
}

-- The same of both, whose errors are given, as a sentence.
local function bias_text(found, of_embedding, of_gradient)
  local embedding, by_embedding = kind_of(found, "embedding", of_embedding)
  local gradient, by_gradient = kind_of(found, "gradient", of_gradient)
  local text
  if embedding == gradient then
    text = ("%s: %s"):format(embedding:gsub("^%l", string.upper), MEANING[embedding])
    if by_embedding then
      text = ("%s %s of its size in the embedding, %s in the gradient"):format(text, by_embedding,
        by_gradient)
    end
  else
    local function of(kind, by) return kind .. (by and " (" .. by .. " of its size)" or "") end
    text = ("Its embedding is %s, its gradient %s"):format(of(embedding, by_embedding),
      of(gradient, by_gradient))
  end
  local is_open = embedding == "too noisy to judge" or gradient == "too noisy to judge"
  return text .. (is_open and ". More draws (--seconds) tell more; --same-as NAME, a sampler "
    .. "that it should equal in distribution, tells sooner." or ".")
end

-- The first of the causes of a kind; of warnings, one that says that a layer is off.
local function first_of(faults, kind)
  for _, fault in ipairs(faults) do
    local is_of_layer = fault.key:find "^bias" or fault.key == "tails"
    if fault.kind == kind and (kind == "fault" or is_of_layer) then
      return fault
    end
  end
end

local function capital(text) return (text:gsub("^%l", string.upper)) end

--- verdict(found): what a reader should know first of an examination (see ladies.lab.examination):
-- the first fault; the first layer that is off; how bias stands; then how far off embedding and
-- gradient are.
return function(found)
  local parts = {}
  local fault, warning = first_of(found.faults, "fault"), first_of(found.faults, "warning")
  if fault then parts[1] = "Something is wrong with it: " .. fault.text .. "." end
  local by_key = tables.by_field(found.findings, "key")
  if not by_key["embedding.error"] then return table.concat(parts, " ") end
  if warning and not fault then parts[#parts + 1] = capital(warning.text) .. "." end
  local embedding, gradient = by_key["embedding.error"].mean, by_key["gradient.error"].mean
  if not fault then parts[#parts + 1] = bias_text(found, embedding, gradient) end
  parts[#parts + 1] = ("The embedding is off by %s of its size, the gradient by %s."):format(
    share(embedding), share(gradient))
  return table.concat(parts, " ")
end
