--- Turns the numbers of a sample into findings for the report, each with a label, an interval and a
-- sentence.

local measure = require "ladies.lab.error.measure"
local statistics = require "ladies.statistics"
local tables = require "ladies.base.tables"
local words = require "ladies.lab.words"

local findings = {}

-- Returns the section of the report for a key, the object that it is about, and for a parameter its
-- number.
local function object_of(key)
  local layer = key:match "^layers%.(%d+)%."
  if layer then return "layers", "layer " .. layer end
  local parameter = key:match "^parameters%.(%d+)%."
  if parameter then return "gradient", "parameter", math.tointeger(parameter) end
  local first = key:match "^(%l+)%."
  return first, first == "embedding" and "embedding" or "gradient of the loss"
end

local capital, percent = words.capital, words.percent

-- The label, format and sentence of each number; the sentence is a function of its interval x, of
-- `name`, the object that it is about, and of whether the laboratory warns of heavy tails.
local NUMBERS = {
  error = {label = "error / signal", format = "%.4g", sentence = function(x, name, has_tails)
    if x.mean < measure.ROUNDING then return capital(name) .. " is exact up to rounding." end
    local text = has_tails and "In these draws %s is off by %s of its size, as a root mean square, "
      .. "which rare ones decide." or "A typical estimate of %s is off by %s of its size."
    return text:format(name, percent(math.sqrt(math.max(0, x.mean))))
  end},
  bias = {label = "bias² / signal", format = "%.3g", sentence = function(x, name, has_tails)
    if math.abs(x.mean) < measure.ROUNDING then return "No bias beyond rounding." end
    if has_tails then
      return "Rare draws decide, of which these may have met too few for this number to hold."
    elseif x.high < 0 then
      return "An estimate of a number near 0, which may come out below 0 by chance."
    elseif x.low <= 0 then
      return "No bias that these draws could tell from none."
    end
    return ("The mean of many estimates of %s is still off by %s of its size."):format(name,
      percent(math.sqrt(x.mean)))
  end},
  variance = {label = "variance / signal", format = "%.4g", sentence = function(x)
    return x.mean < measure.ROUNDING and "Every draw gives the same."
      or "What averaging over draws takes away."
  end},
  scale = {label = "size along the exact one", format = "%.4f", sentence = function(x, name,
    has_tails)
    if x.low <= 1 and x.high >= 1 then return "1, as without bias, is within the interval." end
    return ("%s comes out %.3g times as large as it is, on average%s."):format(capital(name),
      x.mean, has_tails and " of draws that may have met too few of the rare ones" or "")
  end},
  mass = {label = "row sums of P~ over those of P", format = "%.4f", sentence = function(x)
    if x.low <= 1 and x.high >= 1 then return "Rows keep their mass on average." end
    return ("Rows have %s of their mass on average."):format(percent(x.mean))
  end},
}

local ORDER = {"error", "variance", "bias", "scale", "mass"}

-- Makes the finding of one number.
local function of_number(key, number, interval, names, has_tails)
  local section, object, parameter = object_of(key)
  if parameter then object = "gradient of " .. names[parameter] end
  local kind, name = NUMBERS[number], section == "layers" and object or "the " .. object
  return tables.merged({key = key, section = section, label = ("%s: %s"):format(object, kind.label),
    format = kind.format, sentence = kind.sentence(interval, name, has_tails)},
    interval)
end

--- Makes the findings of a sample (see measure.run), in the order of sections; names: of the
-- parameters; own: the run's own statistics; has_tails: as causes.has_tails of
-- ladies.lab.causes tells.
function findings.of(sample, names, own, has_tails)
  local list = {}
  local function add(prefix)
    for _, number in ipairs(ORDER) do
      local column = sample.columns[prefix .. "." .. number]
      if column and #column > 1 then
        local key = prefix .. "." .. number
        list[#list + 1] = of_number(key, number, statistics.interval(column), names,
          has_tails)
      end
    end
  end
  local layer = 1
  while sample.columns[("layers.%d.error"):format(layer)] do
    add("layers." .. layer)
    layer = layer + 1
  end
  add "embedding"
  add "gradient"
  for i = 1, #names do add("parameters." .. i) end
  for _, one in ipairs(own) do
    local column = sample.columns[one.key]
    if column and #column > 1 then
      local interval = statistics.interval(column)
      list[#list + 1] = tables.merged({key = one.key, section = one.section, label = one.label,
        format = one.format or "%.4g", scale = one.scale,
        sentence = one.sentence and one.sentence(interval)}, interval)
    end
  end
  return list
end

return findings
