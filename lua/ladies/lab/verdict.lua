--- Writes the verdict on a sampler, a sentence or two that a reader sees before all numbers.
--
-- The sentence on bias depends on the interval of bias² alone. A significant bias is reported as
-- estimated; otherwise the end of its interval is a bound, and the sampler is "close to unbiased"
-- where the bound is small.

local causes = require "ladies.lab.causes"
local measure = require "ladies.lab.error.measure"
local statistics = require "ladies.statistics"
local tables = require "ladies.base.tables"
local words = require "ladies.lab.words"

-- A bound of bias is small if it is at most the share SMALL of the exact size, or at most the share
-- NOTABLE of it and a tenth of the error.
local SMALL, NOTABLE, OF_ERROR = 0.05, 0.1, 0.1

-- Returns the significant bias² of the embedding or the gradient, relative to the signal: the
-- estimate, but at least the part along the exact value, which is known more precisely. The second
-- result tells whether it is that part, so that the bias may be larger.
local function certain_bias(columns, name)
  local function mean(number, without)
    local column = columns[name .. "." .. number] or {}
    return statistics.p_value(column, without) <= causes.LEVEL and statistics.mean(column)
      or without
  end
  local whole, along = mean("bias", 0), (mean("scale", 1) - 1) ^ 2
  return math.max(whole, along), along > whole
end

local function share(square) return words.percent(math.sqrt(math.max(0, square))) end

-- Judges the bias of the embedding or the gradient, whose error is `whole`: returns a word and a
-- bound.
local function kind_of(found, name, whole)
  if whole < measure.ROUNDING then return "exact" end
  local columns = found.sample.columns
  local bias, is_part = certain_bias(columns, name)
  local likely, most = columns[name .. ".bias"], math.max(bias / whole, bias)
  local by = (is_part and "by at least %s" or "by %s"):format(share(bias))
  if most > 0.1 then return most > 0.5 and "badly biased" or "biased", by end
  if not likely or #likely < 2 then return "too noisy to judge", "by an unknown share" end
  -- A square is not below 0, so an estimate below it is taken for 0, with its own half width.
  local x = statistics.interval(likely)
  local high = math.max(math.max(0, x.mean) + x.high - x.mean, bias)
  local bound = ("by at most %s"):format(share(high))
  if high <= SMALL ^ 2 or high <= math.min(NOTABLE ^ 2, OF_ERROR * whole) then
    return "close to unbiased", bound
  end
  if bias > 0 then return "biased", by end
  return "too noisy to judge", bound
end

-- How the verdict says that an exact estimate has no error.
local NOTHING = "by nothing"

local MEANING = {
  exact = "it gives what the whole graph gives",
  biased = "the mean of many draws is off",
  ["badly biased"] = "the mean of many draws is far off",
  ["close to unbiased"] = "the mean of many draws is off",
  ["too noisy to judge"] = "for all that these draws show, the mean of many is off",
}

-- Returns a sentence on the bias of the embedding and the gradient, given their errors.
local function bias_text(found, of_embedding, of_gradient)
  local embedding, by_embedding = kind_of(found, "embedding", of_embedding)
  local gradient, by_gradient = kind_of(found, "gradient", of_gradient)
  if found.has_tails then
    local told = "Its bias cannot be judged by so few draws, since rare ones decide: as far as "
      .. "these tell, the mean of many is off %s of its size in the embedding, %s in the gradient."
    return told:format(by_embedding or NOTHING, by_gradient or NOTHING)
  end
  local text
  if embedding == gradient then
    text = ("%s: %s"):format(words.capital(embedding), MEANING[embedding])
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

-- Returns the first fault of a kind; among warnings, the first about a biased layer, or about a
-- bias that no layer has by itself.
local function first_of(faults, kind)
  for _, fault in ipairs(faults) do
    local is_of_layer = fault.key:find "^bias" or fault.key == "tails" or fault.key == "nonlinear"
    if fault.kind == kind and (kind == "fault" or is_of_layer) then
      return fault
    end
  end
end

--- verdict(found): returns the text with which the report of an examination (see
-- ladies.lab.examination) begins: the first fault; the first biased layer, or that none is; the
-- bias; and the errors of embedding and gradient.
return function(found)
  local parts = {}
  local fault, warning = first_of(found.faults, "fault"), first_of(found.faults, "warning")
  if fault then parts[1] = "Something is wrong with it: " .. fault.text .. "." end
  local by_key = tables.by_field(found.findings, "key")
  if not by_key["embedding.error"] then return table.concat(parts, " ") end
  if warning and not fault then parts[#parts + 1] = words.capital(warning.text) .. "." end
  local embedding = by_key["embedding.error"].mean
  if not by_key["gradient.error"] then     -- of one class the loss is 0 and has no gradient
    parts[#parts + 1] = ("The embedding is off by %s of its size; the gradient is 0."):format(
      share(embedding))
    return table.concat(parts, " ")
  end
  local gradient = by_key["gradient.error"].mean
  if not fault then parts[#parts + 1] = bias_text(found, embedding, gradient) end
  parts[#parts + 1] = (found.has_tails and "In these draws the embedding is off by %s of its size, "
    .. "the gradient by %s; rare ones may make it more."
    or "The embedding is off by %s of its size, the gradient by %s."):format(share(embedding),
    share(gradient))
  return table.concat(parts, " ")
end
